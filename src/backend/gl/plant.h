/** @file plant.h  Fault injection: limits and failures that tests set in this module (internal).
 *
 * All members are zero in normal use.  Tests get the struct from libfbp_bench_gl.so.
 */
#ifndef FBP_SRC_GL_PLANT_H
#define FBP_SRC_GL_PLANT_H

#include "backend/backend.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gl_plant {
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

extern struct gl_plant gl_plant;

#endif /* FBP_SRC_GL_PLANT_H */
