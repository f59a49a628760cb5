/* Reads the views of a scan file (fbp_scan_read_views()): a circle (distances and angles),
 * matrices, vectors per view, or a geometry file.
 * Used by: scan_planes.c, scan_read.c. */
#include "scan/scan_file.h"

#include "array/names.h"
#include "base/base.h"
#include "base/math.h"
#include "scan/format/importers.h"

#include <stdio.h>
#include <string.h>

static const char *const origins[] = {"center", "corner"};

/* Keys that describe a circle. */
#define DISTANCES "source_to_axis_mm source_to_detector_mm"
#define PANEL     "offset_mm tilt_deg skew_deg"

fbp_status fbp_scan_refuse_keys(const struct fbp_json *o, const char *keys, const char *why)
{
    char key[32];

    for (; *keys; keys += *keys == ' ') {
        const size_t n = strcspn(keys, " ");
        snprintf(key, sizeof key, "%.*s", (int)n, keys);
        if (fbp_json_get(o, key))
            return FBP_INVALID("%s: %s%s: not allowed, because %s; remove it", o->file, o->prefix,
                               key, why);
        keys += n;
    }
    return FBP_OK;
}

fbp_status fbp_scan_check_count(const struct fbp_scan_file *f, const char *key, size_t n)
{
    const char *holder = f->scan->projections                 ? f->scan->projections
                         : !fbp_kind_has_lines(f->scan->kind) ? "the list of directions"
                                                              : "the geometry";

    if (n == f->scan->n_views)
        return FBP_OK;
    return FBP_INVALID("%s: %s: found %zu entries, but %s has %zu views; give one entry per view",
                       f->top.file, key, n, holder, f->scan->n_views);
}

fbp_status fbp_scan_read_numbers(const struct fbp_scan_file *f, const char *key,
                                 const struct fbp_range *range, double **out, size_t *n)
{
    char name[48];

    if (!cJSON_IsString(fbp_json_get(&f->top, key)))
        return fbp_json_list(&f->top, key, range, out, n);
    FBP_TRY(fbp_scan_load_rows(f, &f->top, key, 1, "one number per view", out, n));
    for (size_t k = 0; k < *n; k++) {
        snprintf(name, sizeof name, "%s: number %zu of the file", key, k);
        const fbp_status st = fbp_check_range(range, name, (*out)[k]);
        if (st != FBP_OK) {
            free(*out);
            *out = NULL;
            return fbp_error_context(f->top.file, st);
        }
    }
    return FBP_OK;
}

/* If the file names contain the angles of the list, but in another order, assign each angle to the
 * file whose name contains it, and add a note. */
static fbp_status order_angles(const struct fbp_scan_file *f, const struct fbp_numbering *files,
                               double *list, size_t n)
{
    double *sorted = NULL, *names = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&sorted, n, sizeof *sorted, "angles"));
    FBP_TRY_GOTO(fbp_calloc((void **)&names, n, sizeof *names, "angles"));
    memcpy(sorted, list, n * sizeof *list);
    fbp_sort(sorted, n);
    for (size_t c = 0; c < files->n_columns; c++) {
        const double *column = files->columns + c * n, close = 0.51 * pow(10, -files->digits[c]);
        bool same = files->digits[c] > 0 || c != files->counter, in_order = true;
        memcpy(names, column, n * sizeof *column);
        fbp_sort(names, n);
        for (size_t k = 0; k < n && same; k++) {
            same = fabs(sorted[k] - names[k]) < close;
            in_order &= fabs(list[k] - column[k]) < close;
        }
        if (!same || in_order)
            continue;
        for (size_t k = 0; k < n; k++) {
            const double *at = bsearch(&column[k], names, n, sizeof *names, fbp_by_value);
            list[k] = at ? sorted[at - names] : list[k];
        }
        FBP_TRY_GOTO(
            fbp_scan_note_ignored(f->scan, f->top.file, "order", "the order of angles_deg",
                                  "each angle is assigned to the file whose name contains it"));
        break;
    }
fail:
    free(sorted);
    free(names);
    return st;
}

