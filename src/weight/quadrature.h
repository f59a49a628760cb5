/** @file quadrature.h  Quadrature weights of directions on the sphere (internal; double). */
#ifndef FBP_SRC_QUADRATURE_H
#define FBP_SRC_QUADRATURE_H

#include "fbp/directions.h"

#include "base/status.h"

#include <stddef.h>

/* How much of the sphere each direction stands for (internal; double, pure).
 *
 * f(x) = sum_q w_q g_q(x . n_q) with sum_q w_q = 2 pi, g the filtered plane integrals.
 */

/** What was chosen and found. */
struct fbp_quadrature_facts {
    enum fbp_quadrature used; /**< never AUTO */
    enum fbp_pole pole;       /**< BANDS: of the rings */
    size_t n_rings;           /**< BANDS: on one half of the sphere */
    size_t degree;            /**< HARMONICS: the greatest that is exact */
    double sum;               /**< of the weights */
};

/**
 * weights[n] of unit vectors.  given: [n], for GIVEN, else NULL.  The sum is 2 pi to 1e-12, but of
 * given ones.
 *
 * @return FBP_ERR_INVALID: directions in one plane; BANDS where there are no even rings; given
 * weights that are negative or all 0.  FBP_ERR_NOMEM.
 */
fbp_status fbp_quadrature_of(const double (*direction)[3], size_t n, enum fbp_quadrature wanted,
                             const double *given, double *weights,
                             struct fbp_quadrature_facts *facts);

/** "exact bands of 9 rings about z, sum 2 pi (+0e+00)" */
void fbp_quadrature_describe(const struct fbp_quadrature_facts *facts, char *buf, size_t n);

/* Weights of directions that lie in even rings (internal; double, pure). */

/** Rings that were found. */
struct fbp_ring_bands {
    enum fbp_pole pole;
    size_t n; /**< on one half of the sphere; 0: there are none */
};

/**
 * Are these rings about x, y or z, even in theta from pole to equator, each even in phi?  Then
 * weights[count] are the area of the ring's band, between the middles to its neighbours, divided by
 * its directions.  @return FBP_ERR_NOMEM.
 */
fbp_status fbp_bands_of(const double (*direction)[3], size_t count, double *weights,
                        struct fbp_ring_bands *out);

/* Weights that integrate spherical harmonics exactly (internal; double, pure).
 */

/**
 * The least change, in the sense of squares, of weights[count] that integrates all even harmonics
 * up to a degree exactly over the half sphere, with no weight below 0.  *degree: the greatest, of
 * at most 32, that three quarters of the directions determine.
 * @return FBP_ERR_NOMEM.
 */
fbp_status fbp_harmonics_correct(const double (*direction)[3], size_t count, double *weights,
                                 size_t *degree);

#endif /* FBP_SRC_QUADRATURE_H */
