/* Saves a scan as a scan file (JSON): numbers with enough digits to be read back exactly; paths of
 * arrays are relative to the file's folder if they lie in it, else absolute.  fbp_scan_save() is
 * public; fbp_scan_save_geometry() saves a geometry without projections.
 * Used by: bench/papers/okitsu2008/, cli/, scan/, scan/folder/. */
#include "array/file/bytes.h"
#include "geometry/directions.h"
#include "scan/scan_file.h"

#include "array/file/format.h"
#include "base/math.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The part of `path` below folder[n], which ends in a slash; NULL if path is not below it. */
static const char *below(const char *folder, size_t n, const char *path)
{
    if (strncmp(folder, path, n) != 0)
        return NULL;
    path += n;
    return *path == '\0' || *path == '/' || strncmp(path, "../", 3) == 0 || strstr(path, "/../")
               ? NULL
               : path;
}

/* Absolute folder of a path, with links resolved and a final slash; *out NULL: the folder does not
 * exist.  Returns false if there is not enough memory. */
static bool folder_of(const char *path, char **out)
{
    char resolved[PATH_MAX], *folder;
    const char *slash = strrchr(path, '/');

    *out = NULL;
    folder = slash ? fbp_format("%.*s", (int)(slash - path + 1), path) : fbp_strdup(".");
    errno = ENOMEM;
    const bool found = folder && realpath(folder, resolved);
    const int error = errno;
    free(folder);
    if (!found)
        return error != ENOMEM;
    *out = fbp_format("%s%s", resolved, strcmp(resolved, "/") == 0 ? "" : "/");
    return *out != NULL;
}

char *fbp_scan_relative(const char *scan_path, const char *path)
{
    const char *slash = strrchr(scan_path, '/'), *name, *rest = NULL;
    char *file, *member, *to = NULL, *from = NULL, *whole = NULL, *out = NULL, here[PATH_MAX];

    if (fbp_member_split(path, &file, &member) != FBP_OK)
        return NULL;
    /* Compare the paths as text first: links inside the scan's folder are then kept. */
    if (slash || file[0] != '/')
        rest = below(scan_path, slash ? (size_t)(slash - scan_path + 1) : 0, file);
    if (!rest && folder_of(scan_path, &to) && folder_of(file, &from)) {
        name = strrchr(file, '/');
        if (from)
            whole = fbp_format("%s%s", from, name ? name + 1 : file);
        else if (file[0] == '/' || !getcwd(here, sizeof here))
            whole = fbp_strdup(file);
        else
            whole = fbp_format("%s/%s", here, file);
        rest = to && whole ? below(to, strlen(to), whole) : NULL;
        rest = rest ? rest : whole;
    }
    if (rest)
        out = fbp_format("%s%s%s", rest, member ? ":" : "", member ? member : "");
    free(file);
    free(member);
    free(to);
    free(from);
    free(whole);
    return out;
}

/* Write a path, relative to the scan file's folder if it lies in this folder, else absolute; if the
 * path is NULL, write nothing. */
static fbp_status put_path(struct fbp_writer *w, const char *key, const char *path)
{
    if (!path)
        return FBP_OK;
    char *name = fbp_scan_relative(w->path, path);
    FBP_TRY(fbp_check_path(name));
    fbp_put_key_text(w, key, name);
    free(name);
    return FBP_OK;
}

static fbp_status put_flats(struct fbp_writer *w, const struct fbp_scan *scan)
{
    char *before = fbp_scan_relative(w->path, scan->flat);
    char *after = fbp_scan_relative(w->path, scan->flat_after);
    const bool made = before && after;

    if (made) {
        fbp_put_key(w, "flat");
        fputc('[', w->f);
        fbp_put_text(w, before);
        fputs(", ", w->f);
        fbp_put_text(w, after);
        fputc(']', w->f);
    }
    free(before);
    free(after);
    return made ? FBP_OK : fbp_fail_nomem(strlen(scan->flat), "a path");
}

/* Write n numbers, each multiplied by `scale`, as a list, even a single number. */
static void put_full_list(struct fbp_writer *w, const char *key, const double *v, size_t n,
                          double scale)
{
    fbp_put_key(w, key);
    if (n == 1)
        fputc('[', w->f);
    fbp_put_list(w, v, n, scale);
    if (n == 1)
        fputc(']', w->f);
}

/* Write a further member (not the first) of a JSON object: a number, or n numbers in brackets. */
static void put_member(struct fbp_writer *w, const char *key, const double *v, size_t n)
{
    fprintf(w->f, ", \"%s\": ", key);
    if (n == 1)
        fbp_put_number(w, v[0]);
    else
        fbp_put_numbers(w, v, n);
}

