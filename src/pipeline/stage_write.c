/* The writing stage (fbp_stage_write()) of a worker, which is a device with its buffers and queues
 * (worker.h): a thread that fetches finished slices to the host, completes them (partial volumes
 * of other processes, scale and shift, mask), and writes them to the sink. If the device has its
 * own memory, further threads may write. fbp_sum_take() prepares a job for sums of partial volumes
 * (team_run.c).
 * Used by: run.c, team_run.c. */
#include "pipeline/worker.h"

#include "array/array.h"
#include "backend/slab.h"
#include "base/system.h"
#include "pipeline/job.h"

/* ---- Partial volumes of processes that share views ---- */

void fbp_sum_take(struct fbp_sum *sum, struct fbp_job *job)
{
    sum->scale = job->scale;
    sum->shift = job->shift;
    job->scale = 1;
    job->shift = 0;
}

/* Find the next slices in [z + *at, z + n) whose sum this process has: set *at to the first, from z
 * on, and return their number; 0: no more. sum or sum->has NULL: it has all slices. */
static size_t next_summed(const struct fbp_sum *sum, size_t z, size_t n, size_t *at)
{
    size_t end;

    while (*at < n && sum && sum->has && !sum->has(sum->user, z + *at))
        ++*at;
    for (end = *at; end < n; end++)
        if (sum && sum->has && !sum->has(sum->user, z + end))
            break;
    return end - *at;
}

/* ---- Completing slices ---- */

/* Number of voxels per slice of the output. */
static size_t slice_samples(const struct worker *w)
{
    return fbp_box_slice(w->run->rq->job);
}

static size_t slice_bytes(const struct worker *w)
{
    return slice_samples(w) * fbp_value_size(w->run->rq->job);
}

size_t fbp_written_slice(const struct fbp_job *job, size_t frame, size_t z)
{
    return frame * fbp_box_size(job, 2) + z - fbp_box_first(job, 2);
}

/* Complete slices [z, z + n) of a time point or channel (`frame`) in the buffer x: add partial
 * volumes of other processes, scale and shift the sums, apply the mask. Counts voxels in the
 * statistics. */
static fbp_status complete(struct worker *w, size_t frame, size_t z, size_t n, char *x)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_sum *sum = rq->sum;
    const size_t written = fbp_written_slice(rq->job, frame, z);

    if (sum && fbp_in_double(rq->job))
        return FBP_UNSUPPORTED(
            "precision: processes cannot add partial volumes in double precision; omit "
            "view_ranks, or double");
    if (sum)
        FBP_TRY(sum->add(sum->user, written, n, (float *)(void *)x));
    for (size_t at = 0, some; (some = next_summed(sum, written, n, &at)) > 0; at += some) {
        struct fbp_statistics found = FBP_NO_STATISTICS;
        void *slices = x + at * slice_bytes(w);
        size_t inside = some * slice_samples(w);
        if (sum && (sum->scale != 1 || sum->shift != 0)) {
            const float scale = (float)sum->scale, shift = (float)sum->shift;
            float *values = slices;
            for (size_t i = 0; i < inside; i++)
                values[i] = scale * values[i] + shift;
        }
        if (rq->mask)
            inside = fbp_mask_apply(rq->mask, z + at, some, slices, &found);
        else
            fbp_statistics_values(&found, rq->job, slices, inside);
        pthread_mutex_lock(&w->run->lock);
        fbp_statistics_join(&w->found, &found);
        w->n_found += inside;
        pthread_mutex_unlock(&w->run->lock);
    }
    return FBP_OK;
}

/* Write slices [z, z + n) of the output, but only those with a complete sum in this process that
 * are not written yet (a failed device may have written some). slice: bytes per slice */
