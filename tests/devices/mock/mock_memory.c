/* Memory of the caller on the simulated device (struct fbp_device_memory_access,
 * array/device_memory.h), and its links to other memories (struct fbp_link_meter), whose rates are
 * computed from those of struct fbp_mock_links.  mock.c lists both tables as slots. */
#include "devices/mock/mock.h"

#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No address of a program has this bit, on any machine whose addresses have 48 bits. */
static const uintptr_t FAR = (uintptr_t)1 << 50;

atomic_uint_fast64_t fbp_mock_copied, fbp_mock_measured;

struct mock_far {
    struct fbp_device_memory far;
    void *queue; /* an atomic_bool, true while it is busy; NULL: the caller has none */
};

void *fbp_mock_device_memory(void *host)
{
    return (void *)((uintptr_t)host | FAR);
}

void *fbp_mock_host_memory(const void *memory)
{
    return (void *)((uintptr_t)memory & ~FAR);
}

static int owner(const void *memory, size_t bytes)
{
    (void)bytes;
    return (uintptr_t)memory & FAR ? 0 : -1;
}

static fbp_status wait_for(void *queue)
{
    const atomic_bool *busy = queue;

    while (busy && atomic_load(busy))
        usleep(100);
    return FBP_OK;
}

static fbp_status settle(struct fbp_device_memory *far)
{
    return wait_for(((const struct mock_far *)(const void *)far)->queue);
}

static fbp_status copy(struct fbp_device_memory *far, const struct fbp_strided_copy *p)
{
    (void)far;
    for (size_t i = 0; i < p->n; i++)
        memcpy((char *)fbp_mock_host_memory(p->to) + i * p->to_stride,
               (const char *)fbp_mock_host_memory(p->from) + i * p->from_stride, p->bytes);
    atomic_fetch_add(&fbp_mock_copied, p->n * p->bytes);
    return FBP_OK;
}

static void drop(struct fbp_device_memory *far)
{
    free(far);
}

static fbp_status open_far(int index, void *queue, struct fbp_device_memory **out)
{
    struct mock_far *f = NULL;

    (void)index;
    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "the caller's memory"));
    *f = (struct mock_far){{settle, copy, drop}, queue};
    *out = &f->far;
    return FBP_OK;
}

static fbp_status make_queue(int number, void **out)
{
    (void)number;
    return fbp_calloc(out, 1, sizeof(atomic_bool), "a queue of a simulated device");
}

static fbp_status alloc_far(int index, size_t bytes, void **out)
{
    void *host = NULL;

    (void)index;
    *out = NULL;
    FBP_TRY(fbp_alloc(&host, bytes, "memory of a simulated device"));
    *out = fbp_mock_device_memory(host);
    return FBP_OK;
}

static void release_far(int index, void *memory)
{
    (void)index;
    fbp_free(fbp_mock_host_memory(memory));
}

const struct fbp_device_memory_access fbp_mock_memory_access = {
    owner, open_far, make_queue, wait_for, free, alloc_far, release_far};

struct meter {
    int devices[FBP_MOCK_DEVICES];
    bool connected[FBP_MOCK_DEVICES][FBP_MOCK_DEVICES];
};

static bool identify(int index, char *out, size_t n)
{
    snprintf(out, n, "pretended device %d at %u", index, fbp_mock_faults.links.place);
    return true;
}

static fbp_status open_meter(void **out, const int *devices, size_t n)
{
    struct meter *m = calloc(1, sizeof *m);

    *out = m;
    if (!m)
        return fbp_fail_nomem(sizeof *m, "simulated links");
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
    const unsigned bit = 1u << (FBP_MOCK_DEVICES * m->devices[from] + m->devices[to]);

    m->connected[from][to] = from != to && !(fbp_mock_faults.links.no_peers & bit);
    return m->connected[from][to];
}

/* The part of the machine that needs most time per byte of each flow limits all of them. */
static fbp_status rate(void *meter, const struct fbp_flow *flows, size_t n, double *out)
{
    const struct meter *m = meter;
    const struct fbp_mock_links usual = {
        .up = 50e9, .down = 40e9, .bus = 80e9, .host = 100e9, .peer = 300e9, .within = 1e12};
    struct fbp_mock_links l = fbp_mock_faults.links;
    double bus[FBP_MOCK_DEVICES] = {0}, host = 0, seconds = 0;

    *out = 0;
    if (atomic_fetch_add(&fbp_mock_measured, 1) + 1 == l.fail_rate)
        return fbp_fail(FBP_ERR_DEVICE, "mock: a rate cannot be measured, as requested by a test");
    l.up = l.up > 0 ? l.up : usual.up;
    l.down = l.down > 0 ? l.down : usual.down;
    l.bus = l.bus > 0 ? l.bus : usual.bus;
    l.host = l.host > 0 ? l.host : usual.host;
    l.peer = l.peer > 0 ? l.peer : usual.peer;
    l.within = l.within > 0 ? l.within : usual.within;

    for (size_t i = 0; i < n; i++) {
        const struct fbp_flow *f = &flows[i];
        if (f->from >= 0 && f->to >= 0) {
            if (f->from != f->to && !m->connected[f->from][f->to])
                return fbp_fail(FBP_ERR_DEVICE,
                                "mock: the simulated devices %d and %d have no direct link",
                                f->from, f->to);
            seconds = fmax(seconds, 1 / (f->from == f->to ? l.within : l.peer));
            continue;
        }
        seconds = fmax(seconds, 1 / (f->to >= 0 ? l.up : l.down));
        seconds = fmax(seconds, bus[f->to >= 0 ? f->to : f->from] += 1 / l.bus);
        seconds = fmax(seconds, host += 1 / l.host);
    }
    *out = (double)n / seconds;
    return FBP_OK;
}

const struct fbp_link_meter fbp_mock_link_meter = {
    .host_bytes = 32 << 20, /* as a real one would take */
    .device_bytes = 64 << 20,
    .identify = identify,
    .open = open_meter,
    .close = close_meter,
    .connect = connect_devices,
    .rate = rate,
};
