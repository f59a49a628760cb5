/* The filter chain: one block a row, or a pair of rows. */
#include "backend/cuda/filter.h"

#include <cfloat>

enum { THREADS = 256 };

/* Row `at` of a raw batch, and which row of the detector it is. */
static __device__ float *row_of(const cuda_raw &raw, unsigned at, unsigned *detector_row)
{
    const unsigned half = at / raw.load_rows / raw.n_views;
    *detector_row = raw.first_row[half] + at % raw.load_rows;
    return raw.samples + (size_t)at * raw.n_columns;
}

/* -log of the transmission; as take_logarithm() of prep/prep.c. */
static __device__ float line_integral(const cuda_prep &p, size_t pixel, float x, unsigned *clipped)
{
    const float least = 1e-6f, gain = p.gain ? p.gain[pixel] : p.inverse_i0;
    float t = (x - (p.dark ? p.dark[pixel] : 0)) * gain;

    if (p.gain && gain == 0) /* a bad pixel, bridged later */
        t = 1;
    if (t < least && t >= -FLT_MAX) { /* not -inf, which is mended below */
        t = least;
        ++*clipped;
    }
    return -logf(t);
}

/* As bridge_row() of prep/prep.c: rare, so one thread does it. */
static __device__ unsigned bridge_row(float *x, unsigned n)
{
    unsigned mended = 0, last = n; /* the last finite sample; n = none yet */

    for (unsigned c = 0; c < n; c++) {
        if (!isfinite(x[c]))
            continue;
        const unsigned first = last == n ? 0 : last + 1;
        for (unsigned i = first; i < c; i++, mended++)
            x[i] = last == n ? x[c]
                             : x[last] + (x[c] - x[last]) * (float)(i - last) / (float)(c - last);
        last = c;
    }
    const float tail = last == n ? 0 : x[last];
    for (unsigned i = last == n ? 0 : last + 1; i < n; i++, mended++)
        x[i] = tail;
    return mended;
}

static __global__ void __launch_bounds__(THREADS) prepare(const cuda_raw raw, const cuda_prep prep)
{
    unsigned detector_row, clipped = 0;
    float *row = row_of(raw, blockIdx.x, &detector_row);
    const size_t first_pixel = (size_t)detector_row * raw.n_columns;
    int bad = 0;

    for (unsigned c = threadIdx.x; c < raw.n_columns; c += THREADS) {
        float x = row[c];
        if (prep.intensity) {
            x = line_integral(prep, first_pixel + c, x, &clipped);
            row[c] = x;
        }
        bad |= !isfinite(x);
    }
    if (clipped)
        atomicAdd(prep.clipped, (unsigned long long)clipped);
    if (__syncthreads_or(bad) && threadIdx.x == 0)
        atomicAdd(prep.not_finite, (unsigned long long)bridge_row(row, raw.n_columns));
}

cudaError_t cuda_prepare_rows(const struct cuda_raw *raw, const struct cuda_prep *prep,
                              cudaStream_t stream)
{
    prepare<<<raw->halves * raw->n_views * raw->load_rows, THREADS, 0, stream>>>(*raw, *prep);
    return cudaGetLastError();
}

/* Sources are good pixels, so the order in which bad ones are bridged does not matter. */
static __global__ void bridge(const cuda_raw raw, const cuda_bridge *bridges, unsigned n,
                              unsigned r0, unsigned n_rows, unsigned half)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const size_t view = half * raw.n_views + blockIdx.y;

    if (i >= n)
        return;
    const cuda_bridge b = bridges[i];
    const unsigned row = b.pixel / raw.n_columns;
    if (row < r0 || row >= r0 + n_rows)
        return;
    const size_t shift = (size_t)raw.first_row[half] * raw.n_columns;
    float *samples = raw.samples + view * raw.load_rows * raw.n_columns, sum = 0;
    for (int k = 0; k < 4; k++)
        sum += b.weight[k] * samples[b.from[k] - shift];
    samples[b.pixel - shift] = sum;
}

cudaError_t cuda_bridge_pixels(const struct cuda_raw *raw, const struct cuda_bridge *bridges,
                               unsigned n_bridges, const unsigned row0[2], unsigned n_rows,
                               cudaStream_t stream)
{
    const dim3 grid((n_bridges + THREADS - 1) / THREADS, raw->n_views);

    for (unsigned half = 0; half < raw->halves; half++)
        bridge<<<grid, THREADS, 0, stream>>>(*raw, bridges, n_bridges, row0[half], n_rows, half);
    return cudaGetLastError();
}

/* The two rows of a pair, and where their weights are. */
struct pair {
    const float *in[2];           /* the second may be NULL */
    const float *image, *line[2]; /* separable; else the weights themselves in line, or none */
};

