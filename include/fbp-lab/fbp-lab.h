/** @file fbp-lab.h  Measurements: benchmarks, the kernels of the papers, RabbitCT, single views.
 *
 * This is not part of the stable interface.  The name of libfbp_lab.so for the loader contains the
 * whole release: a program built with the headers of another release does not start.  Parameters
 * begin with a size, as everywhere; results do not. */
#ifndef FBP_LAB_FBP_LAB_H
#define FBP_LAB_FBP_LAB_H

#include "fbp-lab/bench.h"
#include "fbp-lab/feed.h"
#include "fbp-lab/links.h"
#include "fbp-lab/rabbitct.h"
#include "fbp-lab/s1.h"
#include "fbp-lab/s2.h"
#include "fbp-lab/s3.h"
#include "fbp-lab/s4.h"

#endif /* FBP_LAB_FBP_LAB_H */
