/* Pinned memory of the host.  The system fills fresh pages with zeros, one thread at a time: large
 * blocks are touched by all threads first, in huge pages, and pinned then.  Pages come from the
 * node of the card: every copy from another would cross the link between processors. */
#include "backend/cuda/cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, PAGE = 4096, PIECE = 8 << 20, LARGE = 64 << 20, MOST_THREADS = 16 };

/* Large blocks that are in use. */
struct block {
    char *memory;
    size_t bytes;
    struct block *next;
};

static struct {
    pthread_mutex_t lock;
    struct block *first;
} blocks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void touch_piece(void *user, size_t item, int worker)
{
    const struct block *b = user;
    const size_t first = item * PIECE, left = b->bytes - first;

    (void)worker;
    for (size_t at = 0; at < PIECE && at < left; at += PAGE)
        ((volatile char *)b->memory)[first + at] = 0;
}

static void touch(struct block *b, int n_threads)
{
    fbp_pool *pool = NULL;

    if (gpu_host->pool_create(&pool, n_threads < MOST_THREADS ? n_threads : MOST_THREADS) != FBP_OK)
        return; /* pinning touches them, too */
    gpu_host->pool_for(pool, (b->bytes + PIECE - 1) / PIECE, touch_piece, b);
    gpu_host->pool_destroy(&pool);
}

/* Whole huge pages; false if the system has none left. */
static bool map(struct block *b, size_t bytes)
{
    const size_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
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
    b->bytes = whole;
    (void)madvise(b->memory, whole, MADV_HUGEPAGE);
    return true;
}

/* NULL if it cannot be done this way. */
static void *alloc_large(size_t bytes, int n_threads, int node)
{
    struct block *b = malloc(sizeof *b);

    if (!b)
        return NULL;
    if (!map(b, bytes)) {
        free(b);
        return NULL;
    }
    gpu_host->numa_place(b->memory, b->bytes, node);
    touch(b, n_threads);
    if (cudaHostRegister(b->memory, b->bytes, cudaHostRegisterPortable) != cudaSuccess) {
        (void)cudaGetLastError();
        (void)munmap(b->memory, b->bytes);
        free(b);
        return NULL;
    }
    pthread_mutex_lock(&blocks.lock);
    b->next = blocks.first;
    blocks.first = b;
    pthread_mutex_unlock(&blocks.lock);
    return b->memory;
}

void *cuda_pin(size_t bytes, int n_threads, int node)
{
    void *out = bytes >= LARGE ? alloc_large(bytes, n_threads, node) : NULL;

    if (out)
        return out;
    const bool placed = gpu_host->numa_begin(node);
    if (cudaHostAlloc(&out, bytes ? bytes : 1, cudaHostAllocPortable) != cudaSuccess) {
        (void)cudaGetLastError();
        out = NULL;
    }
    if (placed)
        gpu_host->numa_end();
    return out;
}

/* The block of that address, taken out of the list. */
static struct block *take_block(const void *memory)
{
    struct block *found;

    pthread_mutex_lock(&blocks.lock);
    struct block **at = &blocks.first;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&blocks.lock);
    return found;
}

void cuda_unpin(void *memory)
{
    struct block *b = memory ? take_block(memory) : NULL;

    if (b) {
        (void)cudaHostUnregister(memory);
        (void)munmap(memory, b->bytes);
        free(b);
    } else if (memory) {
        (void)cudaFreeHost(memory);
    }
}

fbp_status cuda_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out)
{
    const struct cuda_device *dev = cuda_of(device);

    (void)what; /* the limit is one of locked memory, whatever it is for */
    *out = NULL;
    CUDA_TRY(cudaSetDevice(dev->index));
    *out = cuda_pin(bytes, dev->job->n_threads, dev->node);
    if (*out)
        return FBP_OK;
    return gpu_host->fail(FBP_ERR_NOMEM,
                          "cuda: cannot pin %zu bytes of the host's memory: lower --batch or "
                          "--memory, or raise the limit of locked memory (ulimit -l)",
                          bytes);
}

void cuda_host_release(fbp_device *device, void *memory)
{
    (void)device;
    cuda_unpin(memory);
}
