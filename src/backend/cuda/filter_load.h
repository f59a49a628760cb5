/** @file filter_load.h  Device functions of the filter's kernels: from raw samples to weighted line
 * integrals (internal; CUDA C++).  filter.cu, chain.cu, pad.cu and doubles.cu call them. */
#ifndef FBP_SRC_CUDA_FILTER_LOAD_H
#define FBP_SRC_CUDA_FILTER_LOAD_H

#define FBP_RAY_FLOAT
#include "backend/cuda/filter_kernels.h"

#include <cfloat>

/** Sample `at` of a raw batch, from `counts` if set, else from `samples`. */
static __device__ inline float cuda_raw_sample(const cuda_raw &raw, size_t at)
{
    return raw.counts ? (float)raw.counts[at] : raw.samples[at];
}

/** Does the preparation change finite samples (logarithm, beam hardening)? */
static __device__ inline bool cuda_prep_changes(const cuda_prep &p)
{
    return p.intensity || p.hardening.n > 0;
}

/** Line integral of a measured sample: -log of the transmission, like fbp_transmission(), then the
 *  polynomial of beam hardening, like fbp_harden() (both in prep/prep.h).  pixel: index in `dark`
 * and `gain`; *clipped is incremented if the transmission is below 1e-6. */
static __device__ inline float cuda_line_integral(const cuda_prep &p, size_t pixel, float x,
                                                  unsigned *clipped)
{
    if (p.intensity) {
        const float least = 1e-6f, gain = p.gain ? p.gain[pixel] : p.inverse_i0;
        float t = (x - (p.dark ? p.dark[pixel] : 0)) * gain;
        if (p.gain && gain == 0) /* a bad pixel, interpolated later */
            t = 1;
        if (t < least && t >= -FLT_MAX) { /* not -inf, which is interpolated later */
            t = least;
            ++*clipped;
        }
        x = -logf(t);
    }
    if (p.hardening.n == 0)
        return x;
    float sum = 0;
#pragma unroll
    for (unsigned i = FBP_HARDENING_TERMS; i > 0; i--)
        sum = fmaf(sum, x, p.hardening.a[i - 1]);
    return sum * x;
}

/** Add the counts n of all lanes of a warp to *to. */
static __device__ inline void cuda_count(unsigned long long *to, unsigned n)
{
    for (int lane = 16; lane > 0; lane /= 2)
        n += __shfl_xor_sync(0xffffffffu, n, lane);
    if (n > 0 && threadIdx.x % 32 == 0)
        atomicAdd(to, (unsigned long long)n);
}

/** Are repaired samples of this row counted?  cuda_row_counted() clears the bit that is read here,
 *  so all threads of the block must call this function first.  Rows of one launch are distinct. */
static __device__ inline bool cuda_row_counts(const cuda_prep &p, unsigned view, unsigned row)
{
    const size_t at = (size_t)view * p.panel_rows + row;

    return !p.ledger || (p.ledger[at / 32] >> at % 32 & 1);
}

/** Clear the row's bit.  One thread of the block calls this function. */
static __device__ inline void cuda_row_counted(const cuda_prep &p, unsigned view, unsigned row)
{
    const size_t at = (size_t)view * p.panel_rows + row;

    if (p.ledger)
        atomicAnd(&p.ledger[at / 32], ~(1u << at % 32));
}

/** Interpolate samples that are not finite along a row, like bridge_row() in prep/prep.c; samples
 *  are `step` apart.  One thread calls this function, because such rows are rare.  Returns the
 *  number of repaired samples. */
template <class T>
static __device__ inline unsigned cuda_bridge_row(T *x, unsigned n, unsigned step)
{
    unsigned repaired = 0, last = n; /* last: the last finite sample; n: none yet */

    for (unsigned c = 0; c < n; c++) {
        const T next = x[c * step];
        if (!isfinite(next))
            continue;
        const unsigned first = last == n ? 0 : last + 1;
        const T before = last == n ? next : x[last * step];
        for (unsigned i = first; i < c; i++, repaired++)
            x[i * step] =
                last == n ? next : before + (next - before) * (T)(i - last) / (T)(c - last);
        last = c;
    }
    const T tail = last == n ? 0 : x[last * step];
    for (unsigned i = last == n ? 0 : last + 1; i < n; i++, repaired++)
        x[i * step] = tail;
    return repaired;
}

/** A pair of rows: the same detector row of two adjacent views. */
struct cuda_pair {
    size_t first[2]; /**< index in the raw batch of each row's first sample */
    unsigned n;      /**< rows of the pair, 1 or 2 */
    unsigned row;    /**< detector row */
    size_t pixel;    /**< index of that row's first pixel in images of the detector */
    unsigned view;   /**< index in the scan of the first row's view; the second row: view + 1 */
};

/** The pair of rows of complex row p.first + local. */
static __device__ inline cuda_pair cuda_pair_of(const cuda_pairs &p, unsigned local)
{
    const unsigned at = p.first + local, turn = at % p.turns, nc = p.raw.n_columns;
    const unsigned group = 2 * (at / p.turns / p.n_rows), row = p.row0 + at / p.turns % p.n_rows;
    const size_t view = turn * p.n_groups + group;
    const size_t first = (view * p.raw.load_rows + (row - p.raw.first_row)) * nc;

    return {{first, first + (size_t)p.raw.load_rows * nc},
            group + 1 < p.n_groups ? 2u : 1u,
            row,
            (size_t)row * nc,
            p.view0 + turn * p.part_views + group};
}

/** Compute the factors of the weights that are constant along each row, into shared memory.  The
 *  block's first two threads compute one row each. */
static __device__ inline void cuda_find_rays(const cuda_weights &w, const cuda_pair &rows,
                                             fbp_ray_row *rays)
{
    if (w.views && threadIdx.x < rows.n)
        fbp_ray_row_of(&w.rays, &w.views[rows.view + threadIdx.x], rows.row, &rays[threadIdx.x]);
}

/** Are there weights? */
static __device__ inline bool cuda_has_weights(const cuda_weights &w)
{
    return w.image || w.views;
}

/** Weight of column c in row i of a pair; rays: from cuda_find_rays(). */
static __device__ inline float cuda_weight(const cuda_weights &w, const cuda_pair &rows,
                                           const fbp_ray_row *rays, unsigned i, unsigned c,
                                           unsigned n_columns)
{
    if (w.image)
        return w.image[rows.pixel + c] * w.lines[(size_t)(rows.view + i) * n_columns + c];
    if (w.lines)
        return fbp_ray_geometry(&w.rays, &rays[i], (float)c) *
               w.lines[(size_t)(rows.view + i) * n_columns + c];
    return fbp_ray_weight(&w.rays, &w.views[rows.view + i], &rays[i], (float)c);
}

/** v, samples c of both rows, times their weights. */
static __device__ inline float2 cuda_weighted(const cuda_weights &w, const cuda_pair &rows,
                                              const fbp_ray_row *rays, unsigned c,
                                              unsigned n_columns, float2 v)
{
    v.x *= cuda_weight(w, rows, rays, 0, c, n_columns);
    if (rows.n > 1)
        v.y *= cuda_weight(w, rows, rays, 1, c, n_columns);
    return v;
}

#endif /* FBP_SRC_CUDA_FILTER_LOAD_H */
