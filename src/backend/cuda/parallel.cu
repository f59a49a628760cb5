/* Backprojection kernel "parallel" for parallel beams (cuda_kernel_PARALLEL_HALF,
 * cuda_kernel_PARALLEL_EXACT): cuda/volume.c launches it through struct cuda_kernel, with all views
 * of a batch in one launch.
 *
 * All slices have the same detector columns and the same weights of interpolation. The sum over the
 * views is therefore a product of matrices, which tensor cores compute:
 *
 *     sums [16 voxels][slices] += weights [16 voxels][2 views x 8 columns] * samples [2 x
 * 8][slices]
 *
 * A tile of 4 x 4 voxels projects onto at most 8 columns of a view. The weight of a column is
 * max(0, 1 - |u - column|), zero for all but two. Samples lie in memory as they are multiplied:
 * rows of the detector interpolated at the volume's slices, 8 slices of a column side by side
 * (struct gpu_slices). A block copies the columns that its voxels need, of 8 views at a time, to a
 * ring of windows in shared memory.
 *
 * Precision half: weights and samples are fp16, sums fp32. Precision exact: weights and samples are
 * sums of two fp16, of 22 bits; three products are added (all but low x low), and after 8 views the
 * sums are added to others in fp32, because tensor cores round sums towards zero.
 *
 * Views are added in pairs (2i, 2i + 1). A group of 8 views is skipped if no view projects the
 * block onto the detector: it would add zeros. Batches have a multiple of 8 views (group_views), so
 * the bits of a voxel depend neither on batches nor on slabs.
 *
 * Used by: entry.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

/* Block: WARPS_X x WARPS_Y warps, each of TILES tiles of 4 x 4 voxels, side by side along x, with
 * `SLICES` slices. PARTS: fp16 per sample. STAGES: groups of views in shared memory. */
template <int PARTS_, int TILES_, int WARPS_X_, int WARPS_Y_, int STAGES_, int BLOCKS_>
struct shape {
    enum {
        PARTS = PARTS_,
        TILES = TILES_,
        WARPS_X = WARPS_X_,
        WARPS = WARPS_X_ * WARPS_Y_,
        THREADS = 32 * WARPS_X_ * WARPS_Y_,
        X = 4 * TILES_ * WARPS_X_,
        Y = 4 * WARPS_Y_,
        STAGES = STAGES_,
        BLOCKS = BLOCKS_
    };
};

/* SLICES: slices per block. PIECES: groups of GPU_PIECE slices per block. GROUP: views that are
 * copied at once. COLUMNS: columns of a window; a lane copies one. VIEWS: views whose parameters
 * are in shared memory. ACROSS: blocks along x that run at the same time as their neighbours along
 * y, and share columns of views in the second-level cache. */
enum {
    SLICES = GPU_DEPTH,
    PIECES = SLICES / GPU_PIECE,
    GROUP = 8,
    COLUMNS = 32,
    VIEWS = 512,
    ACROSS = 16
};

/* Bytes in the window of a view: of one piece of a part, and of all pieces of a part. */
enum { PIECE_BYTES = COLUMNS * GPU_PIECE * 2, PART_BYTES = PIECES * PIECE_BYTES };

/* Launch parameters, in addition to the grid. */
struct beams {
    const gpu_parallel_view *views;
    const char *samples;
    float *volume;
    gpu_slices layout;
    int n_views;
    float scale;
};

/* A view, for the voxels of a block. u: detector column of the block's first voxel, relative to the
 * first column of the window; left: least u of a tile minus u of the tile's first voxel. */
struct __align__(16) view_of_block
{
    float along_x, along_y, u, left;
};

/* Columns of a view that a block needs. */
struct columns {
    int first, n;
};

#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800

/* Weights of two neighbouring columns, for a voxel at distance d from the first of them, as fp16;
 * PARTS 2: *low receives what fp16 cannot represent. */
