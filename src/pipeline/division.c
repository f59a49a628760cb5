/* Divides the work of a reconstruction into slabs of slices and batches of views that fit into
 * memory, and chooses the division with the shortest predicted time: fbp_work_divide(). Also: sizes
 * of buffers, and numbers of threads that read and write. tasks.c turns a division into tasks,
 * predict.c predicts its time.
 * Used by: pipeline/. */
#include "pipeline/division.h"

#include "backend/rows.h"
#include "backend/slab.h"
#include "backend/views.h"
#include "base/text.h"
#include "base/threads.h"
#include "pipeline/job.h"

#include <stdio.h>

enum {
    BATCH = 32, /* default number of views per batch */
    /* reserve of host memory for stacks of threads, scratch memory of threads that read views, and
     * pages of libraries that are loaded later [bytes] */
    SLACK = 10 << 20,
    THREAD = 256 << 10, /* host memory per thread, besides buffers [bytes] */
    /* greatest size of a batch of views that already lie in device memory [bytes] */
    DEVICE_BATCH_BYTES = 1 << 30,
    /* greatest size of a batch of views of a device that runs one command at a time, but at least
     * BATCH views [bytes] */
    SERIAL_BATCH_BYTES = 128 << 20,
    /* buffers per worker for raw and for filtered views: one is filled while the other is read */
    HOST_BUFFERS = 2,
    BLOCK_BYTES = 8 << 20, /* greatest size of a block of slices, but at least one slice [bytes] */
    /* number of blocks of slices that are fetched from a device while other blocks are written */
    FETCHED_BLOCKS = 2,
    /* the buffers for blocks of slices of all devices take at most 1/BLOCKS_SHARE of the limit of
     * host memory, but each device has at least FETCHED_BLOCKS + 1 */
    BLOCKS_SHARE = 16,
    /* number of parts of a slab that the last batch of views updates one after another */
    FINISH_PARTS = 8,
    SLICE_BYTES = 16, /* bytes of tables per slice of the output */
    /* bytes added to the needed memory in messages, because resident sets of processes vary */
    RESIDENT_VARIES = 1 << 20,
    WHY = 300 /* size of a text with a reason */
};

/* ---- Sizes ---- */

/* Number of slices of the volume that this process computes. */
static size_t work_slices(const struct fbp_job *job)
{
    size_t first, n;

    fbp_job_slices(job, &first, &n);
    return n;
}

/* Round a number of slices up to a multiple of those that the kernel computes together. */
static size_t whole_depths(const struct fbp_job *job, size_t slices)
{
    const size_t depth = job->selection.depth ? job->selection.depth : 1;

    return (slices + depth - 1) / depth * depth;
}

size_t fbp_work_readings(const struct fbp_work *w)
{
    const size_t n = w->shared ? 1 : w->kept ? w->n_workers : w->n_slabs;

    return n < w->n_slabs ? n : w->n_slabs;
}

/* Round a number of views up to a multiple of `group`, at most to n_views rounded up. */
static size_t rounded_batch(size_t views, size_t group, size_t n_views)
{
    const size_t whole = (n_views + group - 1) / group * group;
    const size_t up = (views + group - 1) / group * group;

    return up < whole ? up : whole;
}

static size_t batch_of(const struct fbp_work_request *rq, size_t views)
{
    const size_t group = fbp_group_views(rq->backend, rq->job);

    return rounded_batch(views, group, fbp_work_own_views(rq->job, group));
}

/* Number of views of the batch that is tried first: the caller's number or BATCH, at most the
 * capacity of a buffer of filtered views.  Views in device memory get at least two large batches:
 * small batches hide no transfer there, and each one is another pass over the volume; the last
 * batch is backprojected in parts of the slab, which is slower. A device that runs one command at a
 * time gets batches of as many groups of symmetric views as a kernel adds in one pass. */
