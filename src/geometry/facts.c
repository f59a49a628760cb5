/* All that follows from views, panel and grid. */
#include "geometry/facts.h"

#include "base/sizes.h"
#include "base/stop.h"
#include "geometry/kind.h"

#include <stdio.h>

/* Panels are offset on purpose when the two sides differ by more than this part of the fan. */
static const double ASYMMETRY = 0.02;

/* Of a ball: what a circular reconstruction of views that wander along the axis may be off by. */
static const double WANDER_LIMIT = 0.01, RISE_LIMIT = 0.01;

/*
 * Rows of an offset panel are filtered together with those of opposite views, which lean the other
 * way.  What a ball near the axis deviates by then, of its value, for each degree; the second times
 * the offset as a part of the panel's width (tests/recon/test_lean.c).
 */
static const double LEAN_ERROR[2] = {0.0030, 0.009}, LEAN_LIMIT = 0.001;

/* Sides of the panel over all views; lo along -t, hi along +t; [0] fan angle, [1] distance. */
struct sides {
    double mean_lo[2], mean_hi[2];   /* outer edges, averaged */
    double edge_lo[2], edge_hi[2];   /* reach of the outer edges that every view has */
    double pixel_lo[2], pixel_hi[2]; /* the same of the outermost pixel centres */
};

static void fold_sides(struct sides *sides, const struct fbp_view_facts *v, bool first, double n)
{
    for (int i = 0; i < 2; i++) {
        sides->mean_lo[i] += v->edge_lo[i] / n;
        sides->mean_hi[i] += v->edge_hi[i] / n;
        sides->edge_lo[i] = first ? -v->edge_lo[i] : fmin(sides->edge_lo[i], -v->edge_lo[i]);
        sides->edge_hi[i] = first ? v->edge_hi[i] : fmin(sides->edge_hi[i], v->edge_hi[i]);
        sides->pixel_lo[i] = first ? -v->pixel_lo[i] : fmin(sides->pixel_lo[i], -v->pixel_lo[i]);
        sides->pixel_hi[i] = first ? v->pixel_hi[i] : fmin(sides->pixel_hi[i], v->pixel_hi[i]);
    }
}

static void widen(double range[2], double lo, double hi, bool first)
{
    range[0] = first ? lo : fmin(range[0], lo);
    range[1] = first ? hi : fmax(range[1], hi);
}

static void fold(struct fbp_geometry_facts *out, const struct fbp_view_facts *v, bool first,
                 double n)
{
    widen(out->sod_mm, v->sod, v->sod, first);
    widen(out->sdd_mm, v->sdd, v->sdd, first);
    widen(out->fan_rad, v->edge_lo[0], v->edge_hi[0], first);
    widen(out->edge_mm, v->edge_lo[1], v->edge_hi[1], first);
    out->magnification += v->magnification / n;
    out->fov_half_height_mm[0] = first ? v->axis_lo : fmax(out->fov_half_height_mm[0], v->axis_lo);
    out->fov_half_height_mm[1] = first ? v->axis_hi : fmin(out->fov_half_height_mm[1], v->axis_hi);
    for (int i = 0; i < 3; i++)
        out->tilt_rad[i] = fmax(out->tilt_rad[i], fabs(v->tilt[i]));
    out->skew_rad = fmax(out->skew_rad, fabs(v->skew));
    out->lean_rad += v->lean / n;
}

static double fan_of(const struct sides *s, bool source)
{
    return source ? s->mean_hi[0] - s->mean_lo[0] : 0;
}

static bool off_centre(const struct sides *s, bool source)
{
    const double lo = s->mean_lo[source ? 0 : 1], hi = s->mean_hi[source ? 0 : 1];

    return fabs(hi + lo) > ASYMMETRY * (hi - lo);
}

static void angles_of(struct fbp_geometry_facts *out, const struct fbp_arc *arc)
{
    out->direction = arc->direction;
    out->start_rad = arc->start_rad;
    out->n_angles = arc->n_angles;
    out->arc_rad = arc->n_angles > 1 ? arc->arc_rad : 0;
    out->gap_rad = arc->gap_rad;
    for (int i = 0; i < 3; i++)
        out->step_rad[i] = arc->step_rad[i];
    out->direction_gap_rad = arc->direction_gap_rad;
}

/* Opposite views of a parallel beam are one: what counts is half a turn of them, wherever its
 * views stand.  A full turn keeps its own steps and gaps, for people. */
static fbp_status half_turn(struct fbp_geometry_facts *out, const struct fbp_views *views)
{
    const double turn = out->arc_rad;
    struct fbp_arc arc;

    FBP_TRY(fbp_arc_create(&arc, views->view, views->n, out->axis, FBP_PI, 0));
    if (arc.n_angles < 3 || !arc.full)
        out->coverage = FBP_COVERAGE_PARTIAL;
    else if (out->coverage != FBP_COVERAGE_FULL)
        out->coverage = FBP_COVERAGE_SHORT;
    if (out->coverage != FBP_COVERAGE_FULL)
        angles_of(out, &arc);
    if (out->coverage == FBP_COVERAGE_SHORT)
        out->arc_rad = fmax(arc.arc_rad, turn);
    fbp_arc_clear(&arc);
    return FBP_OK;
}

