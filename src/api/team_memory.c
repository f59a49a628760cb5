/* What the memory of several processes holds: they take the same way, which all of them can go. */
#include "api/plan_team.h"

#include "base/mem.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>

/* What a process lacks for a way of computing. */
struct lack {
    bool lacks;
    struct fbp_plan_lack what;
    char why[700];
};

static struct lack lack_of(const fbp_plan *p, bool lacks)
{
    struct lack mine = {.lacks = lacks};

    if (!lacks)
        return mine;
    mine.what.needs = p->work.memory_bytes;
    mine.what.limit = p->info.memory_limit;
    snprintf(mine.why, sizeof mine.why, "%s", fbp_message());
    fbp_message_clear(); /* it is no failure yet */
    return mine;
}

/* The process that needs most of those that lack something; nobody: size. */
static size_t poorest(const struct lack *all, size_t size, bool *alike)
{
    size_t at = size;

    *alike = true;
    for (size_t r = 0; r < size; r++) {
        *alike = *alike && strcmp(all[r].why, all[0].why) == 0;
        if (all[r].lacks && (at == size || all[r].what.needs > all[at].what.needs))
            at = r;
    }
    return at;
}

/* All fail by what it says, and say who it is. */
static fbp_status fail_as(fbp_plan *p, const struct lack *one, size_t rank, bool alike)
{
    char name[100];

    p->lack = one->what;
    if (!alike)
        snprintf(p->lack.who, sizeof p->lack.who,
                 "%s: ", fbp_team_name(p->params.team, rank, name, sizeof name));
    return fbp_fail(FBP_ERR_NOMEM, "%s%s", p->lack.who, one->why);
}

fbp_status fbp_plan_agree_memory(fbp_plan *p, fbp_status status)
{
    fbp_team *team = p->params.team;
    const size_t size = fbp_team_size(team);
    struct lack *all = NULL;
    bool alike;

    p->lack = (struct fbp_plan_lack){.needs = 0};
    if (status != FBP_OK && status != FBP_ERR_NOMEM)
        return status;
    if (!team && status == FBP_ERR_NOMEM)
        p->lack = (struct fbp_plan_lack){p->work.memory_bytes, p->info.memory_limit, ""};
    if (!team)
        return status;
    const struct lack mine = lack_of(p, status == FBP_ERR_NOMEM);
    fbp_status st = fbp_calloc((void **)&all, size, sizeof *all, "a team's plans");
    st = fbp_team_gather(team, "memory", st, &mine, sizeof mine, all);
    const size_t at = st == FBP_OK ? poorest(all, size, &alike) : size;
    if (at < size)
        st = fail_as(p, &all[at], at, alike);
    free(all);
    return st;
}

fbp_status fbp_plan_agree_most(const fbp_plan *p, double *value)
{
    fbp_team *team = p->params.team;
    const size_t size = fbp_team_size(team);
    double *all = NULL;

    if (!team)
        return FBP_OK;
    fbp_status st = fbp_calloc((void **)&all, size, sizeof *all, "a team's plans");
    st = fbp_team_gather(team, "way", st, value, sizeof *value, all);
    for (size_t r = 0; r < size && st == FBP_OK; r++)
        *value = all[r] > *value ? all[r] : *value;
    free(all);
    return st;
}

/* What must be the same where partial volumes are added up block by block. */
struct division {
    size_t slab; /* of the grid */
    size_t n_slabs, slab_slices, block_slices, finish_slices, weighed;
};

static struct division division_of(const fbp_plan *p)
{
    const struct fbp_work *w = &p->work;

    return (struct division){p->ranks.slab,   w->n_slabs,       w->slab_slices,
                             w->block_slices, w->finish_slices, w->weighed};
}

/* Those with the same slab as this one: is theirs the same, and how many slices fit into the memory
 * of all of them? */
static fbp_status compare_divisions(const fbp_plan *p, size_t *least, bool *same)
{
    fbp_team *team = p->params.team;
    const size_t size = fbp_team_size(team);
    const struct division mine = division_of(p);
    struct division *all = NULL;

    fbp_status st = fbp_calloc((void **)&all, size, sizeof *all, "a team's plans");
    st = fbp_team_gather(team, "division", st, &mine, sizeof mine, all);
    *least = mine.slab_slices;
    *same = true;
    for (size_t r = 0; r < size && st == FBP_OK; r++) {
        if (all[r].slab != mine.slab)
            continue;
        *least = all[r].slab_slices < *least ? all[r].slab_slices : *least;
        *same = *same && memcmp(&all[r], &mine, sizeof mine) == 0;
    }
    free(all);
    return st;
}

fbp_status fbp_plan_agree_division(fbp_plan *p, fbp_status (*divide)(fbp_plan *, struct fbp_work *))
{
    size_t least;
    bool same;

    if (!p->params.team || p->ranks.n_parts < 2)
        return FBP_OK;
    FBP_TRY(compare_divisions(p, &least, &same));
    if (!same) {
        p->slab_slices = least;
        FBP_TRY(divide(p, &p->work));
    }
    FBP_TRY(compare_divisions(p, &least, &same));
    if (same)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "processes that share views divide their slab in different ways: give all the "
                    "same --memory and --device-memory");
}