static size_t largest_batch(const struct fbp_work_request *rq)
{
    const struct fbp_job *job = rq->job;
    size_t wanted = rq->batch_views ? rq->batch_views : BATCH;

    if (!rq->batch_views && rq->on_device) {
        const size_t view = job->panel.n_rows * job->panel.n_columns * fbp_raw_size(job);
        const size_t half = (job->n_views + 1) / 2, most = DEVICE_BATCH_BYTES / view;
        const size_t batch = half < most ? half : most;
        wanted = batch > BATCH ? batch : BATCH;
    } else if (!rq->batch_views && rq->backend->can.serial) {
        const size_t view = job->panel.n_rows * job->panel.n_columns * fbp_raw_size(job);
        const size_t full = BATCH * job->selection.symmetric_views,
                     most = SERIAL_BATCH_BYTES / view;
        wanted = most < BATCH ? BATCH : most < full ? most : full;
    }
    const size_t most = rq->backend->can.max_resident_views * job->selection.symmetric_views;
    return batch_of(rq, most && wanted > most ? most : wanted);
}

/* Next larger number of slabs to try after `slabs` slabs did not fit into memory; 0: none. */
static size_t more_slabs(size_t slabs, size_t n_slices)
{
    const size_t more = slabs + slabs / 8 + 1;

    return slabs >= n_slices ? 0 : more < n_slices ? more : n_slices;
}

/* Bytes of one slice of the volume, all channels together, as fetched from the device. */
static size_t slice_bytes(const struct fbp_job *job)
{
    const struct fbp_slab any = fbp_slab_asked(job, 0, 1);

    return fbp_channels(job) * fbp_slab_slice(&any) * fbp_value_size(job);
}

/* Number of slices per block. If several processes (sharers) add partial volumes, a block is at
 * most 1/FINISH_PARTS of a slab, so that additions overlap with the computation, but has at least
 * one slice per process. */
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
    if (!backend->can.own_memory && !job->input.unpacks)
        return 1;
    return job->n_threads < FBP_MOST_IO_THREADS ? job->n_threads : FBP_MOST_IO_THREADS;
}

int fbp_work_readers(const struct fbp_backend *backend, const struct fbp_job *job)
{
    const int n = job->epr.second_stage ? job->n_threads : fbp_work_io_threads(backend, job);

    return job->input.most_readers && job->input.most_readers < n ? job->input.most_readers : n;
}

/* Bytes of a slab of n_slices slices, in the layout of the backend. */
static size_t slab_bytes(const struct fbp_work_request *rq, size_t n_slices)
{
    const struct fbp_slab slab = fbp_slab_asked(rq->job, 0, n_slices);

    return rq->backend->volume_bytes(rq->job, &slab);
}

/* Bytes of the tables of a run, with one entry per slice of the output, per slab and per task. */
static uint64_t table_bytes(const struct fbp_work *w, const struct fbp_job *job)
{
    return (uint64_t)fbp_box_size(job, 2) * fbp_volumes(job) * SLICE_BYTES +
           (uint64_t)fbp_work_slabs(w, job) *
               (sizeof(struct fbp_slab) + (w->n_batches + 1) * (uint64_t)sizeof(struct fbp_task));
}

/* Set the memory needs of division w to a lower bound: slabs and tables, but no views. */
static void count_slabs(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const uint64_t volumes = (fbp_work_slabs(w, rq->job) > rq->n_workers ? 2 : 1) *
                             (uint64_t)slab_bytes(rq, w->slab_slices);

    w->device_bytes = rq->backend->can.own_memory ? volumes : 0;
    w->memory_bytes = rq->base_bytes + SLACK + table_bytes(w, rq->job);
    if (rq->backend->in_host)
        w->memory_bytes += rq->n_workers * volumes;
}

/* Bytes of all buffers of one device. */
static uint64_t device_bytes(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    return (rq->backend->can.own_memory ? w->n_raw * w->raw_device_bytes : 0) +
           w->n_filtered * w->filtered_bytes + w->n_volumes * w->volume_bytes +
           rq->backend->fixed_bytes(rq->job);
}

uint64_t fbp_work_open_bytes(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    const uint64_t host = w->n_raw * w->raw_bytes + w->n_blocks * w->block_bytes;
    const uint64_t threads = (uint64_t)rq->job->n_threads * THREAD;

    return rq->n_workers * (host + threads + (rq->backend->in_host ? device_bytes(w, rq) : 0));
}

