/** @file planes_kernel.h  Backprojection of plane integrals on the GPU (kernel `planes`), launched
 * by planes.cu (internal; CUDA C++).
 *
 * A view is one row per channel, in which the position u of a voxel is u0 + a x + b y + c z.  A
 * block computes a box of voxels inside a cube of GPU_PLANES_EDGE voxels along each axis of the
 * whole grid.  A box needs only a few adjacent samples of each view, its window, which is copied to
 * shared memory while the views before are added.  A test without a device compiles this file for
 * the host (tests/cuda/planes_host.h).
 * Used by: planes.cu.
 */
#ifndef FBP_SRC_CUDA_PLANES_KERNEL_H
#define FBP_SRC_CUDA_PLANES_KERNEL_H

#include "backend/gpu/gpu_kernel.h"

#ifdef FBP_PLANES_HOST
#    include FBP_PLANES_HOST
#else
#    include "backend/cuda/planes_parts.h"
#endif

/*
 * A thread computes SLICES voxels along z.  The voxels of a warp lie near each other, so their
 * loads hit different banks, or the same word.
 *
 * u of a cube's first voxel is computed in double, once per view and block; positions relative to
 * it are small, and so are their rounding errors.  These depend only on the cube and the voxel's
 * position in the cube: shapes, slabs, boxes and batches do not change any bit.
 *
 * Channels ("frames", delays of EPR imaging) lie innermost in the memory of views; a thread
 * computes positions and weights once for the FRAMES channels of its group.
 */

/** For linear interpolation in float, planes_add() calls planes_slide() if a thread has at least
 * PLANES_SLIDING channels, and u changes along z by less than PLANES_STEP samples per voxel: less
 * than 1 with rounding errors. */
enum { PLANES_SLIDING = 4 };
static constexpr float PLANES_STEP = 0.99f;

/** Greatest number of views whose windows are in a buffer of shared memory, one per lane of a warp
 * (PLANES_CHUNK); numbers of buffers (PLANES_STAGES) and of lists of views (PLANES_LISTS). */
enum { PLANES_CHUNK = 32, PLANES_STAGES = 2, PLANES_LISTS = 3 };

/** X, Y: voxel columns of a thread block (8 x 4 per warp); SLICES: voxels of a thread along z;
 * BLOCKS: blocks per multiprocessor, which limit the registers per thread. */
template <int X_, int Y_, int SLICES_, int BLOCKS_> struct planes_shape {
    enum { X = X_, Y = Y_, SLICES = SLICES_, THREADS = X_ * Y_, BLOCKS = BLOCKS_ };
    static_assert(GPU_PLANES_EDGE % X_ == 0 && GPU_PLANES_EDGE % Y_ == 0 &&
                      GPU_PLANES_EDGE % SLICES_ == 0,
                  "a block lies in one cube");
    static_assert(X_ % 8 == 0 && Y_ % 4 == 0, "of whole warps");
};

/** Parameters of a launch of kernel "planes", in addition to the slices it computes. */
template <class T> struct planes_in {
    const gpu_plane *planes; /**< planes from the batch's first view on */
    const T *views;          /**< [view][group of channels][column][channel] */
    T *volume;               /**< from slice grid.z0 on */
    size_t frame;            /**< number of voxels from one channel of the volume to the next */
    int n;                   /**< number of views */
    int columns;             /**< samples per row, including the zeros at its end */
    int groups, frames; /**< groups: number of groups of channels; frames: number of channels */
    int window;         /**< samples per window, a multiple of 4 */
    int chunk;          /**< number of views whose windows are in one buffer */
};

/** A view that a block adds. */
template <class T> struct alignas(16) planes_seen {
    /** fraction of u + SHIFT at the cube's first voxel; changes of u along x, y, z */
    T first, a, b, c;
    /** index of a voxel's first sample = origin + low_bits(u + FLOOR), modulo 2^32 (planes_real) */
    unsigned origin;
    /** column: index, in the view, of the window's first sample; view: index in the batch */
    int column, view;
    int unused;
};

