/** @file filter_kernels.h  Functions that launch the filter's kernels (filter.cu, chain.cu, pad.cu,
 * doubles.cu), their parameters, and device functions that these kernels share (internal; C and
 * CUDA C++).  filter.c calls the functions.  Weights of rays are computed in float if FBP_RAY_FLOAT
 * is defined, else in double.
 * Used by: bench/cuda/, backend/cuda/. */
#ifndef FBP_SRC_BACKEND_CUDA_FILTER_KERNELS_H
#define FBP_SRC_BACKEND_CUDA_FILTER_KERNELS_H

#include "backend/cuda/runtime.h"

#ifdef __CUDACC__ /* macros for weight/ray.h and filter/pad.h, which are included below */
#    define FBP_RAY_INLINE static __device__ inline
#    define FBP_PAD_FN     static __host__ __device__ inline
#    include <cfloat>
#endif
#include "backend/gpu/tables.h"
#include "filter/pad.h"
#include "prep/prep.h"
#include "weight/ray.h"

/** A batch of raw views [n_views][load_rows][n_columns] in device memory. */
struct cuda_raw {
    float *samples;
    /** samples as uint16, which a kernel converts to `samples`; NULL: `samples` is the input */
    const uint16_t *counts;
    unsigned n_views, load_rows, n_columns;
    unsigned first_row; /**< detector row of the first loaded row */
    unsigned view0;     /**< index of the batch's first view in the scan */
    unsigned a_part; /**< views of the batch per symmetric part of the scan (a quarter turn, …) */
    /** views of the scan per symmetric part */
    unsigned part_views;
};

/** Corrections of raw samples: struct fbp_prep with its tables in device memory. */
struct cuda_prep {
    const float *dark, *gain; /**< [row][column]; NULL: none */
    float inverse_i0;
    bool intensity;
    struct fbp_hardening hardening;
    unsigned long long *not_finite, *clipped; /**< counters of repaired samples */
    /** bitmap of detector rows of views (struct fbp_row_bitmap): a set bit means that the repaired
     * samples of the row are still to be counted; NULL: those of all rows are counted */
    unsigned *ledger;
    unsigned panel_rows; /**< detector rows per view in `ledger` */
};

/** Weights of samples.  If `image` and `lines` are set, a weight is their product.  If `views` is
 * set, weights are computed per ray; `lines`, if set, then replaces the factors for angle step and
 * redundancy.  Without `image` and `views`, samples are not weighted. */
struct cuda_weights {
    /** image: factor per pixel [row][column]; lines: factor per view and column [view][column] */
    const float *image, *lines;
    struct fbp_rays rays;
    const struct fbp_ray_view *views; /**< constants of the rays of each view of the scan */
};

/** Parameters of cuda_filter_columns(): weights prepared views, and filters along v. */
struct cuda_columns {
    struct cuda_raw raw;
    struct cuda_weights weights;
    unsigned first, n;                    /**< views [first, first + n) of the batch */
    unsigned n_groups, part_views, view0; /**< see struct cuda_pairs */
    unsigned row0, n_rows; /**< detector rows [row0, row0 + n_rows) are weighted and convolved */
    float *weighted;       /**< scratch [n][n_rows][n_columns] */
    /** 2 half_width + 1 filter taps, with GPU_COLUMN_ROWS zeros on either side */
    const float *taps;
    unsigned half_width;
};

/** Pairs of rows of a raw batch, filtered as real and imaginary part of complex rows [first, first
 * + n) in the order of struct cuda_rows (kernel.h). */
struct cuda_pairs {
    struct cuda_raw raw;
    struct cuda_weights weights;
    /** range of complex rows; symmetric views per group; views of the scan per part. */
    unsigned first, n, turns, part_views;
    /** groups in the batch; filtered rows per view; detector row of the first. */
    unsigned n_groups, n_rows, row0;
    /** first view of the batch; column of a filtered row for measured column 0. */
    unsigned view0, pad_left;
    unsigned apart; /**< distance, in a filtered row, between adjacent measured columns [samples] */
};

/** Parameters of cuda_filter_rows(): corrects, weights, filters pairs of rows in one launch. */
struct cuda_chain {
    struct cuda_pairs pairs;
    struct cuda_prep prep;
    bool prepared;         /**< true: samples are finite line integrals already */
    const float2 *turns;   /**< gpu_chain_twiddles() twiddle factors */
    const float *response; /**< response of the row filter, in the order of gpu_chain_frequency() */
    float2 *out;           /**< filtered pairs [n][stride] */
    /** stride: distance between filtered rows [samples]; n_columns: samples per filtered row */
    unsigned stride, n_columns;
};

