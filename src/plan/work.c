/* Dividing the work: within limits of memory, and as quickly as rates say. */
#include "plan/work.h"

#include "backend/rows.h"
#include "backend/slab.h"
#include "plan/held.h"
#include "plan/predict.h"
#include "plan/work_count.h"

#include "base/stop.h"
#include "base/text.h"

#include <stdio.h>

static bool fits(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    return w->memory_bytes <= rq->memory_limit &&
           (rq->device_limit == 0 || w->device_bytes <= rq->device_limit);
}

static bool holds_slab(const struct fbp_work_request *rq, size_t n_slices, char why[FBP_HELD_WHY])
{
    return fbp_held_slab(rq, fbp_work_slab_bytes(rq, n_slices), why);
}

static bool fits_with(struct fbp_work *w, const struct fbp_work_request *rq, size_t batch)
{
    w->batch_views = batch;
    w->n_batches = fbp_work_batches(w, rq->job);
    char why[FBP_HELD_WHY];

    fbp_work_count(w, rq);
    return fits(w, rq) && fbp_held_views(w, rq, why) && holds_slab(rq, w->slab_slices, why);
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

    if (rq->n_workers == 1 || rq->slab_slices || !rq->job->matrices ||
        all > fbp_work_slices(rq->job))
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
    size_t batch = fbp_work_largest_batch(rq);

    w->weighed = false;
    w->slab_slices = slices;
    w->n_slabs = (fbp_work_slices(job) + slices - 1) / slices;
    if (try_weighed(w, rq, batch))
        return true;
    for (;;) {
        if (fits_with(w, rq, batch))
            return true;
        if (batch <= group)
            return false;
        batch = fbp_work_smaller_batch(rq, batch);
    }
}

/* Could slabs of so many slices fit if views took nothing?  That is soon said, and what rows they
 * need is not. */
static bool may_fit(const struct fbp_work *w, const struct fbp_work_request *rq, size_t slices)
{
    struct fbp_work least = *w;
    char why[FBP_HELD_WHY];

    least.slab_slices = slices;
    least.n_slabs = (fbp_work_slices(rq->job) + slices - 1) / slices;
    least.n_batches = 1;
    fbp_work_count_slabs(&least, rq);
    return fits(&least, rq) && holds_slab(rq, slices, why);
}

/* The fewest slabs that fit, `slabs` of them or more; false if none do. */
static bool try_from(struct fbp_work *w, const struct fbp_work_request *rq, size_t slabs)
{
    const size_t nz = fbp_work_slices(rq->job);

    for (; slabs > 0; slabs = fbp_work_more_slabs(slabs, nz)) {
        const size_t slices = (nz + slabs - 1) / slabs;
        if (may_fit(w, rq, slices) && try_slabs(w, rq, slices))
            return true;
    }
    return false;
}

/* If nothing fits else, with the fewest blocks: a limit that is larger than one that does is never
 * refused. */
static bool try_all(struct fbp_work *w, const struct fbp_work_request *rq, size_t slabs)
{
    struct fbp_work_request few = *rq;

    few.few_blocks = true;
    return try_from(w, rq, slabs) || (rq->backend->own_memory && try_from(w, &few, slabs));
}

struct fbp_rates fbp_work_rates(const struct fbp_work_request *rq)
{
    struct fbp_rates rates;

    if (rq->rates.update > 0)
        rates = rq->rates;
    else
        rq->backend->rates(rq->job, &rates);
    if (rq->on_device && rates.copy > 0)
        rates.upload = rates.fetch = rates.copy;
    return rates;
}

/* w, if it is quicker than *best. */
static fbp_status take_quicker(const struct fbp_work *w, const struct fbp_work_request *rq,
                               struct fbp_work *best)
{
    const struct fbp_rates rates = fbp_work_rates(rq);
    struct fbp_predicted p;

    FBP_TRY(fbp_predict(rq->machine, &rates, rq->job, w, &p));
    if (best->seconds == 0 || p.total < best->seconds) {
        *best = *w;
        best->seconds = p.total;
    }
    return FBP_OK;
}

/* Filtered views that are kept, by each worker or shared, with as few slabs as fit, each share of
 * streamed slices, and blocks of several sizes: small ones are fetched early, large ones are
 * computed quicker.  The volumes of a series have no views in common. */
static fbp_status take_kept(const struct fbp_work_request *rq, size_t slabs, bool shared,
                            struct fbp_work *best)
{
    struct fbp_work w = {.n_workers = rq->n_workers,
                         .group_views = rq->backend->group_views,
                         .cut = best->cut,
                         .kept = true,
                         .all = fbp_work_all(rq->job),
                         .shared = shared};

