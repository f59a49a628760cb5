/* Circular scans.  For scans described by angles and distances (struct fbp_circle): a check of
 * these, and computation of the views (fbp_circle_views()).  For any views: the direction of the
 * rotation axis (fbp_axis_of()) and its position (fbp_views_centre()), fitted to the sources.
 * Used by: bench/, cli/, geometry/, phantom/, pipeline/, scan/, weight/. */
#include "geometry/kind.h"
#include "geometry/ranges.h"

#include "base/base.h"

#include <stdio.h>
#include <string.h>

static fbp_status check_of_view(const struct fbp_range *range, size_t k, const char *what, double x)
{
    char name[80];

    if (fbp_in_range(range, x))
        return FBP_OK;
    snprintf(name, sizeof name, "geometry: view %zu: %s", k, what);
    return fbp_check_range(range, name, x);
}

fbp_status fbp_check_circle(const struct fbp_circle *given, struct fbp_circle *c)
{
    FBP_TRY(FBP_COPY_IN(circle, c, given));
    FBP_TRY(fbp_check_lines("geometry", c->kind));
    if (c->n_views == 0 || !c->angles_rad)
        return FBP_INVALID("geometry: the scan has no views; give angles");
    FBP_TRY(fbp_check_range(&fbp_range_views, "geometry: n_views", (double)c->n_views));
    for (size_t k = 0; k < c->n_views; k++)
        FBP_TRY(check_of_view(&fbp_range_angle, k, "angle", c->angles_rad[k] * 180 / FBP_PI));

    FBP_TRY(fbp_check_range(&fbp_range_pitch, "geometry: pixel pitch along u", c->pitch_mm[0]));
    FBP_TRY(fbp_check_range(&fbp_range_pitch, "geometry: pixel pitch along v", c->pitch_mm[1]));
    FBP_TRY(
        fbp_check_range(&fbp_range_position, "geometry: panel offset along u", c->offset_mm[0]));
    FBP_TRY(
        fbp_check_range(&fbp_range_position, "geometry: panel offset along v", c->offset_mm[1]));
    for (size_t k = 0; c->offsets_mm && k < 2 * c->n_views; k++)
        FBP_TRY(
            check_of_view(&fbp_range_position, k / 2, "panel offset", c->offsets_mm[k / 2][k % 2]));
    for (int i = 0; i < 3; i++)
        if (!(fabs(c->tilt_rad[i]) < FBP_PI / 2))
            return FBP_INVALID(
                "geometry: tilt %d of the panel is %g degrees, expected above -90 and below 90",
                i + 1, c->tilt_rad[i] * 180 / FBP_PI);
    if (!(fabs(c->skew_rad) < FBP_PI / 4))
        return FBP_INVALID("geometry: found a panel skew of %g degrees, expected less than 45",
                           c->skew_rad * 180 / FBP_PI);

    if (!fbp_kind_of(c->kind)->has_source)
        return FBP_OK;
    if (!c->sod_mm || !c->sdd_mm || (c->n_sod != 1 && c->n_sod != c->n_views) ||
        (c->n_sdd != 1 && c->n_sdd != c->n_views))
        return FBP_INVALID(
            "geometry: found %zu source-to-axis distances (n_sod) and %zu "
            "source-to-detector distances (n_sdd) for %zu views; give one distance of "
            "each kind, or one per view",
            c->sod_mm ? c->n_sod : 0, c->sdd_mm ? c->n_sdd : 0, c->n_views);
    for (size_t k = 0; k < c->n_views; k++) {
        const double sod = c->sod_mm[c->n_sod == 1 ? 0 : k];
        const double sdd = c->sdd_mm[c->n_sdd == 1 ? 0 : k];
        FBP_TRY(check_of_view(&fbp_range_distance, k, "source-to-axis distance", sod));
        FBP_TRY(check_of_view(&fbp_range_distance, k, "source-to-detector distance", sdd));
        if (!(sdd >= sod)) /* a virtual detector in front of the axis, or interchanged distances */
            return FBP_INVALID(
                "geometry: view %zu: the source-to-detector distance %g mm is below "
                "the source-to-axis distance %g mm; exchange them if they are "
                "interchanged; for a virtual detector, multiply its distance and pitch "
                "by the same factor, such as %.6g",
                k, sdd, sod, sod / sdd);
    }
    return FBP_OK;
}

/* Compute the views of a circular scan: at angle t, the source (parallel beam: vector s, with sod =
 * 1) is at (sod cos t, sod sin t, 0). */