template <int PARTS> static __device__ inline unsigned weights_at(float d, unsigned *low)
{
    if constexpr (PARTS == 1) {
        const __half2 one = __float2half2_rn(1), h = __floats2half2_rn(d, d - 1);
        const __half2 w = __hadd2_sat(one, __hneg2(__habs2(h)));
        return *(const unsigned *)&w;
    } else {
        const float a = __saturatef(1 - fabsf(d)), b = __saturatef(1 - fabsf(d - 1));
        const __half2 w = __floats2half2_rn(a, b);
        const float2 is = __half22float2(w);
        const __half2 rest = __floats2half2_rn(a - is.x, b - is.y);
        *low = *(const unsigned *)&rest;
        return *(const unsigned *)&w;
    }
}

/* Find the windows of VIEWS views from `from` on; returns the groups that the block needs (bits).
 */
template <class Shape>
static __device__ inline unsigned long long find_windows(const beams &in, int from, int x, int y,
                                                         view_of_block *list, columns *windows,
                                                         unsigned char *needed)
{
    static_assert(VIEWS / GROUP == 64, "a bit for each group");
    for (int i = threadIdx.x; i < VIEWS; i += Shape::THREADS) {
        const bool is_view = from + i < in.n_views;
        const gpu_parallel_view v = in.views[is_view ? from + i : 0];
        const float margin = 1.0f / 64, ax = (float)v.along_x, ay = (float)v.along_y;
        const double u = v.u + x * v.along_x + y * v.along_y;
        const float low = fminf(0, (Shape::X - 1) * ax) + fminf(0, (Shape::Y - 1) * ay) - margin;
        const float high = fmaxf(0, (Shape::X - 1) * ax) + fmaxf(0, (Shape::Y - 1) * ay) + margin;
        const double limit = 1 << 30; /* far from every detector */
        const int first = (int)fmax(fmin(floor(u + low), limit), -limit);
        const int end = (int)fmax(fmin(floor(u + high), limit), -limit) + 2;
        const bool seen = is_view && end > 0 && first < (int)in.layout.columns;
        const unsigned votes = __ballot_sync(~0u, seen);

        /* views beyond the last one have windows of zeros */
        list[i] = {ax, ay, (float)(u - first), fminf(0, 3 * ax) + fminf(0, 3 * ay)};
        windows[i] = {is_view ? first : -2 * COLUMNS, is_view ? end - first : COLUMNS};
        if (i % GROUP == 0)
            needed[i / GROUP] = (votes >> i % 32 & ((1u << GROUP) - 1)) != 0;
    }
    __syncthreads();
    unsigned long long groups = 0;
#    pragma unroll
    for (int i = 0; i < 2; i++)
        groups |= (unsigned long long)__ballot_sync(~0u, needed[32 * i + threadIdx.x % 32])
                  << 32 * i;
    return groups;
}

/* Copy the windows of a group of views to shared memory, a view by each warp, a column by each
 * lane; at: first view in `windows`; piece: first piece of the block. */
template <class Shape>
static __device__ inline void copy_group(const beams &in, int from, int at, int piece,
                                         const columns *windows, unsigned to)
{
    static_assert(Shape::WARPS == GROUP, "a warp copies the window of a view");
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const columns window = windows[at + warp];
    const int column = window.first + lane;
    const size_t step = (size_t)in.layout.columns * GPU_PIECE * 2;
    const bool there = (unsigned)column < in.layout.columns;
    const size_t skip = there ? step : 0;

    if (lane >= window.n)
        return;
    to += (unsigned)(warp * Shape::PARTS * PART_BYTES + lane * GPU_PIECE * 2);
#    pragma unroll
    for (int part = 0; part < Shape::PARTS; part++) {
        const size_t line = (size_t)(from + at + warp) * Shape::PARTS + part;
        const char *source = in.samples;
        if (there)
            source += (line * in.layout.n + piece) * step + (size_t)column * GPU_PIECE * 2;
#    pragma unroll
        for (int i = 0; i < PIECES; i++, source += skip)
            cuda_copy_16_bytes(to + part * PART_BYTES + i * PIECE_BYTES, source, there);
    }
}

