/** @file weight.h  Weights of samples before the filter (angular step, redundancy, distance), and
 * quadrature weights of directions on the sphere (internal; double, pure functions).
 * pipeline/job.c creates the weights, and the backends read them.
 * Used by: cli/, backend/, pipeline/, weight/.
 */
#ifndef FBP_SRC_WEIGHT_H
#define FBP_SRC_WEIGHT_H

#include "fbp/directions.h"
#include "fbp/recon.h"

#include "weight/ray.h"

/* The FDK sum for a panel of any orientation, with w the third row of fbp_view_to_matrix():
 *
 *     f(x) = sum_n  1/w_n(x)^2  sum_c'  h(c - c') W_n(c', r) p_n(c', r),
 *
 * where h is the ramp kernel of unit pitch (h(0) = 1/4), and for cone beam
 *
 *     W_n = 1/2 dbeta_n  m(ray)  SOD_n |t x q| / (|q| |q x u|),       q = pixel - source.
 *
 * SOD_n is the distance of the source from the axis, and t the unit direction of its motion. SOD
 * dbeta |t x q|/|q| is the distance by which a step of the source moves the ray perpendicular to
 * itself. |q x u| is the distance D_r from the source to the line of the detector row, times the
 * pitch. For a panel perpendicular to the iso ray, W_n is that of Feldkamp, Davis, Kress 1984. For
 * a panel rotated about v it is 1/2 dbeta (SOD/D) cos(gamma) in the mid-plane, with D the distance
 * to the panel along its normal; for a panel tilted about u it is 1/2 dbeta SOD / (|q| |u|).
 *
 * A panel that is rolled by phi about its normal gets no factor 1/cos(phi): its rows are not the
 * lines along which the ramp must be applied. A plan first resamples such views onto an upright
 * panel (pipeline/rectify.c). With a filter along rolled rows, the frequency at polar angle alpha
 * is multiplied by cos(phi) if tan(alpha) > tan(phi), and by tan(alpha)^-1 sin(phi) nearer to the
 * axis: the value of a single ball is preserved, the values of two balls beside each other are not.
 *
 * m is the redundancy weight: 1 on a full circle, Parker 1982 on a short scan, Wang 2002 for an
 * offset panel; in each case m of the two measurements of a ray adds up to 2 (ray.h). For parallel
 * beam, w = 1 and W_n = 1/2 dbeta m / |s x u|, with s the unit direction of the rays. Without a
 * panel offset, angles are taken modulo pi there, and m is 2, or 1 with twice the step if the views
 * cover a full turn. If none of these cases applies (facts->per_ray), dbeta m is a table of view
 * and column (geometry/coverage.h).
 *
 * The backprojector divides by (w/w(0))^2; therefore the constant 1/w(0)^2 is part of W_n here.
 */

struct fbp_views;

/** Result of a quadrature on the sphere: f(x) = sum_q w_q g_q(x . n_q) with directions n_q,
 * filtered plane integrals g_q, and weights w_q whose sum is 2 pi. */
struct fbp_quadrature_facts {
    enum fbp_quadrature used; /**< method that was applied; never AUTO */
    enum fbp_pole pole;       /**< BANDS: axis of the rings */
    size_t n_rings;           /**< bands: number of rings of directions on one half of the sphere */
    /** harmonics: greatest degree whose spherical harmonics are integrated exactly */
    size_t degree;
    double sum; /**< sum of the weights */
};

/**
 * Compute quadrature weights[n] of directions (unit vectors). Their sum is 2 pi to 1e-12, except
 * for given weights.
 *
 * wanted  requested method
 * given   [n] weights for the method GIVEN, else NULL
 * @return FBP_ERR_INVALID, for example: directions that are not unit vectors or lie in one plane;
 *         BANDS without evenly spaced rings; given weights that are negative or all 0.
 *         FBP_ERR_NOMEM.
 */
fbp_status fbp_quadrature_of(const double (*direction)[3], size_t n, enum fbp_quadrature wanted,
                             const double *given, double *weights,
                             struct fbp_quadrature_facts *facts);

/** Describe quadrature weights, with the relative error of their sum: "exact bands of 9 rings about
 * z, sum 2 pi (+0e+00)". */
