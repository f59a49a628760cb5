#include "backend/cpu/cpu.h"
#include "backend/partners.h"
#include "backend/statistics.h"

#include "base/system.h"
#include "base/base.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return n_views / job->turns * cpu_kernel_of(job)->group_size(job, n_rows) * fbp_value_size(job);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return cpu_kernel_of(job)->volume_size(job, slab) * fbp_value_size(job);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    const size_t filter = fbp_in_double(job) ? cpu_filter_double_bytes(job)
                                             : cpu_filter_bytes(job, cpu_kernel_of(job));

    return filter + job->n_views * 2 * sizeof(double) +
           job->grid.n[1] * sizeof(struct fbp_statistics);
}

static void describe(int index, struct fbp_device_info *out)
{
    char model[96];

    (void)index;
    snprintf(out->text, sizeof out->text, "%s, %d cores, %s", fbp_cpu_model(model, sizeof model),
             fbp_core_count(), fbp_cpu_level(fbp_cpu_flags()));
    out->memory_bytes = fbp_available_bytes();
}

static bool choose(struct fbp_job *job, const char *name)
{
    const struct cpu_kernel *kernel = cpu_kernel_find(job, name);

    if (!kernel)
        return false;
    job->chosen = (struct fbp_chosen){kernel->name, fbp_cpu_level(fbp_cpu_flags()), kernel};
    job->turns = kernel->turns;
    job->boxes = kernel->boxes;
    return true;
}

/* Integer column and row nearest to the principal point: coordinates counted from there are small
 * where the object is, and have the most digits in fp32. */
static fbp_status find_principal(struct cpu_device *dev)
{
    const struct fbp_job *job = dev->job;

    FBP_TRY(fbp_calloc((void **)&dev->principal, job->n_views, sizeof *dev->principal,
                       "principal points"));
    for (size_t k = 0; k < job->n_views; k++) {
        const double *m = job->matrices[k];
        const double last[2] = {(double)job->wide.n_columns - 1, (double)job->wide.n_rows - 1};
        for (int i = 0; i < 2; i++)
            dev->principal[k][i] = fmin(fmax(round(m[4 * i + 3] / m[11]), 0), last[i]);
    }
    return FBP_OK;
}

static fbp_status statistics(fbp_device *device, struct fbp_statistics *out)
{
    struct cpu_device *dev = (struct cpu_device *)(void *)device;

    *out = FBP_NO_STATISTICS;
    for (size_t y = 0; y < dev->job->grid.n[1]; y++) {
        fbp_statistics_join(out, &dev->found[y]);
        dev->found[y] = FBP_NO_STATISTICS;
    }
    return FBP_OK;
}

static fbp_status make_statistics(struct cpu_device *dev)
{
    struct fbp_statistics none;

    FBP_TRY(
        fbp_calloc((void **)&dev->found, dev->job->grid.n[1], sizeof *dev->found, "statistics"));
    return statistics((fbp_device *)(void *)dev, &none);
}

static void close_device(fbp_device **device)
{
    struct cpu_device *dev = (struct cpu_device *)(void *)*device;

    if (!dev)
        return;
    cpu_filter_close(dev);
    cpu_filter_double_close(dev);
    free(dev->found);
    free(dev->principal);
    fbp_pool_destroy(&dev->pool);
    free(dev);
    *device = NULL;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct cpu_device *dev = NULL;
    fbp_status st = FBP_OK;

    (void)index;
    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&dev, 1, sizeof *dev, "CPU device"));
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    dev->kernel = cpu_kernel_of(job);
    fbp_bp_dsp_init(&dev->dsp, fbp_cpu_flags());
    fbp_orbit_dsp_init(&dev->orbit_dsp, fbp_cpu_flags());
    if (job->interpolation != FBP_INTERPOLATION_LINEAR)
        dev->dsp.matrix = fbp_bp_row_find(fbp_cpu_flags(), job->interpolation);
    dev->planes = fbp_bp_planes_find(fbp_cpu_flags(), job->interpolation);
    fbp_line_dsp_init(&dev->line, fbp_cpu_flags());
    FBP_TRY_GOTO(fbp_pool_create(&dev->pool, job->n_threads));
    FBP_TRY_GOTO(find_principal(dev));
    FBP_TRY_GOTO(make_statistics(dev));
    dev->doubles.planes = fbp_bp_planes_double_find(fbp_cpu_flags(), job->interpolation);
    dev->doubles.column = fbp_bp_column_double_find(fbp_cpu_flags());
    FBP_TRY_GOTO((fbp_in_double(job) ? cpu_filter_double_open : cpu_filter_open)(dev));
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

