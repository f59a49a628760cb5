/* Copies between the memories of two CUDA devices: direct access (peer access), test copies, and
 * cuda_share(), which copies filtered views over the link between the devices or, without a link,
 * through the host.
 * Used by: entry.c, links.c. */
#include "backend/cuda/cuda.h"

#include <stdlib.h>

enum { MOST = 64, SENT = 0xa5 };

/* Result of test copies between two devices: NOT_YET: not tested; RIGHT: data unchanged;
 * BY_THE_HOST: unchanged only without peer access; WRONG: changed, or the copy failed. */
enum known { NOT_YET = 0, RIGHT, BY_THE_HOST, WRONG };

static struct {
    pthread_mutex_t lock;
    unsigned char known[MOST][MOST];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

unsigned cuda_peer_fault;

enum cuda_peer cuda_peer_enable(int device, int other)
{
    int can = 0;

    if (!cuda_is_done(cudaSetDevice(device)) ||
        !cuda_is_done(cudaDeviceCanAccessPeer(&can, device, other)) || !can)
        return CUDA_PEER_NONE;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (cuda_is_done(error))
        return CUDA_PEER_NEW;
    return error == cudaErrorPeerAccessAlreadyEnabled ? CUDA_PEER_ENABLED : CUDA_PEER_NONE;
}

static bool fill(const struct cuda_peer_end *e, int value)
{
    return cuda_is_done(cudaSetDevice(e->device)) &&
           cuda_is_done(cudaMemsetAsync(e->memory, value, CUDA_PEER_PROBE, e->stream)) &&
           cuda_is_done(cudaStreamSynchronize(e->stream));
}

bool cuda_peer_carries(const struct cuda_peer_end *from, const struct cuda_peer_end *to,
                       unsigned char *host)
{
    bool ok = fill(to, 0) && fill(from, SENT) &&
              cuda_is_done(cudaMemcpyPeerAsync(to->memory, to->device, from->memory, from->device,
                                               CUDA_PEER_PROBE, from->stream)) &&
              cuda_is_done(cudaStreamSynchronize(from->stream)) &&
              cuda_is_done(cudaSetDevice(to->device)) &&
              cuda_is_done(cudaMemcpyAsync(host, to->memory, CUDA_PEER_PROBE,
                                           cudaMemcpyDeviceToHost, to->stream)) &&
              cuda_is_done(cudaStreamSynchronize(to->stream));

    for (size_t i = 0; ok && i < CUDA_PEER_PROBE; i++)
        ok = host[i] == SENT;
    if (cuda_peer_fault > 0) {
        cuda_peer_fault--;
        return false;
    }
    return ok;
}

/* Make a test copy; returns RIGHT, WRONG, or NOT_YET if memory or streams cannot be created. */
static enum known probe(int to, int from)
{
    struct cuda_peer_end ends[2] = {{.device = from}, {.device = to}};
    unsigned char *host = malloc(CUDA_PEER_PROBE);
    bool open = host != NULL;
    enum known out = NOT_YET;

    for (int i = 0; open && i < 2; i++)
        open = cuda_is_done(cudaSetDevice(ends[i].device)) &&
               cuda_is_done(cudaStreamCreateWithFlags(&ends[i].stream, cudaStreamNonBlocking)) &&
               cuda_is_done(cudaMalloc((void **)&ends[i].memory, CUDA_PEER_PROBE));
    if (open)
        out = cuda_peer_carries(&ends[0], &ends[1], host) ? RIGHT : WRONG;
    for (int i = 0; i < 2; i++) {
        (void)cudaSetDevice(ends[i].device);
        if (ends[i].stream)
            (void)cudaStreamDestroy(ends[i].stream);
        if (ends[i].memory)
            (void)cudaFree(ends[i].memory);
    }
    (void)cudaGetLastError();
    free(host);
    return out;
}

fbp_status cuda_peer_reach(int to, int from)
{
    pthread_mutex_lock(&table.lock);
    unsigned char *known = &table.known[to % MOST][from % MOST];
    if (*known == NOT_YET) {
        const enum cuda_peer access = cuda_peer_enable(to, from);
        *known = (unsigned char)probe(to, from);
        if (*known == WRONG && access == CUDA_PEER_NEW) { /* try again through the host */
            (void)cuda_is_done(cudaSetDevice(to));
            (void)cuda_is_done(cudaDeviceDisablePeerAccess(from));
            const enum known by_the_host = probe(to, from);
            *known = (unsigned char)(by_the_host == RIGHT ? BY_THE_HOST : by_the_host);
        }
    } else if (*known == RIGHT) {
        (void)cuda_peer_enable(to, from); /* cuda_link_close() may have disabled peer access */
    }
    const bool wrong = *known == WRONG;
    pthread_mutex_unlock(&table.lock);
    CUDA_TRY(cudaSetDevice(to));
    if (!wrong)
        return FBP_OK;
    return gpu_host->fail(
        FBP_ERR_DEVICE,
        "cuda: data sent from device %d to device %d arrives damaged, perhaps because of the PCIe "
        "settings IOMMU or ACS; turn them off, or use only one of the two devices",
        from, to);
}

fbp_status cuda_share(fbp_device *device, const struct fbp_batch *b, void *filtered,
                      fbp_device *from, const void *theirs)
{
    struct cuda_device *dev = cuda_of(device);
    const struct cuda_device *other = cuda_of(from);
    const struct gpu_kernel *k = &dev->kernel->gpu;
    const struct cuda_views *target = filtered, *source = theirs;
    const size_t n_groups = (b->n_views + dev->job->selection.symmetric_views - 1) /
                            dev->job->selection.symmetric_views;
    const uint64_t bit = (uint64_t)1 << other->index % 64;
    cudaStream_t stream = dev->streams[FBP_STAGE_OUT].stream;

    if (b->n_rows == 0)
        return FBP_OK;
    CUDA_TRY(cudaSetDevice(dev->index));
    if (dev->index != other->index && !(dev->reached & bit)) {
        FBP_TRY(cuda_peer_reach(dev->index, other->index));
        dev->reached |= bit;
    }
    if (!k->channels) {
        const size_t at = k->views_bytes(dev->job, b->position, b->n_rows);
        CUDA_TRY(cudaMemcpyPeerAsync((char *)target->memory + at, dev->index,
                                     (const char *)source->memory + at, other->index,
                                     k->views_bytes(dev->job, n_groups, b->n_rows), stream));
        return FBP_OK;
    }
    const struct cudaPos pos = {.z = b->position};
    const struct cudaExtent extent = {gpu_row_texels(k, dev->job), target->n_rows, n_groups};
    const struct cudaMemcpy3DParms same = {.srcArray = source->array,
                                           .srcPos = pos,
                                           .dstArray = target->array,
                                           .dstPos = pos,
                                           .extent = extent,
                                           .kind = cudaMemcpyDeviceToDevice};
    const struct cudaMemcpy3DPeerParms peer = {.srcArray = source->array,
                                               .srcPos = pos,
                                               .srcDevice = other->index,
                                               .dstArray = target->array,
                                               .dstPos = pos,
                                               .dstDevice = dev->index,
                                               .extent = extent};
    if (dev->index == other->index)
        CUDA_TRY(cudaMemcpy3DAsync(&same, stream));
    else
        CUDA_TRY(cudaMemcpy3DPeerAsync(&peer, stream));
    return FBP_OK;
}
