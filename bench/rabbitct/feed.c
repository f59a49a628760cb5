/*
 * Backprojection of views that come one by one.  Called by module.c and run_command.c.  Views are
 * collected in N_SLOTS slots of one batch each: one is copied to the device while the second is
 * laid out and the third is backprojected.  The job is that of a scan of N_SLOTS batches of
 * filtered views, whose matrices are filled in when they come.
 * Used by: module.c, run_command.c.
 */
#include "bench/rabbitct/feed.h"

#include "backend/device.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/text.h"
#include "base/threads.h"
#include "geometry/ranges.h"
#include "pipeline/job.h"

#include <math.h>
#include <string.h>

enum { N_SLOTS = 3, GROUP = 8, MOST_BATCH = 256, FETCH_BLOCKS = 16 };

/* Views per batch. On a device with its own memory the last batch takes about as long as copying
 * the volume back, and hides most of that; on the host nothing is hidden, and batches need memory.
 */
enum { DEVICE_BATCH = 64, HOST_BATCH = 32 };

struct slot {
    void *host;            /* float[batch][row][column]; NULL until a view is to be copied */
    void *raw;             /* float[batch][row][column] on the device, or `host` */
    void *filtered;        /* in the kernel's layout */
    struct fbp_event done; /* backprojected */
};

struct fbp_feed {
    pid_t process; /* that opened it */
    struct fbp_job job;
    struct fbp_prep prep;
    const struct fbp_backend *backend;
    fbp_device *dev;
    double (*matrices)[12];
    size_t batch_views, limit; /* room of a slot; views that the next batch takes */
    size_t n_expected, n_added;
    struct slot slots[N_SLOTS];
    size_t at, n;      /* the slot in the making, and its views */
    fbp_pool *copiers; /* threads that copy views which are not used in place; NULL: not started */
    void *volume;
    struct fbp_event fetched;
    bool done; /* the volume was fetched; its memory on the device is no longer valid */
};

static size_t view_samples(const fbp_feed *f)
{
    return f->job.panel.n_columns * f->job.panel.n_rows;
}

static fbp_status wait(const fbp_feed *f, struct fbp_event m)
{
    return fbp_device_wait(f->backend, f->dev, m);
}

static fbp_status mark(const fbp_feed *f, enum fbp_stage stage, struct fbp_event *out)
{
    return f->backend->event.record(f->dev, stage, out);
}

static fbp_status after(const fbp_feed *f, enum fbp_stage stage, struct fbp_event m)
{
    return fbp_device_after(f->backend, f->dev, stage, m);
}

/* Opening. */

static fbp_status check_params(const struct fbp_feed_params *p)
{
    FBP_TRY(fbp_check_panel("feed", &p->panel));
    FBP_TRY(fbp_error_context("feed", fbp_check_grid(&p->volume)));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "feed: n_threads", p->n_threads));
    FBP_TRY(fbp_check_choice("feed: precision", (long)p->precision, FBP_PRECISION_LAST));
    FBP_TRY(fbp_check_optional(&fbp_range_views, "feed: n_views", (double)p->n_views));
    if (p->batch_views % GROUP != 0 || p->batch_views > MOST_BATCH)
        return fbp_fail(FBP_ERR_INVALID, "feed: batch_views: expected 8, 16 … %d, got %zu",
                        MOST_BATCH, p->batch_views);
    return FBP_OK;
}

/* A matrix that projects the origin to the middle of the panel, used until real matrices come. */
void fbp_feed_expect(const struct fbp_panel *panel, const struct fbp_grid *volume, double P[12])
{
    memset(P, 0, 12 * sizeof *P);
    P[0] = (double)panel->n_columns / ((double)volume->n[0] * volume->voxel_mm[0]);
    P[3] = ((double)panel->n_columns - 1) / 2;
    P[6] = (double)panel->n_rows / ((double)volume->n[2] * volume->voxel_mm[2]);
    P[7] = ((double)panel->n_rows - 1) / 2;
    P[11] = 1;
}

