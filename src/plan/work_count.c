/* What a division of the work takes: rows, buffers, bytes. */
#include "plan/work_count.h"

#include "backend/rows.h"
#include "backend/slab.h"
#include "plan/roi.h"
#include "plan/wanted.h"

#include "base/stop.h"

enum {
    DEVICE_BATCH_BYTES = 1 << 30, /* of samples that lie on the device */
    HOST_BUFFERS = 2,             /* one is filled while the other is used */
    BLOCK_BYTES = 8 << 20,        /* what is written at once */
    FETCHED_BLOCKS = 2,           /* while others are written */
    BLOCKS_SHARE = 16, /* of the memory, for the blocks of a device beyond the first three */
    FINISH_PARTS = 8,
    SLICE_BYTES = 16, /* of a slice of the output */
};

size_t fbp_work_rounded_batch(size_t views, size_t group, size_t n_views)
{
    const size_t whole = (n_views + group - 1) / group * group;
    const size_t up = (views + group - 1) / group * group;
    return up < whole ? up : whole;
}

/* Nothing is hidden by small batches where nothing is uploaded, and each of them passes over the
 * volume once more.  Two at least: the last one is backprojected in parts of the slab, which takes
 * longer. */
static size_t batch_on_device(const struct fbp_job *job)
{
    const size_t view = job->panel.n_rows * job->panel.n_columns * fbp_raw_size(job);
    const size_t half = (job->n_views + 1) / 2, most = DEVICE_BATCH_BYTES / view;
    const size_t batch = half < most ? half : most;

    return batch > FBP_WORK_BATCH ? batch : FBP_WORK_BATCH;
}

static size_t batch_of(const struct fbp_work_request *rq, size_t views)
{
    const size_t group = rq->backend->group_views;

    return fbp_work_rounded_batch(views, group, fbp_work_own_views(rq->job, group));
}

/* The batch that was asked for, as far as a buffer of filtered views can hold it. */
size_t fbp_work_largest_batch(const struct fbp_work_request *rq)
{
    const size_t free = rq->on_device ? batch_on_device(rq->job) : FBP_WORK_BATCH;
    const size_t wanted = rq->batch_views ? rq->batch_views : free;
    const size_t most = rq->backend->most_staying * rq->job->turns;

    return batch_of(rq, most && wanted > most ? most : wanted);
}

size_t fbp_work_smaller_batch(const struct fbp_work_request *rq, size_t batch)
{
    return batch_of(rq, batch / 2);
}

size_t fbp_work_more_slabs(size_t slabs, size_t n_slices)
{
    const size_t more = slabs + slabs / 8 + 1;

    return slabs >= n_slices ? 0 : more < n_slices ? more : n_slices;
}

size_t fbp_work_slices(const struct fbp_job *job)
{
    size_t first, n;

    fbp_roi_slices(job, &first, &n);
    return n;
}

size_t fbp_work_readings(const struct fbp_work *w)
{
    const size_t n = w->shared ? 1 : w->kept ? w->n_workers : w->n_slabs;

    return n < w->n_slabs ? n : w->n_slabs;
}

/* Rows of all batches of the slabs that read views: the most at once, and how many in all. */
static void count_rows(struct fbp_work *w, const struct fbp_job *job)
{
    double rows = 0;

    w->load_rows = w->filter_rows = 0;
    for (size_t i = 0; !fbp_stopped() && i < fbp_work_readings(w); i++) {
        const struct fbp_slab slab = fbp_work_slab(w, job, i);
        if (!w->kept && fbp_wanted_voxels(job, &slab, slab.z0, slab.z0 + slab.nz) == 0)
            continue; /* nobody computes it */
        for (size_t b = 0; b < w->n_batches; b++) {
            const struct fbp_batch batch = fbp_work_batch(w, job, &slab, b);
            rows += (double)batch.load_rows * (double)batch.n_views;
            if (batch.load_rows > w->load_rows)
                w->load_rows = batch.load_rows;
            if (batch.n_rows > w->filter_rows)
                w->filter_rows = batch.n_rows;
        }
    }
    w->view_reads = rows / ((double)job->n_views * (double)job->panel.n_rows);
}

/* Bytes of a slice that is fetched, of all frames. */
static size_t slice_bytes(const struct fbp_job *job)
{
    const struct fbp_slab any = fbp_slab_asked(job, 0, 1);

    return fbp_frames(job) * fbp_slab_slice(&any) * fbp_value_size(job);
}

/* Blocks that are added up are so thin that there are some while others are computed, and so thick
 * that each of the processes owns a slice. */
size_t fbp_work_block(const struct fbp_job *job, size_t slab_slices, size_t sharers)
{
    const size_t slice = slice_bytes(job), part = slab_slices / FINISH_PARTS;
    size_t n = slice < BLOCK_BYTES ? BLOCK_BYTES / slice : 1;

    if (sharers > 1 && n > part)
        n = part;
    if (sharers > 1 && n < sharers)
        n = sharers;
    return n < slab_slices ? n : slab_slices;
}

int fbp_work_io_threads(const struct fbp_backend *backend, const struct fbp_job *job)
{
    if (!backend->own_memory && !job->unpacks)
        return 1;
    return job->n_threads < FBP_MOST_IO_THREADS ? job->n_threads : FBP_MOST_IO_THREADS;
}

