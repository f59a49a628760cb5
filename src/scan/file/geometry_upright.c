#include "scan/file/geometry_upright.h"

#include "base/math.h"

#include <string.h>

static const double SAME = 1e-13;

struct axes {
    double e[3], t[3], u[3], v[3];
};

static void axes_of(const struct fbp_upright *p, struct axes *out)
{
    const double ca = cos(p->alpha_rad), sa = sin(p->alpha_rad);
    const double ct = cos(p->tilt_rad), st = sin(p->tilt_rad);

    *out = (struct axes){.e = {sa, -ca, 0},
                         .t = {ca, sa, 0},
                         .u = {ct * ca, ct * sa, st},
                         .v = {-st * ca, -st * sa, ct}};
}

void fbp_upright_view(const struct fbp_upright *p, enum fbp_kind kind, struct fbp_view *out)
{
    const bool source = fbp_kind_has_source(kind);
    struct axes a;

    axes_of(p, &a);
    for (int i = 0; i < 3; i++) {
        const double aside = source ? -p->tau * a.t[i] + (i == 2 ? p->height : 0) : 0;
        out->s[i] = source ? p->sod * a.e[i] + aside : a.e[i];
        out->d[i] = (source ? (p->sod - p->sdd) * a.e[i] : 0) + aside + p->shift[0] * a.u[i] +
                    p->shift[1] * a.v[i];
        out->u[i] = p->pitch[0] * a.u[i];
        out->v[i] = p->pitch[1] * a.v[i];
    }
}

static bool same(const double a[3], const double b[3], double size)
{
    double d[3];

    fbp_axpy(a, -1, b, d);
    return fbp_norm(d) <= SAME * size;
}

/* d - (s without its part along e); of a parallel beam d without its part along the rays. */
static void from_axis(const struct fbp_view *view, enum fbp_kind kind, const double e[3],
                      double out[3])
{
    fbp_axpy(view->d, -fbp_dot(view->d, e), e, out);
    if (!fbp_kind_has_source(kind))
        return;
    fbp_axpy(out, -1, view->s, out);
    fbp_axpy(out, fbp_dot(view->s, e), e, out);
}

bool fbp_upright_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_upright *out)
{
    struct fbp_view again;
    struct axes a;
    double n[3], q[3];

    fbp_cross(view->u, view->v, n);
    *out = (struct fbp_upright){.alpha_rad = atan2(n[0], -n[1]),
                                .pitch = {fbp_norm(view->u), fbp_norm(view->v)}};
    axes_of(out, &a);
    out->tilt_rad = atan2(view->u[2], fbp_dot(view->u, a.t));
    axes_of(out, &a);
    from_axis(view, kind, a.e, q);
    out->shift[0] = fbp_dot(q, a.u);
    out->shift[1] = fbp_dot(q, a.v);
    if (fbp_kind_has_source(kind)) {
        out->sod = fbp_dot(view->s, a.e);
        out->sdd = out->sod - fbp_dot(view->d, a.e);
        out->tau = 0 - fbp_dot(view->s, a.t);
        out->height = view->s[2];
    }
    fbp_upright_view(out, kind, &again);
    if (!fbp_kind_has_source(kind)) /* where the panel stands along its rays is of no account */
        fbp_axpy(again.d, fbp_dot(view->d, a.e), a.e, again.d);
    const double size = fbp_norm(view->s) + fbp_norm(view->d);
    return same(again.s, view->s, size) && same(again.d, view->d, size) &&
           same(again.u, view->u, out->pitch[0]) && same(again.v, view->v, out->pitch[1]);
}

double fbp_near_angle(double angle, double before)
{
    return angle - 2 * FBP_PI * round((angle - before) / (2 * FBP_PI));
}
