#include "backend/gl/pace.h"

#include "base/clock.h"

#include <epoxy/gl.h>

/* Voxels x views of the first trial; by how much the next is larger; seconds that tell, and that a
 * command shall take. */
static const double FIRST = 1e6, GROWS = 8, TELLING = 10e-3, WANTED = 0.25;

/* One command of so many is timed, whatever is known. */
enum { EVERY = 16 };

double gl_pace_most(const struct gl_pace *pace)
{
    if (pace->rate > 0)
        return WANTED * pace->rate;
    return pace->trial > 0 ? pace->trial : FIRST;
}

void gl_pace_begin(struct gl_pace *pace)
{
    pace->n++;
    if (pace->n == 1 || (pace->rate > 0 && pace->n % EVERY != 0))
        return;
    glFinish();
    pace->start = fbp_seconds();
}

void gl_pace_end(struct gl_pace *pace, double updates)
{
    if (!(pace->start > 0))
        return;
    glFinish();
    const double seconds = fbp_seconds() - pace->start;
    pace->start = 0;
    pace->seen = updates / seconds;
    /* What is left of a slab may tell too little. */
    if (seconds >= TELLING || (pace->rate > 0 && pace->seen > pace->rate))
        pace->rate = pace->seen;
    else if (!(pace->rate > 0))
        pace->trial = GROWS * gl_pace_most(pace);
}
