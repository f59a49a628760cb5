/* Which detector rows a slab needs. */
#include "geometry/kind.h"

/* More than rounding in float can move a projected row. */
static const double MARGIN_PX = 1e-3;

struct range {
    double lo, hi;
};

static void box_corners(const struct fbp_grid *g, size_t z0, size_t z1, double out[8][3])
{
    for (int i = 0; i < 8; i++) {
        const double last[2] = {(double)g->n[0] - 1, (double)g->n[1] - 1};
        out[i][0] = fbp_grid_coordinate(g, 0, i & 1 ? last[0] : 0);
        out[i][1] = fbp_grid_coordinate(g, 1, i & 2 ? last[1] : 0);
        out[i][2] = fbp_grid_coordinate(g, 2, i & 4 ? (double)z1 - 1 : (double)z0);
    }
}

/* Widen by one view.  The row is a quotient of linear functions, so that over a box in front of
 * the source its extremes lie at corners; false if the box is not all in front. */
static bool widen(struct range *range, const struct fbp_kind_table *kind,
                  const struct fbp_views *views, size_t k, double corners[8][3])
{
    double P[12];

    if (!kind->matrix(&views->view[k], &views->panel, P))
        return false;
    for (int i = 0; i < 8; i++) {
        const double w = fbp_dot(P + 8, corners[i]) + P[11];
        const double row = (fbp_dot(P + 4, corners[i]) + P[7]) / w;
        if (!(w > 0) || !isfinite(row))
            return false;
        range->lo = fmin(range->lo, row);
        range->hi = fmax(range->hi, row);
    }
    return true;
}

void fbp_line_rows(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                   size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                   size_t *r1)
{
    const double n_rows = (double)views->panel.n_rows;
    struct range range = {INFINITY, -INFINITY};
    double corners[8][3];

    *r0 = 0;
    *r1 = 0;
    if (z0 >= z1 || k0 >= k1)
        return;
    *r1 = views->panel.n_rows;
    box_corners(grid, z0, z1, corners);
    for (size_t k = k0; k < k1; k++)
        if (!widen(&range, kind, views, k, corners))
            return;
    /* taps: floor and floor + 1 */
    const double first = floor(range.lo - MARGIN_PX);
    const double end = floor(range.hi + MARGIN_PX) + 2;
    *r0 = (size_t)fmin(fmax(first, 0), n_rows);
    *r1 = (size_t)fmin(fmax(end, 0), n_rows);
    if (*r0 >= *r1)
        *r0 = *r1 = 0;
}
