#include "geometry/kind.h"

#include "base/status.h"

double fbp_grid_coordinate(const struct fbp_grid *g, int axis, double i)
{
    FBP_GIVEN_ELSE(NAN, g);
    return g->centre_mm[axis] + (i - ((double)g->n[axis] - 1) / 2) * g->voxel_mm[axis];
}

/* What the views see of the iso-centre's surroundings, averaged; lengths at the iso-centre. */
struct seen {
    double voxel;      /* column pitch */
    double columns;    /* from the axis to the farther edge of the panel, in pixels */
    double z_lo, z_hi; /* part of the z axis that falls on the rows */
};

static bool seen_by(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k,
                    struct seen *out)
{
    const struct fbp_view *view = &views->view[k];
    const struct fbp_panel *panel = &views->panel;
    double P[12];

    if (!kind->matrix(view, panel, P) || !(P[11] > 0))
        return false;
    const double column = P[3] / P[11];
    const double left = column + 0.5, right = (double)panel->n_columns - 0.5 - column;
    out->voxel = kind->pitch(view, P);
    out->columns = fmax(left, right);
    const double lo = -0.5, hi = (double)panel->n_rows - 0.5;
    const double a = (lo * P[11] - P[7]) / (P[6] - lo * P[10]);
    const double b = (hi * P[11] - P[7]) / (P[6] - hi * P[10]);
    out->z_lo = fmin(a, b);
    out->z_hi = fmax(a, b);
    return isfinite(a) && isfinite(b);
}

static struct seen seen_on_average(const struct fbp_kind_table *kind, const struct fbp_views *views)
{
    struct seen mean = {0}, one;
    size_t n = 0;

    for (size_t k = 0; k < views->n; k++) {
        if (!seen_by(kind, views, k, &one))
            continue;
        mean.voxel += one.voxel;
        mean.columns += one.columns;
        mean.z_lo += one.z_lo;
        mean.z_hi += one.z_hi;
        n++;
    }
    const double scale = n ? 1 / (double)n : 0;
    return (struct seen){mean.voxel * scale, mean.columns * scale, mean.z_lo * scale,
                         mean.z_hi * scale};
}

void fbp_line_grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                   struct fbp_grid *out)
{
    const struct seen seen = seen_on_average(kind, views);
    const double voxel = seen.voxel > 0 ? seen.voxel : 1;
    const double slack = 1e-6; /* a whole number of pixels stays that number after rounding */
    const double across = fmin(fmax(ceil(2 * seen.columns - slack), 1), 1e9);
    const double along = fmin(fmax(floor((seen.z_hi - seen.z_lo) / voxel + slack), 1), 1e9);
    const double middle = (seen.z_lo + seen.z_hi) / 2;

    *out = (struct fbp_grid){.n = {(size_t)across, (size_t)across, 1},
                             .voxel_mm = {voxel, voxel, voxel}};
    if (views->panel.n_rows > 1)
        out->n[2] = (size_t)(kind->has_source ? fmin(along, across) : along);
    out->centre_mm[2] = fabs(middle) > slack * voxel ? middle : 0;
}
