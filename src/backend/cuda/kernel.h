/** @file kernel.h  The CUDA kernels of the backprojection: parameters of their launches, functions
 * that store filtered rows in their layouts, and functions that convert finished slices (internal;
 * C and CUDA C++).
 *
 * entry.c lists the kernels; volume.c launches the one that was selected for the job.  A new kernel
 * needs a line in backend/gpu/gpu_known.h, and a .cu file that defines its `struct cuda_kernel`.
 * Used by: bench/cuda/, backend/cuda/.
 */
#ifndef FBP_SRC_BACKEND_CUDA_KERNEL_H
#define FBP_SRC_BACKEND_CUDA_KERNEL_H

#include "backend/cuda/runtime.h"
#include "backend/gpu/gpu_known.h"
#include "backend/gpu/tables.h"

/** A device buffer of filtered views, in plain memory or in a layered texture. */
struct cuda_views {
    /** capacity of the buffer: n_groups groups of symmetric views, with n_rows rows per view */
    size_t n_groups, n_rows;
    void *memory;      /**< views in plain memory; NULL: in the texture `array` */
    cudaArray_t array; /**< layers of gpu_row_texels() x n_rows texels, one per group of views */
    cudaSurfaceObject_t surface; /**< writes `array` */
    cudaTextureObject_t texture; /**< reads `array`, interpolated linearly, zeros outside */
    unsigned texels;             /**< texels per detector column: gpu_texels_per_column() */
    float scale; /**< factor by which stored samples are scaled: 1, or a power of two for fp16 */
};

/** Filtered rows before they are stored: complex rows [first, first + n) of a batch. The real part
 * of complex row ((pair * n_rows + row) * n_lanes + lane) is row `row` of symmetric view `lane` of
 * group 2 pair; the imaginary part that of group 2 pair + 1, if it exists. The lanes of a texel are
 * adjacent; `first` and n are multiples of n_lanes. */
struct cuda_rows {
    const float2 *rows;
    unsigned stride; /**< distance from a complex row to the next [complex samples] */
    unsigned first, n;
    unsigned n_lanes, n_groups, n_rows, n_columns;
    unsigned group0; /**< index, in the buffer of views, of the batch's group 0 */
    unsigned row0;   /**< index, in the detector, of the batch's first row */
};

/** Kernel "hierarchical": groups of views on the host and, `views`, in device memory; list of the
 * images of blocks in device memory, and their texture; gpu_image_columns(), gpu_image_slices(). */
struct cuda_decimation {
    struct fbp_view_groups *groups;
    const struct gpu_view_group *views;
    struct gpu_block_images *list;
    struct cuda_views *images;
    int columns, slices;
};

/** One launch of a backprojection kernel, which adds views to slices of a slab: the views of `pass`
 * or, for plane integrals and parallel beams, all views of the batch. */
struct cuda_bp {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const struct cuda_views *views;
    /** index, in the buffer `views`, of the first group of symmetric views of `pass` */
    size_t first;
    struct gpu_pass pass;
    /** plane integrals and parallel beams: parameters of the batch's views in device memory */
    const struct gpu_plane *planes;
    const struct gpu_parallel_view *parallel;
    const struct cuda_decimation *decimation; /**< kernel "hierarchical" */
    struct gpu_grid grid;
    float *volume; /**< sums of the voxels, from slice grid.z0 on */
    const struct fbp_slab *slab;
    int shape; /**< index of the kernel's shape (tile and window) */
    cudaStream_t stream;
};

/** Slices [z0, z1) of a slab, counted from the volume's first slice, which cuda_convert() writes to
 * out[z1 - z0][ny][nx]; `volume` contains the whole slab in the kernel's layout. */
struct cuda_fetch {
    const struct fbp_job *job;
    const struct fbp_slab *slab;
    size_t z0, z1;
    const float *volume;
    float *out;
};

/** A GPU kernel and the functions that launch it. */
struct cuda_kernel {
    struct gpu_kernel gpu; /**< first member: cuda_kernel_of() casts pointers to it */
    /** Replaces cuda_convolve_rows() (filter_kernels.h), the convolution of rows in space, for jobs
     * that use this kernel; NULL: it is not replaced. */
    cudaError_t (*convolve)(const float2 *in, unsigned n, unsigned length, const float *taps,
                            unsigned half_width, float2 *out, cudaStream_t stream);
    /** Add the views of a pass to the volume. */
    cudaError_t (*backproject)(const struct cuda_bp *bp);
};

FBP_BEGIN
/** Declare all kernels in the list GPU_KNOWN, such as cuda_kernel_PLANES_EXACT. */
#define CUDA_KERNEL(ID, ...) extern const struct cuda_kernel cuda_kernel_##ID;
GPU_KNOWN(CUDA_KERNEL)
#undef CUDA_KERNEL

/** Additional kernels, which are used only if a job requests them by name: array ended by a NULL
 * name; NULL: there are none.  Set by fbp-bench's module. */
extern const struct cuda_kernel *cuda_kernels_by_name;

static inline const struct cuda_kernel *cuda_kernel_of(const struct fbp_job *job)
{
    return (const struct cuda_kernel *)job->selection.entry;
}

/* store.cu: converts filtered rows to the layouts of views in which kernels read them */

/** Store filtered rows, and zeros around them, in the layout of the job's kernel. */
cudaError_t cuda_store(const struct fbp_job *job, const struct cuda_rows *rows,
                       const struct cuda_views *views, cudaStream_t stream);

/** Copy filtered rows, as plain rows, to out[n_views][n_rows][n_columns]. */
cudaError_t cuda_plain_rows(const struct cuda_rows *rows, float *out, cudaStream_t stream);

/* volume.cu: output of slices and their statistics */

/** Convert slices to [z][y][x], also from the layout of symmetric voxels; scale, shift them. */
cudaError_t cuda_convert(const struct cuda_fetch *f, cudaStream_t stream);

/** Add n voxels, float or double, to the statistics found[GPU_STATISTICS_BLOCKS], one per thread
 * block: struct gpu_block_statistics or struct gpu_block_statistics_double. */
cudaError_t cuda_statistics_of(const void *in, size_t n, bool in_double, void *found,
                               cudaStream_t stream);
FBP_END

#if defined __CUDACC__ || defined FBP_CUDA_HOST

/** Returns a struct cuda_kernel, made from the properties `known` and the kernel's functions.
 * n_shapes: number of compiled variants (shapes); 0: the kernel has a single one. */
static constexpr cuda_kernel cuda_kernel_from(gpu_kernel known,
                                              decltype(cuda_kernel::backproject) backproject,
                                              int n_shapes = 0,
                                              decltype(gpu_kernel::candidates) candidates = nullptr)
{
    known.n_shapes = n_shapes;
    known.candidates = candidates;
    return {.gpu = known, .backproject = backproject};
}

/** Position, in a buffer of views, of the samples of a complex row of struct cuda_rows. */
struct cuda_place {
    unsigned group, row; /**< group of symmetric views (layer of a texture), and row in the view, of
                            the real parts; imaginary parts belong to this row of the next group */
    bool second;         /**< true: the next group exists */
};

static __device__ inline cuda_place cuda_place_of(const cuda_rows &r, unsigned local)
{
    const unsigned at = (r.first + local) / r.n_lanes, pair = at / r.n_rows;
    return {r.group0 + 2 * pair, at % r.n_rows, 2 * pair + 1 < r.n_groups};
}

#endif /* __CUDACC__ */
#endif /* FBP_SRC_BACKEND_CUDA_KERNEL_H */
