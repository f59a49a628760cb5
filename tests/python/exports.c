/* libfbp for tests of Python: it also exports memory of the mock device (far.py). */
#include "bench/common/device_memory.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT fbp_status fbp_test_memory_alloc(const char *device, size_t bytes, void **out);
EXPORT void fbp_test_memory_release(const char *device, void *memory);
EXPORT fbp_status fbp_test_memory_copy(const char *device, void *to, const void *from, size_t n);

fbp_status fbp_test_memory_alloc(const char *device, size_t bytes, void **out)
{
    return fbp_bench_memory_alloc(device, bytes, out);
}

void fbp_test_memory_release(const char *device, void *memory)
{
    fbp_bench_memory_release(device, memory);
}

fbp_status fbp_test_memory_copy(const char *device, void *to, const void *from, size_t n)
{
    return fbp_bench_memory_copy(device, to, from, n);
}
