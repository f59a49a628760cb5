/* The slabs, batches and tasks of a division of the work, and cuts of a volume into slabs or parts
 * of equal cost.  Pure functions (division.h); division.c, plans and slabs.c call them. */
#include "backend/rows.h"
#include "backend/slab.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <math.h>

/* Longest time of one backprojection command, in seconds: an enqueued command cannot be stopped. */
static const double COMMAND_SECONDS = 0.03;

/* First slice of slab i, counted among the n slices that are computed. */
static size_t first_slice(const struct fbp_work *w, size_t n, size_t i)
{
    if (w->weighed)
        return fbp_cut_slice(&w->cut, n, w->n_slabs, i);
    return i * w->slab_slices < n ? i * w->slab_slices : n;
}

struct fbp_slab fbp_work_slab(const struct fbp_work *w, const struct fbp_job *job, size_t i)
{
    const size_t in_frame = i % w->n_slabs;
    size_t first, n;

    fbp_roi_slices(job, &first, &n);
    const size_t at = first_slice(w, n, in_frame);
    struct fbp_slab out = fbp_slab_asked(job, first + at, first_slice(w, n, in_frame + 1) - at);
    out.time_point = i / w->n_slabs;
    return out;
}

/* Sizes of batches, in groups of views: n_rising batches of 1, 2, 4 … < most groups (none if the
 * division is level), `rising` groups in total; then `even` batches that share the rest. */
struct ramp {
    size_t n_groups, most, n_rising, rising, even;
};

static struct ramp ramp_of(const struct fbp_work *w, const struct fbp_job *job)
{
    const size_t all = (job->n_views + w->group_views - 1) / w->group_views;
    const bool some = job->part.view_groups[1] > 0;
    struct ramp r = {.n_groups = some ? job->part.view_groups[1] - job->part.view_groups[0] : all,
                     .most = w->follow ? 1 : w->batch_views / w->group_views};

    for (size_t size = 1; !w->level && size < r.most && r.rising + size < r.n_groups; size *= 2) {
        r.n_rising++;
        r.rising += size;
    }
    r.even = (r.n_groups - r.rising + r.most - 1) / r.most;
    return r;
}

/* First group of batch b; of the batch after the last, the number of groups. */
static size_t first_group(const struct ramp *r, size_t b)
{
    if (b < r->n_rising)
        return ((size_t)1 << b) - 1;
    return r->rising + (r->n_groups - r->rising) * (b - r->n_rising) / r->even;
}

size_t fbp_work_own_views(const struct fbp_job *job, size_t group_views)
{
    const size_t first = job->part.view_groups[0] * group_views,
                 end = job->part.view_groups[1] * group_views;

    return job->part.view_groups[1] && end < job->n_views ? end - first : job->n_views - first;
}

size_t fbp_work_batches(const struct fbp_work *w, const struct fbp_job *job)
{
    const struct ramp r = ramp_of(w, job);

    return r.n_rising + r.even;
}

void fbp_work_views(const struct fbp_work *w, const struct fbp_job *job, size_t b, size_t *view0,
                    size_t *n)
{
    const struct ramp r = ramp_of(w, job);
    const size_t first = (job->part.view_groups[0] + first_group(&r, b)) * w->group_views;
    const size_t end = (job->part.view_groups[0] + first_group(&r, b + 1)) * w->group_views;

    *view0 = first / job->selection.symmetric_views;
    *n = (end < job->n_views ? end : job->n_views) - first;
}

/* Set [*r0, *r1) to the detector rows that slices [z0, z1) need of a batch's views; 0, 0: none. */
static void rows_of(const struct fbp_job *job, const struct fbp_batch *batch, size_t z0, size_t z1,
                    size_t *r0, size_t *r1)
{
    const size_t a_part = batch->n_views / job->selection.symmetric_views;

    *r0 = job->panel.n_rows;
    *r1 = 0;
    for (size_t k = 0; k < batch->n_views; k += a_part) {
        const size_t view = fbp_batch_view(job, batch, k);
        size_t first, end;
        job->rows(job, view, view + a_part, z0, z1, &first, &end);
        if (first < end && first < *r0)
            *r0 = first;
        if (first < end && end > *r1)
            *r1 = end;
    }
    if (*r0 >= *r1)
        *r0 = *r1 = 0;
}

