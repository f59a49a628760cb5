/** @file ranges.h  Checks of scans, panels and volumes against the limits of fbp/ranges.h
 * (internal). Called by src/pipeline, src/scan, circle.c, array/source.c, phantom/simulate.c and
 * benchmarks. A failure is FBP_ERR_INVALID and names the field.
 * Used by: bench/, array/, geometry/, phantom/, pipeline/, scan/. */
#ifndef FBP_SRC_GEOMETRY_RANGES_H
#define FBP_SRC_GEOMETRY_RANGES_H

#include "base/base.h"
#include "fbp/scan.h"

/** Check a panel. prefix: beginning of the field's name in messages, "scan" for
 *  "scan.panel.n_rows". */
fbp_status fbp_check_panel(const char *prefix, const struct fbp_panel *panel);

fbp_status fbp_check_grid(const struct fbp_grid *grid);
/** Check a volume whose numbers of voxels or voxel sizes, or both, may be 0 (not given). */
fbp_status fbp_check_wanted(const struct fbp_grid *grid);

/** Number of voxels that cover an extent, 1 to FBP_SIDE_MAX; FBP_SIDE_MAX + 1: more are needed. */
size_t fbp_voxels_along(double extent_mm, double voxel_mm);

/** Copy a caller's description of a circular scan to *out, and check the copy. */
fbp_status fbp_check_circle(const struct fbp_circle *given, struct fbp_circle *out);

/** Check the description of a headerless (raw) file: sample type, number of bytes to skip, and
 * numbers of samples along the axes, which may be 0 (not given). */
fbp_status fbp_check_raw(const struct fbp_raw *raw);

/** Check all members of a scan except its paths. */
fbp_status fbp_check_scan(const struct fbp_scan *scan);

#endif /* FBP_SRC_GEOMETRY_RANGES_H */
