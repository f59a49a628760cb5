/*
 * How far views wander along the axis, and what a circular reconstruction loses by that.
 *
 * Every view has its own matrix, so that a wandering source or panel blurs nothing.  Two things go
 * wrong.  A voxel that some views do not see lacks their share; this is looked at in the middle
 * half of what a view sees of the axis, on it and half way to the edge of the field of view, less
 * what the same views would lose without wandering.  And rays that rise by kappa out of the plane
 * of a circle measure no frequencies within kappa of the axis: of a ball that is 1 - cos(kappa).
 * That holds without wandering, too, where the sources stand above the volume or below it.
 * tests/recon/test_wander.c compares the sum with simulated balls.
 */
#include "geometry/kind.h"

enum { HEIGHTS = 3, AROUND = 6, POINTS = HEIGHTS * (AROUND + 1) };

/* A helix, if a line through heights over angles leaves less than this part of their variance. */
static const double STEADY = 0.02;

/* What a view sees of the axis, and how high its source stands. */
struct height {
    double middle, seen, source; /* source: of a parallel beam the sine of its elevation */
};

struct sums {
    double weight, middle, seen, source;
    double lo, hi;                   /* least and greatest middle */
    double angle, squares, products; /* unwrapped angles, for the pitch */
    double variance;
};

static bool height_of(const struct fbp_wander *w, size_t k, struct height *out)
{
    const struct fbp_view *view = &w->views->view[k];
    const double last = (double)w->views->panel.n_rows - 1;
    double P[12], z[2];

    if (!w->kind->matrix(view, &w->views->panel, P))
        return false;
    for (int i = 0; i < 2; i++) {
        const double row = i ? last + 0.5 : -0.5;
        z[i] = (row * P[11] - P[7]) / (fbp_dot(P + 4, w->axis) - row * fbp_dot(P + 8, w->axis));
    }
    *out = (struct height){(z[0] + z[1]) / 2, fabs(z[1] - z[0]), w->kind->height(view, w->axis)};
    return isfinite(out->middle) && isfinite(out->seen);
}

/* The ends of a short scan count little: there rays are measured twice. */
static double weight_of(const struct fbp_wander *w, size_t k)
{
    const struct fbp_arc *arc = w->arc;
    const double end = fmin(arc->position[k], arc->arc_rad - arc->position[k]);
    const double ramp = arc->arc_rad - FBP_PI;

    if (arc->full || !w->kind->has_source || !(ramp > 0))
        return arc->step[k];
    return arc->step[k] * fmin(1, end / ramp);
}

static double turned(const struct fbp_wander *w, size_t k)
{
    return k == 0 ? 0
                  : remainder(fbp_view_angle(&w->views->view[k], w->axis) -
                                  fbp_view_angle(&w->views->view[k - 1], w->axis),
                              2 * FBP_PI);
}

static void add_up(const struct fbp_wander *w, struct sums *s)
{
    double angle = 0;

    *s = (struct sums){.lo = INFINITY, .hi = -INFINITY};
    for (size_t k = 0; k < w->views->n; k++) {
        struct height h;
        const double weight = weight_of(w, k);
        angle += turned(w, k);
        if (!height_of(w, k, &h))
            continue;
        s->weight += weight;
        s->middle += weight * h.middle;
        s->seen += weight * h.seen;
        s->source += weight * h.source;
        s->angle += weight * angle;
        s->lo = fmin(s->lo, h.middle);
        s->hi = fmax(s->hi, h.middle);
    }
    s->middle /= s->weight;
    s->seen /= s->weight;
    s->source /= s->weight;
    s->angle /= s->weight;
    angle = 0;
    for (size_t k = 0; k < w->views->n; k++) {
        struct height h;
        const double weight = weight_of(w, k);
        angle += turned(w, k);
        if (!height_of(w, k, &h))
            continue;
        s->squares += weight * (angle - s->angle) * (angle - s->angle);
        s->products += weight * (angle - s->angle) * (h.middle - s->middle);
        s->variance += weight * (h.middle - s->middle) * (h.middle - s->middle);
    }
}

