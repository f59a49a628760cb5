/* Memory of the caller's, on a card. */
#include "backend/cuda/cuda.h"

#include <stdlib.h>

bool cuda_memory_of(const void *memory, size_t bytes, struct cudaPointerAttributes *out)
{
    const void *const ends[2] = {memory, (const char *)memory + (bytes ? bytes - 1 : 0)};
    struct cudaPointerAttributes a[2];

    for (int i = 0; i < 2; i++)
        if (cudaPointerGetAttributes(&a[i], ends[i]) != cudaSuccess ||
            a[i].type == cudaMemoryTypeUnregistered) {
            (void)cudaGetLastError();
            return false;
        }
    *out = a[0];
    return a[0].type == a[1].type && a[0].device == a[1].device;
}

int cuda_far_owner(const void *memory, size_t bytes)
{
    struct cudaPointerAttributes a;

    if (!cuda_memory_of(memory, bytes, &a) ||
        (a.type != cudaMemoryTypeDevice && a.type != cudaMemoryTypeManaged))
        return -1;
    return a.device;
}

/* Copies have a stream of their own: the default one would wait for all that the caller does. */
struct cuda_far {
    struct fbp_far far;
    int index;
    cudaStream_t queue, stream;
    pthread_mutex_t lock;
};

/* The threads are the caller's, who goes on with the device that he had. */
static fbp_status enter(int ordinal, int *before)
{
    CUDA_TRY(cudaGetDevice(before));
    if (*before != ordinal)
        CUDA_TRY(cudaSetDevice(ordinal));
    return FBP_OK;
}

static void leave(int ordinal, int before)
{
    if (before != ordinal)
        (void)cudaSetDevice(before);
}

/* Default streams are those of the device that a thread has. */
static fbp_status settle(struct fbp_far *far)
{
    const struct cuda_far *f = (const struct cuda_far *)(const void *)far;
    int before;

    FBP_TRY(enter(f->index, &before));
    const cudaError_t e = cudaStreamSynchronize(f->queue);
    leave(f->index, before);
    CUDA_TRY(e);
    return FBP_OK;
}

static fbp_status copy_now(const struct cuda_far *f, const struct fbp_pieces *p)
{
    if (p->n == 1)
        CUDA_TRY(cudaMemcpyAsync(p->to, p->from, p->bytes, cudaMemcpyDefault, f->stream));
    else
        CUDA_TRY(cudaMemcpy2DAsync(p->to, p->to_stride, p->from, p->from_stride, p->bytes, p->n,
                                   cudaMemcpyDefault, f->stream));
    CUDA_TRY(cudaStreamSynchronize(f->stream));
    return FBP_OK;
}

static fbp_status copy(struct fbp_far *far, const struct fbp_pieces *p)
{
    struct cuda_far *f = (struct cuda_far *)(void *)far;

    pthread_mutex_lock(&f->lock);
    const fbp_status st = copy_now(f, p);
    pthread_mutex_unlock(&f->lock);
    return st;
}

static void drop(struct fbp_far *far)
{
    struct cuda_far *f = (struct cuda_far *)(void *)far;

    (void)cudaStreamDestroy(f->stream);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static fbp_status make_stream(int ordinal, cudaStream_t *out)
{
    int before;

    *out = NULL;
    FBP_TRY(enter(ordinal, &before));
    const cudaError_t e = cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
    leave(ordinal, before);
    CUDA_TRY(e);
    return FBP_OK;
}

fbp_status cuda_far_open(int ordinal, void *queue, struct fbp_far **out)
{
    struct cuda_far *f = calloc(1, sizeof *f);

    if (!f)
        return gpu_host->fail(FBP_ERR_NOMEM, "cuda: cannot allocate %zu bytes", sizeof *f);
    *f = (struct cuda_far){.far = {settle, copy, drop}, .index = ordinal, .queue = queue};
    const fbp_status st = make_stream(ordinal, &f->stream);
    if (st != FBP_OK) {
        free(f);
        return st;
    }
    pthread_mutex_init(&f->lock, NULL);
    *out = &f->far;
    return FBP_OK;
}

fbp_status cuda_far_queue(int number, void **out)
{
    cudaStream_t stream;
    const fbp_status st = make_stream(number, &stream);

    *out = stream;
    return st;
}

fbp_status cuda_far_wait(void *queue)
{
    CUDA_TRY(cudaStreamSynchronize(queue));
    return FBP_OK;
}

void cuda_far_drop_queue(void *queue)
{
    (void)cudaStreamDestroy(queue);
}

fbp_status cuda_far_alloc(int ordinal, size_t bytes, void **out)
{
    *out = NULL;
    CUDA_TRY(cudaSetDevice(ordinal));
    CUDA_TRY(cudaMalloc(out, bytes ? bytes : 1));
    return FBP_OK;
}

void cuda_far_release(int ordinal, void *memory)
{
    (void)cudaSetDevice(ordinal);
    (void)cudaFree(memory);
}
