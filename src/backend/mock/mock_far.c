/* Memory of the caller's on a pretended device. */
#include "backend/mock/mock.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* No address of a program has this bit, on any machine whose addresses have 48 bits. */
static const uintptr_t FAR = (uintptr_t)1 << 50;

atomic_uint_fast64_t fbp_mock_copied, fbp_mock_settled;

struct mock_far {
    struct fbp_far far;
    void *queue; /* an atomic_bool: is it busy?  NULL: the caller has none */
};

void *fbp_mock_far(void *host)
{
    return (void *)((uintptr_t)host | FAR);
}

void *fbp_mock_near(const void *memory)
{
    return (void *)((uintptr_t)memory & ~FAR);
}

static int owner(const void *memory, size_t bytes)
{
    (void)bytes;
    return (uintptr_t)memory & FAR ? 0 : -1;
}

static fbp_status wait_for(void *queue)
{
    const atomic_bool *busy = queue;

    while (busy && atomic_load(busy))
        usleep(100);
    return FBP_OK;
}

static fbp_status settle(struct fbp_far *far)
{
    const struct mock_far *f = (const struct mock_far *)(const void *)far;

    atomic_fetch_add(&fbp_mock_settled, 1);
    return wait_for(f->queue);
}

static fbp_status copy(struct fbp_far *far, const struct fbp_pieces *p)
{
    (void)far;
    for (size_t i = 0; i < p->n; i++)
        memcpy((char *)fbp_mock_near(p->to) + i * p->to_stride,
               (const char *)fbp_mock_near(p->from) + i * p->from_stride, p->bytes);
    atomic_fetch_add(&fbp_mock_copied, p->n * p->bytes);
    return FBP_OK;
}

static void drop(struct fbp_far *far)
{
    free(far);
}

static fbp_status open_far(int index, void *queue, struct fbp_far **out)
{
    struct mock_far *f = NULL;

    (void)index;
    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "the caller's memory"));
    *f = (struct mock_far){{settle, copy, drop}, queue};
    *out = &f->far;
    return FBP_OK;
}

static fbp_status make_queue(int number, void **out)
{
    (void)number;
    return fbp_calloc(out, 1, sizeof(atomic_bool), "a queue of a pretended device");
}

static fbp_status alloc_far(int index, size_t bytes, void **out)
{
    void *host = NULL;

    (void)index;
    *out = NULL;
    FBP_TRY(fbp_alloc(&host, bytes, "memory of a pretended device"));
    *out = fbp_mock_far(host);
    return FBP_OK;
}

static void release_far(int index, void *memory)
{
    (void)index;
    fbp_free(fbp_mock_near(memory));
}

const struct fbp_far_access fbp_mock_far_access = {owner, open_far,  make_queue, wait_for,
                                                   free,  alloc_far, release_far};
