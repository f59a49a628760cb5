/* The views of a scan file: a circle of distances and angles, or matrices. */
#include "scan/file/geometry_format.h"
#include "scan/file/scan_inputs.h"
#include "scan/scan_parts.h"

#include "array/stack_names.h"
#include "base/base.h"
#include "base/math.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

static const char *const angle_keys[] = {"start", "step"};
static const char *const origins[] = {"center", "corner"};

/* Keys that say what another key or the kind already says. */
static fbp_status refuse(const struct fbp_json *o, const char *const *keys, size_t n,
                         const char *why)
{
    for (size_t i = 0; i < n; i++)
        if (fbp_json_has(o, keys[i]))
            return fbp_fail(FBP_ERR_INVALID, "%s: %s%s: %s: remove it", o->file, o->prefix, keys[i],
                            why);
    return FBP_OK;
}

static fbp_status check_count(const struct fbp_scan_file *f, const char *key, size_t n)
{
    if (n == f->scan->n_views)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: %s: found %zu entries, but %s holds %zu views: give one a view",
                    f->top.file, key, n, f->scan->projections, f->scan->n_views);
}

/* Per-view or common; a scan of one view makes no difference. */
static fbp_status read_distance(const struct fbp_scan_file *f, const char *key, double **out,
                                size_t *n)
{
    FBP_TRY(fbp_json_list(&f->top, key, &fbp_range_distance, out, n));
    if (*n == 0)
        return fbp_json_missing(&f->top, key, "a cone-beam scan needs it (mm), or \"matrices\"");
    return *n == 1 ? FBP_OK : check_count(f, key, *n);
}

static fbp_status even_angles(const struct fbp_scan_file *f, const struct fbp_numbering *files,
                              double *out)
{
    double start = 0, step = 0;
    size_t n_start = 0, n_step = 0;
    struct fbp_json o;

    FBP_TRY(fbp_json_child(&f->top, "angles_deg", "angles_deg.", angle_keys, N_OF(angle_keys), &o));
    FBP_TRY(fbp_json_numbers(&o, "start", &fbp_range_angle, 1, 1, &start, &n_start));
    FBP_TRY(fbp_json_numbers(&o, "step", &fbp_range_angle, 1, 1, &step, &n_step));
    if (n_start == 0)
        return fbp_json_missing(&o, "start", "give the angle of the first view");
    if (n_step == 0)
        return fbp_json_missing(&o, "step", "give the angle between views");
    if (!(fabs(step) > 0))
        return fbp_json_wrong(&o, "step", "a number that is not 0");
    for (size_t k = 0; k < f->scan->n_views; k++) {
        const size_t place = files->places ? files->places[k] : k;
        out[k] = (start + (double)place * step) * FBP_PI / 180;
    }
    if (!files->gaps[0])
        return FBP_OK;
    char *note = fbp_format("%s: %s", f->scan->projections, files->gaps);
    const fbp_status st = note ? fbp_scan_note(f->scan, note) : fbp_fail_nomem(1, "a note");
    free(note);
    return st;
}

/* Angles that the names of the files hold, too, but in another order, go with the names. */
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
            fbp_scan_note_ignored(f->scan, f->top.file, "order", "that of angles_deg",
                                  "each angle goes with the file that has it in its name"));
        break;
    }
fail:
    free(sorted);
    free(names);
    return st;
}

static fbp_status listed_angles(const struct fbp_scan_file *f, const struct fbp_numbering *files,
                                double *out)
{
    double *list = NULL;
    size_t n = 0;

    FBP_TRY(fbp_json_list(&f->top, "angles_deg", &fbp_range_angle, &list, &n));
    fbp_status st = check_count(f, "angles_deg", n);
    if (st == FBP_OK)
        st = order_angles(f, files, list, n);
    for (size_t k = 0; st == FBP_OK && k < n; k++)
        out[k] = list[k] * FBP_PI / 180;
    free(list);
    return st;
}

