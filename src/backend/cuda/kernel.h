/** @file kernel.h  CUDA's backprojection kernels: parameters of their launches, and how filtered
 * rows are stored in their layouts (internal; C and CUDA).
 *
 * A kernel is one .cu file that ends in its `struct cuda_kernel`, a line in
 * backend/gpu/gpu_known.h, and one in entry.c.
 */
#ifndef FBP_SRC_BACKEND_CUDA_KERNEL_H
#define FBP_SRC_BACKEND_CUDA_KERNEL_H

#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/tables.h"

#include <cuda_runtime_api.h>

/** A filtered batch on the device, in plain memory or in a texture. */
struct cuda_views {
    size_t n_groups, n_rows;     /**< capacity */
    void *memory;                /**< plain, or */
    cudaArray_t array;           /**< a layer of gpu_row_texels() x n_rows per group, */
    cudaSurfaceObject_t surface; /**< for writing, */
    cudaTextureObject_t texture; /**< and for reading: hardware filtering, zeros outside */
    unsigned texels;             /**< texels per column of a texture: gpu_texels_per_column() */
    float scale;                 /**< factor of stored samples: 1, or a power of two for fp16 */
};

/**
 * Filtered rows before they are stored: complex rows [first, first + n) of a batch.  Complex row
 * ((pair * n_rows + row) * n_lanes + lane) holds row `row` of symmetric view `lane` of group 2 pair
 * in its real part and of group 2 pair + 1, if it exists, in its imaginary part.  The lanes of a
 * texel are adjacent; `first` and n are multiples of n_lanes.
 */
struct cuda_rows {
    const float2 *rows;
    unsigned stride; /**< samples from row to row */
    unsigned first, n;
    unsigned n_lanes, n_groups, n_rows, n_columns;
    unsigned group0; /**< layer of the texture that group 0 of the batch has */
};

/** One pass over slices of a slab; for kernels of plane integrals, a batch. */
struct cuda_bp {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const struct cuda_views *views;
    size_t first; /**< group of `views` that view[0] is of */
    struct gpu_pass pass;
    const struct gpu_plane
        *planes; /**< planes from the batch's first view on; then `pass` is not used */
    struct gpu_grid grid;
    float *volume; /**< from slice grid.z0 on */
    const struct fbp_slab *slab;
    int shape; /**< index of the kernel's shape */
    cudaStream_t stream;
};

/** Slices [z0, z1) of a slab to out[z1 - z0][ny][nx], scaled and shifted. */
struct cuda_fetch {
    const struct fbp_job *job;
    const struct fbp_slab *slab;
    size_t z0, z1;
    const float *volume;
    float *out;
    cudaStream_t stream;
};

/** A GPU kernel and its launches. */
struct cuda_kernel {
    struct gpu_kernel gpu; /**< first: job->chosen.own points to it */
    /** The filter in space, as cuda_convolve_rows() (filter_kernels.h); NULL: that function. */
    cudaError_t (*convolve)(const float2 *in, unsigned n, unsigned length, const float *taps,
                            unsigned half_width, float2 *out, cudaStream_t stream);
    /** Store filtered rows, and the borders that belong to them. */
    cudaError_t (*store)(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream);
    /** Add a pass. */
    cudaError_t (*backproject)(const struct cuda_bp *bp);
    /** Fetch slices.  NULL: the volume is plain. */
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

/** Kernels that are used only if a job names them, ended by a NULL name; NULL: none. */
extern const struct cuda_kernel *cuda_kernels_by_name;

/** The kernel that was selected for the job. */
static inline const struct cuda_kernel *cuda_kernel_of(const struct fbp_job *job)
{
    return (const struct cuda_kernel *)job->chosen.own;
}

/* Launches that kernels share (store.cu, volume.cu). */

/** Store rows in plain memory, between borders of zeros; in a texture of fp32; of fp16. */
cudaError_t cuda_plain_store(const struct fbp_job *job, const struct cuda_rows *rows,
                             const struct cuda_views *views, cudaStream_t stream);
cudaError_t cuda_store_fp32(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream);
cudaError_t cuda_store_fp16(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream);

/** Store rows of plane integrals. */
cudaError_t cuda_planes_store(const struct fbp_job *job, const struct cuda_rows *rows,
                              const struct cuda_views *views, cudaStream_t stream);

/** Filtered rows in order, [n_views][n_rows][n_columns]. */
cudaError_t cuda_plain_rows(const struct cuda_rows *rows, float *out, cudaStream_t stream);

/** Fetch slices of a volume of symmetric voxels. */
cudaError_t cuda_symmetric_fetch(const struct cuda_fetch *f);

/** scale * x + shift of n floats. */
cudaError_t cuda_scale(const float *in, size_t n, float scale, float shift, float *out,
                       cudaStream_t stream);

/** Add n voxels to the statistics found[GPU_STATISTICS_BLOCKS]. */
cudaError_t cuda_statistics_of(const float *in, size_t n, struct gpu_block_statistics *found,
                               cudaStream_t stream);
cudaError_t cuda_statistics_of_doubles(const double *in, size_t n,
                                       struct gpu_block_statistics_double *found,
                                       cudaStream_t stream);
FBP_END

#ifdef __CUDACC__

/** Position of the texel whose lanes begin at complex row `local` of r. */
struct cuda_place {
    unsigned group, row; /**< position of the real parts; the imaginary ones are in group + 1 */
    bool second;         /**< group + 1 exists */
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
#endif /* FBP_SRC_BACKEND_CUDA_KERNEL_H */
