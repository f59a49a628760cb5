/* Kernels of single steps of the filter: corrections (cuda_prepare_rows()), weights and filter
 * along columns (cuda_filter_columns()), copies of pairs of rows as padded complex rows
 * (cuda_pad_rows()), multiplication of their spectra (cuda_multiply_rows()), convolution in space
 * (cuda_convolve_rows()). If rows are filtered in one launch (chain.cu), only two steps may run
 * before it: the corrections, if the job has bad pixels, a filter along columns or an
 * extrapolation of rows; and the filter along columns, if the job has one. Otherwise (rows too
 * long, --spatial), these kernels filter rows, together with Fourier transforms of cuFFT unless
 * rows are convolved in space.
 * Used by: bench/cuda/s0_filter.cu, filter.c. */
#define FBP_RAY_FLOAT
#include "backend/cuda/filter_kernels.h"

enum { THREADS = 256 };

/* Convert raw rows to line integrals; interpolate samples that are not finite; a block per row. */
static __global__ void __launch_bounds__(THREADS) prepare(const cuda_raw raw, const cuda_prep prep)
{
    const unsigned k = blockIdx.x / raw.load_rows;
    const unsigned view = raw.view0 + k % raw.a_part + k / raw.a_part * raw.part_views;
    const unsigned detector_row = raw.first_row + blockIdx.x % raw.load_rows;
    const size_t first = (size_t)blockIdx.x * raw.n_columns;
    const size_t first_pixel = (size_t)detector_row * raw.n_columns;
    float *row = raw.samples + first;
    unsigned clipped = 0;
    int bad = 0;

    for (unsigned c = threadIdx.x; c < raw.n_columns; c += THREADS) {
        float x = cuda_raw_sample(raw, first + c);
        if (cuda_prep_changes(prep))
            x = cuda_line_integral(prep, first_pixel + c, x, &clipped);
        if (cuda_prep_changes(prep) || raw.counts)
            row[c] = x;
        bad |= !isfinite(x);
    }
    /* The bitmap of rows whose repairs are counted is read after a repair only, which is rare. */
    if (!__syncthreads_or(bad || clipped))
        return;
    const bool counts = cuda_row_counts(prep, view, detector_row);
    if (prep.intensity)
        cuda_count(prep.clipped, counts ? clipped : 0);
    if (__syncthreads_or(bad) && threadIdx.x == 0) { /* and all read the bitmap before */
        const unsigned repaired = cuda_bridge_row(row, raw.n_columns, 1);
        if (counts)
            atomicAdd(prep.not_finite, (unsigned long long)repaired);
    }
    if (counts && threadIdx.x == 0)
        cuda_row_counted(prep, view, detector_row);
}

/* Interpolate bad pixels, one per thread: from good pixels only, so the order does not matter. */
static __global__ void bridge(const cuda_raw raw, const gpu_bridge *bridges, unsigned n,
                              unsigned r0, unsigned n_rows)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    const gpu_bridge b = bridges[i];
    const unsigned row = b.pixel / raw.n_columns;
    if (row < r0 || row >= r0 + n_rows)
        return;
    const size_t shift = (size_t)raw.first_row * raw.n_columns;
    float *samples = raw.samples + (size_t)blockIdx.y * raw.load_rows * raw.n_columns, sum = 0;
    for (int k = 0; k < 4; k++)
        sum += b.weight[k] * samples[b.from[k] - shift];
    samples[b.pixel - shift] = sum;
}

cudaError_t cuda_prepare_rows(const struct cuda_raw *raw, const struct cuda_prep *prep,
                              const struct gpu_bridge *bridges, unsigned n_bridges, unsigned row0,
                              unsigned n_rows, cudaStream_t stream)
{
    prepare<<<raw->n_views * raw->load_rows, THREADS, 0, stream>>>(*raw, *prep);
    if (n_bridges > 0) {
        const dim3 grid((n_bridges + THREADS - 1) / THREADS, raw->n_views);
        bridge<<<grid, THREADS, 0, stream>>>(*raw, bridges, n_bridges, row0, n_rows);
    }
    return cudaGetLastError();
}

/* Multiply rows by their weights, one row per block; blockIdx.y counts views from p.first. */
static __global__ void __launch_bounds__(THREADS)
    weigh_columns(const __grid_constant__ cuda_columns p)
{
    __shared__ fbp_ray_row rays[2];
    const unsigned nc = p.raw.n_columns, row = p.row0 + blockIdx.x, k = p.first + blockIdx.y;
    const unsigned view = p.view0 + k % p.n_groups + k / p.n_groups * p.part_views;
    const size_t stored = (size_t)k * p.raw.load_rows;
    const float *in = p.raw.samples + (stored + row - p.raw.first_row) * nc;
    float *out = p.weighted + ((size_t)blockIdx.y * p.n_rows + blockIdx.x) * nc;
    const cuda_pair rows = {{0, 0}, 1, row, (size_t)row * nc, view};

    cuda_find_rays(p.weights, rows, rays);
    __syncthreads();
    for (unsigned c = threadIdx.x; c < nc; c += THREADS)
        out[c] = in[c] * cuda_weight(p.weights, rows, rays, 0, c, nc);
}

/* Convolve columns of views: a thread computes GPU_COLUMN_ROWS rows of a column, so that each
 * sample it loads is used for several results. */