/* Compute the numbers and bytes of all buffers of a division whose slabs and batches are set. */
static void count_all(struct fbp_work *w, const struct fbp_work_request *rq)
{
    const struct fbp_job *job = rq->job;
    const struct fbp_backend *b = rq->backend;
    const size_t io_threads = (size_t)fbp_work_io_threads(b, job);
    double rows = 0;

    /* find the greatest numbers of detector rows that a batch reads and filters, and the number of
     * rows that all slabs read, divided by the number of rows of the scan */
    w->load_rows = w->filter_rows = 0;
    for (size_t i = 0; !fbp_stopped() && i < fbp_work_readings(w); i++) {
        const struct fbp_slab slab = fbp_work_slab(w, job, i);
        if (!w->kept && fbp_wanted_voxels(job, &slab, slab.z0, slab.z0 + slab.nz) == 0)
            continue; /* the slab has no requested voxel, so it is not computed */
        for (size_t k = 0; k < w->n_batches; k++) {
            const struct fbp_batch batch = fbp_work_batch(w, job, &slab, k);
            rows += (double)batch.load_rows * (double)batch.n_views;
            if (batch.load_rows > w->load_rows)
                w->load_rows = batch.load_rows;
            if (batch.n_rows > w->filter_rows)
                w->filter_rows = batch.n_rows;
        }
    }
    w->view_reads = rows / ((double)job->n_views * (double)job->panel.n_rows);

    w->n_raw = HOST_BUFFERS;
    w->n_filtered = w->kept ? 1 : HOST_BUFFERS;
    w->n_volumes = !rq->one_slab && fbp_work_slabs(w, job) > w->n_workers ? 2 : 1;
    w->block_slices = fbp_work_block(job, w->slab_slices, rq->sharers);
    /* The last batch of views updates a slab in parts, so that finished parts are written while the
     * next ones are computed; in few parts, because kernels are slow with thin ones. */
    const size_t parts = w->even ? 1 : FINISH_PARTS;
    const size_t step = (w->slab_slices + parts - 1) / parts;
    w->finish_slices = whole_depths(job, step > w->block_slices ? step : w->block_slices);
    w->block_bytes = w->block_slices * slice_bytes(job);
    w->n_blocks = 1;
    if (b->can.own_memory) {
        /* FETCHED_BLOCKS are fetched while others (at least a slice per thread) are written */
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a block has at least one slice */
        const size_t n = FETCHED_BLOCKS + (io_threads + w->block_slices - 1) / w->block_slices;
        const uint64_t most = rq->memory_limit / BLOCKS_SHARE / rq->n_workers / w->block_bytes;
        w->n_blocks = rq->few_blocks          ? FETCHED_BLOCKS + 1
                      : n <= most             ? n
                      : most > FETCHED_BLOCKS ? (size_t)most
                                              : FETCHED_BLOCKS + 1;
    }
    const size_t samples = w->batch_views * w->load_rows * job->panel.n_columns;
    w->raw_bytes = samples * fbp_raw_size(job);
    w->raw_device_bytes = fbp_raw_device_bytes(job, samples);
    w->filtered_bytes =
        b->filtered_bytes(job, w->kept ? job->n_views : w->batch_views, w->filter_rows);
    w->volume_bytes = slab_bytes(rq, w->slab_slices);

    /* number of threads per worker that convert slices for the output at the same time */
    const size_t cores = rq->n_cores > 1 ? (size_t)rq->n_cores : 1;
    const size_t converters = b->can.own_memory         ? io_threads
                              : w->block_slices < cores ? w->block_slices
                                                        : cores;
    w->device_bytes = b->can.own_memory ? device_bytes(w, rq) : 0;
    w->memory_bytes = rq->base_bytes + SLACK + table_bytes(w, job) + fbp_work_open_bytes(w, rq) +
                      rq->n_workers * (uint64_t)converters * rq->writer_bytes;
}

/* ---- Limits of single buffers, however much memory is free ---- */

/* Return whether all devices can allocate a buffer; buffer NULL: whether they can store the tables
 * of the job.  If not, `why` gets the reason of the first device that cannot. */
static bool holds(const struct fbp_work_request *rq, const struct fbp_buffer *buffer, char why[WHY])
{
    const size_t n = rq->devices ? rq->n_workers : 1;

    for (size_t i = 0; i < n; i++)
        if (!rq->backend->holds(rq->devices ? rq->devices[i] : 0, rq->job, buffer, why, WHY))
            return false;
    return true;
}

