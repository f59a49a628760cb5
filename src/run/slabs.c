#include "run/slabs.h"

#include "base/mem.h"

#include <string.h>

fbp_status fbp_slabs_create(struct fbp_slabs *s, const struct fbp_job *job,
                            const struct fbp_work *work)
{
    *s = (struct fbp_slabs){.job = job, .work = work, .n_most = fbp_work_slabs(work, job)};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    FBP_TRY(fbp_calloc((void **)&s->list, s->n_most, sizeof *s->list, "slab list"));
    return fbp_ledger_create(&s->uncounted, job);
}

void fbp_slabs_destroy(struct fbp_slabs *s)
{
    fbp_ledger_clear(&s->uncounted);
    free(s->list);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
}

void fbp_slabs_add(struct fbp_slabs *s, struct fbp_slab slab)
{
    s->list[s->n++] = slab;
}

/* From the end of the list on: with those that are drawn they are at most all of the division. */
void fbp_slabs_skip(struct fbp_slabs *s, struct fbp_slab slab)
{
    s->list[s->n_most - ++s->n_skipped] = slab;
}

const struct fbp_slab *fbp_slabs_skipped(const struct fbp_slabs *s, size_t i)
{
    return &s->list[s->n_most - 1 - i];
}

/* False: there is none. */
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

/* With follow, tasks are joined while others look at them. */
fbp_status fbp_drawn_create(struct fbp_drawn **out, const struct fbp_job *job,
                            const struct fbp_work *work, const struct fbp_slab *slab, bool first)
{
    const size_t n = fbp_work_tasks(work, job, slab, first, NULL), lists = work->follow + 1u;
    struct fbp_drawn *d = NULL;

    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d + lists * n * sizeof *d->tasks, "task list"));
    d->slab = *slab;
    d->n_tasks = fbp_work_tasks(work, job, slab, first, d->tasks);
    d->planned = d->tasks + (lists - 1) * n;
    if (work->follow)
        memcpy(d->tasks + n, d->tasks, n * sizeof *d->tasks);
    *out = d;
    return FBP_OK;
}

fbp_status fbp_slabs_draw(struct fbp_slabs *s, bool first, struct fbp_drawn **out)
{
    struct fbp_slab slab;

    *out = NULL;
    if (!take(s, &slab))
        return FBP_OK;
    const fbp_status st = fbp_drawn_create(out, s->job, s->work, &slab, first);
    if (st != FBP_OK) /* nobody has it, and others wait for it */
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
    if (missing.nz > 0) /* in a place whose slab was drawn: there is one for each that is open */
        s->list[--s->n_drawn] = missing;
    close_one(s);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_drawn *drawn, struct fbp_ledger *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_ledger_share(&s->uncounted, s->job, drawn->planned, drawn->n_tasks, mine);
    if (s->work->kept) /* every worker filters, and counts, all of them */
        fbp_ledger_add(&s->uncounted, mine);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_uncounted(struct fbp_slabs *s, struct fbp_ledger *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_ledger_add(mine, &s->uncounted);
    pthread_mutex_unlock(&s->lock);
}

void fbp_slabs_unclaim(struct fbp_slabs *s, const struct fbp_ledger *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_ledger_add(&s->uncounted, mine);
    pthread_mutex_unlock(&s->lock);
}
