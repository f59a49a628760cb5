/* Memory of the CUDA backend: pinned host memory (cuda_pin(), cuda_host_alloc()); device memory
 * (cuda_alloc()), plain for raw views and volumes, in the kernel's layout for filtered views;
 * device memory of the library's caller.
 *
 * The system fills new pages with zeros in the thread that first writes them, so several threads
 * write the pages of large pinned blocks before the blocks are pinned.  Pinned pages are on the
 * device's NUMA node, because copies from another node would cross the link between processors.
 * In a program that reconstructs several scans, blocks stay pinned for the next scan.
 * Used by: entry.c, filter.c, links.c, volume.c. */
#include "backend/cuda/cuda.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, PAGE = 4096, CHUNK = 8 << 20, LARGE = 64 << 20, MOST_THREADS = 16 };

/* A block of pinned memory, in use or kept for the next device (fbp_keep_buffers()). */
struct block {
    char *memory;
    size_t bytes;
    size_t mapped; /* size of the mapping of a large block; 0: allocated by cudaHostAlloc() */
    int node;
    bool kept;
    struct block *next;
};

static struct {
    pthread_mutex_t lock;
    struct block *first;
} blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void touch(void *user, size_t item, int worker)
{
    const struct block *b = user;
    const size_t first = item * CHUNK, left = b->mapped - first;

    (void)worker;
    for (size_t at = 0; at < CHUNK && at < left; at += PAGE)
        ((volatile char *)b->memory)[first + at] = 0;
}

/* Allocate and pin a block of whole huge pages; false on failure. */
static bool pin_large(struct block *b, int n_threads)
{
    const size_t whole = (b->bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    fbp_pool *pool = NULL;

    char *at =
        mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    const size_t before = (HUGE_PAGE - (size_t)(uintptr_t)at % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0)
        (void)munmap(at, before);
    if (before < HUGE_PAGE)
        (void)munmap(at + before + whole, HUGE_PAGE - before);
    b->memory = at + before;
    b->mapped = whole;
    (void)madvise(b->memory, whole, MADV_HUGEPAGE);
    gpu_host->numa_place(b->memory, whole, b->node);
    n_threads = n_threads < MOST_THREADS ? n_threads : MOST_THREADS;
    if (gpu_host->pool_create(&pool, n_threads) == FBP_OK) { /* otherwise pinning fills the pages */
        gpu_host->pool_for(pool, (whole + CHUNK - 1) / CHUNK, touch, b);
        gpu_host->pool_destroy(&pool);
    }
    if (cuda_is_done(cudaHostRegister(b->memory, whole, cudaHostRegisterPortable)))
        return true;
    (void)munmap(b->memory, whole);
    b->mapped = 0;
    return false;
}

static bool pin_small(struct block *b)
{
    const bool placed = gpu_host->numa_begin(b->node);
    const bool done = cuda_is_done(
        cudaHostAlloc((void **)&b->memory, b->bytes ? b->bytes : 1, cudaHostAllocPortable));

    if (placed)
        gpu_host->numa_end();
    return done;
}

static void free_block(struct block *b)
{
    if (b->mapped) {
        (void)cudaHostUnregister(b->memory);
        (void)munmap(b->memory, b->mapped);
    } else {
        (void)cudaFreeHost(b->memory);
    }
    free(b);
}

/* Returns a kept block of this size and node. If there is none, the next device needs other sizes:
 * the function frees all kept blocks and returns NULL. */
static struct block *take_kept(size_t bytes, int node)
{
    struct block *unused = NULL, *b;

    pthread_mutex_lock(&blocks.lock);
    for (b = blocks.first; b && !(b->kept && b->bytes == bytes && b->node == node);)
        b = b->next;
    if (b)
        b->kept = false;
    for (struct block **at = &blocks.first; !b && *at;) {
        struct block *one = *at;
        if (!one->kept) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->next = unused;
        unused = one;
    }
    pthread_mutex_unlock(&blocks.lock);
    for (struct block *next; unused; unused = next) {
        next = unused->next;
        free_block(unused);
    }
    return b;
}

void *cuda_pin(size_t bytes, int n_threads, int node)
{
    struct block *b = take_kept(bytes, node);

    if (b)
        return b->memory;
    b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->bytes = bytes;
    b->node = node;
    if (!(bytes >= LARGE && pin_large(b, n_threads)) && !pin_small(b)) {
        free(b);
        return NULL;
    }
    pthread_mutex_lock(&blocks.lock);
    b->next = blocks.first;
    blocks.first = b;
    pthread_mutex_unlock(&blocks.lock);
    return b->memory;
}

void cuda_unpin(void *memory)
{
    if (!memory)
        return;
    pthread_mutex_lock(&blocks.lock);
    struct block **at = &blocks.first;
    while ((*at)->memory != memory)
        at = &(*at)->next;
    struct block *b = *at;
    const bool keep = gpu_host->keeps_buffers();
    b->kept = keep;
    if (!keep)
        *at = b->next;
    pthread_mutex_unlock(&blocks.lock);
    if (!keep)
        free_block(b);
}

fbp_status cuda_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out)
{
    const struct cuda_device *dev = cuda_of(device);

    /* the purpose is no part of the message, because the limit applies to all locked memory */
    (void)what;
    *out = NULL;
    CUDA_TRY(cudaSetDevice(dev->index));
    *out = cuda_pin(bytes, dev->job->n_threads, dev->node);
    if (*out)
        return FBP_OK;
    return gpu_host->fail(FBP_ERR_NOMEM,
                          "cuda: cannot lock %zu bytes of host memory; lower --batch or --memory, "
                          "or raise the limit of locked memory (ulimit -l)",
                          bytes);
}