static bool holds_slab(const struct fbp_work_request *rq, size_t n_slices, char why[WHY])
{
    const struct fbp_buffer slab = {FBP_FOR_VOLUME, slab_bytes(rq, n_slices), 0, 0};

    return holds(rq, &slab, why);
}

/* Return whether all devices can allocate the buffers of division w for raw and filtered views. */
static bool holds_views(const struct fbp_work *w, const struct fbp_work_request *rq, char why[WHY])
{
    const size_t n = w->kept ? rq->job->n_views : w->batch_views;
    const struct fbp_buffer raw = {FBP_FOR_RAW, w->raw_device_bytes, w->batch_views, w->load_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED, w->filtered_bytes, n, w->filter_rows};

    return holds(rq, &raw, why) && holds(rq, &filtered, why);
}

/* ---- Divisions that fit into memory ---- */

static bool device_lacks(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    return rq->device_limit > 0 && w->device_bytes > rq->device_limit;
}

static bool fits(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    return w->memory_bytes <= rq->memory_limit && !device_lacks(w, rq);
}

static bool fits_with(struct fbp_work *w, const struct fbp_work_request *rq, size_t batch)
{
    char why[WHY];

    w->batch_views = batch;
    w->n_batches = fbp_work_batches(w, rq->job);
    count_all(w, rq);
    return fits(w, rq) && holds_views(w, rq, why) && holds_slab(rq, w->slab_slices, why);
}

/* Find the largest batch of views that fits beside slabs of `slices` slices; false: none fits. */
static bool try_slabs(struct fbp_work *w, const struct fbp_work_request *rq, size_t slices)
{
    const size_t nz = work_slices(rq->job), n = (nz + slices - 1) / slices;
    const size_t all = (n + rq->n_workers - 1) / rq->n_workers * rq->n_workers;
    size_t batch = largest_batch(rq);

    /* Several workers (one per device) get the same number of slabs each, of equal cost instead of
     * equal size, if the largest of these slabs fits into memory. */
    if (rq->n_workers > 1 && !rq->slab_slices && rq->job->matrices && all <= nz) {
        struct fbp_work by_cost = *w;
        by_cost.weighed = true;
        by_cost.n_slabs = all;
        by_cost.slab_slices = 0;
        for (size_t i = 0; i < all; i++) {
            const struct fbp_slab slab = fbp_work_slab(&by_cost, rq->job, i);
            by_cost.slab_slices = slab.nz > by_cost.slab_slices ? slab.nz : by_cost.slab_slices;
        }
        if (fits_with(&by_cost, rq, batch)) {
            *w = by_cost;
            return true;
        }
    }
    w->weighed = false;
    w->slab_slices = slices;
    w->n_slabs = n;
    for (;; batch = batch_of(rq, batch / 2)) {
        if (fits_with(w, rq, batch))
            return true;
        if (batch <= fbp_group_views(rq->backend, rq->job))
            return false;
    }
}

/* Find the least of the tried numbers of slabs, from `slabs` on, with which the work fits into
 * memory; false: none fits. Numbers whose slabs do not fit even without buffers for views are
 * rejected first, because finding the detector rows of a slab takes long. */
static bool try_from(struct fbp_work *w, const struct fbp_work_request *rq, size_t slabs)
{
    const size_t nz = work_slices(rq->job);
    char why[WHY];

    for (; slabs > 0; slabs = more_slabs(slabs, nz)) {
        struct fbp_work least = *w;
        least.slab_slices = (nz + slabs - 1) / slabs;
        least.n_slabs = (nz + least.slab_slices - 1) / least.slab_slices;
        least.n_batches = 1;
        count_slabs(&least, rq);
        if (fits(&least, rq) && holds_slab(rq, least.slab_slices, why) &&
            try_slabs(w, rq, least.slab_slices))
            return true;
    }
    return false;
}

/* ---- The division with the shortest predicted time ---- */

struct fbp_rates fbp_work_rates(const struct fbp_work_request *rq)
{
    struct fbp_rates rates;

    if (rq->rates.update > 0)
        rates = rq->rates;
    else
        rq->backend->rates(rq->job, &rates);
    if (rq->on_device && rates.copy > 0)
        rates.upload = rates.fetch = rates.copy;
    rates.serial = rq->backend->can.serial;
    return rates;
}

