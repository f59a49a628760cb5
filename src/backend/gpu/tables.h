/** @file tables.h  The block of GPU memory for tables and scratch: its layout (tables.c), a pure
 * function of the job that also gives the plan its size, and the values of the tables
 * (table_values.c).  Called by the CUDA and OpenGL backends (internal; C and C++).
 *
 * The chain filters a pair of rows, as real and imaginary part, in one launch.  It transforms a row
 * of INNER R points as R interleaved rows of INNER points, and each of these as STEP x STEP.  The
 * resulting spectrum is not sorted by frequency; the response is tabulated in the same order, and
 * the inverse transform restores the order of samples.  Half of the input is zeros, and half of the
 * result is not needed: because R is even, the first and the last step omit these halves.
 */
#ifndef FBP_SRC_BACKEND_GPU_TABLES_H
#define FBP_SRC_BACKEND_GPU_TABLES_H

#include "backend/backend.h"

#include "fbp/types.h"

#include <stddef.h>

/** APART, PADDED: distances in shared memory between rows of STEP points, and between rows of INNER
 * points, such that neighbouring points, and points 16 apart, lie in different banks. */
enum {
    GPU_CHAIN_INNER = 256,
    GPU_CHAIN_STEP = 16,
    GPU_CHAIN_APART = GPU_CHAIN_STEP + 1,
    GPU_CHAIN_PADDED = GPU_CHAIN_INNER / GPU_CHAIN_STEP * GPU_CHAIN_APART
};

/** Values of R for which the chain, the filter of a row in one launch, is compiled. */
#define GPU_CHAIN_RADICES 2, 4, 6, 8, 10, 12, 16, 20, 24, 32

/** Method of the row filter. */
enum gpu_filter_method {
    GPU_FILTER_CHAIN = 0, /**< in one launch */
    GPU_FILTER_FFT,     /**< by transforms of an FFT library, for rows that are too long for shared
                           memory */
    GPU_FILTER_SPATIAL, /**< by convolution in space, if the job requires it or there is no FFT
                           library */
    GPU_FILTER_NONE     /**< no filter: views are filtered already */
};

/** Capabilities of a GPU module for filtering; each function is called only if its result is
 * needed. */
struct gpu_filter_capabilities {
    /** Returns the bytes of shared memory that a thread block can use for a row on every device of
     * the module; 0: the module cannot filter rows in one launch. */
    size_t (*row_bytes)(void);
    /** Returns whether there is a library for Fourier transforms. */
    bool (*has_fft)(void);
};

/** GPU_STAGES: number of buffers of slices for copies to the host; one buffer is filled while
 * another is copied.  GPU_COLUMN_ROWS: rows of a column that one thread of the filter along columns
 * computes. */
enum { GPU_STAGES = 2, GPU_COLUMN_ROWS = 8 };

/** Interpolation of a bad pixel on the device: as struct fbp_bridge, with pixel indices from the
 * panel's first pixel on. */
struct gpu_bridge {
    unsigned pixel, from[4];
    float weight[4];
};

/** Statistics of the voxels that one of GPU_STATISTICS_BLOCKS thread blocks has processed, for
 * float and for double. */
struct gpu_block_statistics {
    float min, max;
    double sum;
};
struct gpu_block_statistics_double {
    double min, max, sum;
};
enum { GPU_STATISTICS_BLOCKS = 512 };

