/** @file directions.h  Directions on the sphere, and their weights, for plane integrals (EPR
 * imaging).  Used by programs, bindings, cli, src and benchmarks.
 *
 * A plane view measures p(t, n), the integral over the plane x . n = t, and p(t, n) = p(-t, -n).
 * Therefore directions in one half of the sphere are sufficient; directions in the whole sphere
 * measure each plane twice.
 */
#ifndef FBP_DIRECTIONS_H
#define FBP_DIRECTIONS_H

#include "fbp/types.h"

FBP_BEGIN

/** Arrangement of directions on the sphere.  theta is the angle of a direction from the pole, with
 * a sign, from -pi/2 to pi/2. */
enum fbp_direction_set {
    /** Equal solid angles (Ahn and Halpern 1989): n = n[0] rings at theta_i = pi/2 + pi/(2 n) - i
     * pi/n, i = 1 … n, with max(1, round |n sin theta_i|) directions each.  18 rings have 208
     * directions. */
    FBP_SET_SOLID_ANGLE = 0,
    FBP_SET_LINEAR_ANGLE, /**< equal angles: n[0] rings, evenly spaced in theta, with n[1]
                             directions each */
    FBP_SET_FIBONACCI, /**< Fibonacci spiral of n = n[0] directions, direction i at cos theta = (i +
                          1/2) / n, i from 0 */
};

/** Order in which the directions of a set are measured. */
enum fbp_direction_order {
    FBP_ORDER_PLAIN = 0, /**< ring by ring */
    FBP_ORDER_FLIP, /**< ring by ring, every second ring in reverse order, which shortens the steps
                       between rings */
    /** Maximally spaced (Redler 2015): starts with the first direction of FBP_ORDER_FLIP (spiral:
     * of FBP_ORDER_PLAIN); each next direction has the least electrostatic potential of charges at
     * all previous directions and their antipodes. */
    FBP_ORDER_MSPS,
};

/** The pole: the axis of the rings of directions, from which theta is measured; phi is the angle
 * about it. */
enum fbp_pole {
    FBP_POLE_Z = 0, /**< pole z: unit vector (sin theta cos phi, sin theta sin phi, cos theta) */
    FBP_POLE_X,     /**< pole x: unit vector (cos theta, sin theta sin phi, sin theta cos phi) */
    FBP_POLE_Y,     /**< pole y: unit vector (sin theta cos phi, cos theta, sin theta sin phi) */
};

/** Parameters of a set of directions. */
struct fbp_directions {
    size_t struct_size;
    enum fbp_direction_set set;
    enum fbp_direction_order order;
    enum fbp_pole pole;
    /** n[0]: number of rings, or of directions of a Fibonacci spiral.  n[1]: for
     * FBP_SET_LINEAR_ANGLE, number of directions per ring (0: n[0]); for other sets 0. */
    size_t n[2];
};

/** Compute the unit vectors of a set.
 *
 * out    [*count][3], output; NULL: only the number is computed
 * count  output, number of directions; may be NULL
 * @return FBP_ERR_INVALID if a parameter is invalid; FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_directions_make(const struct fbp_directions *set,
                                                      double (*out)[3], size_t *count);

/** Method for the weights of directions.  Weights are solid angles; except for
 * FBP_QUADRATURE_GIVEN, their sum is 2 pi. */
enum fbp_quadrature {
    /** FBP_QUADRATURE_BANDS if the directions lie in evenly spaced rings, else
       FBP_QUADRATURE_VORONOI. */
    FBP_QUADRATURE_AUTO = 0,
    /** Each direction gets the area of the band around its ring, on one half of the unit sphere,
     * divided by the number of directions in the ring.  Requires rings about x, y or z, with even
     * steps in theta and phi. */
    FBP_QUADRATURE_BANDS,
    /** Each direction gets the area of its Voronoi cell on the unit sphere: the points that are
     * nearer to it than to all other directions and all antipodes. */
    FBP_QUADRATURE_VORONOI,
    /** Areas of Voronoi cells, changed as little as possible so that the weighted sum over the
       directions integrates even spherical harmonics exactly, up to a degree that grows with the
       number of directions. */
    FBP_QUADRATURE_HARMONICS,
    FBP_QUADRATURE_GIVEN, /**< weights from the caller; their sum need not be 2 pi */
};

/**
 * Compute the quadrature weights of unit vectors, which may have any order, and lie in any half of
 * the sphere or in the whole sphere.
 *
 * weights  [n], output; for FBP_QUADRATURE_GIVEN also input
 * words    [n_words] output, a description in one line; may be NULL
 * @return FBP_ERR_INVALID: vectors whose length is not 1, or that all lie in one plane; bands
 *         without evenly spaced rings; given weights that are negative, above 4 pi, not finite, or
 *         all 0.  FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_quadrature_weights(const double (*direction)[3], size_t n,
                                                         enum fbp_quadrature quadrature,
                                                         double *weights, char *words,
                                                         size_t n_words);

FBP_END

#endif /* FBP_DIRECTIONS_H */
