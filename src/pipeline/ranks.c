/* Grids of several processes (ranks): which rank computes which slab of slices from which views
 * (fbp_ranks_place()), and the choice of the grid with the shortest predicted time
 * (fbp_cluster_choose()), for a running team (team_plan.c) or a cluster for which times are
 * predicted (bench/predict). A grid has n_slabs x n_parts ranks: the n_parts ranks
 * of a slab backproject different views, and add their partial volumes.
 * Used by: bench/predict/predict.c, team_plan.c, team_run.c. */
#include "base/threads.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processes share the views of a slab only if the predicted time is below WORTH_IT times that of
 * the grid in which every process has a slab of its own. */
static const double WORTH_IT = 0.7;

static size_t groups_of(const struct fbp_job *job, size_t group_views)
{
    return (job->n_views + group_views - 1) / group_views;
}

fbp_status fbp_ranks_check(const struct fbp_job *job, size_t group_views, size_t size,
                           size_t n_parts)
{
    const size_t n_groups = groups_of(job, group_views);

    if (n_parts > 1 && fbp_in_double(job))
        return FBP_UNSUPPORTED(
            "view_ranks: processes cannot share views in double precision; omit view_ranks");
    if (n_parts > size)
        return FBP_INVALID("view_ranks: only %zu processes were started, but %zu are requested; "
                           "request at most as many as were started",
                           size, n_parts);
    if (n_parts > n_groups)
        return FBP_INVALID(
            "view_ranks: the views of this scan can be divided among at most %zu process%s; "
            "request at most %zu",
            n_groups, n_groups == 1 ? "" : "es", n_groups);
    return FBP_OK;
}

void fbp_ranks_place(struct fbp_ranks *r, size_t rank)
{
    r->idle = rank >= r->n_slabs * r->n_parts;
    r->slab = r->idle ? 0 : rank / r->n_parts;
    r->part = rank % r->n_parts;
}

fbp_status fbp_ranks_share(const struct fbp_ranks *r, size_t group_views, struct fbp_job *job)
{
    const size_t n = groups_of(job, group_views);

    job->part.counts_once = true; /* a team adds up the counts of its processes */
    job->part.view_groups[0] = job->part.view_groups[1] = 0;
    for (size_t i = 0; i < 2 && r->n_parts > 1; i++)
        job->part.view_groups[i] = (r->part + i) * n / r->n_parts;
    return fbp_part_share(job, (struct fbp_part_of){r->slab + 1, r->n_slabs}, job->part.slices);
}

static size_t period_of(size_t n_parts, size_t block)
{
    return block > n_parts ? block : n_parts;
}

size_t fbp_ranks_segment(size_t n_parts, size_t block)
{
    return (period_of(n_parts, block) + n_parts - 1) / n_parts;
}

/* Return the number of the process, of the n_parts that share a slab, that owns slice z of the box.
 * Every block of slices is cut into n_parts segments; block i begins with process i % n_parts,
 * because the larger segments of all blocks would belong to the same processes otherwise. */
size_t fbp_ranks_owner(const struct fbp_job *job, size_t n_parts, size_t block, size_t z)
{
    const size_t at = fbp_box_first(job, 2) + z, length = period_of(n_parts, block);
    size_t z0, n;

    fbp_job_slices(job, &z0, &n);
    if (at < z0 || at >= z0 + n)
        return 0;
    const size_t period = (at - z0) / length, left = n - period * length;
    const size_t slices = left < length ? left : length;
    return ((at - z0) % length * n_parts / slices + period) % n_parts;
}

struct fbp_machine fbp_cluster_rank(const struct fbp_nodes *m, const struct fbp_ranks *grid)
{
    const struct fbp_machine *node = &m->machine;
    const double here = (double)m->ranks;
    const double all = (double)(grid->n_slabs * grid->n_parts);
    struct fbp_machine own = *node;

    if (grid->n_parts > 1) {
        /* Compute the rate at which a rank adds up partial volumes. Consecutive ranks share a slab:
         * `local` of them are on one node; the fraction `far` of the ranks other than this one are
         * on other nodes, behind the network, which the ranks of a node share. */
        const size_t local = grid->n_parts < m->ranks ? grid->n_parts : m->ranks;
        const double others = (double)(grid->n_parts - 1);
        const double far = (double)(grid->n_parts - local) / others;
        const double computing = m->on_host ? 1 / FBP_CLUSTER_CORE : (1 - far) / FBP_CLUSTER_LOCAL;
        const double seconds = computing + (m->net > 0 ? far * here / m->net : 0);
        own.sum = seconds > 0 ? 1 / seconds : 0;
    } else {
        own.sum = 0;
    }
    own.up = fbp_least_rate(node->up, node->up_all / here);
    own.down = fbp_least_rate(node->down, node->down_all / here);
    own.both = fbp_least_rate(node->both, node->both_all / here);
    own.up_all = own.down_all = own.both_all = own.peer = 0;
    own.read = fbp_least_rate(node->read / here, m->disk / all);
    own.write = fbp_least_rate(node->write / here, m->disk / all);
    own.sharers = grid->n_parts;

