/** @file directions.h  Directions of plane integrals and the solid angles that belong to them
 * (internal; double, pure). */
#ifndef FBP_SRC_DIRECTIONS_H
#define FBP_SRC_DIRECTIONS_H

#include "base/status.h"

#include <stddef.h>

/* The part of the sphere that belongs to each direction (internal; double, pure).
 *
 * A direction and its antipode measure the same planes.  Cells are those of the spherical Voronoi
 * diagram of {n} and {-n}: what lies nearer to n or -n than to any other.
 */

/** What is known of a set of directions. */
struct fbp_sphere {
    size_t different; /**< directions that differ, also from the antipodes of the others */
    double hole_rad;  /**< greatest angle between a point of the sphere and the nearest direction */
    double usual_rad; /**< the same, median over the cells */
};

/**
 * area[count]: the cell's area, on one half of the sphere; those of equal directions share it.  The
 * sum is 2 pi.  area may be NULL.
 *
 * @return FBP_ERR_INVALID if all directions lie in one plane, FBP_ERR_NOMEM.
 */
fbp_status fbp_sphere_cells(const double (*direction)[3], size_t count, double *area,
                            struct fbp_sphere *out);

#endif /* FBP_SRC_DIRECTIONS_H */
