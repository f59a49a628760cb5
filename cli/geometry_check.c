/* Computes the results of `fbp geometry check`, also used by `show`: projections of iso-centre,
 * axis and volume, errors and warnings.  cmd_geometry.c calls check_geometry(). */
#include "geometry_check.h"

#include "geometry/kind.h"
#include "scan/file/scan.h"
#include "weight/weight.h"

#include <math.h>

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
static bool land(const double P[12], const double x[3], double cr[2])
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
        if (!land(P, x, cr)) {
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
        land(P, iso, cr);
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
                land(P, at, cr)) {
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
