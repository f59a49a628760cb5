/* The devices that there are. */
#include "fbp/recon.h"

#include "backend/partners.h"
#include "base/sizes.h"

#include <stdio.h>

static void describe_device(const struct fbp_backend *backend, int i, int count, const char *why,
                            struct fbp_device_info *out)
{
    struct fbp_device_info own = {.struct_size = sizeof own, .numa_node = -1};

    snprintf(own.name, sizeof own.name, count > 1 ? "%s:%d" : "%s", backend->name, i);
    snprintf(own.text, sizeof own.text, "%s", backend->summary);
    snprintf(own.reason, sizeof own.reason, "%s", why);
    if (count > 0)
        backend->describe(i, &own);
    FBP_GIVE(device_info, out, &own);
}

size_t fbp_devices(struct fbp_device_info *out, size_t n)
{
    size_t found = 0;

    fbp_message_clear();
    if (n > 0 && FBP_CHECK(device_info, out) != FBP_OK)
        return 0;
    for (const struct fbp_backend *const *b = fbp_backends; *b; b++) {
        const struct fbp_backend *backend = *b;
        char why[sizeof out->reason] = "";
        if (backend->hidden)
            continue;
        const int count = fbp_backend_count(&backend, why, sizeof why);
        for (int i = 0; i < (count > 0 ? count : 1); i++, found++) {
            if (found >= n)
                continue;
            struct fbp_device_info *d = &out[found];
            d->struct_size = sizeof *d;
            describe_device(backend, i, count, why, d);
        }
    }
    return found;
}
