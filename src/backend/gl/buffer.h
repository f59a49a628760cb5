/** @file buffer.h  Buffers and textures, which the pipeline refers to by addresses (internal).
 *
 * A device buffer has a range of reserved addresses without memory, so that callers can use pointer
 * arithmetic.  A host buffer is mapped persistently, and its address is that of the mapping.
 * gl_part_at() converts an address to a part of a buffer.
 */
#ifndef FBP_SRC_GL_BUFFER_H
#define FBP_SRC_GL_BUFFER_H

#include "backend/gpu/gpu_kernel.h"
#include "base/base.h"

#include <stdbool.h>

/** A layered texture of filtered views, one view, or group of views, per layer.  The number of rows
 * is a power of two, so that coordinates are exact (fast.glsl). */
struct gl_texture {
    size_t width, height, layers;
    unsigned texels; /**< texels per detector column */
};

struct gl_buffer {
    char *base; /**< its address; NULL: none */
    size_t bytes;
    unsigned name, texture;  /**< one of the two; 0: not made */
    bool mapped;             /**< a host buffer */
    struct gl_texture shape; /**< of the texture */
    const void *owner;       /**< struct gl_device; of host buffers struct gl_share */
    unsigned references;     /**< references to a host buffer: its user's, and one per command */
    struct gl_buffer *next;
};

/** Part of a buffer; buffer NULL: ordinary memory at `host`. */
struct gl_part {
    const struct gl_buffer *buffer;
    size_t at, bytes;
    void *host;
};

/** Add a buffer to the list of buffers of all devices. */
void gl_buffers_add(struct gl_buffer *one);
/** Remove the buffer with this address from the list; NULL: there is none. */
struct gl_buffer *gl_buffers_take(const void *base);
/** Free all listed buffers of an owner whose context is closed. */
void gl_buffers_forget(const void *owner);
/** Find the buffer of this owner that contains `bytes` from `address`; otherwise buffer is NULL. */
struct gl_part gl_part_at(const void *owner, const void *address, size_t bytes);
/** The same, and take a reference to the buffer. */
struct gl_part gl_part_retain(const void *owner, const void *address, size_t bytes);
/** Drop a reference; true: it was the last. */
bool gl_buffer_release(struct gl_buffer *b);

/** Reserve addresses without memory; NULL: failed. */
void *gl_addresses(size_t bytes);
void gl_addresses_drop(void *base, size_t bytes);

/** Make the storage of a buffer, mapped or not, and drop it; called by the thread of a context. */
fbp_status gl_buffer_make(struct gl_buffer *b, bool mapped, const char *what);
void gl_buffer_drop(struct gl_buffer *b);

/** The texture for n_groups groups of views of n_rows rows; the format of its texels. */
struct gl_texture gl_texture_of(const struct fbp_job *job, size_t n_groups, size_t n_rows);
unsigned gl_format_of(const struct gpu_kernel *kernel);

/** Groups of n_views views. */
static inline size_t gl_groups_of(const struct fbp_job *job, size_t n_views)
{
    return (n_views + job->turns - 1) / job->turns;
}

/** The backend's slot `filtered_bytes`. */
size_t gl_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Offset of view number n_views in plain memory; 0 for textures, which are addressed by layer. */
size_t gl_views_before(const struct fbp_job *job, size_t n_views, size_t n_rows);

/** Make the texture of a buffer; called by the thread of a context. */
fbp_status gl_texture_make(struct gl_buffer *b, const struct fbp_job *job,
                           const struct gl_texture *t);
/** Make a sampler: linear, zero outside. */
fbp_status gl_sampler_make(unsigned *sampler);

#endif /* FBP_SRC_GL_BUFFER_H */
