/* Time measurements of the OpenGL backend: the size of backprojection commands (gl_pace_begin()),
 * timestamps of a run (gl_timestamp()), timed launches for the choice of kernel shapes
 * (gpu/tuner.h), and rates of filter, kernel and copies (gl_rates()), which are measured and
 * stored for the plans of later runs.
 * Used by: backproject.c, entry.c, filter.c, memory.c. */
#include "backend/gl/gl.h"

#include "base/system.h"

#include <epoxy/gl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Pace. */

/* FIRST: size of the first trial [voxels x views]; GROWS: factor of the size per trial; TELLING:
 * least reliable duration [s]; WANTED: target duration of a command [s]. */
static const double FIRST = 1e6, GROWS = 8, TELLING = 0.5e-3, WANTED = 0.25;

/* Time that a backprojection command takes in addition to its updates (voxels x views) [s], because
 * its last work groups do not fill the device; rates do not include it. */
static const double CALL_S = 150e-6;

/* EVERY: when the rate of backprojection commands is known, one of EVERY commands is timed.
 * RESET_EVERY: number of checks of a fence per test for a reset of the renderer, after which the
 * fence may never be signaled. */
enum { EVERY = 16, RESET_EVERY = 64 };

void gl_settle(void)
{
    const struct timespec pause = {.tv_nsec = 5000};
    const GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    unsigned n = 0;

    if (!fence)
        glFinish();
    while (fence && glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, 0) == GL_TIMEOUT_EXPIRED &&
           (++n % RESET_EVERY != 0 || !gl_was_reset()))
        (void)nanosleep(&pause, NULL);
    glDeleteSync(fence);
}

double gl_pace_most(const struct gl_pace *pace)
{
    if (pace->rate > 0)
        return WANTED * pace->rate;
    return pace->trial > 0 ? pace->trial : FIRST;
}

void gl_pace_begin(struct gl_pace *pace, double updates)
{
    pace->n++;
    if (pace->n == 1 ||
        (pace->rate > 0 && (pace->n % EVERY != 0 || updates < TELLING * pace->rate)) ||
        (!(pace->rate > 0) && updates <= pace->quick))
        return;
    gl_settle();
    pace->start = fbp_seconds();
}

void gl_pace_end(struct gl_pace *pace, double updates)
{
    if (!(pace->start > 0))
        return;
    gl_settle();
    const double seconds = fbp_seconds() - pace->start;
    pace->start = 0;
    pace->seen = updates / (seconds < TELLING ? seconds : seconds - CALL_S);
    /* A duration below TELLING yields only a lower bound of the rate (the last command of a slab
     * may be small), so the result only replaces a lower rate. */
    if (seconds >= TELLING || (pace->rate > 0 && pace->seen > pace->rate))
        pace->rate = pace->seen;
    else if (!(pace->rate > 0)) {
        pace->trial = GROWS * gl_pace_most(pace);
        pace->quick = updates;
    }
}

/* Timestamps of the device. The pipeline refers to one by the address of its struct gl_moment,
 * which receives the host's time when the device reaches it. */

fbp_status gl_timestamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    struct gl_device *dev = gl_of(device);
    struct gl_moment *m = calloc(1, sizeof *m);

    if (!m)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes; close other programs",
                              sizeof *m);
    pthread_mutex_lock(&dev->moments_lock);
    *dev->last_moment = m;
    dev->last_moment = &m->next;
    pthread_mutex_unlock(&dev->moments_lock);
    *out = (uint64_t)(uintptr_t)m;
    return gl_queue_submit_with(dev->queue, (enum gl_order)stage, NULL, NULL, 0,
                                &(struct gl_submission){.moment = &m->seconds});
}

