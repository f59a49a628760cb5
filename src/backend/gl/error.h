/** @file error.h  What is said when a call of OpenGL fails (internal). */
#ifndef FBP_SRC_GL_ERROR_H
#define FBP_SRC_GL_ERROR_H

#include "base/status.h"

/** Has anything failed since the last look?  If so, the status and its message; `what` was done. */
fbp_status gl_check(const char *what);

#endif /* FBP_SRC_GL_ERROR_H */