/* The slab in pieces, by the threads that will add to it. */
struct clear_loop {
    char *volume;
    size_t bytes;
};

enum { CLEAR_BYTES = 1 << 20 };

static void clear_piece(void *user, size_t item, int worker)
{
    const struct clear_loop *l = user;
    const size_t at = item * CLEAR_BYTES, left = l->bytes - at;

    (void)worker;
    memset(l->volume + at, 0, left < CLEAR_BYTES ? left : CLEAR_BYTES);
}

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;
    struct clear_loop loop = {volume, volume_bytes(dev->job, slab)};

    fbp_pool_for(dev->pool, (loop.bytes + CLEAR_BYTES - 1) / CLEAR_BYTES, clear_piece, &loop);
    return fbp_go_on();
}

static fbp_status backproject(fbp_device *device, const struct fbp_batch *batch,
                              const void *filtered, const struct fbp_slab *slab, size_t z0,
                              size_t z1, void *volume)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;
    struct cpu_bp bp = {dev, batch, filtered, slab, z0, z1, volume};

    if (batch->n_rows > 0)
        fbp_pool_for(dev->pool, dev->kernel->items(&bp), dev->kernel->item, &bp);
    return fbp_go_on();
}

struct fetch_loop {
    struct cpu_device *dev;
    const struct fbp_slab *slab;
    size_t z0, z1;
    const char *volume;
    char *host;
};

/* Row y of one frame. */
static void fetch_frame(const struct fetch_loop *l, const void *volume, size_t y, void *host)
{
    const struct fbp_job *job = l->dev->job;
    const struct cpu_kernel *kernel = l->dev->kernel;

    if (fbp_in_double(job))
        kernel->fetch_row_double(job, l->slab, l->z0, l->z1, y, volume, host);
    else
        kernel->fetch_row(job, l->slab, l->z0, l->z1, y, volume, host);
}

static void fetch_row(void *user, size_t item, int worker)
{
    const struct fetch_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const size_t nx = l->slab->nx, ny = l->slab->ny, size = fbp_value_size(job);

    (void)worker;
    for (size_t f = 0; f < fbp_frames(job); f++) {
        char *host = l->host + f * (l->z1 - l->z0) * ny * nx * size;
        fetch_frame(l, l->volume + f * l->slab->nz * ny * nx * size, item, host);
        for (size_t z = l->z0; z < l->z1; z++) /* while they are in the cache */
            fbp_statistics_values(&l->dev->found[item], job,
                                  host + ((z - l->z0) * ny + item) * nx * size, nx);
    }
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    struct cpu_device *dev = (struct cpu_device *)(void *)device;
    struct fetch_loop loop = {dev, slab, z0, z1, volume, host};

    /* A finished slab is written while the next is computed, not after it. */
    fbp_pool_for_first(dev->pool, slab->ny, fetch_row, &loop);
    return fbp_go_on();
}

static fbp_status expect(fbp_device *device, const struct fbp_ledger *ledger)
{
    ((struct cpu_device *)(void *)device)->ledger = *ledger;
    return FBP_OK;
}

static fbp_status counts(fbp_device *device, struct fbp_prep_counts *out)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;

    *out = cpu_filter_double_counts(dev);
    for (int i = 0; dev->scratch && i < dev->job->n_threads; i++) {
        out->not_finite += dev->scratch[i].counts.not_finite;
        out->clipped += dev->scratch[i].counts.clipped;
    }
    return FBP_OK;
}

const struct fbp_backend fbp_backend_cpu = {
    .name = "cpu",
    .summary = "all cores of this machine",
    .describe = describe,
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .group_views = 8,
    .oversamples = true,
    .frames = true,
    .any_filter = true,
    .periodic = true,
    .interpolations = 1u << FBP_INTERPOLATION_NEAREST | 1u << FBP_INTERPOLATION_CUBIC,
    .doubles = true,
    .open = open_device,
    .close = close_device,
    .filter = cpu_filter,
    .filter_rows = cpu_filter_rows,
    .meridian = cpu_meridian,
    .clear = clear,
    .backproject = backproject,
    .fetch = fetch,
    .statistics = statistics,
    .expect = expect,
    .counts = counts,
};
