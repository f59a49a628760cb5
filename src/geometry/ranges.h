/** @file ranges.h  Is a scan, a view, a volume within the ranges of fbp/ranges.h (internal)?
 *
 * Every way in ends here: scan files, files of other programs, and structs of the library's
 * callers. Failures are FBP_ERR_INVALID and name the field.
 */
#ifndef FBP_SRC_GEOMETRY_RANGES_H
#define FBP_SRC_GEOMETRY_RANGES_H

#include "base/range.h"
#include "fbp/scan.h"

/** prefix: "scan" makes "scan.panel.n_rows" of a name. */
fbp_status fbp_check_panel(const char *prefix, const struct fbp_panel *panel);

/** A volume of which all is given. */
fbp_status fbp_check_grid(const struct fbp_grid *grid);
/** A volume of which sizes, or voxels, or both may be left out as 0. */
fbp_status fbp_check_wanted(const struct fbp_grid *grid);

/** Voxels of a side that an extent takes, at least one; more than FBP_SIDE_MAX where they are. */
size_t fbp_voxels_along(double extent_mm, double voxel_mm);

/** A caller's circle as this library's struct, all of it within its range. */
fbp_status fbp_check_circle(const struct fbp_circle *given, struct fbp_circle *out);

/** Type and header of a headerless file; sizes that are given. */
fbp_status fbp_check_raw(const struct fbp_raw *raw);

/** All of a scan but its paths. */
fbp_status fbp_check_scan(const struct fbp_scan *scan);

#endif /* FBP_SRC_GEOMETRY_RANGES_H */
