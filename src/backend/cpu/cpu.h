/** @file cpu.h  The CPU device: threads, kernels, filter (internal).
 *
 * cpu.c implements the backend and chooses a kernel.  A kernel (matrix.c, column.c, rot.c,
 * planes_float.c, planes_double.c) has its own layouts of views and volume, and cuts a
 * backprojection into work items.  filter.c prepares, weights and filters rows, with convolve.c,
 * and hands them to the kernel's store().  The inner loops are in simd.h.
 */
#ifndef FBP_SRC_CPU_DEVICE_H
#define FBP_SRC_CPU_DEVICE_H

#include "backend/backend.h"
#include "backend/cpu/simd.h"
#include "fft/lanes.h"
#include "filter/filter.h"

enum {
    CPU_ROWS = 16,                   /**< rows that are filtered together: whole cache lines of a
                                          transposed view */
    CPU_FILTER_LINES = 4 * CPU_ROWS, /**< greatest number of rows of a work item of the filter */
    CPU_FLOATS_PER_CACHE_LINE = 16
};

struct cpu_device;

/** One batch into slices [z0, z1) of a slab. */
struct cpu_bp {
    const struct cpu_device *dev;
    const struct fbp_batch *batch;
    const void *filtered; /**< floats; doubles for jobs in double, as in `volume` */
    const struct fbp_slab *slab;
    size_t z0, z1;
    void *volume;
};

/** A kernel.  `value`: float, or double for jobs in double. */
struct cpu_kernel {
    const char *name;
    bool in_double;      /**< for jobs in double, and for no others */
    bool interpolates;   /**< all of enum fbp_interpolation, not only linearly */
    size_t least_slices; /**< slices of the volume from which on it is faster than the next one */
    size_t turns;        /**< symmetric views per group, one per lane of a sample */
    bool boxes; /**< slabs may be boxes of slices: a voxel's storage depends on no other voxel */
    unsigned symmetry; /**< of the scan, that it needs: FBP_SYM_*; 0: none */
    /** True if scan and volume allow it; NULL: all that have the symmetry do. */
    bool (*usable)(const struct fbp_job *job);
    /** Samples of one group of filtered views of n_rows rows, with its border of zeros. */
    size_t (*group_size)(const struct fbp_job *job, size_t n_rows);
    /** Store filtered rows [first, first + n) of a group of n_rows, n <= CPU_ROWS, first a multiple
     * of CPU_ROWS, and the border beside them.  rows: value [turns][CPU_ROWS][wide.n_columns]. */
    void (*store)(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const void *rows, void *group);
    /** Voxels of a slab as stored; NULL: every voxel once, [channel][z][y][x]. */
    size_t (*volume_size)(const struct fbp_job *job, const struct fbp_slab *slab);
    /** Number of work items of a backprojection. */
    size_t (*items)(const struct cpu_bp *bp);
    fbp_pool_fn *item; /**< one work item; user: the struct cpu_bp */
    /** Scratch per thread [floats]; NULL: 0. */
    size_t (*scratch)(const struct fbp_job *job);
    /** Copy row y of slices [z0, z1) of a slab, one channel, to value host[z1 - z0][ny][nx], scaled
     * and shifted; NULL: from [channel][z][y][x]. */
    void (*fetch_row)(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const void *volume, void *host);
};

extern const struct cpu_kernel cpu_kernel_matrix, cpu_kernel_column, cpu_kernel_planes,
    cpu_kernel_rot90, cpu_kernel_rot180, cpu_kernel_matrix_double, cpu_kernel_column_double,
    cpu_kernel_planes_double;

/** Toward minus infinity, for small numbers: floor() is a call without SSE 4.1. */
static inline ptrdiff_t cpu_floor(double a)
{
    return (ptrdiff_t)(a + 65536) - 65536;
}

static inline size_t cpu_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** a, but at least lo and at most hi. */
static inline double cpu_within(double a, double lo, double hi)
{
    return a > lo ? a < hi ? a : hi : lo;
}

/** Number of tiles of `tile` elements that cover n elements. */
static inline size_t cpu_tiles(size_t n, size_t tile)
{
    return (n + tile - 1) / tile;
}

/** Views whose rows are adjacent, with at least FBP_PLANES_MARGIN zeros on either side: samples
 * from row to row, samples of a view, and store(). */