/* Add a group of views to the sums of a warp's tiles. x, y: first voxel of the warp in the block;
 * list: the views; windows: address of their windows. */
template <class Shape>
static __device__ inline void add_group(const view_of_block *list, unsigned windows, int x, int y,
                                        float (&sum)[Shape::TILES][PIECES][4])
{
    enum { VIEW_BYTES = Shape::PARTS * PART_BYTES };
    const int lane = threadIdx.x % 32;
    /* This lane holds the weights of voxels (px, py) and (px, py + 2) of a tile at columns 2 (lane
     * % 4) and the next of both views, and gives the address of a row of samples: column lane % 8
     * of view lane / 8 % 2, piece lane / 16. */
    const float px = (float)(lane / 4 % 4), py = (float)(lane / 16);
    const unsigned row =
        (unsigned)(lane / 8 % 2 * VIEW_BYTES + lane / 16 * PIECE_BYTES + lane % 8 * GPU_PIECE * 2) -
        CUDA_FLOOR_BITS * (GPU_PIECE * 2);

#    pragma unroll
    for (int pair = 0; pair < GROUP / 2; pair++) {
        const float4 a = *(const float4 *)&list[2 * pair], b = *(const float4 *)&list[2 * pair + 1];
        const float ta = fmaf((float)x, a.x, fmaf((float)y, a.y, a.z));
        const float tb = fmaf((float)x, b.x, fmaf((float)y, b.y, b.z));
        const float la = ta + a.w, lb = tb + b.w, column = (float)(2 * (lane % 4));
        const float ua = fmaf(px, a.x, fmaf(py, a.y, ta - column));
        const float ub = fmaf(px, b.x, fmaf(py, b.y, tb - column));
        const unsigned at = windows + (unsigned)(2 * pair * VIEW_BYTES) + row;
#    pragma unroll
        for (int t = 0; t < Shape::TILES; t++) {
            const float da = 4.0f * (float)t * a.x, db = 4.0f * (float)t * b.x;
            const float fa = __fadd_rd(la + da, CUDA_FLOOR), fb = __fadd_rd(lb + db, CUDA_FLOOR);
            const float ea = ua + da - (fa - CUDA_FLOOR), eb = ub + db - (fb - CUDA_FLOOR);
            const unsigned from =
                at + (lane & 8 ? __float_as_uint(fb) : __float_as_uint(fa)) * (GPU_PIECE * 2);
            unsigned w[4], low[4], q[4];
            w[0] = weights_at<Shape::PARTS>(ea, &low[0]);
            w[1] = weights_at<Shape::PARTS>(fmaf(2.0f, a.y, ea), &low[1]);
            w[2] = weights_at<Shape::PARTS>(eb, &low[2]);
            w[3] = weights_at<Shape::PARTS>(fmaf(2.0f, b.y, eb), &low[3]);
#    pragma unroll
            for (int i = 0; i < PIECES; i += 2) {
                cuda_load_matrices(from + (unsigned)(i * PIECE_BYTES), q);
                cuda_multiply(sum[t][i], w, q[0], q[1]);
                cuda_multiply(sum[t][i + 1], w, q[2], q[3]);
                if constexpr (Shape::PARTS == 2) {
                    cuda_multiply(sum[t][i], low, q[0], q[1]);
                    cuda_multiply(sum[t][i + 1], low, q[2], q[3]);
                    cuda_load_matrices(from + (unsigned)(PART_BYTES + i * PIECE_BYTES), q);
                    cuda_multiply(sum[t][i], w, q[0], q[1]);
                    cuda_multiply(sum[t][i + 1], w, q[2], q[3]);
                }
            }
        }
    }
}

