/* Draws the job of Ino et al. (2009) in an OpenGL context of its own, which a thread of its own
 * holds. Called by bench/papers/ino2009/measure.c through struct fbp_s3_kernels.
 * Used by: entry.c. */
#include "bench/gl/s3_draw.h"

#include "backend/gl/egl.h"
#include "backend/gl/queue.h"
#include "backend/module.h"
#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>

struct fbp_s3_device {
    const struct fbp_job *job;
    int index;
    struct gl_queue *queue;
    struct gl_egl egl;    /* in the queue, as are: */
    struct gl_s3_run run; /* the last run, whose views and programs the next run can use again */
    char text[220];
};

static void close_run(struct gl_s3_run *r)
{
    const GLuint programs[] = {r->weigh, r->convolve, r->add, r->mask, r->pack, r->unpack};

    glUseProgram(0);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        glDeleteProgram(programs[i]);
    gl_s3_stack_clear(&r->stack);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(2, r->frames);
    glDeleteFramebuffers(1, &r->plain);
    glDeleteVertexArrays(1, &r->vertices);
    free(r->numbers);
    *r = (struct gl_s3_run){0};
}

/* The thread's first and last. */

static fbp_status begin(void *device)
{
    struct fbp_s3_device *dev = device;
    const struct gl_renderer *renderer = gl_renderer_at(dev->index);

    FBP_TRY(gl_egl_open(&dev->egl, dev->index, NULL));
    snprintf(dev->text, sizeof dev->text, "%s, OpenGL %s", renderer->name, renderer->version);
    return gl_check("a context");
}

static void end(void *device)
{
    struct fbp_s3_device *dev = device;

    if (dev->egl.context)
        close_run(&dev->run);
    gl_egl_close(&dev->egl);
}

static void close_device(struct fbp_s3_device **dev)
{
    if (!*dev)
        return;
    gl_queue_close(&(*dev)->queue);
    free(*dev);
    *dev = NULL;
}

static fbp_status check_job(const struct fbp_job *job)
{
    if (!gpu_has_symmetry(job, FBP_SYM_COLUMN))
        return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                              "ino2009: columns and weights of a view must not depend on z: use a "
                              "circular scan whose panel is not tilted");
    if (job->padded.panel.n_columns != job->panel.n_columns || !job->filtering.design ||
        job->filtering.columns || job->filtering.pad)
        return gpu_host->fail(
            FBP_ERR_UNSUPPORTED,
            "ino2009: the filter needs a full circle and a centred panel: use such a scan");
    return FBP_OK;
}

static fbp_status open_device(struct fbp_s3_device **out, int index, const struct fbp_job *job)
{
    static const struct gl_queue_life life = {.begin = begin, .end = end};
    struct fbp_s3_device *dev;

    *out = NULL;
    FBP_TRY(check_job(job));
    dev = calloc(1, sizeof *dev);
    if (!dev)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "ino2009: out of memory for a device: close other programs");
    dev->job = job;
    dev->index = index;
    const fbp_status st = gl_queue_open(&dev->queue, &life, dev);
    if (st == FBP_OK)
        *out = dev;
    else
        close_device(&dev);
    return st;
}

static const char *renderer(const struct fbp_s3_device *dev)
{
    return dev->text;
}

/* A run. */

struct command {
    const struct fbp_s3_way *way;
    const float *views;
    const uint8_t *wanted;
    float *voxels;
    struct fbp_s3_time *time;
    fbp_status (*check)(void);
};

/* Compute the numbers of all views that the vertex and fragment stages need. */
static fbp_status fill_numbers(struct gl_s3_run *r)
{
    struct gpu_principal *principal;
    struct gpu_pass pass;

    FBP_TRY(gpu_find_principal(r->job, "ino2009", &principal));
    for (size_t k = 0; k < r->n_views; k++) {
        gpu_make_pass(r->job, principal, k, 1, 0, &pass);
        r->numbers[k] = pass.view[0];
    }
    free(principal);
    return FBP_OK;
}

/* Compile the programs of the run's way that are missing, without those of the filter. */
static fbp_status make_programs(struct gl_s3_run *r)
{
    const struct fbp_s3_way *way = r->way, *had = &r->added;

    if (way->count && 10 * r->limits->major + r->limits->minor < 42)
        return gpu_host->fail(
            FBP_ERR_UNSUPPORTED,
            "ino2009: fragments are counted from OpenGL 4.2 on: use a newer renderer");
    if (!r->add || had->variant != way->variant || had->sum != way->sum ||
        had->exact != way->exact || had->count != way->count) {
        glDeleteProgram(r->add);
        r->added = *way;
        FBP_TRY(gl_s3_sum_program(r));
    }
    if (way->kill && !r->mask)
        FBP_TRY(gl_s3_mask_program(r));
    if (way->pack_on_device && gl_s3_texel(r->variant) == GL_S3_FOUR && !r->pack)
        FBP_TRY(gl_s3_pack_program(r));
    if (way->unpack_on_device && gl_s3_packs_slices(r->variant) && !r->unpack)
        FBP_TRY(gl_s3_unpack_program(r));
    return FBP_OK;
}

