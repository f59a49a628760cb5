/** @file device_memory.h  Samples of the calling program in the memory of a device (internal).
 *
 * Only the backend of a device copies from and to such memory: CUDA implements struct
 * fbp_device_memory and struct fbp_device_memory_access. source_caller.c and sink_caller.c open
 * sources and sinks on it.
 * Used by: bench/common/, array/, backend/, pipeline/.
 */
#ifndef FBP_SRC_ARRAY_DEVICE_MEMORY_H
#define FBP_SRC_ARRAY_DEVICE_MEMORY_H

#include "fbp/array.h"

/** A copy of n blocks of `bytes` bytes each; to_stride, from_stride: distances between the starts
 * of two blocks [bytes]. */
struct fbp_strided_copy {
    void *to;
    const void *from;
    size_t n, bytes, to_stride, from_stride;
};

/** Access to memory of one device, opened by fbp_device_memory_access.open(). */
struct fbp_device_memory {
    /** Waits for all work that the calling program has put into its stream before this call. */
    fbp_status (*settle)(struct fbp_device_memory *far);
    /** Copies between the caller's device memory and host memory; returns when the copy is done.
     * May be called from any thread. */
    fbp_status (*copy)(struct fbp_device_memory *far, const struct fbp_strided_copy *pieces);
    void (*close)(struct fbp_device_memory *far); /**< frees the struct */
};

/** Functions for device memory, which a backend such as CUDA provides. */
struct fbp_device_memory_access {
    /** Index of the device whose memory contains all bytes of the range; -1: no device. */
    int (*owner)(const void *memory, size_t bytes);
    /** Opens access to memory of device `index`; its contents are valid when the work in `queue`, a
     * stream of the calling program, is done. */
    fbp_status (*open)(int index, void *queue, struct fbp_device_memory **out);
    /** Creates a queue (a CUDA stream) on device `number` of the driver's list. */
    fbp_status (*queue)(int number, void **out);
    /** Waits until all work in `queue`, a stream of the calling program, is done. */
    fbp_status (*wait)(void *queue);
    void (*drop_queue)(void *queue);
    /** Allocates device memory, for tests and benchmarks. */
    fbp_status (*alloc)(int index, size_t bytes, void **out);
    void (*release)(int index, void *memory);
};

/** Open a source or a sink whose samples are in device memory. Both functions take ownership of
 * `far`, the access to that memory, also after an error. */
fbp_status fbp_source_on_device(fbp_source **out, const void *samples,
                                const struct fbp_array_info *info, struct fbp_device_memory *far);
fbp_status fbp_sink_on_device(fbp_sink **out, enum fbp_type type, void *samples, const size_t n[3],
                              struct fbp_device_memory *far);

/** Access to the device memory that contains the samples of a source or a sink; NULL: its samples
 * are not in device memory. */
struct fbp_device_memory *fbp_source_device(const fbp_source *src);
struct fbp_device_memory *fbp_sink_device(const fbp_sink *sink);

/** Copy bytes from or to device memory after the work in the calling program's stream is done. */
fbp_status fbp_device_memory_transfer(struct fbp_device_memory *far, void *to, const void *from,
                                      size_t bytes);

/** Convert the return value of a callback of the calling program to a status. 0: FBP_OK. Otherwise
 * FBP_ERR_CANCELLED if the library call is being cancelled, else FBP_ERR_IO, with a message of
 * `what` and the callback's text `why`. */
fbp_status fbp_callback_status(int result, const char *what, const char *why);
enum { FBP_WHY_BYTES = 512 }; /**< size of the buffer for a callback's error message */

/** Wait until the work in the stream that the calling program gave for its memory `far` is done;
 * far NULL: return immediately. */
static inline fbp_status fbp_device_memory_settle(struct fbp_device_memory *far)
{
    return far ? far->settle(far) : FBP_OK;
}

#endif /* FBP_SRC_ARRAY_DEVICE_MEMORY_H */
