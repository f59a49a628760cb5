/** @file filter_kernels.h  Kernels of the filter chain (internal; C and CUDA). */
#ifndef FBP_SRC_CUDA_FILTER_KERNELS_H
#define FBP_SRC_CUDA_FILTER_KERNELS_H

#include <cuda_runtime_api.h>

#if defined __CUDACC__ && !defined FBP_RAY_INLINE /* before anything that includes ray.h */
#    define FBP_RAY_INLINE static __device__ inline
#endif
#include "backend/gpu/chain.h"
#include "backend/gpu/tables.h"
#include "fbp/types.h"
#include "prep/prep.h"
#include "weight/ray.h"

/** A raw batch, [n_views][load_rows][n_columns]. */
struct cuda_raw {
    float *samples;
    const uint16_t *counts; /**< what samples will be made from; NULL: they are there */
    unsigned n_views, load_rows, n_columns;
    unsigned first_row; /**< of the detector */
    unsigned view0, a_part,
        part_views; /**< of the scan: the first view; of a part here, and there */
};

/** As struct fbp_prep, on the device. */
struct cuda_prep {
    const float *dark, *gain; /**< [row][column] or NULL */
    float inverse_i0;
    bool intensity;
    struct fbp_hardening hardening;
    unsigned long long *not_finite, *clipped;
    unsigned *ledger; /**< as struct fbp_ledger; NULL: all rows count */
    unsigned panel_rows;
};

/** Weights of samples: the product of image and lines, if both are there; ray by ray, if views are
 * there, with lines in place of step and redundancy if they are there, too; else none. */
struct cuda_weights {
    const float *image, *lines; /**< [row][column], [view][column] or NULL */
    struct fbp_rays rays;
    const struct fbp_ray_view *views; /**< or NULL */
};

/** Some views of a prepared raw batch, whose columns are to be filtered. */
struct cuda_columns {
    struct cuda_raw raw;
    struct cuda_weights weights;
    unsigned first, n; /**< views [first, first + n) of the batch */
    unsigned n_groups, part_views, view0;
    unsigned row0, n_rows; /**< of the detector: those that line integrals are there of */
    float *weighted;       /**< scratch [n][n_rows][n_columns] */
    const float *taps;     /**< 2 S + 1 between GPU_COLUMN_ROWS zeros on either side */
    unsigned half_width;
};

/** Rows of a raw batch, laid in pairs into complex rows [first, first + n) of struct cuda_rows
 *  (kernel.h). */
struct cuda_pairs {
    struct cuda_raw raw;
    struct cuda_weights weights;
    unsigned first, n, turns, part_views; /**< part_views: of the scan */
    unsigned n_groups, n_rows, row0;      /**< row0: of the detector */
    unsigned view0, pad_left;
    unsigned apart; /**< columns of a filtered row from one measured to the next */
};

/** The whole chain of pairs of rows in one launch. */
struct cuda_chain {
    struct cuda_pairs pairs;
    struct cuda_prep prep;
    bool prepared;              /**< samples are finite line integrals already */
    const float2 *turns;        /**< gpu_chain_turns() */
    const float *response;      /**< in the order of gpu_chain_frequency() */
    float2 *out;                /**< [n][stride] */
    unsigned stride, n_columns; /**< of filtered rows */
};

FBP_BEGIN
/** Line integrals in place; what is not finite is bridged along the row. */
cudaError_t cuda_prepare_rows(const struct cuda_raw *raw, const struct cuda_prep *prep,
                              cudaStream_t stream);

/** Bad pixels of rows [row0, row0 + n_rows). */
cudaError_t cuda_bridge_pixels(const struct cuda_raw *raw, const struct gpu_bridge *bridges,
                               unsigned n_bridges, unsigned row0, unsigned n_rows,
                               cudaStream_t stream);

/**
 * Weighted and convolved along their columns, in place.  Rows nearer than S to either end come out
 * right only where that is the detector's own end.  A sample is a sum of the same terms in the same
 * order whatever rows there are.
 */
cudaError_t cuda_filter_columns(const struct cuda_columns *columns, cudaStream_t stream);

/** Weighted if there are weights, with zeros around, to out[n][row_length]. */
cudaError_t cuda_pad_rows(const struct cuda_pairs *pairs, unsigned row_length, float2 *out,
                          cudaStream_t stream);

/** Spectra [n][length] times the real, even response. */
cudaError_t cuda_multiply_rows(float2 *rows, unsigned n, unsigned length, const float *response,
                               cudaStream_t stream);

/** out[c] = sum_i in[i] taps[S + c - i] of n rows of `length` samples (S0's form of the filter). */
cudaError_t cuda_convolve_rows(const float2 *in, unsigned n, unsigned length, const float *taps,
                               unsigned half_width, float2 *out, cudaStream_t stream);

/** The same with taps, and sums, in double. */
cudaError_t cuda_convolve_in_double(const float2 *in, unsigned n, unsigned length,
                                    const double *taps, unsigned half_width, float2 *out,
                                    cudaStream_t stream);

/** Shared memory of a block of the chain beside its row. */
size_t cuda_chain_beside(void);

/** Allow the kernel its shared memory on the current device, once. */
cudaError_t cuda_chain_open(size_t length);

cudaError_t cuda_filter_rows(const struct cuda_chain *chain, size_t length, cudaStream_t stream);
FBP_END

#endif /* FBP_SRC_CUDA_FILTER_KERNELS_H */
