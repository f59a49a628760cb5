/** @file axes.h  Where a grid lies whose file gives its axes as vectors (internal). */
#ifndef FBP_SRC_AXES_H
#define FBP_SRC_AXES_H

#include "array/file/format.h"

/**
 * Spacing and origin of src->info from the steps between neighbours along each index, in mm.
 *
 * step[n][3], n = 2 or 3; origin[3]: centre of element (0,0,0).  The grid's own axes are kept:
 * spacing is the steps' length, the origin is told along the axes, so that a file that is turned or
 * mirrored in its space is the volume that its indices run through.
 *
 * @return FBP_ERR_INVALID for steps without a length, FBP_ERR_UNSUPPORTED for axes that are not
 *         orthogonal.
 */
fbp_status fbp_axes_take(struct fbp_source *src, size_t n, const double (*step)[3],
                         const double origin[3]);

#endif /* FBP_SRC_AXES_H */