/* Read the angles [rad]; the caller frees *out, also after a failure. */
static fbp_status read_angles(const struct fbp_scan_file *f, double **out)
{
    static const char *const keys[] = {"start", "step"};
    const struct fbp_scan *scan = f->scan;
    const cJSON *angles = fbp_json_get(&f->top, "angles_deg");
    struct fbp_numbering files = {.counted = false};
    double *list = NULL, even[2] = {0};
    size_t n_files, n = 0, given[2] = {0};
    struct fbp_json o;
    fbp_status st;

    if (!angles)
        return fbp_json_missing(&f->top, "angles_deg",
                                "give a list, a file, or {\"start\": 0, \"step\": 1}");
    if (!cJSON_IsObject(angles) && !cJSON_IsArray(angles) && !cJSON_IsNumber(angles) &&
        !cJSON_IsString(angles))
        return fbp_json_wrong(&f->top, "angles_deg",
                              "a list of numbers, a file, or {\"start\": 0, \"step\": 1}");
    FBP_TRY(fbp_calloc((void **)out, scan->n_views, sizeof **out, "angles"));
    if (scan->projections && !scan->sinograms)
        FBP_TRY(fbp_stack_numbering(scan->projections, scan->raw.type != FBP_TYPE_NONE, &files,
                                    &n_files));
    if (files.n_columns && n_files != scan->n_views)
        fbp_numbering_clear(&files);
    if (cJSON_IsObject(angles)) {
        /* evenly spaced angles: if a number is missing in the file names, its angle is skipped */
        FBP_TRY_GOTO(fbp_json_child(&f->top, "angles_deg", "angles_deg.", keys, N_OF(keys), &o));
        for (int i = 0; i < 2; i++)
            FBP_TRY_GOTO(
                fbp_json_numbers(&o, keys[i], &fbp_range_angle, 1, 1, &even[i], &given[i]));
        for (int i = 0; i < 2; i++)
            if (!given[i])
                FBP_TRY_GOTO(fbp_json_missing(&o, keys[i],
                                              i == 0 ? "give the angle of the first view"
                                                     : "give the angle between views"));
        if (!(fabs(even[1]) > 0))
            FBP_TRY_GOTO(fbp_json_wrong(&o, "step", "a number that is not 0"));
        for (size_t k = 0; k < scan->n_views; k++)
            (*out)[k] =
                (even[0] + (double)(files.places ? files.places[k] : k) * even[1]) * FBP_PI / 180;
        if (files.gaps[0])
            st = fbp_scan_note(f->scan, "%s: %s", scan->projections, files.gaps);
    } else {
        FBP_TRY_GOTO(fbp_scan_read_numbers(f, "angles_deg", &fbp_range_angle, &list, &n));
        FBP_TRY_GOTO(fbp_scan_check_count(f, "angles_deg", n));
        FBP_TRY_GOTO(order_angles(f, &files, list, n));
        for (size_t k = 0; k < n; k++)
            (*out)[k] = list[k] * FBP_PI / 180;
    }
fail:
    free(list);
    fbp_numbering_clear(&files);
    return st;
}

/* Read the pixel pitch, one or two numbers; the caller's pitch takes precedence.  *n 0: neither the
 * file nor the caller gives a pitch. */
static fbp_status read_pitch(const struct fbp_scan_file *f, double pitch[2], size_t *n)
{
    FBP_TRY(fbp_json_numbers(&f->detector, "pitch_mm", &fbp_range_pitch, 1, 2, pitch, n));
    if (*n == 1)
        pitch[1] = pitch[0];
    if (!(f->pitch_mm[0] > 0))
        return FBP_OK;
    memcpy(pitch, f->pitch_mm, sizeof f->pitch_mm);
    *n = 2;
    return FBP_OK;
}

