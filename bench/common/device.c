#include "bench/common/device.h"

#include "base/base.h"
#include "pipeline/job.h"

#include <string.h>

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