/** Taps: N samples from floor(u + SHIFT) + FIRST on, with weights w at the fraction f. */
template <class T, enum fbp_interpolation HOW> struct planes_taps;

template <class T> struct planes_taps<T, FBP_INTERPOLATION_LINEAR> {
    static constexpr int N = 2, FIRST = 0;
    static constexpr double SHIFT = 0;

    static PLANES_DEVICE void weigh(T f, T (&w)[N])
    {
        w[0] = 1 - f;
        w[1] = f;
    }
};

/** SHIFT rounds u to the nearest sample: it is FBP_NEAREST of filter/parabola.h. */
template <class T> struct planes_taps<T, FBP_INTERPOLATION_NEAREST> {
    static constexpr int N = 1, FIRST = 0;
    static constexpr double SHIFT = .5 + 1. / 4096;

    static PLANES_DEVICE void weigh(T, T (&w)[N])
    {
        w[0] = 1;
    }
};

/** Weights of cubic B-splines, because the filter has converted samples to their coefficients. */
template <class T> struct planes_taps<T, FBP_INTERPOLATION_CUBIC> {
    static constexpr int N = 4, FIRST = -1;
    static constexpr double SHIFT = 0;

    static PLANES_DEVICE void weigh(T f, T (&w)[N])
    {
        const T g = 1 - f, sixth = (T)(1. / 6), two_thirds = (T)(2. / 3), half = (T).5;

        w[0] = g * g * (g * sixth);
        w[1] = planes_fma(f * f, planes_fma(half, f, (T)-1), two_thirds);
        w[2] = planes_fma(g * g, planes_fma(half, g, (T)-1), two_thirds);
        w[3] = f * f * (f * sixth);
    }
};

/** Thread blocks of a launch per axis; along z, the group of channels is the fastest index. */
template <class Shape> static inline dim3 planes_blocks(const gpu_grid &g, int groups)
{
    const auto of = [](int first, int n, int size) {
        return (unsigned)((first + n - 1) / size - first / size + 1);
    };

    return {of(g.x0, g.nx, Shape::X), of(g.y0, g.ny, Shape::Y),
            of(g.z0, g.nz, Shape::SLICES) * groups};
}

/** Index, in the whole volume, of the first voxel of a thread block. */
struct planes_corner {
    int x, y, z;
};

template <class Shape>
static PLANES_DEVICE planes_corner planes_corner_of(const gpu_grid &g, int groups)
{
    return {(int)(blockIdx.x + g.x0 / Shape::X) * Shape::X,
            (int)(blockIdx.y + g.y0 / Shape::Y) * Shape::Y,
            (int)(blockIdx.z / groups + g.z0 / Shape::SLICES) * Shape::SLICES};
}

/** Returns false if the requested region contains no voxel of the thread block. */
template <class Shape>
static PLANES_DEVICE bool planes_is_needed(const gpu_grid &g, const planes_corner &at)
{
    const int x0 = max(at.x, g.x0), x1 = min(at.x + Shape::X, g.x0 + g.nx) - 1;
    const int y0 = max(at.y, g.y0), y1 = min(at.y + Shape::Y, g.y0 + g.ny) - 1;

    for (int y = y0 / GPU_CELL; y <= y1 / GPU_CELL; y++)
        for (int x = x0 / GPU_CELL; x <= x1 / GPU_CELL; x++) {
            const gpu_wanted cell = g.wanted[y * g.cells + x];
            if (cell.first < at.z + Shape::SLICES && cell.end > at.z)
                return true;
        }
    return false;
}

/** Extend [*low, *high], the range of u in a box of voxels, by one axis: the box contains voxels
 *  off … off + n - 1 of its cube, and u changes by `step` per voxel. */
static PLANES_DEVICE void planes_widen(double step, int off, int n, double *low, double *high)
{
    const double from = off * step, to = (off + n - 1) * step;

    *low += fmin(from, to);
    *high += fmax(from, to);
}

