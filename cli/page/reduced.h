/** @file reduced.h A volume reduced to samples that fit into an HTML page, and facts (range, mean,
 * histogram) about all its voxels. A sample is the mean of a block of voxels (bin). Implemented in
 * reduced.c.
 * Used by: page.h, reduced.c. */
#ifndef FBP_CLI_REDUCED_H
#define FBP_CLI_REDUCED_H

#include "fbp/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BINS = 4096 };

/** Histogram in one pass: bin i counts the values in [lo + i width, lo + (i + 1) width). If a value
 * lies outside, pairs of bins are joined until the range contains the value, so all counts are
 * exact. Initialise with {.step = …}. */
struct histogram {
    double step;      /**< distance between values stored as integers; 0: real numbers */
    double lo, width; /**< lower end of bin 0, and width of a bin; width 0: no values */
    uint64_t counts[HISTOGRAM_BINS];
};

/** Count n values in a histogram; values that are not finite are skipped. */
void histogram_add(struct histogram *h, const float *values, size_t n);

/** Write a histogram of at most `most` bins: counts[i] values in [*lo + i *width, *lo + (i + 1)
 * *width). Returns the number of bins; 0: no values. */
size_t histogram_tell(const struct histogram *h, size_t most, double *lo, double *width,
                      uint64_t *counts);

/** Request to reduced_make(): the part of a volume, and the size of the page. */
struct reduced_wish {
    const char *name; /**< name of the volume in messages */
    size_t frame; /**< index of the frame, if the volume has several frames; SIZE_MAX: all frames */
    uint64_t bytes;      /**< greatest size of the samples as base64, before compression [bytes] */
    const size_t *slice; /**< voxel x, y, z that must lie inside the volume; NULL: not checked */
    bool quiet;          /**< true: no progress is printed */
};

/** Type of the numbers in an HTML page that store samples; a sample is scale * number + offset. */
enum reduced_type { REDUCED_U8, REDUCED_U16, REDUCED_F32 };

/** A reduced volume, the result of reduced_make(). */
struct reduced {
    fbp_source *source;                /**< volume; owned by the caller */
    const struct fbp_array_info *info; /**< header of the source */
    size_t frames,
        first_frame; /**< number of frames in the page; index of the first of them in the file */
    size_t n[3];     /**< voxels per frame along x, y, z */
    bool down; /**< true: the first row of the file is the top row, so y counts from the last row */
    double mm[3],
        origin[3];  /**< position of voxel (x, y, z): origin + (x, y, z) * mm; mm can be negative */
    size_t k[3];    /**< voxels per bin (block of joined voxels) along x, y, z */
    size_t bins[3]; /**< bins (blocks of joined voxels) along x, y, z */
    float *values;  /**< [frames][bins z][y][x] means of finite voxels; NaN: none */
    float *greatest[3]; /**< greatest finite voxel values: [0] along z, [frames][y][x]; [1] along y,
                           [frames][z][x]; [2] along x, [frames][z][y]; x, y, z count bins */
    enum reduced_type type;
    struct histogram histogram;   /**< histogram of all finite voxels */
    uint64_t finite, not_finite;  /**< number of finite voxels; number of all other voxels */
    double least, most, mean, sd; /**< range, mean, standard deviation of all finite voxels */
};

/** Choose the bins (blocks of joined voxels), and read the volume once, some rows at a time.
 * Returns 0, or 1 after an error message; the caller calls reduced_clear() in both cases. */
int reduced_make(struct reduced *r, fbp_source *source, const struct reduced_wish *wish);
/** Free the samples of a reduced volume, and keep its sizes, range, mean and histogram. */
void reduced_drop(struct reduced *r);
void reduced_clear(struct reduced *r);

/** Axes (0 x, 1 y, 2 z) of plane i (0 xy, 1 xz, 2 yz): to the right, and up. */
extern const int reduced_axes[3][2];

/** Number of bins in plane i (xy, xz, yz). */
size_t reduced_plane(const struct reduced *r, int i);
/** True if each bin (block of joined voxels) is a single voxel; its value may be rounded. */
bool reduced_is_whole(const struct reduced *r);

#endif /* FBP_CLI_REDUCED_H */