fbp_status fbp_circle_views(const struct fbp_circle *circle, struct fbp_view *views)
{
    FBP_REQUIRE(views);
    struct fbp_circle c;

    fbp_message_clear();
    FBP_TRY(fbp_check_circle(circle, &c));
    const bool source = fbp_kind_of(c.kind)->has_source;
    for (size_t k = 0; k < c.n_views; k++) {
        const double t = c.angles_rad[k], cs = cos(t), sn = sin(t);
        const double sod = source ? c.sod_mm[c.n_sod == 1 ? 0 : k] : 1;
        const double sdd = source ? c.sdd_mm[c.n_sdd == 1 ? 0 : k] : 1;
        double u[3] = {-sn, cs, 0}, v[3] = {0, 0, 1}, n[3] = {cs, sn, 0};
        const double *offset = c.offsets_mm ? c.offsets_mm[k] : c.offset_mm;

        for (int i = 0; i < 3; i++) {
            views[k].s[i] = sod * n[i];
            views[k].d[i] = (sod - sdd) * n[i] + offset[0] * u[i] + offset[1] * v[i];
        }
        /* rotate the panel about its own u axis, then about its v axis, then about its normal; each
         * axis is first moved by the rotations before */
        fbp_turn_pair(v, n, c.tilt_rad[0]);
        fbp_turn_pair(n, u, c.tilt_rad[1]);
        fbp_turn_pair(u, v, c.tilt_rad[2]);
        for (int i = 0; i < 3; i++) {
            views[k].u[i] = c.pitch_mm[0] * u[i];
            views[k].v[i] = c.pitch_mm[1] * (cos(c.skew_rad) * v[i] + sin(c.skew_rad) * u[i]);
        }
    }
    return FBP_OK;
}

/* The rotation axis is z if the angle between z and the normal of the plane of the sources is
 * small: at most NEAR_TIMES times the angle by which the sources deviate from the plane, this limit
 * being at least NEAR_LEAST and at most NEAR_MOST [rad].  Else it is the normal. */
static const double NEAR_LEAST = 0.05 * FBP_PI / 180, NEAR_MOST = 5 * FBP_PI / 180, NEAR_TIMES = 3;

double fbp_axis_of(const struct fbp_view *views, size_t n_views, double axis[3])
{
    double C[3][3] = {{0}}, adj[3][3], mean[3] = {0, 0, 0}, n[3] = {0.1, 0.2, 1}, next[3], Cn[3];
    double product = 0;

    axis[0] = axis[1] = 0;
    axis[2] = 1;
    if (n_views < 3)
        return 0;
    for (size_t k = 0; k < n_views; k++)
        fbp_axpy(mean, 1 / (double)n_views, views[k].s, mean);
    /* C: sum of the outer products of the source positions relative to their centroid. */
    for (size_t k = 0; k < n_views; k++) {
        double q[3];
        fbp_axpy(views[k].s, -1, mean, q);
        for (int i = 0; i < 9; i++)
            C[i / 3][i % 3] += q[i / 3] * q[i % 3];
    }
    const double trace = C[0][0] + C[1][1] + C[2][2];

    /* Power iteration on the adjugate of C yields the product of the two greatest eigenvalues of C,
     * and the eigenvector of the least one, which is the normal of the plane of the sources.  A
     * start along z would miss a normal perpendicular to z. */
    for (int i = 0; i < 3; i++)
        fbp_cross(C[(i + 1) % 3], C[(i + 2) % 3], adj[i]);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 3; i++)
            next[i] = fbp_dot(adj[i], n);
        product = fbp_normalise(next);
        if (!(product > 0)) {
            product = 0;
            break;
        }
        memcpy(n, next, sizeof n);
    }
    for (int i = 0; i < 3; i++)
        Cn[i] = fbp_dot(C[i], n);
    const double least = fbp_dot(n, Cn);
    /* second: second greatest eigenvalue of C, from sum and product of the two greatest; it is
     * small if the sources lie on a line; the least eigenvalue is small if they lie in a plane */
    const double half = (trace - least) / 2;
    const double second = half - sqrt(fmax(half * half - product, 0));
    if (!(second > 1e-6 * trace && least < 0.01 * second))
        return 0;
    const double off = NEAR_TIMES * sqrt(fmax(least, 0) / second);
    const double angle = acos(fmin(fabs(n[2]), 1));
    if (angle <= fmin(NEAR_MOST, fmax(NEAR_LEAST, off)))
        return angle;
    const double sign = fabs(n[2]) > 1e-6 ? n[2] : fabs(n[1]) > 1e-6 ? n[1] : n[0];
    for (int i = 0; i < 3; i++)
        axis[i] = copysign(1, sign) * n[i];
    return 0;
}

