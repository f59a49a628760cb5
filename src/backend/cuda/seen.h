/** @file seen.h  Which views of a pass see a block's box of voxels, and where it falls in each
 * (internal; CUDA C++).
 *
 * The projection of a box is the hull of those of its corners, as long as all of it lies before the
 * source.  A view that sees none of it would add zeros and is left out.
 */
#ifndef FBP_SRC_CUDA_SEEN_H
#define FBP_SRC_CUDA_SEEN_H

#include "backend/cuda/frame.h"
#include "backend/cuda/plain.h"

/** How samples of a view are reached. */
enum cuda_reach {
    CUDA_CLAMPED, /**< from the view; the box reaches beyond the detector */
    CUDA_INSIDE,  /**< from the view; all taps lie on the detector */
    CUDA_WINDOW   /**< from a window of it in shared memory */
};

/** The part of a view that is copied: WIDTH x HEIGHT samples, WIDTH of whole pieces of 16 bytes. */
template <int WIDTH_, int HEIGHT_, int STAGES_> struct cuda_window {
    enum {
        WIDTH = WIDTH_,
        HEIGHT = HEIGHT_,
        STAGES = STAGES_,
        PIECES = WIDTH_ / 4,
        BYTES = WIDTH_ * HEIGHT_ * 4 /**< of a stage */
    };
};

/** A view that sees the box.  Shared by all threads of a block. */
struct __align__(16) cuda_seen
{
    float u[4], v[4], w[4];
    unsigned origin; /**< with the bits of floor(u) and floor(v): a tap's place, modulo 2^32 */
    int column, row; /**< principal */
    int reach;
    int first_column, first_row; /**< of the window, counted in the view with its borders */
    int rows;                    /**< of the window */
    int view;                    /**< of the pass */
};

struct cuda_shadow {
    float u0, u1, v0, v1; /**< relative to the principal pixel */
    bool before;          /**< the source */
};

/* Of the corner that the thread's number names; then of all corners of its eight threads. */
static __device__ inline cuda_shadow cuda_shadow_of(const gpu_view &view, float tx, float ty,
                                                    float tz)
{
    const float w = fmaf(tx, view.w[0], fmaf(ty, view.w[1], fmaf(tz, view.w[2], view.w[3])));
    const float u = fmaf(tx, view.u[0], fmaf(ty, view.u[1], fmaf(tz, view.u[2], view.u[3]))) / w;
    const float v = fmaf(tx, view.v[0], fmaf(ty, view.v[1], fmaf(tz, view.v[2], view.v[3]))) / w;
    /* Threads round otherwise than corners, the more the nearer they are to the source. */
    const float terms = fabsf(tx * view.w[0]) + fabsf(ty * view.w[1]) + fabsf(tz * view.w[2]);
    const float least = 1.0f / 64, part = (terms + fabsf(view.w[3])) / w / (1 << 20);
    const float du = fmaf(part, fabsf(u), least), dv = fmaf(part, fabsf(v), least);
    cuda_shadow s = {u - du, u + du, v - dv, v + dv, w > 0};

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

static __device__ inline bool cuda_is_seen(const cuda_shadow &s, const gpu_view &view,
                                           const gpu_plain &in)
{
    return !s.before ||
           (s.u1 > (float)(-1 - view.column) && s.u0 < (float)(in.columns - view.column) &&
            s.v1 > (float)(-1 - view.row) && s.v0 < (float)(in.rows - view.row));
}

static __device__ inline bool cuda_is_inside(const cuda_shadow &s, const gpu_view &view,
                                             const gpu_plain &in)
{
    return s.before && s.u0 >= (float)-view.column &&
           s.u1 < (float)(in.columns - 1 - view.column) && s.v0 >= (float)-view.row &&
           s.v1 < (float)(in.rows - 1 - view.row);
}

/* The window begins at a multiple of 16 bytes, which the views' rows do as well. */
template <class Window>
static __device__ inline void cuda_find_window(const cuda_shadow &s, const gpu_view &view,
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

/**
 * The views of `pass` that see the block's box, in their order, into list[0 … n): n is returned.
 * list holds 2 GPU_PASS; all threads of the block call it, and have it when it returns.
 */
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
        const cuda_shadow s = cuda_shadow_of(view, (float)cx - g.x_ref, (float)cy - g.y_ref,
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

#endif /* FBP_SRC_CUDA_SEEN_H */
