/** @file egl.h  Renderers, their contexts by EGL, errors of OpenGL, fault injection (internal).
 *
 * No window and no display server are needed: EGL enumerates devices (EGL_EXT_device_enumeration),
 * and contexts have no surface.  When the module is loaded, a thread of its own finds the renderers
 * and reads their limits, so that contexts of the program are not disturbed.  It then closes EGL: a
 * fork() would lose the threads of a driver.
 */
#ifndef FBP_SRC_BACKEND_GL_EGL_H
#define FBP_SRC_BACKEND_GL_EGL_H

#include "backend/backend.h"

#include <stdatomic.h>
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

/** Find all renderers: usable ones first, those in hardware before those in software.  Also
 * protects the driver of this process from exit() of forked children. */
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
fbp_status gl_egl_open_shared(struct gl_egl *out, const struct gl_egl *first);
void gl_egl_close(struct gl_egl *egl);

/* Errors of OpenGL as status and message. */

/** Fail with status and message if a call since the last check has failed; `what`: the subject of
 * the message. */
fbp_status gl_check(const char *what);

/** The name of the renderer whose context is current in this thread, for messages. */
const char *gl_check_name(void);

/** The context of this thread is the shared one of the renderer (struct gl_share). */
void gl_check_shared(void);

/** Was the renderer reset by a watchdog or after a fault?  Fences of a lost context may count as
 * signaled, and memory contents are undefined. */
bool gl_was_reset(void);
/** Fail with the message of a lost context. */
fbp_status gl_check_lost(void);

/** Fault injection: limits and failures that tests set in this module.  All members are zero in
 * normal use.  Tests get the struct from libfbp_bench_gl.so. */
struct gl_fault_injection {
    /** Limits of all renderers, set by apply(); 0: the renderer's own. */
    uint64_t block_bytes, buffer_bytes, texture_bytes;
    int layers;
    bool hardware;          /**< all renderers count as hardware */
    bool short_runs;        /**< rates of short commands are stored, too */
    struct fbp_rates rates; /**< rates that plans use; update 0: the stored ones */
    /** Number of the check, from 1, that reports GL_OUT_OF_MEMORY, or a lost context; 0: none. */
    uint64_t no_memory, lost;
    atomic_uint_fast64_t n_looks;
    bool no_context, no_current; /**< creating a context fails; making it current fails */
    bool share_lost;             /**< the shared context is lost */
    const char *card_files;      /**< another path prefix of card files; NULL: none */
    void (*apply)(void);
    /** Counters: host buffers allocated, and copies through memory that is no buffer. */
    atomic_uint_fast64_t n_host, n_through;
};

extern struct gl_fault_injection gl_fault_injection;

#endif /* FBP_SRC_BACKEND_GL_EGL_H */
