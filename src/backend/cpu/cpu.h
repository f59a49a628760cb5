/** @file cpu.h  The CPU device: threads, kernels, filter (internal).
 *
 * cpu.c implements struct fbp_backend and selects a kernel.  A kernel (matrix.c, column.c, rot.c,
 * planes_float.c, planes_double.c) defines its layouts of views and volume, and divides a
 * backprojection into work items for threads.  filter.c corrects, weights and filters rows, with
 * convolve.c, and passes them to the kernel's store().  The inner loops are declared in simd.h.
 * Used by: bench/fft/, backend/cpu/.
 */
#ifndef FBP_SRC_CPU_DEVICE_H
#define FBP_SRC_CPU_DEVICE_H

#include "backend/backend.h"
#include "backend/cpu/simd.h"
#include "fft/lanes.h"
#include "filter/filter.h"

/** Greatest numbers of rows per work item: of a view (CPU_ROWS; as floats they fill a cache line),
 * and of all views together (CPU_FILTER_LINES). */
enum { CPU_ROWS = 16, CPU_FILTER_LINES = 4 * CPU_ROWS, CPU_FLOATS_PER_CACHE_LINE = 16 };

struct cpu_device;

/** Arguments of a backprojection of one batch of views into slices [z0, z1) of a slab. */
struct cpu_bp {
    const struct cpu_device *dev;
    const struct fbp_batch *batch;
    const void *filtered; /**< filtered views of the batch: float, or double for jobs in double */
    const struct fbp_slab *slab;
    size_t z0, z1;
    void *volume;
};

/** A backprojection kernel of the CPU device. `value`: float, or double for jobs in double. */
struct cpu_kernel {
    const char *name;
    bool in_double; /**< the kernel computes jobs in double only; false: jobs in float only */
    /** half, fast: the kernel computes only jobs in this precision, and needs whole views; default:
     * it is exact, and computes jobs in any precision but double */
    enum fbp_precision precision;
    bool interpolates;   /**< supports all of enum fbp_interpolation, not only linear */
    size_t least_slices; /**< with fewer slices, a later kernel of the list is faster */
    size_t group_views;  /**< batches consist of whole groups of this number of views; 0: of those
                            of fbp_backend_cpu */
    size_t symmetric_views; /**< symmetric views per group, interleaved, one vector lane each */
    bool boxes; /**< slabs may be boxes smaller than a slice; false: whole slices only */
    /** symmetry of the scan that the kernel requires: flags FBP_SYM_*; 0: none */
    unsigned symmetry;
    /** Returns whether the kernel can compute the scan and volume; pointer NULL: always. */
    bool (*usable)(const struct fbp_job *job);
    /** Samples, with the border of zeros, of a group of filtered views with n_rows rows. */
    size_t (*group_size)(const struct fbp_job *job, size_t n_rows);
    /** Stores filtered rows [first, first + n) of a group of n_rows rows, and the border next to
     *  them.  n <= CPU_ROWS; first is a multiple of CPU_ROWS.
     *  rows: value [symmetric_views][CPU_ROWS][padded.panel.n_columns]. */
    void (*store)(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const void *rows, void *group);
    /** Called when all rows of a group are stored, with ranges of rows like store(), in any order;
     *  NULL: not needed. */
    void (*finish)(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                   void *group);
    /** Stored values of a slab; pointer NULL: slabs have the layout [channel][z][y][x]. */
    size_t (*volume_size)(const struct fbp_job *job, const struct fbp_slab *slab);
    /** Returns the number of work items into which a backprojection is divided. */
    size_t (*items)(const struct cpu_bp *bp);
    fbp_pool_fn *item; /**< one work item; user: the struct cpu_bp */
    /** Scratch per thread [floats]; NULL: 0. */
    size_t (*scratch)(const struct fbp_job *job);
    /** Bytes of dev->tables, which open() allocates and close() frees; NULL: not needed. */
    size_t (*table_bytes)(const struct fbp_job *job);
    fbp_status (*open)(struct cpu_device *dev);
    void (*close)(struct cpu_device *dev);
    /** Copies row y of slices [z0, z1) of one channel of a slab to host[z1 - z0][ny][nx] (of type
     * `value`), multiplied by job->scale, with job->shift added. If the member fetch_row is NULL,
     * slabs have the layout [channel][z][y][x], and cpu.c copies the rows. */
    void (*fetch_row)(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const void *volume, void *host);
};

extern const struct cpu_kernel cpu_kernel_tilted;

/** Returns floor(a) for a >= -65536; without SSE 4.1, floor() would be a function call. */
static inline ptrdiff_t cpu_floor(double a)
{
    return (ptrdiff_t)(a + 65536) - 65536;
}

static inline size_t cpu_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** Clamps a to [lo, hi]. */
static inline double cpu_within(double a, double lo, double hi)
{
    return a > lo ? a < hi ? a : hi : lo;
}

/** The slice from which loops along z count. */
static inline double cpu_z_reference(const struct fbp_job *job)
{
    return (double)((job->grid.n[2] - 1) / 2);
}

/** Returns the number of tiles of `tile` elements that cover n elements. */
static inline size_t cpu_tiles(size_t n, size_t tile)
{
    return (n + tile - 1) / tile;
}

/** Copies n voxels, `step` values apart in the volume from index `from` on, multiplied by
 * job->scale, with job->shift added, to host[to] and the following elements. */
static inline void cpu_fetch(const struct fbp_job *job, const void *volume, size_t from,
                             size_t step, size_t n, void *host, size_t to)
{
    const float scale = (float)job->scale, shift = (float)job->shift;

    if (fbp_in_double(job))
        for (size_t i = 0; i < n; i++)
            ((double *)host)[to + i] =
                job->scale * ((const double *)volume)[from + i * step] + job->shift;
    else
        for (size_t i = 0; i < n; i++)
            ((float *)host)[to + i] = scale * ((const float *)volume)[from + i * step] + shift;
}

