/* Reads a scan file (JSON; fbp_scan_read()): kind, layout, sizes, images, volume, corrections and
 * assumptions; scan_views.c and scan_planes.c read the views.
 * Used by: geometry_file.c. */
#include "array/file/bytes.h"
#include "scan/scan_file.h"

#include "array/array.h"
#include "array/names.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const top_keys[] = {
    "fbp_scan",
    "kind",
    "projections",
    "sinograms",
    "raw",
    "detector",
    "source_to_detector_mm",
    "source_to_axis_mm",
    "angles_deg",
    "angular_weights",
    "matrices",
    "matrix_origin",
    "views",
    "use_views",
    "skip",
    "geometry",
    "geometry_format",
    "dark",
    "flat",
    "i0",
    "dose",
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
    "zingers",
    "paganin",
    "flip",
    "assumed",
};
static const char *const detector_keys[] = {"columns",   "rows",     "pitch_mm", "offset_mm",
                                            "row_order", "tilt_deg", "skew_deg"};
static const char *const raw_keys[] = {"type", "shape", "big_endian", "header_bytes"};
static const char *const volume_keys[] = {"size", "voxel_mm", "centre_mm"};

/* Read the path at `key` of the scan file.  A relative path starts in the folder of the scan file;
 * *out is that folder and the path, joined. */
static fbp_status read_path(const struct fbp_json *top, const char *key, char **out)
{
    const char *text = NULL;

    FBP_TRY(fbp_json_text(top, key, &text));
    return text ? fbp_scan_path(out, top->file, "%s", text) : FBP_OK;
}

/* Read the header of an array, which must not have four dimensions; error messages name the key. */
static fbp_status array_size(const struct fbp_json *top, const char *key, const char *path,
                             const struct fbp_raw *raw, bool growing, struct fbp_array_info *info)
{
    const enum fbp_source_use use = growing ? FBP_SOURCE_GROWING : FBP_SOURCE_WHOLE;
    fbp_source *source = NULL;

    FBP_TRY(fbp_json_context(top, key, fbp_source_open_as(&source, path, raw, use)));
    *info = *fbp_source_info(source);
    fbp_source_close(&source);
    if (info->time_points <= 1)
        return FBP_OK;
    return FBP_INVALID("%s: %s: %s has four dimensions (%zu volumes), but views have three, "
                       "[view][row][column]; reshape it",
                       top->file, key, path, info->time_points);
}

/* Read the numbers of columns, rows and views from the projections.  A geometry file without
 * projections has the numbers of columns and rows in "detector", and one element per view in a list
 * ("views", "matrices", "angles_deg") or, for plane integrals, one direction per view. */
