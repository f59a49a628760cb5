/* Command `fbp bench links`: transfer rates between the memories of host and devices.
 * Used by: bench/commands.c. */
#include "bench/common/bench.h"
#include "bench/common/modules.h"

#include "backend/backend.h"
#include "base/system.h"
#include "fbp/recon.h"
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

/* Rates between the host's memory and devices [bytes/s]: to devices (up), back (down), and per
 * direction while both are used. */
struct link {
    double up, down, both;
};

/* Names of n devices, and the rates of the links between them [bytes/s]. */
struct report {
    size_t n;
    struct link alone[FBP_MOST_LINKED]; /* each device, while others copy nothing */
    struct link together;               /* sums over all devices, which copy at the same time */
    /* peer[i][j]: rate of direct copies from device i to device j; 0: not possible. If i is j: rate
     * of copies within its memory. */
    double peer[FBP_MOST_LINKED][FBP_MOST_LINKED];
    /* peer_both[i][j]: rate per direction if device i copies to j and j to i at once */
    double peer_both[FBP_MOST_LINKED][FBP_MOST_LINKED];
    /* Sum of the rates if each device copies to the next one, and the last to the first; 0: two
     * neighbours cannot copy directly, or there is only one device. */
    double ring;
    struct fbp_device_info devices[FBP_MOST_LINKED];
    struct bench_peer peers[FBP_MOST_LINKED][FBP_MOST_LINKED];
    double seconds; /* that the measurement took */
};

/* Measure the rates of copies to and from the host of devices i to end - 1 together. */
static fbp_status measure_host(const struct fbp_link_meter *meter, void *own, size_t i, size_t end,
                               struct link *out)
{
    struct fbp_flow flows[2 * FBP_MOST_LINKED];
    const size_t n = end - i;

    for (size_t k = 0; k < n; k++) {
        flows[k] = (struct fbp_flow){FBP_HOST, (int)(i + k)};
        flows[n + k] = (struct fbp_flow){(int)(i + k), FBP_HOST};
    }
    FBP_TRY(meter->rate(own, flows, n, &out->up));
    FBP_TRY(meter->rate(own, flows + n, n, &out->down));
    FBP_TRY(meter->rate(own, flows, 2 * n, &out->both));
    out->both /= 2;
    return FBP_OK;
}

/* Measure the rates of all links of the devices for which meter->open() made the state `own`. */
static fbp_status measure_all(const struct fbp_link_meter *meter, void *own, struct report *out)
{
    struct fbp_flow flows[FBP_MOST_LINKED];
    const size_t n = out->n;

    for (size_t i = 0; i < n; i++)
        FBP_TRY(measure_host(meter, own, i, i + 1, &out->alone[i]));
    if (n > 1)
        FBP_TRY(measure_host(meter, own, 0, n, &out->together));
    else
        out->together = out->alone[0];
    for (size_t i = 0; i < n; i++)
        /* measure pairs of devices; their rates stay 0 if direct copies are not possible */
        for (size_t j = i; j < n; j++) {
            const struct fbp_flow pair[2] = {{(int)i, (int)j}, {(int)j, (int)i}};
            const bool there = i == j || meter->connect(own, i, j);
            const bool back = i != j && meter->connect(own, j, i);
            if (there)
                FBP_TRY(meter->rate(own, pair, 1, &out->peer[i][j]));
            if (back)
                FBP_TRY(meter->rate(own, pair + 1, 1, &out->peer[j][i]));
            if (!there || !back)
                continue;
            FBP_TRY(meter->rate(own, pair, 2, &out->peer_both[i][j]));
            out->peer_both[j][i] = out->peer_both[i][j] /= 2;
        }

    for (size_t i = 0; i < n; i++) {
        const size_t next = (i + 1) % n;
        if (n < 2 || out->peer[i][next] == 0)
            return FBP_OK;
        flows[i] = (struct fbp_flow){(int)i, (int)next};
    }
    return meter->rate(own, flows, n, &out->ring);
}

/* Names of the devices, and the driver's facts about each pair. */
static void describe(const struct fbp_backend *backend, const int *devices, size_t n,
                     struct report *out)
{
    const struct bench_device *functions = bench_device_of(backend);

    for (size_t i = 0; i < n; i++) {
        struct fbp_device_info *d = &out->devices[i];
        d->struct_size = sizeof *d;
        d->numa_node = -1;
        snprintf(d->name, sizeof d->name, "%s:%d", backend->name, devices[i]);
        snprintf(d->text, sizeof d->text, "%s", backend->summary);
        backend->discovery.describe(devices[i], d);
        for (size_t j = 0; j < n && functions->peer; j++)
            functions->peer(devices[i], devices[j], &out->peers[i][j]);
    }
}

