#include "fbp/phantom.h"

#include "base/vec.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"

/* A smooth wobble of amplitude about 1: sum_k a_k sin(k t + p_k), normalised by sum a_k. */
struct wobble {
    double a[3], phase[3];
};

static double wobble(const struct wobble *w, double t)
{
    double sum = 0, norm = 0;
    for (int k = 0; k < 3; k++) {
        sum += w->a[k] * sin((k + 1) * t + w->phase[k]);
        norm += w->a[k];
    }
    return sum / norm;
}

/* Fixed coefficients, chosen by taste to look like a calibrated C-arm. */
static const struct wobble source_radius = {{1, .5, .2}, {.3, 1.9, 4.0}};
static const struct wobble source_height = {{1, .3, .1}, {2.1, .4, 5.2}};
static const struct wobble focal_length = {{1, .4, .2}, {1.2, 3.3, .7}};
static const struct wobble principal_u = {{1, .4, .1}, {4.4, 2.0, 1.1}};
static const struct wobble principal_v = {{1, .6, .2}, {5.6, .9, 2.7}};
static const struct wobble turn[3] = {
    {{1, .3, .2}, {.8, 4.9, 2.2}},
    {{1, .5, .1}, {3.7, 1.4, .2}},
    {{1, .2, .3}, {2.6, 5.5, 3.1}},
};

enum { REFERENCE_COLUMNS = 1248 };

/* Turn a and b, two axes at right angles, right-handed about their common normal a x b. */
static void turn_pair(double a[3], double b[3], double angle)
{
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        const double ai = a[i], bi = b[i];
        a[i] = c * ai + s * bi;
        b[i] = c * bi - s * ai;
    }
}

static void c_arm_view(double t, double sod, double sdd, const struct fbp_circle *circle,
                       double share, struct fbp_view *out)
{
    const double deg = FBP_PI / 180, amplitude[3] = {.2 * deg, .3 * deg, .4 * deg};
    double u[3] = {-sin(t), cos(t), 0}, v[3] = {0, 0, 1}, n[3] = {cos(t), sin(t), 0};
    const double radius = sod + 1.5 * wobble(&source_radius, t);
    const double focal = sdd * (1 + 7.0 / 3890 * wobble(&focal_length, t));
    const double *pitch = circle->pitch_mm;
    const double shift_u = 33 * share * pitch[0] * wobble(&principal_u, t) - circle->offset_mm[0];
    const double shift_v = 10 * share * pitch[1] * wobble(&principal_v, t) - circle->offset_mm[1];

    for (int i = 0; i < 3; i++)
        out->s[i] = radius * n[i];
    out->s[2] += -4.1 + 1.5 * wobble(&source_height, t);
    turn_pair(v, n, amplitude[0] * wobble(&turn[0], t));
    turn_pair(n, u, amplitude[1] * wobble(&turn[1], t));
    turn_pair(u, v, amplitude[2] * wobble(&turn[2], t));
    /* the foot of the perpendicular from the source is the principal point */
    for (int i = 0; i < 3; i++) {
        out->d[i] = out->s[i] - focal * n[i] - shift_u * u[i] - shift_v * v[i];
        out->u[i] = pitch[0] * u[i];
        out->v[i] = pitch[1] * v[i];
    }
}

fbp_status fbp_c_arm_views(const struct fbp_circle *given, const struct fbp_panel *panel,
                           struct fbp_view *views)
{
    FBP_GIVEN(panel, views);
    struct fbp_circle own, *const circle = &own;

    fbp_message_clear();
    FBP_TRY(fbp_check_circle(given, &own));
    FBP_TRY(fbp_check_panel("c-arm", panel));
    if (!fbp_kind_of(circle->kind)->has_source)
        return fbp_fail(FBP_ERR_INVALID, "c-arm: only a cone beam: use --kind cone");
    const double share = (double)panel->n_columns / REFERENCE_COLUMNS;
    for (size_t k = 0; k < circle->n_views; k++)
        c_arm_view(circle->angles_rad[k], circle->sod_mm[circle->n_sod > 1 ? k : 0],
                   circle->sdd_mm[circle->n_sdd > 1 ? k : 0], circle, share, &views[k]);
    return FBP_OK;
}
