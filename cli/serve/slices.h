/** @file slices.h  Slices of a volume in full, of any plane, as they are asked for. */
#ifndef FBP_CLI_SLICES_H
#define FBP_CLI_SLICES_H

#include "page/reduced.h"

#include <pthread.h>

/** Neighbouring slices of a plane that were read together. */
struct slice_block {
    size_t frame, first, n; /**< n 0: there are none */
    float *values;          /**< [n][rows][columns], row 0 at the bottom */
};

/** Samples of a file lie along x: a slice yz reads all of the volume, a slice xz a row of each
 * slice. Neighbours come for the same reading, and are kept, up to 64 MiB a plane. */
struct slices {
    const struct reduced *r; /**< sizes, and the open source */
    pthread_mutex_t lock;
    pthread_cond_t room;
    uint64_t out; /**< bytes of slices that are on their way */
    struct slice_block blocks[3];
};

void slices_open(struct slices *s, const struct reduced *r);
void slices_close(struct slices *s);

/** Bytes of a file that one slice of each plane costs to read, unless it is kept. */
void slices_cost(const struct fbp_array_info *info, uint64_t cost[3]);

/**
 * One slice, float32 in this machine's order: [rows][columns] of reduced_axes[plane].  Waits while
 * too many are on their way.  Several threads may ask at the same time.
 * index, frame: inside
 * @return values, given back by slices_release(); NULL: fbp_message().
 */
float *slices_get(struct slices *s, int plane, size_t index, size_t frame, size_t *n);
void slices_release(struct slices *s, float *values, size_t n);

#endif /* FBP_CLI_SLICES_H */
