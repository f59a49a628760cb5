/** @file kernel.h  A way of backprojecting on a GPU, with the layouts of views and volume it wants
 * (internal; C and CUDA).
 *
 * A kernel is one .cu file that ends in its `struct cuda_kernel`, and a line in kernels.c.
 */
#ifndef FBP_SRC_CUDA_KERNEL_H
#define FBP_SRC_CUDA_KERNEL_H

#include <cuda_runtime_api.h>

#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/tables.h"

/** A filtered batch on the device; which members are set is the kernel's choice. */
struct cuda_views {
    size_t n_groups, n_rows;     /**< there is room for */
    void *memory;                /**< plain, or */
    cudaArray_t array;           /**< a layer a group, gpu_row_texels() x n_rows, */
    cudaSurfaceObject_t surface; /**< to be written, */
    cudaTextureObject_t texture; /**< and read: hardware filtering, zeros outside */
    unsigned texels;             /**< of a texture, a column: gpu_texels_a_column() */
    float scale; /**< what samples are stored times: 1, or a power of two if they are fp16 */
};

/**
 * Filtered rows on their way into the kernel's layout: complex rows [first, first + n) of a batch.
 * Complex row ((pair * n_rows + row) * n_lanes + lane) holds row `row` of the view of turn `lane`
 * of group 2 pair in its real part and of group 2 pair + 1, if there is one, in its imaginary part.
 * The lanes of a texel are adjacent; `first` and n are multiples of n_lanes.
 */
struct cuda_rows {
    const float2 *rows;
    unsigned stride; /**< samples from row to row */
    unsigned first, n;
    unsigned n_lanes, n_groups, n_rows, n_columns;
    unsigned group0; /**< of the texture, that group 0 of the batch is */
};

/** One pass over slices of a slab; or a batch, of kernels of planes. */
struct cuda_bp {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const struct cuda_views *views;
    size_t first; /**< group of `views` that view[0] is of */
    struct gpu_pass pass;
    const struct gpu_plane *planes; /**< of the batch's first view; then there is no pass */
    struct gpu_grid grid;
    float *volume; /**< from slice grid.z0 on */
    const struct fbp_slab *slab;
    int shape; /**< of the kernel's */
    cudaStream_t stream;
};

/** Slices [z0, z1) of a slab to its out[z1 - z0][ny][nx], scaled and shifted. */
struct cuda_fetch {
    const struct fbp_job *job;
    const struct fbp_slab *slab;
    size_t z0, z1;
    const float *volume;
    float *out;
    cudaStream_t stream;
};

/** What CUDA adds to a GPU's kernel: its launches. */
struct cuda_kernel {
    struct gpu_kernel gpu; /**< first: job->chosen.own is either */
    /** Launch: the filter in space, as cuda_convolve_rows() (filter_kernels.h), which NULL stands
     * for. */
    cudaError_t (*convolve)(const float2 *in, unsigned n, unsigned length, const float *taps,
                            unsigned half_width, float2 *out, cudaStream_t stream);
    /** Launch: store filtered rows, and the borders that belong to them. */
    cudaError_t (*store)(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream);
    /** Launch: add a pass. */
    cudaError_t (*backproject)(const struct cuda_bp *bp);
    /** Launch: NULL for a plain volume. */
    cudaError_t (*fetch)(const struct cuda_fetch *fetch);
};

FBP_BEGIN
extern const struct cuda_kernel cuda_kernel_planes_exact, cuda_kernel_planes_double;
extern const struct cuda_kernel cuda_kernel_matrix_half, cuda_kernel_matrix_fast,
    cuda_kernel_matrix_exact;
extern const struct cuda_kernel cuda_kernel_column_half, cuda_kernel_column_exact;
extern const struct cuda_kernel cuda_kernel_rot90_half, cuda_kernel_rot90_exact;
extern const struct cuda_kernel cuda_kernel_rot180_half, cuda_kernel_rot180_fast,
    cuda_kernel_rot180_exact;

/** Kernels that are used only if a job names them, ended by a NULL name; NULL: there are none. */
extern const struct cuda_kernel *cuda_kernels_by_name;

/** The fastest kernel of the job's precision that scan and volume allow; of that name, if one is
 *  given.  NULL: there is none. */
const struct gpu_kernel *cuda_kernel_find(const struct fbp_job *job, const char *name);

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

/** Launch: store rows in a texture of fp32, or of fp16 times the views' scale. */
cudaError_t cuda_store_fp32(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream);
cudaError_t cuda_store_fp16(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream);

/** Launch: filtered rows in order, [n_views][n_rows][n_columns]. */
cudaError_t cuda_plain_rows(const struct cuda_rows *rows, float *out, cudaStream_t stream);

/** Launch: scale * x + shift of n floats. */
cudaError_t cuda_scale(const float *in, size_t n, float scale, float shift, float *out,
                       cudaStream_t stream);

/** Launch: add n voxels to found[GPU_FOUND]. */
cudaError_t cuda_look_at(const float *in, size_t n, struct gpu_found *found, cudaStream_t stream);
cudaError_t cuda_look_at_doubles(const double *in, size_t n, struct gpu_found_double *found,
                                 cudaStream_t stream);
FBP_END

#ifdef __CUDACC__

/** Where texels of the lanes of r that begin at complex row `local` belong. */
struct cuda_place {
    unsigned group, row; /**< of the real parts; the imaginary ones are of group + 1 */
    bool second;         /**< there is a group + 1 */
};

static __device__ inline cuda_place cuda_place_of(const cuda_rows &r, unsigned local)
{
    const unsigned at = (r.first + local) / r.n_lanes, pair = at / r.n_rows;
    return {r.group0 + 2 * pair, at % r.n_rows, 2 * pair + 1 < r.n_groups};
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