void cuda_host_release(fbp_device *device, void *memory)
{
    (void)device;
    cuda_unpin(memory);
}

/* Create a layered texture of v->n_groups layers, and its surface. */
static fbp_status make_texture(const struct gpu_kernel *k, size_t columns, struct cuda_views *v)
{
    const struct cudaExtent extent = {columns, v->n_rows, v->n_groups};
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    const struct cudaTextureDesc texture = {
        .addressMode = {cudaAddressModeBorder, cudaAddressModeBorder, cudaAddressModeBorder},
        .filterMode = cudaFilterModeLinear,
        .readMode = cudaReadModeElementType};
    int bits[4] = {0};

    for (int i = 0; i < k->channels && i < 4; i++)
        bits[i] = k->bits;
    const struct cudaChannelFormatDesc texel =
        cudaCreateChannelDesc(bits[0], bits[1], bits[2], bits[3], cudaChannelFormatKindFloat);
    CUDA_TRY(
        cudaMalloc3DArray(&v->array, &texel, extent, cudaArrayLayered | cudaArraySurfaceLoadStore));
    resource.res.array.array = v->array;
    CUDA_TRY(cudaCreateSurfaceObject(&v->surface, &resource));
    CUDA_TRY(cudaCreateTextureObject(&v->texture, &resource, &texture, NULL));
    return FBP_OK;
}

static fbp_status make_views(struct cuda_device *dev, struct cuda_views *v)
{
    const struct gpu_kernel *k = &dev->kernel->gpu;

    v->scale = 1;
    if (k->bits == 16) {
        if (dev->half_scale == 0)
            FBP_TRY(gpu_half_scale(dev->job, &dev->half_scale));
        v->scale = dev->half_scale;
    }
    if (!k->channels) {
        /* kernel "parallel" reads, and ignores, up to 7 pieces behind the last view */
        const size_t behind =
            k->slices ? 8 * GPU_PIECE * sizeof(uint16_t) * dev->job->padded.panel.n_columns : 0;
        CUDA_TRY(cudaMalloc(&v->memory, k->views_bytes(dev->job, v->n_groups, v->n_rows) + behind));
        return FBP_OK;
    }
    v->texels = gpu_texels_per_column(k, dev->job);
    return make_texture(k, gpu_row_texels(k, dev->job), v);
}

static void drop_views(struct cuda_views *v)
{
    if (!v)
        return;
    if (v->texture)
        (void)cudaDestroyTextureObject(v->texture);
    if (v->surface)
        (void)cudaDestroySurfaceObject(v->surface);
    if (v->array)
        (void)cudaFreeArray(v->array);
    if (v->memory)
        (void)cudaFree(v->memory);
    free(v);
}

