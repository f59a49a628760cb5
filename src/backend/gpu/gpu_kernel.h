/** @file gpu_kernel.h  Backprojection kernels of GPUs, independent of their programming language:
 * conditions on the scan, layouts of views and volume in memory, and parameters of a launch
 * (internal; C and C++).
 *
 * backend/gpu contains the common part of the CUDA and OpenGL backends, which add kernels and calls
 * of the driver.  It is compiled into the module of each GPU backend, and into fbp-bench, which
 * predicts times of GPUs that the machine lacks.
 *
 * Terms: a pass is one launch, which adds several views to the volume.  A group is a set of
 * job->selection.symmetric_views symmetric views, one per lane.  A shape is a compiled variant
 * (tile and window) of a kernel.
 * Used by: bench/gl/, bench/kernels/, bench/predict/, backend/cuda/, backend/gl/, backend/gpu/.
 */
#ifndef FBP_SRC_BACKEND_GPU_GPU_KERNEL_H
#define FBP_SRC_BACKEND_GPU_GPU_KERNEL_H

#include "backend/nodes.h"

/** Greatest number of views, or groups of symmetric views, that one kernel launch (a "pass") adds,
 * because the parameters of these views must fit the constant cache.  Kernels of plane integrals
 * read their parameters from a table, and have other limits.  A voxel adds views one by one, so the
 * division into passes does not change the result. */
enum { GPU_PASS = 32 };

/** Greatest number of candidate shapes of a kernel, which the tuner compares. */
enum { GPU_MOST_SHAPES = 8 };

/** GPU_MOST_TEXELS: greatest width and height of a texture of views, because fp32 coordinates are
 * too coarse in larger textures.  GPU_MOST_LAYERS: greatest number of layers of such a texture.
 * GPU_GROUP_VIEWS: member can.group_views of the backends. */
enum { GPU_MOST_TEXELS = 16384, GPU_MOST_LAYERS = 2048, GPU_GROUP_VIEWS = 8 };

/** Initialisers of the capabilities (fbp_backend.can) that the CUDA backend, the OpenGL backend and
 * the performance model of a GPU (bench/predict) share. */
#define GPU_CAPABILITIES                                                                           \
    .precisions = true, .counts = true, .oversamples = true, .channels = true, .any_filter = true, \
    .group_views = GPU_GROUP_VIEWS, .max_resident_views = GPU_MOST_LAYERS,                         \
    .interpolations = 1u << FBP_INTERPOLATION_NEAREST | 1u << FBP_INTERPOLATION_CUBIC

/**
 * Parameters of one view.  With t = index of a voxel - index of the reference voxel,
 *
 *     w = w[0] tx + w[1] ty + w[2] tz + w[3],   u w and v w likewise,   w(iso-centre) = 1,
 *
 * u and v are relative to the pixel (column, row) nearest to the projection of the origin, where
 * fp32 represents small coordinates most precisely; `row` counts from the first row of the batch.
 * All voxels have w > 0: the plan refuses other volumes.
 */
struct gpu_view {
    float u[4], v[4], w[4];
    int column, row;
};

/** Parameters of the n views of a launch, in constant memory of CUDA kernels. */
struct gpu_pass {
    int n;
    struct gpu_view view[GPU_PASS];
};

/** Slices [first, end) in which a cell contains requested voxels; 0, 0: none. A cell is GPU_CELL x
 * GPU_CELL voxel columns, with the columns symmetric to them. */
struct gpu_wanted {
    int first, end;
};
enum { GPU_CELL = 8 };

/** Names of enum fbp_precision: "" (default), "exact", "fast", "half", "double". */
extern const char *const gpu_precision_names[];

/** The slices of a slab that one kernel launch computes. */
struct gpu_grid {
    int nx, ny, nz; /**< voxels of the slab along x, y; slices of the launch */
    int z0;         /**< index, in the whole volume, of the first slice of the launch */
    /** Reference voxel of the whole volume, from which kernels count indices.  x_ref and y_ref are
     * relative to the slab's first voxel, so kernels do not need the position of the slab. */
    float x_ref, y_ref, z_ref;
    /** wanted: requested slices of each cell [y][x] of the whole volume, in device memory; NULL: no
     * region is requested, and all voxels are computed. cells: number of cells along x. (x0, y0):
     * the slab's first voxel column in the whole volume. */
    const struct gpu_wanted *wanted;
    int cells, x0, y0;
};

