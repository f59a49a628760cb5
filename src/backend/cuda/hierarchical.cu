/* Kernel `hierarchical`, in precision half: fewer updates by angular decimation (backend/nodes.h).
 * A node is an angle within a group of views; its image is a virtual view of one block of voxels,
 * on a plane through the block's middle.  The kernel uses the planes, nodes and weights of the CPU
 * kernel of this name (cpu/hierarchical.c).  The images of all blocks do not fit into memory.
 * Therefore the kernel computes the groups of views one by one, and each group chunk by chunk; a
 * chunk is up to gpu_image_slices() slices of some blocks of GPU_EDGE x GPU_EDGE voxel columns.
 * Three launches per chunk
 *
 *  1. find size and position of each block's images (find_images()),
 *  2. resample the views, and add them, weighted, to the images at all nodes (resample()),
 *  3. add the images to the voxels (add_images()).
 *
 * With T = 4 symmetric views, a texel of views and images contains four samples, and a block has
 * images in each of its four rotated positions (frame.h).  Images are fp16, sums fp32.  Texture
 * units interpolate views and images bilinearly, at coordinates rounded to 1/256 texel.
 * cuda_store() has sharpened the views, because interpolation of views blurs them.  Row coordinates
 * are rounded before the first row of a batch or image is subtracted, so that voxels do not depend
 * on the division into slabs.
 *
 * Limits on an H200 (estimated): resample(): the second-level cache, of which a fetch needs 8 bytes
 * or more; add_images(): texture fetches. Used by: entry.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

#include <cuda_fp16.h>

/* COLUMNS: columns of an image that a thread block of resample() computes.  REACH_U, REACH_V: so
 * many columns and rows beyond the detector have the outermost samples' values, because
 * interpolation between nodes would spread a step to 0 into the field of view. */
enum { THREADS = 256, COLUMNS = 16, REACH_U = 10, REACH_V = 4 };

/* Scale of images, relative to views: images are sums of up to GPU_GROUP views. */
static constexpr float SCALE = 1.0f / 16;

/* Filtered views of the group. */
struct layout {
    cudaTextureObject_t texture;
    int first;      /* layer of the first view */
    float texels;   /* per column */
    int row0, rows; /* of the batch */
    float columns;
};

/* A chunk: n blocks from voxel (x, y) of the launch's domain on, `across` of them along x; the
 * volume ends before voxel (end_x, end_y); slices a to b, inclusive, counted from the reference
 * slice. */
struct chunk {
    int x, y, end_x, end_y, across, n;
    float a, b;
    int layers; /* images per block and rotation for which the texture has room */
};

/* Find size and position of the images of block i, rotated j times: out[i T + j].  A warp computes
 * one of them: a lane per node. centre: index of the image column onto which a block's middle
 * projects; n_columns: of the detector. */
