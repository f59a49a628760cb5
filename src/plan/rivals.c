#include "plan/rivals.h"

#include "backend/rival.h"
#include "base/environment.h"
#include "base/kept.h"
#include "base/mem.h"
#include "plan/estimate.h"
#include "plan/job.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By how much a rival has to be faster: measurements are short, and the next one's values are those
 * that users know. */
static const double MARGIN = 1.5;

/* A volume of n voxels a side from so many views.  The large one is measured where the small one
 * took the rival less than so long, so that slow ones are soon known. */
static const struct size {
    size_t n, n_views;
} sizes[] = {{64, 32}, {128, 64}};
static const double SOON_S = 20e-3;

enum { ROUNDS = 2, MOST_KEY = 500, MOST_VALUE = 32 };

static const struct fbp_kept_file file = {
    "rivals", "fbp: times the speed of the device that would be taken otherwise, version 1\n"};

/* A full circle, as most scans are, which every backend has its fastest kernel for. */
static fbp_status make_scan(const struct size *size, struct fbp_scan *scan)
{
    const double distance = 500, side = 200, pi = 3.14159265358979323846;
    const double pitch = 1.5 * side / (double)size->n, voxel = side / (double)size->n;
    double angles[64];
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .n_views = size->n_views,
                                      .angles_rad = angles,
                                      .sod_mm = &distance,
                                      .sdd_mm = &(const double){2 * distance},
                                      .n_sod = 1,
                                      .n_sdd = 1,
                                      .pitch_mm = {2 * pitch, 2 * pitch}};

    *scan = (struct fbp_scan){.struct_size = sizeof *scan,
                              .n_views = size->n_views,
                              .panel = {size->n, size->n},
                              .volume = {{size->n, size->n, size->n}, {voxel, voxel, voxel}, {0}}};
    for (size_t k = 0; k < size->n_views; k++)
        angles[k] = 2 * pi * (double)k / (double)size->n_views;
    FBP_TRY(fbp_calloc((void **)&scan->views, size->n_views, sizeof *scan->views, "views"));
    return fbp_circle_views(&circle, scan->views);
}

/* Seconds of such a job, in one slab from one batch, without what is loaded at the first call. */
static fbp_status time_device(const struct fbp_backend *backend, int index, const struct size *size,
                              double *seconds)
{
    const struct fbp_work work = {.n_workers = 1,
                                  .group_views = size->n_views,
                                  .n_slabs = 1,
                                  .slab_slices = size->n,
                                  .n_batches = 1,
                                  .batch_views = size->n_views};
    struct fbp_job_tables tables = {0};
    struct fbp_scan scan;
    fbp_status st = make_scan(size, &scan);

    if (st == FBP_OK)
        st = fbp_job_create(&tables, &scan, fbp_recon_params(.n_threads = 0), false);
    if (st == FBP_OK)
        st = fbp_job_arrange(&tables.job, backend);
    if (st == FBP_OK) {
        struct fbp_work one = work;
        one.slab_slices = size->n;
        st = fbp_estimate(&tables.job, backend, index, &one, 1, seconds);
    }
    fbp_job_clear(&tables);
    free(scan.views);
    return st;
}

/* The least of some. */
static fbp_status time_best(const struct fbp_backend *backend, int index, const struct size *size,
                            double *seconds)
{
    double one = 0;

    *seconds = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        FBP_TRY(time_device(backend, index, size, &one));
        *seconds = fmin(*seconds, one);
    }
    return FBP_OK;
}

/* How many times as fast as the other. */
static fbp_status measure(const struct fbp_backend *rival, int index,
                          const struct fbp_backend *other, double *times)
{
    double seconds[2] = {0, 0};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && seconds[0] < SOON_S; i++) {
        FBP_TRY(time_best(rival, index, &sizes[i], &seconds[0]));
        FBP_TRY(time_best(other, 0, &sizes[i], &seconds[1]));
    }
    *times = seconds[1] / seconds[0];
    return seconds[0] > 0 && isfinite(*times) ? FBP_OK
                                              : fbp_fail(FBP_ERR_DEVICE, "it takes no time");
}

static void one_line(char *text)
{
    for (; *text; text++)
        if (*text == '\t' || *text == '\n' || *text == '\r')
            *text = ' ';
}

static bool recall(const char *key, double *times)
{
    char value[MOST_VALUE], *end = value;

    if (!fbp_kept_recall(&file, key, value, sizeof value))
        return false;
    *times = strtod(value, &end);
    return end != value && *end == '\0' && isfinite(*times) && *times > 0;
}

