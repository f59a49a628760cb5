/** @file compiled.h  Programs as the driver has compiled them, kept from run to run (internal).
 *
 * A file a program in ${XDG_CACHE_HOME:-~/.cache}/fbp, under the hash of its text and of the
 * renderer's and its driver's names.  Whatever is wrong with a file, or if the driver does not want
 * it, the program is compiled again.
 */
#ifndef FBP_SRC_GL_COMPILED_H
#define FBP_SRC_GL_COMPILED_H

#include "backend/gl/text.h"

#include <stdbool.h>
#include <stdint.h>

/** Of a text, on the renderer of the current context. */
uint64_t gl_compiled_key(const struct gl_text *text);

/** The program, linked; 0: it is to be compiled. */
unsigned gl_compiled_recall(uint64_t key);
void gl_compiled_keep(uint64_t key, unsigned program);

#endif /* FBP_SRC_GL_COMPILED_H */