int fbp_work_readers(const struct fbp_backend *backend, const struct fbp_job *job)
{
    const int n = job->second ? job->n_threads : fbp_work_io_threads(backend, job);

    return job->most_readers && job->most_readers < n ? job->most_readers : n;
}

/* Blocks of a device with memory of its own: two are fetched while others are written, with a slice
 * for each of the threads that write. */
static size_t device_blocks(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    const size_t threads = (size_t)fbp_work_io_threads(rq->backend, rq->job);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a block has a slice */
    const size_t n = FETCHED_BLOCKS + (threads + w->block_slices - 1) / w->block_slices;
    const uint64_t most = rq->memory_limit / BLOCKS_SHARE / rq->n_workers / w->block_bytes;

    if (n <= most && !rq->few_blocks)
        return n;
    return most > FETCHED_BLOCKS && !rq->few_blocks ? (size_t)most : FETCHED_BLOCKS + 1;
}

/* What a slice of the output, and a slab, take in tables: of what is written and of hashes; of
 * tasks.
 */
uint64_t fbp_work_table_bytes(const struct fbp_work *w, const struct fbp_job *job)
{
    return (uint64_t)fbp_roi_size(job, 2) * fbp_volumes(job) * SLICE_BYTES +
           (uint64_t)fbp_work_slabs(w, job) *
               (sizeof(struct fbp_slab) + (w->n_batches + 1) * (uint64_t)sizeof(struct fbp_task));
}

size_t fbp_work_slab_bytes(const struct fbp_work_request *rq, size_t n_slices)
{
    const struct fbp_slab slab = fbp_slab_asked(rq->job, 0, n_slices);

    return rq->backend->volume_bytes(rq->job, &slab);
}

void fbp_work_count_slabs(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const uint64_t volumes = (fbp_work_slabs(w, rq->job) > rq->n_workers ? 2 : 1) *
                             (uint64_t)fbp_work_slab_bytes(rq, w->slab_slices);

    w->device_bytes = rq->backend->own_memory ? volumes : 0;
    w->memory_bytes = rq->base_bytes + FBP_WORK_SLACK + fbp_work_table_bytes(w, rq->job);
    if (rq->backend->in_host)
        w->memory_bytes += rq->n_workers * volumes;
}

/* Of a device, as the buffers are set. */
static uint64_t device_bytes(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    return (rq->backend->own_memory ? w->n_raw * w->raw_device_bytes : 0) +
           w->n_filtered * w->filtered_bytes + w->n_volumes * w->volume_bytes +
           rq->backend->fixed_bytes(rq->job);
}

uint64_t fbp_work_open_bytes(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    const uint64_t host = w->n_raw * w->raw_bytes + w->n_blocks * w->block_bytes;
    const uint64_t threads = (uint64_t)rq->job->n_threads * FBP_WORK_THREAD;

    return rq->n_workers * (host + threads + (rq->backend->in_host ? device_bytes(w, rq) : 0));
}

/* Threads of all workers that convert slices at the same time. */
static uint64_t converters(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    const size_t cores = rq->n_cores > 1 ? (size_t)rq->n_cores : 1;
    const size_t each = rq->backend->own_memory ? (size_t)fbp_work_io_threads(rq->backend, rq->job)
                        : w->block_slices < cores ? w->block_slices
                                                  : cores;

    return rq->n_workers * (uint64_t)each;
}

/* Buffers and bytes of a division whose slabs and batches are set. */
void fbp_work_count(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const struct fbp_job *job = rq->job;
    const bool own_memory = rq->backend->own_memory;

    count_rows(w, job);
    w->n_raw = HOST_BUFFERS;
    w->n_filtered = w->kept ? 1 : HOST_BUFFERS;
    w->n_volumes = !rq->one_slab && fbp_work_slabs(w, job) > w->n_workers ? 2 : 1;
    w->block_slices = fbp_work_block(job, w->slab_slices, rq->sharers);
    /* Kernels want long columns; eight parts still leave the writer seven to overlap. */
    const size_t parts = w->even ? 1 : FINISH_PARTS;
    w->finish_slices = (w->slab_slices + parts - 1) / parts;
    if (w->finish_slices < w->block_slices)
        w->finish_slices = w->block_slices;
    w->block_bytes = w->block_slices * slice_bytes(job);
    w->n_blocks = own_memory ? device_blocks(w, rq) : 1;
    const size_t samples = w->batch_views * w->load_rows * job->panel.n_columns;
    w->raw_bytes = samples * fbp_raw_size(job);
    w->raw_device_bytes = fbp_raw_device_bytes(job, samples);
    w->filtered_bytes =
        rq->backend->filtered_bytes(job, w->kept ? job->n_views : w->batch_views, w->filter_rows);
    w->volume_bytes = fbp_work_slab_bytes(rq, w->slab_slices);

    w->device_bytes = own_memory ? device_bytes(w, rq) : 0;
    w->memory_bytes = rq->base_bytes + FBP_WORK_SLACK + fbp_work_table_bytes(w, job) +
                      fbp_work_open_bytes(w, rq) + converters(w, rq) * rq->writer_bytes;
}
