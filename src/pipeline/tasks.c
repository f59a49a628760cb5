/* Division of the work of a reconstruction: slabs of slices, batches of views, and tasks
 * (fbp_work_tasks()), each of which backprojects one batch into one slab. fbp_cut_…() and
 * fbp_part_share() cut a volume into slabs, or into parts for processes, of about equal cost.
 * Plans, runs and benchmarks use these functions (division.h).
 * Used by: bench/common/, bench/kernels/, pipeline/. */
#include "backend/rows.h"
#include "backend/slab.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <math.h>

/* Longest planned time of a backprojection command [s]: enqueued commands cannot be stopped. */
static const double COMMAND_SECONDS = 0.03;

/* ---- Cuts of a volume into slabs or parts of equal cost ---- */

enum {
    VIEWS = 32, /* number of sampled views */
    SIDE = 8,   /* number of sampled voxels per side of a slice */
    STEP = 16,  /* slices per pass of a kernel; slabs of 511 + 513 took 12 % longer than 2 x 512 */
    /* slabs of at least STEPS_A_SLAB * STEP slices on average end at multiples of STEP */
    STEPS_A_SLAB = 8,
};

/* Cost of a voxel that no view sees or that lies outside the region, which is only cleared, fetched
 * and written, relative to a voxel that all views see. */
static const double UNSEEN = 0.3;

/* Index of the element for sample i if `samples` samples are spread evenly over n elements. */
static size_t spread(size_t i, size_t samples, size_t n)
{
    return (2 * i + 1) * n / (2 * samples);
}

void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out)
{
    const struct fbp_grid *g = &job->grid;
    size_t first, n;

    fbp_job_slices(job, &first, &n);
    out->before[0] = 0;
    for (size_t part = 0; part < FBP_CUT_PARTS; part++) {
        const double middle = ((double)part + 0.5) * (double)n / FBP_CUT_PARTS;
        const size_t slice = first + (size_t)middle;
        const struct fbp_slab s = fbp_slab_asked(job, slice, 1);
        const double z = fbp_grid_coordinate(g, 2, (double)first - 0.5 + middle);
        size_t seen = 0; /* number of samples whose rays meet the panel */
        for (size_t k = 0; k < VIEWS; k++) {
            const double *m = job->matrices[spread(k, VIEWS, job->n_views)];
            for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
                const size_t column = s.x0 + spread(i % SIDE, SIDE, s.nx);
                const size_t row = s.y0 + spread(i / SIDE, SIDE, s.ny);
                const double x = fbp_grid_coordinate(g, 0, (double)column);
                const double y = fbp_grid_coordinate(g, 1, (double)row);
                const double w = m[8] * x + m[9] * y + m[10] * z + m[11];
                const double u = (m[0] * x + m[1] * y + m[2] * z + m[3]) / w;
                const double v = (m[4] * x + m[5] * y + m[6] * z + m[7]) / w;
                seen += w > 0 && u > -1 && u < (double)job->padded.panel.n_columns && v > -1 &&
                        v < (double)job->padded.panel.n_rows;
            }
        }
        const double cost = UNSEEN + (1 - UNSEEN) * fbp_wanted_share(job, &s, slice, slice + 1) *
                                         (double)seen / (VIEWS * SIDE * SIDE);
        out->before[part + 1] = out->before[part] + cost;
    }
    const double all = out->before[FBP_CUT_PARTS];
    out->mean = all / FBP_CUT_PARTS;
    for (size_t i = 1; i <= FBP_CUT_PARTS; i++)
        out->before[i] /= all;
}

/* Fraction of the volume's cost that its first slices have; share: fraction of the slices. */
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

/* First slice of part i of n slices in n_parts parts of equal cost and at least one slice. */
static size_t cut_slice(const struct fbp_cut *cut, size_t n, size_t n_parts, size_t i)
{
    const double cost = (double)i / (double)n_parts;
    const size_t step = n / n_parts >= (size_t)STEPS_A_SLAB * STEP ? STEP : 1;
    size_t k = 0; /* `cost` lies between before[k] and before[k + 1] */

    while (k + 1 < FBP_CUT_PARTS && cut->before[k + 1] < cost)
        k++;
    const double beyond = (cost - cut->before[k]) / (cut->before[k + 1] - cut->before[k]);
    const double at = ((double)k + beyond) / FBP_CUT_PARTS * (double)n;
    const size_t slice = (size_t)lround(at / (double)step) * step, most = n - (n_parts - i);
    return i == n_parts ? n : slice < i ? i : slice > most ? most : slice;
}

/* ---- Slabs, batches and tasks ---- */

/* First slice of slab i, counted from the first of the n slices that are computed. */
static size_t first_slice(const struct fbp_work *w, size_t n, size_t i)
{
    if (w->weighed)
        return cut_slice(&w->cut, n, w->n_slabs, i);
    return i * w->slab_slices < n ? i * w->slab_slices : n;
}

struct fbp_slab fbp_work_slab(const struct fbp_work *w, const struct fbp_job *job, size_t i)
{
    const size_t in_frame = i % w->n_slabs;
    size_t first, n;

