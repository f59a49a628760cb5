/* Measures the rates of copies between host memory and devices, and between devices, and stores
 * them in a cache file (base/cache.h). fbp_links_get() gets the rates from the cache or, if they
 * are not there and the caller allows it, measures them; fbp_links_measure() always measures.
 * Used by: bench/links/command.c, plan_memory.c. */
#include "pipeline/division.h"

#include "base/cache.h"
#include "base/system.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Greatest lengths [bytes] of texts in the cache of link rates: a key, the name of one device in a
 * key, all rates of an entry, one rate. */
enum { MOST_KEY = 4096, MOST_NAME = 200, MOST_TEXT = 8192, A_NUMBER = 16 };

static const struct fbp_cache_file file = {"links", "fbp: rates of links of devices, version 1\n"};

void fbp_links_bytes(const struct fbp_backend *backend, size_t n_devices, size_t *host,
                     size_t *device)
{
    const struct fbp_link_meter *meter = backend->links;

    *host = meter ? n_devices * meter->host_bytes : 0;
    *device = meter ? meter->device_bytes : 0;
}

/* Make the cache key of a list of devices; false: key too long, or a device without identity. */
static bool make_key(const struct fbp_backend *backend, const int *devices, size_t n,
                     char key[MOST_KEY])
{
    char name[MOST_NAME];
    int used = snprintf(key, MOST_KEY, "%s:", backend->name);

    for (size_t i = 0; i < n; i++) {
        if (!backend->links->identify(devices[i], name, sizeof name))
            return false;
        const size_t room = MOST_KEY - (size_t)used;
        const int more = snprintf(key + used, room, "%s %s", i ? ";" : "", name);
        if (more < 0 || (size_t)more >= room)
            return false;
        used += more;
    }
    return true;
}

/* Return the address of rate number i of *l, in the order of the cache file. */
static double *rate_at(struct fbp_links *l, size_t i)
{
    const size_t n = l->n, pairs = n * n;
    double *const common[4] = {&l->together.up, &l->together.down, &l->together.both, &l->ring};

    if (i < 4)
        return common[i];
    i -= 4;
    if (i < 3 * n) {
        struct fbp_link *one = &l->alone[i / 3];
        return i % 3 == 0 ? &one->up : i % 3 == 1 ? &one->down : &one->both;
    }
    i -= 3 * n;
    return i < pairs ? &l->peer[i / n][i % n] : &l->peer_both[(i - pairs) / n][(i - pairs) % n];
}

static size_t n_rates(size_t n)
{
    return 4 + 3 * n + 2 * n * n;
}

/* Read the rates of a set of n devices from the cache; false: the cache has no entry for the set,
 * or the entry is not a list of n_rates(n) finite numbers >= 0. */
static bool recall(const char *key, size_t n, struct fbp_links *out)
{
    char text[MOST_TEXT + 1], *at = text;

    if (!fbp_cache_get(&file, key, text, sizeof text))
        return false;
    *out = (struct fbp_links){.n = n};
    for (size_t i = 0; i < n_rates(n); i++) {
        char *end;
        const double rate = strtod(at, &end);
        if (end == at || !isfinite(rate) || rate < 0 || (*end != ' ' && *end != '\0'))
            return false;
        *rate_at(out, i) = rate;
        at = end;
    }
    return *at == '\0' && out->together.up > 0;
}

/* Measure the rates of copies to and from the host of devices i to end - 1 together [bytes/s]. */
static fbp_status measure_host(const struct fbp_link_meter *meter, void *own, size_t i, size_t end,
                               struct fbp_link *out)
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
static fbp_status measure_all(const struct fbp_link_meter *meter, void *own, struct fbp_links *out)
{
    struct fbp_flow flows[FBP_MOST_LINKED];
    const size_t n = out->n;

    for (size_t i = 0; i < n; i++)
        FBP_TRY(measure_host(meter, own, i, i + 1, &out->alone[i]));
    if (n == 1)
        out->together = out->alone[0];
    else
        FBP_TRY(measure_host(meter, own, 0, n, &out->together));
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

    /* Measure the ring: all devices copy to the next at once. 0: two neighbours cannot copy. */
    for (size_t i = 0; i < n; i++) {
        const size_t next = (i + 1) % n;
        if (n < 2 || out->peer[i][next] == 0)
            return FBP_OK;
        flows[i] = (struct fbp_flow){(int)i, (int)next};
    }
    return meter->rate(own, flows, n, &out->ring);
}

/* Cache key and rates of the set of devices that was measured last, for systems without a cache
 * file. The lock also prevents two measurements at the same time. */
