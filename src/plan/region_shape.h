/** @file region_shape.h  Regions with a name and numbers: cylinder, ball, box (internal; pure). */
#ifndef FBP_SRC_PLAN_REGION_SHAPE_H
#define FBP_SRC_PLAN_REGION_SHAPE_H

#include "fbp/geometry.h"

#include "base/status.h"
#include "geometry/volume.h"

/** Points within `radius` of `centre`, along the axes that count; and lo <= x <= hi [mm]. */
struct fbp_region_shape {
    bool along[3];
    double centre[3], radius, lo[3], hi[3];
};

/** Does a text begin like a shape, "ball:" for example? */
bool fbp_region_is_shape(const char *text);

/** "cylinder:R", "cylinder:X,Y,R", "ball:X,Y,Z,R", "box:X0:X1,Y0:Y1,Z0:Z1" in mm; an end of the box
 *  that is left out is the edge.
 *  @return FBP_ERR_INVALID with the text, what is wrong and what was expected. */
fbp_status fbp_region_read_shape(const char *text, struct fbp_region_shape *out);

/** Voxels of row (y, z) whose centres lie in the shape: one run, or none (false). */
bool fbp_region_shape_row(const struct fbp_region_shape *shape, const struct fbp_grid *grid,
                          size_t y, size_t z, struct fbp_interval *out);

#endif /* FBP_SRC_PLAN_REGION_SHAPE_H */
