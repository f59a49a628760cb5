/** @file frame.h  Device functions that backprojection kernels share: voxels of a thread, sums,
 * visibility of a block in a view, symmetric voxels (internal; CUDA C++).
 *
 * A block of X x Y x LAYERS threads computes X x Y columns of SLICES * LAYERS voxels; each thread
 * computes SLICES voxels, LAYERS slices apart.  A warp covers WARP adjacent columns in each of
 * 32 / WARP / LAYERS lines, because samples of nearby voxels lie near each other.  Four adjacent
 * lanes, which a texture unit serves at once, are 2 x 2 voxels of two lines, or of two layers if
 * LAYERS is 2.  Sums start from the volume's values, so the division into passes does not change
 * the result.
 * Used by: bench/cuda/, backend/cuda/.
 */
#ifndef FBP_SRC_BACKEND_CUDA_FRAME_H
#define FBP_SRC_BACKEND_CUDA_FRAME_H

#include "backend/cuda/runtime.h"
#include "backend/gpu/gpu_kernel.h"

#include <type_traits>

/* If this is added to x, |x| < 2^22, rounding down, the bits are CUDA_FLOOR_BITS + floor(x). */
static const float CUDA_FLOOR = 12582912.0f;
static const unsigned CUDA_FLOOR_BITS = 0x4b400000u;

/* This is added to x, |x| <= 2^14, and subtracted again, to round x to a multiple of 1/256. */
static const float CUDA_ROUND = 3 * 16384.0f;

/** Texture coordinate of a column with `texels` texels; texel i has its centre at i + 1/2. */
static __device__ inline float cuda_texel_of(float texels, int column)
{
    return fmaf(texels, (float)column, texels - 0.5f);
}

/** The tile of voxels of a thread block: X x Y voxel columns of DEPTH slices. */
template <int X_, int Y_, int SLICES_, int WARP_, int LAYERS_ = 1> struct cuda_tile {
    enum {
        X = X_,
        Y = Y_,
        SLICES = SLICES_, /**< voxels per thread, along z */
        WARP = WARP_,
        LAYERS = LAYERS_,
        DEPTH = SLICES_ * LAYERS_, /**< slices per block */
        THREADS = X_ * Y_ * LAYERS_
    };
    static_assert(LAYERS == 1 || LAYERS == 2, "layers are the second bit of a lane");

    static dim3 blocks(int nx, int ny, int nz)
    {
        return dim3((nx + X - 1) / X, (ny + Y - 1) / Y, (nz + DEPTH - 1) / DEPTH);
    }
};

/** A thread's first voxel, relative to the slab's; inside: the slab has its voxel column. */
struct cuda_place_in_volume {
    int x, y, z;
    bool inside;
};

/** The block begins at voxel (x0, y0, z0). */
template <class Tile>
static __device__ inline cuda_place_in_volume cuda_place_at(int x0, int y0, int z0, int nx, int ny)
{
    enum { LINES = 32 / Tile::WARP / Tile::LAYERS, PAIRS = Tile::WARP / 2 };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane / 4;
    const int across = Tile::X / Tile::WARP, second = lane / 2 % 2;
    const bool rows = Tile::LAYERS == 1 && LINES > 1; /* the second bit is a line */
    const bool flat = Tile::LAYERS == 1 && LINES == 1;
    const int in_x = flat ? lane : lane % 2 + 2 * (quad % PAIRS);
    const int in_y = flat ? 0 : rows ? second + 2 * (quad / PAIRS) : quad / PAIRS;
    const int x = x0 + warp % across * Tile::WARP + in_x;
    const int y = y0 + warp / across * LINES + in_y;
    const int z = z0 + (Tile::LAYERS == 2 ? second : 0);

    return {x, y, z, x < nx && y < ny};
}

template <class Tile>
static __device__ inline cuda_place_in_volume cuda_place_of_thread(int nx, int ny)
{
    return cuda_place_at<Tile>(blockIdx.x * Tile::X, blockIdx.y * Tile::Y, blockIdx.z * Tile::DEPTH,
                               nx, ny);
}

/** Returns whether the requested region contains a voxel of a tile of the volume, from (x0, y0, z0)
 * to (x1, y1), inclusive, and `depth` slices. */
