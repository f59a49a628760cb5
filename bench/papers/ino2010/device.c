/* One device of a run of Ino et al. (2010): it filters its share of the views, then computes its
 * share of the boxes.  With streams, steps are put into the queues of the device, and events keep
 * their order; without streams, the host waits for each step and measures its time.  Called by
 * run.c in one thread per device.
 * Used by: run.c. */
#include "bench/papers/ino2010/measure.h"

#include "backend/slab.h"
#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COPIERS = 8 };

static const struct fbp_backend *backend(const struct s2_worker *w)
{
    return w->s->backend;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Opening. */

static fbp_status alloc(const struct s2_worker *w, fbp_device *dev, enum fbp_purpose purpose,
                        size_t bytes, size_t n_views, void **out)
{
    const struct fbp_buffer b = {purpose, bytes, n_views, n_views ? w->s->plan.n_rows : 0};

    return backend(w)->memory.alloc(dev, &b, out);
}

/* Allocate the buffers of both phases; each open device uses only its own buffers. */
static fbp_status alloc_views(struct s2_worker *w, size_t i)
{
    const struct fbp_s2_plan *p = &w->s->plan;
    const size_t view = s2_view_samples(w->s) * sizeof(float);
    const size_t n = S2_FILTER_VIEWS, launch = p->launch_views;
    const size_t filtered = backend(w)->filtered_bytes(&w->s->rows, launch, w->s->plan.n_rows);

    FBP_TRY(alloc(w, w->filter_device, FBP_FOR_RAW, n * view, n, &w->raw[i]));
    FBP_TRY(alloc(w, w->filter_device, FBP_FOR_RAW, n * view, n, (void **)&w->rows[i]));
    FBP_TRY(alloc(w, w->accumulator, FBP_FOR_RAW, launch * view, launch, &w->views[i]));
    return alloc(w, w->accumulator, FBP_FOR_FILTERED, filtered, launch, &w->filtered[i]);
}

static fbp_status alloc_boxes(struct s2_worker *w)
{
    const struct fbp_s2_plan *p = &w->s->plan;
    const size_t slice = p->box[0] * p->box[1] * sizeof(float);
    const size_t fit = S2_STAGE_BYTES / slice;

    w->stage_slices = least(fit > 0 ? fit : 1, p->n[2]);
    for (size_t i = 0; i < p->volumes; i++)
        FBP_TRY(alloc(w, w->accumulator, FBP_FOR_VOLUME, p->box_bytes, 0, &w->volume[i]));
    for (size_t i = 0; i < S2_SLOTS; i++)
        FBP_TRY(backend(w)->memory.host_alloc(w->accumulator, w->stage_slices * slice,
                                              "slices of a box", &w->stage[i]));
    return FBP_OK;
}

fbp_status s2_worker_open(struct s2_worker *w)
{
    const fbp_s2 *s = w->s;
    const int device = s->devices[w->at], threads = s->n_threads / (int)w->n;

    FBP_TRY(backend(w)->open(&w->filter_device, device, &s->tables.job));
    FBP_TRY(backend(w)->open(&w->accumulator, device, &s->rows));
    for (size_t i = 0; i < S2_SLOTS; i++)
        FBP_TRY(alloc_views(w, i));
    FBP_TRY(alloc_boxes(w));
    return fbp_pool_create(&w->copiers, threads < 1              ? 1
                                        : threads > MOST_COPIERS ? MOST_COPIERS
                                                                 : threads);
}

void s2_worker_close(struct s2_worker *w)
{
    const struct fbp_backend *b = backend(w);

    if (w->filter_device)
        (void)!fbp_device_settle_all(b, w->filter_device);
    if (w->accumulator)
        (void)!fbp_device_settle_all(b, w->accumulator);
    for (size_t i = 0; w->filter_device && i < S2_SLOTS; i++) {
        fbp_device_put(b, w->filter_device, FBP_FOR_RAW, w->raw[i]);
        fbp_device_put(b, w->filter_device, FBP_FOR_RAW, w->rows[i]);
    }
    for (size_t i = 0; w->accumulator && i < S2_SLOTS; i++) {
        fbp_device_put(b, w->accumulator, FBP_FOR_RAW, w->views[i]);
        fbp_device_put(b, w->accumulator, FBP_FOR_FILTERED, w->filtered[i]);
        fbp_device_put(b, w->accumulator, FBP_FOR_VOLUME, w->volume[i]);
        fbp_host_put(b, w->accumulator, w->stage[i]);
    }
    if (w->filter_device)
        b->close(&w->filter_device);
    if (w->accumulator)
        b->close(&w->accumulator);
    fbp_pool_destroy(&w->copiers);
}

/* Steps. */

/* Without streams: wait for the stage, and add the seconds since the last step to *row. */
static fbp_status step(struct s2_worker *w, fbp_device *dev, enum fbp_stage stage, double *row)
{
    if (w->streams)
        return FBP_OK;
    FBP_TRY(fbp_device_settle(backend(w), dev, stage));
    const double now = fbp_seconds();
    *row += now - w->lap;
    w->lap = now;
    return FBP_OK;
}

static fbp_status check_failed(const struct s2_worker *w)
{
    return atomic_load(w->failed) ? FBP_ERR_CANCELLED : fbp_check_cancelled();
}

static fbp_status mark(const struct s2_worker *w, fbp_device *dev, enum fbp_stage stage,
                       struct fbp_event *out)
{
    return backend(w)->event.record(dev, stage, out);
}

static fbp_status after(const struct s2_worker *w, fbp_device *dev, enum fbp_stage stage,
                        struct fbp_event m)
{
    return fbp_device_after(backend(w), dev, stage, m);
}

/* Copy views of the host to the device, whose copy may be overwritten. */
static fbp_status send(struct s2_worker *w, fbp_device *dev, size_t view0, size_t n, void *raw)
{
    const size_t samples = s2_view_samples(w->s);
    const float *from = w->s->views + view0 * samples;

    w->time.sent += n * samples * sizeof *from;
    if (!backend(w)->can.own_memory)
        memcpy(raw, from, n * samples * sizeof *from);
    return backend(w)->memory.upload(dev, raw, from, n * samples);
}

static struct fbp_batch batch_of(const struct s2_worker *w, size_t view0, size_t n)
{
    const size_t rows = w->s->plan.n_rows;

    return (struct fbp_batch){.view0 = view0, .n_views = n, .n_rows = rows, .load_rows = rows};
}

/* First phase: filter a share of the views and copy them back to their position in host memory. */

/* Events that the next use of a slot must wait for, and the views in the slot. */
struct slot {
    struct fbp_event sent, used, back;
    size_t view0, n; /* views in the slot that are being copied back; n 0: none */
};

static fbp_status start_filter(struct s2_worker *w, struct slot *s, size_t i)
{
    fbp_device *dev = w->filter_device;
    const struct fbp_batch batch = batch_of(w, s->view0, s->n);

    FBP_TRY(after(w, dev, FBP_STAGE_IN, s->used));
    FBP_TRY(send(w, dev, s->view0, s->n, w->raw[i]));
    FBP_TRY(mark(w, dev, FBP_STAGE_IN, &s->sent));
    FBP_TRY(step(w, dev, FBP_STAGE_IN, &w->time.download));
    FBP_TRY(after(w, dev, FBP_STAGE_FILTER, s->sent));
    FBP_TRY(after(w, dev, FBP_STAGE_FILTER, s->back));
    FBP_TRY(backend(w)->filter_rows(dev, &batch, w->raw[i], w->rows[i]));
    FBP_TRY(mark(w, dev, FBP_STAGE_FILTER, &s->used));
    return step(w, dev, FBP_STAGE_FILTER, &w->time.filter);
}

/* Copy filtered views back over the unfiltered ones, after these have been sent. */
static fbp_status fetch_rows(struct s2_worker *w, struct slot *s, size_t i)
{
    const size_t samples = s2_view_samples(w->s);
    fbp_device *dev = w->filter_device;

    if (s->n == 0)
        return FBP_OK;
    FBP_TRY(fbp_device_wait(backend(w), dev, s->sent));
    FBP_TRY(after(w, dev, FBP_STAGE_OUT, s->used));
    FBP_TRY(backend(w)->memory.download(dev, w->rows[i], s->n * samples,
                                        w->s->views + s->view0 * samples));
    FBP_TRY(mark(w, dev, FBP_STAGE_OUT, &s->back));
    s->n = 0;
    return step(w, dev, FBP_STAGE_OUT, &w->time.readback);
}

/* First view of device c of C; shares begin at a multiple of S2_FILTER_VIEWS, because pairs of
 * views share a transform. */
static size_t first_view(const struct s2_worker *w, size_t device)
{
    const size_t k = w->s->plan.n_views, groups = (k + S2_FILTER_VIEWS - 1) / S2_FILTER_VIEWS;

    return least(device * groups / w->n * S2_FILTER_VIEWS, k);
}

fbp_status s2_worker_filter(struct s2_worker *w)
{
    const size_t end = first_view(w, w->at + 1);
    struct slot slots[S2_SLOTS] = {0};
    size_t i = 0;

    w->lap = fbp_seconds();
    for (size_t view = first_view(w, w->at); view < end; view += S2_FILTER_VIEWS) {
        FBP_TRY(check_failed(w));
        slots[i].view0 = view;
        slots[i].n = least(end - view, S2_FILTER_VIEWS);
        FBP_TRY(start_filter(w, &slots[i], i));
        i = (i + 1) % S2_SLOTS;
        FBP_TRY(fetch_rows(w, &slots[i], i));
    }
    for (size_t k = 0; k < S2_SLOTS; k++, i = (i + 1) % S2_SLOTS)
        FBP_TRY(fetch_rows(w, &slots[i], i));
    return fbp_device_settle_all(backend(w), w->filter_device);
}

/* Second phase: boxes. */

/* Slots of the views, and events of the boxes, of the second phase. */
struct boxes {
    struct slot slots[S2_SLOTS];
    struct fbp_event ready[S2_SLOTS], fetched[S2_SLOTS];
};

/* Some views into a box. */
static fbp_status add(struct s2_worker *w, struct slot *s, size_t i, const struct fbp_batch *batch,
                      const struct fbp_slab *box, void *volume)
{
    fbp_device *dev = w->accumulator;
    struct fbp_event laid_out;

    FBP_TRY(after(w, dev, FBP_STAGE_IN, s->sent)); /* laid out */
    FBP_TRY(send(w, dev, batch->view0, batch->n_views, w->views[i]));
    FBP_TRY(mark(w, dev, FBP_STAGE_IN, &laid_out));
    FBP_TRY(step(w, dev, FBP_STAGE_IN, &w->time.download));
    FBP_TRY(after(w, dev, FBP_STAGE_FILTER, laid_out));
    FBP_TRY(after(w, dev, FBP_STAGE_FILTER, s->used)); /* backprojected */
    FBP_TRY(backend(w)->filter(dev, batch, w->views[i], w->filtered[i]));
    FBP_TRY(mark(w, dev, FBP_STAGE_FILTER, &s->sent));
    FBP_TRY(step(w, dev, FBP_STAGE_FILTER, &w->time.layout));
    FBP_TRY(after(w, dev, FBP_STAGE_BP, s->sent));
    FBP_TRY(backend(w)->backproject(dev, batch, w->filtered[i], box, 0, box->nz, volume));
    FBP_TRY(mark(w, dev, FBP_STAGE_BP, &s->used));
    return step(w, dev, FBP_STAGE_BP, &w->time.backproject);
}

static fbp_status compute(struct s2_worker *w, struct boxes *b, const struct fbp_slab *box,
                          size_t at)
{
    const struct fbp_s2_plan *p = &w->s->plan;
    fbp_device *dev = w->accumulator;
    size_t i = 0;

    w->lap = fbp_seconds();
    FBP_TRY(after(w, dev, FBP_STAGE_BP, b->fetched[at]));
    FBP_TRY(backend(w)->clear(dev, box, w->volume[at]));
    FBP_TRY(step(w, dev, FBP_STAGE_BP, &w->time.backproject));
    for (size_t view = 0; view < p->n_views; view += p->launch_views, i = (i + 1) % S2_SLOTS) {
        const struct fbp_batch batch = batch_of(w, view, least(p->n_views - view, p->launch_views));
        FBP_TRY(check_failed(w));
        FBP_TRY(add(w, &b->slots[i], i, &batch, box, w->volume[at]));
    }
    return mark(w, dev, FBP_STAGE_BP, &b->ready[at]);
}

/* Slices of a box that are being copied into the volume. */
struct piece {
    size_t z0, z1; /* z0 == z1: none */
    struct fbp_event here;
};

static fbp_status put(struct s2_worker *w, const struct fbp_slab *box, struct piece *p, size_t i)
{
    if (p->z0 == p->z1)
        return FBP_OK;
    FBP_TRY(fbp_device_wait(backend(w), w->accumulator, p->here));
    FBP_TRY(s2_volume_put(w->s, w->copiers, box, p->z0, p->z1, w->stage[i]));
    p->z0 = p->z1;
    return step(w, w->accumulator, FBP_STAGE_OUT, &w->time.concatenate);
}

/* Fetch a box in pieces: one piece is fetched while the last one is copied into the volume. */
static fbp_status fetch_box(struct s2_worker *w, struct boxes *b, const struct fbp_slab *box,
                            size_t at)
{
    fbp_device *dev = w->accumulator;
    struct piece pieces[S2_SLOTS] = {0};
    size_t i = 0;

    w->lap = fbp_seconds();
    for (size_t z = 0; z < box->nz; z += w->stage_slices) {
        struct piece *p = &pieces[i];
        FBP_TRY(check_failed(w));
        *p = (struct piece){.z0 = z, .z1 = least(z + w->stage_slices, box->nz)};
        FBP_TRY(backend(w)->fetch(dev, box, p->z0, p->z1, w->volume[at], w->stage[i]));
        FBP_TRY(mark(w, dev, FBP_STAGE_OUT, &p->here));
        b->fetched[at] = p->here;
        FBP_TRY(step(w, dev, FBP_STAGE_OUT, &w->time.fetch));
        i = (i + 1) % S2_SLOTS;
        FBP_TRY(put(w, box, &pieces[i], i));
    }
    for (size_t k = 0; k < S2_SLOTS; k++, i = (i + 1) % S2_SLOTS)
        FBP_TRY(put(w, box, &pieces[i], i));
    return FBP_OK;
}

fbp_status s2_slab_of(const struct fbp_job *job, const size_t box[3][2], struct fbp_slab *out)
{
    const size_t *most = job->grid.n;
    static const char axes[] = "xyz";

    for (int i = 0; i < 3; i++)
        if (box[i][0] >= box[i][1] || box[i][1] > most[i])
            return FBP_INVALID(
                "box: voxels %zu:%zu along %c are no range of the volume, which has 0:%zu (the end "
                "is excluded); give a first voxel below the end, and an end inside the volume",
                box[i][0], box[i][1], axes[i], most[i]);
    *out = (struct fbp_slab){.x0 = box[0][0],
                             .nx = box[0][1] - box[0][0],
                             .y0 = box[1][0],
                             .ny = box[1][1] - box[1][0],
                             .z0 = box[2][0],
                             .nz = box[2][1] - box[2][0]};
    if (job->selection.boxes || (out->nx == most[0] && out->ny == most[1]))
        return FBP_OK;
    return FBP_UNSUPPORTED(
        "box: kernel %s computes only whole slices of %zu x %zu voxels, not %zu x %zu "
        "voxels; use kernel \"matrix\", or whole slices",
        job->selection.name, most[0], most[1], out->nx, out->ny);
}

/* Compute boxes at, at + C, …  If two boxes fit on the device, one is fetched while the next is
 * computed. */
fbp_status s2_worker_backproject(struct s2_worker *w)
{
    const struct fbp_s2_plan *p = &w->s->plan;
    const bool both = p->volumes > 1 && w->streams;
    struct fbp_slab box, before = {0};
    struct boxes b = {0};
    size_t at = 0;

    for (size_t i = w->at; i < p->subvolumes; i += w->n, at = (at + 1) % p->volumes) {
        const struct fbp_slab s = s2_box(p, i);
        const size_t range[3][2] = {{s.x0, s.x0 + s.nx}, {s.y0, s.y0 + s.ny}, {s.z0, s.z0 + s.nz}};
        FBP_TRY(s2_slab_of(&w->s->rows, range, &box));
        FBP_TRY(compute(w, &b, &box, at));
        if (both && before.nz)
            FBP_TRY(fetch_box(w, &b, &before, (at + 1) % p->volumes));
        FBP_TRY(after(w, w->accumulator, FBP_STAGE_OUT, b.ready[at])); /* what is fetched next */
        before = box;
        if (!both)
            FBP_TRY(fetch_box(w, &b, &box, at));
    }
    if (both && before.nz)
        FBP_TRY(fetch_box(w, &b, &before, (at + 1) % p->volumes));
    return fbp_device_settle_all(backend(w), w->accumulator);
}

fbp_status s2_worker_send(struct s2_worker *w)
{
    const struct fbp_s2_plan *p = &w->s->plan;
    size_t i = 0;

    for (size_t view = 0; view < p->n_views; view += p->launch_views, i = (i + 1) % S2_SLOTS) {
        FBP_TRY(check_failed(w));
        FBP_TRY(
            send(w, w->accumulator, view, least(p->n_views - view, p->launch_views), w->views[i]));
    }
    return fbp_device_settle_all(backend(w), w->accumulator);
}
