/* Kernel `hierarchical`, in precision half: fewer updates by angular decimation (backend/nodes.h).
 * A node is an angle within a group of views; its image is a virtual view of one block of voxels,
 * on a plane through the block's middle.  The kernel uses the planes, nodes and weights of the CPU
 * kernel of this name (cpu/hierarchical.c).  The images of all blocks do not fit into memory.
 * Therefore the kernel computes the groups of views one by one, and each group chunk by chunk; a
 * chunk is up to gpu_image_slices() slices of some blocks of GPU_EDGE x GPU_EDGE voxel columns.
 * Each chunk takes three launches:
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
 * Limits on an H200, by its counters: add_images(): the texture units, which are busy for 72 to 80
 * percent of the time; resample(): the first-level cache, 89 percent (T = 1), or the second-level
 * cache, 67 percent (T = 4).
 *
 * Used by: entry.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

#include <cuda_fp16.h>

/* COLUMNS: columns of an image that a thread block of resample() computes.  VALUES: samples that a
 * thread stores together, from 4 symmetric views or in 4 adjacent columns.  REACH_U, REACH_V:
 * number of columns and rows beyond the batch that repeat its outermost samples, because
 * interpolation between nodes would spread a step to 0 into the field of view. */
enum { THREADS = 256, COLUMNS = 16, VALUES = 4, REACH_U = 10, REACH_V = 4 };

/* Scale of images, relative to views: images are sums of up to GPU_GROUP views. */
static constexpr float SCALE = 1.0f / 16;

/* Filtered views of the group. */
struct layout {
    cudaTextureObject_t texture;
    int first;      /* layer of the first view */
    float texels;   /* texels per detector column */
    int row0, rows; /* first detector row of the batch, number of rows */
    float columns;  /* detector columns */
};

/* A chunk: n blocks from voxel (x, y) of the launch's domain on, `across` of them along x; the
 * volume ends before voxel (end_x, end_y); slices a to b, inclusive, counted from the reference
 * slice. */
struct chunk {
    int x, y, end_x, end_y, across, n;
    float a, b;
    int layers; /* layers of the texture per block and rotation: the group's greatest number of
                   nodes */
};

/* Find size and position of the images of block i, rotated j times: out[i T + j].  A warp computes
 * one of them: a lane per node. centre: index of the image column onto which a block's middle
 * projects; n_columns: number of detector columns. */
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
    /* half is a multiple of 2 (T = 4; pairs of positions lie at multiples of 16 bytes) or of VALUES
     */
    constexpr int MULTIPLE = T == 4 ? 2 : VALUES;
    o.half = min(((int)ceilf(half) + MULTIPLE) / MULTIPLE * MULTIPLE, centre - MULTIPLE);
    o.row = (int)floorf(lo / slices) - 1;
    o.n_rows = min((int)floorf(hi / slices) + 3 - o.row, (int)GPU_IMAGE_ROWS);
}

/* In resample(), a position has VALUES samples.  A warp computes 4 x 4 positions, as QUADS quads of
 * 2 x 2.  In each step it fetches their samples from VIEWS views, and tensor cores multiply them
 * with coefficients: [16 nodes][VIEWS] times [VIEWS][2 samples of 4 positions], twice per quad.
 * Lane l fetches position l % 4 of all quads from views l / 4 and 8 + l / 4, because a texture unit
 * serves four adjacent lanes at once.  PASSES: number of passes in which a thread block computes
 * its rows. */
enum { QUADS = 4, VIEWS = 16, PASSES = 4 };

/* Image rows of a thread block: ROWS per pass, DEPTH in all passes.  ACROSS: warps side by side;
 * STEP: columns between neighbouring positions. */
template <int T> struct samples {
    enum {
        STEP = VALUES / T,
        ACROSS = COLUMNS / (4 * STEP), /* warps */
        ROWS = THREADS / 32 / ACROSS * 4,
        DEPTH = ROWS * PASSES
    };
};

/* Fetch a lane's samples of its two views, layers `first` and first + 8, in all quads.  at[0] and
 * at[8], one of each view: {x of image column 0, step of x per column, v of image row 0 plus
 * CUDA_ROUND, step of v per row}, in texels and rows of the view.  (p, row): column and row of the
 * lane's position in the first quad, counted from image column 0 and image row 0 (that of the
 * reference slice).  INSIDE: all samples of the thread block lie inside the views.
 */