/** Offsets [bytes] of the tables from the start of the block; unused members are 0. */
struct gpu_tables {
    size_t dark, gain;   /**< float [row][column]: dark and gain images, if the scan has them */
    size_t bridges;      /**< struct gpu_bridge per bad pixel */
    size_t image, lines; /**< separable weights: float [row][column], [view][column] */
    size_t scales;       /**< jobs in double: weight per view of plane integrals */
    size_t rays; /**< weights that are not separable: struct fbp_ray_view per view; `lines` too if
                    redundancy is FBP_PER_RAY */
    enum gpu_filter_method way;
    /** Filter: response in the order of gpu_chain_frequency(), or at n_fft/2 + 1 frequencies; or 2
     * S + 1 taps. */
    size_t filter;
    bool in_double;    /**< taps and sums of the convolution are double, because their terms nearly
                          cancel */
    size_t twiddles;   /**< complex twiddle factors of the chain */
    size_t fft_length; /**< points of the chain's transforms */
    size_t rows;       /**< [rows_per_call][row_length] complex */
    size_t work; /**< scratch of the FFT library, or rows convolved in space; same size as `rows` */
    size_t taps_v;   /**< taps of the filter along columns, with zeros on either side */
    size_t weighted; /**< [views_per_call] weighted views, input of the filter along columns */
    size_t pad;      /**< filtered extrapolations beyond the panel: tables of struct fbp_pad */
    size_t ends;     /**< struct fbp_pad_end [rows_per_call][row of the pair][end] */
    size_t planes;   /**< struct gpu_plane per view, for kernels "planes" */
    size_t wanted; /**< requested slices: struct gpu_wanted [y][x] per cell, if there is a region */
    size_t counters;   /**< two 64-bit counts of repaired samples: struct fbp_prep_counts */
    size_t row_bitmap; /**< words of struct fbp_row_bitmap */
    size_t found;      /**< struct gpu_block_statistics [GPU_STATISTICS_BLOCKS] */
    size_t slices; /**< scaled slices before the copy to the host: GPU_STAGES times slice_bytes */
    /** Sizes: rows filtered per call; complex values per row; bytes of `work`; bytes of one buffer
     * of `slices`; views per call of the filter along columns. */
    size_t rows_per_call, row_length, work_bytes, slice_bytes, views_per_call;
    size_t bytes; /**< size of the whole block */
};

FBP_BEGIN
/** Computes the layout of the tables of a job.  The layout depends on job and offer only, so that
 * memory limits do not change the result. */
void gpu_tables_lay_out(const struct fbp_job *job, const struct gpu_filter_capabilities *offer,
                        struct gpu_tables *out);

/** Returns whether rows must be convolved in space: on request, or because of inserted columns, two
 * passes, an asymmetric kernel, or double. */
bool gpu_needs_spatial_filter(const struct fbp_job *job);

/** Returns the fastest usable method. */
enum gpu_filter_method gpu_filter_method_of(const struct fbp_job *job,
                                            const struct gpu_filter_capabilities *offer);

/** Returns the length of the table of taps along columns: 2 S + 1, and GPU_COLUMN_ROWS zeros on
 *  either side. */
size_t gpu_column_taps(const struct fbp_job *job);

/** Returns the length of the transforms by which the chain (one launch per filter) filters rows of
 * n_columns samples, if thread blocks have row_bytes of shared memory for a row; 0: the row is too
 * long. */
size_t gpu_chain_length(size_t n_columns, size_t row_bytes);

/** Returns the bytes of shared memory for a row of a transform of that length. */
size_t gpu_chain_row_bytes(size_t length);

/** Return the number of twiddle factors of the chain's transform of this length; and factor i as a
 * fraction, in [0, 1), of a clockwise turn. */
size_t gpu_chain_twiddles(size_t length);
double gpu_chain_twiddle(size_t length, size_t i);

/** Returns the frequency, 0 … length - 1, of entry i of the filter's response as the chain
 * (chain.cu, fft.glsl) stores it. */
size_t gpu_chain_frequency(size_t length, size_t i);

/** Copies `bytes` bytes of data to offset `at` of the block of tables. */
typedef fbp_status gpu_put_fn(void *user, size_t at, const void *data, size_t bytes);

/** Computes all tables of a job and calls put() for each of them. */
fbp_status gpu_tables_write(const struct fbp_job *job, const struct gpu_tables *tables,
                            gpu_put_fn *put, void *user);

/** Combine the statistics of all thread blocks, in the order of the blocks, in *out, and reset
 * them. */
void gpu_statistics_take(struct gpu_block_statistics found[GPU_STATISTICS_BLOCKS],
                         struct fbp_statistics *out);
void gpu_statistics_take_double(struct gpu_block_statistics_double found[GPU_STATISTICS_BLOCKS],
                                struct fbp_statistics *out);
FBP_END

#endif /* FBP_SRC_BACKEND_GPU_TABLES_H */