static fbp_status make_job(fbp_feed *f, const struct fbp_feed_params *p)
{
    f->prep = (struct fbp_prep){.panel = p->panel};
    f->job = (struct fbp_job){
        .kind = FBP_CONE,
        .n_views = N_SLOTS * f->batch_views,
        .panel = p->panel,
        .padded.panel = p->panel,
        .grid = p->volume,
        .filtering.prep = &f->prep,
        .input.filtered = true,
        .scale = 1,
        .precision = p->precision,
        .selection.symmetric_views = 1,
        .n_threads = p->n_threads > 0 ? p->n_threads : fbp_core_count(),
    };
    if (!f->matrices) {
        FBP_TRY(fbp_calloc((void **)&f->matrices, f->job.n_views, sizeof *f->matrices, "matrices"));
        for (size_t k = 0; k < f->job.n_views; k++)
            fbp_feed_expect(&p->panel, &p->volume, f->matrices[k]);
    }
    f->job.matrices = f->matrices;
    return fbp_job_arrange(&f->job, f->backend);
}

static struct fbp_slab whole(const fbp_feed *f)
{
    return fbp_slab_whole(&f->job, 0, f->job.grid.n[2]);
}

static size_t volume_bytes(const fbp_feed *f)
{
    const struct fbp_slab slab = whole(f);

    return f->backend->volume_bytes(&f->job, &slab);
}

static struct fbp_buffer buffer_of(const fbp_feed *f, enum fbp_purpose purpose)
{
    const size_t n = f->batch_views, rows = f->job.panel.n_rows;
    struct fbp_buffer b = {purpose, 0, n, rows};

    if (purpose == FBP_FOR_RAW)
        b.bytes = n * view_samples(f) * sizeof(float);
    else if (purpose == FBP_FOR_FILTERED)
        b.bytes = f->backend->filtered_bytes(&f->job, n, rows);
    else
        b = (struct fbp_buffer){purpose, volume_bytes(f), 0, 0};
    return b;
}

static uint64_t device_bytes(const fbp_feed *f)
{
    return f->backend->fixed_bytes(&f->job) + buffer_of(f, FBP_FOR_VOLUME).bytes +
           N_SLOTS *
               (uint64_t)(buffer_of(f, FBP_FOR_RAW).bytes + buffer_of(f, FBP_FOR_FILTERED).bytes);
}

/* Choose the largest batch that fits into memory, at most the requested size. */
static fbp_status fit(fbp_feed *f, const struct fbp_feed_params *p, int index)
{
    char needed[24], free_text[24];
    const uint64_t available = fbp_device_free(f->backend, index);

    f->batch_views = p->batch_views               ? p->batch_views
                     : f->backend->can.own_memory ? DEVICE_BATCH
                                                  : HOST_BATCH;
    FBP_TRY(make_job(f, p));
    while (available && device_bytes(f) > available && f->batch_views > GROUP) {
        f->batch_views = f->batch_views / 2 / GROUP * GROUP;
        FBP_TRY(make_job(f, p));
    }
    if (!available || device_bytes(f) <= available)
        return FBP_OK;
    return fbp_fail(FBP_ERR_NOMEM,
                    "feed: a volume of %zu x %zu x %zu voxels takes %s of %s's memory, %s are "
                    "free: use a smaller volume, or --device cpu",
                    p->volume.n[0], p->volume.n[1], p->volume.n[2],
                    fbp_bytes_text(needed, sizeof needed, device_bytes(f)), f->backend->name,
                    fbp_bytes_text(free_text, sizeof free_text, available));
}

