/** @file hold.h  Drivers that stay loaded, for tools that look for leaks (internal). */
#ifndef FBP_SRC_GL_HOLD_H
#define FBP_SRC_GL_HOLD_H

/** In builds for the address sanitizer: what is loaded stays, so that what drivers leave behind has
 *  their names, which the list of suppressions knows (tests/gl.supp).  Otherwise nothing. */
void gl_hold_drivers(void);

#endif /* FBP_SRC_GL_HOLD_H */