/** Margin by which the range of u of a block is extended for rounding errors of its threads. */
static constexpr double PLANES_ROUNDING = 1. / 64;

/** Parameters of a view for the thread block at `at`; false: no voxel projects onto it. */
template <class T, class Taps, class Shape>
static PLANES_DEVICE bool planes_see(const planes_in<T> &in, const planes_corner &at, int view,
                                     planes_seen<T> *out)
{
    enum { EDGE = GPU_PLANES_EDGE };
    const double *const u = in.planes[view].u;
    const int ox = at.x % EDGE, oy = at.y % EDGE, oz = at.z % EDGE;
    const double start = fma((double)(at.x - ox), u[0],
                             fma((double)(at.y - oy), u[1], fma((double)(at.z - oz), u[2], u[3]))) +
                         Taps::SHIFT;
    const double base = floor(start);
    double low = start, high = start;

    planes_widen(u[0], ox, Shape::X, &low, &high);
    planes_widen(u[1], oy, Shape::Y, &low, &high);
    planes_widen(u[2], oz, Shape::SLICES, &low, &high);
    low = floor(low - PLANES_ROUNDING) + Taps::FIRST;
    high = floor(high + PLANES_ROUNDING) + Taps::FIRST + Taps::N - 1;
    if (!(high >= 0 && low < in.columns))
        return false;
    const int first = (int)floor(low / 4) * 4; /* copies begin at multiples of 16 bytes */
    *out = {(T)(start - base),
            (T)u[0],
            (T)u[1],
            (T)u[2],
            (unsigned)((int)base + Taps::FIRST - first) - planes_real<T>::FLOOR_BITS,
            first,
            view,
            0};
    return true;
}

/** Store in list[0 … *n - 1] those of the batch's views [k, k + in.chunk) onto which the block of
 * voxels projects, in their order. Only the first warp does this; other threads return at once. */
template <class T, class Taps, class Shape>
static PLANES_DEVICE void planes_find(const planes_in<T> &in, const planes_corner &at, int k,
                                      planes_seen<T> *list, int *n)
{
    const int i = threadIdx.x;
    planes_seen<T> one;

    if (i >= PLANES_CHUNK)
        return;
    const bool seen =
        i < in.chunk && k + i < in.n && planes_see<T, Taps, Shape>(in, at, k + i, &one);
    const unsigned all = planes_ballot(seen);
    if (seen)
        list[planes_count(all & ((1u << i) - 1))] = one;
    if (i == 0)
        *n = planes_count(all);
}

/** Start copies of the windows of a list of n views, for one group of channels, to shared memory at
 * `to`.  All threads of the block call this function, and the copies are divided among them. */
template <class T, int FRAMES, class Shape>
static PLANES_DEVICE void planes_copy(const planes_in<T> &in, int group, const planes_seen<T> *list,
                                      int n, unsigned to)
{
    enum { SAMPLE = FRAMES * sizeof(T), PIECE = 16 };
    const unsigned pieces = in.window * SAMPLE / PIECE, all = n * pieces;
    const unsigned row = in.columns * SAMPLE;

    for (unsigned i = threadIdx.x; i < all; i += Shape::THREADS) {
        const unsigned v = i / pieces, at = (i - v * pieces) * PIECE;
        const unsigned from = list[v].column * SAMPLE + at; /* wraps if column < 0, then >= row */
        const size_t line = (size_t)list[v].view * in.groups + group;
        const bool there = from < row;
        planes_copy_piece(to + i * PIECE, (const char *)in.views + line * row + (there ? from : 0),
                          there);
    }
}

/** Add a view with |step along z| < 1: from voxel to voxel the two taps stay or move by one sample,
 *  upwards if UP, so at least one tap is kept, which saves a load. */