static fbp_status read_angles(const struct fbp_scan_file *f, double **out)
{
    const cJSON *angles = cJSON_GetObjectItemCaseSensitive(f->top.object, "angles_deg");

    if (!angles)
        return fbp_json_missing(&f->top, "angles_deg",
                                "give a list, or {\"start\": 0, \"step\": 1}");
    if (!cJSON_IsObject(angles) && !cJSON_IsArray(angles) && !cJSON_IsNumber(angles))
        return fbp_json_wrong(&f->top, "angles_deg",
                              "a list of numbers or {\"start\": 0, \"step\": 1}");
    struct fbp_numbering files = {.counted = false};
    size_t n_files;
    FBP_TRY(fbp_calloc((void **)out, f->scan->n_views, sizeof **out, "angles"));
    if (f->scan->projections)
        FBP_TRY(fbp_stack_numbering(f->scan->projections, f->scan->raw.type != FBP_TYPE_NONE,
                                    &files, &n_files));
    if (files.n_columns && n_files != f->scan->n_views)
        fbp_numbering_clear(&files);
    const fbp_status st =
        cJSON_IsObject(angles) ? even_angles(f, &files, *out) : listed_angles(f, &files, *out);
    fbp_numbering_clear(&files);
    return st;
}

/* One pitch or two; what is given beside the file counts.  *n 0: neither says it. */
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

/* Pitch, offset, tilt and skew of the panel. */
static fbp_status read_panel(const struct fbp_scan_file *f, struct fbp_circle *c)
{
    const struct fbp_json *detector = &f->detector;
    double tilt[3] = {0}, skew = 0;
    size_t n = 0;

    FBP_TRY(read_pitch(f, c->pitch_mm, &n));
    if (n == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: detector.pitch_mm is missing: give the distance of pixels (mm), there "
                        "or by --pitch",
                        detector->file);
    FBP_TRY(fbp_json_numbers(detector, "offset_mm", &fbp_range_place, 2, 2, c->offset_mm, &n));
    FBP_TRY(fbp_json_numbers(detector, "tilt_deg", &fbp_range_turn, 3, 3, tilt, &n));
    FBP_TRY(fbp_json_numbers(detector, "skew_deg", &fbp_range_skew, 1, 1, &skew, &n));
    for (int i = 0; i < 3; i++)
        c->tilt_rad[i] = tilt[i] * FBP_PI / 180;
    c->skew_rad = skew * FBP_PI / 180;
    return FBP_OK;
}

static fbp_status circle_views(const struct fbp_scan_file *f)
{
    static const char *const distances[] = {"source_to_axis_mm", "source_to_detector_mm"};
    static const char *const origin[] = {"matrix_origin"};
    struct fbp_circle c = {
        .struct_size = sizeof c, .kind = f->scan->kind, .n_views = f->scan->n_views};
    double *angles = NULL, *sod = NULL, *sdd = NULL;
    fbp_status st;

    FBP_TRY(refuse(&f->top, origin, 1, "there are no \"matrices\""));
    if (!fbp_kind_has_source(c.kind))
        FBP_TRY(refuse(&f->top, distances, 2, "a parallel beam has no source"));
    FBP_TRY_GOTO(read_panel(f, &c));
    if (fbp_kind_has_source(c.kind)) {
        FBP_TRY_GOTO(read_distance(f, distances[0], &sod, &c.n_sod));
        FBP_TRY_GOTO(read_distance(f, distances[1], &sdd, &c.n_sdd));
    }
    FBP_TRY_GOTO(read_angles(f, &angles));
    c.angles_rad = angles;
    c.sod_mm = sod;
    c.sdd_mm = sdd;
    st = fbp_json_because(&f->top, "detector or distances", fbp_circle_views(&c, f->scan->views));
fail:
    free(angles);
    free(sod);
    free(sdd);
    return st;
}

/* Twelve numbers a view, in the file or in a text file. */
static fbp_status load_table(const struct fbp_scan_file *f, const char *key, double **out,
                             size_t *n)
{
    const char *text = NULL;

    if (!cJSON_IsString(cJSON_GetObjectItemCaseSensitive(f->top.object, key)))
        return fbp_json_table(&f->top, key, 12, out, n);
    FBP_TRY(fbp_json_text(&f->top, key, &text));
    char *path = fbp_path_join(f->top.file, text);
    if (!path)
        return fbp_fail_nomem(strlen(text), "a path");
    fbp_status st = fbp_matrices_load(path, out, n);
    if (st == FBP_OK)
        st = fbp_scan_add_file(f->scan, path);
    free(path);
    return fbp_json_because(&f->top, key, st);
}