/** The properties of a GPU kernel that are known without a GPU. */
struct gpu_kernel {
    const char *name;
    enum fbp_precision precision; /**< double, exact, fast or half */
    size_t symmetric_views;       /**< symmetric views that are read as one group: 1, 2 or 4 */
    bool by_name;                 /**< the kernel is selected only if it is requested by name */
    int pass;                     /**< greatest number of views per launch; 0: GPU_PASS */
    unsigned symmetry; /**< symmetries (FBP_SYM_…) that scan and volume must have for this kernel */
    /** Returns whether the kernel can compute the scan and volume; NULL: it can compute any. */
    bool (*usable)(const struct fbp_job *job);
    int channels, bits;  /**< format of a layered texture of views: channels per texel, bits per
                            channel; 0: the kernel reads views from plain memory */
    bool halves_columns; /**< true: the texture may store two texels per detector column */
    /** True: kernel for plane integrals (struct gpu_plane), with any number of channels and any
     * interpolation.  False: the kernel supports one channel and linear interpolation only. */
    bool planes;
    /** True: kernel for parallel beams, which reads views resampled to the volume's slices (struct
     * gpu_slices). It computes whole slices only, and adds all views of a batch in one launch. */
    bool slices;
    /** True: kernel "hierarchical", which replaces groups of views by fewer images of
     * each block of voxels (backend/nodes.h), and adds all views of a batch in one call. */
    bool decimates;
    /** Bytes of n_groups groups of views in plain memory; NULL: views are in a texture. */
    size_t (*views_bytes)(const struct fbp_job *job, size_t n_groups, size_t n_rows);
    /** Returns the number of values in one channel of a slab, in the kernel's own layout (slice
     * after slice); NULL: the layout is [z][y][x]. */
    size_t (*volume_size)(const struct fbp_job *job, const struct fbp_slab *slab);
    int n_shapes; /**< number of shapes; all give the same bits */
    /** Writes the indices of the shapes (compiled variants) that may be the fastest for n_slices
     * slices, the likeliest first; returns their number. */
    int (*candidates)(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES]);
};

/** The quarter or half of a slice, from voxel column (x0, y0) on, that represents each set of
 * symmetric voxel columns once.  If a side has an odd number of voxels, those in the middle belong
 * to two parts, and both store them.  With indices counted from the reference voxel, a quarter turn
 * maps column (tx, ty) to (ex + s ty, ey - s tx), half a turn to (ex - tx, ey - ty). */
struct gpu_domain {
    int x0, y0, nx, ny;
    float s, ex, ey;
};

/** Pixel (column and row) of the detector nearest to the projection of the origin in a view. */
struct gpu_principal {
    int column, row;
};

/** Zeros on every side of a plain view. Coordinates beyond the detector are clamped to these, so
 * the interpolated function falls continuously to 0 at the detector's edge. */
enum { GPU_BORDER = 2 };

/** Layout of a batch of views in plain memory, [group][row][column][lane]: lane i is the i-th
 * symmetric view of a group, and a "texel" is one sample of each view of a group. */
struct gpu_plain {
    unsigned stride;   /**< distance between rows [texels], a whole number of cache lines */
    size_t group;      /**< distance between groups of symmetric views [texels] */
    int columns, rows; /**< columns and rows of a view, without the zeros around it */
};

/** For plane integrals: GPU_PLANES_EDGE: the volume is cut into cubes of so many voxels per axis,
 * and kernels count voxel coordinates from a cube's first voxel.  GPU_PLANES_WINDOW: greatest
 * number of samples of a view that a thread block copies to shared memory. */
enum { GPU_PLANES_EDGE = 16, GPU_PLANES_WINDOW = 2048 };

/** Projection of a view of plane integrals: the voxel with indices (x, y, z) in the whole volume
 * lies at sample position u[0] x + u[1] y + u[2] z + u[3]. */
struct gpu_plane {
    double u[4];
};

/** Layout of plane integrals: [view][group of channels][column][channel of the group], with zeros
 * after the last column and channel. Rows begin at multiples of 16 bytes. */
