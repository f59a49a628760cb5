/*
 * A body's own coordinates y make it a piece of a unit quadric between planes.  A plane in them
 * shows a convex polygon, where planes bound the body, and in it the conic section of the quadric.
 * What both contain is bounded by straight edges and arcs: a polygon through all their ends, and a
 * segment beyond each chord.
 */
#include "phantom/section.h"

#include "base/mem.h"
#include "base/vec.h"
#include "phantom/conic.h"
#include "phantom/ellipsoid.h"

#include <stdlib.h>

/* A plane in the body's coordinates: the points at + p[0] e[0] + p[1] e[1]. */
struct view {
    double e[2][3], at[3];
    double scale; /* of areas: that in the world / that in these coordinates */
};

/* Lengths of the half axes; an axis is M / |M|^2 of its own length. */
static double half_axis(const struct fbp_body *b, int i)
{
    return 1 / fbp_norm(b->M[i]);
}

/* nu: n . x = n . c + nu . y.  The product of the half axes. */
static double own_normal(const struct fbp_body *b, const double n[3], double nu[3])
{
    double product = 1;

    for (int i = 0; i < 3; i++) {
        const double half = half_axis(b, i);
        nu[i] = fbp_dot(b->M[i], n) * half * half;
        product *= half;
    }
    return product;
}

static bool is_round(const struct fbp_body *b)
{
    return b->q[0] > 0 && b->q[2] > 0 && b->n_planes == 0;
}

/* Soft ellipsoid: rho pi a1 a2 a3 / sigma / (m+1) (1 - x^2)^(m+1), x = (t - n . c) / sigma. */
static double of_ellipsoid(const struct fbp_body *b, const double n[3], double t)
{
    double nu[3];
    const double product = own_normal(b, n, nu), sigma = fbp_norm(nu);
    const double x = (t - fbp_dot(n, b->c)) / sigma, inside = fmax(0, 1 - x * x);
    double power = inside;

    for (unsigned k = 0; k < b->m; k++)
        power *= inside;
    return b->density * FBP_PI * product / sigma / (b->m + 1) * power;
}

/* The same, integrated over t and divided by the width. */
static double mean_of_ellipsoid(const struct fbp_body *b, const double n[3], double t, double width)
{
    double nu[3], x[2];
    const double product = own_normal(b, n, nu), sigma = fbp_norm(nu);

    for (int i = 0; i < 2; i++) {
        x[i] = (t + (i - .5) * width - fbp_dot(n, b->c)) / sigma;
        x[i] = fbp_fall_integral(1, 1, b->m + 1, fmax(-1, fmin(1, x[i])));
    }
    return b->density * FBP_PI * product / (b->m + 1) * (x[1] - x[0]) / width;
}

static void view_of(const struct fbp_body *b, const double n[3], double t, struct view *out)
{
    double nu[3], side[3] = {0};
    const double product = own_normal(b, n, nu), length = fbp_normalise(nu);
    int least = 0;

    for (int i = 1; i < 3; i++)
        least = fabs(nu[i]) < fabs(nu[least]) ? i : least;
    side[least] = 1;
    fbp_cross(nu, side, out->e[0]);
    fbp_normalise(out->e[0]);
    fbp_cross(nu, out->e[0], out->e[1]);
    for (int i = 0; i < 3; i++)
        out->at[i] = (t - fbp_dot(n, b->c)) / length * nu[i];
    out->scale = product / length;
}

/* Keep what has normal . y <= most. */
static void cut(const struct view *v, const double normal[3], double most, struct conic_polygon *p)
{
    const double a[2] = {fbp_dot(normal, v->e[0]), fbp_dot(normal, v->e[1])};

    conic_polygon_cut(p, a, most - fbp_dot(normal, v->at));
}

