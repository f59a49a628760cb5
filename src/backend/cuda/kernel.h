/** @file kernel.h  A way of backprojecting on a GPU, with the layouts of views and volume it wants
 * (internal; C and CUDA).
 *
 * A kernel is one .cu file that ends in its `struct cuda_kernel`, and a line in kernel.c.
 */
#ifndef FBP_SRC_CUDA_KERNEL_H
#define FBP_SRC_CUDA_KERNEL_H

#include <cuda_runtime_api.h>

#include "backend/backend.h"

/** Views, or groups of views that are taken together, of one pass over the volume: as many as fit
 *  the cache for constants.  A voxel adds them one by one, so passes are no part of the result. */
enum { CUDA_PASS = 32 };

/** Shapes of a kernel. */
enum { CUDA_MOST_SHAPES = 8 };

/** A filtered batch on the device; which members are set is the kernel's choice. */
struct cuda_views {
    size_t n_groups, n_rows;     /**< there is room for */
    void *memory;                /**< plain, or */
    cudaArray_t array;           /**< a layer a group, cuda_row_texels() x n_rows, */
    cudaSurfaceObject_t surface; /**< to be written, */
    cudaTextureObject_t texture; /**< and read: hardware filtering, zeros outside */
    unsigned texels;             /**< of a texture, a column: cuda_texels_a_column() */
    float scale; /**< what samples are stored times: 1, or a power of two if they are fp16 */
};

/**
 * Filtered rows on their way into the kernel's layout: complex rows [first, first + n) of a batch.
 * Complex row ((lane * pairs + pair) * n_rows + row) holds row `row` (or its mirror image in lanes
 * of half 1) of group 2 pair in its real part and of group 2 pair + 1, if there is one, in its
 * imaginary part; lane = half * turns + turn.
 */
struct cuda_rows {
    const float2 *rows;
    unsigned stride; /**< samples from row to row */
    unsigned first, n;
    unsigned n_lanes, pairs, n_groups, n_rows, n_columns;
    unsigned group0; /**< of the texture, that group 0 of the batch is */
};

/**
 * One view as kernels see it.  With t = index - reference voxel,
 *
 *     w = w[0] tx + w[1] ty + w[2] tz + w[3],   u w and v w likewise,   w(iso-centre) = 1,
 *
 * u and v relative to the integer pixel (column, row) near the principal point, where fp32 has most
 * digits left; `row` counts from the first row of the batch.  All voxels lie before the source:
 * others are refused when the plan is made.
 */
struct cuda_view {
    float u[4], v[4], w[4];
    int column, row;
};

/** The views of a pass; a kernel parameter, so it lies in constant memory. */
struct cuda_pass {
    int n;
    struct cuda_view view[CUDA_PASS];
};

/** What is computed of the volume: slices (layers) from z0 on. */
struct cuda_grid {
    int nx, ny, nz;
    int z0;                    /**< global index of the first */
    float x_ref, y_ref, z_ref; /**< the reference voxel */
};

/** One pass over slices (layers) of a slab. */
struct cuda_bp {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const struct cuda_views *views;
    size_t first; /**< group of `views` that view[0] is of */
    struct cuda_pass pass;
    struct cuda_grid grid;
    float *volume; /**< of slice (layer) grid.z0 if plain; the slab's otherwise */
    size_t layer;  /**< of the slab that grid.z0 is */
    const struct fbp_slab *slab;
    int shape; /**< of the kernel's */
    cudaStream_t stream;
};

/** Slices [z0, z1) of one half of a slab to out[z1 - z0][ny][nx], scaled and shifted. */
struct cuda_fetch {
    const struct fbp_job *job;
    const struct fbp_slab *slab;
    size_t z0, z1;
    const float *volume;
    float *out;
    cudaStream_t stream;
};

/** Least, most and sum of the voxels that one of CUDA_FOUND blocks looked at. */
struct cuda_found {
    float min, max;
    double sum;
};
enum { CUDA_FOUND = 512 };

struct cuda_kernel {
    const char *name;
    enum fbp_precision precision; /**< exact, fast or half */
    size_t turns;                 /**< views and halves that it takes together: lanes */
    bool mirrored;
    bool by_name; /**< a paper's variant: used where it is asked for, never chosen */
    int pass;     /**< views of a pass at most; 0: CUDA_PASS */
    /** Do scan and volume allow it? */
    bool (*usable)(const struct fbp_job *job);
    /** Texels of views kept in a layered texture: channels and bits of one; 0: plain memory. */
    int channels, bits;
    /** The texture may have two texels a column (cuda_texels_a_column()). */
    bool halves_columns;
    /** Bytes of filtered views in plain memory. */
    size_t (*views_bytes)(const struct fbp_job *job, size_t n_groups, size_t n_rows);
    /** Launch: the filter in space, as cuda_convolve_rows() (filter.h), which NULL stands for. */
    cudaError_t (*convolve)(const float2 *in, unsigned n, unsigned length, const float *taps,
                            unsigned half_width, float2 *out, cudaStream_t stream);
    /** Launch: store filtered rows, and the borders that belong to them. */
    cudaError_t (*store)(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream);
    /** Floats of a slab; NULL: every voxel once, [z][y][x]. */
    size_t (*volume_size)(const struct fbp_job *job, size_t n_layers);
    /** Tiles and windows that it is compiled for; all give the same bits (tune.h). */
    int n_shapes;
    /** Those that may be the fastest for passes of n_slices, the likeliest first; returns how many.
     */
    int (*candidates)(const struct fbp_job *job, size_t n_slices, int out[CUDA_MOST_SHAPES]);
    /** Launch: add a pass. */
    cudaError_t (*backproject)(const struct cuda_bp *bp);
    /** Launch: NULL for a plain volume. */
    cudaError_t (*fetch)(const struct cuda_fetch *fetch);
};