/* The last measurement, for programs that nothing can be kept for. */
static struct {
    pthread_mutex_t lock;
    char key[MOST_KEY];
    struct fbp_choice is;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Kept, or measured now; under the lock. */
static void find_times(const char *key, const struct fbp_backend *rival, int index,
                       const struct fbp_backend *other, struct fbp_choice *out)
{
    char value[MOST_VALUE];

    if (strcmp(key, last.key) == 0) {
        out->times = last.is.times;
        out->now = last.is.now;
        memcpy(out->why, last.is.why, sizeof out->why);
        return;
    }
    out->now = !recall(key, &out->times);
    if (out->now && measure(rival, index, other, &out->times) != FBP_OK) {
        out->times = 0;
        snprintf(out->why, sizeof out->why, "%s", fbp_message());
        fbp_message_clear();
    } else if (out->now) {
        snprintf(value, sizeof value, "%.3g", out->times);
        fbp_kept_keep(&file, key, value);
    }
    snprintf(last.key, sizeof last.key, "%s", key);
    last.is = *out;
}

/* Two devices; false: the rival is not to be taken, whatever its speed. */
static bool compare(const struct fbp_backend *rival, int index, const struct fbp_backend *other,
                    struct fbp_choice *out)
{
    const struct fbp_rival *is = rival->experiment("rival");
    struct fbp_device_info beside = {0};
    char key[MOST_KEY], *tail;

    *out = (struct fbp_choice){.backend = rival, .index = index};
    if (!is->identify(index, out->rival, sizeof out->rival))
        return false;
    other->describe(0, &beside);
    snprintf(out->other, sizeof out->other, "%s", other->name);
    one_line(out->rival);
    one_line(beside.text);
    const int n = snprintf(key, sizeof key, "%s:%d %s; %s %s; fbp %s", rival->name, index,
                           out->rival, other->name, beside.text, FBP_VERSION);
    tail = strrchr(out->rival, ','); /* its name is enough for people */
    if (tail)
        *tail = '\0';
    if (n < 0 || (size_t)n >= sizeof key)
        return false;
    pthread_mutex_lock(&last.lock);
    find_times(key, rival, index, other, out);
    pthread_mutex_unlock(&last.lock);
    out->taken = out->times >= MARGIN;
    return true;
}

/* The fastest of a backend's devices that may be taken, beside the next backend. */
static void choose_among(const struct fbp_backend *rival, int n, const struct fbp_backend *other,
                         struct fbp_choice *out)
{
    const char *tune = fbp_environment(FBP_ENV_TUNE);
    struct fbp_choice one;

    *out = (struct fbp_choice){.backend = other};
    for (int i = 0; i < n && !(tune && strcmp(tune, "0") == 0); i++)
        if (compare(rival, i, other, &one) && (!out->rival[0] || one.times > out->times))
            *out = one;
    if (!out->taken) {
        out->backend = other;
        out->index = 0;
    }
}

/* The next of the list that has devices, loaded, and how many; NULL: there is none. */
static const struct fbp_backend *next(const struct fbp_backend *const **at, int *n)
{
    char why[300];

    while (**at) {
        const struct fbp_backend *found = *(*at)++;
        *n = found->hidden || !fbp_backend_may_be_there(found)
                 ? 0
                 : fbp_backend_count(&found, why, sizeof why);
        if (*n > 0)
            return found;
    }
    return NULL;
}

void fbp_choose_device(const struct fbp_backend *const *list, struct fbp_choice *out)
{
    int n, n_other;
    const struct fbp_backend *first = next(&list, &n);

    *out = (struct fbp_choice){.backend = first};
    while (out->backend && out->backend->experiment("rival") && !out->taken) {
        const struct fbp_backend *other = next(&list, &n_other);
        if (!other)
            return;
        choose_among(out->backend, n, other, out);
        n = n_other;
    }
}

/* With any kernel. */
static bool is_capable(const struct fbp_backend *backend, const struct fbp_job *job)
{
    struct fbp_job copy = *job;

    copy.kernel = NULL;
    return fbp_job_arrange(&copy, backend) == FBP_OK;
}

void fbp_choose_capable(const struct fbp_backend *const *list, const struct fbp_job *job,
                        struct fbp_choice *choice, char *line, size_t n)
{
    const struct fbp_backend *other;
    bool before = true; /* what was chosen */
    int n_devices;

    line[0] = '\0';
    if (is_capable(choice->backend, job))
        return;
    snprintf(choice->why, sizeof choice->why, "%s", fbp_message());
    while ((other = next(&list, &n_devices))) {
        const bool is_it = strcmp(other->name, choice->backend->name) == 0;
        if (before || other->experiment("rival") || !is_capable(other, job)) {
            before = before && !is_it;
            continue;
        }
        snprintf(line, n, "device: %s, as %s has no way to do this: %s", other->name,
                 choice->backend->name, choice->why);
        *choice = (struct fbp_choice){.backend = other};
        break;
    }
    fbp_message_clear();
}

void fbp_choice_remark(const struct fbp_choice *c, char *line, size_t n)
{
    line[0] = '\0';
    if (!c->rival[0])
        return;
    if (c->taken)
        snprintf(line, n,
                 "device: %s:%d (%s), %.2g times as fast as %s by a measurement kept in "
                 "~/.cache/fbp: --device %s takes that",
                 c->backend->name, c->index, c->rival, c->times, c->other, c->other);
    else if (c->why[0])
        snprintf(line, n, "device: %s, as %s could not be measured: %s", c->other, c->rival,
                 c->why);
    else if (c->now)
        snprintf(line, n,
                 "device: %s, as %s was measured to have %.2g times its speed, which is kept in "
                 "~/.cache/fbp",
                 c->other, c->rival, c->times);
}