static bool are_even(const struct fbp_circle *c, double start_deg, double step_deg)
{
    for (size_t k = 0; k < c->n_views; k++)
        if (!(fabs((start_deg + (double)k * step_deg) * FBP_PI / 180 - c->angles_rad[k]) <= 1e-12))
            return false;
    return fabs(step_deg) > 0;
}

static void put_circle(struct fbp_writer *w, const struct fbp_circle *c)
{
    double start = 0, step = 0;
    bool even = false;

    if (fbp_kind_has_source(c->kind)) {
        fbp_put_key(w, "source_to_axis_mm");
        fbp_put_list(w, c->sod_mm, c->n_sod, 1);
        fbp_put_key(w, "source_to_detector_mm");
        fbp_put_list(w, c->sdd_mm, c->n_sdd, 1);
    }
    /* Evenly spaced angles: start and step, with 9 decimals if all angles then fit to 1e-12 rad. */
    if (c->n_views > 1) {
        const double first = c->angles_rad[0] * 180 / FBP_PI;
        const double last = c->angles_rad[c->n_views - 1] * 180 / FBP_PI;
        const double exact = (last - first) / (double)(c->n_views - 1);
        start = round(first * 1e9) / 1e9;
        step = round(exact * 1e9) / 1e9;
        even = are_even(c, start, step);
        if (!even) {
            start = first;
            step = exact;
            even = are_even(c, start, step);
        }
    }
    if (!even) {
        put_full_list(w, "angles_deg", c->angles_rad, c->n_views, 180 / FBP_PI);
        return;
    }
    fbp_put_key(w, "angles_deg");
    fputs("{\"start\": ", w->f);
    fbp_put_number(w, start);
    put_member(w, "step", &step, 1);
    fputc('}', w->f);
}

/* Write n numbers as a list; if all are equal up to rounding, write one number. */
static void put_common(struct fbp_writer *w, const char *key, const double *v, size_t n)
{
    bool same = true;

    for (size_t k = 1; k < n; k++)
        same = same && fabs(v[k] - v[0]) <= 1e-14 * fabs(v[0]);
    fbp_put_key(w, key);
    fbp_put_list(w, v, same ? 1 : n, 1);
}

/* Write the views of plane integrals: directions, positions of samples, weights and reference. */
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
        fbp_put_row(w, k, n, 3);
    }
    fputs("\n  ]", w->f);
    if (scan->panel.n_rows > 1)
        fbp_put_key_number(w, "frames", (double)scan->panel.n_rows);
    put_common(w, "spacing_mm", spacing, scan->n_views);
    put_common(w, "first_mm", first, scan->n_views);
    free(spacing);
    if (scan->quadrature != FBP_QUADRATURE_AUTO && scan->plane_weights)
        put_full_list(w, "weights", scan->plane_weights, scan->n_views, 1);
    else if (scan->quadrature != FBP_QUADRATURE_AUTO)
        fbp_put_key_text(w, "weights", fbp_quadrature_name(scan->quadrature));
    return put_path(w, "reference", scan->reference);
}

/* True if matrices can represent the views: a cone beam, and one column pitch for all views,
 * because matrices contain no length and a scan file has one pitch. */
static bool has_matrices(const struct fbp_scan *scan)
{
    const double pitch = fbp_norm(scan->views[0].u);

    for (size_t k = 0; k < scan->n_views; k++)
        if (!(fabs(fbp_norm(scan->views[k].u) - pitch) <= 1e-12 * pitch))
            return false;
    return fbp_kind_has_source(scan->kind);
}

/* Write all views: one 3x4 matrix per view, or the vectors s, d, u, v (source, panel's centre,
 * steps to the next column and row). */
static fbp_status put_views(struct fbp_writer *w, const struct fbp_scan *scan, bool matrices)
{
    fbp_put_key(w, matrices ? "matrices" : "views");
    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *v = &scan->views[k];
        double row[12];
        memcpy(row, v, sizeof row);
        if (matrices) {
            FBP_TRY(fbp_view_to_matrix(v, scan->kind, &scan->panel, row));
            const double scale =
                scan->filtered ? (scan->depths ? scan->depths[k] : 1) / row[11] : 1;
            for (int i = 0; i < 12; i++)
                row[i] *= scale;
        }
        fbp_put_row(w, k, row, 12);
    }
    fputs("\n  ]", w->f);
    return FBP_OK;
}