static fbp_status make_buffers(fbp_feed *f)
{
    const struct fbp_buffer raw = buffer_of(f, FBP_FOR_RAW);
    const struct fbp_buffer filtered = buffer_of(f, FBP_FOR_FILTERED);
    const struct fbp_buffer volume = buffer_of(f, FBP_FOR_VOLUME);

    for (size_t i = 0; i < N_SLOTS; i++) {
        if (f->backend->can.own_memory)
            FBP_TRY(f->backend->memory.alloc(f->dev, &raw, &f->slots[i].raw));
        if (i == 0 || f->backend->can.own_memory)
            FBP_TRY(f->backend->memory.alloc(f->dev, &filtered, &f->slots[i].filtered));
    }
    return f->backend->memory.alloc(f->dev, &volume, &f->volume);
}

fbp_status fbp_feed_open(fbp_feed **out, const struct fbp_feed_params *given)
{
    struct fbp_feed_params own, *const p = &own;
    int devices[FBP_MOST_DEVICES];
    size_t n_devices = 0;
    fbp_feed *f = NULL;
    fbp_status st;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_copy_struct_in("feed", p, sizeof *p, given));
    FBP_TRY(check_params(p));
    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "a feed"));
    f->process = getpid();
    f->n_expected = p->n_views;
    FBP_TRY_GOTO(
        fbp_devices_find(p->device ? p->device : "auto", &f->backend, devices, &n_devices));
    if (n_devices != 1)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID, "feed: device \"%s\" names %zu devices: name one",
                              p->device, n_devices));
    FBP_TRY_GOTO(fit(f, p, devices[0]));
    FBP_TRY_GOTO(f->backend->open(&f->dev, devices[0], &f->job));
    FBP_TRY_GOTO(make_buffers(f));
    FBP_TRY_GOTO(fbp_feed_reset(f));
    *out = f;
    return FBP_OK;
fail:
    fbp_feed_close(&f);
    return st;
}

static void close_device(fbp_feed *f)
{
    if (f->dev)
        (void)!fbp_device_settle_all(f->backend, f->dev);
    for (size_t i = 0; f->dev && i < N_SLOTS; i++) {
        struct slot *s = &f->slots[i];
        if (f->backend->can.own_memory)
            fbp_device_put(f->backend, f->dev, FBP_FOR_RAW, s->raw);
        fbp_device_put(f->backend, f->dev, FBP_FOR_FILTERED, s->filtered);
        fbp_host_put(f->backend, f->dev, s->host);
    }
    if (f->dev) {
        fbp_device_put(f->backend, f->dev, FBP_FOR_VOLUME, f->volume);
        f->backend->close(&f->dev);
    }
    fbp_pool_destroy(&f->copiers);
}

void fbp_feed_close(fbp_feed **feed)
{
    fbp_feed *f = *feed;

    if (!f)
        return;
    if (f->process == getpid()) /* a child has neither its threads nor its devices */
        close_device(f);
    free(f->matrices);
    free(f);
    *feed = NULL;
}

void fbp_feed_names(const fbp_feed *f, const char **backend, const char **kernel, const char **isa)
{
    *backend = f->backend->name;
    *kernel = f->job.selection.name;
    *isa = f->job.selection.isa;
}

fbp_status fbp_feed_alloc(fbp_feed *f, size_t bytes, void **out)
{
    fbp_message_clear();
    FBP_TRY(fbp_check_process(f->process, "feed"));
    *out = NULL;
    return f->backend->memory.host_alloc(f->dev, bytes, "views or a volume", out);
}

void fbp_feed_release(fbp_feed *f, void *memory)
{
    fbp_host_put(f->backend, f->dev, memory);
}

/* Views in. */

/* Store a matrix, with the sign that makes w > 0 in front of the source; all voxels must have w >
 * 0. */