static __device__ inline bool cuda_in_region(const gpu_grid &g, int x0, int x1, int y0, int y1,
                                             int z0, int depth)
{
    for (int cy = y0 / GPU_CELL; cy <= y1 / GPU_CELL; cy++)
        for (int cx = x0 / GPU_CELL; cx <= x1 / GPU_CELL; cx++) {
            const gpu_wanted cell = g.wanted[cy * g.cells + cx];
            if (cell.first < z0 + depth && cell.end > z0)
                return true;
        }
    return false;
}

/** Returns, equally in all threads, whether the requested region contains a voxel of the block's
 * tile. Jobs without a region have other kernels: the test takes registers. A launch covers nx x ny
 * voxel columns, from column (x, y) of the slab on. */
template <class Tile>
static __device__ inline bool cuda_is_needed(const gpu_grid &g, int nx, int ny, int x = 0,
                                             int y = 0)
{
    const int x0 = blockIdx.x * Tile::X, y0 = blockIdx.y * Tile::Y;

    return cuda_in_region(g, x0 + x + g.x0, min(x0 + Tile::X, nx) - 1 + x + g.x0, y0 + y + g.y0,
                          min(y0 + Tile::Y, ny) - 1 + y + g.y0, g.z0 + blockIdx.z * Tile::DEPTH,
                          Tile::DEPTH);
}

/** A sample (or voxel) of each lane, as stored; lane i: i-th symmetric view (voxel). */
template <int LANES>
using cuda_packed =
    std::conditional_t<LANES == 1, float, std::conditional_t<LANES == 2, float2, float4>>;

template <int LANES>
static __device__ inline void cuda_unpack(cuda_packed<LANES> q, float (&out)[LANES])
{
#pragma unroll
    for (int j = 0; j < LANES; j++)
        out[j] = ((const float *)&q)[j];
}

template <int LANES> static __device__ inline cuda_packed<LANES> cuda_pack(const float (&in)[LANES])
{
    cuda_packed<LANES> q;

#pragma unroll
    for (int j = 0; j < LANES; j++)
        ((float *)&q)[j] = in[j];
    return q;
}

/** Load and store a thread's voxels of a volume [nz][ny][nx][LANES], which are LAYERS slices apart.
 * Voxels outside the volume are loaded as zeros, and not stored. */
template <int LAYERS = 1, int SLICES, int LANES>
static __device__ inline void cuda_load_sums(const float *__restrict__ volume,
                                             const cuda_place_in_volume &p, int nx, int ny, int nz,
                                             float (&sum)[SLICES][LANES])
{
    using packed = cuda_packed<LANES>;
    const size_t slice = (size_t)nx * ny;
    const packed *at = (const packed *)volume + p.z * slice + (size_t)p.y * nx + p.x;

#pragma unroll
    for (int k = 0; k < SLICES; k++)
        cuda_unpack(p.inside && p.z + k * LAYERS < nz ? at[k * LAYERS * slice] : packed{}, sum[k]);
}

template <int LAYERS = 1, int SLICES, int LANES>
static __device__ inline void cuda_store_sums(float *__restrict__ volume,
                                              const cuda_place_in_volume &p, int nx, int ny, int nz,
                                              const float (&sum)[SLICES][LANES])
{
    using packed = cuda_packed<LANES>;
    const size_t slice = (size_t)nx * ny;
    packed *at = (packed *)volume + p.z * slice + (size_t)p.y * nx + p.x;

#pragma unroll
    for (int k = 0; k < SLICES; k++)
        if (p.inside && p.z + k * LAYERS < nz)
            at[k * LAYERS * slice] = cuda_pack(sum[k]);
}

/* Search for the views of a launch onto whose detector a block's box of voxels projects; other
 * views would add zeros, and are skipped.  If all corners of a box lie in front of the source, its
 * projection is the convex hull of the projected corners. */

/** Method by which the samples of a view are loaded. */
enum cuda_reach {
    CUDA_CLAMPED, /**< from the view with clamped indices: voxels may project beyond the detector */
    CUDA_INSIDE,  /**< samples are loaded from the view; all taps lie on the detector */
    CUDA_WINDOW   /**< samples are loaded from a window of the view in shared memory */
};

/** Part of a view in shared memory, at most WIDTH x HEIGHT; rows: multiples of 16 bytes. */
template <int WIDTH_, int HEIGHT_, int STAGES_> struct cuda_window {
    enum {
        WIDTH = WIDTH_,
        HEIGHT = HEIGHT_,
        STAGES = STAGES_,            /**< windows in shared memory at once */
        PIECES = WIDTH_ / 4,         /**< copies of 16 bytes per row */
        BYTES = WIDTH_ * HEIGHT_ * 4 /**< bytes per stage */
    };
};

