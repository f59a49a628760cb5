/* Allocates, frees and copies memory of a device that a text names (device_memory.h).
 * Used by: bench/host/measure.c. */
#include "bench/common/device_memory.h"

#include "array/device_memory.h"
#include "backend/backend.h"
#include "base/base.h"
#include "pipeline/job.h"

/* Find the first device that a text such as "cuda:0,1" names (NULL: "auto"); fail if callers cannot
 * allocate memory on this device. */
static fbp_status first_device(const char *device, const struct fbp_backend **backend, int *index)
{
    int devices[FBP_MOST_DEVICES];
    size_t n;

    FBP_TRY(fbp_devices_find(device ? device : "auto", backend, devices, &n));
    *index = devices[0];
    if ((*backend)->memory.of_caller->alloc)
        return FBP_OK;
    return FBP_UNSUPPORTED("device: %s has no device memory for views and volumes; use host memory",
                           (*backend)->name);
}

fbp_status fbp_bench_memory_alloc(const char *device, size_t bytes, void **out)
{
    const struct fbp_backend *backend;
    int index;

    *out = NULL;
    FBP_TRY(first_device(device, &backend, &index));
    return backend->memory.of_caller->alloc(index, bytes, out);
}

void fbp_bench_memory_release(const char *device, void *memory)
{
    const struct fbp_backend *backend;
    int index;

    if (memory && first_device(device, &backend, &index) == FBP_OK)
        backend->memory.of_caller->release(index, memory);
}

fbp_status fbp_bench_memory_copy(const char *device, void *to, const void *from, size_t bytes)
{
    const struct fbp_backend *backend;
    struct fbp_device_memory *far;
    int index;

    FBP_TRY(first_device(device, &backend, &index));
    FBP_TRY(backend->memory.of_caller->open(index, NULL, &far));
    const fbp_status st =
        far->copy(far, &(struct fbp_strided_copy){.to = to, .from = from, .n = 1, .bytes = bytes});
    far->close(far);
    return st;
}
