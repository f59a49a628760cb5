/** @file filter_kernels.h  Launches of the filter's kernels and their parameters (internal; C and
 * CUDA).  filter.c calls them; they are in filter.cu, chain.cu and doubles.cu.
 */
#ifndef FBP_SRC_BACKEND_CUDA_FILTER_KERNELS_H
#define FBP_SRC_BACKEND_CUDA_FILTER_KERNELS_H

#ifdef __CUDACC__ /* before anything that includes weight/ray.h and filter/pad.h */
#    define FBP_RAY_INLINE static __device__ inline
#    define FBP_PAD_FN     static __host__ __device__ inline
#endif
#include "backend/gpu/tables.h"
#include "filter/pad.h"
#include "prep/prep.h"
#include "weight/ray.h"

#include <cuda_runtime_api.h>

/** A raw batch, [n_views][load_rows][n_columns]. */
struct cuda_raw {
    float *samples;
    const uint16_t *counts; /**< input of samples; NULL: samples are valid */
    unsigned n_views, load_rows, n_columns;
    unsigned first_row;  /**< row of the detector */
    unsigned view0;      /**< first view of the scan */
    unsigned a_part;     /**< views of each part of the batch */
    unsigned part_views; /**< views of each part of the scan */
};

/** struct fbp_prep on the device. */
struct cuda_prep {
    const float *dark, *gain; /**< [row][column] or NULL */
    float inverse_i0;
    bool intensity;
    struct fbp_hardening hardening;
    unsigned long long *not_finite, *clipped;
    unsigned *ledger; /**< bitmap of rows, as struct fbp_row_bitmap; NULL: all rows count */
    unsigned panel_rows;
};

/** Weights of samples: the product of image and lines, if both are set; ray by ray, if views is
 * set, with lines in place of step and redundancy if it is set, too; else none. */
struct cuda_weights {
    const float *image, *lines; /**< [row][column], [view][column] or NULL */
    struct fbp_rays rays;
    const struct fbp_ray_view *views; /**< or NULL */
};

/** Views of a prepared raw batch whose columns are filtered. */
struct cuda_columns {
    struct cuda_raw raw;
    struct cuda_weights weights;
    unsigned first, n; /**< views [first, first + n) of the batch */
    unsigned n_groups, part_views, view0;
    unsigned row0, n_rows; /**< rows of the detector that have line integrals */
    float *weighted;       /**< scratch [n][n_rows][n_columns] */
    const float *taps;     /**< 2 S + 1 between GPU_COLUMN_ROWS zeros on either side */
    unsigned half_width;
};

/** Rows of a raw batch, in pairs, as complex rows [first, first + n) of struct cuda_rows
 * (kernel.h).
 */
struct cuda_pairs {
    struct cuda_raw raw;
    struct cuda_weights weights;
    unsigned first, n, turns, part_views; /**< part_views: of the scan */
    unsigned n_groups, n_rows, row0;      /**< row0: of the detector */
    unsigned view0, pad_left;
    unsigned apart; /**< columns of a filtered row from one measured to the next */
};

/** The whole filter of pairs of rows in one launch. */
struct cuda_chain {
    struct cuda_pairs pairs;
    struct cuda_prep prep;
    bool prepared;              /**< samples are finite line integrals already */
    const float2 *turns;        /**< gpu_chain_twiddles() twiddle factors */
    const float *response;      /**< in the order of gpu_chain_frequency() */
    float2 *out;                /**< [n][stride] */
    unsigned stride, n_columns; /**< size of filtered rows */
};

/** Prepared pairs of rows, and their extrapolation beyond the panel. */
struct cuda_pad {
    struct cuda_pairs pairs;
    struct cuda_weights weights;
    bool weighted; /**< samples are weighted already */
    struct fbp_pad_rule rule;
    const float *tables;      /**< [end][n_lengths][n_columns] */
    unsigned n_columns;       /**< size of filtered rows */
    struct fbp_pad_end *ends; /**< scratch [pairs.n][row of the pair][end] */
};

/** A raw batch of plane integrals in double, [n_views][load_rows][n_columns], and which of its rows
 *  are filtered.  Rows are few and short: they are convolved in space, without pairs. */
