/* Views as vectors (s: source, d: detector centre, u, v: pixel steps): conversion from a 3x4
 * matrix (fbp_view_from_matrix()), pixel positions, angles and frames about the rotation axis,
 * facts of one view (fbp_view_facts_of()), and flips of views (fbp_views_flip()).
 * Used by: cli/, analysis/, geometry/, phantom/, pipeline/, scan/, weight/. */
#include "geometry/kind.h"

#include "base/base.h"

#include <string.h>

/* Least |det| of three linearly independent vectors, relative to the product of their lengths. */
static const double SINGULAR = 1e-12;

/* Least cosine of the angle between iso ray and panel normal; below it, the panel is edge-on. */
static const double EDGE_ON = 0.05;

void fbp_view_pixel(const struct fbp_view *view, const struct fbp_panel *panel, double c, double r,
                    double out[3])
{
    FBP_REQUIRE_ELSE(, view, panel, out);
    const double dc = c - ((double)panel->n_columns - 1) / 2;
    const double dr = r - ((double)panel->n_rows - 1) / 2;

    for (int i = 0; i < 3; i++)
        out[i] = view->d[i] + dc * view->u[i] + dr * view->v[i];
}

bool fbp_dual_basis(const double a[3], const double b[3], const double c[3], double out[3][3])
{
    fbp_cross(b, c, out[0]);
    fbp_cross(c, a, out[1]);
    fbp_cross(a, b, out[2]);
    const double det = fbp_dot(a, out[0]);
    if (!(fabs(det) > SINGULAR * fbp_norm(a) * fbp_norm(b) * fbp_norm(c)))
        return false;
    for (int i = 0; i < 9; i++)
        out[i / 3][i % 3] /= det;
    return isfinite(out[0][0] + out[1][0] + out[2][0]);
}

/* A = inv(B), B = [u v d0-s], P = k A [I | -s] for an unknown k, so inv(k A) = B/k. d0: centre of
 * pixel (0, 0). |u| gives |k|; its sign is that of P[11], because the depth of the iso-centre,
 * P[11]/k, must be positive. */
fbp_status fbp_view_from_matrix(const double P[12], double pitch_u_mm,
                                const struct fbp_panel *panel, struct fbp_view *out)
{
    FBP_REQUIRE(P, panel, out);
    double B[3][3], row_norm = 0, d0[3];

    fbp_message_clear();
    FBP_TRY(fbp_check_range(&fbp_range_pitch, "geometry: pixel pitch along the rows", pitch_u_mm));
    if (!fbp_dual_basis(P, P + 4, P + 8, B))
        return FBP_INVALID("geometry: the left 3x3 block of the matrix is singular, "
                           "so it has no source; give matrices of a cone beam");
    for (int i = 0; i < 3; i++)
        out->s[i] = -(B[0][i] * P[3] + B[1][i] * P[7] + B[2][i] * P[11]);
    row_norm = fbp_norm(P + 8);
    if (!(fabs(P[11]) > SINGULAR * row_norm * fbp_norm(out->s)))
        return FBP_INVALID(
            "geometry: the matrix places the iso-centre beside the source, at depth 0; "
            "shift the coordinates so that their origin lies on the rotation axis");
    const double k = copysign(fbp_norm(B[0]) / pitch_u_mm, P[11]);
    for (int i = 0; i < 3; i++) {
        out->u[i] = B[0][i] / k;
        out->v[i] = B[1][i] / k;
        d0[i] = out->s[i] + B[2][i] / k;
    }
    for (int i = 0; i < 3; i++)
        out->d[i] = d0[i] + ((double)panel->n_columns - 1) / 2 * out->u[i] +
                    ((double)panel->n_rows - 1) / 2 * out->v[i];
    return FBP_OK;
}

bool fbp_frame_of(const struct fbp_view *view, const double axis[3], struct fbp_frame *out)
{
    memcpy(out->a, axis, sizeof out->a);
    fbp_axpy(view->s, -fbp_dot(view->s, axis), axis, out->n);
    out->radius = fbp_normalise(out->n);
    fbp_cross(out->a, out->n, out->t);
    return out->radius > 1e-9 * fbp_norm(view->s);
}

double fbp_view_angle(const struct fbp_view *view, const double axis[3])
{
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    const double *start = fabs(axis[0]) < 0.9 ? x : y;
    double e0[3], e1[3];

    fbp_axpy(start, -fbp_dot(start, axis), axis, e0);
    fbp_normalise(e0);
    fbp_cross(axis, e0, e1);
    return atan2(fbp_dot(view->s, e1), fbp_dot(view->s, e0));
}

/* The point z a of the axis a is projected to row (P4.a z + P7) / (P8.a z + P11); P4, P8: the
 * vectors of the first three numbers of the second and of the third row of P. */
void fbp_axis_seen(const double P[12], const struct fbp_panel *panel, const double axis[3],
                   double z[2])
{
    for (int i = 0; i < 2; i++) {
        const double row = i ? (double)panel->n_rows - 0.5 : -0.5;
        z[i] = (row * P[11] - P[7]) / (fbp_dot(P + 4, axis) - row * fbp_dot(P + 8, axis));
    }
}

/* Compute fan angle [rad] (index 0) and distance from the axis [mm] (index 1), positive along +t
 * (struct fbp_frame), of the rays through two points of the middle row, `margin` columns beyond its
 * outermost pixel centres; lo: the smaller values, hi: the greater ones. */