/* Copy division w of the work to *best if the predicted time of w is shorter than that of *best. */
static fbp_status take_quicker(const struct fbp_work *w, const struct fbp_work_request *rq,
                               struct fbp_work *best)
{
    struct fbp_predicted p;

    FBP_TRY(fbp_predict(rq->machine, &rq->rates, rq->job, w, &p, NULL));
    if (best->seconds == 0 || p.total < best->seconds) {
        *best = *w;
        best->seconds = p.total;
    }
    return FBP_OK;
}

/* Try divisions that keep filtered views on the device: kept by each worker, or `shared` (filtered
 * once and copied).  They have the least number of slabs that fits.  Two choices are varied: the
 * share of slices that are updated batch by batch (streamed), and the size of the parts in which
 * the last slices are finished: small parts are fetched early, large parts are computed faster.
 * Volumes of a series have no views in common, so these are never kept. */
static fbp_status take_kept(const struct fbp_work_request *rq, size_t slabs, bool shared,
                            struct fbp_work *best)
{
    struct fbp_work w = {.n_workers = rq->n_workers,
                         .group_views = fbp_group_views(rq->backend, rq->job),
                         .cut = best->cut,
                         .kept = true,
                         .all = fbp_work_all(rq->job),
                         .shared = shared};

    if (fbp_time_points(rq->job) > 1 || rq->job->part.view_groups[1] > 0 ||
        fbp_part_views(rq->job) > rq->backend->can.max_resident_views || !try_from(&w, rq, slabs))
        return FBP_OK;
    for (size_t parts = 4; parts <= 64; parts *= 2) {
        const size_t step = (work_slices(rq->job) / rq->n_workers + parts - 1) / parts;
        w.finish_slices = whole_depths(rq->job, step > w.block_slices ? step : w.block_slices);
        for (size_t eighths = 1; eighths <= 8; eighths++) {
            w.streamed = whole_depths(rq->job, (w.slab_slices * eighths + 7) / 8);
            FBP_TRY(take_quicker(&w, rq, best));
        }
    }
    return FBP_OK;
}

/* Set *out to the division with the shortest predicted time; *out stays if none fits into memory.
 * fits: whether the division passed in *out, with the fewest slabs, fits. */
static fbp_status take_quickest(const struct fbp_work_request *rq, size_t slabs, bool fits,
                                struct fbp_work *out)
{
    const size_t nz = work_slices(rq->job);
    struct fbp_work best = {.cut = out->cut}, two = *out;

    if (fits)
        FBP_TRY(take_quicker(out, rq, &best));
    if (fits && out->n_slabs == rq->n_workers && nz >= 2 * rq->n_workers &&
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a request has at least one worker */
        try_slabs(&two, rq, (nz + 2 * rq->n_workers - 1) / (2 * rq->n_workers)))
        FBP_TRY(take_quicker(&two, rq, &best));
    FBP_TRY(take_kept(rq, slabs, false, &best));
    if (rq->n_workers > 1 && rq->backend->can.shares)
        FBP_TRY(take_kept(rq, slabs, true, &best));
    if (best.seconds > 0)
        *out = best;
    return FBP_OK;
}

/* ---- Memory that is missing, if no division fits ---- */

/* Return FBP_ERR_NOMEM with a message that states the memory that division *out needs. */
static fbp_status fail_too_large(const struct fbp_work_request *rq, struct fbp_work *out)
{
    char needs[32], has[32];

    if (device_lacks(out, rq))
        return fbp_fail(FBP_ERR_NOMEM,
                        "memory: this reconstruction needs at least %s of device memory, but the "
                        "limit is %s; raise --device-memory, or choose a smaller volume",
                        fbp_bytes_up_text(needs, sizeof needs, out->device_bytes),
                        fbp_bytes_text(has, sizeof has, rq->device_limit));
    out->memory_bytes += RESIDENT_VARIES;
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: this reconstruction needs at least %s, but the limit is %s; raise "
                    "--memory, lower --threads, or choose a smaller volume",
                    fbp_bytes_up_text(needs, sizeof needs, out->memory_bytes - rq->uncounted_bytes),
                    fbp_bytes_text(has, sizeof has, rq->memory_limit - rq->uncounted_bytes));
}

