/* The filter of Okitsu, Ino and Hagihara (2008): Eq. (1), with the shift that the printed
 * equation lacks. A block convolves a row, here a pair of rows as one complex row, in shared
 * memory. Launched by the kernels of s0_ladder.cu.
 * Used by: s0_ladder.cu. */
#include "backend/cuda/filter_kernels.h"
#include "bench/cuda/s0.h"

enum { THREADS = 256, SHARED = 48 << 10 };

/* s zeros, the row, s zeros; then the taps of one side, which are those of the other. */
static __global__ void __launch_bounds__(THREADS)
    convolve_row(const float2 *__restrict__ in, int n, const float *__restrict__ taps, int s,
                 float2 *__restrict__ out)
{
    extern __shared__ float2 row[];
    float *tap = (float *)(row + n + 2 * s);

    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n + 2 * s; i += THREADS)
        row[i] = i >= s && i - s < n ? in[i - s] : make_float2(0, 0);
    for (int i = threadIdx.x; i <= s; i += THREADS)
        tap[i] = taps[s + i];
    __syncthreads();
    for (int c = threadIdx.x; c < n; c += THREADS) {
        const float2 *at = row + s + c;
        const int reach = min(s, max(c, n - 1 - c));
        float2 sum = make_float2(tap[0] * at[0].x, tap[0] * at[0].y);
#pragma unroll 8
        for (int k = 1; k <= reach; k++) {
            const float2 left = at[-k], right = at[k];
            sum.x = fmaf(tap[k], left.x + right.x, sum.x);
            sum.y = fmaf(tap[k], left.y + right.y, sum.y);
        }
        out[c] = sum;
    }
}

cudaError_t cuda_s0_convolve(const float2 *in, unsigned n, unsigned length, const float *taps,
                             unsigned half_width, float2 *out, cudaStream_t stream)
{
    const size_t shared = ((size_t)length + 2 * (size_t)half_width) * sizeof(float2) +
                          ((size_t)half_width + 1) * sizeof(float);

    if (shared > SHARED)
        return cuda_convolve_rows(in, n, length, taps, false, half_width, out, stream);
    convolve_row<<<n, THREADS, shared, stream>>>(in, (int)length, taps, (int)half_width, out);
    return cudaGetLastError();
}
