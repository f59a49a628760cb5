/** @file meridian.h  Sinogram images of meridian planes, the result of the first of two stages
 * (internal).  fbp_backend.meridian() computes them, pipeline/epr_two_stages.c calls it.
 *
 * Filtered plane integrals whose directions lie in one plane (a meridian plane) do not vary
 * perpendicular to it.  They are therefore summed once, to an image of that plane, instead of once
 * per voxel:
 *
 *     image(c, r) = sum_k value(view_k, at[k][0] + c at[k][1] + r at[k][2]),  k: views of the plane
 *
 * with the job's interpolation (linear by default).  The images are filtered parallel views about
 * the axis that the planes share; the second stage backprojects them.
 */
#ifndef FBP_SRC_MERIDIAN_H
#define FBP_SRC_MERIDIAN_H

#include <stddef.h>

struct fbp_meridian_pictures {
    size_t n_planes, n_columns, n_rows; /**< number of images; size of each */
    size_t n_views;                     /**< views of the first stage, sorted by plane */
    size_t *first;   /**< [n_planes + 1]: plane p has views [first[p], first[p + 1]) */
    double (*at)[3]; /**< [n_views] column of the filtered view for image sample (0, 0), and its
                          increments per image column and image row */
};

/** Part of an image that is computed at once: rows [row0, row0 + n_rows) of a plane's image, in
 *  channel `channel`. */
struct fbp_picture {
    size_t plane, channel, row0, n_rows;
};

#endif /* FBP_SRC_MERIDIAN_H */
