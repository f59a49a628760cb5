/* Integrals of phantoms over planes, as EPR imaging measures them: fbp_body_plane() for one shape,
 * fbp_body_plane_mean() for a layer of finite width, fbp_phantom_plane() (public) for a whole
 * phantom.
 *
 * In its own coordinates a body is a quadric with half axes of length 1, cut by planes. The section
 * of the body by a plane is the intersection of a convex polygon (from the body's planes) with a
 * conic (from the quadric). The boundary consists of straight edges and arcs; the area is that of
 * the polygon through all ends of edges and arcs, plus one segment of the conic per arc.
 * Used by: bench/papers/qiao2015/measure.c, simulate.c. */
#include "phantom/shapes.h"

#include "base/base.h"
#include "base/math.h"

#include <string.h>

/* Functions that compute the area of the part of a convex polygon inside a conic. */

/* A conic with its interior: the points p = (x, y) with q[0] x^2 + 2 q[1] x y + q[2] y^2 + 2 (l .
 * p) + k <= 0. Its part inside the polygon of the body's section is convex. */
struct conic {
    double q[3], l[2], k;
};

enum { CONIC_CORNERS = 24 };

/* A convex polygon, corners counter-clockwise; n = 0: empty. */
struct conic_polygon {
    int n;
    double p[CONIC_CORNERS][2];
};