/* Rise a turn, if the views rise steadily. */
static double pitch_of(const struct sums *s)
{
    const double explained = s->squares > 0 ? s->products * s->products / s->squares : 0;

    return explained > (1 - STEADY) * s->variance ? 2 * FBP_PI * s->products / s->squares : 0;
}

/* Point i about the middle of what is seen: at three heights, on the axis and around it. */
static void point(const struct fbp_wander *w, const struct sums *s, int i, double out[3])
{
    const int place = i / HEIGHTS;
    const double angle = 2 * FBP_PI * place / AROUND, r = place ? w->radius / 2 : 0;
    const double height =
        s->middle + s->seen / 4 * (i % HEIGHTS - 1) * (w->views->panel.n_rows > 1);
    const struct fbp_view unit = {.s = {cos(0.7), sin(0.7), 0.3}}; /* any direction but the axis */
    struct fbp_frame f;

    fbp_frame_of(&unit, w->axis, &f);
    for (int j = 0; j < 3; j++)
        out[j] = height * w->axis[j] + r * (cos(angle) * f.n[j] + sin(angle) * f.t[j]);
}

/* Which part of a voxel the rows give: interpolation fades beyond the centres of the outer ones. */
static double part_seen(const double P[12], const struct fbp_panel *panel, const double x[3])
{
    const double depth = fbp_dot(P + 8, x) + P[11], row = (fbp_dot(P + 4, x) + P[7]) / depth;
    const double beyond = fmax(-row, row - ((double)panel->n_rows - 1));

    return depth > 0 ? fmin(1, fmax(0, 1 - beyond)) : 0;
}

/* How much less of the points the views see than they would without wandering. */
static double unseen(const struct fbp_wander *w, const struct sums *s)
{
    double lost[POINTS] = {0}, worst = 0, P[12];

    for (size_t k = 0; k < w->views->n; k++) {
        struct height h;
        if (!height_of(w, k, &h) || !w->kind->matrix(&w->views->view[k], &w->views->panel, P))
            continue;
        for (int i = 0; i < POINTS; i++) {
            double x[3], still[3];
            point(w, s, i, x);
            fbp_axpy(x, h.middle - s->middle, w->axis, still);
            lost[i] += weight_of(w, k) / s->weight *
                       (part_seen(P, &w->views->panel, still) - part_seen(P, &w->views->panel, x));
        }
    }
    for (int i = 0; i < POINTS; i++)
        worst = fmax(worst, lost[i]);
    return worst;
}

/* Mean of 1 - cos(kappa), of the sources' heights above a level. */
static double steepness(const struct fbp_wander *w, const struct sums *s, double level)
{
    double sum = 0;

    for (size_t k = 0; k < w->views->n; k++) {
        struct height h;
        struct fbp_frame f;
        if (!height_of(w, k, &h) || !fbp_frame_of(&w->views->view[k], w->axis, &f))
            continue;
        const double kappa = atan2(h.source - level, f.radius);
        sum += weight_of(w, k) / s->weight * (1 - cos(kappa));
    }
    return sum;
}

void fbp_wander_of(const struct fbp_wander *w, const struct fbp_grid *grid,
                   struct fbp_geometry_facts *out)
{
    struct sums s;

    add_up(w, &s);
    if (!(s.weight > 0) || !isfinite(s.middle))
        return;
    out->wander_mm = s.hi - s.lo;
    out->seen_mm = s.seen;
    out->pitch_mm = pitch_of(&s);
    out->wander_error = unseen(w, &s) + steepness(w, &s, s.source);
    const double middle = grid ? fbp_dot(grid->centre_mm, w->axis) : s.middle;
    out->rise_error = steepness(w, &s, w->kind->has_source ? middle : 0);
}
