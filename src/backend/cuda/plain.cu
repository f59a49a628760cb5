/* Filtered rows into plain memory, between borders of zeros. */
#include "backend/cuda/plain.h"

#include "backend/cuda/frame.h"
#include "backend/cuda/rows.h"

/* All lanes of the texels of a column, borders included, for both groups of a pair. */
template <int LANES>
static __global__ void store_rows(const cuda_rows r, const gpu_plain to, float *views)
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

/* The rows of zeros below and above every group of views; `width` floats a row. */
static __global__ void store_border(unsigned width, size_t group, unsigned n_rows, float *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned row = blockIdx.y < GPU_BORDER ? blockIdx.y : blockIdx.y + n_rows;

    if (at < width)
        views[blockIdx.z * group + (size_t)row * width + at] = 0;
}

cudaError_t cuda_plain_store(const struct fbp_job *job, const struct cuda_rows *rows,
                             const struct cuda_views *views, cudaStream_t stream)
{
    const gpu_plain to = gpu_plain_of(job, rows->n_rows);
    const unsigned width = to.stride * rows->n_lanes;
    float *memory = (float *)views->memory;

    cuda_for_lanes(rows->n_lanes, [&](auto lanes) {
        enum { LANES = decltype(lanes)::N };
        cuda_for_parts(*rows, [&](const cuda_rows &part) {
            store_rows<LANES><<<dim3(cuda_blocks(to.stride, CUDA_ROW_THREADS), part.n / LANES),
                                CUDA_ROW_THREADS, 0, stream>>>(part, to, memory);
        });
    });
    if (rows->first == 0)
        store_border<<<dim3(cuda_blocks(width, CUDA_ROW_THREADS), 2 * GPU_BORDER, rows->n_groups),
                       CUDA_ROW_THREADS, 0, stream>>>(width, to.group * rows->n_lanes, rows->n_rows,
                                                      memory);
    return cudaGetLastError();
}

/* A lane of a pair of rows. */
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
    cuda_for_parts(*rows, [&](const cuda_rows &part) {
        const dim3 grid(cuda_blocks(part.n_columns, CUDA_ROW_THREADS), part.n / part.n_lanes,
                        part.n_lanes);
        copy_rows<<<grid, CUDA_ROW_THREADS, 0, stream>>>(part, out);
    });
    return cudaGetLastError();
}
