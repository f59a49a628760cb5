/* Facts of a geometry: circle, symmetry, detector, errors of the method, and remarks about them. */
#include "geometry/facts.h"

#include "geometry/coverage.h"
#include "geometry/kind.h"

#include "base/mem.h"
#include "base/sizes.h"
#include "base/stop.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>

/* All that follows from views, panel and grid. */

/* Panels are offset on purpose when the two sides differ by more than this part of the fan. */
static const double ASYMMETRY = 0.02;

/* Rays are weighted one by one, and neighbouring views fill what is missing, up to this gap. */
static const double LARGEST_GAP = FBP_PI / 2;
enum { COVERAGE_STEPS = 32 }; /* from the axis to the detector's edge, at which gaps are measured */

/* Of a ball: what a circular reconstruction of views that wander along the axis may be off by. */
static const double WANDER_LIMIT = 0.01;

/* Least error of the method that causes a warning. */
static const double METHOD_LIMIT = 0.005;

/* Sides of the panel over all views; lo along -t, hi along +t; [0] fan angle, [1] distance. */
struct sides {
    double mean_lo[2], mean_hi[2];   /* outer edges, averaged */
    double edge_lo[2], edge_hi[2];   /* reach of the outer edges that every view has */
    double pixel_lo[2], pixel_hi[2]; /* the same of the outermost pixel centres */
    double middle[2][2];             /* [fan angle, distance][least, greatest] of the middles */
};

static void widen_range(double range[2], double lo, double hi, bool first)
{
    range[0] = first ? lo : fmin(range[0], lo);
    range[1] = first ? hi : fmax(range[1], hi);
}

static void fold_sides(struct sides *sides, const struct fbp_view_facts *v, bool first, double n)
{
    for (int i = 0; i < 2; i++) {
        sides->mean_lo[i] += v->edge_lo[i] / n;
        sides->mean_hi[i] += v->edge_hi[i] / n;
        sides->edge_lo[i] = first ? -v->edge_lo[i] : fmin(sides->edge_lo[i], -v->edge_lo[i]);
        sides->edge_hi[i] = first ? v->edge_hi[i] : fmin(sides->edge_hi[i], v->edge_hi[i]);
        sides->pixel_lo[i] = first ? -v->pixel_lo[i] : fmin(sides->pixel_lo[i], -v->pixel_lo[i]);
        widen_range(sides->middle[i], (v->edge_lo[i] + v->edge_hi[i]) / 2,
                    (v->edge_lo[i] + v->edge_hi[i]) / 2, first);
        sides->pixel_hi[i] = first ? v->pixel_hi[i] : fmin(sides->pixel_hi[i], v->pixel_hi[i]);
    }
}

