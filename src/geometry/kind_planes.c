/*
 * Plane integrals along one direction a view, as EPR imaging measures them: p(t, n) is the integral
 * over the plane x . n = t.  A view is a row: sample c stands for t = d . n + (c - (nc-1)/2) tau,
 * with u = tau n.  There is no source, s = 0, and rows are not places: v = 0.
 * Several rows are frames: the same plane integrals at several delays, each a volume of its own.
 */
#include "geometry/kind.h"

#include "base/mem.h"
#include "base/stop.h"
#include "geometry/sphere.h"

#include <string.h>

/* Directions leave a gap where a point of the sphere is farther from all of them than this, in
 * units of the side of the square that each stands for. */
static const double GAP = 1.5;

static fbp_status check_view(const struct fbp_view *view, size_t k)
{
    if (fbp_norm(view->s) > 0 || fbp_norm(view->v) > 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: view %zu: plane integrals have no source and no rows: s and v "
                        "have to be 0",
                        k);
    return FBP_OK;
}

/* Rows (n/tau, -t0/tau), 0, (0, 0, 0, 1). */
static bool matrix(const struct fbp_view *view, const struct fbp_panel *panel, double P[12])
{
    const double square = fbp_dot(view->u, view->u);

    memset(P, 0, 12 * sizeof *P);
    for (int i = 0; i < 3; i++)
        P[i] = view->u[i] / square;
    P[3] = ((double)panel->n_columns - 1) / 2 - fbp_dot(view->d, view->u) / square;
    P[11] = 1;
    return square > 0 && isfinite(P[0] + P[1] + P[2] + P[3]);
}

/* The distance of samples, which a unit vector's rounding is not to be seen in. */
static double spacing_of(const struct fbp_view *view)
{
    const double step = fbp_norm(view->u), digits = pow(10, 12 - ceil(log10(step)));

    return step > 0 && isfinite(digits) ? round(step * digits) / digits : step;
}

/* From where to where a view reaches, to the samples' outer edges. */
static void reach_of(const struct fbp_view *view, const struct fbp_panel *panel, double t[2])
{
    const double step = spacing_of(view), middle = fbp_dot(view->d, view->u) / step;

    for (int i = 0; i < 2; i++)
        t[i] = middle + (i ? 1 : -1) * (double)panel->n_columns / 2 * step;
}

fbp_status fbp_planes_directions(const struct fbp_view *views, size_t n, double (**out)[3])
{
    FBP_TRY(fbp_calloc((void **)out, n, sizeof **out, "directions"));
    for (size_t k = 0; k < n; k++) {
        memcpy((*out)[k], views[k].u, sizeof **out);
        fbp_normalise((*out)[k]);
    }
    return FBP_OK;
}

static fbp_status look_at_views(const struct fbp_kind_table *kind, const struct fbp_views *views,
                                struct fbp_geometry_facts *out, double (*direction)[3])
{
    double t[2];

    out->fov_radius_mm = INFINITY;
    for (size_t k = 0; k < views->n; k++) {
        const struct fbp_view *v = &views->view[k];
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_check_view(kind, v, k));
        memcpy(direction[k], v->u, sizeof *direction);
        fbp_normalise(direction[k]);
        const double step = spacing_of(v);
        reach_of(v, &views->panel, t);
        out->edge_mm[0] = k ? fmin(out->edge_mm[0], t[0]) : t[0];
        out->edge_mm[1] = k ? fmax(out->edge_mm[1], t[1]) : t[1];
        out->fov_radius_mm = fmin(out->fov_radius_mm, fmin(-t[0], t[1]));
        out->spacing_mm = k ? fmin(out->spacing_mm, step) : step;
    }
    return FBP_OK;
}

/* How far apart directions are, and how large an object so many of them show without streaks: as
 * many as n rings of equal solid angle have, 2 n^2 / pi, serve a radius of n tau / pi. */
static void look_at_sphere(const struct fbp_sphere *sphere, struct fbp_geometry_facts *out)
{
    const double n = (double)sphere->different, rings = sqrt(FBP_PI * n / 2);

    out->n_angles = sphere->different;
    out->step_rad[0] = out->step_rad[1] = out->step_rad[2] = 2 * sphere->usual_rad;
    out->direction_gap_rad = 2 * sphere->hole_rad;
    out->gap_rad = sphere->hole_rad > GAP * sqrt(2 * FBP_PI / n) ? 2 * sphere->hole_rad : 0;
    out->coverage = out->gap_rad > 0 ? FBP_COVERAGE_PARTIAL : FBP_COVERAGE_FULL;
    out->alias_free_mm = rings * out->spacing_mm / FBP_PI;
}

