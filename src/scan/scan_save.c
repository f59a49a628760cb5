/* A scan as JSON.  Numbers have as many digits as reading them back exactly takes. */
#include "base/base.h"
#include "scan/file/images.h"
#include "scan/file/scan_write.h"
#include "scan/scan_parts.h"

#include "base/text.h"
#include "base/math.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"

#include <string.h>

/* A path in the scan file; the key is left out for NULL. */
static fbp_status put_path(struct fbp_writer *w, const char *key, const char *path)
{
    if (!path)
        return FBP_OK;
    char *name = fbp_scan_relative(w->path, path);
    if (!name)
        return fbp_fail_nomem(strlen(path), "a path");
    fbp_put_key(w, key);
    fbp_put_text(w, name);
    free(name);
    return FBP_OK;
}

static void put_raw(struct fbp_writer *w, const struct fbp_raw *raw)
{
    if (raw->type == FBP_TYPE_NONE)
        return;
    fbp_put_key(w, "raw");
    fprintf(w->f, "{\"type\": \"%s\", \"shape\": [%zu, %zu, %zu]", fbp_type_name(raw->type),
            raw->n[2], raw->n[1], raw->n[0]);
    fprintf(w->f, ", \"big_endian\": %s, \"header_bytes\": %llu}",
            raw->big_endian ? "true" : "false", (unsigned long long)raw->header_bytes);
}

/* The panel of a circle, or the pitch alone, if there is one. */
static void put_detector(struct fbp_writer *w, const struct fbp_scan *scan,
                         const struct fbp_circle *circle, double pitch)
{
    fbp_put_key(w, "detector");
    fprintf(w->f, "{\"columns\": %zu, \"rows\": %zu", scan->panel.n_columns, scan->panel.n_rows);
    if (circle) {
        fputs(", \"pitch_mm\": ", w->f);
        fbp_put_numbers(w, circle->pitch_mm, 2);
        fputs(", \"offset_mm\": ", w->f);
        fbp_put_numbers(w, circle->offset_mm, 2);
    } else if (pitch > 0) {
        fputs(", \"pitch_mm\": ", w->f);
        fbp_put_number(w, pitch);
    }
    if (circle && fbp_norm(circle->tilt_rad) > 0) {
        double tilt[3];
        for (int i = 0; i < 3; i++)
            tilt[i] = circle->tilt_rad[i] * 180 / FBP_PI;
        fputs(", \"tilt_deg\": ", w->f);
        fbp_put_numbers(w, tilt, 3);
    }
    if (circle && fabs(circle->skew_rad) > 0) {
        fputs(", \"skew_deg\": ", w->f);
        fbp_put_number(w, circle->skew_rad * 180 / FBP_PI);
    }
    if (scan->row_order != FBP_ROWS_AUTO)
        fprintf(w->f, ", \"row_order\": \"%s\"",
                scan->row_order == FBP_ROWS_TOP_DOWN ? "top-down" : "bottom-up");
    fputc('}', w->f);
}

static bool are_even(const struct fbp_circle *c, double start_deg, double step_deg)
{
    for (size_t k = 0; k < c->n_views; k++)
        if (!(fabs((start_deg + (double)k * step_deg) * FBP_PI / 180 - c->angles_rad[k]) <= 1e-12))
            return false;
    return fabs(step_deg) > 0;
}

/* Start and step if the angles are even, with few digits if that is as true. */
static bool even_angles(const struct fbp_circle *c, double *start, double *step)
{
    if (c->n_views < 2)
        return false;
    const double first = c->angles_rad[0] * 180 / FBP_PI;
    const double last = c->angles_rad[c->n_views - 1] * 180 / FBP_PI;
    const double exact = (last - first) / (double)(c->n_views - 1);

    *start = round(first * 1e9) / 1e9;
    *step = round(exact * 1e9) / 1e9;
    if (are_even(c, *start, *step))
        return true;
    *start = first;
    *step = exact;
    return are_even(c, first, exact);
}

static void put_circle(struct fbp_writer *w, const struct fbp_circle *c)
{
    double start, step;

    if (fbp_kind_has_source(c->kind)) {
        fbp_put_key(w, "source_to_axis_mm");
        fbp_put_list(w, c->sod_mm, c->n_sod, 1);
        fbp_put_key(w, "source_to_detector_mm");
        fbp_put_list(w, c->sdd_mm, c->n_sdd, 1);
    }
    fbp_put_key(w, "angles_deg");
    if (even_angles(c, &start, &step)) {
        fputs("{\"start\": ", w->f);
        fbp_put_number(w, start);
        fputs(", \"step\": ", w->f);
        fbp_put_number(w, step);
        fputc('}', w->f);
    } else {
        if (c->n_views == 1)
            fputc('[', w->f);
        fbp_put_list(w, c->angles_rad, c->n_views, 180 / FBP_PI);
        if (c->n_views == 1)
            fputc(']', w->f);
    }
}

