/* The simulated device (mock.h): a struct fbp_backend whose slots queue commands, which run the CPU
 * device's arithmetic later, in the thread of their stage. */
#include "devices/mock/mock.h"

#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/system.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct fbp_mock_faults fbp_mock_faults;
atomic_uint_fast64_t fbp_mock_uploaded, fbp_mock_shared, fbp_mock_failures,
    fbp_mock_slabs[FBP_MOCK_DEVICES];

/* The time of a command, which stays until the device is closed. */
struct timestamp {
    double seconds;
    struct timestamp *next;
};

struct mock_device {
    const struct fbp_job *job;
    int index;
    fbp_device *inner; /* the CPU device */
    struct mock_stream *streams[FBP_N_STAGES];
    atomic_uint_fast64_t n_uploads, n_stage_waits, n_calls, n_commands;
    struct fbp_statistics found; /* of the thread of OUT, and of the host when it is past */
    unsigned *bitmap_bits;       /* of the thread of FILTER */
    size_t n_fetched;            /* slices of the current slab; of the thread of OUT */
    pthread_mutex_t lock;        /* of timestamps */
    struct timestamp *timestamps;
};

/* The arguments of a slot; run() gets a copy in the thread of its stage. */
struct command {
    struct mock_device *dev;
    mock_command_fn *run;
    void *dst, *volume;
    const void *src;
    size_t n_pieces, n_samples, stride, z0, z1;
    bool rows; /* filter: plain rows */
    struct fbp_batch batch;
    struct fbp_slab slab;
};

/* A NaN whose payload no arithmetic makes. */
static const uint32_t POISON = 0x7fc5a5a5u;

static const struct fbp_statistics no_statistics = {INFINITY, -INFINITY, 0};

static struct mock_device *mock_of(fbp_device *device)
{
    return (struct mock_device *)(void *)device;
}

static void poison(void *mem, size_t bytes)
{
    uint32_t *p = mem;

    for (size_t i = 0; i < bytes / sizeof *p; i++)
        p[i] = POISON;
}

static bool is_poisoned(const void *mem, size_t n_samples)
{
    const uint32_t *p = mem;

    for (size_t i = 0; i < n_samples; i++)
        if (p[i] == POISON)
            return true;
    return false;
}

/* Fail if samples of a batch are still poison. */
static fbp_status written(const struct command *c, const void *samples, size_t bytes,
                          const char *what)
{
    if (!is_poisoned(samples, bytes / sizeof(float)))
        return FBP_OK;
    return fbp_fail(FBP_ERR_DEVICE, "mock: views %zu to %zu were %s", c->batch.view0,
                    c->batch.view0 + c->batch.n_views - 1, what);
}

/* Count a call or command; fail from number `fails` on, as a lost device does. */
static fbp_status counted(struct mock_device *dev, atomic_uint_fast64_t *n, uint64_t fails,
                          const char *what)
{
    if (fails == 0 || atomic_fetch_add(n, 1) + 1 < fails)
        return FBP_OK;
    atomic_fetch_add(&fbp_mock_failures, 1);
    return fbp_fail(FBP_ERR_DEVICE, "mock: device %d: %s fails, as requested by a test", dev->index,
                    what);
}

/* All slots call this first. */
static fbp_status called(fbp_device *device)
{
    struct mock_device *dev = mock_of(device);

    return counted(dev, &dev->n_calls, fbp_mock_faults.fail_call[dev->index], "a call");
}

/* The same; after a failure no command uses memory of the caller any more. */
static fbp_status called_last(fbp_device *device)
{
    const fbp_status st = called(device);

    for (int i = 0; st != FBP_OK && i < FBP_N_STAGES; i++)
        mock_stream_finish(mock_of(device)->streams[i]);
    return st;
}

static fbp_status run_command(void *user)
{
    const struct command *c = user;
    struct mock_device *dev = c->dev;

    FBP_TRY(counted(dev, &dev->n_commands, fbp_mock_faults.fail_command[dev->index], "a command"));
    return c->run(user);
}

/* Queue a copy of *c. */
static fbp_status submit(fbp_device *device, enum fbp_stage stage, mock_command_fn *run,
                         const struct command *c)
{
    struct command *copy = malloc(sizeof *copy);

    if (!copy)
        return fbp_fail_nomem(sizeof *copy, "mock command");
    *copy = *c;
    copy->dev = mock_of(device);
    copy->run = run;
    return mock_stream_submit(mock_of(device)->streams[stage], run_command, copy);
}

