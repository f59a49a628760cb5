#include "array/file/cache.h"

#include "base/base.h"

#include <stdbool.h>

/* A chunk in memory; users hold it while they copy from it. */
struct fbp_cached {
    size_t chunk; /* SIZE_MAX: none */
    bool loading;
    size_t users;
    uint64_t used; /* when, by a clock that ticks once a use */
    void *data;
};

void fbp_cache_open(struct fbp_cache *c)
{
    *c = (struct fbp_cache){0};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
}

fbp_status fbp_cache_make(struct fbp_cache *c, size_t n_slots, size_t chunk_bytes)
{
    c->chunk_bytes = chunk_bytes;
    FBP_TRY(fbp_calloc((void **)&c->slots, n_slots, sizeof *c->slots, "a cache of chunks"));
    c->n_slots = n_slots;
    for (size_t i = 0; i < n_slots; i++)
        c->slots[i].chunk = SIZE_MAX;
    return FBP_OK;
}

void fbp_cache_close(struct fbp_cache *c)
{
    for (size_t i = 0; i < c->n_slots; i++)
        fbp_free(c->slots[i].data);
    free(c->slots);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
}

/* Under the lock: the slot that holds chunk k; else one for it, loading; else NULL: wait. */
static struct fbp_cached *find_slot(struct fbp_cache *c, size_t k)
{
    struct fbp_cached *oldest = NULL;

    for (size_t i = 0; i < c->n_slots; i++) {
        struct fbp_cached *s = &c->slots[i];
        if (s->chunk == k)
            return s;
        if (s->users == 0 && (!oldest || s->used < oldest->used))
            oldest = s;
    }
    if (oldest) {
        oldest->chunk = k;
        oldest->loading = true;
    }
    return oldest;
}

/* A slot that this thread uses now; *mine: and is to fill. */
static struct fbp_cached *hold(struct fbp_cache *c, size_t k, bool *mine)
{
    struct fbp_cached *s;

    pthread_mutex_lock(&c->lock);
    for (;;) {
        s = find_slot(c, k);
        *mine = s && s->loading && s->users == 0;
        if (s && (*mine || !s->loading))
            break;
        pthread_cond_wait(&c->changed, &c->lock);
    }
    s->users++;
    s->used = ++c->clock;
    pthread_mutex_unlock(&c->lock);
    return s;
}

void fbp_cache_give_back(struct fbp_cache *c, struct fbp_cached *s)
{
    pthread_mutex_lock(&c->lock);
    s->users--;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

fbp_status fbp_cache_take(struct fbp_cache *c, size_t k, fbp_cache_load_fn *load, void *user,
                          struct fbp_cached **out)
{
    bool mine;
    struct fbp_cached *s = *out = hold(c, k, &mine);
    fbp_status st = FBP_OK;

    if (!mine)
        return FBP_OK;
    if (!s->data)
        st = fbp_alloc(&s->data, c->chunk_bytes, "a chunk of samples");
    if (st == FBP_OK)
        st = load(user, k, s->data);
    pthread_mutex_lock(&c->lock);
    s->loading = false;
    if (st != FBP_OK) {
        s->chunk = SIZE_MAX;
        s->users--;
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return st;
}

const void *fbp_cache_data(const struct fbp_cached *s)
{
    return s->data;
}