struct gpu_planes {
    size_t columns; /**< number of columns, rounded up to a multiple of 4 */
    /** groups of channels per view; channels per group: 1, 2, 4, 8 or 10 */
    size_t groups, frames;
};

/** Layout of views of parallel beams for kernels with `slices` set, fp16
 * [view][part][piece][column][GPU_PIECE]: detector rows are interpolated at the volume's slices,
 * and piece i contains slices GPU_PIECE (first + i) onwards of the whole volume. A sample is the
 * sum of its parts: in precision half 1, in precision exact 2.  A thread block computes GPU_DEPTH
 * slices. */
enum { GPU_PIECE = 8, GPU_DEPTH = 64 };
struct gpu_slices {
    int first;           /**< first piece */
    unsigned n, columns; /**< numbers of pieces and of columns */
    unsigned parts;      /**< parts per sample */
    double row0,
        step; /**< detector row of slice 0, relative to the batch's first; rows per slice */
};

/** A view of a parallel beam: detector column of voxel (0, 0) of every slice, and its increments
 * per voxel along x and y. */
struct gpu_parallel_view {
    double u, along_x, along_y;
};

/** Kernel "hierarchical": GPU_GROUP: views of a group, per symmetric part of the scan; GPU_EDGE: a
 * block has GPU_EDGE x GPU_EDGE voxel columns; GPU_NODES: greatest number of nodes of a group;
 * GPU_MORE_ROWS: detector rows that the kernel reads on either side of those onto which slices
 * project (neighbouring image rows are up to 1.3 detector rows apart; interpolation of a view and
 * the sharpening filter need one more row each); GPU_IMAGE_ROWS: rows of an image of a block. */
enum { GPU_GROUP = 64, GPU_EDGE = 32, GPU_NODES = 24, GPU_MORE_ROWS = 4, GPU_IMAGE_ROWS = 384 };

/** A group of views of kernel "hierarchical" in device memory, with its nodes for each of several
 * bandwidths.  (tx, ty): voxel column, z: slice; both are counted from the reference voxel. */
struct gpu_view_group {
    int n_views;
    float along_u,
        along_v; /**< a block at depth w has the bandwidth hypot(along_u, along_v / w) / w */
    float bandwidth[FBP_BANDWIDTHS];
    int n_nodes[FBP_BANDWIDTHS];
    /** Views, with w = w[0] tx + w[1] ty + w[2]: the image sample p mm along the rows from voxel
     * column (tx, ty), in slice z, lies at column (u[0] tx + u[1] ty + u[2] + u[3] p) / w from
     * pixel (column, row), and at row (v[0] tx + v[1] ty + v[2] + v[3] z) / w from it. */
    struct gpu_block_view {
        float u[4], v[4], w[3];
        int column, row;
    } view[GPU_GROUP];
    /** Nodes: a voxel column lies n[0] tx + n[1] ty - s[1] mm from the source, perpendicular to the
     * rows, and e[0] tx + e[1] ty - s[0] mm along them; s[2]: slice of the source. */
    struct gpu_node {
        float e[2], n[2], s[3];
    } node[FBP_BANDWIDTHS][GPU_NODES];
    float coefficients[FBP_BANDWIDTHS][GPU_GROUP][GPU_NODES]; /**< 0 beyond n_nodes */
};

/** Images of a block at the nodes of a group, for one rotation of the block: middle (tx, ty) of the
 * block's part inside the volume, which is (middle_x, middle_y) from the block's first voxel before
 * the rotation; mm per column; slices per row; nodes (index of their bandwidth, and number; 0: no
 * view shows the block); columns -half ... half, rows [row, row + n_rows). */
struct gpu_block_images {
    float tx, ty, middle_x, middle_y, mm, slices;
    int bandwidth, n_nodes, half, row, n_rows;
    /** With q = 1 / (1 + n[0] x + n[1] y), voxel (x, y) of the block, counted from its middle, lies
     * at column q (u[0] x + u[1] y); z slices above the reference slice, at row ((z - s) q + s) /
     * slices */
    struct gpu_block_node {
        float u[2], n[2], s, at; /* at: s / slices */
    } node[GPU_NODES];
};

struct gpu_filter_capabilities; /* tables.h */

