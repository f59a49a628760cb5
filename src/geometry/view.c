/* Views as vectors (s, d, u, v) and as 3x4 matrices: checks, flips, frames about the rotation axis.
 */
#include "geometry/view.h"

#include "geometry/facts.h"
#include "geometry/kind.h"

#include "base/range.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

/* Views as vectors and as matrices.  B = inv(A) = [u v d0-s] holds the panel in its columns. */

/* Below this |det| relative to the product of the lengths, three vectors count as dependent. */
static const double SINGULAR = 1e-12;

void fbp_view_pixel(const struct fbp_view *view, const struct fbp_panel *panel, double c, double r,
                    double out[3])
{
    FBP_GIVEN_ELSE(, view, panel, out);
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

/*
 * P = k A [I | -s] for an unknown k, so inv(k A) = B/k.  |u| gives |k|; its sign is that which
 * puts the iso-centre in front of the source: the depth of the iso-centre is P[11]/k.
 */
fbp_status fbp_view_from_matrix(const double P[12], double pitch_u_mm,
                                const struct fbp_panel *panel, struct fbp_view *out)
{
    FBP_GIVEN(P, panel, out);
    double B[3][3], row_norm = 0, d0[3];

    fbp_message_clear();
    FBP_TRY(fbp_check_range(&fbp_range_pitch, "geometry: pixel pitch along the rows", pitch_u_mm));
    if (!fbp_dual_basis(P, P + 4, P + 8, B))
        return fbp_fail(FBP_ERR_INVALID, "geometry: the left 3x3 block of the matrix is singular: "
                                         "only cone-beam matrices have a source");
    for (int i = 0; i < 3; i++)
        out->s[i] = -(B[0][i] * P[3] + B[1][i] * P[7] + B[2][i] * P[11]);
    row_norm = fbp_norm(P + 8);
    if (!(fabs(P[11]) > SINGULAR * row_norm * fbp_norm(out->s)))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: the matrix puts the iso-centre into the plane of the source: "
                        "shift the world so that its origin lies on the rotation axis");
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

/* Below this cosine between iso ray and normal the panel counts as seen edge-on. */
static const double EDGE_ON = 0.05;

static bool finite3(const double a[3])
{
    return isfinite(a[0]) && isfinite(a[1]) && isfinite(a[2]);
}

static fbp_status check_vector(const char *field, size_t k, const struct fbp_range *range,
                               double length)
{
    char name[80];

    snprintf(name, sizeof name, "geometry: view %zu: length of %s", k, field);
    return fbp_check_range(range, name, length);
}

fbp_status fbp_check_view(const struct fbp_kind_table *kind, const struct fbp_view *view, size_t k)
{
    FBP_TRY(kind->check_view(view, k));
    FBP_TRY(check_vector("the panel's place d", k, &fbp_range_place, fbp_norm(view->d)));
    FBP_TRY(check_vector("the column step u", k, &fbp_range_pitch, fbp_norm(view->u)));
    if (kind->integral != FBP_OVER_LINES)
        return FBP_OK;
    return check_vector("the row step v", k, &fbp_range_pitch, fbp_norm(view->v));
}

/* Turns of the panel from the ideal one, as struct fbp_circle means them.  A picture stored
 * mirrored or upside down is not a turned panel. */
static void turns_of(const struct fbp_view *view, const struct fbp_frame *f, double tilt[3],
                     double *skew)
{
    double u[3], v[3], n[3], up[3];

    for (int i = 0; i < 3; i++) {
        u[i] = copysign(1, fbp_dot(view->u, f->t)) * view->u[i];
        v[i] = copysign(1, fbp_dot(view->v, f->a)) * view->v[i];
    }
    fbp_normalise(u);
    fbp_normalise(v);
    *skew = asin(fmin(fmax(fbp_dot(u, v), -1), 1));
    fbp_cross(u, v, n);
    fbp_normalise(n);
    fbp_cross(n, u, up);
    tilt[0] = atan2(-fbp_dot(n, f->a), fbp_dot(n, f->n));
    tilt[1] = asin(fmin(fmax(fbp_dot(n, f->t), -1), 1));
    tilt[2] = atan2(-fbp_dot(up, f->t), fbp_dot(u, f->t));
}

static void fan_of(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k,
                   const struct fbp_frame *f, double margin, double lo[2], double hi[2])
{
    const struct fbp_view *view = &views->view[k];
    const struct fbp_panel *panel = &views->panel;
    const double row = ((double)panel->n_rows - 1) / 2;
    const double column[2] = {-margin, (double)panel->n_columns - 1 + margin};
    double fan[2], mm[2], p[3];

    for (int i = 0; i < 2; i++) {
        fbp_view_pixel(view, panel, column[i], row, p);
        fan[i] = kind->gamma(view, f, p);
        mm[i] = kind->distance(view, f, p);
    }
    lo[0] = fmin(fan[0], fan[1]);
    hi[0] = fmax(fan[0], fan[1]);
    lo[1] = fmin(mm[0], mm[1]);
    hi[1] = fmax(mm[0], mm[1]);
}

/* Point a z of the axis falls on row (P4.a z + P7) / (P8.a z + P11). */
static void axis_seen(const double P[12], const struct fbp_panel *panel, const double axis[3],
                      double *lo, double *hi)
{
    const double row[2] = {-0.5, (double)panel->n_rows - 0.5};
    double z[2];

    for (int i = 0; i < 2; i++)
        z[i] = (row[i] * P[11] - P[7]) / (fbp_dot(P + 4, axis) - row[i] * fbp_dot(P + 8, axis));
    *lo = fmin(z[0], z[1]);
    *hi = fmax(z[0], z[1]);
}

static fbp_status check(const struct fbp_view *view, size_t k, double w0, const struct fbp_frame *f)
{
    double n[3], ray[3] = {view->s[0], view->s[1], view->s[2]};

    if (!(w0 > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: view %zu: source and panel are on the same side of the axis: "
                        "check source and panel centre, or the sign of the matrix",
                        k);
    fbp_cross(view->u, view->v, n);
    fbp_normalise(n);
    fbp_normalise(ray);
    if (!(fabs(fbp_dot(n, ray)) > EDGE_ON))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: view %zu: the panel is seen edge-on: check its axes u and v", k);
    if (!(fabs(fbp_dot(view->u, f->t)) > fabs(fbp_dot(view->u, f->a))))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: view %zu: detector rows run along the rotation axis: swap rows "
                        "and columns of the projections",
                        k);
    return FBP_OK;
}

fbp_status fbp_view_facts_of(const struct fbp_kind_table *kind, const struct fbp_views *views,
                             size_t k, const double axis[3], struct fbp_view_facts *out)
{
    const struct fbp_view *view = &views->view[k];
    const struct fbp_panel *panel = &views->panel;
    struct fbp_frame f;
    double P[12];

    *out = (struct fbp_view_facts){0};
    if (!finite3(view->s) || !finite3(view->d) || !finite3(view->u) || !finite3(view->v))
        return fbp_fail(FBP_ERR_INVALID, "geometry: view %zu has values that are not finite", k);
    FBP_TRY(fbp_check_view(kind, view, k));
    if (!fbp_frame_of(view, axis, &f))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: view %zu: the rotation axis passes through the source: check "
                        "source positions and iso-centre",
                        k);
    if (!kind->matrix(view, panel, P))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: view %zu: the panel is seen edge-on, or its rows and columns "
                        "are parallel: check its axes u and v",
                        k);
    FBP_TRY(check(view, k, P[11], &f));
    kind->distances(view, P, out);
    fan_of(kind, views, k, &f, 0.5, out->edge_lo, out->edge_hi);
    fan_of(kind, views, k, &f, 0, out->pixel_lo, out->pixel_hi);
    axis_seen(P, panel, axis, &out->axis_lo, &out->axis_hi);
    turns_of(view, &f, out->tilt, &out->skew);
    out->lean = asin(fmin(fabs(fbp_dot(view->u, f.a)) / fbp_norm(view->u), 1));
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

/* Views of a scan that is read the other way round. */

static void negate(double a[3])
{
    for (int i = 0; i < 3; i++)
        a[i] = -a[i];
}

/* From angle first + d about the axis to first - d: all of the view turns by -2 d. */
static void turn_back(struct fbp_view *view, const double axis[3], double first)
{
    double *const vectors[4] = {view->s, view->d, view->u, view->v};
    double R[9];

    fbp_turn_about(axis, -2 * (fbp_view_angle(view, axis) - first), R);
    for (int i = 0; i < 4; i++)
        fbp_turned(R, vectors[i], vectors[i]);
}

void fbp_views_flip(struct fbp_view *views, size_t n_views, unsigned flips)
{
    FBP_GIVEN_ELSE(, views);
    double axis[3];

    for (size_t k = 0; k < n_views; k++) {
        if (flips & FBP_FLIP_U)
            negate(views[k].u);
        if (flips & FBP_FLIP_V)
            negate(views[k].v);
    }
    if (!(flips & FBP_FLIP_DIRECTION) || n_views == 0)
        return;
    fbp_axis_of(views, n_views, axis);
    const double first = fbp_view_angle(&views[0], axis);
    for (size_t k = 0; k < n_views; k++)
        turn_back(&views[k], axis, first);
}
