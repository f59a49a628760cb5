/* Extrapolation of rows beyond the panel's ends (filter/pad.h): kernels that fit the extrapolation
 * (cuda_pad_find()) and add its filtered values to filtered rows (cuda_pad_add()). Weights per ray
 * are computed in double in this file.
 * Used by: filter.c. */
#include "backend/cuda/filter_kernels.h"

enum { THREADS = 256, WARP = 32, ENDS = 4 }; /* ENDS: two per row of a pair */

static __device__ inline float warp_sum(float x)
{
    for (int lane = WARP / 2; lane > 0; lane /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, lane);
    return x;
}

/* Fit the extrapolation of a row beyond the panel, one end per warp. Samples are line integrals, or
 * weighted ones, which are divided by their weights (weight 0: they count as 0). */
static __global__ void __launch_bounds__(ENDS *WARP) find_ends(const __grid_constant__ cuda_pad p)
{
    __shared__ fbp_ray_row rays[2];
    const cuda_pair rows = cuda_pair_of(p.pairs, blockIdx.x);
    const unsigned lane = threadIdx.x % WARP, i = threadIdx.x / WARP / 2, nc = p.rule.n_columns;
    const int end = threadIdx.x / WARP % 2;
    fbp_pad_end out = {0, 0, 0};

    cuda_find_rays(p.weights, rows, rays);
    __syncthreads();
    if (i < rows.n && p.rule.ends[end]) {
        const float *line = p.pairs.raw.samples + rows.first[i];
        const auto weight = [&](unsigned c) {
            return cuda_weight(p.weights, rows, rays, i, c, nc);
        };
        const auto measured = [&](unsigned c) {
            const float w = weight(c);
            return !(w > 0) ? 0 : p.weighted ? line[c] / w : line[c];
        };
        const unsigned c = fbp_pad_point(&p.rule, end, lane);
        const float at_end = weight(fbp_pad_column(&p.rule, end, 0));
        const float p0 =
            warp_sum(lane < p.rule.edge ? fbp_pad_share(&p.rule, lane) *
                                              measured(fbp_pad_column(&p.rule, end, lane))
                                        : 0);
        fbp_pad_sums s = {0, 0, 0, 0, 0};
        if (p.rule.fit && weight(c) > 0)
            fbp_pad_add(&p.rule, lane, measured(c), p0, &s);
        s = {warp_sum(s.xx), warp_sum(s.xxx), warp_sum(s.xxxx), warp_sum(s.xy), warp_sum(s.xxy)};
        if (p0 > 0 && at_end > 0) {
            fbp_pad_place(&p.rule, p.rule.fit ? fbp_pad_reach(&p.rule, p0, &s) : p.rule.lengths[0],
                          &out);
            out.amount = p0 * at_end;
        }
    }
    if (lane == 0)
        p.ends[blockIdx.x * ENDS + 2 * i + end] = out;
}

cudaError_t cuda_pad_find(const struct cuda_pad *p, cudaStream_t stream)
{
    find_ends<<<p->pairs.n, ENDS * WARP, 0, stream>>>(*p);
    return cudaGetLastError();
}

static __device__ inline float added(const cuda_pad &p, const fbp_pad_end &e, int end, unsigned c)
{
    const float *a = p.tables + ((size_t)end * p.rule.n_lengths + e.at) * p.n_columns + c;
    const float of_b = e.amount * e.part, b = e.part > 0 ? a[p.n_columns] : 0;

    return (e.amount - of_b) * a[0] + of_b * b;
}

static __global__ void __launch_bounds__(THREADS)
    add_ends(const __grid_constant__ cuda_pad p, float2 *rows, unsigned stride)
{
    const fbp_pad_end *e = p.ends + (size_t)blockIdx.x * ENDS;
    float2 *row = rows + (size_t)blockIdx.x * stride;

    if (!(e[0].amount > 0) && !(e[1].amount > 0) && !(e[2].amount > 0) && !(e[3].amount > 0))
        return;
    for (unsigned c = threadIdx.x; c < p.n_columns; c += THREADS) {
        float2 v = row[c];
        for (int end = 0; end < 2; end++) {
            v.x += added(p, e[end], end, c);
            v.y += added(p, e[2 + end], end, c);
        }
        row[c] = v;
    }
}

cudaError_t cuda_pad_add(const struct cuda_pad *p, float2 *rows, unsigned stride,
                         cudaStream_t stream)
{
    add_ends<<<p->pairs.n, THREADS, 0, stream>>>(*p, rows, stride);
    return cudaGetLastError();
}
