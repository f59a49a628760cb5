/** @file directions.h  Sets of directions of plane integrals: cells on the sphere, planes through a
 * common axis, even rings about an axis (internal; double, pure).
 *
 * A direction and its antipode measure the same planes. */
#ifndef FBP_SRC_DIRECTIONS_H
#define FBP_SRC_DIRECTIONS_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

/** Facts of a set of directions. */
struct fbp_sphere {
    size_t different; /**< number of directions, equal and opposite ones counted once */
    double hole_rad;  /**< greatest angle between a point of the sphere and the nearest direction */
    double usual_rad; /**< the same, median over the cells */
};

/**
 * Cells of the spherical Voronoi diagram of {n} and {-n}: all points that are nearer to n or -n
 * than to any other direction.  area[count]: the cell's area on one half of the sphere, which equal
 * directions share; the sum is 2 pi.  area may be NULL.
 *
 * @return FBP_ERR_INVALID if all directions lie in one plane, FBP_ERR_NOMEM.
 */
fbp_status fbp_sphere_cells(const double (*direction)[3], size_t count, double *area,
                            struct fbp_sphere *out);

/**
 * Directions in planes through a common axis.  If there are few such planes, plane integrals are
 * backprojected in two stages: those of one plane become an image of it, and the images are
 * parallel views about the axis.
 */
struct fbp_meridian_planes {
    double axis[3];      /**< contained in all planes */
    double across[2][3]; /**< the other axes of a right-handed system, from which angles count */
    int pole;            /**< 0, 1, 2: axis is x, y, z; -1: any other */
    size_t n;            /**< number of planes */
    size_t most;         /**< greatest number of directions in a plane */
    double *angle;       /**< [n] of each plane, from 0 up to pi, ascending */
    size_t *plane;       /**< [directions] plane of each direction */
};

/**
 * Find the planes through the axis that needs the fewest of them: x, y or z if these need few
 * enough, or any other.
 *
 * @return FBP_ERR_UNSUPPORTED if no axis has three directions per plane on average; the message
 * says how many planes there are.  FBP_ERR_NOMEM.
 */
fbp_status fbp_meridians_of(const double (*direction)[3], size_t n,
                            struct fbp_meridian_planes *out);
void fbp_meridians_clear(struct fbp_meridian_planes *planes);

/** A direction of a ring. */
struct fbp_ring_member {
    size_t view;
    bool reversed; /**< the antipode was measured: its samples run the other way */
};

struct fbp_ring {
    double theta, phi;        /**< of its first member; the others follow in equal steps */
    size_t first, n;          /**< members */
    bool at_pole, at_equator; /**< at the pole, all members are one direction */
};

/**
 * Directions theta and phi on the upper half of the sphere, in rings about an axis.  The angles phi
 * of a ring are even over the whole turn; the ring on the equator has the antipodes of its
 * directions, too.  Sets of equal solid angle and of linear angles are such rings.
 */
struct fbp_rings {
    double axis[3], across[2][3]; /**< phi counts from the first of these to the second */
    struct fbp_ring *ring;        /**< [n], from the pole on */
    size_t n;
    struct fbp_ring_member *member; /**< [n_members] */
    size_t n_members;
    size_t most; /**< greatest number of members of a ring */
};

/** Find rings about z, x or y of unit vectors in any order.
 *  @return FBP_ERR_UNSUPPORTED if there are none, FBP_ERR_NOMEM. */
fbp_status fbp_rings_of(const double (*direction)[3], size_t n, struct fbp_rings *out);
void fbp_rings_clear(struct fbp_rings *rings);

/** The unit vector at theta and phi. */
void fbp_ring_direction(const struct fbp_rings *rings, double theta, double phi, double out[3]);

#endif /* FBP_SRC_DIRECTIONS_H */
