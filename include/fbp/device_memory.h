/** @file device_memory.h  Views and volumes in the memory of a device: on their way through fbp
 * they do not leave it. */
#ifndef FBP_DEVICE_MEMORY_H
#define FBP_DEVICE_MEMORY_H

#include "fbp/array.h"

FBP_BEGIN

/**
 * The device in whose memory all of this lies, as an index for fbp_recon_params.device: 1 of device
 * "cuda" is "cuda:1".
 *
 * backend  "cuda"
 * memory   as its driver gave it, to CUDA's runtime, CuPy, PyTorch …
 * @return -1: it lies elsewhere, in the host's memory perhaps, or there are no such devices
 */
FBP_API int fbp_device_of_memory(const char *backend, const void *memory, size_t bytes);

/**
 * A source of samples in the memory of a device: [n[2]][n[1]][n[0]] of info->type, otherwise as
 * fbp_source_memory().  A plan on that device (fbp_device_of_memory()) copies them there, if row 0
 * is at the bottom (info->row_order) and they are float32, or uint16 that the plan takes as counts,
 * or float64 in a plan in double; else, and on other devices, through the host's memory.
 *
 * backend  "cuda"
 * queue    a cudaStream_t: whoever reads the source waits until what the caller has queued there is
 *          done.  NULL is CUDA's default stream.  The samples may be changed again when
 *          fbp_plan_run_to() has returned.
 * @return FBP_OK, FBP_ERR_INVALID (it is not the memory of such a device), FBP_ERR_UNSUPPORTED
 *         (there is none, or it has no memory of its own), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
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
 * queue    as above: what the caller has queued may still use the memory; nothing is written before
 *          it is done.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_device_memory(fbp_sink **out, void *samples,
                                                         enum fbp_type type, const size_t n[3],
                                                         const char *backend, void *queue);

/**
 * A queue of a device's, for callers whose memory belongs to another library.  By DLPack that
 * library is told a stream of the taker's, and has it wait until the memory may be used: tell it
 * this one, and give it to the calls above.
 *
 * out      "cuda": a cudaStream_t that waits for no other; fbp_device_queue_destroy()
 * number   the device, as its driver counts them (cudaSetDevice())
 * @return FBP_OK, FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_device_queue_create(void **out, const char *backend,
                                                          int number);
/** Until all is done that is in a queue, of whomever: by the __cuda_array_interface__ a library
 *  tells its own.  NULL is CUDA's default stream. */
FBP_API FBP_MUST_CHECK fbp_status fbp_device_queue_wait(const char *backend, void *queue);
FBP_API void fbp_device_queue_destroy(const char *backend, void *queue);

FBP_END

#endif /* FBP_DEVICE_MEMORY_H */