/** Parameters of cuda_pad_find() and cuda_pad_add(): prepared pairs of rows, and the rule by which
 *  they are extrapolated beyond the panel (filter/pad.h). */
struct cuda_pad {
    struct cuda_pairs pairs;
    struct cuda_weights weights;
    bool weighted; /**< samples are already weighted */
    struct fbp_pad_rule rule;
    /** filtered extrapolation functions [end of the row][index in rule.lengths][n_columns] */
    const float *tables;
    unsigned n_columns;       /**< samples of a filtered row */
    struct fbp_pad_end *ends; /**< scratch [pairs.n][row of the pair][end] */
};

/** A raw batch of plane integrals in double, [n_views][load_rows][n_columns], and the rows of it
 * that are filtered.  Rows are few and short, so they are convolved in space, one by one. */
struct cuda_doubles {
    double *samples;
    unsigned n_views, load_rows, n_columns;
    unsigned view0; /**< index of the batch's first view in the scan */
    /** first_row: detector row of the first loaded row; row0: that of the first filtered row */
    unsigned first_row, row0;
    unsigned n_rows;          /**< filtered rows per view */
    unsigned pad_left, apart; /**< see struct cuda_pairs */
    unsigned length;          /**< samples of a filtered row */
    const double *weights;    /**< one per view of the scan; NULL: none */
};

/** Filter of plane integrals in double, and its output `views`: [view][group of
 * channels][column][channel of the group] (struct gpu_planes), zero after the last column or
 * channel. */
struct cuda_doubles_filter {
    const double *taps;
    /** passes: number of convolutions of each row; 0: rows are filtered already */
    unsigned half_width, passes;
    unsigned rows_per_call;
    double *rows, *work; /**< scratch [rows_per_call][length], each */
    unsigned columns, groups, frames;
    double *views;
};

FBP_BEGIN
/** Convert a raw batch to line integrals in raw->samples. Samples that are not finite are
 * interpolated along rows; bad pixels of rows [row0, row0 + n_rows) from good ones. */
cudaError_t cuda_prepare_rows(const struct cuda_raw *raw, const struct cuda_prep *prep,
                              const struct gpu_bridge *bridges, unsigned n_bridges, unsigned row0,
                              unsigned n_rows, cudaStream_t stream);

/** Weight rows [row0, row0 + n_rows) of views, and convolve each detector column of these rows, in
 * place.  The first and last half_width of these rows are correct only if the detector ends there.
 * A filtered sample is the same sum in the same order, whichever rows are loaded. */
cudaError_t cuda_filter_columns(const struct cuda_columns *columns, cudaStream_t stream);

/** Fit the extrapolation of prepared rows before the filter, which may overwrite them. */
cudaError_t cuda_pad_find(const struct cuda_pad *pad, cudaStream_t stream);

/** Add the filtered extrapolation beyond the panel to filtered pairs of rows [pairs.n][stride]. */
cudaError_t cuda_pad_add(const struct cuda_pad *pad, float2 *rows, unsigned stride,
                         cudaStream_t stream);

/** Copy pairs of rows as complex rows to out[n][row_length], weighted if there are weights, with
 * zeros on either side and, if pairs->apart > 1, between samples. */
cudaError_t cuda_pad_rows(const struct cuda_pairs *pairs, unsigned row_length, float2 *out,
                          cudaStream_t stream);

/** Multiply n spectra of `length` values by the real, even response [length/2 + 1]. */
cudaError_t cuda_multiply_rows(float2 *rows, unsigned n, unsigned length, const float *response,
                               cudaStream_t stream);

/** Convolve n rows of `length` samples: out[c] = sum_i in[i] taps[S + c - i], S = half_width (the
 *  filter of Okitsu et al. 2008).  Taps and sums are double if in_double, else float. */
cudaError_t cuda_convolve_rows(const float2 *in, unsigned n, unsigned length, const void *taps,
                               bool in_double, unsigned half_width, float2 *out,
                               cudaStream_t stream);

/** Returns the bytes of static shared memory of a block of chain.cu, the filter in one launch. */
size_t cuda_chain_static_bytes(void);

/** Set the dynamic shared memory of chain.cu's kernel for this length on the current device. */
cudaError_t cuda_chain_open(size_t length);

/** Filter pairs of rows in one launch (chain.cu), by transforms of `length` points. */
cudaError_t cuda_filter_rows(const struct cuda_chain *chain, size_t length, cudaStream_t stream);

/** Filter all rows of a batch in double: samples that are not finite are interpolated along their
 *  rows and counted; rows are weighted, extended to `length` columns and convolved. */
