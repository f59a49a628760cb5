/* Computes the results of `fbp geometry check` (check_geometry()): projections of axis and volume,
 * effects of flips, directions of plane integrals, errors and warnings. `fbp geometry show` uses
 * them, too; geometry_text.c prints them.
 * Used by: cmd_geometry.c. */
#include "geometry_check.h"

#include "base/math.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "scan/file/scan.h"
#include "weight/weight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static __attribute__((format(printf, 2, 3))) void check_warn(struct check *c, const char *fmt, ...)
{
    if (c->n_warnings == MAX_WARNINGS)
        return;
    FBP_PRINT_ARGUMENTS(c->warnings[c->n_warnings++], sizeof *c->warnings, fmt);
}

enum { VIEWS = 24, RADII = 4, ANGLES = 6, HEIGHTS = 3, COARSE = 72, FINE = 40 };
enum { POINTS = RADII * ANGLES * HEIGHTS, MAX_RAYS = VIEWS * POINTS };

/* Slices blur visibly if points are farther than this [voxels] from the rays assigned to them. */
static const double SHARP_VOXELS = 0.25;

/* A line: point and unit direction, in coordinates whose third axis is the rotation axis. */
struct line {
    double at[3], along[3];
};

/* Sample points of the field of view, with the rays that a flipped geometry assigns to them. */
struct rays {
    size_t n;
    bool may_slide; /* true: a shift of the object along the axis is no error (parallel beams) */
    double point[MAX_RAYS][3];
    struct line seems[MAX_RAYS];
};

/* A motion: mirror y if `mirrored`, z if `upside_down`, then rotate by `turn` [rad] about z. */
struct motion {
    double turn;
    bool mirrored, upside_down;
};

/* Set rows to a right-handed basis with the rotation axis last; axis z: identity matrix. */
static void basis_of(const double axis[3], double rows[3][3])
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};

    memcpy(rows[2], axis, sizeof rows[2]);
    fbp_cross(axis, fabs(axis[0]) < 0.9 ? x : y, rows[1]);
    fbp_normalise(rows[1]);
    fbp_cross(rows[1], axis, rows[0]);
}

/* Ray through pixel (column, row) of a view, in coordinates of the basis `rows`. */
static struct line ray_of(const struct fbp_scan *scan, const struct fbp_view *view,
                          double rows[3][3], const double pixel[2])
{
    double at[3], towards[3];
    struct line out;

    fbp_view_pixel(view, &scan->panel, pixel[0], pixel[1], at);
    for (int i = 0; i < 3; i++)
        towards[i] = fbp_kind_has_source(scan->kind) ? view->s[i] - at[i] : view->s[i];
    for (int i = 0; i < 3; i++) {
        out.at[i] = fbp_dot(rows[i], at);
        out.along[i] = fbp_dot(rows[i], towards);
    }
    fbp_normalise(out.along);
    return out;
}

/* Project sample points of the field of view in at most VIEWS views. Each point whose projection
 * lies on the detector is stored with the ray of its pixel in the flipped view. */
static void sample(const struct fbp_scan *scan, const struct fbp_view *flipped,
                   const struct fbp_geometry_facts *facts, struct rays *out)
{
    const size_t n_views = scan->n_views < VIEWS ? scan->n_views : VIEWS;
    const double lo = facts->fov_half_height_mm[0], hi = facts->fov_half_height_mm[1];
    const double right = (double)scan->panel.n_columns - 0.5,
                 top = (double)scan->panel.n_rows - 0.5;
    double rows[3][3], P[12], x[3];

    basis_of(facts->axis, rows);
    out->n = 0;
    out->may_slide = !fbp_kind_has_source(scan->kind);
    for (size_t i = 0; i < n_views; i++) {
        const size_t k = i * scan->n_views / n_views;
        if (fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P) != FBP_OK)
            continue;
        for (int p = 0; p < POINTS; p++) {
            const int ring = p % RADII, spoke = p / RADII % ANGLES, floor = p / RADII / ANGLES;
            const double radius = (1 + ring) * facts->fov_radius_mm / RADII;
            const double angle = 2 * FBP_PI * (0.1 + spoke) / ANGLES;
            double *q = out->point[out->n]; /* in coordinates of the basis `rows` */
            q[0] = radius * cos(angle);
            q[1] = radius * sin(angle);
            q[2] = lo + (hi - lo) * (1 + floor) / (HEIGHTS + 1);
            for (int a = 0; a < 3; a++)
                x[a] = rows[0][a] * q[0] + rows[1][a] * q[1] + rows[2][a] * q[2];
            double cr[2];
            if (fbp_project(P, x, cr) && cr[0] >= -0.5 && cr[1] >= -0.5 && cr[0] <= right &&
                cr[1] <= top)
                out->seems[out->n++] = ray_of(scan, &flipped[k], rows, cr);
        }
    }
}

