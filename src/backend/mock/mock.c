#include "backend/mock/mock.h"

#include "backend/mock/stream.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

extern const struct fbp_backend fbp_backend_cpu;

/* A NaN whose payload no arithmetic makes. */
static const uint32_t POISON = 0x7fc5a5a5u;

struct mock_device {
    const struct fbp_job *job;
    int index;
    fbp_device *inner;
    struct mock_stream *streams[FBP_N_STAGES];
    atomic_uint_fast64_t n_uploads, n_afters, n_waits, n_calls, n_commands;
    struct fbp_statistics found; /* OUT's thread, and the host when it is past */
    unsigned *ledger_bits;       /* FILTER's thread only */
    size_t n_fetched;            /* slices of the slab that is being fetched; OUT's thread only */
    pthread_mutex_t lock;        /* stamps */
    struct stamp *stamps;
};

/* The time of a command, which stays until the device is closed. */
struct stamp {
    double seconds;
    struct stamp *next;
};

/* Is this the one that a test wants to fail? */
static fbp_status planted(struct mock_device *dev, atomic_uint_fast64_t *n, uint64_t fails,
                          const char *what)
{
    if (fails == 0 || atomic_fetch_add(n, 1) + 1 < fails)
        return FBP_OK;
    atomic_fetch_add(&fbp_mock_failures, 1);
    return fbp_fail(FBP_ERR_DEVICE, "mock: device %d: %s fails, as a test wants", dev->index, what);
}

/* From that one on, all fail, as on a device that is lost. */
static fbp_status called(fbp_device *device)
{
    struct mock_device *dev = (struct mock_device *)(void *)device;

    return planted(dev, &dev->n_calls, fbp_mock_plant.fail_call[dev->index], "a call");
}

