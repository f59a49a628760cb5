/* Backprojection with interpolation in fp32: kernels `matrix`, for any 3x4 projection matrix, and
 * `column`, for views whose u (detector column) and w (depth) do not depend on z, as in untilted
 * circular scans: a thread then computes u and 1/w once per view.  cuda/volume.c launches them
 * through struct cuda_kernel (kernel.h).
 *
 * The window of a view, the part onto which a block's box of voxels projects, is copied to shared
 * memory while the previous view is added.  A sample then takes four loads at constant
 * distances from one address, without clamps, because the copy has zeros around the view.  If a
 * window is too large (a steep perspective, a coarse grid), or on devices before sm_80, which lack
 * such copies, the taps are loaded from the view; then the floors of coordinates are clamped, not
 * the coordinates.  Both methods have the same arithmetic, so all shapes give the same bits.
 * Used by: entry.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

/** Template parameters of a kernel: voxels per thread block, size of the window of a view in shared
 * memory, and blocks per multiprocessor, which limit the registers per thread. */
template <class Tile_, class Window_, int BLOCKS_> struct shape {
    typedef Tile_ Tile;
    typedef Window_ Window;
    enum { BLOCKS = BLOCKS_ };
};

/* Copy this thread's part of the window of view s, if it has one, to shared memory. */
template <class Tile, class Window>
static __device__ inline void copy_window(const cuda_seen &s, const gpu_plain &in,
                                          const float *views, unsigned to)
{
    enum { ALL = Window::PIECES * Window::HEIGHT };
    const float *const view = views + s.view * in.group;
    const int rows = in.rows + 2 * GPU_BORDER, n = s.rows * Window::PIECES;

    if (s.reach != CUDA_WINDOW)
        return;
#pragma unroll
    for (int j = 0; j < ALL; j += Tile::THREADS) {
        const int piece = j + (int)threadIdx.x, line = piece / Window::PIECES;
        const int row = s.first_row + line;
        const int column = s.first_column + (piece - line * Window::PIECES) * 4;
        const bool there = (unsigned)row < (unsigned)rows && (unsigned)column < in.stride;
        if (piece < n)
            cuda_copy_16_bytes(to + piece * 16,
                               view + (there ? (unsigned)row * in.stride + column : 0), there);
    }
}

/* Four samples (taps) of a bilinear interpolation, from the shared window or the view. */
struct taps {
    float q00, q01, q10, q11; /* row, column */
};

template <class Window> static __device__ inline taps taps_in_window(unsigned at)
{
    enum { ROW = Window::WIDTH * sizeof(float) };
    return {cuda_load_shared<0>(at), cuda_load_shared<4>(at), cuda_load_shared<ROW>(at),
            cuda_load_shared<ROW + 4>(at)};
}

static __device__ inline taps taps_in_view(const float *__restrict__ at, unsigned stride)
{
    return {__ldg(at), __ldg(at + 1), __ldg(at + stride), __ldg(at + stride + 1)};
}

/* Interpolate between two rows, in the left and in the right column of a sample's four taps. */
static __device__ inline float2 between_rows(const taps &q, float b)
{
    return make_float2(fmaf(b, q.q10 - q.q00, q.q00), fmaf(b, q.q11 - q.q01, q.q01));
}

/* Projection of the voxels of a thread, which lie on a line along z, onto a view. */
struct line {
    float u0, v0, w0, u1, v1, w1; /* u w = u0 + u1 tz, … */
};

/* Range of CUDA_FLOOR + floor(u) and of CUDA_FLOOR + floor(v); values beyond are clamped to the
 * limits, at which all four taps are zeros of the view's border. */
struct limits {
    float u0, u1, v0, v1;
};

static __device__ inline float clamp(float x, float low, float high)
{
    return fminf(fmaxf(x, low), high);
}

/* Add one view to the thread's voxels.  fetch() returns the taps at CUDA_FLOOR + floor(u) and
 * CUDA_FLOOR + floor(v).  COLUMN: all voxels of the thread have equal u and w (gpu_view). */
