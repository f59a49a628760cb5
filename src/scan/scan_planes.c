/* The views of plane integrals in a scan file: directions, where their samples lie, and weights. */
#include "scan/file/preparation.h"
#include "scan/file/scan_inputs.h"
#include "scan/format/number_table.h"
#include "scan/scan_parts.h"

#include "base/base.h"
#include "base/text.h"
#include "base/math.h"
#include "geometry/kind.h"

#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* What files with few digits may leave a unit vector short of 1. */
static const double UNIT = 1e-3;

static const char *const planes_keys[] = {"directions", "spacing_mm", "first_mm",
                                          "frames",     "gradients",  "weights",
                                          "grid",       "reference",  "prepare"};
static const char *const grids[] = {"symmetric", "eprit"};

bool fbp_scan_has_planes(const struct fbp_scan *scan)
{
    return fbp_kind_of(scan->kind)->integral == FBP_OVER_PLANES;
}

fbp_status fbp_scan_refuse_planes(const struct fbp_scan_file *f)
{
    if (f->preparation)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: prepare: only rows of plane integrals (kind planes) are prepared: leave "
            "it out",
            f->top.file);
    for (size_t i = 0; i < N_OF(planes_keys); i++)
        if (fbp_json_has(&f->top, planes_keys[i]))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: %s: only \"kind\": \"planes\" has such a key: remove it",
                            f->top.file, planes_keys[i]);
    return FBP_OK;
}

static fbp_status refuse_lines(const struct fbp_scan_file *f)
{
    static const char *const top[] = {"source_to_detector_mm",
                                      "source_to_axis_mm",
                                      "angles_deg",
                                      "angular_weights",
                                      "matrices",
                                      "matrix_origin",
                                      "geometry",
                                      "geometry_format"};
    static const char *const detector[] = {"pitch_mm", "offset_mm", "tilt_deg", "skew_deg"};

    if (f->pitch_mm[0] > 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: plane integrals have \"spacing_mm\", no detector: leave --pitch out",
                        f->top.file);
    for (size_t i = 0; i < N_OF(top); i++)
        if (fbp_json_has(&f->top, top[i]))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: %s: plane integrals have \"directions\" instead: remove it",
                            f->top.file, top[i]);
    for (size_t i = 0; i < N_OF(detector); i++)
        if (fbp_json_has(&f->detector, detector[i]))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: detector.%s: plane integrals have \"spacing_mm\" instead: remove "
                            "it",
                            f->top.file, detector[i]);
    return FBP_OK;
}

/* Rows of a list in the file, or of another file. */
static fbp_status load_rows(const struct fbp_scan_file *f, const char *key, size_t width,
                            const char *what, double **out, size_t *n)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(f->top.object, key);
    const char *text = NULL;

    if (!cJSON_IsString(value) && width == 1)
        return fbp_json_list(&f->top, key, &fbp_range_finite, out, n);
    if (!cJSON_IsString(value))
        return fbp_json_table(&f->top, key, width, out, n);
    FBP_TRY(fbp_json_text(&f->top, key, &text));
    char *path = fbp_path_join(f->top.file, text);
    if (!path)
        return fbp_fail_nomem(strlen(text), "a path");
    fbp_status st = fbp_number_table_load(path, width, what, out, n);
    if (st == FBP_OK)
        st = fbp_scan_add_file(f->scan, path);
    free(path);
    return fbp_json_because(&f->top, key, st);
}

static fbp_status check_count(const struct fbp_scan_file *f, const char *key, size_t n)
{
    if (n == f->scan->n_views)
        return FBP_OK;
    return fbp_fail(
        FBP_ERR_INVALID, "%s: %s: found %zu entries, but %s holds %zu views: give one a view",
        f->top.file, key, n, f->scan->projections ? f->scan->projections : "the list of directions",
        f->scan->n_views);
}

