/* Filtered rows into plain memory, between borders of zeros. */
#include "backend/cuda/plain.h"

#include "backend/cuda/rows.h"

/* One lane of the texels of a row, its borders included. */
static __global__ void store_rows(const cuda_rows r, const gpu_plain to, float *views)
{
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place p = cuda_place_of(r, blockIdx.y);
    const float2 *row = r.rows + (size_t)blockIdx.y * r.stride;

    if (at >= to.stride)
        return;
    const bool inside = at >= GPU_BORDER && at - GPU_BORDER < r.n_columns;
    const float2 q = inside ? row[at - GPU_BORDER] : make_float2(0, 0);
    const size_t texel = p.group * to.group + (size_t)(GPU_BORDER + p.row) * to.stride + at;
    float *out = views + texel * r.n_lanes + p.lane;
    out[0] = q.x;
    if (p.second)
        out[to.group * r.n_lanes] = q.y;
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

    cuda_for_parts(*rows, [&](const cuda_rows &part) {
        store_rows<<<dim3(cuda_blocks(to.stride, CUDA_ROW_THREADS), part.n), CUDA_ROW_THREADS, 0,
                     stream>>>(part, to, memory);
    });
    if (rows->first == 0)
        store_border<<<dim3(cuda_blocks(width, CUDA_ROW_THREADS), 2 * GPU_BORDER, rows->n_groups),
                       CUDA_ROW_THREADS, 0, stream>>>(width, to.group * rows->n_lanes, rows->n_rows,
                                                      memory);
    return cudaGetLastError();
}

/* One lane of a pair of rows. */
static __global__ void copy_rows(const cuda_rows r, unsigned turns, unsigned n_views, float *out)
{
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const cuda_place p = cuda_place_of(r, blockIdx.y);
    const unsigned half = p.lane / turns, row = half ? r.n_rows - 1 - p.row : p.row;
    const size_t view = half * n_views + p.lane % turns * r.n_groups + p.group;

    if (x >= r.n_columns)
        return;
    const float2 q = r.rows[(size_t)blockIdx.y * r.stride + x];
    float *to = out + (view * r.n_rows + row) * r.n_columns + x;
    to[0] = q.x;
    if (p.second)
        to[(size_t)r.n_rows * r.n_columns] = q.y;
}

cudaError_t cuda_plain_rows(const struct cuda_rows *rows, unsigned turns, unsigned n_views,
                            float *out, cudaStream_t stream)
{
    cuda_for_parts(*rows, [&](const cuda_rows &part) {
        copy_rows<<<dim3(cuda_blocks(part.n_columns, CUDA_ROW_THREADS), part.n), CUDA_ROW_THREADS,
                    0, stream>>>(part, turns, n_views, out);
    });
    return cudaGetLastError();
}
