/** @file plant.h  What tests plant in this module: limits, and later failures (internal).
 *
 * All zero in normal use.  experiment("plant") hands it out, as nothing else of a module can be
 * reached.
 */
#ifndef FBP_SRC_GL_PLANT_H
#define FBP_SRC_GL_PLANT_H

#include <stdbool.h>
#include <stdint.h>

struct gl_plant {
    /** Limits of all renderers; 0: their own.  They count from the next apply() on. */
    uint64_t block_bytes, buffer_bytes, texture_bytes;
    int layers;
    bool hardware; /**< no renderer is software */
    void (*apply)(void);
};

extern struct gl_plant gl_plant;

#endif /* FBP_SRC_GL_PLANT_H */
