/** @file svg_planes.h  Directions on the sphere as a drawing (internal). */
#ifndef FBP_SRC_SVG_PLANES_H
#define FBP_SRC_SVG_PLANES_H

#include "fbp/picture.h"

#include "base/status.h"

/** The half sphere with equal areas, the sphere from the side, and numbers; grid: NULL = none. */
fbp_status fbp_planes_svg(struct fbp_views views, const struct fbp_grid *grid,
                          const struct fbp_geometry_facts *facts, const char *path);

#endif /* FBP_SRC_SVG_PLANES_H */