/* {"set": "solid-angle", "n": 18, "order": "msps", "pole": "z"} */
static fbp_status read_set(const struct fbp_scan_file *f, struct fbp_directions *out)
{
    static const char *const keys[] = {"set", "n", "order", "pole"};
    static const char *const sets[] = {"solid-angle", "linear-angle", "fibonacci"};
    static const char *const orders[] = {"plain", "flip", "msps"};
    static const char *const poles[] = {"z", "x", "y"};
    size_t set = N_OF(sets), order = 0, pole = 0, n = 0;
    double sizes[2] = {0};
    struct fbp_json o;

    FBP_TRY(fbp_json_child(&f->top, "directions", "directions.", keys, N_OF(keys), &o));
    FBP_TRY(fbp_json_choice(&o, "set", sets, N_OF(sets), &set));
    if (set == N_OF(sets))
        return fbp_json_missing(&o, "set",
                                "give \"solid-angle\", \"linear-angle\" or \"fibonacci\"");
    FBP_TRY(fbp_json_choice(&o, "order", orders, N_OF(orders), &order));
    FBP_TRY(fbp_json_choice(&o, "pole", poles, N_OF(poles), &pole));
    FBP_TRY(fbp_json_numbers(&o, "n", &fbp_range_views, 1, 2, sizes, &n));
    if (n == 0)
        return fbp_json_missing(&o, "n", "give the number of rings, or of directions of a spiral");
    *out = (struct fbp_directions){.struct_size = sizeof *out,
                                   .set = (enum fbp_direction_set)set,
                                   .order = (enum fbp_direction_order)order,
                                   .pole = (enum fbp_pole)pole,
                                   .n = {(size_t)sizes[0], (size_t)sizes[1]}};
    return FBP_OK;
}

static fbp_status make_set(const struct fbp_scan_file *f, double **out, size_t *n)
{
    struct fbp_directions set;

    FBP_TRY(read_set(f, &set));
    FBP_TRY(fbp_because(f->top.file, fbp_directions_count(&set, n)));
    if (f->scan->n_views > 0) /* a wrong number may be a huge one */
        FBP_TRY(check_count(f, "directions", *n));
    FBP_TRY(fbp_calloc((void **)out, *n, 3 * sizeof **out, "directions"));
    return fbp_because(f->top.file, fbp_directions_make(&set, (double(*)[3])(void *)*out));
}

/* Unit vectors from "directions"; or gradient vectors, whose lengths are gradients, too. */
static fbp_status load_directions(const struct fbp_scan_file *f, double **out, size_t *n)
{
    const cJSON *directions = cJSON_GetObjectItemCaseSensitive(f->top.object, "directions");

    if (cJSON_IsObject(directions))
        return make_set(f, out, n);
    if (directions)
        return load_rows(f, "directions", 3, "3 numbers a direction", out, n);
    if (fbp_json_has(&f->top, "gradients"))
        return load_rows(f, "gradients", 3, "3 numbers a gradient", out, n);
    return fbp_json_missing(&f->top, "directions",
                            "give a list of unit vectors, a file of them, or a set such as "
                            "{\"set\": \"solid-angle\", \"n\": 18}");
}

fbp_status fbp_scan_count_planes(const struct fbp_scan_file *f, size_t *n)
{
    const cJSON *directions = cJSON_GetObjectItemCaseSensitive(f->top.object, "directions");
    struct fbp_directions set;
    double *list = NULL;

    if (cJSON_IsObject(directions)) {
        FBP_TRY(read_set(f, &set));
        return fbp_because(f->top.file, fbp_directions_count(&set, n));
    }
    const fbp_status st = load_directions(f, &list, n);

    free(list);
    return st;
}

/* To length 1; lengths[k] of gradient vectors.  The samples of a field sweep run against these. */
static fbp_status normalise(const struct fbp_scan_file *f, double *list, double *lengths)
{
    const bool given = fbp_json_has(&f->top, "directions");
    const bool against = !given && fbp_json_has(&f->top, "reference");

    for (size_t k = 0; k < f->scan->n_views; k++) {
        const double length = fbp_normalise(list + 3 * k);
        if (given && !(fabs(length - 1) <= UNIT))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: directions[%zu]: found a vector of length %.6g, expected 1: give "
                            "unit vectors, or gradient vectors as \"gradients\"",
                            f->top.file, k, length);
        if (!(length > 0))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: gradients[%zu]: found a gradient of 0, which has no direction: "
                            "leave that view out",
                            f->top.file, k);
        lengths[k] = length;
        for (size_t i = 3 * k; against && i < 3 * k + 3; i++)
            list[i] = -list[i];
    }
    return FBP_OK;
}

