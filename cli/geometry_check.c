#include "geometry_check.h"

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

/* Column and row of a point; false if it is not in front of the source. */
static bool land(const double P[12], const double x[3], double cr[2])
{
    const double w = dot4(P + 8, x);

    cr[0] = dot4(P, x) / w;
    cr[1] = dot4(P + 4, x) / w;
    return w > 0;
}

/* The outer corner of the volume, not the centre of its corner voxel. */
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

/* Columns of two points of the axis.  Of a fan beam: the iso-centre alone. */
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

static void warn_coverage(struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double deg = cli_degrees(f->arc_rad), gap = cli_degrees(f->direction_gap_rad);

    if (f->coverage == FBP_COVERAGE_PARTIAL && deg < cli_degrees(f->needed_rad) - 0.05)
        check_warn(c,
                   "%.4g degrees were measured but %.4g are needed: parts of the volume are not "
                   "determined",
                   deg, cli_degrees(f->needed_rad));
    else if (f->coverage == FBP_COVERAGE_PARTIAL)
        check_warn(
            c,
            "no rays were measured over %.4g degrees of their directions: parts of the volume "
            "are not determined",
            gap);
    else if (f->coverage == FBP_COVERAGE_SHORT && f->direction_gap_rad > 3 * f->step_rad[1])
        check_warn(
            c, "there is a gap of %.4g degrees between the directions of rays: are views missing?",
            gap);
    else if (f->coverage == FBP_COVERAGE_FULL && f->gap_rad > 2 * f->step_rad[1])
        check_warn(c,
                   "there is a gap of %.4g degrees between neighbouring views: are views missing?",
                   cli_degrees(f->gap_rad + f->step_rad[1]));
}

static void warn_angles(struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double arc = cli_degrees(f->arc_rad);

    if (f->n_angles < 3) {
        if (f->n_angles == 2) /* of one, warn_path() tells */
            check_warn(c, "all views stand at 2 angles: from so few nothing can be reconstructed");
        return;
    }
    if (f->n_angles > 8 && arc > 3 && arc < 6.6)
        check_warn(c,
                   "%.6g degrees in all: are these angles in radians, in which a turn is 6.28319? "
                   "degrees are expected",
                   arc);
    warn_coverage(c);
    if (f->offset && f->coverage != FBP_COVERAGE_FULL)
        check_warn(c,
                   "the detector is off centre, which needs a full turn: measure 360 degrees, or "
                   "check the offset and the sign of u");
}

/* What the reconstruction would refuse, or remark on. */
static void warn_path(const char *path, struct check *c)
{
    char line[300];

    if (!c->error[0] && fbp_geometry_circular(&c->facts) != FBP_OK)
        snprintf(c->error, sizeof c->error, "%s: %s", path, fbp_message());
    for (size_t i = 0; fbp_geometry_remark(&c->facts, i, line, sizeof line); i++)
        check_warn(c, "%s", line);
}

static void warn_fan(struct check *c)
{
    const double fan = cli_degrees(c->facts.fan_rad[1] - c->facts.fan_rad[0]);

    if (fan > 120)
        check_warn(c, "the fan is %.4g degrees wide: is the pitch of the pixels in mm?", fan);
}

/* Distance from the axis of the middle of the volume's farther side.  That the corners of a cube
 * lie outside a round field of view is usual and no reason to warn. */
static double side_reach(const struct fbp_grid *g)
{
    double reach = 0;

    for (int i = 0; i < 2; i++)
        reach = fmax(reach, fabs(g->centre_mm[i]) + (double)(g->n[i] - 1) * g->voxel_mm[i] / 2);
    return reach;
}

static void warn_volume(const struct fbp_scan *scan, struct check *c)
{
    const struct fbp_geometry_facts *f = &c->facts;
    const double last_row = (double)scan->panel.n_rows - 1;

    if (c->behind)
        check_warn(c, "the volume reaches behind the source in %zu views: make it smaller",
                   c->behind);
    if (scan->volume.n[0] == 0) /* the default reaches as far as anything can be seen */
        return;
    if (side_reach(&c->grid) > f->fov_radius_mm)
        check_warn(c,
                   "the volume reaches %.5g mm from the axis, the field of view %.5g mm: values "
                   "beyond it are not determined",
                   f->volume_radius_mm, f->fov_radius_mm);
    if (scan->panel.n_rows > 1 && (c->corners[1].lo < -0.5 || c->corners[1].hi > last_row + 0.5))
        check_warn(c,
                   "corners land on rows %.1f to %.1f of a detector with rows 0 to %.0f: the outer "
                   "slices are not fully seen",
                   c->corners[1].lo, c->corners[1].hi, last_row);
}

/* What goes wrong behind the views themselves leaves them known. */
static int find_facts(const struct fbp_scan *scan, const char *path, struct check *c)
{
    if (fbp_views_facts(fbp_scan_views(scan), c->grid.n[0] ? &c->grid : NULL, &c->facts) != FBP_OK)
        snprintf(c->error, sizeof c->error, "%s: %s", path, fbp_message());
    c->seen = c->facts.fov_radius_mm > 0;
    return c->facts.n_angles > 0 ? 0 : cli_error("%s", c->error);
}

static bool look_at_volume(const struct fbp_scan *scan, struct check *c)
{
    const double *voxel = c->grid.voxel_mm;
    warn_volume(scan, c);
    return flips_of(scan, &c->facts, fmin(fmin(voxel[0], voxel[1]), voxel[2]), c->flips);
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
    warn_angles(c);
    warn_fan(c);
    warn_path(path, c);
    if (c->seen && fbp_geometry_rows(fbp_scan_views(scan), 0, scan->n_views, &c->grid, 0,
                                     c->grid.n[2], &c->rows[0], &c->rows[1]) != FBP_OK)
        return cli_fail();
    if (c->seen && !look_at_volume(scan, c))
        return cli_error("%s: out of memory for its views: close other programs", path);
    return 0;
}
