/** @file layered.h  How large a texture in layers may be (internal). */
#ifndef FBP_SRC_GL_LAYERED_H
#define FBP_SRC_GL_LAYERED_H

#include <stdbool.h>
#include <stdint.h>

/** Of the context, by its largest sizes: bytes of one at most; UINT64_MAX: no limit is known. */
uint64_t gl_layered_bytes(int size, int layers);

#endif /* FBP_SRC_GL_LAYERED_H */
