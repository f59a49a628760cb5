/* Sums of partial volumes: each of the processes that share the views of a slab owns segments of
 * its slices, gets those of the others, and adds them in the order of processes, so that bits do
 * not depend on who is faster. */
#include "api/plan_team.h"

#include "base/mem.h"
#include "plan/roi.h"
#include "team/team.h"

#include <string.h>

/* The slices of one process in a round. */
struct segment {
    size_t first, n;
};

struct fbp_plan_sums {
    const fbp_plan *plan;
    float *pieces; /* of this process's segment, from the others */
    size_t room;   /* values of each */
    struct segment of[];
};

static size_t slice_values(const fbp_plan *p)
{
    return fbp_roi_size(&p->tables.job, 0) * fbp_roi_size(&p->tables.job, 1);
}

static size_t owner(const fbp_plan *p, size_t z)
{
    const struct fbp_job *job = &p->tables.job;

    return fbp_ranks_owner(job, p->ranks.n_parts, p->work.block_slices, z % fbp_roi_size(job, 2));
}

bool fbp_plan_has_sum(const fbp_plan *p, size_t z)
{
    return p->ranks.n_parts < 2 || owner(p, z) == p->ranks.part;
}

uint64_t fbp_plan_sum_bytes(const fbp_plan *p)
{
    const struct fbp_job *job = &p->tables.job;
    const size_t parts = p->ranks.n_parts;
    size_t first, n;

    if (parts < 2)
        return 0;
    fbp_roi_slices(job, &first, &n);
    return (parts - 1) * (uint64_t)fbp_ranks_segment(parts, fbp_work_block(job, n, parts)) *
               slice_values(p) * sizeof(float) +
           sizeof(struct fbp_plan_sums) + parts * sizeof(struct segment);
}

/* has() of struct fbp_sum. */
static bool has(void *user, size_t z)
{
    const struct fbp_plan_sums *s = user;

    return fbp_plan_has_sum(s->plan, z);
}

/* What of n slices from z on is added up at once: of each process at most one segment. */
static size_t begin_round(struct fbp_plan_sums *s, size_t z, size_t n)
{
    const fbp_plan *p = s->plan;
    const size_t most = fbp_ranks_segment(p->ranks.n_parts, p->work.block_slices);
    size_t i;

    memset(s->of, 0, p->ranks.n_parts * sizeof *s->of);
    for (i = 0; i < n; i++) {
        struct segment *of = &s->of[owner(p, z + i)];
        if (of->n == most || (of->n > 0 && of->first + of->n != i))
            break;
        of->first = of->n == 0 ? i : of->first;
        of->n++;
    }
    return i;
}

/* That of another process, of this one's segment. */
static float *piece_of(const struct fbp_plan_sums *s, size_t part)
{
    return s->pieces + (part - (part > s->plan->ranks.part)) * s->room;
}

static fbp_status make_room(struct fbp_plan_sums *s)
{
    const struct fbp_ranks *r = &s->plan->ranks;

    s->room = fbp_ranks_segment(r->n_parts, s->plan->work.block_slices) * slice_values(s->plan);
    return s->pieces
               ? FBP_OK
               : fbp_alloc((void **)&s->pieces, (r->n_parts - 1) * s->room * sizeof *s->pieces,
                           "blocks of partial volumes");
}

/* All pieces of n values at once. */
static fbp_status ask_all(const struct fbp_plan_sums *s, size_t n)
{
    const struct fbp_ranks *r = &s->plan->ranks;

    for (size_t i = 1; i < r->n_parts; i++) {
        const size_t part = (r->part + i) % r->n_parts;
        FBP_TRY(fbp_team_ask(s->plan->params.team, r->slab * r->n_parts + part, piece_of(s, part),
                             n * sizeof(float)));
    }
    return FBP_OK;
}

/* To each its segment of x; who comes behind this process is first, so that not all give to the
 * same one. */
static fbp_status give_all(const struct fbp_plan_sums *s, const float *x)
{
    const struct fbp_ranks *r = &s->plan->ranks;
    const size_t slice = slice_values(s->plan);

    for (size_t i = 1; i < r->n_parts; i++) {
        const size_t part = (r->part + i) % r->n_parts;
        const struct segment *of = &s->of[part];
        if (of->n > 0)
            FBP_TRY(fbp_team_give(s->plan->params.team, r->slab * r->n_parts + part,
                                  x + of->first * slice, of->n * slice * sizeof *x));
    }
    return FBP_OK;
}

/* Into x[n] of this process. */
static fbp_status add_all(const struct fbp_plan_sums *s, size_t n, float *x)
{
    const struct fbp_ranks *r = &s->plan->ranks;
    float *const sum = r->part == 0 ? x : piece_of(s, 0);

    for (size_t part = 0; part < r->n_parts; part++) {
        const float *const one = part == r->part ? x : piece_of(s, part);
        if (part != r->part)
            FBP_TRY(fbp_team_taken(s->plan->params.team, r->slab * r->n_parts + part));
        for (size_t i = 0; part > 0 && i < n; i++)
            sum[i] += one[i];
    }
    if (sum != x)
        memcpy(x, sum, n * sizeof *x);
    return FBP_OK;
}

/* add() of struct fbp_sum.  All processes have the same blocks in the same order, and ask before
 * they give: who is behind all others in that is waited for, and waits for nobody. */
static fbp_status add(void *user, size_t z, size_t n, float *x)
{
    struct fbp_plan_sums *s = user;
    const struct segment *own = &s->of[s->plan->ranks.part];
    const size_t slice = slice_values(s->plan);

    FBP_TRY(make_room(s));
    for (size_t at = 0, some; at < n; at += some) {
        float *const round = x + at * slice;
        some = begin_round(s, z + at, n - at);
        if (own->n > 0)
            FBP_TRY(ask_all(s, own->n * slice));
        FBP_TRY(give_all(s, round));
        if (own->n > 0)
            FBP_TRY(add_all(s, own->n * slice, round + own->first * slice));
    }
    return FBP_OK;
}

fbp_status fbp_plan_share_views(fbp_plan *p)
{
    const size_t n = p->ranks.n_parts;

    if (n < 2)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&p->sums, 1, sizeof *p->sums + n * sizeof *p->sums->of, "sums"));
    p->sums->plan = p;
    p->team_sum = (struct fbp_sum){.add = add, .has = has, .user = p->sums, .in_order = true};
    fbp_sum_take(&p->team_sum, &p->tables.job);
    p->sum = &p->team_sum;
    return FBP_OK;
}

void fbp_plan_forget_sums(fbp_plan *p)
{
    if (p->sums)
        fbp_free(p->sums->pieces);
    free(p->sums);
    p->sums = NULL;
}
