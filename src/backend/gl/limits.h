/** @file limits.h  What one buffer, texture or storage block of a renderer holds (internal). */
#ifndef FBP_SRC_GL_LIMITS_H
#define FBP_SRC_GL_LIMITS_H

#include "backend/backend.h"
#include "backend/gl/egl.h"
#include "backend/gpu/tables.h"

/** Bytes of a group's shared memory that are not its row's. */
enum { GL_BESIDE_ROW = 512 };

/** What there is for filtering. */
extern const struct gpu_offer gl_offer;

/** The backend's slot `holds`. */
bool gl_holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
              size_t n);

/** Can every renderer bind a slice of the job's orbits at once? */
bool gl_binds_slices(const struct fbp_job *job);

/** Lower the renderers' limits as tests want it (plant.h). */
void gl_limits_plant(void);

#endif /* FBP_SRC_GL_LIMITS_H */