static fbp_status read_sizes(struct fbp_scan_file *f)
{
    static const char *const sides[] = {"columns", "rows"};
    static const char *const lists[] = {"views", "matrices", "angles_deg"};
    struct fbp_scan *scan = f->scan;

    FBP_TRY(read_path(&f->top, "projections", &scan->projections));
    if (!scan->projections && !f->geometry_only)
        return fbp_json_missing(&f->top, "projections",
                                "name the array [view][row][column], relative to this file");
    if (scan->projections) {
        FBP_TRY(array_size(&f->top, "projections", scan->projections, &scan->raw, f->growing,
                           &f->info));
        memcpy(f->n, f->info.n, sizeof f->n);
    }
    FBP_TRY(fbp_json_flag(&f->top, "sinograms", &scan->sinograms));
    if (scan->sinograms && !fbp_kind_has_lines(scan->kind))
        return fbp_json_wrong(&f->top, "sinograms", "false, because plane integrals have no rows");
    if (scan->sinograms) {
        f->n[1] = f->info.n[2];
        f->n[2] = f->info.n[1];
    }
    for (int i = 0; i < 2; i++) {
        double given = 0;
        size_t found = 0;
        FBP_TRY(fbp_json_numbers(&f->detector, sides[i], &fbp_range_side, 1, 1, &given, &found));
        if (scan->projections && found && (size_t)given != f->n[i])
            return FBP_INVALID(
                "%s: detector.%s: found %.0f, but %s has %zu %s; correct one of them", f->top.file,
                sides[i], given, scan->projections, f->n[i], sides[i]);
        if (!scan->projections && !found)
            return FBP_INVALID("%s: both projections and detector.%s are missing; give one of them",
                               f->top.file, sides[i]);
        if (!scan->projections)
            f->n[i] = (size_t)given;
    }
    for (size_t i = 0; !scan->projections && i < N_OF(lists); i++) {
        const cJSON *list = fbp_json_get(&f->top, lists[i]);
        if (cJSON_IsArray(list))
            f->n[2] = (size_t)cJSON_GetArraySize(list);
    }
    if (!scan->projections && f->n[2] == 0 && !fbp_kind_has_lines(scan->kind))
        FBP_TRY(fbp_scan_count_planes(f, &f->n[2]));
    else if (!scan->projections && f->n[2] == 0)
        return fbp_json_missing(&f->top, "projections",
                                "or give a list of \"views\", \"matrices\" or \"angles_deg\"");
    scan->panel = (struct fbp_panel){f->n[0], f->n[1]};
    scan->n_views = f->n[2];
    if (scan->projections && (f->n[0] == 0 || f->n[1] == 0 || f->n[2] == 0))
        return FBP_INVALID("%s: projections: %s is empty; name the right file", f->top.file,
                           scan->projections);
    return FBP_OK;
}

static fbp_status one_or_three(const struct fbp_json *o, const char *key,
                               const struct fbp_range *range, double out[3], size_t *n)
{
    FBP_TRY(fbp_json_numbers(o, key, range, 1, 3, out, n));
    if (*n == 2)
        return fbp_json_wrong(o, key, "one number, or three for x, y, z");
    if (*n == 1)
        out[1] = out[2] = out[0];
    return FBP_OK;
}

/* Read the grid of the volume; missing values are those of the default volume, the field of view.
 * If only the number or only the size of voxels is given, the default extent is kept.  If both are
 * given without a centre, the centre is the origin. */
static fbp_status read_volume(const struct fbp_scan_file *f)
{
    struct fbp_scan *scan = f->scan;
    struct fbp_grid *g = &scan->volume;
    double size[3] = {0}, voxel[3] = {0}, centre[3] = {0};
    size_t n_size = 0, n_voxel = 0, n_centre = 0;
    struct fbp_json o;

    FBP_TRY(fbp_json_child(&f->top, "volume", "volume.", volume_keys, N_OF(volume_keys), &o));
    FBP_TRY(one_or_three(&o, "size", &fbp_range_side, size, &n_size));
    FBP_TRY(one_or_three(&o, "voxel_mm", &fbp_range_pitch, voxel, &n_voxel));
    FBP_TRY(fbp_json_numbers(&o, "centre_mm", &fbp_range_position, 3, 3, centre, &n_centre));
    const cJSON *grid = fbp_json_get(&f->top, "grid");
    const bool eprit = cJSON_IsString(grid) && strcmp(grid->valuestring, "eprit") == 0;
    if (n_size + n_voxel + n_centre == 0 && !eprit)
        return FBP_OK;
    if (n_size == 1 && scan->panel.n_rows == 1 && fbp_kind_has_lines(scan->kind))
        size[2] = 1; /* a detector of one row measures one slice */
    FBP_TRY(fbp_grid_default(fbp_scan_views(scan), g));
    for (int i = 0; i < 3; i++) {
        const double extent = (double)g->n[i] * g->voxel_mm[i];
        double n = n_size ? size[i] : (double)g->n[i];
        if (n_voxel)
            g->voxel_mm[i] = voxel[i];
        if (n_size && !n_voxel)
            g->voxel_mm[i] = extent / n;
        if (n_voxel && !n_size)
            n = fmax(1, ceil(extent / g->voxel_mm[i] - 1e-9));
        if (!(n <= FBP_SIDE_MAX))
            return FBP_INVALID("%s: volume.voxel_mm: voxels of %g mm would give %g voxels along "
                               "%c; give larger voxels, or a size",
                               f->top.file, g->voxel_mm[i], n, "xyz"[i]);
        g->n[i] = (size_t)n;
    }
    for (int i = 0; i < 3; i++) {
        if (n_centre || (n_size && n_voxel))
            g->centre_mm[i] = centre[i];
        /* In eprit's grid, voxel m of N, from 0, is at (m + 1 - N/2) times the voxel size. */
        if (eprit && !n_centre)
            g->centre_mm[i] = g->voxel_mm[i] / 2;
    }
    return FBP_OK;
}