/* The polygon: a square around all of the body, cut by its slabs and planes. */
static void polygon_of(const struct fbp_body *b, const struct view *v, struct conic_polygon *p)
{
    double r = fmax(1, fmax(fabs(b->low[2]), fabs(b->high[2])));

    if (isinf(r))
        r = 1;
    r = 1.01 * sqrt(2 * (b->unit > 0 ? 1 : r * r) + r * r);
    *p = (struct conic_polygon){4, {{-r, -r}, {r, -r}, {r, r}, {-r, r}}};
    for (int i = 0; i < 3; i++) {
        const double up[3] = {i == 0, i == 1, i == 2}, down[3] = {-up[0], -up[1], -up[2]};
        if (isinf(b->high[i]))
            continue;
        cut(v, up, b->high[i], p);
        cut(v, down, -b->low[i], p);
    }
    for (size_t k = 0; k < b->n_planes; k++) {
        double normal[3];
        own_normal(b, b->planes[k].normal, normal);
        cut(v, normal, b->planes[k].at_mm - fbp_dot(b->planes[k].normal, b->c), p);
    }
}

static void conic_of(const struct fbp_body *b, const struct view *v, struct conic *out)
{
    *out = (struct conic){.k = -b->unit};
    for (int i = 0; i < 3; i++) {
        const double q = b->q[i], x = v->e[0][i], y = v->e[1][i], at = v->at[i];
        out->q[0] += q * x * x;
        out->q[1] += q * x * y;
        out->q[2] += q * y * y;
        out->l[0] += q * at * x;
        out->l[1] += q * at * y;
        out->k += q * at * at;
    }
}

double fbp_body_plane(const struct fbp_body *b, const double n[3], double t)
{
    struct conic_polygon polygon;
    struct conic conic;
    struct view v;

    if (fabs(t - fbp_dot(n, b->ball_c)) >= b->ball_r)
        return 0;
    if (is_round(b))
        return of_ellipsoid(b, n, t);
    view_of(b, n, t, &v);
    polygon_of(b, &v, &polygon);
    conic_of(b, &v, &conic);
    return b->density * v.scale * conic_polygon_area(&conic, &polygon);
}

double fbp_body_plane_mean(const struct fbp_body *b, const double n[3], double t, double width)
{
    double sum = 0;

    if (fabs(t - fbp_dot(n, b->ball_c)) >= b->ball_r + width / 2)
        return 0;
    if (is_round(b))
        return mean_of_ellipsoid(b, n, t, width);
    for (int i = 0; i < FBP_SECTION_PLANES; i++)
        sum += fbp_body_plane(b, n, t + ((i + .5) / FBP_SECTION_PLANES - .5) * width);
    return sum / FBP_SECTION_PLANES;
}

/* i: its number among the shapes, from 1. */
static fbp_status check_shape(const struct fbp_body *b, size_t i)
{
    if (isinf(b->ball_r))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "phantom: shape %zu has no end, and no integral over planes: give it a "
                        "length",
                        i);
    if (b->m > 0 && b->n_planes > 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "phantom: shape %zu is a soft ellipsoid that planes cut, of which no "
                        "integral over planes is known: leave out its planes",
                        i);
    return FBP_OK;
}

fbp_status fbp_sections_of(const struct fbp_phantom *phantom, struct fbp_body **out)
{
    const size_t n = phantom->n + phantom->n_shapes;

    if (phantom->replace && phantom->n_shapes > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "phantom: shapes hide each other, as in LEAP's files: integrals over "
                        "planes are known where densities add up");
    FBP_TRY(fbp_calloc((void **)out, n + 1, sizeof **out, "phantom"));
    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_shape shape;
        fbp_ellipsoid_shape(&phantom->items[i], &shape);
        fbp_body_of(&shape, &(*out)[i]);
    }
    for (size_t i = phantom->n; i < n; i++) {
        fbp_body_of(&phantom->shapes[i - phantom->n], &(*out)[i]);
        FBP_TRY(check_shape(&(*out)[i], i - phantom->n + 1));
    }
    return FBP_OK;
}
