/** @file directions.h  Directions on the sphere, and their weights, for plane integrals (EPR
 * imaging).
 *
 * A plane view measures p(t, n), the integral over the plane x . n = t, and p(t, n) = p(-t, -n).
 * Therefore directions in one half of the sphere are sufficient; directions in the whole sphere
 * measure each plane twice.
 */
#ifndef FBP_DIRECTIONS_H
#define FBP_DIRECTIONS_H

#include "fbp/types.h"

FBP_BEGIN

/** Arrangement of the directions.  theta is the angle from the pole, -pi/2 to pi/2. */
enum fbp_direction_set {
    /** n rings at theta_i = pi/2 + pi/2n - i pi/n, i = 1 … n, with max(1, round |n sin theta_i|)
     *  directions each: equal solid angles (Ahn and Halpern 1989).  18 rings have 208
     *  directions. */
    FBP_SET_SOLID_ANGLE = 0,
    FBP_SET_LINEAR_ANGLE, /**< the same rings, n[0] rings with n[1] directions each */
    FBP_SET_FIBONACCI,    /**< n directions on a spiral, z = (i + 1/2) / n */
};

/** Order in which the directions are measured. */
enum fbp_direction_order {
    FBP_ORDER_PLAIN = 0, /**< ring by ring */
    FBP_ORDER_FLIP,      /**< ring by ring, every second ring in reverse order: shorter steps */
    /** Maximally spaced (Redler 2015): starts with the first direction of FLIP; each next direction
     *  has the least electrostatic potential of charges at all previous directions and their
     *  antipodes. */
    FBP_ORDER_MSPS,
};

/** Axis of the rings, with the unit vector of the direction (theta, phi). */
enum fbp_pole {
    FBP_POLE_Z = 0, /**< (sin theta cos phi, sin theta sin phi, cos theta) */
    FBP_POLE_X,     /**< (cos theta, sin theta sin phi, sin theta cos phi) */
    FBP_POLE_Y,     /**< (sin theta cos phi, cos theta, sin theta sin phi) */
};

/** Parameters of a set of directions. */
struct fbp_directions {
    size_t struct_size;
    enum fbp_direction_set set;
    enum fbp_direction_order order;
    enum fbp_pole pole;
    size_t n[2]; /**< numbers of the set; n[1] only for LINEAR_ANGLE, 0: n[0] */
};

/** Compute the unit vectors of a set.
 *
 * out    [*count][3], output; NULL: only the number is computed
 * count  output, number of directions; may be NULL
 * @return FBP_ERR_INVALID, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_directions_make(const struct fbp_directions *set,
                                                      double (*out)[3], size_t *count);

/** Method for the weights of directions.  Weights are solid angles with the sum 2 pi. */
enum fbp_quadrature {
    FBP_QUADRATURE_AUTO = 0, /**< BANDS if the directions lie in even rings, else VORONOI */
    /** Each direction gets the area of its ring's band, divided by the number of directions in the
     *  ring.  Requires rings that are even in theta, about x, y or z, and even in phi. */
    FBP_QUADRATURE_BANDS,
    /** Each direction gets the area of its Voronoi cell: the points nearer to the direction or to
     *  its antipode than to any other direction. */
    FBP_QUADRATURE_VORONOI,
    /** VORONOI weights with the least correction that integrates even spherical harmonics exactly,
     *  up to about the degree that the number of directions determines. */
    FBP_QUADRATURE_HARMONICS,
    FBP_QUADRATURE_GIVEN, /**< weights of the caller, with any sum */
};

/**
 * Compute the weights of unit vectors, in any order, from any half of the sphere or from the whole
 * sphere.
 *
 * weights  [n], output; for GIVEN also input
 * words    [n_words] output, a description in one line; may be NULL
 * @return FBP_ERR_INVALID: vectors that are not of length 1, or all in one plane; BANDS without
 *         even rings; given weights that are negative, not finite, or all 0.  FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_quadrature_weights(const double (*direction)[3], size_t n,
                                                         enum fbp_quadrature quadrature,
                                                         double *weights, char *words,
                                                         size_t n_words);

FBP_END

#endif /* FBP_DIRECTIONS_H */
