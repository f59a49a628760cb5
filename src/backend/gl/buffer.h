/** @file buffer.h  Buffers of a context, which the pipeline knows by addresses (internal).
 *
 * Device memory is a range of addresses that nothing lies at, so that callers may count in it as in
 * any memory; host memory is where the driver has mapped a buffer, once and for all.  Commands name
 * parts of buffers.
 */
#ifndef FBP_SRC_GL_BUFFER_H
#define FBP_SRC_GL_BUFFER_H

#include "backend/gpu/gpu_kernel.h"
#include "base/status.h"

#include <stdbool.h>

/** A texture: a layer a view, rows a power of two, so that coordinates are exact (fast.glsl). */
struct gl_texture {
    size_t width, height, layers;
    unsigned texels; /**< a column */
};

struct gl_buffer {
    char *base; /**< its address; NULL: it has none */
    size_t bytes;
    unsigned name, texture;  /**< one of them, or none yet */
    bool mapped;             /**< base is memory of the host */
    struct gl_texture shape; /**< of a texture */
    const void *owner;       /**< the device; of the host's memory, what devices share */
    unsigned holders;        /**< of the host's memory: its user, and commands */
    struct gl_buffer *next;
};

/** A part of a buffer; buffer NULL: it lies at `host`. */
struct gl_part {
    const struct gl_buffer *buffer;
    size_t at, bytes;
    void *host;
};

/** List one with an address, among those of all devices. */
void gl_buffers_add(struct gl_buffer *one);
/** Take the one at this address from the list; NULL. */
struct gl_buffer *gl_buffers_take(const void *base);
/** Forget all of this owner, which is gone with their storage. */
void gl_buffers_forget(const void *owner);
/** `bytes` from this address on: of a buffer of this owner, or of the host's memory. */
struct gl_part gl_part_at(const void *owner, const void *address, size_t bytes);
/** The same; a buffer, if there is one, is held. */
struct gl_part gl_part_held(const void *owner, const void *address, size_t bytes);
/** It is let go.  Was this the last who held it? */
bool gl_buffer_less(struct gl_buffer *b);

/** Addresses for memory of the device; NULL: there are none. */
void *gl_addresses(size_t bytes);
void gl_addresses_drop(void *base, size_t bytes);

/** In the queue: make the buffer's storage, `mapped` or not; and drop it. */
fbp_status gl_buffer_make(struct gl_buffer *b, bool mapped, const char *what);
void gl_buffer_drop(struct gl_buffer *b);

/* Filtered views on the device: plain memory, or a layered texture (internal). */

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

#endif /* FBP_SRC_GL_BUFFER_H */
