/* From the keys of a scan file to a scan: paths, layout, sizes; views and volume have files of
 * their own. */
#include "array/array.h"
#include "array/stack_names.h"
#include "base/base.h"
#include "geometry/kind.h"
#include "scan/scan_parts.h"

#include "geometry/ranges.h"

#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

static const char *const top_keys[] = {
    "fbp_scan",
    "kind",
    "projections",
    "raw",
    "detector",
    "source_to_detector_mm",
    "source_to_axis_mm",
    "angles_deg",
    "angular_weights",
    "matrices",
    "matrix_origin",
    "views",
    "geometry",
    "geometry_format",
    "dark",
    "flat",
    "i0",
    "bad_pixels",
    "volume",
    "directions",
    "spacing_mm",
    "first_mm",
    "frames",
    "gradients",
    "weights",
    "grid",
    "reference",
    "prepare",
    "filtered",
    "beam_hardening",
    "rings",
    "paganin",
    "flip",
    "assumed",
};
static const char *const detector_keys[] = {"columns",   "rows",     "pitch_mm", "offset_mm",
                                            "row_order", "tilt_deg", "skew_deg"};
static const char *const raw_keys[] = {"type", "shape", "big_endian", "header_bytes"};
static const char *const row_orders[] = {"bottom-up", "top-down"};
static const char *const weightings[] = {"auto", "equal"};
static const char *const types[] = {"uint8",  "int8",  "uint16",  "int16",
                                    "uint32", "int32", "float32", "float64"};

/* Version and kind come first: they explain why other keys are strange. */
static fbp_status read_kind(const struct fbp_json *top, struct fbp_scan *scan)
{
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(top->object, "kind");
    enum fbp_kind kinds[FBP_MOST_KINDS];
    const char *names[FBP_MOST_KINDS];
    const size_t n_kinds = fbp_kinds(kinds, names);
    size_t index = 0, n = 0;
    double version = 0;

    if (cJSON_IsString(kind))
        FBP_TRY(fbp_check_kind_name(top->file, kind->valuestring));
    FBP_TRY(fbp_json_keys(top, top_keys, N_OF(top_keys)));
    FBP_TRY(fbp_json_numbers(top, "fbp_scan", &fbp_range_finite, 1, 1, &version, &n));
    if (n == 0)
        return fbp_json_missing(top, "fbp_scan", "a scan file says \"fbp_scan\": 1");
    if (!(version >= 1 && version <= 1))
        return fbp_json_wrong(top, "fbp_scan", "1, the only version there is");
    FBP_TRY(fbp_json_choice(top, "kind", names, n_kinds, &index));
    scan->kind = kinds[index];
    return FBP_OK;
}

/* A path usable from the current directory. */
static fbp_status read_path(const struct fbp_json *top, const char *key, char **out)
{
    const char *text = NULL;

    FBP_TRY(fbp_json_text(top, key, &text));
    if (!text)
        return FBP_OK;
    *out = fbp_path_join(top->file, text);
    return *out ? FBP_OK : fbp_fail_nomem(strlen(text), key);
}

static fbp_status read_raw(const struct fbp_json *top, struct fbp_raw *out)
{
    size_t index = N_OF(types), n_shape = 0, n = 0;
    double shape[3], header = 0;
    struct fbp_json raw;

    FBP_TRY(fbp_json_child(top, "raw", "raw.", raw_keys, N_OF(raw_keys), &raw));
    if (!raw.object)
        return FBP_OK;
    FBP_TRY(fbp_json_choice(&raw, "type", types, N_OF(types), &index));
    if (index == N_OF(types))
        return fbp_json_missing(&raw, "type", "a headerless file needs one, such as \"uint16\"");
    FBP_TRY(fbp_json_numbers(&raw, "shape", &fbp_range_side, 3, 3, shape, &n_shape));
    if (n_shape == 0)
        return fbp_json_missing(&raw, "shape", "give [views, rows, columns]");
    FBP_TRY(fbp_json_flag(&raw, "big_endian", &out->big_endian));
    FBP_TRY(fbp_json_numbers(&raw, "header_bytes", &fbp_range_header, 1, 1, &header, &n));
    out->type = fbp_type_from_name(types[index]);
    out->header_bytes = (uint64_t)header;
    for (int i = 0; i < 3; i++)
        out->n[i] = (size_t)shape[2 - i];
    return FBP_OK;
}

static fbp_status read_choices(const struct fbp_scan_file *f)
{
    struct fbp_scan *scan = f->scan;
    size_t order = N_OF(row_orders), weighting = 0, n = 0;

    FBP_TRY(fbp_json_choice(&f->detector, "row_order", row_orders, N_OF(row_orders), &order));
    if (order < N_OF(row_orders))
        scan->row_order = order == 0 ? FBP_ROWS_BOTTOM_UP : FBP_ROWS_TOP_DOWN;
    FBP_TRY(fbp_json_choice(&f->top, "angular_weights", weightings, N_OF(weightings), &weighting));
    scan->angular_weights = weighting == 0 ? FBP_ANGULAR_AUTO : FBP_ANGULAR_EQUAL;
    FBP_TRY(fbp_json_flag(&f->top, "filtered", &scan->filtered));
    return fbp_json_numbers(&f->top, "i0", &fbp_range_i0, 1, 1, &scan->i0, &n);
}