/** A view onto whose detector the block's voxels project; shared by its threads. */
struct __align__(16) cuda_seen
{
    float u[4], v[4], w[4];
    /** index of a tap in memory = origin + bits(u + CUDA_FLOOR) + row length * bits(v +
     * CUDA_FLOOR), modulo 2^32; the sums in parentheses are rounded downwards */
    unsigned origin;
    int column, row; /**< principal pixel */
    int reach;       /**< enum cuda_reach */
    /** first column and row of the window, in the view including the zeros around it */
    int first_column, first_row;
    int rows; /**< rows of the window */
    int view; /**< index in the pass */
};

/** Bounds of the projection of a box [pixels], relative to the principal pixel. */
struct cuda_hull {
    float u0, u1, v0, v1;
    bool before; /**< true: all corners of the box lie in front of the source (w > 0) */
};

/* Returns the bounds of a projected box.  Eight adjacent threads call this function, each with one
 * corner (tx, ty, tz) of the box; all return the same result. */
static __device__ inline cuda_hull cuda_hull_of(const gpu_view &view, float tx, float ty, float tz)
{
    const float w = fmaf(tx, view.w[0], fmaf(ty, view.w[1], fmaf(tz, view.w[2], view.w[3])));
    const float u = fmaf(tx, view.u[0], fmaf(ty, view.u[1], fmaf(tz, view.u[2], view.u[3]))) / w;
    const float v = fmaf(tx, view.v[0], fmaf(ty, view.v[1], fmaf(tz, view.v[2], view.v[3]))) / w;
    /* Margin for rounding errors of u and v, which grow near the source. */
    const float terms = fabsf(tx * view.w[0]) + fabsf(ty * view.w[1]) + fabsf(tz * view.w[2]);
    const float least = 1.0f / 64, part = (terms + fabsf(view.w[3])) / w / (1 << 20);
    const float du = fmaf(part, fabsf(u), least), dv = fmaf(part, fabsf(v), least);
    cuda_hull s = {u - du, u + du, v - dv, v + dv, w > 0};

#pragma unroll
    for (int m = 1; m < 8; m *= 2) {
        s.u0 = fminf(s.u0, __shfl_xor_sync(~0u, s.u0, m));
        s.u1 = fmaxf(s.u1, __shfl_xor_sync(~0u, s.u1, m));
        s.v0 = fminf(s.v0, __shfl_xor_sync(~0u, s.v0, m));
        s.v1 = fmaxf(s.v1, __shfl_xor_sync(~0u, s.v1, m));
        s.before &= (bool)__shfl_xor_sync(~0u, (int)s.before, m);
    }
    return s;
}

static __device__ inline bool cuda_is_seen(const cuda_hull &s, const gpu_view &view,
                                           const gpu_plain &in)
{
    return !s.before ||
           (s.u1 > (float)(-1 - view.column) && s.u0 < (float)(in.columns - view.column) &&
            s.v1 > (float)(-1 - view.row) && s.v0 < (float)(in.rows - view.row));
}

static __device__ inline bool cuda_is_inside(const cuda_hull &s, const gpu_view &view,
                                             const gpu_plain &in)
{
    return s.before && s.u0 >= (float)-view.column &&
           s.u1 < (float)(in.columns - 1 - view.column) && s.v0 >= (float)-view.row &&
           s.v1 < (float)(in.rows - 1 - view.row);
}

/* Choose the window of a view, if all taps of the block fit into a window.  A row of the window
 * begins at a multiple of 16 bytes, like the rows of views. */
template <class Window>
static __device__ inline void cuda_find_window(const cuda_hull &s, const gpu_view &view,
                                               cuda_seen *out)
{
    const float left = floorf(s.u0), bottom = floorf(s.v0);
    const float across = floorf(s.u1) - left + 2, up = floorf(s.v1) - bottom + 2;

    if (!(s.before && across <= (float)(Window::WIDTH - 3) && up <= (float)Window::HEIGHT))
        return;
    out->reach = CUDA_WINDOW;
    out->first_column = ((int)left + view.column + GPU_BORDER) & ~3;
    out->first_row = (int)bottom + view.row + GPU_BORDER;
    out->rows = (int)up;
    out->origin =
        ((unsigned)(view.row + GPU_BORDER - out->first_row) - CUDA_FLOOR_BITS) * Window::WIDTH +
        (unsigned)(view.column + GPU_BORDER - out->first_column) - CUDA_FLOOR_BITS;
}

