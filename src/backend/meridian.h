/** @file meridian.h  Pictures of meridian planes: the first of two stages (internal).
 *
 * Plane integrals whose directions lie in one plane are constant across it, so that they are added
 * up once, to a picture of that plane, and not for every voxel:
 *
 *     picture(c, r) = sum over views k of the plane  lerp(view_k, at[k][0] + c at[k][1] + r
 * at[k][2])
 *
 * The pictures are filtered parallel views about the axis that the planes share.
 */
#ifndef FBP_SRC_MERIDIAN_H
#define FBP_SRC_MERIDIAN_H

#include <stddef.h>

struct fbp_meridian_pictures {
    size_t n_planes, n_columns, n_rows;
    size_t n_views;  /**< in the order of their planes */
    size_t *first;   /**< [n_planes + 1]: views [first[p], first[p + 1]) are those of plane p */
    double (*at)[3]; /**< [n_views] column of the filtered view, and its steps */
};

/** What is computed at once: rows [row0, row0 + n_rows) of the picture of a plane, in a frame. */
struct fbp_picture {
    size_t plane, frame, row0, n_rows;
};

#endif /* FBP_SRC_MERIDIAN_H */
