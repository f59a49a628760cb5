/* The work list of a run, from which workers take slabs; the table of batches that workers filter
 * for one another; and bitmaps of detector rows (views x rows), by which repaired samples are
 * counted once per row.  worker.c, the stages and run.c call these functions. */
#include "backend/rows.h"
#include "base/base.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "pipeline/worker.h"

#include <string.h>

fbp_status fbp_row_bitmap_empty(struct fbp_row_bitmap *out, const struct fbp_job *job)
{
    *out = (struct fbp_row_bitmap){.n_views = job->n_views, .n_rows = job->panel.n_rows};
    return fbp_calloc((void **)&out->bits, fbp_row_bitmap_words(out->n_views, out->n_rows),
                      sizeof *out->bits, "counts of rows");
}

/* ---- Bitmaps of rows ---- */

/* Bits [first, end) of a bitmap: rows [r0, r1) of a view. */
struct bits {
    size_t first, end;
};

static struct bits bits_of(const struct fbp_row_bitmap *l, size_t view, size_t r0, size_t r1)
{
    return (struct bits){view * l->n_rows + r0, view * l->n_rows + r1};
}

/* Mask of the bits that lie in a word; at least one does. */
static unsigned in_word(const struct bits *b, size_t word)
{
    const size_t at = word * FBP_ROW_BITMAP_BITS;
    const size_t lo = b->first > at ? b->first - at : 0, hi = b->end - at;

    return (hi < FBP_ROW_BITMAP_BITS ? (1u << hi) - 1 : ~0u) & ~0u << lo;
}

/* Set or clear the bits of rows, without atomic operations. */
static void set_rows(struct fbp_row_bitmap *l, size_t view, size_t r0, size_t r1, bool has)
{
    const struct bits b = bits_of(l, view, r0, r1);

    for (size_t w = b.first / FBP_ROW_BITMAP_BITS; w * FBP_ROW_BITMAP_BITS < b.end; w++)
        if (has)
            l->bits[w] |= in_word(&b, w);
        else
            l->bits[w] &= ~in_word(&b, w);
}

/* Move the bits of rows [r0, r1) of a view that `from` has to `to`. */
static void move(struct fbp_row_bitmap *from, size_t view, size_t r0, size_t r1,
                 struct fbp_row_bitmap *to)
{
    const struct bits b = bits_of(from, view, r0, r1);

    for (size_t w = b.first / FBP_ROW_BITMAP_BITS; w * FBP_ROW_BITMAP_BITS < b.end; w++) {
        const unsigned moved = from->bits[w] & in_word(&b, w);
        from->bits[w] &= ~moved;
        to->bits[w] |= moved;
    }
}

/* Set or clear the rows of view k that slices [z0, z1) need, with the rows that the filter along
 * columns needs. */
static void set_needed(struct fbp_row_bitmap *out, const struct fbp_job *job, size_t k, size_t z0,
                       size_t z1, bool has)
{
    const size_t reach = fbp_column_reach(job), n_rows = job->panel.n_rows;
    size_t r0, r1;

    job->rows(job, k, k + 1, z0, z1, &r0, &r1);
    if (r0 == r1)
        return;
    r0 = r0 > reach ? r0 - reach : 0;
    r1 = n_rows - r1 > reach ? r1 + reach : n_rows;
    set_rows(out, k, r0, r1, has);
}

/* Set or clear the rows that the job's share of the slices needs. */
static void set_share(struct fbp_row_bitmap *out, const struct fbp_job *job, bool has)
{
    size_t z0, n;

    fbp_roi_slices(job, &z0, &n);
    for (size_t k = 0; n > 0 && k < job->n_views; k++)
        set_needed(out, job, k, z0, z0 + n, has);
}

fbp_status fbp_row_bitmap_create(struct fbp_row_bitmap *out, const struct fbp_job *job)
{
    struct fbp_job before = *job;

    FBP_TRY(fbp_row_bitmap_empty(out, job));
    set_share(out, job, true);
    before.part.slices[0] = 0;
    before.part.slices[1] = job->part.slices[0];
    if (job->part.counts_once && before.part.slices[1] > 0)
        set_share(out, &before, false);
    return FBP_OK;
}

void fbp_row_bitmap_clear(struct fbp_row_bitmap *ledger)
{
    free(ledger->bits);
    *ledger = (struct fbp_row_bitmap){0};
}

/* Move the rows that a batch needs from `rest` to `out`. */
static void share_batch(struct fbp_row_bitmap *rest, const struct fbp_job *job,
                        const struct fbp_batch *b, struct fbp_row_bitmap *out)
{
    size_t r0, r1;

    if (b->n_rows == 0)
        return;
    fbp_needed_rows(job, b, &r0, &r1);
    for (size_t k = 0; k < b->n_views; k++)
        move(rest, fbp_batch_view(job, b, k), r0, r1, out);
}

void fbp_row_bitmap_zero(struct fbp_row_bitmap *l)
{
    memset(l->bits, 0, fbp_row_bitmap_words(l->n_views, l->n_rows) * sizeof *l->bits);
}

void fbp_row_bitmap_share(struct fbp_row_bitmap *rest, const struct fbp_job *job,
                          const struct fbp_task *tasks, size_t n_tasks, struct fbp_row_bitmap *out)
{
    fbp_row_bitmap_zero(out);
    for (size_t i = 0; i < n_tasks; i++)
        if (tasks[i].loads)
            share_batch(rest, job, &tasks[i].batch, out);
}

