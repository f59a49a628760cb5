/** @file fbp.h  Filtered backprojection: the whole public interface. */
#ifndef FBP_FBP_H
#define FBP_FBP_H

#include "fbp/adjust.h"
#include "fbp/analysis.h"
#include "fbp/array.h"
#include "fbp/callback.h"
#include "fbp/device_memory.h"
#include "fbp/directions.h"
#include "fbp/folder.h"
#include "fbp/geometry.h"
#include "fbp/geometry_file.h"
#include "fbp/phantom.h"
#include "fbp/picture.h"
#include "fbp/ranges.h"
#include "fbp/recon.h"
#include "fbp/scan.h"
#include "fbp/team.h"
#include "fbp/types.h"
#include "fbp/version.h"

#endif /* FBP_FBP_H */