/* Read the path of an image of the panel: dark, flat or bad pixels.  The size of the image must be
 * that of the panel; a headerless file is only checked for permission to read. */
static fbp_status read_image(const struct fbp_scan_file *f, const char *key, char **out)
{
    const cJSON *given = fbp_json_get(&f->top, key);
    struct fbp_array_info info;

    if (out == &f->scan->bad_pixels && cJSON_IsString(given) &&
        strcmp(given->valuestring, "auto") == 0) {
        f->scan->find_bad_pixels = true;
        return FBP_OK;
    }
    FBP_TRY(read_path(&f->top, key, out));
    if (!*out)
        return FBP_OK;
    if (f->scan->raw.type != FBP_TYPE_NONE) {
        char *first = fbp_stack_count(*out) ? fbp_stack_name(*out, 0) : fbp_strdup(*out);
        fbp_status st = first ? FBP_OK : fbp_fail_nomem(strlen(*out), "a path");
        if (first && access(first, R_OK) != 0)
            st = fbp_fail(FBP_ERR_IO, "%s: %s: %s: cannot open: %s", f->top.file, key, first,
                          strerror(errno));
        free(first);
        return st;
    }
    FBP_TRY(array_size(&f->top, key, *out, NULL, false, &info));
    if (info.n[0] != f->n[0] || info.n[1] != f->n[1])
        return FBP_INVALID("%s: %s: %s has %zu x %zu pixels, but %s has %zu x %zu; give images of "
                           "the same detector",
                           f->top.file, key, *out, info.n[0], info.n[1], f->scan->projections,
                           f->n[0], f->n[1]);
    return FBP_OK;
}

/* Read "flat": a path, or a list of two, before and after the scan. */
static fbp_status read_flats(struct fbp_scan_file *f)
{
    const cJSON *flats = fbp_json_get(&f->top, "flat");
    const struct fbp_json top = f->top;
    fbp_status st = FBP_OK;

    if (!cJSON_IsArray(flats))
        return read_image(f, "flat", &f->scan->flat);
    if (cJSON_GetArraySize(flats) != 2)
        return fbp_json_wrong(&f->top, "flat", "a path, or two: flats before and after the scan");
    for (int i = 0; st == FBP_OK && i < 2; i++) {
        cJSON one = *cJSON_GetArrayItem(flats, i); /* the object {"flat": PATH} */
        cJSON object = {.type = cJSON_Object, .child = &one};
        char name[] = "flat";
        one.string = name;
        one.next = one.prev = NULL;
        f->top.object = &object;
        st = read_image(f, "flat", i == 0 ? &f->scan->flat : &f->scan->flat_after);
    }
    f->top = top;
    return st;
}

/* Read "i0" or "dose": one number, or one per view as a list or a file. */
static fbp_status read_beam(const struct fbp_scan_file *f, const char *key, double **out)
{
    size_t n = 0;

    FBP_TRY(fbp_scan_read_numbers(f, key, &fbp_range_i0, out, &n));
    if (n > 0 && out == &f->scan->i0s)
        f->scan->i0 = (*out)[0];
    if (n != 1 || out == &f->scan->doses)
        return n == 0 ? FBP_OK : fbp_scan_check_count(f, key, n);
    free(*out);
    *out = NULL;
    return FBP_OK;
}

