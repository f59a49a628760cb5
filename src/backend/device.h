/** @file device.h  Declares fbp_backend_complete() (device.c), and defines short functions for the
 * events and memory of an open device (internal).
 *
 * A backend omits slots (functions of struct fbp_backend) that it does not need.
 * fbp_backend_complete() fills most of them with defaults; the comments of backend.h state which
 * slots may stay NULL, such as filter_rows.
 * Used by: bench/, analysis/, backend/, pipeline/.
 */
#ifndef FBP_SRC_DEVICE_H
#define FBP_SRC_DEVICE_H

#include "backend/backend.h"

/** Copies the backend *given to *out, sets its missing functions to defaults, and derives the
 * members of `can` that depend on which functions exist. */
void fbp_backend_complete(const struct fbp_backend *given, struct fbp_backend *out);

/** Let later work of a stage start only after the event; no effect if it was reached (ticket 0). */
static inline fbp_status fbp_device_after(const struct fbp_backend *b, fbp_device *dev,
                                          enum fbp_stage stage, struct fbp_event mark)
{
    return mark.ticket ? b->event.stage_wait(dev, stage, mark) : FBP_OK;
}

/** Waits until an event is reached. */
static inline fbp_status fbp_device_wait(const struct fbp_backend *b, fbp_device *dev,
                                         struct fbp_event mark)
{
    return mark.ticket ? b->event.host_wait(dev, mark) : FBP_OK;
}

/** Waits until all work that is queued in a stage is done. */
static inline fbp_status fbp_device_settle(const struct fbp_backend *b, fbp_device *dev,
                                           enum fbp_stage stage)
{
    struct fbp_event mark;

    FBP_TRY(b->event.record(dev, stage, &mark));
    return fbp_device_wait(b, dev, mark);
}

/** Waits for the work of all stages of a device, even if some fail; returns the first failure. */
static inline fbp_status fbp_device_settle_all(const struct fbp_backend *b, fbp_device *dev)
{
    fbp_status first = FBP_OK;

    for (int i = 0; i < FBP_N_STAGES; i++) {
        const fbp_status st = fbp_device_settle(b, dev, (enum fbp_stage)i);
        first = first == FBP_OK ? st : first;
    }
    return first;
}

/** Frees device memory that memory.alloc() has allocated; no effect if it is NULL. */
static inline void fbp_device_put(const struct fbp_backend *b, fbp_device *dev,
                                  enum fbp_purpose purpose, void *memory)
{
    if (memory)
        b->memory.release(dev, purpose, memory);
}

/** Frees host memory that memory.host_alloc() has allocated; no effect if it is NULL. */
static inline void fbp_host_put(const struct fbp_backend *b, fbp_device *dev, void *memory)
{
    if (memory)
        b->memory.host_release(dev, memory);
}

#endif /* FBP_SRC_DEVICE_H */