static int count(char *why, size_t n)
{
    (void)why;
    (void)n;
    usleep(1000 * fbp_mock_faults.start_ms);
    return FBP_MOCK_DEVICES;
}

static void describe(int index, struct fbp_device_info *out)
{
    snprintf(out->text, sizeof out->text, "%ssimulated device in host memory, number %d, for tests",
             fbp_mock_faults.other_sort[index] ? "another " : "", index);
    out->memory_bytes = fbp_available_bytes() / FBP_MOCK_DEVICES;
    out->free_bytes = fbp_mock_faults.free_bytes[index];
}

static bool choose(struct fbp_job *job, const char *name)
{
    return fbp_backend_cpu.choose(job, name);
}

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return fbp_backend_cpu.filtered_bytes(job, n_views, n_rows);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_backend_cpu.volume_bytes(job, slab);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    return fbp_backend_cpu.fixed_bytes(job);
}

static bool holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
                  size_t n)
{
    (void)job;
    const uint64_t most = buffer ? fbp_mock_faults.most_bytes[buffer->purpose] : 0;

    snprintf(why, n, "mock device %d is full, as requested by a test; use --device cpu", index);
    return buffer ? !most || buffer->bytes <= most : !fbp_mock_faults.no_tables;
}

static void rates(const struct fbp_job *job, struct fbp_rates *out)
{
    (void)job;
    *out = fbp_mock_faults.rates;
}

static void close_device(fbp_device **device)
{
    struct mock_device *dev = mock_of(*device);

    if (!dev)
        return;
    /* First all of them: after an error their commands still wait for one another. */
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_drain(dev->streams[i]);
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_destroy(&dev->streams[i]);
    if (dev->inner)
        fbp_backend_cpu.close(&dev->inner);
    for (struct timestamp *next; dev->timestamps; dev->timestamps = next) {
        next = dev->timestamps->next;
        free(dev->timestamps);
    }
    pthread_mutex_destroy(&dev->lock);
    free(dev->bitmap_bits);
    free(dev);
    *device = NULL;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct mock_device *dev = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&dev, 1, sizeof *dev, "mock device"));
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    dev->index = index;
    pthread_mutex_init(&dev->lock, NULL);
    dev->found = no_statistics;
    FBP_TRY_GOTO(called(*out));
    FBP_TRY_GOTO(fbp_backend_cpu.open(&dev->inner, index, job));
    FBP_TRY_GOTO(fbp_calloc((void **)&dev->bitmap_bits,
                            fbp_row_bitmap_words(job->n_views, job->panel.n_rows),
                            sizeof *dev->bitmap_bits, "mock ledger"));
    for (int i = 0; i < FBP_N_STAGES; i++) {
        const unsigned late = fbp_mock_faults.slow_stage == (unsigned)i + 1 ? 10 : 1;
        FBP_TRY_GOTO(mock_stream_create(&dev->streams[i], late * fbp_mock_faults.delay_us));
    }
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

/* Bytes and shape of a batch must agree. */
static fbp_status alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out)
{
    FBP_TRY(called(device));
    if (buffer->purpose == FBP_FOR_FILTERED &&
        buffer->bytes < filtered_bytes(mock_of(device)->job, buffer->n_views, buffer->n_rows))
        return fbp_fail(FBP_ERR_DEVICE, "mock: %zu bytes are too few for %zu views of %zu rows",
                        buffer->bytes, buffer->n_views, buffer->n_rows);
    if (fbp_mock_faults.no_memory)
        return fbp_fail_nomem(buffer->bytes, "mock device memory");
    FBP_TRY(fbp_alloc(out, buffer->bytes, "mock device memory"));
    poison(*out, buffer->bytes);
    return FBP_OK;
}

static void release(fbp_device *device, enum fbp_purpose purpose, void *mem)
{
    (void)device;
    (void)purpose;
    fbp_free(mem);
}

/* Host memory unless a test forbids it, and the device's own. */
static bool reaches(fbp_device *device, const void *host, size_t bytes)
{
    const int owner = fbp_mock_memory_access.owner(host, bytes);

    return !fbp_mock_faults.reaches_nothing && (owner < 0 || owner == mock_of(device)->index);
}