/* Have filtered views on the device: make them, or keep those of the last run (way->again). */
static fbp_status begin_views(struct gl_s3_run *r)
{
    if (r->way->again) {
        FBP_TRY(make_programs(r));
        r->time->init = gl_s3_lap(r);
        return FBP_OK;
    }
    glGenVertexArrays(1, &r->vertices);
    glBindVertexArray(r->vertices);
    glGenFramebuffers(2, r->frames);
    glGenFramebuffers(1, &r->plain);
    r->numbers = calloc(r->n_views, sizeof *r->numbers);
    if (!r->numbers)
        return gpu_host->fail(
            FBP_ERR_NOMEM, "ino2009: out of memory for a list of %zu views: close other programs",
            r->n_views);
    r->stretch = 1;
    if (r->way->half) {
        float scale;
        FBP_TRY(gpu_half_scale(r->job, &scale));
        r->stretch = gl_s3_stretch(scale);
    }
    FBP_TRY(gl_check("framebuffers"));
    FBP_TRY(fill_numbers(r));
    FBP_TRY(gl_s3_filter_programs(r));
    FBP_TRY(make_programs(r));
    r->time->init = gl_s3_lap(r);
    FBP_TRY(gl_s3_views_load(r));
    return gl_s3_views_filter(r);
}

/* Number of slices that are packed or drawn together. */
static size_t group_of(const struct gl_s3_run *r)
{
    return r->variant->slices > GL_S3_FOUR ? r->variant->slices : GL_S3_FOUR;
}

/* Number of slices on the device at a time, in whole groups: as many as fit into half of the memory
 * that is free beside the views (into 1 GiB if the driver does not report it). */
static size_t slab_slices(const struct gl_s3_run *r)
{
    const size_t *n = r->job->grid.n, slice = n[0] * n[1] * sizeof(float);
    const size_t views =
        r->panel[0] * r->panel[1] * r->n_layers * gl_s3_texel(r->variant) * sizeof(float);
    const size_t known = (size_t)r->limits->free_bytes, left = known > views ? known - views : 0;
    const size_t room = known ? left / 2 : (size_t)1 << 30;
    const size_t wanted = r->way->slices ? r->way->slices : room / slice;
    const size_t group = group_of(r), slices = wanted > group ? wanted / group * group : group;

    return slices < n[2] ? slices : n[2];
}

/* Choose the slices to draw: whole groups in the middle of the volume. */
static void choose_slices(struct gl_s3_run *r)
{
    const size_t n = r->job->grid.n[2], group = group_of(r);
    const size_t some = gl_s3_pieces(r->way->middle, group) * group;
    struct fbp_s3_time *t = r->time;

    t->n_slices = some && some < n ? some : n;
    t->z0 = (n - t->n_slices) / 2 / group * group;
}

/* Draw all views into slices [z0, z0 + n); the first layer of `volume` is that of slice z0. */
static fbp_status add_slab(struct gl_s3_run *r, const struct gl_s3_stack *volume, size_t z0,
                           size_t n)
{
    const size_t each = r->variant->slices;
    struct gl_s3_accumulator a;
    fbp_status st = gl_s3_accumulator_open(&a, r, volume);

    gl_s3_stack_filter(&r->stack, !r->way->exact);
    for (size_t z = 0; st == FBP_OK && z < n; z += each) {
        gl_s3_add(&a, z / each * a.targets, z0 + z, n - z < each ? n - z : each);
        st = r->check();
    }
    gl_s3_accumulator_close(&a);
    if (st == FBP_OK)
        st = gl_check("the backprojection");
    r->time->backproject += gl_s3_lap(r);
    return st;
}

static fbp_status add_slabs(struct gl_s3_run *r)
{
    const size_t *n = r->job->grid.n, slab = slab_slices(r);
    const size_t end = r->time->z0 + r->time->n_slices;
    fbp_status st = FBP_OK;

    for (size_t z = r->time->z0; st == FBP_OK && z < end; z += slab) {
        const size_t some = end - z < slab ? end - z : slab;
        struct gl_s3_stack volume = {0};
        st = gl_s3_stack_make(&volume, r->limits, false, gl_s3_volume_channels(r->variant), n,
                              gl_s3_volume_layers(r->variant, some), "slices");
        if (st == FBP_OK)
            st = add_slab(r, &volume, z, some);
        if (st == FBP_OK)
            st = gl_s3_volume_read(r, &volume, z, some);
        gl_s3_stack_clear(&volume);
    }
    return st;
}

