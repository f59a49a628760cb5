#include "plan/cluster.h"

#include <math.h>

/* The least of two rates, of which 0 has no limit. */
static double least(double a, double b)
{
    return a <= 0 ? b : b <= 0 ? a : fmin(a, b);
}

/* What a rank gets of the partial volumes of others.  Those that share a slab are neighbours: some
 * of them are on its node, whose ranks have one network together. */
static double rate_of_sums(const struct fbp_nodes *m, size_t n_parts)
{
    const size_t here = m->ranks, local = n_parts < here ? n_parts : here;
    const double others = (double)(n_parts - 1), far = (double)(n_parts - local) / others;
    const double own = m->on_host ? 1 / FBP_CLUSTER_CORE : (1 - far) / FBP_CLUSTER_LOCAL;
    const double seconds = own + (m->net > 0 ? far * (double)here / m->net : 0);

    return seconds > 0 ? 1 / seconds : 0;
}

struct fbp_machine fbp_cluster_rank(const struct fbp_nodes *m, const struct fbp_ranks *grid)
{
    const struct fbp_machine *node = &m->machine;
    const double here = (double)m->ranks;
    const double all = (double)(grid->n_slabs * grid->n_parts);
    struct fbp_machine own = *node;

    own.up = least(node->up, node->up_all / here);
    own.down = least(node->down, node->down_all / here);
    own.both = least(node->both, node->both_all / here);
    own.up_all = own.down_all = own.both_all = own.peer = 0;
    own.read = least(node->read / here, m->disk / all);
    own.write = least(node->write / here, m->disk / all);
    own.sharers = grid->n_parts;
    own.sum = grid->n_parts > 1 ? rate_of_sums(m, grid->n_parts) : 0;
    own.sum_cores = m->on_host ? m->n_threads : 0;
    return own;
}

static fbp_status predict_rank(const struct fbp_nodes *m, const struct fbp_work_request *request,
                               const struct fbp_ranks *grid, struct fbp_cluster_time *out)
{
    const struct fbp_machine machine = fbp_cluster_rank(m, grid);
    struct fbp_job job = *request->job;
    struct fbp_work_request rq = *request;

    FBP_TRY(fbp_ranks_share(grid, rq.backend->group_views, &job));
    rq.job = &job;
    rq.machine = &machine;
    rq.n_workers = rq.slabs_each = 1;
    rq.sharers = grid->n_parts;
    rq.plain = m->on_host;
    if (m->rates)
        m->rates(m, &job, &rq.rates);
    FBP_TRY(fbp_work_divide(&rq, &out->work));
    return fbp_predict_sharer(&machine, &rq.rates, &job, &out->work, &out->rank, &out->sum);
}

/* A slab at the rim has more slices, and one in the middle costs as much with fewer. */
fbp_status fbp_cluster_predict(const struct fbp_nodes *m, const struct fbp_work_request *request,
                               const struct fbp_ranks *grid, struct fbp_cluster_time *out)
{
    struct fbp_ranks at = *grid;
    struct fbp_cluster_time rim;

    at.slab = grid->n_slabs / 2;
    FBP_TRY(predict_rank(m, request, &at, out));
    at.slab = 0;
    FBP_TRY(predict_rank(m, request, &at, &rim));
    if (rim.rank.total > out->rank.total)
        *out = rim;
    return FBP_OK;
}

struct weighing {
    const struct fbp_nodes *nodes;
    const struct fbp_work_request *request;
};

/* seconds() of struct fbp_ranks_cost. */
static fbp_status weigh(void *user, const struct fbp_ranks *grid, double *seconds)
{
    const struct weighing *w = user;
    struct fbp_cluster_time time;

    FBP_TRY(fbp_cluster_predict(w->nodes, w->request, grid, &time));
    *seconds = time.rank.total;
    return FBP_OK;
}

fbp_status fbp_cluster_choose(const struct fbp_nodes *m, const struct fbp_work_request *request,
                              size_t size, size_t n_parts, struct fbp_ranks *out)
{
    struct weighing with = {m, request};
    const struct fbp_ranks_cost how = {weigh, &with};

    return fbp_ranks_choose(request->job, request->backend->group_views, size, n_parts, &how, out);
}
