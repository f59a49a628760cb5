/* Sums of partial volumes: the first of the processes that share the views of a slab gets the
 * blocks of the others, in their order, so that bits do not depend on who is faster. */
#include "api/plan_team.h"

#include "base/mem.h"
#include "plan/roi.h"
#include "team/team.h"

/* Two pieces: one comes while the other is added. */
static fbp_status make_room(fbp_plan *p, size_t bytes)
{
    for (int i = 0; i < 2 && bytes > p->piece_bytes; i++) {
        fbp_free(p->pieces[i]);
        p->pieces[i] = NULL;
        FBP_TRY(fbp_alloc(&p->pieces[i], bytes, "blocks of partial volumes"));
    }
    p->piece_bytes = bytes > p->piece_bytes ? bytes : p->piece_bytes;
    return FBP_OK;
}

static fbp_status take_others(fbp_plan *p, size_t first, size_t n, float *x)
{
    fbp_team *team = p->params.team;
    const size_t parts = p->ranks.n_parts, bytes = n * sizeof *x;

    FBP_TRY(make_room(p, bytes));
    FBP_TRY(fbp_team_ask(team, first + 1, p->pieces[1], bytes));
    for (size_t k = 1; k < parts; k++) {
        const float *piece = p->pieces[k % 2];
        if (k + 1 < parts)
            FBP_TRY(fbp_team_ask(team, first + k + 1, p->pieces[(k + 1) % 2], bytes));
        FBP_TRY(fbp_team_taken(team, first + k));
        for (size_t i = 0; i < n; i++)
            x[i] += piece[i];
    }
    return FBP_OK;
}

/* add() of struct fbp_sum: the first process of a slab has all of it then, the others what they
 * had. */
static fbp_status add(void *user, size_t z, size_t n, float *x)
{
    fbp_plan *p = user;
    const struct fbp_job *job = &p->tables.job;
    const size_t values = n * fbp_roi_size(job, 0) * fbp_roi_size(job, 1);
    const size_t first = p->ranks.slab * p->ranks.n_parts;

    (void)z; /* all have the same blocks in the same order */
    if (p->ranks.part > 0)
        return fbp_team_give(p->params.team, first, x, values * sizeof *x);
    return take_others(p, first, values, x);
}

void fbp_plan_share_views(fbp_plan *p)
{
    if (p->ranks.n_parts < 2)
        return;
    p->team_sum = (struct fbp_sum){.add = add, .user = p, .in_order = true};
    fbp_sum_take(&p->team_sum, &p->tables.job);
    p->sum = &p->team_sum;
}

void fbp_plan_forget_pieces(fbp_plan *p)
{
    fbp_free(p->pieces[0]);
    fbp_free(p->pieces[1]);
}
