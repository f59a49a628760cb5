/** @file slices.h  Full slices of a volume in any plane, read on request; called by view_serve.c.
 */
#ifndef FBP_CLI_SLICES_H
#define FBP_CLI_SLICES_H

#include "page/reduced.h"

#include <pthread.h>

/** Neighbouring slices of one plane, read together. */
struct slice_block {
    size_t frame, first, n; /**< slices [first, first + n) of a frame; n 0: empty */
    float *values;          /**< [n][rows][columns], row 0 at the bottom */
};

/** Cache of slices.  Samples of a file lie along x: a slice yz needs all rows of the volume, a
 * slice xz one row of each slice.  Neighbouring slices, up to 32 per plane within 64 MiB, share
 * these rows: they are read together and cached. */
struct slices {
    const struct reduced *r;      /**< sizes, and the open source */
    pthread_mutex_t lock;         /**< protects the members below and the source */
    pthread_cond_t room;          /**< `out` has decreased */
    uint64_t out;                 /**< bytes of slices that are not released yet */
    struct slice_block blocks[3]; /**< planes xy, xz, yz */
};

void slices_open(struct slices *s, const struct reduced *r);
void slices_close(struct slices *s);

/** Bytes that are read from the file for one slice of plane xy, xz, yz, if it is not cached. */
void slices_cost(const struct fbp_array_info *info, uint64_t cost[3]);

/**
 * Read one slice, float32 in this machine's byte order: [rows][columns] of reduced_axes[plane].
 * Waits while more than 256 MiB would be unreleased.  Safe to call from several threads.
 * index, frame: inside the volume; *n: receives the number of values
 * @return values, to be freed by slices_release(); NULL on failure, see fbp_message().
 */
float *slices_get(struct slices *s, int plane, size_t index, size_t frame, size_t *n);
void slices_release(struct slices *s, float *values, size_t n);

#endif /* FBP_CLI_SLICES_H */
