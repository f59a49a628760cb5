/* Choice of the fastest shape (compiled variant: tile and window) of a GPU kernel: times the first
 * passes of a run with each candidate shape (gpu_tuner_begin(), gpu_tuner_end()), and stores the
 * fastest shape for later runs (tuner.h).
 * Used by: backend/cuda/, backend/gl/. */
#include "backend/gpu/tuner.h"

#include "backend/module.h"
#include "backend/slab.h"
#include "fbp/version.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LEAST_UPDATES: least size of a launch that is timed [voxels x views].  MARGIN: a shape replaces
 * the likeliest shape only if its time is below MARGIN times that of the likeliest shape. */
static const double LEAST_UPDATES = 32e6, MARGIN = 0.98;

/* LEAST_ROUNDS: rounds needed for a decision; a round times each candidate once, and the first does
 * not count, because the driver may load a shape at its first launch.  OTHER_PASSES: number of
 * passes, first and last of a run, that may have too few views to be timed.  LEAST_SLICES: least
 * number of slices of a launch that is timed. */
enum { LEAST_ROUNDS = 2, OTHER_PASSES = 2, LEAST_SLICES = 32, MOST_DIGITS = 12 };

int gpu_tuned_read(const struct fbp_cache_file *file, const char *key, int n_shapes)
{
    char value[MOST_DIGITS], *end = NULL;

    if (!gpu_host->cache_get(file, key, value, sizeof value) || value[0] < '0' || value[0] > '9')
        return -1;
    const long shape = strtol(value, &end, 10);
    return *end == '\0' && shape < n_shapes ? (int)shape : -1;
}

void gpu_tuned_write(const struct fbp_cache_file *file, const char *key, int shape)
{
    char value[MOST_DIGITS];

    snprintf(value, sizeof value, "%d", shape);
    gpu_host->cache_put(file, key, value);
}

/* Shape that the environment variable FBP_SHAPE requests; -1: none, or no such shape. */
static int requested_shape(int n_shapes)
{
    const char *text = gpu_host->environment(FBP_ENV_SHAPE);
    char *end = NULL;
    const long shape = text ? strtol(text, &end, 10) : -1;

    return end != text && *end == '\0' && shape >= 0 && shape < n_shapes ? (int)shape : -1;
}

bool gpu_timing_key(const struct gpu_kernel *k, const struct fbp_job *job, int index,
                    const struct gpu_timer *timer, char key[GPU_TUNER_KEY])
{
    const char *tune = gpu_host->environment(FBP_ENV_TUNE);
    char device[200];

    if ((tune && strcmp(tune, "0") == 0) || job->requested.region ||
        !timer->describe(index, device, sizeof device))
        return false;
    const int n = snprintf(key, GPU_TUNER_KEY, "%s, fbp %s, %s %s, 2^(%.0f/2) pixels", device,
                           FBP_VERSION, k->name, gpu_precision_names[k->precision],
                           round(2 * log2(gpu_pixels_per_voxel(job))));
    return n > 0 && n < GPU_TUNER_KEY;
}

/* Returns whether a run of the job may time shapes: FBP_SHAPE requests none, the passes are large
 * and sufficient for LEAST_ROUNDS rounds, and gpu_timing_key() finds a key.  `key` then receives
 * the key under which the fastest shape is cached. */
static bool may_measure(const struct gpu_kernel *k, const struct fbp_job *job, int index,
                        const struct gpu_timer *timer, const int *candidates, int n_candidates,
                        char key[GPU_TUNER_KEY])
{
    const struct fbp_slab all = fbp_slab_asked(job, 0, job->grid.n[2]);
    const size_t passes = job->n_views / k->symmetric_views / GPU_PASS;

    if (n_candidates < 2 || requested_shape(k->n_shapes) >= 0 || all.nz < LEAST_SLICES ||
        (double)all.nx * (double)all.ny * (double)all.nz * GPU_PASS < LEAST_UPDATES ||
        passes < (size_t)LEAST_ROUNDS * (size_t)n_candidates + OTHER_PASSES ||
        !gpu_timing_key(k, job, index, timer, key))
        return false;
    const size_t used = strlen(key);
    snprintf(key + used, GPU_TUNER_KEY - used, ", likeliest %d", candidates[0]);
    return true;
}

