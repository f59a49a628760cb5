/** @file picture.h  Pictures: slices of volumes as PNG, the set-up of a scan as SVG.
 */
#ifndef FBP_PICTURE_H
#define FBP_PICTURE_H

#include "fbp/array.h"
#include "fbp/geometry.h"

FBP_BEGIN

/** How fbp_picture_write() draws.  Zero means default. */
struct fbp_picture_params {
    size_t struct_size;
    bool mip;      /**< maximum intensity projections instead of the middle slices */
    double lo, hi; /**< grey window; lo == hi: the 0.1 to 99.9 percentile of what is shown */
    bool at_slice; /**< use slice[] (x, y, z) instead of the middle n/2 */
    size_t slice[3];
    double *shown; /**< [2]: the grey window that was drawn with is stored here; NULL */
};

#ifndef __cplusplus /* there: fbp/fbp.hpp */
#    define fbp_picture_params(...)                                                     \
        (&(struct fbp_picture_params){.struct_size = sizeof(struct fbp_picture_params), \
                                      __VA_ARGS__})
#endif

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
FBP_API FBP_MUST_CHECK fbp_status fbp_picture_write(const char *volume_path, const char *png_path,
                                                    const struct fbp_picture_params *params);

/** As fbp_picture_write(), of a volume that is open; name: what messages call it. */
FBP_API FBP_MUST_CHECK fbp_status fbp_picture_write_source(fbp_source *volume, const char *name,
                                                           const char *png_path,
                                                           const struct fbp_picture_params *params);

/** A picture of a contact sheet. */
struct fbp_tile {
    const float *values; /**< [n[1]][n[0]] of the sheet, row 0 at the bottom */
    const char *label;   /**< a line of ASCII below it */
    bool marked;         /**< framed and labelled in another colour */
};

/** How fbp_sheet_write() draws.  Zero means default. */
struct fbp_sheet_params {
    size_t struct_size;
    size_t n[2];       /**< values of every picture, along x and y */
    const char *title; /**< a line of ASCII above; NULL: none */
    double lo, hi;     /**< grey window of all; lo == hi: 0.5 to 99.5 percentile of all pictures */
};

/**
 * Draw pictures side by side in rows as one RGB PNG, all with one grey window, so that they can be
 * compared.  Pictures above 384 pixels are reduced by a whole factor (means), those below 128
 * enlarged; labels wider than their picture are cut off.
 *
 * @return FBP_ERR_INVALID (no pictures, sizes of 0), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sheet_write(const char *png_path,
                                                  const struct fbp_tile *tiles, size_t n_tiles,
                                                  const struct fbp_sheet_params *params);

/** Memory that fbp_sheet_write() takes for n_tiles pictures, whose labels have so many lines. */
FBP_API size_t fbp_sheet_bytes(size_t n_tiles, size_t label_lines,
                               const struct fbp_sheet_params *params);

/** Points of a curve, x ascending. */
struct fbp_curve {
    size_t struct_size;
    const char *title, *x_name, *y_name;
    const double *x, *y;
    size_t n;
    double best; /**< x that is marked; NaN: none */
};

/** Draw a curve as SVG.  @return FBP_ERR_INVALID (no points, none finite), FBP_ERR_IO, NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_curve_svg(const struct fbp_curve *curve, const char *path);

/**
 * Draw a scan as SVG: seen from +z (x right, y up) and from the side (source of the first view to
 * the left, z up), to one scale, with the numbers of `facts`.
 *
 * @param grid   may be NULL or have n[0] == 0: no volume is drawn.
 * @param facts  of these views, from fbp_views_facts().
 * @return FBP_ERR_INVALID (no views), FBP_ERR_UNSUPPORTED (planes), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_svg(struct fbp_views views,
                                                   const struct fbp_grid *grid,
                                                   const struct fbp_geometry_facts *facts,
                                                   const char *path);

FBP_END

#endif /* FBP_PICTURE_H */
