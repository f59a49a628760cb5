#include "backend/cuda/peer.h"

#include "backend/cuda/cuda.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST = 64, SENT = 0xa5 };

/* What is known of copies to a device from another. */
enum known { NOT_YET = 0, RIGHT, BY_THE_HOST, WRONG };

static struct {
    pthread_mutex_t lock;
    unsigned char known[MOST][MOST];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

unsigned cuda_peer_plant;

enum cuda_peer cuda_peer_enable(int device, int other)
{
    int can = 0;

    if (!cuda_is_done(cudaSetDevice(device)) ||
        !cuda_is_done(cudaDeviceCanAccessPeer(&can, device, other)) || !can)
        return CUDA_PEER_NONE;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (cuda_is_done(error))
        return CUDA_PEER_NEW;
    return error == cudaErrorPeerAccessAlreadyEnabled ? CUDA_PEER_WAS_THERE : CUDA_PEER_NONE;
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
    if (cuda_peer_plant > 0) {
        cuda_peer_plant--;
        return false;
    }
    return ok;
}

static bool open_end(struct cuda_peer_end *e)
{
    return cuda_is_done(cudaSetDevice(e->device)) &&
           cuda_is_done(cudaStreamCreateWithFlags(&e->stream, cudaStreamNonBlocking)) &&
           cuda_is_done(cudaMalloc((void **)&e->memory, CUDA_PEER_PROBE));
}

static void close_end(const struct cuda_peer_end *e)
{
    (void)cudaSetDevice(e->device);
    if (e->stream)
        (void)cudaStreamDestroy(e->stream);
    if (e->memory)
        (void)cudaFree(e->memory);
    (void)cudaGetLastError();
}

/* With memory of its own: that of the pair is in use.  NOT_YET: there is none. */
static enum known probe(int to, int from)
{
    struct cuda_peer_end ends[2] = {{.device = from}, {.device = to}};
    unsigned char *host = malloc(CUDA_PEER_PROBE);
    enum known out = NOT_YET;

    if (host && open_end(&ends[0]) && open_end(&ends[1]))
        out = cuda_peer_carries(&ends[0], &ends[1], host) ? RIGHT : WRONG;
    close_end(&ends[0]);
    close_end(&ends[1]);
    free(host);
    return out;
}

/* Direct copies may be wrong where those through the host are right. */
static enum known find(int to, int from)
{
    const enum cuda_peer access = cuda_peer_enable(to, from);
    const enum known direct = probe(to, from);

    if (direct != WRONG || access != CUDA_PEER_NEW)
        return direct;
    (void)cuda_is_done(cudaSetDevice(to));
    (void)cuda_is_done(cudaDeviceDisablePeerAccess(from));
    return probe(to, from) == RIGHT ? BY_THE_HOST : WRONG;
}

static fbp_status reach(int to, int from)
{
    unsigned char *known = &table.known[to % MOST][from % MOST];

    if (*known == NOT_YET)
        *known = (unsigned char)find(to, from);
    else if (*known == RIGHT)
        (void)cuda_peer_enable(to, from); /* somebody may have taken it away */
    CUDA_TRY(cudaSetDevice(to));
    if (*known != WRONG)
        return FBP_OK;
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "cuda: what device %d sends does not arrive at device %d as it was: the "
                          "settings of the machine's bus (IOMMU, ACS) may be why: turn them off, "
                          "or use one of the two",
                          from, to);
}

fbp_status cuda_peer_reach(int to, int from)
{
    pthread_mutex_lock(&table.lock);
    const fbp_status st = reach(to, from);
    pthread_mutex_unlock(&table.lock);
    return st;
}
