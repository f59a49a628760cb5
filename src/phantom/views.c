/* Computes the line integrals of all pixels of a view of a phantom: fbp_shadow_rows() for
 * ellipsoids, fbp_bodies_view() for other shapes.
 *
 * The rays of a detector row lie in one plane. Along the row, the length of their chords in an
 * ellipsoid is a simple function of the column; shapes that the plane does not meet are skipped.
 * Used by: bench/host/measure.c, simulate.c. */
#include "phantom/shapes.h"

#include "geometry/kind.h"

#include "base/math.h"
#include "base/threads.h"

#include <math.h>

/* a + b c + d c^2, c: column */
struct parabola {
    double a, b, d;
};

/* Compute |f[0] + c f[1] + r f[2]|^2 in row r, as a parabola in the column c. */
static struct parabola square(const double f[3][3], double r)
{
    double at[3];
    fbp_axpy(f[0], r, f[2], at);
    return (struct parabola){fbp_dot(at, at), 2 * fbp_dot(at, f[1]), fbp_dot(f[1], f[1])};
}

/* Add the density of an ellipsoid times the length of its chord to sum[nc], for the rays of the nc
 * columns of row r; lengths are in units of the length of the ray's direction vector. */
static void add_shadow(const struct fbp_shadow *s, size_t nc, double r, double *restrict sum)
{
    const struct parabola gg = square(s->g, r), qq = square(s->q, r);
    const struct parabola disc = {gg.a - qq.a, gg.b - qq.b, gg.d - qq.d};
    size_t c0 = 0, c1 = nc;

    /* Find the columns [c0, c1) in which the discriminant, a parabola, may be positive: an interval
     * about its maximum if the parabola opens downwards, else the whole row. It opens upwards if
     * the ellipsoid meets the line through the source along the row direction u. */
    if (disc.d < 0) {
        const double top = -disc.b / (2 * disc.d), height = disc.a + disc.b * top / 2;
        if (!(height > 0))
            return;
        const double half = sqrt(height / -disc.d), n = (double)nc;
        c0 = (size_t)fmin(n, fmax(0, floor(top - half)));
        c1 = (size_t)fmin(n, fmax(0, ceil(top + half) + 1));
    }
    if (c0 >= c1)
        return;
    /* expand the discriminant about the centre of [c0, c1), so that no large terms cancel */
    const double c_mid = (double)(c0 + (c1 - c0) / 2); // NOLINT(bugprone-integer-division)
    const double a = disc.a + c_mid * (disc.b + c_mid * disc.d), b = disc.b + 2 * c_mid * disc.d;
    for (size_t c = c0; c < c1; c++) {
        const double x = (double)c, t = x - c_mid;
        const double d = a + t * (b + t * disc.d);
        sum[c] += 2 * s->density * sqrt(d > 0 ? d : 0) / (gg.a + x * (gg.b + x * gg.d));
    }
}

void fbp_shadow_rows(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, size_t row0, size_t n_rows,
                     struct fbp_shadow *shadows, double *work, float *out)
{
    const size_t nc = panel->n_columns;
    const bool source = fbp_kind_of(kind)->has_source;
    double pixel[3];        /* pixel (0, 0) */
    double e[3][3] = {{0}}; /* the ray of pixel (c, r) has the direction e[0] + c e[1] + r e[2] */

    fbp_view_pixel(view, panel, 0, 0, pixel);
    for (int i = 0; i < 3; i++) {
        e[0][i] = source ? pixel[i] - view->s[i] : -view->s[i];
        e[1][i] = source ? view->u[i] : 0;
        e[2][i] = source ? view->v[i] : 0;
    }
    for (size_t i = 0; i < n; i++) {
        const struct fbp_ball *ball = &balls[i];
        struct fbp_shadow *s = &shadows[i];
        double dx[3], y[3][3] = {{0}};
        for (int k = 0; k < 3; k++)
            fbp_ball_map(ball, e[k], s->g[k]);
        if (source) { /* every ray passes through the source */
            fbp_axpy(view->s, -1, ball->c, dx);
            fbp_ball_map(ball, dx, y[0]);
            for (int k = 0; k < 3; k++)
                fbp_cross(s->g[k], y[0], s->q[k]);
        } else { /* parallel beam: all rays have one direction, and pass through their pixels */
            fbp_axpy(pixel, -1, ball->c, dx);
            fbp_ball_map(ball, dx, y[0]);
            fbp_ball_map(ball, view->u, y[1]);
            fbp_ball_map(ball, view->v, y[2]);
            for (int k = 0; k < 3; k++)
                fbp_cross(s->g[0], y[k], s->q[k]);
        }
        s->density = ball->density;
    }
    for (size_t r = 0; r < n_rows && !fbp_stopped(); r++, out += nc) {
        const double row = (double)(row0 + r);
        const struct parabola step = square((const double(*)[3])e, row);
        for (size_t c = 0; c < nc; c++)
            work[c] = 0;
        for (size_t i = 0; i < n; i++)
            add_shadow(&shadows[i], nc, row, work);
        for (size_t c = 0; c < nc; c++) {
            const double x = (double)c;
            out[c] = work[c] == 0 ? 0 : (float)(work[c] * sqrt(step.a + x * (step.b + x * step.d)));
        }
    }
}

/* Compute the ray of a pixel: a point p and a unit vector dir. */
static void ray_of(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                   double column, double row, double p[3], double dir[3])
{
    const bool source = fbp_kind_of(kind)->has_source;
    double pixel[3];

    fbp_view_pixel(view, panel, column, row, pixel);
    for (int i = 0; i < 3; i++) {
        p[i] = source ? view->s[i] : pixel[i];
        dir[i] = source ? pixel[i] - view->s[i] : -view->s[i];
    }
    fbp_normalise(dir);
}

fbp_status fbp_bodies_view(const struct fbp_body *bodies, const struct fbp_phantom *phantom,
                           const struct fbp_view *view, enum fbp_kind kind,
                           const struct fbp_panel *panel, struct fbp_spans *room, float *out)
{
    double p[3], dir[3], normal[3];

    for (size_t r = 0; r < panel->n_rows; r++) {
        FBP_TRY(fbp_check_cancelled());
        ray_of(view, kind, panel, 0, (double)r, p, dir);
        fbp_cross(view->u, dir, normal);
        const double length = fbp_norm(normal);
        size_t n = 0; /* bodies that the plane of the row meets */
        for (size_t i = 0; i < phantom->n_shapes; i++) {
            double d[3];
            fbp_axpy(bodies[i].ball_c, -1, p, d);
            if (fabs(fbp_dot(normal, d)) <= bodies[i].ball_r * length)
                room->near[n++] = &bodies[i];
        }
        for (size_t c = 0; n > 0 && c < panel->n_columns; c++) {
            ray_of(view, kind, panel, (double)c, (double)r, p, dir);
            const double sum = fbp_line_integral(room->near, n, phantom->replace, p, dir, room);
            if (!isfinite(sum))
                return FBP_INVALID(
                    "phantom: a shape is infinitely long along the ray of column %zu, "
                    "row %zu; give it a length or a cutting plane",
                    c, r);
            out[r * panel->n_columns + c] += (float)sum;
        }
    }
    return FBP_OK;
}