static fbp_status put_matrix(const fbp_feed *f, const double P[12], double out[12])
{
    const struct fbp_grid *g = &f->job.grid;
    const double sign = P[11] < 0 ? -1 : 1;

    for (int i = 0; i < 12; i++) {
        out[i] = sign * P[i];
        if (!isfinite(P[i]))
            return fbp_fail(FBP_ERR_INVALID,
                            "feed: view %zu: the matrix has values that are not finite: check it",
                            f->n_added);
    }
    for (int corner = 0; corner < 8; corner++) {
        double w = out[11];
        for (int i = 0; i < 3; i++)
            w += out[8 + i] * fbp_grid_coordinate(g, i, corner >> i & 1 ? (double)g->n[i] - 1 : 0);
        if (!(w > 0))
            return fbp_fail(FBP_ERR_INVALID,
                            "feed: view %zu: a corner of the volume is not in front of the source: "
                            "check the matrix of the view",
                            f->n_added);
    }
    return FBP_OK;
}

static struct fbp_batch batch_of(const fbp_feed *f)
{
    const size_t rows = f->job.panel.n_rows;

    return (struct fbp_batch){
        .view0 = f->at * f->batch_views, .n_views = f->n, .n_rows = rows, .load_rows = rows};
}

/* The next slot takes views from now on; batches double at first, so that computing starts early.
 */
static void next_slot(fbp_feed *f)
{
    f->at = f->backend->can.own_memory ? (f->at + 1) % N_SLOTS : 0;
    f->n = 0;
    f->limit = 2 * f->limit < f->batch_views ? 2 * f->limit : f->batch_views;
}

/* Convert the views of the current slot to the layout of the kernel; then add_slices() can add
 * them. */
static fbp_status lay_out(fbp_feed *f)
{
    const struct fbp_batch batch = batch_of(f);
    struct slot *s = &f->slots[f->at];
    struct fbp_event uploaded = {0}, ready = {0};

    FBP_TRY(mark(f, FBP_STAGE_IN, &uploaded));
    FBP_TRY(after(f, FBP_STAGE_FILTER, uploaded));
    FBP_TRY(f->backend->filter(f->dev, &batch, s->raw, s->filtered));
    FBP_TRY(mark(f, FBP_STAGE_FILTER, &ready));
    FBP_TRY(after(f, FBP_STAGE_BP, ready));
    return after(f, FBP_STAGE_BP, f->fetched);
}

static fbp_status add_slices(fbp_feed *f, size_t z0, size_t z1)
{
    const struct fbp_batch batch = batch_of(f);
    const struct fbp_slab slab = whole(f);
    struct slot *s = &f->slots[f->at];

    FBP_TRY(f->backend->backproject(f->dev, &batch, s->filtered, &slab, z0, z1, f->volume));
    return mark(f, FBP_STAGE_BP, &s->done);
}

static fbp_status start(fbp_feed *f)
{
    if (f->n == 0)
        return FBP_OK;
    FBP_TRY(lay_out(f));
    FBP_TRY(add_slices(f, 0, f->job.grid.n[2]));
    next_slot(f);
    return FBP_OK;
}

/* Copy a view that is not used in place by several threads, because one thread is slower than the
 * device. */
enum { COPIERS = 8, PIECE = 64 << 10 };

struct copy {
    float *to;
    const float *from;
    size_t n;
};

static void copy_piece(void *user, size_t item, int worker)
{
    const struct copy *c = user;
    const size_t first = item * PIECE, left = c->n - first;

    (void)worker;
    memcpy(c->to + first, c->from + first, (left < PIECE ? left : PIECE) * sizeof *c->to);
}

static fbp_status copy_view(fbp_feed *f, float *to, const float *view)
{
    struct copy c = {to, view, view_samples(f)};

    if (!f->copiers)
        FBP_TRY(
            fbp_pool_create(&f->copiers, f->job.n_threads < COPIERS ? f->job.n_threads : COPIERS));
    fbp_pool_for(f->copiers, (c.n + PIECE - 1) / PIECE, copy_piece, &c);
    return fbp_check_cancelled();
}

