/* The last stage: finished slices to the host and to the sink. */
#include "run/stage.h"
#include "run/writers.h"

#include "array/array.h"
#include "backend/rows.h"
#include "backend/statistics.h"
#include "base/clock.h"
#include "plan/roi.h"

/* A piece is here: to those that write it. */
static fbp_status write_piece(struct worker *w, size_t piece)
{
    const struct fbp_run_request *rq = w->run->rq;
    struct piece_slot *p = &w->pieces[piece];

    FBP_TRY(fbp_stage_wait(w, p->fetched));
    w->fetched_at = fbp_seconds();
    fbp_roi_crop(rq->job, fbp_frames(rq->job) * p->nz, p->host);
    if (!fbp_run_finishes(rq) && (!w->backend->has_statistics || fbp_roi_crops(rq->job)))
        fbp_statistics_values(&w->found, rq->job, p->host,
                              fbp_frames(rq->job) * p->nz * fbp_written_values(w));
    return fbp_writers_put(w, piece);
}

/* Slices [z0, z1) to the host. */
static fbp_status fetch(struct worker *w, const struct block_slot *b, size_t z0, size_t z1,
                        void *to)
{
    const double start = fbp_seconds();
    struct fbp_span span;

    FBP_TRY(fbp_stage_span(w, FBP_STAGE_OUT, &span));
    FBP_TRY(w->backend->fetch(w->dev, &b->drawn->slab, z0, z1, w->volumes[b->volume].memory, to));
    FBP_TRY(fbp_span_end(&span, FBP_LANE_FETCH, z0 / w->work->block_slices, "slices %zu to %zu", z0,
                         z1 - 1));
    return fbp_stage_copied(w, FBP_STAGE_OUT, start, &w->fetch);
}

/* Slices [z0, z1), one piece of them, as soon as one is free. */
static fbp_status fetch_piece(struct worker *w, const struct block_slot *b, size_t z0, size_t z1,
                              size_t *piece)
{
    if (!fbp_queue_pop(w->piece_free, piece, NULL))
        return FBP_ERR_CANCELLED;
    struct piece_slot *p = &w->pieces[*piece];
    const size_t left = z1 - z0, step = w->work->block_slices;
    p->frame = b->drawn->slab.frame;
    p->z0 = z0;
    p->nz = step < left ? step : left;
    FBP_TRY(fetch(w, b, z0, z0 + p->nz, p->host));
    FBP_TRY(fbp_stage_mark(w, FBP_STAGE_OUT, &p->fetched));
    w->volumes[b->volume].fetched = p->fetched;
    return FBP_OK;
}

enum { FETCHED = 3 }; /* at once, at most */

/* Slices [z0, z1): while pieces are written the next ones are fetched. */
static fbp_status write_pieces(struct worker *w, const struct block_slot *b, size_t z0, size_t z1)
{
    const size_t step = w->work->block_slices, n = (z1 - z0 + step - 1) / step;
    const size_t at_once = w->work->n_blocks < FETCHED ? w->work->n_blocks : FETCHED;
    size_t pieces[FETCHED];

    for (size_t i = 0; i < n + at_once - 1; i++) {
        if (i < n)
            FBP_TRY(fetch_piece(w, b, z0 + i * step, z1, &pieces[i % at_once]));
        if (i + 1 >= at_once && i + 1 - at_once < n)
            FBP_TRY(write_piece(w, pieces[(i + 1 - at_once) % at_once]));
    }
    return FBP_OK;
}

/* Slices [z0, z1) to where the caller wants them; they are there when the slab is.  There is one
 * frame. */
static fbp_status fetch_to_caller(struct worker *w, const struct block_slot *b, size_t z0,
                                  size_t z1)
{
    struct volume_slot *volume = &w->volumes[b->volume];
    const size_t slice = fbp_written_slice(w->run->rq->job, b->drawn->slab.frame, z0);

    FBP_TRY(fetch(w, b, z0, z1, (char *)w->volume + slice * fbp_written_bytes(w)));
    return fbp_stage_mark(w, FBP_STAGE_OUT, &volume->fetched);
}

static fbp_status written_to_caller(struct worker *w, size_t frame, size_t z0, size_t z1)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t slice = fbp_written_slice(rq->job, frame, z0);

    if (fbp_run_finishes(rq))
        FBP_TRY(fbp_finish_slices(w, frame, z0, z1 - z0,
                                  (char *)w->volume + slice * fbp_written_bytes(w)));
    fbp_sink_written(rq->sink, slice, z1 - z0);
    return FBP_OK;
}

static fbp_status finish_slab(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_slab *slab = &b->drawn->slab;

    if (w->volume) {
        FBP_TRY(fbp_stage_wait(w, w->volumes[b->volume].fetched));
        w->fetched_at = fbp_seconds();
        FBP_TRY(written_to_caller(w, slab->frame, slab->z0, slab->z0 + slab->nz));
    }
    FBP_TRY(fbp_writers_settle(w));
    FBP_TRY(fbp_worker_slab_done(w, b->drawn));
    b->drawn->done = true;
    fbp_slabs_done(&w->run->slabs);
    return fbp_run_progress(w->run, 0, 1, rq->job->n_views);
}

static fbp_status write_block(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;

    FBP_TRY(fbp_stage_after(w, FBP_STAGE_OUT, b->ready));
    FBP_TRY((w->volume ? fetch_to_caller : write_pieces)(w, b, b->z0, b->z1));
    if (!fbp_run_finishes(rq))
        w->n_found += fbp_frames(rq->job) * (b->z1 - b->z0) * fbp_written_values(w);
    if (rq->no_overlap)
        FBP_TRY(fbp_writers_settle(w));
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
    FBP_TRY(fbp_writers_blank(w));
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
    fbp_writers_start(w);
    const fbp_status st = write_blocks(w);
    fbp_writers_join(w);
    fbp_stage_leave(w, st);
}
