/* Measures rates of copies between memories (functions cuda_link_…()), for any set of concurrent
 * flows (copies from one memory to another). entry.c stores the functions in the backend's struct
 * fbp_link_meter, which pipeline/links.c calls. Devices have no common clock, so the host's clock
 * times copies that are long compared with the time to start them.
 * Used by: entry.c. */
#include "backend/cuda/cuda.h"

#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* RUNS: number of timed runs, COPIES: copies per run between each pair of memories (1 and 1 on a
 * slow link); TOUCHING_THREADS: number of threads that first write to host memory. */
enum { RUNS = 3, COPIES = 2, TOUCHING_THREADS = 8 };

/* links are slow if one copy in each flow, all at the same time, takes longer than this [s] */
static const double SLOW = 5e-3;

/* Directions of copies, with a stream each: from the host, to it, to other devices. */
enum direction { UP, DOWN, ACROSS, N_DIRECTIONS };

/* A device, its memory, and host memory near it; lower halves are sources, upper targets. */
struct end {
    int ordinal;
    char *host, *memory;
    cudaStream_t streams[N_DIRECTIONS];
    bool enabled[FBP_MOST_LINKED]; /* access to device i that cuda_link_connect() enabled */
};

struct meter {
    size_t n;
    struct end ends[FBP_MOST_LINKED];
};

bool cuda_link_identify(int ordinal, char *out, size_t n)
{
    struct cudaDeviceProp p;
    char bus_id[CUDA_BUS_ID];
    unsigned char id[4];
    int driver = 0;

    if (!cuda_is_done(cudaGetDeviceProperties(&p, ordinal)) ||
        !cuda_is_done(cudaDriverGetVersion(&driver)))
        return false;
    cuda_bus_of(ordinal, bus_id);
    memcpy(id, p.uuid.bytes, sizeof id);
    snprintf(out, n, "%.100s %02x%02x%02x%02x at %s, driver for CUDA %d.%d", p.name, id[0], id[1],
             id[2], id[3], bus_id, CUDA_MAJOR(driver), CUDA_MINOR(driver));
    return true;
}

static fbp_status open_end(struct end *e, int ordinal)
{
    e->ordinal = ordinal;
    CUDA_TRY(cudaSetDevice(ordinal));
    for (int i = 0; i < N_DIRECTIONS; i++)
        CUDA_TRY(cudaStreamCreateWithFlags(&e->streams[i], cudaStreamNonBlocking));
    CUDA_TRY(cudaMalloc((void **)&e->memory, CUDA_LINK_DEVICE_BYTES));
    e->host = cuda_pin(CUDA_LINK_HOST_BYTES, TOUCHING_THREADS, cuda_node_of(ordinal));
    if (e->host)
        return FBP_OK;
    return gpu_host->fail(FBP_ERR_NOMEM,
                          "cuda: cannot lock %d bytes of host memory to measure transfer rates; "
                          "raise the limit of locked memory (ulimit -l)",
                          CUDA_LINK_HOST_BYTES);
}

fbp_status cuda_link_open(void **out, const int *ordinals, size_t n)
{
    struct meter *m = calloc(1, sizeof *m);

    *out = m;
    if (!m)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: cannot allocate %zu bytes; close other programs", sizeof *m);
    while (m->n < n) {
        const size_t i = m->n++;
        const fbp_status st = open_end(&m->ends[i], ordinals[i]);
        if (st != FBP_OK) {
            cuda_link_close(out);
            return st;
        }
    }
    return FBP_OK;
}

void cuda_link_close(void **meter)
{
    struct meter *m = *meter;

    for (size_t k = 0; m && k < m->n; k++) {
        struct end *e = &m->ends[k];
        (void)cudaSetDevice(e->ordinal);
        for (int i = 0; i < N_DIRECTIONS; i++)
            if (e->streams[i]) {
                (void)cudaStreamSynchronize(e->streams[i]);
                (void)cudaStreamDestroy(e->streams[i]);
            }
        for (size_t i = 0; i < m->n; i++)
            if (e->enabled[i])
                (void)cudaDeviceDisablePeerAccess(m->ends[i].ordinal);
        if (e->memory)
            (void)cudaFree(e->memory);
        cuda_unpin(e->host);
        (void)cudaGetLastError();
    }
    free(m);
    *meter = NULL;
}

