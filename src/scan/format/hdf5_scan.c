/* Importer of whole scans of parallel beam in HDF5 (fbp_geometry_hdf5): Data Exchange (APS) and
 * NXtomo (NeXus). Built only with HDF5. The command reads untrusted files in a child process:
 * find_scan() runs there and returns a struct found and the angles. https://dxfile.readthedocs.io,
 * https://manual.nexusformat.org/classes/applications/NXtomo.html
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/file/format.h"
#include "array/format/hdf5.h"
#include "array/format/mat.h"
#include "base/math.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const size_t MAX_VIEWS = 1 << 22;

/* Description of a scan, which the child process returns; n_angles doubles [rad] follow. */
struct found {
    char data[FBP_HDF5_PATH], dark[FBP_HDF5_PATH], flat[FBP_HDF5_PATH]; /* "" = none */
    double pitch_mm[2];                                                 /* 0: not known */
    size_t n_angles;
    bool keyed; /* true: in the data set `data`, image_key marks projections, flats and darks */
    bool has_dark, has_flat;
    char note[900]; /* sentence about keys that change the result and are not applied; "": none */
};

struct search {
    const char *path;
    hid_t file;
    struct fbp_hdf5_list list;
    struct found found;
};

static void units_of(const struct search *s, const char *path, char *out, size_t n)
{
    const hid_t data = H5Dopen2(s->file, path, fbp_hdf5_access());

    snprintf(out, n, "%s", "");
    if (data >= 0)
        (void)fbp_hdf5_text_of(data, "units", out, n);
    H5Dclose(data);
}

/* A unit: its names (each also in the plural, with an s), and its value in mm or radians. */
struct unit {
    const char *names;
    double value;
};

static const struct unit lengths[] = {
    {"mm millimeter millimetre", 1},
    {"m meter metre", 1e3},
    {"cm centimeter centimetre", 10},
    {"um µm μm micron micrometer micrometre", 1e-3}, /* both of Unicode's mus */
    {"nm nanometer nanometre", 1e-6},
    {"", 0},
};

static const struct unit angles_rad[] = {
    {"deg degree °", FBP_PI / 180},       {"rad radian", 1},
    {"mdeg millidegree", FBP_PI / 180e3}, {"mrad milliradian", 1e-3},
    {"urad µrad μrad microradian", 1e-6}, {"arcmin arcminute", FBP_PI / 10800},
    {"arcsec arcsecond", FBP_PI / 648e3}, {"turn revolution rev", 2 * FBP_PI},
    {"grad gradian gon", FBP_PI / 200},   {"", 0},
};

/* Get the value of a unit, in mm or radians, from a table; 0: the table lacks the unit. */
static double value_of(const struct unit *table, const char *unit)
{
    const size_t length = strlen(unit);

    for (; table->value > 0; table++)
        for (const char *p = table->names; *p;) {
            const size_t n = strcspn(p, " ");
            const bool many = length == n + 1 && n > 2 && (unit[n] == 's' || unit[n] == 'S');
            if ((length == n || many) && strncasecmp(p, unit, n) == 0)
                return table->value;
            p += n + strspn(p + n, " ");
        }
    return 0;
}

static const char half[] = "the axis is near an edge of the panel, so give --centre";

/* Add a note that a rotation of the panel (data set e) is not applied, unless its angle is 0. */
static fbp_status note_turn(struct search *s, const struct fbp_hdf5_entry *e, hid_t data)
{
    static const char *const remedies[] = {"use --flip-v to reverse the rows",
                                           "use --flip-u to reverse the columns",
                                           "use --flip-u and --flip-v to reverse columns and rows"};
    const char axis = strrchr(e->path, '/')[2];
    double v[3] = {axis == 'x', axis == 'y', axis == 'z'}, *angles = NULL;
    size_t n = 0, i = 0;
    char unit[32];

    (void)fbp_hdf5_numbers_of(data, "vector", v, 3);
    units_of(s, e->path, unit, sizeof unit);
    FBP_TRY(fbp_hdf5_numbers(s->file, s->path, e->path, MAX_VIEWS, &angles, &n));
    const double factor = value_of(angles_rad, unit[0] ? unit : "deg");
    const double turn = fmod(fabs(angles[0]) * factor, 2 * FBP_PI);
    while (i < 3 && fabs(v[i]) < 0.99)
        i++;
    if (!(factor > 0 && fmin(turn, 2 * FBP_PI - turn) < 1e-4))
        fbp_text_add(
            s->found.note, sizeof s->found.note, "; ", "%s, which is %g%s%s, is not applied (%s)",
            e->path, angles[0], unit[0] ? " " : "", unit,
            i < 3 && fabs(turn - FBP_PI) < 1e-4 ? remedies[i] : "rotate the images back first");
    free(angles);
    return FBP_OK;
}

