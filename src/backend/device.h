/** @file device.h  A backend with every slot filled, and what callers do with its marks and memory
 * (internal).
 *
 * A backend leaves out what it has not; fbp_backend_complete() fills in the one default that all
 * callers see, so that nobody asks whether a slot is there.
 */
#ifndef FBP_SRC_DEVICE_H
#define FBP_SRC_DEVICE_H

#include "backend/backend.h"

/** A copy whose optional slots are filled, and with the facts that follow from the ones given. */
void fbp_backend_complete(const struct fbp_backend *given, struct fbp_backend *out);

/** Later work of a stage starts when that mark is past; of a mark that was never set, at once. */
static inline fbp_status fbp_device_after(const struct fbp_backend *b, fbp_device *dev,
                                          enum fbp_stage stage, struct fbp_event mark)
{
    return mark.ticket ? b->after(dev, stage, mark) : FBP_OK;
}

/** Wait until a mark is past. */
static inline fbp_status fbp_device_wait(const struct fbp_backend *b, fbp_device *dev,
                                         struct fbp_event mark)
{
    return mark.ticket ? b->wait(dev, mark) : FBP_OK;
}

/** Wait until a stage has done all that it was given. */
static inline fbp_status fbp_device_settle(const struct fbp_backend *b, fbp_device *dev,
                                           enum fbp_stage stage)
{
    struct fbp_event mark;

    FBP_TRY(b->mark(dev, stage, &mark));
    return fbp_device_wait(b, dev, mark);
}

/** ... all stages, whichever of them fail; returns the first failure. */
static inline fbp_status fbp_device_settle_all(const struct fbp_backend *b, fbp_device *dev)
{
    fbp_status first = FBP_OK;

    for (int i = 0; i < FBP_N_STAGES; i++) {
        const fbp_status st = fbp_device_settle(b, dev, (enum fbp_stage)i);
        first = first == FBP_OK ? st : first;
    }
    return first;
}

/** Free a device's memory, or the host's that it copies from and to; NULL is nothing. */
static inline void fbp_device_put(const struct fbp_backend *b, fbp_device *dev,
                                  enum fbp_purpose purpose, void *memory)
{
    if (memory)
        b->release(dev, purpose, memory);
}

static inline void fbp_host_put(const struct fbp_backend *b, fbp_device *dev, void *memory)
{
    if (memory)
        b->host_release(dev, memory);
}

#endif /* FBP_SRC_DEVICE_H */