static fbp_status new_views(size_t n_groups, size_t n_rows, struct cuda_views **out)
{
    struct cuda_views *v = calloc(1, sizeof *v);

    *out = v;
    if (!v)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: cannot allocate %zu bytes; close other programs", sizeof *v);
    v->n_groups = n_groups;
    v->n_rows = n_rows;
    return FBP_OK;
}

fbp_status cuda_images_open(struct cuda_device *dev)
{
    struct cuda_decimation *d = &dev->decimation;
    const struct fbp_job *job = dev->job;

    if (!dev->kernel->gpu.decimates)
        return FBP_OK;
    FBP_TRY(gpu_view_groups(job, &d->groups));
    const size_t n = d->groups->n;
    struct gpu_view_group *groups = calloc(n, sizeof *groups);
    if (!groups)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: cannot allocate %zu bytes; close other programs",
                              n * sizeof *groups);
    for (size_t i = 0; i < n; i++)
        gpu_view_group_of(job, d->groups, i, dev->principal, &groups[i]);
    d->views = (void *)(dev->memory + dev->tables.view_groups);
    d->list = (void *)(dev->memory + dev->tables.images);
    const cudaError_t error = cudaMemcpy((void *)(dev->memory + dev->tables.view_groups), groups,
                                         n * sizeof *groups, cudaMemcpyHostToDevice);
    free(groups);
    CUDA_TRY(error);
    d->columns = (int)gpu_image_columns(&d->groups->division);
    d->slices = (int)gpu_image_slices(job, &d->groups->division);
    FBP_TRY(new_views(gpu_images_of(job), GPU_IMAGE_ROWS, &d->images));
    return make_texture(&dev->kernel->gpu, (size_t)d->columns, d->images);
}

void cuda_images_close(struct cuda_device *dev)
{
    drop_views(dev->decimation.images);
    gpu_host->view_groups_free(&dev->decimation.groups);
}