static fbp_status circle_views(const struct fbp_scan_file *f)
{
    const struct fbp_json *detector = &f->detector;
    struct fbp_circle c = {
        .struct_size = sizeof c, .kind = f->scan->kind, .n_views = f->scan->n_views};
    double *angles = NULL, *sod = NULL, *sdd = NULL, *offsets = NULL, tilt[3] = {0}, skew = 0;
    const cJSON *offset = fbp_json_get(detector, "offset_mm");
    size_t n = 0;
    fbp_status st;

    FBP_TRY(fbp_scan_refuse_keys(&f->top, "matrix_origin", "there are no \"matrices\""));
    if (!fbp_kind_has_source(c.kind))
        FBP_TRY(fbp_scan_refuse_keys(&f->top, DISTANCES, "a parallel beam has no source"));
    FBP_TRY(read_pitch(f, c.pitch_mm, &n));
    if (n == 0)
        return FBP_INVALID("%s: detector.pitch_mm is missing; give the distance between pixels "
                           "(mm) there, or by --pitch",
                           detector->file);
    const bool moves = cJSON_IsString(offset) || (offset && cJSON_IsArray(offset->child));
    if (!moves)
        FBP_TRY(
            fbp_json_numbers(detector, "offset_mm", &fbp_range_position, 2, 2, c.offset_mm, &n));
    FBP_TRY(fbp_json_numbers(detector, "tilt_deg", &fbp_range_rotation, 3, 3, tilt, &n));
    FBP_TRY(fbp_json_numbers(detector, "skew_deg", &fbp_range_skew, 1, 1, &skew, &n));
    for (int i = 0; i < 3; i++)
        c.tilt_rad[i] = tilt[i] * FBP_PI / 180;
    c.skew_rad = skew * FBP_PI / 180;
    for (int i = 0; fbp_kind_has_source(c.kind) && i < 2; i++) { /* one distance, or one per view */
        const char *key = i ? "source_to_detector_mm" : "source_to_axis_mm";
        FBP_TRY_GOTO(fbp_json_list(&f->top, key, &fbp_range_distance, i ? &sdd : &sod, &n));
        if (n == 0)
            FBP_TRY_GOTO(fbp_json_missing(
                &f->top, key, "a cone-beam scan needs this distance (mm), or \"matrices\""));
        if (n > 1)
            FBP_TRY_GOTO(fbp_scan_check_count(f, key, n));
        *(i ? &c.n_sdd : &c.n_sod) = n;
    }
    FBP_TRY_GOTO(read_angles(f, &angles));
    c.angles_rad = angles;
    c.sod_mm = sod;
    c.sdd_mm = sdd;
    if (moves) {
        FBP_TRY_GOTO(fbp_scan_load_rows(f, detector, "offset_mm", 2, "an offset [u, v] per view",
                                        &offsets, &n));
        FBP_TRY_GOTO(fbp_scan_check_count(f, "detector.offset_mm", n));
    }
    c.offsets_mm = (const double(*)[2])offsets;
    st = fbp_json_context(&f->top, "detector or distances", fbp_circle_views(&c, f->scan->views));
fail:
    free(offsets);
    free(angles);
    free(sod);
    free(sdd);
    return st;
}

static fbp_status matrix_views(const struct fbp_scan_file *f)
{
    const char *const said = "the matrices already determine this value";
    struct fbp_scan *scan = f->scan;
    double *matrices = NULL, pitch[2] = {0};
    size_t n = 0, origin = 0;
    char where[48];
    fbp_status st;

    if (!fbp_kind_has_source(scan->kind))
        return fbp_scan_refuse_keys(&f->top, "matrices",
                                    "matrices need a source, but a parallel beam has none");
    FBP_TRY(fbp_scan_refuse_keys(&f->top, DISTANCES " angles_deg", said));
    FBP_TRY(fbp_scan_refuse_keys(&f->detector, PANEL, said));
    FBP_TRY(read_pitch(f, pitch, &n));
    if (n == 0)
        return FBP_INVALID("%s: detector.pitch_mm is missing, and 3x4 matrices contain no lengths; "
                           "give the distance between pixels along the rows (mm)",
                           f->top.file);
    FBP_TRY_GOTO(fbp_scan_load_rows(f, &f->top, "matrices", 12, NULL, &matrices, &n));
    FBP_TRY_GOTO(fbp_scan_check_count(f, "matrices", n));
    FBP_TRY_GOTO(fbp_json_choice(&f->top, "matrix_origin", origins, N_OF(origins), &origin));
    for (size_t k = 0; k < n; k++) {
        double *P = matrices + 12 * k;
        if (origin == 1)
            fbp_matrix_from_corner(P);
        snprintf(where, sizeof where, "matrices: view %zu", k);
        FBP_TRY_GOTO(fbp_json_context(
            &f->top, where, fbp_view_from_matrix(P, pitch[0], &scan->panel, &scan->views[k])));
    }
    /* Filtered views: keep the scale of each matrix, on which the values of the volume depend. */
    if (scan->filtered) {
        FBP_TRY_GOTO(fbp_calloc((void **)&scan->depths, n, sizeof *scan->depths, "depths"));
        for (size_t k = 0; k < n; k++)
            scan->depths[k] = fabs(matrices[12 * k + 11]); /* w at the iso-centre */
    }
fail:
    free(matrices);
    return st;
}

/* Read the list of views: vectors s, d, u, v per view (source, panel's centre, steps to the next
 * column and row). */
static fbp_status listed_views(const struct fbp_scan_file *f)
{
    const char *const said = "the views already determine this value";
    double *list = NULL;
    size_t n = 0;

    FBP_TRY(fbp_scan_refuse_keys(&f->top, DISTANCES " angles_deg matrices matrix_origin", said));
    FBP_TRY(fbp_scan_refuse_keys(&f->detector, "pitch_mm " PANEL, said));
    if (f->pitch_mm[0] > 0)
        return FBP_INVALID("%s: views: already contain the pixel pitch; omit --pitch", f->top.file);
    FBP_TRY(fbp_scan_load_rows(f, &f->top, "views", 12, NULL, &list, &n));
    const fbp_status st = fbp_scan_check_count(f, "views", n);
    if (st == FBP_OK)
        memcpy(f->scan->views, list, n * sizeof *f->scan->views);
    free(list);
    return st;
}