template <int T, bool INSIDE>
static __device__ inline void fetch(const layout &in, int first, const float4 *at, float p,
                                    float row, float (&q)[2][QUADS][VALUES])
{
    enum { STEP = samples<T>::STEP };
    const float nowhere = -100; /* outside the texture: samples are 0 */
    const float offset = 0.5f - (float)in.row0 - CUDA_ROUND, last = (float)in.rows - 0.5f;
    const float left = in.texels - 0.5f, right = fmaf(in.texels, in.columns, -0.5f);

#pragma unroll
    for (int h = 0; h < 2; h++) {
        const float4 a = at[8 * h];
#pragma unroll
        for (int i = 0; i < QUADS; i++) {
            float y = fmaf(row + (float)(i / 2 * 2), a.w, a.z) + offset;
            if constexpr (!INSIDE) {
                const float clamped = fminf(fmaxf(y, 0.5f), last);
                y = fabsf(y - clamped) > REACH_V ? nowhere : clamped;
            }
#pragma unroll
            for (int j = 0; j < STEP; j++) {
                float x = fmaf(p + (float)(i % 2 * 2 * STEP + j), a.y, a.x), t[T];
                if constexpr (!INSIDE) {
                    const float clamped = fminf(fmaxf(x, left), right);
                    x = fabsf(x - clamped) > REACH_U * in.texels ? nowhere : clamped;
                }
                cuda_unpack(tex2DLayered<cuda_packed<T>>(in.texture, x, y, first + 8 * h), t);
#pragma unroll
                for (int k = 0; k < T; k++)
                    q[h][i][j * T + k] = t[k];
            }
        }
    }
}

static __device__ inline unsigned bits_of(const __half2 &q)
{
    return *(const unsigned *)&q;
}

/* Two values as fp16, limited to its range. */
static __device__ inline unsigned limited(float a, float b)
{
    const float most = 65504; /* greatest fp16 */
    return bits_of(__hmin2(__hmax2(__floats2half2_rn(a, b), __floats2half2_rn(-most, -most)),
                           __floats2half2_rn(most, most)));
}

/* Add the samples of a warp's positions, of all views, to the sums of the nodes.  The samples of
 * the next views are fetched while tensor cores multiply. */
template <int T, int TILES, bool INSIDE>
static __device__ inline void add_samples(const layout &in, int n_views, const float4 *at, float p,
                                          float row, const __half (*coefficients)[GPU_GROUP + 8],
                                          float (&sum)[TILES][QUADS][2][4])
{
    const int lane = threadIdx.x % 32;
    float q[2][QUADS][VALUES];

    at += lane / 4;
    fetch<T, INSIDE>(in, in.first + lane / 4, at, p, row, q);
#pragma unroll 1
    for (int k = 0; k < n_views; k += VIEWS) {
        unsigned b[QUADS][2][2];
#pragma unroll
        for (int i = 0; i < QUADS; i++)
#pragma unroll
            for (int j = 0; j < 2; j++)
#pragma unroll
                for (int h = 0; h < 2; h++)
                    b[i][j][h] = cuda_transpose(
                        bits_of(__floats2half2_rn(q[h][i][2 * j], q[h][i][2 * j + 1])));
        if (k + VIEWS < n_views)
            fetch<T, INSIDE>(in, in.first + lane / 4 + k + VIEWS, at + k + VIEWS, p, row, q);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            unsigned c[4];
#pragma unroll
            for (int i = 0; i < 4; i++)
                c[i] = *(const unsigned *)&coefficients[16 * t + lane / 4 + i % 2 * 8]
                                                       [k + lane % 4 * 2 + i / 2 * 8];
#pragma unroll
            for (int i = 0; i < QUADS; i++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    cuda_multiply(sum[t][i][j], c, b[i][j][0], b[i][j][1]);
        }
    }
}

/* A thread block computes COLUMNS x DEPTH samples of the images list[blockIdx.y] at all nodes, in
 * TILES tiles of 16 nodes.  layers: see struct chunk.  Thread blocks that run at the same time have
 * the same rows, so that the views of these rows stay in the second-level cache. */