fbp_status gl_seconds(fbp_device *device, uint64_t timestamp, double *seconds)
{
    struct gl_device *dev = gl_of(device);
    struct gl_moment **at = &dev->moments;

    pthread_mutex_lock(&dev->moments_lock);
    while (*at && (uint64_t)(uintptr_t)*at != timestamp)
        at = &(*at)->next;
    struct gl_moment *m = *at;
    if (m) {
        *seconds = m->seconds;
        *at = m->next;
        if (!m->next)
            dev->last_moment = at;
        free(m);
    }
    pthread_mutex_unlock(&dev->moments_lock);
    return FBP_OK;
}

/* Timed kernel launches for the tuner: two timer queries per trial. */

static bool describe(int index, char *out, size_t n)
{
    const struct gl_renderer *r = gl_renderer_at(index);
    const int length = snprintf(out, n, "%s, %s", r->name, r->version);

    return !r->software && length > 0 && (size_t)length < n;
}

static bool no_error(void)
{
    return glGetError() == GL_NO_ERROR;
}

static bool open_trials(void *user, int n)
{
    struct gl_device *dev = user;

    glGenQueries(2 * n, dev->trials);
    return no_error();
}

static bool record_event(void *user, int event)
{
    glQueryCounter(((const struct gl_device *)user)->trials[event], GL_TIMESTAMP);
    return no_error();
}

static bool is_over(void *user, int event, bool wait)
{
    const GLuint query = ((const struct gl_device *)user)->trials[event];
    GLuint64 at = 0;
    GLint available = 1;

    if (wait)
        glGetQueryObjectui64v(query, GL_QUERY_RESULT, &at);
    else
        glGetQueryObjectiv(query, GL_QUERY_RESULT_AVAILABLE, &available);
    return no_error() && available;
}

static bool elapsed(void *user, int trial, float *ms)
{
    const GLuint *queries = &((const struct gl_device *)user)->trials[2 * (size_t)trial];
    GLuint64 at[2] = {0, 0};

    for (int i = 0; i < 2; i++)
        glGetQueryObjectui64v(queries[i], GL_QUERY_RESULT, &at[i]);
    *ms = (float)(1e-6 * (double)(at[1] - at[0]));
    return no_error() && at[1] > at[0];
}

const struct gpu_timer gl_timer = {
    .file = {.name = "gl-shapes", .title = "fbp: fastest shapes of OpenGL's kernels\n"},
    .describe = describe,
    .open = open_trials,
    .record = record_event,
    .is_over = is_over,
    .elapsed = elapsed,
};

/* Stored rates. */

/* COPY: size of a copy that is timed [bytes]; MOST_VALUE: greatest length of the text that stores
 * rates; ROUNDS: number of copies per measurement, the first of which is a warm-up. */
enum { COPY = 32 << 20, MOST_VALUE = 100, ROUNDS = 3 };

static const struct fbp_cache_file file = {"gl-rates", "fbp: rates of renderers, version 2\n"};

/* The last key for which stored rates were read, and the rates (zeros: none are stored): a plan
 * needs the rates of the same key repeatedly. */