/* If slices are so far apart that rows between them may not be needed, extend [*r0, *r1) up to the
 * rows of slice `next`: then the rows that are read do not depend on the number of slabs. */
static void carry_on(const struct fbp_job *job, const struct fbp_batch *batch, size_t next,
                     size_t *r0, size_t *r1)
{
    size_t first, n, n0, n1;

    fbp_roi_slices(job, &first, &n);
    if (!job->sparse || next >= first + n || *r0 == *r1)
        return;
    rows_of(job, batch, next, next + 1, &n0, &n1);
    if (n0 < n1 && n0 > *r1)
        *r1 = n0;
    if (n0 < n1 && n1 < *r0)
        *r0 = n1;
}

/* Set the rows of a batch that slices [z0, z1) need, and the rows to be read, with a margin. */
static void find_rows(const struct fbp_job *job, struct fbp_batch *batch, size_t z0, size_t z1)
{
    const size_t margin = job->filtering.prep->margin_rows + fbp_column_reach(job);
    size_t r1;

    rows_of(job, batch, z0, z1, &batch->row0, &r1);
    carry_on(job, batch, z1, &batch->row0, &r1);
    batch->n_rows = r1 - batch->row0;
    if (batch->n_rows > 0) {
        const size_t end = r1 + margin < job->panel.n_rows ? r1 + margin : job->panel.n_rows;
        batch->load_row0 = batch->row0 > margin ? batch->row0 - margin : 0;
        batch->load_rows = end - batch->load_row0;
    }
}

struct fbp_batch fbp_work_batch_of(const struct fbp_job *job, const struct fbp_slab *slab,
                                   size_t view0, size_t n_views)
{
    struct fbp_batch out = {.view0 = view0, .n_views = n_views, .time_point = slab->time_point};

    find_rows(job, &out, slab->z0, slab->z0 + slab->nz);
    return out;
}

struct fbp_batch fbp_work_all(const struct fbp_job *job)
{
    struct fbp_batch out = {.n_views = job->n_views, .resident = true};
    size_t first, n;

    fbp_roi_slices(job, &first, &n);
    find_rows(job, &out, first, first + n);
    return out;
}

struct fbp_batch fbp_work_batch(const struct fbp_work *w, const struct fbp_job *job,
                                const struct fbp_slab *slab, size_t b)
{
    struct fbp_batch out;
    size_t view0, n_views;

    fbp_work_views(w, job, b, &view0, &n_views);
    if (!w->kept)
        return fbp_work_batch_of(job, slab, view0, n_views);
    out = w->all;
    out.view0 = out.position = view0;
    out.n_views = n_views;
    return out;
}

bool fbp_task_block(const struct fbp_task *t, size_t i, size_t *z0, size_t *z1)
{
    const size_t n = (t->z1 - t->z0 + t->step - 1) / t->step, at = t->loads ? i : n - 1 - i;

    if (i >= n)
        return false;
    *z0 = t->z0 + at * t->step;
    *z1 = *z0 + t->step < t->z1 ? *z0 + t->step : t->z1;
    return true;
}

/* The task that backprojects all kept views into slices [z0, end) of a slab, which did not get the
 * views batch by batch.  Returns the number of tasks, 0 or 1. */
static size_t kept_tasks(const struct fbp_work *w, const struct fbp_slab *slab, size_t z0,
                         struct fbp_task *out)
{
    const size_t end = slab->z0 + slab->nz;

    if (z0 < end && out)
        *out = (struct fbp_task){.slab = *slab,
                                 .batch = w->all,
                                 .z0 = z0,
                                 .z1 = end,
                                 .step = w->finish_slices,
                                 .first = z0 == slab->z0,
                                 .last = true,
                                 .final = true};
    return z0 < end;
}

