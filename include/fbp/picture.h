/** @file picture.h  Pictures: slices of volumes as PNG, the geometry of a scan as SVG. */
#ifndef FBP_PICTURE_H
#define FBP_PICTURE_H

#include "fbp/array.h"
#include "fbp/geometry.h"

FBP_BEGIN

/** How fbp_picture_write() draws.  Zero means default. */
struct fbp_picture_params {
    size_t struct_size;
    bool mip;      /**< maximum intensity projections instead of the middle slices */
    double lo, hi; /**< grey window; lo == hi: from the 0.1 to the 99.9 percentile of the pixels */
    bool at_slice; /**< draw the slices through slice[] (x, y, z) instead of the middle n/2 */
    size_t slice[3];
    double *shown; /**< [2]: gets the grey window that was used; may be NULL */
    /** Turn the volume about the axis z through its middle before it is projected,
     * counter-clockwise seen from +z; with mip only. */
    double turn_deg;
    /** Device that projects, with mip only: NULL, "auto" or "cpu": the host; "gl", or "gl:1", as
     *  fbp_devices() lists it.  Pictures are the same, byte for byte. */
    const char *device;
    size_t frame; /**< number of the volume in a series (fbp_array_info.frames) */
};

#ifndef __cplusplus /* there: fbp/fbp.hpp */
#    define fbp_picture_params(...)                                                     \
        (&(struct fbp_picture_params){.struct_size = sizeof(struct fbp_picture_params), \
                                      __VA_ARGS__})
#endif

/**
 * Draw three orthogonal slices of a volume side by side as an 8-bit grey PNG: xy (x to the right, y
 * up), xz (x to the right, z up) and yz (y to the right, z up).  A volume of one slice gives one
 * picture.
 *
 * All three have the same scale in mm.  Volumes larger than 1024 pixels are reduced: pixels become
 * the mean of several, or their maximum for projections.  Volumes smaller than 256 pixels are
 * enlarged by a whole factor.  Values that are not finite are drawn as the lower end of the window.
 * The volume is read at most once, a few rows at a time.
 *
 * A turned volume is projected inside the box that contains it, in voxels as fine as the finer side
 * of the volume's, interpolated bilinearly within slices in steps of 1/256 voxel; after whole
 * quarters of a turn voxels are those of the volume.  Where a voxel is not finite, nothing is
 * interpolated, and values below 2^-80 count as 0.  Whole slices are then held in memory.
 *
 * @param params  NULL = all defaults.
 * @return FBP_ERR_INVALID (slice or frame outside, lo > hi, turned slices), FBP_ERR_IO,
 * FBP_ERR_NOMEM, FBP_ERR_UNSUPPORTED (a device that does not project), FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_picture_write(const char *volume_path, const char *png_path,
                                                    const struct fbp_picture_params *params);

/** As fbp_picture_write(), for an open volume; `name` is its name in messages. */
FBP_API FBP_MUST_CHECK fbp_status fbp_picture_write_source(fbp_source *volume, const char *name,
                                                           const char *png_path,
                                                           const struct fbp_picture_params *params);

/** One of the pictures of fbp_sheet_write(). */
struct fbp_tile {
    const float *values; /**< [n[1]][n[0]], row 0 at the bottom; n: fbp_sheet_params.n */
    const char *label;   /**< a line of ASCII below the picture */
    bool marked;         /**< has a frame, and a label in another colour */
};

/** How fbp_sheet_write() draws.  Zero means default. */
struct fbp_sheet_params {
    size_t struct_size;
    size_t n[2];       /**< size of each picture, along x and y */
    const char *title; /**< a line of ASCII at the top; NULL: none */
    double lo, hi;     /**< grey window; lo == hi: 0.5 to 99.5 percentile of all pictures */
};

/**
 * Draw several pictures in rows as one RGB PNG, with one grey window, to compare them.  Pictures
 * larger than 384 pixels are reduced by a whole factor (means), and pictures smaller than 128 are
 * enlarged. Labels wider than their picture are cut off.
 *
 * @return FBP_ERR_INVALID (no pictures, sizes of 0), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sheet_write(const char *png_path,
                                                  const struct fbp_tile *tiles, size_t n_tiles,
                                                  const struct fbp_sheet_params *params);

/** Bytes of memory that fbp_sheet_write() needs for n_tiles pictures whose labels have
 * `label_lines` lines. */
FBP_API size_t fbp_sheet_bytes(size_t n_tiles, size_t label_lines,
                               const struct fbp_sheet_params *params);

/** A curve: points (x, y), x ascending. */
struct fbp_curve {
    size_t struct_size;
    const char *title, *x_name, *y_name;
    const double *x, *y;
    size_t n;
    double best; /**< this x is marked; NaN: none */
};

/** Draw a curve as SVG.  @return FBP_ERR_INVALID (no points, none finite), FBP_ERR_IO, NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_curve_svg(const struct fbp_curve *curve, const char *path);

/**
 * Draw the geometry of a scan as SVG: as seen from +z (x to the right, y up) and from the side
 * (first source to the left, z up), in one scale, with the numbers of `facts`.
 *
 * @param grid   NULL, or n[0] == 0: no volume is drawn.
 * @param facts  of these views: fbp_views_facts().
 * @return FBP_ERR_INVALID (no views), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_svg(struct fbp_views views,
                                                   const struct fbp_grid *grid,
                                                   const struct fbp_geometry_facts *facts,
                                                   const char *path);

FBP_END

#endif /* FBP_PICTURE_H */
