/* What a device can do at best, as it measures it itself. */
#include "fbp-lab/bench.h"

#include "base/status.h"
#include "lab/bench_device.h"

fbp_status fbp_bench_limits(const char *device, struct fbp_limits *out)
{
    const struct fbp_backend *backend;

    fbp_message_clear();
    *out = (struct fbp_limits){0};
    FBP_TRY(fbp_bench_device(device, &backend));
    if (!backend->limits)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "limits: %s has none that are measured: use a cuda device", backend->name);
    return backend->limits(0, out);
}
