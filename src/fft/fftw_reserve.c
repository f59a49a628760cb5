/* First fit, as pieces are few and small.  Neighbours that are free are joined while the next piece
 * is looked for. */
#include "fft/fftw_reserve.h"

#include "base/mem.h"

#include <stdint.h>

struct piece {
    size_t bytes; /* behind this header */
    bool used;
};

static struct piece *at(const struct fbp_reserve *r, size_t offset)
{
    return (struct piece *)(void *)(r->base + offset);
}

/* Where the piece behind the one at `offset` begins; r->bytes after the last. */
static size_t after(const struct fbp_reserve *r, size_t offset)
{
    return offset + FBP_ALIGN + at(r, offset)->bytes;
}

static void join(const struct fbp_reserve *r, size_t offset)
{
    struct piece *p = at(r, offset);

    for (size_t next = after(r, offset); next < r->bytes && !at(r, next)->used;
         next = after(r, offset))
        p->bytes += FBP_ALIGN + at(r, next)->bytes;
}

void fbp_reserve_init(struct fbp_reserve *r, void *base, size_t bytes)
{
    *r = (struct fbp_reserve){.base = base, .bytes = bytes};
    *at(r, 0) = (struct piece){.bytes = bytes - FBP_ALIGN};
}

void *fbp_reserve_take(struct fbp_reserve *r, size_t n)
{
    const size_t bytes = (n + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;

    if (bytes < n)
        return NULL;
    for (size_t offset = 0; offset < r->bytes; offset = after(r, offset)) {
        struct piece *p = at(r, offset);
        if (p->used)
            continue;
        join(r, offset);
        if (p->bytes < bytes)
            continue;
        if (p->bytes > bytes) { /* by a header at least: all are multiples of FBP_ALIGN */
            const size_t left = p->bytes - bytes - FBP_ALIGN;
            p->bytes = bytes;
            *at(r, after(r, offset)) = (struct piece){.bytes = left};
        }
        p->used = true;
        r->n_used++;
        return r->base + offset + FBP_ALIGN;
    }
    return NULL;
}

bool fbp_reserve_has(const struct fbp_reserve *r, const void *p)
{
    const uintptr_t base = (uintptr_t)r->base, at_p = (uintptr_t)p;

    return at_p >= base && at_p < base + r->bytes;
}

void fbp_reserve_give_back(struct fbp_reserve *r, void *p)
{
    at(r, (size_t)((char *)p - r->base) - FBP_ALIGN)->used = false;
    r->n_used--;
}

size_t fbp_reserve_room(const struct fbp_reserve *r)
{
    size_t most = 0;

    for (size_t offset = 0; offset < r->bytes; offset = after(r, offset)) {
        if (at(r, offset)->used)
            continue;
        join(r, offset);
        if (at(r, offset)->bytes > most)
            most = at(r, offset)->bytes;
    }
    return most;
}
