/* Plans of several processes (a team): cores and devices of each process (fbp_plan_take_cores(),
 * fbp_plan_take_card()), the grid of processes (groups of views by groups of slices;
 * fbp_plan_take_share()), and agreement on memory, division and options (fbp_plan_agree()).
 *
 * All processes of a team must call these functions in the same order, because most of them
 * exchange messages (fbp_team_gather(), fbp_team_share()).
 * Used by: plan.c, plan_memory.c. */
#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/threads.h"
#include "pipeline/division.h"
#include "pipeline/plan.h"
#include "team/team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void fbp_plan_take_cores(fbp_plan *p)
{
    const fbp_team *team = p->params.cluster.team;
    const int mine = fbp_core_count(), there = (int)sysconf(_SC_NPROCESSORS_ONLN);

    if (!team || p->params.n_threads != 0)
        return;
    /* use the cores to which a launcher has bound this process, or a share of the host's */
    const int share = mine / (int)fbp_team_local_size(team);
    p->params.n_threads = mine < there ? mine : share > 0 ? share : 1;
}

/* Identity of a device. bus_id: PCI address (launchers change indices); "": compare indices. */
struct card {
    int index;
    char bus_id[28];
};

fbp_status fbp_plan_take_card(fbp_plan *p)
{
    fbp_team *team = p->params.cluster.team;
    const size_t size = fbp_team_size(team);
    struct fbp_device_info info = {0};
    struct card mine = {.index = 0}, *all = NULL;
    char why[300] = "";

    if (!team)
        return FBP_OK;
    if (fbp_team_local_size(team) > 1) {
        /* if several processes run on this host, each uses one device: one of those that were named
         * by number, else one of all devices of the backend */
        const bool named = p->params.device && strchr(p->params.device, ':');
        const struct fbp_backend *backend = p->backend;
        const int n = named ? (int)p->n_devices : fbp_backend_count(&backend, why, sizeof why);
        const size_t at = fbp_team_local_rank(team) % (n > 0 ? (size_t)n : 1);
        p->devices[0] = named ? p->devices[at] : (int)at;
        p->n_devices = 1;
    }
    mine.index = p->devices[0];
    p->backend->discovery.describe(p->devices[0], &info);
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

/* Describe a grid of processes in line[n], such as "3 slabs of slices". */
static void name_grid(size_t slabs, size_t parts, char *line, size_t n)
{
    if (parts > 1)
        snprintf(line, n, "%zu slab%s of slices, each with its views shared by %zu processes",
                 slabs, slabs > 1 ? "s" : "", parts);
    else
        snprintf(line, n, "%zu slab%s of slices", slabs, slabs > 1 ? "s" : "");
}

void fbp_plan_note_team(const fbp_plan *p)
{
    const size_t size = fbp_team_size(p->params.cluster.team);
    const struct fbp_ranks *r = &p->ranks;
    const size_t idle = size - r->n_slabs * r->n_parts;
    char taken[120], rest[60] = "", grid[120], remedy[60] = "", other[220] = "";

    if (!p->params.cluster.team)
        return;
    if (idle > 0)
        snprintf(rest, sizeof rest, "; %zu ha%s no work", idle, idle > 1 ? "ve" : "s");
    name_grid(r->n_slabs, r->n_parts, taken, sizeof taken);
    name_grid(r->other_slabs, r->other_parts, grid, sizeof grid);
    /* time of the best other grid over that of the grid taken */
    const double ratio = r->other_cost / r->cost;
    if (p->params.cluster.view_ranks == 0)
        snprintf(remedy, sizeof remedy, ", but with other last digits; use --view-ranks %zu",
                 r->other_parts);
    if (r->other_cost > 0 && ratio >= 1.05)
        snprintf(other, sizeof other, " (%s would take about %.*f times as long)", grid,
                 ratio < 9.95, ratio);
    else if (r->other_cost > 0 && ratio > 0.95)
        snprintf(other, sizeof other, " (%s would take about as long)", grid);
    else if (r->other_cost > 0)
        snprintf(other, sizeof other, " (%s would take about %.0f %% less time%s)", grid,
                 100 - 100 * ratio, remedy);
    fbp_plan_note(p, FBP_LOG_NOTE, "%zu processes: %s%s%s", size, taken, rest, other);
}

/* Properties of a plan that must be equal in all processes. */
struct planned {
    uint64_t job, params;
    char device[32], kernel[32], isa[16];
};

/* Check that the plan of rank `rank`, b, is equal to that of rank 0, a. */
static fbp_status compare(const fbp_team *team, size_t rank, const struct planned *a,
                          const struct planned *b)
{
    char first[100], other[100];

    (void)fbp_team_name(team, 0, first, sizeof first);
    (void)fbp_team_name(team, rank, other, sizeof other);
    /* compare devices and kernels only if parameters are equal: other parameters may change both */
    if (a->params == b->params) {
        if (strcmp(a->device, b->device) != 0 || strcmp(a->kernel, b->kernel) != 0)
            return FBP_INVALID(
                "%s computes with %s, kernel %s, but %s with %s, kernel %s, so values would "
                "differ; give --device and --kernel, and the same memory limits to all processes",
                other, b->device, b->kernel, first, a->device, a->kernel);
        if (strcmp(a->isa, b->isa) != 0)
            return FBP_INVALID(
                "%s computes with the instructions %s, but %s with %s, so values would "
                "differ; set FBP_CPU=%s for all processes",
                other, b->isa, first, a->isa,
                strncmp(a->isa, "avx", 3) || strncmp(b->isa, "avx", 3) ? "c" : "avx2");
        if (a->job == b->job)
            return FBP_OK;
    }
    return FBP_INVALID("%s has another scan or other options than %s; start all processes with the "
                       "same command and the same files",
                       other, first);
}

fbp_status fbp_plan_agree(fbp_plan *p, fbp_status status)
{
    fbp_team *team = p->params.cluster.team;
    const size_t size = fbp_team_size(team);
    const struct fbp_recon_params *params = &p->params;
    struct planned mine = {.job = 0}, *all = NULL;

    if (!team)
        return status;
    if (status == FBP_OK) {
        const double fill = params->output.fill_value; /* all NaNs count as equal */
        const double numbers[] = {(double)params->output.type,
                                  params->output.range[0],
                                  params->output.range[1],
                                  (double)params->output.resume,
                                  (double)params->output.compress,
                                  (double)params->output.force,
                                  (double)params->input.follow,
                                  (double)params->output.auto_range,
                                  (double)params->output.fill,
                                  isnan(fill) ? 1e300 : fill,
                                  (double)params->tuning.no_overlap,
                                  (double)params->cluster.view_ranks,
                                  (double)p->needs.layer};
        mine.job = fbp_plan_job_fingerprint(p);
        mine.params = fbp_hash(0, numbers, sizeof numbers);
        snprintf(mine.device, sizeof mine.device, "%s", p->backend->name);
        snprintf(mine.kernel, sizeof mine.kernel, "%s", p->tables.job.selection.name);
        snprintf(mine.isa, sizeof mine.isa, "%s", p->tables.job.selection.isa);
    }
    const fbp_status room = fbp_calloc((void **)&all, size, sizeof *all, "a team's plans");
    fbp_status st =
        fbp_team_gather(team, "plan", status == FBP_OK ? room : status, &mine, sizeof mine, all);
    for (size_t r = 1; r < size && st == FBP_OK; r++)
        st = compare(team, r, &all[0], &all[r]);
    free(all);
    return st == FBP_OK ? fbp_plan_share_views(p) : st;
}

/* ---- The grid of ranks ----
 *
 * All ranks send their memory, cores and rates to one another.  The least favourable values count:
 * every rank can then do its share, and the grid does not depend on the order of ranks. */

/* Assumed rates per core [1e9 updates/s, 1e9 filtered samples/s] without FBP_RATES. Measured rates
 * would differ between runs, and with them the grid and the values. */
static const double CORE_GUPS = 1, CORE_FILTER = 0.1;

/* Rates given by the environment variable FBP_RATES; 0: not given.  net, disk, read, write:
 * bytes/s; gups: 1e9 updates/s; filter: 1e9 filtered samples/s. */
struct given {
    double net, disk, read, write, gups, filter;
};

/* Read FBP_RATES, such as "gups=3400,net=25GB/s". */
static fbp_status read_given(const char *text, struct given *out)
{
    static const struct {
        const char *name;
        size_t offset;
        bool rate; /* in bytes/s, with a unit */
    } keys[] = {{"net", offsetof(struct given, net), true},
                {"disk", offsetof(struct given, disk), true},
                {"read", offsetof(struct given, read), true},
                {"write", offsetof(struct given, write), true},
                {"gups", offsetof(struct given, gups), false},
                {"filter", offsetof(struct given, filter), false}};
    static const char powers[] = "KMGT";
    const size_t n = sizeof keys / sizeof *keys;

    for (const char *at = text;; at++) {
        char key[8] = "", unit[5] = "";
        double value = 0;
        int used = 0;
        size_t k = 0;
        const int found = sscanf(at, "%7[a-z]=%lf%n%4[KMGTB/s]%n", key, &value, &used, unit, &used);
        while (k < n && strcmp(key, keys[k].name) != 0)
            k++;
        const char *power = *unit ? strchr(powers, *unit) : NULL;
        const bool rate = k < n && keys[k].rate;
        if (k == n || found != 2 + rate || !(value > 0 && value < 1e9) ||
            (rate && (!power || strcmp(unit + 1, "B/s") != 0)) || (at[used] && at[used] != ','))
            return FBP_INVALID(
                "FBP_RATES: \"%.40s\": expected KEY=VALUE,KEY=VALUE, such as net=25GB/s,gups=3400; "
                "net, disk, read and write are rates, and gups and filter are numbers",
                at);
        *(double *)(void *)((char *)out + keys[k].offset) =
            rate ? value * pow(1000, 1 + (double)(power - powers)) : value;
        at += used;
        if (!*at)
            return FBP_OK;
    }
}

/* Resources of a rank. */
struct means {
    /* memory for slabs and batches [bytes]; on every rank, the memory that rank 0 needs for the
     * exchange with other ranks is subtracted, because rank 0 needs most */
    uint64_t room;
    uint64_t device; /* limit of device memory given by --device-memory [bytes]; 0: not given */
    uint64_t writer_bytes; /* bytes per writing thread */
    size_t local;          /* number of ranks on its host */
    int threads, cores;
    struct fbp_rates rates; /* seconds per unit of work of its device */
    struct given given;
};

static fbp_status own_means(const fbp_plan *p, const struct fbp_work_request *rq, struct means *out)
{
    const char *words = fbp_environment(FBP_ENV_RATES);
    const bool first = fbp_team_rank(p->params.cluster.team) == 0;
    const uint64_t taken =
        rq->base_bytes - fbp_plan_team_bytes(p, first) + fbp_plan_team_bytes(p, true);

    *out = (struct means){.room = rq->memory_limit > taken ? rq->memory_limit - taken : 0,
                          .device = p->params.device_memory_bytes,
                          .writer_bytes = rq->writer_bytes,
                          .local = fbp_team_local_size(p->params.cluster.team),
                          .threads = p->tables.job.n_threads,
                          .cores = rq->n_cores};
    if (words && words[0])
        FBP_TRY(read_given(words, &out->given));
    p->backend->rates(&p->tables.job, &out->rates);
    return FBP_OK;
}

/* Set each resource in *to to the less favourable value of two ranks. */
static void take_least(struct means *to, const struct means *other)
{
    to->room = other->room < to->room ? other->room : to->room;
    if (other->device && (!to->device || other->device < to->device))
        to->device = other->device;
    to->writer_bytes =
        other->writer_bytes > to->writer_bytes ? other->writer_bytes : to->writer_bytes;
    to->local = other->local > to->local ? other->local : to->local;
    to->threads = other->threads < to->threads ? other->threads : to->threads;
    to->cores = other->cores < to->cores ? other->cores : to->cores;
    to->rates.upload = fmax(to->rates.upload, other->rates.upload);
    to->rates.fetch = fmax(to->rates.fetch, other->rates.fetch);
    to->rates.filter = fmax(to->rates.filter, other->rates.filter);
    to->rates.update = fmax(to->rates.update, other->rates.update);
    to->rates.call = fmax(to->rates.call, other->rates.call);
    to->rates.share = fmax(to->rates.share, other->rates.share);
    to->rates.copy = fmax(to->rates.copy, other->rates.copy);
    to->rates.voxel = fmax(to->rates.voxel, other->rates.voxel);
    to->rates.slices = fmax(to->rates.slices, other->rates.slices);
    to->given.net = fbp_least_rate(to->given.net, other->given.net);
    to->given.disk = fbp_least_rate(to->given.disk, other->given.disk);
    to->given.read = fbp_least_rate(to->given.read, other->given.read);
    to->given.write = fbp_least_rate(to->given.write, other->given.write);
    to->given.gups = fbp_least_rate(to->given.gups, other->given.gups);
    to->given.filter = fbp_least_rate(to->given.filter, other->given.filter);
}

/* Choose the quickest grid of ranks, each with the resources m. */
static fbp_status choose_grid(fbp_plan *p, const struct fbp_work_request *request,
                              const struct means *m)
{
    struct fbp_work_request rq = *request;
    struct fbp_job job = p->tables.job;
    const double cores = m->threads;
    const struct fbp_nodes ranks = {.ranks = m->local,
                                    .net = m->given.net,
                                    .disk = m->given.disk,
                                    .machine = {.read = m->given.read, .write = m->given.write},
                                    .on_host = m->rates.update <= 0,
                                    .n_threads = m->threads};

    job.n_threads = m->threads;
    rq.job = &job;
    rq.base_bytes = 0;
    rq.memory_limit = m->room;
    rq.device_limit = m->device;
    rq.writer_bytes = m->writer_bytes;
    rq.n_cores = m->cores;
    rq.rates = m->rates;
    if (ranks.on_host)
        rq.rates = (struct fbp_rates){.update = 1e-9 / (CORE_GUPS * cores),
                                      .filter = 1e-9 / (CORE_FILTER * cores)};
    if (m->given.gups > 0)
        rq.rates.update = 1e-9 / m->given.gups;
    if (m->given.filter > 0)
        rq.rates.filter = 1e-9 / m->given.filter;
    return fbp_cluster_choose(&ranks, &rq, fbp_team_size(p->params.cluster.team),
                              p->params.cluster.view_ranks, &p->ranks);
}

/* Rank 0 chooses the grid from the resources of all ranks and sends it to all ranks. */
fbp_status fbp_plan_take_share(fbp_plan *p, const struct fbp_work_request *request)
{
    fbp_team *team = p->params.cluster.team;
    struct means means = {.room = 0}, *all = NULL;

    if (!team)
        return FBP_OK;
    fbp_status st = fbp_ranks_check(&p->tables.job, fbp_group_views(p->backend, &p->tables.job),
                                    fbp_team_size(team), p->params.cluster.view_ranks);
    if (st == FBP_OK)
        st = own_means(p, request, &means);
    if (st == FBP_OK)
        st = fbp_calloc((void **)&all, fbp_team_size(team), sizeof *all, "a team's resources");
    st = fbp_team_gather(team, "grid", st, &means, sizeof means, all);
    for (size_t r = 0; st == FBP_OK && r < fbp_team_size(team); r++)
        take_least(&means, &all[r]);
    free(all);
    FBP_TRY(st);

    if (fbp_team_rank(team) == 0)
        st = choose_grid(p, request, &means);
    FBP_TRY(fbp_team_share(team, "grid", st, &p->ranks, sizeof p->ranks));
    fbp_ranks_place(&p->ranks, fbp_team_rank(team));
    if (p->ranks.n_parts > 1)
        p->n_devices = 1; /* one device adds blocks of partial volumes in a fixed order */
    return fbp_ranks_share(&p->ranks, fbp_group_views(p->backend, &p->tables.job), &p->tables.job);
}

fbp_status fbp_plan_take_rank(fbp_plan *p, const struct fbp_work_request *request)
{
    const struct fbp_plan_target *to = p->target;
    struct fbp_job *job = &p->tables.job;

    job->part.slices[0] = job->part.slices[1] = 0;
    FBP_TRY(fbp_cluster_choose(to->nodes, request, to->n_ranks, p->params.cluster.view_ranks,
                               &p->ranks));
    p->ranks.slab = p->ranks.n_slabs / 2;
    p->machine = fbp_cluster_rank(to->nodes, &p->ranks);
    return fbp_ranks_share(&p->ranks, fbp_group_views(p->backend, job), job);
}

/* ---- Agreement of all ranks on where views are kept and how the work is divided ---- */

/* Result of dividing the work in one process: whether the division does not fit into memory, how
 * much memory it needs, the limit, and the error message. */
struct lack {
    bool lacks;
    struct fbp_plan_lack what;
    char why[700];
};

fbp_status fbp_plan_agree_memory(fbp_plan *p, fbp_status status)
{
    fbp_team *team = p->params.cluster.team;
    const size_t size = fbp_team_size(team);
    struct lack mine = {.lacks = status == FBP_ERR_NOMEM}, *all = NULL;
    /* rank that needs most, if its division does not fit; `size`: all fit */
    size_t poorest = size;
    bool alike = true; /* whether all ranks have the same message */
    char name[100];

    p->lack = (struct fbp_plan_lack){.needs = 0};
    if (status != FBP_OK && status != FBP_ERR_NOMEM)
        return status;
    if (mine.lacks)
        mine.what = (struct fbp_plan_lack){p->work.memory_bytes, p->info.memory_limit, ""};
    if (!team) {
        p->lack = mine.what;
        return status;
    }
    if (mine.lacks) {
        snprintf(mine.why, sizeof mine.why, "%s", fbp_message());
        fbp_message_clear(); /* the caller may try another division */
    }
    fbp_status st = fbp_calloc((void **)&all, size, sizeof *all, "a team's plans");
    st = fbp_team_gather(team, "memory", st, &mine, sizeof mine, all);
    for (size_t r = 0; st == FBP_OK && r < size; r++) {
        alike = alike && strcmp(all[r].why, all[0].why) == 0;
        if (all[r].lacks && (poorest == size || all[r].what.needs > all[poorest].what.needs))
            poorest = r;
    }
    if (poorest < size) { /* all ranks fail with the message of the rank that needs most memory */
        p->lack = all[poorest].what;
        if (!alike)
            snprintf(p->lack.who, sizeof p->lack.who,
                     "%s: ", fbp_team_name(team, poorest, name, sizeof name));
        st = fbp_fail(FBP_ERR_NOMEM, "%s%s", p->lack.who, all[poorest].why);
    }
    free(all);
    return st;
}

fbp_status fbp_plan_agree_most(const fbp_plan *p, double *value)
{
    fbp_team *team = p->params.cluster.team;
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

/* Greatest number of repeated divisions. A process with scarce memory may divide into smaller slabs
 * the second time, after allocations; the others of its slab then divide once more. */
enum { DIVISION_ROUNDS = 8 };

/* Values of a division that must be equal in all processes that share a slab. */
struct division {
    size_t slab; /* index of the process's slab in the grid */
    size_t n_slabs, slab_slices, block_slices, finish_slices, weighed;
};

fbp_status fbp_plan_agree_division(fbp_plan *p, fbp_status (*divide)(fbp_plan *, struct fbp_work *))
{
    fbp_team *team = p->params.cluster.team;
    const size_t size = fbp_team_size(team);
    const struct fbp_work *w = &p->work;
    struct division *all = NULL;
    bool all_same = false; /* whether the processes of every slab divide it in the same way */

    if (!team || p->ranks.n_parts < 2)
        return FBP_OK;
    fbp_status st = fbp_calloc((void **)&all, size, sizeof *all, "a team's plans");
    for (int round = 0; !all_same && round <= DIVISION_ROUNDS; round++) {
        const struct division mine = {p->ranks.slab,   w->n_slabs,       w->slab_slices,
                                      w->block_slices, w->finish_slices, w->weighed};
        size_t least = mine.slab_slices; /* least slab_slices of the processes of this slab */
        bool same = true;                /* whether these processes divide it alike */
        st = fbp_team_gather(team, "division", st, &mine, sizeof mine, all);
        if (st != FBP_OK)
            break;
        all_same = true;
        for (size_t r = 0; r < size; r++) {
            for (size_t q = 0; q < r; q++)
                all_same &=
                    all[q].slab != all[r].slab || memcmp(&all[q], &all[r], sizeof mine) == 0;
            if (all[r].slab != mine.slab)
                continue;
            least = all[r].slab_slices < least ? all[r].slab_slices : least;
            same &= memcmp(&all[r], &mine, sizeof mine) == 0;
        }
        if (!same && round < DIVISION_ROUNDS) {
            p->slab_slices = least;
            st = divide(p, &p->work);
        }
    }
    free(all);
    if (st == FBP_OK && !all_same)
        st = FBP_INVALID("team: processes that share views divide their slices differently; "
                         "give all processes the same --memory and --device-memory");
    return st;
}
