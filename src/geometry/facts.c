/* All that follows from views, panel and grid. */
#include "geometry/facts.h"

#include "base/mem.h"
#include "base/sizes.h"
#include "base/stop.h"
#include "geometry/coverage.h"
#include "geometry/kind.h"

#include <stdio.h>

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

static void widen(double range[2], double lo, double hi, bool first)
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
        widen(sides->middle[i], (v->edge_lo[i] + v->edge_hi[i]) / 2,
              (v->edge_lo[i] + v->edge_hi[i]) / 2, first);
        sides->pixel_hi[i] = first ? v->pixel_hi[i] : fmin(sides->pixel_hi[i], v->pixel_hi[i]);
    }
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