static double cross(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

/* Evaluate only the quadratic terms of the conic, at vector e. */
static double form(const struct conic *c, const double e[2])
{
    return c->q[0] * e[0] * e[0] + 2 * c->q[1] * e[0] * e[1] + c->q[2] * e[1] * e[1];
}

static double value(const struct conic *c, const double p[2])
{
    return form(c, p) + 2 * (c->l[0] * p[0] + c->l[1] * p[1]) + c->k;
}

/* Invariants of a conic. det: determinant of its quadratic form; delta: determinant of its 3 x 3
 * matrix, times -1; centre: position of its centre, times det. */
struct facts {
    double det, delta, centre[2];
};

/* Compute the area of a segment of a conic, divided by that of a parabola (x = 0): (3/2) (asin s -
 * s sqrt(1 - s^2)) / s^3 with s^2 = x in [-.5, .5]; if x < 0, asinh replaces asin. */
static double share(double x)
{
    double sum = 0, term = 1;

    x = fmax(-.5, fmin(.5, x));
    for (int k = 0; k < 48; k++) { /* series of 1 / sqrt(1 - x), integrated */
        sum += 3 * term / (2 * k + 3);
        term *= x * (2 * k + 1) / (2 * k + 2);
    }
    return sum;
}

/*
 * Area between the chord from `from` to `to` and the conic on the right of the chord.  An affine
 * map turns an ellipse into a circle of radius r = sqrt(delta / det), in which the chord subtends
 * the angle 2 a at the centre: the area is r^2 / sqrt(det) (a - sin a cos a).  For a hyperbola sinh
 * and cosh replace sin and cos; delta = 0 means two lines that intersect.  Flat segments, and
 * segments of conics close to a parabola, have the area (2/3) (f/4)^(3/2) / sqrt(delta) share(sin^2
 * a), f: form() of the chord; delta = 0 then means one line or two parallel lines.
 */
static double segment(const struct conic *c, const struct facts *is, const double from[2],
                      const double to[2])
{
    const double next_to_parabola = 1e-12, lines = 1e-20; /* larger than rounding errors */
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

/* Find the part t[0] <= t <= t[1] of the edge p + t (q - p), 0 <= t <= 1, that is inside the conic;
 * false if there is none. */
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
    /* one root by the quadratic formula, the other from the product of both: no cancellation */
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

/* Outline of the intersection of polygon and conic, traced from point `first` to `last`, and the
 * area enclosed so far: triangles with corner `first`, and segments between the conic and its
 * chords. */
struct outline {
    double first[2], last[2];
    double area;
    int n;     /* number of points so far */
    bool open; /* the last edge ends on the conic */
};

/* Append point p to the outline; by_conic: the line from the previous point to p is an arc of the
 * conic, not an edge of the polygon. */
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

static double area_inside(const struct conic *c, const struct conic_polygon *polygon)
{
    struct outline o = {0};
    struct facts is;
    bool first_open = false, holds_centre = polygon->n > 0;

    is.det = c->q[0] * c->q[2] - c->q[1] * c->q[1];
    is.centre[0] = c->q[1] * c->l[1] - c->q[2] * c->l[0];
    is.centre[1] = c->q[1] * c->l[0] - c->q[0] * c->l[1];
    is.delta = -(is.det * c->k + c->l[0] * is.centre[0] + c->l[1] * is.centre[1]);
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

        double whole = 0; /* area of the polygon */
        for (int i = 2; i < polygon->n; i++) {
            const double(*p)[2] = polygon->p;
            const double a[2] = {p[i - 1][0] - p[0][0], p[i - 1][1] - p[0][1]};
            const double b[2] = {p[i][0] - p[0][0], p[i][1] - p[0][1]};
            whole += cross(a, b) / 2;
        }
        return fmax(0, fmin(o.area, whole));
    }
    if (!(is.det > 0 && is.delta > 0))
        return 0;
    for (int i = 0; i < polygon->n && holds_centre; i++) {
        const double *a = polygon->p[i], *b = polygon->p[(i + 1) % polygon->n];
        const double e[2] = {b[0] - a[0], b[1] - a[1]};
        const double d[2] = {is.centre[0] / is.det - a[0], is.centre[1] / is.det - a[1]};
        holds_centre = !(cross(e, d) < 0);
    }
    return holds_centre ? FBP_PI * is.delta / (is.det * sqrt(is.det)) : 0; /* the whole ellipse */
}

/* Plane over which a body is integrated, in the body's coordinates: point (p[0], p[1]) of the plane
 * is at + p[0] e[0] + p[1] e[1]. */
struct view {
    double e[2][3], at[3];
    /* Factor from an area on the plane in the body's coordinates to world coordinates [mm^2]. */
    double scale;
};

/* Convert the normal n of a plane to the body's coordinates: n . x = n . c + nu . y. Returns the
 * product of the lengths of the three half axes; half axis i is the vector M[i] / |M[i]|^2. */
static double own_normal(const struct fbp_body *b, const double n[3], double nu[3])
{
    double product = 1;

    for (int i = 0; i < 3; i++) {
        const double half = 1 / fbp_norm(b->M[i]);
        nu[i] = fbp_dot(b->M[i], n) * half * half;
        product *= half;
    }
    return product;
}

/* Return whether a body is an ellipsoid, uniform or soft, that no plane cuts. */
static bool is_round(const struct fbp_body *b)
{
    return b->q[0] > 0 && b->q[2] > 0 && b->n_planes == 0;
}

/* Remove the part of a polygon in plane v that is outside the half space normal . y <= most. */
static void cut(const struct view *v, const double normal[3], double most,
                struct conic_polygon *polygon)
{
    const double a[2] = {fbp_dot(normal, v->e[0]), fbp_dot(normal, v->e[1])};
    const double b = most - fbp_dot(normal, v->at);
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

double fbp_body_plane(const struct fbp_body *b, const double n[3], double t)
{
    double nu[3], side[3] = {0};
    int least = 0;

    if (fabs(t - fbp_dot(n, b->ball_c)) >= b->ball_r)
        return 0;
    const double product = own_normal(b, n, nu);
    if (is_round(b)) {
        /* Ellipsoid with half axes a1, a2, a3 and half width sigma along n, soft or uniform (m =
         * 0): the integral is density pi a1 a2 a3 / sigma (1 - x^2)^(m+1) / (m+1), x = (t - n . c)
         * / sigma. */
        const double sigma = fbp_norm(nu);
        const double x = (t - fbp_dot(n, b->c)) / sigma, inside = fmax(0, 1 - x * x);
        double power = inside;
        for (unsigned k = 0; k < b->m; k++)
            power *= inside;
        return b->density * FBP_PI * product / sigma / (b->m + 1) * power;
    }

    struct view v;
    const double length = fbp_normalise(nu);
    for (int i = 1; i < 3; i++)
        least = fabs(nu[i]) < fabs(nu[least]) ? i : least;
    side[least] = 1;
    fbp_cross(nu, side, v.e[0]);
    fbp_normalise(v.e[0]);
    fbp_cross(nu, v.e[0], v.e[1]);
    for (int i = 0; i < 3; i++)
        v.at[i] = (t - fbp_dot(n, b->c)) / length * nu[i];
    v.scale = product / length;

    /* Make the polygon: a large square in the plane, cut by the body's slabs and planes. */
    double r = fmax(1, fmax(fabs(b->low[2]), fabs(b->high[2])));
    if (isinf(r))
        r = 1;
    r = 1.01 * sqrt(2 * (b->unit > 0 ? 1 : r * r) + r * r);
    struct conic_polygon p = {4, {{-r, -r}, {r, -r}, {r, r}, {-r, r}}};
    for (int i = 0; i < 3; i++) {
        const double up[3] = {i == 0, i == 1, i == 2}, down[3] = {-up[0], -up[1], -up[2]};
        if (isinf(b->high[i]))
            continue;
        cut(&v, up, b->high[i], &p);
        cut(&v, down, -b->low[i], &p);
    }
    for (size_t k = 0; k < b->n_planes; k++) {
        double normal[3];
        own_normal(b, b->planes[k].normal, normal);
        cut(&v, normal, b->planes[k].at_mm - fbp_dot(b->planes[k].normal, b->c), &p);
    }

    struct conic conic = {.k = -b->unit};
    for (int i = 0; i < 3; i++) {
        const double q = b->q[i], x = v.e[0][i], y = v.e[1][i], at = v.at[i];
        conic.q[0] += q * x * x;
        conic.q[1] += q * x * y;
        conic.q[2] += q * y * y;
        conic.l[0] += q * at * x;
        conic.l[1] += q * at * y;
        conic.k += q * at * at;
    }
    return b->density * v.scale * area_inside(&conic, &p);
}

double fbp_body_plane_mean(const struct fbp_body *b, const double n[3], double t, double width)
{
    double sum = 0, nu[3], x[2];

    if (fabs(t - fbp_dot(n, b->ball_c)) >= b->ball_r + width / 2)
        return 0;
    if (is_round(b)) { /* closed form of the mean of fbp_body_plane() over the width */
        const double product = own_normal(b, n, nu), sigma = fbp_norm(nu);
        for (int i = 0; i < 2; i++) {
            x[i] = (t + (i - .5) * width - fbp_dot(n, b->c)) / sigma;
            x[i] = fbp_fall_integral(1, 1, b->m + 1, fmax(-1, fmin(1, x[i])));
        }
        return b->density * FBP_PI * product / (b->m + 1) * (x[1] - x[0]) / width;
    }
    for (int i = 0; i < FBP_SECTION_PLANES; i++)
        sum += fbp_body_plane(b, n, t + ((i + .5) / FBP_SECTION_PLANES - .5) * width);
    return sum / FBP_SECTION_PLANES;
}

fbp_status fbp_sections_of(const struct fbp_phantom *phantom, struct fbp_body **out)
{
    const size_t n = phantom->n + phantom->n_shapes;

    if (phantom->replace && phantom->n_shapes > 1)
        return FBP_UNSUPPORTED(
            "phantom: plane integrals need shapes whose densities add up, but shapes "
            "of LEAP's files replace each other; use another phantom file");
    FBP_TRY(fbp_calloc((void **)out, n + 1, sizeof **out, "phantom"));
    for (size_t i = 0; i < phantom->n; i++) {
        const struct fbp_ellipsoid *e = &phantom->items[i];
        const double t = e->turn_deg * (FBP_PI / 180);
        const struct fbp_shape shape = {
            .kind = FBP_SHAPE_ELLIPSOID,
            .centre_mm = {e->centre_mm[0], e->centre_mm[1], e->centre_mm[2]},
            .axes = {{cos(t), sin(t), 0}, {-sin(t), cos(t), 0}, {0, 0, 1}},
            .half_mm = {e->axes_mm[0], e->axes_mm[1], e->axes_mm[2]},
            .density = e->density,
        };
        fbp_body_of(&shape, &(*out)[i]);
    }
    for (size_t i = 0; i < phantom->n_shapes; i++) {
        struct fbp_body *b = &(*out)[phantom->n + i];
        fbp_body_of(&phantom->shapes[i], b);
        if (isinf(b->ball_r))
            return FBP_UNSUPPORTED(
                "phantom: shape %zu is infinitely long without its cutting planes, so its "
                "plane integrals are not computed; give it a length",
                i + 1);
        if (b->m > 0 && b->n_planes > 0)
            return FBP_UNSUPPORTED(
                "phantom: shape %zu is a soft ellipsoid with cutting planes, whose "
                "plane integrals cannot be computed; remove its cutting planes",
                i + 1);
    }
    return FBP_OK;
}

double fbp_phantom_plane(const struct fbp_phantom *phantom, const double n[3], double t_mm)
{
    FBP_REQUIRE_ELSE(NAN, phantom, n);
    struct fbp_body *bodies = NULL;
    double sum = NAN;

    fbp_message_clear();
    if (fbp_sections_of(phantom, &bodies) == FBP_OK) {
        sum = 0;
        for (size_t i = 0; i < phantom->n + phantom->n_shapes; i++)
            sum += fbp_body_plane(&bodies[i], n, t_mm);
    }
    free(bodies);
    return sum;
}