struct cuda_doubles {
    double *samples;
    unsigned n_views, load_rows, n_columns;
    unsigned view0;           /**< first view of the scan */
    unsigned first_row, row0; /**< rows of the panel: the first loaded, the first filtered */
    unsigned n_rows;          /**< filtered rows per view */
    unsigned pad_left, apart; /**< see struct cuda_pairs */
    unsigned length;          /**< samples of a filtered row */
    const double *weights;    /**< per view of the scan; NULL: none */
};

FBP_BEGIN
/** Compute line integrals in place; values that are not finite are bridged along the row. */
cudaError_t cuda_prepare_rows(const struct cuda_raw *raw, const struct cuda_prep *prep,
                              cudaStream_t stream);

/** Bridge bad pixels of rows [row0, row0 + n_rows). */
cudaError_t cuda_bridge_pixels(const struct cuda_raw *raw, const struct gpu_bridge *bridges,
                               unsigned n_bridges, unsigned row0, unsigned n_rows,
                               cudaStream_t stream);

/** Weight views and convolve them along their columns, in place.  Rows nearer than S to either end
 *  are right only if that is the detector's own end.  A sample is a sum of the same terms in the
 *  same order whatever rows are loaded. */
cudaError_t cuda_filter_columns(const struct cuda_columns *columns, cudaStream_t stream);

/** Extrapolate prepared rows beyond the panel; before the filter, which may overwrite them. */
cudaError_t cuda_pad_find(const struct cuda_pad *pad, cudaStream_t stream);

/** Add the extrapolation to filtered pairs [pairs.n][stride]. */
cudaError_t cuda_pad_add(const struct cuda_pad *pad, float2 *rows, unsigned stride,
                         cudaStream_t stream);

/** Copy rows, weighted if there are weights, with zeros around, to out[n][row_length]. */
cudaError_t cuda_pad_rows(const struct cuda_pairs *pairs, unsigned row_length, float2 *out,
                          cudaStream_t stream);

/** Multiply spectra [n][length] by the real, even response. */
cudaError_t cuda_multiply_rows(float2 *rows, unsigned n, unsigned length, const float *response,
                               cudaStream_t stream);

/** out[c] = sum_i in[i] taps[S + c - i] of n rows of `length` samples (the filter of Okitsu et al.
 *  2008); and with taps and sums in double. */
cudaError_t cuda_convolve_rows(const float2 *in, unsigned n, unsigned length, const float *taps,
                               unsigned half_width, float2 *out, cudaStream_t stream);
cudaError_t cuda_convolve_in_double(const float2 *in, unsigned n, unsigned length,
                                    const double *taps, unsigned half_width, float2 *out,
                                    cudaStream_t stream);

/** Static shared memory of a block of the chain. */
size_t cuda_chain_static_bytes(void);

/** Set the kernel's dynamic shared memory on the current device, once. */
cudaError_t cuda_chain_open(size_t length);

cudaError_t cuda_filter_rows(const struct cuda_chain *chain, size_t length, cudaStream_t stream);

/** Bridge and count values that are not finite, row by row. */
cudaError_t cuda_repair_doubles(const struct cuda_doubles *d, const struct cuda_prep *prep,
                                cudaStream_t stream);

/** Copy rows [first, first + n) of the batch, [view][row], weighted, samples apart, zeros between
 *  and around them, to out[n][length]. */
cudaError_t cuda_load_doubles(const struct cuda_doubles *d, unsigned first, unsigned n, double *out,
                              cudaStream_t stream);

cudaError_t cuda_convolve_doubles(const double *in, unsigned n, unsigned length, const double *taps,
                                  unsigned half_width, double *out, cudaStream_t stream);

/** Store filtered rows [first, first + n) in views [view][group][column][frame] of struct
 *  gpu_planes, zeros behind the last column and frame. */
cudaError_t cuda_store_doubles(const struct cuda_doubles *d, unsigned first, unsigned n,
                               const double *rows, unsigned columns, unsigned groups,
                               unsigned frames, double *views, cudaStream_t stream);
FBP_END

#endif /* FBP_SRC_BACKEND_CUDA_FILTER_KERNELS_H */