FBP_BEGIN
extern const struct cuda_kernel cuda_kernel_matrix_half, cuda_kernel_matrix_fast,
    cuda_kernel_matrix_exact;
extern const struct cuda_kernel cuda_kernel_column_half, cuda_kernel_column_exact;
extern const struct cuda_kernel cuda_kernel_rot90_half, cuda_kernel_rot90_exact;
extern const struct cuda_kernel cuda_kernel_rot180_mirror_half, cuda_kernel_rot180_mirror_exact;
extern const struct cuda_kernel cuda_kernel_rot180_half, cuda_kernel_rot180_fast,
    cuda_kernel_rot180_exact;
extern const struct cuda_kernel cuda_kernel_mirror_half, cuda_kernel_mirror_exact;

/** The fastest kernel of the job's precision that scan and volume allow; of that name, or NULL, if
 *  one is given. */
const struct cuda_kernel *cuda_kernel_find(const struct fbp_job *job, const char *name);

/** The kernel that was chosen for the job. */
static inline const struct cuda_kernel *cuda_kernel_of(const struct fbp_job *job)
{
    return (const struct cuda_kernel *)job->chosen.own;
}

/** The views of a batch that does not begin its buffer; a texture is still counted from its first
 *  layer, *group0 of which is the batch's. */
struct cuda_views cuda_views_at(const struct cuda_kernel *kernel, const struct fbp_job *job,
                                const struct fbp_batch *batch, const struct cuda_views *views,
                                unsigned *group0);

/** Floats of a slab in the kernel's layout. */
size_t cuda_volume_size(const struct cuda_kernel *kernel, const struct fbp_job *job,
                        size_t n_layers);

/** Integer column and row nearest to the principal point of a view. */
struct cuda_principal {
    int column, row;
};
void cuda_find_principal(const struct fbp_job *job, size_t view, struct cuda_principal *out);

/** Views `view0` … of the scan as a pass. */
void cuda_make_pass(const struct fbp_job *job, const struct cuda_principal *principal, size_t view0,
                    size_t n, size_t row0, struct cuda_pass *out);

/** The power of two that brings filtered views into fp16's range; decided from the job alone. */
fbp_status cuda_half_scale(const struct fbp_job *job, float *out);

/** Launch: store rows in a texture of fp32, or of fp16 times the views' scale. */
cudaError_t cuda_store_fp32(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream);
cudaError_t cuda_store_fp16(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream);

/** The most pixels that a voxel's edge covers in any view, at the iso-centre; the most columns. */
double cuda_pixels_a_voxel(const struct fbp_job *job);
double cuda_columns_a_voxel(const struct fbp_job *job);

/** Texels of a texture along either axis, at most: coordinates are rounded in fp32 (frame.h). */
enum { CUDA_MOST_TEXELS = 16384 };

/**
 * Texels that rows in a texture have for a column: 1; or 2, the means of neighbours in between, so
 * that samples are the same, but what the units round is half as large.  They take coordinates, and
 * the product of both that is the weight of a corner, to 1/256, which shows where a column is not
 * narrower than a voxel.
 */
unsigned cuda_texels_a_column(const struct cuda_kernel *kernel, const struct fbp_job *job);

/** ... and of a whole row: of two a column, one before the first, too. */
size_t cuda_row_texels(const struct cuda_kernel *kernel, const struct fbp_job *job);

/** Launch: scale * x + shift of n floats. */
cudaError_t cuda_scale(const float *in, size_t n, float scale, float shift, float *out,
                       cudaStream_t stream);

/** Launch: add n voxels to found[CUDA_FOUND]. */
cudaError_t cuda_look_at(const float *in, size_t n, struct cuda_found *found, cudaStream_t stream);
FBP_END

#ifdef __CUDACC__

/** Where sample (column x, complex row `local` of r) belongs. */
struct cuda_place {
    unsigned lane, group, row; /**< of the real part; the imaginary part is of group + 1 */
    bool second;               /**< there is a group + 1 */
};

static __device__ inline cuda_place cuda_place_of(const cuda_rows &r, unsigned local)
{
    const unsigned at = r.first + local, pair = at / r.n_rows % r.pairs;
    return {at / r.n_rows / r.pairs, r.group0 + 2 * pair, at % r.n_rows, 2 * pair + 1 < r.n_groups};
}

/** 1/x to within one unit in the last place. */
static __device__ inline float cuda_reciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

#endif /* __CUDACC__ */
#endif /* FBP_SRC_CUDA_KERNEL_H */
