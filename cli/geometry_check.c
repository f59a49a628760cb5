/* Computes the results of `fbp geometry check`, also used by `fbp geometry show`: projections of
 * axis and volume, effects of flips, directions of plane integrals, errors and warnings.
 * cmd_geometry.c calls check_geometry(), geometry_text.c prints. */
#include "geometry_check.h"

#include "base/math.h"
#include "geometry/directions.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "scan/file/scan.h"
#include "weight/weight.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((format(printf, 2, 3))) void check_warn(struct check *c, const char *fmt, ...)
{
    va_list ap;

    if (c->n_warnings == MAX_WARNINGS)
        return;
    va_start(ap, fmt);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is not
    vsnprintf(c->warnings[c->n_warnings++], sizeof *c->warnings, fmt, ap);
    va_end(ap);
}

enum { VIEWS = 24, RADII = 4, ANGLES = 6, HEIGHTS = 3, COARSE = 72, FINE = 40 };
enum { POINTS = RADII * ANGLES * HEIGHTS, MAX_RAYS = VIEWS * POINTS };

/* Greatest distance of a point from its rays, in voxels, that remains invisible. */
static const double SHARP_VOXELS = 0.25;

/* A point and a unit direction, in coordinates whose third axis is the rotation axis. */
struct line {
    double at[3], along[3];
};

/* Sample points, and for each point the ray that the flipped geometry assigns to its pixel. */
struct rays {
    size_t n;
    bool may_slide; /* parallel beam: a shift along the axis is not an error */
    double point[MAX_RAYS][3];
    struct line seems[MAX_RAYS];
};

/* A rigid motion: mirror y, mirror z, then a rotation about z by `turn` [rad]. */
struct motion {
    double turn;
    bool mirrored, upside_down;
};

static void normalise(double a[3])
{
    const double n = sqrt(fbp_dot(a, a));

    for (int i = 0; i < 3; i++)
        a[i] /= n;
}

/* Rows of a right-handed basis whose third vector is the axis; for the axis z: x, y, z. */
static void basis_of(const double axis[3], double rows[3][3])
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};

    memcpy(rows[2], axis, sizeof rows[2]);
    fbp_cross(axis, fabs(axis[0]) < 0.9 ? x : y, rows[1]);
    normalise(rows[1]);
    fbp_cross(rows[1], axis, rows[0]);
}

static void into(double rows[3][3], const double a[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = fbp_dot(rows[i], a);
}

/* Ray through a pixel (column, row), in coordinates of the basis `rows`. */
static struct line ray_of(const struct fbp_scan *scan, const struct fbp_view *view,
                          double rows[3][3], const double pixel[2])
{
    double at[3], towards[3];
    struct line out;

    fbp_view_pixel(view, &scan->panel, pixel[0], pixel[1], at);
    for (int i = 0; i < 3; i++)
        towards[i] = fbp_kind_has_source(scan->kind) ? view->s[i] - at[i] : view->s[i];
    into(rows, at, out.at);
    into(rows, towards, out.along);
    normalise(out.along);
    return out;
}

/* Sample point i (0 to POINTS - 1) of the field of view, in coordinates of basis_of(). */
static void spread(const struct fbp_geometry_facts *f, int i, double out[3])
{
    const int ring = i % RADII, spoke = i / RADII % ANGLES, floor = i / RADII / ANGLES;
    const double radius = (1 + ring) * f->fov_radius_mm / RADII;
    const double angle = 2 * FBP_PI * (0.1 + spoke) / ANGLES;
    const double lo = f->fov_half_height_mm[0], hi = f->fov_half_height_mm[1];

    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
    out[2] = lo + (hi - lo) * (1 + floor) / (HEIGHTS + 1);
}

/* Project the point x (scan coordinates) to column and row cr.  False: outside the panel. */
static bool project_on_panel(const double P[12], const double x[3], const struct fbp_panel *panel,
                             double cr[2])
{
    const double w = fbp_dot(P + 8, x) + P[11];

    cr[0] = (fbp_dot(P, x) + P[3]) / w;
    cr[1] = (fbp_dot(P + 4, x) + P[7]) / w;
    return w > 0 && cr[0] >= -0.5 && cr[1] >= -0.5 && cr[0] <= (double)panel->n_columns - 0.5 &&
           cr[1] <= (double)panel->n_rows - 0.5;
}

/* Project the sample points in up to VIEWS views, and store each visible point with the ray of its
 * pixel in the flipped view. */
static void sample(const struct fbp_scan *scan, const struct fbp_view *flipped,
                   const struct fbp_geometry_facts *facts, struct rays *out)
{
    const size_t n_views = scan->n_views < VIEWS ? scan->n_views : VIEWS;
    double rows[3][3], P[12], x[3], cr[2];

    basis_of(facts->axis, rows);
    out->n = 0;
    out->may_slide = !fbp_kind_has_source(scan->kind);
    for (size_t i = 0; i < n_views; i++) {
        const size_t k = i * scan->n_views / n_views;
        if (fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P) != FBP_OK)
            continue;
        for (int p = 0; p < POINTS; p++) {
            double *q = out->point[out->n];
            spread(facts, p, q);
            for (int a = 0; a < 3; a++)
                x[a] = rows[0][a] * q[0] + rows[1][a] * q[1] + rows[2][a] * q[2];
            if (project_on_panel(P, x, &scan->panel, cr))
                out->seems[out->n++] = ray_of(scan, &flipped[k], rows, cr);
        }
    }
}