/* ... and it works no more, on nobody's memory, when this returns. */
static fbp_status called_last(fbp_device *device)
{
    const struct mock_device *dev = (const struct mock_device *)(const void *)device;
    const fbp_status st = called(device);

    for (int i = 0; st != FBP_OK && i < FBP_N_STAGES; i++)
        mock_stream_finish(dev->streams[i]);
    return st;
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

static int count(char *why, size_t n)
{
    (void)why;
    (void)n;
    return FBP_MOCK_DEVICES;
}

static void describe(int index, struct fbp_device_info *out)
{
    snprintf(out->text, sizeof out->text, "%spretended device in host memory, number %d, for tests",
             fbp_mock_plant.other_sort[index] ? "another " : "", index);
    out->memory_bytes = fbp_available_bytes() / FBP_MOCK_DEVICES;
    out->free_bytes = fbp_mock_plant.free_bytes[index];
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
    const uint64_t most = buffer ? fbp_mock_plant.most_bytes[buffer->purpose] : 0;

    snprintf(why, n, "mock device %d holds no more, as a test wants: use --device cpu", index);
    return buffer ? !most || buffer->bytes <= most : !fbp_mock_plant.no_tables;
}

static void rates(const struct fbp_job *job, struct fbp_rates *out)
{
    (void)job;
    *out = fbp_mock_plant.rates;
}

static void close_device(fbp_device **device)
{
    struct mock_device *dev = (struct mock_device *)(void *)*device;

    if (!dev)
        return;
    /* First all of them: after an error their commands still wait for one another. */
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_drain(dev->streams[i]);
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_destroy(&dev->streams[i]);
    if (dev->inner)
        fbp_backend_cpu.close(&dev->inner);
    for (struct stamp *next; dev->stamps; dev->stamps = next) {
        next = dev->stamps->next;
        free(dev->stamps);
    }
    pthread_mutex_destroy(&dev->lock);
    free(dev->ledger_bits);
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
    dev->found = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    FBP_TRY_GOTO(called(*out));
    FBP_TRY_GOTO(fbp_backend_cpu.open(&dev->inner, index, job));
    FBP_TRY_GOTO(fbp_calloc((void **)&dev->ledger_bits,
                            fbp_ledger_words(job->n_views, job->panel.n_rows),
                            sizeof *dev->ledger_bits, "mock ledger"));
    for (int i = 0; i < FBP_N_STAGES; i++) {
        const unsigned late = fbp_mock_plant.slow_stage == (unsigned)i + 1 ? 10 : 1;
        FBP_TRY_GOTO(mock_stream_create(&dev->streams[i], late * fbp_mock_plant.delay_us));
    }
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

/* Bytes and shape of a batch must agree. */
static fbp_status mock_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out)
{
    FBP_TRY(called(device));
    const struct fbp_job *job = ((struct mock_device *)(void *)device)->job;

    if (buffer->purpose == FBP_FOR_FILTERED &&
        buffer->bytes < filtered_bytes(job, buffer->n_views, buffer->n_rows))
        return fbp_fail(FBP_ERR_DEVICE, "mock: %zu bytes do not hold %zu views of %zu rows",
                        buffer->bytes, buffer->n_views, buffer->n_rows);
    if (fbp_mock_plant.no_memory)
        return fbp_fail_nomem(buffer->bytes, "mock device memory");
    FBP_TRY(fbp_alloc(out, buffer->bytes, "mock device memory"));
    poison(*out, buffer->bytes);
    return FBP_OK;
}

static void mock_release(fbp_device *device, enum fbp_purpose purpose, void *mem)
{
    (void)device;
    (void)purpose;
    fbp_free(mem);
}

/* Where a batch begins in its buffer. */
static void *place_of(const struct mock_device *dev, const struct fbp_batch *batch,
                      const void *filtered)
{
    return (char *)(uintptr_t)filtered +
           filtered_bytes(dev->job, batch->place * dev->job->turns, batch->n_rows);
}

/* Commands: what a slot was called with, run later by its stage's thread. */
struct command {
    struct mock_device *dev;
    mock_command_fn *run;
    void *dst, *volume;
    const void *src;
    size_t n_pieces, n_samples, stride, z0, z1;
    struct fbp_batch batch;
    struct fbp_slab slab;
};

static fbp_status run_command(void *user)
{
    const struct command *c = user;

    struct mock_device *dev = c->dev;

    FBP_TRY(planted(dev, &dev->n_commands, fbp_mock_plant.fail_command[dev->index], "a command"));
    return c->run(user);
}

static fbp_status submit(struct mock_device *dev, enum fbp_stage stage, mock_command_fn *fn,
                         const struct command *c)
{
    struct command *copy = malloc(sizeof *copy);

    if (!copy)
        return fbp_fail_nomem(sizeof *copy, "mock command");
    *copy = *c;
    copy->dev = dev;
    copy->run = fn;
    return mock_stream_submit(dev->streams[stage], run_command, copy);
}

static fbp_status run_upload(void *user)
{
    const struct command *c = user;
    const size_t n = c->n_samples, size = fbp_raw_size(c->dev->job);

    atomic_fetch_add(&fbp_mock_uploaded, c->n_pieces * n * size);
    for (size_t i = 0; i < c->n_pieces; i++)
        memcpy((char *)c->dst + i * n * size,
               (const char *)fbp_mock_near(c->src) + i * c->stride * size, n * size);
    return FBP_OK;
}

static fbp_status upload(fbp_device *device, void *dst, const void *src, size_t n_samples)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    if (atomic_fetch_add(&dev->n_uploads, 1) + 1 == fbp_mock_plant.drop_upload)
        return FBP_OK;
    return submit(dev, FBP_STAGE_IN, run_upload,
                  &(struct command){.dst = dst, .src = src, .n_samples = n_samples, .n_pieces = 1});
}

/* Host memory lent to the device: tests say which; and its own. */
static bool reaches(fbp_device *device, const void *host, size_t bytes)
{
    const int owner = fbp_mock_far_access.owner(host, bytes);

    return !fbp_mock_plant.reaches_nothing &&
           (owner < 0 || owner == ((struct mock_device *)(void *)device)->index);
}

static fbp_status upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                                size_t n_samples, size_t stride)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    if (atomic_fetch_add(&dev->n_uploads, 1) + 1 == fbp_mock_plant.drop_upload)
        return FBP_OK;
    return submit(
        dev, FBP_STAGE_IN, run_upload,
        &(struct command){
            .dst = dst, .src = src, .n_samples = n_samples, .stride = stride, .n_pieces = n});
}

