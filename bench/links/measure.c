/* Measures the transfer rates of devices anew, without the values of the cache. Called by
 * links/command.c. */
#include "bench/links/links.h"

#include "backend/backend.h"
#include "base/system.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <stdio.h>

/* Names of the devices, and the driver's facts about each pair. */
static void describe(const struct fbp_backend *backend, const int *devices, size_t n,
                     struct fbp_links_report *out)
{
    const struct fbp_link_meter *meter = backend->links;

    for (size_t i = 0; i < n; i++) {
        struct fbp_device_info *d = &out->devices[i];
        d->struct_size = sizeof *d;
        d->numa_node = -1;
        snprintf(d->name, sizeof d->name, "%s:%d", backend->name, devices[i]);
        snprintf(d->text, sizeof d->text, "%s", backend->summary);
        backend->discovery.describe(devices[i], d);
        for (size_t j = 0; j < n; j++)
            meter->peer(devices[i], devices[j], &out->peers[i][j]);
    }
}

fbp_status fbp_bench_links(const char *device, struct fbp_links_report *out)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n;

    fbp_message_clear();
    *out = (struct fbp_links_report){.seconds = 0};
    FBP_TRY(fbp_devices_find(device ? device : "auto:all", &backend, devices, &n));
    const double begin = fbp_seconds();
    FBP_TRY(fbp_links_measure(backend, devices, n, &out->links));
    out->seconds = fbp_seconds() - begin;
    describe(backend, devices, n, out);
    return FBP_OK;
}
