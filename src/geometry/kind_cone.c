/* Line integrals through a point source.
 *
 * A fan beam is a cone of one detector row, and no kind of its own: matrix, weights, filter and
 * grid are what the formulas of the cone give for one row, and a scan that is binned to one row
 * becomes a fan without a word.  Formats that have a name for it choose it by the panel.
 */
#include "geometry/kind.h"

#include "base/range.h"

#include <stdio.h>
#include <string.h>

static fbp_status check_view(const struct fbp_view *view, size_t k)
{
    char name[80];

    snprintf(name, sizeof name, "geometry: view %zu: length of the source's place s", k);
    return fbp_check_range(&fbp_range_place, name, fbp_norm(view->s));
}

/* P = A [I | -s], A = inv([u v d0-s]) */
static bool matrix(const struct fbp_view *view, const struct fbp_panel *panel, double P[12])
{
    double depth[3], A[3][3];

    fbp_view_pixel(view, panel, 0, 0, depth);
    fbp_axpy(depth, -1, view->s, depth);
    if (!fbp_dual_basis(view->u, view->v, depth, A))
        return false;
    for (size_t i = 0; i < 3; i++) {
        memcpy(P + 4 * i, A[i], sizeof A[i]);
        P[4 * i + 3] = -fbp_dot(A[i], view->s);
    }
    return true;
}

static double gamma_of(const struct fbp_view *view, const struct fbp_frame *f,
                       const double pixel[3])
{
    double q[3];

    fbp_axpy(pixel, -1, view->s, q);
    return atan2(fbp_dot(q, f->t), -fbp_dot(q, f->n));
}

static double distance(const struct fbp_view *view, const struct fbp_frame *f,
                       const double pixel[3])
{
    return f->radius * sin(gamma_of(view, f, pixel));
}

static void distances(const struct fbp_view *view, const double P[12], struct fbp_view_facts *out)
{
    out->sod = fbp_norm(view->s);
    /* 1/|row 3| is the depth at which w = 1 */
    out->sdd = 1 / fbp_norm(P + 8);
    out->magnification = 1 / P[11];
}

static double height(const struct fbp_view *view, const double axis[3])
{
    return fbp_dot(view->s, axis);
}

static double pitch(const struct fbp_view *view, const double P[12])
{
    return fbp_norm(view->u) * P[11];
}

const struct fbp_kind_table fbp_kind_cone = {
    .name = "cone",
    .integral = FBP_OVER_LINES,
    .has_source = true,
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
