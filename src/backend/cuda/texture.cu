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

/* A sample of each view of a pair, as texel x of their rows. */
template <class Bits>
static __device__ inline void write(const cuda_rows &r, const cuda_place &to, unsigned x, float2 q,
                                    float scale, cudaSurfaceObject_t views)
{
    const int at = (int)((x * r.n_lanes + to.lane) * sizeof(Bits));

    surf2DLayeredwrite(pack<Bits>(q.x, scale), views, at, (int)to.row, (int)to.group);
    if (to.second)
        surf2DLayeredwrite(pack<Bits>(q.y, scale), views, at, (int)to.row, (int)to.group + 1);
}

template <class Bits, int TEXELS>
static __global__ void store_rows(const cuda_rows r, float scale, cudaSurfaceObject_t views)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place to = cuda_place_of(r, blockIdx.y);
    const float2 *row = r.rows + (size_t)blockIdx.y * r.stride, none = make_float2(0, 0);
    const bool inside = x < r.n_columns;
    const float2 q = inside ? row[x] : none;

    if (inside)
        write<Bits>(r, to, TEXELS * x + (TEXELS - 1), q, scale, views);
    if (TEXELS == 2 && x <= r.n_columns) {
        const float2 before = x > 0 ? row[x - 1] : none;
        const float2 mean = make_float2(0.5f * (before.x + q.x), 0.5f * (before.y + q.y));
        write<Bits>(r, to, 2 * x, mean, scale, views);
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

template <class Bits>
static cudaError_t store(const struct cuda_rows *rows, const struct cuda_views *views,
                         cudaStream_t stream)
{
    const unsigned more = views->texels - 1;
    const unsigned width = (views->texels * rows->n_columns + more) * rows->n_lanes;
    const unsigned rest = (unsigned)views->n_rows - rows->n_rows;
    const unsigned across = cuda_blocks(rows->n_columns + more, CUDA_ROW_THREADS);
    const auto store_part = more ? store_rows<Bits, 2> : store_rows<Bits, 1>;

    cuda_for_parts(*rows, [&](const cuda_rows &part) {
        store_part<<<dim3(across, part.n), CUDA_ROW_THREADS, 0, stream>>>(part, views->scale,
                                                                          views->surface);
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
