/* CUDA kernels that filter plane integrals (EPR) in double, and cuda_filter_doubles(), which
 * launches them: repair of samples that are not finite, weights, convolution, and storage in the
 * layout of the backprojection.
 * Used by: filter.c. */
#define FBP_RAY_FLOAT
#include "backend/cuda/filter_kernels.h"

#include <utility>

enum { THREADS = 128 };

/* Interpolate samples that are not finite, one row per block; other rows are only read. */
static __global__ void __launch_bounds__(THREADS) repair(const cuda_doubles d, const cuda_prep prep)
{
    const unsigned view = d.view0 + blockIdx.x / d.load_rows;
    const unsigned row = d.first_row + blockIdx.x % d.load_rows;
    double *const x = d.samples + (size_t)blockIdx.x * d.n_columns;
    int bad = 0;

    for (unsigned c = threadIdx.x; c < d.n_columns; c += THREADS)
        bad |= !isfinite(x[c]);
    if (!__syncthreads_or(bad) || threadIdx.x > 0)
        return;
    const unsigned repaired = cuda_bridge_row(x, d.n_columns, 1);
    if (cuda_row_counts(prep, view, row)) {
        atomicAdd(prep.not_finite, (unsigned long long)repaired);
        cuda_row_counted(prep, view, row);
    }
}

static __global__ void __launch_bounds__(THREADS)
    load(const cuda_doubles d, unsigned first, double *out)
{
    const unsigned at = first + blockIdx.x, view = at / d.n_rows;
    const unsigned row = d.row0 - d.first_row + at % d.n_rows;
    const double *in = d.samples + ((size_t)view * d.load_rows + row) * d.n_columns;
    const double weight = d.weights ? d.weights[d.view0 + view] : 1;

    for (unsigned i = threadIdx.x; i < d.length; i += THREADS) {
        const unsigned from = i - d.pad_left, c = from / d.apart; /* i < pad_left: c >= n_columns */
        const bool there = c < d.n_columns && c * d.apart == from;
        out[(size_t)blockIdx.x * d.length + i] = there ? weight * in[c] : 0;
    }
}

/* Convolve a row: a block computes THREADS samples, and reads input through shared memory. */
static __global__ void __launch_bounds__(THREADS)
    convolve(const double *__restrict__ in, unsigned length, const double *__restrict__ taps,
             unsigned half_width, double *__restrict__ out)
{
    __shared__ double tile[THREADS];
    const double *row = in + (size_t)blockIdx.x * length;
    const int c = blockIdx.y * THREADS + threadIdx.x, n = length, s = half_width;
    double sum = 0;

    for (int at = 0; at < n; at += THREADS) {
        const int i = at + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = i < n ? row[i] : 0;
        __syncthreads();
        const int lo = max(c - s, at), end = min(c + s + 1, min(at + (int)THREADS, n));
        for (int k = lo; k < end; k++)
            sum = fma(taps[s + c - k], tile[k - at], sum);
    }
    if (c < n)
        out[(size_t)blockIdx.x * length + c] = sum;
}

/* Store one filtered row per block in double.  A row is a channel (time point) of its view; `views`
 * has the layout [view][group][column][channel in the group].  The block of a view's last row also
 * stores the zeros that fill the last group. */
static __global__ void __launch_bounds__(THREADS)
    store(const cuda_doubles d, unsigned first, const double *__restrict__ rows, unsigned columns,
          unsigned groups, unsigned frames, double *views)
{
    const unsigned at = first + blockIdx.x, view = at / d.n_rows, row = at % d.n_rows;
    const unsigned group = row / frames, f0 = row - group * frames;
    const unsigned end = row + 1 == d.n_rows ? frames : f0 + 1;
    const double *in = rows + (size_t)blockIdx.x * d.length;
    double *out = views + ((size_t)view * groups + group) * columns * frames;

    for (unsigned c = threadIdx.x; c < columns; c += THREADS)
        for (unsigned f = f0; f < end; f++)
            out[(size_t)c * frames + f] = f == f0 && c < d.length ? in[c] : 0;
}

cudaError_t cuda_filter_doubles(const struct cuda_doubles *d, const struct cuda_prep *prep,
                                const struct cuda_doubles_filter *f, cudaStream_t stream)
{
    const unsigned n = d->n_views * d->n_rows, across = (d->length + THREADS - 1) / THREADS;

    repair<<<d->n_views * d->load_rows, THREADS, 0, stream>>>(*d, *prep);
    for (unsigned at = 0, some; at < n; at += some) {
        double *from = f->rows, *to = f->work;
        some = min(n - at, f->rows_per_call);
        load<<<some, THREADS, 0, stream>>>(*d, at, from);
        for (unsigned i = 0; i < f->passes; i++) {
            convolve<<<dim3(some, across), THREADS, 0, stream>>>(from, d->length, f->taps,
                                                                 f->half_width, to);
            std::swap(from, to);
        }
        store<<<some, THREADS, 0, stream>>>(*d, at, from, f->columns, f->groups, f->frames,
                                            f->views);
    }
    return cudaGetLastError();
}
