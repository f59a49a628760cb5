/* Facts of a scan of line integrals (fbp_line_facts(); cone and parallel beams): arc of the views,
 * coverage, field of view, symmetries, movement along the axis; also the detector rows that slices
 * need, the default grid, and fbp_grid_coordinate() (public).
 * Used by: bench/, cli/, analysis/, backend/, geometry/, phantom/, pipeline/, scan/, weight/. */
#include "geometry/kind.h"

#include "geometry/coverage.h"

#include "base/base.h"
#include "base/threads.h"

#include <string.h>

/* A panel counts as offset if its asymmetry |hi + lo| / (hi - lo) exceeds this; lo, hi: positions
 * of the panel's edges relative to the axis, with signs. */
static const double ASYMMETRY = 0.02;

/* Greatest gap between directions of measured rays [rad] that neighbouring views may fill:
 * distances from the axis with larger gaps do not belong to the field of view. */
static const double LARGEST_GAP = FBP_PI / 2;
/* Steps from the axis to the detector's edge; gaps of ray directions are measured at each. */
enum { COVERAGE_STEPS = 32 };

/* Positions of the panel's two sides: lo along -t, hi along +t (t: direction in which the source
 * moves in a counter-clockwise turn).  Index 0: fan angle [rad], 1: distance from the axis [mm]. */
struct sides {
    double mean_lo[2], mean_hi[2]; /* outer edges, mean over the views */
    /* least distance from the axis (or fan angle) of the outer edges; below 0: axis outside */
    double edge_lo[2], edge_hi[2];
    /* the same for the outermost pixel centres */
    double pixel_lo[2], pixel_hi[2];
    double middle[2][2]; /* position of the panel's middle: [0] fan angle, [1] distance from the
                            axis; of each, [0] least and [1] greatest value over the views */
};