template <int T, int TILES>
static __global__ void __launch_bounds__(THREADS, 2)
    resample(const gpu_view_group *__restrict__ g, const __grid_constant__ layout in,
             const gpu_block_images *list, int layers, cudaSurfaceObject_t images, int centre)
{
    typedef samples<T> S;
    __shared__ float4 at[GPU_GROUP];
    __shared__ __align__(16) __half coefficients[16 * TILES][GPU_GROUP + 8];
    const gpu_block_images &o = list[blockIdx.y];
    const int n_nodes = o.n_nodes, first = (int)(blockIdx.x * COLUMNS) - o.half;
    const int first_row = (int)(blockIdx.z * S::DEPTH);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    /* a lane's position in the first quad of its warp */
    const int column = first + (warp % S::ACROSS * 4 + (lane & 1)) * S::STEP;
    const int down = warp / S::ACROSS * 4 + (lane >> 1 & 1);

    if (n_nodes == 0 || first > o.half || first_row >= o.n_rows)
        return;
    /* each of four threads per view computes the coefficients of four nodes per tile */
    static_assert(THREADS == 4 * GPU_GROUP, "a thread block has four threads per view");
    const int k = threadIdx.x / 4;
    bool inside = true;
    float weight = 0;
    if (threadIdx.x % 4 == 0)
        at[k] = make_float4(-100, 0, -100, 0); /* outside the view */
    if (k < g->n_views) {
        const auto &v = g->view[k];
        const float r = 1 / fmaf(o.tx, v.w[0], fmaf(o.ty, v.w[1], v.w[2]));
        const float u = fmaf(o.tx, v.u[0], fmaf(o.ty, v.u[1], v.u[2])) * r + (float)v.column;
        const float y = fmaf(o.tx, v.v[0], fmaf(o.ty, v.v[1], v.v[2])) * r + (float)v.row;
        const float du = o.mm * v.u[3] * r, dv = o.slices * v.v[3] * r;
        const float low = y + (float)(o.row + first_row) * dv - (float)in.row0;
        weight = r * r * SCALE;
        inside = u + (float)first * du > 1 && u + (float)(first + COLUMNS) * du < in.columns - 2 &&
                 low > 1 && low + S::DEPTH * dv < (float)(in.rows - 2);
        if (threadIdx.x % 4 == 0)
            at[k] = make_float4(fmaf(in.texels, u, in.texels - 0.5f), in.texels * du,
                                y + CUDA_ROUND, dv);
    }
#pragma unroll
    for (int n = threadIdx.x % 4 * 4; n < 16 * TILES; n += 16)
#pragma unroll
        for (int i = 0; i < 4; i++)
            coefficients[n + i][k] = __float2half_rn(
                n < GPU_NODES ? g->coefficients[o.bandwidth][k][n + i] * weight : 0);
    inside = __syncthreads_and(inside);

    const float p = (float)column;
    for (int pass = 0; pass < PASSES && first_row + pass * S::ROWS < o.n_rows; pass++) {
        const int row = first_row + pass * S::ROWS + down;
        const float v = (float)(o.row + row);
        /* sums for the lane's position in each quad, at nodes lane / 4 and 8 + lane / 4 per tile */
        float sum[TILES][QUADS][2][4] = {};
        if (inside)
            add_samples<T, TILES, true>(in, g->n_views, at, p, v, coefficients, sum);
        else
            add_samples<T, TILES, false>(in, g->n_views, at, p, v, coefficients, sum);
#pragma unroll
        for (int i = 0; i < QUADS; i++)
#pragma unroll
            for (int n = 0; n < 2 * TILES; n++) {
                const int node = lane / 4 + 8 * n, h = n % 2 * 2;
                const int x = column + i % 2 * 2 * S::STEP, y = row + i / 2 * 2;
                const float(&s)[2][4] = sum[n / 2][i];
                if (node < n_nodes && x <= o.half && y < GPU_IMAGE_ROWS)
                    surf2DLayeredwrite(
                        make_uint2(limited(s[0][h], s[0][h + 1]), limited(s[1][h], s[1][h + 1])),
                        images, (x + centre) * T * 2, y, (int)blockIdx.y * layers + node);
            }
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
#pragma unroll 2 /* fetches of two nodes at a time hide more of their latency */
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
