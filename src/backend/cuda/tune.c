#include "backend/cuda/tune.h"

#include "backend/cuda/cuda.h"
#include "backend/gpu/tuned.h"

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

/* What the best shape depends on, and out of which; false if the driver does not say. */
static bool make_key(const struct gpu_kernel *k, const struct fbp_job *job, int ordinal,
                     int likeliest, char out[CUDA_TUNE_KEY])
{
    static const char *const precisions[] = {"", "exact", "fast", "half"};
    struct cudaDeviceProp p;
    int driver = 0;

    if (cudaGetDeviceProperties(&p, ordinal) != cudaSuccess ||
        cudaDriverGetVersion(&driver) != cudaSuccess)
        return false;
    snprintf(out, CUDA_TUNE_KEY,
             "%.100s, %d multiprocessors, driver for CUDA %d.%d, fbp %s, %s %s, 2^(%.0f/2) pixels, "
             "likeliest %d",
             p.name, p.multiProcessorCount, driver / 1000, driver % 1000 / 10, FBP_VERSION, k->name,
             precisions[k->precision], round(2 * log2(gpu_pixels_a_voxel(job))), likeliest);
    return true;
}

static int n_trials(const struct cuda_tuning *t)
{
    return t->n_candidates * CUDA_TUNE_ROUNDS;
}

/* A shape that the environment names, or -1. */
static int shape_wanted(int n_shapes)
{
    const char *wanted = gpu_host->environment(FBP_ENV_SHAPE);
    const int shape = wanted ? atoi(wanted) : -1;

    return shape < n_shapes ? shape : -1;
}

/* May a run of the job measure?  Its passes are long enough and so many that two rounds fit. */
static bool may_measure(const struct gpu_kernel *k, const struct fbp_job *job, int n_candidates)
{
    const char *tune = gpu_host->environment(FBP_ENV_TUNE);
    const size_t *n = job->grid.n, passes = job->n_views / k->turns / GPU_PASS;

    return n_candidates > 1 && !(tune && strcmp(tune, "0") == 0) && shape_wanted(k->n_shapes) < 0 &&
           n[2] >= LEAST_SLICES &&
           (double)n[0] * (double)n[1] * (double)n[2] * GPU_PASS >= LEAST_UPDATES &&
           passes >= (size_t)(LEAST_ROUNDS * n_candidates + OTHER_PASSES);
}

bool cuda_tune_is_due(const struct gpu_kernel *k, const struct fbp_job *job, int ordinal)
{
    int candidates[GPU_MOST_SHAPES];
    char key[CUDA_TUNE_KEY];

    return k->n_shapes > 1 && may_measure(k, job, k->candidates(job, job->grid.n[2], candidates)) &&
           make_key(k, job, ordinal, candidates[0], key) && gpu_tuned_recall(key, k->n_shapes) < 0;
}

static bool make_events(struct cuda_tuning *t, int n)
{
    for (int i = 0; i < n; i++)
        if (cudaEventCreate(&t->trials[i].begin) != cudaSuccess ||
            cudaEventCreate(&t->trials[i].end) != cudaSuccess)
            return false;
    return true;
}

/* The shape that an earlier run has kept, or -1; timing begins if it is due. */
static int shape_kept(struct cuda_device *dev)
{
    struct cuda_tuning *t = &dev->tuning;
    const struct gpu_kernel *k = &dev->kernel->gpu;

    if (!may_measure(k, dev->job, t->n_candidates) ||
        !make_key(k, dev->job, dev->index, t->candidates[0], t->key))
        return -1;
    const int shape = gpu_tuned_recall(t->key, k->n_shapes);
    t->active = shape < 0 && make_events(t, n_trials(t));
    return shape;
}

void cuda_tune_open(struct cuda_device *dev)
{
    struct cuda_tuning *t = &dev->tuning;
    const struct gpu_kernel *k = &dev->kernel->gpu;

    if (k->n_shapes < 2)
        return;
    for (int i = 0; i < 2; i++) {
        (void)k->candidates(dev->job, i == 0 ? 4 : 8, t->candidates);
        t->thin[i] = t->candidates[0];
    }
    t->n_candidates = k->candidates(dev->job, dev->job->grid.n[2], t->candidates);
    dev->shape = t->candidates[0];
    const int wanted = shape_wanted(k->n_shapes), kept = wanted < 0 ? shape_kept(dev) : -1;
    if (wanted >= 0)
        dev->shape = t->thin[0] = t->thin[1] = wanted;
    else if (kept >= 0)
        dev->shape = kept;
    (void)cudaGetLastError(); /* without a measurement the likeliest is used */
}

