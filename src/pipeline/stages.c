/*
 * The four stages of a worker.  Each loop body takes a slot from the stage before, works, and hands
 * a slot to the stage after; freed slots run back.  On a device with queues of its own the calls
 * only enqueue, and marks carry the order.
 */
#include "pipeline/worker.h"

#include "backend/rows.h"
#include "base/clock.h"
#include "io/format.h"
#include "pipeline/device_memory.h"
#include "pipeline/load.h"

#include <math.h>

/* A stage of the host, and the queue of the device that it fills. */
enum {
    READ = FBP_STAGE_IN,
    FILTER = FBP_STAGE_FILTER,
    BACKPROJECT = FBP_STAGE_BP,
    WRITE = FBP_STAGE_OUT
};

static const struct fbp_backend *backend(const struct worker *w)
{
    return w->backend;
}

static fbp_status mark(struct worker *w, enum fbp_stage stage, struct fbp_mark *out)
{
    return backend(w)->mark ? backend(w)->mark(w->dev, stage, out) : FBP_OK;
}

static fbp_status after(struct worker *w, enum fbp_stage stage, struct fbp_mark m)
{
    return backend(w)->after && m.ticket ? backend(w)->after(w->dev, stage, m) : FBP_OK;
}

static fbp_status wait(struct worker *w, struct fbp_mark m)
{
    return backend(w)->wait && m.ticket ? backend(w)->wait(w->dev, m) : FBP_OK;
}

/* A stage begins to work: its seconds count from here. */
static double turn_begin(struct worker *w)
{
    if (w->run->rq->no_overlap)
        pthread_mutex_lock(&w->run->turn);
    return fbp_seconds();
}

/* With no_overlap, what the stage gave to its queue belongs to its turn. */
static fbp_status turn_end(struct worker *w, int stage, double start, fbp_status st)
{
    if (w->run->rq->no_overlap && st == FBP_OK)
        st = fbp_device_settle(backend(w), w->dev, (enum fbp_stage)stage);
    w->busy[stage] += fbp_seconds() - start;
    if (w->run->rq->no_overlap)
        pthread_mutex_unlock(&w->run->turn);
    return st;
}

/* With no_overlap, the seconds that a copy begun at `start` takes. */
static fbp_status copied(struct worker *w, enum fbp_stage stage, double start, double *seconds)
{
    if (!w->run->rq->no_overlap || !backend(w)->alloc)
        return FBP_OK;
    FBP_TRY(fbp_device_settle(backend(w), w->dev, stage));
    *seconds += fbp_seconds() - start;
    return FBP_OK;
}

static fbp_status read_task(struct worker *w, struct raw_slot *slot)
{
    const struct fbp_run_request *rq = w->run->rq;

    if (w->views)
        return FBP_OK;
    FBP_TRY(wait(w, slot->uploaded)); /* the host side is still being copied from */
    return fbp_load(rq->source, rq->top_down, rq->job, &w->tasks[slot->task].batch, slot->host);
}

void fbp_stage_read(struct worker *w)
{
    for (size_t i = 0; i < w->n_tasks && !atomic_load(&w->run->stop); i++) {
        size_t at;
        if (!fbp_queue_pop(w->raw_free, &at, &w->waited[READ]))
            break;
        w->raw[at].task = i;
        const double start = turn_begin(w);
        const fbp_status st = turn_end(w, READ, start, read_task(w, &w->raw[at]));
        if (st != FBP_OK) {
            fbp_run_failed(w->run, st);
            break;
        }
        fbp_queue_push(w->raw_full, at);
    }
    fbp_queue_close(w->raw_full);
}

/* A batch from where the caller has it: as fbp_load(), part after part. */
static fbp_status upload_from_caller(struct worker *w, const struct fbp_batch *batch, float *to)
{
    const struct fbp_job *job = w->run->rq->job;
    const size_t nc = job->panel.n_columns, view = job->panel.n_rows * nc;
    const size_t a_part = batch->n_views / job->turns, n = batch->load_rows * nc;

    for (size_t half = 0; half < fbp_halves(job); half++)
        for (size_t k = 0; k < batch->n_views; k += a_part, to += a_part * n)
            FBP_TRY(backend(w)->upload_pieces(w->dev, to,
                                              w->views + fbp_batch_view(job, batch, k) * view +
                                                  fbp_first_row(job, batch, half) * nc,
                                              a_part, n, view));
    return FBP_OK;
}

static fbp_status upload(struct worker *w, const struct fbp_batch *batch,
                         const struct raw_slot *raw)
{
    if (w->views)
        return upload_from_caller(w, batch, raw->device);
    return backend(w)->upload(w->dev, raw->device, raw->host,
                              fbp_raw_samples(w->run->rq->job, batch));
}

