#include "bench/common/modules.h"

#include "backend/module.h"
#include "base/system.h"

#include <dlfcn.h>
#include <stdio.h>

/* Before any device is looked for. */
__attribute__((constructor)) static void prefer_own_modules(void)
{
    fbp_module_variant = "bench";
}

const struct bench_device *bench_device_of(const struct fbp_backend *backend)
{
    static const struct bench_device none;
    bench_device_fn *functions = NULL;
    char file[64], symbol[64];

    snprintf(file, sizeof file, "libfbp_bench_%s.so", backend->name);
    snprintf(symbol, sizeof symbol, "fbp_bench_%s", backend->name);
    void *handle = backend->can.own_memory ? fbp_open_plugin(file) : NULL;
    if (handle)
        *(void **)&functions = dlsym(handle, symbol); /* as POSIX has it */
    return functions ? functions() : &none;
}
