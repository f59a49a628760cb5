/** @file device_memory.h  Views and volumes in the memory of a device, without copies to the host.
 */
#ifndef FBP_DEVICE_MEMORY_H
#define FBP_DEVICE_MEMORY_H

#include "fbp/array.h"

FBP_BEGIN

/**
 * Find the device that holds a block of memory.
 *
 * backend  "cuda"
 * memory   address from CUDA's runtime, CuPy, PyTorch …
 * @return index for fbp_recon_params.device: 1 means "cuda:1"; -1: the memory is elsewhere, such as
 *         in the host, or there is no such device
 */
FBP_API int fbp_device_of_memory(const char *backend, const void *memory, size_t bytes);

/**
 * A source of samples in the memory of a device: [n[2]][n[1]][n[0]] of info->type, otherwise as
 * fbp_source_memory().  A plan on that device (fbp_device_of_memory()) copies them within the
 * device if row 0 is at the bottom (info->row_order) and they are float32, uint16 counts, or, for a
 * plan in double, float64.  Other samples, and those for other devices, pass through the host.
 *
 * backend  "cuda"
 * queue    a cudaStream_t: reading waits until the work that the caller has queued there is done.
 *          NULL is CUDA's default stream.  The samples may be changed again when fbp_plan_run_to()
 *          has returned.
 * @return FBP_OK, FBP_ERR_INVALID (not the memory of such a device), FBP_ERR_UNSUPPORTED (no such
 *         device, or it has no memory of its own), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_device_memory(fbp_source **out, const void *samples,
                                                           const struct fbp_array_info *info,
                                                           const char *backend, void *queue);

/**
 * A sink into the memory of a device, [n[2]][n[1]][n[0]], as fbp_sink_memory().  A plan on that
 * device writes there without the host, unless `mask` or a region is set.  When fbp_plan_run_to()
 * has returned, the volume is there for all streams.
 *
 * type     FBP_F32 or FBP_F64
 * queue    as above: nothing is written before the work that the caller has queued is done
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_device_memory(fbp_sink **out, void *samples,
                                                         enum fbp_type type, const size_t n[3],
                                                         const char *backend, void *queue);

/**
 * Create a queue of a device, for memory of another library.  With DLPack a consumer passes a
 * stream to that library, which makes it wait until the memory may be used: pass this one to the
 * library and to the calls above.
 *
 * out      "cuda": a cudaStream_t that waits for no other; fbp_device_queue_destroy()
 * number   index of the device in its driver (cudaSetDevice())
 * @return FBP_OK, FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_device_queue_create(void **out, const char *backend,
                                                          int number);
/** Wait until all work in a queue is done, also in one of another library
 *  (__cuda_array_interface__).  NULL is CUDA's default stream. */
FBP_API FBP_MUST_CHECK fbp_status fbp_device_queue_wait(const char *backend, void *queue);
FBP_API void fbp_device_queue_destroy(const char *backend, void *queue);

FBP_END

#endif /* FBP_DEVICE_MEMORY_H */
