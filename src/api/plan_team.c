/* A plan of several processes: what each of them takes of the machine, and whether all plan the
 * same. */
#include "api/plan_team.h"

#include "base/cache.h"
#include "base/mem.h"
#include "base/pool.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of a process that is bound to some cores, those; else its part of all that the host has. */
static int own_cores(const fbp_team *team)
{
    const int mine = fbp_core_count(), there = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int share = mine / (int)fbp_team_local_size(team);

    if (mine < there)
        return mine;
    return share > 0 ? share : 1;
}

void fbp_plan_take_cores(fbp_plan *p)
{
    if (p->params.team && p->params.n_threads == 0)
        p->params.n_threads = own_cores(p->params.team);
}

/* Who names no device by its number gets one for each process of a host. */
static void choose_card(fbp_plan *p)
{
    const bool named = p->params.device && strchr(p->params.device, ':');
    const size_t at = fbp_team_local_rank(p->params.team);
    const struct fbp_backend *backend = p->backend;
    char why[300] = "";
    const int n = named ? (int)p->n_devices : fbp_backend_count(&backend, why, sizeof why);
    const size_t cards = n > 0 ? (size_t)n : 1;

    p->devices[0] = named ? p->devices[at % cards] : (int)(at % cards);
    p->n_devices = 1;
}

/* Which card that is: of its place on the host, as a launcher may show each process another one as
 * its first. */
struct card {
    int index;
    char bus_id[28];
};

static fbp_status count_sharers(fbp_plan *p)
{
    fbp_team *team = p->params.team;
    const size_t size = fbp_team_size(team);
    struct fbp_device_info info = {0};
    struct card mine = {.index = p->devices[0]}, *all = NULL;

    p->backend->describe(p->devices[0], &info);
    snprintf(mine.bus_id, sizeof mine.bus_id, "%s", info.bus_id);
    fbp_status st = fbp_calloc((void **)&all, size, sizeof *all, "a team's cards");
    st = fbp_team_gather(team, "cards", st, &mine, sizeof mine, all);
    p->n_on_card = 0;
    for (size_t r = 0; r < size && st == FBP_OK; r++)
        p->n_on_card += fbp_team_is_local(team, r) && strcmp(all[r].bus_id, mine.bus_id) == 0 &&
                        (mine.bus_id[0] || all[r].index == mine.index);
    free(all);
    return st;
}

fbp_status fbp_plan_take_card(fbp_plan *p)
{
    if (!p->params.team)
        return FBP_OK;
    if (fbp_team_local_size(p->params.team) > 1)
        choose_card(p);
    return count_sharers(p);
}

/* "3 slabs of slices, whose views 2 processes share" */
static void name_grid(size_t slabs, size_t parts, char *line, size_t n)
{
    if (parts > 1)
        snprintf(line, n, "%zu slab%s of slices, whose views %zu processes share", slabs,
                 slabs > 1 ? "s" : "", parts);
    else
        snprintf(line, n, "%zu slab%s of slices", slabs, slabs > 1 ? "s" : "");
}

/* What the best other grid would take. */
static void name_other(const fbp_plan *p, char *out, size_t room)
{
    const struct fbp_ranks *r = &p->ranks;
    const double ratio = r->other_cost / r->cost;
    char grid[120], remedy[60] = "";

    if (r->other_cost <= 0)
        return;
    name_grid(r->other_slabs, r->other_parts, grid, sizeof grid);
    if (p->params.view_ranks == 0) /* it was not taken, as sums change the last digits */
        snprintf(remedy, sizeof remedy, ", with other last digits: --view-ranks %zu",
                 r->other_parts);
    if (ratio >= 1.05)
        snprintf(out, room, " (%s would take about %.*f times as long)", grid, ratio < 9.95, ratio);
    else if (ratio > 0.95)
        snprintf(out, room, " (%s would take about as long)", grid);
    else
        snprintf(out, room, " (%s would take about %.0f %% less time%s)", grid, 100 - 100 * ratio,
                 remedy);
}

