/** @file egl.h  Renderers and their contexts, by EGL (internal).
 *
 * No window and no display server are needed: EGL enumerates devices (EGL_EXT_device_enumeration),
 * and contexts have no surface.  When the module is loaded, a thread of its own finds the renderers
 * and reads their limits, so that contexts of the program are not disturbed.  It then closes EGL: a
 * fork() would lose the threads of a driver.
 */
#ifndef FBP_SRC_GL_EGL_H
#define FBP_SRC_GL_EGL_H

#include "base/base.h"

#include <stdbool.h>
#include <stdint.h>

enum { GL_MOST_RENDERERS = 16 };

/** A renderer and its limits. */
struct gl_renderer {
    char name[100], version[100]; /**< GL_RENDERER, GL_VERSION */
    char reason[300];             /**< why it is unusable; "": usable */
    char card[64];                /**< device file; "": unknown */
    char bus_id[28];              /**< PCI address; "": unknown */
    bool software;
    int major, minor;
    int texture_size, layers;          /**< greatest side and layers of textures */
    int shared_bytes;                  /**< shared memory of a group */
    uint64_t block_bytes;              /**< greatest size of a storage block */
    uint64_t buffer_bytes;             /**< greatest size of a buffer */
    uint64_t texture_bytes;            /**< greatest size of a layered texture */
    uint64_t alignment;                /**< offsets of storage blocks are multiples of it */
    uint64_t memory_bytes, free_bytes; /**< 0: unknown */
};

/** Find all renderers: usable ones first, those in hardware before those in software. */
void gl_renderers_find(void);

/** The number of renderers, usable or not; 0, with the reason in `why`, if none is usable. */
int gl_renderers_listed(void);
int gl_renderers_count(char *why, size_t n);
const struct gl_renderer *gl_renderer_at(int index);

/** A context, used only by the thread that opened it. */
struct gl_egl {
    int index;
    void *display, *context;
};

/** Create a context and make it current in this thread. */
fbp_status gl_egl_open(struct gl_egl *out, int index);
/** Create another context, which shares all objects of the first. */
fbp_status gl_egl_open_beside(struct gl_egl *out, const struct gl_egl *first);
void gl_egl_close(struct gl_egl *egl);

/** Protect the driver of this process from exit() of forked children.  Called after the drivers
 * were loaded, as exit handlers run in reverse order. */
void gl_fork_guard(void);

#endif /* FBP_SRC_GL_EGL_H */