fbp_status cuda_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out)
{
    struct cuda_device *dev = cuda_of(device);
    const size_t lanes = dev->job->selection.symmetric_views;

    *out = NULL;
    CUDA_TRY(cudaSetDevice(dev->index));
    if (buffer->purpose != FBP_FOR_FILTERED) {
        CUDA_TRY(cudaMalloc(out, buffer->bytes ? buffer->bytes : 1));
        return FBP_OK;
    }
    struct cuda_views *v;
    FBP_TRY(new_views((buffer->n_views + lanes - 1) / lanes,
                      buffer->n_rows > 0 ? buffer->n_rows : 1, &v));
    const fbp_status st = make_views(dev, v);
    if (st != FBP_OK) {
        drop_views(v);
        return st;
    }
    *out = v;
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

struct cuda_views cuda_views_at(const struct cuda_kernel *kernel, const struct fbp_job *job,
                                const struct fbp_batch *batch, const struct cuda_views *views,
                                unsigned *group0)
{
    struct cuda_views out = *views;

    *group0 = (unsigned)batch->position;
    if (!kernel->gpu.channels) {
        out.memory =
            (char *)views->memory + kernel->gpu.views_bytes(job, batch->position, batch->n_rows);
        *group0 = 0;
    }
    return out;
}

/* Get CUDA's attributes of memory; false: not CUDA's, or its ends differ in type or device. */
static bool memory_kind(const void *memory, size_t bytes, struct cudaPointerAttributes *out)
{
    struct cudaPointerAttributes last;
    const void *end = (const char *)memory + (bytes ? bytes - 1 : 0);

    return cuda_is_done(cudaPointerGetAttributes(out, memory)) &&
           out->type != cudaMemoryTypeUnregistered &&
           cuda_is_done(cudaPointerGetAttributes(&last, end)) && out->type == last.type &&
           out->device == last.device;
}

bool cuda_reaches(fbp_device *device, const void *memory, size_t bytes)
{
    const int index = cuda_of(device)->index;
    struct cudaPointerAttributes a;

    return cudaSetDevice(index) == cudaSuccess && memory_kind(memory, bytes, &a) &&
           (a.type != cudaMemoryTypeDevice || a.device == index);
}

int cuda_memory_owner(const void *memory, size_t bytes)
{
    struct cudaPointerAttributes a;

    if (!memory_kind(memory, bytes, &a) ||
        (a.type != cudaMemoryTypeDevice && a.type != cudaMemoryTypeManaged))
        return -1;
    return a.device;
}

/* Access to device memory that the caller of the library allocated.  Copies run in a separate
 * stream, because the default stream would wait for all work of the caller. */
struct device_memory {
    struct fbp_device_memory far; /* first member: functions for the caller */
    int index;                    /* CUDA's ordinal */
    cudaStream_t queue, stream;   /* the caller's stream; the stream of copies */
    pthread_mutex_t lock;
};

/* Make a device current, and later restore the previous one: these functions run in threads of the
 * caller of the library, whose current device must not change. */
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

/* Wait for the stream of the caller; the device must be current for a default stream. */
static fbp_status settle(struct fbp_device_memory *far)
{
    const struct device_memory *f = (const struct device_memory *)(const void *)far;
    int before;

    FBP_TRY(enter(f->index, &before));
    const cudaError_t e = cudaStreamSynchronize(f->queue);
    leave(f->index, before);
    return e == cudaSuccess ? FBP_OK : cuda_failed(e, "cudaStreamSynchronize");
}

static fbp_status copy(struct fbp_device_memory *far, const struct fbp_strided_copy *p)
{
    struct device_memory *f = (struct device_memory *)(void *)far;
    cudaError_t e;

    pthread_mutex_lock(&f->lock);
    if (p->n == 1)
        e = cudaMemcpyAsync(p->to, p->from, p->bytes, cudaMemcpyDefault, f->stream);
    else
        e = cudaMemcpy2DAsync(p->to, p->to_stride, p->from, p->from_stride, p->bytes, p->n,
                              cudaMemcpyDefault, f->stream);
    if (e == cudaSuccess)
        e = cudaStreamSynchronize(f->stream);
    pthread_mutex_unlock(&f->lock);
    return e == cudaSuccess ? FBP_OK : cuda_failed(e, "cudaMemcpyAsync");
}

static void close_memory(struct fbp_device_memory *far)
{
    struct device_memory *f = (struct device_memory *)(void *)far;

    (void)cudaStreamDestroy(f->stream);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* Create a stream on the device with this ordinal. */
static fbp_status make_queue(int ordinal, void **out)
{
    cudaStream_t stream = NULL;
    int before;

    *out = NULL;
    FBP_TRY(enter(ordinal, &before));
    const cudaError_t e = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    leave(ordinal, before);
    *out = stream;
    return e == cudaSuccess ? FBP_OK : cuda_failed(e, "cudaStreamCreateWithFlags");
}

static fbp_status wait_for_queue(void *queue)
{
    CUDA_TRY(cudaStreamSynchronize(queue));
    return FBP_OK;
}

static void drop_queue(void *queue)
{
    (void)cudaStreamDestroy(queue);
}

static fbp_status open_memory(int index, void *queue, struct fbp_device_memory **out)
{
    struct device_memory *f = calloc(1, sizeof *f);
    void *stream;

    if (!f)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "cuda: cannot allocate %zu bytes; close other programs", sizeof *f);
    const fbp_status st = make_queue(cuda_ordinal(index), &stream);
    if (st != FBP_OK) {
        free(f);
        return st;
    }
    *f = (struct device_memory){.far = {settle, copy, close_memory},
                                .index = cuda_ordinal(index),
                                .queue = queue,
                                .stream = stream};
    pthread_mutex_init(&f->lock, NULL);
    *out = &f->far;
    return FBP_OK;
}

static fbp_status alloc_memory(int index, size_t bytes, void **out)
{
    const int ordinal = cuda_ordinal(index);
    int before;

    *out = NULL;
    FBP_TRY(enter(ordinal, &before));
    const cudaError_t e = cudaMalloc(out, bytes ? bytes : 1);
    leave(ordinal, before);
    return e == cudaSuccess ? FBP_OK : cuda_failed(e, "cudaMalloc");
}

static void release_memory(int index, void *memory)
{
    const int ordinal = cuda_ordinal(index);
    int before;

    if (enter(ordinal, &before) != FBP_OK)
        return;
    (void)cudaFree(memory);
    leave(ordinal, before);
}

const struct fbp_device_memory_access cuda_device_memory = {
    cuda_memory_index, open_memory,  make_queue,    wait_for_queue,
    drop_queue,        alloc_memory, release_memory};
