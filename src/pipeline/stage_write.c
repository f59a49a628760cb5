/* The last stage: finished slices to the host and to the sink. */
#include "array/array.h"
#include "backend/rows.h"
#include "backend/statistics.h"
#include "base/clock.h"
#include "base/stop.h"
#include "pipeline/job.h"
#include "pipeline/run.h"
#include "pipeline/worker.h"

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

size_t fbp_written_values(const struct worker *w)
{
    return fbp_roi_size(w->run->rq->job, 0) * fbp_roi_size(w->run->rq->job, 1);
}

size_t fbp_written_slice(const struct fbp_job *job, size_t frame, size_t z)
{
    return frame * fbp_roi_size(job, 2) + z - fbp_roi_first(job, 2);
}

size_t fbp_written_bytes(const struct worker *w)
{
    return fbp_written_values(w) * fbp_value_size(w->run->rq->job);
}

/* Sums are of floats.  z: the slice of the output. */
static fbp_status add_sum(const struct fbp_run_request *rq, size_t z, size_t n, void *x)
{
    if (!rq->sum)
        return FBP_OK;
    if (fbp_in_double(rq->job))
        return fbp_fail(FBP_ERR_UNSUPPORTED, "precision: volumes in double are not added up");
    return rq->sum->add(rq->sum->user, z, n, x);
}

/* n whole slices from z of the volume on. */
static void finish_whole(struct worker *w, size_t z, size_t n, void *x)
{
    const struct fbp_run_request *rq = w->run->rq;
    struct fbp_statistics found = FBP_NO_STATISTICS;
    size_t inside = n * fbp_written_values(w);

    if (rq->sum)
        fbp_sum_scale(rq->sum, inside, x);
    if (rq->mask)
        inside = fbp_mask_apply(rq->mask, z, n, x, &found);
    else
        fbp_statistics_values(&found, rq->job, x, inside);
    pthread_mutex_lock(&w->run->lock);
    fbp_statistics_join(&w->found, &found);
    w->n_found += inside;
    pthread_mutex_unlock(&w->run->lock);
}

fbp_status fbp_finish_slices(struct worker *w, size_t frame, size_t z, size_t n, void *x)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t written = fbp_written_slice(rq->job, frame, z);

    FBP_TRY(add_sum(rq, written, n, x));
    for (size_t at = 0, some; (some = fbp_sum_run(rq->sum, written, n, &at)) > 0; at += some)
        finish_whole(w, z + at, some, (char *)x + at * fbp_written_bytes(w));
    return FBP_OK;
}

static fbp_status write_to(const struct fbp_run_request *rq, size_t z, size_t n, const void *x)
{
    return fbp_in_double(rq->job) ? fbp_sink_write_double(rq->sink, z, n, x)
                                  : fbp_sink_write(rq->sink, z, n, x);
}

/* Those whole slices, of `slice` bytes, that the sink lacks: a device that failed may have written
 * some of them. */
static fbp_status write_missing(const struct fbp_run_request *rq, size_t z, size_t n, size_t slice,
                                const void *x)
{
    for (size_t at = 0, some; (some = fbp_sum_run(rq->sum, z, n, &at)) > 0; at += some)
        for (size_t i = at, m; i < at + some; i += m + (m == 0)) {
            for (m = 0; i + m < at + some && !fbp_sink_has(rq->sink, z + i + m, 1);)
                m++;
            if (m > 0)
                FBP_TRY(write_to(rq, z + i, m, (const char *)x + i * slice));
        }
    return FBP_OK;
}

/* Slices [z0, z1) of n frames of the volume. */
static fbp_status write_blank(const struct fbp_run_request *rq, size_t frame, size_t n, size_t z0,
                              size_t z1, size_t slice)
{
    for (size_t f = frame; f < frame + n; f++)
        for (size_t z = z0; z < z1; z++) {
            FBP_TRY(fbp_go_on());
            FBP_TRY(write_missing(rq, fbp_written_slice(rq->job, f, z), 1, slice,
                                  fbp_mask_blank(rq->mask)));
        }
    return FBP_OK;
}

/* Slabs between slices of the region that nobody computes. */
static fbp_status write_skipped(const struct run_state *run, size_t slice)
{
    const struct fbp_job *job = run->rq->job;

    for (size_t i = 0; i < run->slabs.n_skipped; i++) {
        const struct fbp_slab *s = fbp_slabs_skipped(&run->slabs, i);
        FBP_TRY(write_blank(run->rq, s->frame, fbp_frames(job), s->z0, s->z0 + s->nz, slice));
    }
    return FBP_OK;
}

fbp_status fbp_writers_blank(struct worker *w)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t first = fbp_roi_first(rq->job, 2), end = first + fbp_roi_size(rq->job, 2);
    const size_t slice = fbp_written_bytes(w), n = fbp_volumes(rq->job);
    size_t z0, z1;

    if (!rq->mask || !fbp_mask_blank(rq->mask) || atomic_exchange(&w->run->blank, true))
        return FBP_OK;
    FBP_TRY(write_skipped(w->run, slice));
    if (rq->first_worker > 0 || rq->job->share[0] > 0)
        return FBP_OK;
    fbp_roi_wanted(rq->job, &z0, &z1);
    FBP_TRY(write_blank(rq, 0, n, first, z0, slice));
    return write_blank(rq, 0, n, z1, end, slice);
}

