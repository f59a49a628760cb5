#include "backend/cpu/cpu.h"

#include "base/cpu.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { FLOATS_A_LINE = FBP_ALIGN / sizeof(float) };

size_t cpu_stride(const struct fbp_job *job)
{
    const size_t n = FBP_VIEW_LEFT + job->wide.n_columns + FBP_VIEW_RIGHT;
    return (n + FLOATS_A_LINE - 1) / FLOATS_A_LINE * FLOATS_A_LINE;
}

size_t cpu_view_size(const struct fbp_job *job, size_t n_rows)
{
    return (FBP_VIEW_BELOW + n_rows + FBP_VIEW_ABOVE) * cpu_stride(job);
}

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return n_views * cpu_view_size(job, n_rows) * sizeof(float);
}

static size_t volume_bytes(const struct fbp_job *job, size_t n_slices)
{
    return n_slices * job->grid.n[1] * job->grid.n[0] * sizeof(float);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    const size_t nc = job->panel.n_columns, nr = job->panel.n_rows, n_fft = job->filter->n_fft;
    const size_t thread = nc * sizeof(double) + (2 * n_fft + 2) * sizeof(float);
    const size_t tables = fbp_weights_separable(job->weights) ? (nr + job->n_views) * nc : 0;

    return (size_t)job->n_threads * thread +
           (tables + n_fft + 2 * job->wide.n_columns) * sizeof(float);
}

static void describe(int index, struct fbp_device_info *out)
{
    char model[96];

    (void)index;
    snprintf(out->text, sizeof out->text, "%s, %d cores, %s", fbp_cpu_model(model, sizeof model),
             fbp_core_count(), fbp_cpu_level(fbp_cpu_flags() & FBP_CPU_AVX2));
    out->memory_bytes = fbp_available_bytes();
}

static void choose(const struct fbp_job *job, const char **kernel, const char **isa)
{
    (void)job;
    *kernel = "matrix";
    *isa = fbp_cpu_level(fbp_cpu_flags() & FBP_CPU_AVX2);
}

static void close_device(fbp_device **device)
{
    struct cpu_device *dev = (struct cpu_device *)(void *)*device;

    if (!dev)
        return;
    cpu_filter_close(dev);
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
    fbp_bp_dsp_init(&dev->dsp, fbp_cpu_flags());
    FBP_TRY_GOTO(fbp_pool_create(&dev->pool, job->n_threads));
    FBP_TRY_GOTO(cpu_filter_open(dev));
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;
    memset(volume, 0, volume_bytes(dev->job, slab->nz));
    return FBP_OK;
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, float *host)
{
    const struct fbp_job *job = ((const struct cpu_device *)(const void *)device)->job;
    const size_t slice = job->grid.n[1] * job->grid.n[0];
    const float *in = (const float *)volume + (z0 - slab->z0) * slice;
    const float scale = (float)job->scale, shift = (float)job->shift;

    for (size_t i = 0; i < (z1 - z0) * slice; i++)
        host[i] = scale * in[i] + shift;
    return FBP_OK;
}

static void counts(fbp_device *device, struct fbp_prep_counts *out)
{
    const struct cpu_device *dev = (const struct cpu_device *)(const void *)device;

    *out = (struct fbp_prep_counts){0};
    for (int i = 0; i < dev->job->n_threads; i++) {
        out->not_finite += dev->scratch[i].counts.not_finite;
        out->clipped += dev->scratch[i].counts.clipped;
    }
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
    .open = open_device,
    .close = close_device,
    .filter = cpu_filter,
    .clear = clear,
    .backproject = cpu_backproject,
    .fetch = fetch,
    .counts = counts,
};
