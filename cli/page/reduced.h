/** @file reduced.h  A volume reduced to the size of a page, with facts (range, mean, histogram) of
 * all its voxels.  viewer.c makes it; packed.c, view_serve.c and serve/slices.c read it. */
#ifndef FBP_CLI_REDUCED_H
#define FBP_CLI_REDUCED_H

#include "fbp/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BINS = 4096 };

/** Bin i counts values in [lo + i width, lo + (i+1) width).  If a value lies outside, pairs of bins
 *  are joined until the range contains it: all counts are exact.  Initialise with {.step = …}. */
struct histogram {
    double step; /**< distance of values that are multiples of it; 0: any values */
    double lo, width;
    uint64_t counts[HISTOGRAM_BINS];
    bool begun;      /**< the range is chosen: two different values were counted */
    double only;     /**< the only value so far; not used once begun */
    uint64_t n_only; /**< number of occurrences of `only` */
};

/** Count the finite ones of n values. */
void histogram_add(struct histogram *h, const float *values, size_t n);

/** Join the bins from the least to the greatest value to at most `most` bins: bin i has counts[i]
 *  values in [*lo + i *width, *lo + (i+1) *width).  counts: room for `most`.  Returns the number of
 *  bins; 0 without values. */
size_t histogram_tell(const struct histogram *h, size_t most, double *lo, double *width,
                      uint64_t *counts);

/** Request: the part of a volume, and the size of the page. */
struct reduced_wish {
    const char *name;    /**< name of the volume in messages */
    size_t frame;        /**< frame of a series; SIZE_MAX: all */
    uint64_t bytes;      /**< limit of the samples as base64, before compression */
    const size_t *slice; /**< x, y, z that must lie inside the volume; NULL: not checked */
    bool quiet;          /**< print no progress */
};

/** How samples are stored in a page: value = scale * number + offset. */
enum reduced_type { REDUCED_U8, REDUCED_U16, REDUCED_F32 };

/** Result. */
struct reduced {
    fbp_source *source;                /**< volume; owned by the caller */
    const struct fbp_array_info *info; /**< header of the source */
    size_t frames, first_frame;        /**< number of frames, index of the first */
    size_t n[3];                       /**< voxels per frame along x, y, z */
    bool down;               /**< the file's rows begin at the top: y counts from the last row */
    double mm[3], origin[3]; /**< voxel (x, y, z) lies at origin + (x, y, z) * mm; mm may be < 0 */
    size_t k[3];             /**< voxels per bin along x, y, z */
    size_t bins[3];          /**< bins along x, y, z; the last may have fewer voxels */
    float *values; /**< [frames][bins[2]][bins[1]][bins[0]] means of finite voxels; NaN: none */
    float *greatest[3]; /**< greatest values along z: [frames][y][x], along y: [frames][z][x], along
                             x: [frames][z][y] of bins */
    enum reduced_type type;
    struct histogram histogram;   /**< all finite voxels */
    uint64_t finite, not_finite;  /**< numbers of voxels */
    double least, most, mean, sd; /**< range, mean, standard deviation of all finite voxels */
};

/** Choose the bins, and read the volume once, some rows at a time.  Returns 0, or 1 after an error
 *  message; the caller calls reduced_clear() in both cases. */
int reduced_make(struct reduced *r, fbp_source *source, const struct reduced_wish *wish);
/** Free the samples, keep all facts. */
void reduced_drop(struct reduced *r);
void reduced_clear(struct reduced *r);

/** Axes to the right and up of plane i: xy, xz, yz. */
extern const int reduced_axes[3][2];

/** Number of bins in plane i. */
size_t reduced_plane(const struct reduced *r, int i);
/** True if no voxels are joined: each bin is one voxel, possibly rounded. */
bool reduced_is_whole(const struct reduced *r);

#endif /* FBP_CLI_REDUCED_H */
