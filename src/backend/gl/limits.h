/** @file limits.h  What one buffer, texture or storage block of a renderer holds (internal). */
#ifndef FBP_SRC_GL_LIMITS_H
#define FBP_SRC_GL_LIMITS_H

#include "backend/backend.h"
#include "backend/gl/egl.h"

/** Of the context: bytes of one texture in layers, at most; UINT64_MAX: no limit is known. */
uint64_t gl_ask_texture_bytes(int size, int layers);

/** The backend's slot `holds`. */
bool gl_holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
              size_t n);

/** Can every renderer bind a layer of this many lanes of the job's slices at once? */
bool gl_binds_layers(const struct fbp_job *job, size_t lanes);

#endif /* FBP_SRC_GL_LIMITS_H */