/* Add notes about values in the file that other programs apply and this importer does not. */
static fbp_status note_ignored(struct search *s)
{
    static const char axis[] = "use --centre for the position of the axis";
    static const char still[] = "the sample is assumed to be at rest";
    static const struct {
        const char *name;
        /* Least relative change during the scan that gives a note; 0: any value except 0 does. */
        double moves;
        const char *remedy;
    } list[] = {{"x_translation", 1e-9, still},
                {"y_translation", 1e-9, still},
                {"z_translation", 1e-9, still},
                {"control/data", 1e-3, "divide each image by its value, the source current"},
                {"x_rotation_axis_pixel_position", 0, axis},
                {"y_rotation_axis_pixel_position", 0, axis},
                {"estimated_cor_from_motor", 0, axis},
                {"half_acquisition", 0, half},
                {"x_flipped", 0, "use --flip-u to reverse the columns"},
                {"y_flipped", 0, "use --flip-v to reverse the rows"},
                {"rotation_center", 0, axis},
                {"rotation_axis_location", 0, axis}};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const struct fbp_hdf5_entry *e = fbp_hdf5_nearest(&s->list, list[i].name, s->found.data, 0);
        double *value = NULL;
        size_t n = 0;
        if (!e || e->rank > 1)
            continue;
        FBP_TRY(fbp_hdf5_numbers(s->file, s->path, e->path, MAX_VIEWS, &value, &n));
        double low = n > 0 ? value[0] : 0, high = low;
        for (size_t k = 1; k < n; k++) {
            low = fmin(low, value[k]);
            high = fmax(high, value[k]);
        }
        const double change = high - low, size = fmax(fabs(low), fabs(high));
        const bool moves = list[i].moves > 0;
        if (moves ? change > list[i].moves * size : size > 0)
            fbp_text_add(s->found.note, sizeof s->found.note, "; ",
                         "%s, %s %g, is not applied (%s)", e->path,
                         moves ? "which changes by" : "which is", moves ? change : value[0],
                         list[i].remedy);
        free(value);
    }

    /* NXtomo files: add notes about rotations of the panel, and about a panel that covers only half
     * of the object. */
    fbp_status st = FBP_OK;
    for (size_t i = 0; i < s->list.n && st == FBP_OK; i++) {
        const struct fbp_hdf5_entry *e = &s->list.entries[i];
        const char *name = strrchr(e->path, '/') + 1;
        char text[32] = "";
        if (e->again || e->rank > 1)
            continue;
        const hid_t data = H5Dopen2(s->file, e->path, H5P_DEFAULT);
        const bool said = fbp_hdf5_text_of(data, "transformation_type", text, sizeof text);
        if (e->numeric && strstr(e->path, "/transformations/") && !strstr(e->path, "/sample/") &&
            (said ? strcmp(text, "rotation") == 0 : name[0] == 'r' && name[1] && !name[2]))
            st = note_turn(s, e, data);
        if (strcmp(name, "field_of_view") == 0 && fbp_hdf5_text_of(data, NULL, text, sizeof text) &&
            strcasecmp(text, "half") == 0)
            fbp_text_add(s->found.note, sizeof s->found.note, "; ",
                         "%s, which is %s, is not applied (%s)", e->path, text, half);
        H5Dclose(data);
    }
    return st;
}