static fbp_status read_corrections(const struct fbp_scan_file *f)
{
    static const char *const keys[] = {"delta_beta", "energy_kev", "distance_mm"};
    struct fbp_corrections c = {.struct_size = sizeof c};
    double *const to[] = {&c.paganin_delta_beta, &c.paganin_kev, &c.paganin_mm};
    const char *rings = NULL;
    struct fbp_json o;
    size_t n = 0, found;

    FBP_TRY(fbp_json_numbers(&f->top, "zingers", &fbp_range_finite, 1, 1, &c.zingers, &found));
    FBP_TRY(fbp_json_numbers(&f->top, "beam_hardening", &fbp_range_finite, 1, FBP_HARDENING_TERMS,
                             c.beam_hardening, &n));
    FBP_TRY(fbp_json_text(&f->top, "rings", &rings));
    if (rings)
        FBP_TRY(fbp_error_context(f->top.file, fbp_corrections_rings(&c, rings)));
    FBP_TRY(fbp_json_child(&f->top, "paganin", "paganin.", keys, N_OF(keys), &o));
    for (size_t i = 0; o.object && i < N_OF(keys); i++) {
        FBP_TRY(fbp_json_numbers(&o, keys[i], &fbp_range_finite, 1, 1, to[i], &found));
        if (found == 0 && i < 2)
            return fbp_json_missing(&o, keys[i],
                                    "give the material's delta / beta and the energy in keV");
    }
    if (n > 0 && fbp_corrections_terms(&c) == 0)
        return fbp_json_wrong(&f->top, "beam_hardening",
                              "coefficients of p, p^2 ..., the first above 0");
    return fbp_scan_correct(f->scan, &c);
}

/* Read "assumed": keys of guessed values, such as "detector.pitch_mm", each with the reason. */
static fbp_status read_assumed(const struct fbp_scan_file *f)
{
    static const struct {
        const char *before, *const *keys;
        size_t n;
    } lists[] = {{"detector.", detector_keys, N_OF(detector_keys)},
                 {"raw.", raw_keys, N_OF(raw_keys)},
                 {"volume.", volume_keys, N_OF(volume_keys)},
                 {"", top_keys, N_OF(top_keys)}};
    const size_t before = f->scan->n_assumed; /* assumptions of its geometry file */
    const cJSON *object = fbp_json_get(&f->top, "assumed"), *item;

    if (object && !cJSON_IsObject(object))
        return fbp_json_wrong(
            &f->top, "assumed",
            "an object of keys of this file, each with the reason of the assumption");
    cJSON_ArrayForEach(item, object)
    {
        const char *key = item->string, *dot = strchr(key, '.');
        char parent[32], value[64] = "";
        if (key[0] == '_' || strncmp(key, "//", 2) == 0)
            continue;
        if (!cJSON_IsString(item))
            return FBP_INVALID("%s: assumed.%.60s: expected text, the reason of the assumption",
                               f->top.file, key);

        /* Write the value of `key` to `value`, if it is a number or a string. */
        const cJSON *v = f->top.object;
        if (dot) {
            snprintf(parent, sizeof parent, "%.*s", (int)(dot - key), key);
            v = cJSON_GetObjectItemCaseSensitive(v, parent);
        }
        v = cJSON_GetObjectItemCaseSensitive(v, dot ? dot + 1 : key);
        if (!v)
            snprintf(value, sizeof value, "none");
        else if (cJSON_IsNumber(v))
            snprintf(value, sizeof value, "%.10g", v->valuedouble);
        else if (cJSON_IsString(v))
            snprintf(value, sizeof value, "\"%.40s\"", v->valuestring);
        FBP_TRY(
            fbp_scan_assume(f->scan, f->top.file, key, value[0] ? value : NULL, item->valuestring));
    }

    /* Refuse keys of assumptions that are not keys of scan files, such as misspelt ones. */
    for (size_t k = before; k < f->scan->n_assumed; k++) {
        const char *key = f->scan->assumed[k].key;
        size_t i = 0, j = 0;
        while (strncmp(key, lists[i].before, strlen(lists[i].before)) != 0)
            i++;
        const char *rest = key + strlen(lists[i].before);
        while (j < lists[i].n && strcmp(rest, lists[i].keys[j]) != 0)
            j++;
        if (j < lists[i].n)
            continue;
        const char *near = fbp_nearest(rest, lists[i].keys, lists[i].n);
        return FBP_INVALID("%s: assumed: \"%.60s\" is not a key of a scan file%s%s%s%s",
                           f->top.file, key, near ? "; did you mean \"" : "",
                           near ? lists[i].before : "", near ? near : "", near ? "\"?" : "");
    }
    if (f->pitch_mm[0] > 0)
        fbp_scan_settle(f->scan, "detector.pitch_mm");
    return FBP_OK;
}