template <int T>
static __global__ void find_images(const gpu_view_group *__restrict__ g,
                                   const __grid_constant__ chunk c, const gpu_grid grid,
                                   const __grid_constant__ gpu_domain d, int centre,
                                   float n_columns, gpu_block_images *out)
{
    const int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int block = at / T;

    if (block >= c.n)
        return;
    const int x0 = c.x + block % c.across * GPU_EDGE, y0 = c.y + block / c.across * GPU_EDGE;
    const float middle_x = 0.5f * (float)(min((int)GPU_EDGE, c.end_x - x0) - 1);
    const float middle_y = 0.5f * (float)(min((int)GPU_EDGE, c.end_y - y0) - 1);
    const float edge = fmaxf(middle_x, middle_y);
    float x = (float)(x0 + d.x0) + middle_x - grid.x_ref;
    float y = (float)(y0 + d.y0) + middle_y - grid.y_ref;
    if constexpr (T > 1)
        for (int i = 0; i < at % T; i++)
            cuda_turn<T>(d, &x, &y);
    const auto depth = [&](const auto &v) { return fmaf(x, v.w[0], fmaf(y, v.w[1], v.w[2])); };
    const auto &middle = g->view[g->n_views / 2];
    const float w = depth(middle), mm = w / middle.u[3], slices = w / middle.v[3];
    const float least = fminf(w, fminf(depth(g->view[0]), depth(g->view[g->n_views - 1])));
    const float bandwidth = hypotf(g->along_u, g->along_v / least) / least;
    int j = 0;
    while (j < FBP_BANDWIDTHS - 1 && g->bandwidth[j] < bandwidth)
        j++;
    int n = g->n_nodes[j];

    float half = 0, lo = INFINITY, hi = -INFINITY;
    if (lane < n) {
        const auto &node = g->node[j][lane];
        const float away = 1 / (fmaf(x, node.n[0], y * node.n[1]) - node.s[1]);
        const float side = (fmaf(x, node.e[0], y * node.e[1]) - node.s[0]) * away;
        const float n0 = node.n[0] * away, n1 = node.n[1] * away;
        const float u0 = (node.e[0] - side * node.n[0]) / mm,
                    u1 = (node.e[1] - side * node.n[1]) / mm;
        const float r = edge * (fabsf(n0) + fabsf(n1)), s = node.s[2];
        const float far = 1 / (1 + r), near = 1 / (1 - r);
        half = edge * (fabsf(u0) + fabsf(u1)) * near;
        lo = fminf((c.a - s) * far, (c.a - s) * near) + s;
        hi = fmaxf((c.b - s) * far, (c.b - s) * near) + s;
        out[at].node[lane] = {{u0, u1}, {n0, n1}, s, s / slices};
    }
#pragma unroll
    for (int m = 16; m > 0; m /= 2) {
        half = fmaxf(half, __shfl_xor_sync(~0u, half, m));
        lo = fminf(lo, __shfl_xor_sync(~0u, lo, m));
        hi = fmaxf(hi, __shfl_xor_sync(~0u, hi, m));
    }
    bool seen = false;
    for (int k = lane; k < g->n_views; k += 32) {
        const auto &v = g->view[k];
        const float r = 1 / depth(v), reach = (half + 1) * mm * v.u[3] * r + REACH_U + 1;
        const float u = fmaf(x, v.u[0], fmaf(y, v.u[1], v.u[2])) * r + (float)v.column;
        seen = seen || (u + reach > 0 && u - reach < n_columns);
    }
    if (!__any_sync(~0u, seen))
        n = 0;
    if (lane > 0)
        return;
    gpu_block_images &o = out[at];
    o.tx = x, o.ty = y, o.middle_x = middle_x, o.middle_y = middle_y, o.mm = mm, o.slices = slices,
    o.bandwidth = j, o.n_nodes = n;
    o.half = min((int)ceilf(half) + 1, centre - 1);
    o.row = (int)floorf(lo / slices) - 1;
    o.n_rows = min((int)floorf(hi / slices) + 3 - o.row, (int)GPU_IMAGE_ROWS);
}

/* In resample(), a thread has VALUES samples per view: at one position of 4 symmetric views or,
 * without symmetry, in one column at 4 rows, APART rows apart.  Positions of a warp: 8 columns x 4
 * rows.  In each step, a warp fetches its samples from VIEWS views, and tensor cores multiply them
 * with coefficients: [16 nodes][VIEWS] times [VIEWS][32 VALUES].  LINE: bytes of the samples that a
 * warp fetches from one view, as fp16. */
enum { VIEWS = 16, VALUES = 4, LINE = 32 * VALUES * 2 };

template <int T> struct samples {
    enum {
        ROWS = VALUES / T,
        APART = THREADS / COLUMNS,
        DEPTH = ROWS * APART,
        AT_ONCE = T == 4 ? 8 : 4 /* views that a thread fetches before it stores any */
    };
};

/* Fetch a thread's samples of AT_ONCE views, and store them in shared memory, in line k for view
 * k: piece i of 16 bytes at position i ^ (k % 8), so that cuda_load_matrices() has no bank
 * conflicts.  first: layer of the first view; at: u of p = 0 and its step, v of row 0 and its step
 * for each view; swap: first k % 8.  INSIDE: all samples of the thread block lie inside the views.
 */