/* Read the width and height of pixels [mm]; both 0 if one is absent or has an unknown unit. */
static fbp_status read_pitch(struct search *s, const char *x, const char *y)
{
    const char *const names[] = {x, y};
    double *p = s->found.pitch_mm;

    for (int i = 0; i < 2; i++) {
        const struct fbp_hdf5_entry *e = fbp_hdf5_nearest(&s->list, names[i], s->found.data, 0);
        double *value = NULL;
        char unit[32];
        size_t n = 0;
        if (!e)
            continue;
        units_of(s, e->path, unit, sizeof unit);
        FBP_TRY(fbp_hdf5_numbers(s->file, s->path, e->path, MAX_VIEWS, &value, &n));
        const double mm = value_of(lengths, unit);
        if (value[0] > 0 && isfinite(value[0] * mm))
            p[i] = value[0] * mm;
        if (value[0] > 0 && !(p[i] > 0))
            fbp_text_add(s->found.note, sizeof s->found.note, "; ",
                         "%s = %g \"%.20s\" is not applied, because this unit of length is unknown "
                         "(give --pitch)",
                         e->path, value[0], unit);
        free(value);
    }
    if (!(p[0] > 0 && p[1] > 0))
        p[0] = p[1] = 0;
    return FBP_OK;
}

static fbp_status read_angles(struct search *s, const char *path, double **out, size_t *n)
{
    char unit[32];

    units_of(s, path, unit, sizeof unit);
    const double factor = value_of(angles_rad, unit[0] ? unit : "deg");
    if (!(factor > 0))
        return FBP_UNSUPPORTED("%s: %s has the unknown unit \"%s\"; use deg, mdeg, rad, mrad, "
                               "urad, arcmin, arcsec, grad or turn",
                               s->path, path, unit);
    FBP_TRY(fbp_hdf5_numbers(s->file, s->path, path, MAX_VIEWS, out, n));
    for (size_t i = 0; i < *n; i++)
        (*out)[i] *= factor;
    return FBP_OK;
}

static fbp_status find_exchange(struct search *s, const struct fbp_hdf5_entry *data,
                                double **angles)
{
    struct found *f = &s->found;
    char axes[64] = "";

    const hid_t d = H5Dopen2(s->file, data->path, fbp_hdf5_access());
    (void)fbp_hdf5_text_of(d, "axes", axes, sizeof axes);
    H5Dclose(d);
    if (data->rank != 3)
        return FBP_INVALID(
            "%s: /exchange/data has %d dimensions, expected three, [view][row][column]; reshape it",
            s->path, data->rank);
    if (axes[0] && strncmp(axes, "theta", 5) != 0)
        return FBP_UNSUPPORTED(
            "%s: /exchange/data has the axes %s, but only theta:y:x is supported; transpose it",
            s->path, axes);
    snprintf(f->data, sizeof f->data, "%s", data->path);
    f->has_dark = fbp_hdf5_find(&s->list, "/exchange/data_dark") != NULL;
    f->has_flat = fbp_hdf5_find(&s->list, "/exchange/data_white") != NULL;
    snprintf(f->dark, sizeof f->dark, "/exchange/data_dark");
    snprintf(f->flat, sizeof f->flat, "/exchange/data_white");
    FBP_TRY(read_pitch(s, "actual_pixel_size_x", "actual_pixel_size_y"));
    if (!fbp_hdf5_find(&s->list, "/exchange/theta"))
        return FBP_INVALID("%s: the angles, /exchange/theta, are missing; write a scan file with "
                           "\"angles_deg\" that names the data sets (docs/scan.md)",
                           s->path);
    return read_angles(s, "/exchange/theta", angles, &f->n_angles);
}

/* NXtomo: find a data set of images and, near it, a list with one rotation angle per image; *is_one
 * false: the file has no such pair. */
