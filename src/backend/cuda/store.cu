/* Kernels that store filtered rows in the layouts of views (cuda_store(), cuda_plain_rows()):
 * plain memory with borders of zeros, rows of plane integrals, parallel beams at the volume's
 * slices, and layered textures of fp32, or of fp16 scaled by a power of two into its range. A texel
 * holds one sample of each view of a group (channel = lane). Rows with two texels per column begin
 * and end with the mean of the outermost sample and zero. Used by: filter.c. */
#include "backend/cuda/frame.h"
#include "backend/cuda/kernel.h"

enum { THREADS = 256 };

/* Greatest number of blocks along y. */
static const unsigned MOST_ROWS = 65535;

/* Returns the number of blocks of `threads` threads that n threads need. */
static unsigned blocks_of(unsigned n, unsigned threads)
{
    return (n + threads - 1) / threads;
}

/* Call launch() for consecutive ranges of the rows, with at most MOST_ROWS rows of texels each. */
template <class Launch> static void for_parts(const cuda_rows &rows, Launch launch)
{
    const unsigned most = MOST_ROWS * rows.n_lanes;

    for (unsigned at = 0; at < rows.n; at += most) {
        cuda_rows part = rows;
        part.first += at;
        part.rows += (size_t)at * rows.stride;
        part.n = rows.n - at < most ? rows.n - at : most;
        launch(part);
    }
}

/* Call launch(constant) with the number of views per texel, 1, 2 or 4, at compile time. */
template <class Launch> static void for_lanes(unsigned n, Launch launch)
{
    if (n == 4)
        launch(std::integral_constant<int, 4>());
    else if (n == 2)
        launch(std::integral_constant<int, 2>());
    else
        launch(std::integral_constant<int, 1>());
}

/* Store rows, with zeros at both ends, in plain memory.  A thread stores one texel of each of the
 * two groups of symmetric views that are the real and imaginary parts of complex rows. */
template <int LANES>
static __global__ void store_plain(const cuda_rows r, const gpu_plain to, float *views)
{
    using packed = cuda_packed<LANES>;
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * LANES;
    const cuda_place p = cuda_place_of(r, first);
    float sample[2][LANES];

    if (at >= to.stride)
        return;
    const bool inside = at >= GPU_BORDER && at - GPU_BORDER < r.n_columns;
#pragma unroll
    for (int j = 0; j < LANES; j++) {
        const float2 *row = r.rows + (size_t)(first + j) * r.stride;
        const float2 q = inside ? row[at - GPU_BORDER] : make_float2(0, 0);
        sample[0][j] = q.x;
        sample[1][j] = q.y;
    }
    const size_t texel = p.group * to.group + (size_t)(GPU_BORDER + p.row) * to.stride + at;
    packed *out = (packed *)views + texel;
    out[0] = cuda_pack(sample[0]);
    if (p.second)
        out[to.group] = cuda_pack(sample[1]);
}

/* Store the rows of zeros around the views of every group; `width` floats per row. */
static __global__ void store_border(unsigned width, size_t group, unsigned n_rows, float *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y < GPU_BORDER ? blockIdx.y : blockIdx.y + n_rows;

    if (at < width)
        views[blockIdx.z * group + (size_t)row * width + at] = 0;
}

static __global__ void copy_rows(const cuda_rows r, float *out)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, lane = blockIdx.z;
    const unsigned local = blockIdx.y * r.n_lanes + lane;
    const cuda_place p = cuda_place_of(r, local);
    const size_t view = lane * r.n_groups + p.group;

    if (x >= r.n_columns)
        return;
    const float2 q = r.rows[(size_t)local * r.stride + x];
    float *to = out + (view * r.n_rows + p.row) * r.n_columns + x;
    to[0] = q.x;
    if (p.second)
        to[(size_t)r.n_rows * r.n_columns] = q.y;
}

cudaError_t cuda_plain_rows(const struct cuda_rows *rows, float *out, cudaStream_t stream)
{
    for_parts(*rows, [&](const cuda_rows &part) {
        const dim3 grid(blocks_of(part.n_columns, THREADS), part.n / part.n_lanes, part.n_lanes);
        copy_rows<<<grid, THREADS, 0, stream>>>(part, out);
    });
    return cudaGetLastError();
}

/* Layout of a batch of plane integrals (struct gpu_planes), as a kernel parameter. */
struct planes_layout {
    unsigned columns, groups, frames;
};

/* Store both rows of a pair of plane views, and zeros after the last channel. */
static __global__ void store_planes(const cuda_rows r, const planes_layout to, float *views)
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

/* Interpolate detector rows of two views (x and y of a float2) at the slices of a piece, and store
 * them (struct gpu_slices), scaled, as one fp16 or as the sum of two. A thread stores a column. */
