/** @file lanes.h  Rows of floats through a filter, two per lane of the vectors at once (internal);
 * backend/cpu/convolve.c uses it.
 *
 * A lane holds two rows, one as the real and one as the imaginary part of a complex row z:
 *
 *     x[(i 2 + part) lanes + l],   i < n, part 0 real, 1 imaginary, l < lanes
 *
 * The transform of all is that of one row with vectors in place of numbers, and lanes do not
 * influence each other.  It works in place: a frequency is multiplied at the place where it falls,
 * and transformed back.  All work on a block that fits a cache is done before the next block.
 */
#ifndef FBP_SRC_LANES_H
#define FBP_SRC_LANES_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

enum { FBP_LANES_LEVELS = 40 };

/** A level cuts blocks of radix * m points into `radix` blocks; radix 2 only at the first. */
struct fbp_lanes_level {
    size_t radix;
    size_t m;
    const float *turn; /**< twiddle factors exp(-2 pi i p k / (radix m)), p < m, 0 < k < radix:
                          [p][k - 1][2] */
};

/** n = 2^a 3^b 5^c is even; rows have at most n/2 samples. */
struct fbp_lanes_plan {
    size_t n;
    unsigned n_levels; /**< number of levels above the leaves */
    struct fbp_lanes_level level[FBP_LANES_LEVELS];
    size_t leaf;     /**< number of points of the smallest blocks: 1, 2, 3, 4, 5 or 8 */
    bool has_phase;  /**< the response is complex */
    float *response; /**< response [n] or [n][2], in the order of the transformed frequencies */
    float *turns;    /**< of all levels */
};

/** A plan for rows of up to n/2 samples.
 *
 * response, imaginary  factors of the frequencies 0 … n/2, order as in fft.h; imaginary may be NULL
 */
fbp_status fbp_lanes_plan_open(struct fbp_lanes_plan *p, size_t n, const double *response,
                               const double *imaginary);
void fbp_lanes_plan_close(struct fbp_lanes_plan *p);

struct fbp_lanes {
    size_t lanes;
    /** Filter the first half of x, zeros after the rows' n_columns included; the second half of the
     *  result is not valid.  x: FBP_ALIGN-aligned, of plan->n points. */
    void (*filter)(const struct fbp_lanes_plan *plan, float *x);
    /** Copy a[l][i] and b[l][i], i < n, times scale_a[l] and scale_b[l], to x, for l < lanes. */
    void (*gather)(const float *const *a, const float *const *b, const float *scale_a,
                   const float *scale_b, size_t n, float *x);
    /** Copy them back. */
    void (*scatter)(const float *x, const float *scale_a, const float *scale_b, size_t n,
                    float *const *a, float *const *b);
};

/** Get the table for vectors of at most `lanes` lanes; 4 lanes (C) are always available. */
const struct fbp_lanes *fbp_lanes_table(size_t lanes);

/** The tables of C, AVX2 and AVX-512; the last two on x86-64 only. */
extern const struct fbp_lanes fbp_lanes_c, fbp_lanes_avx2, fbp_lanes_avx512;

#endif /* FBP_SRC_LANES_H */
