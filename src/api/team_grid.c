/* The grid of ranks: all bring what they have of memory, cores and rates, and the least of it
 * decides, so that each can do its part, and nothing depends on their order. */
#include "api/plan_team.h"

#include "base/environment.h"
#include "base/mem.h"
#include "plan/cluster.h"
#include "plan/key_values.h"
#include "team/team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a core, where nobody says otherwise and the device does not know: they are not measured, so
 * that a run that is repeated has the same grid, and the same values. */
static const double CORE_GUPS = 1, CORE_FILTER = 0.1;

/* Rates in FBP_RATES; 0: not given. */
struct given {
    double net, disk, read, write, gups, filter;
};

/* What a rank brings. */
struct means {
    uint64_t room;   /* bytes of memory for its work, as if it were rank 0, which takes most */
    uint64_t device; /* bytes, as --device-memory says; 0: it does not */
    uint64_t writer_bytes; /* of a thread that writes */
    size_t local;          /* ranks of its host */
    int threads, cores;
    struct fbp_rates rates; /* of its device; seconds */
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
    const bool first = fbp_team_rank(p->params.team) == 0;
    const uint64_t taken =
        rq->base_bytes - fbp_plan_team_bytes(p, first) + fbp_plan_team_bytes(p, true);
    struct given given;

    FBP_TRY(read_rates(&given));
    *out = (struct means){.room = rq->memory_limit > taken ? rq->memory_limit - taken : 0,
                          .device = p->params.device_memory_bytes,
                          .writer_bytes = rq->writer_bytes,
                          .local = fbp_team_local_size(p->params.team),
                          .threads = p->tables.job.n_threads,
                          .cores = rq->n_cores,
                          .given = given};
    p->backend->rates(&p->tables.job, &out->rates);
    return FBP_OK;
}

/* Of two, of which 0 says nothing. */
static double least(double a, double b)
{
    return a <= 0 ? b : b <= 0 ? a : fmin(a, b);
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
    to->given.net = least(to->given.net, other->given.net);
    to->given.disk = least(to->given.disk, other->given.disk);
    to->given.read = least(to->given.read, other->given.read);
    to->given.write = least(to->given.write, other->given.write);
    to->given.gups = least(to->given.gups, other->given.gups);
    to->given.filter = least(to->given.filter, other->given.filter);
}

/* The least that any rank has; `status`: of this one so far. */
static fbp_status gather_means(const fbp_plan *p, fbp_status status, struct means *own)
{
    fbp_team *team = p->params.team;
    struct means *all = NULL;

    if (status == FBP_OK)
        status = fbp_calloc((void **)&all, fbp_team_size(team), sizeof *all, "a team's means");
    status = fbp_team_gather(team, "grid", status, own, sizeof *own, all);
    for (size_t r = 0; status == FBP_OK && r < fbp_team_size(team); r++)
        take_least(own, &all[r]);
    free(all);
    return status;
}

/* The ranks that run. */
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
    return fbp_cluster_choose(&ranks, &rq, fbp_team_size(p->params.team), p->params.view_ranks,
                              &p->ranks);
}

/* Rank 0 chooses from what all have. */
fbp_status fbp_plan_take_share(fbp_plan *p, const struct fbp_work_request *request)
{
    fbp_team *team = p->params.team;
    struct means means = {.room = 0};

    if (!team)
        return FBP_OK;
    fbp_status st = fbp_ranks_check(&p->tables.job, p->backend->group_views, fbp_team_size(team),
                                    p->params.view_ranks);
    if (st == FBP_OK)
        st = own_means(p, request, &means);
    FBP_TRY(gather_means(p, st, &means));
    if (fbp_team_rank(team) == 0)
        st = choose_grid(p, request, &means);
    FBP_TRY(fbp_team_share(team, "grid", st, &p->ranks, sizeof p->ranks));
    fbp_ranks_place(&p->ranks, fbp_team_rank(team));
    if (p->ranks.n_parts > 1)
        p->n_devices = 1; /* partial volumes are added up block by block, in one order */
    return fbp_ranks_share(&p->ranks, p->backend->group_views, &p->tables.job);
}

fbp_status fbp_plan_take_rank(fbp_plan *p, const struct fbp_work_request *request)
{
    const struct fbp_plan_target *to = p->target;
    struct fbp_job *job = &p->tables.job;

    job->share[0] = job->share[1] = 0;
    FBP_TRY(fbp_cluster_choose(to->nodes, request, to->n_ranks, p->params.view_ranks, &p->ranks));
    p->ranks.slab = p->ranks.n_slabs / 2;
    p->machine = fbp_cluster_rank(to->nodes, &p->ranks);
    return fbp_ranks_share(&p->ranks, p->backend->group_views, job);
}