/* One number for all views, or one a view; *n 0: the key is absent. */
static fbp_status load_list(const struct fbp_scan_file *f, const char *key, double **out, size_t *n)
{
    *n = 0;
    if (!fbp_json_has(&f->top, key))
        return FBP_OK;
    FBP_TRY(load_rows(f, key, 1, "one number a view", out, n));
    return *n == 1 ? FBP_OK : check_count(f, key, *n);
}

/* Magnitudes beside "directions": into lengths. */
static fbp_status read_magnitudes(const struct fbp_scan_file *f, double *lengths)
{
    double *list = NULL;
    size_t n = 0;
    fbp_status st;

    if (!fbp_json_has(&f->top, "directions"))
        return FBP_OK;
    for (size_t k = 0; k < f->scan->n_views; k++)
        lengths[k] = 1;
    FBP_TRY_GOTO(load_list(f, "gradients", &list, &n));
    for (size_t k = 0; n > 0 && k < f->scan->n_views; k++) {
        lengths[k] = list[n == 1 ? 0 : k];
        if (!(lengths[k] > 0)) {
            st = fbp_fail(FBP_ERR_INVALID,
                          "%s: gradients[%zu]: found %g, expected a magnitude above 0", f->top.file,
                          k, lengths[k]);
            goto fail;
        }
    }
fail:
    free(list);
    return st;
}

/* Distance of samples a view: of the strongest gradient it is spacing_mm. */
static fbp_status read_spacing(const struct fbp_scan_file *f, double *lengths)
{
    double *list = NULL, greatest = 0;
    size_t n = 0;
    fbp_status st;

    FBP_TRY_GOTO(load_list(f, "spacing_mm", &list, &n));
    if (n == 0) {
        st = fbp_json_missing(&f->top, "spacing_mm", "give the distance of samples (mm)");
        goto fail;
    }
    for (size_t k = 0; k < f->scan->n_views; k++)
        greatest = fmax(greatest, lengths[k]);
    for (size_t k = 0; k < f->scan->n_views; k++) {
        lengths[k] = list[n == 1 ? 0 : k] * (greatest / lengths[k]);
        if (!fbp_in_range(&fbp_range_pitch, lengths[k])) {
            st = fbp_fail(FBP_ERR_INVALID,
                          "%s: spacing_mm: samples of view %zu are %g mm apart, "
                          "expected %s",
                          f->top.file, k, lengths[k], fbp_range_pitch.expected);
            goto fail;
        }
    }
fail:
    free(list);
    return st;
}

/* The same where rows are resampled, or transformed: places (mm, of the strongest gradient), or
 * frequencies over the gradient (G/cm).  *first: of sample 0, in samples. */
static fbp_status read_axis(const struct fbp_scan_file *f, double *direction, double *lengths,
                            double *first)
{
    const struct fbp_preparation *p = f->scan->preparation;
    struct fbp_axis axis = {.n = f->scan->panel.n_columns, .step = p->dwell_us};
    double greatest = 0;

    if (fbp_json_has(&f->top, "spacing_mm"))
        return fbp_fail(FBP_ERR_INVALID, "%s: spacing_mm: it follows from prepare.%s: remove it",
                        f->top.file, p->fft ? "dwell_us and the gradients" : "resample");
    if (p->fft && !fbp_json_has(&f->top, "gradients"))
        return fbp_json_missing(&f->top, "gradients",
                                "an FFT gives frequencies, which are places by the gradients "
                                "(G/cm): give them");
    FBP_TRY(fbp_preparation_axis(f->top.file, p, &axis));
    f->scan->panel.n_columns = axis.n;
    *first = axis.first / axis.step;
    for (size_t k = 0; k < f->scan->n_views; k++)
        greatest = fmax(greatest, lengths[k]);
    for (size_t i = 0; axis.step < 0 && i < 3 * f->scan->n_views; i++)
        direction[i] = -direction[i];
    for (size_t k = 0; k < f->scan->n_views; k++) {
        lengths[k] = fabs(axis.step) * (p->fft ? 10 / FBP_MHZ_PER_GAUSS : greatest) / lengths[k];
        if (!fbp_in_range(&fbp_range_pitch, lengths[k]))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: prepare: samples of view %zu are %g mm apart, expected %s",
                            f->top.file, k, lengths[k], fbp_range_pitch.expected);
    }
    return FBP_OK;
}