static fbp_status find_tomo(struct search *s, bool *is_one, double **angles)
{
    struct found *f = &s->found;
    const struct fbp_hdf5_entry *data = NULL, *angle = NULL, *key;
    double *keys = NULL;
    size_t n = 0, kept = 0, others = 0;

    *is_one = false;
    for (size_t i = 0; i < s->list.n && !angle; i++) {
        data = &s->list.entries[i];
        if (data->numeric && data->rank == 3 && data->n[0] > 0)
            angle = fbp_hdf5_nearest(&s->list, "rotation_angle", data->path, data->n[0]);
    }
    if (!angle)
        return FBP_OK;
    *is_one = true;
    snprintf(f->data, sizeof f->data, "%s", data->path);
    FBP_TRY(read_pitch(s, "x_pixel_size", "y_pixel_size"));
    FBP_TRY(read_angles(s, angle->path, angles, &f->n_angles));
    key = fbp_hdf5_nearest(&s->list, "image_key", data->path, data->n[0]);
    if (!key)
        return FBP_OK;

    /* Keep the angles of projections (image_key 0); other frames: flats (1), darks (2), unused. */
    FBP_TRY(fbp_hdf5_keys(s->file, s->path, key->path, &s->list, &keys, &n));
    for (size_t i = 0; i < n && i < f->n_angles; i++) {
        const int k = keys[i] >= 0 && keys[i] < 4 ? (int)keys[i] : 3;
        f->has_flat |= k == 1;
        f->has_dark |= k == 2;
        others += k != 0;
        if (k == 0)
            (*angles)[kept++] = (*angles)[i];
    }
    free(keys);
    if (kept == 0)
        return FBP_INVALID("%s: %s marks no image as a projection (0); correct it", s->path,
                           key->path);
    f->keyed = others > 0;
    f->n_angles = kept;
    return FBP_OK;
}

/* Runs in a child process. */
static fbp_status find_scan(void *arg, struct fbp_blob *reply)
{
    struct search s = {.path = arg};
    double *angles = NULL;
    bool is_one = true, is_matlab = false;
    fbp_status st;

    FBP_TRY_GOTO(fbp_hdf5_open(s.path, s.path, &s.file));
    FBP_TRY_GOTO(fbp_hdf5_list(s.file, s.path, &s.list));
    const struct fbp_hdf5_entry *data = fbp_hdf5_find(&s.list, "/exchange/data");
    FBP_TRY_GOTO(data ? find_exchange(&s, data, &angles) : find_tomo(&s, &is_one, &angles));
    if (!is_one) {
        FBP_TRY_GOTO(fbp_mat_is_hdf5(s.path, &is_matlab));
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: is neither Data Exchange (/exchange/data, /exchange/theta) nor NXtomo (images "
            "with rotation_angle); name its data sets in a scan file, \"projections\": "
            "\"FILE:/DATASET\"%s%s%s",
            s.path, is_matlab ? "; geometries of TIGRE must be saved as MAT files by -v7" : "",
            s.list.unread[0] ? "; " : "", s.list.unread));
    }
    FBP_TRY_GOTO(note_ignored(&s));
    for (size_t i = 0; i < s.found.n_angles; i++)
        if (!isfinite(angles[i]))
            FBP_TRY_GOTO(FBP_INVALID("%s: angle %zu is not a number; correct the file", s.path, i));
    FBP_TRY_GOTO(fbp_blob_put(reply, &s.found, sizeof s.found));
    st = fbp_blob_put(reply, angles, s.found.n_angles * sizeof *angles);
fail:
    if (s.file > 0)
        H5Fclose(s.file);
    free(s.list.entries);
    free(angles);
    return st;
}

/* Set the path of the projections (key 0), flats (1) or darks (2): a data set, or the images in
 * `data` with this image_key.  They must be readable and have the size of the panel. */
