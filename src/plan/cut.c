#include "plan/cut.h"

#include "backend/slab.h"
#include "plan/roi.h"
#include "plan/wanted.h"

#include <math.h>

enum {
    VIEWS = 32,
    SIDE = 8,
    STEP = 16, /* slices that kernels take at a time; 511 + 513 took 12 % longer than 2 x 512 */
    STEPS_A_SLAB = 8,
};

/* Of a voxel that no view sees or nobody wants, beside one that all see: it is cleared, fetched and
 * written. */
static const double UNSEEN = 0.3;

/* Does view k see the point x (mm)? */
static bool is_seen(const struct fbp_job *job, size_t k, const double x[3])
{
    const double *m = job->matrices[k];
    const double w = m[8] * x[0] + m[9] * x[1] + m[10] * x[2] + m[11];
    const double u = (m[0] * x[0] + m[1] * x[1] + m[2] * x[2] + m[3]) / w;
    const double v = (m[4] * x[0] + m[5] * x[1] + m[6] * x[2] + m[7]) / w;

    return w > 0 && u > -1 && u < (double)job->wide.n_columns && v > -1 &&
           v < (double)job->wide.n_rows;
}

static size_t spread(size_t i, size_t samples, size_t n)
{
    return (2 * i + 1) * n / (2 * samples);
}

/* Cost of a slice, beside one that is seen in all views; at_z: slices, where its voxels are
 * sampled. */
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

/* The share of the cost of the first slices; `share` of them. */
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

/* The share of the slices that has this share of the cost. */
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

/* The slices that are computed, and the number of parts. */
struct parts {
    const struct fbp_job *whole;
    struct fbp_cut cut;
    size_t first, n, n_parts;
};

static size_t by_cost(const struct parts *p, size_t i)
{
    return p->whole->matrices ? fbp_cut_slice(&p->cut, p->n, p->n_parts, i) : i * p->n / p->n_parts;
}

/* Slices from slice z of the grid up to the nearest border of files of the output; negative: down.
 */
static ptrdiff_t to_border(const struct fbp_job *job, size_t z)
{
    const size_t files = job->same_files, beyond = (z - fbp_roi_first(job, 2)) % files;

    return 2 * beyond <= files ? -(ptrdiff_t)beyond : (ptrdiff_t)(files - beyond);
}

/* The first slice of part i, from 0.  It is moved to a border of files if that is no farther than
 * an eighth of the parts on both sides of it, so that each part keeps at least three quarters. */
static size_t cut_at(const struct parts *p, size_t i)
{
    const size_t at = by_cost(p, i);

    if (!p->whole->same_files || i == 0 || i == p->n_parts)
        return at;
    const size_t below = at - by_cost(p, i - 1), above = by_cost(p, i + 1) - at;
    const ptrdiff_t move = to_border(p->whole, p->first + at);
    const size_t far = (size_t)(move < 0 ? -move : move), least = below < above ? below : above;
    return far <= least / 8 ? at + (size_t)move : at;
}

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

    whole.share[0] = whole.share[1] = 0;
    fbp_roi_slices(&whole, &parts.first, &parts.n);
    FBP_TRY(check_number(of, parts.n));
    if (job->matrices)
        fbp_cut_find(&whole, &parts.cut);
    for (size_t i = 0; i < 2; i++)
        share[i] = cut_at(&parts, of.part - 1 + i);
    return FBP_OK;
}
