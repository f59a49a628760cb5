/* Views of a circular scan (design: the source stands at (d cos t, d sin t, 0)). */
#include "geometry/kind.h"
#include "geometry/ranges.h"

#include "base/sizes.h"
#include "base/vec.h"

#include <stdio.h>

/* A panel's axes before and after it is turned. */
struct axes {
    double u[3], v[3], n[3];
};

/* Turn a towards b by angle; both unit and orthogonal. */
static void turn(double a[3], double b[3], double angle)
{
    const double c = cos(angle), s = sin(angle);

    for (int i = 0; i < 3; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x + s * y;
        b[i] = c * y - s * x;
    }
}

/* Each turn is about the panel's own axis as the turns before have left it. */
static void turn_panel(struct axes *p, const double tilt[3])
{
    turn(p->v, p->n, tilt[0]);
    turn(p->n, p->u, tilt[1]);
    turn(p->u, p->v, tilt[2]);
}

static fbp_status check_of_view(const struct fbp_range *range, size_t k, const char *what, double x)
{
    char name[80];

    if (fbp_in_range(range, x))
        return FBP_OK;
    snprintf(name, sizeof name, "geometry: view %zu: %s", k, what);
    return fbp_check_range(range, name, x);
}

static fbp_status check_distances(const struct fbp_circle *c)
{
    if (!c->sod_mm || !c->sdd_mm || (c->n_sod != 1 && c->n_sod != c->n_views) ||
        (c->n_sdd != 1 && c->n_sdd != c->n_views))
        return fbp_fail(FBP_ERR_INVALID,
                        "geometry: %zu source-to-axis and %zu source-to-detector distances for %zu "
                        "views: give one, or one a view",
                        c->n_sod, c->n_sdd, c->n_views);
    for (size_t k = 0; k < c->n_views; k++) {
        const double sod = c->sod_mm[c->n_sod == 1 ? 0 : k];
        const double sdd = c->sdd_mm[c->n_sdd == 1 ? 0 : k];
        FBP_TRY(check_of_view(&fbp_range_distance, k, "source-to-axis distance", sod));
        FBP_TRY(check_of_view(&fbp_range_distance, k, "source-to-detector distance", sdd));
        if (!(sdd >= sod)) /* which may be a virtual detector, or two distances interchanged */
            return fbp_fail(FBP_ERR_INVALID,
                            "geometry: view %zu: source-to-detector distance %g mm: it must not be "
                            "below the source-to-axis distance %g mm: if the detector is a virtual "
                            "one, multiply distance and pitch by one factor, such as %.6g",
                            k, sdd, sod, sod / sdd);
    }
    return FBP_OK;
}

static fbp_status check_panel(const struct fbp_circle *c)
{
    FBP_TRY(fbp_check_range(&fbp_range_pitch, "geometry: pixel pitch along u", c->pitch_mm[0]));
    FBP_TRY(fbp_check_range(&fbp_range_pitch, "geometry: pixel pitch along v", c->pitch_mm[1]));
    FBP_TRY(fbp_check_range(&fbp_range_place, "geometry: panel offset along u", c->offset_mm[0]));
    FBP_TRY(fbp_check_range(&fbp_range_place, "geometry: panel offset along v", c->offset_mm[1]));
    for (int i = 0; i < 3; i++)
        if (!(fabs(c->tilt_rad[i]) < FBP_PI / 2))
            return fbp_fail(FBP_ERR_INVALID,
                            "geometry: the panel is turned by %g degrees: turns must stay below 90",
                            c->tilt_rad[i] * 180 / FBP_PI);
    if (!(fabs(c->skew_rad) < FBP_PI / 4))
        return fbp_fail(FBP_ERR_INVALID, "geometry: panel skew %g degrees: it must stay below 45",
                        c->skew_rad * 180 / FBP_PI);
    return FBP_OK;
}

static fbp_status check(const struct fbp_circle *c)
{
    FBP_TRY(fbp_check_lines("geometry", c->kind));
    if (c->n_views == 0 || !c->angles_rad)
        return fbp_fail(FBP_ERR_INVALID, "geometry: the scan has no views: give angles");
    FBP_TRY(fbp_check_range(&fbp_range_views, "geometry: n_views", (double)c->n_views));
    for (size_t k = 0; k < c->n_views; k++)
        FBP_TRY(check_of_view(&fbp_range_angle, k, "angle", c->angles_rad[k] * 180 / FBP_PI));
    FBP_TRY(check_panel(c));
    return fbp_kind_of(c->kind)->has_source ? check_distances(c) : FBP_OK;
}

static void circle_view(const struct fbp_circle *c, size_t k, struct fbp_view *out)
{
    const double t = c->angles_rad[k], cs = cos(t), sn = sin(t);
    const bool source = fbp_kind_of(c->kind)->has_source;
    const double sod = source ? c->sod_mm[c->n_sod == 1 ? 0 : k] : 1;
    const double sdd = source ? c->sdd_mm[c->n_sdd == 1 ? 0 : k] : 1;
    struct axes p = {{-sn, cs, 0}, {0, 0, 1}, {cs, sn, 0}};

    for (int i = 0; i < 3; i++) {
        out->s[i] = sod * p.n[i];
        out->d[i] = (sod - sdd) * p.n[i] + c->offset_mm[0] * p.u[i] + c->offset_mm[1] * p.v[i];
    }
    turn_panel(&p, c->tilt_rad);
    for (int i = 0; i < 3; i++) {
        out->u[i] = c->pitch_mm[0] * p.u[i];
        out->v[i] = c->pitch_mm[1] * (cos(c->skew_rad) * p.v[i] + sin(c->skew_rad) * p.u[i]);
    }
}

fbp_status fbp_check_circle(const struct fbp_circle *given, struct fbp_circle *out)
{
    FBP_TRY(FBP_TAKE(circle, out, given));
    return check(out);
}

fbp_status fbp_circle_views(const struct fbp_circle *circle, struct fbp_view *views)
{
    FBP_GIVEN(views);
    struct fbp_circle c;

    fbp_message_clear();
    FBP_TRY(fbp_check_circle(circle, &c));
    for (size_t k = 0; k < c.n_views; k++)
        circle_view(&c, k, &views[k]);
    return FBP_OK;
}
