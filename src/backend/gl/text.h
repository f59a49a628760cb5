/** @file text.h  Texts of programs (internal). */
#ifndef FBP_SRC_GL_TEXT_H
#define FBP_SRC_GL_TEXT_H

#include "base/status.h"

#include <stddef.h>

enum { GL_TEXT_PARTS = 24 };

/** Pieces, one after another. */
struct gl_text {
    size_t n, n_own;
    const char *parts[GL_TEXT_PARTS];
    int lengths[GL_TEXT_PARTS];
    char *own[GL_TEXT_PARTS]; /**< pieces that were read */
};

/** Add the text of this name: src/backend/gl/NAME.glsl as it was built, or
 * FBP_GL_SHADERS/NAME.glsl; NULL: the first line of every program. */
fbp_status gl_text_add(struct gl_text *text, const char *name);
void gl_text_drop(struct gl_text *text);

/** All texts that were built, ended by a name NULL; made by cmake/texts.cmake. */
struct gl_text_built {
    const char *name, *text;
};
extern const struct gl_text_built gl_texts_built[];

#endif /* FBP_SRC_GL_TEXT_H */
