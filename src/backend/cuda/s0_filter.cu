/*
 * The filter of Okitsu, Ino and Hagihara 2008 (Eq. 1, with the shift that it lacks): a block takes
 * a row, or here a pair of rows as one complex row, and convolves it in shared memory.
 */
#include "backend/cuda/filter.h"
#include "backend/cuda/s0.h"

enum { THREADS = 256, SHARED = 48 << 10 };

/* Columns c, c + THREADS, … of a row; taps of one side, which are those of the other. */
static __global__ void __launch_bounds__(THREADS)
    convolve_row(const float2 *__restrict__ in, int n, const float *__restrict__ taps, int s,
                 float2 *__restrict__ out)
{
    extern __shared__ float2 row[];
    float *tap = (float *)(row + n);

    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += THREADS)
        row[i] = in[i];
    for (int i = threadIdx.x; i <= s; i += THREADS)
        tap[i] = taps[s + i];
    __syncthreads();
    for (int c = threadIdx.x; c < n; c += THREADS) {
        const int lo = c > s ? c - s : 0, hi = c + s < n ? c + s : n - 1;
        float2 sum = make_float2(0, 0);
        for (int k = lo; k <= hi; k++) {
            const float h = tap[abs(c - k)];
            sum.x = fmaf(h, row[k].x, sum.x);
            sum.y = fmaf(h, row[k].y, sum.y);
        }
        out[c] = sum;
    }
}

cudaError_t cuda_s0_convolve(const float2 *in, unsigned n, unsigned length, const float *taps,
                             unsigned half_width, float2 *out, cudaStream_t stream)
{
    const size_t shared = length * sizeof(float2) + (half_width + 1) * sizeof(float);

    if (shared > SHARED)
        return cuda_convolve_rows(in, n, length, taps, half_width, out, stream);
    convolve_row<<<n, THREADS, shared, stream>>>(in, (int)length, taps, (int)half_width, out);
    return cudaGetLastError();
}
