/* Corrections, weights and filter of a pair of detector rows in one thread block (the "chain"):
 * samples are read once, filtered rows are written once, and intermediate values stay in registers
 * and shared memory. filter.c launches the chain by cuda_filter_rows() if a row fits in shared
 * memory and the job does not require convolution in space. backend/gpu/tables.h describes the
 * transform of a row; for the inverse, real and imaginary parts are exchanged.
 *
 * As on the CPU (backend/cpu/convolve.c), powers of two scale both rows of a pair to the same
 * magnitude, so that the larger row does not cause rounding errors in the smaller one.
 * Used by: filter.c. */
#define FBP_RAY_FLOAT
#include "backend/cuda/dft.h"
#include "backend/cuda/filter_kernels.h"

enum {
    INNER = GPU_CHAIN_INNER,
    STEP = GPU_CHAIN_STEP,
    APART = GPU_CHAIN_APART,
    PADDED = GPU_CHAIN_PADDED
};

/* Index of point i of a row in shared memory: points 1 and 16 apart are in different banks. */
static __device__ inline unsigned place(unsigned i)
{
    return i + i / STEP;
}

/* Shared memory of a block beside the row. */
struct shared {
    unsigned peak[2]; /* bits of the greatest magnitudes */
    fbp_ray_row rays[2];
};

/* Powers of two that scale a row's greatest sample into [1/2, 1), and back; 0: all zeros. */
struct scale {
    float to, back;
};

static __device__ inline scale scale_of(unsigned peak)
{
    const unsigned e = min(max(peak >> 23, 1u), 251u);
    return {peak ? __uint_as_float((253 - e) << 23) : 0, peak ? __uint_as_float((e + 1) << 23) : 0};
}

static __device__ inline unsigned warp_max(unsigned x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, x);
#else
    for (int lane = 16; lane > 0; lane /= 2)
        x = max(x, __shfl_xor_sync(0xffffffffu, x, lane));
    return x;
#endif
}

/* Column c of both rows as measured. */
static __device__ inline float2 load(const cuda_chain &p, const cuda_pair &rows, unsigned c)
{
    return make_float2(cuda_raw_sample(p.pairs.raw, rows.first[0] + c),
                       rows.n > 1 ? cuda_raw_sample(p.pairs.raw, rows.first[1] + c) : 0);
}

/* Store line integrals of both rows of a pair in shared memory; samples that are not finite are
 * interpolated. If p.prepared, the samples are line integrals, and are only copied. */
static __device__ inline void prepare(const cuda_chain &p, const cuda_pair &rows, float2 *line)
{
    const unsigned nc = p.pairs.raw.n_columns;
    unsigned clipped[2] = {0, 0};
    int bad = 0;

#pragma unroll 2
    for (unsigned c = threadIdx.x; c < nc; c += blockDim.x) {
        float2 v = load(p, rows, c);
        if (cuda_prep_changes(p.prep)) {
            v.x = cuda_line_integral(p.prep, rows.pixel + c, v.x, &clipped[0]);
            if (rows.n > 1)
                v.y = cuda_line_integral(p.prep, rows.pixel + c, v.y, &clipped[1]);
        }
        bad |= !isfinite(v.x) || !isfinite(v.y);
        line[c] = v;
    }
    /* The bitmap of rows whose repairs are counted is read after a repair only, which is rare. */
    if (!__syncthreads_or(bad || clipped[0] || clipped[1]) || p.prepared)
        return;
    const bool count[2] = {cuda_row_counts(p.prep, rows.view, rows.row),
                           rows.n > 1 && cuda_row_counts(p.prep, rows.view + 1, rows.row)};
    if (p.prep.intensity)
        cuda_count(p.prep.clipped, (count[0] ? clipped[0] : 0) + (count[1] ? clipped[1] : 0));
    const int any = __syncthreads_or(bad); /* also a barrier: all threads have read the bitmap */
    if (threadIdx.x < rows.n && count[threadIdx.x])
        cuda_row_counted(p.prep, rows.view + threadIdx.x, rows.row);
    if (!any)
        return;
    if (threadIdx.x < rows.n) {
        const unsigned repaired = cuda_bridge_row(threadIdx.x ? &line[0].y : &line[0].x, nc, 2);
        if (repaired && count[threadIdx.x])
            atomicAdd(p.prep.not_finite, (unsigned long long)repaired);
    }
    __syncthreads();
}

