/** @file ranges.h  Checks that the numbers of a scan, a panel or a volume lie within the limits of
 * the public header fbp/ranges.h (internal).  A failure is FBP_ERR_INVALID, and its message names
 * the member.
 * Used by: bench/, cli/, array/, geometry/, phantom/, pipeline/, scan/. */
#ifndef FBP_SRC_GEOMETRY_RANGES_H
#define FBP_SRC_GEOMETRY_RANGES_H

#include "base/base.h"
#include "fbp/scan.h"

/** Check the size of a panel. prefix: "scan" for "scan.panel.n_rows" in messages. */
fbp_status fbp_check_panel(const char *prefix, const struct fbp_panel *panel);

fbp_status fbp_check_grid(const struct fbp_grid *grid);
/** Check a volume whose numbers of voxels or voxel sizes, or both, may be 0 (not given). */
fbp_status fbp_check_wanted(const struct fbp_grid *grid);

/** Number of voxels that cover an extent, from 1 to FBP_SIDE_MAX + 1 (too many). */
size_t fbp_voxels_along(double extent_mm, double voxel_mm);

/** Copy a caller's description of a circular scan to *out, and check the copy. */
fbp_status fbp_check_circle(const struct fbp_circle *given, struct fbp_circle *out);

/** Check the description of a headerless (raw) file: sample type, number of bytes to skip, and
 * numbers of samples along the axes, which may be 0 (not given). */
fbp_status fbp_check_raw(const struct fbp_raw *raw);

/** Check the kind, numbers, views and volume of a scan, but not its files and its corrections. */
fbp_status fbp_check_scan(const struct fbp_scan *scan);

#endif /* FBP_SRC_GEOMETRY_RANGES_H */
