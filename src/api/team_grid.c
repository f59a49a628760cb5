/* The grid of ranks: all bring what they have of memory, cores and rates, and the least of it
 * decides, so that each can do its part, and nothing depends on their order. */
#include "api/plan_team.h"

#include "base/environment.h"
#include "base/mem.h"
#include "plan/cluster.h"
#include "team/team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a core, where nobody says otherwise and the device does not know: they are not measured, so
 * that a run that is repeated has the same grid, and the same values. */
static const double CORE_GUPS = 1, CORE_FILTER = 0.1;

/* What a rank brings. */
struct means {
    uint64_t room;   /* bytes of memory for its work, as if it were rank 0, which takes most */
    uint64_t device; /* bytes, as --device-memory says; 0: it does not */
    uint64_t writer_bytes; /* of a thread that writes */
    size_t local;          /* ranks of its host */
    int threads, cores;
    struct fbp_rates rates;                      /* of its device; seconds */
    double net, disk, read, write, gups, filter; /* as FBP_RATES says; 0: it does not */
};

/* Keys of a model that a run looks at, and no others. */
static fbp_status check_rates(const char *words)
{
    static const char *const known[] = {"net", "disk", "read", "write", "gups", "filter"};
    const char *next;

    for (const char *at = words; at; at = next) {
        const size_t n = strcspn(at, ","), name = strcspn(at, "=,");
        bool is_known = false;
        next = at[n] ? at + n + 1 : NULL;
        if (name == 0 || name == n)
            return FBP_OK; /* fbp_model_read() says what is wrong */
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || (strlen(known[i]) == name && memcmp(known[i], at, name) == 0);
        if (!is_known)
            return fbp_fail(FBP_ERR_INVALID,
                            "FBP_RATES: %.*s plays no role for a run: use net, disk, read, write, "
                            "gups, filter",
                            (int)name, at);
    }
    return FBP_OK;
}

/* What this rank was told of them; nothing: all 0. */
static fbp_status read_rates(struct fbp_model *given)
{
    const char *words = fbp_environment(FBP_ENV_RATES);

    *given = (struct fbp_model){0};
    if (!words || !words[0])
        return FBP_OK;
    FBP_TRY(check_rates(words));
    return fbp_because("FBP_RATES", fbp_model_read(words, given));
}

static fbp_status own_means(const fbp_plan *p, const struct fbp_work_request *rq, struct means *out)
{
    const bool first = fbp_team_rank(p->params.team) == 0;
    const uint64_t taken =
        rq->base_bytes - fbp_plan_team_bytes(p, first) + fbp_plan_team_bytes(p, true);
    struct fbp_model given;

    FBP_TRY(read_rates(&given));
    *out = (struct means){.room = rq->memory_limit > taken ? rq->memory_limit - taken : 0,
                          .device = p->params.device_memory_bytes,
                          .writer_bytes = rq->writer_bytes,
                          .local = fbp_team_local_size(p->params.team),
                          .threads = p->tables.job.n_threads,
                          .cores = rq->n_cores,
                          .net = given.net,
                          .disk = given.disk,
                          .read = given.machine.read,
                          .write = given.machine.write,
                          .gups = given.gups,
                          .filter = given.filter};
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
    to->net = least(to->net, other->net);
    to->disk = least(to->disk, other->disk);
    to->read = least(to->read, other->read);
    to->write = least(to->write, other->write);
    to->gups = least(to->gups, other->gups);
    to->filter = least(to->filter, other->filter);
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

/* The ranks that run, as a cluster of the model. */
static void describe_ranks(const struct means *m, struct fbp_model *ranks, struct fbp_rates *rates)
{
    const double cores = m->threads;

    *ranks = (struct fbp_model){.n_devices = m->local,
                                .net = m->net,
                                .disk = m->disk,
                                .machine = {.read = m->read, .write = m->write},
                                .on_host = m->rates.update <= 0,
                                .n_threads = m->threads};
    *rates = m->rates;
    if (ranks->on_host)
        *rates = (struct fbp_rates){.update = 1e-9 / (CORE_GUPS * cores),
                                    .filter = 1e-9 / (CORE_FILTER * cores)};
    if (m->gups > 0)
        rates->update = 1e-9 / m->gups;
    if (m->filter > 0)
        rates->filter = 1e-9 / m->filter;
}

static fbp_status choose_grid(fbp_plan *p, const struct fbp_work_request *request,
                              const struct means *m)
{
    struct fbp_work_request rq = *request;
    struct fbp_job job = p->tables.job;
    struct fbp_model ranks;

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
    struct fbp_job *job = &p->tables.job;

    job->share[0] = job->share[1] = 0;
    FBP_TRY(fbp_cluster_choose(&p->model, request, p->model.n_nodes * p->model.n_devices,
                               p->params.view_ranks, &p->ranks));
    p->ranks.slab = p->ranks.n_slabs / 2;
    p->machine = fbp_cluster_rank(&p->model, &p->ranks);
    return fbp_ranks_share(&p->ranks, p->backend->group_views, job);
}