static fbp_status filter_task(struct worker *w, struct raw_slot *raw, struct filtered_slot *out)
{
    const struct fbp_batch *batch = &w->tasks[raw->task].batch;

    if (backend(w)->upload && batch->load_rows > 0) {
        FBP_TRY(after(w, FBP_STAGE_IN, raw->consumed));
        const double start = fbp_seconds();
        FBP_TRY(upload(w, batch, raw));
        FBP_TRY(copied(w, FBP_STAGE_IN, start, &w->upload));
        FBP_TRY(mark(w, FBP_STAGE_IN, &raw->uploaded));
        FBP_TRY(after(w, FBP_STAGE_FILTER, raw->uploaded));
    }
    FBP_TRY(after(w, FBP_STAGE_FILTER, out->consumed));
    if (batch->n_rows > 0)
        FBP_TRY(backend(w)->filter(w->dev, batch, raw->device, out->memory));
    FBP_TRY(mark(w, FBP_STAGE_FILTER, &out->ready));
    raw->consumed = out->ready;
    out->task = raw->task;
    return FBP_OK;
}

void fbp_stage_filter(struct worker *w)
{
    size_t from, to;

    while (fbp_queue_pop(w->raw_full, &from, &w->waited[FILTER]) &&
           fbp_queue_pop(w->filtered_free, &to, NULL)) {
        const double start = turn_begin(w);
        const fbp_status st =
            turn_end(w, FILTER, start, filter_task(w, &w->raw[from], &w->filtered[to]));
        if (st != FBP_OK) {
            fbp_run_failed(w->run, st);
            break;
        }
        fbp_queue_push(w->raw_free, from);
        fbp_queue_push(w->filtered_full, to);
    }
    fbp_queue_close(w->filtered_full);
}

/* Slices [z0, z1) of the slab are finished: hand them to the writer. */
static fbp_status finish_block(struct worker *w, const struct task *t, size_t volume, size_t z0,
                               size_t z1)
{
    size_t at;

    if (!fbp_queue_pop(w->block_free, &at, &w->waited[BACKPROJECT]))
        return FBP_ERR_CANCELLED;
    w->blocks[at] = (struct block_slot){.volume = volume,
                                        .slab = t->slab,
                                        .z0 = z0,
                                        .z1 = z1,
                                        .last = z1 == t->slab.z0 + t->slab.nz};
    FBP_TRY(mark(w, FBP_STAGE_BP, &w->blocks[at].ready));
    fbp_queue_push(w->block_full, at);
    return FBP_OK;
}

static fbp_status backproject_task(struct worker *w, const struct task *t,
                                   struct filtered_slot *slot, size_t volume)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t slice = rq->job->grid.n[0] * rq->job->grid.n[1], end = t->slab.z0 + t->slab.nz;
    const size_t step = t->last ? rq->work->finish_slices : t->slab.nz;
    void *memory = w->volumes[volume].memory;

    FBP_TRY(after(w, FBP_STAGE_BP, slot->ready));
    if (t->first) {
        FBP_TRY(after(w, FBP_STAGE_BP, w->volumes[volume].fetched));
        const double start = turn_begin(w);
        FBP_TRY(turn_end(w, BACKPROJECT, start, backend(w)->clear(w->dev, &t->slab, memory)));
    }
    for (size_t z0 = t->slab.z0; z0 < end; z0 += step) {
        const size_t z1 = z0 + step < end ? z0 + step : end;
        const uint64_t voxels = (uint64_t)slice * fbp_layer_slices(rq->job, z0, z1);
        const double start = turn_begin(w);
        FBP_TRY(turn_end(
            w, BACKPROJECT, start,
            backend(w)->backproject(w->dev, &t->batch, slot->memory, &t->slab, z0, z1, memory)));
        FBP_TRY(fbp_run_progress(w->run, voxels * t->batch.n_views, 0,
                                 t->batch.view0 * rq->job->turns + t->batch.n_views));
        if (t->last)
            FBP_TRY(finish_block(w, t, volume, z0, z1));
    }
    return mark(w, FBP_STAGE_BP, &slot->consumed);
}

void fbp_stage_backproject(struct worker *w)
{
    size_t at, volume = 0;

    while (fbp_queue_pop(w->filtered_full, &at, NULL)) {
        const struct task *t = &w->tasks[w->filtered[at].task];
        if (t->first && !fbp_queue_pop(w->volume_free, &volume, &w->waited[BACKPROJECT]))
            break;
        const fbp_status st = backproject_task(w, t, &w->filtered[at], volume);
        if (st != FBP_OK) {
            fbp_run_failed(w->run, st);
            break;
        }
        fbp_queue_push(w->filtered_free, at);
    }
    w->computed_at = fbp_seconds();
    fbp_queue_close(w->block_full);
}