void fbp_plan_note_team(const fbp_plan *p)
{
    const size_t size = fbp_team_size(p->params.team);
    const struct fbp_ranks *r = &p->ranks;
    const size_t idle = size - r->n_slabs * r->n_parts;
    char line[400], taken[120], rest[60] = "", more[220] = "";

    if (!p->params.team)
        return;
    if (idle > 0)
        snprintf(rest, sizeof rest, "; %zu ha%s nothing to do", idle, idle > 1 ? "ve" : "s");
    name_grid(r->n_slabs, r->n_parts, taken, sizeof taken);
    name_other(p, more, sizeof more);
    snprintf(line, sizeof line, "%zu processes: %s%s%s", size, taken, rest, more);
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}

/* What must be the same in all processes. */
struct planned {
    uint64_t job, params;
    char device[32], kernel[32], isa[16];
};

static uint64_t hash_of_params(const struct fbp_recon_params *p, size_t layer)
{
    const double value = p->mask_value == p->mask_value ? p->mask_value : 1e300; /* NaNs differ */
    const double numbers[] = {(double)p->output_type, p->output_range[0],
                              p->output_range[1],     (double)p->resume,
                              (double)p->compress,    (double)p->force,
                              (double)p->follow,      (double)p->auto_range,
                              (double)p->mask,        value,
                              (double)p->no_overlap,  (double)p->view_ranks,
                              (double)layer};

    return fbp_hash(0, numbers, sizeof numbers);
}

static struct planned planned_by(const fbp_plan *p)
{
    struct planned out = {.job = fbp_plan_job_fingerprint(p),
                          .params = hash_of_params(&p->params, p->needs.layer)};

    snprintf(out.device, sizeof out.device, "%s", p->backend->name);
    snprintf(out.kernel, sizeof out.kernel, "%s", p->tables.job.chosen.kernel);
    snprintf(out.isa, sizeof out.isa, "%s", p->tables.job.chosen.isa);
    return out;
}

static fbp_status differ(const char *first, const char *other)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s has another scan or other options than %s: start all with the same command "
                    "and the same files",
                    other, first);
}

static fbp_status compare(const fbp_team *team, size_t rank, const struct planned *a,
                          const struct planned *b)
{
    char first[100], other[100];

    (void)fbp_team_name(team, 0, first, sizeof first);
    (void)fbp_team_name(team, rank, other, sizeof other);
    if (a->params != b->params) /* from which the rest may follow */
        return differ(first, other);
    if (strcmp(a->device, b->device) != 0 || strcmp(a->kernel, b->kernel) != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s computes with %s, kernel %s, %s with %s, kernel %s, and values would "
                        "differ: name --device and --kernel, and give each the same memory",
                        other, b->device, b->kernel, first, a->device, a->kernel);
    if (strcmp(a->isa, b->isa) != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s computes with the instructions %s, %s with %s, and bits would differ: "
                        "set FBP_CPU=%s for all of them",
                        other, b->isa, first, a->isa,
                        strcmp(a->isa, "c") == 0 || strcmp(b->isa, "c") == 0 ? "c" : "avx2");
    return a->job == b->job ? FBP_OK : differ(first, other);
}

fbp_status fbp_plan_agree(fbp_plan *p, fbp_status status)
{
    fbp_team *team = p->params.team;
    const size_t size = fbp_team_size(team);
    struct planned mine = {.job = 0}, *all = NULL;

    if (!team)
        return status;
    if (status == FBP_OK)
        mine = planned_by(p);
    const fbp_status room = fbp_calloc((void **)&all, size, sizeof *all, "a team's plans");
    fbp_status st =
        fbp_team_gather(team, "plan", status == FBP_OK ? room : status, &mine, sizeof mine, all);
    for (size_t r = 1; r < size && st == FBP_OK; r++)
        st = compare(team, r, &all[0], &all[r]);
    free(all);
    return st == FBP_OK ? fbp_plan_share_views(p) : st;
}