static fbp_status check(const struct fbp_backend *backend, const int *devices, size_t n)
{
    if (!backend->links)
        return FBP_UNSUPPORTED(
            "links: device %s has no transfer rates to measure; use CUDA devices", backend->name);
    if (n > FBP_MOST_LINKED)
        return FBP_INVALID("links: found %zu devices, expected at most %d; name fewer devices", n,
                           FBP_MOST_LINKED);
    for (size_t i = 1; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (devices[i] == devices[j])
                return FBP_INVALID("links: device %d is named twice; name each device once",
                                   devices[i]);
    return FBP_OK;
}

/* Measure the links of devices.  device: as in fbp_recon_params, each device once. */
static fbp_status measure(const char *device, struct report *out)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    void *own = NULL;

    fbp_message_clear();
    *out = (struct report){.seconds = 0};
    FBP_TRY(fbp_devices_find(device ? device : "auto:all", &backend, devices, &out->n));
    FBP_TRY(check(backend, devices, out->n));
    const double begin = fbp_seconds();
    fbp_status st = backend->links->open(&own, devices, out->n);
    if (st == FBP_OK)
        st = measure_all(backend->links, own, out);
    backend->links->close(&own);
    out->seconds = fbp_seconds() - begin;
    describe(backend, devices, out->n, out);
    return st;
}

static void add_link(cJSON *to, const struct link *link)
{
    cli_json_add(to, {"up", link->up}, {"down", link->down}, {"both", link->both});
}

static cJSON *json_device(const struct report *r, size_t i)
{
    const struct fbp_device_info *d = &r->devices[i];
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "name", d->name);
    cJSON_AddStringToObject(one, "text", d->text);
    cJSON_AddStringToObject(one, "bus_id", d->bus_id);
    if (d->numa_node >= 0)
        cJSON_AddNumberToObject(one, "numa_node", d->numa_node);
    add_link(one, &r->alone[i]);
    cJSON_AddNumberToObject(one, "within", r->peer[i][i]);
    return one;
}

static cJSON *json_peer(const struct report *r, size_t i, size_t j)
{
    const struct bench_peer *p = &r->peers[i][j];
    cJSON *one = cJSON_CreateObject();

    cJSON_AddStringToObject(one, "from", r->devices[i].name);
    cJSON_AddStringToObject(one, "to", r->devices[j].name);
    cJSON_AddBoolToObject(one, "direct", p->direct);
    cJSON_AddBoolToObject(one, "atomics", p->atomics);
    cJSON_AddNumberToObject(one, "rank", p->rank);
    cJSON_AddNumberToObject(one, "one_way", r->peer[i][j]);
    cJSON_AddNumberToObject(one, "both", r->peer_both[i][j]);
    return one;
}

static int print_json(const struct report *r)
{
    const size_t n = r->n;
    cJSON *root = cJSON_CreateObject(), *devices = cJSON_AddArrayToObject(root, "devices");

    cJSON_AddStringToObject(root, "bench", "links");
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(devices, json_device(r, i));
    add_link(cJSON_AddObjectToObject(root, "together"), &r->together);
    cJSON *peers = cJSON_AddArrayToObject(root, "peers");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j)
                cJSON_AddItemToArray(peers, json_peer(r, i, j));
    cJSON_AddNumberToObject(root, "ring", r->ring);
    cJSON_AddNumberToObject(root, "seconds", r->seconds);
    return cli_json(root, false);
}

static void print_link(const char *name, const struct link *link)
{
    printf("%-10s %10.1f %10.1f %10.1f\n", name, 1e-9 * link->up, 1e-9 * link->down,
           1e-9 * link->both);
}

static void print_devices(const struct report *r)
{
    for (size_t i = 0; i < r->n; i++) {
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
static void print_peers(const struct report *r)
{
    const struct report *l = r;
    char text[48];

    printf("\n%-10s", "from / to");
    for (size_t j = 0; j < l->n; j++)
        printf(" %17s", r->devices[j].name);
    putchar('\n');
    for (size_t i = 0; i < l->n; i++) {
        printf("%-10s", r->devices[i].name);
        for (size_t j = 0; j < l->n; j++) {
            const struct bench_peer *p = &r->peers[i][j];
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

static int print_text(const struct report *r)
{
    const size_t n = r->n;

    print_devices(r);
    printf("\n%-10s %10s %10s %10s\n", "GB/s", "up", "down", "both");
    for (size_t i = 0; i < n; i++)
        print_link(r->devices[i].name, &r->alone[i]);
    if (n > 1) {
        print_link("together", &r->together);
        print_peers(r);
    }
    printf("\nmeasured in %.2f s\n", r->seconds);
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct links_args a = {0};
    static struct report report;
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
        "10^9 bytes are a GB; with --json, rates are in bytes a second.\nA "
        "reconstruction on several devices measures the rates that it needs itself, and keeps them "
        "in ${XDG_CACHE_HOME:-~/.cache}/fbp/links. With FBP_TUNE=0 it does neither.",
    .examples = "  fbp bench links\n"
                "  fbp bench links --device cuda:0,1 --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
