/* What a device can do at best, as it measures it itself. */
#include "fbp-lab/bench.h"

#include "backend/experiments.h"
#include "base/status.h"
#include "lab/bench_device.h"

fbp_status fbp_bench_limits(const char *device, struct fbp_limits *out)
{
    const struct fbp_backend *backend;

    fbp_message_clear();
    *out = (struct fbp_limits){0};
    FBP_TRY(fbp_bench_device(device, &backend));
    const struct fbp_limit_kernels *limits = backend->experiment("limits");
    if (!limits)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "limits: %s has none that are measured: use a cuda device", backend->name);
    return limits->measure(0, out);
}
