#include "plan/work.h"

#include "backend/rows.h"
#include "backend/slab.h"
#include "plan/roi.h"

#include "base/mem.h"
#include "base/stop.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

enum {
    PREFERRED_BATCH = 32,
    HOST_BUFFERS = 2,      /* one is filled while the other is used */
    BLOCK_BYTES = 8 << 20, /* what is written at once */
    FETCHED_BLOCKS = 2,    /* while others are written */
    BLOCKS_SHARE = 16,     /* of the memory, for the blocks of a device beyond the first three */
    FINISH_PARTS = 8,
    SLACK_BYTES = 10 << 20, /* stacks, scratch of readers, pages of libraries used later */
    THREAD_BYTES = 256 << 10,
    SLICE_BYTES = 16, /* of a slice of the output */
};

static const double COMMAND_SECONDS = 0.03;

/* Layers to be computed. */
static size_t n_layers(const struct fbp_job *job)
{
    size_t first, n;

    fbp_roi_layers(job, &first, &n);
    return n;
}

/* Of slab i, among n. */
static size_t first_layer(const struct fbp_work *w, size_t n, size_t i)
{
    if (w->weighed)
        return fbp_cut_layer(&w->cut, n, w->n_slabs, i);
    return i * w->slab_slices < n ? i * w->slab_slices : n;
}

struct fbp_slab fbp_work_slab(const struct fbp_work *w, const struct fbp_job *job, size_t i)
{
    size_t first, n;

    fbp_roi_layers(job, &first, &n);
    const size_t at = first_layer(w, n, i);
    return fbp_slab_asked(job, first + at, first_layer(w, n, i + 1) - at);
}

/* In groups: batches of 1, 2, 4 … < most, then `even` ones that share the rest. */
struct ramp {
    size_t n_groups, most, n_rising, rising, even;
};

static struct ramp ramp_of(const struct fbp_work *w, size_t n_views)
{
    struct ramp r = {.n_groups = (n_views + w->group_views - 1) / w->group_views,
                     .most = w->follow ? 1 : w->batch_views / w->group_views};

    for (size_t size = 1; !w->even && size < r.most && r.rising + size < r.n_groups; size *= 2) {
        r.n_rising++;
        r.rising += size;
    }
    r.even = (r.n_groups - r.rising + r.most - 1) / r.most;
    return r;
}

/* First group of batch b; of the batch after the last, the number of groups. */
static size_t first_group(const struct ramp *r, size_t b)
{
    if (b < r->n_rising)
        return ((size_t)1 << b) - 1;
    return r->rising + (r->n_groups - r->rising) * (b - r->n_rising) / r->even;
}

void fbp_work_views(const struct fbp_work *w, const struct fbp_job *job, size_t b, size_t *view0,
                    size_t *n)
{
    const struct ramp r = ramp_of(w, job->n_views);
    const size_t first = first_group(&r, b) * w->group_views;
    const size_t end = first_group(&r, b + 1) * w->group_views;

    *view0 = first / job->turns;
    *n = (end < job->n_views ? end : job->n_views) - first;
}

/* Rows [*r0, *r1) that the (upper) slices of layers [l0, l1) need of a batch's views. */
static void rows_of(const struct fbp_job *job, const struct fbp_batch *batch, size_t l0, size_t l1,
                    size_t *r0, size_t *r1)
{
    const size_t a_part = batch->n_views / job->turns, z0 = fbp_layer_slice(job, l0);
    const size_t middle = (job->panel.n_rows - 1) / 2;

    *r0 = job->panel.n_rows;
    *r1 = 0;
    for (size_t k = 0; k < batch->n_views; k += a_part) {
        const size_t view = fbp_batch_view(job, batch, k);
        size_t first, end;
        job->rows(job, view, view + a_part, z0, fbp_layer_slice(job, l1), &first, &end);
        if (first < end && first < *r0)
            *r0 = first;
        if (first < end && end > *r1)
            *r1 = end;
    }
    if (job->mirrored && *r0 < middle) /* by rounding */
        *r0 = middle;
    if (*r0 >= *r1)
        *r0 = *r1 = 0;
}

