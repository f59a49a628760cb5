#include "phantom/shadow.h"

#include "base/stop.h"
#include "base/vec.h"
#include "geometry/kind.h"

/* a + b c + d c^2 */
struct parabola {
    double a, b, d;
};

/* The ray of pixel (c, r) in world coordinates, step = e[0] + c e[1] + r e[2], in mm. */
struct ray {
    double e[3][3];
};

static void pixel_zero(const struct fbp_view *view, const struct fbp_panel *panel, double p[3])
{
    fbp_axpy(view->d, -((double)panel->n_columns - 1) / 2, view->u, p);
    fbp_axpy(p, -((double)panel->n_rows - 1) / 2, view->v, p);
}

static void ray_of(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                   struct ray *out)
{
    const bool source = fbp_kind_of(kind)->has_source;
    double p0[3];

    *out = (struct ray){0};
    pixel_zero(view, panel, p0);
    for (int i = 0; i < 3; i++) {
        out->e[0][i] = source ? p0[i] - view->s[i] : -view->s[i];
        if (source) {
            out->e[1][i] = view->u[i];
            out->e[2][i] = view->v[i];
        }
    }
}

static void shadow_of(const struct fbp_ball *ball, const struct fbp_view *view, enum fbp_kind kind,
                      const struct fbp_panel *panel, struct fbp_shadow *out)
{
    struct ray ray;
    double dx[3], y[3][3] = {{0}};

    ray_of(view, kind, panel, &ray);
    for (int k = 0; k < 3; k++)
        fbp_ball_map(ball, ray.e[k], out->g[k]);
    if (fbp_kind_of(kind)->has_source) { /* every ray passes through the source */
        fbp_axpy(view->s, -1, ball->c, dx);
        fbp_ball_map(ball, dx, y[0]);
        for (int k = 0; k < 3; k++)
            fbp_cross(out->g[k], y[0], out->q[k]);
    } else { /* every ray has the same direction, and passes through its pixel */
        pixel_zero(view, panel, dx);
        fbp_axpy(dx, -1, ball->c, dx);
        fbp_ball_map(ball, dx, y[0]);
        fbp_ball_map(ball, view->u, y[1]);
        fbp_ball_map(ball, view->v, y[2]);
        for (int k = 0; k < 3; k++)
            fbp_cross(out->g[0], y[k], out->q[k]);
    }
    out->density = ball->density;
}

/* |f|^2 along row r, f = f[0] + c f[1] + r f[2]. */
static struct parabola square(const double f[3][3], double r)
{
    double at[3];
    fbp_axpy(f[0], r, f[2], at);
    return (struct parabola){fbp_dot(at, at), 2 * fbp_dot(at, f[1]), fbp_dot(f[1], f[1])};
}

/* Columns [*c0, *c1) where `disc` may be positive.  Opening downwards, that is an interval about
 * its top; otherwise (the ellipsoid reaches the source plane) the whole row. */
static void span(const struct parabola *disc, size_t nc, size_t *c0, size_t *c1)
{
    *c0 = 0;
    *c1 = nc;
    if (!(disc->d < 0))
        return;
    const double top = -disc->b / (2 * disc->d), height = disc->a + disc->b * top / 2;
    if (!(height > 0)) {
        *c1 = 0;
        return;
    }
    const double half = sqrt(height / -disc->d), n = (double)nc;
    *c0 = (size_t)fmin(n, fmax(0, floor(top - half)));
    *c1 = (size_t)fmin(n, fmax(0, ceil(top + half) + 1));
}

/* The chord of every column, added to sum, in units of the ray's step. */
static void add_shadow(const struct fbp_shadow *s, size_t nc, double r, double *restrict sum)
{
    const struct parabola gg = square(s->g, r), qq = square(s->q, r);
    const struct parabola disc = {gg.a - qq.a, gg.b - qq.b, gg.d - qq.d};
    size_t c0, c1;

    span(&disc, nc, &c0, &c1);
    if (c0 >= c1)
        return;
    /* expanded about the middle of the interval, so that nothing large cancels */
    const double c_mid = (double)(c0 + (c1 - c0) / 2); // NOLINT(bugprone-integer-division)
    const double a = disc.a + c_mid * (disc.b + c_mid * disc.d), b = disc.b + 2 * c_mid * disc.d;
    for (size_t c = c0; c < c1; c++) {
        const double x = (double)c, t = x - c_mid;
        const double d = a + t * (b + t * disc.d);
        sum[c] += 2 * s->density * sqrt(d > 0 ? d : 0) / (gg.a + x * (gg.b + x * gg.d));
    }
}

/* out[nc] = line integrals of row r; work[nc]. */
static void shadow_row(const struct fbp_shadow *shadows, size_t n, const struct ray *ray, size_t nc,
                       size_t r, double *work, float *out)
{
    const struct parabola step = square(ray->e, (double)r);

    for (size_t c = 0; c < nc; c++)
        work[c] = 0;
    for (size_t i = 0; i < n; i++)
        add_shadow(&shadows[i], nc, (double)r, work);
    for (size_t c = 0; c < nc; c++) {
        const double x = (double)c;
        out[c] = work[c] == 0 ? 0 : (float)(work[c] * sqrt(step.a + x * (step.b + x * step.d)));
    }
}

void fbp_shadow_rows(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, size_t row0, size_t n_rows,
                     struct fbp_shadow *shadows, double *work, float *out)
{
    const size_t nc = panel->n_columns;
    struct ray ray;

    ray_of(view, kind, panel, &ray);
    for (size_t i = 0; i < n; i++)
        shadow_of(&balls[i], view, kind, panel, &shadows[i]);
    for (size_t r = 0; r < n_rows && !fbp_stopped(); r++)
        shadow_row(shadows, n, &ray, nc, row0 + r, work, out + r * nc);
}

void fbp_shadow_view(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, struct fbp_shadow *shadows,
                     double *work, float *out)
{
    fbp_shadow_rows(balls, n, view, kind, panel, 0, panel->n_rows, shadows, work, out);
}
