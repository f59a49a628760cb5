/** @file gpu_kernel.h  Backprojection kernels of a GPU, whatever they are programmed in: which
 * scans a kernel takes, how its views and volume lie in memory, and the parameters of a pass
 * (internal; C and C++).
 *
 * backend/gpu holds what GPU backends share: the choice of a kernel and of its shape, passes,
 * symmetric scans, the scale of fp16, the layout and the values of tables, bytes and rates.  It is
 * compiled into the module of each GPU backend, which adds kernels and calls of the driver, and
 * into fbp-bench, which predicts times of absent GPUs.
 */
#ifndef FBP_SRC_BACKEND_GPU_GPU_KERNEL_H
#define FBP_SRC_BACKEND_GPU_GPU_KERNEL_H

#include "backend/backend.h"
#include "backend/partners.h"

/** Greatest number of views, or groups of symmetric views, per pass over the volume: the constant
 *  cache holds as many.  A voxel adds them one by one, hence passes do not change the result. */
enum { GPU_PASS = 32 };

/** Greatest number of shapes of a kernel. */
enum { GPU_MOST_SHAPES = 8 };

/** Greatest number of texels of a texture along either axis (coordinates are rounded in fp32) and
 * of its layers; batches are multiples of GPU_GROUP_VIEWS views. */
enum { GPU_MOST_TEXELS = 16384, GPU_MOST_LAYERS = 2048, GPU_GROUP_VIEWS = 8 };

/**
 * One view as kernels see it.  With t = index - reference voxel,
 *
 *     w = w[0] tx + w[1] ty + w[2] tz + w[3],   u w and v w likewise,   w(iso-centre) = 1,
 *
 * u and v relative to the integer pixel (column, row) near the principal point, where fp32 keeps
 * most digits; `row` counts from the first row of the batch.  All voxels lie before the source: the
 * plan refuses others.
 */
struct gpu_view {
    float u[4], v[4], w[4];
    int column, row;
};

/** The views of a pass; a kernel parameter, hence in constant memory. */
struct gpu_pass {
    int n;
    struct gpu_view view[GPU_PASS];
};

/** Slices [first, end) of a cell that the region needs; 0, 0: none.  A cell has GPU_CELL x GPU_CELL
 *  voxel columns and their symmetric ones. */
struct gpu_wanted {
    int first, end;
};
enum { GPU_CELL = 8 };

/** Slices of a slab from z0 on, as a launch computes them. */
struct gpu_grid {
    int nx, ny, nz;
    int z0; /**< global index of the first slice */
    /** Reference voxel of the whole volume; x_ref and y_ref count from the slab's first voxel,
     * hence differences of indices are exact and kernels need no position of the slab. */
    float x_ref, y_ref, z_ref;
    /** Cells of the whole volume in device memory, `cells` per row, and the position of the slab's
     *  first column in it.  NULL: no region, everything is computed. */
    const struct gpu_wanted *wanted;
    int cells, x0, y0;
};

struct gpu_kernel {
    const char *name;
    enum fbp_precision precision; /**< exact, fast or half */
    size_t turns;                 /**< symmetric views per group, one per lane */
    bool by_name;                 /**< variant of a paper: used only if requested by name */
    int pass;                     /**< greatest number of views per pass; 0: GPU_PASS */
    unsigned symmetry;            /**< FBP_SYM_… that scan and volume must have */
    /** Further condition on scan and volume.  NULL: the symmetry is sufficient. */
    bool (*usable)(const struct fbp_job *job);
    int channels, bits;  /**< format of a texel of the views' layered texture; 0: plain memory */
    bool halves_columns; /**< the texture may have two texels per column */
    /** Plane integrals: the kernel takes all views of a batch in one launch, as struct gpu_plane,
     *  with all frames, and has every interpolation; others take one frame, linearly. */
    bool planes;
    /** Bytes of filtered views in plain memory. */
    size_t (*views_bytes)(const struct fbp_job *job, size_t n_groups, size_t n_rows);
    /** Floats of a slab, slice by slice; NULL: [z][y][x]. */
    size_t (*volume_size)(const struct fbp_job *job, const struct fbp_slab *slab);
    int n_shapes; /**< compiled tiles and windows; all give the same bits */
    /** Shapes that may be the fastest for passes of n_slices, the likeliest first; returns their
     *  number. */
    int (*candidates)(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES]);
};

/** Symmetric voxels are numbered by the columns of one quarter or half of the grid, from (x0, y0)
 *  on.  If n is odd, the middle belongs to two of these parts, and both store all of it.  (tx, ty)
 *  counts from the reference voxel; a quarter turn maps it to (ex + s ty, ey - s tx), half a turn
 * to (ex - tx, ey - ty). */
struct gpu_domain {
    int x0, y0, nx, ny;
    float s, ex, ey;
};

/** Integer column and row nearest to the principal point of a view. */
struct gpu_principal {
    int column, row;
};

/** Zeros on every side of a view in plain memory: the four taps of a coordinate that is clamped
 *  there are zeros, hence the edge is continuous. */
enum { GPU_BORDER = 2 };

/** Layout of a batch in plain memory, [group][row][column][lane]; a texel is one sample of each
 * view of a group. */
struct gpu_plain {
    unsigned stride;   /**< texels from row to row: whole cache lines */
    size_t group;      /**< texels from group to group */
    int columns, rows; /**< without borders */
};

/** Plane integrals: coordinates count from the first voxel of cubes of GPU_PLANES_EDGE voxels along
 *  each axis of the whole grid; greatest number of samples of a block's window. */