static fbp_status coverage(struct fbp_geometry_facts *out, const struct sides *sides, bool source,
                           const struct fbp_views *views, const struct fbp_arc *arc)
{
    angles_of(out, arc);
    out->needed_rad = FBP_PI + fan_of(sides, source);
    const bool enough = arc->n_angles > 2 && arc->direction_gap_rad <= arc->usual_gap_rad;
    out->coverage = arc->full ? FBP_COVERAGE_FULL
                    : enough  ? FBP_COVERAGE_SHORT
                              : FBP_COVERAGE_PARTIAL;
    if (source || (out->coverage == FBP_COVERAGE_FULL && off_centre(sides, source)))
        return FBP_OK;
    return half_turn(out, views);
}

/* Whether rays are measured once on one side, and how far from the axis all is measured. */
static fbp_status field_of_view(struct fbp_geometry_facts *out, const struct sides *s, bool source)
{
    const int unit = source ? 0 : 1;
    const double lo = s->mean_lo[unit], hi = s->mean_hi[unit];
    const bool longer_hi = hi > -lo;

    out->fov_radius_mm = fmin(s->edge_lo[1], s->edge_hi[1]);
    if (!(out->fov_radius_mm > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: the panel does not see the rotation axis in every view (it ends "
                        "%.3g mm beside it): check the panel offset and the source positions",
                        -out->fov_radius_mm);
    out->offset = out->coverage == FBP_COVERAGE_FULL && off_centre(s, source);
    if (!out->offset)
        return FBP_OK;
    /* up to the last pixel's centre, so that its weight is 0 */
    out->overlap_rad = longer_hi ? s->pixel_lo[0] : s->pixel_hi[0];
    out->overlap_mm = longer_hi ? s->pixel_lo[1] : s->pixel_hi[1];
    out->fov_radius_mm = longer_hi ? s->edge_hi[1] : s->edge_lo[1];
    out->lean_error = out->lean_rad * 180 / FBP_PI *
                      (LEAN_ERROR[0] + LEAN_ERROR[1] * fabs(hi + lo) / (hi - lo) / 2);
    if (!(out->overlap_mm > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: the offset panel's last pixel does not reach beyond the "
                        "rotation axis: check the panel offset");
    return FBP_OK;
}

/* Corner i of the grid, a voxel centre. */
static void corner(const struct fbp_grid *g, int i, double out[3])
{
    for (int axis = 0; axis < 3; axis++)
        out[axis] = fbp_grid_coordinate(g, axis, i >> axis & 1 ? (double)g->n[axis] - 1 : 0);
}

static fbp_status check_corner(const struct fbp_kind_table *kind, const struct fbp_views *views,
                               const double x[3], bool *inside)
{
    for (size_t k = 0; k < views->n; k++) {
        double P[12];
        FBP_TRY(fbp_go_on());
        if (!kind->matrix(&views->view[k], &views->panel, P))
            continue; /* refused before */
        const double w = fbp_dot(P + 8, x) + P[11], row = (fbp_dot(P + 4, x) + P[7]) / w;
        if (!(w > 1e-6 * P[11]))
            return fbp_fail(FBP_ERR_INVALID,
                            "geometry: the volume reaches the source of view %zu: make it smaller "
                            "or move its centre",
                            k);
        *inside = *inside && row >= -0.5 && row <= (double)views->panel.n_rows - 0.5;
    }
    return FBP_OK;
}

static fbp_status volume(struct fbp_geometry_facts *out, const struct fbp_kind_table *kind,
                         const struct fbp_views *views, const struct fbp_grid *grid)
{
    bool inside = true;

    for (int i = 0; i < 8; i++) {
        double x[3], across[3];
        corner(grid, i, x);
        fbp_axpy(x, -fbp_dot(x, out->axis), out->axis, across);
        out->volume_radius_mm = fmax(out->volume_radius_mm, fbp_norm(across));
    }
    for (int i = 0; i < 8; i++) {
        double x[3];
        corner(grid, i, x);
        FBP_TRY(check_corner(kind, views, x, &inside));
    }
    out->volume_inside = inside && out->volume_radius_mm <= out->fov_radius_mm;
    return FBP_OK;
}

fbp_status fbp_check_views(const struct fbp_views *views)
{
    const struct fbp_panel *panel = &views->panel;

    if (!views->view || views->n == 0)
        return fbp_fail(FBP_ERR_INVALID, "geometry: the scan has no views");
    if (panel->n_columns == 0 || panel->n_rows == 0)
        return fbp_fail(FBP_ERR_INVALID, "geometry: the panel has %zu x %zu pixels",
                        panel->n_columns, panel->n_rows);
    return FBP_OK;
}

static fbp_status look_at_views(const struct fbp_kind_table *kind, const struct fbp_views *views,
                                struct fbp_geometry_facts *out, struct sides *sides)
{
    const double n = (double)views->n;

    for (size_t k = 0; k < views->n; k++) {
        struct fbp_view_facts v;
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_view_facts_of(kind, views, k, out->axis, &v));
        fold(out, &v, k == 0, n);
        fold_sides(sides, &v, k == 0, n);
    }
    return FBP_OK;
}

fbp_status fbp_line_facts(const struct fbp_kind_table *kind, const struct fbp_views *views,
                          const struct fbp_grid *grid, struct fbp_geometry_facts *out)
{
    struct sides sides = {{0}, {0}, {0}, {0}, {0}, {0}};
    struct fbp_arc arc = {0};
    fbp_status st;

    FBP_TRY(fbp_check_views(views));
    fbp_axis_of(views->view, views->n, out->axis);
    FBP_TRY(look_at_views(kind, views, out, &sides));
    const bool source = kind->has_source;
    FBP_TRY(
        fbp_arc_create(&arc, views->view, views->n, out->axis, 2 * FBP_PI, fan_of(&sides, source)));
    FBP_TRY_GOTO(coverage(out, &sides, source, views, &arc));
    FBP_TRY_GOTO(field_of_view(out, &sides, source));
    struct fbp_wander wander = {kind, views, &arc, {0}, out->fov_radius_mm};
    fbp_axpy(out->axis, 0, out->axis, wander.axis);
    fbp_wander_of(&wander, grid, out);
    out->symmetry = fbp_symmetry_of(kind, views, grid);
    if (grid)
        FBP_TRY_GOTO(volume(out, kind, views, grid));
    st = FBP_OK;
fail:
    fbp_arc_clear(&arc);
    return st;
}

fbp_status fbp_geometry_circular(const struct fbp_geometry_facts *facts)
{
    struct fbp_geometry_facts whole, *const f = &whole;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(geometry_facts, f, facts));
    if (f->n_angles < 2)
        return fbp_fail(FBP_ERR_INVALID,
                        "all views stand at one angle, %.6g degrees%s: that determines no volume, "
                        "views all over %.4g degrees would: check the scan's angles, or matrices",
                        f->start_rad * 180 / FBP_PI, f->sod_mm[1] > 0 ? "" : " modulo 180",
                        f->needed_rad * 180 / FBP_PI);
    if (!(f->wander_error > WANDER_LIMIT))
        return FBP_OK;
    if (f->pitch_mm != 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "geometry: the views move along the axis by %.4g mm a turn, %.4g mm in "
                        "all, of which each sees %.4g mm: helical scans are not in this release",
                        fabs(f->pitch_mm), f->wander_mm, f->seen_mm);
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "geometry: the views wander along the axis by %.4g mm, of which each sees "
                    "%.4g mm: that is no circle, and other paths (helical scans too) are not in "
                    "this release",
                    f->wander_mm, f->seen_mm);
}

