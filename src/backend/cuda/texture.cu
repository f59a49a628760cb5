/*
 * Filtered rows into layered textures: fp32, or fp16 scaled by a power of two into its range; a
 * texel holds one sample of each view of a group (channel = lane).  Rows of two texels a column
 * begin and end with the mean of a sample and the zero beside the view.
 */
#include "backend/cuda/rows.h"

#include <cuda_fp16.h>

/* A sample as a texture of fp32 or fp16 keeps it. */
template <class Bits> static __device__ inline Bits pack(float value, float scale);

template <> __device__ inline float pack<float>(float value, float scale)
{
    (void)scale;
    return value;
}

template <> __device__ inline unsigned short pack<unsigned short>(float value, float scale)
{
    const float most = 65504;
    return __half_as_ushort(__float2half_rn(fminf(fmaxf(value * scale, -most), most)));
}

/* Samples that are written together, N bytes of them at an address that N divides. */
template <int N> struct __align__(N) piece
{
    unsigned char bytes[N];
};

static __device__ inline void put(const piece<2> &q, cudaSurfaceObject_t to, int x, int y,
                                  int layer)
{
    surf2DLayeredwrite(*(const unsigned short *)&q, to, x, y, layer);
}

static __device__ inline void put(const piece<4> &q, cudaSurfaceObject_t to, int x, int y,
                                  int layer)
{
    surf2DLayeredwrite(*(const unsigned *)&q, to, x, y, layer);
}

static __device__ inline void put(const piece<8> &q, cudaSurfaceObject_t to, int x, int y,
                                  int layer)
{
    surf2DLayeredwrite(*(const uint2 *)&q, to, x, y, layer);
}

static __device__ inline void put(const piece<16> &q, cudaSurfaceObject_t to, int x, int y,
                                  int layer)
{
    surf2DLayeredwrite(*(const uint4 *)&q, to, x, y, layer);
}

/* Samples of neighbouring texels, from byte x of a row on. */
template <class Bits, int N>
static __device__ inline void put_all(const Bits (&q)[N], cudaSurfaceObject_t to, int x, int y,
                                      int layer)
{
    constexpr int BYTES = N * (int)sizeof(Bits), PIECE = BYTES < 16 ? BYTES : 16;

#pragma unroll
    for (int at = 0; at < BYTES; at += PIECE)
        put(*(const piece<PIECE> *)((const char *)q + at), to, x + at, y, layer);
}

/* All lanes of the texels of a column, for both groups of a pair. */
template <class Bits, int LANES, int TEXELS>
static __global__ void store_rows(const cuda_rows r, float scale, cudaSurfaceObject_t views)
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
        const float2 q = x < r.n_columns ? from[x] : none;
        texels[0][LAST + j] = pack<Bits>(q.x, scale);
        texels[1][LAST + j] = pack<Bits>(q.y, scale);
        if (TEXELS == 2) {
            const float2 before = x > 0 ? from[x - 1] : none;
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

/* Rows [row, end) of all groups: what a larger batch left there.  `width` samples wide. */
template <class Bits>
static __global__ void store_zeros(unsigned width, unsigned row, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;

    if (x < width)
        surf2DLayeredwrite((Bits)0, views, (int)(x * sizeof(Bits)), (int)(row + blockIdx.y),
                           (int)blockIdx.z);
}

template <class Bits, int LANES>
static void store_lanes(const cuda_rows &rows, const cuda_views &views, cudaStream_t stream)
{
    const unsigned across = cuda_blocks(rows.n_columns + views.texels - 1, CUDA_ROW_THREADS);
    const auto store_part =
        views.texels == 2 ? store_rows<Bits, LANES, 2> : store_rows<Bits, LANES, 1>;

    cuda_for_parts(rows, [&](const cuda_rows &part) {
        store_part<<<dim3(across, part.n / LANES), CUDA_ROW_THREADS, 0, stream>>>(part, views.scale,
                                                                                  views.surface);
    });
}

template <class Bits>
static cudaError_t store(const struct cuda_rows *rows, const struct cuda_views *views,
                         cudaStream_t stream)
{
    const unsigned width = (views->texels * rows->n_columns + views->texels - 1) * rows->n_lanes;
    const unsigned rest = (unsigned)views->n_rows - rows->n_rows;

    cuda_for_lanes(rows->n_lanes, [&](auto lanes) {
        store_lanes<Bits, decltype(lanes)::N>(*rows, *views, stream);
    });
    if (rows->first == 0 && rest > 0)
        store_zeros<Bits><<<dim3(cuda_blocks(width, CUDA_ROW_THREADS), rest, rows->n_groups),
                            CUDA_ROW_THREADS, 0, stream>>>(width, rows->n_rows, views->surface);
    return cudaGetLastError();
}

cudaError_t cuda_store_fp32(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream)
{
    (void)job;
    return store<float>(rows, views, stream);
}

cudaError_t cuda_store_fp16(const struct fbp_job *job, const struct cuda_rows *rows,
                            const struct cuda_views *views, cudaStream_t stream)
{
    (void)job;
    return store<unsigned short>(rows, views, stream);
}
