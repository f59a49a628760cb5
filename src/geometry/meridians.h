/** @file meridians.h  Directions in planes through a common axis, and in even rings about it
 * (internal; double, pure). */
#ifndef FBP_SRC_MERIDIANS_H
#define FBP_SRC_MERIDIANS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Directions in planes through a common axis (internal; double, pure).
 *
 * Where directions share few such planes, plane integrals are backprojected in two stages: those of
 * one plane become a picture of it, and the pictures are parallel views about the axis.
 */

/** Directions by planes; owned. */
struct fbp_meridian_planes {
    double axis[3];      /**< that all planes contain */
    double across[2][3]; /**< the other two of a right-handed system, which angles count from */
    int pole;            /**< axis is that of x, y or z: 0, 1, 2; else -1 */
    size_t n;            /**< planes */
    size_t most;         /**< directions in one of them */
    double *angle;       /**< [n] of each plane, from 0 up to pi, ascending */
    size_t *plane;       /**< [directions] of each direction */
};

/**
 * The planes through the axis that needs the fewest of them: x, y or z if these need few enough, or
 * any other.
 *
 * @return FBP_ERR_UNSUPPORTED if there is no axis with three directions a plane on average; the
 * message says how many planes there are.  FBP_ERR_NOMEM.
 */
fbp_status fbp_meridians_of(const double (*direction)[3], size_t n,
                            struct fbp_meridian_planes *out);

void fbp_meridians_clear(struct fbp_meridian_planes *planes);

/* Directions in even rings about an axis (internal; double, pure).
 *
 * Directions theta and phi on the upper half of the sphere, and those of its lower half as their
 * antipodes, whose samples run the other way.  Of a ring the angles phi are even over the whole
 * turn; the ring on the equator has the antipodes of its directions, too.  Sets of equal solid
 * angle and of linear angles are such rings.
 */

/** A direction of a ring. */
struct fbp_ring_member {
    size_t view;
    bool reversed; /**< it is its antipode that was measured */
};

struct fbp_ring {
    double theta, phi;        /**< of its first member; the others follow in equal steps */
    size_t first, n;          /**< members */
    bool at_pole, at_equator; /**< at the pole, all members are one direction */
};

struct fbp_rings {
    double axis[3], across[2][3]; /**< phi counts from the first of these to the second */
    struct fbp_ring *ring;        /**< [n], from the pole on */
    size_t n;
    struct fbp_ring_member *member; /**< [n_members] */
    size_t n_members;
    size_t most; /**< members of a ring */
};

/** Rings about z, x or y of unit vectors in any order.
 *  @return FBP_ERR_UNSUPPORTED if there are none, FBP_ERR_NOMEM. */
fbp_status fbp_rings_of(const double (*direction)[3], size_t n, struct fbp_rings *out);
void fbp_rings_clear(struct fbp_rings *rings);

/** The unit vector at theta and phi. */
void fbp_ring_direction(const struct fbp_rings *rings, double theta, double phi, double out[3]);

#endif /* FBP_SRC_MERIDIANS_H */
