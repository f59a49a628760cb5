/** @file limits.h  Limits of single buffers, textures and storage blocks of renderers (internal).
 */
#ifndef FBP_SRC_GL_LIMITS_H
#define FBP_SRC_GL_LIMITS_H

#include "backend/backend.h"
#include "backend/gl/egl.h"
#include "backend/gpu/tables.h"

/** Bytes of a group's shared memory that the row of a transform cannot use. */
enum { GL_BESIDE_ROW = 512 };

/** What this backend has for filtering (gpu/tables.h). */
extern const struct gpu_offer gl_offer;

/** The backend's slot `holds`. */
bool gl_holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
              size_t n);

/** Can every renderer bind a slice of a volume of orbits at once? */
bool gl_binds_slices(const struct fbp_job *job);

/** Set the renderers' limits as tests request (plant.h). */
void gl_limits_plant(void);

#endif /* FBP_SRC_GL_LIMITS_H */
