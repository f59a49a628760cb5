/* Line integrals of a whole view through convex bodies.  The rays of a detector row lie in one
 * plane, so that most bodies, which the plane misses, are left out of a whole row. */
#include "phantom/body.h"

#include "base/status.h"
#include "base/stop.h"
#include "base/vec.h"
#include "geometry/kind.h"

/* Ray of a pixel: a point and a direction of length 1. */
static void ray_of(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                   double column, double row, double p[3], double dir[3])
{
    const bool source = fbp_kind_of(kind)->has_source;
    double pixel[3];

    fbp_axpy(view->d, column - ((double)panel->n_columns - 1) / 2, view->u, pixel);
    fbp_axpy(pixel, row - ((double)panel->n_rows - 1) / 2, view->v, pixel);
    for (int i = 0; i < 3; i++) {
        p[i] = source ? view->s[i] : pixel[i];
        dir[i] = source ? pixel[i] - view->s[i] : -view->s[i];
    }
    fbp_normalise(dir);
}

/* The bodies that the plane through p across `normal` meets. */
static size_t near_plane(const struct fbp_body *bodies, size_t n, const double p[3],
                         const double normal[3], const struct fbp_body **out)
{
    const double length = fbp_norm(normal);
    size_t met = 0;

    for (size_t i = 0; i < n; i++) {
        double d[3];
        fbp_axpy(bodies[i].ball_c, -1, p, d);
        if (fabs(fbp_dot(normal, d)) <= bodies[i].ball_r * length)
            out[met++] = &bodies[i];
    }
    return met;
}

fbp_status fbp_bodies_view(const struct fbp_body *bodies, const struct fbp_phantom *phantom,
                           const struct fbp_view *view, enum fbp_kind kind,
                           const struct fbp_panel *panel, struct fbp_spans *room, float *out)
{
    double p[3], dir[3], normal[3];

    for (size_t r = 0; r < panel->n_rows; r++) {
        FBP_TRY(fbp_go_on());
        ray_of(view, kind, panel, 0, (double)r, p, dir);
        fbp_cross(view->u, dir, normal);
        const size_t n = near_plane(bodies, phantom->n_shapes, p, normal, room->near);
        for (size_t c = 0; n > 0 && c < panel->n_columns; c++) {
            ray_of(view, kind, panel, (double)c, (double)r, p, dir);
            const double sum = fbp_line_integral(room->near, n, phantom->replace, p, dir, room);
            if (!isfinite(sum))
                return fbp_fail(FBP_ERR_INVALID,
                                "phantom: a shape has no end along the ray of column %zu, row %zu: "
                                "give it one, by a length or a plane",
                                c, r);
            out[r * panel->n_columns + c] += (float)sum;
        }
    }
    return FBP_OK;
}