static fbp_status run_upload(void *user)
{
    const struct command *c = user;
    const size_t n = c->n_samples, size = fbp_raw_size(c->dev->job);

    atomic_fetch_add(&fbp_mock_uploaded, c->n_pieces * n * size);
    for (size_t i = 0; i < c->n_pieces; i++)
        memcpy((char *)c->dst + i * n * size,
               (const char *)fbp_mock_host_memory(c->src) + i * c->stride * size, n * size);
    return FBP_OK;
}

static fbp_status upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                                size_t n_samples, size_t stride)
{
    FBP_TRY(called(device));
    if (atomic_fetch_add(&mock_of(device)->n_uploads, 1) + 1 == fbp_mock_faults.drop_upload)
        return FBP_OK;
    return submit(
        device, FBP_STAGE_IN, run_upload,
        &(struct command){
            .dst = dst, .src = src, .n_samples = n_samples, .stride = stride, .n_pieces = n});
}

static fbp_status upload(fbp_device *device, void *dst, const void *src, size_t n_samples)
{
    return upload_pieces(device, dst, src, 1, n_samples, 0);
}

/* Raw samples must have been uploaded, and must not be used afterwards.  uint16 counts are
 * converted to floats, which follow the counts in the same buffer. */
static fbp_status run_filter(void *user)
{
    const struct command *c = user;
    const struct fbp_job *job = c->dev->job;
    const size_t n = fbp_raw_samples(job, &c->batch);
    float *raw = (float *)(void *)((char *)c->volume + fbp_raw_floats(job, n));

    FBP_TRY(written(c, c->volume, n * fbp_raw_size(job), "filtered before they were uploaded"));
    for (size_t i = 0; job->input.type == FBP_U16 && i < n; i++)
        raw[i] = ((const uint16_t *)c->volume)[i];
    const fbp_status st = c->rows
                              ? fbp_backend_cpu.filter_rows(c->dev->inner, &c->batch, raw, c->dst)
                              : fbp_backend_cpu.filter(c->dev->inner, &c->batch, raw, c->dst);
    poison(c->volume, fbp_raw_device_bytes(job, n));
    return st;
}

/* Start of a batch in its buffer of filtered views. */
static void *batch_in(fbp_device *device, const struct fbp_batch *batch, const void *filtered)
{
    const struct fbp_job *job = mock_of(device)->job;

    return (char *)(uintptr_t)filtered +
           filtered_bytes(job, batch->position * job->selection.symmetric_views, batch->n_rows);
}

static fbp_status filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                         void *filtered)
{
    FBP_TRY(called(device));
    return submit(device, FBP_STAGE_FILTER, run_filter,
                  &(struct command){
                      .dst = batch_in(device, batch, filtered), .volume = raw, .batch = *batch});
}

static fbp_status filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                              float *rows)
{
    FBP_TRY(called(device));
    return submit(device, FBP_STAGE_FILTER, run_filter,
                  &(struct command){.dst = rows, .volume = raw, .batch = *batch, .rows = true});
}

static fbp_status run_download(void *user)
{
    const struct command *c = user;

    if (is_poisoned(c->src, c->n_samples))
        return fbp_fail(FBP_ERR_DEVICE, "mock: rows were downloaded before they were filtered");
    memcpy(c->dst, c->src, c->n_samples * sizeof(float));
    poison(c->volume, c->n_samples * sizeof(float));
    return FBP_OK;
}

static fbp_status download(fbp_device *device, const float *rows, size_t n, float *host)
{
    FBP_TRY(called(device));
    poison(host, n * sizeof *host);
    return submit(device, FBP_STAGE_OUT, run_download,
                  &(struct command){
                      .dst = host, .src = rows, .volume = (void *)(uintptr_t)rows, .n_samples = n});
}

static fbp_status run_share(void *user)
{
    const struct command *c = user;
    const size_t bytes = filtered_bytes(c->dev->job, c->batch.n_views, c->batch.n_rows);

    FBP_TRY(written(c, c->src, bytes, "copied before they were filtered"));
    memcpy(c->dst, c->src, bytes);
    atomic_fetch_add(&fbp_mock_shared, bytes);
    return FBP_OK;
}

static fbp_status share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                        fbp_device *from, const void *theirs)
{
    FBP_TRY(called(device));
    return submit(device, FBP_STAGE_OUT, run_share,
                  &(struct command){.dst = batch_in(device, batch, filtered),
                                    .src = batch_in(from, batch, theirs),
                                    .batch = *batch});
}

