/*
 * Plane integrals: all views of a batch in one launch (planes_kernel.h has how), from rows that lie
 * one behind the other.
 */
#include "backend/cuda/planes_launch.h"
#include "backend/cuda/rows.h"

/* Rows of a pair of views, of one frame; behind the last are those that fill its group. */
static __global__ void store_rows(const cuda_rows r, const planes_layout to, float *views)
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

static cudaError_t store(const struct fbp_job *job, const struct cuda_rows *rows,
                         const struct cuda_views *views, cudaStream_t stream)
{
    const planes_layout to = planes_layout_of(job, rows->n_rows);
    float *memory = (float *)views->memory;

    cuda_for_parts(*rows, [&](const cuda_rows &part) {
        store_rows<<<dim3(cuda_blocks(to.columns, CUDA_ROW_THREADS), part.n), CUDA_ROW_THREADS, 0,
                     stream>>>(part, to, memory);
    });
    return cudaGetLastError();
}

extern "C" const struct cuda_kernel cuda_kernel_planes_exact =
    planes_kernel_of<float>(gpu_known[GPU_PLANES_EXACT], store);
