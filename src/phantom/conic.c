#include "phantom/conic.h"

#include "base/vec.h"

#include <stdbool.h>
#include <string.h>

void conic_polygon_cut(struct conic_polygon *polygon, const double a[2], double b)
{
    struct conic_polygon out = {0};

    for (int i = 0; i < polygon->n; i++) {
        const double *p = polygon->p[i], *q = polygon->p[(i + 1) % polygon->n];
        const double at_p = a[0] * p[0] + a[1] * p[1] - b, at_q = a[0] * q[0] + a[1] * q[1] - b;
        if (at_p <= 0)
            memcpy(out.p[out.n++], p, sizeof out.p[0]);
        if ((at_p < 0 && at_q > 0) || (at_p > 0 && at_q < 0)) {
            const double part = at_p / (at_p - at_q);
            out.p[out.n][0] = p[0] + part * (q[0] - p[0]);
            out.p[out.n++][1] = p[1] + part * (q[1] - p[1]);
        }
    }
    if (out.n < 3)
        out.n = 0;
    *polygon = out;
}

static double cross(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

/* The quadratic form alone. */
static double form(const struct conic *c, const double e[2])
{
    return c->q[0] * e[0] * e[0] + 2 * c->q[1] * e[0] * e[1] + c->q[2] * e[1] * e[1];
}

static double value(const struct conic *c, const double p[2])
{
    return form(c, p) + 2 * (c->l[0] * p[0] + c->l[1] * p[1]) + c->k;
}

/* What no turn or shift changes: the form's determinant, the negative one of the conic's matrix,
 * and the centre times the former. */
struct facts {
    double det, delta, centre[2];
};

static void facts_of(const struct conic *c, struct facts *out)
{
    out->det = c->q[0] * c->q[2] - c->q[1] * c->q[1];
    out->centre[0] = c->q[1] * c->l[1] - c->q[2] * c->l[0];
    out->centre[1] = c->q[1] * c->l[0] - c->q[0] * c->l[1];
    out->delta = -(out->det * c->k + c->l[0] * out->centre[0] + c->l[1] * out->centre[1]);
}

/* (3/2) (asin s - s sqrt(1 - s^2)) / s^3 of s^2 = x in [-.5, .5], with asinh where x < 0: what the
 * segment of a conic has of a parabola's, which is x = 0. */
static double share(double x)
{
    double sum = 0, term = 1;

    x = fmax(-.5, fmin(.5, x));
    for (int k = 0; k < 48; k++) { /* 1 / sqrt(1 - x), integrated */
        sum += 3 * term / (2 * k + 3);
        term *= x * (2 * k + 1) / (2 * k + 2);
    }
    return sum;
}

/*
 * Area between the chord from `from` to `to` and the conic on its right.  An affine map makes an
 * ellipse a circle of radius r = sqrt(delta / det), in which the chord is seen under 2 a from the
 * centre: the area is r^2 / sqrt(det) (a - sin a cos a).  Of a hyperbola the same has sinh and
 * cosh; delta = 0 is then two lines that meet.  What is flat, and what is next to a parabola, is
 * (2/3) (f/4)^(3/2) / sqrt(delta) share(sin^2 a), f being the form of the chord; there delta = 0 is
 * one line, or two that never meet.
 */
static double segment(const struct conic *c, const struct facts *is, const double from[2],
                      const double to[2])
{
    const double next_to_parabola = 1e-12, lines = 1e-20; /* rounding is less */
    const double e[2] = {to[0] - from[0], to[1] - from[1]}, quarter = fmax(0, form(c, e) / 4);
    const double to_centre[2] = {is->centre[0] - is->det * from[0],
                                 is->centre[1] - is->det * from[1]};
    const double side = cross(e, to_centre), root = sqrt(fabs(is->det)), x = quarter * is->det;

    if (is->det > next_to_parabola && (x > .1 * is->delta || side < 0)) {
        const double a = atan2(2 * quarter * root, side);
        return fmax(0, is->delta) / (is->det * root) * (a - sin(a) * cos(a));
    }
    if (is->det < -next_to_parabola && -x > .1 * is->delta) {
        const double delta = fmax(1e-200, is->delta);
        return (sqrt(-x) * sqrt(delta - x) - delta * asinh(sqrt(-x / delta))) / (-is->det * root);
    }
    return is->delta > lines ? 2. / 3 * quarter * sqrt(quarter / is->delta) * share(x / is->delta)
                             : 0;
}

/* The part [t0, t1] of the edge from p to q that lies inside; false if none does. */
static bool inside(const struct conic *c, const double p[2], const double q[2], double t[2])
{
    const double e[2] = {q[0] - p[0], q[1] - p[1]};
    const double at_p = value(c, p), at_q = value(c, q), a = form(c, e);
    const double b = c->q[0] * p[0] * e[0] + c->q[1] * (p[0] * e[1] + p[1] * e[0]) +
                     c->q[2] * p[1] * e[1] + c->l[0] * e[0] + c->l[1] * e[1];
    const double disc = fmax(0, b * b - a * at_p);

    t[0] = 0;
    t[1] = 1;
    if (at_p <= 0 && at_q <= 0)
        return true;
    if (at_p > 0 && at_q > 0 && (!(a > 0) || b * b <= a * at_p || b >= 0 || -b >= a))
        return false;
    /* one root by the formula, the other from their product: nothing cancels */
    const double k = -(b + copysign(sqrt(disc), b)), r1 = k == 0 ? 0 : at_p / k;
    const double r0 = a == 0 ? r1 : k / a, sign = a > 0 ? 1 : -1;
    const double enters = sign * fmin(sign * r0, sign * r1);
    const double leaves = sign * fmax(sign * r0, sign * r1);
    if (at_p > 0)
        t[0] = fmin(1, fmax(0, enters));
    if (at_q > 0)
        t[1] = fmin(1, fmax(0, leaves));
    return t[0] < t[1];
}

/* Of what lies between ends of edges: the polygon through them, seen from its first point, and
 * segments where the conic joins two of them. */
struct outline {
    double first[2], last[2];
    double area;
    int n;     /* points so far */
    bool open; /* the last edge ended at the conic */
};

static void go_to(const struct conic *c, const struct facts *is, const double p[2], bool by_conic,
                  struct outline *o)
{
    if (o->n++ == 0) {
        memcpy(o->first, p, sizeof o->first);
    } else {
        const double a[2] = {o->last[0] - o->first[0], o->last[1] - o->first[1]};
        const double b[2] = {p[0] - o->first[0], p[1] - o->first[1]};
        o->area += cross(a, b) / 2 + (by_conic ? segment(c, is, o->last, p) : 0);
    }
    memcpy(o->last, p, sizeof o->last);
}

static bool holds_centre(const struct conic_polygon *p, const struct facts *is)
{
    for (int i = 0; i < p->n; i++) {
        const double *a = p->p[i], *b = p->p[(i + 1) % p->n];
        const double e[2] = {b[0] - a[0], b[1] - a[1]};
        const double d[2] = {is->centre[0] / is->det - a[0], is->centre[1] / is->det - a[1]};
        if (cross(e, d) < 0)
            return false;
    }
    return p->n > 0;
}

static double area_of(const struct conic_polygon *p)
{
    double sum = 0;

    for (int i = 2; i < p->n; i++) {
        const double a[2] = {p->p[i - 1][0] - p->p[0][0], p->p[i - 1][1] - p->p[0][1]};
        const double b[2] = {p->p[i][0] - p->p[0][0], p->p[i][1] - p->p[0][1]};
        sum += cross(a, b) / 2;
    }
    return sum;
}

double conic_polygon_area(const struct conic *c, const struct conic_polygon *polygon)
{
    struct outline o = {0};
    struct facts is;
    bool first_open = false;

    facts_of(c, &is);
    for (int i = 0; i < polygon->n; i++) {
        const double *p = polygon->p[i], *q = polygon->p[(i + 1) % polygon->n];
        double t[2];
        if (!inside(c, p, q, t))
            continue;
        const double from[2] = {p[0] + t[0] * (q[0] - p[0]), p[1] + t[0] * (q[1] - p[1])};
        const double to[2] = {p[0] + t[1] * (q[0] - p[0]), p[1] + t[1] * (q[1] - p[1])};
        if (o.n == 0)
            first_open = t[0] > 0;
        go_to(c, &is, from, o.open, &o);
        go_to(c, &is, to, false, &o);
        o.open = t[1] < 1;
    }
    if (o.n > 0) {
        const double start[2] = {o.first[0], o.first[1]};
        go_to(c, &is, start, o.open || first_open, &o);
        return fmax(0, fmin(o.area, area_of(polygon)));
    }
    if (is.det > 0 && is.delta > 0 && holds_centre(polygon, &is)) /* a whole ellipse */
        return FBP_PI * is.delta / (is.det * sqrt(is.det));
    return 0;
}