cudaError_t cuda_filter_doubles(const struct cuda_doubles *d, const struct cuda_prep *prep,
                                const struct cuda_doubles_filter *filter, cudaStream_t stream);
FBP_END

#ifdef __CUDACC__

/* From raw samples to weighted line integrals: device functions of the filter's kernels. */

/** Sample `at` of a raw batch, from `counts` (uint16) if set, else from `samples`. */
static __device__ inline float cuda_raw_sample(const cuda_raw &raw, size_t at)
{
    return raw.counts ? (float)raw.counts[at] : raw.samples[at];
}

/** Returns whether preparation changes finite samples (logarithm, beam hardening). */
static __device__ inline bool cuda_prep_changes(const cuda_prep &p)
{
    return p.intensity || p.hardening.n > 0;
}

/** Line integral of a sample: -log of an intensity's transmission (fbp_transmission()), then beam
 * hardening (fbp_harden()). pixel: index in `dark` and `gain`; *clipped counts values < 1e-6. */
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
#    pragma unroll
    for (unsigned i = FBP_HARDENING_TERMS; i > 0; i--)
        sum = fmaf(sum, x, p.hardening.a[i - 1]);
    return sum * x;
}

/** Add the counts n of all threads of a warp to *to. */
static __device__ inline void cuda_count(unsigned long long *to, unsigned n)
{
    for (int lane = 16; lane > 0; lane /= 2)
        n += __shfl_xor_sync(0xffffffffu, n, lane);
    if (n > 0 && threadIdx.x % 32 == 0)
        atomicAdd(to, (unsigned long long)n);
}

/** Returns whether repairs of this row are to be counted. All threads of the block call it before
 * one calls cuda_row_counted(); no other block of the launch has the row. */
static __device__ inline bool cuda_row_counts(const cuda_prep &p, unsigned view, unsigned row)
{
    const size_t at = (size_t)view * p.panel_rows + row;

    return !p.ledger || (p.ledger[at / 32] >> at % 32 & 1);
}

/** Clear the row's bit: one thread calls this when repairs are counted. */
static __device__ inline void cuda_row_counted(const cuda_prep &p, unsigned view, unsigned row)
{
    const size_t at = (size_t)view * p.panel_rows + row;

    if (p.ledger)
        atomicAnd(&p.ledger[at / 32], ~(1u << at % 32));
}

/** Interpolate samples, `step` apart, that are not finite along a row, like bridge_row() in
 * prep/prep.c, by one thread (such rows are rare). Returns their number. */
template <class T>
static __device__ inline unsigned cuda_bridge_row(T *x, unsigned n, unsigned step)
{
    /* last: index of the previous finite sample; n: no finite sample so far */
    unsigned repaired = 0, last = n;

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
    size_t first[2]; /**< index, in the raw batch, of the first sample of each row of the pair */
    unsigned n;      /**< rows of the pair, 1 or 2 */
    unsigned row;    /**< detector row */
    /** first pixel of the pair's row in an image [row][column] of the detector */
    size_t pixel;
    unsigned view; /**< index of the first row's view in the scan; second row: view + 1 */
};

/** Returns the pair of rows that complex row p.first + local consists of. */
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

/** Store in rays[i], in shared memory, the factors of the weights that are constant along row i of
 * a pair; thread i of the block, 0 or 1, computes them. */
static __device__ inline void cuda_find_rays(const cuda_weights &w, const cuda_pair &rows,
                                             fbp_ray_row *rays)
{
    if (w.views && threadIdx.x < rows.n)
        fbp_ray_row_of(&w.rays, &w.views[rows.view + threadIdx.x], rows.row, &rays[threadIdx.x]);
}

static __device__ inline bool cuda_has_weights(const cuda_weights &w)
{
    return w.image || w.views;
}

/** Returns the weight of column c in row i (0 or 1) of a pair; rays: from cuda_find_rays(). */
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

/** Returns the samples v of both rows of a pair in column c, multiplied by their weights. */
static __device__ inline float2 cuda_weighted(const cuda_weights &w, const cuda_pair &rows,
                                              const fbp_ray_row *rays, unsigned c,
                                              unsigned n_columns, float2 v)
{
    v.x *= cuda_weight(w, rows, rays, 0, c, n_columns);
    if (rows.n > 1)
        v.y *= cuda_weight(w, rows, rays, 1, c, n_columns);
    return v;
}

#endif /* __CUDACC__ */
#endif /* FBP_SRC_BACKEND_CUDA_FILTER_KERNELS_H */
