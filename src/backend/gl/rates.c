/* Rates of renderers. */
#include "backend/gl/gl.h"

#include "backend/gl/error.h"
#include "backend/gl/plant.h"
#include "base/clock.h"

#include <epoxy/gl.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a copy that is timed, and of a key; times it is copied, of which the first is for
 * nothing. */
enum { COPY = 32 << 20, MOST_KEY = 320, MOST_VALUE = 100, ROUNDS = 3 };

/* More of every backprojection: its last blocks do not fill the device. */
static const double CALL_S = 150e-6;

static const struct fbp_kept_file file = {"gl-rates", "fbp: rates of renderers, version 1\n"};

/* What they depend on; false: they are of no interest (software), or not wanted. */
static bool make_key(const struct fbp_job *job, int index, char key[MOST_KEY])
{
    static const char *const precisions[] = {"", "exact", "fast", "half"};
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const char *tune = gpu_host->environment(FBP_ENV_TUNE);
    char renderer[200];

    if ((tune && strcmp(tune, "0") == 0) || job->region ||
        !gl_timer.describe(index, renderer, sizeof renderer))
        return false;
    const int n =
        snprintf(key, MOST_KEY, "%s, fbp %s, %s %s, 2^(%.0f/2) pixels", renderer, FBP_VERSION,
                 k->name, precisions[k->precision], round(2 * log2(gpu_pixels_a_voxel(job))));
    return n > 0 && n < MOST_KEY;
}

/* Exactly four sensible numbers. */
static bool parse(const char *text, struct fbp_rates *out)
{
    double *const values[] = {&out->update, &out->filter, &out->upload, &out->fetch};

    *out = (struct fbp_rates){.call = CALL_S};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *end;
        *values[i] = strtod(text, &end);
        if (end == text || !isfinite(*values[i]) || *values[i] <= 0 || (*end != ' ' && *end))
            return false;
        text = end;
    }
    return *text == '\0';
}

/* The last that was asked for, known or not: plans ask many times. */
static struct {
    pthread_mutex_t lock;
    char key[MOST_KEY];
    struct fbp_rates rates;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool recall(const char *key, struct fbp_rates *out)
{
    char value[MOST_VALUE];

    pthread_mutex_lock(&last.lock);
    if (strcmp(key, last.key) != 0) {
        if (!gpu_host->kept_recall(&file, key, value, sizeof value) || !parse(value, &last.rates))
            last.rates = (struct fbp_rates){0};
        memcpy(last.key, key, sizeof last.key);
    }
    *out = last.rates;
    pthread_mutex_unlock(&last.lock);
    return out->update > 0;
}

static void keep(const char *key, const struct fbp_rates *r)
{
    char value[MOST_VALUE];

    snprintf(value, sizeof value, "%.4g %.4g %.4g %.4g", r->update, r->filter, r->upload, r->fetch);
    gpu_host->kept_keep(&file, key, value);
    pthread_mutex_lock(&last.lock);
    last.key[0] = '\0'; /* to be read */
    pthread_mutex_unlock(&last.lock);
}

void gl_rates(const struct fbp_job *job, struct fbp_rates *out)
{
    char key[MOST_KEY] = "";

    *out = gl_plant.rates;
    if (out->update <= 0 && make_key(job, 0, key))
        (void)recall(key, out);
}

void gl_meter_open(struct gl_device *dev)
{
    char key[MOST_KEY] = "";
    struct fbp_rates rates;

    dev->meter = (struct gl_meter){.due = make_key(dev->job, dev->index, key)};
    dev->meter.due = dev->meter.due && !recall(key, &rates);
}

/* The second: drivers compile for the first. */
void gl_meter_begin(struct gl_meter *m)
{
    m->start = 0;
    if (!m->due || m->n++ == 0 || m->filter > 0)
        return;
    glFinish();
    m->start = fbp_seconds();
}

void gl_meter_end(struct gl_meter *m, double samples)
{
    if (!(m->start > 0) || !(samples > 0))
        return;
    glFinish();
    m->filter = (fbp_seconds() - m->start) / samples;
}

/* Seconds a byte; 0: it fails. */
static double time_copy(struct gl_device *dev, const struct gl_part *from, const struct gl_part *to)
{
    double least = INFINITY;

    for (int i = 0; i < ROUNDS; i++) {
        glFinish();
        const double start = fbp_seconds();
        if (gl_copy(dev, from, to) != FBP_OK)
            return 0;
        glFinish();
        least = i > 0 ? fmin(least, fbp_seconds() - start) : least;
    }
    return least / COPY;
}

static void time_copies(struct gl_device *dev, struct fbp_rates *out)
{
    struct gl_buffer on = {.bytes = COPY}, host = {.bytes = COPY};
    const struct gl_part there = {.buffer = &on, .bytes = COPY};

    if (gl_buffer_make(&on, false, "copies that are timed") == FBP_OK &&
        gl_buffer_make(&host, true, "copies that are timed") == FBP_OK) {
        const struct gl_part here = {.buffer = &host, .bytes = COPY, .host = host.base};
        out->upload = time_copy(dev, &here, &there);
        out->fetch = time_copy(dev, &there, &here);
    }
    gl_buffer_drop(&on);
    gl_buffer_drop(&host);
}

/* A voxel of an orbit gets the views of all its parts by what the pace counts once. */
void gl_meter_close(struct gl_device *dev)
{
    const double counted = (double)dev->job->turns * (double)dev->job->turns;
    const double rate = gl_plant.short_runs ? dev->pace.seen : dev->pace.rate;
    struct fbp_rates r = {.filter = dev->meter.filter};
    char key[MOST_KEY] = "";

    if (!dev->meter.due || !(r.filter > 0) || !(rate > 0) || gl_was_reset() ||
        !make_key(dev->job, dev->index, key))
        return;
    r.update = 1 / (rate * counted);
    time_copies(dev, &r);
    if (r.upload > 0 && r.fetch > 0)
        keep(key, &r);
    gpu_host->message_clear();
}