/* On to the rows of the next slice, so that the same rows are read however many slabs there are. */
static void carry_on(const struct fbp_job *job, const struct fbp_batch *batch, size_t next,
                     size_t *r0, size_t *r1)
{
    size_t first, n, n0, n1;

    fbp_roi_layers(job, &first, &n);
    if (!job->sparse || next >= first + n || *r0 == *r1)
        return;
    rows_of(job, batch, next, next + 1, &n0, &n1);
    if (n0 < n1 && n0 > *r1)
        *r1 = n0;
    if (n0 < n1 && n1 < *r0)
        *r0 = n1;
}

/* The rows that slices [z0, z1) need of a batch's views, and those to be read. */
static void find_rows(const struct fbp_job *job, struct fbp_batch *batch, size_t z0, size_t z1)
{
    const size_t margin = job->prep->margin_rows + fbp_column_reach(job);
    size_t r1;

    rows_of(job, batch, z0, z1, &batch->row0, &r1);
    carry_on(job, batch, z1, &batch->row0, &r1);
    batch->n_rows = r1 - batch->row0;
    if (batch->n_rows > 0) {
        const size_t end = r1 + margin < job->panel.n_rows ? r1 + margin : job->panel.n_rows;
        batch->load_row0 = batch->row0 > margin ? batch->row0 - margin : 0;
        batch->load_rows = end - batch->load_row0;
    }
}

struct fbp_batch fbp_work_batch_of(const struct fbp_job *job, const struct fbp_slab *slab,
                                   size_t view0, size_t n_views)
{
    struct fbp_batch out = {.view0 = view0, .n_views = n_views};

    find_rows(job, &out, slab->z0, slab->z0 + slab->nz);
    return out;
}

/* All views, as all slices need them: what is kept. */
static struct fbp_batch all_views(const struct fbp_job *job)
{
    struct fbp_batch out = {.n_views = job->n_views, .kept = true};
    size_t first, n;

    fbp_roi_layers(job, &first, &n);
    find_rows(job, &out, first, first + n);
    return out;
}

struct fbp_batch fbp_work_batch(const struct fbp_work *w, const struct fbp_job *job,
                                const struct fbp_slab *slab, size_t b)
{
    struct fbp_batch out;
    size_t view0, n_views;

    fbp_work_views(w, job, b, &view0, &n_views);
    if (!w->kept)
        return fbp_work_batch_of(job, slab, view0, n_views);
    out = all_views(job);
    out.view0 = out.place = view0;
    out.n_views = n_views;
    return out;
}

bool fbp_task_block(const struct fbp_task *t, size_t i, size_t *z0, size_t *z1)
{
    const size_t n = (t->z1 - t->z0 + t->step - 1) / t->step, at = t->loads ? i : n - 1 - i;

    if (i >= n)
        return false;
    *z0 = t->z0 + at * t->step;
    *z1 = *z0 + t->step < t->z1 ? *z0 + t->step : t->z1;
    return true;
}

/* Kept views against the slices of a slab that did not get them batch after batch. */
static size_t kept_tasks(const struct fbp_work *w, const struct fbp_job *job,
                         const struct fbp_slab *slab, size_t z0, struct fbp_task *out)
{
    const size_t end = slab->z0 + slab->nz;

    if (z0 < end && out)
        *out = (struct fbp_task){.slab = *slab,
                                 .batch = all_views(job),
                                 .z0 = z0,
                                 .z1 = end,
                                 .step = w->finish_slices,
                                 .first = z0 == slab->z0,
                                 .last = true,
                                 .final = true};
    return z0 < end;
}

size_t fbp_work_tasks(const struct fbp_work *w, const struct fbp_job *job,
                      const struct fbp_slab *slab, bool first, struct fbp_task *out)
{
    const size_t streamed = w->kept && w->streamed < slab->nz ? w->streamed : slab->nz;

    if (w->kept && !first)
        return kept_tasks(w, job, slab, slab->z0, out);
    for (size_t b = 0; out && b < w->n_batches; b++) {
        const bool last = b + 1 == w->n_batches;
        out[b] = (struct fbp_task){.slab = *slab,
                                   .batch = fbp_work_batch(w, job, slab, b),
                                   .z0 = slab->z0,
                                   .z1 = slab->z0 + streamed,
                                   .step = last ? w->finish_slices : streamed,
                                   .loads = true,
                                   .first = b == 0,
                                   .last = last && streamed == slab->nz,
                                   .final = last};
    }
    return w->n_batches +
           kept_tasks(w, job, slab, slab->z0 + streamed, out ? out + w->n_batches : NULL);
}