/** Layout of a view as rows with at least FBP_PLANES_MARGIN zeros on either side: samples per row,
 * samples per view, and a cpu_kernel.store(). */
size_t cpu_rows_stride(const struct fbp_job *job);
size_t cpu_rows_size(const struct fbp_job *job, size_t n_rows);
void cpu_rows_store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                    const void *rows, void *view);

/* column.c, used by kernel "hierarchical", too, whose volumes have the same layout [y][x][z] */

/** Returns the distance between neighbouring columns of a transposed image [floats]. */
size_t cpu_column_stride(size_t n_rows);

/** Returns the part of slices [z0, z1) of voxel column (x, y) that is in the requested region; {0,
 * 0}: none. */
struct fbp_interval cpu_column_slices(const struct cpu_bp *bp, size_t x, size_t y, size_t z0,
                                      size_t z1);

/** cpu_kernel.fetch_row() */
void cpu_column_fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                          size_t z1, size_t y, const void *volume, void *host);

/** Tables and transform plan of the filter along rows; thread-safe. */
struct cpu_convolution {
    const struct fbp_filter_design *filter;
    const struct fbp_line_dsp *dsp;
    bool spatial; /**< convolve in space; false: by FFT */
    const struct fbp_lanes *lanes;
    struct fbp_lanes_plan plan;
    float *taps; /**< filter taps -S to S, with FBP_CONVOLVE_COLUMNS zeros on either side */
};

fbp_status cpu_convolution_open(struct cpu_convolution *out, const struct fbp_job *job,
                                const struct fbp_line_dsp *dsp);
void cpu_convolution_close(struct cpu_convolution *c);

/** Floats of the tables of a struct cpu_convolution, and of the scratch of a thread. */
size_t cpu_convolution_floats(const struct fbp_job *job);
size_t cpu_convolve_work(const struct fbp_job *job);

/**
 * Convolve lines[0 … n-1], each of filter->n_columns samples, in place.
 *
 * For the FFT n must be even: lines 2i and 2i + 1 are the real and imaginary part of one transform,
 * each scaled by a power of two to the same magnitude.  Rounding errors of both mix and are below
 * 1e-6 of the greatest sample of each line.  The result of a line has the same bits every time if
 * the other line of the pair is the same.  A line of zeros stays zero and does not change the
 * other.
 *
 * work  [cpu_convolve_work()], FBP_ALIGN-aligned
 */
void cpu_convolve(const struct cpu_convolution *c, float *work, float *const *lines, size_t n);

enum cpu_buffer {
    CPU_FILTERED = 0, /**< filtered rows [view][row][column] before cpu_kernel.store() */
    CPU_CONVOLVE,     /**< scratch memory of cpu_convolve() */
    CPU_COLUMNS,      /**< scratch memory of the filter along columns */
    CPU_ENDS,         /**< weights of one row, by which fbp_pad_ends() divides samples */
    CPU_KERNEL,       /**< scratch memory of the kernel: cpu_kernel.scratch() */
    CPU_N_BUFFERS
};

/** Scratch memory of one thread for filter and backprojection. */
struct cpu_scratch {
    float *buffer[CPU_N_BUFFERS];
    double *weights;         /**< one row */
    double *doubles;         /**< filtered rows [row][column] of jobs in double */
    struct fbp_row_work row; /**< buffers of the row filter for jobs in double */
    struct fbp_prep_counts counts;
    char pad[64]; /**< padding that keeps the counts of two threads on different cache lines */
};

/** An open CPU device. */
struct cpu_device {
    const struct fbp_job *job;
    fbp_pool *pool;
    struct fbp_bp_dsp dsp;
    struct fbp_line_dsp line;
    const struct cpu_kernel *kernel;
    struct fbp_row_bitmap bitmap;
    double (*principal)[2];      /**< [view] column and row of the pixel from which loops count */
    void *tables;                /**< of the kernel: cpu_kernel.open() */
    struct cpu_scratch *scratch; /**< [thread] */
    struct cpu_convolution convolution;
    struct fbp_row_filter row_filter; /**< jobs in double: the row filter */
    float *column_taps;               /**< taps of the filter along columns; NULL: none */
    /** [row y of the grid] minimum, maximum and sum of the voxels fetched so far */
    struct fbp_statistics *found;
    float *image, *lines; /**< [row][column], [view][column]: a weight is their product; NULL:
                             computed per row */
};

static inline struct cpu_device *cpu_device_of(fbp_device *device)
{
    return (struct cpu_device *)(void *)device;
}

/* filter.c: open and close the filter and compute the bytes of its tables and buffers; functions
 * `filter` and `filter_rows` of fbp_backend_cpu */
fbp_status cpu_filter_open(struct cpu_device *dev);
void cpu_filter_close(struct cpu_device *dev);
size_t cpu_filter_bytes(const struct fbp_job *job, const struct cpu_kernel *kernel);
fbp_status cpu_filter(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *filtered);
fbp_status cpu_filter_rows(fbp_device *dev, const struct fbp_batch *batch, void *raw, float *rows);

/* planes_volume_tmpl.h: sinogram images (`meridian`) from views of kernel "planes" */
void cpu_meridian_float(const struct cpu_device *dev, const float *filtered,
                        const struct fbp_image_rows *picture, float *out);
void cpu_meridian_double(const struct cpu_device *dev, const double *filtered,
                         const struct fbp_image_rows *picture, double *out);

#endif /* FBP_SRC_CPU_DEVICE_H */
