/** @file gpu_kernel.h  A way of backprojecting on a GPU, whatever it is programmed in: which scans
 * it takes, its layouts of views and volume, and what it is handed of a pass (internal; C and
 * C++).
 *
 * backend/gpu is what GPUs have in common: the choice of a kernel and of its shape, passes,
 * symmetric scans, the scale of fp16, the layout and the values of tables, bytes and rates.  It is
 * compiled into each GPU's module, which brings the kernels and the calls, and into fbp-bench, which
 * predicts times of absent GPUs.
 */
#ifndef FBP_SRC_GPU_KERNEL_H
#define FBP_SRC_GPU_KERNEL_H

#include "backend/backend.h"
#include "backend/partners.h"

/** Views, or groups of views that are taken together, of one pass over the volume: as many as fit
 *  the cache for constants.  A voxel adds them one by one, so passes are no part of the result. */
enum { GPU_PASS = 32 };

/** Shapes of a kernel. */
enum { GPU_MOST_SHAPES = 8 };

/**
 * One view as kernels see it.  With t = index - reference voxel,
 *
 *     w = w[0] tx + w[1] ty + w[2] tz + w[3],   u w and v w likewise,   w(iso-centre) = 1,
 *
 * u and v relative to the integer pixel (column, row) near the principal point, where fp32 has most
 * digits left; `row` counts from the first row of the batch.  All voxels lie before the source:
 * others are refused when the plan is made.
 */
struct gpu_view {
    float u[4], v[4], w[4];
    int column, row;
};

/** The views of a pass; a kernel parameter, so it lies in constant memory. */
struct gpu_pass {
    int n;
    struct gpu_view view[GPU_PASS];
};

/** Slices [first, end) in which a voxel is wanted of a cell, GPU_CELL x GPU_CELL columns of the
 *  volume, or of the columns that its kernel takes together with it; 0, 0: none. */
struct gpu_wanted {
    int first, end;
};
enum { GPU_CELL = 8 };

/** The part of the volume that a launch computes: slices of a slab from z0 on. */
struct gpu_grid {
    int nx, ny, nz;
    int z0; /**< global index of the first */
    /** The reference voxel of the whole volume; x_ref and y_ref counted from the slab's first, so
     *  that kernels know nothing of its place: differences of indices are exact. */
    float x_ref, y_ref, z_ref;
    /** Of a job with a region, in the device's memory: the cells of the whole volume, `cells` a
     * row, and the place of the slab's first column in it.  NULL: all is wanted. */
    const struct gpu_wanted *wanted;
    int cells, x0, y0;
};

struct gpu_kernel {
    const char *name;
    enum fbp_precision precision; /**< exact, fast or half */
    size_t turns;                 /**< views that it takes together, one per lane */
    bool by_name;      /**< a paper's variant: used where it is asked for, never chosen */
    int pass;          /**< views of a pass at most; 0: GPU_PASS */
    unsigned symmetry; /**< FBP_SYM_…: what scan and volume must have */
    /** Do scan and volume allow it?  NULL: where they have the symmetry. */
    bool (*usable)(const struct fbp_job *job);
    /** Texels of views kept in a layered texture: channels and bits of one; 0: plain memory. */
    int channels, bits;
    /** The texture may have two texels a column (gpu_texels_a_column()). */
    bool halves_columns;
    /** Of plane integrals: it takes all views of a batch at once, as struct gpu_plane, and their
     * frames, and interpolates in every way (gpu_planes.h); others take one frame, linearly. */
    bool planes;
    /** Bytes of filtered views in plain memory. */
    size_t (*views_bytes)(const struct fbp_job *job, size_t n_groups, size_t n_rows);
    /** Floats of a slab, slice after slice; NULL: every voxel once, [z][y][x]. */
    size_t (*volume_size)(const struct fbp_job *job, const struct fbp_slab *slab);
    /** Tiles and windows that it is compiled for; all give the same bits (tuned.h). */
    int n_shapes;
    /** Those that may be the fastest for passes of n_slices, the likeliest first; returns how many.
     */
    int (*candidates)(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES]);
};

/** Orbits are numbered by the columns of one quarter or half of the grid, from (x0, y0) on.  If n
 * is odd, the middle belongs to two of these parts, and both store all of it.  A place (tx, ty) is
 *  counted from the reference voxel; a quarter turn maps it to (ex + s ty, ey - s tx), half a turn
 *  to (ex - tx, ey - ty). */