/* Is the pass to be timed?  Only like is compared with like: slices see their own part of views. */
static bool counts(const struct cuda_tuning *t, const struct cuda_bp *bp)
{
    const struct gpu_grid *g = &bp->grid;

    return t->active && t->n < n_trials(t) && bp->pass.n == GPU_PASS && g->nz >= LEAST_SLICES &&
           (double)g->nx * g->ny * g->nz * GPU_PASS >= LEAST_UPDATES &&
           (t->n == 0 || (g->z0 == t->z0 && g->nz == t->nz));
}

static int shape_for(const struct cuda_device *dev, int n_slices)
{
    return n_slices <= 4 ? dev->tuning.thin[0] : n_slices <= 8 ? dev->tuning.thin[1] : dev->shape;
}

/* Milliseconds of a candidate's fastest trial; infinite if none could be read. */
static double best_of(const struct cuda_tuning *t, int candidate)
{
    double best = INFINITY;

    for (int i = candidate + t->n_candidates; i < t->n; i += t->n_candidates) {
        const struct cuda_trial *trial = &t->trials[i];
        float ms = 0;
        if (cudaEventElapsedTime(&ms, trial->begin, trial->end) == cudaSuccess)
            best = fmin(best, (double)ms);
    }
    return best;
}

/* Take the fastest candidate; the trials are over. */
static void decide(struct cuda_device *dev)
{
    struct cuda_tuning *t = &dev->tuning;
    double least = MARGIN * best_of(t, 0);

    for (int i = 1; i < t->n_candidates; i++) {
        const double ms = best_of(t, i);
        if (ms < least)
            least = ms, dev->shape = t->candidates[i];
    }
    if (isfinite(least))
        gpu_tuned_keep(t->key, dev->shape);
    t->active = false;
}

/* Are the trials over?  If they are not, that is no error of the run. */
static bool all_over(const struct cuda_tuning *t)
{
    const bool over = t->n == n_trials(t) && cudaEventQuery(t->trials[t->n - 1].end) == cudaSuccess;

    if (!over)
        (void)cudaGetLastError();
    return over;
}

void cuda_tune_begin(struct cuda_device *dev, struct cuda_bp *bp)
{
    struct cuda_tuning *t = &dev->tuning;

    if (t->active && all_over(t))
        decide(dev);
    bp->shape = shape_for(dev, bp->grid.nz);
    if (!counts(t, bp))
        return;
    bp->shape = t->candidates[t->n % t->n_candidates];
    t->z0 = bp->grid.z0;
    t->nz = bp->grid.nz;
    if (cudaEventRecord(t->trials[t->n].begin, bp->stream) != cudaSuccess)
        t->active = false;
}

void cuda_tune_end(struct cuda_device *dev, const struct cuda_bp *bp)
{
    struct cuda_tuning *t = &dev->tuning;

    if (!counts(t, bp))
        return;
    if (cudaEventRecord(t->trials[t->n++].end, bp->stream) != cudaSuccess)
        t->active = false;
}

void cuda_tune_close(struct cuda_device *dev)
{
    struct cuda_tuning *t = &dev->tuning;

    if (t->active && t->n >= LEAST_ROUNDS * t->n_candidates &&
        cudaEventSynchronize(t->trials[t->n - 1].end) == cudaSuccess)
        decide(dev);
    for (int i = 0; i < CUDA_TUNE_ROUNDS * GPU_MOST_SHAPES; i++) {
        if (t->trials[i].begin)
            (void)cudaEventDestroy(t->trials[i].begin);
        if (t->trials[i].end)
            (void)cudaEventDestroy(t->trials[i].end);
    }
    t->active = false;
    (void)cudaGetLastError(); /* nothing here is an error of the run */
}
