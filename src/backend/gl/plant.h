/** @file plant.h  What tests plant in this module: limits, and later failures (internal).
 *
 * All zero in normal use.  experiment("plant") hands it out, as nothing else of a module can be
 * reached.
 */
#ifndef FBP_SRC_GL_PLANT_H
#define FBP_SRC_GL_PLANT_H

#include "backend/backend.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct gl_plant {
    /** Limits of all renderers; 0: their own.  They count from the next apply() on. */
    uint64_t block_bytes, buffer_bytes, texture_bytes;
    int layers;
    bool hardware;          /**< no renderer is software */
    bool short_runs;        /**< rates of commands that are soon done are kept, too */
    struct fbp_rates rates; /**< what plans count with; update 0: those that are kept */
    /** Of the looks for an error, counted from 1: this one finds the renderer out of memory, and
     *  at this one the context of the thread that looks is lost; 0: none. */
    uint64_t no_memory, lost;
    atomic_uint_fast64_t n_looks;
    bool no_context, no_current; /**< none is given; it does not become current */
    bool share_lost;             /**< what devices share is lost */
    const char *card_files;      /**< with what files of a card begin, too; NULL: none */
    void (*apply)(void);
    /** Counted: pieces of memory of the host that were given, and copies from or to other memory.
     */
    atomic_uint_fast64_t n_host, n_through;
};

extern struct gl_plant gl_plant;

#endif /* FBP_SRC_GL_PLANT_H */
