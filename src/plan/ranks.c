#include "plan/ranks.h"

#include "plan/part_layers.h"
#include "plan/roi.h"
#include "plan/work.h"

/* In updates of a voxel by a view: what it takes to read and filter a sample, and to send a voxel
 * and add it to another one.  Of the CPU, in whole numbers; GPUs compute faster beside both. */
static const double SAMPLE_COST = 10, VOXEL_COST = 10;

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

/* Samples that a run of layers needs, of all views. */
static double samples_of(const struct fbp_job *job, size_t first, size_t n)
{
    const struct fbp_slab slab = {.z0 = first, .nz = n};
    const struct fbp_batch all = fbp_work_batch_of(job, &slab, 0, job->n_views);

    return (double)(all.load_rows * fbp_halves(job)) * (double)job->panel.n_columns *
           (double)job->n_views;
}

/* Of the process that has most to do in a grid. */
static double cost_of(const struct fbp_job *whole, size_t n_groups, size_t n_slabs, size_t n_parts)
{
    size_t first, n;

    fbp_roi_layers(whole, &first, &n);
    const size_t layers = (n + n_slabs - 1) / n_slabs, groups = (n_groups + n_parts - 1) / n_parts;
    const double slice = (double)fbp_roi_size(whole, 0) * (double)fbp_roi_size(whole, 1) *
                         (double)fbp_halves(whole) * (double)fbp_frames(whole);
    const double voxels = slice * (double)layers, views = (double)groups / (double)n_groups;
    const size_t middle = whole->mirrored ? first : first + (n - layers) / 2;

    return voxels * (double)whole->n_views * views +
           SAMPLE_COST * samples_of(whole, middle, layers) * views +
           VOXEL_COST * voxels * (double)(n_parts - 1);
}

static fbp_status check_parts(const struct fbp_job *job, size_t n_groups, size_t size,
                              size_t n_parts)
{
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
                        "view_ranks: there are only %zu groups of views to share out: give at most "
                        "as many",
                        n_groups);
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

fbp_status fbp_ranks_choose(const struct fbp_job *job, size_t group_views, size_t rank, size_t size,
                            size_t n_parts, struct fbp_ranks *out)
{
    const struct fbp_job whole = whole_of(job);
    const size_t n_groups = groups_of(job, group_views);
    const size_t most = fbp_in_double(job) ? 1 : size < n_groups ? size : n_groups;
    const double alone = cost_of(&whole, n_groups, 1, 1);
    size_t first, n;

    FBP_TRY(check_parts(job, n_groups, size, n_parts));
    fbp_roi_layers(&whole, &first, &n);
    *out = (struct fbp_ranks){.n_slabs = 1, .n_parts = 1};
    for (size_t parts = 1; parts <= most; parts++) {
        const size_t slabs = size / parts < n ? size / parts : n;
        consider(slabs, parts, cost_of(&whole, n_groups, slabs, parts) / alone,
                 n_parts == 0 || parts == n_parts, out);
    }
    out->idle = rank >= out->n_slabs * out->n_parts;
    out->slab = out->idle ? 0 : rank / out->n_parts;
    out->part = rank % out->n_parts;
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
    size_t z0, z1;

    for (size_t half = 0; half < fbp_halves(job); half++) {
        fbp_roi_share(job, half, &z0, &z1);
        if (at >= z0 && at < z1)
            return owner_of(at - z0, z1 - z0, n_parts, block);
    }
    return 0;
}