bool fbp_scan_is_eprit(const struct fbp_scan_file *f)
{
    const cJSON *grid = cJSON_GetObjectItemCaseSensitive(f->top.object, "grid");

    return cJSON_IsString(grid) && strcmp(grid->valuestring, grids[1]) == 0;
}

/* Where sample 0 lies: symmetric about 0, or as eprit has it, 0 at sample S/2. */
static fbp_status place_samples(const struct fbp_scan_file *f, const double *direction,
                                const double *spacing, const double *moved)
{
    const double samples = (double)f->scan->panel.n_columns;
    double *first = NULL;
    size_t n = 0, grid = 0;
    fbp_status st;

    FBP_TRY(fbp_json_choice(&f->top, "grid", grids, N_OF(grids), &grid));
    FBP_TRY_GOTO(load_list(f, "first_mm", &first, &n));
    for (size_t k = 0; k < f->scan->n_views; k++) {
        const double usual =
            (moved ? *moved : -(grid == 1 ? samples : samples - 1) / 2) * spacing[k];
        fbp_plane_view(direction + 3 * k, spacing[k], n ? first[n == 1 ? 0 : k] : usual,
                       f->scan->panel.n_columns, &f->scan->views[k]);
    }
fail:
    free(first);
    return st;
}

/* A word, a list or a file. */
fbp_status fbp_scan_read_plane_weights(const struct fbp_scan_file *f)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(f->top.object, "weights");
    struct fbp_scan *scan = f->scan;
    size_t n = 0;

    for (size_t i = 0; cJSON_IsString(value) && i < FBP_QUADRATURE_GIVEN; i++)
        if (strcmp(value->valuestring, fbp_quadrature_name(i)) == 0) {
            scan->quadrature = (enum fbp_quadrature)i;
            return FBP_OK;
        }
    if (!value)
        return FBP_OK;
    FBP_TRY(load_rows(f, "weights", 1, "one solid angle a view", &scan->plane_weights, &n));
    scan->quadrature = FBP_QUADRATURE_GIVEN;
    return check_count(f, "weights", n);
}

/* Rows of a view are frames, as many as the file may say.  A table [view][sample] is one picture
 * for other programs. */
static fbp_status check_rows(const struct fbp_scan_file *f)
{
    const struct fbp_scan *scan = f->scan;
    double frames = 0;
    size_t found = 0;

    FBP_TRY(fbp_json_numbers(&f->top, "frames", &fbp_range_side, 1, 1, &frames, &found));
    if (found > 0 && (size_t)frames != scan->panel.n_rows)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: frames: found %zu, but %s has %zu: as many as a view has rows",
                        f->top.file, (size_t)frames,
                        scan->projections ? scan->projections : "detector", scan->panel.n_rows);

    if (scan->panel.n_rows == 1 || scan->n_views > 1)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: projections: %s is one picture of %zu x %zu samples: rows of a view of "
                    "plane integrals are frames (delays): if they are the views of one frame "
                    "write \"%s?sinogram\"",
                    f->top.file, scan->projections ? scan->projections : "detector",
                    scan->panel.n_rows, scan->panel.n_columns,
                    scan->projections ? scan->projections : "FILE");
}

fbp_status fbp_scan_read_planes(const struct fbp_scan_file *f)
{
    double *direction = NULL, *lengths = NULL, first = 0;
    size_t n = 0;
    fbp_status st;

    FBP_TRY(refuse_lines(f));
    FBP_TRY(check_rows(f));
    FBP_TRY(fbp_scan_read_preparation(f));
    const bool moves = fbp_preparation_moves(f->scan->preparation);
    FBP_TRY_GOTO(load_directions(f, &direction, &n));
    FBP_TRY_GOTO(
        check_count(f, fbp_json_has(&f->top, "directions") ? "directions" : "gradients", n));
    FBP_TRY_GOTO(fbp_calloc((void **)&lengths, n, sizeof *lengths, "gradients"));
    FBP_TRY_GOTO(normalise(f, direction, lengths));
    FBP_TRY_GOTO(read_magnitudes(f, lengths));
    FBP_TRY_GOTO(moves ? read_axis(f, direction, lengths, &first) : read_spacing(f, lengths));
    FBP_TRY_GOTO(place_samples(f, direction, lengths, moves ? &first : NULL));
    FBP_TRY_GOTO(fbp_scan_read_plane_weights(f));
fail:
    free(direction);
    free(lengths);
    return st;
}