template <int T, bool INSIDE>
static __device__ inline void fetch(const layout &in, int first, const float4 *at, float p,
                                    float i0, char *to, unsigned swap)
{
    typedef samples<T> S;
    const float nowhere = -100; /* outside the texture: samples are 0 */
    const float offset = 0.5f - (float)in.row0 - CUDA_ROUND, last = (float)in.rows - 0.5f;
    const unsigned lane = threadIdx.x % 32;
    __half2 q[S::AT_ONCE][2];

#pragma unroll
    for (int k = 0; k < S::AT_ONCE; k++) {
        const float4 a = at[k];
        float u = fmaf(p, a.y, a.x), s[VALUES];
        if constexpr (!INSIDE) {
            const float clamped = fminf(fmaxf(u, 0), in.columns - 1);
            u = fabsf(u - clamped) > REACH_U ? nowhere : clamped;
        }
        const float x = (fmaf(in.texels, u, in.texels - 0.5f) + CUDA_ROUND) - CUDA_ROUND;
#pragma unroll
        for (int i = 0; i < S::ROWS; i++) {
            float y = (fmaf(i0 + (float)(i * S::APART), a.w, a.z) + CUDA_ROUND) + offset;
            if constexpr (!INSIDE) {
                const float clamped = fminf(fmaxf(y, 0.5f), last);
                y = fabsf(y - clamped) > REACH_V ? nowhere : clamped;
            }
            float t[T];
            cuda_unpack(tex2DLayered<cuda_packed<T>>(in.texture, x, y, first + k), t);
#pragma unroll
            for (int j = 0; j < T; j++)
                s[i * T + j] = t[j];
        }
        q[k][0] = __floats2half2_rn(s[0], s[1]);
        q[k][1] = __floats2half2_rn(s[2], s[3]);
    }
#pragma unroll
    for (int k = 0; k < S::AT_ONCE; k++)
        *(uint2 *)(to + k * LINE + ((lane / 2) ^ (k + swap)) * 16 + lane % 2 * 8) =
            make_uint2(*(const unsigned *)&q[k][0], *(const unsigned *)&q[k][1]);
}

/* A thread block computes COLUMNS x DEPTH samples of the images list[blockIdx.y] at all nodes, in
 * TILES tiles of 16 nodes.  layers: see struct chunk.  Thread blocks that run at the same time have
 * the same rows, so that the views of these rows stay in the second-level cache. */
