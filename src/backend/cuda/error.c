#define FBP_CUDA_ERROR_C
/* What is said when a call of CUDA's runtime fails. */
#include "backend/cuda/cuda.h"

#include <string.h>

fbp_status cuda_failed(cudaError_t error, const char *call)
{
    const int name = (int)strcspn(call, "(");
    const char *text = cudaGetErrorString(error);

    (void)cudaGetLastError(); /* one that can be recovered from is forgotten */
    if (error == cudaErrorMemoryAllocation)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: %.*s: %s: lower --device-memory or --batch, or close other "
                              "programs that use the device",
                              name, call, text);
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "cuda: %.*s: %s: see whether nvidia-smi lists the device, try again, or "
                          "use --device cpu",
                          name, call, text);
}