FBP_BEGIN
/* kernel.c: choice of a kernel */

/** Returns whether the kernel suits precision, scan, volume, interpolation, texture limits. */
bool gpu_kernel_suits(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** Returns the first of kernels[] (fastest first, ended by NULL) that can compute the job.  name:
 * only kernels of this name; NULL: any kernel.  Returns NULL if there is no such kernel. */
const struct gpu_kernel *gpu_kernel_find(const struct gpu_kernel *const *kernels,
                                         const struct fbp_job *job, const char *name);

/** Stores the kernel in job->selection; isa: instruction set and precision, as shown to users. */
void gpu_kernel_select(const struct gpu_kernel *kernel, const char *isa, struct fbp_job *job);

/** Returns the kernel that was selected for the job. */
static inline const struct gpu_kernel *gpu_kernel_of(const struct fbp_job *job)
{
    return (const struct gpu_kernel *)job->selection.entry;
}

/** Returns whether filtered rows are combined when they are stored, so that all rows of a view must
 * be filtered in one call. */
static inline bool gpu_stores_whole_views(const struct gpu_kernel *kernel)
{
    return kernel->slices || kernel->decimates;
}

/** Returns whether kernels of symmetric views can be used: the symmetries `flags` (FBP_SYM_…) and
 * FBP_SYM_COLUMN, rows that increase with z, views in any order. */
bool gpu_has_symmetry(const struct fbp_job *job, unsigned flags);

/** Computes the part of a slab that represents each set of symmetric voxels once; a thread computes
 * voxels of this part together with those symmetric to them. */
void gpu_find_domain(const struct fbp_job *job, const struct fbp_slab *slab,
                     struct gpu_domain *out);

/** gpu_pixels_per_voxel() returns the greatest number of pixels, along either detector axis, that
 * an edge of a voxel covers at the iso-centre; gpu_columns_per_voxel(): the number of columns. */
double gpu_pixels_per_voxel(const struct fbp_job *job);
double gpu_columns_per_voxel(const struct fbp_job *job);

/** Returns whether kernel "column" is faster with an fp16 texture: voxels cover >= 2 pixels. */
bool gpu_column_texture_pays(const struct fbp_job *job);

/** Texels per detector column: 1 or 2. With 2, means of neighbouring samples are stored between
 * them, which does not change the interpolated function but halves the rounding error of texture
 * units: these round coordinates, and the weight of a corner, a product of two, to 1/256. It is
 * visible if a voxel covers few columns. Errors of many views average out, so fp16 textures then
 * have 1 texel, which is faster. */
unsigned gpu_texels_per_column(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** Returns the texels per row of a texture: the number n of columns or, with two texels per column,
 * 2 n + 1, because a mean is stored on either side of each sample. */
size_t gpu_row_texels(const struct gpu_kernel *kernel, const struct fbp_job *job);

/** Write a remark if the precision differs from the requested one, or is "fast" without a request;
 * append a remark to others in `line`, unless it is empty. */
void gpu_remark_precision(const struct fbp_job *job, char *line, size_t n);
void gpu_remark_add(char *line, size_t n, const char *part);

/* kernel.c: memory that a job needs, for members of the backend's table (struct fbp_backend) */

size_t gpu_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);
size_t gpu_volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab);

/** Bytes of device memory that do not depend on batches and slabs: tables, scratch, and rounding of
 * allocations. offer: filter methods of the module. */
size_t gpu_fixed_bytes(const struct fbp_job *job, const struct gpu_filter_capabilities *offer);

/** gpu_volume_size() returns the number of values in one channel of a slab, in the kernel's layout;
 * gpu_symmetric_volume_size(), in the layout [z][y][x][lane] of kernels with rotational symmetry,
 * in which lane i is the i-th symmetric voxel of (x, y) in a struct gpu_domain. */
size_t gpu_volume_size(const struct gpu_kernel *kernel, const struct fbp_job *job,
                       const struct fbp_slab *slab);
size_t gpu_symmetric_volume_size(const struct fbp_job *job, const struct fbp_slab *slab);

/* views.c: views and passes */

/** Returns the number of cells of GPU_CELL voxels (struct gpu_wanted) along an axis of n voxels. */
static inline size_t gpu_cells(size_t n)
{
    return (n + GPU_CELL - 1) / GPU_CELL;
}