/* Counts become floats behind them; returns where the floats are. */
static float *convert(const struct fbp_job *job, void *raw, size_t n)
{
    float *out = (float *)(void *)((char *)raw + fbp_raw_floats(job, n));

    for (size_t i = 0; job->raw == FBP_U16 && i < n; i++)
        out[i] = ((const uint16_t *)raw)[i];
    return out;
}

typedef fbp_status filter_fn(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *out);

/* Raw samples that are there, and that nobody uses afterwards. */
static fbp_status filter_by(filter_fn *inner, const struct command *c)
{
    const struct fbp_job *job = c->dev->job;
    const size_t n = fbp_raw_samples(job, &c->batch);

    if (is_poisoned(c->volume, n * fbp_raw_size(job) / sizeof(float)))
        return fbp_fail(FBP_ERR_DEVICE,
                        "mock: views %zu to %zu were filtered before they were uploaded",
                        c->batch.view0, c->batch.view0 + c->batch.n_views - 1);
    const fbp_status st = inner(c->dev->inner, &c->batch, convert(job, c->volume, n), c->dst);
    poison(c->volume, fbp_raw_device_bytes(job, n));
    return st;
}

static fbp_status run_filter(void *user)
{
    return filter_by(fbp_backend_cpu.filter, user);
}

static fbp_status filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                         void *filtered)
{
    FBP_TRY(called(device));
    return submit(
        (struct mock_device *)(void *)device, FBP_STAGE_FILTER, run_filter,
        &(struct command){.dst = place_of((struct mock_device *)(void *)device, batch, filtered),
                          .volume = raw,
                          .batch = *batch});
}

static fbp_status inner_rows(fbp_device *dev, const struct fbp_batch *batch, void *raw, void *out)
{
    return fbp_backend_cpu.filter_rows(dev, batch, raw, out);
}

static fbp_status run_filter_rows(void *user)
{
    return filter_by(inner_rows, user);
}

static fbp_status filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                              float *rows)
{
    FBP_TRY(called(device));
    return submit((struct mock_device *)(void *)device, FBP_STAGE_FILTER, run_filter_rows,
                  &(struct command){.dst = rows, .volume = raw, .batch = *batch});
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
    return submit((struct mock_device *)(void *)device, FBP_STAGE_OUT, run_download,
                  &(struct command){
                      .dst = host, .src = rows, .volume = (void *)(uintptr_t)rows, .n_samples = n});
}

static uint64_t slabs_of_others(int index)
{
    uint64_t n = 0;

    for (int i = 0; i < FBP_MOCK_DEVICES; i++)
        n += i == index ? 0 : atomic_load(&fbp_mock_slabs[i]);
    return n;
}

static fbp_status run_clear(void *user)
{
    const struct command *c = user;
    const struct timespec tick = {.tv_nsec = 200000};

    while (fbp_mock_plant.held_device == (unsigned)c->dev->index + 1 &&
           slabs_of_others(c->dev->index) < fbp_mock_plant.held_slabs)
        nanosleep(&tick, NULL);
    return fbp_backend_cpu.clear(c->dev->inner, &c->slab, c->volume);
}

static fbp_status clear(fbp_device *device, const struct fbp_slab *slab, void *volume)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    atomic_fetch_add(&fbp_mock_slabs[dev->index], 1);
    return submit(dev, FBP_STAGE_BP, run_clear, &(struct command){.volume = volume, .slab = *slab});
}

static fbp_status run_backproject(void *user)
{
    const struct command *c = user;
    const size_t bytes = filtered_bytes(c->dev->job, c->batch.n_views, c->batch.n_rows);

    if (c->batch.n_rows > 0 && is_poisoned(c->src, bytes / sizeof(float)))
        return fbp_fail(FBP_ERR_DEVICE,
                        "mock: views %zu to %zu were backprojected before they were filtered",
                        c->batch.view0, c->batch.view0 + c->batch.n_views - 1);
    const fbp_status st = fbp_backend_cpu.backproject(c->dev->inner, &c->batch, c->src, &c->slab,
                                                      c->z0, c->z1, c->volume);
    /* A batch is used up with the slab's last slices. */
    if (c->batch.n_rows > 0 && !c->batch.kept && c->z1 == c->slab.z0 + c->slab.nz &&
        !fbp_mock_plant.keep_batches)
        poison(c->dst, bytes);
    return st;
}