/* Ways in which the scan is to be read: "u", or a list such as ["u", "direction"]. */
static fbp_status apply_flips(const struct fbp_scan_file *f)
{
    static const char *const names[] = {"u", "v", "direction"};
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(f->top.object, "flip");
    const cJSON *item = cJSON_IsArray(value) ? value->child : value;
    unsigned flips = 0;

    for (; item; item = cJSON_IsArray(value) ? item->next : NULL) {
        size_t i = 0;
        while (i < N_OF(names) &&
               !(cJSON_IsString(item) && strcmp(item->valuestring, names[i]) == 0))
            i++;
        if (i == N_OF(names))
            return fbp_json_wrong(&f->top, "flip", "\"u\", \"v\", \"direction\" or a list of them");
        flips |= 1u << i; /* enum fbp_flip */
    }
    if (fbp_scan_has_planes(f->scan) && (flips & ~(unsigned)FBP_FLIP_U))
        return fbp_json_wrong(&f->top, "flip",
                              "\"u\": views of plane integrals have no rows and do "
                              "not turn");
    fbp_views_flip(f->scan->views, f->scan->n_views, flips);
    return FBP_OK;
}

/* Columns, rows, slices of an array, and what else its header says; errors also name the key that
 * led to it. */
static fbp_status array_size(const struct fbp_json *top, const char *key, const char *path,
                             const struct fbp_raw *raw, bool growing, struct fbp_array_info *info)
{
    const enum fbp_source_use use = growing ? FBP_SOURCE_GROWING : FBP_SOURCE_WHOLE;
    fbp_source *source = NULL;

    FBP_TRY(fbp_json_because(top, key, fbp_source_open_as(&source, path, raw, use)));
    *info = *fbp_source_info(source);
    fbp_source_close(&source);
    if (info->frames <= 1)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: %s: %s has four dimensions, %zu volumes: views have three, "
                    "[view][row][column]: reshape it",
                    top->file, key, path, info->frames);
}

/* detector.columns and rows may be left out, or must be what the array holds. */
static fbp_status check_side(const struct fbp_scan_file *f, const char *key, size_t held)
{
    double given = 0;
    size_t n = 0;

    FBP_TRY(fbp_json_numbers(&f->detector, key, &fbp_range_side, 1, 1, &given, &n));
    if (n == 1 && (size_t)given != held)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: detector.%s: found %.0f, but %s has %zu %s: correct one of them",
                        f->top.file, key, given, f->scan->projections, held, key);
    return FBP_OK;
}

/* Of a geometry without projections: the detector says its size, and a list has the views. */
static fbp_status sizes_of_geometry(const struct fbp_scan_file *f, size_t n[3])
{
    static const char *const sides[] = {"columns", "rows"};
    static const char *const lists[] = {"views", "matrices", "angles_deg"};

    for (int i = 0; i < 2; i++) {
        double given = 0;
        size_t found = 0;
        FBP_TRY(fbp_json_numbers(&f->detector, sides[i], &fbp_range_side, 1, 1, &given, &found));
        if (found == 0)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: projections and detector.%s are missing: give one of them",
                            f->top.file, sides[i]);
        n[i] = (size_t)given;
    }
    for (size_t i = 0; i < N_OF(lists); i++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->top.object, lists[i]);
        if (cJSON_IsArray(list))
            n[2] = (size_t)cJSON_GetArraySize(list);
    }
    if (n[2] == 0 && fbp_scan_has_planes(f->scan))
        return fbp_scan_count_planes(f, &n[2]);
    if (n[2] == 0)
        return fbp_json_missing(&f->top, "projections",
                                "or give a list of \"views\", \"matrices\" or \"angles_deg\"");
    return FBP_OK;
}

static fbp_status read_geometry_sizes(struct fbp_scan_file *f)
{
    FBP_TRY(sizes_of_geometry(f, f->n));
    f->scan->panel = (struct fbp_panel){f->n[0], f->n[1]};
    f->scan->n_views = f->n[2];
    return FBP_OK;
}

static fbp_status read_sizes(struct fbp_scan_file *f)
{
    struct fbp_scan *scan = f->scan;

    FBP_TRY(read_path(&f->top, "projections", &scan->projections));
    if (!scan->projections && f->geometry_only)
        return read_geometry_sizes(f);
    if (!scan->projections)
        return fbp_json_missing(&f->top, "projections",
                                "name the array [view][row][column], relative to this file");
    FBP_TRY(
        array_size(&f->top, "projections", scan->projections, &scan->raw, f->growing, &f->info));
    memcpy(f->n, f->info.n, sizeof f->n);
    FBP_TRY(check_side(f, "columns", f->n[0]));
    FBP_TRY(check_side(f, "rows", f->n[1]));
    scan->panel = (struct fbp_panel){f->n[0], f->n[1]};
    scan->n_views = f->n[2];
    if (f->n[0] == 0 || f->n[1] == 0 || f->n[2] == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: projections: %s is empty", f->top.file,
                        scan->projections);
    return FBP_OK;
}

