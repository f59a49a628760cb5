/** @file filter_kernels.h  Functions that launch the filter's kernels, and their parameters
 * (internal; C and CUDA C++).  filter.c calls these functions; filter.cu, chain.cu, pad.cu and
 * doubles.cu implement them.
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

/** A raw batch [n_views][load_rows][n_columns] in device memory. */
struct cuda_raw {
    float *samples;
    const uint16_t *counts; /**< input that is converted to `samples`; NULL: samples are valid */
    unsigned n_views, load_rows, n_columns;
    unsigned first_row;  /**< detector row of the batch's first row */
    unsigned view0;      /**< index in the scan of the batch's first view */
    unsigned a_part;     /**< views that the batch has from each symmetric part of the scan */
    unsigned part_views; /**< views of each symmetric part of the scan (backend/partners.h) */
};

/** struct fbp_prep with tables in device memory. */
struct cuda_prep {
    const float *dark, *gain; /**< [row][column]; NULL: none */
    float inverse_i0;
    bool intensity;
    struct fbp_hardening hardening;
    unsigned long long *not_finite, *clipped; /**< counters of repaired samples */
    unsigned *ledger;    /**< bits of struct fbp_row_bitmap; NULL: all rows are counted */
    unsigned panel_rows; /**< rows per view in `ledger` */
};

/** Weights of samples.  image and lines set: their product.  views set: weights computed per ray;
 *  lines, if also set, replace the factors of view step and redundancy.  All NULL: no weights. */
struct cuda_weights {
    const float *image, *lines; /**< [row][column], [view][column]; NULL: see above */
    struct fbp_rays rays;
    const struct fbp_ray_view *views; /**< per view of the scan; NULL: see above */
};

/** Parameters of cuda_filter_columns(): views of a prepared raw batch. */
struct cuda_columns {
    struct cuda_raw raw;
    struct cuda_weights weights;
    unsigned first, n;                    /**< views [first, first + n) of the batch */
    unsigned n_groups, part_views, view0; /**< see struct cuda_pairs */
    unsigned row0, n_rows;                /**< detector rows that contain line integrals */
    float *weighted;                      /**< scratch [n][n_rows][n_columns] */
    const float *taps;   /**< 2 S + 1 taps between GPU_COLUMN_ROWS zeros on either side */
    unsigned half_width; /**< S */
};

/** Pairs of rows of a raw batch: complex rows [first, first + n) in the order of struct cuda_rows
 *  (kernel.h). */
struct cuda_pairs {
    struct cuda_raw raw;
    struct cuda_weights weights;
    /** turns: symmetric views per group; part_views: views of each symmetric part of the scan. */
    unsigned first, n, turns, part_views;
    /** Number of groups in the batch; filtered rows per view; detector row of the first of these.
     */
    unsigned n_groups, n_rows, row0;
    /** Index in the scan of the batch's first view; column of a filtered row that corresponds to
     *  measured column 0. */
    unsigned view0, pad_left;
    unsigned apart; /**< distance in a filtered row of adjacent measured columns */
};

/** Parameters of cuda_filter_rows(), the whole filter of pairs of rows in one launch. */
struct cuda_chain {
    struct cuda_pairs pairs;
    struct cuda_prep prep;
    bool prepared;              /**< samples are already finite line integrals */
    const float2 *turns;        /**< gpu_chain_twiddles() twiddle factors */
    const float *response;      /**< response in the order of gpu_chain_frequency() */
    float2 *out;                /**< filtered pairs [n][stride] */
    unsigned stride, n_columns; /**< distance, and number of samples, of filtered rows */
};

/** Parameters of cuda_pad_find() and cuda_pad_add(): prepared pairs of rows, and the rule by which
 *  they are extrapolated beyond the panel (filter/pad.h). */
struct cuda_pad {
    struct cuda_pairs pairs;
    struct cuda_weights weights;
    bool weighted; /**< samples are already weighted */
    struct fbp_pad_rule rule;
    const float *tables;      /**< filtered extrapolations [end][n_lengths][n_columns] */
    unsigned n_columns;       /**< samples of a filtered row */
    struct fbp_pad_end *ends; /**< scratch [pairs.n][row of the pair][end] */
};

/** A raw batch of plane integrals in double, [n_views][load_rows][n_columns], and the range of its
 *  filtered rows.  Rows are few and short, so they are convolved in space, one by one. */
