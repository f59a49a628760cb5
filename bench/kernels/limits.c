/* What a device can do at best, as it measures it itself. */
#include "bench/common/measure.h"

#include "base/base.h"
#include "bench/common/device.h"
#include "bench/common/modules.h"

fbp_status fbp_bench_limits(const char *device, struct fbp_limits *out)
{
    const struct fbp_backend *backend;

    fbp_message_clear();
    *out = (struct fbp_limits){0};
    FBP_TRY(fbp_bench_device(device, &backend));
    const struct bench_device *functions = bench_device_of(backend);
    if (!functions->limits)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "limits: %s has none that are measured: use a cuda device", backend->name);
    return functions->limits(0, out);
}