    if (fbp_series(rq->job) > 1 || rq->job->view_groups[1] > 0 ||
        fbp_part_views(rq->job) > rq->backend->most_staying || !try_from(&w, rq, slabs))
        return FBP_OK;
    for (size_t parts = 4; parts <= 64; parts *= 2) {
        const size_t step = (fbp_work_slices(rq->job) / rq->n_workers + parts - 1) / parts;
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
    const size_t nz = fbp_work_slices(rq->job);
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

/* Slices that memory cannot hold one by one are refused at once: looking for slabs of a volume that
 * only a damaged file asks for takes ever longer. */
static fbp_status check_slice(const struct fbp_work_request *rq)
{
    const struct fbp_slab s = fbp_slab_asked(rq->job, 0, 1);
    const double bytes =
        (double)fbp_frames(rq->job) * (double)s.nx * (double)s.ny * (double)fbp_value_size(rq->job);
    char has[32], needs[32], frames[64] = "";

    if (bytes <= (double)rq->memory_limit)
        return FBP_OK;
    if (rq->job->frames > 1)
        snprintf(frames, sizeof frames, ", %zu frames of it,", fbp_frames(rq->job));
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: a single slice of %zu x %zu voxels%s alone takes %s, the limit is %s: "
                    "raise --memory or lower the volume's size",
                    s.nx, s.ny, frames, fbp_bytes_about(needs, sizeof needs, bytes),
                    fbp_bytes_text(has, sizeof has, rq->memory_limit));
}

fbp_status fbp_work_divide(const struct fbp_work_request *rq, struct fbp_work *out)
{
    const size_t nz = fbp_work_slices(rq->job);
    const size_t most = rq->slab_slices && rq->slab_slices < nz ? rq->slab_slices : nz;
    size_t slabs = (nz + most - 1) / most;

    *out = (struct fbp_work){.n_workers = rq->n_workers,
                             .group_views = rq->backend->group_views,
                             .follow = rq->follow,
                             .even = rq->even,
                             .level = rq->even || rq->on_device};
    if (rq->job->matrices && (rq->n_workers > 1 || fbp_work_rates(rq).update > 0))
        fbp_cut_find(rq->job, &out->cut);
    FBP_TRY(check_slice(rq));
    FBP_TRY(fbp_held_tables(rq));
    const size_t least = rq->n_workers * (rq->slabs_each ? rq->slabs_each : 1);
    if (slabs < least)
        slabs = least < nz ? least : nz;
    const bool fits = try_all(out, rq, slabs);
    /* Views that are followed come when they come, and where nothing overlaps nothing is hidden. */
    const bool whole = rq->on_device && fits && out->n_slabs == rq->n_workers;
    if (!rq->follow && !rq->even && !rq->plain && !whole && fbp_work_rates(rq).update > 0)
        FBP_TRY(take_quickest(rq, slabs, fits, out));
    FBP_TRY(fbp_go_on()); /* else what was found may be wrong */
    out->update = fbp_work_rates(rq).update;
    if (fits || out->seconds > 0)
        return FBP_OK;
    FBP_TRY(fbp_work_need(rq, slabs, out));
    return fbp_work_too_large(rq, out);
}

/* Two of each in the host's memory; what a device with its own memory has beside that. */
static void count_rows_bytes(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const struct fbp_job *job = rq->job;
    const bool own_memory = rq->backend->own_memory;
    const struct fbp_batch all = w->all;
    const size_t samples = w->batch_views * all.load_rows * job->panel.n_columns;

    w->load_rows = all.load_rows;
    w->filter_rows = all.n_rows;
    w->raw_bytes = samples * fbp_raw_size(job);
    w->raw_device_bytes = fbp_raw_device_bytes(job, samples);
    w->filtered_bytes = w->batch_views * all.n_rows * job->wide.n_columns * sizeof(float);
    w->view_reads = (double)all.load_rows / (double)job->panel.n_rows;
    const uint64_t device = (own_memory ? w->raw_device_bytes + 2 * w->filtered_bytes : 0) +
                            rq->backend->fixed_bytes(job);
    const uint64_t threads = (uint64_t)job->n_threads * FBP_WORK_THREAD;
    w->device_bytes = own_memory ? device : 0;
    w->memory_bytes = rq->base_bytes + FBP_WORK_SLACK + w->raw_bytes + 2 * w->filtered_bytes +
                      threads + (rq->backend->in_host ? device : 0);
}

fbp_status fbp_work_rows(const struct fbp_work_request *rq, struct fbp_work *out)
{
    const size_t group = rq->backend->group_views, n = rq->job->n_views;
    char why[FBP_HELD_WHY];

    *out = (struct fbp_work){.n_workers = 1,
                             .group_views = group,
                             .even = true,
                             .level = true,
                             .kept = true,
                             .n_slabs = 1};
    out->all = fbp_work_all(rq->job);
    for (size_t batch = fbp_work_rounded_batch(FBP_WORK_BATCH, group, n);;
         batch = fbp_work_rounded_batch(batch / 2, group, n)) {
        out->batch_views = batch;
        out->n_batches = fbp_work_batches(out, rq->job);
        count_rows_bytes(out, rq);
        const bool held = fbp_held_rows(out, rq, why);
        if (held && fits(out, rq))
            return FBP_OK;
        if (batch <= group && !held)
            return fbp_fail(FBP_ERR_UNSUPPORTED, "device: %s", why);
        if (batch <= group)
            return fbp_work_too_large(rq, out);
    }
}
