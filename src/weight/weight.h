/** @file weight.h  What a sample is multiplied with before the filter (internal; double, pure).
 *
 * The FDK sum for a panel of any orientation, with w the third row of fbp_view_to_matrix():
 *
 *     f(x) = sum_n  1/w_n(x)^2  sum_c'  h(c - c') W_n(c', r) p_n(c', r),
 *
 * h the ramp kernel of unit pitch (h(0) = 1/4), and for cone beam
 *
 *     W_n = 1/2 dbeta_n  m(ray)  SOD_n |t x q| / (|q| |q x u|),       q = pixel - source,
 *
 * SOD_n the distance of the source from the axis and t the unit direction in which it moves.
 * SOD dbeta |t x q|/|q| is how far a step of the source moves the ray across itself, and |q x u| is
 * the distance D_r from the source to the line of the detector row, times the pitch.  For a panel
 * perpendicular to the iso ray this is Feldkamp, Davis, Kress 1984; for one turned about v it is
 * 1/2 dbeta (SOD/D) cos(gamma) of conventions section 2 in the mid-plane, D the distance to the
 * panel along its normal; for one tilted about u it is 1/2 dbeta SOD / (|q| |u|).
 *
 * A panel that is rolled by phi (about its normal) gets no factor 1/cos(phi): its rows are not the
 * lines along which the ramp must run.  A plan resamples such views onto an upright panel first
 * (plan/rectify.h).  Filtered along rolled rows, the frequency at polar angle alpha comes out times
 * cos(phi) for tan(alpha) > tan(phi), tan(alpha)^-1 sin(phi) nearer to the axis: one ball keeps its
 * value, but not two balls beside each other.
 *
 * m is the redundancy weight: 1 on a full circle, Parker 1982 on a short scan, Wang 2002 for an
 * offset panel, each summing to 2 over the two measurements of a ray (ray.h).  For parallel
 * beam w = 1 and W_n = 1/2 dbeta m / |s x u|, s the unit direction of the rays; but for offset
 * panels, angles count modulo pi there, and m is 2, or 1 with twice the step where views fill a
 * whole turn.  Where these closed forms do not apply, dbeta m is a table of view and
 * column (geometry/coverage.h).
 *
 * The backprojector divides by (w/w(0))^2, so the constant 1/w(0)^2 is part of W_n here.
 */
#ifndef FBP_SRC_WEIGHT_H
#define FBP_SRC_WEIGHT_H

#include "fbp/recon.h"

#include "weight/ray.h"

typedef struct fbp_weights fbp_weights;

/** The views must outlive the weights.  angular: AUTO or EQUAL. */
fbp_status fbp_weights_create(fbp_weights **out, struct fbp_views views,
                              const struct fbp_geometry_facts *facts,
                              enum fbp_angular_weights angular);

/**
 * Of plane integrals: W = w_q / tau_q^2, the same for all of a view, so that with h of unit pitch
 *
 *     f(x) = sum_q  sum_c'  h(c - c') W_q p_q(c'),      sum_q w_q = 2 pi   (quadrature.h).
 *
 * given:   [views.n], for GIVEN, else NULL
 * spectra: W = w_q / tau_q^3, of spectra that a deconvolution makes plane integrals of
 *          (filter/deconvolve.h)
 */
fbp_status fbp_weights_of_planes(fbp_weights **out, struct fbp_views views,
                                 enum fbp_quadrature quadrature, const double *given, bool spectra);
void fbp_weights_destroy(fbp_weights **weights);

/** Angular step of a view [rad], of plane integrals W; the steps of lines add up to the arc
 * (parallel beam: of a short scan to pi, if all directions are there). */
double fbp_weights_step(const fbp_weights *weights, size_t view);

/** Redundancy weight m of the ray through (column, row), 0 … 2; above 2 where a view stands for
 *  missing ones, too. */
double fbp_weights_redundancy(const fbp_weights *weights, size_t view, double column, double row);

/** W of a whole detector row: out[n_columns].  Thread-safe. */
void fbp_weights_row(const fbp_weights *weights, size_t view, size_t row, double *out);

/** True if W(view, c, r) = image(c, r) * line(view, c) with fbp_weights_image/_line below, which
 *  holds when all views share one panel and source distance, and m, if not 1, depends on the
 *  column alone (v along the axis, or m per ray); then a backend may tabulate. */
bool fbp_weights_separable(const fbp_weights *weights);
void fbp_weights_image(const fbp_weights *weights, size_t row, double *out);
void fbp_weights_line(const fbp_weights *weights, size_t view, double *out);

/** The same as fbp_ray_weight() (ray.h) takes it: thread-safe.  If redundancy is FBP_PER_RAY, W is
 *  fbp_ray_geometry() times fbp_weights_line(), separable or not. */
void fbp_weights_rays(const fbp_weights *weights, struct fbp_rays *out);
void fbp_weights_view(const fbp_weights *weights, size_t view, struct fbp_ray_view *out);

/**
 * Mean of a small ball at p that is reconstructed as 1 where the data determine it.  Of the spatial
 * frequencies of what lies at p a view has those across its ray, and each gets the weights of all
 * views that have it; the mean over all frequencies is
 *
 *     1/(2 pi) sum_n dbeta_n m_n R_n |t x q| / |q|^2,        q = p - source,
 *
 * which is 1 in the plane of the sources.  Returned is that sum over the same sum with q projected
 * onto this plane, so that errors of the weights themselves do not count.  A full turn loses the
 * frequencies near the axis that no plane through the source path has, 1 - cos(elevation) for a
 * point on the axis; a short scan deviates because the views' contributions differ.  Rows beyond
 * the detector count as the last one.
 */
double fbp_weights_ball(const fbp_weights *weights, const double p[3]);

/** Expected relative errors of the mean of a small ball, measured less true, of the method itself:
 *  in the middle of a volume, at its rim in the central plane (the worst of 8 places), at its top
 * and at its bottom (on the axis or at the rim), as far as the field of view reaches.  centre: the
 *  origin of views and grid in the coordinates of the facts (fbp_views_centre()). */
void fbp_weights_errors(const fbp_weights *weights, const struct fbp_grid *grid,
                        const double centre[3], double out[4]);

/** One line for people: scan type, redundancy, steps. */
void fbp_weights_describe(const fbp_weights *weights, char *buf, size_t n);

#endif /* FBP_SRC_WEIGHT_H */
