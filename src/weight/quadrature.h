/** @file quadrature.h  How much of the sphere each direction stands for (internal; double, pure).
 *
 * f(x) = sum_q w_q g_q(x . n_q) with sum_q w_q = 2 pi, g the filtered plane integrals.
 */
#ifndef FBP_SRC_QUADRATURE_H
#define FBP_SRC_QUADRATURE_H

#include "fbp/directions.h"

#include "base/status.h"

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

#endif /* FBP_SRC_QUADRATURE_H */
