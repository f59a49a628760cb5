/* What the pretended device computes and copies, by commands in its queues. */
#include "backend/mock/mock.h"

#include "backend/mock/mock_device.h"
#include "backend/rows.h"
#include "backend/slab.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Where a batch begins in its buffer. */
static void *place_of(const struct mock_device *dev, const struct fbp_batch *batch,
                      const void *filtered)
{
    return (char *)(uintptr_t)filtered +
           fbp_backend_cpu.filtered_bytes(dev->job, batch->place * dev->job->turns, batch->n_rows);
}

static fbp_status run_upload(void *user)
{
    const struct mock_command *c = user;
    const size_t n = c->n_samples, size = fbp_raw_size(c->dev->job);

    atomic_fetch_add(&fbp_mock_uploaded, c->n_pieces * n * size);
    for (size_t i = 0; i < c->n_pieces; i++)
        memcpy((char *)c->dst + i * n * size,
               (const char *)fbp_mock_near(c->src) + i * c->stride * size, n * size);
    return FBP_OK;
}

/* Host memory lent to the device: tests say which; and its own. */
bool mock_reaches(fbp_device *device, const void *host, size_t bytes)
{
    const int owner = fbp_mock_far_access.owner(host, bytes);

    return !fbp_mock_plant.reaches_nothing &&
           (owner < 0 || owner == ((struct mock_device *)(void *)device)->index);
}

fbp_status mock_upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                              size_t n_samples, size_t stride)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    if (atomic_fetch_add(&dev->n_uploads, 1) + 1 == fbp_mock_plant.drop_upload)
        return FBP_OK;
    return mock_submit(
        dev, FBP_STAGE_IN, run_upload,
        &(struct mock_command){
            .dst = dst, .src = src, .n_samples = n_samples, .stride = stride, .n_pieces = n});
}

fbp_status mock_upload(fbp_device *device, void *dst, const void *src, size_t n_samples)
{
    return mock_upload_pieces(device, dst, src, 1, n_samples, 0);
}

/* Counts become floats behind them; returns where the floats are. */
static float *convert(const struct fbp_job *job, void *raw, size_t n)
{
    float *out = (float *)(void *)((char *)raw + fbp_raw_floats(job, n));

    for (size_t i = 0; job->raw == FBP_U16 && i < n; i++)
        out[i] = ((const uint16_t *)raw)[i];
    return out;
}

typedef fbp_status filter_fn(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *out);

/* Raw samples that are there, and that nobody uses afterwards. */
static fbp_status filter_by(filter_fn *inner, const struct mock_command *c)
{
    const struct fbp_job *job = c->dev->job;
    const size_t n = fbp_raw_samples(job, &c->batch);

    if (mock_is_poisoned(c->volume, n * fbp_raw_size(job) / sizeof(float)))
        return fbp_fail(FBP_ERR_DEVICE,
                        "mock: views %zu to %zu were filtered before they were uploaded",
                        c->batch.view0, c->batch.view0 + c->batch.n_views - 1);
    const fbp_status st = inner(c->dev->inner, &c->batch, convert(job, c->volume, n), c->dst);
    mock_poison(c->volume, fbp_raw_device_bytes(job, n));
    return st;
}

static fbp_status run_filter(void *user)
{
    return filter_by(fbp_backend_cpu.filter, user);
}

fbp_status mock_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    FBP_TRY(mock_called(device));
    return mock_submit((struct mock_device *)(void *)device, FBP_STAGE_FILTER, run_filter,
                       &(struct mock_command){
                           .dst = place_of((struct mock_device *)(void *)device, batch, filtered),
                           .volume = raw,
                           .batch = *batch});
}

static fbp_status inner_rows(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *out)
{
    return fbp_backend_cpu.filter_rows(dev, batch, raw, out);
}

static fbp_status run_filter_rows(void *user)
{
    return filter_by(inner_rows, user);
}

fbp_status mock_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                            float *rows)
{
    FBP_TRY(mock_called(device));
    return mock_submit((struct mock_device *)(void *)device, FBP_STAGE_FILTER, run_filter_rows,
                       &(struct mock_command){.dst = rows, .volume = raw, .batch = *batch});
}

static fbp_status run_download(void *user)
{
    const struct mock_command *c = user;

    if (mock_is_poisoned(c->src, c->n_samples))
        return fbp_fail(FBP_ERR_DEVICE, "mock: rows were downloaded before they were filtered");
    memcpy(c->dst, c->src, c->n_samples * sizeof(float));
    mock_poison(c->volume, c->n_samples * sizeof(float));
    return FBP_OK;
}

fbp_status mock_download(fbp_device *device, const float *rows, size_t n, float *host)
{
    FBP_TRY(mock_called(device));
    mock_poison(host, n * sizeof *host);
    return mock_submit(
        (struct mock_device *)(void *)device, FBP_STAGE_OUT, run_download,
        &(struct mock_command){
            .dst = host, .src = rows, .volume = (void *)(uintptr_t)rows, .n_samples = n});
}

