/* Rows and voxels of jobs in double. */
#include "backend/cuda/in_double_kernels.h"

#include "backend/cuda/rows.h"

enum { THREADS = 128 };

/* As bridge_row_double() of prep/prep.c: rare, so one thread does it. */
static __device__ unsigned bridge_row(double *x, unsigned n)
{
    unsigned mended = 0, last = n; /* the last finite sample; n = none yet */

    for (unsigned c = 0; c < n; c++) {
        if (!isfinite(x[c]))
            continue;
        const unsigned first = last == n ? 0 : last + 1;
        for (unsigned i = first; i < c; i++, mended++)
            x[i] = last == n ? x[c]
                             : x[last] + (x[c] - x[last]) * (double)(i - last) / (double)(c - last);
        last = c;
    }
    const double tail = last == n ? 0 : x[last];
    for (unsigned i = last == n ? 0 : last + 1; i < n; i++, mended++)
        x[i] = tail;
    return mended;
}

/* By one thread: the row's bit is taken if it is there. */
static __device__ void count(const cuda_double_rows &r, unsigned view, unsigned row,
                             unsigned mended)
{
    const size_t at = (size_t)(r.view0 + view) * r.panel_rows + r.row0 + row;
    const unsigned bit = 1u << at % FBP_LEDGER_BITS;

    if (!r.ledger || atomicAnd(&r.ledger[at / FBP_LEDGER_BITS], ~bit) & bit)
        atomicAdd(r.not_finite, (unsigned long long)mended);
}

/* A block a row. */
static __global__ void __launch_bounds__(THREADS) take_row(const cuda_double_rows r)
{
    const unsigned at = r.first + blockIdx.x, view = at / r.n_rows, row = at % r.n_rows;
    double *in = r.raw + ((size_t)view * r.load_rows + r.skip + row) * r.raw_columns;
    double *out = r.lines + (size_t)blockIdx.x * r.n_columns;
    const double weight = r.weights ? r.weights[r.view0 + view] : 1;
    bool bad = false;

    for (unsigned c = threadIdx.x; c < r.raw_columns; c += THREADS)
        bad |= !isfinite(in[c]);
    if (__syncthreads_or(bad)) {
        if (threadIdx.x == 0)
            count(r, view, row, bridge_row(in, r.raw_columns));
        __syncthreads();
    }
    for (unsigned c = threadIdx.x; c < r.n_columns; c += THREADS) {
        const unsigned from = c - r.pad_left, sample = from / r.apart; /* before it: beyond all */
        const bool there = from % r.apart == 0 && sample < r.raw_columns;
        out[c] = there ? in[sample] * weight : 0;
    }
}

cudaError_t cuda_double_take(const struct cuda_double_rows *rows, cudaStream_t stream)
{
    take_row<<<rows->n, THREADS, 0, stream>>>(*rows);
    return cudaGetLastError();
}

/* out(c) = sum_i taps[half_width + i - c] in(i); the order of terms is that of the row. */
static __global__ void __launch_bounds__(THREADS)
    convolve(const double *__restrict__ in, int n_columns, const double *__restrict__ taps,
             int half_width, double *__restrict__ out)
{
    const int c = (int)(blockIdx.x * THREADS + threadIdx.x);
    const double *line = in + (size_t)blockIdx.y * n_columns;
    double sum = 0;

    if (c >= n_columns)
        return;
    const int first = max(c - half_width, 0), end = min(c + half_width + 1, n_columns);
    for (int i = first; i < end; i++)
        sum = fma(taps[half_width + i - c], line[i], sum);
    out[(size_t)blockIdx.y * n_columns + c] = sum;
}

cudaError_t cuda_double_convolve(const double *in, unsigned n, unsigned n_columns,
                                 const double *taps, unsigned half_width, double *out,
                                 cudaStream_t stream)
{
    convolve<<<dim3(cuda_blocks(n_columns, THREADS), n), THREADS, 0, stream>>>(
        in, (int)n_columns, taps, (int)half_width, out);
    return cudaGetLastError();
}

/* A row of a group of frames; behind the last are those that fill its group. */
static __global__ void __launch_bounds__(THREADS)
    store_row(const cuda_double_rows r, const double *__restrict__ lines, const gpu_planes to,
              double *__restrict__ filtered)
{
    const unsigned columns = (unsigned)to.columns, frames = (unsigned)to.frames;
    const unsigned c = blockIdx.x * THREADS + threadIdx.x, at = r.first + blockIdx.y;
    const unsigned view = at / r.n_rows, row = at % r.n_rows, group = row / frames;
    const unsigned frame = row % frames, end = row + 1 == r.n_rows ? frames : frame + 1;

    if (c >= columns)
        return;
    double *out = filtered + (((size_t)view * to.groups + group) * columns + c) * frames;
    out[frame] = c < r.n_columns ? lines[(size_t)blockIdx.y * r.n_columns + c] : 0;
    for (unsigned f = frame + 1; f < end; f++)
        out[f] = 0;
}

cudaError_t cuda_double_store(const struct cuda_double_rows *rows, const double *lines,
                              const struct gpu_planes *to, double *filtered, cudaStream_t stream)
{
    store_row<<<dim3(cuda_blocks((unsigned)to->columns, THREADS), rows->n), THREADS, 0, stream>>>(
        *rows, lines, *to, filtered);
    return cudaGetLastError();
}

enum { LOOKERS = 256 };

/* As look_at() of volume.cu: a block adds to its own entry, so that no order is left to chance. */
static __global__ void __launch_bounds__(LOOKERS)
    look_at(const double *__restrict__ in, size_t n, cuda_double_found *found)
{
    __shared__ cuda_double_found of[LOOKERS];
    const size_t step = (size_t)gridDim.x * LOOKERS;
    const unsigned me = threadIdx.x;
    cuda_double_found mine = {INFINITY, -INFINITY, 0};

    if (me == 0)
        mine = found[blockIdx.x];
    for (size_t i = (size_t)blockIdx.x * LOOKERS + me; i < n; i += step) {
        mine.min = fmin(mine.min, in[i]);
        mine.max = fmax(mine.max, in[i]);
        mine.sum += in[i];
    }
    of[me] = mine;
    for (unsigned half = LOOKERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half) {
            of[me].min = fmin(of[me].min, of[me + half].min);
            of[me].max = fmax(of[me].max, of[me + half].max);
            of[me].sum += of[me + half].sum;
        }
    }
    if (me == 0)
        found[blockIdx.x] = of[0];
}

cudaError_t cuda_double_look_at(const double *in, size_t n, struct cuda_double_found *found,
                                cudaStream_t stream)
{
    look_at<<<GPU_FOUND, LOOKERS, 0, stream>>>(in, n, found);
    return cudaGetLastError();
}