static __global__ void __launch_bounds__(THREADS)
    convolve_columns(const __grid_constant__ cuda_columns p)
{
    const unsigned nc = p.raw.n_columns, c = blockIdx.x * THREADS + threadIdx.x;
    const int S = p.half_width, r = blockIdx.y * GPU_COLUMN_ROWS, n = p.n_rows;
    const int lo = r - S > 0 ? r - S : 0;
    const int last = r + GPU_COLUMN_ROWS - 1 + S, end = last < n ? last + 1 : n;
    const unsigned k = p.first + blockIdx.z;
    const float *in = p.weighted + (size_t)blockIdx.z * n * nc + c;
    const float *tap = p.taps + GPU_COLUMN_ROWS + S + r - lo;
    float sum[GPU_COLUMN_ROWS] = {};

    if (c >= nc)
        return;
    for (int i = lo; i < end; i++, tap--) {
        const float x = in[(size_t)i * nc];
#pragma unroll
        for (int j = 0; j < GPU_COLUMN_ROWS; j++)
            sum[j] = fmaf(tap[j], x, sum[j]);
    }
    const size_t stored = (size_t)k * p.raw.load_rows;
    const unsigned skipped = p.row0 - p.raw.first_row;
    float *out = p.raw.samples + (stored + skipped + r) * nc + c;
#pragma unroll
    for (int j = 0; j < GPU_COLUMN_ROWS; j++)
        if (r + j < n)
            out[(size_t)j * nc] = sum[j];
}

cudaError_t cuda_filter_columns(const struct cuda_columns *p, cudaStream_t stream)
{
    const dim3 rows(p->n_rows, p->n);
    const dim3 pieces((p->raw.n_columns + THREADS - 1) / THREADS,
                      (p->n_rows + GPU_COLUMN_ROWS - 1) / GPU_COLUMN_ROWS, p->n);

    weigh_columns<<<rows, THREADS, 0, stream>>>(*p);
    convolve_columns<<<pieces, THREADS, 0, stream>>>(*p);
    return cudaGetLastError();
}

static __global__ void __launch_bounds__(THREADS)
    pad(const __grid_constant__ cuda_pairs p, unsigned row_length, float2 *out)
{
    __shared__ fbp_ray_row rays[2];
    const cuda_pair rows = cuda_pair_of(p, blockIdx.x);
    const unsigned nc = p.raw.n_columns;

    cuda_find_rays(p.weights, rows, rays);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < row_length; i += THREADS) {
        const unsigned at = i - p.pad_left; /* wraps if i < pad_left: then c >= nc */
        const unsigned c = at / p.apart;
        float2 v = make_float2(0, 0);
        if (c < nc && at - c * p.apart == 0) {
            v.x = cuda_raw_sample(p.raw, rows.first[0] + c);
            if (rows.n > 1)
                v.y = cuda_raw_sample(p.raw, rows.first[1] + c);
            if (cuda_has_weights(p.weights))
                v = cuda_weighted(p.weights, rows, rays, c, nc, v);
        }
        out[(size_t)blockIdx.x * row_length + i] = v;
    }
}

cudaError_t cuda_pad_rows(const struct cuda_pairs *p, unsigned row_length, float2 *out,
                          cudaStream_t stream)
{
    pad<<<p->n, THREADS, 0, stream>>>(*p, row_length, out);
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

/* Convolve pairs of rows (real and imaginary parts) in space: a block computes THREADS samples from
 * tiles of the input in shared memory. Taps and sums have type T. */
template <class T>
static __global__ void __launch_bounds__(THREADS)
    convolve(const float2 *__restrict__ in, unsigned length, const T *__restrict__ taps,
             unsigned half_width, float2 *__restrict__ out)
{
    __shared__ float2 tile[THREADS];
    const float2 *row = in + (size_t)blockIdx.x * length;
    const int c0 = blockIdx.y * THREADS, c = c0 + threadIdx.x, n = length, s = half_width;
    const int first = c0 - s > 0 ? (c0 - s) / THREADS * THREADS : 0;
    const int end = c0 + THREADS + s < n ? c0 + THREADS + s : n;
    T x = 0, y = 0;

    for (int at = first; at < end; at += THREADS) {
        const int i = at + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = i < n ? row[i] : make_float2(0, 0);
        __syncthreads();
        const int lo = c - s > at ? c - s : at, last = at + THREADS < n ? at + THREADS : n;
        const int hi = c + s + 1 < last ? c + s + 1 : last;
        for (int k = lo; k < hi; k++) {
            const T tap = taps[s + c - k];
            x += tile[k - at].x * tap;
            y += tile[k - at].y * tap;
        }
    }
    if (c < n)
        out[(size_t)blockIdx.x * length + c] = make_float2((float)x, (float)y);
}

cudaError_t cuda_convolve_rows(const float2 *in, unsigned n, unsigned length, const void *taps,
                               bool in_double, unsigned half_width, float2 *out,
                               cudaStream_t stream)
{
    const dim3 grid(n, (length + THREADS - 1) / THREADS);

    if (in_double)
        convolve<<<grid, THREADS, 0, stream>>>(in, length, (const double *)taps, half_width, out);
    else
        convolve<<<grid, THREADS, 0, stream>>>(in, length, (const float *)taps, half_width, out);
    return cudaGetLastError();
}
