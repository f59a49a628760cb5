/* Line integrals along one direction a view; s is the unit vector towards the source. */
#include "geometry/kind.h"

#include "base/status.h"

#include <string.h>

/* Only the direction of s counts. */
static fbp_status check_view(const struct fbp_view *view, size_t k)
{
    (void)view;
    (void)k;
    return FBP_OK;
}

/* P = A [I | -d0], A = inv([u v s]), with (0, 0, 0, 1) as the third row */
static bool matrix(const struct fbp_view *view, const struct fbp_panel *panel, double P[12])
{
    double d0[3], A[3][3];

    fbp_view_pixel(view, panel, 0, 0, d0);
    if (!fbp_dual_basis(view->u, view->v, view->s, A))
        return false;
    for (size_t i = 0; i < 2; i++) {
        memcpy(P + 4 * i, A[i], sizeof A[i]);
        P[4 * i + 3] = -fbp_dot(A[i], d0);
    }
    memcpy(P + 8, (const double[4]){0, 0, 0, 1}, 4 * sizeof *P);
    return true;
}

static double gamma_of(const struct fbp_view *view, const struct fbp_frame *f,
                       const double pixel[3])
{
    (void)view;
    (void)f;
    (void)pixel;
    return 0;
}

static double distance(const struct fbp_view *view, const struct fbp_frame *f,
                       const double pixel[3])
{
    (void)view;
    return fbp_dot(pixel, f->t);
}

static void distances(const struct fbp_view *view, const double P[12], struct fbp_view_facts *out)
{
    (void)view;
    (void)P;
    out->sod = out->sdd = 0;
    out->magnification = 1;
}

static double height(const struct fbp_view *view, const double axis[3])
{
    const double along = fbp_dot(view->s, axis), size = fbp_norm(view->s);

    return along / size;
}

/* A tilted panel sees the axis with its pitch foreshortened. */
static double pitch(const struct fbp_view *view, const double P[12])
{
    double ray[3] = {view->s[0], view->s[1], view->s[2]}, across[3];

    fbp_normalise(ray);
    fbp_axpy(view->u, -fbp_dot(view->u, ray), ray, across);
    return fbp_norm(across) * P[11];
}

const struct fbp_kind_table fbp_kind_parallel = {
    .name = "parallel",
    .integral = FBP_OVER_LINES,
    .has_source = false,
    .check_view = check_view,
    .matrix = matrix,
    .gamma = gamma_of,
    .distance = distance,
    .distances = distances,
    .height = height,
    .pitch = pitch,
    .facts = fbp_line_facts,
    .rows = fbp_line_rows,
    .grid = fbp_line_grid,
};