size_t fbp_work_views_at_once(const struct fbp_work *w, double voxels)
{
    const double views = COMMAND_SECONDS / (w->update * voxels);

    if (!(views < (double)(SIZE_MAX / 2))) /* nothing is known of the device, or all is quick */
        return SIZE_MAX / 2;
    const size_t groups = (size_t)views / w->group_views;
    return (groups ? groups : 1) * w->group_views;
}

/* How many slabs read views: those of kept ones are read for each worker's first, or shared. */
static size_t n_reading(const struct fbp_work *w)
{
    const size_t n = w->shared ? 1 : w->kept ? w->n_workers : w->n_slabs;

    return n < w->n_slabs ? n : w->n_slabs;
}

/* Rows of all batches of the slabs that read views: the most at once, and how many in all. */
static void count_rows(struct fbp_work *w, const struct fbp_job *job)
{
    double rows = 0;

    w->load_rows = w->filter_rows = 0;
    for (size_t i = 0; !fbp_stopped() && i < n_reading(w); i++) {
        const struct fbp_slab slab = fbp_work_slab(w, job, i);
        for (size_t b = 0; b < w->n_batches; b++) {
            const struct fbp_batch batch = fbp_work_batch(w, job, &slab, b);
            rows += (double)(batch.load_rows * fbp_halves(job)) * (double)batch.n_views;
            if (batch.load_rows > w->load_rows)
                w->load_rows = batch.load_rows;
            if (batch.n_rows > w->filter_rows)
                w->filter_rows = batch.n_rows;
        }
    }
    w->view_reads = rows / ((double)job->n_views * (double)job->panel.n_rows);
}

static size_t block_slices(const struct fbp_work *w, size_t slice_bytes)
{
    const size_t n = slice_bytes < BLOCK_BYTES ? BLOCK_BYTES / slice_bytes : 1;
    return n < w->slab_slices ? n : w->slab_slices;
}

int fbp_work_io_threads(const struct fbp_backend *backend, const struct fbp_job *job)
{
    if (!backend->own_memory && !job->unpacks)
        return 1;
    return job->n_threads < FBP_MOST_IO_THREADS ? job->n_threads : FBP_MOST_IO_THREADS;
}

/* Blocks of a device with memory of its own: two are fetched while others are written, with a slice
 * for each of the threads that write. */
static size_t device_blocks(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    const size_t threads = (size_t)fbp_work_io_threads(rq->backend, rq->job);
    const size_t n = FETCHED_BLOCKS + (threads + w->block_slices - 1) / w->block_slices;
    const uint64_t most = rq->memory_limit / BLOCKS_SHARE / rq->n_workers / w->block_bytes;

    if (n <= most)
        return n;
    return most > FETCHED_BLOCKS ? (size_t)most : FETCHED_BLOCKS + 1;
}

/* What a slice of the output, and a slab, take in tables: of what is written and of hashes; of
 * tasks.
 */
static uint64_t table_bytes(const struct fbp_work *w, const struct fbp_job *job)
{
    return (uint64_t)fbp_roi_size(job, 2) * SLICE_BYTES +
           (uint64_t)w->n_slabs *
               (sizeof(struct fbp_slab) + (w->n_batches + 1) * (uint64_t)sizeof(struct fbp_task));
}

/* Of a slab of so many layers, on a device. */
static size_t slab_bytes(const struct fbp_work_request *rq, size_t n_layers)
{
    const struct fbp_slab slab = fbp_slab_asked(rq->job, 0, n_layers);

    return rq->backend->volume_bytes(rq->job, &slab);
}

