/** @file device_memory.h  Sources and sinks for views and volumes in the memory of a GPU, if
 * possible without copies to the host; GPU streams that synchronize with other libraries.
 *
 * For programs that use CUDA, CuPy, PyTorch or DLPack, for the Python binding, and for benchmarks.
 */
#ifndef FBP_DEVICE_MEMORY_H
#define FBP_DEVICE_MEMORY_H

#include "fbp/array.h"

FBP_BEGIN

/**
 * Find the device that holds a block of memory.
 *
 * backend  "cuda"
 * memory   address from the CUDA runtime, CuPy, PyTorch …
 * bytes    size of the block
 * @return index for fbp_recon_params.device: 1 means "cuda:1"; -1: the memory is not on one such
 *         device (but in the host, for example), or no such device exists
 */
FBP_API int fbp_device_of_memory(const char *backend, const void *memory, size_t bytes);

/**
 * Create a source of samples in device memory: [n[2]][n[1]][n[0]] of info->type; otherwise as
 * fbp_source_memory().  A plan on the same device (fbp_device_of_memory()) copies the samples
 * within the device if row 0 is at the bottom (info->row_order) and the type is float32, uint16
 * (counts), or, for a plan in double, float64.  Other samples, and samples for other devices, pass
 * through the host.
 *
 * backend  "cuda"
 * queue    a cudaStream_t; NULL: CUDA's default stream.  Reading waits until the work that the
 *          caller has enqueued in this stream is done.  The samples may change again after
 *          fbp_plan_run_to() has returned.
 * @return FBP_OK, FBP_ERR_INVALID (not memory of such a device), FBP_ERR_UNSUPPORTED (no such
 *         device, or it has no memory of its own), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_device_memory(fbp_source **out, const void *samples,
                                                           const struct fbp_array_info *info,
                                                           const char *backend, void *queue);

/**
 * Create a sink into device memory, [n[2]][n[1]][n[0]]; otherwise as fbp_sink_memory().  A plan on
 * the same device writes there without the host, unless `mask` or a region is set.  After
 * fbp_plan_run_to() has returned, all streams may read the volume.
 *
 * type   FBP_F32 or FBP_F64
 * queue  as in fbp_source_device_memory(): nothing is written before the work that the caller has
 *        enqueued in this stream is done
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_device_memory(fbp_sink **out, void *samples,
                                                         enum fbp_type type, const size_t n[3],
                                                         const char *backend, void *queue);

/**
 * Create a stream of a device, for memory of another library.  With DLPack a consumer passes a
 * stream to the library that produces the memory, and that library makes the stream wait until the
 * memory may be used.  Pass this stream to that library and to the functions above.
 *
 * out      for "cuda": a cudaStream_t that does not synchronize with the default stream; free it
 *          with fbp_device_queue_destroy()
 * number   index of the device in its driver (cudaSetDevice())
 * @return FBP_OK, FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_device_queue_create(void **out, const char *backend,
                                                          int number);
/** Wait until all work in a device stream is done; the stream may be one of another library
 * (__cuda_array_interface__).  queue NULL: CUDA's default stream. */
FBP_API FBP_MUST_CHECK fbp_status fbp_device_queue_wait(const char *backend, void *queue);
FBP_API void fbp_device_queue_destroy(const char *backend, void *queue);

FBP_END

#endif /* FBP_DEVICE_MEMORY_H */
