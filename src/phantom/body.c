/* Shapes of phantoms as convex bodies: their density at points and its integrals along lines. A
 * struct fbp_ellipsoid (rotated only about z) becomes a unit ball in its own coordinates (struct
 * fbp_ball); a struct fbp_shape becomes a quadric, cut by slabs and planes (struct fbp_body).
 * fbp_phantom_line() and fbp_phantom_at() are public.
 * Used by: bench/host/, phantom/. */
#include "phantom/shapes.h"

#include "base/base.h"
#include "base/math.h"

#include <math.h>

void fbp_ball_of(const struct fbp_ellipsoid *e, struct fbp_ball *out)
{
    const double t = e->turn_deg * (FBP_PI / 180), ct = cos(t), st = sin(t);
    const double *a = e->axes_mm;

    *out = (struct fbp_ball){
        .c = {e->centre_mm[0], e->centre_mm[1], e->centre_mm[2]},
        .M = {{ct / a[0], st / a[0], 0}, {-st / a[1], ct / a[1], 0}, {0, 0, 1 / a[2]}},
        .reach = {hypot(a[0] * ct, a[1] * st), hypot(a[0] * st, a[1] * ct), a[2]},
        .density = e->density,
    };
}

fbp_status fbp_balls_of(const struct fbp_phantom *phantom, struct fbp_ball **out)
{
    FBP_TRY(fbp_calloc((void **)out, phantom->n + 1, sizeof **out, "phantom"));
    for (size_t i = 0; i < phantom->n; i++)
        fbp_ball_of(&phantom->items[i], &(*out)[i]);
    return FBP_OK;
}

/* Quadric and bounding planes of each kind of shape, where the half axes are 1. */
static const struct {
    double q[3], unit; /* as in struct fbp_body */
    bool bounded[3];   /* bounded by -1 and 1 along this axis */
    bool has_range;    /* true: fbp_shape.range bounds the body along axis 2 */
} kinds[] = {
    [FBP_SHAPE_ELLIPSOID] = {{1, 1, 1}, 1, {false, false, false}, false},
    [FBP_SHAPE_BOX] = {{0, 0, 0}, 1, {true, true, true}, false},
    [FBP_SHAPE_CYLINDER] = {{1, 1, 0}, 1, {false, false, false}, true},
    [FBP_SHAPE_CONE] = {{1, 1, -1}, 0, {false, false, false}, true},
    [FBP_SHAPE_SOFT] = {{1, 1, 1}, 1, {false, false, false}, false},
};

void fbp_body_of(const struct fbp_shape *s, struct fbp_body *out)
{
    const double *h = s->half_mm, widest = fmax(h[0], h[1]);
    double middle = 0;

    *out = (struct fbp_body){
        .unit = kinds[s->kind].unit,
        .planes = s->planes,
        .n_planes = s->n_planes,
        .density = s->density,
        .m = s->kind == FBP_SHAPE_SOFT ? (unsigned)s->range[0] : 0,
    };
    for (int i = 0; i < 3; i++) {
        const bool ranged = i == 2 && kinds[s->kind].has_range;
        out->c[i] = s->centre_mm[i];
        out->q[i] = kinds[s->kind].q[i];
        for (int k = 0; k < 3; k++)
            out->M[i][k] = s->axes[i][k] / s->half_mm[i];
        out->high[i] = ranged ? s->range[1] : kinds[s->kind].bounded[i] ? 1 : INFINITY;
        out->low[i] = ranged ? s->range[0] : -out->high[i];
    }
    /* Compute a ball around the shape; cutting planes are ignored. */
    if (s->kind == FBP_SHAPE_ELLIPSOID || s->kind == FBP_SHAPE_SOFT) {
        out->ball_r = fmax(widest, h[2]);
    } else if (s->kind == FBP_SHAPE_BOX) {
        out->ball_r = fbp_norm(h);
    } else if (isinf(s->range[0]) || isinf(s->range[1])) {
        out->ball_r = INFINITY;
    } else {
        middle = (s->range[0] + s->range[1]) / 2 * h[2];
        out->ball_r = hypot(s->kind == FBP_SHAPE_CONE ? widest * s->range[1] : widest,
                            (s->range[1] - s->range[0]) / 2 * h[2]);
    }
    fbp_axpy(s->centre_mm, middle, s->axes[2], out->ball_c);
}

fbp_status fbp_bodies_of(const struct fbp_phantom *phantom, struct fbp_body **out)
{
    FBP_TRY(fbp_calloc((void **)out, phantom->n_shapes + 1, sizeof **out, "phantom"));
    for (size_t i = 0; i < phantom->n_shapes; i++)
        fbp_body_of(&phantom->shapes[i], &(*out)[i]);
    return FBP_OK;
}