/* Buffers and bytes of a division whose slabs and batches are set. */
static void count_bytes(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const struct fbp_job *job = rq->job;
    const struct fbp_slab any = fbp_slab_asked(job, 0, 1);
    const size_t slice = fbp_slab_slice(&any) * sizeof(float);
    const bool own_memory = rq->backend->own_memory;

    count_rows(w, job);
    w->n_raw = HOST_BUFFERS;
    w->n_filtered = w->kept ? 1 : HOST_BUFFERS;
    w->n_volumes = w->n_slabs > w->n_workers ? 2 : 1;
    w->block_slices = block_slices(w, slice);
    /* Kernels want long columns; eight parts still leave the writer seven to overlap. */
    const size_t parts = w->even ? 1 : FINISH_PARTS;
    w->finish_slices = (w->slab_slices + parts - 1) / parts;
    if (w->finish_slices < w->block_slices)
        w->finish_slices = w->block_slices;
    w->block_bytes = w->block_slices * slice;
    w->n_blocks = own_memory ? device_blocks(w, rq) : 1;
    const size_t samples = fbp_halves(job) * w->batch_views * w->load_rows * job->panel.n_columns;
    w->raw_bytes = samples * fbp_raw_size(job);
    w->raw_device_bytes = fbp_raw_device_bytes(job, samples);
    w->filtered_bytes =
        rq->backend->filtered_bytes(job, w->kept ? job->n_views : w->batch_views, w->filter_rows);
    w->volume_bytes = slab_bytes(rq, w->slab_slices);

    const uint64_t host = w->n_raw * w->raw_bytes + w->n_blocks * w->block_bytes;
    const uint64_t device = (own_memory ? w->n_raw * w->raw_device_bytes : 0) +
                            w->n_filtered * w->filtered_bytes + w->n_volumes * w->volume_bytes +
                            rq->backend->fixed_bytes(job);
    const uint64_t threads = (uint64_t)job->n_threads * THREAD_BYTES;
    w->device_bytes = own_memory ? device : 0;
    w->memory_bytes = rq->base_bytes + SLACK_BYTES + table_bytes(w, job) +
                      rq->n_workers * (host + threads + (rq->backend->in_host ? device : 0));
}

static bool fits(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    return w->memory_bytes <= rq->memory_limit &&
           (rq->device_limit == 0 || w->device_bytes <= rq->device_limit);
}

static size_t rounded_batch(size_t views, size_t group, size_t n_views)
{
    const size_t whole = (n_views + group - 1) / group * group;
    const size_t up = (views + group - 1) / group * group;
    return up < whole ? up : whole;
}

/* The batch that was asked for, as far as a buffer of filtered views can hold it. */
static size_t wanted_batch(const struct fbp_work_request *rq)
{
    const size_t wanted = rq->batch_views ? rq->batch_views : PREFERRED_BATCH;
    const size_t most = rq->backend->most_staying * rq->job->turns;

    return most && wanted > most ? most : wanted;
}

static bool fits_with(struct fbp_work *w, const struct fbp_work_request *rq, size_t batch)
{
    w->batch_views = batch;
    const struct ramp r = ramp_of(w, rq->job->n_views);
    w->n_batches = r.n_rising + r.even;
    count_bytes(w, rq);
    return fits(w, rq);
}

static size_t most_slices(const struct fbp_work *w, const struct fbp_job *job)
{
    size_t most = 0;

    for (size_t i = 0; i < w->n_slabs; i++) {
        const struct fbp_slab slab = fbp_work_slab(w, job, i);
        most = slab.nz > most ? slab.nz : most;
    }
    return most;
}

/* Several workers: the same number of slabs for each, of the same cost instead of the same size, if
 * the largest of them fits as well. */
static bool try_weighed(struct fbp_work *w, const struct fbp_work_request *rq, size_t batch)
{
    const size_t all = (w->n_slabs + rq->n_workers - 1) / rq->n_workers * rq->n_workers;
    struct fbp_work by_cost = *w;

    if (rq->n_workers == 1 || rq->slab_slices || !rq->job->matrices || all > n_layers(rq->job))
        return false;
    by_cost.weighed = true;
    by_cost.n_slabs = all;
    by_cost.slab_slices = most_slices(&by_cost, rq->job);
    if (!fits_with(&by_cost, rq, batch))
        return false;
    *w = by_cost;
    return true;
}

/* The largest batch that fits with this many slabs; false if none does. */
static bool try_slabs(struct fbp_work *w, const struct fbp_work_request *rq, size_t slices)
{
    const struct fbp_job *job = rq->job;
    const size_t group = rq->backend->group_views;
    size_t batch = rounded_batch(wanted_batch(rq), group, job->n_views);

    w->weighed = false;
    w->slab_slices = slices;
    w->n_slabs = (n_layers(job) + slices - 1) / slices;
    if (try_weighed(w, rq, batch))
        return true;
    for (;;) {
        if (fits_with(w, rq, batch))
            return true;
        if (batch <= group)
            return false;
        batch = rounded_batch(batch / 2, group, job->n_views);
    }
}

