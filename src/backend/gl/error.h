/** @file error.h  Errors of OpenGL as status and message (internal). */
#ifndef FBP_SRC_GL_ERROR_H
#define FBP_SRC_GL_ERROR_H

#include "base/base.h"

#include <stdbool.h>

/** Fail with status and message if a call since the last check has failed; `what`: the subject of
 * the message. */
fbp_status gl_check(const char *what);

/** Called for each context that becomes current: the renderer's name in messages of this thread. */
void gl_check_begin(const char *renderer);
const char *gl_check_name(void);

/** The context of this thread is the shared one of the renderer (struct gl_share). */
void gl_check_shared(void);

/** Was the renderer reset by a watchdog or after a fault?  Fences of a lost context may count as
 * signaled, and memory contents are undefined. */
bool gl_was_reset(void);
/** Fail with the message of a lost context. */
fbp_status gl_check_lost(void);

#endif /* FBP_SRC_GL_ERROR_H */