/* Read a list of views: text such as "0:100,110:", or numbers; *out, freed by the caller, is the
 * list as text. */
static fbp_status read_view_list(const struct fbp_json *top, const char *key, char **out)
{
    const char *text = NULL;
    double *list = NULL;
    size_t n = 0;

    if (cJSON_IsString(fbp_json_get(top, key))) {
        FBP_TRY(fbp_json_text(top, key, &text));
        return (*out = fbp_strdup(text)) ? FBP_OK : fbp_fail_nomem(strlen(text), "views");
    }
    FBP_TRY(fbp_json_list(top, key, &fbp_range_header, &list, &n));
    fbp_status st = n ? fbp_calloc((void **)out, n, 24, "views") : FBP_OK;
    for (size_t i = 0, at = 0; st == FBP_OK && i < n; i++)
        at += (size_t)snprintf(*out + at, 24, i ? ",%.0f" : "%.0f", list[i]);
    free(list);
    return st;
}

/* Leave out the views that "use_views" does not list, and those of "skip". */
static fbp_status select_views(const struct fbp_scan_file *f)
{
    char *views = NULL, *skip = NULL;
    fbp_status st = read_view_list(&f->top, "use_views", &views);

    if (st == FBP_OK)
        st = read_view_list(&f->top, "skip", &skip);
    if (st == FBP_OK && (views || skip))
        st = f->growing ? FBP_UNSUPPORTED("%s: use_views and skip need the complete scan; remove "
                                          "them, or omit --follow",
                                          f->top.file)
                        : fbp_error_context(f->top.file, fbp_scan_select(f->scan, views, skip));
    free(views);
    free(skip);
    return st;
}

