/** @file directions.h  Directions on the sphere, for plane integrals (EPR imaging).
 *
 * A plane view measures p(t, n), the integral over the plane x . n = t, and p(t, n) = p(-t, -n).
 * Therefore directions in any half sphere are sufficient; in the whole sphere each plane is
 * measured twice.
 */
#ifndef FBP_DIRECTIONS_H
#define FBP_DIRECTIONS_H

#include "fbp/geometry.h"

FBP_BEGIN

/** Arrangement of the directions.  theta is the angle from the pole, -pi/2 to pi/2. */
enum fbp_direction_set {
    /** n rings at theta_i = pi/2 + pi/2n - i pi/n, i = 1 … n, with max(1, |n sin theta_i|),
     * rounded, directions each: equal solid angles (Ahn and Halpern 1989); 18 rings have 208
     * directions */
    FBP_SET_SOLID_ANGLE = 0,
    FBP_SET_LINEAR_ANGLE, /**< n[0] of these rings with n[1] directions each */
    FBP_SET_FIBONACCI,    /**< n directions on a spiral, z = (i + 1/2) / n */
};

/** Order of the measurement. */
enum fbp_direction_order {
    FBP_ORDER_PLAIN = 0, /**< ring after ring */
    FBP_ORDER_FLIP,      /**< every second ring backwards, for short steps */
    FBP_ORDER_MSPS,      /**< maximally spaced (Redler 2015): each as far as possible from the
                              previous ones and their antipodes; starts with the first of FLIP */
};

/** The axis through the middle of the rings. */
enum fbp_pole {
    FBP_POLE_Z = 0, /**< (sin theta cos phi, sin theta sin phi, cos theta) */
    FBP_POLE_X,     /**< (cos theta, sin theta sin phi, sin theta cos phi) */
    FBP_POLE_Y,     /**< (sin theta cos phi, cos theta, sin theta sin phi) */
};

/** Names: "solid-angle", "linear-angle", "fibonacci"; "plain", "flip", "msps"; "z", "x", "y".  NULL
 *  beyond the last. */
FBP_API const char *fbp_direction_set_name(size_t i);
FBP_API const char *fbp_direction_order_name(size_t i);
FBP_API const char *fbp_pole_name(size_t i);

/** A set of directions. */
struct fbp_directions {
    size_t struct_size;
    enum fbp_direction_set set;
    enum fbp_direction_order order;
    enum fbp_pole pole;
    size_t n[2]; /**< n[1]: only for LINEAR_ANGLE, 0: n[0] */
};

/** Number of directions of a set.  @return FBP_ERR_INVALID. */
FBP_API FBP_MUST_CHECK fbp_status fbp_directions_count(const struct fbp_directions *set,
                                                       size_t *count);

/** The unit vectors of a set: out[count][3].  @return FBP_ERR_INVALID, FBP_ERR_NOMEM. */
FBP_API FBP_MUST_CHECK fbp_status fbp_directions_make(const struct fbp_directions *set,
                                                      double (*out)[3]);

/** The view of plane integrals along a unit vector: n_samples samples, the first at
 *  t = first_mm, spacing_mm apart. */
FBP_API void fbp_plane_view(const double direction[3], double spacing_mm, double first_mm,
                            size_t n_samples, struct fbp_view *out);

/** Method for the weights of directions, solid angles that add up to 2 pi. */
enum fbp_quadrature {
    FBP_QUADRATURE_AUTO = 0,  /**< BANDS if the directions lie in even rings, else VORONOI */
    FBP_QUADRATURE_BANDS,     /**< the band of a ring, divided by its directions; the rings are even
                                   in theta, about x, y or z, the directions of each even in phi */
    FBP_QUADRATURE_VORONOI,   /**< the points nearer to it, or to its antipode, than to any other */
    FBP_QUADRATURE_HARMONICS, /**< the least correction of these that integrates even spherical
                                   harmonics exactly, up to about the degree that the number of
                                   directions determines */
    FBP_QUADRATURE_GIVEN,     /**< weights of the caller, with any sum */
};

/** "auto", "bands", "voronoi", "harmonics", "given"; NULL beyond the last. */
FBP_API const char *fbp_quadrature_name(size_t i);

/**
 * Weights of unit vectors, in any order, from any half of the sphere or from the whole sphere.
 *
 * weights  [n], output; for GIVEN also input
 * words    [n_words] one line of description; may be NULL
 * @return FBP_ERR_INVALID: vectors that are not of length 1, or all in one plane; BANDS without
 * even rings; given weights that are negative, not finite, or all 0.  FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_quadrature_weights(const double (*direction)[3], size_t n,
                                                         enum fbp_quadrature quadrature,
                                                         double *weights, char *words,
                                                         size_t n_words);

/** Directions in planes through a common axis, such as a grid in two angles: their plane integrals
 *  can be backprojected in two stages (fbp_recon_params.stages). */
struct fbp_meridians {
    size_t struct_size;
    double axis[3]; /**< unit vector */
    size_t n_planes;
    size_t most; /**< greatest number of directions in a plane */
};

/**
 * Find the axis that needs the fewest planes, for unit vectors in any order and from any half of
 * the sphere.
 *
 * @return FBP_ERR_UNSUPPORTED if no axis has three directions per plane on average; FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_meridians_find(const double (*direction)[3], size_t n,
                                                     struct fbp_meridians *out);

FBP_END

#endif /* FBP_DIRECTIONS_H */