void fbp_row_bitmap_add(struct fbp_row_bitmap *to, const struct fbp_row_bitmap *rows)
{
    for (size_t i = 0; i < fbp_row_bitmap_words(to->n_views, to->n_rows); i++)
        to->bits[i] |= rows->bits[i];
}

size_t fbp_row_bitmap_bytes(const struct fbp_job *job)
{
    return fbp_row_bitmap_words(job->n_views, job->panel.n_rows) * sizeof(unsigned);
}

/* ---- The work list ---- */

fbp_status fbp_slabs_create(struct fbp_slabs *s, const struct fbp_job *job,
                            const struct fbp_work *work)
{
    *s = (struct fbp_slabs){.job = job, .work = work, .n_most = fbp_work_slabs(work, job)};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    FBP_TRY(fbp_calloc((void **)&s->list, s->n_most, sizeof *s->list, "slab list"));
    return fbp_row_bitmap_create(&s->uncounted, job);
}

void fbp_slabs_destroy(struct fbp_slabs *s)
{
    fbp_row_bitmap_clear(&s->uncounted);
    free(s->list);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
}

void fbp_slabs_add(struct fbp_slabs *s, struct fbp_slab slab)
{
    s->list[s->n++] = slab;
}

/* Skipped slabs fill the list from its end; n + n_skipped is at most n_most. */
void fbp_slabs_skip(struct fbp_slabs *s, struct fbp_slab slab)
{
    s->list[s->n_most - ++s->n_skipped] = slab;
}

const struct fbp_slab *fbp_slabs_skipped(const struct fbp_slabs *s, size_t i)
{
    return &s->list[s->n_most - 1 - i];
}

/* Take the next slab; false if none is left. */
static bool take(struct fbp_slabs *s, struct fbp_slab *out)
{
    pthread_mutex_lock(&s->lock);
    const bool found = s->n_drawn < s->n;
    if (found) {
        *out = s->list[s->n_drawn++];
        s->n_open++;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* Make a slab's tasks by fbp_work_tasks(), with the same `first`; free() the result.
 * With follow, the stage that reads joins tasks while other threads read the planned ones: two
 * lists.  Else both are one list. */
static fbp_status create_item(struct fbp_work_item **out, const struct fbp_job *job,
                              const struct fbp_work *work, const struct fbp_slab *slab, bool first)
{
    const size_t n = fbp_work_tasks(work, job, slab, first, NULL), lists = work->follow + 1u;
    struct fbp_work_item *d = NULL;

    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d + lists * n * sizeof *d->tasks, "task list"));
    d->slab = *slab;
    d->n_tasks = fbp_work_tasks(work, job, slab, first, d->tasks);
    d->planned = d->tasks + (lists - 1) * n;
    if (work->follow)
        memcpy(d->tasks + n, d->tasks, n * sizeof *d->tasks);
    *out = d;
    return FBP_OK;
}

fbp_status fbp_slabs_draw(struct fbp_slabs *s, bool first, struct fbp_work_item **out)
{
    struct fbp_slab slab;

    *out = NULL;
    if (!take(s, &slab))
        return FBP_OK;
    const fbp_status st = create_item(out, s->job, s->work, &slab, first);
    if (st != FBP_OK) /* else other workers would wait for this slab forever */
        fbp_slabs_return(s, slab);
    return st;
}

bool fbp_slabs_await(struct fbp_slabs *s, const atomic_bool *gone)
{
    pthread_mutex_lock(&s->lock);
    while (s->n_drawn == s->n && s->n_open > 0 && !s->aborted && !atomic_load(gone))
        pthread_cond_wait(&s->changed, &s->lock);
    const bool there = s->n_drawn < s->n && !s->aborted && !atomic_load(gone);
    pthread_mutex_unlock(&s->lock);
    return there;
}

void fbp_slabs_wake(struct fbp_slabs *s)
{
    pthread_mutex_lock(&s->lock);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_abort(struct fbp_slabs *s)
{
    pthread_mutex_lock(&s->lock);
    s->aborted = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void close_one(struct fbp_slabs *s)
{
    s->n_open--;
    pthread_cond_broadcast(&s->changed);
}

void fbp_slabs_done(struct fbp_slabs *s)
{
    pthread_mutex_lock(&s->lock);
    close_one(s);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_return(struct fbp_slabs *s, struct fbp_slab missing)
{
    pthread_mutex_lock(&s->lock);
    if (missing.nz > 0) /* n_drawn > 0, because this slab was taken */
        s->list[--s->n_drawn] = missing;
    close_one(s);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_work_item *drawn,
                     struct fbp_row_bitmap *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_row_bitmap_share(&s->uncounted, s->job, drawn->planned, drawn->n_tasks, mine);
    if (s->work->kept) /* every worker filters and counts all rows */
        fbp_row_bitmap_add(&s->uncounted, mine);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_uncounted(struct fbp_slabs *s, struct fbp_row_bitmap *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_row_bitmap_add(mine, &s->uncounted);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_unclaim(struct fbp_slabs *s, const struct fbp_row_bitmap *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_row_bitmap_add(&s->uncounted, mine);
    pthread_mutex_unlock(&s->lock);
}

/* ---- Batches that workers filter for one another ---- */

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
    return create_item(&s->views, job, work, &slab, true);
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

/* Count the batches of one worker (SIZE_MAX: of any) in a state; *first: index of the first. */
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

/* Set *out and *b to what the worker does next; false if it must wait. */
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

/* Set the state of a batch, unless it was freed or another worker took it. */
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

void fbp_shared_queued(struct fbp_shared *s, size_t b, size_t worker, struct fbp_event ready)
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