/* Draw all slabs; if way->count, with a counter that each shaded fragment increments. */
static fbp_status add_counted(struct gl_s3_run *r)
{
    GLuint buffer = 0, count = 0;

    if (!r->way->count)
        return add_slabs(r);
    glGenBuffers(1, &buffer);
    glBindBufferBase(GL_ATOMIC_COUNTER_BUFFER, 0, buffer);
    glBufferData(GL_ATOMIC_COUNTER_BUFFER, sizeof count, &count, GL_DYNAMIC_READ);
    const fbp_status st = add_slabs(r);
    glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
    glGetBufferSubData(GL_ATOMIC_COUNTER_BUFFER, 0, sizeof count, &count);
    r->time->shaded = count;
    glDeleteBuffers(1, &buffer);
    return st;
}

/* Seconds between two timestamps of the device. */
static double seconds_between(const GLuint stamps[2])
{
    GLuint64 at[2] = {0};

    for (int i = 0; i < 2; i++)
        glGetQueryObjectui64v(stamps[i], GL_QUERY_RESULT, &at[i]);
    return at[1] > at[0] ? 1e-9 * (double)(at[1] - at[0]) : 0;
}

/* Draw the slices and time them: by the clock of the host if it waits, otherwise by timestamps of
 * the device. */
static fbp_status draw_slices(struct gl_s3_run *r)
{
    const double start = fbp_seconds();
    GLuint stamps[2];

    glGenQueries(2, stamps);
    glQueryCounter(stamps[0], GL_TIMESTAMP);
    const fbp_status st = add_counted(r);
    glQueryCounter(stamps[1], GL_TIMESTAMP);
    r->time->slices_alone = r->way->synchronised ? fbp_seconds() - start : seconds_between(stamps);
    glDeleteQueries(2, stamps);
    return st;
}

static fbp_status draw_job(struct gl_s3_run *r)
{
    const double start = r->lap = fbp_seconds();

    FBP_TRY(begin_views(r));
    FBP_TRY(draw_slices(r));
    r->time->total = fbp_seconds() - start;
    return FBP_OK;
}

/* Free the views and programs of the last run, unless way->again uses them. */
static fbp_status prepare(struct gl_s3_run *r, const struct fbp_s3_way *way)
{
    const struct fbp_s3_variant *v = gl_s3_variant(way->variant);

    if (!way->again)
        close_run(r);
    else if (!r->stack.n || r->stack.channels != gl_s3_texel(v) || r->stack.half != way->half)
        return gpu_host->fail(
            FBP_ERR_INVALID,
            "ino2009: there are no filtered views to add again: run once without `again` first");
    r->way = way;
    r->variant = v;
    return FBP_OK;
}

static fbp_status run_in_queue(void *device, void *command)
{
    struct fbp_s3_device *dev = device;
    const struct command *c = command;
    const struct fbp_job *job = dev->job;
    struct gl_s3_run *r = &dev->run;

    *c->time = (struct fbp_s3_time){0};
    FBP_TRY(prepare(r, c->way));
    r->job = job;
    r->limits = gl_renderer_at(dev->index);
    r->views = c->views;
    r->wanted = c->wanted;
    r->check = c->check;
    r->voxels = c->voxels;
    r->time = c->time;
    r->panel[0] = job->panel.n_columns;
    r->panel[1] = job->panel.n_rows;
    r->n_views = job->n_views;
    r->n_layers = gl_s3_pieces(job->n_views, gl_s3_texel(r->variant));
    choose_slices(r);
    glFinish();
    const fbp_status st = draw_job(r);
    if (st != FBP_OK)
        close_run(r);
    return st;
}

static fbp_status run(struct fbp_s3_device *dev, const struct fbp_s3_way *way, const float *views,
                      const uint8_t *wanted, float *voxels, fbp_status (*check)(void),
                      struct fbp_s3_time *out)
{
    const struct command c = {way, views, wanted, voxels, out, check};

    return gl_queue_call(dev->queue, run_in_queue, &c, sizeof c);
}

static fbp_status measure_in_queue(void *device, void *command)
{
    const struct fbp_s3_device *dev = device;

    return gl_s3_measure(gl_renderer_at(dev->index), *(struct fbp_s3_limits **)command);
}

static fbp_status measure(struct fbp_s3_device *dev, struct fbp_s3_limits *out)
{
    return gl_queue_call(dev->queue, measure_in_queue, &out, sizeof out);
}

const struct fbp_s3_kernels gl_s3 = {
    .variant = gl_s3_variant,
    .cost = gl_s3_cost,
    .open = open_device,
    .close = close_device,
    .renderer = renderer,
    .measure = measure,
    .run = run,
};