bool gpu_tuner_is_due(const struct gpu_kernel *k, const struct fbp_job *job, int index,
                      const struct gpu_timer *timer)
{
    int candidates[GPU_MOST_SHAPES];
    char key[GPU_TUNER_KEY];

    if (k->n_shapes < 2)
        return false;
    const int n = k->candidates(job, job->grid.n[2], candidates);
    return may_measure(k, job, index, timer, candidates, n, key) &&
           gpu_tuned_read(&timer->file, key, k->n_shapes) < 0;
}

void gpu_tuner_open(struct gpu_tuner *t, const struct gpu_kernel *k, const struct fbp_job *job,
                    int index, const struct gpu_timer *timer, void *user)
{
    *t = (struct gpu_tuner){.timer = timer, .user = user};
    if (k->n_shapes < 2)
        return;
    for (int i = 0; i < 3; i++) {
        (void)k->candidates(job, i == 0 ? 1 : i == 1 ? 4 : 8, t->candidates);
        t->thin[i] = t->candidates[0];
    }
    t->n_candidates = k->candidates(job, job->grid.n[2], t->candidates);
    t->shape = t->candidates[0];
    const int requested = requested_shape(k->n_shapes);
    if (requested >= 0) {
        t->shape = t->thin[0] = t->thin[1] = t->thin[2] = requested;
    } else if (may_measure(k, job, index, timer, t->candidates, t->n_candidates, t->key)) {
        const int cached = gpu_tuned_read(&timer->file, t->key, k->n_shapes);
        if (cached >= 0)
            t->shape = cached;
        else
            t->active = timer->open(user, t->n_candidates * GPU_TUNER_ROUNDS);
    }
}

/* Returns whether this pass is timed.  Only passes of the same size and position in the volume are
 * compared, because voxels elsewhere project onto different parts of the views. */
static bool counts(const struct gpu_tuner *t, int n, const struct gpu_grid *g)
{
    const struct gpu_grid *first = &t->grid;

    return t->active && t->n < t->n_candidates * GPU_TUNER_ROUNDS && n == GPU_PASS &&
           g->nz >= LEAST_SLICES && (double)g->nx * g->ny * g->nz * GPU_PASS >= LEAST_UPDATES &&
           (t->n == 0 ||
            (g->nx == first->nx && g->ny == first->ny && g->nz == first->nz && g->z0 == first->z0 &&
             g->x_ref == first->x_ref && g->y_ref == first->y_ref));
}

/* Select the candidate with the shortest trial (candidate 0 unless another is faster by MARGIN),
 * and store it in the cache; all trials have finished. */
static void decide(struct gpu_tuner *t)
{
    double least = INFINITY;

    for (int c = 0; c < t->n_candidates; c++) {
        double best = INFINITY;
        float ms = 0;
        for (int i = c + t->n_candidates; i < t->n; i += t->n_candidates)
            if (t->timer->elapsed(t->user, i, &ms))
                best = fmin(best, (double)ms);
        if (c == 0)
            least = MARGIN * best;
        else if (best < least)
            least = best, t->shape = t->candidates[c];
    }
    if (isfinite(least))
        gpu_tuned_write(&t->timer->file, t->key, t->shape);
    t->active = false;
}

int gpu_tuner_begin(struct gpu_tuner *t, int n, const struct gpu_grid *grid)
{
    if (t->active && t->n == t->n_candidates * GPU_TUNER_ROUNDS &&
        t->timer->is_over(t->user, 2 * t->n - 1, false))
        decide(t);
    if (!counts(t, n, grid))
        return grid->nz <= 1   ? t->thin[0]
               : grid->nz <= 4 ? t->thin[1]
               : grid->nz <= 8 ? t->thin[2]
                               : t->shape;
    const int shape = t->candidates[t->n % t->n_candidates];
    t->grid = *grid;
    if (!t->timer->record(t->user, 2 * t->n))
        t->active = false;
    return shape;
}

void gpu_tuner_end(struct gpu_tuner *t, int n, const struct gpu_grid *grid)
{
    if (counts(t, n, grid) && !t->timer->record(t->user, 2 * t->n++ + 1))
        t->active = false;
}

void gpu_tuner_close(struct gpu_tuner *t)
{
    if (t->active && t->n >= LEAST_ROUNDS * t->n_candidates &&
        t->timer->is_over(t->user, 2 * t->n - 1, true))
        decide(t);
    t->active = false;
}