void fbp_quadrature_describe(const struct fbp_quadrature_facts *facts, char *buf, size_t n);

typedef struct fbp_weights fbp_weights;

/** Create the weights of line integrals; views.view must outlive them.  angular: AUTO or EQUAL. */
fbp_status fbp_weights_create(fbp_weights **out, struct fbp_views views,
                              const struct fbp_geometry_facts *facts,
                              enum fbp_angular_weights angular);

/**
 * Weights of plane integrals: W = w_q / tau_q^2, constant within a view. With h of unit pitch
 *
 *     f(x) = sum_q  sum_c'  h(c - c') W_q p_q(c'),      sum_q w_q = 2 pi.
 *
 * given    [views.n] for GIVEN, else NULL
 * spectra  W = w_q / tau_q^3, for spectra that a deconvolution turns into plane integrals
 *          (filter/parabola.h)
 */
fbp_status fbp_weights_of_planes(fbp_weights **out, struct fbp_views views,
                                 enum fbp_quadrature quadrature, const double *given, bool spectra);
void fbp_weights_destroy(fbp_weights **weights);

/** Get the angular step of a view [rad], or the weight W of a view of plane integrals. */
double fbp_weights_step(const fbp_weights *weights, size_t view);

/** Get the redundancy weight m of the ray through (column, row), 0 … 2; above 2 in a view next to
 * missing views that it replaces. */
double fbp_weights_redundancy(const fbp_weights *weights, size_t view, double column, double row);

/** Compute the weights W (see the top of weight.h) of the samples of a detector row:
 * out[n_columns]. Thread-safe. */
void fbp_weights_row(const fbp_weights *weights, size_t view, size_t row, double *out);

/** True if W(view, c, r) = image(c, r) * line(view, c): all views have the same panel and source
 * distance, and the redundancy weight m does not depend on the row. A backend may then tabulate the
 * factors: fbp_weights_image() computes a row of image, fbp_weights_line() line(view, c). */
bool fbp_weights_separable(const fbp_weights *weights);
void fbp_weights_image(const fbp_weights *weights, size_t row, double *out);
void fbp_weights_line(const fbp_weights *weights, size_t view, double *out);

/** Get the arguments of fbp_ray_weight() (ray.h): fbp_weights_rays() those that all views share,
 * fbp_weights_view() those of one view. Thread-safe. If redundancy is FBP_PER_RAY, W is
 * fbp_ray_geometry() times fbp_weights_line() instead of fbp_ray_weight(). */
void fbp_weights_rays(const fbp_weights *weights, struct fbp_rays *out);
void fbp_weights_view(const fbp_weights *weights, size_t view, struct fbp_ray_view *out);

/** Get the expected relative errors of the method itself, for the mean of a small ball: at the
 *  centre of a volume, at its rim in the central plane (worst of 8 positions), at its top and at
 *  its bottom (on the axis or at the rim), within the field of view. centre: origin of views and
 *  grid in the coordinates of the facts (fbp_views_centre()). */
void fbp_weights_errors(const fbp_weights *weights, const struct fbp_grid *grid,
                        const double centre[3], double out[4]);

/** Describe the weights of the samples in one line: type of the scan, redundancy, angular steps. */
void fbp_weights_describe(const fbp_weights *weights, char *buf, size_t n);

/**
 * Set facts->method_error for a volume.  Feldkamp's method reconstructs a small ball at p with the
 * relative mean
 *
 *     1/(2 pi) sum_n dbeta_n m_n R_n |t x q| / |q|^2,     q = p - source,
 *
 * with the redundancy weight m_n of view n, the distance R_n of its source from the axis and the
 * direction t in which the source moves.  On the axis of a full turn this is the cosine of the
 * ray's elevation: frequencies near the axis lie in no plane through the source path.  A short scan
 * has a further error, because its weights add up in the central plane only.
 *
 * @param facts  facts of these views and this grid, from fbp_views_facts()
 * @return FBP_ERR_INVALID; FBP_ERR_UNSUPPORTED for plane integrals; FBP_ERR_NOMEM.
 */
fbp_status fbp_geometry_errors(struct fbp_views views, const struct fbp_grid *grid,
                               struct fbp_geometry_facts *facts);

#endif /* FBP_SRC_WEIGHT_H */
