/** @file kernel.h  A way of backprojecting, with the layouts of views and volume it wants
 * (internal). */
#ifndef FBP_SRC_CPU_KERNEL_H
#define FBP_SRC_CPU_KERNEL_H

#include "backend/backend.h"

struct cpu_device;

/** Rows that the filter hands over at once: whole cache lines of a transposed view. */
enum { CPU_ROWS = 16 };

/** One batch into slices [z0, z1) of a slab. */
struct cpu_bp {
    const struct cpu_device *dev;
    const struct fbp_batch *batch;
    const void *filtered; /**< floats; of a job in double, doubles; and so is the volume */
    const struct fbp_slab *slab;
    size_t z0, z1;
    void *volume;
};

struct cpu_kernel {
    const char *name;
    /** Do scan and volume allow it? */
    bool (*usable)(const struct fbp_job *job);
    size_t turns; /**< views that it takes together, one per lane of a sample */
    bool boxes; /**< slabs may be boxes of slices: no voxel takes its sample from another's place */
    /** Samples of one group of filtered views of n_rows rows, its border of zeros included. */
    size_t (*group_size)(const struct fbp_job *job, size_t n_rows);
    /** Store filtered rows [first, first + n) of a group of n_rows, n <= CPU_ROWS, first a multiple
     * of CPU_ROWS, and the border that belongs to them.  rows: [turns][CPU_ROWS][wide.n_columns].
     */
    void (*store)(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const float *rows, float *group);
    /** In place of it, of kernels for jobs in double; NULL: this is none. */
    void (*store_double)(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                         const double *rows, double *group);
    /** Voxels of a slab. */
    size_t (*volume_size)(const struct fbp_job *job, const struct fbp_slab *slab);
    /** Work items of a backprojection, and one of them. */
    size_t (*items)(const struct cpu_bp *bp);
    fbp_pool_fn *item;
    /** Scratch of a thread [floats]; NULL: none. */
    size_t (*scratch)(const struct fbp_job *job);
    /** Row y of the slices [z0, z1) of a slab, one frame of it, into host[z1 - z0][ny][nx], scaled
     * and shifted. */
    void (*fetch_row)(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const float *volume, float *host);
    void (*fetch_row_double)(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                             size_t z1, size_t y, const double *volume, double *host);
};

extern const struct cpu_kernel cpu_kernel_matrix, cpu_kernel_column, cpu_kernel_planes,
    cpu_kernel_rot90, cpu_kernel_rot180;
/** Of plane integrals in double, and of pictures of their first stage. */
extern const struct cpu_kernel cpu_kernel_matrix_double, cpu_kernel_column_double,
    cpu_kernel_planes_double;

/** The fastest kernel that scan and volume allow; of that name, or NULL, if one is given. */
const struct cpu_kernel *cpu_kernel_find(const struct fbp_job *job, const char *name);

/** The kernel that was chosen for the job. */
static inline const struct cpu_kernel *cpu_kernel_of(const struct fbp_job *job)
{
    return job->chosen.own;
}

/** Toward minus infinity, for small numbers: floor() is a call where SSE 4.1 may not be counted on.
 */
static inline ptrdiff_t cpu_floor(double a)
{
    return (ptrdiff_t)(a + 65536) - 65536;
}

/** Of a slab that holds every voxel once, [frame][z][y][x]: its floats, and how a frame of it is
 * fetched (kernel_parts.c). */
size_t cpu_plain_volume(const struct fbp_job *job, const struct fbp_slab *slab);
void cpu_plain_fetch_row(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                         size_t z1, size_t y, const float *volume, float *host);
void cpu_plain_fetch_row_double(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                                size_t z1, size_t y, const double *volume, double *host);

/** Of filtered views whose rows lie one behind the other, with FBP_PLANES_MARGIN zeros and more on
 *  either side: samples from row to row, those of a view, and how rows are stored. */
size_t cpu_rows_stride(const struct fbp_job *job);
size_t cpu_rows_size(const struct fbp_job *job, size_t n_rows);
void cpu_rows_store(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                    const float *rows, float *view);
void cpu_rows_store_double(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                           const double *rows, double *view);

/** Narrow [lo, hi) to where a + b x > 0. */
void cpu_clip(double a, double b, double *lo, double *hi);

#endif /* FBP_SRC_CPU_KERNEL_H */
