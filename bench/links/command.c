/* Command `fbp bench links`: transfer rates between the memories of host and devices, measured
 * without the values of the cache.
 * Used by: bench/commands.c. */
#include "bench/common/bench.h"

#include "backend/backend.h"
#include "base/system.h"
#include "fbp/recon.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <stdio.h>

struct links_args {
    const char *device;
    bool json;
};

#define L struct links_args
static const struct opt table[] = {
    OPT(L, device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "auto:all",
        .help = "devices whose links are measured, such as cuda:0,1; fbp devices lists them"),
    OPT(L, json, .name = "json", .help = "print one JSON object"),
};
#undef L

/* Names of some devices, and the rates of the links between them. */
struct fbp_links_report {
    struct fbp_links links;
    struct fbp_device_info devices[FBP_MOST_LINKED];
    struct fbp_peer peers[FBP_MOST_LINKED][FBP_MOST_LINKED];
    double seconds; /* that the measurement took */
};

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

/* Measure the links of devices, and store the rates for plans of several devices in
 * ${XDG_CACHE_HOME:-~/.cache}/fbp/links.  device: as in fbp_recon_params, each device once. */
static fbp_status measure(const char *device, struct fbp_links_report *out)
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

static void add_link(cJSON *to, const struct fbp_link *link)
{
    cli_json_add(to, {"up", link->up}, {"down", link->down}, {"both", link->both});
}

static cJSON *json_device(const struct fbp_links_report *r, size_t i)
{
    const struct fbp_device_info *d = &r->devices[i];
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "name", d->name);
    cJSON_AddStringToObject(one, "text", d->text);
    cJSON_AddStringToObject(one, "bus_id", d->bus_id);
    if (d->numa_node >= 0)
        cJSON_AddNumberToObject(one, "numa_node", d->numa_node);
    add_link(one, &r->links.alone[i]);
    cJSON_AddNumberToObject(one, "within", r->links.peer[i][i]);
    return one;
}

static cJSON *json_peer(const struct fbp_links_report *r, size_t i, size_t j)
{
    const struct fbp_peer *p = &r->peers[i][j];
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "from", r->devices[i].name);
    cJSON_AddStringToObject(one, "to", r->devices[j].name);
    cJSON_AddBoolToObject(one, "direct", p->direct);
    cJSON_AddBoolToObject(one, "atomics", p->atomics);
    cJSON_AddNumberToObject(one, "rank", p->rank);
    cJSON_AddNumberToObject(one, "one_way", r->links.peer[i][j]);
    cJSON_AddNumberToObject(one, "both", r->links.peer_both[i][j]);
    return one;
}

static int print_json(const struct fbp_links_report *r)
{
    const size_t n = r->links.n;
    cJSON *root = cJSON_CreateObject(), *devices = cJSON_AddArrayToObject(root, "devices");

    cJSON_AddStringToObject(root, "bench", "links");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(devices, json_device(r, i));
    add_link(cJSON_AddObjectToObject(root, "together"), &r->links.together);
    cJSON *peers = cJSON_AddArrayToObject(root, "peers");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j)
                cJSON_AddItemToArray(peers, json_peer(r, i, j));
    cJSON_AddNumberToObject(root, "ring", r->links.ring);
    cJSON_AddNumberToObject(root, "seconds", r->seconds);
    return cli_json(root, false);
}

static void print_link(const char *name, const struct fbp_link *link)
{
    printf("%-10s %10.1f %10.1f %10.1f\n", name, 1e-9 * link->up, 1e-9 * link->down,
           1e-9 * link->both);
}

static void print_devices(const struct fbp_links_report *r)
{
    for (size_t i = 0; i < r->links.n; i++) {
        const struct fbp_device_info *d = &r->devices[i];
        printf("%-10s %s", d->name, d->text);
        if (d->bus_id[0])
            printf(", PCI %s", d->bus_id);
        if (d->numa_node >= 0)
            printf(", NUMA node %d", d->numa_node);
        putchar('\n');
    }
}

/* Print the rates between devices, and the driver's rank of each link; *: the link supports atomic
 * operations. */
static void print_peers(const struct fbp_links_report *r)
{
    const struct fbp_links *l = &r->links;
    char text[48];

    printf("\n%-10s", "from / to");
    for (size_t j = 0; j < l->n; j++)
        printf(" %17s", r->devices[j].name);
    putchar('\n');
    for (size_t i = 0; i < l->n; i++) {
        printf("%-10s", r->devices[i].name);
        for (size_t j = 0; j < l->n; j++) {
            const struct fbp_peer *p = &r->peers[i][j];
            if (i == j)
                snprintf(text, sizeof text, "(%.0f)", 1e-9 * l->peer[i][j]);
            else if (l->peer[i][j] > 0)
                snprintf(text, sizeof text, "%.1f, %.1f #%d%s", 1e-9 * l->peer[i][j],
                         1e-9 * l->peer_both[i][j], p->rank, p->atomics ? "*" : "");
            else
                snprintf(text, sizeof text, "%s", p->direct ? "unusable" : "none");
            printf(" %17s", text);
        }
        putchar('\n');
    }
    if (l->ring > 0)
        printf("each to the next, all at once: %.1f\n", 1e-9 * l->ring);
}

static int print_text(const struct fbp_links_report *r)
{
    const size_t n = r->links.n;

    print_devices(r);
    printf("\n%-10s %10s %10s %10s\n", "GB/s", "up", "down", "both");
    for (size_t i = 0; i < n; i++)
        print_link(r->devices[i].name, &r->links.alone[i]);
    if (n > 1) {
        print_link("together", &r->links.together);
        print_peers(r);
    }
    printf("\nmeasured in %.2f s\n", r->seconds);
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct links_args a = {0};
    static struct fbp_links_report report;
    const int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (measure(a.device, &report) != FBP_OK)
        return cli_fail();
    return (a.json ? print_json : print_text)(&report);
}

const struct command cmd_bench_links = {
    .name = "bench links",
    .summary = "how fast bytes go between the host and GPUs, and between GPUs",
    .usage = "[--device cuda:0,1] [--json]",
    .about =
        "Measures the links of devices anew: up from pinned memory of the host, down to it, and "
        "both at once (each way); of each device alone, then of all together. For each pair of "
        "devices: copies that do not pass the host's memory, one way and both ways at once (each "
        "way); in brackets, copies within a device. After # is the rank that the driver gives the "
        "link (0: the fastest of this machine); * marks links that carry atomic operations, as "
        "NVLink does; unusable: the driver offers copies, but bytes do not arrive as they were. "
        "10^9 bytes are a GB; with --json, rates are in bytes a second.\nThe rates "
        "are kept in ${XDG_CACHE_HOME:-~/.cache}/fbp/links. A reconstruction on several devices "
        "reads them there; if there are none, it measures them itself. With FBP_TUNE=0 it does "
        "neither.",
    .examples = "  fbp bench links\n"
                "  fbp bench links --device cuda:0,1 --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
