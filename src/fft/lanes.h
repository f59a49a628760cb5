/** @file lanes.h  Filters rows of floats by FFT, many rows at once: two rows per lane of the CPU's
 * vectors (internal).
 *
 * A lane holds two rows, one as the real and one as the imaginary part of a complex row:
 *
 *     x[(i 2 + part) lanes + l],   i < n, part 0 real, 1 imaginary, l < lanes
 *
 * The transform is that of one row with vectors in place of numbers, and lanes do not influence
 * each other.  It works in place: frequencies are not sorted, but multiplied by the filter's
 * response where they are, and transformed back.  All work on a block that fits a cache is done
 * before the next block.
 * Used by: backend/cpu/cpu.h, lanes.c, lanes_avx2.c, lanes_avx512.c.
 */
#ifndef FBP_SRC_LANES_H
#define FBP_SRC_LANES_H

#include "base/base.h"

enum { FBP_LANES_LEVELS = 40 };

/** One level of a transform: blocks of radix * m points are cut into `radix` blocks. Radix 2 occurs
 * at the first level only. */
struct fbp_lanes_level {
    size_t radix;
    size_t m;
    const float *turn; /**< twiddle factors exp(-2 pi i p k / (radix m)), p < m, 0 < k < radix:
                          [p][k - 1][2] */
};

/** Plan of a filter by transforms of n points, n = 2^a 3^b 5^c and even; rows have at most n/2
 * samples. */
struct fbp_lanes_plan {
    size_t n;
    unsigned n_levels; /**< number of levels above the leaves */
    struct fbp_lanes_level level[FBP_LANES_LEVELS];
    size_t leaf;     /**< number of points of the smallest blocks: 1, 2, 3, 4, 5 or 8 */
    bool has_phase;  /**< the response is complex */
    float *response; /**< [n], or [n][2] if complex: factors, in the order in which the transform
                        leaves frequencies */
    float *turns;    /**< twiddle factors of all levels */
};

/** Make a plan to filter rows of up to n/2 samples.
 *
 * response, imaginary  real and imaginary parts of the factors of the frequencies 0 … n/2,
 * including the 1/n of the inverse transform; imaginary NULL: 0 */
fbp_status fbp_lanes_plan_open(struct fbp_lanes_plan *p, size_t n, const double *response,
                               const double *imaginary);
void fbp_lanes_plan_close(struct fbp_lanes_plan *p);

struct fbp_lanes {
    size_t lanes;
    /** Filter rows in place.  x: FBP_ALIGN-aligned, plan->n points; its first half contains the
     * rows, followed by zeros; its second half is not read, and is undefined afterwards. */
    void (*filter)(const struct fbp_lanes_plan *plan, float *x);
    /** Copy n samples of rows a[l] and b[l], times scale_a[l] and scale_b[l], to the real and the
     * imaginary parts of lane l of x, for all lanes. */
    void (*gather)(const float *const *a, const float *const *b, const float *scale_a,
                   const float *scale_b, size_t n, float *x);
    /** Inverse of gather(): copy n samples of the rows in x, times the scales, to a[l] and b[l]. */
    void (*scatter)(const float *x, const float *scale_a, const float *scale_b, size_t n,
                    float *const *a, float *const *b);
};

/** Get the functions for the longest vectors of at most `lanes` floats, which are 4 or more. */
const struct fbp_lanes *fbp_lanes_table(size_t lanes);

/** Functions for vectors of 4 floats (C), of AVX2 and of AVX-512; the last two on x86-64 only. */
extern const struct fbp_lanes fbp_lanes_c, fbp_lanes_avx2, fbp_lanes_avx512;

#endif /* FBP_SRC_LANES_H */