static void widen_range(double range[2], double lo, double hi, bool first)
{
    range[0] = first ? lo : fmin(range[0], lo);
    range[1] = first ? hi : fmax(range[1], hi);
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

/* Find which redundancy weights the views need (out->offset, out->per_ray), and whether they have
 * measured all lines through the field of view (out->coverage). */
static fbp_status coverage(struct fbp_geometry_facts *out, const struct sides *sides,
                           const struct fbp_kind_table *kind, const struct fbp_views *views,
                           const struct fbp_arc *arc)
{
    const bool source = kind->has_source;
    const int unit = source ? 0 : 1;
    const double lo = sides->mean_lo[unit], hi = sides->mean_hi[unit];
    const bool off_centre = fabs(hi + lo) > ASYMMETRY * (hi - lo);
    struct fbp_ray_coverage rays = {0};
    struct fbp_arc half;

    angles_of(out, arc);
    out->needed_rad = FBP_PI + (source ? hi - lo : 0);
    if (sides->middle[unit][1] - sides->middle[unit][0] > ASYMMETRY * (hi - lo) || arc->n_gaps > 1)
        FBP_TRY(fbp_coverage_of(&rays, kind, views, out->axis));
    const bool several = rays.n_groups > 1;
    out->offset = arc->n_angles > 2 &&
                  (several || (off_centre && (arc->full || arc->gap_rad <= LARGEST_GAP)));
    if (several || (!out->offset && source && arc->n_gaps > 1)) { /* facts of weights per ray */
        const double *side = source ? out->fan_rad : out->edge_mm, far = fmax(-side[0], side[1]);
        double reach = 0, complete = 0, largest = 0, last = -1;
        for (int i = 0; i <= COVERAGE_STEPS; i++) {
            const double x = far * fmin(i, COVERAGE_STEPS - 0.5) / COVERAGE_STEPS;
            largest = fmax(largest, fbp_coverage_gap(&rays, x));
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
    fbp_coverage_clear(&rays);
    if (out->per_ray)
        return FBP_OK;
    if (out->offset) { /* the longer side of the panel measures each line once */
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

    /* Opposite views of a parallel beam measure the same rays: coverage follows from angles modulo
     * pi. For a full turn, the reported steps and gaps are those modulo 2 pi. */
    FBP_TRY(fbp_arc_create(&half, views->view, views->n, out->axis, FBP_PI, 0, false));
    if (half.n_angles < 3 || !half.full)
        out->coverage = FBP_COVERAGE_PARTIAL;
    else if (out->coverage != FBP_COVERAGE_FULL)
        out->coverage = FBP_COVERAGE_SHORT;
    const double turn = out->arc_rad;
    if (out->coverage != FBP_COVERAGE_FULL)
        angles_of(out, &half);
    if (out->coverage == FBP_COVERAGE_SHORT)
        out->arc_rad = fmax(half.arc_rad, turn);
    fbp_arc_clear(&half);
    return FBP_OK;
}

/* Compute the radius of the field of view, the radius within which all lines were measured, and how
 * far an offset panel extends beyond the axis on its shorter side. */
static fbp_status field_of_view(struct fbp_geometry_facts *out, const struct sides *s, bool source)
{
    const int unit = source ? 0 : 1;
    const bool longer_hi = s->mean_hi[unit] > -s->mean_lo[unit];

    if (out->per_ray)
        return FBP_OK;
    out->fov_radius_mm = fmin(s->edge_lo[1], s->edge_hi[1]);
    if (!(out->fov_radius_mm > 0))
        return FBP_INVALID(
            "geometry: the rotation axis is outside the panel in some views (by up to "
            "%.3g mm); check the panel offset and the source positions",
            -out->fov_radius_mm);
    /* with an offset panel, complete_radius_mm is the radius of the shorter side; if no views are
     * missing, the radius of the longer side replaces it below */
    if (out->coverage != FBP_COVERAGE_PARTIAL || out->offset)
        out->complete_radius_mm = out->fov_radius_mm;
    if (!out->offset)
        return FBP_OK;
    /* the overlap ends at the centre of the shorter side's outermost pixel, whose weight is 0 */
    out->overlap_rad = longer_hi ? s->pixel_lo[0] : s->pixel_hi[0];
    out->overlap_mm = longer_hi ? s->pixel_lo[1] : s->pixel_hi[1];
    out->fov_radius_mm = longer_hi ? s->edge_hi[1] : s->edge_lo[1];
    if (out->coverage == FBP_COVERAGE_FULL)
        out->complete_radius_mm = out->fov_radius_mm;
    if (!(out->overlap_mm > 0))
        return FBP_INVALID("geometry: the offset panel does not extend beyond the "
                           "rotation axis; check the panel offset");
    return FBP_OK;
}

/*
 * Movement of the views along the axis, and the errors of a circular reconstruction that it causes.
 *
 * Every view has its own matrix, therefore a moving source or panel blurs nothing.  Two errors
 * remain.  A voxel that some views do not see lacks their share: measured in the middle half of the
 * part of the axis that a view sees, on the axis and half way to the edge of the field of view,
 * less the loss of the same views without movement.  And rays at an angle kappa to the plane of a
 * circle measure no frequencies within kappa of the axis, 1 - cos(kappa) of a ball, also without
 * movement if the sources stand above or below the volume.  tests/recon/test_axial_drift.c compares
 * the sum with simulated balls.
 */
enum { HEIGHTS = 3, AROUND = 6, POINTS = HEIGHTS * (AROUND + 1) };

/* The path is a helix if a linear fit of height over angle leaves at most this part of variance. */
static const double STEADY = 0.02;

/* A view in the sums of axial_drift(). */
struct drift_view {
    double weight;       /* in means over the views */
    double middle, seen; /* part of the axis that the view sees: middle and length [mm] */
    double source; /* height of the source along the axis [mm], or sine of the rays' elevation */
    /* angle of the source over several turns [rad], and distance from the axis [mm] */
    double angle, radius;
    double P[12];
};

/* Compute the weighted mean of 1 - cos(kappa) over n views; kappa: elevation of the source as seen
 * from the point of the axis at height `level`. */
static double steepness(const struct drift_view *v, size_t n, double weight, double level)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i].weight / weight * (1 - cos(atan2(v[i].source - level, v[i].radius)));
    return sum;
}

/* Compute the fraction, 0 to 1, of a view's value at point x that its rows measure: 1 if x projects
 * between the centres of the outermost rows, falling linearly to 0 within one row beyond them. */
static double part_seen(const double P[12], const struct fbp_panel *panel, const double x[3])
{
    const double depth = fbp_dot(P + 8, x) + P[11], row = (fbp_dot(P + 4, x) + P[7]) / depth;
    const double beyond = fmax(-row, row - ((double)panel->n_rows - 1));

    return depth > 0 ? fmin(1, fmax(0, 1 - beyond)) : 0;
}

/* Set axial_drift_mm, seen_mm, pitch_mm, axial_drift_error and cone_angle_error of *out. arc:
 * angles of the views modulo 2 pi. */
static fbp_status axial_drift(struct fbp_geometry_facts *out, const struct fbp_kind_table *kind,
                              const struct fbp_views *views, const struct fbp_arc *arc,
                              const struct fbp_grid *grid)
{
    const double *const axis = out->axis, ramp = arc->arc_rad - FBP_PI;
    double weight = 0, middle = 0, seen = 0, source = 0, angle = 0, turned = 0, lost[POINTS] = {0};
    double lo = INFINITY, hi = -INFINITY, squares = 0, products = 0, variance = 0, worst = 0;
    struct drift_view *list = NULL;
    struct fbp_frame f;
    size_t n = 0;

    FBP_TRY(fbp_calloc((void **)&list, views->n, sizeof *list, "facts of views"));
    for (size_t k = 0; k < views->n; k++) {
        const struct fbp_view *view = &views->view[k];
        struct drift_view *v = &list[n];
        double z[2];
        if (k > 0)
            turned +=
                remainder(fbp_view_angle(view, axis) - fbp_view_angle(view - 1, axis), 2 * FBP_PI);
        if (!kind->matrix(view, &views->panel, v->P) || !fbp_frame_of(view, axis, &f))
            continue;
        fbp_axis_seen(v->P, &views->panel, axis, z);
        v->middle = (z[0] + z[1]) / 2;
        v->seen = fabs(z[1] - z[0]);
        /* s of a parallel beam is a direction of any length */
        const double length = kind->has_source ? 1 : fbp_norm(view->s);
        v->source = fbp_dot(view->s, axis) / length;
        v->angle = turned;
        v->radius = f.radius / length;
        /* Views near the ends of a short scan get little weight: others measure the same rays. */
        const double end = fmin(arc->position[k], arc->arc_rad - arc->position[k]);
        const bool whole = arc->full || !kind->has_source || !(ramp > 0);
        v->weight = whole ? arc->step[k] : arc->step[k] * fmin(1, end / ramp);
        if (!isfinite(v->middle) || !isfinite(v->seen))
            continue;
        weight += v->weight;
        middle += v->weight * v->middle;
        seen += v->weight * v->seen;
        source += v->weight * v->source;
        angle += v->weight * v->angle;
        lo = fmin(lo, v->middle);
        hi = fmax(hi, v->middle);
        n++;
    }
    middle /= weight;
    seen /= weight;
    source /= weight;
    angle /= weight;
    if (!(weight > 0) || !isfinite(middle)) {
        free(list);
        return FBP_OK;
    }
    out->axial_drift_mm = hi - lo;
    out->seen_mm = seen;

    for (size_t i = 0; i < n; i++) {
        const struct drift_view *v = &list[i];
        squares += v->weight * (v->angle - angle) * (v->angle - angle);
        products += v->weight * (v->angle - angle) * (v->middle - middle);
        variance += v->weight * (v->middle - middle) * (v->middle - middle);
    }
    const double explained = squares > 0 ? products * products / squares : 0;
    out->pitch_mm = explained > (1 - STEADY) * variance ? 2 * FBP_PI * products / squares : 0;

    /* For points on the axis and on a circle around it, at three heights: compute the weighted
     * share of views whose rows miss the point because the views move along the axis. */
    const struct fbp_view unit = {.s = {cos(0.7), sin(0.7), 0.3}}; /* any direction but the axis */
    fbp_frame_of(&unit, axis, &f);
    for (int i = 0; i < POINTS; i++) {
        const int place = i / HEIGHTS;
        const double around = 2 * FBP_PI * place / AROUND, r = place ? out->fov_radius_mm / 2 : 0;
        const double height = middle + seen / 4 * (i % HEIGHTS - 1) * (views->panel.n_rows > 1);
        double x[3], still[3];
        for (int j = 0; j < 3; j++)
            x[j] = height * axis[j] + r * (cos(around) * f.n[j] + sin(around) * f.t[j]);
        for (size_t k = 0; k < n; k++) {
            const struct drift_view *v = &list[k];
            fbp_axpy(x, v->middle - middle, axis, still);
            lost[i] += v->weight / weight *
                       (part_seen(v->P, &views->panel, still) - part_seen(v->P, &views->panel, x));
        }
        worst = fmax(worst, lost[i]);
    }
    out->axial_drift_error = worst + steepness(list, n, weight, source);
    const double level = grid ? fbp_dot(grid->centre_mm, axis) : middle;
    out->cone_angle_error = steepness(list, n, weight, kind->has_source ? level : 0);
    free(list);
    return FBP_OK;
}

/* Greatest relative difference of equal numbers of the grid in the search for symmetries. */
static const double TOLERANCE = 1e-9;

/* Greatest distance of projections of a voxel that count as equal in the search for symmetries
 * [pixels]: calibrated scans are symmetric up to rounding only. */
static const double SYMMETRIC_PX = 0.01;

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= TOLERANCE * scale;
}

/* True if matrices P and Q project the corners x[8] of the grid to the same places, within
 * SYMMETRIC_PX, and their depths agree as well. */
static bool project_alike(const double P[12], const double Q[12], const double (*x)[3])
{
    for (int i = 0; i < 8; i++) {
        double p[3], q[3];
        for (int r = 0; r < 3; r++) {
            p[r] = fbp_dot(P + 4 * r, x[i]) + P[4 * r + 3];
            q[r] = fbp_dot(Q + 4 * r, x[i]) + Q[4 * r + 3];
        }
        if (!(p[2] * q[2] > 0) || !(fabs(p[0] / p[2] - q[0] / q[2]) <= SYMMETRIC_PX) ||
            !(fabs(p[1] / p[2] - q[1] / q[2]) <= SYMMETRIC_PX) ||
            !(fabs(P[11] * q[2] / (Q[11] * p[2]) - 1) <= 1e-4))
            return false;
    }
    return true;
}

/* True if view k rotated about z by `quarters` quarter turns (2, 1 or -1) projects the corners of
 * the grid like view k + n/2 (quarters 2) or k + n/4, for all k. P[n]: matrices. */
static bool turned(const double (*P)[12], size_t n, int quarters, const double (*x)[3])
{
    const size_t fraction = quarters == 2 ? 2 : 4;

    if (n % fraction)
        return false;
    for (size_t k = 0; k < n; k++) {
        double Q[12]; /* of the rotated view: P times the inverse rotation */
        for (int r = 0; r < 12; r += 4) {
            const double *a = P[k] + r;
            Q[r] = quarters == 2 ? -a[0] : -quarters * a[1];
            Q[r + 1] = quarters == 2 ? -a[1] : quarters * a[0];
            Q[r + 2] = a[2];
            Q[r + 3] = a[3];
        }
        if (!project_alike(P[(k + n / fraction) % n], Q, x))
            return false;
    }
    return true;
}

/* Get the symmetries of views and grid (flags of enum fbp_symmetry); grid NULL: of the views, for
 * an object half as far from the axis as the source, and not larger than the panel. */
static fbp_status symmetry(const struct fbp_kind_table *kind, const struct fbp_views *views,
                           const struct fbp_grid *g, unsigned *flags)
{
    const struct fbp_view *v = views->view;
    const bool axial = !g || (near(g->centre_mm[0], 0, g->voxel_mm[0]) &&
                              near(g->centre_mm[1], 0, g->voxel_mm[1]));
    const bool square =
        !g || (g->n[0] == g->n[1] && near(g->voxel_mm[0], g->voxel_mm[1], g->voxel_mm[0]));
    double(*P)[12], Q[12], x[8][3];

    for (int i = 0; i < 8; i++) {
        const double most = kind->has_source ? fbp_norm(v->s) / 2 : INFINITY;
        const double half[3] = {fmin(fbp_norm(v->u) * (double)views->panel.n_columns / 2, most), 0,
                                fmin(fbp_norm(v->v) * (double)views->panel.n_rows / 2, most)};
        if (g)
            fbp_grid_corner(g, i, x[i]);
        for (int a = 0; a < 3 && !g; a++)
            x[i][a] = (i >> a & 1 ? 1 : -1) * half[a == 2 ? 2 : 0];
    }
    FBP_TRY(fbp_calloc((void **)&P, views->n, sizeof *P, "matrices"));
    *flags = FBP_SYM_COLUMN;
    bool all = true; /* all views have a matrix */
    for (size_t k = 0; k < views->n && all; k++) {
        all = kind->matrix(&views->view[k], &views->panel, P[k]);
        memcpy(Q, P[k], sizeof Q); /* detector column and depth (rows 1 and 3) without z */
        Q[2] = Q[10] = 0;
        if (!all || !project_alike(P[k], Q, (const double(*)[3])x))
            *flags = 0;
    }
    if (all && axial && turned((const double(*)[12])P, views->n, 2, (const double(*)[3])x))
        *flags |= FBP_SYM_ROT180;
    if (all && axial && square &&
        (turned((const double(*)[12])P, views->n, 1, (const double(*)[3])x) ||
         turned((const double(*)[12])P, views->n, -1, (const double(*)[3])x)))
        *flags |= FBP_SYM_ROT90;
    free(P);
    return FBP_OK;
}

double fbp_grid_coordinate(const struct fbp_grid *g, int axis, double i)
{
    FBP_REQUIRE_ELSE(NAN, g);
    return g->centre_mm[axis] + (i - ((double)g->n[axis] - 1) / 2) * g->voxel_mm[axis];
}

fbp_status fbp_line_facts(const struct fbp_kind_table *kind, const struct fbp_views *views,
                          const struct fbp_grid *grid, struct fbp_geometry_facts *out)
{
    struct sides sides = {.edge_lo = {INFINITY, INFINITY},
                          .edge_hi = {INFINITY, INFINITY},
                          .pixel_lo = {INFINITY, INFINITY},
                          .pixel_hi = {INFINITY, INFINITY}};
    const bool source = kind->has_source;
    const double n = (double)views->n, degree = FBP_PI / 180;
    double *const see = out->fov_half_height_mm;
    struct fbp_arc arc = {0};
    fbp_status st;

    FBP_TRY(fbp_check_views(views));
    fbp_axis_of(views->view, views->n, out->axis);
    for (size_t k = 0; k < views->n; k++) {
        struct fbp_view_facts v;
        FBP_TRY(fbp_check_cancelled());
        FBP_TRY(fbp_view_facts_of(kind, views, k, out->axis, &v));
        widen_range(out->sod_mm, v.sod, v.sod, k == 0);
        widen_range(out->sdd_mm, v.sdd, v.sdd, k == 0);
        widen_range(out->fan_rad, v.edge_lo[0], v.edge_hi[0], k == 0);
        widen_range(out->edge_mm, v.edge_lo[1], v.edge_hi[1], k == 0);
        out->magnification += v.magnification / n;
        see[0] = k ? fmax(see[0], v.axis_lo) : v.axis_lo;
        see[1] = k ? fmin(see[1], v.axis_hi) : v.axis_hi;
        for (int i = 0; i < 3; i++)
            out->tilt_rad[i] = fmax(out->tilt_rad[i], fabs(v.tilt[i]));
        out->skew_rad = fmax(out->skew_rad, fabs(v.skew));
        out->row_tilt_rad += v.row_tilt / n;
        for (int i = 0; i < 2; i++) {
            const double middle = (v.edge_lo[i] + v.edge_hi[i]) / 2;
            sides.mean_lo[i] += v.edge_lo[i] / n;
            sides.mean_hi[i] += v.edge_hi[i] / n;
            sides.edge_lo[i] = fmin(sides.edge_lo[i], -v.edge_lo[i]);
            sides.edge_hi[i] = fmin(sides.edge_hi[i], v.edge_hi[i]);
            sides.pixel_lo[i] = fmin(sides.pixel_lo[i], -v.pixel_lo[i]);
            sides.pixel_hi[i] = fmin(sides.pixel_hi[i], v.pixel_hi[i]);
            widen_range(sides.middle[i], middle, middle, k == 0);
        }
    }
    const double fan = source ? sides.mean_hi[0] - sides.mean_lo[0] : 0;
    FBP_TRY(fbp_arc_create(&arc, views->view, views->n, out->axis, 2 * FBP_PI, fan, false));
    FBP_TRY_GOTO(coverage(out, &sides, kind, views, &arc));
    FBP_TRY_GOTO(field_of_view(out, &sides, source));
    /* A gap between ray directions causes errors if it exceeds two mean steps by 2 degrees; the
     * gaps of golden-ratio angles do not.  In images of two disks off the axis, gaps of 5 to 60
     * degrees caused errors of 0.4 to 0.6 % (rms) per degree, for all kinds of beams
     * (bench/results/accuracy.md). */
    const bool short_fan = out->coverage == FBP_COVERAGE_SHORT && source;
    const double covered = short_fan ? out->arc_rad : out->offset ? 2 * FBP_PI : FBP_PI;
    const double step = out->per_ray ? out->step_rad[1] : covered / (double)out->n_angles;
    if (out->n_angles > 2 && out->direction_gap_rad > 2 * step + 2 * degree)
        out->gap_error = 0.005 * (out->direction_gap_rad - step) / degree;
    FBP_TRY_GOTO(axial_drift(out, kind, views, &arc, grid));
    FBP_TRY(symmetry(kind, views, grid, &out->symmetry));

    /* Check that the volume is in front of the sources; find whether all views see it. */
    bool inside = grid != NULL;
    for (int i = 0; grid && i < 8; i++) {
        double x[3], across[3], P[12];
        fbp_grid_corner(grid, i, x);
        fbp_axpy(x, -fbp_dot(x, out->axis), out->axis, across);
        out->volume_radius_mm = fmax(out->volume_radius_mm, fbp_norm(across));
        for (size_t k = 0; k < views->n; k++) {
            FBP_TRY_GOTO(fbp_check_cancelled());
            if (!kind->matrix(&views->view[k], &views->panel, P))
                continue; /* a view without a matrix was refused before */
            const double w = fbp_dot(P + 8, x) + P[11], row = (fbp_dot(P + 4, x) + P[7]) / w;
            if (!(w > 1e-6 * P[11]))
                FBP_TRY_GOTO(FBP_INVALID("geometry: the volume extends to the source of view %zu; "
                                         "choose a smaller volume, or move its centre",
                                         k));
            inside = inside && row >= -0.5 && row <= (double)views->panel.n_rows - 0.5;
        }
    }
    out->volume_inside = inside && out->volume_radius_mm <= out->fov_radius_mm;
fail:
    fbp_arc_clear(&arc);
    return st;
}

/* Greatest error of a projected row position that rounding to float causes [pixels]. */
static const double MARGIN_PX = 1e-3;

/* Detector rows [*r0, *r1) that slices [z0, z1) need in views [k0, k1): the row of a point is a
 * quotient of linear functions, so its extremes over a box are at the corners. */
void fbp_line_rows(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                   size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                   size_t *r1)
{
    const double n_rows = (double)views->panel.n_rows;
    double lo = INFINITY, hi = -INFINITY, corners[8][3], P[12];

    *r0 = 0;
    *r1 = 0;
    if (z0 >= z1 || k0 >= k1)
        return;
    /* Return all rows if the box of voxels is not in front of all sources. */
    *r1 = views->panel.n_rows;
    for (int i = 0; i < 8; i++) {
        fbp_grid_corner(grid, i, corners[i]);
        corners[i][2] = fbp_grid_coordinate(grid, 2, i & 4 ? (double)z1 - 1 : (double)z0);
    }
    for (size_t k = k0; k < k1; k++) {
        if (!kind->matrix(&views->view[k], &views->panel, P))
            return;
        for (int i = 0; i < 8; i++) {
            const double w = fbp_dot(P + 8, corners[i]) + P[11];
            const double row = (fbp_dot(P + 4, corners[i]) + P[7]) / w;
            if (!(w > 0) || !isfinite(row))
                return;
            lo = fmin(lo, row);
            hi = fmax(hi, row);
        }
    }
    /* values are interpolated between rows floor(position) and floor(position) + 1 */
    const double first = floor(lo - MARGIN_PX), end = floor(hi + MARGIN_PX) + 2;
    *r0 = (size_t)fmin(fmax(first, 0), n_rows);
    *r1 = (size_t)fmin(fmax(end, 0), n_rows);
    if (*r0 >= *r1)
        *r0 = *r1 = 0;
}

/* Compute the default grid from means over the views.  Voxel: column pitch at the iso-centre;
 * width: twice the distance from the axis to the farther edge of the panel; height: the part of the
 * z axis that projects onto the rows, but for a cone beam at most the width. */
void fbp_line_grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                   struct fbp_grid *out)
{
    const double slack = 1e-6; /* tolerance of rounding up or down to whole voxels */
    const double z_axis[3] = {0, 0, 1};
    double pitch = 0, columns = 0, z_lo = 0, z_hi = 0, P[12], z[2];
    size_t n = 0;

    for (size_t k = 0; k < views->n; k++) {
        if (!kind->matrix(&views->view[k], &views->panel, P) || !(P[11] > 0))
            continue;
        fbp_axis_seen(P, &views->panel, z_axis, z);
        if (!isfinite(z[0]) || !isfinite(z[1]))
            continue;
        const double column = P[3] / P[11];
        pitch += kind->pitch(&views->view[k], P);
        columns += fmax(column + 0.5, (double)views->panel.n_columns - 0.5 - column);
        z_lo += fmin(z[0], z[1]);
        z_hi += fmax(z[0], z[1]);
        n++;
    }
    const double scale = n ? 1 / (double)n : 0;
    pitch *= scale;
    columns *= scale;
    z_lo *= scale;
    z_hi *= scale;

    const double voxel = pitch > 0 ? pitch : 1, middle = (z_lo + z_hi) / 2;
    const double across = fmin(fmax(ceil(2 * columns - slack), 1), 1e9);
    const double along = fmin(fmax(floor((z_hi - z_lo) / voxel + slack), 1), 1e9);
    *out = (struct fbp_grid){.n = {(size_t)across, (size_t)across, 1},
                             .voxel_mm = {voxel, voxel, voxel}};
    if (views->panel.n_rows > 1)
        out->n[2] = (size_t)(kind->has_source ? fmin(along, across) : along);
    out->centre_mm[2] = fabs(middle) > slack * voxel ? middle : 0;
}
