#include "run/shared.h"

#include "base/mem.h"

fbp_status fbp_shared_create(struct fbp_shared *s, const struct fbp_job *job,
                             const struct fbp_work *work)
{
    const struct fbp_slab slab = fbp_work_slab(work, job, 0);

    *s = (struct fbp_shared){.n = work->shared ? work->n_batches : 0};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (!work->shared)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&s->list, s->n, sizeof *s->list, "a table of batches"));
    return fbp_drawn_create(&s->views, job, work, &slab, true);
}

void fbp_shared_destroy(struct fbp_shared *s)
{
    free(s->list);
    free(s->views);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
}

static bool is_over(const struct fbp_shared *s, const atomic_bool *over)
{
    return s->aborted || atomic_load(over);
}

/* How many batches are in this state, of one worker (n: of any); *first: the first of them. */
static size_t count(const struct fbp_shared *s, enum fbp_shared_state state, size_t worker,
                    size_t *first)
{
    size_t n = 0;

    for (size_t i = s->n; i-- > 0;)
        if (s->list[i].state == state && (worker == SIZE_MAX || s->list[i].by == worker)) {
            n++;
            if (first)
                *first = i;
        }
    return n;
}

/* Is there something to do now? */
static bool find_next(struct fbp_shared *s, size_t worker, bool has_all, size_t *b,
                      enum fbp_shared_next *out)
{
    const size_t own =
        count(s, FBP_SHARED_TAKEN, worker, NULL) + count(s, FBP_SHARED_READ, worker, NULL);

    if (count(s, FBP_SHARED_FREE, SIZE_MAX, b) > 0) {
        s->list[*b].state = FBP_SHARED_TAKEN;
        s->list[*b].by = worker;
        *out = FBP_SHARED_TAKE;
        return true;
    }
    if (own == 0 && count(s, FBP_SHARED_QUEUED, worker, NULL) > 0) {
        *out = FBP_SHARED_COLLECT;
        return true;
    }
    *out = FBP_SHARED_END;
    return has_all && count(s, FBP_SHARED_COUNTED, SIZE_MAX, NULL) == s->n;
}

enum fbp_shared_next fbp_shared_next(struct fbp_shared *s, size_t worker,
                                     const atomic_bool *has_all, const atomic_bool *over, size_t *b)
{
    enum fbp_shared_next next = FBP_SHARED_END;

    pthread_mutex_lock(&s->lock);
    while (!is_over(s, over) && !find_next(s, worker, atomic_load(has_all), b, &next))
        pthread_cond_wait(&s->changed, &s->lock);
    if (is_over(s, over) && next != FBP_SHARED_TAKE)
        next = FBP_SHARED_END;
    pthread_mutex_unlock(&s->lock);
    return next;
}

void fbp_shared_turn(struct fbp_shared *s, size_t b)
{
    size_t first = 0;

    pthread_mutex_lock(&s->lock);
    while (!s->aborted && count(s, FBP_SHARED_TAKEN, SIZE_MAX, &first) > 0 && first < b)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

struct fbp_shared_batch fbp_shared_get(struct fbp_shared *s, size_t b)
{
    pthread_mutex_lock(&s->lock);
    const struct fbp_shared_batch out = s->list[b];
    pthread_mutex_unlock(&s->lock);
    return out;
}

/* Unless somebody else has it now. */
static void set_state(struct fbp_shared *s, size_t b, size_t worker, struct fbp_shared_batch next)
{
    pthread_mutex_lock(&s->lock);
    struct fbp_shared_batch *at = &s->list[b];
    if (at->by == worker && at->state != FBP_SHARED_FREE) {
        at->state = next.state;
        at->ready = next.ready;
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void fbp_shared_read(struct fbp_shared *s, size_t b, size_t worker)
{
    set_state(s, b, worker, (struct fbp_shared_batch){.state = FBP_SHARED_READ});
}

void fbp_shared_queued(struct fbp_shared *s, size_t b, size_t worker, struct fbp_mark ready)
{
    set_state(s, b, worker, (struct fbp_shared_batch){.state = FBP_SHARED_QUEUED, .ready = ready});
}

void fbp_shared_counted(struct fbp_shared *s, size_t worker)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].by == worker && s->list[i].state == FBP_SHARED_QUEUED)
            s->list[i].state = FBP_SHARED_COUNTED;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

bool fbp_shared_await(struct fbp_shared *s, size_t b, const atomic_bool *over,
                      struct fbp_shared_batch *out)
{
    pthread_mutex_lock(&s->lock);
    while (!is_over(s, over) && s->list[b].state != FBP_SHARED_QUEUED &&
           s->list[b].state != FBP_SHARED_COUNTED)
        pthread_cond_wait(&s->changed, &s->lock);
    *out = s->list[b];
    const bool there = !is_over(s, over);
    pthread_mutex_unlock(&s->lock);
    return there;
}

void fbp_shared_return(struct fbp_shared *s, size_t worker)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n; i++) {
        struct fbp_shared_batch *b = &s->list[i];
        if (b->state == FBP_SHARED_FREE || b->by != worker)
            continue;
        b->again = true;
        b->counted |= b->state == FBP_SHARED_COUNTED;
        b->state = FBP_SHARED_FREE;
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void fbp_shared_wake(struct fbp_shared *s)
{
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void fbp_shared_abort(struct fbp_shared *s)
{
    pthread_mutex_lock(&s->lock);
    s->aborted = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}