/* The axis counts as passing through the origin if its distance is below ASIDE_LEAST times the
 * circle's radius (or panel's width), or ASIDE_TIMES times the error of the fit. */
static const double ASIDE_LEAST = 1e-3, ASIDE_TIMES = 3;

/* Find the point c of the axis nearest to the origin, by least squares: sources q lie on a circle,
 * 2 q.c + k = q^2; for parallel beams c.t + k = d.t, with d the panel's centre and k its offset
 * along t. False: c is undetermined, or within the tolerance of the origin. */
static bool find_centre(const struct fbp_kind_table *kind, const struct fbp_views *views,
                        const double axis[3], double centre[3])
{
    const struct fbp_panel *panel = &views->panel;
    double N[3][3] = {{0}}, inverse[3][3], rhs[3] = {0}, x[3], e[2][3], squares = 0;
    struct fbp_frame f;

    if (views->n < 3 || !fbp_frame_of(&views->view[0], axis, &f))
        return false;
    memcpy(e[0], f.n, sizeof f.n);
    memcpy(e[1], f.t, sizeof f.t);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < views->n; k++) {
            const struct fbp_view *v = &views->view[k];
            if (!fbp_frame_of(v, axis, &f))
                return false;
            const double q[2] = {fbp_dot(v->s, e[0]), fbp_dot(v->s, e[1])};
            const double row[3] = {kind->has_source ? 2 * q[0] : fbp_dot(f.t, e[0]),
                                   kind->has_source ? 2 * q[1] : fbp_dot(f.t, e[1]), 1};
            const double b = kind->has_source ? q[0] * q[0] + q[1] * q[1] : fbp_dot(v->d, f.t);
            squares += pass ? pow(b - fbp_dot(row, x), 2) : 0;
            for (int i = 0; !pass && i < 9; i++)
                N[i / 3][i % 3] += row[i / 3] * row[i % 3];
            for (int i = 0; !pass && i < 3; i++)
                rhs[i] += row[i] * b;
        }
        if (!pass && !fbp_dual_basis(N[0], N[1], N[2], inverse))
            return false;
        for (int i = 0; !pass && i < 3; i++)
            x[i] = fbp_dot(inverse[i], rhs);
    }
    for (int i = 0; i < 3; i++)
        centre[i] = x[0] * e[0][i] + x[1] * e[1][i];
    const double size = kind->has_source ? sqrt(x[2] + fbp_dot(centre, centre))
                                         : (double)panel->n_columns * fbp_norm(views->view[0].u);
    const double off = sqrt(squares * (inverse[0][0] + inverse[1][1]));
    return fbp_norm(centre) > fmax(ASIDE_LEAST * size, ASIDE_TIMES * off);
}

fbp_status fbp_views_centre(const struct fbp_kind_table *kind, struct fbp_views *views,
                            double centre[3], struct fbp_view **own)
{
    double axis[3], height = 0, P[12];

    *own = NULL;
    memset(centre, 0, 3 * sizeof *centre);
    if (kind->integral != FBP_OVER_LINES || !views->view)
        return FBP_OK;
    fbp_axis_of(views->view, views->n, axis);
    for (size_t k = 0; kind->has_source && k < views->n; k++)
        height += fbp_dot(views->view[k].s, axis) / (double)views->n;
    bool found = find_centre(kind, views, axis, centre);
    fbp_axpy(centre, height, axis, centre);
    /* the centre must be projected onto every panel */
    for (size_t k = 0; found && k < views->n; k++) {
        found = kind->matrix(&views->view[k], &views->panel, P);
        if (!found)
            break;
        const double column = (fbp_dot(P, centre) + P[3]) / (fbp_dot(P + 8, centre) + P[11]);
        found = column > -0.5 && column < (double)views->panel.n_columns - 0.5;
    }
    if (!found) {
        memset(centre, 0, 3 * sizeof *centre);
        return FBP_OK;
    }
    FBP_TRY(fbp_calloc((void **)own, views->n, sizeof **own, "views"));
    for (size_t k = 0; k < views->n; k++) {
        struct fbp_view *v = &(*own)[k];
        *v = views->view[k];
        fbp_axpy(v->d, -1, centre, v->d);
        if (!kind->has_source)
            continue;
        fbp_axpy(v->s, -1, centre, v->s);
        if (kind->matrix(v, &views->panel, P) && P[11] < 0)
            for (int i = 0; i < 3; i++) { /* put the centre in front of the source */
                v->d[i] = 2 * v->s[i] - v->d[i];
                v->u[i] = -v->u[i];
                v->v[i] = -v->v[i];
            }
    }
    views->view = *own;
    return FBP_OK;
}