static uint64_t slabs_of_others(int index)
{
    uint64_t n = 0;

    for (int i = 0; i < FBP_MOCK_DEVICES; i++)
        n += i == index ? 0 : atomic_load(&fbp_mock_slabs[i]);
    return n;
}

static fbp_status run_clear(void *user)
{
    const struct mock_command *c = user;
    const struct timespec tick = {.tv_nsec = 200000};

    while (fbp_mock_plant.held_device == (unsigned)c->dev->index + 1 &&
           slabs_of_others(c->dev->index) < fbp_mock_plant.held_slabs)
        nanosleep(&tick, NULL);
    return fbp_backend_cpu.clear(c->dev->inner, &c->slab, c->volume);
}

fbp_status mock_clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    atomic_fetch_add(&fbp_mock_slabs[dev->index], 1);
    return mock_submit(dev, FBP_STAGE_BP, run_clear,
                       &(struct mock_command){.volume = volume, .slab = *slab});
}

static fbp_status run_backproject(void *user)
{
    const struct mock_command *c = user;
    const size_t bytes =
        fbp_backend_cpu.filtered_bytes(c->dev->job, c->batch.n_views, c->batch.n_rows);

    if (c->batch.n_rows > 0 && mock_is_poisoned(c->src, bytes / sizeof(float)))
        return fbp_fail(FBP_ERR_DEVICE,
                        "mock: views %zu to %zu were backprojected before they were filtered",
                        c->batch.view0, c->batch.view0 + c->batch.n_views - 1);
    const fbp_status st = fbp_backend_cpu.backproject(c->dev->inner, &c->batch, c->src, &c->slab,
                                                      c->z0, c->z1, c->volume);
    /* A batch is used up with the slab's last slices. */
    if (c->batch.n_rows > 0 && !c->batch.kept && c->z1 == c->slab.z0 + c->slab.nz &&
        !fbp_mock_plant.keep_batches)
        mock_poison(c->dst, bytes);
    return st;
}

fbp_status mock_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                            const struct fbp_slab *slab, size_t z0, size_t z1, void *volume)
{
    FBP_TRY(mock_called(device));
    void *from = place_of((struct mock_device *)(void *)device, batch, filtered);

    return mock_submit((struct mock_device *)(void *)device, FBP_STAGE_BP, run_backproject,
                       &(struct mock_command){.src = from,
                                              .dst = from,
                                              .volume = volume,
                                              .batch = *batch,
                                              .slab = *slab,
                                              .z0 = z0,
                                              .z1 = z1});
}

static fbp_status run_share(void *user)
{
    const struct mock_command *c = user;
    const size_t bytes =
        fbp_backend_cpu.filtered_bytes(c->dev->job, c->batch.n_views, c->batch.n_rows);

    if (mock_is_poisoned(c->src, bytes / sizeof(float)))
        return fbp_fail(FBP_ERR_DEVICE,
                        "mock: views %zu to %zu were copied before they were filtered",
                        c->batch.view0, c->batch.view0 + c->batch.n_views - 1);
    memcpy(c->dst, c->src, bytes);
    atomic_fetch_add(&fbp_mock_shared, bytes);
    return FBP_OK;
}

fbp_status mock_share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                      fbp_device *from, const void *theirs)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    return mock_submit(
        dev, FBP_STAGE_OUT, run_share,
        &(struct mock_command){.dst = place_of(dev, batch, filtered),
                               .src = place_of((struct mock_device *)(void *)from, batch, theirs),
                               .batch = *batch});
}

static void look_at(struct mock_device *dev, const float *x, size_t n)
{
    struct fbp_statistics *f = &dev->found;

    for (size_t i = 0; i < n; i++) {
        f->min = fmin(f->min, (double)x[i]);
        f->max = fmax(f->max, (double)x[i]);
        f->sum += (double)x[i];
    }
}

fbp_status mock_statistics(fbp_device *device, struct fbp_statistics *out)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    *out = dev->found;
    dev->found = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    return FBP_OK;
}

static fbp_status run_fetch(void *user)
{
    struct mock_command *c = user;
    const struct fbp_job *job = c->dev->job;
    const fbp_status st =
        fbp_backend_cpu.fetch(c->dev->inner, &c->slab, c->z0, c->z1, c->volume, c->dst);

    look_at(c->dev, c->dst, fbp_frames(job) * (c->z1 - c->z0) * fbp_slab_slice(&c->slab));
    /* Nobody may count on what is left in a slab that was fetched. */
    c->dev->n_fetched += c->z1 - c->z0;
    if (c->dev->n_fetched == c->slab.nz) {
        mock_poison(c->volume, fbp_backend_cpu.volume_bytes(job, &c->slab));
        c->dev->n_fetched = 0;
    }
    return st;
}

fbp_status mock_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                      const void *volume, void *host)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;
    host = fbp_mock_near(host);
    mock_poison(host, fbp_frames(dev->job) * (z1 - z0) * fbp_slab_slice(slab) * sizeof(float));
    return mock_submit(
        dev, FBP_STAGE_OUT, run_fetch,
        &(struct mock_command){
            .dst = host, .volume = (void *)(uintptr_t)volume, .slab = *slab, .z0 = z0, .z1 = z1});
}
