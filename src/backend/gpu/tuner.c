#include "backend/gpu/tuner.h"

#include "backend/gpu/host.h"
#include "backend/slab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Voxels x views of a pass that takes long enough to be timed, and what a shape must be faster by
 * than the likeliest. */
static const double LEAST_UPDATES = 32e6, MARGIN = 0.98;

/* Rounds of trials that decide; the first, in which shapes may be loaded, does not count.  A run
 * has some passes that are not whole, at its beginning and end. */
enum { LEAST_ROUNDS = 2, OTHER_PASSES = 2, LEAST_SLICES = 32 };

/* What the best shape depends on, and out of which; false if the device does not say. */
static bool make_key(const struct gpu_kernel *k, const struct fbp_job *job, int index,
                     const struct gpu_timer *timer, int likeliest, char out[GPU_TUNER_KEY])
{
    static const char *const precisions[] = {"", "exact", "fast", "half"};
    char device[200];

    if (!timer->describe(index, device, sizeof device))
        return false;
    snprintf(out, GPU_TUNER_KEY, "%s, fbp %s, %s %s, 2^(%.0f/2) pixels, likeliest %d", device,
             FBP_VERSION, k->name, precisions[k->precision],
             round(2 * log2(gpu_pixels_a_voxel(job))), likeliest);
    return true;
}

static int n_trials(const struct gpu_tuner *t)
{
    return t->n_candidates * GPU_TUNER_ROUNDS;
}

/* A shape that the environment names, or -1. */
static int shape_wanted(int n_shapes)
{
    const char *wanted = gpu_host->environment(FBP_ENV_SHAPE);
    char *end = NULL;
    const long shape = wanted ? strtol(wanted, &end, 10) : -1;

    return end != wanted && *end == '\0' && shape >= 0 && shape < n_shapes ? (int)shape : -1;
}

/* May a run of the job measure?  Its passes are long enough and so many that two rounds fit; they
 * are whole. */
static bool may_measure(const struct gpu_kernel *k, const struct fbp_job *job, int n_candidates)
{
    const char *tune = gpu_host->environment(FBP_ENV_TUNE);
    const struct fbp_slab all = fbp_slab_asked(job, 0, job->grid.n[2]);
    const size_t passes = job->n_views / k->turns / GPU_PASS;

    return n_candidates > 1 && !job->region && !(tune && strcmp(tune, "0") == 0) &&
           shape_wanted(k->n_shapes) < 0 && all.nz >= LEAST_SLICES &&
           (double)all.nx * (double)all.ny * (double)all.nz * GPU_PASS >= LEAST_UPDATES &&
           passes >= (size_t)LEAST_ROUNDS * (size_t)n_candidates + OTHER_PASSES;
}

bool gpu_tuner_is_due(const struct gpu_kernel *k, const struct fbp_job *job, int index,
                      const struct gpu_timer *timer)
{
    int candidates[GPU_MOST_SHAPES];
    char key[GPU_TUNER_KEY];

    return k->n_shapes > 1 && may_measure(k, job, k->candidates(job, job->grid.n[2], candidates)) &&
           make_key(k, job, index, timer, candidates[0], key) &&
           gpu_tuned_recall(&timer->file, key, k->n_shapes) < 0;
}

/* The shape that an earlier run has kept, or -1; timing begins if it is due. */
static int shape_kept(struct gpu_tuner *t, const struct gpu_kernel *k, const struct fbp_job *job,
                      int index)
{
    if (!may_measure(k, job, t->n_candidates) ||
        !make_key(k, job, index, t->timer, t->candidates[0], t->key))
        return -1;
    const int shape = gpu_tuned_recall(&t->timer->file, t->key, k->n_shapes);
    t->active = shape < 0 && t->timer->open(t->user, n_trials(t));
    return shape;
}

void gpu_tuner_open(struct gpu_tuner *t, const struct gpu_kernel *k, const struct fbp_job *job,
                    int index, const struct gpu_timer *timer, void *user)
{
    *t = (struct gpu_tuner){.timer = timer, .user = user};
    if (k->n_shapes < 2)
        return;
    for (int i = 0; i < 2; i++) {
        (void)k->candidates(job, i == 0 ? 4 : 8, t->candidates);
        t->thin[i] = t->candidates[0];
    }
    t->n_candidates = k->candidates(job, job->grid.n[2], t->candidates);
    t->shape = t->candidates[0];
    const int wanted = shape_wanted(k->n_shapes);
    const int kept = wanted < 0 ? shape_kept(t, k, job, index) : -1;
    if (wanted >= 0)
        t->shape = t->thin[0] = t->thin[1] = wanted;
    else if (kept >= 0)
        t->shape = kept;
}

static bool is_same(const struct gpu_grid *a, const struct gpu_grid *b)
{
    return a->nx == b->nx && a->ny == b->ny && a->nz == b->nz && a->z0 == b->z0 &&
           a->x_ref == b->x_ref && a->y_ref == b->y_ref;
}

/* Is the pass to be timed?  Only like is compared with like: voxels see their own part of views. */
static bool counts(const struct gpu_tuner *t, int n, const struct gpu_grid *g)
{
    return t->active && t->n < n_trials(t) && n == GPU_PASS && g->nz >= LEAST_SLICES &&
           (double)g->nx * g->ny * g->nz * GPU_PASS >= LEAST_UPDATES &&
           (t->n == 0 || is_same(g, &t->grid));
}

static int shape_for(const struct gpu_tuner *t, int n_slices)
{
    return n_slices <= 4 ? t->thin[0] : n_slices <= 8 ? t->thin[1] : t->shape;
}

/* Milliseconds of a candidate's fastest trial; infinite if none could be read. */
static double best_of(const struct gpu_tuner *t, int candidate)
{
    double best = INFINITY;
    float ms = 0;

    for (int i = candidate + t->n_candidates; i < t->n; i += t->n_candidates)
        if (t->timer->elapsed(t->user, i, &ms))
            best = fmin(best, (double)ms);
    return best;
}

/* Take the fastest candidate; the trials are over. */
static void decide(struct gpu_tuner *t)
{
    double least = MARGIN * best_of(t, 0);

    for (int i = 1; i < t->n_candidates; i++) {
        const double ms = best_of(t, i);
        if (ms < least)
            least = ms, t->shape = t->candidates[i];
    }
    if (isfinite(least))
        gpu_tuned_keep(&t->timer->file, t->key, t->shape);
    t->active = false;
}

int gpu_tuner_begin(struct gpu_tuner *t, int n, const struct gpu_grid *grid)
{
    if (t->active && t->n == n_trials(t) && t->timer->is_over(t->user, t->n - 1))
        decide(t);
    if (!counts(t, n, grid))
        return shape_for(t, grid->nz);
    const int shape = t->candidates[t->n % t->n_candidates];
    t->grid = *grid;
    if (!t->timer->begin(t->user, t->n))
        t->active = false;
    return shape;
}

void gpu_tuner_end(struct gpu_tuner *t, int n, const struct gpu_grid *grid)
{
    if (!counts(t, n, grid))
        return;
    if (!t->timer->end(t->user, t->n++))
        t->active = false;
}

void gpu_tuner_close(struct gpu_tuner *t)
{
    if (t->active && t->n >= LEAST_ROUNDS * t->n_candidates && t->timer->wait(t->user, t->n - 1))
        decide(t);
    t->active = false;
}
