#include "plan/estimate.h"

#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/clock.h"
#include "base/mem.h"
#include "plan/roi.h"
#include "plan/wanted.h"

#include <math.h>

/* A device that computes beside the host takes a larger sample: starting it costs time, too. */
enum { SAMPLE_UPDATES = 1 << 25, LARGE_SAMPLE = 1 << 29 };

struct sample {
    fbp_device *dev;
    float *host;
    void *raw, *filtered, *volume;
};

/* Slices in the middle, as many as make a sample of one group of views: kernels that set up a whole
 * voxel column at a time are slow on single slices. */
static struct fbp_slab sample_slab(const struct fbp_job *job, const struct fbp_work *work,
                                   size_t wanted)
{
    struct fbp_slab out = fbp_slab_asked(job, 0, 1);
    const size_t updates = fbp_slab_slice(&out) * work->group_views;
    size_t first, n;

    fbp_roi_slices(job, &first, &n);
    out.nz = updates < wanted ? wanted / updates : 1;
    if (out.nz > work->slab_slices)
        out.nz = work->slab_slices;
    out.z0 = first + (n - out.nz) / 2;
    return out;
}

/* Views of the first batch, at most one group; the slices may need none of its rows. */
static struct fbp_batch sample_batch(const struct fbp_job *job, const struct fbp_work *work,
                                     const struct fbp_slab *slab)
{
    struct fbp_batch out = fbp_work_batch(work, job, slab, 0);

    if (out.n_views > work->group_views)
        out.n_views = work->group_views;
    return out;
}

static fbp_status time_sample(const struct fbp_backend *b, const struct fbp_job *job,
                              struct sample *s, const struct fbp_batch *batch,
                              const struct fbp_slab *slab, double *filter, double *backproject)
{
    const size_t n = fbp_raw_samples(job, batch);

    for (size_t i = 0; i < n * fbp_value_size(job) / sizeof *s->host;
         i++) /* or halves of doubles */
        s->host[i] = (float)(i * 2654435761u % 1000) * 1e-3f;
    if (b->own_memory) {
        FBP_TRY(b->upload(s->dev, s->raw, s->host, n));
        FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_IN));
    }
    const double start = fbp_seconds();
    FBP_TRY(b->filter(s->dev, batch, b->own_memory ? s->raw : s->host, s->filtered));
    FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_FILTER));
    *filter = fbp_seconds() - start;
    FBP_TRY(b->clear(s->dev, slab, s->volume));
    FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_BP));
    const double middle = fbp_seconds();
    FBP_TRY(
        b->backproject(s->dev, batch, s->filtered, slab, slab->z0, slab->z0 + slab->nz, s->volume));
    FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_BP));
    *backproject = fbp_seconds() - middle;
    return FBP_OK;
}

/* All that is computed, relative to a sample: voxels, or slices if the sample has no voxel. */
static double times_sampled(const struct fbp_job *job, const struct fbp_slab *slab)
{
    size_t first, n;

    fbp_roi_slices(job, &first, &n);
    const uint64_t all = fbp_wanted_voxels(job, slab, first, first + n);
    const uint64_t sampled = fbp_wanted_voxels(job, slab, slab->z0, slab->z0 + slab->nz);

    return job->region && sampled ? (double)all / (double)sampled : (double)n / (double)slab->nz;
}

fbp_status fbp_estimate(const struct fbp_job *job, const struct fbp_backend *b, int device,
                        const struct fbp_work *work, double filtered_times, double *seconds)
{
    const bool own = b->own_memory;
    const struct fbp_slab slab = sample_slab(job, work, own ? LARGE_SAMPLE : SAMPLE_UPDATES);
    const struct fbp_batch batch = sample_batch(job, work, &slab);
    const size_t raw_bytes = fbp_raw_samples(job, &batch) * fbp_value_size(job);
    const struct fbp_buffer raw = {FBP_FOR_RAW,
                                   fbp_raw_device_bytes(job, fbp_raw_samples(job, &batch)),
                                   batch.n_views, batch.load_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED,
                                        b->filtered_bytes(job, batch.n_views, batch.n_rows),
                                        batch.n_views, batch.n_rows};
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, b->volume_bytes(job, &slab), 0, 0};
    struct sample s = {0};
    double filter = 0, backproject = 0;
    fbp_status st = FBP_OK;

    *seconds = 0;
    if (batch.n_rows == 0)
        return FBP_OK;
    FBP_TRY_GOTO(b->open(&s.dev, device, job));
    FBP_TRY_GOTO(fbp_alloc((void **)&s.host, raw_bytes, "a sample of the work"));
    if (own)
        FBP_TRY_GOTO(b->alloc(s.dev, &raw, &s.raw));
    FBP_TRY_GOTO(b->alloc(s.dev, &filtered, &s.filtered));
    FBP_TRY_GOTO(b->alloc(s.dev, &volume, &s.volume));
    if (own) /* what is loaded at the first call shall not be counted */
        FBP_TRY_GOTO(time_sample(b, job, &s, &batch, &slab, &filter, &backproject));
    FBP_TRY_GOTO(time_sample(b, job, &s, &batch, &slab, &filter, &backproject));

    const double rows = filtered_times * (double)job->n_views * (double)job->panel.n_rows;
    const double sampled = (double)batch.n_views;
    *seconds = (filter * rows / (sampled * (double)batch.n_rows) +
                backproject * times_sampled(job, &slab) * (double)job->n_views / sampled) *
               (double)fbp_series(job) / (double)work->n_workers;
fail:
    if (s.dev) {
        fbp_device_put(b, s.dev, FBP_FOR_RAW, s.raw);
        fbp_device_put(b, s.dev, FBP_FOR_FILTERED, s.filtered);
        fbp_device_put(b, s.dev, FBP_FOR_VOLUME, s.volume);
        b->close(&s.dev);
    }
    fbp_free(s.host);
    return st;
}