static void wander_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    if (f->pitch_mm != 0)
        snprintf(buf, n,
                 "the views move along the axis by %.4g mm a turn, %.4g mm in all: that is a "
                 "helix; it is so flat that a circular reconstruction serves (%.2g %% of a ball)",
                 fabs(f->pitch_mm), f->wander_mm, 100 * f->wander_error);
    else
        snprintf(buf, n,
                 "the views wander along the axis by %.4g mm, of which each sees %.4g mm: all of "
                 "them see z from %.4g to %.4g mm",
                 f->wander_mm, f->seen_mm, f->fov_half_height_mm[0], f->fov_half_height_mm[1]);
}

static void lean_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    snprintf(buf, n,
             "rows of the offset panel lean by %.3g degrees against the plane of the turn, those "
             "of opposite views the other way: near the axis values deviate by about %.2g %%, "
             "up and down (means stay): turn the projections upright first",
             f->lean_rad * 180 / FBP_PI, 100 * f->lean_error);
}

static void rise_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    snprintf(buf, n,
             "rays through the middle of the volume rise by %.3g degrees out of the plane of the "
             "turn: such views do not measure all frequencies: of a ball %.2g %% are lost",
             acos(1 - f->rise_error) * 180 / FBP_PI, 100 * f->rise_error);
}

bool fbp_geometry_remark(const struct fbp_geometry_facts *facts, size_t i, char *buf, size_t n)
{
    void (*words[3])(const struct fbp_geometry_facts *, char *, size_t);
    struct fbp_geometry_facts whole, *const f = &whole;
    size_t count = 0;

    if (FBP_TAKE(geometry_facts, f, facts) != FBP_OK)
        return false;

    if (f->wander_error <= WANDER_LIMIT &&
        f->wander_mm > (f->pitch_mm != 0 ? 0.02 : 0.2) * f->seen_mm)
        words[count++] = wander_words;
    if (f->lean_error > LEAN_LIMIT)
        words[count++] = lean_words;
    if (f->rise_error > RISE_LIMIT)
        words[count++] = rise_words;
    if (i >= count)
        return fbp_angle_remark(f, i - count, buf, n);
    words[i](f, buf, n);
    return true;
}
