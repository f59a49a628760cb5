/* Symmetries, read off the matrices: (c, r, 1) w = P (x, y, z, 1). */
#include "geometry/kind.h"

static const double TOLERANCE = 1e-9;

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= TOLERANCE * scale;
}

/* u and w do not contain z. */
static bool column(const double P[12])
{
    return near(P[2], 0, fbp_norm(P)) && near(P[10], 0, fmax(fbp_norm(P + 8), 1e-300));
}

/* b is a after this many quarter turns about z: -1, 1, 2. */
static bool turned3(const double a[3], const double b[3], int quarters)
{
    const double x = quarters == 2 ? -a[0] : -quarters * a[1];
    const double y = quarters == 2 ? -a[1] : quarters * a[0];
    const double scale = fbp_norm(a);

    return near(b[0], x, scale) && near(b[1], y, scale) && near(b[2], a[2], scale);
}

static bool turned(const struct fbp_view *views, size_t n, int quarters)
{
    const size_t fraction = quarters == 2 ? 2 : 4;

    if (n % fraction)
        return false;
    for (size_t k = 0; k < n; k++) {
        const struct fbp_view *a = &views[k], *b = &views[(k + n / fraction) % n];
        if (!turned3(a->s, b->s, quarters) || !turned3(a->d, b->d, quarters) ||
            !turned3(a->u, b->u, quarters) || !turned3(a->v, b->v, quarters))
            return false;
    }
    return true;
}

static bool centred(const struct fbp_grid *g, int axis)
{
    return near(g->centre_mm[axis], 0, g->voxel_mm[axis]);
}

unsigned fbp_symmetry_of(const struct fbp_kind_table *kind, const struct fbp_views *views,
                         const struct fbp_grid *grid)
{
    const bool axial = !grid || (centred(grid, 0) && centred(grid, 1));
    const bool square = !grid || (grid->n[0] == grid->n[1] &&
                                  near(grid->voxel_mm[0], grid->voxel_mm[1], grid->voxel_mm[0]));
    bool columns = true;

    for (size_t k = 0; k < views->n && columns; k++) {
        double P[12];
        columns = kind->matrix(&views->view[k], &views->panel, P) && column(P);
    }
    unsigned flags = 0;
    flags |= columns ? FBP_SYM_COLUMN : 0u;
    flags |= axial && turned(views->view, views->n, 2) ? FBP_SYM_ROT180 : 0u;
    if (axial && square && (turned(views->view, views->n, 1) || turned(views->view, views->n, -1)))
        flags |= FBP_SYM_ROT90;
    return flags;
}
