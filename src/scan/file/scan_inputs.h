/** @file scan_inputs.h  What a scan is read from (internal). */
#ifndef FBP_SRC_SCAN_INPUTS_H
#define FBP_SRC_SCAN_INPUTS_H

#include "array/array.h"
#include "fbp/scan.h"

/** Note that a scan was read from this file, too. */
fbp_status fbp_scan_add_file(struct fbp_scan *scan, const char *path);

/** All that a scan is read from.  projections: opened already, else NULL. */
fbp_status fbp_scan_inputs(struct fbp_inputs *out, const struct fbp_scan *scan,
                           const struct fbp_source *projections);

#endif /* FBP_SRC_SCAN_INPUTS_H */
