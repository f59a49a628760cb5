/** @file directions.h  Sets of directions of plane integrals (EPR): their cells on the sphere;
 * planes through a common axis in which they lie; rings about an axis in which they are evenly
 * spaced; names of sets (internal; double, pure functions).  A direction and its antipode measure
 * the same planes.
 * Used by: cli/, geometry/, pipeline/, scan/, weight/. */
#ifndef FBP_SRC_DIRECTIONS_H
#define FBP_SRC_DIRECTIONS_H

#include "fbp/directions.h"

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

/** Facts about a set of directions. */
struct fbp_sphere {
    size_t different; /**< number of different directions; equal and opposite ones count once */
    /** greatest angle from a point of the sphere to the nearest direction or antipode [rad] */
    double hole_rad;
    /** median over the directions of the angle from a direction to the farthest corner of the part
     * of its Voronoi cell that surrounds it [rad] */
    double usual_rad;
};

/**
 * Compute the Voronoi cells of directions on the unit sphere: the cell of direction n is all points
 * that are nearer to n or -n than to any other direction or its antipode.
 *
 * area  [count] output, area of each cell on one half of the sphere, divided among equal
 * directions; the sum is 2 pi.  May be NULL.
 * @return FBP_ERR_INVALID if all directions lie in one plane, FBP_ERR_NOMEM
 */
fbp_status fbp_sphere_cells(const double (*direction)[3], size_t count, double *area,
                            struct fbp_sphere *out);

/** Directions of plane integrals in a few planes through a common axis (meridian planes). They are
 * backprojected in two stages: those of each plane into an image of it, then the images, which are
 * parallel views about the axis, into the volume. */
struct fbp_meridian_planes {
    double axis[3];      /**< direction that all planes contain */
    double across[2][3]; /**< unit vectors across the axis; angles count from first to second */
    int pole;      /**< index of the common axis: 0, 1, 2 for x, y, z; -1 for any other axis */
    size_t n;      /**< number of planes */
    size_t most;   /**< greatest number of directions in one meridian plane */
    double *angle; /**< [n] angle of each plane about the axis [rad], in [0, pi), ascending */
    size_t *plane; /**< [number of directions] index of the meridian plane of each direction */
};

/**
 * Find an axis through which few planes contain all directions: x, y or z if at most a third as
 * many planes as directions are needed, else the best axis that is found.
 *
 * @return FBP_ERR_UNSUPPORTED if no such axis has three directions per plane on average (the
 * message contains the number of planes); FBP_ERR_NOMEM
 */
fbp_status fbp_meridians_of(const double (*direction)[3], size_t n,
                            struct fbp_meridian_planes *out);
void fbp_meridians_clear(struct fbp_meridian_planes *planes);

struct fbp_ring_member {
    size_t view;
    /** the view has measured the opposite direction: its samples are in reverse order */
    bool reversed;
};

struct fbp_ring {
    double theta, phi; /**< angles of first direction [rad]; others follow in equal steps of phi */
    size_t first,
        n; /**< the directions of the ring are members [first, first + n) of fbp_rings.member */
    size_t n_phi; /**< number of different angles phi in the ring; 0: the ring is the pole */
    /** at_pole: the ring's directions are the axis of the rings; at_equator: perpendicular to it */
    bool at_pole, at_equator;
};

/** Directions on the upper half of the sphere, in rings of equal theta (angle from an axis). The
 * angles phi of a ring are equally spaced over the circle; the equator also contains the antipodes
 * of its directions. Sets of equal solid angle or linear angles consist of such rings. */
struct fbp_rings {
    /** axis of the rings; perpendicular unit vectors: phi counts from across[0] to across[1] */
    double axis[3], across[2][3];
    struct fbp_ring *ring; /**< [n] rings, starting at the pole */
    size_t n;
    struct fbp_ring_member *member; /**< [n_members] */
    size_t n_members;
    size_t most; /**< greatest number of members in a ring */
};

/**
 * Find rings about an axis among unit vectors in any order, from any half of the sphere. Directions
 * may occur several times, but equally often within a ring.
 *
 * alike  greatest difference of polar angles within one ring [rad]
 * even   greatest deviation of an angle phi from equal steps, as a fraction of the step
 * out    out->n is 0 if the directions form no such rings
 */
fbp_status fbp_rings_about(const double (*direction)[3], size_t n, enum fbp_pole pole, double alike,
                           double even, struct fbp_rings *out);

/**
 * Find rings about z, x or y among unit vectors in any order, each of which occurs once.
 * @return FBP_ERR_UNSUPPORTED if the directions form no rings, FBP_ERR_NOMEM
 */
fbp_status fbp_rings_of(const double (*direction)[3], size_t n, struct fbp_rings *out);
void fbp_rings_clear(struct fbp_rings *rings);

/** Unit vector at angle theta from the axis of the rings and angle phi about it [rad]. */
void fbp_ring_direction(const struct fbp_rings *rings, double theta, double phi, double out[3]);

/** Name of quadrature i: "auto", "bands", "voronoi", "harmonics", "given"; NULL beyond the last. */
const char *fbp_quadrature_name(size_t i);

/** Names by index i, NULL beyond the last: sets of directions ("solid-angle", "linear-angle",
 * "fibonacci"), orders ("plain", "flip", "msps"), and poles, the axes of rings ("z", "x", "y"). */
const char *fbp_direction_set_name(size_t i);
const char *fbp_direction_order_name(size_t i);
const char *fbp_pole_name(size_t i);

#endif /* FBP_SRC_DIRECTIONS_H */
