/* Kinds of geometry (cone, parallel, planes), each a table of functions, and the functions that
 * call them: fbp_views_facts(), fbp_geometry_rows(), fbp_grid_default(); also names and units of
 * kinds. fbp_view_to_matrix() is public.
 * Used by: bench/, cli/, analysis/, backend/, geometry/, phantom/, picture/, pipeline/, prep/,
 * scan/, weight/. */
#include "geometry/kind.h"

#include "geometry/directions.h"

#include "base/base.h"
#include "base/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fbp_status check_length(const char *field, size_t k, const struct fbp_range *range,
                               const double a[3])
{
    char name[80];

    snprintf(name, sizeof name, "geometry: view %zu: length of %s", k, field);
    return fbp_check_range(range, name, fbp_norm(a));
}

/* Cone: line integrals through a point source. A fan beam is a cone of one detector row, not a kind
 * of its own: matrix, weights, filter and grid follow from the cone's formulas for one row. File
 * formats with a name of their own for fan beams use it if the panel has one row. */

static fbp_status cone_check_view(const struct fbp_view *view, size_t k)
{
    return check_length("the source position s", k, &fbp_range_position, view->s);
}

/* Compute the matrix of a cone-beam view: P = A [I | -s], A = inv([u v d0-s]); d0: centre of pixel
 * (0, 0). False: u, v and d0 - s are not independent. */
static bool cone_matrix(const struct fbp_view *view, const struct fbp_panel *panel, double P[12])
{
    double depth[3], A[3][3];

    fbp_view_pixel(view, panel, 0, 0, depth);
    fbp_axpy(depth, -1, view->s, depth);
    if (!fbp_dual_basis(view->u, view->v, depth, A))
        return false;
    for (size_t i = 0; i < 3; i++) {
        memcpy(P + 4 * i, A[i], sizeof A[i]);
        P[4 * i + 3] = -fbp_dot(A[i], view->s);
    }
    return true;
}

static double cone_pitch(const struct fbp_view *view, const double P[12])
{
    return fbp_norm(view->u) * P[11];
}

/* Kind "parallel": line integrals along one direction per view; vector s points to the source. */

/* Compute the matrix of a parallel-beam view: P = A [I | -d0], A = inv([u v s]), but row 3 is (0,
 * 0, 0, 1); d0: centre of pixel (0, 0). False: u, v and s are not independent. */
static bool parallel_matrix(const struct fbp_view *view, const struct fbp_panel *panel,
                            double P[12])
{
    double d0[3], A[3][3];

    fbp_view_pixel(view, panel, 0, 0, d0);
    if (!fbp_dual_basis(view->u, view->v, view->s, A))
        return false;
    for (size_t i = 0; i < 2; i++) {
        memcpy(P + 4 * i, A[i], sizeof A[i]);
        P[4 * i + 3] = -fbp_dot(A[i], d0);
    }
    memcpy(P + 8, (const double[4]){0, 0, 0, 1}, 4 * sizeof *P);
    return true;
}

/* Compute the column pitch at the axis; it is foreshortened if the panel is tilted. */
static double parallel_pitch(const struct fbp_view *view, const double P[12])
{
    double ray[3] = {view->s[0], view->s[1], view->s[2]}, across[3];

    fbp_normalise(ray);
    fbp_axpy(view->u, -fbp_dot(view->u, ray), ray, across);
    return fbp_norm(across) * P[11];
}

/* Planes: plane integrals along one direction per view (EPR imaging). p(t, n) is the integral over
 * the plane x . n = t. A view is a row: sample c stands for t = d . n + (c - (nc-1)/2) tau, u = tau
 * n. There is no source, s = 0; rows are time points (delays), and v = 0. */

/* The n directions of plane integrals have a gap if a point of the sphere is farther from all of
 * them than GAP times sqrt(2 pi / n) [rad], the side of a square with the area that each direction
 * has on the sphere; a direction and its opposite count as one. */
static const double GAP = 1.5;

static fbp_status planes_check_view(const struct fbp_view *view, size_t k)
{
    if (fbp_norm(view->s) > 0 || fbp_norm(view->v) > 0)
        return FBP_INVALID("geometry: view %zu: plane integrals have no source and no step between "
                           "rows; set s and v to 0",
                           k);
    return FBP_OK;
}

