/* Plans of several processes (a team): cores and devices of each process, the grid, and agreement
 * on memory, division and options.
 *
 * plan.c and plan_memory.c call these functions.  All processes of a team must call the collective
 * ones (fbp_team_gather(), fbp_team_share()) in the same order. */
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

/* Threads of this process: its own cores if it is bound to some, else an equal share of the
 * host's. */
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
    if (p->params.cluster.team && p->params.n_threads == 0)
        p->params.n_threads = own_cores(p->params.cluster.team);
}

/* Choose one device per process of the host: from the devices that were named by number, else from
 * all devices of the backend. */
static void choose_card(fbp_plan *p)
{
    const bool named = p->params.device && strchr(p->params.device, ':');
    const size_t at = fbp_team_local_rank(p->params.cluster.team);
    const struct fbp_backend *backend = p->backend;
    char why[300] = "";
    const int n = named ? (int)p->n_devices : fbp_backend_count(&backend, why, sizeof why);
    const size_t cards = n > 0 ? (size_t)n : 1;

    p->devices[0] = named ? p->devices[at % cards] : (int)(at % cards);
    p->n_devices = 1;
}

/* Identity of a device.  bus_id identifies the hardware, because a launcher may show each process
 * another device as index 0; "": compare indices. */
struct card {
    int index;
    char bus_id[28];
};