fbp_status fbp_spans_alloc(struct fbp_spans *out, size_t n)
{
    *out = (struct fbp_spans){0};
    FBP_TRY(fbp_calloc((void **)&out->cut, n + 1, sizeof *out->cut, "phantom"));
    FBP_TRY(fbp_calloc((void **)&out->parts, 2 * n + 1, sizeof *out->parts, "phantom"));
    FBP_TRY(fbp_calloc((void **)&out->ends, 2 * n + 1, sizeof *out->ends, "phantom"));
    return fbp_calloc((void **)&out->near, n + 1, sizeof *out->near, "phantom");
}

void fbp_spans_free(struct fbp_spans *spans)
{
    free(spans->cut);
    free(spans->parts);
    free(spans->ends);
    free(spans->near);
}

static void to_body(const struct fbp_body *b, const double dx[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = fbp_dot(b->M[i], dx);
}

/* Intersect the interval t with [from, to]; false if nothing is left. */
static bool keep(double t[2], double from, double to)
{
    t[0] = fmax(t[0], from);
    t[1] = fmin(t[1], to);
    return t[0] < t[1];
}

/* Restrict the interval t to values for which low <= y + t w <= high; false if nothing is left. */
static bool cut_slab(double y, double w, double low, double high, double t[2])
{
    if (w == 0)
        return low <= y && y <= high;
    const double a = (low - y) / w, b = (high - y) / w;
    return keep(t, fmin(a, b), fmax(a, b));
}

/* Intersect the line p + t dir, |dir| = 1, with a body; false if the intersection is empty. */
static bool cut_body(const struct fbp_body *body, const double p[3], const double dir[3],
                     struct fbp_chord *out)
{
    double dx[3], x[3], y[3], w[3], a = 0, b = 0, c = -body->unit, *t = out->t;
    bool met = true;

    /* In the following, t is relative to t0, the parameter of the line's point nearest to the
     * body's centre, so that no digits are lost if p is distant. */
    fbp_axpy(body->c, -1, p, dx);
    const double t0 = fbp_dot(dx, dir);
    fbp_axpy(p, t0, dir, x);
    fbp_axpy(x, -1, body->c, dx);
    to_body(body, dx, y);
    to_body(body, dir, w);
    for (int i = 0; i < 3; i++) {
        a += body->q[i] * w[i] * w[i];
        b += body->q[i] * w[i] * y[i];
        c += body->q[i] * y[i] * y[i];
    }
    *out = (struct fbp_chord){.t = {-INFINITY, INFINITY}, .density = body->density, .m = body->m};

    /* The quadric: a t^2 + 2 b t + c <= 0. */
    const double disc = b * b - a * c;
    if (a == 0 && b == 0) {
        met = c <= 0;
    } else if (a == 0) {
        met = b > 0 ? keep(t, -INFINITY, -c / (2 * b)) : keep(t, -c / (2 * b), INFINITY);
    } else if (a > 0 && !(disc > 0)) {
        met = false;
    } else {
        /* compute one root by the quadratic formula, and the other one from the product of both
         * roots, to avoid cancellation */
        const double k = -(b + copysign(sqrt(fmax(disc, 0)), b));
        const double r0 = k / a, r1 = k == 0 ? 0 : c / k;
        /* If a < 0, the body is a cone, and the line meets it in two half lines, one in each nappe.
         * Only the nappe with y2 > 0 belongs to the body; the sign of w[2] selects its half line.
         */
        met = a > 0      ? keep(t, fmin(r0, r1), fmax(r0, r1))
              : w[2] > 0 ? keep(t, fmax(r0, r1), INFINITY)
                         : keep(t, -INFINITY, fmin(r0, r1));
    }
    for (size_t i = 0; met && i < body->n_planes; i++) {
        const struct fbp_half_space *f = &body->planes[i];
        met = cut_slab(fbp_dot(f->normal, x), fbp_dot(f->normal, dir), -INFINITY, f->at_mm, t);
    }
    for (int i = 0; met && i < 3; i++)
        met = cut_slab(y[i], w[i], body->low[i], body->high[i], t);
    t[0] += t0;
    t[1] += t0;
    if (met && body->m > 0) { /* density along the line: 1 - |y|^2 = top - fall (t - middle)^2 */
        out->top = b * b / a - c;
        out->fall = a;
        out->middle = t0 - b / a;
    }
    return met;
}

/* Integrate (top - fall t^2)^m by parts: F_m = (t (top - fall t^2)^m + 2 m top F_(m-1)) / (2 m +
 * 1), F_0 = t. Inside the body all terms have the sign of t, therefore nothing cancels. */
double fbp_fall_integral(double top, double fall, unsigned m, double t)
{
    const double value = fmax(0, top - fall * t * t);
    double power = 1, sum = t;

    for (unsigned k = 1; k <= m; k++) {
        power *= value;
        sum = (t * power + 2 * k * top * sum) / (2 * k + 1);
    }
    return sum;
}

double fbp_chord_integral(const struct fbp_chord *s, double from, double to)
{
    if (s->m == 0)
        return s->density * (to - from);
    return s->density * (fbp_fall_integral(s->top, s->fall, s->m, to - s->middle) -
                         fbp_fall_integral(s->top, s->fall, s->m, from - s->middle));
}

/* Get the density of a body at point x; false, and density 0, if x is outside the body. */
static bool density_at(const struct fbp_body *body, const double x[3], double *density)
{
    double dx[3], y[3], sum = 0;

    *density = 0;
    fbp_axpy(x, -1, body->c, dx);
    to_body(body, dx, y);
    for (int i = 0; i < 3; i++) {
        if (y[i] < body->low[i] || y[i] > body->high[i])
            return false;
        sum += body->q[i] * y[i] * y[i];
    }
    for (size_t i = 0; i < body->n_planes; i++)
        if (fbp_dot(body->planes[i].normal, x) > body->planes[i].at_mm)
            return false;
    if (sum > body->unit)
        return false;
    *density = body->density;
    for (unsigned k = 0; k < body->m; k++)
        *density *= 1 - sum;
    return true;
}

size_t fbp_line_spans(const struct fbp_body *const *bodies, size_t n, bool replace,
                      const double p[3], const double dir[3], struct fbp_spans *room,
                      const struct fbp_chord **out)
{
    size_t met = 0, parts = 0;

    for (size_t i = 0; i < n; i++)
        met += cut_body(bodies[i], p, dir, &room->cut[met]);
    *out = room->cut;
    if (!replace || met < 2)
        return met;
    /* If bodies replace each other: between two consecutive ends of spans, the density is that of
     * the first body whose span contains both ends. */
    for (size_t i = 0; i < met; i++) {
        room->ends[2 * i] = room->cut[i].t[0];
        room->ends[2 * i + 1] = room->cut[i].t[1];
    }
    fbp_sort(room->ends, 2 * met);
    for (size_t k = 0; k + 1 < 2 * met; k++) {
        const double from = room->ends[k], to = room->ends[k + 1];
        size_t i = 0;
        while (i < met && (room->cut[i].t[0] > from || room->cut[i].t[1] < to))
            i++;
        if (!(from < to && i < met))
            continue;
        room->parts[parts] = room->cut[i];
        room->parts[parts].t[0] = from;
        room->parts[parts++].t[1] = to;
    }
    *out = room->parts;
    return parts;
}

double fbp_line_integral(const struct fbp_body *const *bodies, size_t n, bool replace,
                         const double p[3], const double dir[3], struct fbp_spans *room)
{
    const struct fbp_chord *spans;
    const size_t k = fbp_line_spans(bodies, n, replace, p, dir, room, &spans);
    double sum = 0;

    for (size_t i = 0; i < k; i++)
        sum += fbp_chord_integral(&spans[i], spans[i].t[0], spans[i].t[1]);
    return sum;
}

double fbp_phantom_line(const struct fbp_phantom *phantom, const double p[3], const double dir[3])
{
    FBP_REQUIRE_ELSE(NAN, phantom, p, dir);
    const size_t n = phantom->n_shapes;
    struct fbp_body *bodies = NULL;
    struct fbp_spans room = {0};
    double sum = 0;

    if (n > 0) {
        sum = NAN;
        if (fbp_bodies_of(phantom, &bodies) == FBP_OK && fbp_spans_alloc(&room, n) == FBP_OK) {
            for (size_t i = 0; i < n; i++)
                room.near[i] = &bodies[i];
            sum = fbp_line_integral(room.near, n, phantom->replace, p, dir, &room);
        }
        fbp_spans_free(&room);
        free(bodies);
    }
    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_ball ball;
        double dx[3], y[3], w[3], q[3];
        fbp_ball_of(&phantom->items[i], &ball);
        fbp_axpy(p, -1, ball.c, dx);
        fbp_ball_map(&ball, dx, y);
        fbp_ball_map(&ball, dir, w);
        /* Compute the length of the interval of t with |y + t w| <= 1. Its discriminant, written as
         * |w|^2 - |y x w|^2, loses no digits if point y is far from the ball. */
        fbp_cross(y, w, q);
        const double ww = fbp_dot(w, w), disc = ww - fbp_dot(q, q);
        sum += ball.density * (disc > 0 ? 2 * sqrt(disc) / ww : 0);
    }
    return sum;
}

double fbp_phantom_at(const struct fbp_phantom *phantom, const double x[3])
{
    FBP_REQUIRE_ELSE(NAN, phantom, x);
    bool hidden = false;
    double sum = 0;

    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_ball ball;
        double dx[3], y[3];
        fbp_ball_of(&phantom->items[i], &ball);
        fbp_axpy(x, -1, ball.c, dx);
        fbp_ball_map(&ball, dx, y);
        if (fbp_dot(y, y) <= 1)
            sum += ball.density;
    }
    for (size_t i = 0; i < phantom->n_shapes && !hidden; i++) {
        struct fbp_body body;
        double density;
        fbp_body_of(&phantom->shapes[i], &body);
        hidden = density_at(&body, x, &density) && phantom->replace;
        sum += density;
    }
    return sum;
}
