#include "phantom/ellipsoid.h"

#include "base/mem.h"
#include "base/status.h"
#include "base/vec.h"

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

void fbp_ellipsoid_shape(const struct fbp_ellipsoid *e, struct fbp_shape *out)
{
    const double t = e->turn_deg * (FBP_PI / 180);

    *out = (struct fbp_shape){
        .kind = FBP_SHAPE_ELLIPSOID,
        .centre_mm = {e->centre_mm[0], e->centre_mm[1], e->centre_mm[2]},
        .axes = {{cos(t), sin(t), 0}, {-sin(t), cos(t), 0}, {0, 0, 1}},
        .half_mm = {e->axes_mm[0], e->axes_mm[1], e->axes_mm[2]},
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

/* Length of { t : |y + t w| <= 1 }: with q = y x w the discriminant is |w|^2 - |q|^2, which does
 * not lose digits when the point is far away. */
static double chord(const double y[3], const double w[3])
{
    double q[3];
    fbp_cross(y, w, q);
    const double ww = fbp_dot(w, w), disc = ww - fbp_dot(q, q);
    return disc > 0 ? 2 * sqrt(disc) / ww : 0;
}

double fbp_ball_line(const struct fbp_ball *ball, const double p[3], const double dir[3])
{
    double dx[3], y[3], w[3];

    fbp_axpy(p, -1, ball->c, dx);
    fbp_ball_map(ball, dx, y);
    fbp_ball_map(ball, dir, w);
    return ball->density * chord(y, w);
}

bool fbp_ball_holds(const struct fbp_ball *ball, const double x[3])
{
    double dx[3], y[3];

    fbp_axpy(x, -1, ball->c, dx);
    fbp_ball_map(ball, dx, y);
    return fbp_dot(y, y) <= 1;
}
