#include "plan/cut.h"

#include "backend/partners.h"
#include "backend/slab.h"
#include "plan/roi.h"
#include "plan/wanted.h"

#include <math.h>

enum {
    VIEWS = 32,
    SIDE = 8,
    STEP = 16, /* layers: kernels take so many at a time; 511 + 513 took 12 % longer than 2 x 512 */
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

/* Cost of a slice of a layer, beside one that is seen in all views. */
static double cost_of(const struct fbp_job *job, size_t layer, double slice)
{
    const struct fbp_slab s = fbp_slab_asked(job, layer, 1);
    const struct fbp_grid *g = &job->grid;
    const double z = fbp_grid_coordinate(g, 2, slice);
    size_t seen = 0;

    for (size_t k = 0; k < VIEWS; k++)
        for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
            const size_t at[2] = {s.x0 + spread(i % SIDE, SIDE, s.nx),
                                  s.y0 + spread(i / SIDE, SIDE, s.ny)};
            const double x[3] = {fbp_grid_coordinate(g, 0, (double)at[0]),
                                 fbp_grid_coordinate(g, 1, (double)at[1]), z};
            seen += is_seen(job, spread(k, VIEWS, job->n_views), x);
        }
    return UNSEEN + (1 - UNSEEN) * fbp_wanted_share(job, &s, layer, layer + 1) * (double)seen /
                        (VIEWS * SIDE * SIDE);
}

void fbp_cut_find(const struct fbp_job *job, struct fbp_cut *out)
{
    size_t first, n;

    fbp_roi_layers(job, &first, &n);
    const double z0 = (double)fbp_layer_slice(job, first) - 0.5;
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

/* Of the first layers, as a share of all. */
static double cost_before(const struct fbp_cut *cut, double layers)
{
    const double at = layers * FBP_CUT_PARTS;
    const size_t i = at < FBP_CUT_PARTS ? (size_t)at : FBP_CUT_PARTS - 1;

    return cut->before[i] + (at - (double)i) * (cut->before[i + 1] - cut->before[i]);
}

double fbp_cut_cost(const struct fbp_cut *cut, size_t n, size_t l0, size_t l1)
{
    const double all = (double)n, a = (double)l0 / all, b = (double)l1 / all;

    if (cut->mean <= 0 || l0 >= l1)
        return 1;
    return (cost_before(cut, b) - cost_before(cut, a)) / (b - a) * cut->mean;
}

/* The share of the layers that holds this share of the cost. */
static double share_of(const struct fbp_cut *cut, double cost)
{
    size_t i = 0;

    while (i + 1 < FBP_CUT_PARTS && cut->before[i + 1] < cost)
        i++;
    const double part = (cost - cut->before[i]) / (cut->before[i + 1] - cut->before[i]);
    return ((double)i + part) / FBP_CUT_PARTS;
}

size_t fbp_cut_layer(const struct fbp_cut *cut, size_t n, size_t n_slabs, size_t i)
{
    const double at = share_of(cut, (double)i / (double)n_slabs) * (double)n;
    const size_t step = n / n_slabs >= (size_t)STEPS_A_SLAB * STEP ? STEP : 1;
    const size_t layer = (size_t)lround(at / (double)step) * step, most = n - (n_slabs - i);

    return i == n_slabs ? n : layer < i ? i : layer > most ? most : layer;
}
