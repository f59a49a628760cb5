/** @file views.h  Filtered views on the device: plain memory, or a layered texture (internal). */
#ifndef FBP_SRC_GL_VIEWS_H
#define FBP_SRC_GL_VIEWS_H

#include "backend/gl/buffer.h"
#include "backend/gpu/gpu_kernel.h"

/** The texture for so many groups of views of so many rows; the format of its texels. */
struct gl_texture gl_texture_of(const struct fbp_job *job, size_t n_groups, size_t n_rows);
unsigned gl_format_of(const struct gpu_kernel *kernel);

/** Groups of so many views. */
static inline size_t gl_groups_of(const struct fbp_job *job, size_t n_views)
{
    return (n_views + job->turns - 1) / job->turns;
}

/** As the slot of struct fbp_backend. */
size_t gl_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Bytes before a view of a buffer, in plain memory; a texture is counted from its first layer. */
size_t gl_views_before(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** In the queue: make the texture of a buffer. */
fbp_status gl_texture_make(struct gl_buffer *b, const struct fbp_job *job,
                           const struct gl_texture *t);
/** ... and how it is read: linearly, zeros outside. */
fbp_status gl_sampler_make(unsigned *sampler);

#endif /* FBP_SRC_GL_VIEWS_H */
