/* The last stage: finished slices to the host and to the sink. */
#include "run/stage.h"

#include "array/array.h"
#include "backend/rows.h"
#include "backend/statistics.h"
#include "base/clock.h"
#include "plan/roi.h"

/* Values of a slice as it is written. */
static size_t slice_values(const struct worker *w)
{
    return fbp_roi_size(w->run->rq->job, 0) * fbp_roi_size(w->run->rq->job, 1);
}

/* Those slices of layers [l0, l1) in a half that are asked for; false if none is. */
static bool wanted_slices(const struct fbp_job *job, size_t half, size_t l0, size_t l1, size_t *z0,
                          size_t *z1)
{
    fbp_layer_range(job, half, l0, l1, z0, z1);
    fbp_roi_clip(job, z0, z1);
    return *z0 < *z1;
}

/* Mask slices from `z` of the volume on, and look at what is inside. */
static void mask_slices(struct worker *w, size_t z, size_t n, float *x)
{
    struct fbp_statistics found;
    const size_t inside = fbp_mask_apply(w->run->rq->mask, z, n, x, &found);

    pthread_mutex_lock(&w->run->lock);
    fbp_statistics_join(&w->found, &found);
    w->n_found += inside;
    pthread_mutex_unlock(&w->run->lock);
}

/* Those slices that the sink lacks: a device that failed may have written some of them. */
static fbp_status write_missing(fbp_sink *sink, size_t z, size_t n, size_t slice, const float *x)
{
    for (size_t i = 0, some; i < n; i += some + (some == 0)) {
        some = 0;
        while (i + some < n && !fbp_sink_has(sink, z + i + some, 1))
            some++;
        if (some > 0)
            FBP_TRY(fbp_sink_write(sink, z + i, some, x + i * slice));
    }
    return FBP_OK;
}

/* Slices that one of the io threads writes. */
struct store {
    struct worker *worker;
    const struct piece_slot *piece;
    size_t slice, first, at_once; /* voxels of a slice, the sink's first one, slices of an item */
};

static fbp_status store_item(void *user, size_t item, int worker)
{
    const struct store *s = user;
    const struct fbp_run_request *rq = s->worker->run->rq;
    const size_t z = item * s->at_once, left = s->piece->nz - z;
    const size_t n = left < s->at_once ? left : s->at_once;
    float *slices = s->piece->host + z * s->slice;

    (void)worker;
    if (rq->mask)
        mask_slices(s->worker, s->piece->z0 + z, n, slices);
    return write_missing(rq->sink, s->piece->z0 - s->first + z, n, s->slice, slices);
}

static fbp_status store_piece(struct worker *w, const struct piece_slot *p)
{
    fbp_pool *io_threads = w->backend->own_memory ? w->io_threads : NULL;
    const size_t at_once = io_threads ? 1 : p->nz;
    struct store store = {w, p, slice_values(w), fbp_roi_first(w->run->rq->job, 2), at_once};

    return fbp_pool_try(io_threads, (p->nz + at_once - 1) / at_once, store_item, &store);
}

/* A piece is here: hand it to the sink. */
static fbp_status write_piece(struct worker *w, const struct piece_slot *p)
{
    const struct fbp_run_request *rq = w->run->rq;

    FBP_TRY(fbp_stage_wait(w, p->fetched));
    w->fetched_at = fbp_seconds();
    struct fbp_span span = fbp_span_host(rq->timeline);
    fbp_roi_crop(rq->job, p->nz, p->host);
    if (!rq->mask && (!w->backend->has_statistics || fbp_roi_crops(rq->job)))
        fbp_statistics_add(&w->found, p->host, p->nz * slice_values(w));
    FBP_TRY(store_piece(w, p));
    return fbp_span_end(&span, FBP_LANE_WRITE, p->z0 / w->work->block_slices, "slices %zu to %zu",
                        p->z0, p->z0 + p->nz - 1);
}

/* Slices [z0, z1) to the host. */
static fbp_status fetch(struct worker *w, const struct block_slot *b, size_t z0, size_t z1,
                        float *to)
{
    const double start = fbp_seconds();
    struct fbp_span span;

    FBP_TRY(fbp_stage_span(w, FBP_STAGE_OUT, &span));
    FBP_TRY(w->backend->fetch(w->dev, &b->drawn->slab, z0, z1, w->volumes[b->volume].memory, to));
    FBP_TRY(fbp_span_end(&span, FBP_LANE_FETCH, z0 / w->work->block_slices, "slices %zu to %zu", z0,
                         z1 - 1));
    return fbp_stage_copied(w, FBP_STAGE_OUT, start, &w->fetch);
}