static fbp_status take_array(struct fbp_scan *out, const char *path, const struct found *f, int key,
                             size_t *n_slices)
{
    char **const names[] = {&out->projections, &out->flat, &out->dark}, *name;
    fbp_source *source = NULL;

    if (f->keyed)
        FBP_TRY(fbp_scan_path(names[key], NULL, "%s:%s?image_key=%d", path, f->data, key));
    else
        FBP_TRY(fbp_scan_path(names[key], NULL, "%s:%s", path,
                              key == 0   ? f->data
                              : key == 1 ? f->flat
                                         : f->dark));
    name = *names[key];
    FBP_TRY(fbp_source_open(&source, name, NULL));
    const struct fbp_array_info *i = fbp_source_info(source);
    const struct fbp_panel panel = {i->n[0], i->n[1]};
    *n_slices = i->n[2];
    fbp_source_close(&source);
    if (out->panel.n_columns == 0)
        out->panel = panel;
    if (panel.n_columns == out->panel.n_columns && panel.n_rows == out->panel.n_rows)
        return FBP_OK;
    return FBP_INVALID(
        "%s: has %zu x %zu pixels, but the projections have %zu x %zu; correct the file", name,
        panel.n_columns, panel.n_rows, out->panel.n_columns, out->panel.n_rows);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct fbp_blob reply = {0};
    struct found f;
    double *angles = NULL;
    char why[120];
    size_t at = 0, n = 0, n_views = 0;
    fbp_status st;

    FBP_TRY_GOTO(
        fbp_hdf5_contain(path, &fbp_hdf5_limits, find_scan, (void *)(uintptr_t)path, &reply));
    if (!fbp_blob_take(&reply, &at, &f, sizeof f))
        FBP_TRY_GOTO(fbp_fail(
            FBP_ERR_IO,
            "%s: the child process that inspects the file returned no description; try again",
            path));
    FBP_TRY_GOTO(take_array(out, path, &f, 0, &n_views));
    if (f.has_flat)
        FBP_TRY_GOTO(take_array(out, path, &f, 1, &n));
    if (f.has_dark)
        FBP_TRY_GOTO(take_array(out, path, &f, 2, &n));
    if (n_views != f.n_angles)
        FBP_TRY_GOTO(FBP_INVALID("%s: has %zu projections, but %zu angles; correct the file", path,
                                 n_views, f.n_angles));
    FBP_TRY_GOTO(fbp_calloc((void **)&angles, f.n_angles, sizeof *angles, "angles"));
    (void)!fbp_blob_take(&reply, &at, angles, f.n_angles * sizeof *angles);
    out->kind = FBP_PARALLEL;
    f.note[sizeof f.note - 1] = '\0';
    if (f.note[0])
        FBP_TRY_GOTO(fbp_scan_note(out, "%s: %s", path, f.note));

    /* A position of the rotation axis in the file is not applied (note_ignored()), and the file may
     * lack the pixel size: assume both. */
    const bool has_pitch = f.pitch_mm[0] > 0;
    struct fbp_circle c = {
        .struct_size = sizeof c, .kind = FBP_PARALLEL, .n_views = f.n_angles, .angles_rad = angles};
    FBP_TRY_GOTO(fbp_geometry_make_views(out, path, known, f.n_angles));
    for (int i = 0; i < 2; i++)
        c.pitch_mm[i] = has_pitch ? f.pitch_mm[i] : known->pitch_mm[i] > 0 ? known->pitch_mm[i] : 1;
    if (!has_pitch && !(known->pitch_mm[0] > 0))
        FBP_TRY_GOTO(fbp_scan_assume(out, path, "detector.pitch_mm", "1",
                                     "lengths are in pixels; --pitch gives the pixel size"));
    snprintf(why, sizeof why,
             "the rotation axis is assumed at the central column, %g; --centre gives its position",
             ((double)out->panel.n_columns - 1) / 2);
    FBP_TRY_GOTO(fbp_scan_assume(out, path, "detector.offset_mm", "0", why));
    st = fbp_circle_views(&c, out->views);
fail:
    free(reply.bytes);
    free(angles);
    return st;
}

const struct fbp_geometry_format fbp_geometry_hdf5 = {
    .name = "hdf5",
    .about = "Data Exchange or NXtomo, a complete parallel-beam scan",
    .extensions = FBP_HDF5_READ,
    .detect = fbp_hdf5_detect,
    .load = load,
};