/* Could slabs of so many slices fit if views took nothing?  That is soon said, and what rows they
 * need is not.  If not, *w says what they take. */
static bool may_fit(struct fbp_work *w, const struct fbp_work_request *rq, size_t slices)
{
    const bool own_memory = rq->backend->own_memory;
    struct fbp_work least = *w;

    least.slab_slices = slices;
    least.n_slabs = (n_layers(rq->job) + slices - 1) / slices;
    least.n_batches = 1;
    const uint64_t volumes = (least.n_slabs > rq->n_workers ? 2 : 1) * slab_bytes(rq, slices);
    least.device_bytes = own_memory ? volumes : 0;
    least.memory_bytes = rq->base_bytes + SLACK_BYTES + table_bytes(&least, rq->job);
    if (rq->backend->in_host)
        least.memory_bytes += rq->n_workers * volumes;
    if (fits(&least, rq))
        return true;
    w->memory_bytes = least.memory_bytes;
    w->device_bytes = least.device_bytes;
    return false;
}

/* The fewest slabs that fit, `slabs` of them or more; false if none do. */
static bool try_from(struct fbp_work *w, const struct fbp_work_request *rq, size_t slabs)
{
    const size_t nz = n_layers(rq->job);
    uint64_t least = UINT64_MAX; /* tables grow while slabs shrink */

    for (;;) {
        const size_t slices = (nz + slabs - 1) / slabs;
        if (may_fit(w, rq, slices) && try_slabs(w, rq, slices))
            return true;
        least = w->memory_bytes < least ? w->memory_bytes : least;
        w->memory_bytes = least;
        if (slices == 1)
            return false;
        slabs += slabs / 8 + 1;
        if (slabs > nz)
            slabs = nz;
    }
}

/* When the device is done with what. */
struct clock {
    double in, computed, out;      /* uploads, filter and backprojection, fetches */
    double raw[HOST_BUFFERS];      /* raw buffers are free again */
    double volumes[2];             /* and volumes */
    size_t n_raw, n_volumes, slab; /* used so far */
    double sharers;                /* workers that read each batch: 1, or all, a part of it each */
    double pull;                   /* seconds to copy the others' part of a view */
};

/* A batch is uploaded and filtered; of shared ones each worker does its part. */
static void predict_load(const struct fbp_job *job, const struct fbp_rates *r,
                         const struct fbp_batch *b, struct clock *c)
{
    double *raw = &c->raw[c->n_raw++ % HOST_BUFFERS];
    const double views = (double)(fbp_halves(job) * b->n_views);
    const double samples = views * (double)job->panel.n_columns / c->sharers;

    c->in =
        fmax(c->in, *raw) + samples * (double)b->load_rows * (double)fbp_raw_size(job) * r->upload;
    const double there = fmax(c->computed, c->in) + samples * (double)b->n_rows * r->filter;
    c->computed = there + (double)b->n_views * c->pull;
    *raw = there;
}

static void predict_task(const struct fbp_job *job, const struct fbp_rates *r,
                         const struct fbp_task *t, struct clock *c)
{
    const double slice = (double)fbp_slab_slice(&t->slab);
    size_t z0, z1;

    if (t->loads)
        predict_load(job, r, &t->batch, c);
    if (t->first)
        c->computed = fmax(c->computed, c->volumes[c->slab++ % c->n_volumes]);
    for (size_t i = 0; fbp_task_block(t, i, &z0, &z1); i++) {
        const double voxels = slice * (double)fbp_layer_slices(job, z0, z1);
        c->computed += voxels * (double)t->batch.n_views * r->update + r->call;
        if (t->final)
            c->out = fmax(c->out, c->computed) + voxels * sizeof(float) * r->fetch;
    }
    if (t->last)
        c->volumes[(c->slab - 1) % c->n_volumes] = c->out;
}