    fbp_job_slices(job, &first, &n);
    const size_t at = first_slice(w, n, in_frame);
    struct fbp_slab out = fbp_slab_asked(job, first + at, first_slice(w, n, in_frame + 1) - at);
    out.time_point = i / w->n_slabs;
    return out;
}

/* Sizes of batches, in groups of group_views views.  The first n_rising batches have 1, 2, 4 …
 * groups, each less than `most`, together `rising`.  Then `even` batches of at most `most` groups
 * share the rest of the n_groups groups.  n_rising is 0 if all batches are to be equal. */
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

/* First view of batch b, in groups of group_views views, counted from the first view that this
 * process backprojects; if b is the number of batches, the end of the last batch. */
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

/* Set [*r0, *r1) to the detector rows of a batch that slices [z0, z1) need; both 0: none. */
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

/* Set the detector rows of a batch that slices [z0, z1) need, and the rows to be read, which
 * include a margin for the interpolation of bad pixels and for filters along columns. */
static void find_rows(const struct fbp_job *job, struct fbp_batch *batch, size_t z0, size_t z1)
{
    const size_t margin = job->filtering.prep->margin_rows + fbp_column_reach(job);
    size_t r1, first, n, next[2];

    rows_of(job, batch, z0, z1, &batch->row0, &r1);
    fbp_job_slices(job, &first, &n);
    /* If slices are so far apart that no slice needs some of the detector rows, add the rows up to
     * those that slice z1 needs: the rows that are read must not depend on the number of slabs. */
    if (job->sparse && z1 < first + n && batch->row0 < r1) {
        rows_of(job, batch, z1, z1 + 1, &next[0], &next[1]);
        if (next[0] < next[1] && next[0] > r1)
            r1 = next[0];
        if (next[0] < next[1] && next[1] < batch->row0)
            batch->row0 = next[1];
    }
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

    fbp_job_slices(job, &first, &n);
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

size_t fbp_work_tasks(const struct fbp_work *w, const struct fbp_job *job,
                      const struct fbp_slab *slab, bool first, struct fbp_task *out)
{
    const size_t n = w->kept && !first ? 0 : w->n_batches;
    const size_t streamed = n == 0 ? 0 : w->kept && w->streamed < slab->nz ? w->streamed : slab->nz;

    for (size_t b = 0; out && b < n; b++) {
        const bool last = b + 1 == n;
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
    if (streamed == slab->nz)
        return n;
    if (out) /* last task: all kept views, into all other slices */
        out[n] = (struct fbp_task){.slab = *slab,
                                   .batch = w->all,
                                   .z0 = slab->z0 + streamed,
                                   .z1 = slab->z0 + slab->nz,
                                   .step = w->finish_slices,
                                   .first = streamed == 0,
                                   .last = true,
                                   .final = true};
    return n + 1;
}

size_t fbp_work_views_at_once(const struct fbp_work *w, double voxels)
{
    const double views = COMMAND_SECONDS / (w->update * voxels);

    /* no limit of the views per command, if the device's speed is not known or very high */
    if (!(views < (double)(SIZE_MAX / 2)))
        return SIZE_MAX / 2;
    const size_t groups = (size_t)views / w->group_views;
    return (groups ? groups : 1) * w->group_views;
}

/* First slice of part i (counted from 0) if n slices are cut into n_parts parts: parts of equal
 * cost, or of equal thickness if the job has no projection matrices. */
static size_t part_slice(const struct fbp_job *job, const struct fbp_cut *cut, size_t n,
                         size_t n_parts, size_t i)
{
    return job->matrices ? cut_slice(cut, n, n_parts, i) : i * n / n_parts;
}

fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2])
{
    const size_t per_file = job->part.slices_per_file, n_parts = of.n_parts;
    struct fbp_job whole = *job;
    struct fbp_cut cut = {.mean = 0};
    size_t first, n;

    whole.part.slices[0] = whole.part.slices[1] = 0;
    fbp_job_slices(&whole, &first, &n);
    if (n_parts > n && n == 1)
        return FBP_INVALID("part %zu of %zu: there is only one slice to compute; omit the parts",
                           of.part, n_parts);
    if (n_parts > n)
        return FBP_INVALID(
            "part %zu of %zu: there are only %zu slices to divide; give at most %zu parts", of.part,
            n_parts, n, n);
    if (job->matrices)
        fbp_cut_find(&whole, &cut);
    for (size_t end = 0; end < 2; end++) {
        const size_t i = of.part - 1 + end, at = part_slice(job, &cut, n, n_parts, i);
        share[end] = at;
        if (!per_file || i == 0 || i == n_parts)
            continue;
        /* Move the border between two parts to the nearest border between output files, if that is
         * at most an eighth of the smaller part away: each part keeps at least three quarters. */
        const size_t below = at - part_slice(job, &cut, n, n_parts, i - 1);
        const size_t above = part_slice(job, &cut, n, n_parts, i + 1) - at;
        const size_t least = below < above ? below : above;
        const size_t beyond = (first + at - fbp_box_first(job, 2)) % per_file;
        const bool down = 2 * beyond <= per_file;
        const size_t distance = down ? beyond : per_file - beyond;
        if (distance <= least / 8)
            share[end] = down ? at - distance : at + distance;
    }
    return FBP_OK;
}