/* Slices [z, z+n) of all frames of a piece. */
static fbp_status write_slices(struct worker *w, const struct piece_slot *p, size_t z, size_t n)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t slice = fbp_written_bytes(w);

    for (size_t f = 0; f < fbp_frames(rq->job); f++) {
        char *x = (char *)p->host + (f * p->nz + z) * slice;
        if (fbp_run_finishes(w->run->rq))
            FBP_TRY(fbp_finish_slices(w, p->frame + f, p->z0 + z, n, x));
        FBP_TRY(
            write_missing(rq, fbp_written_slice(rq->job, p->frame + f, p->z0 + z), n, slice, x));
    }
    return FBP_OK;
}

/* All of it is written. */
static fbp_status give_back(struct worker *w, size_t piece)
{
    struct piece_slot *p = &w->pieces[piece];

    FBP_TRY(fbp_span_end(&p->span, FBP_LANE_WRITE, p->z0 / w->work->block_slices,
                         "slices %zu to %zu", p->z0, p->z0 + p->nz - 1));
    fbp_queue_push(w->piece_free, piece);
    return FBP_OK;
}

/* Slices of a part: one, unless they are many. */
static size_t part_slices(const struct piece_slot *p)
{
    return (p->nz + MOST_PARTS - 1) / MOST_PARTS;
}

static fbp_status write_part(struct worker *w, size_t at)
{
    struct piece_slot *p = &w->pieces[at / MOST_PARTS];
    const size_t n = part_slices(p), z = at % MOST_PARTS * n, left = p->nz - z;

    FBP_TRY(fbp_go_on());
    FBP_TRY(write_slices(w, p, z, n < left ? n : left));
    return atomic_fetch_sub(&p->n_parts, 1) == 1 ? give_back(w, at / MOST_PARTS) : FBP_OK;
}

/* A failure empties the queue, and ends all of them. */
static void *writer_main(void *arg)
{
    struct worker *w = arg;
    struct fbp_stop_scope scope = {.flag = w->run->rq->stop};
    size_t at;

    fbp_message_clear();
    (void)fbp_stop_scope(&scope);
    while (fbp_queue_pop(w->parts_full, &at, NULL))
        fbp_stage_leave(w, write_part(w, at));
    (void)fbp_stop_scope(NULL);
    return NULL;
}

void fbp_writers_start(struct worker *w)
{
    const struct fbp_sum *sum = w->run->rq->sum;
    const size_t wanted =
        w->backend->own_memory && w->io_threads && !w->volume && !(sum && sum->in_order)
            ? (size_t)fbp_work_io_threads(w->backend, w->run->rq->job)
            : 0;

    w->n_writers = 0;
    while (w->n_writers < wanted &&
           pthread_create(&w->writers[w->n_writers], NULL, writer_main, w) == 0)
        w->n_writers++;
}

void fbp_writers_join(struct worker *w)
{
    fbp_queue_close(w->parts_full);
    for (size_t i = 0; i < w->n_writers; i++)
        pthread_join(w->writers[i], NULL);
}

fbp_status fbp_writers_put(struct worker *w, size_t piece)
{
    struct piece_slot *p = &w->pieces[piece];
    const size_t n = part_slices(p), n_parts = (p->nz + n - 1) / n;

    p->span = fbp_span_host(w->run->rq->timeline);
    if (w->n_writers == 0) {
        FBP_TRY(write_slices(w, p, 0, p->nz));
        return give_back(w, piece);
    }
    atomic_store(&p->n_parts, n_parts);
    for (size_t i = 0; i < n_parts; i++)
        if (!fbp_queue_push(w->parts_full, piece * MOST_PARTS + i))
            return FBP_ERR_CANCELLED;
    return FBP_OK;
}

fbp_status fbp_writers_settle(struct worker *w)
{
    const size_t n = w->work->n_blocks;
    size_t piece;

    for (size_t i = 0; i < n; i++)
        if (!fbp_queue_pop(w->piece_free, &piece, NULL))
            return FBP_ERR_CANCELLED;
    for (size_t i = 0; i < n; i++) /* all of them are free */
        fbp_queue_push(w->piece_free, i);
    return FBP_OK;
}

void fbp_sum_take(struct fbp_sum *sum, struct fbp_job *job)
{
    sum->scale = job->scale;
    sum->shift = job->shift;
    job->scale = 1;
    job->shift = 0;
}

size_t fbp_sum_run(const struct fbp_sum *sum, size_t z, size_t n, size_t *at)
{
    size_t end;

    while (*at < n && sum && sum->has && !sum->has(sum->user, z + *at))
        ++*at;
    for (end = *at; end < n; end++)
        if (sum && sum->has && !sum->has(sum->user, z + end))
            break;
    return end - *at;
}

void fbp_sum_scale(const struct fbp_sum *sum, size_t n, float *x)
{
    const float scale = (float)sum->scale, shift = (float)sum->shift;

    for (size_t i = 0; (scale != 1 || shift != 0) && i < n; i++)
        x[i] = scale * x[i] + shift;
}
