/* Loads libfbp_bench_cuda.so and libfbp_bench_gl.so, finds the device of --device, and measures
 * its limits. Called by all commands that measure on a device.
 * Used by: bench/. */
#include "bench/common/modules.h"

#include "backend/module.h"
#include "base/base.h"
#include "base/system.h"
#include "pipeline/job.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Runs before main(): lets the library load the modules of fbp-bench instead of its own. */
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

fbp_status fbp_bench_device(const char *name, const struct fbp_backend **out)
{
    const char *colon = name ? strchr(name, ':') : NULL;
    int devices[FBP_MOST_DEVICES];
    size_t n;

    if (colon && strcmp(colon, ":0") != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "device: \"%s\": the first device of its kind is measured: give \"%.*s\"",
                        name, (int)(colon - name), name);
    return fbp_devices_find(name ? name : "auto", out, devices, &n);
}

fbp_status fbp_bench_limits(const char *device, struct fbp_limits *out)
{
    const struct fbp_backend *backend;

    fbp_message_clear();
    *out = (struct fbp_limits){0};
    FBP_TRY(fbp_bench_device(device, &backend));
    const struct bench_device *functions = bench_device_of(backend);
    if (!functions->limits)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "limits: device %s cannot measure its limits: use a cuda device",
                        backend->name);
    return functions->limits(0, out);
}
