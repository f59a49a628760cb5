/*
 * Devices of OpenGL 3.3, which have no compute shaders.  Rows are prepared and filtered by the
 * library's own device in the host's memory, and all data lie there.  Views and slices are copied
 * into textures to be drawn, some at a time, and back: an update is worth less than a byte of that.
 * Nothing here needs more than OpenGL 3.3, whatever the context has.
 */
#include "backend/gl/drawn.h"

#include "backend/gl/egl.h"
#include "backend/gl/queue.h"
#include "backend/gl/s3_kernel.h"
#include "backend/gl/s3_plan.h"
#include "backend/gpu/host.h"
#include "backend/slab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct drawn {
    const struct fbp_job *job;
    struct fbp_job rows_job; /* the same, of the device that filters */
    fbp_device *rows;
    struct gpu_principal *principal;
    int index;
    struct gl_queue *queue;
    struct gl_egl egl; /* in the queue, as is: */
    struct gl_s3_kernel *kernel;
};

static struct drawn *drawn_of(fbp_device *device)
{
    return (struct drawn *)(void *)device;
}

static const struct gl_kernel *kernel_of(const struct fbp_job *job)
{
    return (const struct gl_kernel *)job->chosen.own;
}

/* What is decided from a job. */

static const char *names[4];

void gl_drawn_name(const char *const isas[4])
{
    memcpy(names, isas, sizeof names);
}

/* "matrix" is on every device what takes any geometry, and messages offer it. */
static bool choose(struct fbp_job *job, const char *name)
{
    const bool any = name && strcmp(name, "matrix") == 0;
    const struct gpu_kernel *k = gl_kernel_find_drawn(job, any ? "s3-m" : name);

    if (k)
        gpu_kernel_take(k, names[k->precision], job);
    return k != NULL;
}

/* One view and slice after another are what it has in common with kernels that draw. */
static struct fbp_job rows_job_of(const struct fbp_job *job)
{
    struct fbp_job rows = *job;

    (void)gpu_host->in_host->choose(&rows, "matrix");
    return rows;
}

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return n_views * n_rows * job->wide.n_columns * sizeof(float);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    (void)job;
    return slab->nz * fbp_slab_slice(slab) * sizeof(float);
}

/* Textures count as memory of the host, where drivers keep what they copy. */
static size_t fixed_bytes(const struct fbp_job *job)
{
    const struct fbp_job rows = rows_job_of(job);

    return gpu_host->in_host->fixed_bytes(&rows) + gl_s3_kernel_bytes(job, kernel_of(job)->draws) +
           job->n_views * sizeof(struct gpu_principal);
}

/* What is drawn, or drawn into: a layer of this size, and its texture. */
static bool holds_layer(const struct gl_renderer *r, const char *what, const size_t size[2],
                        uint64_t bytes, char *why, size_t n)
{
    const double mib = 1048576;
    const size_t side = (size_t)r->texture_size;

    if (size[0] > side || size[1] > side)
        snprintf(why, n,
                 "a texture of %zu x %zu would hold %s, and those of %.60s are %zu x %zu at most: "
                 "use --device cpu or another GPU",
                 size[0], size[1], what, r->name, side, side);
    else if (bytes > r->texture_bytes)
        snprintf(why, n,
                 "%s takes a texture of %.4g MiB, and one of %.60s holds %.4g MiB: use --device "
                 "cpu or another GPU",
                 what, (double)bytes / mib, r->name, (double)r->texture_bytes / mib);
    else
        return true;
    return false;
}

/* Batches and slabs lie in the host's memory, and may be as large as that allows. */
static bool holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
                  size_t n)
{
    const struct gl_renderer *r = gl_renderer_at(index);
    const struct fbp_s3_way *way = kernel_of(job)->draws;
    const size_t view[2] = {job->wide.n_columns, job->panel.n_rows}, *grid = job->grid.n;
    const uint64_t slices =
        (uint64_t)gl_s3_variant(way->variant)->slices * grid[0] * grid[1] * sizeof(float);
    const double mib = 1048576;

    if (buffer)
        return true;
    if (!holds_layer(r, "a view", view, gl_s3_kernel_view_bytes(job), why, n) ||
        !holds_layer(r, "a slice", grid, slices, why, n))
        return false;
    const uint64_t needs = gl_s3_kernel_bytes(job, way);
    if (r->free_bytes == 0 || needs <= r->free_bytes)
        return true;
    snprintf(why, n,
             "to draw takes %.4g MiB of textures, and %.60s has %.4g MiB free: close other "
             "programs that use it, or use --device cpu",
             (double)needs / mib, r->name, (double)r->free_bytes / mib);
    return false;
}