static fbp_status put_matrices(struct fbp_writer *w, const struct fbp_scan *scan)
{
    double P[12];

    fbp_put_key(w, "matrices");
    for (size_t k = 0; k < scan->n_views; k++) {
        FBP_TRY(fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P));
        const double scale = scan->filtered ? (scan->depths ? scan->depths[k] : 1) / P[11] : 1;
        for (int i = 0; i < 12; i++)
            P[i] *= scale;
        fputs(k ? ",\n    " : "[\n    ", w->f);
        fbp_put_numbers(w, P, 12);
    }
    fputs("\n  ]", w->f);
    return FBP_OK;
}

static void put_volume(struct fbp_writer *w, const struct fbp_grid *g)
{
    if (g->n[0] == 0)
        return;
    fbp_put_key(w, "volume");
    fprintf(w->f, "{\"size\": [%zu, %zu, %zu], \"voxel_mm\": ", g->n[0], g->n[1], g->n[2]);
    fbp_put_numbers(w, g->voxel_mm, 3);
    fputs(", \"centre_mm\": ", w->f);
    fbp_put_numbers(w, g->centre_mm, 3);
    fputc('}', w->f);
}

/* s, d, u, v: what matrices cannot hold. */
static void put_views(struct fbp_writer *w, const struct fbp_scan *scan)
{
    fbp_put_key(w, "views");
    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *v = &scan->views[k];
        const double all[12] = {v->s[0], v->s[1], v->s[2], v->d[0], v->d[1], v->d[2],
                                v->u[0], v->u[1], v->u[2], v->v[0], v->v[1], v->v[2]};
        fputs(k ? ",\n    " : "[\n    ", w->f);
        fbp_put_numbers(w, all, 12);
    }
    fputs("\n  ]", w->f);
}

/* All the same to the last digits?  Then one number says it. */
static void put_common(struct fbp_writer *w, const char *key, const double *v, size_t n)
{
    bool same = true;

    for (size_t k = 1; k < n; k++)
        same = same && fabs(v[k] - v[0]) <= 1e-14 * fabs(v[0]);
    fbp_put_key(w, key);
    if (same)
        fbp_put_number(w, v[0]);
    else
        fbp_put_list(w, v, n, 1);
}

static void put_quadrature(struct fbp_writer *w, const struct fbp_scan *scan)
{
    if (scan->quadrature == FBP_QUADRATURE_AUTO)
        return;
    fbp_put_key(w, "weights");
    if (!scan->plane_weights) {
        fbp_put_text(w, fbp_quadrature_name(scan->quadrature));
        return;
    }
    if (scan->n_views == 1)
        fputc('[', w->f);
    fbp_put_list(w, scan->plane_weights, scan->n_views, 1);
    if (scan->n_views == 1)
        fputc(']', w->f);
}

/* Directions, and where their samples lie. */
static fbp_status put_planes(struct fbp_writer *w, const struct fbp_scan *scan)
{
    double *spacing = NULL;

    FBP_TRY(fbp_calloc((void **)&spacing, scan->n_views, 2 * sizeof *spacing, "views"));
    double *const first = spacing + scan->n_views;
    fbp_put_key(w, "directions");
    for (size_t k = 0; k < scan->n_views; k++) {
        double n[3] = {scan->views[k].u[0], scan->views[k].u[1], scan->views[k].u[2]};
        spacing[k] = fbp_normalise(n);
        first[k] =
            fbp_dot(scan->views[k].d, n) - ((double)scan->panel.n_columns - 1) / 2 * spacing[k];
        fputs(k ? ",\n    " : "[\n    ", w->f);
        fbp_put_numbers(w, n, 3);
    }
    fputs("\n  ]", w->f);
    if (scan->panel.n_rows > 1) {
        fbp_put_key(w, "frames");
        fprintf(w->f, "%zu", scan->panel.n_rows);
    }
    put_common(w, "spacing_mm", spacing, scan->n_views);
    put_common(w, "first_mm", first, scan->n_views);
    put_quadrature(w, scan);
    free(spacing);
    return put_path(w, "reference", scan->reference);
}

/* A file of matrices has one pitch: it sets the length of all of them. */
static bool has_matrices(const struct fbp_scan *scan)
{
    const double pitch = fbp_norm(scan->views[0].u);

    for (size_t k = 0; k < scan->n_views; k++)
        if (!(fabs(fbp_norm(scan->views[k].u) - pitch) <= 1e-12 * pitch))
            return false;
    return fbp_kind_has_source(scan->kind);
}