static fbp_status backproject(fbp_device *device, const struct fbp_batch *batch,
                              const void *filtered, const struct fbp_slab *slab, size_t z0,
                              size_t z1, void *volume)
{
    FBP_TRY(called(device));
    void *from = place_of((struct mock_device *)(void *)device, batch, filtered);

    return submit((struct mock_device *)(void *)device, FBP_STAGE_BP, run_backproject,
                  &(struct command){.src = from,
                                    .dst = from,
                                    .volume = volume,
                                    .batch = *batch,
                                    .slab = *slab,
                                    .z0 = z0,
                                    .z1 = z1});
}

static fbp_status run_share(void *user)
{
    const struct command *c = user;
    const size_t bytes = filtered_bytes(c->dev->job, c->batch.n_views, c->batch.n_rows);

    if (is_poisoned(c->src, bytes / sizeof(float)))
        return fbp_fail(FBP_ERR_DEVICE,
                        "mock: views %zu to %zu were copied before they were filtered",
                        c->batch.view0, c->batch.view0 + c->batch.n_views - 1);
    memcpy(c->dst, c->src, bytes);
    atomic_fetch_add(&fbp_mock_shared, bytes);
    return FBP_OK;
}

static fbp_status share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                        fbp_device *from, const void *theirs)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    return submit(
        dev, FBP_STAGE_OUT, run_share,
        &(struct command){.dst = place_of(dev, batch, filtered),
                          .src = place_of((struct mock_device *)(void *)from, batch, theirs),
                          .batch = *batch});
}

static void look_at(struct mock_device *dev, const float *x, size_t n)
{
    struct fbp_statistics *f = &dev->found;

    for (size_t i = 0; i < n; i++) {
        f->min = fmin(f->min, (double)x[i]);
        f->max = fmax(f->max, (double)x[i]);
        f->sum += (double)x[i];
    }
}

static fbp_status statistics(fbp_device *device, struct fbp_statistics *out)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    *out = dev->found;
    dev->found = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    return FBP_OK;
}

static fbp_status run_fetch(void *user)
{
    struct command *c = user;
    const struct fbp_job *job = c->dev->job;
    const fbp_status st =
        fbp_backend_cpu.fetch(c->dev->inner, &c->slab, c->z0, c->z1, c->volume, c->dst);

    look_at(c->dev, c->dst, fbp_frames(job) * (c->z1 - c->z0) * fbp_slab_slice(&c->slab));
    /* Nobody may count on what is left in a slab that was fetched. */
    c->dev->n_fetched += c->z1 - c->z0;
    if (c->dev->n_fetched == fbp_layer_slices(job, c->slab.z0, c->slab.z0 + c->slab.nz)) {
        poison(c->volume, volume_bytes(job, &c->slab));
        c->dev->n_fetched = 0;
    }
    return st;
}

static fbp_status fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                        const void *volume, void *host)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;
    host = fbp_mock_near(host);
    poison(host, fbp_frames(dev->job) * (z1 - z0) * fbp_slab_slice(slab) * sizeof(float));
    return submit(
        dev, FBP_STAGE_OUT, run_fetch,
        &(struct command){
            .dst = host, .volume = (void *)(uintptr_t)volume, .slab = *slab, .z0 = z0, .z1 = z1});
}

static fbp_status mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out)
{
    FBP_TRY(called_last(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    *out = (struct fbp_mark){stage, mock_stream_ticket(dev->streams[stage])};
    return FBP_OK;
}

static fbp_status after(fbp_device *device, enum fbp_stage stage, struct fbp_mark m)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    if (atomic_fetch_add(&dev->n_afters, 1) + 1 == fbp_mock_plant.drop_after)
        return FBP_OK;
    return mock_stream_after(dev->streams[stage], dev->streams[m.stage], m.ticket);
}

static fbp_status wait(fbp_device *device, struct fbp_mark m)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    if (atomic_fetch_add(&dev->n_waits, 1) + 1 == fbp_mock_plant.drop_wait)
        return FBP_OK;
    return mock_stream_wait(dev->streams[m.stage], m.ticket);
}

