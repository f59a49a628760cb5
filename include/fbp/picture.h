/** @file picture.h  Images for inspection: fbp_picture_write() draws slices or maximum intensity
 * projections of a volume as PNG. Used by `fbp view`, `fbp recon --preview`, Python, benchmarks and
 * programs. */
#ifndef FBP_PICTURE_H
#define FBP_PICTURE_H

#include "fbp/array.h"
#include "fbp/geometry.h"

FBP_BEGIN

/** Parameters of fbp_picture_write().  0 means the default. */
struct fbp_picture_params {
    size_t struct_size;
    bool mip; /**< true: maximum intensity projections; false: slices */
    /** Values drawn black (lo) and white (hi); lo == hi: the 0.1 and 99.9 percentiles of the
     * pixels. */
    double lo, hi;
    /** True: draw the slices through voxel slice[] (x, y, z); false: through the middle, n/2. */
    bool at_slice;
    size_t slice[3];
    double *shown; /**< [2], output: values drawn black and white; may be NULL */
    /** Rotation of the volume before a maximum intensity projection, about the axis z through its
     * middle, counter-clockwise seen from +z [degrees]; only with mip. */
    double turn_deg;
    /** Device that computes maximum intensity projections, only with mip. NULL, "auto" or "cpu":
     * the host; "gl", or "gl:1" …: a device listed by fbp_devices().  All devices produce the same
     * bytes. */
    const char *device;
    /** Index, from 0, of the volume to draw in a file of several (fbp_array_info.time_points). */
    size_t time_point;
    /** Source to draw in place of a file; `volume_path` is then only a name for messages. NULL: the
     * file is drawn. */
    fbp_source *source;
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
 * @return FBP_ERR_INVALID (slice or time point outside the volume, lo > hi, rotated slices),
 * FBP_ERR_IO, FBP_ERR_NOMEM, FBP_ERR_UNSUPPORTED (a device that does not project), FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_picture_write(const char *volume_path, const char *png_path,
                                                    const struct fbp_picture_params *params);

FBP_END

#endif /* FBP_PICTURE_H */