template <int PARTS>
static __global__ void store_slices(const cuda_rows r, const gpu_slices to, float scale,
                                    uint4 *views)
{
    const unsigned column = blockIdx.x * blockDim.x + threadIdx.x, piece = blockIdx.y;
    const unsigned pair = r.first / r.n_rows + blockIdx.z;
    const float2 *rows = r.rows + (size_t)blockIdx.z * r.n_rows * r.stride + column;
    const float most = 65504; /* of fp16 */
    __align__(16) __half out[2][PARTS][GPU_PIECE];

    if (column >= r.n_columns)
        return;
#pragma unroll
    for (int i = 0; i < GPU_PIECE; i++) {
        const double v = fma(to.step, (double)((to.first + (int)piece) * GPU_PIECE + i), to.row0);
        const double lower = floor(v);
        const float b = (float)(v - lower);
        const int row = (int)lower, n = (int)r.n_rows;
        const float2 none = make_float2(0, 0);
        const float2 q = row >= 0 && row < n ? rows[(size_t)row * r.stride] : none;
        const float2 above =
            b > 0 && row >= -1 && row + 1 < n ? rows[(size_t)(row + 1) * r.stride] : none;
        float value[2] = {fmaf(b, above.x - q.x, q.x) * scale, fmaf(b, above.y - q.y, q.y) * scale};
#pragma unroll
        for (int j = 0; j < 2; j++)
#pragma unroll
            for (int part = 0; part < PARTS; part++) {
                out[j][part][i] = __float2half_rn(fminf(fmaxf(value[j], -most), most));
                value[j] -= __half2float(out[j][part][i]);
            }
    }
    const size_t part = (size_t)to.n * to.columns, view = part * PARTS;
    uint4 *at = views + (r.group0 + 2 * pair) * view + (size_t)piece * to.columns + column;
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        at[i * part] = *(const uint4 *)out[0][i];
        if (2 * pair + 1 < r.n_groups)
            at[view + i * part] = *(const uint4 *)out[1][i];
    }
}

/* Convert a sample to the format of a texture, fp32 or fp16. */
template <class Bits> static __device__ inline Bits pack(float value, float scale)
{
    const float most = 65504; /* of fp16 */

    if constexpr (sizeof(Bits) == sizeof(float))
        return value;
    else
        return __half_as_ushort(__float2half_rn(fminf(fmaxf(value * scale, -most), most)));
}

/* Integer type of N bytes for surf2DLayeredwrite(). */
template <int N>
using word = std::conditional_t<
    N == 2, unsigned short,
    std::conditional_t<N == 4, unsigned, std::conditional_t<N == 8, uint2, uint4>>>;

/* Write the samples of neighbouring texels to a texture, from byte x of a row on. */
template <class Bits, int N>
static __device__ inline void put_all(const Bits (&q)[N], cudaSurfaceObject_t to, int x, int y,
                                      int layer)
{
    constexpr int BYTES = N * (int)sizeof(Bits), STEP = BYTES < 16 ? BYTES : 16;

#pragma unroll
    for (int at = 0; at < BYTES; at += STEP)
        surf2DLayeredwrite(*(const word<STEP> *)((const char *)q + at), to, x + at, y, layer);
}

/* For kernel "hierarchical", which resamples views by linear interpolation: a filter with the taps
 * (-SHARPER, 1 + 2 SHARPER, -SHARPER) along rows and columns compensates, on average, the loss of
 * high spatial frequencies. With this value, volumes are nearest to those of kernel "column"
 * (bench/results/cuda.md). */
static constexpr float SHARPER = 0.1f;

/* Sample x of complex row `row`, filtered if SHARPEN.  The outermost samples are repeated. in_view:
 * index of the row within its view, of which r.rows contains all rows. */
template <bool SHARPEN>
static __device__ inline float2 sample_of(const cuda_rows &r, const float2 *row, unsigned x,
                                          unsigned in_view)
{
    if constexpr (!SHARPEN) {
        return row[x];
    } else {
        const ptrdiff_t step = (ptrdiff_t)r.n_lanes * r.stride;
        const unsigned left = x > 0 ? x - 1 : x, right = x + 1 < r.n_columns ? x + 1 : x;
        const float middle = 1 + 2 * SHARPER;
        float2 sum = {0, 0};
#pragma unroll
        for (int i = -1; i <= 1; i++) {
            const bool there = i < 0 ? in_view > 0 : i == 0 || in_view + 1 < r.n_rows;
            const float2 *from = there ? row + i * step : row;
            const float weight = i == 0 ? middle : -SHARPER;
            const float2 a = from[left], b = from[x], c = from[right];
            sum.x = fmaf(weight, fmaf(middle, b.x, -SHARPER * (a.x + c.x)), sum.x);
            sum.y = fmaf(weight, fmaf(middle, b.y, -SHARPER * (a.y + c.y)), sum.y);
        }
        return sum;
    }
}

/* Store rows in a texture.  A thread stores TEXELS texels of each of the two groups of symmetric
 * views that are the real and imaginary parts of complex rows. */
