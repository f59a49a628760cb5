/** @file tables.h  One block of device memory for tables and scratch (internal; pure). */
#ifndef FBP_SRC_CUDA_TABLES_H
#define FBP_SRC_CUDA_TABLES_H

#include "backend/backend.h"

/** Buffers for slices on their way out: one is filled while the other is copied. */
enum { CUDA_STAGES = 2 };

/** Places as bytes from the start of the block. */
struct cuda_tables {
    size_t dark, gain;   /**< [row][column], where the scan has them */
    size_t bridges;      /**< struct cuda_bridge, one a bad pixel */
    size_t image, lines; /**< separable weights: [row][column], [view][column] */
    size_t weights;      /**< others: of the rows of a call, [row][2][column] */
    size_t filter;       /**< response, n_fft/2 + 1, or taps, 2 S + 1 */
    size_t rows;         /**< [rows_a_call][row_length] complex */
    size_t work;         /**< as large: cuFFT's scratch, or the rows convolved in space */
    size_t counters;     /**< two 64-bit counts */
    size_t found;        /**< struct cuda_found, CUDA_FOUND of them */
    size_t slices;       /**< slices on their way out, scaled: CUDA_STAGES times slice_bytes */
    size_t rows_a_call, row_length, work_bytes, slice_bytes;
    size_t bytes; /**< all of it */
};

/** Decided from the job alone, so that no limit changes what is computed. */
void cuda_tables_lay_out(const struct fbp_job *job, struct cuda_tables *out);

/** The rows are convolved in space: asked for, or there is no cuFFT. */
bool cuda_filters_in_space(const struct fbp_job *job);

#endif /* FBP_SRC_CUDA_TABLES_H */