/** Parameters of a launch for slices [z0, z1) of a slab; `wanted` is NULL: the caller sets it. */
struct gpu_grid gpu_grid_of(const struct fbp_job *job, const struct fbp_slab *slab, size_t z0,
                            size_t z1);

/** The pixel nearest to the projection of the origin, per view; *out is to be freed. */
fbp_status gpu_find_principal(const struct fbp_job *job, const char *who,
                              struct gpu_principal **out);

/** Parameters of a launch for n views from view0 on; row0: the batch's first row. */
void gpu_make_pass(const struct fbp_job *job, const struct gpu_principal *principal, size_t view0,
                   size_t n, size_t row0, struct gpu_pass *out);

/** Computes the power of two by which filtered views are multiplied to fit the range of fp16; it
 * depends on the job only, not on the measured data. */
fbp_status gpu_half_scale(const struct fbp_job *job, float *out);

struct gpu_plain gpu_plain_of(const struct fbp_job *job, size_t n_rows);
size_t gpu_plain_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows);

/** Returns whether the kernel for plane integrals can compute the job: coordinate u of every view
 * is linear in x, y and z, each detector row is a channel of the volume, and a cube of
 * GPU_PLANES_EDGE^3 voxels needs at most GPU_PLANES_WINDOW samples of a view. */
bool gpu_planes_usable(const struct fbp_job *job);

void gpu_plane_of(const struct fbp_job *job, size_t view, struct gpu_plane *out);

/* decimation.c: kernel "hierarchical" */

/** Returns whether the kernel can compute the job with 1 or 4 symmetric views, and has fewer
 * updates than others. */
bool gpu_decimation_usable(const struct fbp_job *job);
bool gpu_decimation_rot90_usable(const struct fbp_job *job);
/** Number of nodes that a group of views has in the middle of the volume, estimated upwards. */
double gpu_nodes_of(const struct fbp_job *job);

/** Number of groups of a job. */
size_t gpu_groups_of(const struct fbp_job *job);

/** Columns of an image of a block, a multiple of 8; greatest number of slices whose images have at
 * most GPU_IMAGE_ROWS rows, a multiple of 8. */
size_t gpu_image_columns(const struct fbp_decimation *d);
size_t gpu_image_slices(const struct fbp_job *job, const struct fbp_decimation *d);

/** Number of images that device memory holds at a time, and their bytes. */
size_t gpu_images_of(const struct fbp_job *job);
size_t gpu_images_bytes(const struct fbp_job *job);

/** Computes the groups of a job, which gpu_host->view_groups_free() frees; and group i as the
 * device reads it. */
fbp_status gpu_view_groups(const struct fbp_job *job, struct fbp_view_groups **out);
void gpu_view_group_of(const struct fbp_job *job, const struct fbp_view_groups *groups, size_t i,
                       const struct gpu_principal *principal, struct gpu_view_group *out);

/** Returns whether kernel "parallel" can compute the job: rays are parallel, every slice projects
 * onto the same position between two detector rows in all views, rows increase with z, and the
 * columns of a tile of voxels fit the kernel's windows: a voxel covers at most 1.4 columns. There
 * are at least 8 slices and at most 4096 columns, none of them inserted. */
bool gpu_parallel_usable(const struct fbp_job *job);

void gpu_parallel_view_of(const struct fbp_job *job, size_t view, struct gpu_parallel_view *out);

/** Layout of a batch of n_rows detector rows from row0 on. */
struct gpu_slices gpu_slices_of(const struct fbp_job *job, size_t row0, size_t n_rows);
size_t gpu_slices_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

struct gpu_planes gpu_planes_of(const struct fbp_job *job, size_t n_rows);
size_t gpu_planes_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Samples of a view, rounded up to a multiple of 4, that interpolation with `taps` samples needs
 * for box[0] x box[1] x box[2] voxels, in any view and at any position. It includes up to 3 samples
 * before the first, because a window begins at a multiple of 4. */
size_t gpu_planes_window(const struct fbp_job *job, const int box[3], size_t taps);
FBP_END

#endif /* FBP_SRC_BACKEND_GPU_GPU_KERNEL_H */