template <bool COLUMN, class Tile, int REACH, class Fetch>
static __device__ inline void add_line(const line &l, const limits &most, float tz, Fetch fetch,
                                       float sum[Tile::SLICES][1])
{
    if constexpr (COLUMN) {
        const float r = cuda_reciprocal(l.w0), u = l.u0 * r, v0 = l.v0 * r, dv = l.v1 * r;
        float iu = __fadd_rd(u, CUDA_FLOOR);
        if (REACH == CUDA_CLAMPED)
            iu = clamp(iu, most.u0, most.u1);
        const float a = u + (CUDA_FLOOR - iu), rr = r * r, right = a * rr, left = rr - right;
#pragma unroll
        for (int k = 0; k < Tile::SLICES; k++) {
            const float v = fmaf(tz + (float)k, dv, v0);
            float iv = __fadd_rd(v, CUDA_FLOOR);
            if (REACH == CUDA_CLAMPED)
                iv = clamp(iv, most.v0, most.v1);
            const float2 q = between_rows(fetch(iu, iv), v + (CUDA_FLOOR - iv));
            sum[k][0] = fmaf(right, q.y, fmaf(left, q.x, sum[k][0]));
        }
    } else {
#pragma unroll
        for (int k = 0; k < Tile::SLICES; k++) {
            const float t = tz + (float)k, r = cuda_reciprocal(fmaf(t, l.w1, l.w0));
            const float u = fmaf(t, l.u1, l.u0), v = fmaf(t, l.v1, l.v0);
            float iu = __fmaf_rd(u, r, CUDA_FLOOR), iv = __fmaf_rd(v, r, CUDA_FLOOR);
            if (REACH == CUDA_CLAMPED) {
                iu = clamp(iu, most.u0, most.u1);
                iv = clamp(iv, most.v0, most.v1);
            }
            const float a = fmaf(u, r, CUDA_FLOOR - iu), b = fmaf(v, r, CUDA_FLOOR - iv);
            const float2 q = between_rows(fetch(iu, iv), b);
            sum[k][0] = fmaf(r * r, fmaf(a, q.y - q.x, q.x), sum[k][0]);
        }
    }
}

/* A ring of STAGES windows: while view i is added, that of view i + STAGES - 1 is copied. */
template <bool COLUMN, class Shape, bool REGION>
static __global__ void __launch_bounds__(Shape::Tile::THREADS, Shape::BLOCKS)
    backproject(const __grid_constant__ gpu_pass pass, const gpu_grid g,
                const __grid_constant__ gpu_plain in, const float *__restrict__ views,
                float *__restrict__ volume)
{
    typedef typename Shape::Tile Tile;
    typedef typename Shape::Window Window;
    enum { COPIES = CUDA_CAN_COPY && Window::WIDTH > 0, STAGES = Window::STAGES };
    extern __shared__ __align__(128) char windows[];
    __shared__ cuda_seen list[2 * GPU_PASS];
    if (REGION && !cuda_is_needed<Tile>(g, g.nx, g.ny))
        return;
    const unsigned ring = (unsigned)__cvta_generic_to_shared(windows);
    const cuda_place_in_volume p = cuda_place_of_thread<Tile>(g.nx, g.ny);
    const float tx = (float)min(p.x, g.nx - 1) - g.x_ref;
    const float ty = (float)min(p.y, g.ny - 1) - g.y_ref, tz = (float)(g.z0 + p.z) - g.z_ref;
    const int n =
        cuda_find_seen<Tile, cuda_window<COPIES ? Window::WIDTH : 0, Window::HEIGHT, STAGES>>(
            pass, g, in, list);
    float sum[Tile::SLICES][1];
    int at = 0;

    if constexpr (COPIES)
#pragma unroll
        for (int i = 0; i < STAGES - 1; i++) {
            if (i < n)
                copy_window<Tile, Window>(list[i], in, views, ring + i * Window::BYTES);
            cuda_end_of_copy();
        }
    cuda_load_sums(volume, p, g.nx, g.ny, g.nz, sum);
    for (int i = 0; i < n; i++) {
        if constexpr (COPIES) {
            cuda_wait_for_copies<STAGES - 2>();
            __syncthreads();
            if (i + STAGES - 1 < n)
                copy_window<Tile, Window>(list[i + STAGES - 1], in, views,
                                          ring + (at == 0 ? STAGES - 1 : at - 1) * Window::BYTES);
            cuda_end_of_copy();
        }
        const cuda_seen &s = list[i];
        const float4 u = *(const float4 *)s.u, v = *(const float4 *)s.v, w = *(const float4 *)s.w;
        const line l = {fmaf(tx, u.x, fmaf(ty, u.y, u.w)),
                        fmaf(tx, v.x, fmaf(ty, v.y, v.w)),
                        fmaf(tx, w.x, fmaf(ty, w.y, w.w)),
                        u.z,
                        v.z,
                        w.z};
        if (COPIES && s.reach == CUDA_WINDOW) {
            const unsigned origin = ring + at * Window::BYTES + s.origin * (unsigned)sizeof(float);
            const auto fetch = [=](float iu, float iv) {
                return taps_in_window<Window>(
                    (__float_as_uint(iv) * Window::WIDTH + __float_as_uint(iu)) * sizeof(float) +
                    origin);
            };
            add_line<COLUMN, Tile, CUDA_WINDOW>(l, limits(), tz, fetch, sum);
        } else {
            const float *const view = views + s.view * in.group;
            const unsigned origin = s.origin, stride = in.stride;
            const auto fetch = [=](float iu, float iv) {
                return taps_in_view(
                    view + (__float_as_uint(iv) * stride + __float_as_uint(iu) + origin), stride);
            };
            if (s.reach == CUDA_INSIDE)
                add_line<COLUMN, Tile, CUDA_INSIDE>(l, limits(), tz, fetch, sum);
            else
                add_line<COLUMN, Tile, CUDA_CLAMPED>(
                    l,
                    limits{CUDA_FLOOR + (float)(-GPU_BORDER - s.column),
                           CUDA_FLOOR + (float)(in.columns - s.column),
                           CUDA_FLOOR + (float)(-GPU_BORDER - s.row),
                           CUDA_FLOOR + (float)(in.rows - s.row)},
                    tz, fetch, sum);
        }
        at = at + 1 < STAGES ? at + 1 : 0;
    }
    cuda_store_sums(volume, p, g.nx, g.ny, g.nz, sum);
}

