/** @file picture.h  Images for inspection: slices and projections of volumes as PNG, contact
 * sheets, curves and the geometry of a scan as SVG.
 */
#ifndef FBP_PICTURE_H
#define FBP_PICTURE_H

#include "fbp/array.h"
#include "fbp/geometry.h"

FBP_BEGIN

/** Parameters of fbp_picture_write().  Zero means default. */
struct fbp_picture_params {
    size_t struct_size;
    bool mip; /**< true: maximum intensity projections; false: slices */
    /** Grey window; lo == hi: from the 0.1 to the 99.9 percentile of the pixels. */
    double lo, hi;
    bool at_slice; /**< draw the slices through slice[] (x, y, z); default: the middle, n/2 */
    size_t slice[3];
    double *shown; /**< [2], output: grey window that was used; may be NULL */
    /** Rotation of the volume about the axis z through its middle before the projection,
     *  counter-clockwise seen from +z; only with mip. */
    double turn_deg;
    /** Device that projects, only with mip: NULL, "auto" or "cpu": the host; "gl", or "gl:1" as
     *  listed by fbp_devices().  All devices produce the same bytes. */
    const char *device;
    size_t frame; /**< index of the volume in a series (fbp_array_info.frames) */
};

#ifndef __cplusplus /* C++: fbp/fbp.hpp */
#    define fbp_picture_params(...)                                                     \
        (&(struct fbp_picture_params){.struct_size = sizeof(struct fbp_picture_params), \
                                      __VA_ARGS__})
#endif

/**
 * Draw three orthogonal slices of a volume side by side as an 8-bit grey PNG: xy (x to the right, y
 * up), xz (x to the right, z up) and yz (y to the right, z up).  For a volume of one slice, only xy
 * is drawn.
 *
 * All three have the same scale in mm.  Volumes larger than 1024 pixels are reduced: a pixel is the
 * mean of several voxels, or their maximum for projections.  Volumes smaller than 256 pixels are
 * enlarged by a whole factor.  Values that are not finite are drawn as the lower end of the window.
 * The volume is read at most once, a few rows at a time.
 *
 * A rotated volume is projected inside its bounding box.  The voxels of the box have the finer of
 * the volume's two voxel sides, and are interpolated bilinearly within slices in steps of 1/256
 * voxel; for rotations by multiples of 90 degrees, the voxels are copied.  Nothing is interpolated
 * next to a voxel that is not finite, and magnitudes below 2^-80 count as 0.  Rotation keeps whole
 * slices in memory.
 *
 * @param params  NULL: all defaults
 * @return FBP_ERR_INVALID (slice or frame outside the volume, lo > hi, rotated slices), FBP_ERR_IO,
 *         FBP_ERR_NOMEM, FBP_ERR_UNSUPPORTED (a device that does not project), FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_picture_write(const char *volume_path, const char *png_path,
                                                    const struct fbp_picture_params *params);

/** Draw an open volume as fbp_picture_write() does; `name` is the volume's name in messages. */
FBP_API FBP_MUST_CHECK fbp_status fbp_picture_write_source(fbp_source *volume, const char *name,
                                                           const char *png_path,
                                                           const struct fbp_picture_params *params);

/** One image of a contact sheet (fbp_sheet_write()). */
struct fbp_tile {
    const float *values; /**< [n[1]][n[0]], row 0 at the bottom; n: fbp_sheet_params.n */
    const char *label;   /**< ASCII text below the image; '\n' begins a new line */
    bool marked;         /**< draw a frame around the image, and the label in the frame's colour */
};

/** Parameters of fbp_sheet_write().  Zero means default. */
struct fbp_sheet_params {
    size_t struct_size;
    size_t n[2];       /**< size of each image, along x and y; required */
    const char *title; /**< one line of ASCII at the top; NULL: none */
    double lo, hi;     /**< grey window; lo == hi: 0.5 to 99.5 percentile of all images */
};

/**
 * Draw a contact sheet: several images of the same size in rows, with one grey window, as one RGB
 * PNG.  Images larger than 384 pixels are reduced by a whole factor (means), and images smaller
 * than 128 pixels are enlarged.  Lines of a label are cut off after 79 characters.
 *
 * @return FBP_ERR_INVALID (no images, sizes of 0), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sheet_write(const char *png_path,
                                                  const struct fbp_tile *tiles, size_t n_tiles,
                                                  const struct fbp_sheet_params *params);

/** Compute the bytes of memory that fbp_sheet_write() needs, roughly at most, for n_tiles images
 *  whose labels have `label_lines` lines. */
FBP_API size_t fbp_sheet_bytes(size_t n_tiles, size_t label_lines,
                               const struct fbp_sheet_params *params);

/** A curve through the points (x[i], y[i]), i < n, with ascending x. */
struct fbp_curve {
    size_t struct_size;
    const char *title, *x_name, *y_name;
    const double *x, *y;
    size_t n;
    double best; /**< x that is marked; NaN: none */
};

/** Draw a curve as SVG.  @return FBP_ERR_INVALID (no points, none finite), FBP_ERR_IO,
 *  FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_curve_svg(const struct fbp_curve *curve, const char *path);

/**
 * Draw the geometry of a scan as SVG: seen from +z (x to the right, y up) and from the side (first
 * source to the left, z up), in one scale, with the numbers of `facts`.
 *
 * @param grid   NULL, or n[0] == 0: no volume is drawn
 * @param facts  facts of these views, from fbp_views_facts()
 * @return FBP_ERR_INVALID (no views), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_svg(struct fbp_views views,
                                                   const struct fbp_grid *grid,
                                                   const struct fbp_geometry_facts *facts,
                                                   const char *path);

FBP_END

#endif /* FBP_PICTURE_H */
