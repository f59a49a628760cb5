/* Views of a scan that is read the other way round. */
#include "geometry/facts.h"
#include "geometry/frame.h"
#include "geometry/rotation.h"

#include "base/status.h"

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
