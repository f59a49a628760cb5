/* Device memory: plain for raw views and volumes, as the kernel wants it for filtered views. */
#include "backend/cuda/cuda.h"

#include <stdlib.h>

bool cuda_reaches(fbp_device *device, const void *memory, size_t bytes)
{
    const int index = cuda_of(device)->index;
    struct cudaPointerAttributes a;

    return cudaSetDevice(index) == cudaSuccess && cuda_memory_of(memory, bytes, &a) &&
           (a.type != cudaMemoryTypeDevice || a.device == index);
}

static fbp_status make_texture(struct cuda_views *v)
{
    const struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray,
                                              .res.array.array = v->array};
    const struct cudaTextureDesc texture = {
        .addressMode = {cudaAddressModeBorder, cudaAddressModeBorder, cudaAddressModeBorder},
        .filterMode = cudaFilterModeLinear,
        .readMode = cudaReadModeElementType};

    CUDA_TRY(cudaCreateSurfaceObject(&v->surface, &resource));
    CUDA_TRY(cudaCreateTextureObject(&v->texture, &resource, &texture, NULL));
    return FBP_OK;
}

static fbp_status make_views(struct cuda_device *dev, struct cuda_views *v)
{
    const struct gpu_kernel *k = &dev->kernel->gpu;
    const int bits[4] = {k->bits, k->channels > 1 ? k->bits : 0, k->channels > 2 ? k->bits : 0,
                         k->channels > 3 ? k->bits : 0};

    v->scale = 1;
    if (k->bits == 16 && dev->half_scale == 0)
        FBP_TRY(gpu_half_scale(dev->job, &dev->half_scale));
    if (k->bits == 16)
        v->scale = dev->half_scale;
    if (!k->channels) {
        CUDA_TRY(cudaMalloc(&v->memory, k->views_bytes(dev->job, v->n_groups, v->n_rows)));
        return FBP_OK;
    }
    const struct cudaChannelFormatDesc texel =
        cudaCreateChannelDesc(bits[0], bits[1], bits[2], bits[3], cudaChannelFormatKindFloat);
    const struct cudaExtent extent = {gpu_row_texels(k, dev->job), v->n_rows, v->n_groups};
    v->texels = gpu_texels_a_column(k, dev->job);
    CUDA_TRY(
        cudaMalloc3DArray(&v->array, &texel, extent, cudaArrayLayered | cudaArraySurfaceLoadStore));
    return make_texture(v);
}

static void drop_views(struct cuda_views *v)
{
    if (v->texture)
        (void)cudaDestroyTextureObject(v->texture);
    if (v->surface)
        (void)cudaDestroySurfaceObject(v->surface);
    if (v->array)
        (void)cudaFreeArray(v->array);
    if (v->memory)
        (void)cudaFree(v->memory);
    *v = (struct cuda_views){0};
    free(v);
}

static fbp_status alloc_views(struct cuda_device *dev, const struct fbp_buffer *buffer, void **out)
{
    struct cuda_views *v = calloc(1, sizeof *v);

    if (!v)
        return gpu_host->fail(FBP_ERR_NOMEM, "cuda: cannot allocate %zu bytes", sizeof *v);
    v->n_groups = buffer->n_views / dev->job->turns;
    v->n_rows = buffer->n_rows > 0 ? buffer->n_rows : 1;
    if (v->n_groups * dev->job->turns < buffer->n_views)
        v->n_groups++;
    const fbp_status st = make_views(dev, v);
    if (st != FBP_OK) {
        drop_views(v);
        return st;
    }
    *out = v;
    return FBP_OK;
}

fbp_status cuda_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out)
{
    struct cuda_device *dev = cuda_of(device);

    *out = NULL;
    CUDA_TRY(cudaSetDevice(dev->index));
    if (buffer->purpose == FBP_FOR_FILTERED)
        return alloc_views(dev, buffer, out);
    CUDA_TRY(cudaMalloc(out, buffer->bytes ? buffer->bytes : 1));
    return FBP_OK;
}

void cuda_release(fbp_device *device, enum fbp_purpose purpose, void *mem)
{
    (void)cudaSetDevice(cuda_of(device)->index);
    if (purpose == FBP_FOR_FILTERED)
        drop_views(mem);
    else
        (void)cudaFree(mem);
}