/* (c, r) + (0.5, 0.5) became (c, r): pixel centres at whole numbers, as everywhere in here. */
static void shift_to_centre(double P[12])
{
    for (int i = 0; i < 4; i++) {
        P[i] -= 0.5 * P[8 + i];
        P[4 + i] -= 0.5 * P[8 + i];
    }
}

/* Filtered views go with the scale of their matrices: w at the iso-centre. */
static fbp_status keep_depths(struct fbp_scan *scan, const double *matrices)
{
    FBP_TRY(fbp_calloc((void **)&scan->depths, scan->n_views, sizeof *scan->depths, "depths"));
    for (size_t k = 0; k < scan->n_views; k++)
        scan->depths[k] = fabs(matrices[12 * k + 11]);
    return FBP_OK;
}

static fbp_status views_of(const struct fbp_scan_file *f, double *matrices, double pitch)
{
    size_t origin = 0;
    char where[48];

    FBP_TRY(fbp_json_choice(&f->top, "matrix_origin", origins, N_OF(origins), &origin));
    for (size_t k = 0; k < f->scan->n_views; k++) {
        double *P = matrices + 12 * k;
        if (origin == 1)
            shift_to_centre(P);
        snprintf(where, sizeof where, "matrices: view %zu", k);
        FBP_TRY(fbp_json_because(
            &f->top, where, fbp_view_from_matrix(P, pitch, &f->scan->panel, &f->scan->views[k])));
    }
    return f->scan->filtered ? keep_depths(f->scan, matrices) : FBP_OK;
}

static fbp_status matrix_views(const struct fbp_scan_file *f)
{
    static const char *const circle[] = {"source_to_axis_mm", "source_to_detector_mm",
                                         "angles_deg"};
    static const char *const turned[] = {"offset_mm", "tilt_deg", "skew_deg"};
    static const char *const matrices_key[] = {"matrices"};
    const char *const said = "the matrices already say it";
    double *matrices = NULL, pitch[2] = {0};
    size_t n = 0;

    if (!fbp_kind_has_source(f->scan->kind))
        return refuse(&f->top, matrices_key, 1, "they need a source, a parallel beam has none");
    FBP_TRY(refuse(&f->top, circle, N_OF(circle), said));
    FBP_TRY(refuse(&f->detector, turned, N_OF(turned), said));
    FBP_TRY(read_pitch(f, pitch, &n));
    if (n == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: detector.pitch_mm is missing: 3x4 matrices carry no length: give the "
                        "distance of pixels along the rows (mm)",
                        f->top.file);
    FBP_TRY(load_table(f, "matrices", &matrices, &n));
    fbp_status st = check_count(f, "matrices", n);
    if (st == FBP_OK)
        st = views_of(f, matrices, pitch[0]);
    free(matrices);
    return st;
}

/* The canonical form: s, d, u, v a view. */
static fbp_status listed_views(const struct fbp_scan_file *f)
{
    static const char *const others[] = {"source_to_axis_mm", "source_to_detector_mm", "angles_deg",
                                         "matrices", "matrix_origin"};
    static const char *const panel[] = {"pitch_mm", "offset_mm", "tilt_deg", "skew_deg"};
    const char *const said = "the views already say it";
    double *list = NULL;
    size_t n = 0;

    FBP_TRY(refuse(&f->top, others, N_OF(others), said));
    FBP_TRY(refuse(&f->detector, panel, N_OF(panel), said));
    if (f->pitch_mm[0] > 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: views: say already how far apart pixels are: leave --pitch out",
                        f->top.file);
    FBP_TRY(load_table(f, "views", &list, &n));
    const fbp_status st = check_count(f, "views", n);
    for (size_t k = 0; st == FBP_OK && k < n; k++) {
        struct fbp_view *view = &f->scan->views[k];
        memcpy(view->s, list + 12 * k, sizeof view->s);
        memcpy(view->d, list + 12 * k + 3, sizeof view->d);
        memcpy(view->u, list + 12 * k + 6, sizeof view->u);
        memcpy(view->v, list + 12 * k + 9, sizeof view->v);
    }
    free(list);
    return st;
}

