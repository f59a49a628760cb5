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

/** launch(part) for parts of no more rows of texels than a grid takes along y. */
template <class Launch> static inline void cuda_for_parts(const cuda_rows &rows, Launch launch)
{
    const unsigned most = CUDA_MOST_ROWS * rows.n_lanes;

    for (unsigned at = 0; at < rows.n; at += most) {
        cuda_rows part = rows;
        part.first += at;
        part.rows += (size_t)at * rows.stride;
        part.n = rows.n - at < most ? rows.n - at : most;
        launch(part);
    }
}

template <int LANES> struct cuda_count_of {
    static constexpr int N = LANES;
};

/** launch(cuda_count_of<LANES>), for a texel of 1, 2 or 4 lanes. */
template <class Launch> static inline void cuda_for_lanes(unsigned n, Launch launch)
{
    if (n == 4)
        launch(cuda_count_of<4>());
    else if (n == 2)
        launch(cuda_count_of<2>());
    else
        launch(cuda_count_of<1>());
}

#endif /* FBP_SRC_CUDA_ROWS_H */