static fbp_status count_sharers(fbp_plan *p)
{
    fbp_team *team = p->params.cluster.team;
    const size_t size = fbp_team_size(team);
    struct fbp_device_info info = {0};
    struct card mine = {.index = p->devices[0]}, *all = NULL;

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

fbp_status fbp_plan_take_card(fbp_plan *p)
{
    if (!p->params.cluster.team)
        return FBP_OK;
    if (fbp_team_local_size(p->params.cluster.team) > 1)
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

/* Describe the time of the best other grid, relative to the chosen one; empty if there is no
 * other. */
static void name_other(const fbp_plan *p, char *out, size_t room)
{
    const struct fbp_ranks *r = &p->ranks;
    const double ratio = r->other_cost / r->cost;
    char grid[120], remedy[60] = "";

    if (r->other_cost <= 0)
        return;
    name_grid(r->other_slabs, r->other_parts, grid, sizeof grid);
    if (p->params.cluster.view_ranks == 0) /* not chosen, because sums change the last digits */
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
    const size_t size = fbp_team_size(p->params.cluster.team);
    const struct fbp_ranks *r = &p->ranks;
    const size_t idle = size - r->n_slabs * r->n_parts;
    char line[400], taken[120], rest[60] = "", more[220] = "";

    if (!p->params.cluster.team)
        return;
    if (idle > 0)
        snprintf(rest, sizeof rest, "; %zu ha%s nothing to do", idle, idle > 1 ? "ve" : "s");
    name_grid(r->n_slabs, r->n_parts, taken, sizeof taken);
    name_other(p, more, sizeof more);
    snprintf(line, sizeof line, "%zu processes: %s%s%s", size, taken, rest, more);
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}

/* Properties of a plan that must be equal in all processes. */
struct planned {
    uint64_t job, params;
    char device[32], kernel[32], isa[16];
};

static uint64_t hash_of_params(const struct fbp_recon_params *p, size_t layer)
{
    /* all NaNs count as equal */
    const double value =
        p->output.fill_value == p->output.fill_value ? p->output.fill_value : 1e300;
    const double numbers[] = {(double)p->output.type,
                              p->output.range[0],
                              p->output.range[1],
                              (double)p->output.resume,
                              (double)p->output.compress,
                              (double)p->output.force,
                              (double)p->input.follow,
                              (double)p->output.auto_range,
                              (double)p->output.fill,
                              value,
                              (double)p->tuning.no_overlap,
                              (double)p->cluster.view_ranks,
                              (double)layer};

    return fbp_hash(0, numbers, sizeof numbers);
}

static struct planned planned_by(const fbp_plan *p)
{
    struct planned out = {.job = fbp_plan_job_fingerprint(p),
                          .params = hash_of_params(&p->params, p->needs.layer)};

    snprintf(out.device, sizeof out.device, "%s", p->backend->name);
    snprintf(out.kernel, sizeof out.kernel, "%s", p->tables.job.selection.name);
    snprintf(out.isa, sizeof out.isa, "%s", p->tables.job.selection.isa);
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
    if (a->params != b->params) /* first, because other differences may follow from it */
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
    fbp_team *team = p->params.cluster.team;
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

/* ---- The grid of ranks ----
 *
 * All ranks send their memory, cores and rates.  The least of each decides, so that every rank can
 * do its share, and the grid does not depend on the order of ranks. */

/* Rates per core [1e9 updates/s, 1e9 filtered samples/s] if neither FBP_RATES nor the device gives
 * any.  They are not measured, so that a repeated run has the same grid and the same values. */
static const double CORE_GUPS = 1, CORE_FILTER = 0.1;

/* Rates from the environment variable FBP_RATES; 0: not given.  net, disk, read, write: bytes/s;
 * gups: 1e9 updates/s; filter: 1e9 samples/s. */
struct given {
    double net, disk, read, write, gups, filter;
};

/* Resources of a rank. */
struct means {
    /* bytes of memory left for its work, if it needed as much as rank 0, which needs most */
    uint64_t room;
    uint64_t device;       /* bytes given by --device-memory; 0: not given */
    uint64_t writer_bytes; /* bytes per writing thread */
    size_t local;          /* ranks on its host */
    int threads, cores;
    struct fbp_rates rates; /* seconds per unit of work of its device */
    struct given given;
};

static fbp_status read_rates(struct given *given)
{
    static const char giga[] = "a number from 0.001 to 1000000, such as 3400";
    static const struct fbp_key keys[] = {
        FBP_RATE_KEY("net", offsetof(struct given, net)),
        FBP_RATE_KEY("disk", offsetof(struct given, disk)),
        FBP_RATE_KEY("read", offsetof(struct given, read)),
        FBP_RATE_KEY("write", offsetof(struct given, write)),
        {"gups", FBP_KEY_NUMBER, 1e-3, 1e6, giga, offsetof(struct given, gups)},
        {"filter", FBP_KEY_NUMBER, 1e-3, 1e6, giga, offsetof(struct given, filter)},
    };
    const char *words = fbp_environment(FBP_ENV_RATES);

    *given = (struct given){0};
    if (!words || !words[0])
        return FBP_OK;
    return fbp_key_values_read("FBP_RATES", words, keys, sizeof keys / sizeof *keys, given);
}

static fbp_status own_means(const fbp_plan *p, const struct fbp_work_request *rq, struct means *out)
{
    const bool first = fbp_team_rank(p->params.cluster.team) == 0;
    const uint64_t taken =
        rq->base_bytes - fbp_plan_team_bytes(p, first) + fbp_plan_team_bytes(p, true);
    struct given given;

    FBP_TRY(read_rates(&given));
    *out = (struct means){.room = rq->memory_limit > taken ? rq->memory_limit - taken : 0,
                          .device = p->params.device_memory_bytes,
                          .writer_bytes = rq->writer_bytes,
                          .local = fbp_team_local_size(p->params.cluster.team),
                          .threads = p->tables.job.n_threads,
                          .cores = rq->n_cores,
                          .given = given};
    p->backend->rates(&p->tables.job, &out->rates);
    return FBP_OK;
}

static void take_slower(struct fbp_rates *to, const struct fbp_rates *other)
{
    to->upload = fmax(to->upload, other->upload);
    to->fetch = fmax(to->fetch, other->fetch);
    to->filter = fmax(to->filter, other->filter);
    to->update = fmax(to->update, other->update);
    to->call = fmax(to->call, other->call);
    to->share = fmax(to->share, other->share);
    to->copy = fmax(to->copy, other->copy);
}

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
    take_slower(&to->rates, &other->rates);
    to->given.net = fbp_least_rate(to->given.net, other->given.net);
    to->given.disk = fbp_least_rate(to->given.disk, other->given.disk);
    to->given.read = fbp_least_rate(to->given.read, other->given.read);
    to->given.write = fbp_least_rate(to->given.write, other->given.write);
    to->given.gups = fbp_least_rate(to->given.gups, other->given.gups);
    to->given.filter = fbp_least_rate(to->given.filter, other->given.filter);
}

/* Reduce *own to the least resources of all ranks.  status: status of this rank so far. */
static fbp_status gather_means(const fbp_plan *p, fbp_status status, struct means *own)
{
    fbp_team *team = p->params.cluster.team;
    struct means *all = NULL;

    if (status == FBP_OK)
        status = fbp_calloc((void **)&all, fbp_team_size(team), sizeof *all, "a team's means");
    status = fbp_team_gather(team, "grid", status, own, sizeof *own, all);
    for (size_t r = 0; status == FBP_OK && r < fbp_team_size(team); r++)
        take_least(own, &all[r]);
    free(all);
    return status;
}

/* Describe a node and the rates of its ranks for the prediction of times. */
static void describe_ranks(const struct means *m, struct fbp_nodes *ranks, struct fbp_rates *rates)
{
    const double cores = m->threads;

    *ranks = (struct fbp_nodes){.ranks = m->local,
                                .net = m->given.net,
                                .disk = m->given.disk,
                                .machine = {.read = m->given.read, .write = m->given.write},
                                .on_host = m->rates.update <= 0,
                                .n_threads = m->threads};
    *rates = m->rates;
    if (ranks->on_host)
        *rates = (struct fbp_rates){.update = 1e-9 / (CORE_GUPS * cores),
                                    .filter = 1e-9 / (CORE_FILTER * cores)};
    if (m->given.gups > 0)
        rates->update = 1e-9 / m->given.gups;
    if (m->given.filter > 0)
        rates->filter = 1e-9 / m->given.filter;
}

static fbp_status choose_grid(fbp_plan *p, const struct fbp_work_request *request,
                              const struct means *m)
{
    struct fbp_work_request rq = *request;
    struct fbp_job job = p->tables.job;
    struct fbp_nodes ranks;

    job.n_threads = m->threads;
    rq.job = &job;
    rq.base_bytes = 0;
    rq.memory_limit = m->room;
    rq.device_limit = m->device;
    rq.writer_bytes = m->writer_bytes;
    rq.n_cores = m->cores;
    describe_ranks(m, &ranks, &rq.rates);
    return fbp_cluster_choose(&ranks, &rq, fbp_team_size(p->params.cluster.team),
                              p->params.cluster.view_ranks, &p->ranks);
}

/* Rank 0 chooses the grid from the resources of all ranks and sends it to them. */
fbp_status fbp_plan_take_share(fbp_plan *p, const struct fbp_work_request *request)
{
    fbp_team *team = p->params.cluster.team;
    struct means means = {.room = 0};

    if (!team)
        return FBP_OK;
    fbp_status st = fbp_ranks_check(&p->tables.job, p->backend->can.group_views,
                                    fbp_team_size(team), p->params.cluster.view_ranks);
    if (st == FBP_OK)
        st = own_means(p, request, &means);
    FBP_TRY(gather_means(p, st, &means));
    if (fbp_team_rank(team) == 0)
        st = choose_grid(p, request, &means);
    FBP_TRY(fbp_team_share(team, "grid", st, &p->ranks, sizeof p->ranks));
    fbp_ranks_place(&p->ranks, fbp_team_rank(team));
    if (p->ranks.n_parts > 1)
        p->n_devices = 1; /* one device: partial volumes are added block by block, in one order */
    return fbp_ranks_share(&p->ranks, p->backend->can.group_views, &p->tables.job);
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
    return fbp_ranks_share(&p->ranks, p->backend->can.group_views, job);
}

/* ---- Agreement on memory: one storage of views and one division, which fit all ranks ---- */

/* Memory that a process lacks for one way of computing, and its error message. */
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
    fbp_message_clear(); /* not a failure yet: another way may fit */
    return mine;
}

/* Rank that needs most memory among the ranks that lack some; `size`: none lacks any.  *alike: all
 * have the same message. */
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

/* Fail in all processes with the message of one rank; the rank is named unless all messages are
 * alike. */
static fbp_status fail_as(fbp_plan *p, const struct lack *one, size_t rank, bool alike)
{
    char name[100];

    p->lack = one->what;
    if (!alike)
        snprintf(p->lack.who, sizeof p->lack.who,
                 "%s: ", fbp_team_name(p->params.cluster.team, rank, name, sizeof name));
    return fbp_fail(FBP_ERR_NOMEM, "%s%s", p->lack.who, one->why);
}

fbp_status fbp_plan_agree_memory(fbp_plan *p, fbp_status status)
{
    fbp_team *team = p->params.cluster.team;
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

/* Values that must be equal in processes that add their partial volumes block by block. */
struct division {
    size_t slab; /* slab of the grid */
    size_t n_slabs, slab_slices, block_slices, finish_slices, weighed;
};

static struct division division_of(const fbp_plan *p)
{
    const struct fbp_work *w = &p->work;

    return (struct division){p->ranks.slab,   w->n_slabs,       w->slab_slices,
                             w->block_slices, w->finish_slices, w->weighed};
}

/* Compare the divisions of the processes that have the same slab of the grid.  *least: fewest
 * slices per slab in any of them; *same: all divisions are equal. */
static fbp_status compare_divisions(const fbp_plan *p, size_t *least, bool *same)
{
    fbp_team *team = p->params.cluster.team;
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

    if (!p->params.cluster.team || p->ranks.n_parts < 2)
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