template <class Shape>
static __global__ void __launch_bounds__(Shape::THREADS, Shape::BLOCKS)
    backproject(const __grid_constant__ beams in, const __grid_constant__ gpu_grid g)
{
    enum { GROUP_BYTES = GROUP * Shape::PARTS * PART_BYTES };
    extern __shared__ __align__(128) char windows[];
    __shared__ view_of_block list[VIEWS];
    __shared__ columns found[VIEWS];
    __shared__ unsigned char needed[VIEWS / GROUP];
    const unsigned ring = (unsigned)__cvta_generic_to_shared(windows);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int nx = (g.nx + Shape::X - 1) / Shape::X, ny = (g.ny + Shape::Y - 1) / Shape::Y;
    const int strip = (int)blockIdx.x / (ACROSS * ny), in_strip = (int)blockIdx.x % (ACROSS * ny);
    const int across = min((int)ACROSS, nx - strip * ACROSS);
    const int x0 = (strip * ACROSS + in_strip % across) * Shape::X,
              y0 = in_strip / across * Shape::Y;
    const int piece = g.z0 / GPU_PIECE + (int)blockIdx.y * PIECES;
    const int wx = warp % Shape::WARPS_X * 4 * Shape::TILES, wy = warp / Shape::WARPS_X * 4;
    const int x = x0 + wx + lane / 4 % 4, y = y0 + wy + lane / 16;
    const int z = piece * GPU_PIECE + 2 * (lane % 4) - g.z0;
    float sum[Shape::TILES][PIECES][4], total[Shape::PARTS == 2 ? Shape::TILES : 1][PIECES][4];

    if (g.wanted && !cuda_in_region(g, x0 + g.x0, min(x0 + Shape::X, g.nx) - 1 + g.x0, y0 + g.y0,
                                    min(y0 + Shape::Y, g.ny) - 1 + g.y0, piece * GPU_PIECE, SLICES))
        return;
    /* Call f(address, inside the volume, t, i, j) for every voxel of this thread. */
    const auto for_voxels = [&](auto f) {
        const ptrdiff_t slice = (ptrdiff_t)g.ny * g.nx;
        float *at = in.volume + z * slice + (ptrdiff_t)y * g.nx + x;
#    pragma unroll
        for (int i = 0; i < PIECES; i++, at += GPU_PIECE * slice)
#    pragma unroll
            for (int j = 0; j < 4; j++) {
                float *const voxel = at + (j % 2 ? slice : 0) + (j / 2 ? 2 * g.nx : 0);
                const bool there = (unsigned)(z + i * GPU_PIECE + j % 2) < (unsigned)g.nz;
#    pragma unroll
                for (int t = 0; t < Shape::TILES; t++)
                    f(voxel + 4 * t, there && y + j / 2 * 2 < g.ny && x + 4 * t < g.nx, t, i, j);
            }
    };
    for_voxels([&](const float *voxel, bool there, int t, int i, int j) {
        const float value = there ? *voxel * in.scale : 0;
        sum[t][i][j] = Shape::PARTS == 2 ? 0 : value;
        if (Shape::PARTS == 2)
            total[t][i][j] = value;
    });
    /* a window's columns beyond those that are copied have weight 0, and must be finite */
    for (int i = threadIdx.x; i < (Shape::STAGES * GROUP_BYTES + 128) / 16; i += Shape::THREADS)
        ((uint4 *)windows)[i] = make_uint4(0, 0, 0, 0);

    for (int from = 0; from < in.n_views; from += VIEWS) {
        __syncthreads();
        unsigned long long to_add = find_windows<Shape>(in, from, x0, y0, list, found, needed);
        unsigned long long to_copy = to_add;
        int slot = 0, next = 0;
        const auto copy_next = [&]() {
            if (to_copy)
                copy_group<Shape>(in, from, (__ffsll((long long)to_copy) - 1) * GROUP,
                                  piece - in.layout.first, found,
                                  ring + (unsigned)(next * GROUP_BYTES));
            cuda_end_of_copy();
            to_copy &= to_copy - 1;
            next = next + 1 < Shape::STAGES ? next + 1 : 0;
        };
        for (int i = 0; i < Shape::STAGES - 1; i++)
            copy_next();
        for (; to_add; to_add &= to_add - 1) {
            cuda_wait_for_copies<Shape::STAGES - 2>();
            __syncthreads();
            copy_next();
            add_group<Shape>(list + (__ffsll((long long)to_add) - 1) * GROUP,
                             ring + (unsigned)(slot * GROUP_BYTES), wx, wy, sum);
            if constexpr (Shape::PARTS == 2)
#    pragma unroll
                for (int i = 0; i < Shape::TILES * PIECES * 4; i++) {
                    ((float *)total)[i] += ((float *)sum)[i];
                    ((float *)sum)[i] = 0;
                }
            slot = slot + 1 < Shape::STAGES ? slot + 1 : 0;
        }
        cuda_wait_for_copies<0>();
    }
    for_voxels([&](float *voxel, bool there, int t, int i, int j) {
        if (there)
            *voxel = (Shape::PARTS == 2 ? total[t][i][j] : sum[t][i][j]) * (1 / in.scale);
    });
}