/* Read the views from the file named by "geometry". */
static fbp_status geometry_views(const struct fbp_scan_file *f)
{
    const char *const said = "the geometry already determines this value";
    struct fbp_geometry_known known = {
        .struct_size = sizeof known, .panel = f->scan->panel, .n_views = f->scan->n_views};
    struct fbp_scan *scan = f->scan, g;
    const char *text = NULL, *format = NULL;
    char *path = NULL;
    size_t n = 0, origin = 0;

    FBP_TRY(fbp_scan_refuse_keys(&f->top, DISTANCES " angles_deg matrices views", said));
    FBP_TRY(fbp_scan_refuse_keys(&f->detector, PANEL, said));
    FBP_TRY(fbp_json_choice(&f->top, "matrix_origin", origins, N_OF(origins), &origin));
    known.corner = origin == 1;
    FBP_TRY(read_pitch(f, known.pitch_mm, &n));
    for (int i = 0; f->info.has_spacing && i < 2; i++) {
        known.header_spacing_mm[i] = f->info.spacing_mm[i];
        known.header_origin_mm[i] = f->info.origin_mm[i];
    }
    FBP_TRY(fbp_json_text(&f->top, "geometry", &text));
    FBP_TRY(fbp_json_text(&f->top, "geometry_format", &format));
    FBP_TRY(fbp_scan_path(&path, f->top.file, "%s", text));
    fbp_status st = f->load_geometry(&g, path, format, &known);
    if (st == FBP_OK)
        st = fbp_scan_check_count(f, "geometry", g.n_views);
    if (st == FBP_OK && fbp_json_get(&f->top, "kind") && g.kind != scan->kind)
        st = FBP_INVALID("%s: kind: \"%s\" is not the kind of %s; remove it", f->top.file,
                         fbp_kind_name(scan->kind), text);
    if (st == FBP_OK) {
        scan->kind = g.kind;
        memcpy(scan->views, g.views, scan->n_views * sizeof *scan->views);
        scan->volume = g.volume;
        if (scan->row_order == FBP_ROWS_AUTO)
            scan->row_order = g.row_order;
    }
    for (size_t i = 0; st == FBP_OK && i < g.n_assumed; i++)
        st = fbp_scan_assume(scan, g.assumed[i].file, g.assumed[i].key, g.assumed[i].value,
                             g.assumed[i].why);
    if (st == FBP_OK && g.note)
        st = fbp_scan_note(scan, "%s", g.note);
    if (st == FBP_OK)
        st = fbp_scan_add_file(scan, path);
    for (size_t i = 0; st == FBP_OK && i < g.n_files; i++)
        st = fbp_scan_add_file(scan, g.files[i]);
    fbp_scan_free(&g);
    free(path);
    return fbp_json_context(&f->top, "geometry", st);
}

fbp_status fbp_scan_read_views(const struct fbp_scan_file *f)
{
    struct fbp_scan *scan = f->scan;

    FBP_TRY(fbp_calloc((void **)&scan->views, scan->n_views, sizeof *scan->views, "views"));
    if (!fbp_kind_has_lines(scan->kind)) {
        if (!fbp_json_get(&f->top, "views"))
            return fbp_scan_read_planes(f);
        FBP_TRY(fbp_scan_refuse_keys(&f->top, "directions spacing_mm first_mm gradients",
                                     "the views already determine this value"));
        FBP_TRY(listed_views(f));
        return fbp_scan_read_plane_weights(f);
    }
    if (f->preparation)
        return FBP_UNSUPPORTED(
            "%s: prepare: applies to plane integrals (kind planes) only; remove prepare",
            f->top.file);
    FBP_TRY(fbp_scan_refuse_keys(&f->top,
                                 "directions spacing_mm first_mm frames gradients weights grid "
                                 "reference prepare",
                                 "this key needs \"kind\": \"planes\""));
    if (fbp_json_get(&f->top, "geometry"))
        return geometry_views(f);
    FBP_TRY(fbp_scan_refuse_keys(&f->top, "geometry_format", "there is no \"geometry\""));
    if (fbp_json_get(&f->top, "views"))
        return listed_views(f);
    return fbp_json_get(&f->top, "matrices") ? matrix_views(f) : circle_views(f);
}