/* Mean square distance [mm^2] of the sample points, moved by m, from the rays that the flipped
 * geometry assigns to them. *greatest: receives the greatest distance [mm]; may be NULL. */
static double judge(const struct rays *rays, const struct motion *m, double *greatest)
{
    const double n = (double)rays->n, cosine = cos(m->turn), sine = sin(m->turn);
    double sum = 0, along = 0, most = 0;

    for (size_t i = 0; i < rays->n; i++) {
        const double *p = rays->point[i], y = m->mirrored ? -p[1] : p[1];
        const struct line *line = &rays->seems[i];
        const double moved[3] = {cosine * p[0] - sine * y, sine * p[0] + cosine * y,
                                 m->upside_down ? -p[2] : p[2]};
        double from[3], off[3]; /* off: shortest vector from the ray to the moved point */
        for (int a = 0; a < 3; a++)
            from[a] = moved[a] - line->at[a];
        const double t = fbp_dot(from, line->along);
        for (int a = 0; a < 3; a++)
            off[a] = from[a] - t * line->along[a];
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

/* Find the rotation m->turn with the least mean square distance between points and rays, by COARSE
 * steps over 360 degrees, then FINE halvings of the step; returns this distance [mm^2]. */
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
        /* if motions have equal distances, keep the first, which has the fewest mirrors */
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

/* Compute direction n[k] and integration weight w[k] of every view of plane integrals, by the
 * weights of the scan or its quadrature rule. Add their sum over 2 pi to c->planes.sum. */
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
        c->planes.sum += w[k] / (2 * FBP_PI);
    return st;
}

static int check_planes(const struct fbp_scan *scan, struct check *c)
{
    struct check_planes *p = &c->planes;
    double(*n)[3] = calloc(scan->n_views, sizeof *n), *w = calloc(scan->n_views, sizeof *w);
    const fbp_status st = n && w ? weigh(scan, n, w, c) : FBP_ERR_NOMEM;

    /* Find planes through one axis that contain all directions (meridian planes), which the
     * two-stage backprojection of plane integrals needs. */
    struct fbp_meridian_planes found;
    if (st == FBP_OK && fbp_meridians_of((const double(*)[3])n, scan->n_views, &found) == FBP_OK) {
        p->meridians.n = found.n;
        p->meridians.most = found.most;
        memcpy(p->meridians.axis, found.axis, sizeof found.axis);
        fbp_meridians_clear(&found);
    }
    free(n);
    free(w);
    if (st != FBP_OK)
        return *fbp_message()
                   ? cli_fail()
                   : cli_error(
                         "out of memory for the directions of the scan; close other programs");
    /* Number of directions that the volume needs: n rings, with 2 n^2 / pi directions in total,
     * suffice for the radius n s / (pi cutoff), if samples are a distance s apart. */
    for (int i = 0; i < 3; i++)
        p->reach_mm = fmax(p->reach_mm, (double)c->grid.n[i] * c->grid.voxel_mm[i] / 2);
    const double rings = FBP_PI * p->cutoff * p->reach_mm / c->facts.spacing_mm;
    p->needed = ceil(2 / FBP_PI * rings * rings);
    p->enough_at = fmin(1, c->facts.alias_free_mm / p->reach_mm);
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

/* Project the iso-centre in all views and, if any field of view exists, the outer corners of the
 * volume: store the ranges of columns and rows in c->iso and c->corners, and in c->behind the
 * number of views with a corner that is not in front of the source. */
static fbp_status project_all(const struct fbp_scan *scan, struct check *c)
{
    static const double iso[3] = {0};
    double P[12], x[3], cr[2];

    for (int i = 0; i < 2; i++)
        c->iso[i] = c->corners[i] = (struct span){.lo = INFINITY, .hi = -INFINITY};
    for (size_t k = 0; k < scan->n_views; k++) {
        bool behind = false;
        FBP_TRY(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        (void)fbp_project(P, iso, cr);
        for (int i = 0; i < 2; i++)
            widen(&c->iso[i], cr[i], k);
        for (unsigned which = 0; c->seen && which < 8; which++) {
            for (int i = 0; i < 3; i++)
                x[i] = fbp_grid_coordinate(&c->grid, i,
                                           which >> i & 1 ? (double)c->grid.n[i] - 0.5 : -0.5);
            const bool in_front = fbp_project(P, x, cr);
            behind = behind || !in_front;
            for (int i = 0; in_front && i < 2; i++)
                widen(&c->corners[i], cr[i], k);
        }
        c->behind += behind;
    }
    return FBP_OK;
}

/* Set c->axis[i]: least and greatest column, over the views, onto which the lower (i = 0) or upper
 * (i = 1) end of the visible part of the rotation axis is projected; for a detector with one row,
 * both are the range of the iso-centre. */
static void project_axis(const struct fbp_scan *scan, struct check *c)
{
    double P[12], cr[2];

    for (int i = 0; i < 2; i++) {
        const double z = scan->panel.n_rows > 1 ? c->facts.fov_half_height_mm[i] : 0;
        const double at[3] = {z * c->facts.axis[0], z * c->facts.axis[1], z * c->facts.axis[2]};
        c->axis[i][0] = INFINITY;
        c->axis[i][1] = -INFINITY;
        for (size_t k = 0; k < scan->n_views; k++)
            if (fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P) == FBP_OK &&
                fbp_project(P, at, cr)) {
                c->axis[i][0] = fmin(c->axis[i][0], cr[0]);
                c->axis[i][1] = fmax(c->axis[i][1], cr[0]);
            }
    }
}

/* Store why fbp recon would fail for this scan (c->error), and warnings about its geometry. */
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

/* Compute c->facts, and whether any field of view exists (c->seen). A failure is stored in
 * c->error; if the scan has no valid angles, it is printed, and 1 is returned. */
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
    if (project_all(scan, c) != FBP_OK)
        return cli_fail();
    for (int i = 0; i < 2; i++) {
        const struct fbp_view *v = &scan->views[i ? scan->n_views - 1 : 0];
        c->theta_deg[i] = cli_degrees(atan2(v->s[1], v->s[0]));
    }
    project_axis(scan, c);
    c->flip[0] = (double)scan->panel.n_columns - 1 - (c->iso[0].lo + c->iso[0].hi);
    c->flip[1] = (double)scan->panel.n_rows - 1 - (c->iso[1].lo + c->iso[1].hi);
    warn_all(scan, path, c);
    if (c->seen && fbp_geometry_rows(fbp_scan_views(scan), 0, scan->n_views, &c->grid, 0,
                                     c->grid.n[2], &c->rows[0], &c->rows[1]) != FBP_OK)
        return cli_fail();
    const double *voxel = c->grid.voxel_mm;
    if (c->seen && !flips_of(scan, &c->facts, fmin(fmin(voxel[0], voxel[1]), voxel[2]), c->flips))
        return cli_error("%s: out of memory for the views of the scan; close other programs", path);
    return 0;
}
