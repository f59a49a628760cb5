/* The rotation axis, from where the sources stand. */
#include "base/mem.h"
#include "geometry/facts.h"
#include "geometry/kind.h"

#include <string.h>

/* A normal this near to z is z: at least, at most, and in terms of how far the sources lie off
 * their plane, seen from its middle. */
static const double NEAR_LEAST = 0.05 * FBP_PI / 180, NEAR_MOST = 5 * FBP_PI / 180, NEAR_TIMES = 3;

/* Sum of outer products of the sources about their centroid. */
static void scatter(const struct fbp_view *views, size_t n, double C[3][3])
{
    double mean[3] = {0, 0, 0};

    for (size_t k = 0; k < n; k++)
        fbp_axpy(mean, 1 / (double)n, views[k].s, mean);
    for (size_t k = 0; k < n; k++) {
        double q[3];
        fbp_axpy(views[k].s, -1, mean, q);
        for (int i = 0; i < 9; i++)
            C[i / 3][i % 3] += q[i / 3] * q[i % 3];
    }
}

/* Power iteration from z on the adjugate of C, whose greatest eigenvalue belongs to the least of
 * C: the normal of the plane.  Returns that eigenvalue, the product of the two others of C. */
static double normal_of(double C[3][3], double n[3])
{
    double adj[3][3], next[3], size = 0;

    for (int i = 0; i < 3; i++)
        fbp_cross(C[(i + 1) % 3], C[(i + 2) % 3], adj[i]);
    /* a normal within the plane z = 0 would be missed from z alone */
    const double start[3] = {0.1, 0.2, 1};
    fbp_axpy(start, 0, start, n);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 3; i++)
            next[i] = fbp_dot(adj[i], n);
        size = fbp_normalise(next);
        if (!(size > 0))
            return 0;
        fbp_axpy(next, 0, next, n);
    }
    return size;
}

double fbp_axis_of(const struct fbp_view *views, size_t n_views, double axis[3])
{
    double C[3][3] = {{0}}, n[3], Cn[3];

    axis[0] = axis[1] = 0;
    axis[2] = 1;
    if (n_views < 3)
        return 0;
    scatter(views, n_views, C);
    const double trace = C[0][0] + C[1][1] + C[2][2];
    const double product = normal_of(C, n);
    for (int i = 0; i < 3; i++)
        Cn[i] = fbp_dot(C[i], n);
    const double least = fbp_dot(n, Cn);
    /* second eigenvalue from sum and product of the upper two: how far from a line, how flat */
    const double half = (trace - least) / 2;
    const double second = half - sqrt(fmax(half * half - product, 0));
    if (!(second > 1e-6 * trace && least < 0.01 * second))
        return 0;
    const double off = NEAR_TIMES * sqrt(fmax(least, 0) / second);
    const double angle = acos(fmin(fabs(n[2]), 1));
    if (angle <= fmin(NEAR_MOST, fmax(NEAR_LEAST, off)))
        return angle;
    const double sign = fabs(n[2]) > 1e-6 ? n[2] : fabs(n[1]) > 1e-6 ? n[1] : n[0];
    for (int i = 0; i < 3; i++)
        axis[i] = copysign(1, sign) * n[i];
    return 0;
}

/* Parts of the circle's radius, or of the panel's width, by which an axis beside the origin counts
 * as one through it; and in terms of how far the views lie off the fit. */
static const double ASIDE_LEAST = 1e-3, ASIDE_TIMES = 3;

/*
 * The point of the axis nearest to the origin, by least squares: for sources q on a circle
 * 2 q c + k = q^2; for parallel beams c t + k = d t, k the offset of the panel along t.  False if
 * it is not clear, or within the tolerance of the origin.
 */
