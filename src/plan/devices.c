#include "plan/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fbp_status wrong_index(const char *text, const char *name, int available)
{
    if (available == 1)
        return fbp_fail(FBP_ERR_INVALID, "device: \"%s\": there is one, with index 0: use %s", text,
                        name);
    return fbp_fail(FBP_ERR_INVALID,
                    "device: \"%s\": expected indices 0 … %d, as in %s:0,1, or %s:all", text,
                    available - 1, name, name);
}

/* "name", "name:0,2" or "name:all" into a backend and device indices. */
fbp_status fbp_devices_find(const char *text, const struct fbp_backend **backend, int *devices,
                            size_t *n_devices)
{
    char name[32], why[sizeof((struct fbp_device_info *)0)->reason] = "";
    const char *colon = strchr(text, ':');
    const size_t n = colon ? (size_t)(colon - text) : strlen(text);

    *n_devices = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    *backend = strcmp(name, "auto") == 0 ? fbp_backend_auto() : fbp_backend_find(name);
    if (!*backend) {
        char known[200] = "";
        const char *one;
        for (size_t i = 0; (one = fbp_device_name(i)); i++) {
            strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
            strncat(known, one, sizeof known - strlen(known) - 1);
        }
        return fbp_fail(FBP_ERR_UNSUPPORTED, "device: \"%s\" is not in this build: use one of %s",
                        name, known);
    }
    const int available = fbp_backend_count(backend, why, sizeof why);
    if (available == 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "device: %s cannot be used: %s", name, why);
    if (!colon) {
        devices[(*n_devices)++] = 0;
        return FBP_OK;
    }
    if (strcmp(colon + 1, "all") == 0) {
        for (int i = 0; i < available && i < FBP_MOST_DEVICES; i++)
            devices[(*n_devices)++] = i;
        return FBP_OK;
    }
    for (const char *at = colon + 1;; at++) {
        char *end;
        const long index = strtol(at, &end, 10);
        if (end == at || index < 0 || index >= available)
            return wrong_index(text, name, available);
        if (*n_devices == FBP_MOST_DEVICES)
            return fbp_fail(FBP_ERR_INVALID, "device: \"%s\": at most %d devices can be named",
                            text, FBP_MOST_DEVICES);
        devices[(*n_devices)++] = (int)index;
        if (*end == '\0')
            return FBP_OK;
        if (*end != ',')
            return fbp_fail(FBP_ERR_INVALID, "device: \"%s\": unexpected \"%s\"", text, end);
        at = end;
    }
}

uint64_t fbp_device_free(const struct fbp_backend *backend, int index)
{
    struct fbp_device_info d = {0};

    if (!backend->own_memory)
        return 0;
    backend->describe(index, &d);
    return d.free_bytes / 10 * 9;
}