static void fan_of(bool source, const struct fbp_view *view, const struct fbp_panel *panel,
                   const struct fbp_frame *f, double margin, double lo[2], double hi[2])
{
    const double row = ((double)panel->n_rows - 1) / 2;
    const double column[2] = {-margin, (double)panel->n_columns - 1 + margin};
    double fan[2] = {0, 0}, mm[2], p[3];

    for (int i = 0; i < 2; i++) {
        fbp_view_pixel(view, panel, column[i], row, p);
        if (source) {
            fbp_axpy(p, -1, view->s, p);
            fan[i] = atan2(fbp_dot(p, f->t), -fbp_dot(p, f->n));
            mm[i] = f->radius * sin(fan[i]);
        } else {
            mm[i] = fbp_dot(p, f->t);
        }
    }
    lo[0] = fmin(fan[0], fan[1]);
    hi[0] = fmax(fan[0], fan[1]);
    lo[1] = fmin(mm[0], mm[1]);
    hi[1] = fmax(mm[0], mm[1]);
}

fbp_status fbp_view_facts_of(const struct fbp_kind_table *kind, const struct fbp_views *views,
                             size_t k, const double axis[3], struct fbp_view_facts *out)
{
    const struct fbp_view *view = &views->view[k];
    const struct fbp_panel *panel = &views->panel;
    const double *const vectors[4] = {view->s, view->d, view->u, view->v};
    double P[12], u[3], v[3], n[3], up[3], z[2];
    double ray[3] = {view->s[0], view->s[1], view->s[2]};
    struct fbp_frame f;

    *out = (struct fbp_view_facts){.magnification = 1};
    for (int i = 0; i < 12; i++)
        if (!isfinite(vectors[i / 3][i % 3]))
            return FBP_INVALID("geometry: view %zu has values that are not finite; correct them",
                               k);
    FBP_TRY(fbp_check_view(kind, view, k));
    if (!fbp_frame_of(view, axis, &f))
        return FBP_INVALID(
            "geometry: view %zu: %s; check source positions, or ray directions, and iso-centre", k,
            kind->has_source ? "the rotation axis passes through the source"
                             : "the rays are parallel to the rotation axis");
    if (!kind->matrix(view, panel, P))
        return FBP_INVALID(
            "geometry: view %zu: the panel is parallel to the central ray, or its rows "
            "and columns are parallel; check its axes u and v",
            k);
    if (!(P[11] > 0))
        return FBP_INVALID("geometry: view %zu: the iso-centre is not on the panel's side of the "
                           "source; check source and panel centre, or the sign of the matrix",
                           k);
    fbp_cross(view->u, view->v, n);
    fbp_normalise(n);
    fbp_normalise(ray);
    if (!(fabs(fbp_dot(n, ray)) > EDGE_ON))
        return FBP_INVALID(
            "geometry: view %zu: the panel is parallel to the rays; check its axes u and v", k);
    if (!(fabs(fbp_dot(view->u, f.t)) > fabs(fbp_dot(view->u, f.a))))
        return FBP_INVALID(
            "geometry: view %zu: detector rows are nearer to the direction of the rotation axis "
            "than to a right angle with it; exchange rows and columns of the projections",
            k);

    if (kind->has_source) {
        out->sod = fbp_norm(view->s);
        out->sdd = 1 / fbp_norm(P + 8); /* distance along the panel's normal at which w = 1 */
        out->magnification = 1 / P[11];
    }
    fan_of(kind->has_source, view, panel, &f, 0.5, out->edge_lo, out->edge_hi);
    fan_of(kind->has_source, view, panel, &f, 0, out->pixel_lo, out->pixel_hi);
    fbp_axis_seen(P, panel, axis, z);
    out->axis_lo = fmin(z[0], z[1]);
    out->axis_hi = fmax(z[0], z[1]);

    /* Compute the rotations of the panel from the ideal panel, as in struct fbp_circle.  A
     * projection that is stored mirrored or upside down does not count as rotated. */
    for (int i = 0; i < 3; i++) {
        u[i] = copysign(1, fbp_dot(view->u, f.t)) * view->u[i];
        v[i] = copysign(1, fbp_dot(view->v, f.a)) * view->v[i];
    }
    fbp_normalise(u);
    fbp_normalise(v);
    out->skew = asin(fmin(fmax(fbp_dot(u, v), -1), 1));
    fbp_cross(u, v, n);
    fbp_normalise(n);
    fbp_cross(n, u, up);
    out->tilt[0] = atan2(-fbp_dot(n, f.a), fbp_dot(n, f.n));
    out->tilt[1] = asin(fmin(fmax(fbp_dot(n, f.t), -1), 1));
    out->tilt[2] = atan2(-fbp_dot(up, f.t), fbp_dot(u, f.t));
    out->row_tilt = asin(fmin(fabs(fbp_dot(view->u, f.a)) / fbp_norm(view->u), 1));
    return FBP_OK;
}

void fbp_views_flip(struct fbp_view *views, size_t n_views, unsigned flips)
{
    FBP_REQUIRE_ELSE(, views);
    double axis[3], R[9];

    for (size_t k = 0; k < n_views; k++)
        for (int i = 0; i < 3; i++) {
            views[k].u[i] = flips & FBP_FLIP_U ? -views[k].u[i] : views[k].u[i];
            views[k].v[i] = flips & FBP_FLIP_V ? -views[k].v[i] : views[k].v[i];
        }
    if (!(flips & FBP_FLIP_DIRECTION) || n_views == 0)
        return;
    fbp_axis_of(views, n_views, axis);
    const double first = fbp_view_angle(&views[0], axis);
    for (size_t k = 0; k < n_views; k++) { /* rotate a view at angle first + d to first - d */
        double *const vectors[4] = {views[k].s, views[k].d, views[k].u, views[k].v};
        fbp_turn_about(axis, -2 * (fbp_view_angle(&views[k], axis) - first), R);
        for (int i = 0; i < 4; i++)
            fbp_turned(R, vectors[i], vectors[i]);
    }
}