/* What the scan file leaves to the geometry file. */
static fbp_status take_geometry(const struct fbp_scan_file *f, const struct fbp_scan *g,
                                const char *text)
{
    struct fbp_scan *scan = f->scan;

    if (fbp_json_has(&f->top, "kind") && g->kind != scan->kind)
        return fbp_fail(FBP_ERR_INVALID, "%s: kind: \"%s\" is not what %s holds: remove it",
                        f->top.file, fbp_kind_name(scan->kind), text);
    scan->kind = g->kind;
    memcpy(scan->views, g->views, scan->n_views * sizeof *scan->views);
    scan->volume = g->volume;
    if (scan->row_order == FBP_ROWS_AUTO)
        scan->row_order = g->row_order;
    for (size_t i = 0; i < g->n_assumed; i++)
        FBP_TRY(fbp_scan_assume(scan, g->assumed[i].file, g->assumed[i].key, g->assumed[i].value,
                                g->assumed[i].why));
    return g->note ? fbp_scan_note(scan, g->note) : FBP_OK;
}

/* A file of another program. */
static fbp_status geometry_views(const struct fbp_scan_file *f)
{
    static const char *const others[] = {"source_to_axis_mm", "source_to_detector_mm", "angles_deg",
                                         "matrices", "views"};
    static const char *const turned[] = {"offset_mm", "tilt_deg", "skew_deg"};
    const char *const said = "the geometry already says it";
    struct fbp_geometry_known known = {
        .struct_size = sizeof known, .panel = f->scan->panel, .n_views = f->scan->n_views};
    struct fbp_scan g;
    const char *text = NULL, *format = NULL;
    size_t n = 0, origin = 0;

    FBP_TRY(refuse(&f->top, others, N_OF(others), said));
    FBP_TRY(refuse(&f->detector, turned, N_OF(turned), said));
    FBP_TRY(fbp_json_choice(&f->top, "matrix_origin", origins, N_OF(origins), &origin));
    known.corner = origin == 1;
    FBP_TRY(read_pitch(f, known.pitch_mm, &n));
    for (int i = 0; f->info.has_spacing && i < 2; i++) {
        known.header_spacing_mm[i] = f->info.spacing_mm[i];
        known.header_origin_mm[i] = f->info.origin_mm[i];
    }
    FBP_TRY(fbp_json_text(&f->top, "geometry", &text));
    FBP_TRY(fbp_json_text(&f->top, "geometry_format", &format));
    char *path = fbp_path_join(f->top.file, text);
    if (!path)
        return fbp_fail_nomem(strlen(text), "a path");
    fbp_status st = f->load_geometry(&g, path, format, &known);
    if (st == FBP_OK && g.n_views != f->scan->n_views)
        st = check_count(f, "geometry", g.n_views);
    if (st == FBP_OK)
        st = take_geometry(f, &g, text);
    if (st == FBP_OK)
        st = fbp_scan_add_file(f->scan, path);
    for (size_t i = 0; st == FBP_OK && i < g.n_files; i++)
        st = fbp_scan_add_file(f->scan, g.files[i]);
    fbp_scan_free(&g);
    free(path);
    return fbp_json_because(&f->top, "geometry", st);
}

/* Directions, or the canonical form; weights stand beside both. */
static fbp_status plane_views(const struct fbp_scan_file *f)
{
    static const char *const others[] = {"directions", "spacing_mm", "first_mm", "gradients"};

    if (!fbp_json_has(&f->top, "views"))
        return fbp_scan_read_planes(f);
    FBP_TRY(refuse(&f->top, others, N_OF(others), "the views already say it"));
    FBP_TRY(listed_views(f));
    return fbp_scan_read_plane_weights(f);
}

fbp_status fbp_scan_read_views(const struct fbp_scan_file *f)
{
    static const char *const format[] = {"geometry_format"};
    struct fbp_scan *scan = f->scan;

    FBP_TRY(fbp_calloc((void **)&scan->views, scan->n_views, sizeof *scan->views, "views"));
    if (fbp_scan_has_planes(scan))
        return plane_views(f);
    FBP_TRY(fbp_scan_refuse_planes(f));
    if (fbp_json_has(&f->top, "geometry"))
        return geometry_views(f);
    FBP_TRY(refuse(&f->top, format, 1, "there is no \"geometry\""));
    if (fbp_json_has(&f->top, "views"))
        return listed_views(f);
    return fbp_json_has(&f->top, "matrices") ? matrix_views(f) : circle_views(f);
}
