/** @file egl.h  The renderers that there are, and contexts of them (internal).
 *
 * No window, no display: devices are enumerated (EGL_EXT_device_enumeration), and contexts have no
 * surface.  What a renderer is and can do is asked once, when the module is loaded, by a thread of
 * its own, so that no context of the program that uses the library is disturbed; after that nothing
 * of EGL is left open until a device is: no thread of a driver that a fork would lose.
 */
#ifndef FBP_SRC_GL_EGL_H
#define FBP_SRC_GL_EGL_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { GL_MOST_RENDERERS = 16 };

/** A renderer, as it describes itself. */
struct gl_renderer {
    char name[100], version[100]; /**< GL_RENDERER, GL_VERSION */
    char reason[300];             /**< why it cannot be used; "" = it can be */
    char card[64];                /**< the file of the system that it is; "" = none is known */
    char bus_id[28];              /**< its place on PCI; "" = not known */
    bool software;
    int major, minor;
    int texture_size, layers;          /**< of textures, at most */
    int shared_bytes;                  /**< of a group of threads, at most */
    uint64_t block_bytes;              /**< of a storage block, at most */
    uint64_t buffer_bytes;             /**< of one buffer, at most */
    uint64_t texture_bytes;            /**< of one texture in layers, at most */
    uint64_t alignment;                /**< of a part of a buffer that is bound */
    uint64_t memory_bytes, free_bytes; /**< 0: the driver does not tell */
};

/** Look for renderers: usable ones first, those in hardware before those in software. */
void gl_renderers_find(void);

/** The number of renderers, usable or not; 0, with the reason in `why`, if none is usable. */
int gl_renderers_listed(void);
int gl_renderers_count(char *why, size_t n);
const struct gl_renderer *gl_renderer_at(int index);

/** A context of a renderer, of the thread that opened it. */
struct gl_egl {
    int index;
    void *display, *context;
};

/** Create a context and make it current in this thread. */
fbp_status gl_egl_open(struct gl_egl *out, int index);
/** Another one, which shares all objects of the first. */
fbp_status gl_egl_open_beside(struct gl_egl *out, const struct gl_egl *first);
void gl_egl_close(struct gl_egl *egl);

/* What a forked child must not do at its end (internal).
 *
 * A child has the files of the card that its parent's driver has opened.  NVIDIA's closes at
 * exit() what it believes to be its own, and takes it from the parent, whose next display is
 * refused (EGL_BAD_ACCESS).  So in a child those files are taken from the driver before its own
 * handlers run.
 */

/** After drivers were loaded: what is registered last runs first. */
void gl_fork_guard(void);

#endif /* FBP_SRC_GL_EGL_H */
