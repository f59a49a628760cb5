/* Stamps: events that tell times, counted from one whose time by the host's clock is known. */
#include "backend/cuda/cuda.h"

#include "base/system.h"

#include <stdlib.h>

void cuda_stamps_open(struct cuda_device *dev)
{
    pthread_mutex_init(&dev->stamps.lock, NULL);
}

void cuda_stamps_close(struct cuda_device *dev)
{
    struct cuda_stamps *s = &dev->stamps;

    for (size_t i = 0; i < s->room; i++)
        (void)cudaEventDestroy(s->events[i]);
    if (s->zero)
        (void)cudaEventDestroy(s->zero);
    free(s->events);
    pthread_mutex_destroy(&s->lock);
}

/* Twice as many events. */
static fbp_status make_room(struct cuda_stamps *s)
{
    const size_t room = s->room ? 2 * s->room : 64;
    cudaEvent_t *more = realloc(s->events, room * sizeof *more);

    if (!more)
        return gpu_host->fail(FBP_ERR_NOMEM, "cuda: no memory for %zu stamps", room);
    s->events = more;
    while (s->room < room) {
        CUDA_TRY(cudaEventCreate(&s->events[s->room]));
        s->room++;
    }
    return FBP_OK;
}

/* The device is idle, or soon will be: the first stamp of a run. */
static fbp_status set_zero(struct cuda_stamps *s, cudaStream_t stream)
{
    if (!s->zero)
        CUDA_TRY(cudaEventCreate(&s->zero));
    CUDA_TRY(cudaEventRecord(s->zero, stream));
    CUDA_TRY(cudaEventSynchronize(s->zero));
    s->seconds = fbp_seconds();
    return FBP_OK;
}

static fbp_status record(struct cuda_stamps *s, cudaStream_t stream, uint64_t *out)
{
    if (s->n == 0)
        FBP_TRY(set_zero(s, stream));
    if (s->n == s->room)
        FBP_TRY(make_room(s));
    CUDA_TRY(cudaEventRecord(s->events[s->n], stream));
    *out = s->n++;
    return FBP_OK;
}

fbp_status cuda_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    struct cuda_device *dev = cuda_of(device);

    CUDA_TRY(cudaSetDevice(dev->index));
    pthread_mutex_lock(&dev->stamps.lock);
    const fbp_status st = record(&dev->stamps, dev->streams[stage].stream, out);
    pthread_mutex_unlock(&dev->stamps.lock);
    return st;
}

fbp_status cuda_stamped(fbp_device *device, uint64_t stamp, double *seconds)
{
    struct cuda_device *dev = cuda_of(device);
    struct cuda_stamps *s = &dev->stamps;
    float ms = 0;

    CUDA_TRY(cudaSetDevice(dev->index));
    CUDA_TRY(cudaEventElapsedTime(&ms, s->zero, s->events[stamp]));
    *seconds = s->seconds + 1e-3 * (double)ms;
    if (++s->n_read == s->n)
        s->n = s->n_read = 0;
    return FBP_OK;
}