/* A held device waits until the others have begun enough slabs. */
static fbp_status run_clear(void *user)
{
    const struct command *c = user;
    const struct timespec tick = {.tv_nsec = 200000};

    while (fbp_mock_faults.held_device == (unsigned)c->dev->index + 1) {
        uint64_t others = 0;
        for (int i = 0; i < FBP_MOCK_DEVICES; i++)
            others += i == c->dev->index ? 0 : atomic_load(&fbp_mock_slabs[i]);
        if (others >= fbp_mock_faults.held_slabs)
            break;
        nanosleep(&tick, NULL);
    }
    return fbp_backend_cpu.clear(c->dev->inner, &c->slab, c->volume);
}

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    FBP_TRY(called(device));
    atomic_fetch_add(&fbp_mock_slabs[mock_of(device)->index], 1);
    return submit(device, FBP_STAGE_BP, run_clear,
                  &(struct command){.volume = volume, .slab = *slab});
}

static fbp_status run_backproject(void *user)
{
    const struct command *c = user;
    const size_t bytes = filtered_bytes(c->dev->job, c->batch.n_views, c->batch.n_rows);

    if (c->batch.n_rows > 0)
        FBP_TRY(written(c, c->src, bytes, "backprojected before they were filtered"));
    const fbp_status st = fbp_backend_cpu.backproject(c->dev->inner, &c->batch, c->src, &c->slab,
                                                      c->z0, c->z1, c->volume);
    /* A batch may not be used after the slab's last slices. */
    if (c->batch.n_rows > 0 && !c->batch.resident && c->z1 == c->slab.z0 + c->slab.nz &&
        !fbp_mock_faults.keep_batches)
        poison(c->dst, bytes);
    return st;
}

static fbp_status backproject(fbp_device *device, const struct fbp_batch *batch,
                              const void *filtered, const struct fbp_slab *slab, size_t z0,
                              size_t z1, void *volume)
{
    FBP_TRY(called(device));
    void *from = batch_in(device, batch, filtered);

    return submit(device, FBP_STAGE_BP, run_backproject,
                  &(struct command){.src = from,
                                    .dst = from,
                                    .volume = volume,
                                    .batch = *batch,
                                    .slab = *slab,
                                    .z0 = z0,
                                    .z1 = z1});
}

static fbp_status run_fetch(void *user)
{
    struct command *c = user;
    struct mock_device *dev = c->dev;
    const size_t n = fbp_channels(dev->job) * (c->z1 - c->z0) * fbp_slab_slice(&c->slab);
    const float *x = c->dst;
    const fbp_status st =
        fbp_backend_cpu.fetch(dev->inner, &c->slab, c->z0, c->z1, c->volume, c->dst);

    for (size_t i = 0; i < n; i++) {
        dev->found.min = fmin(dev->found.min, (double)x[i]);
        dev->found.max = fmax(dev->found.max, (double)x[i]);
        dev->found.sum += (double)x[i];
    }
    /* The contents of a slab may not be used after all of it was fetched. */
    dev->n_fetched += c->z1 - c->z0;
    if (dev->n_fetched == c->slab.nz) {
        poison(c->volume, volume_bytes(dev->job, &c->slab));
        dev->n_fetched = 0;
    }
    return st;
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    FBP_TRY(called(device));
    host = fbp_mock_host_memory(host);
    poison(host,
           fbp_channels(mock_of(device)->job) * (z1 - z0) * fbp_slab_slice(slab) * sizeof(float));
    return submit(
        device, FBP_STAGE_OUT, run_fetch,
        &(struct command){
            .dst = host, .volume = (void *)(uintptr_t)volume, .slab = *slab, .z0 = z0, .z1 = z1});
}

static fbp_status statistics(fbp_device *device, struct fbp_statistics *out)
{
    FBP_TRY(called(device));
    *out = mock_of(device)->found;
    mock_of(device)->found = no_statistics;
    return FBP_OK;
}

static fbp_status record(fbp_device *device, enum fbp_stage stage, struct fbp_event *out)
{
    FBP_TRY(called_last(device));
    *out = (struct fbp_event){stage, mock_stream_ticket(mock_of(device)->streams[stage])};
    return FBP_OK;
}

static fbp_status stage_wait(fbp_device *device, enum fbp_stage stage, struct fbp_event m)
{
    FBP_TRY(called(device));
    struct mock_device *dev = mock_of(device);

    if (atomic_fetch_add(&dev->n_stage_waits, 1) + 1 == fbp_mock_faults.drop_after)
        return FBP_OK;
    return mock_stream_after(dev->streams[stage], dev->streams[m.stage], m.ticket);
}