size_t fbp_work_tasks(const struct fbp_work *w, const struct fbp_job *job,
                      const struct fbp_slab *slab, bool first, struct fbp_task *out)
{
    const size_t streamed = w->kept && w->streamed < slab->nz ? w->streamed : slab->nz;

    if (w->kept && !first)
        return kept_tasks(w, slab, slab->z0, out);
    for (size_t b = 0; out && b < w->n_batches; b++) {
        const bool last = b + 1 == w->n_batches;
        out[b] = (struct fbp_task){.slab = *slab,
                                   .batch = fbp_work_batch(w, job, slab, b),
                                   .z0 = slab->z0,
                                   .z1 = slab->z0 + streamed,
                                   .step = last ? w->finish_slices : streamed,
                                   .loads = true,
                                   .first = b == 0,
                                   .last = last && streamed == slab->nz,
                                   .final = last};
    }
    return w->n_batches + kept_tasks(w, slab, slab->z0 + streamed, out ? out + w->n_batches : NULL);
}

size_t fbp_work_views_at_once(const struct fbp_work *w, double voxels)
{
    const double views = COMMAND_SECONDS / (w->update * voxels);

    if (!(views < (double)(SIZE_MAX / 2))) /* the rate is not known, or the device is fast */
        return SIZE_MAX / 2;
    const size_t groups = (size_t)views / w->group_views;
    return (groups ? groups : 1) * w->group_views;
}

enum {
    VIEWS = 32, /* sampled views */
    SIDE = 8,   /* sampled voxels per side of a slice */
    STEP = 16,  /* slices per pass of a kernel; 511 + 513 slices took 12 % longer than 2 x 512 */
    STEPS_A_SLAB = 8, /* slabs of fewer steps are not cut at multiples of STEP */
};

/* Cost of a voxel that no view sees or that lies outside the region, relative to one that all views
 * see: it is cleared, fetched and written. */
static const double UNSEEN = 0.3;

/* Does the ray of view k through the point x (mm) meet the detector? */
static bool is_seen(const struct fbp_job *job, size_t k, const double x[3])
{
    const double *m = job->matrices[k];
    const double w = m[8] * x[0] + m[9] * x[1] + m[10] * x[2] + m[11];
    const double u = (m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]) / w;
    const double v = (m[4] * x[0] + m[5] * x[1] + m[6] * x[2] + m[7]) / w;

    return w > 0 && u > -1 && u < (double)job->padded.panel.n_columns && v > -1 &&
           v < (double)job->padded.panel.n_rows;
}

/* Sample i of `samples` that are spread evenly over n. */
static size_t spread(size_t i, size_t samples, size_t n)
{
    return (2 * i + 1) * n / (2 * samples);
}

/* Cost of a slice, relative to one whose voxels all views see.  at_z: position along z, in slices,
 * at which voxels are sampled. */
static double cost_of(const struct fbp_job *job, size_t slice, double at_z)
{
    const struct fbp_slab s = fbp_slab_asked(job, slice, 1);
    const struct fbp_grid *g = &job->grid;
    const double z = fbp_grid_coordinate(g, 2, at_z);
    size_t seen = 0;

    for (size_t k = 0; k < VIEWS; k++)
        for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
            const size_t at[2] = {s.x0 + spread(i % SIDE, SIDE, s.nx),
                                  s.y0 + spread(i / SIDE, SIDE, s.ny)};
            const double x[3] = {fbp_grid_coordinate(g, 0, (double)at[0]),
                                 fbp_grid_coordinate(g, 1, (double)at[1]), z};
            seen += is_seen(job, spread(k, VIEWS, job->n_views), x);
        }
    return UNSEEN + (1 - UNSEEN) * fbp_wanted_share(job, &s, slice, slice + 1) * (double)seen /
                        (VIEWS * SIDE * SIDE);
}

void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out)
{
    size_t first, n;

    fbp_roi_slices(job, &first, &n);
    const double z0 = (double)first - 0.5;
    out->before[0] = 0;
    for (size_t i = 0; i < FBP_CUT_PARTS; i++) {
        const double middle = ((double)i + 0.5) * (double)n / FBP_CUT_PARTS;
        out->before[i + 1] = out->before[i] + cost_of(job, first + (size_t)middle, z0 + middle);
    }
    const double all = out->before[FBP_CUT_PARTS];
    out->mean = all / FBP_CUT_PARTS;
    for (size_t i = 1; i <= FBP_CUT_PARTS; i++)
        out->before[i] /= all;
}

