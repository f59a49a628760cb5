#include "pipeline/worker.h"

#include "base/mem.h"
#include "pipeline/device_memory.h"

static fbp_status make_tasks(struct worker *w, const struct fbp_slab *slabs, size_t n_slabs)
{
    const struct fbp_run_request *rq = w->run->rq;
    const size_t n = rq->work->n_batches;

    FBP_TRY(fbp_calloc((void **)&w->tasks, n_slabs * n, sizeof *w->tasks, "task list"));
    for (size_t i = 0; i < n_slabs; i++)
        for (size_t b = 0; b < n; b++)
            w->tasks[w->n_tasks++] =
                (struct task){.slab = slabs[i],
                              .batch = fbp_work_batch(rq->work, rq->job, &slabs[i], b),
                              .first = b == 0,
                              .last = b + 1 == n};
    return FBP_OK;
}

static fbp_status make_buffers(struct worker *w)
{
    const struct fbp_work *work = w->run->rq->work;
    const struct fbp_backend *b = w->run->rq->backend;
    const bool own = b->alloc != NULL;
    const struct fbp_buffer raw = {FBP_FOR_RAW, work->raw_bytes, work->batch_views,
                                   work->load_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED, work->filtered_bytes, work->batch_views,
                                        work->filter_rows};
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, work->volume_bytes, 0, 0};

    for (size_t i = 0; i < work->n_raw; i++) {
        FBP_TRY(fbp_host_get(b, w->dev, work->raw_bytes, "a batch of views", &w->raw[i].host));
        w->raw[i].device = w->raw[i].host;
        if (own)
            FBP_TRY(fbp_device_get(b, w->dev, &raw, &w->raw[i].device));
    }
    for (size_t i = 0; i < work->n_filtered; i++)
        FBP_TRY(fbp_device_get(b, w->dev, &filtered, &w->filtered[i].memory));
    for (size_t i = 0; i < work->n_volumes; i++)
        FBP_TRY(fbp_device_get(b, w->dev, &volume, &w->volumes[i].memory));
    return fbp_host_get(b, w->dev, work->block_bytes, "slices to write", &w->block_host);
}

/* A queue with room for n, holding 0 … n-1 if `filled`. */
static fbp_status make_queue(fbp_queue **out, size_t n, bool filled)
{
    FBP_TRY(fbp_queue_create(out, n));
    for (size_t i = 0; filled && i < n; i++)
        fbp_queue_push(*out, i);
    return FBP_OK;
}

fbp_status fbp_worker_create(struct worker *w, struct run_state *run, int device,
                             const struct fbp_slab *slabs, size_t n_slabs)
{
    const struct fbp_work *work = run->rq->work;

    *w = (struct worker){.run = run};
    FBP_TRY(run->rq->backend->open(&w->dev, device, run->rq->job));
    FBP_TRY(make_tasks(w, slabs, n_slabs));
    FBP_TRY(make_buffers(w));
    FBP_TRY(make_queue(&w->raw_free, work->n_raw, true));
    FBP_TRY(make_queue(&w->raw_full, work->n_raw, false));
    FBP_TRY(make_queue(&w->filtered_free, work->n_filtered, true));
    FBP_TRY(make_queue(&w->filtered_full, work->n_filtered, false));
    FBP_TRY(make_queue(&w->volume_free, work->n_volumes, true));
    FBP_TRY(make_queue(&w->block_free, N_BLOCKS, true));
    return make_queue(&w->block_full, N_BLOCKS, false);
}

void fbp_worker_abort(struct worker *w)
{
    fbp_queue *const queues[] = {w->raw_free,    w->raw_full,   w->filtered_free, w->filtered_full,
                                 w->volume_free, w->block_free, w->block_full};

    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
        if (queues[i])
            fbp_queue_abort(queues[i]);
}

/* A run that failed or was cancelled leaves work on a device's queues, which still uses its memory.
 */
static void come_to_rest(struct worker *w)
{
    for (int i = 0; w->dev && i < FBP_N_STAGES; i++) /* a failure is known already */
        (void)!fbp_device_settle(w->run->rq->backend, w->dev, (enum fbp_stage)i);
}

void fbp_worker_destroy(struct worker *w)
{
    const struct fbp_backend *b = w->run->rq->backend;
    fbp_queue **const queues[] = {&w->raw_free,      &w->raw_full,    &w->filtered_free,
                                  &w->filtered_full, &w->volume_free, &w->block_free,
                                  &w->block_full};

    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
        fbp_queue_destroy(queues[i]);
    come_to_rest(w);
    for (int i = 0; i < MAX_SLOTS; i++) {
        if (w->raw[i].device != w->raw[i].host)
            fbp_device_put(b, w->dev, FBP_FOR_RAW, w->raw[i].device);
        fbp_host_put(b, w->dev, w->raw[i].host);
        fbp_device_put(b, w->dev, FBP_FOR_FILTERED, w->filtered[i].memory);
        fbp_device_put(b, w->dev, FBP_FOR_VOLUME, w->volumes[i].memory);
    }
    fbp_host_put(b, w->dev, w->block_host);
    free(w->tasks);
    if (w->dev)
        w->run->rq->backend->close(&w->dev);
}
