#include "lab/bench_device.h"

#include "base/status.h"

#include <string.h>

fbp_status fbp_bench_device(const char *name, const struct fbp_backend **out)
{
    char why[300] = "";
    const char *colon = name ? strchr(name, ':') : NULL;

    if (colon)
        return fbp_fail(FBP_ERR_INVALID,
                        "device: \"%s\": the first device of its kind is measured: give \"%.*s\"",
                        name, (int)(colon - name), name);
    *out = name && strcmp(name, "auto") != 0 ? fbp_backend_find(name) : fbp_backend_auto();
    if (!*out)
        return fbp_fail(FBP_ERR_INVALID,
                        "device: \"%s\" is not in this build: fbp devices lists those that are",
                        name);
    if (fbp_backend_count(out, why, sizeof why) == 0)
        return fbp_fail(FBP_ERR_INVALID, "device: %s cannot be used: %s", (*out)->name, why);
    return FBP_OK;
}
