/* Launches of the backprojection kernel "planes" for plane integrals (planes_kernel.h), in float
 * and double (cuda_kernel_PLANES_EXACT, cuda_kernel_PLANES_DOUBLE): cuda/volume.c calls them
 * through struct cuda_kernel, with all views of a batch in one launch.
 * Used by: entry.c. */
#include "backend/cuda/kernel.h"
#include "backend/cuda/planes_kernel.h"

/* Greatest number of bytes of each buffer of windows (samples of views), unless one window is
 * larger: both and the lists of views fit in a block's 48 KiB of shared memory. */
enum { STAGE_BYTES = 20 << 10 };

template <class T, enum fbp_interpolation HOW, int FRAMES, class Shape>
static cudaError_t launch_shape(const struct cuda_bp *bp)
{
    static const int box[3] = {Shape::X, Shape::Y, Shape::SLICES};
    const gpu_planes layout = gpu_planes_of(bp->job, bp->batch->n_rows);
    const size_t window = gpu_planes_window(bp->job, box, planes_taps<T, HOW>::N);
    const size_t fit = STAGE_BYTES / (window * FRAMES * sizeof(T));
    const auto kernel = planes_backproject<T, HOW, FRAMES, Shape>;
    planes_in<T> in = {};

    in.planes = bp->planes;
    in.views = (const T *)bp->views->memory;
    in.volume = (T *)bp->volume;
    in.frame = bp->slab->nz * bp->slab->ny * bp->slab->nx;
    in.n = (int)bp->batch->n_views;
    in.columns = (int)layout.columns;
    in.groups = (int)layout.groups;
    in.frames = (int)bp->batch->n_rows;
    in.window = (int)window;
    in.chunk = fit < 1 ? 1 : fit < PLANES_CHUNK ? (int)fit : (int)PLANES_CHUNK;
    const size_t bytes = (size_t)PLANES_STAGES * in.chunk * in.window * FRAMES * sizeof(T);
    if (bytes > 2 * STAGE_BYTES) {
        const cudaError_t error = cudaFuncSetAttribute(
            (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error != cudaSuccess)
            return error;
    }
    kernel<<<planes_blocks<Shape>(bp->grid, in.groups), Shape::THREADS, bytes, bp->stream>>>(
        in, bp->grid);
    return cudaGetLastError();
}

/* Shapes of kernel "planes"; names contain the size of suitable volumes, and the greatest number
 * of slices per thread.  Small volumes need many blocks; large ones, many voxels per window. */
enum { LARGE_8, SMALL_8, LEAST_8, LARGE_16, THIN_4, SHAPES };
typedef planes_shape<8, 8, 8, 14> least_8;
typedef planes_shape<16, 16, 16, 3> large_16;
typedef planes_shape<16, 16, 4, 4> thin_4;
constexpr int planes_slices(int frames)
{
    return frames < 8 ? 8 : 4;
}

/* Number of blocks of 256 threads per multiprocessor, limited by registers. */
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

/* Only linear interpolation of one channel in float has all shapes; other cases have two. */
template <class T, enum fbp_interpolation HOW, int FRAMES>
static cudaError_t launch_frames(const struct cuda_bp *bp)
{
    if constexpr (HOW == FBP_INTERPOLATION_LINEAR && FRAMES == 1 && sizeof(T) == sizeof(float)) {
        if (bp->shape == LEAST_8)
            return launch_shape<T, HOW, FRAMES, least_8>(bp);
        if (bp->shape == LARGE_16)
            return launch_shape<T, HOW, FRAMES, large_16>(bp);
        if (bp->shape == THIN_4)
            return launch_shape<T, HOW, FRAMES, thin_4>(bp);
    }
    return bp->shape == SMALL_8 ? launch_shape<T, HOW, FRAMES, small_8<T, FRAMES>>(bp)
                                : launch_shape<T, HOW, FRAMES, large_8<T, FRAMES>>(bp);
}

template <class T, enum fbp_interpolation HOW>
static cudaError_t launch_how(const struct cuda_bp *bp)
{
    const size_t frames = gpu_planes_of(bp->job, bp->batch->n_rows).frames;

    if (frames <= 2)
        return frames == 1 ? launch_frames<T, HOW, 1>(bp) : launch_frames<T, HOW, 2>(bp);
    if (frames == 4)
        return launch_frames<T, HOW, 4>(bp);
    if constexpr (sizeof(T) == sizeof(float))
        return frames == 8 ? launch_frames<T, HOW, 8>(bp) : launch_frames<T, HOW, 10>(bp);
    return cudaErrorInvalidValue; /* doubles have no such groups */
}

template <class T> static cudaError_t launch(const struct cuda_bp *bp)
{
    switch (bp->job->epr.interpolation) {
    case FBP_INTERPOLATION_NEAREST:
        return launch_how<T, FBP_INTERPOLATION_NEAREST>(bp);
    case FBP_INTERPOLATION_CUBIC:
        return launch_how<T, FBP_INTERPOLATION_CUBIC>(bp);
    default:
        return launch_how<T, FBP_INTERPOLATION_LINEAR>(bp);
    }
}

/* There is one candidate shape, because a batch is one launch: too few to time shapes. */
static int candidates(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    const size_t small = 100 * 100 * 100;
    const size_t *n = job->grid.n;

    out[0] = n_slices <= 4 ? THIN_4 : n[0] * n[1] * n[2] < small ? SMALL_8 : LARGE_16;
    return 1;
}

extern "C" const struct cuda_kernel cuda_kernel_PLANES_EXACT =
    cuda_kernel_from(gpu_known[GPU_PLANES_EXACT], launch<float>, SHAPES, candidates);
extern "C" const struct cuda_kernel cuda_kernel_PLANES_DOUBLE =
    cuda_kernel_from(gpu_known[GPU_PLANES_DOUBLE], launch<double>, SHAPES, candidates);
