/** @file slices.h Full slices of a volume in any plane, read from its file on request, for `fbp
 * view --serve`. Implemented in slices.c.
 * Used by: cli/cmd_view.c, slices.c. */
#ifndef FBP_CLI_SLICES_H
#define FBP_CLI_SLICES_H

#include "page/reduced.h"

#include <pthread.h>

/** A block of neighbouring slices of one plane, which are read together. */
struct slice_block {
    /** the block contains slices [first, first + n) of frame number `frame`; n 0: no slice */
    size_t frame, first, n;
    float *values; /**< [n][rows][columns] voxels, row 0 at the bottom */
};

/** Cache of slices. Voxels of a file lie along x: a slice yz needs all rows of the volume, a slice
 * xz one row of each slice. Up to 32 neighbouring slices xz or yz, within 64 MiB, are read together
 * and cached, because they lie in the same or in neighbouring rows; of plane xy, one slice is
 * cached. */
struct slices {
    const struct reduced *r; /**< sizes of the volume, and its open file */
    pthread_mutex_t lock;    /**< protects the file and all members below */
    pthread_cond_t room;     /**< signalled by slices_release(); slices_get() waits for it */
    uint64_t out; /**< size of the slices that were returned and not yet released [bytes] */
    struct slice_block blocks[3]; /**< block of each plane: xy, xz, yz */
};

void slices_open(struct slices *s, const struct reduced *r);
void slices_close(struct slices *s);

/**
 * Read one slice, float32 in this machine's byte order: [rows][columns] of reduced_axes[plane].
 * Waits while more than 256 MiB would be unreleased.  Safe to call from several threads.
 * index, frame: inside the volume; *n: receives the number of values
 * @return values, to be freed by slices_release(); NULL on failure, see fbp_message().
 */
float *slices_get(struct slices *s, int plane, size_t index, size_t frame, size_t *n);
void slices_release(struct slices *s, float *values, size_t n);

#endif /* FBP_CLI_SLICES_H */
