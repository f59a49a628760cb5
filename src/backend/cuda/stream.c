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
    for (int i = 0; i < GPU_STAGES; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&u->filled[i], cudaEventDisableTiming));
        CUDA_TRY(cudaEventCreateWithFlags(&u->copied[i], cudaEventDisableTiming));
    }
    return FBP_OK;
}

static void close_unpacking(struct cuda_unpacking *u)
{
    for (int i = 0; i < GPU_STAGES; i++) {
        if (u->filled[i])
            (void)cudaEventDestroy(u->filled[i]);
        if (u->copied[i])
            (void)cudaEventDestroy(u->copied[i]);
    }
    if (u->stream)
        (void)cudaStreamDestroy(u->stream);
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
    return open_unpacking(&dev->unpacking);
}

void cuda_streams_close(struct cuda_device *dev)
{
    close_unpacking(&dev->unpacking);
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
    return FBP_OK;
}

fbp_status cuda_wait(fbp_device *device, struct fbp_mark mark)
{
    const struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaEventSynchronize(event_of(dev, mark)));
    return FBP_OK;
}