/* A headerless file, or the first of a pattern. */
static fbp_status check_there(const struct fbp_scan_file *f, const char *key, const char *path)
{
    char *first = fbp_stack_count(path) ? fbp_stack_name(path, 0) : fbp_strdup(path);
    fbp_status st = first ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");

    if (first && access(first, R_OK) != 0)
        st = fbp_fail(FBP_ERR_IO, "%s: %s: %s: cannot open: %s", f->top.file, key, first,
                      strerror(errno));
    free(first);
    return st;
}

/* Dark, flat or bad pixels: images of the panel.  Headerless ones only have to be there. */
static fbp_status read_image(const struct fbp_scan_file *f, const char *key, char **out)
{
    struct fbp_array_info info;

    const cJSON *given = cJSON_GetObjectItemCaseSensitive(f->top.object, key);
    if (out == &f->scan->bad_pixels && cJSON_IsString(given) &&
        strcmp(given->valuestring, "auto") == 0) {
        f->scan->find_bad_pixels = true;
        return FBP_OK;
    }
    FBP_TRY(read_path(&f->top, key, out));
    if (!*out)
        return FBP_OK;
    if (f->scan->raw.type != FBP_TYPE_NONE)
        return check_there(f, key, *out);
    FBP_TRY(array_size(&f->top, key, *out, NULL, false, &info));
    if (info.n[0] != f->n[0] || info.n[1] != f->n[1])
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s: %s has %zu x %zu pixels, but %s has %zu x %zu: give images of the "
                        "same detector",
                        f->top.file, key, *out, info.n[0], info.n[1], f->scan->projections, f->n[0],
                        f->n[1]);
    return FBP_OK;
}

/* Facts that are no keys of a scan file would never be confirmed. */
static fbp_status check_fact(const struct fbp_scan_file *f, const char *key)
{
    static const char *const volume_keys[] = {"size", "voxel_mm", "centre_mm"};
    static const struct {
        const char *before, *const *keys;
        size_t n;
    } lists[] = {{"detector.", detector_keys, N_OF(detector_keys)},
                 {"raw.", raw_keys, N_OF(raw_keys)},
                 {"volume.", volume_keys, N_OF(volume_keys)},
                 {"", top_keys, N_OF(top_keys)}};
    size_t i = 0;

    while (strncmp(key, lists[i].before, strlen(lists[i].before)) != 0)
        i++;
    const char *rest = key + strlen(lists[i].before);
    for (size_t k = 0; k < lists[i].n; k++)
        if (strcmp(rest, lists[i].keys[k]) == 0)
            return FBP_OK;
    const char *near = fbp_nearest(rest, lists[i].keys, lists[i].n);
    return fbp_fail(FBP_ERR_INVALID, "%s: assumed: \"%.60s\" is no key of a scan file%s%s%s%s",
                    f->top.file, key, near ? ": did you mean \"" : "", near ? lists[i].before : "",
                    near ? near : "", near ? "\"?" : "");
}

static fbp_status read_assumed(struct fbp_scan_file *f)
{
    const size_t before = f->scan->n_assumed; /* of its geometry */

    FBP_TRY(fbp_scan_read_assumed(f));
    for (size_t i = before; i < f->scan->n_assumed; i++)
        FBP_TRY(check_fact(f, f->scan->assumed[i].key));
    if (f->pitch_mm[0] > 0)
        fbp_scan_settle(f->scan, "detector.pitch_mm");
    return FBP_OK;
}

fbp_status fbp_scan_read(struct fbp_scan_file *f)
{
    struct fbp_scan *scan = f->scan;

    if (!cJSON_IsObject(f->top.object))
        return fbp_fail(FBP_ERR_INVALID, "%s: expected an object in braces: is this a scan file?",
                        f->top.file);
    FBP_TRY(read_kind(&f->top, scan));
    FBP_TRY(fbp_json_child(&f->top, "detector", "detector.", detector_keys, N_OF(detector_keys),
                           &f->detector));
    FBP_TRY(read_raw(&f->top, &scan->raw));
    FBP_TRY(read_choices(f));
    FBP_TRY(read_sizes(f));
    FBP_TRY(fbp_scan_read_views(f));
    FBP_TRY(apply_flips(f));
    FBP_TRY(read_path(&f->top, "reference", &scan->reference)); /* the filter looks into it */
    FBP_TRY(fbp_scan_read_volume(f));
    FBP_TRY(read_image(f, "dark", &scan->dark));
    FBP_TRY(read_image(f, "flat", &scan->flat));
    FBP_TRY(read_image(f, "bad_pixels", &scan->bad_pixels));
    FBP_TRY(fbp_scan_read_corrections(f));
    FBP_TRY(read_assumed(f));
    return fbp_because(f->top.file, fbp_check_scan(scan));
}
