/** @file geometry_astra.h  ASTRA's vectors, which are this program's views (internal). */
#ifndef FBP_SRC_GEOMETRY_ASTRA_H
#define FBP_SRC_GEOMETRY_ASTRA_H

#include "scan/file/geometry_format.h"

/** Room for n views, and the views of vectors[n][12]; out->kind is set.  Directions of parallel
 * rays may have any length. */
fbp_status fbp_astra_views(struct fbp_scan *out, const char *path,
                           const struct fbp_geometry_known *known, const double *vectors, size_t n);

void fbp_astra_vector(const struct fbp_view *view, double out[12]);

#endif /* FBP_SRC_GEOMETRY_ASTRA_H */
