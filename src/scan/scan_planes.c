/* Reads plane integrals (EPR) from a scan file (fbp_scan_read_planes()): directions, positions of
 * samples, weights, and "prepare", the processing of stored rows to plane integrals.
 * Used by: scan_read.c, scan_views.c. */
#include "geometry/directions.h"
#include "scan/scan_file.h"

#include "base/math.h"
#include "geometry/kind.h"

#include <string.h>

/* Greatest deviation from 1 of a unit vector's length; files may have few digits. */
static const double UNIT = 1e-3;

fbp_status fbp_scan_load_rows(const struct fbp_scan_file *f, const struct fbp_json *o,
                              const char *key, size_t width, const char *what, double **out,
                              size_t *n)
{
    const char *text = NULL;
    char *path = NULL;

    if (!cJSON_IsString(fbp_json_get(o, key)))
        return width == 1 ? fbp_json_list(o, key, &fbp_range_finite, out, n)
                          : fbp_json_table(o, key, width, out, n);
    FBP_TRY(fbp_json_text(o, key, &text));
    FBP_TRY(fbp_scan_path(&path, f->top.file, "%s", text));
    fbp_status st = width == 12 ? fbp_matrices_load(path, out, n)
                                : fbp_number_table_load(path, width, what, out, n);
    if (st == FBP_OK)
        st = fbp_scan_add_file(f->scan, path);
    free(path);
    return fbp_json_context(o, key, st);
}

/* Read one number for all views, or one per view; *n 0: the key is absent. */
static fbp_status load_list(const struct fbp_scan_file *f, const char *key, double **out, size_t *n)
{
    *n = 0;
    if (!fbp_json_get(&f->top, key))
        return FBP_OK;
    FBP_TRY(fbp_scan_load_rows(f, &f->top, key, 1, "one number per view", out, n));
    return *n == 1 ? FBP_OK : fbp_scan_check_count(f, key, *n);
}

/* Preparation. */

/* Set scan->preparation from the scan file and from the caller: each of the caller's steps replaces
 * the same step of the file.  It remains NULL if the file has no "prepare" and the caller gives no
 * steps. */
static fbp_status read_preparation(const struct fbp_scan_file *f)
{
    static const char *const keys[] = {"baseline", "baseline_samples", "resample",
                                       "fft",      "zero_sample",      "dwell_us",
                                       "phase",    "profile",          "profile_threshold"};
    struct fbp_preparation *p = NULL, *own;
    const char *text = NULL;
    double order = 0, samples[4] = {0}, fft = 0;
    size_t n = 0;
    struct fbp_json o;

    FBP_TRY(fbp_json_child(&f->top, "prepare", "prepare.", keys, N_OF(keys), &o));
    if (!o.object && !f->preparation)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "a preparation"));
    p->struct_size = sizeof *p;
    p->n_samples = f->scan->panel.n_columns;
    f->scan->preparation = p; /* scan->preparation is freed with the scan, also after a failure */
    FBP_TRY(fbp_json_numbers(&o, "baseline", &fbp_range_finite, 1, 1, &order, &n));
    if (n == 1 && !(order >= 0 && order <= 1 && (order <= 0 || order >= 1)))
        return fbp_json_wrong(&o, "baseline", "0 (a constant) or 1 (a line)");
    if (n == 1)
        p->baseline_terms = (size_t)order + 1;
    FBP_TRY(fbp_json_numbers(&o, "baseline_samples", &fbp_range_finite, 2, 4, samples, &n));
    for (size_t i = 0; i < n; i++) {
        if (n == 3 || !(samples[i] >= 0 && samples[i] <= FBP_SIDE_MAX))
            return fbp_json_wrong(&o, "baseline_samples",
                                  "[first, end], or [first, end, first, end], counted from 0");
        p->baseline_samples[i / 2][i % 2] = (size_t)samples[i];
    }

    FBP_TRY(fbp_json_numbers(&o, "fft", &fbp_range_side, 1, 1, &fft, &n));
    if (n == 1)
        p->fft = (size_t)fft;
    FBP_TRY(fbp_json_numbers(&o, "zero_sample", &fbp_range_finite, 1, 1, &p->zero_sample, &n));
    FBP_TRY(fbp_json_numbers(&o, "dwell_us", &fbp_range_finite, 1, 1, &p->dwell_us, &n));

    const cJSON *phase = fbp_json_get(&o, "phase");
    if (cJSON_IsString(phase)) {
        const bool all = strcmp(phase->valuestring, "all") == 0;
        if (!all && strcmp(phase->valuestring, "view") != 0)
            return fbp_json_wrong(&o, "phase", "\"all\", \"view\" or degrees");
        p->phase = all ? FBP_PHASE_ALL : FBP_PHASE_VIEW;
    } else if (phase) {
        p->phase = FBP_PHASE_GIVEN;
        FBP_TRY(fbp_json_numbers(&o, "phase", &fbp_range_finite, 1, 1, &p->phase_deg, &n));
    }

    FBP_TRY(fbp_json_text(&o, "profile", &text));
    if (text)
        FBP_TRY(fbp_scan_path(&p->profile, f->top.file, "%s", text));
    FBP_TRY(fbp_json_numbers(&o, "profile_threshold", &fbp_range_finite, 1, 1,
                             &p->profile_threshold, &n));

    if (fbp_json_get(&o, "resample")) { /* positions of samples */
        FBP_TRY(fbp_scan_load_rows(f, &o, "resample", 1, "one number per sample", &p->places, &n));
        p->resample = 1;
        if (n != p->n_samples)
            return FBP_INVALID("%s: prepare.resample: found %zu positions, but rows have %zu "
                               "samples; give one position per sample",
                               f->top.file, n, p->n_samples);
    }

    FBP_TRY(fbp_preparation_copy(&own, f->preparation));
    if (own) {
        if (own->baseline_terms) {
            p->baseline_terms = own->baseline_terms;
            memcpy(p->baseline_samples, own->baseline_samples, sizeof p->baseline_samples);
        }
        if (own->fft) {
            p->fft = own->fft;
            p->zero_sample = own->zero_sample;
            p->dwell_us = own->dwell_us > 0 ? own->dwell_us : p->dwell_us;
        }
        if (own->phase) {
            p->phase = own->phase;
            p->phase_deg = own->phase_deg;
        }
        if (own->profile) {
            free(p->profile);
            p->profile = own->profile;
            own->profile = NULL;
            p->profile_threshold = own->profile_threshold;
        }
        p->resample |= own->resample;
        fbp_preparation_free(own);
    }
    if (p->resample && !p->places)
        return FBP_INVALID("%s: prepare: resample: the file does not contain the sample positions; "
                           "add \"prepare\": {\"resample\": positions in mm, as a list or a file}",
                           f->top.file);
    return fbp_preparation_check(f->top.file, p, p->n_samples);
}

