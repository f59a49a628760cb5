/** @file filter.h  Kernels of the filter chain, one row or two at a time (internal; C and CUDA). */
#ifndef FBP_SRC_CUDA_FILTER_H
#define FBP_SRC_CUDA_FILTER_H

#include <cuda_runtime_api.h>

#include "fbp/types.h"

/** A raw batch, [halves][n_views][load_rows][n_columns]. */
struct cuda_raw {
    float *samples;
    unsigned halves, n_views, load_rows, n_columns;
    unsigned first_row[2]; /**< of the detector, a half */
};

/** As struct fbp_prep, on the device. */
struct cuda_prep {
    const float *dark, *gain; /**< [row][column] or NULL */
    float inverse_i0;
    bool intensity;
    unsigned long long *not_finite, *clipped;
};

/** As struct fbp_bridge; pixels count from the panel's first. */
struct cuda_bridge {
    unsigned pixel, from[4];
    float weight[4];
};

/** Rows that are weighted and laid in pairs into complex rows [first, first + n) of struct
 *  cuda_rows (kernel.h), zeros around them. */
struct cuda_pad {
    struct cuda_raw raw;
    unsigned first, n, pairs, turns, part_views; /**< part_views: of the scan */
    unsigned n_groups, n_rows, row0, panel_rows; /**< row0: of the detector, in half 0 */
    unsigned view0, pad_left, row_length;
    const float *image, *lines; /**< separable weights; NULL: */
    const float *weights;       /**< [n][2][n_columns]; NULL, too: rows are laid out as they are */
    float2 *out;                /**< [n][row_length] */
};

FBP_BEGIN
/** Line integrals in place; what is not finite is bridged along the row. */
cudaError_t cuda_prepare_rows(const struct cuda_raw *raw, const struct cuda_prep *prep,
                              cudaStream_t stream);

/** Bad pixels of rows [row0[half], row0[half] + n_rows). */
cudaError_t cuda_bridge_pixels(const struct cuda_raw *raw, const struct cuda_bridge *bridges,
                               unsigned n_bridges, const unsigned row0[2], unsigned n_rows,
                               cudaStream_t stream);

cudaError_t cuda_pad_rows(const struct cuda_pad *pad, cudaStream_t stream);

/** Spectra [n][length] times the real, even response. */
cudaError_t cuda_multiply_rows(float2 *rows, unsigned n, unsigned length, const float *response,
                               cudaStream_t stream);

/** out[c] = sum_i in[i] taps[S + c - i] of n rows of `length` samples (S0's form of the filter). */
cudaError_t cuda_convolve_rows(const float2 *in, unsigned n, unsigned length, const float *taps,
                               unsigned half_width, float2 *out, cudaStream_t stream);
FBP_END

#endif /* FBP_SRC_CUDA_FILTER_H */