static fbp_status put_scan(struct fbp_writer *w, const struct fbp_scan *scan,
                           const struct fbp_circle *circle)
{
    fbp_put_key(w, "fbp_scan");
    fputc('1', w->f);
    fbp_put_key(w, "kind");
    fbp_put_text(w, fbp_kind_name(scan->kind));
    FBP_TRY(put_path(w, "projections", scan->projections));
    put_raw(w, &scan->raw);
    put_detector(w, scan, circle, has_matrices(scan) ? fbp_norm(scan->views[0].u) : 0);
    if (scan->angular_weights != FBP_ANGULAR_DEFAULT && !fbp_scan_has_planes(scan)) {
        fbp_put_key(w, "angular_weights");
        fbp_put_text(w, scan->angular_weights == FBP_ANGULAR_EQUAL ? "equal" : "auto");
    }
    FBP_TRY(put_path(w, "dark", scan->dark));
    FBP_TRY(put_path(w, "flat", scan->flat));
    if (scan->i0 > 0) {
        fbp_put_key(w, "i0");
        fbp_put_number(w, scan->i0);
    }
    FBP_TRY(put_path(w, "bad_pixels", scan->bad_pixels));
    if (scan->find_bad_pixels && !scan->bad_pixels) {
        fbp_put_key(w, "bad_pixels");
        fbp_put_text(w, "auto");
    }
    if (scan->filtered) {
        fbp_put_key(w, "filtered");
        fputs("true", w->f);
    }
    fbp_scan_put_corrections(w, scan);
    put_volume(w, &scan->volume);
    fbp_scan_put_assumed(w, scan);
    if (fbp_scan_has_planes(scan))
        return put_planes(w, scan);
    if (!circle && has_matrices(scan))
        return put_matrices(w, scan);
    if (circle)
        put_circle(w, circle);
    else
        put_views(w, scan);
    return FBP_OK;
}

static bool same_view(const struct fbp_view *a, const struct fbp_view *b)
{
    for (int i = 0; i < 3; i++)
        if (!(fabs(a->s[i] - b->s[i]) < 1e-6 && fabs(a->d[i] - b->d[i]) < 1e-6 &&
              fabs(a->u[i] - b->u[i]) < 1e-6 && fabs(a->v[i] - b->v[i]) < 1e-6))
            return false;
    return true;
}

/* Does the circle lead to these views?  Its own checks come with the answer. */
static fbp_status check_circle(const struct fbp_scan *scan, const struct fbp_circle *circle)
{
    struct fbp_view *views = NULL;
    fbp_status st;

    if (circle->kind != scan->kind || circle->n_views != scan->n_views)
        return fbp_fail(FBP_ERR_INVALID,
                        "scan: the circle has %zu views, the scan %zu, or their kinds differ: give "
                        "the circle that the views were made from",
                        circle->n_views, scan->n_views);
    FBP_TRY(fbp_calloc((void **)&views, scan->n_views, sizeof *views, "views"));
    FBP_TRY_GOTO(fbp_circle_views(circle, views));
    for (size_t k = 0; k < scan->n_views && st == FBP_OK; k++)
        if (!same_view(&views[k], &scan->views[k]))
            st = fbp_fail(FBP_ERR_INVALID,
                          "scan: view %zu does not lie on the circle: give the circle that the "
                          "views were made from, or none",
                          k);
fail:
    free(views);
    return st;
}

static fbp_status check_scan(const struct fbp_scan *scan, const struct fbp_circle *circle,
                             bool geometry_only)
{
    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    if (!scan->projections && !geometry_only)
        return fbp_fail(FBP_ERR_INVALID, "scan: no projections are named: set scan.projections");
    for (enum fbp_image i = 0; !geometry_only && i <= FBP_IMAGE_LAST; i++)
        if (fbp_scan_image(scan, i))
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "scan: %s is a picture in memory, and a scan file names files: write "
                            "it to one, and name that",
                            fbp_image_name(i));
    if (scan->n_views == 0 || !scan->views)
        return fbp_fail(FBP_ERR_INVALID, "scan: there are no views to save");
    if (scan->every || scan->bin)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "scan: its files hold other views than are left: save it before views are "
                        "left out or binned");
    if (scan->preparation)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "scan: its files hold rows before their preparation, of which the views say "
            "nothing: keep the file that it was read from");
    if (circle && scan->depths)
        return fbp_fail(FBP_ERR_INVALID, "scan: depths are saved with matrices: give no circle");
    if (scan->filtered && !circle && !has_matrices(scan))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "scan: filtered views are saved with matrices, which need a cone and one "
                        "pitch");
    return circle ? check_circle(scan, circle) : FBP_OK;
}

static fbp_status save(const struct fbp_scan *scan, const char *path,
                       const struct fbp_circle *circle, bool geometry_only)
{
    struct fbp_writer w;

    FBP_TRY(check_scan(scan, circle, geometry_only));
    FBP_TRY(fbp_writer_open_json(&w, path));
    const fbp_status st = put_scan(&w, scan, circle);
    return fbp_writer_close(&w, st);
}

fbp_status fbp_scan_save_geometry(const struct fbp_scan *scan, const char *path)
{
    fbp_message_clear();
    return save(scan, path, NULL, true);
}

fbp_status fbp_scan_save(const struct fbp_scan *given, const char *path,
                         const struct fbp_circle *circle)
{
    FBP_GIVEN(path);
    struct fbp_scan own, *const scan = &own;
    struct fbp_circle whole;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, scan, given));
    if (circle) {
        FBP_TRY(fbp_check_circle(circle, &whole));
        circle = &whole;
    }
    return save(scan, path, circle, false);
}