static void move(const struct motion *m, const double in[3], double out[3])
{
    const double c = cos(m->turn), s = sin(m->turn), y = m->mirrored ? -in[1] : in[1];

    out[0] = c * in[0] - s * y;
    out[1] = s * in[0] + c * y;
    out[2] = m->upside_down ? -in[2] : in[2];
}

/* Shortest vector from a line to a point. */
static void miss(const struct line *line, const double point[3], double out[3])
{
    double from[3];

    for (int i = 0; i < 3; i++)
        from[i] = point[i] - line->at[i];
    const double t = fbp_dot(from, line->along);
    for (int i = 0; i < 3; i++)
        out[i] = from[i] - t * line->along[i];
}

/* Mean square distance of the moved points from their rays [mm^2]; *greatest: greatest distance
 * [mm], may be NULL. */
static double judge(const struct rays *rays, const struct motion *m, double *greatest)
{
    const double n = (double)rays->n;
    double sum = 0, along = 0, most = 0;

    for (size_t i = 0; i < rays->n; i++) {
        double moved[3], off[3];
        move(m, rays->point[i], moved);
        miss(&rays->seems[i], moved, off);
        along += off[2] / n;
        sum += fbp_dot(off, off) / n;
        most = fmax(most, fbp_dot(off, off));
    }
    if (rays->may_slide) {
        sum = fmax(sum - along * along, 0);
        most = fmax(most - along * along, 0);
    }
    if (greatest)
        *greatest = sqrt(most);
    return sum;
}

/* Find the angle m->turn with the least mean square distance, which is returned: COARSE steps over
 * 360 degrees, then FINE halvings of the step. */
static double best_turn(const struct rays *rays, struct motion *m)
{
    double step = 2 * FBP_PI / COARSE, best = INFINITY, at = 0;

    for (int i = 0; i < COARSE; i++) {
        m->turn = i * step;
        const double sum = judge(rays, m, NULL);
        if (sum < best) {
            best = sum;
            at = m->turn;
        }
    }
    for (int i = 0; i < FINE; i++, step /= 2)
        for (int side = -1; side <= 1; side += 2) {
            m->turn = at + side * step / 2;
            const double sum = judge(rays, m, NULL);
            if (sum < best) {
                best = sum;
                at = m->turn;
            }
        }
    m->turn = at;
    return best;
}

static void search(const struct rays *rays, double voxel_mm, struct flip *out)
{
    double best = INFINITY;

    for (unsigned i = 0; i < 4; i++) {
        struct motion m = {.mirrored = i & 1u, .upside_down = i & 2u};
        const double sum = best_turn(rays, &m);
        /* equal distances: the motion with fewer mirrors is kept */
        if (!(sum < best - 1e-9 * (1 + best)) && i > 0)
            continue;
        best = sum;
        out->turn_rad = remainder(m.turn, 2 * FBP_PI);
        out->mirrored = m.mirrored;
        out->upside_down = m.upside_down;
        out->rms_mm = sqrt(judge(rays, &m, &out->max_mm));
    }
    out->sharp = out->max_mm < SHARP_VOXELS * voxel_mm;
}

static bool flips_of(const struct fbp_scan *scan, const struct fbp_geometry_facts *facts,
                     double voxel_mm, struct flip out[N_FLIPS])
{
    struct fbp_view *flipped = malloc(scan->n_views * sizeof *flipped);
    struct rays *rays = malloc(sizeof *rays);

    for (unsigned i = 0; i < N_FLIPS; i++) {
        out[i] = (struct flip){.flips = i + 1};
        if (!flipped || !rays)
            continue;
        memcpy(flipped, scan->views, scan->n_views * sizeof *flipped);
        fbp_views_flip(flipped, scan->n_views, i + 1);
        sample(scan, flipped, facts, rays);
        search(rays, voxel_mm, &out[i]);
    }
    const bool done = flipped && rays;
    free(flipped);
    free(rays);
    return done;
}

