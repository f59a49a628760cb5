/** @file fork.h  What a forked child must not do at its end (internal).
 *
 * A child has the files of the card that its parent's driver has opened.  NVIDIA's closes at
 * exit() what it believes to be its own, and takes it from the parent, whose next display is
 * refused (EGL_BAD_ACCESS).  So in a child those files are taken from the driver before its own
 * handlers run.
 */
#ifndef FBP_SRC_GL_FORK_H
#define FBP_SRC_GL_FORK_H

/** After drivers were loaded: what is registered last runs first. */
void gl_fork_guard(void);

#endif /* FBP_SRC_GL_FORK_H */
