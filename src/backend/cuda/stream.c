/* Streams of a device, one per stage (cuda_streams_open()); events that order their work
 * (cuda_event_record()); timestamps for the timeline of a run (cuda_timestamp()); timed launches
 * for the choice of a kernel's shape (gpu/tuner.h). entry.c opens and closes the streams, and
 * lists the other functions in the backend's table.
 * Used by: entry.c. */
#include "backend/cuda/cuda.h"

#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>

/* Create a stream; all but backprojection have high priority: they are short, others wait. */
static fbp_status make_stream(cudaStream_t *out, int stage)
{
    int least = 0, greatest = 0;

    (void)cuda_is_done(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CUDA_TRY(cudaStreamCreateWithPriority(out, cudaStreamNonBlocking,
                                          stage == FBP_STAGE_BP ? least : greatest));
    return FBP_OK;
}

fbp_status cuda_streams_open(struct cuda_device *dev)
{
    struct cuda_unpacking *u = &dev->unpacking;

    for (int i = 0; i < FBP_N_STAGES; i++) {
        struct cuda_stream *s = &dev->streams[i];
        FBP_TRY(make_stream(&s->stream, i));
        for (int k = 0; k < CUDA_EVENTS; k++)
            CUDA_TRY(cudaEventCreateWithFlags(&s->events[k],
                                              cudaEventDisableTiming | cudaEventBlockingSync));
    }
    FBP_TRY(make_stream(&u->stream, FBP_STAGE_OUT));
    for (int i = 0; i < GPU_STAGES; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&u->filled[i], cudaEventDisableTiming));
        CUDA_TRY(cudaEventCreateWithFlags(&u->copied[i], cudaEventDisableTiming));
    }
    return FBP_OK;
}

static void drop_event(cudaEvent_t event)
{
    if (event)
        (void)cuda_is_done(cudaEventDestroy(event));
}

void cuda_streams_close(struct cuda_device *dev)
{
    struct cuda_timestamps *t = &dev->timestamps;
    struct cuda_unpacking *u = &dev->unpacking;

    for (int i = 0; i < 2 * GPU_TUNER_TRIALS; i++)
        drop_event(dev->trials[i]);
    for (size_t i = 0; i < t->room; i++)
        drop_event(t->events[i]);
    drop_event(t->zero);
    free(t->events);
    pthread_mutex_destroy(&t->lock);
    for (int i = 0; i < GPU_STAGES; i++) {
        drop_event(u->filled[i]);
        drop_event(u->copied[i]);
    }
    if (u->stream)
        (void)cudaStreamDestroy(u->stream);
    for (int i = 0; i < FBP_N_STAGES; i++) {
        for (int k = 0; k < CUDA_EVENTS; k++)
            drop_event(dev->streams[i].events[k]);
        if (dev->streams[i].stream)
            (void)cudaStreamDestroy(dev->streams[i].stream);
    }
}

static cudaEvent_t event_of(const struct cuda_device *dev, struct fbp_event mark)
{
    return dev->streams[mark.stage].events[mark.ticket % CUDA_EVENTS];
}

fbp_status cuda_event_record(fbp_device *device, enum fbp_stage stage, struct fbp_event *out)
{
    struct cuda_device *dev = cuda_of(device);
    struct cuda_stream *s = &dev->streams[stage];
    const struct fbp_event mark = {stage, atomic_fetch_add(&s->ticket, 1) + 1};

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaEventRecord(event_of(dev, mark), s->stream));
    *out = mark;
    return FBP_OK;
}

fbp_status cuda_stream_wait_event(fbp_device *device, enum fbp_stage stage, struct fbp_event mark)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaStreamWaitEvent(dev->streams[stage].stream, event_of(dev, mark), 0));
    if (stage == FBP_STAGE_OUT)
        CUDA_TRY(cudaStreamWaitEvent(dev->unpacking.stream, event_of(dev, mark), 0));
    return FBP_OK;
}

