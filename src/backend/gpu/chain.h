/** @file chain.h  The transforms of a filter that takes a pair of rows in one launch (internal;
 * pure).
 *
 * A row of INNER R points is transformed as R interleaved rows of INNER points, those as STEP x
 * STEP.  The spectrum comes out in another order than that of frequency, in which the response is
 * tabulated, and the way back undoes it.  Half of the row is zeros, and half of the result is not
 * wanted: R is even, so that the first and the last step leave them out.
 */
#ifndef FBP_SRC_GPU_CHAIN_H
#define FBP_SRC_GPU_CHAIN_H

#include <stddef.h>

#include "fbp/types.h"

/** APART, PADDED: from row to row of STEP, and of INNER points in shared memory, whose banks
 *  neighbours and every 16th point are to be in different ones of. */
enum {
    GPU_CHAIN_INNER = 256,
    GPU_CHAIN_STEP = 16,
    GPU_CHAIN_APART = GPU_CHAIN_STEP + 1,
    GPU_CHAIN_PADDED = GPU_CHAIN_INNER / GPU_CHAIN_STEP * GPU_CHAIN_APART
};

/** R of the lengths that there are kernels for. */
#define GPU_CHAIN_RADICES 2, 4, 6, 8, 10, 12, 16, 20, 24, 32

FBP_BEGIN
/** Length of the transforms for rows of n_columns samples, on devices whose blocks have so much
 *  shared memory for a row; 0: too long. */
size_t gpu_chain_length(size_t n_columns, size_t row_bytes);

/** Shared memory of a row of that length. */
size_t gpu_chain_row_bytes(size_t length);

/** Of the table of factors; and entry i: a part of a turn, to be taken clockwise, in [0, 1). */
size_t gpu_chain_turns(size_t length);
double gpu_chain_turn(size_t length, size_t i);

/** Which frequency, 0 … length - 1, the response at place i is of. */
size_t gpu_chain_frequency(size_t length, size_t i);
FBP_END

#endif /* FBP_SRC_GPU_CHAIN_H */