static fbp_status put_scan(struct fbp_writer *w, const struct fbp_scan *scan,
                           const struct fbp_circle *circle)
{
    const struct fbp_raw *raw = &scan->raw;
    const struct fbp_grid *g = &scan->volume;
    const struct fbp_corrections *c = scan->corrections;
    const bool planes = !fbp_kind_has_lines(scan->kind), matrices = has_matrices(scan);
    const double pitch = fbp_norm(scan->views[0].u);

    fbp_put_key_number(w, "fbp_scan", 1);
    fbp_put_key_text(w, "kind", fbp_kind_name(scan->kind));
    FBP_TRY(put_path(w, "projections", scan->projections));
    if (scan->sinograms) {
        fbp_put_key(w, "sinograms");
        fputs("true", w->f);
    }
    if (raw->type != FBP_TYPE_NONE) {
        fbp_put_key(w, "raw");
        fprintf(w->f, "{\"type\": \"%s\", \"shape\": [%zu, %zu, %zu]", fbp_type_name(raw->type),
                raw->n[2], raw->n[1], raw->n[0]);
        fprintf(w->f, ", \"big_endian\": %s, \"header_bytes\": %llu}",
                raw->big_endian ? "true" : "false", (unsigned long long)raw->header_bytes);
    }

    /* "detector" contains the pitch of the circle or, without a circle, that of the matrices */
    fbp_put_key(w, "detector");
    fprintf(w->f, "{\"columns\": %zu, \"rows\": %zu", scan->panel.n_columns, scan->panel.n_rows);
    if (circle) {
        double angles[4] = {circle->tilt_rad[0], circle->tilt_rad[1], circle->tilt_rad[2],
                            circle->skew_rad};
        for (int i = 0; i < 4; i++)
            angles[i] = angles[i] * 180 / FBP_PI;
        put_member(w, "pitch_mm", circle->pitch_mm, 2);
        if (circle->offsets_mm) {
            fputs(", \"offset_mm\": [", w->f);
            for (size_t k = 0; k < scan->n_views; k++) {
                fputs(k ? ", " : "", w->f);
                fbp_put_numbers(w, circle->offsets_mm[k], 2);
            }
            fputc(']', w->f);
        } else {
            put_member(w, "offset_mm", circle->offset_mm, 2);
        }
        if (fbp_norm(circle->tilt_rad) > 0)
            put_member(w, "tilt_deg", angles, 3);
        if (fabs(circle->skew_rad) > 0)
            put_member(w, "skew_deg", &angles[3], 1);
    } else if (matrices) {
        put_member(w, "pitch_mm", &pitch, 1);
    }
    if (scan->row_order != FBP_ROWS_AUTO)
        fprintf(w->f, ", \"row_order\": \"%s\"",
                scan->row_order == FBP_ROWS_TOP_DOWN ? "top-down" : "bottom-up");
    fputc('}', w->f);
    if (scan->angular_weights != FBP_ANGULAR_DEFAULT && !planes)
        fbp_put_key_text(w, "angular_weights",
                         scan->angular_weights == FBP_ANGULAR_EQUAL ? "equal" : "auto");
    FBP_TRY(put_path(w, "dark", scan->dark));
    if (scan->flat_after)
        FBP_TRY(put_flats(w, scan));
    else
        FBP_TRY(put_path(w, "flat", scan->flat));
    if (scan->i0s)
        put_full_list(w, "i0", scan->i0s, scan->n_views, 1);
    else if (scan->i0 > 0)
        fbp_put_key_number(w, "i0", scan->i0);
    if (scan->doses)
        put_full_list(w, "dose", scan->doses, scan->n_views, 1);
    FBP_TRY(put_path(w, "bad_pixels", scan->bad_pixels));
    if (scan->find_bad_pixels && !scan->bad_pixels)
        fbp_put_key_text(w, "bad_pixels", "auto");
    if (scan->filtered) {
        fbp_put_key(w, "filtered");
        fputs("true", w->f);
    }
    if (c && fbp_corrections_terms(c) > 0)
        fbp_put_key_numbers(w, "beam_hardening", c->beam_hardening, fbp_corrections_terms(c));
    if (c && c->zingers > 0)
        fbp_put_key_number(w, "zingers", c->zingers);
    if (c && c->rings) { /* method of ring removal, as text that fbp_corrections_rings() reads */
        fbp_put_key(w, "rings");
        if (c->rings != FBP_RINGS_WAVELET && c->ring_size)
            fprintf(w->f, "\"%s:%zu\"", fbp_ring_removal_name(c->rings), c->ring_size);
        else if (c->rings != FBP_RINGS_WAVELET)
            fbp_put_text(w, fbp_ring_removal_name(c->rings));
        else
            fprintf(w->f, "\"wavelet:%zu,%.17g,db%u\"", c->ring_levels ? c->ring_levels : 5,
                    c->ring_sigma > 0 ? c->ring_sigma : 1, c->ring_wavelet ? c->ring_wavelet : 9);
    }
    if (c && c->paganin_delta_beta > 0) {
        fbp_put_key(w, "paganin");
        fprintf(w->f, "{\"delta_beta\": %.17g, \"energy_kev\": %.17g", c->paganin_delta_beta,
                c->paganin_kev);
        if (c->paganin_mm > 0)
            fprintf(w->f, ", \"distance_mm\": %.17g", c->paganin_mm);
        fputs("}", w->f);
    }
    if (g->n[0] > 0) {
        fbp_put_key(w, "volume");
        fprintf(w->f, "{\"size\": [%zu, %zu, %zu]", g->n[0], g->n[1], g->n[2]);
        put_member(w, "voxel_mm", g->voxel_mm, 3);
        put_member(w, "centre_mm", g->centre_mm, 3);
        fputc('}', w->f);
    }
    if (scan->n_assumed > 0) {
        fbp_put_key(w, "assumed");
        for (size_t i = 0; i < scan->n_assumed; i++) {
            fputs(i ? ",\n    " : "{\n    ", w->f);
            fbp_put_text(w, scan->assumed[i].key);
            fputs(": ", w->f);
            fbp_put_text(w, scan->assumed[i].why);
        }
        fputs("\n  }", w->f);
    }
    if (planes)
        return put_planes(w, scan);
    if (!circle)
        return put_views(w, scan, matrices);
    put_circle(w, circle);
    return FBP_OK;
}