static const double pi = 3.14159265358979323846;

/* Compute the unit vectors n and weights w of the views: the scan's weights, or those of its
 * quadrature rule. */
static fbp_status weigh(const struct fbp_scan *scan, double (*n)[3], double *w, struct check *c)
{
    for (size_t k = 0; k < scan->n_views; k++) {
        const double *u = scan->views[k].u, length = hypot(hypot(u[0], u[1]), u[2]);
        for (int i = 0; i < 3; i++)
            n[k][i] = u[i] / length;
        if (scan->plane_weights)
            w[k] = scan->plane_weights[k];
    }
    const fbp_status st =
        fbp_quadrature_weights((const double(*)[3])n, scan->n_views, scan->quadrature, w,
                               c->planes.weights, sizeof c->planes.weights);
    for (size_t k = 0; st == FBP_OK && k < scan->n_views; k++)
        c->planes.sum += w[k] / (2 * pi);
    return st;
}

/* Compute the needed number of directions: n rings, with 2 n^2 / pi directions in total, suffice
 * for the radius n spacing / (pi cutoff). */
static void count_directions(struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    struct check_planes *p = &c->planes;

    for (int i = 0; i < 3; i++)
        p->reach_mm = fmax(p->reach_mm, (double)c->grid.n[i] * c->grid.voxel_mm[i] / 2);
    const double rings = pi * p->cutoff * p->reach_mm / f->spacing_mm;
    p->needed = ceil(2 / pi * rings * rings);
    p->enough_at = fmin(1, f->alias_free_mm / p->reach_mm);
}

static int check_planes(const struct fbp_scan *scan, struct check *c)
{
    double(*n)[3] = calloc(scan->n_views, sizeof *n), *w = calloc(scan->n_views, sizeof *w);
    const fbp_status st = n && w ? weigh(scan, n, w, c) : FBP_ERR_NOMEM;

    if (st == FBP_OK &&
        fbp_meridians_of((const double(*)[3])n, scan->n_views, &c->planes.meridians) == FBP_OK) {
        const struct fbp_meridian_planes found = c->planes.meridians;
        fbp_meridians_clear(&c->planes.meridians);
        c->planes.meridians.n = found.n;
        c->planes.meridians.most = found.most;
        memcpy(c->planes.meridians.axis, found.axis, sizeof found.axis);
    }
    free(n);
    free(w);
    if (st != FBP_OK)
        return *fbp_message() ? cli_fail() : cli_error("out of memory for directions");
    count_directions(c);
    return 0;
}

static void widen(struct span *s, double v, size_t view)
{
    if (v < s->lo) {
        s->lo = v;
        s->lo_view = view;
    }
    if (v > s->hi) {
        s->hi = v;
        s->hi_view = view;
    }
}

static double dot4(const double row[4], const double x[3])
{
    return row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3];
}

/* Project the point x to column and row cr.  False: the point is not in front of the source. */
static bool project(const double P[12], const double x[3], double cr[2])
{
    const double w = dot4(P + 8, x);

    cr[0] = dot4(P, x) / w;
    cr[1] = dot4(P + 4, x) / w;
    return w > 0;
}

/* Outer corner number `which` (0 to 7) of the volume, not the centre of the corner voxel. */
static void corner(const struct fbp_grid *g, unsigned which, double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = fbp_grid_coordinate(g, i, which >> i & 1 ? (double)g->n[i] - 0.5 : -0.5);
}

static void land_corners(struct check *c, const double P[12], size_t k)
{
    bool behind = false;
    double x[3], cr[2];

    for (unsigned which = 0; which < 8; which++) {
        corner(&c->grid, which, x);
        if (!project(P, x, cr)) {
            behind = true;
            continue;
        }
        for (int i = 0; i < 2; i++)
            widen(&c->corners[i], cr[i], k);
    }
    c->behind += behind;
}

static fbp_status land_all(const struct fbp_scan *scan, struct check *c)
{
    static const double iso[3] = {0};
    double P[12], cr[2];

    for (int i = 0; i < 2; i++)
        c->iso[i] = c->corners[i] = (struct span){.lo = INFINITY, .hi = -INFINITY};
    for (size_t k = 0; k < scan->n_views; k++) {
        const fbp_status st = fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P);
        if (st != FBP_OK)
            return st;
        project(P, iso, cr);
        for (int i = 0; i < 2; i++)
            widen(&c->iso[i], cr[i], k);
        if (c->seen)
            land_corners(c, P, k);
    }
    return FBP_OK;
}