size_t cpu_rows_stride(const struct fbp_job *job);
size_t cpu_rows_size(const struct fbp_job *job, size_t n_rows);
void cpu_rows_store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                    const void *rows, void *view);

/** Tables and plan of the filter of rows; several threads may apply it at the same time. */
struct cpu_convolution {
    const struct fbp_filter_design *filter;
    const struct fbp_line_dsp *dsp;
    bool spatial; /**< sums of products, not by FFT */
    const struct fbp_lanes *lanes;
    struct fbp_lanes_plan plan;
    float *taps; /**< 2 S + 1 between FBP_CONVOLVE_COLUMNS zeros on either side */
};

fbp_status cpu_convolution_open(struct cpu_convolution *out, const struct fbp_job *job,
                                const struct fbp_line_dsp *dsp);
void cpu_convolution_close(struct cpu_convolution *c);

/** Floats of the tables, and of the scratch of one thread. */
size_t cpu_convolution_floats(const struct fbp_job *job);
size_t cpu_convolve_work(const struct fbp_job *job);

/**
 * Convolve lines[0 … n-1], each of filter->n_columns samples, in place.
 *
 * For the FFT n must be even: lines 2i and 2i + 1 are the real and imaginary part of one transform,
 * each scaled to the same size by a power of two.  Their rounding errors mix and are below 1e-6 of
 * a line's own greatest sample.  A line has the same bits every time if it has the same partner
 * every time.  A line of zeros stays zero and does not change its partner.
 *
 * work  [cpu_convolve_work()], FBP_ALIGN-aligned
 */
void cpu_convolve(const struct cpu_convolution *c, float *work, float *const *lines, size_t n);

/** Buffers of one thread [floats]; see filter.c. */
enum cpu_buffer {
    CPU_FILTERED = 0, /**< [line][row][column]: filtered rows before store() */
    CPU_CONVOLVE,     /**< work of cpu_convolve() */
    CPU_COLUMNS,      /**< work of the filter along columns */
    CPU_ENDS,         /**< one row of weights, for rows that are extrapolated */
    CPU_KERNEL,       /**< the kernel's own: cpu_kernel.scratch() */
    CPU_N_BUFFERS
};

/** Memory of one thread for filter and backprojection. */
struct cpu_scratch {
    float *buffer[CPU_N_BUFFERS];
    double *weights;         /**< one row */
    double *doubles;         /**< [row][column]: filtered rows of jobs in double */
    struct fbp_row_work row; /**< filter of jobs in double */
    struct fbp_prep_counts counts;
    char pad[64]; /**< keeps the counts of two threads on different cache lines */
};

struct cpu_device {
    const struct fbp_job *job;
    fbp_pool *pool;
    struct fbp_bp_dsp dsp;
    struct fbp_line_dsp line;
    const struct cpu_kernel *kernel;
    struct fbp_row_bitmap ledger;
    double (*principal)[2];      /**< [view] reference pixel of coordinates: column, row */
    struct cpu_scratch *scratch; /**< [thread] */
    struct cpu_convolution convolution;
    struct fbp_row_filter row_filter; /**< of jobs in double */
    float *column_taps;               /**< filter along columns; NULL: none */
    struct fbp_statistics *found;     /**< [row of the slab] statistics of fetched voxels */
    float *image, *lines; /**< tabulated weights [row][column], [view][column]; NULL: none */
};

static inline struct cpu_device *cpu_device_of(fbp_device *device)
{
    return (struct cpu_device *)(void *)device;
}

/** filter.c: fbp_backend.filter and .filter_rows, and bytes that cpu_filter_open() will need. */
fbp_status cpu_filter_open(struct cpu_device *dev);
void cpu_filter_close(struct cpu_device *dev);
size_t cpu_filter_bytes(const struct fbp_job *job, const struct cpu_kernel *kernel);
fbp_status cpu_filter(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status cpu_filter_rows(fbp_device *dev, const struct fbp_batch *batch, void *raw, float *rows);

/** planes_volume_tmpl.h: fbp_backend.meridian, from views in the layout of kernel "planes". */
void cpu_meridian_float(const struct cpu_device *dev, const float *filtered,
                        const struct fbp_picture *picture, float *out);
void cpu_meridian_double(const struct cpu_device *dev, const double *filtered,
                         const struct fbp_picture *picture, double *out);

#endif /* FBP_SRC_CPU_DEVICE_H */