bool cuda_link_connect(void *meter, size_t from, size_t to)
{
    struct meter *m = meter;
    struct end *a = &m->ends[from], *b = &m->ends[to];
    const struct cuda_peer_end ends[2] = {
        {a->ordinal, a->memory, a->streams[ACROSS]},
        {b->ordinal, b->memory + CUDA_LINK_DEVICE_BYTES / 2, b->streams[ACROSS]}};
    const enum cuda_peer access = cuda_peer_enable(a->ordinal, b->ordinal);

    a->enabled[to] = a->enabled[to] || access == CUDA_PEER_NEW;
    return access != CUDA_PEER_NONE &&
           cuda_peer_carries(&ends[0], &ends[1], (unsigned char *)b->host);
}

/* Returns the device at the end `at` of a copy (an index, or FBP_HOST) or, if this end is the host,
 * the device at the end `other`.  One end is always a device; index 0 only avoids a warning. */
static const struct end *end_of(const struct meter *m, int at, int other)
{
    const int device = at == FBP_HOST ? other : at;

    return &m->ends[device == FBP_HOST ? 0 : device];
}

/* Get the stream for the direction of a copy, and make the stream's device current. */
static fbp_status use_stream(const struct meter *m, const struct fbp_flow *f, cudaStream_t *out)
{
    const struct end *e = end_of(m, f->from, f->to);

    CUDA_TRY(cudaSetDevice(e->ordinal));
    *out = e->streams[f->from == FBP_HOST ? UP : f->to == FBP_HOST ? DOWN : ACROSS];
    return FBP_OK;
}

/* Measure the time [s] of `copies` copies of `bytes` bytes in each flow, all at the same time. */
static fbp_status time_copies(const struct meter *m, const struct fbp_flow *flows, size_t n,
                              size_t bytes, int copies, double *seconds)
{
    const double begin = fbp_seconds();
    cudaStream_t stream = NULL;

    for (size_t i = 0; i < (size_t)copies * n; i++) {
        const struct fbp_flow *f = &flows[i % n];
        const bool up = f->from == FBP_HOST, down = f->to == FBP_HOST;
        const struct end *from = end_of(m, f->from, f->to), *to = end_of(m, f->to, f->from);
        const char *source = up ? to->host : from->memory;
        char *target =
            down ? from->host + CUDA_LINK_HOST_BYTES / 2 : to->memory + CUDA_LINK_DEVICE_BYTES / 2;
        const enum cudaMemcpyKind kind = up     ? cudaMemcpyHostToDevice
                                         : down ? cudaMemcpyDeviceToHost
                                                : cudaMemcpyDeviceToDevice;

        FBP_TRY(use_stream(m, f, &stream));
        if (from == to)
            CUDA_TRY(cudaMemcpyAsync(target, source, bytes, kind, stream));
        else
            CUDA_TRY(
                cudaMemcpyPeerAsync(target, to->ordinal, source, from->ordinal, bytes, stream));
    }
    for (size_t k = 0; k < n; k++) {
        FBP_TRY(use_stream(m, &flows[k], &stream));
        CUDA_TRY(cudaStreamSynchronize(stream));
    }
    *seconds = fbp_seconds() - begin;
    return FBP_OK;
}

fbp_status cuda_link_rate(void *meter, const struct fbp_flow *flows, size_t n, double *out)
{
    const struct meter *m = meter;
    size_t bytes = CUDA_LINK_DEVICE_BYTES / 2; /* per copy; fits both ends of all flows */
    double first = 0, least = 0;

    *out = 0;
    for (size_t i = 0; i < n; i++)
        if (flows[i].from == FBP_HOST || flows[i].to == FBP_HOST)
            bytes = CUDA_LINK_HOST_BYTES / 2;
    FBP_TRY(time_copies(m, flows, n, bytes, 1, &first)); /* warm-up; detects slow links */
    const int runs = first > SLOW ? 1 : RUNS, copies = first > SLOW ? 1 : COPIES;
    for (int i = 0; i < runs; i++) {
        double seconds = 0;
        FBP_TRY(time_copies(m, flows, n, bytes, copies, &seconds));
        least = i == 0 || seconds < least ? seconds : least;
    }
    *out = (double)n * (double)bytes * copies / least;
    return FBP_OK;
}