/* Matrix of a plane view: rows (n/tau, -t0/tau), 0, (0, 0, 0, 1); t0: position of sample 0. */
static bool planes_matrix(const struct fbp_view *view, const struct fbp_panel *panel, double P[12])
{
    const double square = fbp_dot(view->u, view->u);

    memset(P, 0, 12 * sizeof *P);
    for (int i = 0; i < 3; i++)
        P[i] = view->u[i] / square;
    P[3] = ((double)panel->n_columns - 1) / 2 - fbp_dot(view->d, view->u) / square;
    P[11] = 1;
    return square > 0 && isfinite(P[0] + P[1] + P[2] + P[3]);
}

/* Get the distance between samples of a view of plane integrals [mm], |u|, rounded to 12 digits,
 * because further digits of u are rounding errors. */
static double spacing_of(const struct fbp_view *view)
{
    const double step = fbp_norm(view->u), digits = pow(10, 12 - ceil(log10(step)));

    return step > 0 && isfinite(digits) ? round(step * digits) / digits : step;
}

/* Range [mm] of the plane positions t of a view, to the outer edges of its end samples. */
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

static fbp_status planes_facts(const struct fbp_kind_table *kind, const struct fbp_views *views,
                               const struct fbp_grid *g, struct fbp_geometry_facts *out)
{
    struct fbp_sphere sphere;
    double(*direction)[3] = NULL, t[2], P[12];
    fbp_status st;

    FBP_TRY(fbp_check_views(views));
    out->axis[2] = out->magnification = 1;
    out->fov_radius_mm = INFINITY;
    FBP_TRY_GOTO(fbp_planes_directions(views->view, views->n, &direction));
    for (size_t k = 0; k < views->n; k++) {
        const struct fbp_view *v = &views->view[k];
        FBP_TRY_GOTO(fbp_check_cancelled());
        FBP_TRY_GOTO(fbp_check_view(kind, v, k));
        const double step = spacing_of(v);
        reach_of(v, &views->panel, t);
        out->edge_mm[0] = k ? fmin(out->edge_mm[0], t[0]) : t[0];
        out->edge_mm[1] = k ? fmax(out->edge_mm[1], t[1]) : t[1];
        out->fov_radius_mm = fmin(out->fov_radius_mm, fmin(-t[0], t[1]));
        out->spacing_mm = k ? fmin(out->spacing_mm, step) : step;
    }
    out->fov_half_height_mm[0] = -out->fov_radius_mm;
    out->fov_half_height_mm[1] = out->fov_radius_mm;

    /* 2 n^2 / pi directions, as in n rings of equal solid angle, reconstruct an object of radius n
     * tau / pi without streaks (tau: distance between samples). */
    FBP_TRY_GOTO(fbp_sphere_cells((const double(*)[3])direction, views->n, NULL, &sphere));
    const double n = (double)sphere.different, rings = sqrt(FBP_PI * n / 2);
    out->n_angles = sphere.different;
    out->step_rad[0] = out->step_rad[1] = out->step_rad[2] = 2 * sphere.usual_rad;
    out->direction_gap_rad = 2 * sphere.hole_rad;
    out->gap_rad = sphere.hole_rad > GAP * sqrt(2 * FBP_PI / n) ? 2 * sphere.hole_rad : 0;
    out->coverage = out->gap_rad > 0 ? FBP_COVERAGE_PARTIAL : FBP_COVERAGE_FULL;
    out->alias_free_mm = rings * out->spacing_mm / FBP_PI;

    for (size_t k = 0; k < views->n && !(out->fov_radius_mm > 0); k++) {
        reach_of(&views->view[k], &views->panel, t);
        if (!(fmin(-t[0], t[1]) > 0))
            FBP_TRY_GOTO(FBP_INVALID(
                "geometry: view %zu: its samples extend from %.6g to %.6g mm, but must include 0, "
                "the centre of the apparatus; check the position of the first sample (first_mm)",
                k, t[0], t[1]));
    }

    out->volume_inside = g != NULL;
    /* find whether all corners of the grid project onto the samples of every view */
    for (int i = 0; g && i < 8; i++) {
        double x[3];
        fbp_grid_corner(g, i, x);
        out->volume_radius_mm = fmax(out->volume_radius_mm, fbp_norm(x));
        for (size_t k = 0; k < views->n; k++) {
            const double last = (double)views->panel.n_columns - 0.5;
            const double at =
                planes_matrix(&views->view[k], &views->panel, P) ? fbp_dot(P, x) + P[3] : 0;
            out->volume_inside = out->volume_inside && at >= -0.5 && at <= last;
        }
    }
fail:
    free(direction);
    return st;
}