/* Seconds of the first worker, from the first upload to the last fetch. */
static double predict(const struct fbp_work *w, const struct fbp_job *job,
                      const struct fbp_rates *rates, struct fbp_task *tasks)
{
    struct clock c = {.n_volumes = w->n_volumes, .sharers = 1};

    if (w->shared) {
        const double view = (double)w->filtered_bytes / (double)job->n_views;
        c.sharers = (double)w->n_workers;
        c.pull = view * rates->share * (c.sharers - 1) / c.sharers;
    }
    for (size_t i = 0; !fbp_stopped() && i < w->n_slabs; i += w->n_workers) {
        const struct fbp_slab slab = fbp_work_slab(w, job, i);
        const size_t n = fbp_work_tasks(w, job, &slab, i == 0, tasks);
        for (size_t k = 0; k < n; k++)
            predict_task(job, rates, &tasks[k], &c);
    }
    return fmax(c.out, c.computed);
}

static struct fbp_rates rates_of(const struct fbp_work_request *rq)
{
    struct fbp_rates rates;

    rq->backend->rates(rq->job, &rates);
    return rates;
}

/* w, if it is quicker than *best. */
static fbp_status take_quicker(const struct fbp_work *w, const struct fbp_work_request *rq,
                               struct fbp_work *best)
{
    const struct fbp_rates rates = rates_of(rq);
    struct fbp_task *tasks;

    FBP_TRY(fbp_calloc((void **)&tasks, w->n_batches + 1, sizeof *tasks, "task list"));
    const double seconds = predict(w, rq->job, &rates, tasks);
    free(tasks);
    if (best->seconds == 0 || seconds < best->seconds) {
        *best = *w;
        best->seconds = seconds;
    }
    return FBP_OK;
}

/* Filtered views that are kept, by each worker or shared, with as few slabs as fit, each share of
 * streamed slices, and blocks of several sizes: small ones are fetched early, large ones are
 * computed quicker. */
static fbp_status take_kept(const struct fbp_work_request *rq, size_t slabs, bool shared,
                            struct fbp_work *best)
{
    struct fbp_work w = {.n_workers = rq->n_workers,
                         .group_views = rq->backend->group_views,
                         .cut = best->cut,
                         .kept = true,
                         .shared = shared};

    if (fbp_part_views(rq->job) > rq->backend->most_staying || !try_from(&w, rq, slabs))
        return FBP_OK;
    for (size_t parts = 4; parts <= 64; parts *= 2) {
        const size_t step = (n_layers(rq->job) / rq->n_workers + parts - 1) / parts;
        w.finish_slices = step > w.block_slices ? step : w.block_slices;
        for (size_t eighths = 1; eighths <= 8; eighths++) {
            w.streamed = (w.slab_slices * eighths + 7) / 8;
            FBP_TRY(take_quicker(&w, rq, best));
        }
    }
    return FBP_OK;
}

/* The quickest by the device's rates; *out is what fits with the fewest slabs, if `fits`. */
static fbp_status take_quickest(const struct fbp_work_request *rq, size_t slabs, bool fits,
                                struct fbp_work *out)
{
    const size_t nz = n_layers(rq->job);
    struct fbp_work best = {.cut = out->cut}, two = *out;

    if (fits)
        FBP_TRY(take_quicker(out, rq, &best));
    if (fits && out->n_slabs == rq->n_workers && nz >= 2 * rq->n_workers &&
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there is a worker */
        try_slabs(&two, rq, (nz + 2 * rq->n_workers - 1) / (2 * rq->n_workers)))
        FBP_TRY(take_quicker(&two, rq, &best));
    FBP_TRY(take_kept(rq, slabs, false, &best));
    if (rq->n_workers > 1 && rq->backend->shares)
        FBP_TRY(take_kept(rq, slabs, true, &best));
    if (best.seconds > 0)
        *out = best;
    return FBP_OK;
}

static fbp_status does_not_fit(const struct fbp_work_request *rq, const struct fbp_work *out)
{
    char needs[32], has[32];

    if (out->memory_bytes > rq->memory_limit)
        return fbp_fail(FBP_ERR_NOMEM,
                        "memory: this reconstruction needs at least %s, the limit is %s: raise "
                        "--memory, or lower --threads or the volume's size",
                        fbp_bytes_text(needs, sizeof needs, out->memory_bytes),
                        fbp_bytes_text(has, sizeof has, rq->memory_limit));
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: this reconstruction needs at least %s of device memory, the limit is "
                    "%s: raise --device-memory or lower the volume's size",
                    fbp_bytes_text(needs, sizeof needs, out->device_bytes),
                    fbp_bytes_text(has, sizeof has, rq->device_limit));
}