/** Store in list[0 … n - 1], in their order, the n views of a launch onto whose detector the
 * block's box of voxels projects, or may project because a corner is not in front of the source;
 * returns n. list has 2 GPU_PASS elements; all threads of the block call this function. */
template <class Tile, class Window>
static __device__ inline int cuda_find_seen(const gpu_pass &pass, const gpu_grid &g,
                                            const gpu_plain &in, cuda_seen *list)
{
    static_assert(GPU_PASS == 32, "a warp counts the views of a pass");
    __shared__ bool seen[GPU_PASS];
    __shared__ int n;
    const int x = blockIdx.x * Tile::X, y = blockIdx.y * Tile::Y, z = blockIdx.z * Tile::DEPTH;

    for (int i = threadIdx.x; i < 8 * GPU_PASS; i += Tile::THREADS) {
        const int k = i / 8, corner = i % 8;
        const gpu_view &view = pass.view[min(k, pass.n - 1)];
        const int cx = min(corner & 1 ? x + Tile::X - 1 : x, g.nx - 1);
        const int cy = min(corner & 2 ? y + Tile::Y - 1 : y, g.ny - 1);
        const int cz = corner & 4 ? z + Tile::DEPTH - 1 : z;
        const cuda_hull s = cuda_hull_of(view, (float)cx - g.x_ref, (float)cy - g.y_ref,
                                         (float)(g.z0 + cz) - g.z_ref);
        if (corner > 0)
            continue;
        cuda_seen *const out = &list[GPU_PASS + k];
#pragma unroll
        for (int j = 0; j < 4; j++)
            out->u[j] = view.u[j], out->v[j] = view.v[j], out->w[j] = view.w[j];
        out->column = view.column, out->row = view.row, out->view = k, out->rows = 0;
        out->reach = cuda_is_inside(s, view, in) ? CUDA_INSIDE : CUDA_CLAMPED;
        out->origin = ((unsigned)(view.row + GPU_BORDER) - CUDA_FLOOR_BITS) * in.stride +
                      (unsigned)(view.column + GPU_BORDER) - CUDA_FLOOR_BITS;
        if constexpr (Window::WIDTH > 0)
            cuda_find_window<Window>(s, view, out);
        seen[k] = k < pass.n && cuda_is_seen(s, view, in);
    }
    __syncthreads();
    if (threadIdx.x < GPU_PASS) {
        const unsigned all = __ballot_sync(~0u, seen[threadIdx.x]);
        if (seen[threadIdx.x])
            list[__popc(all & ((1u << threadIdx.x) - 1))] = list[GPU_PASS + threadIdx.x];
        n = __popc(all);
    }
    __syncthreads();
    return n;
}

/* Rotational symmetry: if view k + K/4 is view k of K rotated by 90 degrees about z, a voxel
 * projects in it to the same pixel as the voxel rotated back by 90 degrees does in view k; the same
 * holds for K/2 and 180 degrees.  All voxels of a symmetric group therefore have their samples at
 * one position of the detector, and a texel holds one sample per symmetric view.  Lane j of the
 * texel at position i (the first voxel rotated i times) belongs to voxel i + j.
 * backend/cpu/rot_loops.h has the same definitions. */

/** Projection of a voxel column onto a view. */
struct cuda_projected {
    /** u: detector column, relative to the principal column; r: 1/w (struct gpu_view) */
    float u, r;
    /** v: detector row at the reference slice, relative to the principal row; dv: step per slice */
    float v, dv;
};

static __device__ inline cuda_projected cuda_project(const gpu_view &view, float tx, float ty)
{
    const float r = cuda_reciprocal(fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[3])));
    return {fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[3])) * r, r,
            fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3])) * r, view.v[2] * r};
}

/** Rotate a voxel position (*tx, *ty) to the next of its TURNS symmetric positions. */
template <int TURNS>
static __device__ inline void cuda_turn(const gpu_domain &d, float *tx, float *ty)
{
    static_assert(TURNS == 2 || TURNS == 4);
    const float x = *tx;
    if constexpr (TURNS == 4) {
        *tx = fmaf(d.s, *ty, d.ex);
        *ty = fmaf(-d.s, x, d.ey);
    } else {
        *tx = d.ex - x;
        *ty = d.ey - *ty;
    }
}

#endif /* FBP_SRC_BACKEND_CUDA_FRAME_H */
