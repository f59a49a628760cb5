#include "run/slabs.h"

#include "base/mem.h"

fbp_status fbp_slabs_create(struct fbp_slabs *s, const struct fbp_job *job,
                            const struct fbp_work *work)
{
    *s = (struct fbp_slabs){.job = job, .work = work};
    pthread_mutex_init(&s->lock, NULL);
    FBP_TRY(fbp_calloc((void **)&s->list, work->n_slabs, sizeof *s->list, "slab list"));
    return fbp_ledger_create(&s->uncounted, job);
}

void fbp_slabs_destroy(struct fbp_slabs *s)
{
    fbp_ledger_clear(&s->uncounted);
    free(s->list);
    pthread_mutex_destroy(&s->lock);
}

void fbp_slabs_add(struct fbp_slabs *s, struct fbp_slab slab)
{
    s->list[s->n++] = slab;
}

fbp_status fbp_slabs_draw(struct fbp_slabs *s, bool first, struct fbp_drawn **out)
{
    struct fbp_drawn *d = NULL;

    *out = NULL;
    pthread_mutex_lock(&s->lock);
    const size_t at = s->n_drawn < s->n ? s->n_drawn++ : s->n;
    pthread_mutex_unlock(&s->lock);
    if (at == s->n)
        return FBP_OK;
    const size_t n = fbp_work_tasks(s->work, s->job, &s->list[at], first, NULL);
    FBP_TRY(fbp_calloc((void **)&d, 1, sizeof *d + n * sizeof *d->tasks, "task list"));
    d->slab = s->list[at];
    d->n_tasks = fbp_work_tasks(s->work, s->job, &d->slab, first, d->tasks);
    *out = d;
    return FBP_OK;
}

void fbp_slabs_claim(struct fbp_slabs *s, const struct fbp_drawn *drawn, struct fbp_ledger *mine)
{
    pthread_mutex_lock(&s->lock);
    fbp_ledger_share(&s->uncounted, s->job, drawn->tasks, drawn->n_tasks, mine);
    pthread_mutex_unlock(&s->lock);
}
