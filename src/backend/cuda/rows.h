/** @file rows.h  Launching over filtered rows (internal; CUDA C++). */
#ifndef FBP_SRC_CUDA_ROWS_H
#define FBP_SRC_CUDA_ROWS_H

#include "backend/cuda/kernel.h"

enum { CUDA_ROW_THREADS = 256 };

/** Of a grid along y. */
static const unsigned CUDA_MOST_ROWS = 65535;

/** Blocks of `threads` that hold n. */
static inline unsigned cuda_blocks(unsigned n, unsigned threads)
{
    return (n + threads - 1) / threads;
}

/** launch(part) for parts of no more rows than a grid takes along y. */
template <class Launch> static inline void cuda_for_parts(const cuda_rows &rows, Launch launch)
{
    for (unsigned at = 0; at < rows.n; at += CUDA_MOST_ROWS) {
        cuda_rows part = rows;
        part.first += at;
        part.rows += (size_t)at * rows.stride;
        part.n = rows.n - at < CUDA_MOST_ROWS ? rows.n - at : CUDA_MOST_ROWS;
        launch(part);
    }
}

#endif /* FBP_SRC_CUDA_ROWS_H */