static struct {
    pthread_mutex_t lock;
    char key[MOST_KEY];
    struct fbp_links links;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Measure links, and store the rates in `last` and in the cache file; last.lock is held. */
static fbp_status measure(const struct fbp_backend *backend, const int *set, size_t n,
                          struct fbp_links *out)
{
    const struct fbp_link_meter *meter = backend->links;
    void *own = NULL;
    char key[MOST_KEY], text[MOST_TEXT + A_NUMBER];
    int used = 0;

    *out = (struct fbp_links){.n = n};
    fbp_status st = meter->open(&own, set, n);
    if (st == FBP_OK)
        st = measure_all(meter, own, out);
    meter->close(&own);
    if (st == FBP_OK && make_key(backend, set, n, key)) {
        memcpy(last.key, key, sizeof key);
        last.links = *out;
        for (size_t i = 0; i < n_rates(n) && used < MOST_TEXT; i++)
            used += snprintf(text + used, A_NUMBER, "%s%.4g", i ? " " : "", *rate_at(out, i));
        fbp_cache_put(&file, key, text);
    }
    return st;
}

/* Get the position of a device in a list of n devices; n: the device is not in the list. */
static size_t place_of(int device, const int *devices, size_t n)
{
    size_t i = 0;

    while (i < n && devices[i] != device)
        i++;
    return i;
}

/* Make a sorted set without duplicates from a list of devices, because lists of the same devices
 * share one measurement. Returns the number of devices in the set. */
static size_t set_of(const int *devices, size_t n, int set[FBP_MOST_LINKED])
{
    size_t n_set = 0;

    for (size_t i = 0; i < n; i++) {
        if (place_of(devices[i], set, n_set) < n_set)
            continue;
        size_t at = n_set++;
        for (; at > 0 && set[at - 1] > devices[i]; at--)
            set[at] = set[at - 1];
        set[at] = devices[i];
    }
    return n_set;
}

/* Copy the rates *of, in the order of the sorted list `set`, to *out, in that of `devices`. */
static void put_in_order(const struct fbp_links *of, const int *set, const int *devices,
                         struct fbp_links *out)
{
    for (size_t i = 0; i < out->n; i++) {
        const size_t a = place_of(devices[i], set, of->n);
        out->alone[i] = of->alone[a];
        for (size_t j = 0; j < out->n; j++) {
            const size_t b = place_of(devices[j], set, of->n);
            out->peer[i][j] = of->peer[a][b];
            out->peer_both[i][j] = of->peer_both[a][b];
        }
    }
    out->together = of->together;
    out->ring = of->ring;
}

fbp_status fbp_links_measure(const struct fbp_backend *backend, const int *devices, size_t n,
                             struct fbp_links *out)
{
    int set[FBP_MOST_LINKED] = {0};
    static struct fbp_links links; /* protected by last.lock */

    *out = (struct fbp_links){.n = n};
    if (!backend->links)
        return FBP_UNSUPPORTED(
            "links: device %s has no transfer rates to measure; use CUDA devices", backend->name);
    if (n > FBP_MOST_LINKED)
        return FBP_INVALID("links: found %zu devices, expected at most %d; name fewer devices", n,
                           FBP_MOST_LINKED);
    for (size_t i = 1; i < n; i++)
        if (place_of(devices[i], devices, i) < i)
            return FBP_INVALID("links: device %d is named twice; name each device once",
                               devices[i]);
    const size_t n_set = set_of(devices, n, set);
    pthread_mutex_lock(&last.lock);
    const fbp_status st = measure(backend, set, n_set, &links);
    if (st == FBP_OK)
        put_in_order(&links, set, devices, out);
    pthread_mutex_unlock(&last.lock);
    return st;
}

bool fbp_links_get(const struct fbp_backend *backend, const int *devices, size_t n,
                   bool may_measure, struct fbp_links *out)
{
    const char *tune = fbp_environment(FBP_ENV_TUNE);
    int set[FBP_MOST_LINKED] = {0};
    static struct fbp_links links; /* protected by last.lock */
    char key[MOST_KEY];

    *out = (struct fbp_links){.n = n};
    if (n > FBP_MOST_LINKED || !backend->links || (tune && strcmp(tune, "0") == 0))
        return false;
    const size_t n_set = set_of(devices, n, set);
    pthread_mutex_lock(&last.lock);
    fbp_status st = make_key(backend, set, n_set, key) ? FBP_OK : FBP_ERR_DEVICE;
    if (st == FBP_OK && strcmp(key, last.key) == 0)
        links = last.links;
    else if (st == FBP_OK && !recall(key, n_set, &links))
        st = may_measure ? measure(backend, set, n_set, &links) : FBP_ERR_DEVICE;
    if (st == FBP_OK)
        put_in_order(&links, set, devices, out);
    else
        fbp_message_clear();
    pthread_mutex_unlock(&last.lock);
    return st == FBP_OK;
}
