#include "pipeline/work.h"

#include "backend/partners.h"

#include "base/text.h"

enum {
    PREFERRED_BATCH = 32,
    HOST_BUFFERS = 2,      /* one is filled while the other is used */
    BLOCK_BYTES = 8 << 20, /* what is written at once */
    DEVICE_BLOCKS = 3,     /* two are fetched while one is written */
    FINISH_PARTS = 8,
    SLACK_BYTES = 10 << 20, /* stacks, scratch of readers, pages of libraries used later */
    THREAD_BYTES = 256 << 10,
};

struct fbp_slab fbp_work_slab(const struct fbp_work *w, const struct fbp_job *job, size_t i)
{
    const size_t z0 = i * w->slab_slices, left = fbp_layers(job) - z0;
    return (struct fbp_slab){z0, left < w->slab_slices ? left : w->slab_slices};
}

/* In groups: batches of 1, 2, 4 … < most, then `even` ones that share the rest. */
struct ramp {
    size_t n_groups, most, n_rising, rising, even;
};

static struct ramp ramp_of(const struct fbp_work *w, size_t n_views)
{
    struct ramp r = {.n_groups = (n_views + w->group_views - 1) / w->group_views,
                     .most = w->batch_views / w->group_views};

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

struct fbp_batch fbp_work_batch(const struct fbp_work *w, const struct fbp_job *job,
                                const struct fbp_slab *slab, size_t b)
{
    const size_t margin = job->prep->margin_rows;
    struct fbp_batch out = {0};
    size_t r1;

    fbp_work_views(w, job, b, &out.view0, &out.n_views);
    rows_of(job, &out, slab->z0, slab->z0 + slab->nz, &out.row0, &r1);
    out.n_rows = r1 - out.row0;
    if (out.n_rows > 0) {
        const size_t end = r1 + margin < job->panel.n_rows ? r1 + margin : job->panel.n_rows;
        out.load_row0 = out.row0 > margin ? out.row0 - margin : 0;
        out.load_rows = end - out.load_row0;
    }
    return out;
}

/* Rows of all batches of all slabs: the most at once, and how many in all. */
static void count_rows(struct fbp_work *w, const struct fbp_job *job)
{
    double rows = 0;

    w->load_rows = w->filter_rows = 0;
    for (size_t i = 0; i < w->n_slabs; i++) {
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

/* Buffers and bytes of a division whose slabs and batches are set. */
static void count_bytes(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const struct fbp_job *job = rq->job;
    const size_t slice = job->grid.n[0] * job->grid.n[1] * sizeof(float);
    const bool own_memory = rq->backend->alloc != NULL;

    count_rows(w, job);
    w->n_raw = w->n_filtered = HOST_BUFFERS;
    w->n_blocks = own_memory ? DEVICE_BLOCKS : 1;
    w->n_volumes = w->n_slabs > w->n_workers ? 2 : 1;
    w->block_slices = block_slices(w, slice);
    /* Kernels want long columns; eight parts still leave the writer seven to overlap. */
    const size_t parts = w->even ? 1 : FINISH_PARTS;
    w->finish_slices = (w->slab_slices + parts - 1) / parts;
    if (w->finish_slices < w->block_slices)
        w->finish_slices = w->block_slices;
    w->block_bytes = w->block_slices * slice;
    w->raw_bytes =
        fbp_halves(job) * w->batch_views * w->load_rows * job->panel.n_columns * sizeof(float);
    w->filtered_bytes = rq->backend->filtered_bytes(job, w->batch_views, w->filter_rows);
    w->volume_bytes = rq->backend->volume_bytes(job, w->slab_slices);

    const uint64_t host = w->n_raw * w->raw_bytes + w->n_blocks * w->block_bytes;
    const uint64_t device = (own_memory ? w->n_raw * w->raw_bytes : 0) +
                            w->n_filtered * w->filtered_bytes + w->n_volumes * w->volume_bytes +
                            rq->backend->fixed_bytes(job);
    const uint64_t threads = (uint64_t)job->n_threads * THREAD_BYTES;
    w->device_bytes = own_memory ? device : 0;
    w->memory_bytes =
        rq->base_bytes + SLACK_BYTES + threads + rq->n_workers * (host + (own_memory ? 0 : device));
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

/* The largest batch that fits with this many slabs; false if none does. */
static bool try_slabs(struct fbp_work *w, const struct fbp_work_request *rq, size_t slices)
{
    const struct fbp_job *job = rq->job;
    const size_t group = rq->backend->group_views;
    const size_t wanted = rq->batch_views ? rq->batch_views : PREFERRED_BATCH;
    size_t batch = rounded_batch(wanted, group, job->n_views);

    w->slab_slices = slices;
    w->n_slabs = (fbp_layers(job) + slices - 1) / slices;
    for (;;) {
        w->batch_views = batch;
        const struct ramp r = ramp_of(w, job->n_views);
        w->n_batches = r.n_rising + r.even;
        count_bytes(w, rq);
        if (fits(w, rq))
            return true;
        if (batch <= group)
            return false;
        batch = rounded_batch(batch / 2, group, job->n_views);
    }
}

fbp_status fbp_work_divide(const struct fbp_work_request *rq, struct fbp_work *out)
{
    const size_t nz = fbp_layers(rq->job), halves = fbp_halves(rq->job);
    const size_t wanted = (rq->slab_slices + halves - 1) / halves;
    const size_t most = wanted && wanted < nz ? wanted : nz;
    char needs[32], has[32];

    *out = (struct fbp_work){
        .n_workers = rq->n_workers, .group_views = rq->backend->group_views, .even = rq->even};
    size_t slabs = (nz + most - 1) / most;
    if (slabs < rq->n_workers)
        slabs = rq->n_workers < nz ? rq->n_workers : nz;
    for (;;) {
        const size_t slices = (nz + slabs - 1) / slabs;
        if (try_slabs(out, rq, slices))
            return FBP_OK;
        if (slices == 1)
            break;
        slabs += slabs / 8 + 1;
        if (slabs > nz)
            slabs = nz;
    }
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
