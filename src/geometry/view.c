/* Views as vectors and as matrices.  B = inv(A) = [u v d0-s] holds the panel in its columns. */
#include "base/range.h"
#include "geometry/frame.h"

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
