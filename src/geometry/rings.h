/** @file rings.h  Directions in even rings about an axis (internal; double, pure).
 *
 * Directions theta and phi on the upper half of the sphere, and those of its lower half as their
 * antipodes, whose samples run the other way.  Of a ring the angles phi are even over the whole
 * turn; the ring on the equator has the antipodes of its directions, too.  Sets of equal solid
 * angle and of linear angles are such rings.
 */
#ifndef FBP_SRC_GEOMETRY_RINGS_H
#define FBP_SRC_GEOMETRY_RINGS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

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

#endif /* FBP_SRC_GEOMETRY_RINGS_H */