/* Slices that memory cannot hold one by one are refused at once: looking for slabs of a volume that
 * only a damaged file asks for takes ever longer. */
static fbp_status check_slice(const struct fbp_work_request *rq)
{
    const struct fbp_slab s = fbp_slab_asked(rq->job, 0, 1);
    const double bytes = (double)s.nx * (double)s.ny * sizeof(float);
    char has[32], needs[32];

    if (bytes <= (double)rq->memory_limit)
        return FBP_OK;
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: a single slice of %zu x %zu voxels needs %s, the limit is %s: "
                    "raise --memory or lower the volume's size",
                    s.nx, s.ny, fbp_bytes_about(needs, sizeof needs, bytes),
                    fbp_bytes_text(has, sizeof has, rq->memory_limit));
}

fbp_status fbp_work_divide(const struct fbp_work_request *rq, struct fbp_work *out)
{
    const size_t nz = n_layers(rq->job), halves = fbp_halves(rq->job);
    const size_t wanted = (rq->slab_slices + halves - 1) / halves;
    const size_t most = wanted && wanted < nz ? wanted : nz;
    size_t slabs = (nz + most - 1) / most;

    *out = (struct fbp_work){.n_workers = rq->n_workers,
                             .group_views = rq->backend->group_views,
                             .follow = rq->follow,
                             .even = rq->even};
    if (rq->n_workers > 1 && rq->job->matrices)
        fbp_cut_find(rq->job, &out->cut);
    FBP_TRY(check_slice(rq));
    if (slabs < rq->n_workers)
        slabs = rq->n_workers < nz ? rq->n_workers : nz;
    const bool fits = try_from(out, rq, slabs);
    /* Views that are followed come when they come, and where nothing overlaps nothing is hidden. */
    if (!rq->follow && !rq->even && rates_of(rq).update > 0)
        FBP_TRY(take_quickest(rq, slabs, fits, out));
    FBP_TRY(fbp_go_on()); /* else what was found may be wrong */
    out->update = rates_of(rq).update;
    return fits || out->seconds > 0 ? FBP_OK : does_not_fit(rq, out);
}

/* Two of each in the host's memory; what a device with its own memory has beside that. */
static void count_rows_bytes(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const struct fbp_job *job = rq->job;
    const bool own_memory = rq->backend->own_memory;
    const struct fbp_batch all = all_views(job);
    const size_t views = fbp_halves(job) * w->batch_views;
    const size_t samples = views * all.load_rows * job->panel.n_columns;

    w->load_rows = all.load_rows;
    w->filter_rows = all.n_rows;
    w->raw_bytes = samples * fbp_raw_size(job);
    w->raw_device_bytes = fbp_raw_device_bytes(job, samples);
    w->filtered_bytes = views * all.n_rows * job->wide.n_columns * sizeof(float);
    w->view_reads = (double)(all.load_rows * fbp_halves(job)) / (double)job->panel.n_rows;
    const uint64_t device = (own_memory ? w->raw_device_bytes + 2 * w->filtered_bytes : 0) +
                            rq->backend->fixed_bytes(job);
    const uint64_t threads = (uint64_t)job->n_threads * THREAD_BYTES;
    w->device_bytes = own_memory ? device : 0;
    w->memory_bytes = rq->base_bytes + SLACK_BYTES + w->raw_bytes + 2 * w->filtered_bytes +
                      threads + (rq->backend->in_host ? device : 0);
}

fbp_status fbp_work_rows(const struct fbp_work_request *rq, struct fbp_work *out)
{
    const size_t group = rq->backend->group_views, n = rq->job->n_views;

    *out = (struct fbp_work){
        .n_workers = 1, .group_views = group, .even = true, .kept = true, .n_slabs = 1};
    for (size_t batch = rounded_batch(PREFERRED_BATCH, group, n);;
         batch = rounded_batch(batch / 2, group, n)) {
        out->batch_views = batch;
        out->n_batches = ramp_of(out, n).even;
        count_rows_bytes(out, rq);
        if (fits(out, rq))
            return FBP_OK;
        if (batch <= group)
            return does_not_fit(rq, out);
    }
}