static fbp_status run_stamp(void *user)
{
    const struct command *c = user;
    struct stamp *s = c->dst;

    s->seconds = fbp_seconds();
    return FBP_OK;
}

static fbp_status stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    FBP_TRY(called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;
    struct stamp *s = NULL;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a stamp"));
    pthread_mutex_lock(&dev->lock);
    s->next = dev->stamps;
    dev->stamps = s;
    pthread_mutex_unlock(&dev->lock);
    *out = (uint64_t)(uintptr_t)s;
    return submit(dev, stage, run_stamp, &(struct command){.dst = s});
}

static fbp_status stamped(fbp_device *device, uint64_t at, double *seconds)
{
    FBP_TRY(called(device));
    *seconds = ((struct stamp *)(uintptr_t)at)->seconds;
    return FBP_OK;
}

/* A ledger on its way, with its bits behind it. */
struct new_ledger {
    struct mock_device *dev;
    struct fbp_ledger ledger;
    unsigned bits[];
};

static size_t ledger_bytes(const struct fbp_ledger *l)
{
    return fbp_ledger_words(l->n_views, l->n_rows) * sizeof *l->bits;
}

static fbp_status run_expect(void *user)
{
    const struct new_ledger *c = user;
    struct fbp_ledger own = c->ledger;

    own.bits = memcpy(c->dev->ledger_bits, c->bits, ledger_bytes(&own));
    return fbp_backend_cpu.expect(c->dev->inner, &own);
}

/* A run has ended: a stop, and half of a slab, are not those of the next. */
static void forget_run(struct mock_device *dev)
{
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_go_on(dev->streams[i]);
    dev->n_fetched = 0;
}

/* The caller may change the bits before this is at the front of the queue.  Without bits: the run
 * has ended, and the queues are empty. */
static fbp_status expect(fbp_device *device, const struct fbp_ledger *ledger)
{
    struct mock_device *dev = (struct mock_device *)(void *)device;
    const size_t bytes = ledger_bytes(ledger);
    struct new_ledger *c;

    FBP_TRY(ledger->bits ? called(device) : called_last(device));
    if (!ledger->bits) {
        forget_run(dev);
        return fbp_backend_cpu.expect(dev->inner, ledger);
    }
    c = malloc(sizeof *c + bytes);
    if (!c)
        return fbp_fail_nomem(sizeof *c + bytes, "mock command");
    *c = (struct new_ledger){dev, *ledger};
    memcpy(c->bits, ledger->bits, bytes);
    return mock_stream_submit(dev->streams[FBP_STAGE_FILTER], run_expect, c);
}

static fbp_status counts(fbp_device *device, struct fbp_prep_counts *out)
{
    FBP_TRY(called(device));
    return fbp_backend_cpu.counts(((struct mock_device *)(void *)device)->inner, out);
}

static const void *experiment(const char *name)
{
    return strcmp(name, "links") == 0 ? &fbp_mock_link_meter : NULL;
}

const struct fbp_backend fbp_backend_mock = {
    .name = "mock",
    .in_host = true,
    .hidden = true,
    .summary = "a pretended device with memory and queues of its own, for tests",
    .count = count,
    .describe = describe,
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .group_views = 8,
    .oversamples = true,
    .frames = true,
    .any_filter = true,
    .takes_counts = true,
    .most_staying = 4096,
    .holds = holds,
    .rates = rates,
    .far = &fbp_mock_far_access,
    .open = open_device,
    .close = close_device,
    .alloc = mock_alloc,
    .release = mock_release,
    .reaches = reaches,
    .upload = upload,
    .upload_pieces = upload_pieces,
    .filter = filter,
    .filter_rows = filter_rows,
    .download = download,
    .share = share,
    .clear = clear,
    .backproject = backproject,
    .fetch = fetch,
    .statistics = statistics,
    .mark = mark,
    .after = after,
    .wait = wait,
    .stamp = stamp,
    .stamped = stamped,
    .expect = expect,
    .counts = counts,
    .experiment = experiment,
};