#else

template <class Shape> static __global__ void backproject(const beams, const gpu_grid)
{
}

#endif

template <class Shape> static cudaError_t launch(const struct cuda_bp *bp)
{
    const gpu_slices layout = gpu_slices_of(bp->job, bp->batch->row0, bp->batch->n_rows);
    const int bytes = Shape::STAGES * GROUP * Shape::PARTS * PART_BYTES + 128;
    gpu_grid g = bp->grid;
    /* Slices without stored samples project beyond the detector: nothing is added to them. The last
     * block may read pieces behind those of a view, for slices that it does not store. */
    const int first = layout.first * GPU_PIECE, end = first + (int)layout.n * GPU_PIECE;
    const int z0 = g.z0 > first ? g.z0 : first, z1 = g.z0 + g.nz < end ? g.z0 + g.nz : end;
    const int nx = (g.nx + Shape::X - 1) / Shape::X, ny = (g.ny + Shape::Y - 1) / Shape::Y;
    const int pieces = (z1 + GPU_PIECE - 1) / GPU_PIECE - z0 / GPU_PIECE;

    if (z0 >= z1)
        return cudaSuccess;
    const beams in = {.views = bp->parallel,
                      .samples = (const char *)bp->views->memory,
                      .volume = bp->volume + (size_t)(z0 - g.z0) * g.ny * g.nx,
                      .layout = layout,
                      .n_views = (int)bp->batch->n_views,
                      .scale = bp->views->scale};
    g.z0 = z0;
    g.nz = z1 - z0;
    const cudaError_t error = cudaFuncSetAttribute(
        (const void *)backproject<Shape>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    backproject<Shape><<<dim3((unsigned)(nx * ny), (unsigned)((pieces + PIECES - 1) / PIECES)),
                         Shape::THREADS, bytes, bp->stream>>>(in, g);
    return cudaGetLastError();
}

typedef shape<1, 2, 2, 4, 2, 2> half_16;  /* 16 x 16 voxel columns */
typedef shape<2, 1, 4, 2, 2, 2> exact_16; /* 16 x 8 */

extern "C" const struct cuda_kernel cuda_kernel_PARALLEL_HALF =
    cuda_kernel_from(gpu_known[GPU_PARALLEL_HALF], launch<half_16>);
extern "C" const struct cuda_kernel cuda_kernel_PARALLEL_EXACT =
    cuda_kernel_from(gpu_known[GPU_PARALLEL_EXACT], launch<exact_16>);