    own.sum_cores = m->on_host ? m->n_threads : 0;
    return own;
}

static fbp_status predict_rank(const struct fbp_nodes *m, const struct fbp_work_request *request,
                               const struct fbp_ranks *grid, struct fbp_cluster_time *out)
{
    const struct fbp_machine machine = fbp_cluster_rank(m, grid);
    struct fbp_job job = *request->job;
    struct fbp_work_request rq = *request;

    FBP_TRY(fbp_ranks_share(grid, fbp_group_views(rq.backend, &job), &job));
    rq.job = &job;
    rq.machine = &machine;
    rq.n_workers = rq.slabs_each = 1;
    rq.sharers = grid->n_parts;
    rq.plain = m->on_host;
    FBP_TRY(fbp_work_divide(&rq, &out->work));
    rq.rates = fbp_work_rates(&rq);
    return fbp_predict(&machine, &rq.rates, &job, &out->work, &out->rank, &out->sum);
}

/* Predict the time of the slowest rank of a grid: of the rank with the middle slab, or of that with
 * the first slab, which has more slices because slabs are cut to equal cost. */
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

static void note_other(size_t slabs, size_t parts, double cost, struct fbp_ranks *out)
{
    if (cost <= 0 || (out->other_cost > 0 && cost >= out->other_cost))
        return;
    out->other_slabs = slabs;
    out->other_parts = parts;
    out->other_cost = cost;
}

/* Predict the time of the grid of `slabs` slabs with `parts` ranks each. It becomes the choice in
 * *out if it is allowed (may_be) and faster; otherwise it may become the fastest alternative, for a
 * note. Sharing views changes last digits, so it must save time (WORTH_IT). Impossible grids, such
 * as slabs that do not fit in memory, are skipped. */
static fbp_status weigh(const struct fbp_nodes *m, const struct fbp_work_request *request,
                        size_t slabs, size_t parts, bool may_be, struct fbp_ranks *out)
{
    const struct fbp_ranks grid = {.n_slabs = slabs, .n_parts = parts};
    struct fbp_cluster_time time;

    if (fbp_cluster_predict(m, request, &grid, &time) != FBP_OK) {
        FBP_TRY(fbp_check_cancelled());
        fbp_message_clear();
        return FBP_OK;
    }
    const double seconds = time.rank.total;
    const double least = out->n_parts == 1 && parts > 1 ? WORTH_IT * out->cost : out->cost;
    if (!may_be || (out->cost > 0 && seconds >= least)) {
        note_other(slabs, parts, seconds, out);
        return FBP_OK;
    }
    note_other(out->n_slabs, out->n_parts, out->cost, out);
    out->n_slabs = slabs;
    out->n_parts = parts;
    out->cost = seconds;
    return FBP_OK;
}

fbp_status fbp_cluster_choose(const struct fbp_nodes *m, const struct fbp_work_request *request,
                              size_t size, size_t n_parts, struct fbp_ranks *out)
{
    struct fbp_job whole = *request->job;
    const size_t group_views = fbp_group_views(request->backend, &whole);
    const size_t n_groups = groups_of(&whole, group_views);
    const size_t most = fbp_in_double(&whole) ? 1 : size < n_groups ? size : n_groups;
    size_t first, n;

    FBP_TRY(fbp_ranks_check(&whole, group_views, size, n_parts));
    whole.part.slices[0] = whole.part.slices[1] = 0;
    fbp_job_slices(&whole, &first, &n);
    *out = (struct fbp_ranks){.n_slabs = size < n ? size : n, .n_parts = 1};
    if (n_parts > 0) /* the caller gives the number of processes per slab */
        *out = (struct fbp_ranks){.n_slabs = size / n_parts < n ? size / n_parts : n,
                                  .n_parts = n_parts};
    /* Try numbers of processes per slab: n_parts, divisors of `size`, powers of two, `most`. */
    for (size_t parts = 1; size > 1 && parts <= most; parts++)
        if (parts == n_parts || size % parts == 0 || parts == most || (parts & (parts - 1)) == 0)
            FBP_TRY(weigh(m, request, size / parts < n ? size / parts : n, parts,
                          n_parts == 0 || parts == n_parts, out));
    return FBP_OK;
}
