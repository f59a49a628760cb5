/* Links that are pretended: a rate is worked out from what each part of the machine gives. */
#include "backend/mock/mock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct meter {
    size_t n;
    int devices[FBP_MOCK_DEVICES];
    bool connected[FBP_MOCK_DEVICES][FBP_MOCK_DEVICES];
};

static struct fbp_mock_links links_now(void)
{
    const struct fbp_mock_links usual = FBP_MOCK_LINKS, *planted = &fbp_mock_plant.links;
    struct fbp_mock_links l = *planted;
    double *const rates[] = {&l.up, &l.down, &l.bus, &l.host, &l.peer, &l.within};
    const double usually[] = {usual.up,   usual.down, usual.bus,
                              usual.host, usual.peer, usual.within};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (*rates[i] == 0)
            *rates[i] = usually[i];
    return l;
}

static bool identify(int index, char *out, size_t n)
{
    snprintf(out, n, "pretended device %d at %u", index, fbp_mock_plant.links.place);
    return true;
}

static void peer(int from, int to, struct fbp_peer *out)
{
    const unsigned bit = 1u << (FBP_MOCK_DEVICES * from + to);

    *out = (struct fbp_peer){.direct = from != to && !(fbp_mock_plant.links.no_peers & bit)};
}

static fbp_status open_meter(void **out, const int *devices, size_t n)
{
    struct meter *m = calloc(1, sizeof *m);

    *out = m;
    if (!m)
        return fbp_fail_nomem(sizeof *m, "pretended links");
    m->n = n;
    memcpy(m->devices, devices, n * sizeof *devices);
    return FBP_OK;
}

static void close_meter(void **meter)
{
    free(*meter);
    *meter = NULL;
}

static bool connect_devices(void *meter, size_t from, size_t to)
{
    struct meter *m = meter;
    struct fbp_peer p;

    peer(m->devices[from], m->devices[to], &p);
    m->connected[from][to] = p.direct;
    return p.direct;
}

/* What the flows take of each part of the machine, in seconds a byte of each flow. */
static fbp_status longest(const struct meter *m, const struct fbp_flow *flows, size_t n,
                          double *seconds)
{
    const struct fbp_mock_links l = links_now();
    double bus[FBP_MOCK_DEVICES] = {0}, host = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        const struct fbp_flow *f = &flows[i];
        if (f->from >= 0 && f->to >= 0) {
            if (f->from != f->to && !m->connected[f->from][f->to])
                return fbp_fail(FBP_ERR_DEVICE, "mock: devices %d and %d are not connected",
                                f->from, f->to);
            most = fmax(most, 1 / (f->from == f->to ? l.within : l.peer));
            continue;
        }
        most = fmax(most, 1 / (f->to >= 0 ? l.up : l.down));
        most = fmax(most, bus[f->to >= 0 ? f->to : f->from] += 1 / l.bus);
        most = fmax(most, host += 1 / l.host);
    }
    *seconds = most;
    return FBP_OK;
}

static fbp_status rate(void *meter, const struct fbp_flow *flows, size_t n, double *out)
{
    const uint64_t fails = fbp_mock_plant.links.fail_rate;
    double seconds = 0;

    *out = 0;
    if (atomic_fetch_add(&fbp_mock_measured, 1) + 1 == fails)
        return fbp_fail(FBP_ERR_DEVICE, "mock: a rate cannot be measured, as a test wants");
    FBP_TRY(longest(meter, flows, n, &seconds));
    *out = (double)n / seconds;
    return FBP_OK;
}

const struct fbp_link_meter fbp_mock_link_meter = {
    .host_bytes = 32 << 20, /* as a real one would take */
    .device_bytes = 64 << 20,
    .identify = identify,
    .peer = peer,
    .open = open_meter,
    .close = close_meter,
    .connect = connect_devices,
    .rate = rate,
};
