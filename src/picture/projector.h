/** @file projector.h  A device that projects volumes, for pictures (internal).
 *
 * The member `projector` of a backend points to one.  Greatest values are those that a host
 * finds by turn.h, with the same bits; -INFINITY where there are none.
 */
#ifndef FBP_SRC_PROJECTOR_H
#define FBP_SRC_PROJECTOR_H

#include "picture/turn.h"

struct fbp_projector {
    /** A volume of n_slices; the turn must outlive the device.  *at_once: slices that it takes at
     *  once, at most.  NULL on failure. */
    fbp_status (*open)(void **out, int index, const struct fbp_turn *turn, size_t n_slices,
                       size_t *at_once);
    void (*close)(void **device);
    /** The next n slices [n][turn->n[1]][turn->n[0]]: greatest values along y and along x, in
     *  front[n][turned[0]] and side[n][turned[1]]; those along z stay on the device. */
    fbp_status (*project)(void *device, const float *slices, size_t n, float *front, float *side);
    /** Greatest values along z so far: rows [row0, row0 + n) in top[n][turned[0]]. */
    fbp_status (*top)(void *device, size_t row0, size_t n, float *top);
};

#endif /* FBP_SRC_PROJECTOR_H */
