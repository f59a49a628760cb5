/** @file picture.h  Pictures: slices of volumes as PNG, the set-up of a scan as SVG.
 */
#ifndef FBP_PICTURE_H
#define FBP_PICTURE_H

#include "fbp/geometry.h"

FBP_BEGIN

/** How fbp_view_write() draws.  Zero means default. */
struct fbp_view_params {
    size_t struct_size;
    bool mip;      /**< maximum intensity projections instead of the middle slices */
    double lo, hi; /**< grey window; lo == hi: the 0.1 to 99.9 percentile of what is shown */
    bool at_slice; /**< use slice[] (x, y, z) instead of the middle n/2 */
    size_t slice[3];
};

#define fbp_view_params(...) \
    (&(struct fbp_view_params){.struct_size = sizeof(struct fbp_view_params), __VA_ARGS__})

/**
 * Draw three orthogonal slices (xy, xz, yz) of a volume side by side as an 8-bit grey PNG: x to the
 * right and y up; x to the right and z up; y to the right and z up.  A volume of one slice is one
 * panel.
 *
 * All panels have one scale; voxels that are not cubes are drawn to scale.  Volumes beyond 1024
 * pixels are reduced (mean of the pixels that fall together; greatest for projections), those below
 * 256 enlarged by a whole factor.  Values that are not finite are drawn as the lower end of the
 * window.  The volume is read once at most, a few rows at a time.
 *
 * @param params  NULL = all defaults.
 * @return FBP_ERR_INVALID (slice outside, lo > hi), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_view_write(const char *volume_path, const char *png_path,
                                                 const struct fbp_view_params *params);

/**
 * Draw a scan as SVG: seen from +z (x right, y up) and from the side (source of the first view to
 * the left, z up), to one scale, with the numbers of `facts`.
 *
 * @param grid   may be NULL or have n[0] == 0: no volume is drawn.
 * @param facts  of these views, from fbp_geometry_facts().
 * @return FBP_ERR_INVALID (no views), FBP_ERR_UNSUPPORTED (planes), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_svg(
    const struct fbp_view *views, size_t n_views, enum fbp_kind kind, const struct fbp_panel *panel,
    const struct fbp_grid *grid, const struct fbp_geometry_facts *facts, const char *path);

FBP_END

#endif /* FBP_PICTURE_H */
