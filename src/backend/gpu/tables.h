/** @file tables.h  The block of GPU memory that contains a job's tables (filter, weights,
 * corrections) and scratch memory: its layout (tables.c), from which plans also get its size, and
 * the values of the tables (table_values.c) (internal; C and C++).
 *
 * The filter in one launch (the "chain") filters a pair of rows, as real and imaginary part.  It
 * transforms a row of INNER R points as R interleaved rows of INNER points, and each of these as
 * STEP x STEP points.  The resulting spectrum is not sorted by frequency; the response is tabulated
 * in the same order, and the inverse transform restores the order of samples.  Half of the input is
 * zeros, and half of the result is not needed: because R is even, the first and the last step omit
 * these halves.
 * Used by: bench/predict/, backend/cuda/, backend/gl/, backend/gpu/.
 */
#ifndef FBP_SRC_BACKEND_GPU_TABLES_H
#define FBP_SRC_BACKEND_GPU_TABLES_H

#include "backend/gpu/gpu_kernel.h"

#include "fbp/types.h"

#include <stddef.h>

/** Layout of a row in shared memory for the filter in one launch: distances between runs of
 * GPU_CHAIN_STEP points (GPU_CHAIN_APART) and of GPU_CHAIN_INNER points (GPU_CHAIN_PADDED), for
 * which points 1 and 16 apart lie in different memory banks. */
enum {
    GPU_CHAIN_INNER = 256,
    GPU_CHAIN_STEP = 16,
    GPU_CHAIN_APART = GPU_CHAIN_STEP + 1,
    GPU_CHAIN_PADDED = GPU_CHAIN_INNER / GPU_CHAIN_STEP * GPU_CHAIN_APART
};

/** The filter in one launch (the "chain") is compiled for transforms of R * 256 points. */
#define GPU_CHAIN_RADICES 2, 4, 6, 8, 10, 12, 16, 20, 24, 32

/** Method of the row filter. */
enum gpu_filter_method {
    GPU_FILTER_CHAIN = 0, /**< Fourier transforms in one launch */
    /** Fourier transforms in several launches (cuFFT), for rows beyond shared memory */
    GPU_FILTER_FFT,
    /** convolution in space, if the job requires it or the module has no other method */
    GPU_FILTER_SPATIAL,
    GPU_FILTER_NONE /**< no filter: the source's views are filtered already */
};

/** Functions that return by which methods a GPU module can filter rows.  They are called only if
 * the result is needed, because a call may load a library. */
struct gpu_filter_capabilities {
    /** Returns the bytes of shared memory that a thread block can use for a row, on every device of
     * the module; 0: the module cannot filter a row in one launch. */
    size_t (*row_bytes)(void);
    /** Whether the module has transforms in several launches (CUDA: if cuFFT is found). */
    bool (*has_fft)(void);
};

/** GPU_STAGES: buffers for slices that are copied to the host; one is filled while another is
 * copied. GPU_COLUMN_ROWS: rows per thread of the filter along columns. */
enum { GPU_STAGES = 2, GPU_COLUMN_ROWS = 8 };

/** A bad pixel and its good neighbours (struct fbp_bridge), as row * n_columns + column. */
struct gpu_bridge {
    unsigned pixel, from[4];
    float weight[4];
};

/** Statistics (minimum, maximum, sum) of the output voxels that one of the GPU_STATISTICS_BLOCKS
 * thread blocks has processed, for voxels in float and for voxels in double. */
struct gpu_block_statistics {
    float min, max;
    double sum;
};
struct gpu_block_statistics_double {
    double min, max, sum;
};
enum { GPU_STATISTICS_BLOCKS = 512 };

/** Offsets [bytes] of the tables from the start of the memory block that contains all of them, and
 * their sizes.  The offset of a table that the job does not need is 0. */
