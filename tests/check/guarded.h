/** @file guarded.h  Buffers between unmapped pages, and random numbers, for tests of kernels. */
#ifndef FBP_TESTS_GUARDED_H
#define FBP_TESTS_GUARDED_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* n floats, zero, that end at an unmapped page and start after one. */
struct guarded {
    char *base;
    size_t bytes;
    float *data;
};

static inline struct guarded guarded(size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = (n * sizeof(float) + page - 1) / page * page;
    struct guarded g = {.bytes = size + 2 * page};

    g.base = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.base == MAP_FAILED || mprotect(g.base, page, PROT_NONE) != 0 ||
        mprotect(g.base + page + size, page, PROT_NONE) != 0)
        abort();
    g.data = (float *)(void *)(g.base + page + size) - n;
    return g;
}

static inline void release(struct guarded *g)
{
    munmap(g->base, g->bytes);
}

static inline float uniform(float a, float b)
{
    return a + (b - a) * (float)rand() / (float)RAND_MAX;
}

#endif /* FBP_TESTS_GUARDED_H */