fbp_status cuda_event_wait(fbp_device *device, struct fbp_event mark)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaEventSynchronize(event_of(dev, mark)));
    return FBP_OK;
}

/* Record a timestamp relative to the event `zero`. If none is unread, as at the start of a run,
 * first record `zero` and its host time: the device has little work then. */
static fbp_status record_timestamp(struct cuda_timestamps *t, cudaStream_t stream, uint64_t *out)
{
    if (t->n == 0) {
        if (!t->zero)
            CUDA_TRY(cudaEventCreate(&t->zero));
        CUDA_TRY(cudaEventRecord(t->zero, stream));
        CUDA_TRY(cudaEventSynchronize(t->zero));
        t->seconds = fbp_seconds();
    }
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 64;
        cudaEvent_t *more = realloc(t->events, room * sizeof *more);
        if (!more)
            return gpu_host->fail(FBP_ERR_NOMEM,
                                  "cuda: out of memory for %zu timestamps; close other programs",
                                  room);
        t->events = more;
        while (t->room < room) {
            CUDA_TRY(cudaEventCreate(&t->events[t->room]));
            t->room++;
        }
    }
    CUDA_TRY(cudaEventRecord(t->events[t->n], stream));
    *out = t->n++;
    return FBP_OK;
}

fbp_status cuda_timestamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    pthread_mutex_lock(&dev->timestamps.lock);
    const fbp_status st = record_timestamp(&dev->timestamps, dev->streams[stage].stream, out);
    pthread_mutex_unlock(&dev->timestamps.lock);
    return st;
}

fbp_status cuda_timestamp_read(fbp_device *device, uint64_t stamp, double *seconds)
{
    struct cuda_device *dev = cuda_of(device);
    struct cuda_timestamps *t = &dev->timestamps;
    float ms = 0;

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaEventElapsedTime(&ms, t->zero, t->events[stamp]));
    *seconds = t->seconds + 1e-3 * (double)ms;
    if (++t->n_read == t->n)
        t->n = t->n_read = 0;
    return FBP_OK;
}

static bool describe(int ordinal, char *out, size_t n)
{
    struct cudaDeviceProp p;
    int driver = 0;

    if (!cuda_is_done(cudaGetDeviceProperties(&p, ordinal)) ||
        !cuda_is_done(cudaDriverGetVersion(&driver)))
        return false;
    snprintf(out, n, "%.100s, %d multiprocessors, driver for CUDA %d.%d", p.name,
             p.multiProcessorCount, CUDA_MAJOR(driver), CUDA_MINOR(driver));
    return true;
}

static bool open_trials(void *user, int n)
{
    struct cuda_device *dev = user;

    for (int i = 0; i < 2 * n; i++)
        if (!cuda_is_done(cudaEventCreate(&dev->trials[i])))
            return false;
    return true;
}

static bool record_event(void *user, int event)
{
    const struct cuda_device *dev = user;

    return cuda_is_done(cudaEventRecord(dev->trials[event], dev->streams[FBP_STAGE_BP].stream));
}

static bool is_over(void *user, int event, bool wait)
{
    const cudaEvent_t e = ((const struct cuda_device *)user)->trials[event];

    return cuda_is_done(wait ? cudaEventSynchronize(e) : cudaEventQuery(e));
}

static bool elapsed(void *user, int trial, float *ms)
{
    const cudaEvent_t *e = &((const struct cuda_device *)user)->trials[2 * (size_t)trial];

    return cuda_is_done(cudaEventElapsedTime(ms, e[0], e[1]));
}

const struct gpu_timer cuda_timer = {
    .file = {"cuda-shapes", "fbp: fastest shapes of CUDA kernels, version 1\n"},
    .describe = describe,
    .open = open_trials,
    .record = record_event,
    .is_over = is_over,
    .elapsed = elapsed,
};
