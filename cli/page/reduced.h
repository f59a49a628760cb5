/** @file reduced.h  A volume of any size as a page shows it: reduced, and what is true of all of
 * it. */
#ifndef FBP_CLI_REDUCED_H
#define FBP_CLI_REDUCED_H

#include "page/histogram.h"

#include "fbp/array.h"

/** What is to be shown. */
struct reduced_wish {
    const char *name;    /**< for messages */
    size_t frame;        /**< of a series; SIZE_MAX: all of them */
    uint64_t bytes;      /**< the samples of the page may take so many, as base64 */
    const size_t *slice; /**< a voxel that there must be; NULL: none */
    bool quiet;          /**< no progress */
};

/** How samples are stored in a page: value = scale * number + offset. */
enum reduced_type { REDUCED_U8, REDUCED_U16, REDUCED_F32 };

struct reduced {
    fbp_source *source;                /**< the caller's */
    const struct fbp_array_info *info; /**< of all of it */
    size_t frames, first_frame;        /**< that are shown */
    size_t n[3];                       /**< voxels of a frame */
    bool down;               /**< rows of the file come from the top: y counts from its end */
    double mm[3], origin[3]; /**< voxel (x, y, z) lies at origin + (x, y, z) mm; may be < 0 */
    size_t k[3];             /**< voxels that are joined along x, y, z */
    size_t bins[3];          /**< what is left of them; the last may have fewer voxels */
    float *values;      /**< [frames][bins[2]][bins[1]][bins[0]] means of finite voxels, or NaN */
    float *greatest[3]; /**< of all voxels along z [frames][y][x], y [frames][z][x], x
                           [frames][z][y] */
    enum reduced_type type;
    struct histogram histogram; /**< of all voxels */
    uint64_t finite, not_finite;
    double least, most, mean, sd; /**< of all finite voxels */
};

/** Choose what is joined, and read the volume once, a few rows at a time; 0, or 1: said.
 *  reduced_clear() is safe after both. */
int reduced_make(struct reduced *r, fbp_source *source, const struct reduced_wish *wish);
/** Its samples are not needed any more, but all that is known of it. */
void reduced_drop(struct reduced *r);
void reduced_clear(struct reduced *r);

/** Axes of plane i (xy, xz, yz), to the right and up. */
extern const int reduced_axes[3][2];

/** Samples of plane i of all bins. */
size_t reduced_plane(const struct reduced *r, int i);
/** Are voxels shown as they are stored, but for rounding (`step` of the numbers, 0: none)? */
bool reduced_is_whole(const struct reduced *r);

#endif /* FBP_CLI_REDUCED_H */
