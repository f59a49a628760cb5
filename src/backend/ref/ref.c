#include "backend/ref/ref.h"
#include "backend/slab.h"

#include "base/base.h"

#include <string.h>

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return n_views * n_rows * job->wide.n_columns * sizeof(double);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_frames(job) * slab->nz * fbp_slab_slice(slab) * sizeof(double);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    const size_t ends = job->pad ? 2 * job->panel.n_columns * sizeof(float) : 0;

    if (job->filtered)
        return 0;
    return (job->panel.n_columns + 3 * job->filter->n_fft) * sizeof(double) + ends;
}

static bool choose(struct fbp_job *job, const char *name)
{
    job->chosen = (struct fbp_chosen){.kernel = "matrix", .isa = "double"};
    job->boxes = true;
    return !name || strcmp(name, job->chosen.kernel) == 0;
}

static void close_device(fbp_device **device)
{
    struct ref_device *dev = (struct ref_device *)(void *)*device;

    if (!dev)
        return;
    fbp_row_filter_close(&dev->filter);
    fbp_row_work_free(&dev->work);
    fbp_free(dev->weights);
    fbp_free(dev->ends);
    pthread_mutex_destroy(&dev->lock);
    free(dev);
    *device = NULL;
}

static fbp_status open_filter(struct ref_device *dev)
{
    FBP_TRY(
        fbp_alloc((void **)&dev->weights, dev->job->panel.n_columns * sizeof(double), "weights"));
    if (dev->job->pad)
        FBP_TRY(fbp_alloc((void **)&dev->ends, 2 * dev->job->panel.n_columns * sizeof(float),
                          "a row's ends"));
    FBP_TRY(fbp_row_work_alloc(&dev->work, dev->job->filter));
    return fbp_row_filter_open(&dev->filter, dev->job->filter, dev->job->spatial_filter);
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct ref_device *dev = NULL;
    fbp_status st = FBP_OK;

    (void)index;
    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&dev, 1, sizeof *dev, "reference device"));
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    pthread_mutex_init(&dev->lock, NULL);
    if (!job->filtered)
        st = open_filter(dev);
    if (st != FBP_OK)
        close_device(out);
    return st;
}

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    const struct ref_device *dev = (const struct ref_device *)(const void *)device;
    memset(volume, 0, volume_bytes(dev->job, slab));
    return FBP_OK;
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    const struct fbp_job *job = ((const struct ref_device *)(const void *)device)->job;
    const size_t slice = fbp_slab_slice(slab), n = (z1 - z0) * slice;
    const double *in = (const double *)volume + (z0 - slab->z0) * slice;

    for (size_t f = 0; f < fbp_frames(job); f++, in += slab->nz * slice)
        for (size_t i = 0; i < n; i++) {
            const double value = job->scale * in[i] + job->shift;
            if (fbp_in_double(job))
                ((double *)host)[f * n + i] = value;
            else
                ((float *)host)[f * n + i] = (float)value;
        }
    return FBP_OK;
}

static fbp_status expect(fbp_device *device, const struct fbp_ledger *ledger)
{
    ((struct ref_device *)(void *)device)->ledger = *ledger;
    return FBP_OK;
}

static fbp_status counts(fbp_device *device, struct fbp_prep_counts *out)
{
    *out = ((const struct ref_device *)(const void *)device)->counts;
    return FBP_OK;
}

const struct fbp_backend fbp_backend_ref = {
    .name = "ref",
    .summary = "plain C in double, one thread: the specification",
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .group_views = 8,
    .oversamples = true,
    .frames = true,
    .any_filter = true,
    .doubles = true,
    .periodic = true,
    .interpolations = 1u << FBP_INTERPOLATION_NEAREST | 1u << FBP_INTERPOLATION_CUBIC,
    .open = open_device,
    .close = close_device,
    .filter = ref_filter,
    .meridian = ref_meridian,
    .clear = clear,
    .backproject = ref_backproject,
    .fetch = fetch,
    .expect = expect,
    .counts = counts,
};
