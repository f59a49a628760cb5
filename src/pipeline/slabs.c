/* Three structures that the workers (devices) of a run share: the work list, from which they take
 * slabs (fbp_slabs_…()); the table of batches that they filter for one another (fbp_shared_…());
 * and bitmaps of detector rows (views x rows; fbp_row_bitmap_…()), by which the repaired samples
 * of a row are counted only once.
 * Used by: pipeline/. */
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

/* Mask of the bits in word `word` of a bitmap that belong to its bits [first, end), not empty. */
static unsigned bits_in(size_t word, size_t first, size_t end)
{
    const size_t at = word * FBP_ROW_BITMAP_BITS;
    const size_t lo = first > at ? first - at : 0, hi = end - at;

    return (hi < FBP_ROW_BITMAP_BITS ? (1u << hi) - 1 : ~0u) & ~0u << lo;
}

/* Set (if `has` is true) or clear the bits of the detector rows that the slices of this process
 * (job->part) need, including neighbouring rows for a filter along columns. */
static void set_share(struct fbp_row_bitmap *out, const struct fbp_job *job, bool has)
{
    const size_t reach = fbp_column_reach(job), n_rows = job->panel.n_rows;
    size_t z0, n, r0, r1;

    fbp_job_slices(job, &z0, &n);
    for (size_t k = 0; n > 0 && k < job->n_views; k++) {
        job->rows(job, k, k + 1, z0, z0 + n, &r0, &r1);
        if (r0 == r1)
            continue;
        const size_t first = k * n_rows + (r0 > reach ? r0 - reach : 0);
        const size_t end = k * n_rows + (n_rows - r1 > reach ? r1 + reach : n_rows);
        for (size_t w = first / FBP_ROW_BITMAP_BITS; w * FBP_ROW_BITMAP_BITS < end; w++)
            if (has)
                out->bits[w] |= bits_in(w, first, end);
            else
                out->bits[w] &= ~bits_in(w, first, end);
    }
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

void fbp_row_bitmap_zero(struct fbp_row_bitmap *l)
{
    memset(l->bits, 0, fbp_row_bitmap_words(l->n_views, l->n_rows) * sizeof *l->bits);
}

void fbp_row_bitmap_share(struct fbp_row_bitmap *rest, const struct fbp_job *job,
                          const struct fbp_task *tasks, size_t n_tasks, struct fbp_row_bitmap *out)
{
    size_t r0, r1;

    fbp_row_bitmap_zero(out);
    for (size_t i = 0; i < n_tasks; i++) {
        const struct fbp_batch *b = &tasks[i].batch;
        if (!tasks[i].loads || b->n_rows == 0)
            continue;
        fbp_needed_rows(job, b, &r0, &r1);
        for (size_t k = 0; k < b->n_views; k++) {
            const size_t row = fbp_batch_view(job, b, k) * rest->n_rows;
            const size_t first = row + r0, end = row + r1;
            for (size_t w = first / FBP_ROW_BITMAP_BITS; w * FBP_ROW_BITMAP_BITS < end; w++) {
                const unsigned moved = rest->bits[w] & bits_in(w, first, end);
                rest->bits[w] &= ~moved;
                out->bits[w] |= moved;
            }
        }
    }
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

/* Make a work item: a slab and its tasks (fbp_work_tasks()); free() the result. If the run follows
 * a measurement, the reading stage joins tasks while other threads read the planned tasks, so the
 * item then has two lists, `tasks` and `planned`; else both members are the same list. */
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
    pthread_mutex_lock(&s->lock);
    const bool found = s->n_drawn < s->n;
    if (found) {
        slab = s->list[s->n_drawn++];
        s->n_open++;
    }
    pthread_mutex_unlock(&s->lock);
    if (!found)
        return FBP_OK;
    const fbp_status st = create_item(out, s->job, s->work, &slab, first);
    if (st != FBP_OK) /* return the slab: other workers would wait for it forever */
        fbp_slabs_return(s, slab);
    return st;
}

void fbp_slabs_return(struct fbp_slabs *s, struct fbp_slab missing)
{
    pthread_mutex_lock(&s->lock);
    if (missing.nz > 0) /* n_drawn is at least 1, because this slab was taken */
        s->list[--s->n_drawn] = missing;
    s->n_open--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_work_item *drawn,
                     struct fbp_row_bitmap *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_row_bitmap_share(&s->uncounted, s->job, drawn->planned, drawn->n_tasks, mine);
    if (s->work->kept) /* each worker filters all rows, and its count replaces the others */
        fbp_row_bitmap_add(&s->uncounted, mine);
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

bool fbp_shared_take(struct fbp_shared *s, size_t worker, size_t *b)
{
    pthread_mutex_lock(&s->lock);
    const bool found = s->n_taken < s->n && !s->aborted;
    if (found) {
        *b = s->n_taken++;
        s->list[*b].by = worker;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

void fbp_shared_set_queued(struct fbp_shared *s, size_t b, struct fbp_event ready)
{
    pthread_mutex_lock(&s->lock);
    s->list[b].ready = ready;
    s->list[b].queued = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

bool fbp_shared_await(struct fbp_shared *s, size_t b, struct fbp_shared_batch *out)
{
    pthread_mutex_lock(&s->lock);
    while (!s->list[b].queued && !s->aborted)
        pthread_cond_wait(&s->changed, &s->lock);
    *out = s->list[b];
    pthread_mutex_unlock(&s->lock);
    return out->queued;
}

void fbp_slabs_wake(struct fbp_slabs *s, struct fbp_shared *shared, bool abort)
{
    pthread_mutex_lock(&s->lock);
    s->aborted |= abort;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&shared->lock);
    shared->aborted |= abort;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
}
