#include "plan/cluster.h"

#include "backend/slab.h"
#include "plan/roi.h"

#include <math.h>

static size_t ranks_of_node(const struct fbp_model *m)
{
    return m->n_devices;
}

/* The least of two rates, of which 0 has no limit. */
static double least(double a, double b)
{
    return a <= 0 ? b : b <= 0 ? a : fmin(a, b);
}

struct fbp_machine fbp_cluster_rank(const struct fbp_model *m, const struct fbp_ranks *grid)
{
    const struct fbp_machine *node = &m->machine;
    const double here = (double)ranks_of_node(m);
    const double all = (double)(grid->n_slabs * grid->n_parts), writers = (double)grid->n_slabs;
    struct fbp_machine own = *node;

    own.up = least(node->up, node->up_all / here);
    own.down = least(node->down, node->down_all / here);
    own.both = least(node->both, node->both_all / here);
    own.up_all = own.down_all = own.both_all = own.peer = 0;
    own.read = least(node->read / here, m->disk / all);
    own.write = least(node->write / here, m->disk / writers);
    return own;
}

fbp_status fbp_cluster_grid(const struct fbp_model *m, const struct fbp_job *job,
                            size_t group_views, size_t n_nodes, size_t n_parts,
                            struct fbp_ranks *out)
{
    FBP_TRY(fbp_ranks_choose(job, group_views, 0, n_nodes * ranks_of_node(m), n_parts, out));
    out->slab = out->n_slabs / 2;
    return FBP_OK;
}

/* The first of those that share a slab gets it of each of the others.  Its node has one network for
 * as many of these as it holds. */
static double seconds_of_sums(const struct fbp_model *m, const struct fbp_job *job,
                              const struct fbp_ranks *grid)
{
    const size_t here = ranks_of_node(m);
    const size_t receivers = grid->n_parts < here ? here / grid->n_parts : 1;
    const double slice = (double)fbp_roi_size(job, 0) * (double)fbp_roi_size(job, 1) *
                         (double)fbp_frames(job) * sizeof(float);
    size_t first, n;

    if (grid->n_parts < 2 || m->net <= 0)
        return 0;
    fbp_roi_layers(job, &first, &n);
    return slice * (double)(n * fbp_halves(job)) * (double)(grid->n_parts - 1) * (double)receivers /
           m->net;
}

/* Slabs of a rank are added up one after another, each while the next is computed. */
static double with_sums(double seconds, double sum, size_t n_slabs)
{
    const double n = (double)n_slabs;

    return fmax(seconds + sum / n, seconds / n + sum);
}

static fbp_status predict_rank(const struct fbp_model *m, const struct fbp_work_request *request,
                               const struct fbp_ranks *grid, struct fbp_cluster_time *out)
{
    const struct fbp_machine machine = fbp_cluster_rank(m, grid);
    struct fbp_job job = *request->job;
    struct fbp_work_request rq = *request;
    struct fbp_work work;

    FBP_TRY(fbp_ranks_share(grid, rq.backend->group_views, &job));
    rq.job = &job;
    rq.machine = &machine;
    rq.n_workers = rq.slabs_each = 1;
    fbp_model_rates(m, &job, &rq.rates);
    FBP_TRY(fbp_work_divide(&rq, &work));
    FBP_TRY(fbp_predict(&machine, &rq.rates, &job, &work, &out->rank));
    out->rank.open = fbp_model_open(m, &work, 0);
    out->n_slabs = grid->n_slabs;
    out->n_parts = grid->n_parts;
    out->sum = seconds_of_sums(m, &job, grid);
    out->rank.total = with_sums(out->rank.total, out->sum, work.n_slabs);
    return FBP_OK;
}

/* A slab at the rim has more layers, and one in the middle costs as much with fewer. */
fbp_status fbp_cluster_predict(const struct fbp_model *m, const struct fbp_work_request *request,
                               size_t n_nodes, size_t n_parts, struct fbp_cluster_time *out)
{
    struct fbp_cluster_time rim;
    struct fbp_ranks grid;

    FBP_TRY(
        fbp_cluster_grid(m, request->job, request->backend->group_views, n_nodes, n_parts, &grid));
    FBP_TRY(predict_rank(m, request, &grid, out));
    grid.slab = 0;
    FBP_TRY(predict_rank(m, request, &grid, &rim));
    if (rim.rank.total > out->rank.total)
        *out = rim;
    return FBP_OK;
}