fbp_status fbp_scan_read(struct fbp_scan_file *f)
{
    static const char *const row_orders[] = {"bottom-up", "top-down"};
    static const char *const weightings[] = {"auto", "equal"};
    static const char *const types[] = {"uint8",  "int8",  "uint16",  "int16",
                                        "uint32", "int32", "float32", "float64"};
    static const char *const flip_names[] = {"u", "v", "direction"}; /* enum fbp_flip */
    const struct fbp_json *top = &f->top;
    struct fbp_scan *scan = f->scan;
    struct fbp_json raw;
    const char *kinds[FBP_N_KINDS];
    size_t kind = 0, order = N_OF(row_orders), weighting = 0, n = 0;
    double version = 0;

    if (!cJSON_IsObject(top->object))
        return FBP_INVALID("%s: expected an object in braces; check that it is a scan file",
                           top->file);

    FBP_TRY(fbp_json_keys(top, top_keys, N_OF(top_keys)));
    FBP_TRY(fbp_json_numbers(top, "fbp_scan", &fbp_range_finite, 1, 1, &version, &n));
    if (n == 0)
        return fbp_json_missing(top, "fbp_scan", "add \"fbp_scan\": 1 if this is a scan file");
    if (!(version >= 1 && version <= 1))
        return fbp_json_wrong(top, "fbp_scan", "1, the only version there is");
    for (size_t i = 0; i < FBP_N_KINDS; i++)
        kinds[i] = fbp_kind_listed(i);
    FBP_TRY(fbp_json_choice(top, "kind", kinds, FBP_N_KINDS, &kind));
    scan->kind = (enum fbp_kind)kind;

    FBP_TRY(fbp_json_child(top, "detector", "detector.", detector_keys, N_OF(detector_keys),
                           &f->detector));

    /* The layout of headerless projections. */
    FBP_TRY(fbp_json_child(top, "raw", "raw.", raw_keys, N_OF(raw_keys), &raw));
    if (raw.object) {
        double shape[3], header = 0;
        size_t type = N_OF(types);
        FBP_TRY(fbp_json_choice(&raw, "type", types, N_OF(types), &type));
        if (type == N_OF(types))
            return fbp_json_missing(&raw, "type",
                                    "a headerless file needs one, such as \"uint16\"");
        FBP_TRY(fbp_json_numbers(&raw, "shape", &fbp_range_side, 3, 3, shape, &n));
        if (n == 0)
            return fbp_json_missing(&raw, "shape", "give [views, rows, columns]");
        FBP_TRY(fbp_json_flag(&raw, "big_endian", &scan->raw.big_endian));
        FBP_TRY(fbp_json_numbers(&raw, "header_bytes", &fbp_range_header, 1, 1, &header, &n));
        scan->raw.type = fbp_type_from_name(types[type]);
        scan->raw.header_bytes = (uint64_t)header;
        for (int i = 0; i < 3; i++)
            scan->raw.n[i] = (size_t)shape[2 - i];
    }

    FBP_TRY(fbp_json_choice(&f->detector, "row_order", row_orders, N_OF(row_orders), &order));
    if (order < N_OF(row_orders))
        scan->row_order = order == 0 ? FBP_ROWS_BOTTOM_UP : FBP_ROWS_TOP_DOWN;
    FBP_TRY(fbp_json_choice(top, "angular_weights", weightings, N_OF(weightings), &weighting));
    scan->angular_weights = weighting == 0 ? FBP_ANGULAR_AUTO : FBP_ANGULAR_EQUAL;
    FBP_TRY(fbp_json_flag(top, "filtered", &scan->filtered));
    FBP_TRY(read_sizes(f));
    FBP_TRY(read_beam(f, "i0", &scan->i0s));
    FBP_TRY(read_beam(f, "dose", &scan->doses));
    FBP_TRY(fbp_scan_read_views(f));

    /* Flips of the views: "u", or a list such as ["u", "direction"]. */
    const cJSON *value = fbp_json_get(top, "flip");
    unsigned flips = 0;
    for (const cJSON *item = cJSON_IsArray(value) ? value->child : value; item;
         item = cJSON_IsArray(value) ? item->next : NULL) {
        size_t i = 0;
        while (i < N_OF(flip_names) &&
               !(cJSON_IsString(item) && strcmp(item->valuestring, flip_names[i]) == 0))
            i++;
        if (i == N_OF(flip_names))
            return fbp_json_wrong(top, "flip", "\"u\", \"v\", \"direction\" or a list of them");
        flips |= 1u << i;
    }
    if (!fbp_kind_has_lines(scan->kind) && (flips & ~(unsigned)FBP_FLIP_U))
        return fbp_json_wrong(
            top, "flip",
            "\"u\", because plane integrals have no rows and no direction of rotation");
    fbp_views_flip(scan->views, scan->n_views, flips);

    FBP_TRY(read_path(top, "reference", &scan->reference)); /* opened by the filter */
    FBP_TRY(read_volume(f));
    FBP_TRY(read_image(f, "dark", &scan->dark));
    FBP_TRY(read_flats(f));
    FBP_TRY(read_image(f, "bad_pixels", &scan->bad_pixels));
    FBP_TRY(read_corrections(f));
    FBP_TRY(read_assumed(f));
    FBP_TRY(select_views(f));
    return fbp_error_context(top->file, fbp_check_scan(scan));
}