template <bool UP, class T, class Taps, int FRAMES, int SLICES>
static PLANES_DEVICE void planes_slide(const planes_seen<T> &s, unsigned origin, T across,
                                       const T (&tz)[SLICES], T (&sum)[SLICES][FRAMES])
{
    typedef planes_real<T> real;
    enum { SAMPLE = FRAMES * sizeof(T) };
    T q[2][FRAMES];
    unsigned last = 0;

    PLANES_UNROLL
    for (int k = 0; k < SLICES; k++) {
        const T u = planes_fma(tz[k], s.c, across), t = real::add_down(u, real::FLOOR);
        const unsigned at = real::low_bits(t) * (unsigned)SAMPLE + origin;
        T w[Taps::N];

        Taps::weigh(u - (t - real::FLOOR), w);
        if (k == 0)
            planes_load<2>(at, q);
        else
            planes_move<UP>(at, last, q);
        last = at;
        PLANES_UNROLL
        for (int j = 0; j < 2; j++)
            PLANES_UNROLL
        for (int f = 0; f < FRAMES; f++)
            sum[k][f] = planes_fma(w[j], q[j][f], sum[k][f]);
    }
}

/** Add one view to all channels of a thread's voxels. */
template <class T, class Taps, int FRAMES, int SLICES>
static PLANES_DEVICE void planes_add(const planes_seen<T> s, unsigned window, T tx, T ty,
                                     const T (&tz)[SLICES], T (&sum)[SLICES][FRAMES])
{
    typedef planes_real<T> real;
    const T across = planes_fma(tx, s.a, planes_fma(ty, s.b, s.first));
    const unsigned origin = window + s.origin * (unsigned)(FRAMES * sizeof(T));

    if constexpr (Taps::N == 2 && FRAMES >= PLANES_SLIDING && sizeof(T) == sizeof(float)) {
        if (s.c >= 0 && PLANES_STEP > s.c) {
            planes_slide<true, T, Taps>(s, origin, across, tz, sum);
            return;
        }
        if (s.c > -PLANES_STEP && 0 > s.c) {
            planes_slide<false, T, Taps>(s, origin, across, tz, sum);
            return;
        }
    }
    PLANES_UNROLL
    for (int k = 0; k < SLICES; k++) {
        const T u = planes_fma(tz[k], s.c, across), t = real::add_down(u, real::FLOOR);
        const unsigned at = real::low_bits(t) * (unsigned)(FRAMES * sizeof(T)) + origin;
        T w[Taps::N], q[Taps::N][FRAMES];

        Taps::weigh(u - (t - real::FLOOR), w);
        planes_load<Taps::N>(at, q);
        PLANES_UNROLL
        for (int j = 0; j < Taps::N; j++)
            PLANES_UNROLL
        for (int f = 0; f < FRAMES; f++)
            sum[k][f] = planes_fma(w[j], q[j][f], sum[k][f]);
    }
}

/** A thread's first voxel in the whole volume, and its group of channels. */
struct planes_place {
    int x, y, z, group;
};

template <class Shape>
static PLANES_DEVICE planes_place planes_place_of(const gpu_grid &g, int groups)
{
    const planes_corner at = planes_corner_of<Shape>(g, groups);
    const int thread = planes_anew(threadIdx.x), lane = thread % 32, warp = thread / 32;

    return {at.x + warp % (Shape::X / 8) * 8 + lane % 8,
            at.y + warp / (Shape::X / 8) * 4 + lane / 8, at.z, (int)(blockIdx.z % groups)};
}