/* Directions. */

/* Read a named set of directions: {"set": "solid-angle", "n": 18, "order": "msps", "pole": "z"} */
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

/* Read unit vectors from "directions" (a named set, a list or a file), or else gradient vectors of
 * any magnitude from "gradients". */
static fbp_status load_directions(const struct fbp_scan_file *f, double **out, size_t *n)
{
    const cJSON *directions = fbp_json_get(&f->top, "directions");
    struct fbp_directions set;

    if (cJSON_IsObject(directions)) {
        FBP_TRY(read_set(f, &set));
        FBP_TRY(fbp_error_context(f->top.file, fbp_directions_make(&set, NULL, n)));
        /* Check the number before allocating memory: a damaged file may request far too many. */
        if (f->scan->n_views > 0)
            FBP_TRY(fbp_scan_check_count(f, "directions", *n));
        FBP_TRY(fbp_calloc((void **)out, *n, 3 * sizeof **out, "directions"));
        return fbp_error_context(f->top.file,
                                 fbp_directions_make(&set, (double(*)[3])(void *)*out, NULL));
    }
    if (directions)
        return fbp_scan_load_rows(f, &f->top, "directions", 3, "3 numbers per direction", out, n);
    if (fbp_json_get(&f->top, "gradients"))
        return fbp_scan_load_rows(f, &f->top, "gradients", 3, "3 numbers per gradient", out, n);
    return fbp_json_missing(&f->top, "directions",
                            "give a list of unit vectors, a file of them, or a set such as "
                            "{\"set\": \"solid-angle\", \"n\": 18}");
}

fbp_status fbp_scan_count_planes(const struct fbp_scan_file *f, size_t *n)
{
    struct fbp_directions set;
    double *list = NULL;

    if (cJSON_IsObject(fbp_json_get(&f->top, "directions"))) {
        FBP_TRY(read_set(f, &set));
        return fbp_error_context(f->top.file, fbp_directions_make(&set, NULL, n));
    }
    const fbp_status st = load_directions(f, &list, n);
    free(list);
    return st;
}

/* Normalise the vectors to directions, and set lengths[k] to the magnitude of the gradient of view
 * k, or to 1 if the file contains no gradients. */
