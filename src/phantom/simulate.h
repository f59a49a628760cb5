/** @file simulate.h  Simulated scans: line integrals of whole views, and noise (internal). */
#ifndef FBP_SRC_SIMULATE_H
#define FBP_SRC_SIMULATE_H

#include "fbp/phantom.h"

#include "phantom/body.h"

#include <stdint.h>

/* Line integrals of a whole view. */

/**
 * One ellipsoid seen in one view.  In the ball's coordinates the ray of pixel (c, r) has direction
 * g and moment q = g x y (y: any of its points), both linear in c and r:
 * g = g[0] + c g[1] + r g[2].  Chord = 2 sqrt(|g|^2 - |q|^2) / |g|^2 in units of the ray's step.
 */
struct fbp_shadow {
    double g[3][3], q[3][3];
    double density;
};

/** out[n_rows][n_columns] = line integrals of a view's rows from row0 on; shadows[n],
 *  work[n_columns]. */
void fbp_shadow_rows(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, size_t row0, size_t n_rows,
                     struct fbp_shadow *shadows, double *work, float *out);

/** out[n_rows][n_columns] = line integrals of a whole view; shadows[n], work[n_columns]. */
void fbp_shadow_view(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, struct fbp_shadow *shadows,
                     double *work, float *out);

/* Random numbers that depend on a pixel's place only. */

/** A sequence of its own for each (seed, view, pixel). */
struct fbp_random {
    uint64_t state;
};

struct fbp_random fbp_random_at(uint64_t seed, uint64_t view, uint64_t pixel);

/** Exact Poisson variate of mean >= 0 as a whole number. */
double fbp_poisson(struct fbp_random *random, double mean);

/** Gaussian variate of mean 0 and variance 1. */
double fbp_normal(struct fbp_random *random);

/* A simulated scan in memory. */

/** All views of a scan, without noise: out[n_views][n_rows][n_columns].  n_threads 0: all cores. */
FBP_MUST_CHECK fbp_status fbp_phantom_views(const struct fbp_phantom *phantom,
                                            const struct fbp_scan *scan, int n_threads, float *out);

#endif /* FBP_SRC_SIMULATE_H */
