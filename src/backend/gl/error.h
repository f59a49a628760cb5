/** @file error.h  What is said when a call of OpenGL fails (internal). */
#ifndef FBP_SRC_GL_ERROR_H
#define FBP_SRC_GL_ERROR_H

#include "base/status.h"

#include <stdbool.h>

/** Has anything failed since the last look?  If so, the status and its message; `what` was done. */
fbp_status gl_check(const char *what);

/** With each context that becomes current: what messages of this thread call the renderer. */
void gl_check_begin(const char *renderer);
const char *gl_check_name(void);

/** ... if it is what all devices of the renderer share. */
void gl_check_shared(void);

/** Was the renderer reset, by a watchdog or after a fault?  Fences of a lost context may count as
 *  past, and memory has any values. */
bool gl_was_reset(void);
/** The status and the message of that. */
fbp_status gl_check_lost(void);

#endif /* FBP_SRC_GL_ERROR_H */
