/*
 * The kernels of Table 4 of Okitsu, Ino and Hagihara (2008), which `fbp bench okitsu2008 --case
 * ladder` runs by name: one thread computes a line of voxels along z, for which u, the weight W2
 * and the step of v are computed once per view (Eqs. 2 to 6).  Each step is a template parameter:
 *
 *   COALESCED  1: neighbouring threads take neighbouring x, in blocks of two dimensions; without
 *              it, neighbouring y, so that a warp's voxels lie a row apart
 *   I          2: views a walk: the volume is read and written once for all of them
 *   PACKED     3: the I views of a voxel are added up in one assignment; without it the thread
 *              walks the line once a view and adds to what the walk before left
 *   DIRECT     4: sums go to the volume; without it, through an array of the thread's own, which
 *              lies in the device's memory, and is added to the volume at the end
 *   J          5: J times I views a launch; J sums side by side, so that there are more fetches to
 *              wait for at a time, each added to the volume by an access of its own
 *   MERGED     not in the paper: the J sums are added up and the volume is accessed once
 *
 * What is in the array is read from the times of the paper: 27.0, 15.6, 5.7 s of #1, #2, #4 are L +
 * G, L + G/3 and G/3, with L the traffic of arrays, which does not depend on I = 3.
 *
 * Interpolation is the texture units', to 1/256 of a pixel; u and v are not rounded beforehand.
 * Used by: entry.c.
 */
#include "backend/cuda/frame.h"
#include "bench/cuda/s0.h"

enum { TILE_X = 32, TILE_Y = 8, THREADS = TILE_X * TILE_Y, LINE = 512 };

/* A view of a launch: u and w of (x, y, 1), v of (x, y, z, 1). */
struct s0_view {
    float u[3], v[4], w[3];
    float column, row; /* principal point in texels */
    float weight;      /* 1, or 0 where a launch has fewer views than it could */
    int layer;
};

template <int N> struct s0_views {
    s0_view of[N];
};

/* A line of voxels as a view sees it: u, W2, and v = v0 + t dv. */
struct s0_line {
    float u, v0, dv, weight;
    int layer;
};

static __device__ inline s0_line line_of(const s0_view &view, float tx, float ty)
{
    const float r = cuda_reciprocal(fmaf(tx, view.w[0], fmaf(ty, view.w[1], view.w[2])));
    const float u = fmaf(tx, view.u[0], fmaf(ty, view.u[1], view.u[2]));
    const float v = fmaf(tx, view.v[0], fmaf(ty, view.v[1], view.v[3]));

    return {fmaf(u, r, view.column), fmaf(v, r, view.row), view.v[2] * r, r * r * view.weight,
            view.layer};
}

static __device__ inline float sample(cudaTextureObject_t views, const s0_line &line, float t)
{
    return line.weight * tex2DLayered<float>(views, line.u, fmaf(t, line.dv, line.v0), line.layer);
}

/* First voxel of the line of a thread, and the number n of voxels. */
struct s0_voxels {
    float *first;
    size_t stride;
    float t0;
    int n;
};

/* Add J sums one by one to voxel k: in the volume, by relaxed accesses, which the compiler does not
 * merge, or in `line`, which is indexed by a variable and so not in registers, but is merged. */
template <bool DIRECT, int J>
static __device__ inline void add(const s0_voxels &voxels, float *line, int k, const float *sums,
                                  bool is_first)
{
    float *voxel = DIRECT ? voxels.first + k * voxels.stride : line + k, old;

#pragma unroll
    for (int j = 0; j < J; j++)
        if constexpr (DIRECT && J > 1) {
            asm volatile("ld.relaxed.cta.global.f32 %0, [%1];" : "=f"(old) : "l"(voxel) : "memory");
            old += sums[j];
            asm volatile("st.relaxed.cta.global.f32 [%0], %1;" ::"l"(voxel), "f"(old) : "memory");
        } else {
            *voxel = !DIRECT && is_first && j == 0 ? sums[j] : *voxel + sums[j];
        }
}

template <bool DIRECT>
static __device__ inline void finish(const s0_voxels &voxels, const float *line)
{
    if constexpr (!DIRECT)
#pragma unroll 1
        for (int k = 0; k < voxels.n; k++)
            voxels.first[k * voxels.stride] += line[k];
}

/* Add J sums of I views each to a line of voxels; a sum is one assignment. */
template <bool DIRECT, int I, int J, bool MERGED>
static __device__ void walk_packed(const s0_views<I * J> &views, cudaTextureObject_t texture,
                                   float tx, float ty, const s0_voxels &voxels)
{
    float line[DIRECT ? 1 : LINE];
    s0_line lines[I * J];

#pragma unroll
    for (int i = 0; i < I * J; i++)
        lines[i] = line_of(views.of[i], tx, ty);
#pragma unroll 1
    for (int k = 0; k < voxels.n; k++) {
        const float t = voxels.t0 + (float)k;
        float sums[J];
#pragma unroll
        for (int j = 0; j < J; j++) {
            sums[j] = sample(texture, lines[j * I], t);
#pragma unroll
            for (int i = 1; i < I; i++)
                sums[j] += sample(texture, lines[j * I + i], t);
            if (MERGED && j > 0)
                sums[0] += sums[j];
        }
        add<DIRECT, MERGED ? 1 : J>(voxels, line, k, sums, true);
    }
    finish<DIRECT>(voxels, line);
}

