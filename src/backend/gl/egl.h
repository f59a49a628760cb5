/** @file egl.h  OpenGL renderers of the machine, contexts on them (opened through EGL), OpenGL
 * errors as status and message, and fault injection for tests (internal).
 * A renderer is an OpenGL device and its driver.  No window and no display server are needed: EGL
 * enumerates devices (EGL_EXT_device_enumeration), and contexts have no surface.  When the module
 * is loaded, a separate thread finds the renderers and reads their limits, so the context of the
 * calling thread is not disturbed.  EGL is then closed, because the threads of a driver do not
 * survive a fork().
 * Used by: bench/gl/, backend/gl/. */
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
    char reason[300];             /**< reason that the renderer is unusable; "": it is usable */
    char card[64];    /**< device file of the graphics card, such as /dev/dri/card0; "": unknown */
    char bus_id[28];  /**< PCI address; "": unknown */
    bool software;    /**< the renderer computes on the CPU, like Mesa's llvmpipe */
    int major, minor; /**< OpenGL version */
    int texture_size, layers;          /**< greatest side of a texture; greatest number of layers */
    int shared_bytes;                  /**< greatest shared memory of a work group */
    uint64_t block_bytes;              /**< greatest size of a storage block */
    uint64_t buffer_bytes;             /**< greatest size of a buffer */
    uint64_t texture_bytes;            /**< greatest size of a layered texture */
    uint64_t alignment;                /**< alignment of offsets of storage blocks */
    uint64_t memory_bytes, free_bytes; /**< device memory; 0: unknown */
};

/** Find all renderers, and list them in the order hardware, software, unusable. Also registers an
 * exit handler, so that a forked child's exit does not disturb the driver. */
void gl_renderers_find(void);

/** Both functions return the number of renderers in the list, including unusable ones; 0 if none is
 * usable, and gl_renderers_count() then writes the reason to `why`. */
int gl_renderers_listed(void);
int gl_renderers_count(char *why, size_t n);
const struct gl_renderer *gl_renderer_at(int index);

/** An OpenGL context, which only the thread that opened it may use. */
struct gl_egl {
    int index; /**< index of the renderer */
    void *display, *context;
};

/** Create an OpenGL context and make it current in this thread.  first: another context of the
 * renderer, whose buffers and textures the new context shares; NULL: none. */
fbp_status gl_egl_open(struct gl_egl *out, int index, const struct gl_egl *first);
void gl_egl_close(struct gl_egl *egl);

/* Errors of OpenGL as status and message. */

/** Check for errors of the OpenGL calls since the last check; if there is one, set the error
 * message.  what: subject of the message, such as "tables".
 * @return FBP_ERR_NOMEM if memory is exhausted, FBP_ERR_DEVICE for other errors */
fbp_status gl_check(const char *what);

/** Set the error message that `bytes` bytes of host memory are lacking; return FBP_ERR_NOMEM. */
fbp_status gl_fail_nomem(size_t bytes);

/** Returns the name of the renderer of this thread's OpenGL context, for messages. */
const char *gl_check_name(void);

/** Mark this thread's context as the shared one of its renderer (struct gl_share). Tests simulate
 * the loss of shared contexts by share_lost, of others by `lost`. */
void gl_check_shared(void);

/** Returns whether the renderer of this thread's context was reset, by a watchdog or after a fault:
 * the context is then lost.  Fences of a lost context may be signaled although the work is not
 * done, and the contents of its memory are undefined. */
bool gl_was_reset(void);
/** Set the error message for a lost context; returns FBP_ERR_DEVICE. */
fbp_status gl_check_lost(void);

/** Fault injection: limits and failures of OpenGL that tests set (0, false or NULL: none), and
 * counters that tests read.  Tests find the struct in libfbp_bench_gl.so. */
struct gl_fault_injection {
    /** Upper limits that apply() sets in all renderers, for members of these names; 0: none. */
    uint64_t block_bytes, buffer_bytes, texture_bytes;
    int layers;
    bool hardware;   /**< software renderers count as hardware */
    bool short_runs; /**< speeds measured in short commands are stored, too */
    /** speeds that gl_rates() returns; rates.update 0: it reads the stored speeds */
    struct fbp_rates rates;
    /** Number, counted from 1, of the call of gl_check() that reports exhausted memory (no_memory),
     * and of the one from which on a context is lost (lost); 0: none. */
    uint64_t no_memory, lost;
    atomic_uint_fast64_t n_looks; /**< number of calls of gl_check() so far */
    bool no_context, no_current;  /**< creating a context, or making it current, fails */
    bool share_lost;              /**< gl_was_reset() reports shared contexts as lost */
    const char *card_files; /**< path prefix of files that a forked child replaces by /dev/null at
                               its exit, like the device files of NVIDIA's cards; NULL: none */
    void (*apply)(void);    /**< gl_inject_limits() */
    /** numbers of allocated host buffers, of copies with host memory that is no buffer, and of
     * copies between buffers by glCopyBufferSubData() instead of a program */
    atomic_uint_fast64_t n_host, n_through, n_driver;
};

extern struct gl_fault_injection gl_fault_injection;

#endif /* FBP_SRC_BACKEND_GL_EGL_H */