static void fold(struct fbp_geometry_facts *out, const struct fbp_view_facts *v, bool first,
                 double n)
{
    widen_range(out->sod_mm, v->sod, v->sod, first);
    widen_range(out->sdd_mm, v->sdd, v->sdd, first);
    widen_range(out->fan_rad, v->edge_lo[0], v->edge_hi[0], first);
    widen_range(out->edge_mm, v->edge_lo[1], v->edge_hi[1], first);
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

fbp_status fbp_coverage_of(struct fbp_ray_coverage *out, const struct fbp_kind_table *kind,
                           const struct fbp_views *views, const double axis[3])
{
    double *angle = NULL, (*edge)[2] = NULL;
    struct fbp_view_facts v;
    fbp_status st;

    *out = (struct fbp_ray_coverage){0};
    FBP_TRY_GOTO(fbp_calloc((void **)&angle, views->n, sizeof *angle, "coverage"));
    FBP_TRY_GOTO(fbp_calloc((void **)&edge, views->n, sizeof *edge, "coverage"));
    for (size_t k = 0; k < views->n; k++) {
        FBP_TRY_GOTO(fbp_view_facts_of(kind, views, k, axis, &v));
        angle[k] = fbp_view_angle(&views->view[k], axis);
        edge[k][0] = v.pixel_lo[kind->has_source ? 0 : 1];
        edge[k][1] = v.pixel_hi[kind->has_source ? 0 : 1];
    }
    FBP_TRY_GOTO(
        fbp_coverage_create(out, kind->has_source, views->n, angle, (const double(*)[2])edge));
fail:
    free(angle);
    free(edge);
    return st;
}

/* Facts of rays that are weighted one by one: how far from the axis all lines were measured, and
 * how far at least those of most directions. */
static void ray_facts(struct fbp_geometry_facts *out, const struct fbp_ray_coverage *rays,
                      const struct fbp_arc *arc, bool source)
{
    const double *side = source ? out->fan_rad : out->edge_mm;
    const double far = fmax(-side[0], side[1]);
    double reach = 0, complete = 0, largest = 0, last = -1;

    for (int i = 0; i <= COVERAGE_STEPS; i++) {
        const double x = far * fmin(i, COVERAGE_STEPS - 0.5) / COVERAGE_STEPS;
        const double gap = fbp_coverage_gap(rays, x);
        largest = fmax(largest, gap);
        if (largest <= LARGEST_GAP)
            reach = i == COVERAGE_STEPS ? far : x;
        if (largest + arc->step_rad[1] <= arc->usual_gap_rad)
            complete = last = reach;
    }
    out->per_ray = true;
    out->direction_gap_rad = arc->step_rad[1] + largest;
    out->coverage = last < far  ? FBP_COVERAGE_PARTIAL
                    : arc->full ? FBP_COVERAGE_FULL
                                : FBP_COVERAGE_SHORT;
    out->fov_radius_mm = source ? out->sod_mm[0] * sin(reach) : reach;
    out->complete_radius_mm = source ? out->sod_mm[0] * sin(complete) : complete;
}

static fbp_status coverage(struct fbp_geometry_facts *out, const struct sides *sides,
                           const struct fbp_kind_table *kind, const struct fbp_views *views,
                           const struct fbp_arc *arc)
{
    const bool source = kind->has_source;
    const double *const middle = sides->middle[source ? 0 : 1];
    const double width = sides->mean_hi[source ? 0 : 1] - sides->mean_lo[source ? 0 : 1];
    struct fbp_ray_coverage rays = {0};

    angles_of(out, arc);
    out->needed_rad = FBP_PI + fan_of(sides, source);
    if (middle[1] - middle[0] > ASYMMETRY * width || arc->n_gaps > 1)
        FBP_TRY(fbp_coverage_of(&rays, kind, views, out->axis));
    const bool several = rays.n_groups > 1;
    out->offset =
        arc->n_angles > 2 &&
        (several || (off_centre(sides, source) && (arc->full || arc->gap_rad <= LARGEST_GAP)));
    if (several || (!out->offset && source && arc->n_gaps > 1))
        ray_facts(out, &rays, arc, source);
    fbp_coverage_clear(&rays);
    if (out->per_ray)
        return FBP_OK;
    if (out->offset) { /* one side measures each line once */
        const double gap = out->gap_rad + out->step_rad[1];
        out->needed_rad = 2 * FBP_PI;
        out->direction_gap_rad = fmax(out->direction_gap_rad, gap);
        out->coverage = gap > arc->usual_gap_rad ? FBP_COVERAGE_PARTIAL : FBP_COVERAGE_FULL;
        return FBP_OK;
    }
    const bool enough = arc->n_angles > 2 && arc->direction_gap_rad <= arc->usual_gap_rad;
    out->coverage = arc->full ? FBP_COVERAGE_FULL
                    : enough  ? FBP_COVERAGE_SHORT
                              : FBP_COVERAGE_PARTIAL;
    if (source)
        return FBP_OK;
    return half_turn(out, views);
}

/* Whether rays are measured once on one side, and how far from the axis all is measured. */
static fbp_status field_of_view(struct fbp_geometry_facts *out, const struct sides *s, bool source)
{
    const int unit = source ? 0 : 1;
    const double lo = s->mean_lo[unit], hi = s->mean_hi[unit];
    const bool longer_hi = hi > -lo;

    if (out->per_ray)
        return FBP_OK;
    out->fov_radius_mm = fmin(s->edge_lo[1], s->edge_hi[1]);
    if (!(out->fov_radius_mm > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: the panel does not see the rotation axis in every view (it ends "
                        "%.3g mm beside it): check the panel offset and the source positions",
                        -out->fov_radius_mm);
    /* Of a turn with gaps, the lines that both sides of an offset panel measure are complete. */
    if (out->coverage != FBP_COVERAGE_PARTIAL || out->offset)
        out->complete_radius_mm = out->fov_radius_mm;
    if (!out->offset)
        return FBP_OK;
    /* up to the last pixel's centre, so that its weight is 0 */
    out->overlap_rad = longer_hi ? s->pixel_lo[0] : s->pixel_hi[0];
    out->overlap_mm = longer_hi ? s->pixel_lo[1] : s->pixel_hi[1];
    out->fov_radius_mm = longer_hi ? s->edge_hi[1] : s->edge_lo[1];
    if (out->coverage == FBP_COVERAGE_FULL)
        out->complete_radius_mm = out->fov_radius_mm;
    if (!(out->overlap_mm > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: the offset panel's last pixel does not reach beyond the "
                        "rotation axis: check the panel offset");
    return FBP_OK;
}

/* A gap is a cause of errors if it exceeds two mean steps, as those of golden-ratio angles do not,
 * by 2 degrees.  Of two disks off the axis, filled gaps of 5 to 60 degrees cost .4 to .6 % (rms)
 * per degree, for all kinds of beams and places of the gap (docs/accuracy.md). */
static double gap_error(const struct fbp_geometry_facts *f, bool source)
{
    const double turn = f->offset ? 2 * FBP_PI : FBP_PI;
    const double covered = f->coverage == FBP_COVERAGE_SHORT && source ? f->arc_rad : turn;
    const double step = f->per_ray ? f->step_rad[1] : covered / (double)f->n_angles;
    const double degree = FBP_PI / 180;
    const double gap = f->direction_gap_rad - step;

    return f->n_angles > 2 && f->direction_gap_rad > 2 * step + 2 * degree ? 0.005 * gap / degree
                                                                           : 0;
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
    struct sides sides = {.mean_lo = {0}};
    struct fbp_arc arc = {0};
    fbp_status st;

    FBP_TRY(fbp_check_views(views));
    fbp_axis_of(views->view, views->n, out->axis);
    FBP_TRY(look_at_views(kind, views, out, &sides));
    const bool source = kind->has_source;
    FBP_TRY(
        fbp_arc_create(&arc, views->view, views->n, out->axis, 2 * FBP_PI, fan_of(&sides, source)));
    FBP_TRY_GOTO(coverage(out, &sides, kind, views, &arc));
    FBP_TRY_GOTO(field_of_view(out, &sides, source));
    out->gap_error = gap_error(out, source);
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

/* Rounded, without -0. */
static double percent(double part)
{
    return round(1e4 * part) / 100 + 0.0;
}

static void method_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    const double *e = f->method_error;

    snprintf(
        buf, n,
        "FDK is exact in the plane of the source only: the mean of a small ball deviates by "
        "%+.2f %% in the middle, %+.2f %% at the rim, %+.2f %% at the top, %+.2f %% at the bottom "
        "of the volume: increase the source distance, or reconstruct fewer slices",
        percent(e[0]), percent(e[1]), percent(e[2]), percent(e[3]));
}

/* Greatest magnitude. */
static double method_error(const struct fbp_geometry_facts *f)
{
    double most = 0;

    for (int i = 0; i < 4; i++)
        most = fmax(most, fabs(f->method_error[i]));
    return most;
}

bool fbp_geometry_remark(const struct fbp_geometry_facts *facts, size_t i, char *buf, size_t n)
{
    FBP_GIVEN_ELSE(false, buf);
    void (*words[2])(const struct fbp_geometry_facts *, char *, size_t);
    struct fbp_geometry_facts whole, *const f = &whole;
    size_t count = 0;

    if (FBP_TAKE(geometry_facts, f, facts) != FBP_OK)
        return false;

    if (f->wander_error <= WANDER_LIMIT &&
        f->wander_mm > (f->pitch_mm != 0 ? 0.02 : 0.2) * f->seen_mm)
        words[count++] = wander_words;
    if (method_error(f) >= METHOD_LIMIT)
        words[count++] = method_words;
    if (i >= count)
        return fbp_angle_remark(f, i - count, buf, n);
    words[i](f, buf, n);
    return true;
}

/* Remarks of fbp_geometry_remark() about angles and units. */

static const double DEGREES = 180 / FBP_PI, WIDE_FAN_DEG = 120;

/* Directions of rays that no view has measured. */
static void gap_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    const double deg = f->arc_rad * DEGREES, gap = f->direction_gap_rad * DEGREES;
    const bool strip = f->complete_radius_mm > 0 && f->coverage == FBP_COVERAGE_PARTIAL;
    char what[200];

    if (!(f->gap_error > 0))
        return;
    if (strip)
        snprintf(what, sizeof what,
                 "lines farther than %.4g mm from the axis were not measured over %.3g degrees%s",
                 f->complete_radius_mm, gap,
                 f->offset ? " (the detector is off centre: these take a full turn)" : "");
    else if (f->coverage == FBP_COVERAGE_PARTIAL && deg < f->needed_rad * DEGREES - 0.05)
        snprintf(what, sizeof what, "limited angle: %.4g degrees were measured, %.4g are needed",
                 deg, f->needed_rad * DEGREES);
    else
        snprintf(what, sizeof what, "no view has measured rays over %.3g degrees of directions",
                 gap);
    snprintf(
        buf, n,
        "%s: the views beside this gap fill it: expect streaks, and errors of about %.2g %% of "
        "the values (rms)%s: measure the missing views, or check the angles",
        what, 100 * f->gap_error, strip ? ", if the object reaches that far" : "");
}

static void angle_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    const double arc = f->arc_rad * DEGREES;

    if (f->n_angles == 2)
        snprintf(buf, n, "all views stand at 2 angles: from so few nothing can be reconstructed");
    else if (f->n_angles > 8 && arc > 3 && arc < 6.6)
        snprintf(buf, n,
                 "%.6g degrees in all: are these angles in radians, in which a turn is 6.28319? "
                 "degrees are expected",
                 arc);
}

static void fan_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    const double fan = (f->fan_rad[1] - f->fan_rad[0]) * DEGREES;

    if (fan > WIDE_FAN_DEG)
        snprintf(buf, n, "the fan is %.4g degrees wide: is the pitch of the pixels in mm?", fan);
}

static void sphere_words(const struct fbp_geometry_facts *f, char *buf, size_t n)
{
    if (f->gap_rad > 0)
        snprintf(buf, n,
                 "no direction lies in a circle of %.3g degrees on the sphere: parts of the volume "
                 "are not determined: are views missing?",
                 f->gap_rad * DEGREES);
}

bool fbp_angle_remark(const struct fbp_geometry_facts *f, size_t i, char *buf, size_t n)
{
    const bool planes = f->spacing_mm > 0;
    void (*const words[])(const struct fbp_geometry_facts *, char *, size_t) = {
        planes ? sphere_words : angle_words, planes || f->n_angles < 3 ? NULL : gap_words,
        planes ? NULL : fan_words};

    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        buf[0] = '\0';
        if (words[k])
            words[k](f, buf, n);
        if (buf[0] && i-- == 0)
            return true;
    }
    return false;
}

/* Which detector rows a slab needs. */

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
static bool widen_rows(struct range *range, const struct fbp_kind_table *kind,
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
        if (!widen_rows(&range, kind, views, k, corners))
            return;
    /* taps: floor and floor + 1 */
    const double first = floor(range.lo - MARGIN_PX);
    const double end = floor(range.hi + MARGIN_PX) + 2;
    *r0 = (size_t)fmin(fmax(first, 0), n_rows);
    *r1 = (size_t)fmin(fmax(end, 0), n_rows);
    if (*r0 >= *r1)
        *r0 = *r1 = 0;
}

/* Symmetries, read off the matrices: (c, r, 1) w = P (x, y, z, 1). */

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
