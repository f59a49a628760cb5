/** @file tables.h  One block of device memory for tables and scratch (internal; pure). */
#ifndef FBP_SRC_CUDA_TABLES_H
#define FBP_SRC_CUDA_TABLES_H

#include "backend/backend.h"

/** How rows are filtered: in one launch (chain.cu), or step by step, as spectra by cuFFT where rows
 *  are too long for that, or in space where that was asked for or there is no cuFFT; or they are
 * already. */
enum cuda_way { CUDA_AT_ONCE = 0, CUDA_BY_CUFFT, CUDA_IN_SPACE, CUDA_NO_FILTER };

/** Buffers for slices on their way out: one is filled while the other is copied. */
enum { CUDA_STAGES = 2 };

/** Places as bytes from the start of the block. */
struct cuda_tables {
    size_t dark, gain;   /**< [row][column], where the scan has them */
    size_t bridges;      /**< struct cuda_bridge, one a bad pixel */
    size_t image, lines; /**< separable weights: [row][column], [view][column] */
    size_t rays;         /**< others: struct fbp_ray_view, one a view */
    enum cuda_way way;
    size_t filter;     /**< response, in the chain's order or n_fft/2 + 1, or taps, 2 S + 1 */
    size_t turns;      /**< the chain's factors */
    size_t fft_length; /**< of the chain's transforms */
    size_t rows;       /**< [rows_a_call][row_length] complex */
    size_t work;       /**< as large: cuFFT's scratch, or the rows convolved in space */
    size_t taps_v;     /**< of the filter along columns, between zeros */
    size_t weighted;   /**< views_a_call views that it is applied to */
    size_t pad;        /**< tables of rows that are carried on beyond the panel */
    size_t ends;       /**< struct fbp_pad_end [rows_a_call][row of the pair][end] */
    size_t counters;   /**< two 64-bit counts */
    size_t ledger;     /**< words of struct fbp_ledger */
    size_t found;      /**< struct cuda_found, CUDA_FOUND of them */
    size_t slices;     /**< slices on their way out, scaled: CUDA_STAGES times slice_bytes */
    size_t rows_a_call, row_length, work_bytes, slice_bytes, views_a_call;
    size_t bytes; /**< all of it */
};

/** Decided from the job alone, so that no limit changes what is computed. */
void cuda_tables_lay_out(const struct fbp_job *job, struct cuda_tables *out);

/** The fastest that can be used; FBP_FFT=cufft asks for that (tests). */
enum cuda_way cuda_way_of(const struct fbp_job *job);

/** Taps of the filter along columns, zeros included. */
size_t cuda_column_taps(const struct fbp_job *job);

#endif /* FBP_SRC_CUDA_TABLES_H */
