/** @file planes_launch.h  Launching the kernel of plane integrals, in float or double (internal;
 * CUDA C++).
 */
#ifndef FBP_SRC_CUDA_PLANES_LAUNCH_H
#define FBP_SRC_CUDA_PLANES_LAUNCH_H

#include "backend/cuda/kernel.h"
#include "backend/cuda/planes_kernel.h"
#include "backend/gpu/gpu_known.h"

/** How rows of a batch lie: struct gpu_planes. */
struct planes_layout {
    unsigned columns, groups, frames;
};

static inline planes_layout planes_layout_of(const struct fbp_job *job, size_t n_rows)
{
    const gpu_planes p = gpu_planes_of(job, n_rows);

    return {(unsigned)p.columns, (unsigned)p.groups, (unsigned)p.frames};
}

/* Of a stage of the ring; a block has two beside its lists, and has 48 KiB without asking. */
enum { STAGE_BYTES = 20 << 10 };

template <class T, enum fbp_interpolation HOW, int FRAMES, class Shape>
static planes_in<T> in_of(const struct cuda_bp *bp)
{
    static const int box[3] = {Shape::X, Shape::Y, Shape::SLICES};
    const planes_layout l = planes_layout_of(bp->job, bp->batch->n_rows);
    const size_t taps = planes_taps<T, HOW>::N, window = gpu_planes_window(bp->job, box, taps);
    const size_t fit = STAGE_BYTES / (window * FRAMES * sizeof(T));
    planes_in<T> in = {};

    in.planes = bp->planes;
    in.views = (const T *)bp->views->memory;
    in.volume = (T *)bp->volume;
    in.frame = bp->slab->nz * bp->slab->ny * bp->slab->nx;
    in.n = (int)bp->batch->n_views;
    in.columns = (int)l.columns;
    in.groups = (int)l.groups;
    in.frames = (int)bp->batch->n_rows;
    in.window = (int)window;
    in.chunk = fit < 1 ? 1 : fit < PLANES_CHUNK ? (int)fit : (int)PLANES_CHUNK;
    return in;
}

template <class T, enum fbp_interpolation HOW, int FRAMES, class Shape>
static cudaError_t launch_shape(const struct cuda_bp *bp)
{
    const planes_in<T> in = in_of<T, HOW, FRAMES, Shape>(bp);
    const size_t bytes = (size_t)PLANES_STAGES * in.chunk * in.window * FRAMES * sizeof(T);
    const auto kernel = planes_backproject<T, HOW, FRAMES, Shape>;

    if (bytes > 2 * STAGE_BYTES) {
        const cudaError_t error =
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error != cudaSuccess)
            return error;
    }
    kernel<<<planes_blocks<Shape>(bp->grid, in.groups), Shape::THREADS, bytes, bp->stream>>>(
        in, bp->grid);
    return cudaGetLastError();
}

/* Small volumes want many blocks, large ones windows that serve many voxels. */
enum { LARGE_8, SMALL_8, LEAST_8, LARGE_16, THIN_4, SHAPES };
typedef planes_shape<8, 8, 8, 14> least_8;
typedef planes_shape<16, 16, 16, 3> large_16;
typedef planes_shape<16, 16, 4, 4> thin_4;
constexpr int planes_slices(int frames)
{
    return frames < 8 ? 8 : 4;
}

/* Blocks a multiprocessor, of 256 threads: what their registers allow. */
template <class T> constexpr int planes_blocks_for(int frames)
{
    return sizeof(T) == sizeof(double) ? 2 : frames == 1 ? 4 : frames == 2 ? 3 : 2;
}

template <class T, int FRAMES>
using large_8 = planes_shape<16, 16, planes_slices(FRAMES), planes_blocks_for<T>(FRAMES)>;
template <class T, int FRAMES>
using small_8 =
    planes_shape<16, 8, planes_slices(FRAMES),
                 FRAMES == 1 && sizeof(T) == sizeof(float) ? 7 : 2 * planes_blocks_for<T>(FRAMES)>;

typedef cudaError_t launch_fn(const struct cuda_bp *bp);

/* What is wanted rarely has two. */
template <class T, enum fbp_interpolation HOW, int FRAMES> static launch_fn *launch_of(int shape)
{
    if constexpr (HOW == FBP_INTERPOLATION_LINEAR && FRAMES == 1 && sizeof(T) == sizeof(float)) {
        if (shape == LEAST_8)
            return launch_shape<T, HOW, FRAMES, least_8>;
        if (shape == LARGE_16)
            return launch_shape<T, HOW, FRAMES, large_16>;
        if (shape == THIN_4)
            return launch_shape<T, HOW, FRAMES, thin_4>;
    }
    return shape == SMALL_8 ? launch_shape<T, HOW, FRAMES, small_8<T, FRAMES>>
                            : launch_shape<T, HOW, FRAMES, large_8<T, FRAMES>>;
}

template <class T, enum fbp_interpolation HOW> static cudaError_t launch(const struct cuda_bp *bp)
{
    switch (gpu_planes_of(bp->job, bp->batch->n_rows).frames) {
    case 1:
        return launch_of<T, HOW, 1>(bp->shape)(bp);
    case 2:
        return launch_of<T, HOW, 2>(bp->shape)(bp);
    case 4:
        return launch_of<T, HOW, 4>(bp->shape)(bp);
    default:
        break;
    }
    if constexpr (sizeof(T) == sizeof(float))
        return gpu_planes_of(bp->job, bp->batch->n_rows).frames == 8
                   ? launch_of<T, HOW, 8>(bp->shape)(bp)
                   : launch_of<T, HOW, 10>(bp->shape)(bp);
    return cudaErrorInvalidValue; /* doubles have no such groups */
}

template <class T> static cudaError_t planes_launch(const struct cuda_bp *bp)
{
    switch (bp->job->interpolation) {
    case FBP_INTERPOLATION_NEAREST:
        return launch<T, FBP_INTERPOLATION_NEAREST>(bp);
    case FBP_INTERPOLATION_CUBIC:
        return launch<T, FBP_INTERPOLATION_CUBIC>(bp);
    default:
        return launch<T, FBP_INTERPOLATION_LINEAR>(bp);
    }
}

/* One each: a batch has one launch, so that there are no passes to time. */
static int planes_candidates(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    const size_t small = 100 * 100 * 100;
    const size_t *n = job->grid.n;

    out[0] = n_slices <= 4 ? THIN_4 : n[0] * n[1] * n[2] < small ? SMALL_8 : LARGE_16;
    return 1;
}

typedef cudaError_t planes_store_fn(const struct fbp_job *job, const struct cuda_rows *rows,
                                    const struct cuda_views *views, cudaStream_t stream);

template <class T>
static constexpr cuda_kernel planes_kernel_of(gpu_kernel known, planes_store_fn *store)
{
    known.n_shapes = SHAPES;
    known.candidates = planes_candidates;
    return {.gpu = known, .store = store, .backproject = planes_launch<T>};
}

#endif /* FBP_SRC_CUDA_PLANES_LAUNCH_H */