static fbp_status read_magnitudes(const struct fbp_scan_file *f, double *vectors, double *lengths)
{
    const bool given = fbp_json_get(&f->top, "directions");
    /* with a reference spectrum, samples are the steps of a field sweep: positions along the
     * gradient decrease from sample to sample, so directions are reversed */
    const bool against = !given && fbp_json_get(&f->top, "reference");
    double *list = NULL;
    size_t n = 0;
    fbp_status st = FBP_OK;

    for (size_t k = 0; k < f->scan->n_views; k++) {
        const double length = fbp_normalise(vectors + 3 * k);
        if (given && !(fabs(length - 1) <= UNIT))
            return FBP_INVALID("%s: directions[%zu]: found a vector of length %.6g, expected 1; "
                               "give unit vectors, or gradient vectors as \"gradients\"",
                               f->top.file, k, length);
        if (!(length > 0))
            return FBP_INVALID("%s: gradients[%zu]: found a gradient of 0, which has no direction; "
                               "remove this view",
                               f->top.file, k);
        lengths[k] = given ? 1 : length;
        for (size_t i = 3 * k; against && i < 3 * k + 3; i++)
            vectors[i] = -vectors[i];
    }
    if (given)
        FBP_TRY_GOTO(load_list(f, "gradients", &list, &n));
    for (size_t k = 0; n > 0 && k < f->scan->n_views; k++) {
        lengths[k] = list[n == 1 ? 0 : k];
        if (!(lengths[k] > 0))
            FBP_TRY_GOTO(FBP_INVALID("%s: gradients[%zu]: found %g, expected a magnitude above 0",
                                     f->top.file, k, lengths[k]));
    }
fail:
    free(list);
    return st;
}

/* Replace the gradient magnitudes in lengths by distances of samples [mm].  spacing_mm is the
 * distance at the strongest gradient.  If rows are resampled or transformed (moves), the distance
 * comes from the prepared axis instead: positions [mm] at the strongest gradient, or frequencies,
 * divided by the gradient [G/cm]; *first is then the position of sample 0, in samples. */
static fbp_status read_spacing(const struct fbp_scan_file *f, bool moves, double *direction,
                               double *lengths, double *first)
{
    const struct fbp_preparation *p = f->scan->preparation;
    const size_t n_views = f->scan->n_views;
    double *list = NULL, greatest = 0;
    struct fbp_axis axis = {.n = f->scan->panel.n_columns};
    size_t n = 0;
    fbp_status st = FBP_OK;

    if (moves) {
        axis.step = p->dwell_us;
        if (fbp_json_get(&f->top, "spacing_mm"))
            return FBP_INVALID("%s: spacing_mm: follows from prepare.%s; remove it", f->top.file,
                               p->fft ? "dwell_us and the gradients" : "resample");
        if (p->fft && !fbp_json_get(&f->top, "gradients"))
            return fbp_json_missing(&f->top, "gradients",
                                    "an FFT gives frequencies, and positions follow from them by "
                                    "the gradients (G/cm), so give the gradients");
        FBP_TRY(fbp_preparation_axis(f->top.file, p, &axis));
        f->scan->panel.n_columns = axis.n;
        *first = axis.first / axis.step;
        for (size_t i = 0; axis.step < 0 && i < 3 * n_views; i++)
            direction[i] = -direction[i];
    } else {
        FBP_TRY_GOTO(load_list(f, "spacing_mm", &list, &n));
        if (n == 0)
            FBP_TRY_GOTO(
                fbp_json_missing(&f->top, "spacing_mm", "give the distance between samples (mm)"));
    }
    for (size_t k = 0; k < n_views; k++)
        greatest = fmax(greatest, lengths[k]);
    for (size_t k = 0; k < n_views; k++) {
        if (moves)
            lengths[k] =
                fabs(axis.step) * (p->fft ? 10 / FBP_MHZ_PER_GAUSS : greatest) / lengths[k];
        else
            lengths[k] = list[n == 1 ? 0 : k] * (greatest / lengths[k]);
        if (!fbp_in_range(&fbp_range_pitch, lengths[k]))
            FBP_TRY_GOTO(FBP_INVALID("%s: %s: samples of view %zu are %g mm apart, expected %s",
                                     f->top.file, moves ? "prepare" : "spacing_mm", k, lengths[k],
                                     fbp_range_pitch.expected));
    }
fail:
    free(list);
    return st;
}