/* Project both ends of the visible part of the axis: c->axis.  One detector row: the iso-centre. */
static void land_axis(const struct fbp_scan *scan, struct check *c)
{
    double P[12], cr[2];

    for (int i = 0; i < 2; i++) {
        const double z = scan->panel.n_rows > 1 ? c->facts.fov_half_height_mm[i] : 0;
        const double at[3] = {z * c->facts.axis[0], z * c->facts.axis[1], z * c->facts.axis[2]};
        c->axis[i][0] = INFINITY;
        c->axis[i][1] = -INFINITY;
        for (size_t k = 0; k < scan->n_views; k++)
            if (fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P) == FBP_OK &&
                project(P, at, cr)) {
                c->axis[i][0] = fmin(c->axis[i][0], cr[0]);
                c->axis[i][1] = fmax(c->axis[i][1], cr[0]);
            }
    }
}

/* Store the error with which a reconstruction would fail, and its warnings. */
static void warn_all(const struct fbp_scan *scan, const char *path, struct check *c)
{
    char line[400];

    if (c->seen && fbp_kind_has_lines(scan->kind) && c->facts.n_angles > 2 &&
        fbp_geometry_errors(fbp_scan_views(scan), &c->grid, &c->facts) != FBP_OK)
        snprintf(c->error, sizeof c->error, "%s: %s", path, fbp_message());
    if (!c->error[0] && fbp_kind_has_lines(scan->kind) &&
        fbp_geometry_circular(&c->facts) != FBP_OK)
        snprintf(c->error, sizeof c->error, "%s: %s", path, fbp_message());
    if (c->behind)
        check_warn(c, "the volume extends beyond the source in %zu views; choose a smaller volume",
                   c->behind);
    for (size_t i = 0;
         fbp_scan_remark(scan, &c->facts, c->seen ? &c->grid : NULL, i, line, sizeof line); i++)
        check_warn(c, "%s", line);
}

/* Compute c->facts and c->seen.  An error is stored in c->error, and the check continues; only if
 * the views themselves are invalid (no angles), the error is printed and 1 returned. */
static int find_facts(const struct fbp_scan *scan, const char *path, struct check *c)
{
    if (fbp_views_facts(fbp_scan_views(scan), c->grid.n[0] ? &c->grid : NULL, &c->facts) != FBP_OK)
        snprintf(c->error, sizeof c->error, "%s: %s", path, fbp_message());
    c->seen = c->facts.fov_radius_mm > 0;
    return c->facts.n_angles > 0 ? 0 : cli_error("%s", c->error);
}

int check_geometry(const struct fbp_scan *scan, const char *path, double cutoff, struct check *c)
{
    *c = (struct check){.facts = {.struct_size = sizeof c->facts}, .grid = scan->volume};
    if (find_facts(scan, path, c) != 0)
        return 1;
    if (c->seen && c->grid.n[0] == 0) {
        if (fbp_grid_default(fbp_scan_views(scan), &c->grid) != FBP_OK)
            return cli_fail();
        if (find_facts(scan, path, c) != 0)
            return 1;
    }
    if (!fbp_kind_has_lines(scan->kind)) {
        c->planes.cutoff = cutoff;
        warn_all(scan, path, c);
        return check_planes(scan, c);
    }
    if (land_all(scan, c) != FBP_OK)
        return cli_fail();
    for (int i = 0; i < 2; i++) {
        const struct fbp_view *v = &scan->views[i ? scan->n_views - 1 : 0];
        c->theta_deg[i] = cli_degrees(atan2(v->s[1], v->s[0]));
    }
    land_axis(scan, c);
    c->flip[0] = (double)scan->panel.n_columns - 1 - (c->iso[0].lo + c->iso[0].hi);
    c->flip[1] = (double)scan->panel.n_rows - 1 - (c->iso[1].lo + c->iso[1].hi);
    warn_all(scan, path, c);
    if (c->seen && fbp_geometry_rows(fbp_scan_views(scan), 0, scan->n_views, &c->grid, 0,
                                     c->grid.n[2], &c->rows[0], &c->rows[1]) != FBP_OK)
        return cli_fail();
    const double *voxel = c->grid.voxel_mm;
    if (c->seen && !flips_of(scan, &c->facts, fmin(fmin(voxel[0], voxel[1]), voxel[2]), c->flips))
        return cli_error("%s: out of memory for its views; close other programs", path);
    return 0;
}