static fbp_status write_missing(const struct fbp_run_request *rq, size_t z, size_t n, size_t slice,
                                const char *x)
{
    for (size_t at = 0, some; (some = next_summed(rq->sum, z, n, &at)) > 0; at += some)
        for (size_t i = at, m; i < at + some; i += m + (m == 0)) {
            for (m = 0; i + m < at + some && !fbp_sink_has(rq->sink, z + i + m, 1);)
                m++;
            if (m > 0)
                FBP_TRY(fbp_sink_write(rq->sink, z + i, m, fbp_value_type(rq->job), x + i * slice));
        }
    return FBP_OK;
}

/* ---- Slices outside the region, which no device computes ---- */

/* Write slices [z0, z1) of n time points or channels from `frame` on, with all voxels set to the
 * mask's value for voxels outside the region. */
static fbp_status write_blank(const struct fbp_run_request *rq, size_t frame, size_t n, size_t z0,
                              size_t z1, size_t slice)
{
    for (size_t f = frame; f < frame + n; f++)
        for (size_t z = z0; z < z1; z++) {
            FBP_TRY(fbp_check_cancelled());
            FBP_TRY(write_missing(rq, fbp_written_slice(rq->job, f, z), 1, slice,
                                  fbp_mask_blank(rq->mask)));
        }
    return FBP_OK;
}

/* Write the slices outside the region, once per run: those of slabs that no worker computes and, in
 * the process of the volume's first part, those below and above the region. */
static fbp_status write_blanks(struct worker *w)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_slabs *slabs = &w->run->slabs;
    const size_t first = fbp_box_first(rq->job, 2), end = first + fbp_box_size(rq->job, 2);
    const size_t slice = slice_bytes(w), n = fbp_volumes(rq->job);
    size_t z0, z1;

    if (!rq->mask || !fbp_mask_blank(rq->mask) || atomic_exchange(&w->run->blank, true))
        return FBP_OK;
    for (size_t i = 0; i < slabs->n_skipped; i++) {
        const struct fbp_slab *s = &slabs->list[slabs->n_most - 1 - i];
        FBP_TRY(write_blank(rq, s->time_point, fbp_channels(rq->job), s->z0, s->z0 + s->nz, slice));
    }
    if (rq->job->part.slices[0] > 0)
        return FBP_OK;
    fbp_box_wanted(rq->job, &z0, &z1);
    FBP_TRY(write_blank(rq, 0, n, first, z0, slice));
    return write_blank(rq, 0, n, z1, end, slice);
}

/* ---- Threads that write slices from host buffers (pieces) ---- */

/* Complete and write slices [z, z + n) of a piece (a host buffer) for all channels. */
static fbp_status write_slices(struct worker *w, const struct piece_slot *p, size_t z, size_t n)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t slice = slice_bytes(w);

    for (size_t f = 0; f < fbp_channels(rq->job); f++) {
        char *x = (char *)p->host + (f * p->nz + z) * slice;
        if (fbp_run_finishes(rq))
            FBP_TRY(complete(w, p->frame + f, p->z0 + z, n, x));
        FBP_TRY(
            write_missing(rq, fbp_written_slice(rq->job, p->frame + f, p->z0 + z), n, slice, x));
    }
    return FBP_OK;
}

/* End the bar of a written piece in the timeline, and return its host buffer. */
static fbp_status give_back(struct worker *w, size_t piece)
{
    struct piece_slot *p = &w->pieces[piece];

    FBP_TRY(fbp_span_end(&p->span, FBP_LANE_WRITE, p->z0 / w->work->block_slices,
                         "slices %zu to %zu", p->z0, p->z0 + p->nz - 1));
    fbp_queue_push(w->queues[PIECE_FREE], piece);
    return FBP_OK;
}

/* Slices per part of a piece: 1, or more if the piece has more than MOST_PARTS slices. */
static size_t part_slices(const struct piece_slot *p)
{
    return (p->nz + MOST_PARTS - 1) / MOST_PARTS;
}

/* Write a part of a piece; at: index of the piece * MOST_PARTS + index of the part. */
static fbp_status write_part(struct worker *w, size_t at)
{
    struct piece_slot *p = &w->pieces[at / MOST_PARTS];
    const size_t n = part_slices(p), z = at % MOST_PARTS * n, left = p->nz - z;

    FBP_TRY(fbp_check_cancelled());
    FBP_TRY(write_slices(w, p, z, n < left ? n : left));
    return atomic_fetch_sub(&p->n_unwritten, 1) == 1 ? give_back(w, at / MOST_PARTS) : FBP_OK;
}