static fbp_status put_samples(fbp_feed *f, struct slot *s, const float *view, bool in_place)
{
    const struct fbp_backend *b = f->backend;
    const size_t n = view_samples(f), at = f->n * n;

    if (!(in_place && b->can.own_memory)) {
        if (!s->host)
            FBP_TRY(b->memory.host_alloc(f->dev, f->batch_views * n * sizeof(float),
                                         "a batch of views", &s->host));
        if (!b->can.own_memory)
            s->raw = s->host;
        FBP_TRY(copy_view(f, (float *)s->host + at, view));
        view = (float *)s->host + at;
    }
    return b->memory.upload(f->dev, (float *)s->raw + at, view, n);
}

fbp_status fbp_feed_add(fbp_feed *f, const double P[12], const float *view, bool in_place)
{
    fbp_message_clear();
    FBP_TRY(fbp_check_process(f->process, "feed"));
    if (f->done)
        FBP_TRY(fbp_feed_reset(f));
    if (f->n == f->limit) /* more views than were expected: the batch was not the last */
        FBP_TRY(start(f));
    struct slot *s = &f->slots[f->at];
    if (f->n == 0)
        FBP_TRY(wait(f, s->done)); /* the earlier views of the slot must be in the volume */
    FBP_TRY(put_matrix(f, P, f->matrices[f->at * f->batch_views + f->n]));
    FBP_TRY(put_samples(f, s, view, in_place));
    f->n++;
    f->n_added++;
    return f->n == f->limit && f->n_added != f->n_expected ? start(f) : FBP_OK;
}

fbp_status fbp_feed_settle(fbp_feed *f)
{
    fbp_message_clear();
    FBP_TRY(fbp_check_process(f->process, "feed"));
    FBP_TRY(start(f));
    for (size_t i = 0; i < N_SLOTS; i++)
        FBP_TRY(wait(f, f->slots[i].done));
    return FBP_OK;
}

/* Slices [z0, z1) to the host once they are finished. */
static fbp_status fetch_slices(fbp_feed *f, size_t z0, size_t z1, float *volume)
{
    const size_t slice = f->job.grid.n[0] * f->job.grid.n[1];
    const struct fbp_slab slab = whole(f);
    struct fbp_event finished = {0};

    FBP_TRY(mark(f, FBP_STAGE_BP, &finished));
    FBP_TRY(after(f, FBP_STAGE_OUT, finished));
    FBP_TRY(f->backend->fetch(f->dev, &slab, z0, z1, f->volume, volume + z0 * slice));
    return mark(f, FBP_STAGE_OUT, &f->fetched);
}

fbp_status fbp_feed_fetch(fbp_feed *f, float *volume)
{
    const size_t nz = f->job.grid.n[2], step = (nz + FETCH_BLOCKS - 1) / FETCH_BLOCKS;

    fbp_message_clear();
    FBP_TRY(fbp_check_process(f->process, "feed"));
    if (f->done)
        FBP_TRY(fbp_feed_reset(f));
    if (f->n > 0)
        FBP_TRY(lay_out(f));
    for (size_t z0 = 0; z0 < nz; z0 += step) {
        const size_t z1 = z0 + step < nz ? z0 + step : nz;
        if (f->n > 0)
            FBP_TRY(add_slices(f, z0, z1));
        FBP_TRY(fetch_slices(f, z0, z1, volume));
    }
    f->n = 0;
    f->done = true;
    return wait(f, f->fetched);
}

fbp_status fbp_feed_reset(fbp_feed *f)
{
    const struct fbp_slab slab = whole(f);

    fbp_message_clear();
    FBP_TRY(fbp_check_process(f->process, "feed"));
    for (size_t i = 0; i < N_SLOTS; i++)
        FBP_TRY(wait(f, f->slots[i].done));
    f->at = f->n = f->n_added = 0;
    f->done = false;
    f->limit = f->batch_views < GROUP ? f->batch_views : GROUP;
    FBP_TRY(after(f, FBP_STAGE_BP, f->fetched));
    return f->backend->clear(f->dev, &slab, f->volume);
}