template <class Bits, int LANES, int TEXELS, bool SHARPEN>
static __global__ void store_texels(const cuda_rows r, float scale, cudaSurfaceObject_t views)
{
    enum { N = LANES * TEXELS, LAST = LANES * (TEXELS - 1) };
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * LANES;
    const cuda_place to = cuda_place_of(r, first);
    const float2 none = make_float2(0, 0);
    const int byte = (int)(x * N * sizeof(Bits)), row = (int)to.row;
    __align__(16) Bits texels[2][N], mean[2][LANES];

    if (x >= r.n_columns + (TEXELS - 1))
        return;
#pragma unroll
    for (int j = 0; j < LANES; j++) {
        const float2 *from = r.rows + (size_t)(first + j) * r.stride;
        const float2 q = x < r.n_columns ? sample_of<SHARPEN>(r, from, x, to.row) : none;
        texels[0][LAST + j] = pack<Bits>(q.x, scale);
        texels[1][LAST + j] = pack<Bits>(q.y, scale);
        if (TEXELS == 2) {
            const float2 before = x > 0 ? sample_of<SHARPEN>(r, from, x - 1, to.row) : none;
            texels[0][j] = mean[0][j] = pack<Bits>(0.5f * (before.x + q.x), scale);
            texels[1][j] = mean[1][j] = pack<Bits>(0.5f * (before.y + q.y), scale);
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int group = (int)to.group + i;
        if (i == 1 && !to.second)
            break;
        if (x < r.n_columns)
            put_all(texels[i], views, byte, row, group);
        else
            put_all(mean[i], views, byte, row, group);
    }
}

/* Set rows [row, end) of all groups, `width` samples each, to zero: a larger batch filled them. */
template <class Bits>
static __global__ void store_zeros(unsigned width, unsigned row, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width)
        surf2DLayeredwrite((Bits)0, views, (int)(x * sizeof(Bits)), (int)(row + blockIdx.y),
                           (int)blockIdx.z);
}

template <class Bits, bool SHARPEN>
static void store_in_texture(const struct cuda_rows *rows, const struct cuda_views *views,
                             cudaStream_t stream)
{
    const unsigned width = (views->texels * rows->n_columns + views->texels - 1) * rows->n_lanes;
    const unsigned rest = (unsigned)views->n_rows - rows->n_rows;
    const unsigned across = blocks_of(rows->n_columns + views->texels - 1, THREADS);

    for_lanes(rows->n_lanes, [&](auto lanes) {
        constexpr int LANES = lanes;
        const auto store_part = views->texels == 2 ? store_texels<Bits, LANES, 2, SHARPEN>
                                                   : store_texels<Bits, LANES, 1, SHARPEN>;
        for_parts(*rows, [&](const cuda_rows &part) {
            store_part<<<dim3(across, part.n / LANES), THREADS, 0, stream>>>(part, views->scale,
                                                                             views->surface);
        });
    });
    if (rows->first == 0 && rest > 0)
        store_zeros<Bits>
            <<<dim3(blocks_of(width, THREADS), rest, rows->n_groups), THREADS, 0, stream>>>(
                width, rows->n_rows, views->surface);
}

cudaError_t cuda_store(const struct fbp_job *job, const struct cuda_rows *rows,
                       const struct cuda_views *views, cudaStream_t stream)
{
    const gpu_kernel *k = gpu_kernel_of(job);
    float *memory = (float *)views->memory;

    if (k->channels) {
        if (k->decimates)
            store_in_texture<unsigned short, true>(rows, views, stream);
        else if (k->bits == 16)
            store_in_texture<unsigned short, false>(rows, views, stream);
        else
            store_in_texture<float, false>(rows, views, stream);
    } else if (k->slices) { /* the rows are those of whole pairs of views (filter.c) */
        const gpu_slices to = gpu_slices_of(job, rows->row0, rows->n_rows);
        const dim3 grid(blocks_of(to.columns, THREADS), to.n, rows->n / rows->n_rows);
        const auto store = to.parts == 1 ? store_slices<1> : store_slices<2>;
        store<<<grid, THREADS, 0, stream>>>(*rows, to, views->scale, (uint4 *)memory);
    } else if (k->planes) {
        const gpu_planes p = gpu_planes_of(job, rows->n_rows);
        const planes_layout to = {(unsigned)p.columns, (unsigned)p.groups, (unsigned)p.frames};
        for_parts(*rows, [&](const cuda_rows &part) {
            store_planes<<<dim3(blocks_of(to.columns, THREADS), part.n), THREADS, 0, stream>>>(
                part, to, memory);
        });
    } else {
        const gpu_plain to = gpu_plain_of(job, rows->n_rows);
        const unsigned width = to.stride * rows->n_lanes;
        for_lanes(rows->n_lanes, [&](auto lanes) {
            constexpr int LANES = lanes;
            for_parts(*rows, [&](const cuda_rows &part) {
                store_plain<LANES>
                    <<<dim3(blocks_of(to.stride, THREADS), part.n / LANES), THREADS, 0, stream>>>(
                        part, to, memory);
            });
        });
        if (rows->first == 0)
            store_border<<<dim3(blocks_of(width, THREADS), 2 * GPU_BORDER, rows->n_groups), THREADS,
                           0, stream>>>(width, to.group * rows->n_lanes, rows->n_rows, memory);
    }
    return cudaGetLastError();
}
