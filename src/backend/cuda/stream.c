/* One stream a stage; marks are events that are used again and again. */
#include "backend/cuda/cuda.h"

/* What is short and others wait for goes before the blocks of a backprojection. */
static int priority_of(int stage)
{
    int least = 0, greatest = 0;

    if (cudaDeviceGetStreamPriorityRange(&least, &greatest) != cudaSuccess)
        (void)cudaGetLastError();
    return stage == FBP_STAGE_BP ? least : greatest;
}

static fbp_status open_unpacking(struct cuda_unpacking *u)
{
    CUDA_TRY(cudaStreamCreateWithPriority(&u->stream, cudaStreamNonBlocking,
                                          priority_of(FBP_STAGE_OUT)));
    for (int i = 0; i < CUDA_STAGES; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&u->filled[i], cudaEventDisableTiming));
        CUDA_TRY(cudaEventCreateWithFlags(&u->copied[i], cudaEventDisableTiming));
    }
    return FBP_OK;
}

static void close_unpacking(struct cuda_unpacking *u)
{
    for (int i = 0; i < CUDA_STAGES; i++) {
        if (u->filled[i])
            (void)cudaEventDestroy(u->filled[i]);
        if (u->copied[i])
            (void)cudaEventDestroy(u->copied[i]);
    }
    if (u->stream)
        (void)cudaStreamDestroy(u->stream);
}

static fbp_status open_sides(struct cuda_device *dev)
{
    for (int i = 0; i < CUDA_SIDES; i++) {
        struct cuda_side *s = &dev->sides[i];
        CUDA_TRY(cudaStreamCreateWithPriority(&s->stream, cudaStreamNonBlocking,
                                              priority_of(FBP_STAGE_BP)));
        CUDA_TRY(cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming));
    }
    return FBP_OK;
}

static void close_sides(struct cuda_device *dev)
{
    for (int i = 0; i < CUDA_SIDES; i++) {
        struct cuda_side *s = &dev->sides[i];
        if (s->done)
            (void)cudaEventDestroy(s->done);
        if (s->stream)
            (void)cudaStreamDestroy(s->stream);
    }
}

/* Slices that a queue adds to, with those that the other has not waited for. */
static void widen(struct cuda_side *s, const void *volume, size_t z0, size_t z1)
{
    if (s->volume != volume) {
        s->volume = volume;
        s->z0 = z0;
        s->z1 = z1;
    }
    s->z0 = z0 < s->z0 ? z0 : s->z0;
    s->z1 = z1 > s->z1 ? z1 : s->z1;
}

fbp_status cuda_side_begin(struct cuda_device *dev, const void *volume, size_t z0, size_t z1,
                           cudaStream_t *out)
{
    struct cuda_side *other = &dev->sides[dev->side];

    dev->side = (dev->side + 1) % CUDA_SIDES;
    struct cuda_side *s = &dev->sides[dev->side];
    if (other->volume == volume && z0 < other->z1 && other->z0 < z1) {
        CUDA_TRY(cudaStreamWaitEvent(s->stream, other->done, 0));
        other->volume = NULL;
    }
    widen(s, volume, z0, z1);
    *out = s->stream;
    return FBP_OK;
}

fbp_status cuda_side_end(struct cuda_device *dev)
{
    const struct cuda_side *s = &dev->sides[dev->side];

    CUDA_TRY(cudaEventRecord(s->done, s->stream));
    CUDA_TRY(cudaStreamWaitEvent(dev->streams[FBP_STAGE_BP].stream, s->done, 0));
    return FBP_OK;
}

fbp_status cuda_streams_open(struct cuda_device *dev)
{
    for (int i = 0; i < FBP_N_STAGES; i++) {
        struct cuda_stream *s = &dev->streams[i];
        CUDA_TRY(cudaStreamCreateWithPriority(&s->stream, cudaStreamNonBlocking, priority_of(i)));
        for (int k = 0; k < CUDA_EVENTS; k++)
            CUDA_TRY(cudaEventCreateWithFlags(&s->events[k],
                                              cudaEventDisableTiming | cudaEventBlockingSync));
    }
    FBP_TRY(open_sides(dev));
    return open_unpacking(&dev->unpacking);
}

void cuda_streams_close(struct cuda_device *dev)
{
    close_unpacking(&dev->unpacking);
    close_sides(dev);
    for (int i = 0; i < FBP_N_STAGES; i++) {
        struct cuda_stream *s = &dev->streams[i];
        for (int k = 0; k < CUDA_EVENTS; k++)
            if (s->events[k])
                (void)cudaEventDestroy(s->events[k]);
        if (s->stream)
            (void)cudaStreamDestroy(s->stream);
    }
}

static cudaEvent_t event_of(const struct cuda_device *dev, struct fbp_mark mark)
{
    return dev->streams[mark.stage].events[mark.ticket % CUDA_EVENTS];
}

fbp_status cuda_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out)
{
    struct cuda_device *dev = cuda_of(device);
    struct cuda_stream *s = &dev->streams[stage];
    const struct fbp_mark mark = {stage, atomic_fetch_add(&s->ticket, 1) + 1};

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaEventRecord(event_of(dev, mark), s->stream));
    *out = mark;
    return FBP_OK;
}

fbp_status cuda_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark mark)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaStreamWaitEvent(dev->streams[stage].stream, event_of(dev, mark), 0));
    if (stage == FBP_STAGE_OUT)
        CUDA_TRY(cudaStreamWaitEvent(dev->unpacking.stream, event_of(dev, mark), 0));
    for (int i = 0; stage == FBP_STAGE_BP && i < CUDA_SIDES; i++)
        CUDA_TRY(cudaStreamWaitEvent(dev->sides[i].stream, event_of(dev, mark), 0));
    return FBP_OK;
}

fbp_status cuda_wait(fbp_device *device, struct fbp_mark mark)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaEventSynchronize(event_of(dev, mark)));
    return FBP_OK;
}
