/** @file side.h  A device that test_region.c drives directly, without the pipeline. */
#ifndef FBP_TESTS_SIDE_H
#define FBP_TESTS_SIDE_H

#include "recon/boxes.h"

#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "geometry/kind.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

/** A device that holds all views of a case, filtered. */
struct side {
    const struct fbp_backend *backend;
    struct fbp_scan scan;
    struct fbp_job_tables tables;
    fbp_device *dev;
    struct fbp_batch batch;
    void *filtered, *volume;
};

/** region: what is wanted; NULL: all. */
static inline void arrange_region(struct side *s, const struct scan_case *c, const char *region)
{
    struct fbp_recon_params params = {.struct_size = sizeof params,
                                      .tuning.kernel = c->kernel,
                                      .precision = c->precision,
                                      .n_threads = 2,
                                      .region.shape = region};
    char name[8] = "", why[300];

    sscanf(c->device, "%7[a-z]", name);
    *s = (struct side){.backend = fbp_backend_find(name), .scan = make_scan(c)};
    if (c->views % 2 && fbp_kind_has_lines(s->scan.kind))
        params.mu_water = 0.02;
    assert_true(fbp_backend_count(&s->backend, why, sizeof why) > 0);
    OK(fbp_job_create(&s->tables, &s->scan, &params, false));
    OK(fbp_job_arrange(&s->tables.job, s->backend));
}

/** All views as the whole volume needs them: what they hold does not matter. */
static inline void filter_views(struct side *s)
{
    const struct fbp_job *job = &s->tables.job;
    const size_t n = fbp_raw_samples(job, &s->batch);
    const struct fbp_buffer raw = {FBP_FOR_RAW, n * sizeof(float), s->batch.n_views,
                                   s->batch.load_rows};
    AUTO_FREE float *host = not_null(malloc(n * sizeof *host));
    void *device = NULL;

    for (size_t i = 0; i < n; i++)
        host[i] = (float)(i * 2654435761u % 1000) * 1e-3f;
    OK(s->backend->memory.alloc(s->dev, &raw, &device));
    if (s->backend->can.own_memory)
        OK(s->backend->memory.upload(s->dev, device, host, n));
    else
        memcpy(device, host, n * sizeof *host);
    OK(fbp_device_settle_all(s->backend, s->dev));
    OK(s->backend->filter(s->dev, &s->batch, device, s->filtered));
    OK(fbp_device_settle_all(s->backend, s->dev));
    fbp_device_put(s->backend, s->dev, FBP_FOR_RAW, device);
}

static inline void open_side(struct side *s)
{
    const struct fbp_job *job = &s->tables.job;
    const size_t n = job->n_views;
    const struct fbp_work work = {.group_views = n, .n_batches = 1, .batch_views = n};
    const struct fbp_slab all = fbp_slab_whole(job, 0, job->grid.n[2]);

    s->batch = fbp_work_batch(&work, job, &all, 0);
    s->batch.resident = true;
    OK(s->backend->open(&s->dev, 0, job));
    const size_t bytes = s->backend->filtered_bytes(job, n, s->batch.n_rows);
    OK(s->backend->memory.alloc(
        s->dev, &(struct fbp_buffer){FBP_FOR_FILTERED, bytes, n, s->batch.n_rows}, &s->filtered));
    OK(s->backend->memory.alloc(
        s->dev, &(struct fbp_buffer){FBP_FOR_VOLUME, s->backend->volume_bytes(job, &all), 0, 0},
        &s->volume));
    filter_views(s);
}

static inline void close_side(struct side *s)
{
    if (s->dev) {
        OK(fbp_device_settle_all(s->backend, s->dev));
        fbp_device_put(s->backend, s->dev, FBP_FOR_FILTERED, s->filtered);
        fbp_device_put(s->backend, s->dev, FBP_FOR_VOLUME, s->volume);
        s->backend->close(&s->dev);
    }
    fbp_job_clear(&s->tables);
    drop_scan(&s->scan);
}

/** The slab's slices into out, backprojected in two steps. */
static inline void reconstruct_slab(struct side *s, const struct fbp_slab *slab, float *out)
{
    const size_t end = slab->z0 + slab->nz, middle = slab->z0 + slab->nz / 2;

    OK(s->backend->clear(s->dev, slab, s->volume));
    if (middle > slab->z0)
        OK(s->backend->backproject(s->dev, &s->batch, s->filtered, slab, slab->z0, middle,
                                   s->volume));
    OK(s->backend->backproject(s->dev, &s->batch, s->filtered, slab, middle, end, s->volume));
    OK(fbp_device_settle_all(s->backend, s->dev));
    OK(s->backend->fetch(s->dev, slab, slab->z0, end, s->volume, out));
    OK(fbp_device_settle_all(s->backend, s->dev));
}

#endif /* FBP_TESTS_SIDE_H */