/* Sum, least and most of n voxels; lanes side by side, so that the compiler can use vectors. */
static void add_statistics(struct run_state *run, const float *x, size_t n)
{
    enum { LANES = 16, RUN = 4096 };
    float least[LANES], most[LANES];
    double sum = 0;

    for (int k = 0; k < LANES; k++) {
        least[k] = INFINITY;
        most[k] = -INFINITY;
    }
    for (size_t at = 0; at < n; at += RUN) {
        const size_t end = at + RUN < n ? at + RUN : n;
        float part[LANES] = {0};
        size_t i = at;
        for (; i + LANES <= end; i += LANES)
            for (int k = 0; k < LANES; k++) {
                part[k] += x[i + (size_t)k];
                least[k] = x[i + (size_t)k] < least[k] ? x[i + (size_t)k] : least[k];
                most[k] = x[i + (size_t)k] > most[k] ? x[i + (size_t)k] : most[k];
            }
        for (; i < end; i++) {
            part[0] += x[i];
            least[0] = x[i] < least[0] ? x[i] : least[0];
            most[0] = x[i] > most[0] ? x[i] : most[0];
        }
        for (int k = 0; k < LANES; k++)
            sum += (double)part[k];
    }
    pthread_mutex_lock(&run->lock);
    run->sum += sum;
    for (int k = 0; k < LANES; k++) {
        run->min = fmin(run->min, (double)least[k]);
        run->max = fmax(run->max, (double)most[k]);
    }
    pthread_mutex_unlock(&run->lock);
}

/* A piece is here: hand it to the sink. */
static fbp_status write_piece(struct worker *w, const struct piece_slot *p)
{
    const struct fbp_run_request *rq = w->run->rq;

    FBP_TRY(wait(w, p->fetched));
    if (!backend(w)->statistics)
        add_statistics(w->run, p->host, p->nz * rq->job->grid.n[0] * rq->job->grid.n[1]);
    return fbp_sink_write(rq->sink, p->z0, p->nz, p->host);
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
            const double start = fbp_seconds();
            FBP_TRY(
                backend(w)->fetch(w->dev, &b->slab, p->z0, p->z0 + p->nz, volume->memory, p->host));
            FBP_TRY(copied(w, FBP_STAGE_OUT, start, &w->fetch));
            FBP_TRY(mark(w, FBP_STAGE_OUT, &p->fetched));
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
    const struct fbp_job *job = w->run->rq->job;
    struct volume_slot *volume = &w->volumes[b->volume];
    float *to = w->volume + z0 * job->grid.n[0] * job->grid.n[1];
    const double start = fbp_seconds();

    FBP_TRY(backend(w)->fetch(w->dev, &b->slab, z0, z1, volume->memory, to));
    FBP_TRY(copied(w, FBP_STAGE_OUT, start, &w->fetch));
    return mark(w, FBP_STAGE_OUT, &volume->fetched);
}

static fbp_status finish_slab(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;
    size_t z0, z1;

    if (w->volume)
        FBP_TRY(wait(w, w->volumes[b->volume].fetched));
    for (size_t half = 0; w->volume && half < fbp_halves(rq->job); half++) {
        fbp_layer_range(rq->job, half, b->slab.z0, b->slab.z0 + b->slab.nz, &z0, &z1);
        fbp_sink_written(rq->sink, z0, z1 - z0);
    }
    return fbp_run_progress(w->run, 0, 1, rq->job->n_views);
}

static fbp_status write_block(struct worker *w, const struct block_slot *b)
{
    const struct fbp_run_request *rq = w->run->rq;

    FBP_TRY(after(w, FBP_STAGE_OUT, b->ready));
    for (size_t half = 0; half < fbp_halves(rq->job); half++) {
        size_t z0, z1;
        fbp_layer_range(rq->job, half, b->z0, b->z1, &z0, &z1);
        FBP_TRY((w->volume ? fetch_to_caller : write_pieces)(w, b, z0, z1));
        w->n_written += (z1 - z0) * rq->job->grid.n[0] * rq->job->grid.n[1];
    }
    return b->last ? finish_slab(w, b) : FBP_OK;
}

void fbp_stage_write(struct worker *w)
{
    size_t at;

    while (fbp_queue_pop(w->block_full, &at, &w->waited[WRITE])) {
        const struct block_slot b = w->blocks[at];
        const double start = turn_begin(w);
        const fbp_status st = turn_end(w, WRITE, start, write_block(w, &b));
        if (st != FBP_OK) {
            fbp_run_failed(w->run, st);
            break;
        }
        fbp_queue_push(w->block_free, at);
        if (b.last)
            fbp_queue_push(w->volume_free, b.volume);
    }
}
