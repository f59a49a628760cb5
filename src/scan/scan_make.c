/* Scans from numbers in memory: the public constructors fbp_scan_cone(), fbp_scan_fan(),
 * fbp_scan_parallel(), fbp_scan_matrices(), fbp_scan_vectors() and fbp_scan_planes() (fbp/scan.h),
 * which programs and bindings call in place of loading a scan file. */
#include "scan/file/scan.h"

#include "base/math.h"
#include "geometry/kind.h"
#include "geometry/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Begin a scan in *own: check n_views and panel, allocate the views; set *out to 0. */
static fbp_status begin(struct fbp_scan *own, struct fbp_scan *out, enum fbp_kind kind,
                        size_t n_views, struct fbp_panel panel)
{
    FBP_TRY(FBP_CHECK(scan, out));
    FBP_COPY_OUT(scan, out, &(const struct fbp_scan){0});
    *own = (struct fbp_scan){
        .struct_size = sizeof *own, .kind = kind, .n_views = n_views, .panel = panel};
    FBP_TRY(fbp_check_kind("scan", kind));
    FBP_TRY(fbp_check_range(&fbp_range_views, "scan: n_views", (double)n_views));
    FBP_TRY(fbp_check_range(&fbp_range_side, "scan: panel.n_columns", (double)panel.n_columns));
    FBP_TRY(fbp_check_range(&fbp_range_side, "scan: panel.n_rows", (double)panel.n_rows));
    return fbp_calloc((void **)&own->views, n_views, sizeof *own->views, "views of a scan");
}

/* Copy the finished scan to the caller's *out, or free it after a failure. */
static fbp_status end(struct fbp_scan *own, struct fbp_scan *out, fbp_status st)
{
    if (st == FBP_OK)
        FBP_COPY_OUT(scan, out, own);
    else
        fbp_scan_free(own);
    return st;
}

static fbp_status make_circle(struct fbp_scan *out, enum fbp_kind kind,
                              const struct fbp_circle *circle, struct fbp_panel panel)
{
    struct fbp_circle of;
    struct fbp_scan own;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(circle, &of, circle));
    of.kind = kind;
    if (panel.n_rows == 1 && of.pitch_mm[1] == 0)
        of.pitch_mm[1] = of.pitch_mm[0];
    FBP_TRY(begin(&own, out, kind, of.n_views, panel));
    return end(&own, out, fbp_circle_views(&of, own.views));
}

fbp_status fbp_scan_cone(struct fbp_scan *out, const struct fbp_circle *circle,
                         struct fbp_panel panel)
{
    FBP_REQUIRE(out, circle);
    return make_circle(out, FBP_CONE, circle, panel);
}

fbp_status fbp_scan_fan(struct fbp_scan *out, const struct fbp_circle *circle, size_t n_columns)
{
    FBP_REQUIRE(out, circle);
    return make_circle(out, FBP_CONE, circle, (struct fbp_panel){n_columns, 1});
}

fbp_status fbp_scan_parallel(struct fbp_scan *out, const struct fbp_circle *circle,
                             struct fbp_panel panel)
{
    FBP_REQUIRE(out, circle);
    return make_circle(out, FBP_PARALLEL, circle, panel);
}

fbp_status fbp_scan_matrices(struct fbp_scan *out, const double (*matrices)[12], size_t n_views,
                             double pitch_u_mm, struct fbp_panel panel)
{
    FBP_REQUIRE(out, matrices);
    struct fbp_scan own;
    fbp_status st = FBP_OK;
    char where[40];

    fbp_message_clear();
    FBP_TRY(begin(&own, out, FBP_CONE, n_views, panel));
    for (size_t k = 0; st == FBP_OK && k < n_views; k++) {
        snprintf(where, sizeof where, "matrices[%zu]", k);
        st = fbp_error_context(
            where, fbp_view_from_matrix(matrices[k], pitch_u_mm, &panel, &own.views[k]));
    }
    return end(&own, out, st);
}

fbp_status fbp_scan_vectors(struct fbp_scan *out, enum fbp_kind kind, const struct fbp_view *views,
                            size_t n_views, struct fbp_panel panel)
{
    FBP_REQUIRE(out, views);
    struct fbp_scan own;

    fbp_message_clear();
    FBP_TRY(begin(&own, out, kind, n_views, panel));
    memcpy(own.views, views, n_views * sizeof *views);
    return end(&own, out, FBP_OK);
}

/* Greatest deviation from 1 of the length of a direction that counts as a unit vector. */
static const double UNIT = 1e-6;

/* Value for view k, from an array with one value per view, or one for all. */
static double value_of(const double *values, size_t n, size_t k)
{
    return values[n == 1 ? 0 : k];
}

fbp_status fbp_scan_planes(struct fbp_scan *out, const struct fbp_planes *planes)
{
    FBP_REQUIRE(out, planes);
    struct fbp_planes p;
    struct fbp_scan own;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(planes, &p, planes));
    if (!p.direction || !p.spacing_mm || (p.n_spacing != 1 && p.n_spacing != p.n_views) ||
        (p.first_mm && p.n_first != 1 && p.n_first != p.n_views))
        return FBP_INVALID("planes: found %zu sample distances and %zu first positions for %zu "
                           "directions; give one of each, or one per view",
                           p.spacing_mm ? p.n_spacing : 0, p.first_mm ? p.n_first : 0,
                           p.direction ? p.n_views : 0);
    FBP_TRY(begin(&own, out, FBP_PLANES, p.n_views,
                  (struct fbp_panel){p.n_samples, p.n_time_points ? p.n_time_points : 1}));
    for (size_t k = 0; st == FBP_OK && k < p.n_views; k++) {
        const double *given = p.direction[k], length = fbp_norm(given);
        const double spacing = value_of(p.spacing_mm, p.n_spacing, k);
        const double usual = -((double)p.n_samples - 1) / 2 * spacing;
        double n[3];

        st = !(length > 0) || !isfinite(length)
                 ? FBP_INVALID("planes: direction %zu has length %g, expected a number above 0", k,
                               length)
                 : fbp_check_range(&fbp_range_pitch, "planes: spacing_mm", spacing);
        /* leave vectors unchanged whose length is 1 to within UNIT */
        for (int i = 0; i < 3; i++)
            n[i] = fabs(length - 1) > UNIT ? given[i] / length : given[i];
        if (st == FBP_OK)
            fbp_plane_view(n, spacing, p.first_mm ? value_of(p.first_mm, p.n_first, k) : usual,
                           p.n_samples, &own.views[k]);
    }
    return end(&own, out, st);
}