struct gpu_domain {
    int x0, y0, nx, ny;
    float s, ex, ey;
};

/** Integer column and row nearest to the principal point of a view. */
struct gpu_principal {
    int column, row;
};

/** Batches are multiples of so many views; layers of a texture at most. */
enum { GPU_GROUP_VIEWS = 8, GPU_MOST_LAYERS = 2048 };

/** Texels of a texture along either axis, at most: coordinates are rounded in fp32. */
enum { GPU_MOST_TEXELS = 16384 };

FBP_BEGIN
/** Is it as exact as the job asks, and do scan and volume allow it, and a texture hold the views
 *  if it wants one? */
bool gpu_kernel_suits(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** The first of kernels[] (fastest first, ended by NULL) that suits the job; of that name if one is
 *  given.  NULL: none. */
const struct gpu_kernel *gpu_kernel_find(const struct gpu_kernel *const *kernels,
                                         const struct fbp_job *job, const char *name);

/** It is chosen for the job, in the words of an instruction set. */
void gpu_kernel_take(const struct gpu_kernel *kernel, const char *isa, struct fbp_job *job);

/** The kernel that was chosen for the job. */
static inline const struct gpu_kernel *gpu_kernel_of(const struct fbp_job *job)
{
    return (const struct gpu_kernel *)job->chosen.own;
}

/** Floats of a frame of a slab in the kernel's layout. */
size_t gpu_volume_size(const struct gpu_kernel *kernel, const struct fbp_job *job,
                       const struct fbp_slab *slab);

/** Cells of a row, or column, of n voxels. */
static inline size_t gpu_cells(size_t n)
{
    return (n + GPU_CELL - 1) / GPU_CELL;
}

/** Slices [z0, z1) of a slab as kernels see them, all wanted. */
struct gpu_grid gpu_grid_of(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                            size_t z1);

/** Views, or groups, of a pass at most. */
size_t gpu_pass_views(const struct gpu_kernel *kernel);

/** Of all views; free(*out).  who: the beginning of a message. */
fbp_status gpu_find_principal(const struct fbp_job *job, const char *who,
                              struct gpu_principal **out);

/** Views `view0` … of the scan as a pass. */
void gpu_make_pass(const struct fbp_job *job, const struct gpu_principal *principal, size_t view0,
                   size_t n, size_t row0, struct gpu_pass *out);

/** The power of two that brings filtered views into fp16's range; decided from the job alone. */
fbp_status gpu_half_scale(const struct fbp_job *job, float *out);

/** The most pixels that a voxel's edge covers in any view, at the iso-centre; the most columns. */
double gpu_pixels_a_voxel(const struct fbp_job *job);
double gpu_columns_a_voxel(const struct fbp_job *job);

/** Is a texture of fp16 faster than plain memory for kernels of columns?  Only where voxels cover
 *  many pixels. */
bool gpu_columns_pay(const struct fbp_job *job);

/**
 * Texels that rows in a texture have for a column: 1; or 2, the means of neighbours in between, so
 * that samples are the same, but what the units round is half as large.  They take coordinates, and
 * the product of both that is the weight of a corner, to 1/256, which shows where a column is not
 * narrower than a voxel.  The errors of many views average out: fp16 has one then, which is faster.
 */
unsigned gpu_texels_a_column(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** ... and of a whole row: of two a column, one before the first, too. */
size_t gpu_row_texels(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** Have scan and volume the symmetries `flags` (FBP_SYM_…)?  Rows run up, and views may be read
 *  part beside part. */
bool gpu_has_symmetry(const struct fbp_job *job, unsigned flags);

/** What the user should know: which precision there is instead of the one asked for, or that fast
 * is the default; and one more part of such a line, unless it is "". */
void gpu_remark_precision(const struct fbp_job *job, char *line, size_t n);
void gpu_remark_add(char *line, size_t n, const char *part);

void gpu_find_domain(const struct fbp_job *job, const struct fbp_slab *slab,
                     struct gpu_domain *out);

/** Floats of a slab: [z][y][x][lane], y and x of the domain. */
size_t gpu_orbit_volume_size(const struct fbp_job *job, const struct fbp_slab *slab);
FBP_END

#endif /* FBP_SRC_GPU_KERNEL_H */
