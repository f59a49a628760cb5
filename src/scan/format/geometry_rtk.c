/* RTK's parameters, views, matrices. */
#include "scan/format/geometry_rtk.h"

#include "base/math.h"

#include <string.h>

/* SID where nothing depends on it: RTK's own choice for parallel projections. */
static const double PARALLEL_SID = 1000;

/* R = Rz(-i) Rx(-o) Ry(-g), row by row. */
static void rotation(const struct fbp_rtk *p, double R[3][3])
{
    const double cg = cos(p->gantry_rad), sg = -sin(p->gantry_rad);
    const double co = cos(p->out_of_plane_rad), so = -sin(p->out_of_plane_rad);
    const double ci = cos(p->in_plane_rad), si = -sin(p->in_plane_rad);
    const double x[3] = {cg, 0, sg}, y[3] = {so * sg, co, -so * cg};

    for (int k = 0; k < 3; k++) {
        R[0][k] = ci * x[k] - si * y[k];
        R[1][k] = si * x[k] + ci * y[k];
    }
    R[2][0] = -co * sg;
    R[2][1] = so;
    R[2][2] = co * cg;
}

/* The in-plane angle is what is left when the others are undone, so that it is well-conditioned
 * where they are not: at an out-of-plane angle of 90 degrees. */
static void angles(const double R[3][3], struct fbp_rtk *out)
{
    const double *n = R[2];
    struct fbp_rtk p = {0};
    double upright[3][3];

    p.gantry_rad = -atan2(-n[0], n[2]);
    p.out_of_plane_rad = -atan2(n[1], hypot(n[0], n[2]));
    rotation(&p, upright);
    p.in_plane_rad = -atan2(fbp_dot(R[1], upright[0]), fbp_dot(R[0], upright[0]));
    if (p.gantry_rad < 0)
        p.gantry_rad += 2 * FBP_PI;
    out->gantry_rad = p.gantry_rad;
    out->out_of_plane_rad = p.out_of_plane_rad;
    out->in_plane_rad = p.in_plane_rad;
}

/* R^T x, in this program's axes. */
static void to_world(double R[3][3], double a, double b, double c, double out[3])
{
    double x[3];

    for (int k = 0; k < 3; k++)
        x[k] = a * R[0][k] + b * R[1][k] + c * R[2][k];
    out[0] = x[0];
    out[1] = -x[2];
    out[2] = x[1];
}

void fbp_rtk_view(const struct fbp_rtk *p, const double pitch[2], const double centre[2],
                  struct fbp_view *out)
{
    const bool cone = fabs(p->sdd_mm) > 0;
    double R[3][3];

    rotation(p, R);
    if (cone)
        to_world(R, p->source_mm[0], p->source_mm[1], p->sid_mm, out->s);
    else
        to_world(R, 0, 0, 1, out->s);
    to_world(R, p->projection_mm[0] + centre[0], p->projection_mm[1] + centre[1],
             cone ? p->sid_mm - p->sdd_mm : 0, out->d);
    to_world(R, pitch[0], 0, 0, out->u);
    to_world(R, 0, pitch[1], 0, out->v);
}

static void to_rtk(const double x[3], double out[3])
{
    out[0] = x[0];
    out[1] = x[2];
    out[2] = -x[1];
}

void fbp_rtk_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_rtk *out)
{
    double s[3], d[3], R[3][3];

    to_rtk(view->s, s);
    to_rtk(view->d, d);
    to_rtk(view->u, R[0]);
    to_rtk(view->v, R[1]);
    fbp_cross(R[0], R[1], R[2]);
    for (int i = 0; i < 3; i++)
        fbp_normalise(R[i]);
    *out = (struct fbp_rtk){.sid_mm = PARALLEL_SID};
    angles((const double(*)[3])R, out);
    for (int i = 0; i < 2; i++)
        out->projection_mm[i] = fbp_dot(d, R[i]);
    if (!fbp_kind_has_source(kind))
        return;
    for (int i = 0; i < 2; i++)
        out->source_mm[i] = fbp_dot(s, R[i]);
    out->sid_mm = fbp_dot(s, R[2]);
    out->sdd_mm = out->sid_mm - fbp_dot(d, R[2]);
}

/* Point q of the panel's axes lands at source + sdd / (sid - q_z) (q - source) - projection. */
void fbp_rtk_matrix(const struct fbp_rtk *p, double M[12])
{
    const bool cone = fabs(p->sdd_mm) > 0;
    double R[3][3];

    rotation(p, R);
    for (int i = 0; i < 2; i++) {
        const double shift = p->source_mm[i] - p->projection_mm[i];
        for (int k = 0; k < 3; k++)
            M[4 * i + k] = cone ? -p->sdd_mm * R[i][k] + shift * R[2][k] : R[i][k];
        M[4 * i + 3] =
            cone ? p->sdd_mm * p->source_mm[i] - p->sid_mm * shift : -p->projection_mm[i];
    }
    memset(M + 8, 0, 4 * sizeof *M);
    if (cone)
        memcpy(M + 8, R[2], sizeof R[2]);
    M[11] = cone ? -p->sid_mm : 1;
}