struct cuda_doubles {
    double *samples;
    unsigned n_views, load_rows, n_columns;
    unsigned view0;           /**< index in the scan of the batch's first view */
    unsigned first_row, row0; /**< detector rows: the first loaded, the first filtered */
    unsigned n_rows;          /**< filtered rows per view */
    unsigned pad_left, apart; /**< see struct cuda_pairs */
    unsigned length;          /**< samples of a filtered row */
    const double *weights;    /**< one per view of the scan; NULL: none */
};

FBP_BEGIN
/** Compute line integrals in place; samples that are not finite are interpolated along the row. */
cudaError_t cuda_prepare_rows(const struct cuda_raw *raw, const struct cuda_prep *prep,
                              cudaStream_t stream);

/** Interpolate bad pixels of detector rows [row0, row0 + n_rows) from good ones. */
cudaError_t cuda_bridge_pixels(const struct cuda_raw *raw, const struct gpu_bridge *bridges,
                               unsigned n_bridges, unsigned row0, unsigned n_rows,
                               cudaStream_t stream);

/** Weight views and convolve them along their columns, in place.  Of the loaded rows, the S rows at
 *  either end are correct only if the detector ends there.  Each sample is the sum of the same
 * terms in the same order for any range of loaded rows. */
cudaError_t cuda_filter_columns(const struct cuda_columns *columns, cudaStream_t stream);

/** Fit the extrapolation of prepared rows beyond the panel.  Must precede the filter, which may
 *  overwrite the rows. */
cudaError_t cuda_pad_find(const struct cuda_pad *pad, cudaStream_t stream);

/** Add the filtered extrapolation to filtered pairs [pairs.n][stride]. */
cudaError_t cuda_pad_add(const struct cuda_pad *pad, float2 *rows, unsigned stride,
                         cudaStream_t stream);

/** Copy rows to out[n][row_length], weighted if there are weights, with zeros on either side. */
cudaError_t cuda_pad_rows(const struct cuda_pairs *pairs, unsigned row_length, float2 *out,
                          cudaStream_t stream);

/** Multiply n spectra of `length` values by the real, even response [length/2 + 1]. */
cudaError_t cuda_multiply_rows(float2 *rows, unsigned n, unsigned length, const float *response,
                               cudaStream_t stream);

/** Convolve n rows of `length` samples: out[c] = sum_i in[i] taps[S + c - i], S = half_width (the
 *  filter of Okitsu et al. 2008).  The second function has taps and sums in double. */
cudaError_t cuda_convolve_rows(const float2 *in, unsigned n, unsigned length, const float *taps,
                               unsigned half_width, float2 *out, cudaStream_t stream);
cudaError_t cuda_convolve_in_double(const float2 *in, unsigned n, unsigned length,
                                    const double *taps, unsigned half_width, float2 *out,
                                    cudaStream_t stream);

/** Bytes of static shared memory of a block of the chain. */
size_t cuda_chain_static_bytes(void);

/** Set the dynamic shared memory of the chain's kernel for this length on the current device. */
cudaError_t cuda_chain_open(size_t length);

/** Filter pairs of rows in one launch.  length: length of the transform. */
cudaError_t cuda_filter_rows(const struct cuda_chain *chain, size_t length, cudaStream_t stream);

/** Interpolate samples that are not finite along their rows, and count them. */
cudaError_t cuda_repair_doubles(const struct cuda_doubles *d, const struct cuda_prep *prep,
                                cudaStream_t stream);

/** Copy rows [first, first + n) of the batch, counted as [view][row], to out[n][length]: weighted,
 *  samples `apart` columns from each other, zeros in all other columns. */
cudaError_t cuda_load_doubles(const struct cuda_doubles *d, unsigned first, unsigned n, double *out,
                              cudaStream_t stream);

/** Convolve rows as cuda_convolve_rows() does, one real row instead of a pair. */
cudaError_t cuda_convolve_doubles(const double *in, unsigned n, unsigned length, const double *taps,
                                  unsigned half_width, double *out, cudaStream_t stream);

/** Store filtered rows [first, first + n) in views [view][group][column][frame] (struct
 * gpu_planes), with zeros after the last column and frame. */
cudaError_t cuda_store_doubles(const struct cuda_doubles *d, unsigned first, unsigned n,
                               const double *rows, unsigned columns, unsigned groups,
                               unsigned frames, double *views, cudaStream_t stream);
FBP_END

#endif /* FBP_SRC_BACKEND_CUDA_FILTER_KERNELS_H */
