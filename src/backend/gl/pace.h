/** @file pace.h  How much of a volume is computed by one command, so that none takes long
 * (internal).
 *
 * Systems reset a renderer that does not answer for some seconds, and a desktop on it stands still
 * meanwhile.  The first commands of a device are small and timed, but for the very first, for which
 * drivers compile; later ones are made to take a fraction of a second, and some of them are timed
 * again.  No division changes what a voxel gets.
 */
#ifndef FBP_SRC_GL_PACE_H
#define FBP_SRC_GL_PACE_H

#include <stdbool.h>
#include <stddef.h>

struct gl_pace {
    unsigned n;   /**< commands so far */
    double rate;  /**< voxels x views a second; 0: nothing is known yet */
    double seen;  /**< ... of the last command that was timed, however short */
    double trial; /**< size of the next trial */
    double start; /**< of the trial that runs; 0: none does */
};

/** Voxels x views of the next command at most. */
double gl_pace_most(const struct gl_pace *pace);
/** Before and after a command, which may wait for the renderer. */
void gl_pace_begin(struct gl_pace *pace);
void gl_pace_end(struct gl_pace *pace, double updates);

#endif /* FBP_SRC_GL_PACE_H */
