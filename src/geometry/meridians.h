/** @file meridians.h  Directions in planes through a common axis (internal; double, pure).
 *
 * Where directions share few such planes, plane integrals are backprojected in two stages: those of
 * one plane become a picture of it, and the pictures are parallel views about the axis.
 */
#ifndef FBP_SRC_GEOMETRY_MERIDIANS_H
#define FBP_SRC_GEOMETRY_MERIDIANS_H

#include "base/status.h"

#include <stddef.h>

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

#endif /* FBP_SRC_GEOMETRY_MERIDIANS_H */
