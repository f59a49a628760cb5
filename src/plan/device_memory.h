/** @file device_memory.h  Memory and rest of a device, whether or not it has its own (internal). */
#ifndef FBP_SRC_DEVICE_MEMORY_H
#define FBP_SRC_DEVICE_MEMORY_H

#include "backend/backend.h"

#include "base/mem.h"

static inline fbp_status fbp_device_get(const struct fbp_backend *b, fbp_device *dev,
                                        const struct fbp_buffer *buffer, void **out)
{
    static const char *const what[] = {"a batch of views", "a batch of filtered views",
                                       "a slab of the volume"};
    return b->alloc ? b->alloc(dev, buffer, out)
                    : fbp_alloc(out, buffer->bytes, what[buffer->purpose]);
}

/** Memory that the host fills or empties for a device. */
static inline fbp_status fbp_host_get(const struct fbp_backend *b, fbp_device *dev, size_t bytes,
                                      const char *what, void **out)
{
    return b->host_alloc ? b->host_alloc(dev, bytes, out) : fbp_alloc(out, bytes, what);
}

static inline void fbp_host_put(const struct fbp_backend *b, fbp_device *dev, void *memory)
{
    if (memory && b->host_alloc)
        b->host_release(dev, memory);
    else
        fbp_free(memory);
}

static inline void fbp_device_put(const struct fbp_backend *b, fbp_device *dev,
                                  enum fbp_purpose purpose, void *memory)
{
    if (memory && b->alloc)
        b->release(dev, purpose, memory);
    else
        fbp_free(memory);
}

/** Wait until a stage has done all that it was given. */
static inline fbp_status fbp_device_settle(const struct fbp_backend *b, fbp_device *dev,
                                           enum fbp_stage stage)
{
    struct fbp_mark m;

    if (!b->mark)
        return FBP_OK;
    FBP_TRY(b->mark(dev, stage, &m));
    return b->wait(dev, m);
}

#endif /* FBP_SRC_DEVICE_MEMORY_H */