/* Main function of a thread that writes parts of pieces of slices.  A failure aborts the worker's
 * queues, so that its other threads end, too. */
static void *writer_main(void *arg)
{
    struct worker *w = arg;
    struct fbp_cancel_scope scope = {.flag = w->run->rq->stop};
    size_t at;

    fbp_message_clear();
    (void)fbp_cancel_scope(&scope);
    while (fbp_queue_pop(w->queues[PARTS_FULL], &at, NULL))
        fbp_stage_ended(w, write_part(w, at));
    (void)fbp_cancel_scope(NULL);
    return NULL;
}

/* Wait until all fetched slices are written. */
static fbp_status await_pieces(struct worker *w)
{
    const size_t n = w->work->n_blocks;
    size_t piece;

    for (size_t i = 0; i < n; i++)
        if (!fbp_queue_pop(w->queues[PIECE_FREE], &piece, NULL))
            return FBP_ERR_CANCELLED;
    for (size_t i = 0; i < n; i++) /* refill the queue */
        fbp_queue_push(w->queues[PIECE_FREE], i);
    return FBP_OK;
}

/* ---- Fetching ---- */

/* Enqueue the copy of slices [z0, z1) of a block from the device to the host. */
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

/* greatest number of pieces (host buffers of slices) to which fetches are enqueued at once */
enum { FETCHED = 3 };

/* Fetch slices [z0, z1) of a block to host buffers (pieces) of at most block_slices slices; the
 * next pieces are fetched while earlier ones are written. */
static fbp_status write_pieces(struct worker *w, const struct block_slot *b, size_t z0, size_t z1)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t step = w->work->block_slices, n = (z1 - z0 + step - 1) / step;
    const size_t at_once = w->work->n_blocks < FETCHED ? w->work->n_blocks : FETCHED;
    size_t pieces[FETCHED];

    for (size_t i = 0; i < n + at_once - 1; i++) {
        if (i < n) {
            size_t *piece = &pieces[i % at_once];
            if (!fbp_queue_pop(w->queues[PIECE_FREE], piece, NULL))
                return FBP_ERR_CANCELLED;
            struct piece_slot *p = &w->pieces[*piece];
            const size_t first = z0 + i * step, left = z1 - first;
            p->frame = b->drawn->slab.time_point;
            p->z0 = first;
            p->nz = step < left ? step : left;
            FBP_TRY(fetch(w, b, first, first + p->nz, p->host));
            FBP_TRY(fbp_stage_record(w, FBP_STAGE_OUT, &p->fetched));
            w->volumes[b->volume].fetched = p->fetched;
        }
        if (i + 1 >= at_once && i + 1 - at_once < n) {
            const size_t piece = pieces[(i + 1 - at_once) % at_once];
            struct piece_slot *p = &w->pieces[piece];
            FBP_TRY(fbp_stage_wait(w, p->fetched));
            w->fetched_at = fbp_seconds();
            fbp_box_crop(rq->job, fbp_channels(rq->job) * p->nz, p->host);
            if (!fbp_run_finishes(rq) && (!w->backend->can.statistics || fbp_box_crops(rq->job)))
                fbp_statistics_values(&w->found, rq->job, p->host,
                                      fbp_channels(rq->job) * p->nz * slice_samples(w));
            /* write the slices in this thread, or enqueue parts of them for the writing threads */
            p->span = fbp_span_host(rq->timeline);
            if (w->n_writers == 0) {
                FBP_TRY(write_slices(w, p, 0, p->nz));
                FBP_TRY(give_back(w, piece));
                continue;
            }
            const size_t per_part = part_slices(p), count = (p->nz + per_part - 1) / per_part;
            atomic_store(&p->n_unwritten, count);
            for (size_t k = 0; k < count; k++)
                if (!fbp_queue_push(w->queues[PARTS_FULL], piece * MOST_PARTS + k))
                    return FBP_ERR_CANCELLED;
        }
    }
    return FBP_OK;
}