bool fbp_circle_of(const struct fbp_views *views, struct fbp_circle *out, double *numbers)
{
    const size_t n = views->n;
    double *angles = numbers, *sod = numbers + n, *sdd = numbers + 2 * n;
    double(*offsets)[2] = (double(*)[2])(numbers + 3 * n);
    struct fbp_circle *c = out;
    const bool source = fbp_kind_has_source(views->kind);
    bool even = true, moves = false;

    *c = (struct fbp_circle){.struct_size = sizeof *c,
                             .kind = views->kind,
                             .n_views = n,
                             .angles_rad = angles,
                             .sod_mm = sod,
                             .sdd_mm = sdd};
    for (size_t k = 0; k < n; k++) {
        const struct fbp_view *v = &views->view[k];
        const double t = atan2(v->s[1], v->s[0]);
        const double axes[3][3] = {{-sin(t), cos(t), 0}, {0, 0, 1}, {cos(t), sin(t), 0}};
        double normal[3], R[3][2], N[3]; /* columns, rows and normal of the panel in these axes */
        fbp_cross(v->u, v->v, normal);
        fbp_normalise(normal);
        for (int i = 0; i < 3; i++) {
            R[i][0] = fbp_dot(v->u, axes[i]) / fbp_norm(v->u);
            R[i][1] = fbp_dot(v->v, axes[i]) / fbp_norm(v->v);
            N[i] = fbp_dot(normal, axes[i]);
        }
        /* angles without jumps by 2 pi */
        angles[k] = k ? angles[k - 1] + remainder(t - angles[k - 1], 2 * FBP_PI) : t;
        sod[k] = hypot(v->s[0], v->s[1]);
        sdd[k] = sod[k] - fbp_dot(v->d, axes[2]);
        even =
            even && fabs(sod[k] - sod[0]) < 1e-9 * sod[0] && fabs(sdd[k] - sdd[0]) < 1e-9 * sdd[0];
        for (int i = 0; i < 2; i++) {
            offsets[k][i] = fbp_dot(v->d, axes[i]);
            moves |= fabs(offsets[k][i] - offsets[0][i]) > 1e-9 * fmax(sdd[k], 1);
        }
        if (k > 0)
            continue;
        c->pitch_mm[0] = fbp_norm(v->u);
        c->pitch_mm[1] = fbp_norm(v->v);
        memcpy(c->offset_mm, offsets[0], sizeof c->offset_mm);
        /* R = Ru(a) Rv(b) Rn(c), as in fbp_circle_views() */
        c->tilt_rad[0] = atan2(-N[1], N[2]);
        c->tilt_rad[1] = asin(fmax(-1, fmin(1, N[0])));
        double across[3];
        fbp_cross(normal, v->u, across);
        c->tilt_rad[2] = atan2(-fbp_dot(across, axes[0]) / fbp_norm(v->u), R[0][0]);
        c->skew_rad =
            asin(fmax(-1, fmin(1, fbp_dot(v->u, v->v) / (fbp_norm(v->u) * fbp_norm(v->v)))));
    }
    double *const small[] = {&c->tilt_rad[0], &c->tilt_rad[1],  &c->tilt_rad[2],
                             &c->skew_rad,    &c->offset_mm[0], &c->offset_mm[1]};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (fabs(*small[i]) < 1e-12) /* rounding */
            *small[i] = 0;
    c->n_sod = c->n_sdd = even ? 1 : n;
    c->offsets_mm = moves ? (const double(*)[2])offsets : NULL;

    struct fbp_view *made = NULL;
    if (fbp_calloc((void **)&made, n, sizeof *made, "views") != FBP_OK)
        return false;
    bool fits = fbp_circle_views(c, made) == FBP_OK;
    for (size_t k = 0; k < n && fits; k++) {
        const struct fbp_view *a = &made[k], *b = &views->view[k];
        const double size = source ? 1e-9 * sdd[k] : 1e-9;
        for (int i = 0; i < 3; i++)
            fits = fits && (fabs(a->s[i] - b->s[i]) <= size || !source) &&
                   fabs(a->d[i] - b->d[i]) <= fmax(size, 1e-9) && fabs(a->u[i] - b->u[i]) <= 1e-9 &&
                   fabs(a->v[i] - b->v[i]) <= 1e-9;
    }
    free(made);
    fbp_message_clear();
    return fits;
}