static bool find_centre(const struct fbp_kind_table *kind, const struct fbp_views *views,
                        const double axis[3], double centre[3])
{
    const struct fbp_panel *panel = &views->panel;
    double N[3][3] = {{0}}, inverse[3][3], rhs[3] = {0}, x[3], e[2][3], squares = 0;
    struct fbp_frame f;

    if (views->n < 3 || !fbp_frame_of(&views->view[0], axis, &f))
        return false;
    memcpy(e[0], f.n, sizeof f.n);
    memcpy(e[1], f.t, sizeof f.t);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < views->n; k++) {
            const struct fbp_view *v = &views->view[k];
            if (!fbp_frame_of(v, axis, &f))
                return false;
            const double q[2] = {fbp_dot(v->s, e[0]), fbp_dot(v->s, e[1])};
            const double row[3] = {kind->has_source ? 2 * q[0] : fbp_dot(f.t, e[0]),
                                   kind->has_source ? 2 * q[1] : fbp_dot(f.t, e[1]), 1};
            const double b = kind->has_source ? q[0] * q[0] + q[1] * q[1] : fbp_dot(v->d, f.t);
            squares += pass ? pow(b - fbp_dot(row, x), 2) : 0;
            for (int i = 0; !pass && i < 9; i++)
                N[i / 3][i % 3] += row[i / 3] * row[i % 3];
            for (int i = 0; !pass && i < 3; i++)
                rhs[i] += row[i] * b;
        }
        if (!pass && !fbp_dual_basis(N[0], N[1], N[2], inverse))
            return false;
        for (int i = 0; !pass && i < 3; i++)
            x[i] = fbp_dot(inverse[i], rhs);
    }
    for (int i = 0; i < 3; i++)
        centre[i] = x[0] * e[0][i] + x[1] * e[1][i];
    const double size = kind->has_source ? sqrt(x[2] + fbp_dot(centre, centre))
                                         : (double)panel->n_columns * fbp_norm(views->view[0].u);
    const double off = sqrt(squares * (inverse[0][0] + inverse[1][1]));
    return fbp_norm(centre) > fmax(ASIDE_LEAST * size, ASIDE_TIMES * off);
}

/* Does every view see the point? */
static bool is_seen(const struct fbp_kind_table *kind, const struct fbp_views *views,
                    const double x[3])
{
    for (size_t k = 0; k < views->n; k++) {
        double P[12];
        if (!kind->matrix(&views->view[k], &views->panel, P))
            return false;
        const double column = (fbp_dot(P, x) + P[3]) / (fbp_dot(P + 8, x) + P[11]);
        if (!(column > -0.5 && column < (double)views->panel.n_columns - 0.5))
            return false;
    }
    return true;
}

fbp_status fbp_views_centre(const struct fbp_kind_table *kind, struct fbp_views *views,
                            double centre[3], struct fbp_view **own)
{
    double axis[3], height = 0;

    *own = NULL;
    memset(centre, 0, 3 * sizeof *centre);
    if (kind->integral != FBP_OVER_LINES || !views->view)
        return FBP_OK;
    fbp_axis_of(views->view, views->n, axis);
    for (size_t k = 0; kind->has_source && k < views->n; k++)
        height += fbp_dot(views->view[k].s, axis) / (double)views->n;
    const bool found = find_centre(kind, views, axis, centre);
    fbp_axpy(centre, height, axis, centre);
    if (!found || !is_seen(kind, views, centre)) {
        memset(centre, 0, 3 * sizeof *centre);
        return FBP_OK;
    }
    FBP_TRY(fbp_calloc((void **)own, views->n, sizeof **own, "views"));
    for (size_t k = 0; k < views->n; k++) {
        struct fbp_view *v = &(*own)[k];
        double P[12];
        *v = views->view[k];
        fbp_axpy(v->d, -1, centre, v->d);
        if (!kind->has_source)
            continue;
        fbp_axpy(v->s, -1, centre, v->s);
        if (kind->matrix(v, &views->panel, P) && P[11] < 0)
            for (int i = 0; i < 3; i++) { /* the sign of its matrix was that of the origin */
                v->d[i] = 2 * v->s[i] - v->d[i];
                v->u[i] = -v->u[i];
                v->v[i] = -v->v[i];
            }
    }
    views->view = *own;
    return FBP_OK;
}
