/** @file ranges.h  Checks that a scan, a panel or a volume lies within fbp/ranges.h (internal).
 *
 * Scan files, files of other programs and callers' structs are all checked here.  Failures are
 * FBP_ERR_INVALID and name the field.
 */
#ifndef FBP_SRC_GEOMETRY_RANGES_H
#define FBP_SRC_GEOMETRY_RANGES_H

#include "base/base.h"
#include "fbp/scan.h"

/** prefix: "scan" makes "scan.panel.n_rows" of a name. */
fbp_status fbp_check_panel(const char *prefix, const struct fbp_panel *panel);

/** A complete volume. */
fbp_status fbp_check_grid(const struct fbp_grid *grid);
/** A volume whose sizes, or voxels, or both may be left out as 0. */
fbp_status fbp_check_wanted(const struct fbp_grid *grid);

/** Number of voxels along an extent, at least one; more than FBP_SIDE_MAX if there are more. */
size_t fbp_voxels_along(double extent_mm, double voxel_mm);

/** Copy a caller's circle to the library's struct and check it. */
fbp_status fbp_check_circle(const struct fbp_circle *given, struct fbp_circle *out);

/** Type and header of a headerless file; sizes that are given. */
fbp_status fbp_check_raw(const struct fbp_raw *raw);

/** All of a scan but its paths. */
fbp_status fbp_check_scan(const struct fbp_scan *scan);

#endif /* FBP_SRC_GEOMETRY_RANGES_H */