static fbp_status save(const struct fbp_scan *scan, const char *path,
                       const struct fbp_circle *circle, bool geometry_only)
{
    struct fbp_view *views = NULL;
    struct fbp_writer w;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    if (!scan->projections && !geometry_only)
        return FBP_INVALID("scan: the scan names no projections; set scan.projections");
    for (enum fbp_image i = 0; !geometry_only && i <= FBP_IMAGE_LAST; i++)
        if (fbp_scan_image(scan, i))
            return FBP_UNSUPPORTED("scan: %s is an image in memory, but a scan file can only name "
                                   "files; write it to a file, and name that",
                                   fbp_image_name(i));
    if (scan->n_views == 0 || !scan->views)
        return FBP_INVALID("scan: the scan has no views to save; give at least one");
    if (scan->every || scan->bin || scan->selected)
        return FBP_UNSUPPORTED("scan: views were skipped or binned, so they differ from the files; "
                               "save the scan before that, or remove \"skip\" and \"use_views\" "
                               "from the scan file");
    if (scan->preparation)
        return FBP_UNSUPPORTED(
            "scan: a scan with prepare cannot be saved, because its files contain rows before "
            "preparation; use the file that the scan was read from");
    if (circle && scan->depths)
        return FBP_INVALID("scan: depths can only be saved with matrices; omit the circle");
    if (scan->filtered && !circle && !has_matrices(scan))
        return FBP_UNSUPPORTED(
            "scan: filtered views can only be saved with matrices (which need a cone beam and one "
            "pixel pitch) or as a circle; give the circle from which the views were made");
    if (circle && (circle->kind != scan->kind || circle->n_views != scan->n_views))
        return FBP_INVALID("scan: the circle has %zu views, the scan %zu, or their kinds differ; "
                           "give the circle from which the views were made",
                           circle->n_views, scan->n_views);
    if (circle) {
        FBP_TRY(fbp_calloc((void **)&views, scan->n_views, sizeof *views, "views"));
        st = fbp_circle_views(circle, views);
    }
    for (size_t k = 0; circle && st == FBP_OK && k < scan->n_views; k++) {
        const struct fbp_view *a = &views[k], *b = &scan->views[k];
        for (int i = 0; st == FBP_OK && i < 3; i++)
            if (!(fabs(a->s[i] - b->s[i]) < 1e-6 && fabs(a->d[i] - b->d[i]) < 1e-6 &&
                  fabs(a->u[i] - b->u[i]) < 1e-6 && fabs(a->v[i] - b->v[i]) < 1e-6))
                st = FBP_INVALID("scan: view %zu does not lie on the circle; give the circle from "
                                 "which the views were made, or none",
                                 k);
    }
    free(views);
    FBP_TRY(st);
    FBP_TRY(fbp_writer_open_json(&w, path));
    st = put_scan(&w, scan, circle);
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
    FBP_REQUIRE(path);
    struct fbp_scan scan;
    struct fbp_circle whole;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, &scan, given));
    if (circle) {
        FBP_TRY(fbp_check_circle(circle, &whole));
        circle = &whole;
    }
    return save(&scan, path, circle, false);
}
