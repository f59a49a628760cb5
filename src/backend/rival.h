/** @file rival.h  Devices that `auto` takes only where they are faster than the next (internal).
 *
 * A backend's slot experiment("rival") hands out one of these, or NULL: `auto` takes its devices as
 * they come.  Speeds are measured, and kept, by plan/rivals.c, for all backends.
 */
#ifndef FBP_SRC_RIVAL_H
#define FBP_SRC_RIVAL_H

#include <stdbool.h>
#include <stddef.h>

struct fbp_rival {
    /** Before a module is loaded, which takes time and memory: might there be such a device? */
    bool (*may_be_there)(void);
    /** Of devices that were counted: what tells this one, and its driver, from others.  False: it
     *  is not to be taken unasked. */
    bool (*identify)(int index, char *out, size_t n);
};

#endif /* FBP_SRC_RIVAL_H */
