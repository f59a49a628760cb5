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
    const float *filtered;
    const struct fbp_slab *slab;
    size_t z0, z1;
    float *volume;
};

struct cpu_kernel {
    const char *name;
    /** Do scan and volume allow it? */
    bool (*usable)(const struct fbp_job *job);
    /** Floats of one filtered view of n_rows rows, its border of zeros included. */
    size_t (*view_size)(const struct fbp_job *job, size_t n_rows);
    /** Store filtered rows [first, first + n) of a view of n_rows, n <= CPU_ROWS, first a multiple
     * of CPU_ROWS, and the border that belongs to them.  rows: [n][wide.n_columns]. */
    void (*store)(const struct cpu_device *dev, size_t n_rows, size_t first, size_t n,
                  const float *rows, float *view);
    /** Work items of a backprojection, and one of them. */
    size_t (*items)(const struct cpu_bp *bp);
    fbp_pool_fn *item;
    /** Scratch of a thread [floats]; NULL: none. */
    size_t (*scratch)(const struct fbp_job *job);
    /** Row y of slices [z0, z1) into host[z1 - z0][ny][nx], scaled and shifted. */
    void (*fetch_row)(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0, size_t z1,
                      size_t y, const float *volume, float *host);
};

extern const struct cpu_kernel cpu_kernel_matrix, cpu_kernel_column;

/** The fastest kernel that scan and volume allow; FBP_KERNEL=matrix|column asks for one (tests). */
const struct cpu_kernel *cpu_kernel_choose(const struct fbp_job *job);

/** Is there a kernel of this name, and do scan and volume allow it? */
bool cpu_has_kernel(const struct fbp_job *job, const char *name);

/** Narrow [lo, hi) to where a + b x > 0. */
void cpu_clip(double a, double b, double *lo, double *hi);

#endif /* FBP_SRC_CPU_KERNEL_H */
