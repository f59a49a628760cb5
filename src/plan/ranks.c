#include "plan/ranks.h"

#include "plan/cut.h"
#include "plan/roi.h"
#include "plan/work.h"

#include "base/stop.h"

/* Of the time of slabs alone. */
static const double WORTH_IT = 0.7;

static size_t groups_of(const struct fbp_job *job, size_t group_views)
{
    return (job->n_views + group_views - 1) / group_views;
}

static struct fbp_job whole_of(const struct fbp_job *job)
{
    struct fbp_job whole = *job;

    whole.share[0] = whole.share[1] = 0;
    whole.view_groups[0] = whole.view_groups[1] = 0;
    return whole;
}

fbp_status fbp_ranks_check(const struct fbp_job *job, size_t group_views, size_t size,
                           size_t n_parts)
{
    const size_t n_groups = groups_of(job, group_views);

    if (n_parts > 1 && fbp_in_double(job))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "view_ranks: partial volumes in double are not added up: leave it out");
    if (n_parts > size)
        return fbp_fail(FBP_ERR_INVALID,
                        "view_ranks: %zu processes cannot share views among %zu: give at most as "
                        "many as were started",
                        size, n_parts);
    if (n_parts > n_groups)
        return fbp_fail(FBP_ERR_INVALID,
                        "view_ranks: there %s only %zu group%s of views to share out: give at most "
                        "as many",
                        n_groups == 1 ? "is" : "are", n_groups, n_groups == 1 ? "" : "s");
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

/* A grid: the quickest of those that may be taken so far, or of the others?  Those that share views
 * change the last digits of values, and must be worth it. */
static void consider(size_t slabs, size_t parts, double cost, bool may_be, struct fbp_ranks *out)
{
    const double least = out->n_parts == 1 && parts > 1 ? WORTH_IT * out->cost : out->cost;

    if (!may_be || (out->cost > 0 && cost >= least)) {
        note_other(slabs, parts, cost, out);
        return;
    }
    note_other(out->n_slabs, out->n_parts, out->cost, out);
    out->n_slabs = slabs;
    out->n_parts = parts;
    out->cost = cost;
}

/* Grids that use all processes, or as many of them as there are groups of views to share out; of
 * many processes also those of powers of two. */
static bool is_candidate(size_t parts, size_t size, size_t most)
{
    return size % parts == 0 || parts == most || (parts & (parts - 1)) == 0;
}

void fbp_ranks_place(struct fbp_ranks *r, size_t rank)
{
    r->idle = rank >= r->n_slabs * r->n_parts;
    r->slab = r->idle ? 0 : rank / r->n_parts;
    r->part = rank % r->n_parts;
}

/* What cannot be, such as a slab that does not fit, is not taken. */
static fbp_status weigh(const struct fbp_ranks_cost *how, size_t slabs, size_t parts, bool may_be,
                        struct fbp_ranks *out)
{
    struct fbp_ranks grid = {.n_slabs = slabs, .n_parts = parts};
    double seconds = 0;

    if (how->seconds(how->user, &grid, &seconds) != FBP_OK) {
        FBP_TRY(fbp_go_on());
        fbp_message_clear();
        return FBP_OK;
    }
    consider(slabs, parts, seconds, may_be, out);
    return FBP_OK;
}

fbp_status fbp_ranks_choose(const struct fbp_job *job, size_t group_views, size_t size,
                            size_t n_parts, const struct fbp_ranks_cost *how, struct fbp_ranks *out)
{
    const struct fbp_job whole = whole_of(job);
    const size_t n_groups = groups_of(job, group_views);
    const size_t most = fbp_in_double(job) ? 1 : size < n_groups ? size : n_groups;
    size_t first, n;

    FBP_TRY(fbp_ranks_check(job, group_views, size, n_parts));
    fbp_roi_slices(&whole, &first, &n);
    *out = (struct fbp_ranks){.n_slabs = size < n ? size : n, .n_parts = 1};
    if (n_parts > 0) /* whatever it costs */
        *out = (struct fbp_ranks){.n_slabs = size / n_parts < n ? size / n_parts : n,
                                  .n_parts = n_parts};
    for (size_t parts = 1; size > 1 && parts <= most; parts++)
        if (parts == n_parts || is_candidate(parts, size, most))
            FBP_TRY(weigh(how, size / parts < n ? size / parts : n, parts,
                          n_parts == 0 || parts == n_parts, out));
    return FBP_OK;
}

fbp_status fbp_ranks_share(const struct fbp_ranks *r, size_t group_views, struct fbp_job *job)
{
    const size_t n = groups_of(job, group_views);

    job->counts_once = true; /* they add up their counts */
    job->view_groups[0] = job->view_groups[1] = 0;
    for (size_t i = 0; i < 2 && r->n_parts > 1; i++)
        job->view_groups[i] = (r->part + i) * n / r->n_parts;
    return fbp_part_share(job, (struct fbp_part_of){r->slab + 1, r->n_slabs}, job->share);
}

static size_t period_of(size_t n_parts, size_t block)
{
    return block > n_parts ? block : n_parts;
}

size_t fbp_ranks_segment(size_t n_parts, size_t block)
{
    return (period_of(n_parts, block) + n_parts - 1) / n_parts;
}

/* Of slice i of n: periods are as thick as a block, the last one thinner, and each begins with
 * another process, so that none gets the odd slices of all of them. */
static size_t owner_of(size_t i, size_t n, size_t n_parts, size_t block)
{
    const size_t period = period_of(n_parts, block), at = i / period, left = n - at * period;
    const size_t slices = left < period ? left : period;

    return (i % period * n_parts / slices + at) % n_parts;
}

size_t fbp_ranks_owner(const struct fbp_job *job, size_t n_parts, size_t block, size_t z)
{
    const size_t at = fbp_roi_first(job, 2) + z;
    size_t z0, n;

    fbp_roi_slices(job, &z0, &n);
    return at >= z0 && at < z0 + n ? owner_of(at - z0, n, n_parts, block) : 0;
}