/* Fraction of the total cost that the first `share` (0 to 1) of the slices have. */
static double cost_before(const struct fbp_cut *cut, double share)
{
    const double at = share * FBP_CUT_PARTS;
    const size_t i = at < FBP_CUT_PARTS ? (size_t)at : FBP_CUT_PARTS - 1;

    return cut->before[i] + (at - (double)i) * (cut->before[i + 1] - cut->before[i]);
}

double fbp_cut_cost(const struct fbp_cut *cut, size_t n, size_t z0, size_t z1)
{
    const double all = (double)n, a = (double)z0 / all, b = (double)z1 / all;

    if (cut->mean <= 0 || z0 >= z1)
        return 1;
    return (cost_before(cut, b) - cost_before(cut, a)) / (b - a) * cut->mean;
}

/* Inverse of cost_before(): fraction of the slices that has this fraction of the cost. */
static double share_of(const struct fbp_cut *cut, double cost)
{
    size_t i = 0;

    while (i + 1 < FBP_CUT_PARTS && cut->before[i + 1] < cost)
        i++;
    const double part = (cost - cut->before[i]) / (cut->before[i + 1] - cut->before[i]);
    return ((double)i + part) / FBP_CUT_PARTS;
}

size_t fbp_cut_slice(const struct fbp_cut *cut, size_t n, size_t n_slabs, size_t i)
{
    const double at = share_of(cut, (double)i / (double)n_slabs) * (double)n;
    const size_t step = n / n_slabs >= (size_t)STEPS_A_SLAB * STEP ? STEP : 1;
    const size_t slice = (size_t)lround(at / (double)step) * step, most = n - (n_slabs - i);

    return i == n_slabs ? n : slice < i ? i : slice > most ? most : slice;
}

/* The slices that are computed, [first, first + n), and the number of parts. */
struct parts {
    const struct fbp_job *whole;
    struct fbp_cut cut;
    size_t first, n, n_parts;
};

/* First slice of part i, from 0, if parts have equal cost. */
static size_t by_cost(const struct parts *p, size_t i)
{
    return p->whole->matrices ? fbp_cut_slice(&p->cut, p->n, p->n_parts, i) : i * p->n / p->n_parts;
}

/* Distance in slices from slice z of the grid to the nearest border between files of the output;
 * negative: downwards. */
static ptrdiff_t to_border(const struct fbp_job *job, size_t z)
{
    const size_t files = job->part.slices_per_file, beyond = (z - fbp_roi_first(job, 2)) % files;

    return 2 * beyond <= files ? -(ptrdiff_t)beyond : (ptrdiff_t)(files - beyond);
}

/* First slice of part i, from 0.  It moves to a border between files if that is not farther than an
 * eighth of the smaller neighbouring part: each part keeps at least three quarters. */
static size_t cut_at(const struct parts *p, size_t i)
{
    const size_t at = by_cost(p, i);

    if (!p->whole->part.slices_per_file || i == 0 || i == p->n_parts)
        return at;
    const size_t below = at - by_cost(p, i - 1), above = by_cost(p, i + 1) - at;
    const ptrdiff_t move = to_border(p->whole, p->first + at);
    const size_t far = (size_t)(move < 0 ? -move : move), least = below < above ? below : above;
    return far <= least / 8 ? at + (size_t)move : at;
}

/* Fail if there are more parts than slices. */
static fbp_status check_number(struct fbp_part_of of, size_t n)
{
    if (of.n_parts <= n)
        return FBP_OK;
    if (n == 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "part %zu of %zu: there is only one slice to compute: leave the parts out",
                        of.part, of.n_parts);
    return fbp_fail(FBP_ERR_INVALID,
                    "part %zu of %zu: there are only %zu slices to share out: give at most %zu "
                    "parts",
                    of.part, of.n_parts, n, n);
}

fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2])
{
    struct fbp_job whole = *job;
    struct parts parts = {.whole = &whole, .n_parts = of.n_parts};

    whole.part.slices[0] = whole.part.slices[1] = 0;
    fbp_roi_slices(&whole, &parts.first, &parts.n);
    FBP_TRY(check_number(of, parts.n));
    if (job->matrices)
        fbp_cut_find(&whole, &parts.cut);
    for (size_t i = 0; i < 2; i++)
        share[i] = cut_at(&parts, of.part - 1 + i);
    return FBP_OK;
}
