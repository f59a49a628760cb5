#include "run/retrieved.h"

#include "array/onto.h"
#include "base/mem.h"
#include "base/stop.h"
#include "run/integrals.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A view, and behind it what retrieving takes. */
struct slot {
    float *view;
    size_t index;  /* of the view, from 1 on; 0: none */
    bool taken;    /* somebody retrieves it, or reads from it */
    uint64_t last; /* when that was over */
};

struct retrieved {
    const struct fbp_ahead *ahead;
    struct fbp_prep_counts *mended;
    char *memory;         /* of all slots */
    pthread_mutex_t lock; /* of: */
    pthread_cond_t freed;
    struct slot *slots;
    uint64_t now;           /* counts */
    unsigned char *counted; /* [view] in *mended */
};

/* The one that has the view; else the one that was used longest ago of those that are free; NULL:
 * it is to be waited for. */
static struct slot *find(const struct retrieved *s, size_t index)
{
    struct slot *oldest = NULL;

    for (int i = 0; i < s->ahead->n_threads; i++) {
        struct slot *slot = &s->slots[i];
        if (slot->index == index)
            return slot->taken ? NULL : slot;
        if (!slot->taken && (!oldest || slot->last < oldest->last))
            oldest = slot;
    }
    return oldest;
}

static struct slot *take(struct retrieved *s, size_t index, bool *has_it)
{
    struct slot *slot;

    pthread_mutex_lock(&s->lock);
    while (!(slot = find(s, index)))
        pthread_cond_wait(&s->freed, &s->lock);
    *has_it = slot->index == index;
    slot->index = index;
    slot->taken = true;
    pthread_mutex_unlock(&s->lock);
    return slot;
}

static void give_back(struct retrieved *s, struct slot *slot, bool is_good)
{
    pthread_mutex_lock(&s->lock);
    slot->taken = false;
    slot->last = ++s->now;
    if (!is_good)
        slot->index = 0;
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
}

static void count(struct retrieved *s, size_t view, const struct fbp_prep_counts *counts)
{
    pthread_mutex_lock(&s->lock);
    if (!s->counted[view]) {
        s->mended->not_finite += counts->not_finite;
        s->mended->clipped += counts->clipped;
    }
    s->counted[view] = 1;
    pthread_mutex_unlock(&s->lock);
}

static fbp_status retrieve(fbp_source *src, size_t view, float *out)
{
    struct retrieved *s = src->state;
    const struct fbp_ahead *a = s->ahead;
    float *work = out + fbp_ahead_view_floats(a);
    struct fbp_prep_counts counts = {0};
    double reach[2];

    FBP_TRY(fbp_go_on());
    FBP_TRY(fbp_integrals_read_view(a, src->below, view, work, out, &counts));
    fbp_ahead_reach(a, view, reach);
    fbp_retrieve(&a->phase, fbp_ahead_from(a), reach, out, work);
    count(s, view, &counts);
    return FBP_OK;
}

/* Rows [row0, row0 + n) as they are stored. */
static fbp_status read_view(fbp_source *src, size_t view, size_t row0, size_t n, float *out)
{
    struct retrieved *s = src->state;
    const struct fbp_ahead *a = s->ahead;
    const size_t nc = src->info.n[0], from = a->top_down ? a->scan.panel.n_rows - row0 - n : row0;
    bool has_it;
    struct slot *slot = take(s, view + 1, &has_it);
    const fbp_status st = has_it ? FBP_OK : retrieve(src, view, slot->view);

    if (st == FBP_OK) {
        memcpy(out, slot->view + from * nc, n * nc * sizeof *out);
        if (a->top_down)
            fbp_turn_rows(out, n, nc);
    }
    give_back(s, slot, st == FBP_OK);
    return st;
}

static fbp_status read_retrieved(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    float *to = out;

    (void)as_float; /* it is one */
    for (size_t k = 0; k < n_slices; k++, to += n_rows * src->info.n[0])
        FBP_TRY(read_view(src, slice0 + k, row0, n_rows, to));
    return FBP_OK;
}

static void close_retrieved(fbp_source *src)
{
    struct retrieved *s = src->state;

    pthread_cond_destroy(&s->freed);
    pthread_mutex_destroy(&s->lock);
    fbp_free(s->memory);
    free(s->slots);
    free(s->counted);
    free(s);
}

static fbp_status make_slots(struct retrieved *s)
{
    const size_t bytes = fbp_ahead_thread_bytes(s->ahead), n = (size_t)s->ahead->n_threads;

    FBP_TRY(fbp_calloc((void **)&s->counted, s->ahead->scan.n_views, 1, "counters"));
    FBP_TRY(fbp_calloc((void **)&s->slots, n, sizeof *s->slots, "views"));
    FBP_TRY(fbp_alloc((void **)&s->memory, n * bytes, "views"));
    for (size_t i = 0; i < n; i++)
        s->slots[i].view = (float *)(void *)(s->memory + i * bytes);
    return FBP_OK;
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    struct retrieved *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    *s = *(const struct retrieved *)what;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->freed, NULL);
    src->state = s;
    src->close = close_retrieved;
    src->read_block = read_retrieved;
    src->unpacks = true;
    fbp_integrals_facts(src, below);
    src->held_bytes = fbp_source_bytes(below, s->ahead->n_threads);
    FBP_TRY(make_slots(s));
    return fbp_source_onto(src, below);
}

fbp_status fbp_source_retrieved(fbp_source **out, const struct fbp_ahead *ahead, fbp_source *below,
                                bool owned, struct fbp_prep_counts *mended)
{
    const struct retrieved what = {.ahead = ahead, .mended = mended};

    return fbp_source_over(out, set_up, &what, below, owned);
}