static struct {
    pthread_mutex_t lock;
    char key[GPU_TUNER_KEY];
    struct fbp_rates rates;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Read the rates of a key: four positive numbers, seconds per update of a voxel by a view, per
 * filtered sample, per byte to the device and per byte to the host. False: none. */
static bool read_rates(const char *key, struct fbp_rates *out)
{
    char value[MOST_VALUE];

    pthread_mutex_lock(&last.lock);
    if (strcmp(key, last.key) != 0) {
        struct fbp_rates r = {.call = CALL_S};
        double *const values[] = {&r.update, &r.filter, &r.upload, &r.fetch};
        const char *text = value;
        bool valid = gpu_host->cache_get(&file, key, value, sizeof value);
        for (size_t i = 0; valid && i < sizeof values / sizeof *values; i++) {
            char *end;
            *values[i] = strtod(text, &end);
            valid = end != text && isfinite(*values[i]) && *values[i] > 0 &&
                    (*end == ' ' || *end == '\0');
            text = end;
        }
        last.rates = valid && *text == '\0' ? r : (struct fbp_rates){0};
        memcpy(last.key, key, sizeof last.key);
    }
    *out = last.rates;
    pthread_mutex_unlock(&last.lock);
    return out->update > 0;
}

void gl_rates(const struct fbp_job *job, struct fbp_rates *out)
{
    char key[GPU_TUNER_KEY] = "";

    *out = gl_fault_injection.rates;
    if (out->update <= 0 && gpu_timing_key(gpu_kernel_of(job), job, 0, &gl_timer, key))
        (void)read_rates(key, out);
}

void gl_meter_open(struct gl_device *dev)
{
    char key[GPU_TUNER_KEY] = "";
    struct fbp_rates rates;

    dev->meter = (struct gl_meter){0};
    dev->meter.due = gpu_timing_key(&dev->kernel->gpu, dev->job, dev->index, &gl_timer, key) &&
                     !read_rates(key, &rates);
}

/* The filter calls 2 to METERED of a device are timed, and the fastest counts: drivers compile
 * programs during the first, and first batches are small. */
enum { METERED = 5 };

void gl_meter_begin(struct gl_meter *m)
{
    m->start = 0;
    if (!m->due || m->n++ == 0 || m->n > METERED)
        return;
    gl_settle();
    m->start = fbp_seconds();
}

void gl_meter_end(struct gl_meter *m, double samples)
{
    if (!(m->start > 0) || !(samples > 0))
        return;
    gl_settle();
    const double seconds = (fbp_seconds() - m->start) / samples;
    m->filter = m->filter > 0 ? fmin(m->filter, seconds) : seconds;
}

/* Returns the least seconds per byte of copies of COPY bytes; 0: a copy failed. */
static double time_copy(struct gl_device *dev, const struct gl_part *from, const struct gl_part *to)
{
    double least = INFINITY;

    for (int i = 0; i < ROUNDS; i++) {
        gl_settle();
        const double start = fbp_seconds();
        if (gl_copy(dev, from, to) != FBP_OK)
            return 0;
        gl_settle();
        least = i > 0 ? fmin(least, fbp_seconds() - start) : least;
    }
    return least / COPY;
}

/* Measure the rates of copies, and store all rates of this run for later runs.  gl_pace_end()
 * counts one update for a set of symmetric voxels and a group of symmetric views, which are
 * symmetric_views^2 updates of a voxel by a view. */
void gl_meter_close(struct gl_device *dev)
{
    const double counted =
        (double)dev->job->selection.symmetric_views * (double)dev->job->selection.symmetric_views;
    const double rate = gl_fault_injection.short_runs ? dev->pace.seen : dev->pace.rate;
    struct gl_buffer on = {.bytes = COPY}, host = {.bytes = COPY};
    struct fbp_rates r = {.filter = dev->meter.filter};
    char key[GPU_TUNER_KEY] = "", value[MOST_VALUE];

    if (!dev->meter.due || !(r.filter > 0) || !(rate > 0) || gl_was_reset() ||
        !gpu_timing_key(&dev->kernel->gpu, dev->job, dev->index, &gl_timer, key))
        return;
    r.update = 1 / (rate * counted);
    if (gl_buffer_make(&on, false, "copies that are timed") == FBP_OK &&
        gl_buffer_make(&host, true, "copies that are timed") == FBP_OK) {
        const struct gl_part there = {.buffer = &on, .bytes = COPY};
        const struct gl_part here = {.buffer = &host, .bytes = COPY, .host = host.base};
        r.upload = time_copy(dev, &here, &there);
        r.fetch = time_copy(dev, &there, &here);
    }
    gl_buffer_drop(&on);
    gl_buffer_drop(&host);
    if (r.upload > 0 && r.fetch > 0 && !gl_was_reset()) {
        snprintf(value, sizeof value, "%.4g %.4g %.4g %.4g", r.update, r.filter, r.upload, r.fetch);
        gpu_host->cache_put(&file, key, value);
        pthread_mutex_lock(&last.lock);
        last.key[0] = '\0'; /* the next lookup reads the file */
        pthread_mutex_unlock(&last.lock);
    }
    gpu_host->message_clear();
}