/* Least memory [bytes] that any of the tried divisions needs; UINT64_MAX: no division was found. */
struct need {
    uint64_t memory; /* least host memory of the tried divisions that fit into device memory */
    /* device: least device memory of the tried divisions that exceed the limit of device memory;
     * beside_it: host memory of the division that needs this device memory */
    uint64_t device, beside_it;
    bool held; /* true: the devices can allocate the buffers of at least one division */
};

/* Return whether division w, by the bytes counted so far, needs less memory than `least`. */
static bool is_less(const struct fbp_work *w, const struct fbp_work_request *rq,
                    const struct need *least)
{
    if (device_lacks(w, rq))
        return least->memory == UINT64_MAX && w->device_bytes < least->device;
    return w->memory_bytes < least->memory;
}

/* Fail with a message that states the least memory for a division into `slabs` slabs or more. */
static fbp_status fail_with_need(const struct fbp_work_request *rq, size_t slabs,
                                 struct fbp_work *out)
{
    const size_t nz = work_slices(rq->job);
    struct need least = {.memory = UINT64_MAX, .device = UINT64_MAX};
    struct fbp_work_request few = *rq;
    struct fbp_work w = *out;
    char why[WHY] = "";

    few.few_blocks = true;
    w.weighed = false;
    for (; slabs > 0; slabs = more_slabs(slabs, nz)) {
        w.slab_slices = (nz + slabs - 1) / slabs;
        w.n_slabs = (nz + w.slab_slices - 1) / w.slab_slices;
        for (size_t batch = largest_batch(&few);; batch = batch_of(&few, batch / 2)) {
            w.batch_views = batch;
            w.n_batches = fbp_work_batches(&w, rq->job);
            count_slabs(&w, &few);
            /* Counting the detector rows of all batches takes long; skip it if slabs and tables
             * alone need at least as much memory as the best division so far. */
            if (!least.held || is_less(&w, &few, &least)) {
                count_all(&w, &few);
                if (holds_slab(&few, w.slab_slices, why) && holds_views(&w, &few, why)) {
                    least.held = true;
                    if (is_less(&w, &few, &least) && device_lacks(&w, &few)) {
                        least.device = w.device_bytes;
                        least.beside_it = w.memory_bytes;
                    } else if (is_less(&w, &few, &least)) {
                        least.memory = w.memory_bytes;
                    }
                }
            }
            if (batch <= fbp_group_views(rq->backend, rq->job))
                break;
        }
        FBP_TRY(fbp_check_cancelled());
    }
    if (!least.held)
        return FBP_UNSUPPORTED("device: %s", why);
    out->memory_bytes = least.memory < UINT64_MAX ? least.memory : least.beside_it;
    out->device_bytes = least.memory < UINT64_MAX ? 0 : least.device;
    return fail_too_large(rq, out);
}

/* ---- Division ---- */

