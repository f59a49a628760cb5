/* A phantom's density at a point and along a line. */
#include "phantom/body.h"
#include "phantom/ellipsoid.h"
#include "phantom/section.h"

#include "base/status.h"

#include <math.h>
#include <stdlib.h>

static double line_of_shapes(const struct fbp_phantom *phantom, const double p[3],
                             const double dir[3])
{
    struct fbp_body *bodies = NULL;
    struct fbp_spans room = {0};
    double sum = NAN;

    if (fbp_bodies_of(phantom, &bodies) == FBP_OK &&
        fbp_spans_alloc(&room, phantom->n_shapes) == FBP_OK) {
        for (size_t i = 0; i < phantom->n_shapes; i++)
            room.near[i] = &bodies[i];
        sum = fbp_line_integral(room.near, phantom->n_shapes, phantom->replace, p, dir, &room);
    }
    fbp_spans_free(&room);
    free(bodies);
    return sum;
}

double fbp_phantom_line(const struct fbp_phantom *phantom, const double p[3], const double dir[3])
{
    FBP_GIVEN_ELSE(NAN, phantom, p, dir);
    double sum = phantom->n_shapes > 0 ? line_of_shapes(phantom, p, dir) : 0;

    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_ball ball;
        fbp_ball_of(&phantom->items[i], &ball);
        sum += fbp_ball_line(&ball, p, dir);
    }
    return sum;
}

double fbp_phantom_plane(const struct fbp_phantom *phantom, const double n[3], double t_mm)
{
    FBP_GIVEN_ELSE(NAN, phantom, n);
    struct fbp_body *bodies = NULL;
    double sum = NAN;

    fbp_message_clear();
    if (fbp_sections_of(phantom, &bodies) == FBP_OK) {
        sum = 0;
        for (size_t i = 0; i < phantom->n + phantom->n_shapes; i++)
            sum += fbp_body_plane(&bodies[i], n, t_mm);
    }
    free(bodies);
    return sum;
}

double fbp_phantom_at(const struct fbp_phantom *phantom, const double x[3])
{
    FBP_GIVEN_ELSE(NAN, phantom, x);
    bool hidden = false;
    double sum = 0;

    for (size_t i = 0; i < phantom->n; i++) {
        struct fbp_ball ball;
        fbp_ball_of(&phantom->items[i], &ball);
        if (fbp_ball_holds(&ball, x))
            sum += ball.density;
    }
    for (size_t i = 0; i < phantom->n_shapes && !hidden; i++) {
        struct fbp_body body;
        double density;
        fbp_body_of(&phantom->shapes[i], &body);
        hidden = fbp_body_at(&body, x, &density) && phantom->replace;
        sum += density;
    }
    return sum;
}