/* All rows of plane integrals are needed for any slices: rows are time points. */
static void planes_rows(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                        size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                        size_t *r1)
{
    (void)kind;
    (void)grid;
    *r0 = 0;
    *r1 = z0 < z1 && k0 < k1 ? views->panel.n_rows : 0;
}

/* The default grid of plane integrals is a cube whose side is the diameter of the field of view
 * over sqrt(2), as usual in laboratories; not all views measure its corners. */
static void planes_grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                        struct fbp_grid *out)
{
    const double slack = 1e-6; /* tolerance of rounding down to whole voxels */
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

static const struct fbp_kind_table kinds[FBP_N_KINDS] = {
    [FBP_CONE] = {.name = "cone",
                  .integral = FBP_OVER_LINES,
                  .has_source = true,
                  .check_view = cone_check_view,
                  .matrix = cone_matrix,
                  .pitch = cone_pitch,
                  .facts = fbp_line_facts,
                  .rows = fbp_line_rows,
                  .grid = fbp_line_grid},
    [FBP_PARALLEL] = {.name = "parallel",
                      .integral = FBP_OVER_LINES,
                      .matrix = parallel_matrix,
                      .pitch = parallel_pitch,
                      .facts = fbp_line_facts,
                      .rows = fbp_line_rows,
                      .grid = fbp_line_grid},
    [FBP_PLANES] = {.name = "planes",
                    .integral = FBP_OVER_PLANES,
                    .row_is_frame = true,
                    .check_view = planes_check_view,
                    .matrix = planes_matrix,
                    .facts = planes_facts,
                    .rows = planes_rows,
                    .grid = planes_grid},
};

const struct fbp_kind_table *fbp_kind_of(enum fbp_kind kind)
{
    static const struct fbp_kind_table unknown = {.name = "unknown"};

    return (unsigned)kind < FBP_N_KINDS ? &kinds[kind] : &unknown;
}

size_t fbp_kind_frames(enum fbp_kind kind, const struct fbp_panel *panel)
{
    return fbp_kind_of(kind)->row_is_frame ? panel->n_rows : 1;
}

/* Length units of a volume's values, which are in 1/length for line integrals and 1/length^3 for
 * plane integrals; scale: factor from 1/mm or 1/mm^3. */
static const struct {
    const char *name, *of[FBP_N_INTEGRALS];
    double scale[FBP_N_INTEGRALS];
} units[] = {
    [FBP_UNIT_MM] = {"mm", {[FBP_OVER_LINES] = "1/mm", [FBP_OVER_PLANES] = "1/mm^3"}, {1, 1}},
    [FBP_UNIT_CM] = {"cm", {[FBP_OVER_LINES] = "1/cm", [FBP_OVER_PLANES] = "1/cm^3"}, {10, 1000}},
};

const char *fbp_unit_name(size_t i)
{
    return i < sizeof units / sizeof *units ? units[i].name : NULL;
}

const char *fbp_value_unit(enum fbp_kind kind, enum fbp_unit unit)
{
    return units[unit].of[fbp_kind_of(kind)->integral];
}

double fbp_value_scale(enum fbp_kind kind, enum fbp_unit unit)
{
    return units[unit].scale[fbp_kind_of(kind)->integral];
}

fbp_status fbp_check_kind(const char *where, enum fbp_kind kind)
{
    if ((unsigned)kind < FBP_N_KINDS)
        return FBP_OK;
    return FBP_INVALID("%s: %d is not a geometry kind; expected cone, parallel or planes", where,
                       (int)kind);
}

fbp_status fbp_check_lines(const char *where, enum fbp_kind kind)
{
    FBP_TRY(fbp_check_kind(where, kind));
    if (fbp_kind_of(kind)->integral == FBP_OVER_LINES)
        return FBP_OK;
    return FBP_UNSUPPORTED(
        "%s: needs line integrals, but scans of kind %s have none; omit it, or give a "
        "scan of kind cone or parallel",
        where, fbp_kind_of(kind)->name);
}

const char *fbp_kind_name(enum fbp_kind kind)
{
    return fbp_kind_of(kind)->name;
}

const char *fbp_kind_listed(size_t i)
{
    return i < FBP_N_KINDS ? kinds[i].name : NULL;
}

bool fbp_kind_has_source(enum fbp_kind kind)
{
    return fbp_kind_of(kind)->has_source;
}

bool fbp_kind_has_lines(enum fbp_kind kind)
{
    return fbp_kind_of(kind)->integral == FBP_OVER_LINES;
}

fbp_status fbp_check_views(const struct fbp_views *views)
{
    const struct fbp_panel *panel = &views->panel;

    if (!views->view || views->n == 0)
        return FBP_INVALID("geometry: the scan has no views; give at least one");
    if (panel->n_columns == 0 || panel->n_rows == 0)
        return FBP_INVALID("geometry: the panel has %zu x %zu pixels, expected at least 1 x 1",
                           panel->n_columns, panel->n_rows);
    return FBP_OK;
}

fbp_status fbp_check_view(const struct fbp_kind_table *kind, const struct fbp_view *view, size_t k)
{
    if (kind->check_view)
        FBP_TRY(kind->check_view(view, k));
    FBP_TRY(check_length("the panel position d", k, &fbp_range_position, view->d));
    FBP_TRY(check_length("the column step u", k, &fbp_range_pitch, view->u));
    if (kind->integral != FBP_OVER_LINES)
        return FBP_OK;
    return check_length("the row step v", k, &fbp_range_pitch, view->v);
}

bool fbp_view_matrix(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                     double P[12])
{
    const struct fbp_kind_table *table = fbp_kind_of(kind);

    return table->matrix && table->matrix(view, panel, P);
}

fbp_status fbp_view_to_matrix(const struct fbp_view *view, enum fbp_kind kind,
                              const struct fbp_panel *panel, double P[12])
{
    FBP_REQUIRE(view, panel, P);
    fbp_message_clear();
    FBP_TRY(fbp_check_kind("geometry", kind));
    if (fbp_view_matrix(view, kind, panel, P))
        return FBP_OK;
    if (fbp_kind_of(kind)->integral != FBP_OVER_LINES)
        return FBP_INVALID("geometry: the step u between samples is 0, or not a "
                           "number; check spacing and direction of the view");
    return FBP_INVALID(
        "geometry: the source lies in the plane of the panel (parallel beam: the rays are parallel "
        "to it), or the rows and columns of the panel are parallel; check source, panel centre and "
        "axes of the view");
}

fbp_status fbp_views_facts(struct fbp_views views, const struct fbp_grid *grid,
                           struct fbp_geometry_facts *out)
{
    fbp_message_clear();
    *out = (struct fbp_geometry_facts){.struct_size = sizeof *out};
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    const struct fbp_kind_table *kind = fbp_kind_of(views.kind);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every known kind has all functions */
    struct fbp_grid moved = grid ? *grid : (struct fbp_grid){.n = {0}};
    struct fbp_view *own;
    double centre[3];

    FBP_TRY(fbp_views_centre(kind, &views, centre, &own));
    fbp_axpy(moved.centre_mm, -1, centre, moved.centre_mm);
    const fbp_status st = kind->facts(kind, &views, grid ? &moved : NULL, out);
    for (int i = 0; own && i < 2; i++)
        out->fov_half_height_mm[i] += fbp_dot(centre, out->axis);
    free(own);
    return st;
}

fbp_status fbp_geometry_rows(struct fbp_views views, size_t k0, size_t k1,
                             const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                             size_t *r1)
{
    fbp_message_clear();
    *r0 = *r1 = 0;
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    const struct fbp_kind_table *kind = fbp_kind_of(views.kind);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every known kind has all functions */
    kind->rows(kind, &views, k0, k1, grid, z0, z1, r0, r1);
    return FBP_OK;
}

fbp_status fbp_grid_default(struct fbp_views views, struct fbp_grid *out)
{
    fbp_message_clear();
    *out = (struct fbp_grid){.n = {0}};
    FBP_TRY(fbp_check_kind("geometry", views.kind));
    const struct fbp_kind_table *kind = fbp_kind_of(views.kind);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every known kind has all functions */
    struct fbp_view *own;
    double centre[3];

    FBP_TRY(fbp_views_centre(kind, &views, centre, &own));
    kind->grid(kind, &views, out);
    fbp_axpy(out->centre_mm, 1, centre, out->centre_mm);
    free(own);
    return FBP_OK;
}
