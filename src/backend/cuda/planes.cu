/*
 * Plane integrals: all views of a batch in one launch (planes_kernel.h has how), from rows that lie
 * one behind the other.
 */
#include "backend/cuda/planes_kernel.h"

#include "backend/cuda/rows.h"
#include "backend/gpu/gpu_known.h"

/* Where rows of a batch go. */
struct layout {
    unsigned columns, groups, frames; /* struct gpu_planes */
};

static layout layout_of(const struct fbp_job *job, size_t n_rows)
{
    const gpu_planes p = gpu_planes_of(job, n_rows);

    return {(unsigned)p.columns, (unsigned)p.groups, (unsigned)p.frames};
}

/* Rows of a pair of views, of one frame; behind the last are those that fill its group. */
static __global__ void store_rows(const cuda_rows r, const layout to, float *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place p = cuda_place_of(r, blockIdx.y);
    const unsigned group = p.row / to.frames, first = p.row - group * to.frames;
    const unsigned end = p.row + 1 == r.n_rows ? to.frames : first + 1;

    if (at >= to.columns)
        return;
    const float2 q =
        at < r.n_columns ? r.rows[(size_t)blockIdx.y * r.stride + at] : make_float2(0, 0);
    const size_t row = (size_t)to.columns * to.frames, view = to.groups * row;
    float *out = views + p.group * view + group * row + at * to.frames;
    for (unsigned f = first; f < end; f++) {
        out[f] = f == first ? q.x : 0;
        if (p.second)
            out[view + f] = f == first ? q.y : 0;
    }
}

static cudaError_t store(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream)
{
    const layout to = layout_of(job, rows->n_rows);
    float *memory = (float *)views->memory;

    cuda_for_parts(*rows, [&](const cuda_rows &part) {
        store_rows<<<dim3(cuda_blocks(to.columns, CUDA_ROW_THREADS), part.n), CUDA_ROW_THREADS, 0,
                     stream>>>(part, to, memory);
    });
    return cudaGetLastError();
}

/* Of a stage of the ring; a block has two beside its lists, and has 48 KiB without asking. */
enum { STAGE_BYTES = 20 << 10 };

template <class T, enum fbp_interpolation HOW, int FRAMES, class Shape>
static planes_in<T> in_of(const struct cuda_bp *bp)
{
    static const int box[3] = {Shape::X, Shape::Y, Shape::SLICES};
    const layout l = layout_of(bp->job, bp->batch->n_rows);
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
template <int FRAMES>
using large_8 = planes_shape < 16,
      16,
      FRAMES<8 ? 8 : 4, FRAMES == 1   ? 4
                        : FRAMES == 2 ? 3
                                      : 2>;
template <int FRAMES>
using small_8 = planes_shape < 16,
      8,
      FRAMES<8 ? 8 : 4, FRAMES == 1   ? 7
                        : FRAMES == 2 ? 6
                                      : 4>;

typedef cudaError_t launch_fn(const struct cuda_bp *bp);

/* What is wanted rarely has two. */
template <class T, enum fbp_interpolation HOW, int FRAMES> static launch_fn *launch_of(int shape)
{
    if constexpr (HOW == FBP_INTERPOLATION_LINEAR && FRAMES == 1) {
        if (shape == LEAST_8)
            return launch_shape<T, HOW, FRAMES, least_8>;
        if (shape == LARGE_16)
            return launch_shape<T, HOW, FRAMES, large_16>;
        if (shape == THIN_4)
            return launch_shape<T, HOW, FRAMES, thin_4>;
    }
    return shape == SMALL_8 ? launch_shape<T, HOW, FRAMES, small_8<FRAMES>>
                            : launch_shape<T, HOW, FRAMES, large_8<FRAMES>>;
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
    case 8:
        return launch_of<T, HOW, 8>(bp->shape)(bp);
    default:
        return launch_of<T, HOW, 10>(bp->shape)(bp);
    }
}

static cudaError_t backproject(const struct cuda_bp *bp)
{
    switch (bp->job->interpolation) {
    case FBP_INTERPOLATION_NEAREST:
        return launch<float, FBP_INTERPOLATION_NEAREST>(bp);
    case FBP_INTERPOLATION_CUBIC:
        return launch<float, FBP_INTERPOLATION_CUBIC>(bp);
    default:
        return launch<float, FBP_INTERPOLATION_LINEAR>(bp);
    }
}

/* One each: a batch has one launch, so that there are no passes to time. */
static int candidates(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    const size_t small = 100 * 100 * 100;
    const size_t *n = job->grid.n;

    out[0] = n_slices <= 4 ? THIN_4 : n[0] * n[1] * n[2] < small ? SMALL_8 : LARGE_8;
    return 1;
}

static constexpr cuda_kernel kernel_of(gpu_kernel known)
{
    known.n_shapes = SHAPES;
    known.candidates = candidates;
    return {.gpu = known, .store = store, .backproject = backproject};
}

extern "C" const struct cuda_kernel cuda_kernel_planes_exact =
    kernel_of(gpu_known[GPU_PLANES_EXACT]);
