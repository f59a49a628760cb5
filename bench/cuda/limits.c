/* Measures the limits of a CUDA device (arithmetic, fetches, loads, copies): medians of five
 * runs timed by events. Called by fbp_bench_limits() through entry.c.
 * Used by: entry.c. */
#include "bench/cuda/limits.h"

#include "backend/cuda/cuda.h"

#include <stdlib.h>

enum { RUNS = 5, SIDE = 128 };

static const size_t MOST_COPY = (size_t)512 << 20, PINNED = (size_t)128 << 20;

/* Everything that a measurement needs, allocated once. */
struct probe {
    int multiprocessors;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    size_t bytes; /* of each */
    void *from, *to;
    void *host; /* PINNED, or as much as `bytes` */
    size_t pinned;
    cudaArray_t array; /* of the texture in use */
    cudaTextureObject_t texture;
    int channels;
    int width; /* of a load */
};

/* Starts something; *n is how much of it. */
typedef cudaError_t work_fn(const struct probe *p, double *n);

static cudaError_t multiply_add(const struct probe *p, double *n)
{
    return cuda_limits_fma(p->multiprocessors, p->to, n, p->stream);
}

static cudaError_t fetch(const struct probe *p, double *n)
{
    return cuda_limits_fetch(p->multiprocessors, p->texture, p->channels, p->to, n, p->stream);
}

static cudaError_t load(const struct probe *p, double *n)
{
    return cuda_limits_load(p->multiprocessors, p->width, p->from, p->to, n, p->stream);
}

static cudaError_t copy(const struct probe *p, double *n)
{
    *n = 2 * (double)p->bytes;
    return cudaMemcpyAsync(p->to, p->from, p->bytes, cudaMemcpyDeviceToDevice, p->stream);
}

static cudaError_t upload(const struct probe *p, double *n)
{
    *n = (double)p->pinned;
    return cudaMemcpyAsync(p->to, p->host, p->pinned, cudaMemcpyHostToDevice, p->stream);
}

static cudaError_t download(const struct probe *p, double *n)
{
    *n = (double)p->pinned;
    return cudaMemcpyAsync(p->host, p->from, p->pinned, cudaMemcpyDeviceToHost, p->stream);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* How much a second, of the median run. */
static fbp_status rate(const struct probe *p, work_fn *work, double *out)
{
    float ms[RUNS];
    double n;

    CUDA_TRY(work(p, &n));
    for (int i = 0; i < RUNS; i++) {
        CUDA_TRY(cudaEventRecord(p->begin, p->stream));
        CUDA_TRY(work(p, &n));
        CUDA_TRY(cudaEventRecord(p->end, p->stream));
        CUDA_TRY(cudaEventSynchronize(p->end));
        CUDA_TRY(cudaEventElapsedTime(&ms[i], p->begin, p->end));
    }
    qsort(ms, RUNS, sizeof *ms, by_size);
    *out = n / (1e-3 * (double)ms[RUNS / 2]);
    return FBP_OK;
}

static void drop_texture(struct probe *p)
{
    if (p->texture)
        (void)cudaDestroyTextureObject(p->texture);
    if (p->array)
        (void)cudaFreeArray(p->array);
    p->texture = 0;
    p->array = NULL;
}

/* Two layers of SIDE x SIDE texels. */
static fbp_status make_texture(struct probe *p, int channels, int bits)
{
    const int second = channels > 1 ? bits : 0, rest = channels > 2 ? bits : 0;
    const struct cudaChannelFormatDesc texel =
        cudaCreateChannelDesc(bits, second, rest, rest, cudaChannelFormatKindFloat);
    const struct cudaExtent extent = {SIDE, SIDE, 2};
    const size_t row = SIDE * (size_t)(channels * bits / 8);
    struct cudaMemcpy3DParms fill = {
        .srcPtr = {p->from, row, SIDE, SIDE}, .extent = extent, .kind = cudaMemcpyDeviceToDevice};
    const struct cudaTextureDesc how = {
        .addressMode = {cudaAddressModeBorder, cudaAddressModeBorder, cudaAddressModeBorder},
        .filterMode = cudaFilterModeLinear,
        .readMode = cudaReadModeElementType};

    drop_texture(p);
    p->channels = channels;
    CUDA_TRY(cudaMalloc3DArray(&p->array, &texel, extent, cudaArrayLayered));
    fill.dstArray = p->array;
    CUDA_TRY(cudaMemcpy3DAsync(&fill, p->stream));
    const struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray,
                                              .res.array.array = p->array};
    CUDA_TRY(cudaCreateTextureObject(&p->texture, &resource, &how, NULL));
    return FBP_OK;
}

static fbp_status open_probe(struct probe *p, int ordinal)
{
    size_t available, total;

    CUDA_TRY(cudaSetDevice(ordinal));
    CUDA_TRY(cudaDeviceGetAttribute(&p->multiprocessors, cudaDevAttrMultiProcessorCount, ordinal));
    CUDA_TRY(cudaMemGetInfo(&available, &total));
    p->bytes = available / 8 < MOST_COPY ? available / 8 : MOST_COPY;
    p->pinned = p->bytes < PINNED ? p->bytes : PINNED;
    CUDA_TRY(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreate(&p->begin));
    CUDA_TRY(cudaEventCreate(&p->end));
    CUDA_TRY(cudaMalloc(&p->from, p->bytes));
    CUDA_TRY(cudaMalloc(&p->to, p->bytes));
    CUDA_TRY(cudaHostAlloc(&p->host, p->pinned, 0));
    CUDA_TRY(cuda_limits_fill(p->from, p->bytes / sizeof(unsigned), p->stream));
    return FBP_OK;
}

static void close_probe(struct probe *p)
{
    if (p->stream)
        (void)cudaStreamSynchronize(p->stream);
    drop_texture(p);
    if (p->host)
        (void)cudaFreeHost(p->host);
    (void)cudaFree(p->to);
    (void)cudaFree(p->from);
    if (p->end)
        (void)cudaEventDestroy(p->end);
    if (p->begin)
        (void)cudaEventDestroy(p->begin);
    if (p->stream)
        (void)cudaStreamDestroy(p->stream);
}

static fbp_status measure(struct probe *p, struct fbp_limits *out)
{
    const struct {
        int channels, bits;
        double *rate;
    } textures[] = {{1, 32, &out->texture_r32f},    {1, 16, &out->texture_r16f},
                    {2, 32, &out->texture_rg32f},   {2, 16, &out->texture_rg16f},
                    {4, 32, &out->texture_rgba32f}, {4, 16, &out->texture_rgba16f}};

    FBP_TRY(rate(p, multiply_add, &out->fma));
    for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) {
        FBP_TRY(make_texture(p, textures[i].channels, textures[i].bits));
        FBP_TRY(rate(p, fetch, textures[i].rate));
    }
    for (p->width = 4; p->width <= 16; p->width *= 2)
        FBP_TRY(rate(p, load,
                     p->width == 4   ? &out->load_4
                     : p->width == 8 ? &out->load_8
                                     : &out->load_16));
    FBP_TRY(rate(p, copy, &out->copy));
    FBP_TRY(rate(p, download, &out->download));
    FBP_TRY(rate(p, upload, &out->upload));
    return FBP_OK;
}

fbp_status cuda_limits(int ordinal, struct fbp_limits *out)
{
    struct probe p = {0};
    fbp_status st = open_probe(&p, ordinal);

    *out = (struct fbp_limits){0};
    if (st == FBP_OK)
        st = measure(&p, out);
    close_probe(&p);
    return st;
}