/* Multiply both rows of a pair, in shared memory, by their weights, if there are any. */
static __device__ inline void weigh(const cuda_chain &p, const cuda_pair &rows,
                                    const fbp_ray_row *rays, float2 *line)
{
    const unsigned nc = p.pairs.raw.n_columns;

    if (!cuda_has_weights(p.pairs.weights))
        return;
#pragma unroll 1
    for (unsigned c = threadIdx.x; c < nc; c += blockDim.x)
        line[c] = cuda_weighted(p.pairs.weights, rows, rays, c, nc, line[c]);
}

/* Samples of a thread in registers: in[i][k] is input k of its i-th transform of RADIX points,
 * whose inputs are INNER columns apart; the upper half of the inputs is 0, and not stored. */
template <int RADIX, int THREADS> struct samples {
    static constexpr int TURNS = (INNER + THREADS - 1) / THREADS, HALF = RADIX / 2;
    float2 in[TURNS][HALF];
};

/* Load the weighted samples of a thread into registers: if PREPARED, from shared memory, else from
 * the batch, times `image` and `lines` (struct cuda_weights). peak: greatest magnitudes of the
 * rows. Returns true in all threads if a sample is not finite. */
template <bool PREPARED, int RADIX, int THREADS>
static __device__ inline bool take(const cuda_chain &p, const cuda_pair &rows, const float2 *line,
                                   unsigned *peak, samples<RADIX, THREADS> &out)
{
    const unsigned nc = p.pairs.raw.n_columns;
    const float *image = p.pairs.weights.image + rows.pixel;
    const float *first = p.pairs.weights.lines + (size_t)rows.view * nc;
    unsigned x = 0, y = 0;

    if (threadIdx.x < 2)
        peak[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < out.TURNS; i++)
#pragma unroll
        for (int k = 0; k < out.HALF; k++) {
            const unsigned at = i * THREADS + threadIdx.x, c = at + k * INNER - p.pairs.pad_left;
            float2 v = make_float2(0, 0);
            if (at < INNER && c < nc) {
                v = PREPARED ? line[c] : load(p, rows, c);
                if (!PREPARED) {
                    const float w = image[c];
                    v.x *= w * first[c];
                    if (rows.n > 1)
                        v.y *= w * first[nc + c];
                }
            }
            out.in[i][k] = v;
            x = max(x, __float_as_uint(v.x) & 0x7fffffffu);
            y = max(y, __float_as_uint(v.y) & 0x7fffffffu);
        }
    x = warp_max(x);
    y = warp_max(y);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&peak[0], x);
        atomicMax(&peak[1], y);
    }
    __syncthreads();
    return max(peak[0], peak[1]) >= 0x7f800000u;
}

/* First step of the transform: scale both rows of the pair, transform them (a complex row) to RADIX
 * interleaved rows of INNER points, multiply by twiddle factors, store in shared memory. */
template <int RADIX, int THREADS>
static __device__ inline void take_apart(samples<RADIX, THREADS> &rows, scale a, scale b,
                                         const float2 *__restrict__ turns, float2 *line)
{
#pragma unroll
    for (int i = 0; i < rows.TURNS; i++) {
        const unsigned at = i * THREADS + threadIdx.x;
        float2 out[RADIX];
        if (at >= INNER)
            break;
#pragma unroll
        for (int k = 0; k < rows.HALF; k++)
            rows.in[i][k] = make_float2(rows.in[i][k].x * a.to, rows.in[i][k].y * b.to);
        cuda_dft_padded<RADIX>(rows.in[i], out);
#pragma unroll
        for (int q = 0; q < RADIX; q++)
            line[q * PADDED + place(at)] = q ? cuda_times(out[q], turns[q * INNER + at]) : out[q];
    }
}

/* Convolve an interleaved row with 16 threads: transform, multiply by the response, and back. */
static __device__ inline void convolve(float2 *x, unsigned lane, const float2 *__restrict__ turns,
                                       const float *__restrict__ response, unsigned stride)
{
    float2 v[STEP];

#pragma unroll
    for (int k = 0; k < STEP; k++)
        v[k] = x[lane + k * APART];
    cuda_dft<STEP>(v);
#pragma unroll
    for (int k = 0; k < STEP; k++)
        x[lane + k * APART] = k ? cuda_times(v[k], turns[k * STEP + lane]) : v[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < STEP; k++)
        v[k] = x[lane * APART + k];
    cuda_dft<STEP>(v);
#pragma unroll
    for (int k = 0; k < STEP; k++) {
        const float r = response[k * stride];
        v[k] = make_float2(v[k].y * r, v[k].x * r);
    }
    cuda_dft<STEP>(v);
#pragma unroll
    for (int k = 0; k < STEP; k++)
        x[lane * APART + k] = v[k];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < STEP; k++)
        v[k] = k ? cuda_times(x[lane + k * APART], turns[k * STEP + lane]) : x[lane];
    cuda_dft<STEP>(v);