/* The thread's first and last. */

static fbp_status begin(void *device)
{
    struct drawn *dev = device;

    FBP_TRY(gl_egl_open_to_draw(&dev->egl, dev->index));
    return gl_s3_kernel_open(&dev->kernel, dev->job, kernel_of(dev->job)->draws,
                             gl_renderer_at(dev->index));
}

static void end(void *device)
{
    struct drawn *dev = device;

    if (!dev->egl.context)
        return;
    gl_s3_kernel_close(&dev->kernel);
    gl_egl_close(&dev->egl);
}

static void close_device(fbp_device **device)
{
    struct drawn *dev = drawn_of(*device);

    if (!dev)
        return;
    gl_queue_close(&dev->queue);
    if (dev->rows)
        gpu_host->in_host->close(&dev->rows);
    free(dev->principal);
    free(dev);
    *device = NULL;
}

static fbp_status open_parts(struct drawn *dev)
{
    static const struct gl_queue_life life = {.begin = begin, .end = end};

    FBP_TRY(gpu_find_principal(dev->job, "gl", &dev->principal));
    FBP_TRY(gpu_host->in_host->open(&dev->rows, 0, &dev->rows_job));
    return gl_queue_open(&dev->queue, &life, dev);
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct drawn *dev = calloc(1, sizeof *dev);

    *out = NULL;
    if (!dev)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *dev);
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    dev->rows_job = rows_job_of(job);
    dev->index = index;
    const fbp_status st = open_parts(dev);
    if (st != FBP_OK)
        close_device(out);
    return st;
}

/* Rows, by the host. */

static fbp_status filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                              float *rows)
{
    return gpu_host->in_host->filter_rows(drawn_of(device)->rows, batch, raw, rows);
}

static fbp_status filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                         void *filtered)
{
    return filter_rows(device, batch, raw, filtered);
}

static fbp_status expect(fbp_device *device, const struct fbp_ledger *ledger)
{
    return gpu_host->in_host->expect(drawn_of(device)->rows, ledger);
}

static fbp_status counts(fbp_device *device, struct fbp_prep_counts *out)
{
    return gpu_host->in_host->counts(drawn_of(device)->rows, out);
}

/* The volume. */

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    memset(volume, 0, volume_bytes(drawn_of(device)->job, slab));
    return FBP_OK;
}

static fbp_status run_backproject(void *device, void *command)
{
    struct drawn *dev = device;

    return gl_s3_kernel_add(dev->kernel, dev->principal, command);
}

static fbp_status backproject(fbp_device *device, const struct fbp_batch *batch,
                              const void *filtered, const struct fbp_slab *slab, size_t z0,
                              size_t z1, void *volume)
{
    struct drawn *dev = drawn_of(device);
    float *first = (float *)volume + (z0 - slab->z0) * fbp_slab_slice(slab);
    const struct gl_bp bp = {.batch = batch,
                             .slab = slab,
                             .views = {.host = (void *)(uintptr_t)filtered},
                             .volume = {.host = first},
                             .grid = gpu_grid_of(dev->job, slab, z0, z1)};

    struct gl_point done;

    if (batch->n_rows == 0)
        return FBP_OK;
    FBP_TRY(gl_queue_submit(dev->queue, GL_ORDER_BP, run_backproject, &bp, sizeof bp));
    FBP_TRY(gl_queue_point(dev->queue, GL_ORDER_BP, &done));
    return gl_queue_wait(dev->queue, done); /* a fence tells whether the context is lost */
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    const struct fbp_job *job = drawn_of(device)->job;
    const size_t slice = fbp_slab_slice(slab), n = (z1 - z0) * slice;
    const float *from = (const float *)volume + (z0 - slab->z0) * slice;
    const float scale = (float)job->scale, shift = (float)job->shift;
    float *to = host;

    for (size_t i = 0; i < n; i++)
        to[i] = scale * from[i] + shift;
    return FBP_OK;
}

const struct fbp_backend gl_drawn = {
    .name = "gl",
    .summary = "OpenGL 3.3",
    .has_precisions = true,
    .remark = gpu_remark_precision,
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .group_views = GPU_GROUP_VIEWS,
    .oversamples = true,
    .any_filter = true,
    .holds = holds,
    .open = open_device,
    .close = close_device,
    .filter = filter,
    .filter_rows = filter_rows,
    .clear = clear,
    .backproject = backproject,
    .fetch = fetch,
    .expect = expect,
    .counts = counts,
};