template <int T, int TILES>
static __global__ void __launch_bounds__(THREADS, TILES == 1 ? 2 : 1)
    resample(const gpu_view_group *__restrict__ g, const __grid_constant__ layout in,
             const gpu_block_images *list, int layers, cudaSurfaceObject_t images, int centre)
{
    typedef samples<T> S;
    __shared__ float4 at[GPU_GROUP];
    __shared__ float weight[GPU_GROUP];
    __shared__ __align__(16) __half coefficients[16 * TILES][GPU_GROUP + 8];
    __shared__ __align__(128) char lines[THREADS / 32][VIEWS * LINE];
    const gpu_block_images &o = list[blockIdx.y];
    const int n_nodes = o.n_nodes, first = (int)(blockIdx.x * COLUMNS) - o.half;
    const int first_row = (int)(blockIdx.z * S::DEPTH);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int across = warp % (COLUMNS / 8) * 8, down = warp / (COLUMNS / 8) * 4;
    /* column and row of a lane's sample: 4 adjacent lanes, which a texture unit serves at once, are
     * 2 x 2 samples */
    const auto column_of = [](int i) { return (i & 1) | (i >> 1 & 6); };
    const auto row_of = [](int i) { return (i >> 1 & 1) | (i >> 3 & 2); };

    if (n_nodes == 0 || first > o.half || first_row >= o.n_rows)
        return;
    bool inside = true;
    for (int k = threadIdx.x; k < GPU_GROUP; k += THREADS) {
        at[k] = make_float4(-100, 0, -100, 0); /* outside the view */
        if (k < g->n_views) {
            const auto &v = g->view[k];
            const float r = 1 / fmaf(o.tx, v.w[0], fmaf(o.ty, v.w[1], v.w[2]));
            const float u = fmaf(o.tx, v.u[0], fmaf(o.ty, v.u[1], v.u[2])) * r + (float)v.column;
            const float y = fmaf(o.tx, v.v[0], fmaf(o.ty, v.v[1], v.v[2])) * r + (float)v.row;
            const float du = o.mm * v.u[3] * r, dv = o.slices * v.v[3] * r;
            const float low = y + (float)(o.row + first_row) * dv - (float)in.row0;
            at[k] = make_float4(u, du, y, dv);
            weight[k] = r * r;
            inside = inside && u + (float)first * du > 1 &&
                     u + (float)(first + COLUMNS) * du < in.columns - 2 && low > 1 &&
                     low + S::DEPTH * dv < (float)(in.rows - 2);
        }
    }
    inside = __syncthreads_and(inside);
    for (int i = threadIdx.x; i < 16 * TILES * GPU_GROUP; i += THREADS) {
        const int k = i / (16 * TILES), n = i % (16 * TILES);
        float c = 0;
        if (n < n_nodes && k < g->n_views)
            c = g->coefficients[o.bandwidth][k][n] * weight[k];
        coefficients[n][k] = __float2half_rn(c);
    }
    __syncthreads();

    const float p = (float)(first + across + column_of(lane));
    const float i0 = (float)(o.row + first_row + down + row_of(lane));
    const unsigned line = (unsigned)__cvta_generic_to_shared(lines[warp]);
    float sum[TILES][16][4] = {};
    for (int k = 0; k < g->n_views; k += VIEWS) {
#pragma unroll
        for (int i = 0; i < VIEWS; i += S::AT_ONCE)
            if (inside)
                fetch<T, true>(in, in.first + k + i, at + k + i, p, i0, lines[warp] + i * LINE,
                               i & 7);
            else
                fetch<T, false>(in, in.first + k + i, at + k + i, p, i0, lines[warp] + i * LINE,
                                i & 7);
        __syncwarp();
        unsigned c[TILES][4];
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int i = 0; i < 4; i++)
                c[t][i] = *(const unsigned *)&coefficients[16 * t + lane / 4 + i % 2 * 8]
                                                          [k + lane % 4 * 2 + i / 2 * 8];
#pragma unroll
        for (int i = 0; i < 16; i += 2) {
            unsigned q[4];
            cuda_load_matrices(line + lane % 16 * LINE + ((i + lane / 16) ^ (lane & 7)) * 16, q);
#pragma unroll
            for (int t = 0; t < TILES; t++) {
                cuda_multiply(sum[t][i], c[t], q[0], q[1]);
                cuda_multiply(sum[t][i + 1], c[t], q[2], q[3]);
            }
        }
        __syncwarp();
    }
    /* Through shared memory, each lane gets the values of its sample at all nodes. */
    const int column = first + across + column_of(lane), x = (column + centre) * T * 2;
    const int row = first_row + down + row_of(lane);
#pragma unroll
    for (int t = 0; t < TILES; t++) {
#pragma unroll
        for (int i = 0; i < 16; i++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const float most = 65504, *s = &sum[t][i][2 * h]; /* most: of fp16 */
                const int node = lane / 4 + 8 * h;
                *(__half2 *)(lines[warp] + node * LINE + (i ^ (node & 7)) * 16 + lane % 4 * 4) =
                    __floats2half2_rn(fminf(fmaxf(s[0] * SCALE, -most), most),
                                      fminf(fmaxf(s[1] * SCALE, -most), most));
            }
        __syncwarp();
        for (int node = 0; node < 16 && 16 * t + node < n_nodes; node++) {
            const int layer = (int)blockIdx.y * layers + 16 * t + node;
            const uint2 q = *(const uint2 *)(lines[warp] + node * LINE +
                                             ((lane / 2) ^ (node & 7)) * 16 + lane % 2 * 8);
            if constexpr (T == 4) {
                if (column <= o.half && row < GPU_IMAGE_ROWS)
                    surf2DLayeredwrite(q, images, x, row, layer);
            } else {
#pragma unroll
                for (int i = 0; i < VALUES; i++)
                    if (column <= o.half && row + i * S::APART < GPU_IMAGE_ROWS)
                        surf2DLayeredwrite((unsigned short)((i < 2 ? q.x : q.y) >> i % 2 * 16),
                                           images, x, row + i * S::APART, layer);
            }
        }
        __syncwarp();
    }
}

/* Voxels that a thread block of add_images() computes.  A thread adds the images of its block, in
 * all rotations, to SLICES voxels of each symmetric part. */
template <int T>
using tile_of = std::conditional_t<T == 4, cuda_tile<16, 8, 4, 8, 2>, cuda_tile<16, 8, 16, 8>>;