/* A walk for every view, or for J of them. */
template <bool DIRECT, int I, int J>
static __device__ void walk_apart(const s0_views<I * J> &views, cudaTextureObject_t texture,
                                  float tx, float ty, const s0_voxels &voxels)
{
    float line[DIRECT ? 1 : LINE];

#pragma unroll 1
    for (int i = 0; i < I; i++) {
        s0_line lines[J];
#pragma unroll
        for (int j = 0; j < J; j++)
            lines[j] = line_of(views.of[j * I + i], tx, ty);
#pragma unroll 1
        for (int k = 0; k < voxels.n; k++) {
            float sums[J];
#pragma unroll
            for (int j = 0; j < J; j++)
                sums[j] = sample(texture, lines[j], voxels.t0 + (float)k);
            add<DIRECT, J>(voxels, line, k, sums, i == 0);
        }
    }
    finish<DIRECT>(voxels, line);
}

template <bool COALESCED, int I, bool PACKED, bool DIRECT, int J, bool MERGED>
static __global__ void __launch_bounds__(THREADS)
    backproject(const __grid_constant__ s0_views<I * J> views, const gpu_grid g,
                cudaTextureObject_t texture, int length, float *volume)
{
    const int x = COALESCED ? blockIdx.x * TILE_X + threadIdx.x : blockIdx.x;
    const int y =
        COALESCED ? blockIdx.y * TILE_Y + threadIdx.y : blockIdx.y * THREADS + threadIdx.x;
    const int z = blockIdx.z * length;
    const float tx = (float)x - g.x_ref, ty = (float)y - g.y_ref;
    const size_t slice = (size_t)g.nx * g.ny;

    if (x >= g.nx || y >= g.ny)
        return;
    const s0_voxels voxels = {volume + z * slice + (size_t)y * g.nx + x, slice,
                              (float)(g.z0 + z) - g.z_ref, min(length, g.nz - z)};
    if constexpr (PACKED)
        walk_packed<DIRECT, I, J, MERGED>(views, texture, tx, ty, voxels);
    else
        walk_apart<DIRECT, I, J>(views, texture, tx, ty, voxels);
}

/* Views [first, first + N) of a pass; beyond its end, the last one without a weight. */
template <int N> static s0_views<N> views_of(const struct cuda_bp *bp, int first)
{
    s0_views<N> out;

    for (int i = 0; i < N; i++) {
        const int at = first + i < bp->pass.n ? first + i : bp->pass.n - 1;
        const struct gpu_view *v = &bp->pass.view[at];
        out.of[i] = {{v->u[0], v->u[1], v->u[3]}, {v->v[0], v->v[1], v->v[2], v->v[3]},
                     {v->w[0], v->w[1], v->w[3]}, (float)v->column + 0.5f,
                     (float)v->row + 0.5f,        first + i < bp->pass.n ? 1.0f : 0.0f,
                     (int)bp->first + at};
    }
    return out;
}

template <bool COALESCED, int I, bool PACKED, bool DIRECT, int J, bool MERGED>
static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct gpu_grid *g = &bp->grid;
    const int length = DIRECT || g->nz < LINE ? g->nz : LINE;
    const unsigned along_z = (g->nz + length - 1) / length;
    const dim3 block(COALESCED ? TILE_X : THREADS, COALESCED ? TILE_Y : 1);
    const dim3 tiles((g->nx + TILE_X - 1) / TILE_X, (g->ny + TILE_Y - 1) / TILE_Y, along_z);
    const dim3 rows(g->nx, (g->ny + THREADS - 1) / THREADS, along_z);

    for (int at = 0; at < bp->pass.n; at += I * J)
        backproject<COALESCED, I, PACKED, DIRECT, J, MERGED>
            <<<COALESCED ? tiles : rows, block, 0, bp->stream>>>(
                views_of<I * J>(bp, at), *g, bp->views->texture, length, bp->volume);
    return cudaGetLastError();
}

template <bool COALESCED, int I, bool PACKED, bool DIRECT, int J, bool MERGED = false>
static constexpr struct cuda_kernel kernel(const char *name)
{
    return {
        .gpu = {.name = name,
                .precision = FBP_PRECISION_FAST,
                .symmetric_views = 1,
                .by_name = true,
                .pass = GPU_PASS / (I * J) * (I * J),
                .symmetry = FBP_SYM_COLUMN,
                .channels = 1,
                .bits = 32},
        .convolve = cuda_s0_convolve,
        .backproject = launch<COALESCED, I, PACKED, DIRECT, J, MERGED>,
    };
}

#define S0_J(i)                                          \
    kernel<true, i, true, true, 1>("s0-i" #i "-j1"),     \
        kernel<true, i, true, true, 2>("s0-i" #i "-j2"), \
        kernel<true, i, true, true, 4>("s0-i" #i "-j4")

extern "C" const struct cuda_kernel cuda_s0_kernels[] = {
    /* Table 4 */
    kernel<false, 1, false, false, 1>("s0-naive"),
    kernel<true, 1, false, false, 1>("s0-1"),
    kernel<true, 3, false, false, 1>("s0-2"),
    kernel<true, 3, true, false, 1>("s0-3"),
    kernel<true, 3, true, true, 1>("s0-4"),
    kernel<true, 3, true, true, 2>("s0"),
    kernel<true, 3, true, true, 2, true>("s0-merged"),
    /* the last one without one of the steps; without 2 and 5 they are s0-i1-j2 and s0-4 */
    kernel<false, 3, true, true, 2>("s0-without-1"),
    kernel<true, 3, false, true, 2>("s0-without-3"),
    kernel<true, 3, true, false, 2>("s0-without-4"),
    S0_J(1),
    S0_J(2),
    S0_J(3),
    S0_J(4),
    S0_J(5),
    S0_J(6),
    /* kernel of Ino et al. (2010): launches of five views */
    kernel<true, 5, true, true, 1>("s2"),
    {},
};