struct gpu_tables {
    size_t dark, gain; /**< dark image and gain image, float [row][column], if the scan has them */
    size_t bridges;    /**< array of struct gpu_bridge, one per bad pixel */
    size_t image, lines; /**< weights: products of factors [row][column] and [view][column] */
    size_t scales; /**< jobs in double: one weight per view of plane integrals, double [view] */
    size_t rays;   /**< weights per ray: struct fbp_ray_view [view]; FBP_PER_RAY: times `lines` */
    enum gpu_filter_method way;
    /** GPU_FILTER_CHAIN: response in the order of gpu_chain_frequency(); GPU_FILTER_FFT: response
     * at n_fft/2 + 1 frequencies; GPU_FILTER_SPATIAL: 2 half_width + 1 taps */
    size_t filter;
    bool in_double;    /**< sums of the convolution are double: the products nearly cancel */
    size_t twiddles;   /**< complex twiddle factors of the one-launch filter */
    size_t fft_length; /**< number of points of the transforms of the one-launch filter */
    size_t rows;       /**< complex rows [rows_per_call][row_length] that are filtered */
    size_t work;       /**< result of steps that do not work in place, or scratch of cuFFT */
    size_t taps_v;     /**< taps of the filter along columns, with zeros on either side */
    size_t weighted;   /**< weighted views, input of the filter along columns */
    size_t pad;  /**< filtered extrapolations of rows beyond the panel: tables of struct fbp_pad */
    size_t ends; /**< struct fbp_pad_end [complex row][real, imaginary part][left, right end] */
    size_t planes;   /**< struct gpu_plane per view, for kernels of plane integrals */
    size_t parallel; /**< struct gpu_parallel_view per view, for kernels with `slices` set */
    size_t view_groups, images; /**< kernel "hierarchical": struct gpu_view_group [gpu_groups_of()],
                                   struct gpu_block_images [gpu_images_of()] */
    size_t wanted;     /**< requested slices per cell of voxel columns, if there is a region */
    size_t counters;   /**< struct fbp_prep_counts: two 64-bit counters of repaired samples */
    size_t row_bitmap; /**< rows whose repairs are not counted yet (struct fbp_row_bitmap) */
    size_t found;      /**< statistics of output voxels [GPU_STATISTICS_BLOCKS]: struct
                          gpu_block_statistics, or gpu_block_statistics_double for jobs in double */
    size_t slices;     /**< GPU_STAGES buffers of finished slices for copies to the host */
    /** rows_per_call: complex rows that one call filters; row_length: values per complex row;
     * work_bytes: size of `work`; slice_bytes: size of one buffer of `slices`; views_per_call:
     * views that one call of the filter along columns processes. */
    size_t rows_per_call, row_length, work_bytes, slice_bytes, views_per_call;
    size_t bytes; /**< size of the whole block */
};

FBP_BEGIN
/** Computes the layout of the tables of a job; offer: filter methods of the module.  The layout
 * does not depend on memory limits, so these do not change the result of the reconstruction. */
void gpu_tables_lay_out(const struct fbp_job *job, const struct gpu_filter_capabilities *offer,
                        struct gpu_tables *out);

/** Returns whether rows must be convolved in space: by request, or for oversampled planes, a filter
 * of two passes, an asymmetric kernel, or double. */
bool gpu_needs_spatial_filter(const struct fbp_job *job);

/** The fastest method to filter rows that the job allows and the module has. */
enum gpu_filter_method gpu_filter_method_of(const struct fbp_job *job,
                                            const struct gpu_filter_capabilities *offer);

/** Length of the taps along columns: 2 half_width + 1, and GPU_COLUMN_ROWS zeros per side. */
size_t gpu_column_taps(const struct fbp_job *job);

/** Returns the length of the transforms by which the one-launch filter processes rows of n_columns
 * samples, if thread blocks have row_bytes of shared memory for a row; 0: the row is too long. */
size_t gpu_chain_length(size_t n_columns, size_t row_bytes);

/** Returns the bytes of shared memory that a row needs in a transform of this length. */
size_t gpu_chain_row_bytes(size_t length);

/** Number of twiddle factors of the one-launch filter of this length, and the angle of factor i as
 * a fraction, in [0, 1), of a clockwise turn. */
size_t gpu_chain_twiddles(size_t length);
double gpu_chain_twiddle(size_t length, size_t i);

/** Frequency, 0 … length - 1, of entry i of the one-launch filter's response. */
size_t gpu_chain_frequency(size_t length, size_t i);

/** Copies data to offset `at` [bytes] of the device's block of tables. */
typedef fbp_status gpu_put_fn(void *user, size_t at, const void *data, size_t bytes);

/** Computes all tables of a job, and calls put() for each to copy it to the device. */
fbp_status gpu_tables_write(const struct fbp_job *job, const struct gpu_tables *tables,
                            gpu_put_fn *put, void *user);

/** Combine the statistics of all thread blocks in *out, and reset found[].  Sums are added in the
 * order of the blocks, so they have the same bits in every run. */
void gpu_statistics_take(struct gpu_block_statistics found[GPU_STATISTICS_BLOCKS],
                         struct fbp_statistics *out);
void gpu_statistics_take_double(struct gpu_block_statistics_double found[GPU_STATISTICS_BLOCKS],
                                struct fbp_statistics *out);
FBP_END

#endif /* FBP_SRC_BACKEND_GPU_TABLES_H */