/* Slices [z0, z1): while one piece is written the next ones are fetched. */
static fbp_status write_pieces(struct worker *w, const struct block_slot *b, size_t z0, size_t z1)
{
    const size_t step = w->work->block_slices, n_slots = w->work->n_blocks;
    const size_t n = (z1 - z0 + step - 1) / step;
    struct volume_slot *volume = &w->volumes[b->volume];

    for (size_t i = 0; i < n + n_slots - 1; i++) {
        if (i < n) {
            struct piece_slot *p = &w->pieces[i % n_slots];
            p->z0 = z0 + i * step;
            p->nz = p->z0 + step < z1 ? step : z1 - p->z0;
            FBP_TRY(fetch(w, b, p->z0, p->z0 + p->nz, p->host));
            FBP_TRY(fbp_stage_mark(w, FBP_STAGE_OUT, &p->fetched));
            volume->fetched = p->fetched;
        }
        if (i + 1 >= n_slots && i + 1 - n_slots < n)
            FBP_TRY(write_piece(w, &w->pieces[(i + 1 - n_slots) % n_slots]));
    }
    return FBP_OK;
}

/* Slices [z0, z1) to where the caller wants them; they are there when the slab is. */
static fbp_status fetch_to_caller(struct worker *w, const struct block_slot *b, size_t z0,
                                  size_t z1)
{
    struct volume_slot *volume = &w->volumes[b->volume];
    float *to = w->volume + (z0 - fbp_roi_first(w->run->rq->job, 2)) * slice_values(w);

    FBP_TRY(fetch(w, b, z0, z1, to));
    return fbp_stage_mark(w, FBP_STAGE_OUT, &volume->fetched);
}

static void written_to_caller(struct worker *w, size_t z0, size_t z1)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t first = fbp_roi_first(rq->job, 2);

    if (rq->mask)
        mask_slices(w, z0, z1 - z0, w->volume + (z0 - first) * slice_values(w));
    fbp_sink_written(rq->sink, z0 - first, z1 - z0);
}

static fbp_status finish_slab(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_slab *slab = &b->drawn->slab;
    size_t z0, z1;

    if (w->volume)
        FBP_TRY(fbp_stage_wait(w, w->volumes[b->volume].fetched));
    if (w->volume)
        w->fetched_at = fbp_seconds();
    for (size_t half = 0; w->volume && half < fbp_halves(rq->job); half++)
        if (wanted_slices(rq->job, half, slab->z0, slab->z0 + slab->nz, &z0, &z1))
            written_to_caller(w, z0, z1);
    FBP_TRY(fbp_worker_slab_done(w, b->drawn));
    b->drawn->done = true;
    fbp_slabs_done(&w->run->slabs);
    return fbp_run_progress(w->run, 0, 1, rq->job->n_views);
}

static fbp_status write_block(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;

    FBP_TRY(fbp_stage_after(w, FBP_STAGE_OUT, b->ready));
    for (size_t half = 0; half < fbp_halves(rq->job); half++) {
        size_t z0, z1;
        if (!wanted_slices(rq->job, half, b->z0, b->z1, &z0, &z1))
            continue;
        FBP_TRY((w->volume ? fetch_to_caller : write_pieces)(w, b, z0, z1));
        if (!rq->mask)
            w->n_found += (z1 - z0) * slice_values(w);
    }
    return b->last ? finish_slab(w, b) : FBP_OK;
}

/* While the first views are read. */
static fbp_status prepare_pieces(struct worker *w)
{
    for (size_t i = 0; !w->volume && i < w->work->n_blocks; i++)
        FBP_TRY(fbp_worker_piece_host(w, &w->pieces[i]));
    return FBP_OK;
}

static fbp_status write_blocks(struct worker *w)
{
    size_t at;

    FBP_TRY(prepare_pieces(w));
    while (fbp_queue_pop(w->block_full, &at, &w->waited[FBP_STAGE_OUT])) {
        const struct block_slot b = w->blocks[at];
        const double start = fbp_turn_begin(w);
        FBP_TRY(fbp_turn_end(w, FBP_STAGE_OUT, start, write_block(w, &b)));
        fbp_queue_push(w->block_free, at);
        if (b.last)
            fbp_queue_push(w->volume_free, b.volume);
    }
    return FBP_OK;
}

void fbp_stage_write(struct worker *w)
{
    fbp_stage_leave(w, write_blocks(w));
}