/* Read "weights" of directions: the name of a method, or solid angles as a list or a file. */
fbp_status fbp_scan_read_plane_weights(const struct fbp_scan_file *f)
{
    const cJSON *value = fbp_json_get(&f->top, "weights");
    struct fbp_scan *scan = f->scan;
    size_t n = 0;

    for (size_t i = 0; cJSON_IsString(value) && i < FBP_QUADRATURE_GIVEN; i++)
        if (strcmp(value->valuestring, fbp_quadrature_name(i)) == 0) {
            scan->quadrature = (enum fbp_quadrature)i;
            return FBP_OK;
        }
    if (!value)
        return FBP_OK;
    FBP_TRY(fbp_scan_load_rows(f, &f->top, "weights", 1, "one solid angle per view",
                               &scan->plane_weights, &n));
    scan->quadrature = FBP_QUADRATURE_GIVEN;
    return fbp_scan_check_count(f, "weights", n);
}

fbp_status fbp_scan_read_planes(const struct fbp_scan_file *f)
{
    static const char *const grids[] = {"symmetric", "eprit"};
    const struct fbp_scan *scan = f->scan;
    const char *name = scan->projections ? scan->projections : "detector";
    double *direction = NULL, *lengths = NULL, *first = NULL, moved = 0, frames = 0;
    size_t n = 0, n_first = 0, grid = 0;
    fbp_status st;

    /* Refuse keys of line integrals, and a number of rows that differs from "frames". */
    if (f->pitch_mm[0] > 0)
        return FBP_INVALID(
            "%s: plane integrals have \"spacing_mm\" instead of a detector; omit --pitch",
            f->top.file);
    FBP_TRY(fbp_scan_refuse_keys(&f->top,
                                 "source_to_detector_mm source_to_axis_mm angles_deg "
                                 "angular_weights matrices matrix_origin geometry geometry_format",
                                 "plane integrals have \"directions\" instead"));
    FBP_TRY(fbp_scan_refuse_keys(&f->detector, "pitch_mm offset_mm tilt_deg skew_deg",
                                 "plane integrals have \"spacing_mm\" instead"));
    FBP_TRY(fbp_json_numbers(&f->top, "frames", &fbp_range_side, 1, 1, &frames, &n));
    if (n > 0 && (size_t)frames != scan->panel.n_rows)
        return FBP_INVALID(
            "%s: frames: found %zu, but the views of %s have %zu rows; give one frame per row",
            f->top.file, (size_t)frames, name, scan->panel.n_rows);
    if (scan->panel.n_rows > 1 && scan->n_views <= 1)
        /* Refuse one view of several rows: other programs store all views as one image,
         * [view][sample]. */
        return FBP_INVALID(
            "%s: projections: %s is one image of %zu x %zu samples, whose rows would be frames "
            "(delays) of one view; if the rows are views, write \"%s?sinogram\"",
            f->top.file, name, scan->panel.n_rows, scan->panel.n_columns,
            scan->projections ? scan->projections : "FILE");

    FBP_TRY(read_preparation(f));
    const bool moves = scan->preparation && (scan->preparation->fft || scan->preparation->places);
    FBP_TRY_GOTO(load_directions(f, &direction, &n));
    FBP_TRY_GOTO(fbp_scan_check_count(
        f, fbp_json_get(&f->top, "directions") ? "directions" : "gradients", n));
    FBP_TRY_GOTO(fbp_calloc((void **)&lengths, n, sizeof *lengths, "gradients"));
    FBP_TRY_GOTO(read_magnitudes(f, direction, lengths));
    FBP_TRY_GOTO(read_spacing(f, moves, direction, lengths, &moved));

    /* Set the position of sample 0 of each view: "first_mm"; if the file lacks it, the position
     * that an FFT or resampling gives; without these, samples are centred on 0 or, if "grid" is
     * "eprit", sample S/2 of S is at 0. */
    FBP_TRY_GOTO(fbp_json_choice(&f->top, "grid", grids, N_OF(grids), &grid));
    FBP_TRY_GOTO(load_list(f, "first_mm", &first, &n_first));
    const double samples = (double)scan->panel.n_columns;
    for (size_t k = 0; k < n; k++) {
        const double usual =
            (moves ? moved : -(grid == 1 ? samples : samples - 1) / 2) * lengths[k];
        fbp_plane_view(direction + 3 * k, lengths[k], n_first ? first[n_first == 1 ? 0 : k] : usual,
                       f->scan->panel.n_columns, &f->scan->views[k]);
    }
    FBP_TRY_GOTO(fbp_scan_read_plane_weights(f));
fail:
    free(direction);
    free(lengths);
    free(first);
    return st;
}