template <bool COLUMN, class Shape> static cudaError_t launch_shape(const struct cuda_bp *bp)
{
    typedef typename Shape::Tile Tile;
    typedef typename Shape::Window Window;
    const struct gpu_grid *g = &bp->grid;
    const gpu_plain in = gpu_plain_of(bp->job, bp->batch->n_rows);
    const float *views = (const float *)bp->views->memory + bp->first * in.group;
    const size_t bytes = (size_t)Window::STAGES * Window::BYTES;
    const auto kernel =
        g->wanted ? backproject<COLUMN, Shape, true> : backproject<COLUMN, Shape, false>;

    if (bytes > 0) {
        cudaError_t error = cudaFuncSetAttribute(
            (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
        if (error == cudaSuccess)
            error = cudaFuncSetAttribute((const void *)kernel,
                                         cudaFuncAttributePreferredSharedMemoryCarveout,
                                         cudaSharedmemCarveoutMaxShared);
        if (error != cudaSuccess)
            return error;
    }
    kernel<<<Tile::blocks(g->nx, g->ny, g->nz), Tile::THREADS, bytes, bp->stream>>>(
        bp->pass, *g, in, views, bp->volume);
    return cudaGetLastError();
}

/* Shapes with small windows in shared memory, for less than 1.3 pixels per voxel at the iso-centre,
 * and with large windows, for less than 2.8. A window must be wider than the diagonal of its tile
 * of voxels, because voxels near the source cover more pixels. */
typedef cuda_window<40, 40, 2> small_window;
typedef cuda_window<84, 64, 2> large_window;
typedef shape<cuda_tile<16, 16, 16, 8>, small_window, 3> small_16x3;
typedef shape<cuda_tile<16, 16, 16, 8>, small_window, 4> small_16x4;
typedef shape<cuda_tile<16, 16, 8, 8>, cuda_window<40, 24, 2>, 4> small_8;
typedef shape<cuda_tile<16, 16, 16, 8>, large_window, 3> large_16;
typedef shape<cuda_tile<16, 16, 8, 8>, cuda_window<84, 40, 2>, 4> large_8;
typedef shape<cuda_tile<32, 16, 4, 8>, cuda_window<0, 0, 2>, 2> without_window;

enum { SMALL_16X3, SMALL_16X4, SMALL_8, LARGE_16, LARGE_8, WITHOUT_WINDOW, SHAPES };

template <bool COLUMN> static cudaError_t launch(const struct cuda_bp *bp)
{
    static cudaError_t (*const launches[SHAPES])(const struct cuda_bp *) = {
        launch_shape<COLUMN, small_16x3>, launch_shape<COLUMN, small_16x4>,
        launch_shape<COLUMN, small_8>,    launch_shape<COLUMN, large_16>,
        launch_shape<COLUMN, large_8>,    launch_shape<COLUMN, without_window>};

    return launches[bp->shape](bp);
}

template <bool COLUMN>
static int candidates(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    const double pixels = gpu_pixels_per_voxel(job);
    const int small_16[2] = {COLUMN ? SMALL_16X4 : SMALL_16X3, COLUMN ? SMALL_16X3 : SMALL_16X4};
    int n = 0;

    if (n_slices > 8) {
        for (int i = 0; i < 2 && pixels < 1.3; i++)
            out[n++] = small_16[i];
        if (pixels >= 1.3 && pixels < 2.8)
            out[n++] = LARGE_16;
    }
    if (n_slices > 4 && pixels < 2.8)
        out[n++] = pixels < 1.3 ? SMALL_8 : LARGE_8;
    out[n++] = WITHOUT_WINDOW;
    return n;
}

extern "C" const struct cuda_kernel cuda_kernel_MATRIX_EXACT =
    cuda_kernel_from(gpu_known[GPU_MATRIX_EXACT], launch<false>, SHAPES, candidates<false>);
extern "C" const struct cuda_kernel cuda_kernel_COLUMN_EXACT =
    cuda_kernel_from(gpu_known[GPU_COLUMN_EXACT], launch<true>, SHAPES, candidates<true>);