enum { GPU_PLANES_EDGE = 16, GPU_PLANES_WINDOW = 2048 };

/** A view of plane integrals: voxel (x, y, z) of the whole grid has sample u[0] x + u[1] y + u[2] z
 *  + u[3]. */
struct gpu_plane {
    double u[4];
};

/** Layout of a batch of plane integrals: [view][group of frames][column][frame], zeros behind the
 *  last column and frame.  A row begins and ends at multiples of 16 bytes. */
struct gpu_planes {
    size_t columns;        /**< a multiple of 4 */
    size_t groups, frames; /**< frames: per group, 1, 2, 4, 8 or 10 */
};

struct gpu_filter_capabilities; /* tables.h */

FBP_BEGIN
/* Choice of a kernel (kernel.c). */

/** Is the kernel as exact as requested, and do scan, volume and texture limits allow it? */
bool gpu_kernel_suits(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** The first of kernels[] (fastest first, ended by NULL) that suits the job and has that name, if
 *  one is given; NULL: none. */
const struct gpu_kernel *gpu_kernel_find(const struct gpu_kernel *const *kernels,
                                         const struct fbp_job *job, const char *name);

/** Select a kernel for the job; isa: the instruction set in user-readable form. */
void gpu_kernel_select(const struct gpu_kernel *kernel, const char *isa, struct fbp_job *job);

/** The kernel that was selected for the job. */
static inline const struct gpu_kernel *gpu_kernel_of(const struct fbp_job *job)
{
    return (const struct gpu_kernel *)job->chosen.own;
}

/** Do scan and volume have the symmetries `flags` (FBP_SYM_…), rows that run up, and views that may
 *  be read in any order? */
bool gpu_has_symmetry(const struct fbp_job *job, unsigned flags);

void gpu_find_domain(const struct fbp_job *job, const struct fbp_slab *slab,
                     struct gpu_domain *out);

/** Greatest number of pixels, and of columns, that a voxel's edge covers at the iso-centre. */
double gpu_pixels_per_voxel(const struct fbp_job *job);
double gpu_columns_per_voxel(const struct fbp_job *job);

/** Is a texture of fp16 faster than plain memory for column kernels?  Only if voxels cover many
 *  pixels. */
bool gpu_column_texture_pays(const struct fbp_job *job);

/**
 * Texels per column: 1; or 2, with the means of neighbours in between, which leaves samples as they
 * are but halves the texture units' rounding.  The units round coordinates, and the product of both
 * that is the weight of a corner, to 1/256, which shows if a column is not narrower than a voxel.
 * The errors of many views average out: fp16, which is faster, then has one.
 */
unsigned gpu_texels_per_column(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** Texels per row; with two per column there is also one before the first. */
size_t gpu_row_texels(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** Remarks for the user: which precision replaces the requested one, or that fast is the default;
 *  and one further part of such a line, unless it is "". */
void gpu_remark_precision(const struct fbp_job *job, char *line, size_t n);
void gpu_remark_add(char *line, size_t n, const char *part);

/* Memory of a job: slots of struct fbp_backend (kernel.c). */

size_t gpu_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);
size_t gpu_volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab);

/** Bytes of tables, scratch, and the rounding of allocations. */
size_t gpu_fixed_bytes(const struct fbp_job *job, const struct gpu_filter_capabilities *offer);

/** Floats per frame of a slab in the kernel's layout; those of symmetric voxels: [z][y][x][lane], y
 *  and x of the domain. */
size_t gpu_volume_size(const struct gpu_kernel *kernel, const struct fbp_job *job,
                       const struct fbp_slab *slab);
size_t gpu_symmetric_volume_size(const struct fbp_job *job, const struct fbp_slab *slab);

/* Views and passes (views.c). */

/** Cells per row, or column, of n voxels. */
static inline size_t gpu_cells(size_t n)
{
    return (n + GPU_CELL - 1) / GPU_CELL;
}

/** Slices [z0, z1) of a slab as kernels see them, without region. */
struct gpu_grid gpu_grid_of(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                            size_t z1);

/** Principal pixels of all views; free(*out).  who: the beginning of a message. */
fbp_status gpu_find_principal(const struct fbp_job *job, const char *who,
                              struct gpu_principal **out);

/** Views [view0, view0 + n) of the scan as a pass. */
void gpu_make_pass(const struct fbp_job *job, const struct gpu_principal *principal, size_t view0,
                   size_t n, size_t row0, struct gpu_pass *out);

/** The power of two that brings filtered views into the range of fp16; a function of the job. */
fbp_status gpu_half_scale(const struct fbp_job *job, float *out);

struct gpu_plain gpu_plain_of(const struct fbp_job *job, size_t n_rows);
size_t gpu_plain_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows);

/** Is u of every view linear in x, y and z, and is each row a frame? */
bool gpu_planes_usable(const struct fbp_job *job);

void gpu_plane_of(const struct fbp_job *job, size_t view, struct gpu_plane *out);

struct gpu_planes gpu_planes_of(const struct fbp_job *job, size_t n_rows);
size_t gpu_planes_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Samples of a window that holds `taps` samples of each voxel of any box of x * y * z voxels in
 * any view; a multiple of 4, as is its first sample. */
size_t gpu_planes_window(const struct fbp_job *job, const int box[3], size_t taps);
FBP_END

#endif /* FBP_SRC_BACKEND_GPU_GPU_KERNEL_H */