template <int T, bool REGION>
static __global__ void __launch_bounds__(tile_of<T>::THREADS)
    add_images(const gpu_grid g, const __grid_constant__ gpu_domain d,
               const __grid_constant__ chunk c, const gpu_block_images *list,
               cudaTextureObject_t images, int centre, float inverse, float *__restrict__ volume)
{
    typedef tile_of<T> Tile;
    enum { SLICES = Tile::SLICES };
    __shared__ gpu_block_images set[T];
    const int x0 = c.x + (int)(blockIdx.x * Tile::X), y0 = c.y + (int)(blockIdx.y * Tile::Y);
    const int across = (int)(blockIdx.x * Tile::X) / GPU_EDGE,
              up = (int)(blockIdx.y * Tile::Y) / GPU_EDGE;
    const int block = up * c.across + across;

    if (REGION &&
        !cuda_in_region(g, max(x0, 0) + d.x0 + g.x0, min(x0 + Tile::X, d.nx) - 1 + d.x0 + g.x0,
                        max(y0, 0) + d.y0 + g.y0, min(y0 + Tile::Y, d.ny) - 1 + d.y0 + g.y0,
                        g.z0 + (int)blockIdx.z * Tile::DEPTH, Tile::DEPTH))
        return;
    for (int i = threadIdx.x; i < (int)(sizeof set / 4); i += Tile::THREADS)
        ((unsigned *)set)[i] = ((const unsigned *)(list + block * T))[i];
    __syncthreads();
    cuda_place_in_volume p = cuda_place_at<Tile>(x0, y0, (int)blockIdx.z * Tile::DEPTH, d.nx, d.ny);
    const float tz = (float)(g.z0 + p.z) - g.z_ref;
    float x = (float)(p.x - c.x - across * GPU_EDGE) - set[0].middle_x;
    float y = (float)(p.y - c.y - up * GPU_EDGE) - set[0].middle_y;
    float sum[SLICES][T];

    p.inside = p.inside && p.x >= 0 && p.y >= 0;
    if (!p.inside)
        return;
    cuda_load_sums<Tile::LAYERS>(volume, p, d.nx, d.ny, g.nz, sum);
#pragma unroll
    for (int turn = 0; turn < T; turn++) {
        const int n = set[turn].n_nodes;
        const float row = 0.5f - (float)set[turn].row - CUDA_ROUND, per_row = 1 / set[turn].slices;
        for (int i = 0; i < n; i++) {
            const auto &node = set[turn].node[i];
            const float q = cuda_reciprocal(fmaf(x, node.n[0], fmaf(y, node.n[1], 1)));
            const float column = fmaf(fmaf(x, node.u[0], y * node.u[1]), q, CUDA_ROUND) +
                                 ((float)centre + 0.5f - CUDA_ROUND);
            const float dv = q * per_row, v0 = fmaf(-node.s, dv, node.at), weight = q * q * inverse;
            const int layer = (block * T + turn) * c.layers + i;
#pragma unroll
            for (int k = 0; k < SLICES; k++) {
                const float v = (fmaf(tz + (float)(k * Tile::LAYERS), dv, v0) + CUDA_ROUND) + row;
                float s[T];
                cuda_unpack(tex2DLayered<cuda_packed<T>>(images, column, v, layer), s);
#pragma unroll
                for (int j = 0; j < T; j++) {
                    float &out = sum[k][(turn + j) % T];
                    out = fmaf(weight, s[j], out);
                }
            }
        }
        const float before = x;
        if constexpr (T == 4) {
            x = d.s * y;
            y = -d.s * before;
        }
    }
    cuda_store_sums<Tile::LAYERS>(volume, p, d.nx, d.ny, g.nz, sum);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Add a group of views to slices [z0, z1) of the whole volume. */
template <int T>
static void add_group(const struct cuda_bp *bp, const gpu_domain &d, const gpu_view_group *g,
                      const layout &in, int most_nodes, int z0, int z1)
{
    typedef tile_of<T> Tile;
    enum { DEPTH = samples<T>::DEPTH };
    const struct cuda_decimation *const m = bp->decimation;
    const int columns = m->columns, centre = columns / 2;
    const int slices = m->slices / Tile::DEPTH * Tile::DEPTH;
    const int shift_x = T == 1 ? bp->grid.x0 % GPU_EDGE : 0;
    const int shift_y = T == 1 ? bp->grid.y0 % GPU_EDGE : 0;
    const int bx = (d.nx + shift_x + GPU_EDGE - 1) / GPU_EDGE,
              by = (d.ny + shift_y + GPU_EDGE - 1) / GPU_EDGE;
    const int end_x = T == 1 ? (int)bp->job->grid.n[0] - bp->grid.x0 : d.nx;
    const int end_y = T == 1 ? (int)bp->job->grid.n[1] - bp->grid.y0 : d.ny;
    const int room = (int)m->images->n_groups / (T * most_nodes), across = least(bx, room),
              up = room / across;
    static_assert(GPU_NODES <= 32, "two tiles of nodes");
    const auto resample_views = most_nodes <= 16 ? resample<T, 1> : resample<T, 2>;
    const auto add = bp->grid.wanted ? add_images<T, true> : add_images<T, false>;

    for (int z = z0; z < z1; z += slices)
        for (int y = 0; y < by; y += up)
            for (int x = 0; x < bx; x += across) {
                const int nx = least(across, bx - x), ny = least(up, by - y);
                gpu_grid grid = bp->grid;
                grid.z0 = z;
                grid.nz = least(slices, z1 - z);
                const chunk c = {.x = x * GPU_EDGE - shift_x,
                                 .y = y * GPU_EDGE - shift_y,
                                 .end_x = end_x,
                                 .end_y = end_y,
                                 .across = nx,
                                 .n = nx * ny,
                                 .a = (float)z - grid.z_ref,
                                 .b = (float)(z + grid.nz - 1) - grid.z_ref,
                                 .layers = most_nodes};
                CUDA_LAUNCH(find_images<T>, (c.n * T * 32 + THREADS - 1) / THREADS, THREADS,
                            bp->stream, g, c, grid, d, centre, in.columns, m->list);
                CUDA_LAUNCH(resample_views,
                            dim3((columns + COLUMNS - 1) / COLUMNS, c.n * T,
                                 (GPU_IMAGE_ROWS + DEPTH - 1) / DEPTH),
                            THREADS, bp->stream, g, in, m->list, most_nodes, m->images->surface,
                            centre);
                CUDA_LAUNCH(add,
                            dim3(nx * GPU_EDGE / Tile::X, ny * GPU_EDGE / Tile::Y,
                                 (grid.nz + Tile::DEPTH - 1) / Tile::DEPTH),
                            Tile::THREADS, bp->stream, grid, d, c, m->list, m->images->texture,
                            centre, 1 / (SCALE * bp->views->scale),
                            bp->volume + (size_t)(z - bp->grid.z0) * d.ny * d.nx * T);
            }
}

template <int T> static cudaError_t launch(const struct cuda_bp *bp)
{
    const struct fbp_job *job = bp->job;
    const size_t n = bp->batch->n_views / T, first = bp->batch->view0;
    gpu_domain d = {.nx = (int)bp->slab->nx, .ny = (int)bp->slab->ny};

    if (T > 1)
        gpu_find_domain(job, bp->slab, &d);
    for (size_t i = first / GPU_GROUP; i * GPU_GROUP < first + n; i++) {
        const struct fbp_view_group *from = &bp->decimation->groups->groups[i];
        const int z0 = bp->grid.z0 > (int)from->z0 ? bp->grid.z0 : (int)from->z0;
        const int z1 = least(bp->grid.z0 + bp->grid.nz, (int)from->z1);
        int most = 0;
        for (const fbp_angular_nodes &nodes : from->nodes)
            most = (int)nodes.n > most ? (int)nodes.n : most;
        const layout in = {.texture = bp->views->texture,
                           .first = (int)(bp->first + (from->first - first)),
                           .texels = (float)bp->views->texels,
                           .row0 = (int)bp->batch->row0,
                           .rows = (int)bp->batch->n_rows,
                           .columns = (float)job->padded.panel.n_columns};
        add_group<T>(bp, d, bp->decimation->views + i, in, most, z0, z1);
    }
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_HIERARCHICAL_ROT90 =
    cuda_kernel_from(gpu_known[GPU_HIERARCHICAL_ROT90], launch<4>);
extern "C" const struct cuda_kernel cuda_kernel_HIERARCHICAL =
    cuda_kernel_from(gpu_known[GPU_HIERARCHICAL], launch<1>);