static fbp_status host_wait(fbp_device *device, struct fbp_event m)
{
    FBP_TRY(called(device));
    return mock_stream_wait(mock_of(device)->streams[m.stage], m.ticket);
}

static fbp_status run_timestamp(void *user)
{
    const struct command *c = user;

    ((struct timestamp *)c->dst)->seconds = fbp_seconds();
    return FBP_OK;
}

static fbp_status timestamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    FBP_TRY(called(device));
    struct mock_device *dev = mock_of(device);
    struct timestamp *s = NULL;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a stamp"));
    pthread_mutex_lock(&dev->lock);
    s->next = dev->timestamps;
    dev->timestamps = s;
    pthread_mutex_unlock(&dev->lock);
    *out = (uint64_t)(uintptr_t)s;
    return submit(device, stage, run_timestamp, &(struct command){.dst = s});
}

static fbp_status seconds_of(fbp_device *device, uint64_t at, double *seconds)
{
    FBP_TRY(called(device));
    *seconds = ((struct timestamp *)(uintptr_t)at)->seconds;
    return FBP_OK;
}

/* A queued row bitmap, with its bits behind it. */
struct new_bitmap {
    struct mock_device *dev;
    struct fbp_row_bitmap bitmap;
    unsigned bits[];
};

static fbp_status run_set_bitmap(void *user)
{
    const struct new_bitmap *c = user;
    const size_t words = fbp_row_bitmap_words(c->bitmap.n_views, c->bitmap.n_rows);
    struct fbp_row_bitmap own = c->bitmap;

    own.bits = memcpy(c->dev->bitmap_bits, c->bits, words * sizeof *c->bits);
    return fbp_backend_cpu.repair.set_bitmap(c->dev->inner, &own);
}

/* The caller may change the bits before this is at the front of the queue.  Without bits the run
 * has ended, and the queues are empty: the next run begins without a stop and with a whole slab. */
static fbp_status set_bitmap(fbp_device *device, const struct fbp_row_bitmap *bitmap)
{
    struct mock_device *dev = mock_of(device);
    const size_t bytes = fbp_row_bitmap_words(bitmap->n_views, bitmap->n_rows) * sizeof(unsigned);

    FBP_TRY(bitmap->bits ? called(device) : called_last(device));
    if (!bitmap->bits) {
        for (int i = 0; i < FBP_N_STAGES; i++)
            mock_stream_go_on(dev->streams[i]);
        dev->n_fetched = 0;
        return fbp_backend_cpu.repair.set_bitmap(dev->inner, bitmap);
    }
    struct new_bitmap *c = malloc(sizeof *c + bytes);
    if (!c)
        return fbp_fail_nomem(sizeof *c + bytes, "mock command");
    *c = (struct new_bitmap){dev, *bitmap};
    memcpy(c->bits, bitmap->bits, bytes);
    return mock_stream_submit(dev->streams[FBP_STAGE_FILTER], run_set_bitmap, c);
}

static fbp_status counts(fbp_device *device, struct fbp_prep_counts *out)
{
    FBP_TRY(called(device));
    return fbp_backend_cpu.repair.counts(mock_of(device)->inner, out);
}

const struct fbp_backend fbp_backend_mock = {
    .name = "mock",
    .in_host = true,
    .hidden = true,
    .summary = "a simulated device with its own memory and queues, for tests",
    .discovery.count = count,
    .discovery.describe = describe,
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .can.group_views = 8,
    .can.oversamples = true,
    .can.channels = true,
    .can.any_filter = true,
    .can.counts = true,
    .can.max_resident_views = 4096,
    .holds = holds,
    .rates = rates,
    .memory.of_caller = &fbp_mock_memory_access,
    .open = open_device,
    .close = close_device,
    .memory.alloc = alloc,
    .memory.release = release,
    .memory.reaches = reaches,
    .memory.upload = upload,
    .memory.upload_pieces = upload_pieces,
    .filter = filter,
    .filter_rows = filter_rows,
    .memory.download = download,
    .share = share,
    .clear = clear,
    .backproject = backproject,
    .fetch = fetch,
    .statistics = statistics,
    .event.record = record,
    .event.stage_wait = stage_wait,
    .event.host_wait = host_wait,
    .event.timestamp = timestamp,
    .event.seconds = seconds_of,
    .repair.set_bitmap = set_bitmap,
    .repair.counts = counts,
    .links = &fbp_mock_link_meter,
};
