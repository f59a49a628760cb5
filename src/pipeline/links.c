/* Measures the rates of copies between host memory and devices, and between devices, and stores
 * them in a cache file (base/cache.h). fbp_links_get() gets the rates from the cache or, if they
 * are not there and the caller allows it, measures them.
 * Used by: plan_memory.c. */
#include "pipeline/division.h"

#include "base/cache.h"
#include "base/system.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of rates of a set of devices; greatest lengths [bytes] of texts in the cache: a key, the
 * name of one device in a key, one rate, all rates of an entry. */
enum { N_RATES = 7, MOST_KEY = 4096, MOST_NAME = 200, A_NUMBER = 16, MOST_TEXT = 256 };

static const struct fbp_cache_file file = {"links", "fbp: rates of links of devices, version 2\n"};

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

/* Return the address of rate number i of *m, in the order of the cache file. */
static double *rate_at(struct fbp_machine *m, size_t i)
{
    double *const rates[N_RATES] = {&m->up,       &m->down,     &m->both, &m->up_all,
                                    &m->down_all, &m->both_all, &m->peer};

    return rates[i];
}

/* Read the rates of a set of devices from the cache; false: the cache has no entry for the set, or
 * the entry is not a list of N_RATES finite numbers >= 0. */
static bool recall(const char *key, struct fbp_machine *out)
{
    char text[MOST_TEXT], *at = text;

    if (!fbp_cache_get(&file, key, text, sizeof text))
        return false;
    *out = (struct fbp_machine){0};
    for (size_t i = 0; i < N_RATES; i++) {
        char *end;
        const double rate = strtod(at, &end);
        if (end == at || !isfinite(rate) || rate < 0 || (*end != ' ' && *end != '\0'))
            return false;
        *rate_at(out, i) = rate;
        at = end;
    }
    return *at == '\0' && out->up_all > 0;
}

/* Measure the rates of copies to and from the host of devices i to end - 1 together [bytes/s]. */
static fbp_status measure_host(const struct fbp_link_meter *meter, void *own, size_t i, size_t end,
                               double *up, double *down, double *both)
{
    struct fbp_flow flows[2 * FBP_MOST_LINKED];
    const size_t n = end - i;

    for (size_t k = 0; k < n; k++) {
        flows[k] = (struct fbp_flow){FBP_HOST, (int)(i + k)};
        flows[n + k] = (struct fbp_flow){(int)(i + k), FBP_HOST};
    }
    FBP_TRY(meter->rate(own, flows, n, up));
    FBP_TRY(meter->rate(own, flows + n, n, down));
    FBP_TRY(meter->rate(own, flows, 2 * n, both));
    *both /= 2;
    return FBP_OK;
}

/* Measure the rates of n devices, for which meter->open() made the state `own`. */
static fbp_status measure_all(const struct fbp_link_meter *meter, void *own, size_t n,
                              struct fbp_machine *out)
{
    FBP_TRY(measure_host(meter, own, 0, n, &out->up_all, &out->down_all, &out->both_all));
    for (size_t i = 0; i < n; i++) {
        double up, down, both, peer;
        FBP_TRY(measure_host(meter, own, i, i + 1, &up, &down, &both));
        out->up = fbp_least_rate(up, out->up);
        out->down = fbp_least_rate(down, out->down);
        out->both = fbp_least_rate(both, out->both);
        for (size_t j = 0; j < n; j++) {
            const struct fbp_flow pair = {(int)i, (int)j};
            if (i == j || !meter->connect(own, i, j))
                continue;
            FBP_TRY(meter->rate(own, &pair, 1, &peer));
            out->peer = fbp_least_rate(peer, out->peer);
        }
    }
    return FBP_OK;
}

/* Cache key and rates of the set of devices that was measured last, for systems without a cache
 * file. The lock also prevents two measurements at the same time. */
static struct {
    pthread_mutex_t lock;
    char key[MOST_KEY];
    struct fbp_machine machine;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Measure the rates of a set of devices, and store them in `last` and in the cache file; last.lock
 * is held. */
static bool measure(const struct fbp_backend *backend, const int *set, size_t n, const char *key,
                    struct fbp_machine *out)
{
    const struct fbp_link_meter *meter = backend->links;
    void *own = NULL;
    char text[MOST_TEXT];
    int used = 0;

    *out = (struct fbp_machine){0};
    fbp_status st = meter->open(&own, set, n);
    if (st == FBP_OK)
        st = measure_all(meter, own, n, out);
    meter->close(&own);
    if (st != FBP_OK) {
        fbp_message_clear();
        return false;
    }
    last.machine = *out;
    snprintf(last.key, sizeof last.key, "%s", key);
    for (size_t i = 0; i < N_RATES; i++)
        used += snprintf(text + used, A_NUMBER, "%s%.4g", i ? " " : "", *rate_at(out, i));
    fbp_cache_put(&file, key, text);
    return true;
}

/* Make a sorted set without duplicates from a list of devices, because lists of the same devices
 * share one measurement. Returns the number of devices in the set. */
static size_t set_of(const int *devices, size_t n, int set[FBP_MOST_LINKED])
{
    size_t n_set = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < n_set && set[at] < devices[i])
            at++;
        if (at < n_set && set[at] == devices[i])
            continue;
        memmove(set + at + 1, set + at, (n_set - at) * sizeof *set);
        set[at] = devices[i];
        n_set++;
    }
    return n_set;
}

bool fbp_links_get(const struct fbp_backend *backend, const int *devices, size_t n,
                   bool may_measure, struct fbp_machine *out)
{
    const char *tune = fbp_environment(FBP_ENV_TUNE);
    int set[FBP_MOST_LINKED] = {0};
    char key[MOST_KEY];

    if (n > FBP_MOST_LINKED || !backend->links || (tune && strcmp(tune, "0") == 0))
        return false;
    const size_t n_set = set_of(devices, n, set);
    if (!make_key(backend, set, n_set, key))
        return false;
    pthread_mutex_lock(&last.lock);
    struct fbp_machine found = last.machine;
    const bool known = strcmp(key, last.key) == 0 || recall(key, &found) ||
                       (may_measure && measure(backend, set, n_set, key, &found));
    pthread_mutex_unlock(&last.lock);
    if (known)
        *out = found;
    return known;
}