static __device__ pair pair_of(const cuda_pad &p, unsigned local)
{
    const unsigned at = p.first + local, lane = at / p.n_rows / p.pairs;
    const unsigned group = 2 * (at / p.n_rows % p.pairs), upper = p.row0 + at % p.n_rows;
    const unsigned half = lane / p.turns, turn = lane % p.turns, nc = p.raw.n_columns;
    const unsigned row = half ? p.panel_rows - 1 - upper : upper;
    pair out = {};

    for (unsigned i = 0; i < 2 && group + i < p.n_groups; i++) {
        const size_t view = half * p.raw.n_views + turn * p.n_groups + group + i;
        const size_t scan_view = p.view0 + turn * p.part_views + group + i;
        out.in[i] = p.raw.samples + (view * p.raw.load_rows + row - p.raw.first_row[half]) * nc;
        out.line[i] = p.image     ? p.lines + scan_view * nc
                      : p.weights ? p.weights + (2 * (size_t)local + i) * nc
                                  : NULL;
    }
    out.image = p.image ? p.image + (size_t)row * nc : NULL;
    return out;
}

static __device__ float weighted(const pair &p, int i, unsigned c)
{
    if (!p.in[i])
        return 0;
    if (!p.line[i])
        return p.in[i][c];
    return p.image ? p.in[i][c] * p.image[c] * p.line[i][c] : p.in[i][c] * p.line[i][c];
}

static __global__ void __launch_bounds__(THREADS) pad(const __grid_constant__ cuda_pad p)
{
    const pair rows = pair_of(p, blockIdx.x);
    float2 *out = p.out + (size_t)blockIdx.x * p.row_length;

    for (unsigned i = threadIdx.x; i < p.row_length; i += THREADS) {
        const unsigned c = i - p.pad_left; /* beside the panel: beyond its columns */
        out[i] = c < p.raw.n_columns ? make_float2(weighted(rows, 0, c), weighted(rows, 1, c))
                                     : make_float2(0, 0);
    }
}

cudaError_t cuda_pad_rows(const struct cuda_pad *p, cudaStream_t stream)
{
    pad<<<p->n, THREADS, 0, stream>>>(*p);
    return cudaGetLastError();
}

static __global__ void __launch_bounds__(THREADS)
    multiply(float2 *rows, unsigned length, const float *__restrict__ response)
{
    float2 *row = rows + (size_t)blockIdx.x * length;

    for (unsigned i = threadIdx.x; i < length; i += THREADS) {
        const float r = response[i <= length / 2 ? i : length - i];
        row[i] = make_float2(row[i].x * r, row[i].y * r);
    }
}

cudaError_t cuda_multiply_rows(float2 *rows, unsigned n, unsigned length, const float *response,
                               cudaStream_t stream)
{
    multiply<<<n, THREADS, 0, stream>>>(rows, length, response);
    return cudaGetLastError();
}

/* A tile of THREADS outputs of a row; its inputs pass through shared memory, a tile at a time. */
static __global__ void __launch_bounds__(THREADS)
    convolve(const float2 *__restrict__ in, unsigned length, const float *__restrict__ taps,
             unsigned half_width, float2 *__restrict__ out)
{
    __shared__ float2 tile[THREADS];
    const float2 *row = in + (size_t)blockIdx.x * length;
    const int c0 = blockIdx.y * THREADS, c = c0 + threadIdx.x, n = length, s = half_width;
    const int first = c0 - s > 0 ? (c0 - s) / THREADS * THREADS : 0;
    const int end = c0 + THREADS + s < n ? c0 + THREADS + s : n;
    float2 sum = make_float2(0, 0);

    for (int at = first; at < end; at += THREADS) {
        const int i = at + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = i < n ? row[i] : make_float2(0, 0);
        __syncthreads();
        const int lo = c - s > at ? c - s : at, last = at + THREADS < n ? at + THREADS : n;
        const int hi = c + s + 1 < last ? c + s + 1 : last;
        for (int k = lo; k < hi; k++) {
            const float tap = taps[s + c - k];
            sum.x += tile[k - at].x * tap;
            sum.y += tile[k - at].y * tap;
        }
    }
    if (c < n)
        out[(size_t)blockIdx.x * length + c] = sum;
}

cudaError_t cuda_convolve_rows(const float2 *in, unsigned n, unsigned length, const float *taps,
                               unsigned half_width, float2 *out, cudaStream_t stream)
{
    const dim3 grid(n, (length + THREADS - 1) / THREADS);

    convolve<<<grid, THREADS, 0, stream>>>(in, length, taps, half_width, out);
    return cudaGetLastError();
}
