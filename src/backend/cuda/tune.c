#include "backend/cuda/tune.h"

#include "backend/cuda/cuda.h"
#include "backend/cuda/tuned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Voxels x views of a pass that takes long enough to be timed, and what a shape must be faster by
 * than the kernel's guess. */
static const double LEAST_UPDATES = 32e6, MARGIN = 0.98;

double cuda_pixels_a_voxel(const struct fbp_job *job)
{
    double most = 0;

    /* m is scaled to w = 1 at the origin. */
    for (size_t k = 0; k < job->n_views; k++) {
        const double *m = job->matrices[k];
        for (int axis = 0; axis < 3; axis++)
            for (int row = 0; row < 2; row++)
                most = fmax(most, fabs(m[4 * row + axis] - m[4 * row + 3] * m[8 + axis]) *
                                      job->grid.voxel_mm[axis]);
    }
    return most;
}

/* What the best shape depends on. */
static void make_key(const struct cuda_device *dev, char *out, size_t n)
{
    static const char *const precisions[] = {"", "exact", "fast", "half"};
    struct cudaDeviceProp p;
    int driver = 0;

    if (cudaGetDeviceProperties(&p, dev->index) != cudaSuccess ||
        cudaDriverGetVersion(&driver) != cudaSuccess)
        p.name[0] = '\0';
    snprintf(out, n, "%.100s, %d multiprocessors, CUDA %d.%d, fbp %s, %s %s, 2^(%.0f/2) pixels",
             p.name, p.multiProcessorCount, driver / 1000, driver % 1000 / 10, FBP_VERSION,
             dev->kernel->name, precisions[dev->kernel->precision],
             round(2 * log2(cuda_pixels_a_voxel(dev->job))));
}

static int n_trials(const struct cuda_device *dev)
{
    return dev->kernel->n_shapes * CUDA_TUNE_ROUNDS;
}

static bool make_events(struct cuda_tuning *t, int n)
{
    for (int i = 0; i < n; i++)
        if (cudaEventCreate(&t->trials[i].begin) != cudaSuccess ||
            cudaEventCreate(&t->trials[i].end) != cudaSuccess)
            return false;
    return true;
}

/* A shape that the environment names, or -1. */
static int shape_wanted(int n_shapes)
{
    const char *wanted = getenv("FBP_SHAPE");
    const int shape = wanted ? atoi(wanted) : -1;

    return shape < n_shapes ? shape : -1;
}

void cuda_tune_open(struct cuda_device *dev)
{
    const struct cuda_kernel *k = dev->kernel;
    const char *tune = getenv("FBP_TUNE");
    int shape;

    dev->shape = k->guess ? k->guess(dev->job) : 0;
    if (k->n_shapes < 2)
        return;
    shape = shape_wanted(k->n_shapes);
    if (shape < 0 && !(tune && tune[0] == '0')) {
        make_key(dev, dev->tuning.key, sizeof dev->tuning.key);
        shape = cuda_tuned_recall(dev->tuning.key, k->n_shapes);
        dev->tuning.active = shape < 0 && make_events(&dev->tuning, n_trials(dev));
    }
    if (shape >= 0)
        dev->shape = shape;
}

static bool counts(const struct cuda_device *dev, const struct cuda_bp *bp)
{
    const struct cuda_grid *g = &bp->grid;

    return dev->tuning.active && (double)g->nx * g->ny * g->nz * bp->pass.n >= LEAST_UPDATES;
}

/* Milliseconds a view and slice of the fastest trial that counts; infinite if there is none. */
static double best_of(const struct cuda_device *dev, int shape)
{
    double best = INFINITY;

    for (int i = shape + dev->kernel->n_shapes; i < n_trials(dev); i += dev->kernel->n_shapes) {
        const struct cuda_trial *trial = &dev->tuning.trials[i];
        float ms = 0;
        if (cudaEventElapsedTime(&ms, trial->begin, trial->end) == cudaSuccess)
            best = fmin(best, (double)ms / trial->work);
    }
    return best;
}

/* Take the fastest shape, if all trials are over. */
static void decide(struct cuda_device *dev)
{
    struct cuda_tuning *t = &dev->tuning;
    double least = MARGIN * best_of(dev, dev->shape);

    if (cudaEventQuery(t->trials[n_trials(dev) - 1].end) != cudaSuccess)
        return;
    for (int shape = 0; shape < dev->kernel->n_shapes; shape++) {
        const double ms = best_of(dev, shape);
        if (ms < least)
            least = ms, dev->shape = shape;
    }
    cuda_tuned_keep(t->key, dev->shape);
    t->active = false;
}

void cuda_tune_begin(struct cuda_device *dev, struct cuda_bp *bp)
{
    struct cuda_tuning *t = &dev->tuning;

    if (t->active && t->n == n_trials(dev))
        decide(dev);
    bp->shape = dev->shape;
    if (!counts(dev, bp) || t->n == n_trials(dev))
        return;
    bp->shape = t->n % dev->kernel->n_shapes;
    t->trials[t->n].work = (double)bp->pass.n * bp->grid.nz;
    if (cudaEventRecord(t->trials[t->n].begin, bp->stream) != cudaSuccess)
        t->active = false;
}

void cuda_tune_end(struct cuda_device *dev, const struct cuda_bp *bp)
{
    struct cuda_tuning *t = &dev->tuning;

    if (!counts(dev, bp) || t->n == n_trials(dev))
        return;
    if (cudaEventRecord(t->trials[t->n++].end, bp->stream) != cudaSuccess)
        t->active = false;
}

void cuda_tune_close(struct cuda_device *dev)
{
    struct cuda_tuning *t = &dev->tuning;

    if (t->active && t->n == n_trials(dev) &&
        cudaEventSynchronize(t->trials[t->n - 1].end) == cudaSuccess)
        decide(dev);
    for (int i = 0; i < CUDA_TUNE_ROUNDS * CUDA_MOST_SHAPES; i++) {
        if (t->trials[i].begin)
            (void)cudaEventDestroy(t->trials[i].begin);
        if (t->trials[i].end)
            (void)cudaEventDestroy(t->trials[i].end);
    }
    t->active = false;
    (void)cudaGetLastError(); /* nothing here is an error of the run */
}