/** Calls each(voxel, sum) for every voxel of the thread that is part of the slab. */
template <class T, class Shape, int FRAMES, class Each>
static PLANES_DEVICE void planes_each_voxel(const planes_in<T> &in, const gpu_grid &g,
                                            T (&sum)[Shape::SLICES][FRAMES], Each each)
{
    const planes_place p = planes_place_of<Shape>(g, in.groups);
    const int x = p.x - g.x0, y = p.y - g.y0, z = p.z - g.z0, frames = in.frames - p.group * FRAMES;
    const size_t slice = (size_t)g.nx * g.ny;
    T *const at = in.volume + (size_t)p.group * FRAMES * in.frame +
                  (ptrdiff_t)z * (ptrdiff_t)slice + (ptrdiff_t)y * g.nx + x;

    if (x < 0 || x >= g.nx || y < 0 || y >= g.ny)
        return;
    PLANES_UNROLL
    for (int k = 0; k < Shape::SLICES; k++)
        PLANES_UNROLL
    for (int f = 0; f < FRAMES; f++)
        if (z + k >= 0 && z + k < g.nz && f < frames)
            each(at[k * slice + f * in.frame], sum[k][f]);
}

/** Add all views of a batch, through two buffers of windows in shared memory: while the views of
 * one buffer are added, the windows of the next views are copied to the other.  There are three
 * lists of views: the next one, which the first warp writes, the current one, and the one before,
 * which other warps may still read. */
template <class T, class Taps, int FRAMES, class Shape>
static PLANES_DEVICE void planes_add_all(const planes_in<T> &in, const gpu_grid &g, unsigned ring,
                                         T (&sum)[Shape::SLICES][FRAMES])
{
    __shared__ planes_seen<T> lists[PLANES_LISTS][PLANES_CHUNK];
    __shared__ int seen[PLANES_LISTS];
    const planes_corner at = planes_corner_of<Shape>(g, in.groups);
    const planes_place p = planes_place_of<Shape>(g, in.groups);
    const T tx = (T)(p.x % GPU_PLANES_EDGE), ty = (T)(p.y % GPU_PLANES_EDGE);
    const unsigned window = in.window * FRAMES * sizeof(T);
    T tz[Shape::SLICES];

    PLANES_UNROLL
    for (int k = 0; k < Shape::SLICES; k++)
        tz[k] = (T)(p.z % GPU_PLANES_EDGE + k);
    for (int k = -in.chunk, i = 0; k < in.n; k += in.chunk, i++) {
        const int now = i % PLANES_LISTS, next = (i + 1) % PLANES_LISTS;
        const unsigned here = ring + i % PLANES_STAGES * in.chunk * window;
        const bool more = k + in.chunk < in.n;
        if (more)
            planes_find<T, Taps, Shape>(in, at, k + in.chunk, lists[next], &seen[next]);
        __syncthreads(); /* all threads have added the views of the other buffer */
        if (more)
            planes_copy<T, FRAMES, Shape>(in, p.group, lists[next], seen[next],
                                          ring + (i + 1) % PLANES_STAGES * in.chunk * window);
        planes_end_of_copy();
        if (k < 0)
            continue;
        planes_wait_but_for_one();
        __syncthreads();
        for (int v = 0; v < seen[now]; v++)
            planes_add<T, Taps, FRAMES>(lists[now][v], here + v * window, tx, ty, tz, sum);
    }
}

/** Kernel "planes": adds all views of a batch to slices of a slab. */
template <class T, enum fbp_interpolation HOW, int FRAMES, class Shape>
static __global__ void __launch_bounds__(Shape::THREADS, Shape::BLOCKS)
    planes_backproject(const __grid_constant__ planes_in<T> in, const __grid_constant__ gpu_grid g)
{
    PLANES_SHARED_WINDOWS(ring);
    T sum[Shape::SLICES][FRAMES] = {};

    if (g.wanted && !planes_is_needed<Shape>(g, planes_corner_of<Shape>(g, in.groups)))
        return;
    planes_each_voxel<T, Shape>(in, g, sum, [](const T &voxel, T &s) { s = voxel; });
    planes_add_all<T, planes_taps<T, HOW>, FRAMES, Shape>(in, g, ring, sum);
    planes_each_voxel<T, Shape>(in, g, sum, [](T &voxel, const T &s) { voxel = s; });
}

#endif /* FBP_SRC_CUDA_PLANES_KERNEL_H */