static fbp_status check_reach(const struct fbp_views *views, const struct fbp_geometry_facts *f)
{
    double t[2];

    for (size_t k = 0; k < views->n && !(f->fov_radius_mm > 0); k++) {
        reach_of(&views->view[k], &views->panel, t);
        if (!(fmin(-t[0], t[1]) > 0))
            return fbp_fail(FBP_ERR_INVALID,
                            "geometry: view %zu: its samples reach from %.6g to %.6g mm, not over "
                            "0, the middle of the apparatus: check the place of the first sample",
                            k, t[0], t[1]);
    }
    return FBP_OK;
}

/* Does every view reach over the corners of the grid? */
static void look_at_volume(const struct fbp_views *views, const struct fbp_grid *g,
                           struct fbp_geometry_facts *out)
{
    out->volume_inside = true;
    for (int i = 0; i < 8; i++) {
        double x[3], P[12];
        for (int a = 0; a < 3; a++)
            x[a] = fbp_grid_coordinate(g, a, i >> a & 1 ? (double)g->n[a] - 1 : 0);
        out->volume_radius_mm = fmax(out->volume_radius_mm, fbp_norm(x));
        for (size_t k = 0; k < views->n; k++) {
            const double last = (double)views->panel.n_columns - 0.5;
            const double at = matrix(&views->view[k], &views->panel, P) ? fbp_dot(P, x) + P[3] : 0;
            out->volume_inside = out->volume_inside && at >= -0.5 && at <= last;
        }
    }
}

static fbp_status facts(const struct fbp_kind_table *kind, const struct fbp_views *views,
                        const struct fbp_grid *grid, struct fbp_geometry_facts *out)
{
    struct fbp_sphere sphere;
    double(*direction)[3] = NULL;
    fbp_status st;

    FBP_TRY(fbp_check_views(views));
    out->axis[2] = out->magnification = 1;
    FBP_TRY(fbp_calloc((void **)&direction, views->n, sizeof *direction, "directions"));
    FBP_TRY_GOTO(look_at_views(kind, views, out, direction));
    FBP_TRY_GOTO(fbp_sphere_cells((const double(*)[3])direction, views->n, NULL, &sphere));
    look_at_sphere(&sphere, out);
    out->fov_half_height_mm[0] = -out->fov_radius_mm;
    out->fov_half_height_mm[1] = out->fov_radius_mm;
    FBP_TRY_GOTO(check_reach(views, out));
    if (grid)
        look_at_volume(views, grid, out);
fail:
    free(direction);
    return st;
}

/* All of them: a plane passes through all slices. */
static void rows(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                 size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                 size_t *r1)
{
    (void)kind;
    (void)grid;
    *r0 = 0;
    *r1 = z0 < z1 && k0 < k1 ? views->panel.n_rows : 0;
}

/* A cube whose side is the field of view over sqrt(2), as laboratories choose it: what lies in its
 * corners beyond the field of view is not seen by all views. */
static void grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                 struct fbp_grid *out)
{
    const double slack = 1e-6; /* a whole number of voxels stays that number after rounding */
    double radius = INFINITY, voxel = INFINITY, t[2];

    (void)kind;
    for (size_t k = 0; k < views->n; k++) {
        reach_of(&views->view[k], &views->panel, t);
        radius = fmin(radius, fmin(-t[0], t[1]));
        voxel = fmin(voxel, spacing_of(&views->view[k]));
    }
    if (!(voxel > 0 && isfinite(voxel)))
        voxel = 1;
    const double side = fmin(fmax(floor(sqrt(2) * radius / voxel + slack), 1), 1e9);
    for (int i = 0; i < 3; i++) {
        out->n[i] = (size_t)side;
        out->voxel_mm[i] = voxel;
    }
}

/* Nobody asks for what only lines have. */
const struct fbp_kind_table fbp_kind_planes = {
    .name = "planes",
    .integral = FBP_OVER_PLANES,
    .has_source = false,
    .row_is_frame = true,
    .check_view = check_view,
    .matrix = matrix,
    .facts = facts,
    .rows = rows,
    .grid = grid,
};