#pragma unroll
    for (int k = 0; k < STEP; k++)
        x[lane + k * APART] = v[k];
}

/* Last step of the inverse transform: combine the interleaved rows to one row, undo the scale
 * factors of the pair, and write it to the output. */
template <int RADIX, int THREADS>
static __device__ inline void put_together(const cuda_chain &p, scale a, scale b,
                                           const float2 *line)
{
    float2 *row = p.out + (size_t)blockIdx.x * p.stride;

    for (unsigned at = threadIdx.x; at < INNER; at += THREADS) {
        float2 spectrum[RADIX], out[RADIX / 2];
#pragma unroll
        for (int q = 0; q < RADIX; q++) {
            const float2 v = line[q * PADDED + place(at)];
            spectrum[q] = q ? cuda_times(v, p.turns[q * INNER + at]) : v;
        }
        cuda_dft_cropped<RADIX>(spectrum, out);
#pragma unroll
        for (int k = 0; k < RADIX / 2; k++)
            if (at + k * INNER < p.n_columns)
                row[at + k * INNER] = make_float2(out[k].y * a.back, out[k].x * b.back);
    }
}

template <int RADIX, int THREADS, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    filter_rows(const __grid_constant__ cuda_chain p)
{
    extern __shared__ float2 line[];
    __shared__ shared s;
    const cuda_pair rows = cuda_pair_of(p.pairs, blockIdx.x);
    samples<RADIX, THREADS> in;

    const bool plain = p.pairs.weights.image && !cuda_prep_changes(p.prep);
    if (!plain || (take<false>(p, rows, line, s.peak, in) && !p.prepared)) {
        cuda_find_rays(p.pairs.weights, rows, s.rays);
        prepare(p, rows, line);
        weigh(p, rows, s.rays, line);
        take<true>(p, rows, line, s.peak, in);
    }
    const scale a = scale_of(s.peak[0]), b = scale_of(s.peak[1]);
    take_apart(in, a, b, p.turns, line);
    __syncthreads();
#pragma unroll 1
    for (unsigned at = threadIdx.x; at < RADIX * STEP; at += THREADS)
        convolve(line + at / STEP * PADDED, at % STEP, p.turns + RADIX * INNER, p.response + at,
                 RADIX * STEP);
    __syncthreads();
    put_together<RADIX, THREADS>(p, a, b, line);
}

/* A kernel for one length of the transform, with the number of threads per block that was the
 * fastest in measurements (bench/results/cuda.md). */
struct instance {
    unsigned radix, threads;
    const void *kernel;
};

static constexpr int radices[] = {GPU_CHAIN_RADICES};

template <int I, int RADIX, int THREADS, int BLOCKS> static constexpr instance make()
{
    static_assert(radices[I] == RADIX);
    return {RADIX, THREADS, (const void *)filter_rows<RADIX, THREADS, BLOCKS>};
}

static const instance instances[] = {
    make<0, 2, 32, 16>(),  make<1, 4, 64, 16>(),  make<2, 6, 96, 8>(),   make<3, 8, 128, 8>(),
    make<4, 10, 128, 8>(), make<5, 12, 192, 5>(), make<6, 16, 256, 4>(), make<7, 20, 256, 3>(),
    make<8, 24, 256, 2>(), make<9, 32, 256, 2>()};

enum { INSTANCES = sizeof instances / sizeof *instances };
static_assert(INSTANCES == sizeof radices / sizeof *radices);

static const instance *find(size_t length)
{
    for (int i = 0; i < INSTANCES; i++)
        if (instances[i].radix * (size_t)INNER == length)
            return &instances[i];
    return nullptr;
}

size_t cuda_chain_static_bytes(void)
{
    return sizeof(shared);
}

cudaError_t cuda_chain_open(size_t length)
{
    const instance *k = find(length);
    return cudaFuncSetAttribute(k->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)gpu_chain_row_bytes(length));
}

cudaError_t cuda_filter_rows(const struct cuda_chain *chain, size_t length, cudaStream_t stream)
{
    const instance *k = find(length);
    cuda_chain parameter = *chain;
    void *arguments[] = {&parameter};

    return cudaLaunchKernel(k->kernel, dim3(chain->pairs.n), dim3(k->threads), arguments,
                            gpu_chain_row_bytes(length), stream);
}