fbp_status fbp_work_divide(const struct fbp_work_request *request, struct fbp_work *out)
{
    struct fbp_work_request known = *request, few;
    const struct fbp_work_request *const rq = &known;
    const size_t nz = work_slices(rq->job);
    const size_t most = rq->slab_slices && rq->slab_slices < nz ? rq->slab_slices : nz;
    const size_t least = rq->n_workers * (rq->slabs_each ? rq->slabs_each : 1);
    size_t slabs = (nz + most - 1) / most;
    const struct fbp_slab slice = fbp_slab_asked(rq->job, 0, 1);
    const double bytes = (double)fbp_channels(rq->job) * (double)slice.nx * (double)slice.ny *
                         (double)fbp_value_size(rq->job);
    char why[WHY], has[32], needs[32], frames[64] = "";

    *out = (struct fbp_work){.n_workers = rq->n_workers,
                             .group_views = fbp_group_views(rq->backend, rq->job),
                             .follow = rq->follow,
                             .even = rq->even,
                             .level = rq->even || rq->on_device};
    known.rates = fbp_work_rates(request);
    if (rq->job->matrices && (rq->n_workers > 1 || rq->rates.update > 0))
        fbp_cut_find(rq->job, &out->cut);
    /* Reject huge volumes of damaged scan files at once: a search for slabs would take long. */
    if (rq->job->channels > 1)
        snprintf(frames, sizeof frames, ", in %zu frames,", fbp_channels(rq->job));
    if (bytes > (double)rq->memory_limit)
        return fbp_fail(FBP_ERR_NOMEM,
                        "memory: a single slice of %zu x %zu voxels%s needs %s, but the limit is "
                        "%s; raise --memory, or choose a smaller volume",
                        slice.nx, slice.ny, frames,
                        fbp_bytes_estimate_text(needs, sizeof needs, bytes),
                        fbp_bytes_text(has, sizeof has, rq->memory_limit - rq->uncounted_bytes));

    if (!holds(rq, NULL, why))
        return FBP_UNSUPPORTED("device: %s", why);
    if (slabs < least)
        slabs = least < nz ? least : nz;
    /* If no division fits into memory, try again with the fewest buffers for blocks of slices: a
     * larger limit allows more buffers, but must not fail if a smaller one suffices. */
    few = known;
    few.few_blocks = true;
    const bool fits =
        try_from(out, rq, slabs) || (rq->backend->can.own_memory && try_from(out, &few, slabs));
    /* Choose by predicted time, unless views are processed as they arrive (follow), stages do not
     * overlap (even), or the fewest slabs are requested (plain) or known to be best (whole). */
    const bool whole = rq->on_device && fits && out->n_slabs == rq->n_workers;
    if (!rq->follow && !rq->even && !rq->plain && !whole && rq->rates.update > 0)
        FBP_TRY(take_quickest(rq, slabs, fits, out));
    /* If the search was cancelled, its result may be wrong. */
    FBP_TRY(fbp_check_cancelled());
    out->update = rq->rates.update;
    if (fits || out->seconds > 0)
        return FBP_OK;
    return fail_with_need(rq, slabs, out);
}

fbp_status fbp_work_rows(const struct fbp_work_request *rq, struct fbp_work *w)
{
    const size_t group = fbp_group_views(rq->backend, rq->job), n = rq->job->n_views;
    const struct fbp_job *job = rq->job;
    const bool own_memory = rq->backend->can.own_memory;
    const struct fbp_batch all = fbp_work_all(job);
    char why[WHY];

    *w = (struct fbp_work){.n_workers = 1,
                           .group_views = group,
                           .even = true,
                           .level = true,
                           .kept = true,
                           .all = all,
                           .n_slabs = 1,
                           .load_rows = all.load_rows,
                           .filter_rows = all.n_rows,
                           .view_reads = (double)all.load_rows / (double)job->panel.n_rows};
    for (size_t batch = rounded_batch(BATCH, group, n);;
         batch = rounded_batch(batch / 2, group, n)) {
        /* two buffers of filtered rows on the host, and the buffers of a device with own memory */
        const size_t samples = batch * all.load_rows * job->panel.n_columns;
        w->batch_views = batch;
        w->n_batches = fbp_work_batches(w, job);
        w->raw_bytes = samples * fbp_raw_size(job);
        w->raw_device_bytes = fbp_raw_device_bytes(job, samples);
        w->filtered_bytes = batch * all.n_rows * job->padded.panel.n_columns * sizeof(float);
        const uint64_t device = (own_memory ? w->raw_device_bytes + 2 * w->filtered_bytes : 0) +
                                rq->backend->fixed_bytes(job);
        w->device_bytes = own_memory ? device : 0;
        w->memory_bytes = rq->base_bytes + SLACK + w->raw_bytes + 2 * w->filtered_bytes +
                          (uint64_t)job->n_threads * THREAD + (rq->backend->in_host ? device : 0);

        const struct fbp_buffer raw = {FBP_FOR_RAW, w->raw_device_bytes, batch, w->load_rows};
        const struct fbp_buffer rows = {FBP_FOR_RAW, w->filtered_bytes, batch, w->filter_rows};
        const bool held = holds(rq, &raw, why) && holds(rq, &rows, why);
        if (held && fits(w, rq))
            return FBP_OK;
        if (batch <= group && !held)
            return FBP_UNSUPPORTED("device: %s", why);
        if (batch <= group)
            return fail_too_large(rq, w);
    }
}