/* Fetch and write a block of finished slices.  After the last block of a slab, wait until all its
 * slices are written, and add its statistics to the run. */
static fbp_status write_block(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;
    const struct fbp_slab *s = &b->drawn->slab;
    struct volume_slot *volume = &w->volumes[b->volume];

    FBP_TRY(fbp_stage_wait_for(w, FBP_STAGE_OUT, b->ready));
    if (w->volume) { /* fetch to the caller's memory */
        const size_t slice = fbp_written_slice(rq->job, s->time_point, b->z0);
        FBP_TRY(fetch(w, b, b->z0, b->z1, (char *)w->volume + slice * slice_bytes(w)));
        FBP_TRY(fbp_stage_record(w, FBP_STAGE_OUT, &volume->fetched));
    } else {
        FBP_TRY(write_pieces(w, b, b->z0, b->z1));
    }
    if (!fbp_run_finishes(rq))
        w->n_found += fbp_channels(rq->job) * (b->z1 - b->z0) * slice_samples(w);
    if (rq->no_overlap)
        FBP_TRY(await_pieces(w));
    if (!b->last)
        return FBP_OK;
    if (w->volume) {
        const size_t slice = fbp_written_slice(rq->job, s->time_point, s->z0);
        FBP_TRY(fbp_stage_wait(w, volume->fetched));
        w->fetched_at = fbp_seconds();
        if (fbp_run_finishes(rq))
            FBP_TRY(complete(w, s->time_point, s->z0, s->nz,
                             (char *)w->volume + slice * slice_bytes(w)));
        fbp_sink_mark(rq->sink, slice, s->nz);
    }
    FBP_TRY(await_pieces(w));
    FBP_TRY(fbp_worker_slab_done(w, b->drawn));
    b->drawn->done = true;
    fbp_slabs_return(&w->run->slabs, (struct fbp_slab){.nz = 0});
    return fbp_run_progress(w->run, 0, 1, rq->job->n_views);
}

static fbp_status write_blocks(struct worker *w)
{
    size_t at;

    for (size_t i = 0; !w->volume && i < w->work->n_blocks; i++)
        if (!w->pieces[i].host) /* allocate host buffers at first use, while views are read */
            FBP_TRY(w->backend->memory.host_alloc(w->dev, w->work->block_bytes, "slices to write",
                                                  &w->pieces[i].host));
    FBP_TRY(write_blanks(w));
    while (fbp_queue_pop(w->queues[BLOCK_FULL], &at, &w->waited[FBP_STAGE_OUT])) {
        const struct block_slot b = w->blocks[at];
        const double start = fbp_stage_begin(w);
        FBP_TRY(fbp_stage_end(w, FBP_STAGE_OUT, start, write_block(w, &b)));
        fbp_queue_push(w->queues[BLOCK_FREE], at);
        if (b.last)
            fbp_queue_push(w->queues[VOLUME_FREE], b.volume);
    }
    return FBP_OK;
}

void fbp_stage_write(struct worker *w)
{
    const struct fbp_sum *sum = w->run->rq->sum;
    const bool several =
        w->backend->can.own_memory && w->io_threads && !w->volume && !(sum && sum->in_order);
    const size_t wanted = several ? (size_t)fbp_work_io_threads(w->backend, w->run->rq->job) : 0;

    /* start `wanted` writing threads, or fewer if the system starts no more */
    w->n_writers = 0;
    while (w->n_writers < wanted &&
           pthread_create(&w->writers[w->n_writers], NULL, writer_main, w) == 0)
        w->n_writers++;
    const fbp_status st = write_blocks(w);
    fbp_queue_close(w->queues[PARTS_FULL]);
    for (size_t i = 0; i < w->n_writers; i++)
        pthread_join(w->writers[i], NULL);
    fbp_stage_ended(w, st);
}
