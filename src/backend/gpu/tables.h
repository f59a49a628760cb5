/** @file tables.h  The block of device memory for tables and scratch: its layout, a pure function
 * of the job, which the plan uses for its size, and the values of the tables (internal; C and C++).
 *
 * The filter of a pair of rows in one launch (the chain) transforms a row of INNER R points as R
 * interleaved rows of INNER points, and those as STEP x STEP.  The spectrum has another order than
 * that of frequency, in which the response is tabulated, and the inverse transform undoes it.  Half
 * of the row is zeros, and half of the result is not needed: R is even, hence the first and the
 * last step omit them.
 */
#ifndef FBP_SRC_BACKEND_GPU_TABLES_H
#define FBP_SRC_BACKEND_GPU_TABLES_H

#include "backend/backend.h"

#include "fbp/types.h"

#include <stddef.h>

/** APART, PADDED: distances in shared memory from row to row of STEP points, and of INNER points;
 *  neighbours and every 16th point then lie in different banks. */
enum {
    GPU_CHAIN_INNER = 256,
    GPU_CHAIN_STEP = 16,
    GPU_CHAIN_APART = GPU_CHAIN_STEP + 1,
    GPU_CHAIN_PADDED = GPU_CHAIN_INNER / GPU_CHAIN_STEP * GPU_CHAIN_APART
};

/** R of the lengths that have kernels. */
#define GPU_CHAIN_RADICES 2, 4, 6, 8, 10, 12, 16, 20, 24, 32

/** How rows are filtered: in one launch (the chain); step by step, as spectra by an FFT library, if
 *  rows are too long for the chain; in space, if requested or without a library; or not, if views
 *  come filtered. */
enum gpu_filter_method {
    GPU_FILTER_CHAIN = 0,
    GPU_FILTER_FFT,
    GPU_FILTER_SPATIAL,
    GPU_FILTER_NONE
};

/** Capabilities of a module for filtering; called only if they matter. */
struct gpu_filter_capabilities {
    /** Shared memory that a block has for a row, on every device; 0: no chain. */
    size_t (*row_bytes)(void);
    /** Is there a library for Fourier transforms? */
    bool (*has_fft)(void);
};

/** Buffers for slices on their way to the host: one is filled while the other is copied.  Rows of a
 *  column that a thread of the filter along columns computes. */
enum { GPU_STAGES = 2, GPU_COLUMN_ROWS = 8 };

/** struct fbp_bridge on the device; pixels count from the panel's first. */
struct gpu_bridge {
    unsigned pixel, from[4];
    float weight[4];
};

/** Statistics of the voxels that one of GPU_STATISTICS_BLOCKS blocks has seen, of floats and of
 * doubles. */
struct gpu_block_statistics {
    float min, max;
    double sum;
};
struct gpu_block_statistics_double {
    double min, max, sum;
};
enum { GPU_STATISTICS_BLOCKS = 512 };

/** Offsets of the tables from the start of the block, in bytes. */
struct gpu_tables {
    size_t dark, gain;   /**< [row][column], if the scan has them */
    size_t bridges;      /**< struct gpu_bridge per bad pixel */
    size_t image, lines; /**< separable weights: [row][column], [view][column] */
    size_t scales;       /**< double: weights of views of plane integrals */
    size_t rays;         /**< other weights: struct fbp_ray_view per view; per ray: and lines */
    enum gpu_filter_method way;
    size_t filter;     /**< response, in the chain's order or n_fft/2 + 1, or taps, 2 S + 1 */
    bool in_double;    /**< taps and sums are double: terms of plane integrals nearly cancel */
    size_t turns;      /**< twiddle factors of the chain */
    size_t fft_length; /**< length of the chain's transforms */
    size_t rows;       /**< [rows_per_call][row_length] complex */
    size_t work; /**< scratch of the FFT library, or rows convolved in space; as large as `rows` */
    size_t taps_v;   /**< taps of the filter along columns, between zeros */
    size_t weighted; /**< views_per_call views on their way through that filter */
    size_t pad;      /**< tables of rows that are extrapolated beyond the panel */
    size_t ends;     /**< struct fbp_pad_end [rows_per_call][row of the pair][end] */
    size_t planes;   /**< struct gpu_plane per view, of kernels that take them */
    size_t wanted;   /**< struct gpu_wanted [y][x] of the cells of a volume with a region */
    size_t counters; /**< two 64-bit counts */
    size_t ledger;   /**< words of struct fbp_row_bitmap */
    size_t found;    /**< struct gpu_block_statistics [GPU_STATISTICS_BLOCKS] */
    size_t slices;   /**< scaled slices on their way out: GPU_STAGES times slice_bytes */
    size_t rows_per_call, row_length, work_bytes, slice_bytes, views_per_call;
    size_t bytes; /**< size of the whole block */
};

FBP_BEGIN
/** Lay out the tables.  Job and offer alone decide, hence no limit changes the result. */
void gpu_tables_lay_out(const struct fbp_job *job, const struct gpu_filter_capabilities *offer,
                        struct gpu_tables *out);

/** Is the filter in space requested, or the only one for the job: samples between the measured
 * ones, two passes, a kernel that is not symmetric, double? */
bool gpu_needs_spatial_filter(const struct fbp_job *job);

/** The fastest method that can be used. */
enum gpu_filter_method gpu_filter_method_of(const struct fbp_job *job,
                                            const struct gpu_filter_capabilities *offer);

/** Length of the table of taps along columns: 2 S + 1 between GPU_COLUMN_ROWS zeros on either side.
 */
size_t gpu_column_taps(const struct fbp_job *job);

/** Length of the chain's transforms for rows of n_columns samples, if blocks have row_bytes of
 *  shared memory for a row; 0: too long. */
size_t gpu_chain_length(size_t n_columns, size_t row_bytes);

/** Shared memory of a row of that length. */
size_t gpu_chain_row_bytes(size_t length);

/** Number of twiddle factors; and factor i: a part of a turn clockwise, in [0, 1). */
size_t gpu_chain_twiddles(size_t length);
double gpu_chain_twiddle(size_t length, size_t i);

/** Frequency, 0 … length - 1, of entry i of the response. */
size_t gpu_chain_frequency(size_t length, size_t i);

/** Copies bytes to an offset of the block. */
typedef fbp_status gpu_put_fn(void *user, size_t at, const void *data, size_t bytes);

/** Write all tables, one after another. */
fbp_status gpu_tables_write(const struct fbp_job *job, const struct gpu_tables *tables,
                            gpu_put_fn *put, void *user);

/** Combine the statistics of all blocks, in their order, and reset them. */
void gpu_statistics_take(struct gpu_block_statistics found[GPU_STATISTICS_BLOCKS],
                         struct fbp_statistics *out);
void gpu_statistics_take_double(struct gpu_block_statistics_double found[GPU_STATISTICS_BLOCKS],
                                struct fbp_statistics *out);
FBP_END

#endif /* FBP_SRC_BACKEND_GPU_TABLES_H */
