/* Importer of CTSimU scenarios and metadata (fbp_geometry_ctsimu), format versions 0.9 to 1.2 (BAM
 * and others). CTSimU's toolbox is the reference: stage, source and detector are frames (centre,
 * u, v = w x u, w) in the world; the stage turns about its w and carries the volume, whose x, y, z
 * are the u, v, w of the stage. A scenario and the metadata of the projections that were simulated
 * from it are two files that belong together.
 * Used by: scan/geometry_file.c. */
#include "scan/format/importers.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/names.h"
#include "base/math.h"
#include "base/text.h"
#include "geometry/view.h"
#include "scan/file/text.h"

#include <stdio.h>
#include <string.h>

#define SCENARIO_TYPE "CTSimU Scenario"
#define METADATA_TYPE "CTSimU Metadata"

/* Values: numbers with a unit, which may drift during the scan. */

/* A part of a JSON document; `at` is NULL if the document does not contain the part. */
struct part_of {
    const char *file;
    const char *name; /* for messages */
    const cJSON *at;
};

enum unit { NUMBER, MM, RAD };

static const char *const xyz[3] = {"x", "y", "z"}, *const uvw[3] = {"u", "v", "w"};

/* Get the member at a path such as "stage.center"; NULL if it is absent or null. */
static const cJSON *get(const cJSON *root, const char *path)
{
    const cJSON *item = fbp_json_get(&(struct fbp_json){.object = root}, path);

    return cJSON_IsNull(item) ? NULL : item;
}

/* Get a text that is not empty; NULL: the value is no such text. */
static const char *get_text(const cJSON *root, const char *path)
{
    const cJSON *item = get(root, path);

    return cJSON_IsString(item) && item->valuestring[0] ? item->valuestring : NULL;
}

static bool is_either(const cJSON *value, const char *a, const char *b)
{
    return cJSON_IsString(value) &&
           (strcmp(value->valuestring, a) == 0 || strcmp(value->valuestring, b) == 0);
}

static bool is_type(const cJSON *root, const char *type)
{
    return is_either(get(root, "file.file_type"), type, type);
}

static fbp_status wrong(const struct part_of *in, const char *key, const char *what)
{
    return FBP_INVALID("%s: %s%s%s: %s", in->file, in->name, *key ? "." : "", key, what);
}

/* Read a number, or {"value", "unit", "drifts"}, in mm or radians.  *found false: the key is
 * absent.  Drifts (changes during the scan) are ignored if the file marks them as not known to the
 * reconstruction; other drifts are refused. */
static fbp_status read_number(const struct part_of *in, const char *key, enum unit unit,
                              double *out, bool *found)
{
    static const struct {
        const char *name;
        enum unit unit;
        double factor;
    } units[] = {
        {"nm", MM, 1e-6}, {"um", MM, 1e-3}, {"mm", MM, 1},   {"cm", MM, 10},
        {"dm", MM, 100},  {"m", MM, 1000},  {"rad", RAD, 1}, {"deg", RAD, FBP_PI / 180},
    };
    const cJSON *item = get(in->at, key), *drifts = NULL;
    const cJSON *value = cJSON_IsObject(item) ? get(item, "value") : item;
    const cJSON *unit_name = cJSON_IsObject(item) ? get(item, "unit") : NULL;
    /* For a number without a unit, CTSimU's toolbox assumes deg or mm. */
    const char *name = unit == RAD ? "deg" : "mm";
    double scale = unit == NUMBER ? 1 : 0;

    *found = false;
    if (!value)
        return FBP_OK;
    if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble))
        return wrong(in, key, "expected a number");
    if (unit_name && cJSON_IsString(unit_name))
        name = unit_name->valuestring;
    for (size_t i = 0; i < N_OF(units); i++)
        if (units[i].unit == unit && strcmp(units[i].name, name) == 0)
            scale = units[i].factor;
    if (!(scale > 0))
        return wrong(in, key,
                     unit == MM ? "expected a unit of length: nm, um, mm, cm, dm or m"
                                : "expected a unit of angle: deg or rad");
    drifts = get(item, "drifts");
    const cJSON *drift = cJSON_IsArray(drifts) ? drifts->child : drifts;
    for (; drift; drift = cJSON_IsArray(drifts) ? drift->next : NULL)
        if (!cJSON_IsFalse(get(drift, "known_to_reconstruction")))
            return FBP_UNSUPPORTED("%s: %s.%s: drifts that are known to the reconstruction are not "
                                   "supported; give the views in a scan file",
                                   in->file, in->name, key);
    *out = value->valuedouble * scale;
    *found = true;
    return FBP_OK;
}

/* Read a whole number from 1 to 1e6, which must be present. */
static fbp_status read_count(const struct part_of *in, const char *key, size_t *out)
{
    double x = 0;
    bool found;

    FBP_TRY(read_number(in, key, NUMBER, &x, &found));
    if (!found || !(x >= 1 && x <= 1e6 && x == floor(x)))
        return wrong(in, key, "expected a whole number from 1 to 1000000");
    *out = (size_t)x;
    return FBP_OK;
}

/* Read a vector from three members: all of them must be present, or none (*found false). */
static fbp_status read_vector(const struct part_of *in, const char *const axes[3], enum unit unit,
                              double out[3], bool *found)
{
    int n = 0;

    for (int i = 0; i < 3; i++) {
        bool one;
        FBP_TRY(read_number(in, axes[i], unit, &out[i], &one));
        n += one;
    }
    *found = n == 3;
    return n == 0 || n == 3 ? FBP_OK : wrong(in, "", "one of three coordinates is missing");
}

/* Scenarios: positions and axes (frames) of stage, source and detector in every view. */

enum { MAX_DEVIATIONS = 32 };

/* A coordinate system in the world. */
struct frame {
    double c[3], axis[3][3]; /* centre; unit u, v, w */
};

/* A deviation of a part from its nominal position: a translation along, or a rotation about, an
 * axis, applied after the part's previous deviations. */
struct deviation {
    bool turns;
    bool axis_is_local, pivot_is_local;
    double axis[3], pivot[3], amount; /* mm, rad */
};

struct part {
    struct frame at;
    size_t n_deviations;
    struct deviation deviations[MAX_DEVIATIONS];
};

/* Convert a vector from the axes of a frame to world coordinates. */
static void to_world(const struct frame *f, const double a[3], double out[3])
{
    const double in[3] = {a[0], a[1], a[2]};

    for (int i = 0; i < 3; i++)
        out[i] = in[0] * f->axis[0][i] + in[1] * f->axis[1][i] + in[2] * f->axis[2][i];
}

static void turn_frame(struct frame *f, const double axis[3], double angle, const double pivot[3])
{
    double R[9], arm[3];

    fbp_turn_about(axis, angle, R);
    fbp_axpy(f->c, -1, pivot, arm);
    fbp_turned(R, arm, arm);
    fbp_axpy(pivot, 1, arm, f->c);
    for (int i = 0; i < 3; i++)
        fbp_turned(R, f->axis[i], f->axis[i]);
}

/* Compute position and axes of a part (stage, source or detector) in one view; angle: rotation of
 * the stage, 0 for the other parts. */
static struct frame place(const struct part *p, double angle)
{
    struct frame f = p->at;
    double axis[3], pivot[3];

    turn_frame(&f, p->at.axis[2], angle, p->at.c);
    for (size_t i = 0; i < p->n_deviations; i++) {
        const struct deviation *d = &p->deviations[i];
        if (d->axis_is_local)
            to_world(&f, d->axis, axis);
        else
            memcpy(axis, d->axis, sizeof axis);
        fbp_normalise(axis);
        if (!d->turns) {
            fbp_axpy(f.c, d->amount, axis, f.c);
            continue;
        }
        memcpy(pivot, d->pivot, sizeof pivot);
        if (d->pivot_is_local) {
            to_world(&f, d->pivot, pivot);
            fbp_axpy(f.c, 1, pivot, pivot);
        }
        turn_frame(&f, axis, d->amount, pivot);
    }
    return f;
}

/* Get member `key` of a JSON object; name: buffer for the member's full name in messages. */
static struct part_of member(const struct part_of *in, const char *key, char name[120])
{
    snprintf(name, 120, "%.90s.%.28s", in->name, key);
    return (struct part_of){in->file, name, get(in->at, key)};
}

/* Read a direction or a point: x, y, z of the world, or u, v, w of the part (*is_local true). */
static fbp_status read_free_vector(const struct part_of *in, enum unit unit, double out[3],
                                   bool *is_local)
{
    bool found;

    FBP_TRY(read_vector(in, xyz, unit, out, &found));
    *is_local = !found;
    if (!found)
        FBP_TRY(read_vector(in, uvw, unit, out, &found));
    return found ? FBP_OK : wrong(in, "", "expected coordinates x, y, z or u, v, w");
}

static fbp_status read_part(const char *file, const cJSON *root, const char *path, struct part *out)
{
    static const char *const directions[] = {"vector_u", NULL, "vector_w"};
    static const char axes[] = "xyzuvw";
    const struct part_of in = {file, path, get(root, path)};
    char name[120];
    const struct part_of at = member(&in, get(in.at, "center") ? "center" : "centre", name);
    struct frame *f = &out->at;
    bool found;

    if (!in.at)
        return FBP_INVALID("%s: %s is missing; check that the scenario is complete", file, path);
    FBP_TRY(read_vector(&at, xyz, MM, f->c, &found));
    if (!found)
        return wrong(&in, "center", "expected x, y, z in the world");
    for (int i = 0; i < 3; i += 2) {
        const struct part_of vector = member(&in, directions[i], name);
        FBP_TRY(read_vector(&vector, xyz, NUMBER, f->axis[i], &found));
        if (!found || !(fbp_normalise(f->axis[i]) > 0))
            return wrong(&in, directions[i], "expected a direction x, y, z in the world");
    }
    if (!(fabs(fbp_dot(f->axis[0], f->axis[2])) < 1e-6))
        return wrong(&in, "vector_u", "this vector must be at right angles to vector_w");
    fbp_cross(f->axis[2], f->axis[0], f->axis[1]);

    const cJSON *old = get(in.at, "deviation");
    if (old && !cJSON_IsFalse(get(old, "known_to_reconstruction")))
        return wrong(
            &in, "deviation",
            "formats before 0.9 are not supported; save the scenario with a newer program");
    struct part_of one = member(&in, "deviations", name);
    if (one.at && !cJSON_IsArray(one.at))
        return wrong(&in, "deviations", "expected a list");
    for (one.at = one.at ? one.at->child : NULL; one.at; one.at = one.at->next) {
        const cJSON *type = get(one.at, "type"), *axis = get(one.at, "axis");
        struct deviation *d = &out->deviations[out->n_deviations];
        char inner[120];
        /* Skip a deviation that is not known to the reconstruction: a simulated fault. */
        if (cJSON_IsFalse(get(one.at, "known_to_reconstruction")))
            continue;
        if (!is_either(type, "translation", "rotation"))
            return wrong(&one, "type", "expected \"translation\" or \"rotation\"");
        if (out->n_deviations == MAX_DEVIATIONS)
            return wrong(&one, "", "there are more than 32 deviations; combine them");
        *d = (struct deviation){.turns = type->valuestring[0] == 'r', .pivot_is_local = true};

        const char *which = cJSON_IsString(axis) && axis->valuestring[0] && !axis->valuestring[1]
                                ? strchr(axes, axis->valuestring[0])
                                : NULL;
        if (which) {
            d->axis_is_local = which - axes >= 3;
            d->axis[(which - axes) % 3] = 1;
        } else {
            if (!cJSON_IsObject(axis))
                return wrong(&one, "axis", "expected x, y, z, u, v, w or a vector of them");
            const struct part_of vector = member(&one, "axis", inner);
            FBP_TRY(read_free_vector(&vector, NUMBER, d->axis, &d->axis_is_local));
            if (!(fbp_norm(d->axis) > 0))
                return wrong(&one, "axis", "this vector is 0, expected a direction");
        }
        if (get(one.at, "pivot")) {
            const struct part_of pivot = member(&one, "pivot", inner);
            FBP_TRY(read_free_vector(&pivot, MM, d->pivot, &d->pivot_is_local));
        }
        FBP_TRY(read_number(&one, "amount", d->turns ? RAD : MM, &d->amount, &found));
        if (!found)
            return wrong(&one, "amount", "missing, expected a length or an angle");
        out->n_deviations++;
    }
    return FBP_OK;
}

/* Convert a vector from world coordinates to the axes of a frame, and multiply it by `scale`. */
static void in_frame(const struct frame *f, const double a[3], double scale, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = scale * fbp_dot(f->axis[i], a);
}

/* Read kind, views, panel and row order from a scenario (CTSimU's description of a scan). */
static fbp_status read_scenario(struct fbp_scan *out, const char *file, const cJSON *root,
                                const struct fbp_geometry_known *known)
{
    static const char *const keys[2][2] = {{"pixel_pitch.u", "pixel_binning.u"},
                                           {"pixel_pitch.v", "pixel_binning.v"}};
    const struct part_of source = {file, "geometry.source", get(root, "geometry.source")};
    const struct part_of detector = {file, "detector", get(root, "detector")};
    const struct part_of in = {file, "acquisition", get(root, "acquisition")};
    const cJSON *type = get(source.at, "type"), *direction = get(in.at, "direction");
    size_t *const sizes[2] = {&out->panel.n_columns, &out->panel.n_rows}, n = 0;
    struct part parts[3] = {{.n_deviations = 0}}; /* stage, source, detector */
    /* pixel pitch [mm]; stage's angles at start and stop, counter-clockwise about its w [rad] */
    double pitch[2], start = 0, stop = 0;
    bool found, has_stop;

    FBP_TRY(read_part(file, root, "geometry.stage", &parts[0]));
    FBP_TRY(read_part(file, root, "geometry.source", &parts[1]));
    FBP_TRY(read_part(file, root, "geometry.detector", &parts[2]));
    if (type && !is_either(type, "cone", "parallel"))
        return wrong(&source, "type", "expected \"cone\" or \"parallel\"");
    const bool parallel = type && strcmp(type->valuestring, "parallel") == 0;
    out->kind = parallel ? FBP_PARALLEL : FBP_CONE;
    for (int i = 0; i < 2; i++) {
        double bin = 1;
        FBP_TRY(read_count(&detector, i ? "rows" : "columns", sizes[i]));
        FBP_TRY(read_number(&detector, keys[i][0], MM, &pitch[i], &found));
        if (!found || !(pitch[i] > 0))
            return wrong(&detector, keys[i][0], "expected a length above 0");
        FBP_TRY(read_number(&in, keys[i][1], NUMBER, &bin, &found));
        if (!(fabs(bin - 1) < 1e-9))
            return wrong(&in, keys[i][1],
                         "binned pixels are not supported; give columns, rows and pitch of the "
                         "binned pixels, and 1 here");
    }
    FBP_TRY(read_count(&in, "number_of_projections", &n));
    FBP_TRY(read_number(&in, "start_angle", RAD, &start, &found));
    FBP_TRY(read_number(&in, "stop_angle", RAD, &stop, &has_stop));
    if (!found || !has_stop)
        return wrong(&in, found ? "stop_angle" : "start_angle", "is missing");
    if (stop < start)
        return wrong(&in, "stop_angle",
                     "this angle is below start_angle; exchange the two angles and give the "
                     "direction as \"CW\"");
    const bool includes_stop = !cJSON_IsFalse(get(in.at, "include_final_angle"));
    if (direction && !is_either(direction, "CW", "CCW"))
        return wrong(&in, "direction", "expected \"CCW\" or \"CW\"");
    if (direction && strcmp(direction->valuestring, "CW") == 0) {
        start = -start;
        stop = -stop;
    }
    FBP_TRY(fbp_geometry_make_views(out, file, known, n));

    const size_t steps = n - (includes_stop && n > 1);
    for (size_t k = 0; k < n; k++) {
        const double angle = start + (double)k * (stop - start) / (double)steps;
        const struct frame stage = place(&parts[0], angle), from = place(&parts[1], 0);
        const struct frame panel = place(&parts[2], 0);
        struct fbp_view *view = &out->views[k];
        double arm[3];
        fbp_axpy(from.c, -1, stage.c, arm);
        if (parallel) /* the rays are parallel to the source's axis w */
            in_frame(&stage, from.axis[2], -1, view->s);
        else
            in_frame(&stage, arm, 1, view->s);
        fbp_axpy(panel.c, -1, stage.c, arm);
        in_frame(&stage, arm, 1, view->d);
        in_frame(&stage, panel.axis[0], pitch[0], view->u);
        in_frame(&stage, panel.axis[1], pitch[1], view->v);
    }

    /* The rows of an image follow v, which usually points down.  In this case reverse v and declare
     * the rows as top-down, as the importers of other formats do. */
    const bool down = out->views[0].v[2] < -1e-9 * fbp_norm(out->views[0].v);
    out->row_order = down ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP;
    for (size_t k = 0; down && k < n; k++)
        for (int i = 0; i < 3; i++)
            out->views[k].v[i] = -out->views[k].v[i];
    return FBP_OK;
}

/* Metadata: files of projections, darks and flats, and their layout. */

static const char tiff[] = ".tif .tiff";

/* Set *there to true if file k of a pattern such as "flat_%04d.raw" exists, to false if not, or if
 * the pattern contains no %d. */
static fbp_status file_is_there(const char *pattern, size_t k, bool *there)
{
    struct fbp_pattern p;

    *there = false;
    if (!fbp_pattern_place(pattern, strlen(pattern), &p))
        return FBP_OK;
    char *name = fbp_pattern_name(&p, k);
    const fbp_status st = fbp_file_exists(name, there);
    free(name);
    return st;
}

/* Get the path of n files from a name in the metadata `file`.  Numbers in place of %d start at 0,
 * or at 1 if file 1 exists and file 0 does not.  The path names the files up to the last one that
 * exists, at least one; *there: their number.  there NULL: it names n files. */
static fbp_status name_files(const char *file, const char *name, size_t n, size_t *there,
                             char **out)
{
    char *path = NULL;
    bool zero, one, last = false;
    fbp_status st;

    FBP_TRY(fbp_scan_path(&path, file, "%s", name));
    if (!strchr(name, '%')) {
        *out = path;
        return FBP_OK;
    }
    *out = NULL;
    FBP_TRY_GOTO(file_is_there(path, 0, &zero));
    FBP_TRY_GOTO(file_is_there(path, 1, &one));
    const size_t first = !zero && one;
    while (there && n > 1) {
        FBP_TRY_GOTO(file_is_there(path, first + n - 1, &last));
        if (last)
            break;
        n--;
    }
    if (there)
        *there = n;
    FBP_TRY_GOTO(fbp_scan_path(out, NULL, "%s %zu %zu", path, first, first + n - 1));
    if (!fbp_names_many_files(*out))
        st = FBP_INVALID(
            "%s: \"%s\" is not a pattern of file names; expected one %%d or %%04d in it", file,
            name);
fail:
    free(path);
    return st;
}

/* Get the dark or flat images, if any; *corrected: the projections are corrected by them. */
static fbp_status read_images(const struct part_of *in, const char *field, const char *projections,
                              struct fbp_scan *scan, char **out, bool *corrected)
{
    char whole[120];
    const struct part_of images = member(in, field, whole);
    const char *name = get_text(images.at, "filename");
    double number = 0;
    bool found;

    *corrected = cJSON_IsTrue(get(images.at, "projections_corrected"));
    FBP_TRY(read_number(&images, "number", NUMBER, &number, &found));
    if (*corrected || !name || !(number >= 1))
        return FBP_OK;
    if (!(number <= 1e6 && number == floor(number)))
        return wrong(&images, "number", "expected a whole number");
    if (fbp_has_extension(name, tiff) != fbp_has_extension(projections, tiff))
        return wrong(in, field, "has another format than the projections; convert it");
    const size_t n = (size_t)number;
    size_t there = n;
    FBP_TRY(name_files(in->file, name, n, &there, out));
    if (there == n)
        return FBP_OK;
    return fbp_scan_note(scan, "only %zu of the %zu files %s exist", there, n, name);
}

/* Read projections, darks, flats and volume from metadata, which must fit the geometry in *out. */
static fbp_status read_metadata(struct fbp_scan *out, const char *file, const cJSON *root)
{
    static const char *const n_keys[3] = {"dimensions.x", "dimensions.y", "dimensions.z"};
    static const char *const v_keys[3] = {"voxelsize.x", "voxelsize.y", "voxelsize.z"};
    const struct part_of in = {file, "output.projections", get(root, "output.projections")};
    const struct part_of volume = {file, "output.tomogram", get(root, "output.tomogram")};
    const char *name = get_text(in.at, "filename"),
               *bad = get_text(in.at, "bad_pixel_map.filename");
    struct fbp_panel panel;
    bool dark, flat, found, has_n;
    double white = 0, size[3] = {0}, voxel[3] = {0};
    size_t n = 0;

    if (!name)
        return wrong(&in, "filename", "missing; name the projections");
    FBP_TRY(read_count(&in, "number", &n));
    if (n != out->n_views)
        return FBP_INVALID("%s: %s.number: found %zu projections, but the scenario has %zu; give "
                           "files that belong together",
                           file, in.name, n, out->n_views);

    /* size of the images, and layout of raw ones; TIFF files have a header */
    FBP_TRY(read_count(&in, "dimensions.x", &panel.n_columns));
    FBP_TRY(read_count(&in, "dimensions.y", &panel.n_rows));
    if (!fbp_has_extension(name, tiff)) {
        const char *type = get_text(in.at, "datatype"), *order = get_text(in.at, "byteorder");
        double whole = 0, image = 0;
        FBP_TRY(read_number(&in, "headersize.file", NUMBER, &whole, &found));
        FBP_TRY(read_number(&in, "headersize.image", NUMBER, &image, &found));
        if (!(whole >= 0 && image >= 0 && whole + image <= 0x1p40))
            return wrong(&in, "headersize", "expected numbers of bytes");
        if (image > 0 && !strchr(name, '%') && n > 1)
            return wrong(&in, "headersize.image",
                         "headers before each image of a file are not supported; write one file "
                         "per image, or no headers");
        out->raw.type = type ? fbp_type_from_name(type) : FBP_TYPE_NONE;
        if (out->raw.type == FBP_TYPE_NONE)
            return wrong(&in, "datatype", "expected a type such as \"uint16\" or \"float32\"");
        if (order && strcmp(order, "little") != 0 && strcmp(order, "big") != 0)
            return wrong(&in, "byteorder", "expected \"little\" or \"big\"");
        out->raw.big_endian = order && order[0] == 'b';
        out->raw.header_bytes = (uint64_t)(whole + image);
        out->raw.n[0] = panel.n_columns;
        out->raw.n[1] = panel.n_rows;
        out->raw.n[2] = n;
    }
    if (panel.n_columns != out->panel.n_columns || panel.n_rows != out->panel.n_rows)
        return FBP_INVALID("%s: %s.dimensions: found %zu x %zu pixels, but the scenario has %zu x "
                           "%zu; give files that belong together",
                           file, in.name, panel.n_columns, panel.n_rows, out->panel.n_columns,
                           out->panel.n_rows);
    FBP_TRY(name_files(file, name, n, NULL, &out->projections));
    FBP_TRY(read_images(&in, "dark_field", name, out, &out->dark, &dark));
    FBP_TRY(read_images(&in, "flat_field", name, out, &out->flat, &flat));
    if (flat && out->dark)
        return wrong(
            &in, "dark_field",
            "the flat correction was applied without the dark correction; use the raw projections");
    FBP_TRY(read_number(&in, "max_intensity", NUMBER, &white, &found));
    if (!out->flat && found && white > 0)
        out->i0 = white;
    if (bad && !cJSON_IsTrue(get(in.at, "bad_pixel_map.projections_corrected")))
        FBP_TRY(name_files(file, bad, 1, NULL, &out->bad_pixels));

    /* Read the grid of the requested volume, which is centred on the iso-centre. */
    FBP_TRY(read_vector(&volume, n_keys, NUMBER, size, &has_n));
    FBP_TRY(read_vector(&volume, v_keys, MM, voxel, &found));
    if (!has_n || !found)
        return FBP_OK;
    for (int i = 0; i < 3; i++)
        if (!(size[i] >= 1 && size[i] <= 1e6 && size[i] == floor(size[i]) && voxel[i] > 0))
            return wrong(&volume, "dimensions", "expected whole numbers, and voxels larger than 0");
    for (int i = 0; i < 3; i++) {
        out->volume.n[i] = (size_t)size[i];
        out->volume.voxel_mm[i] = voxel[i];
    }
    return FBP_OK;
}

/* The pair of files. */

/* Get the path of the file `name` in the folder of the file `base`; *out NULL: no such file. */
static fbp_status find(const char *base, const char *name, char **out)
{
    bool there = false;

    *out = fbp_path_join(base, name);
    const fbp_status st = fbp_file_exists(*out, &there);
    if (!there) {
        free(*out);
        *out = NULL;
    }
    return st;
}

static fbp_status read_typed(const char *path, const char *type, cJSON **out)
{
    FBP_TRY(fbp_json_read(path, out));
    if (is_type(*out, type))
        return FBP_OK;
    return FBP_INVALID("%s: file.file_type is not \"%s\"; check that it is the right file", path,
                       type);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    static const char *const folders[] = {"", "projections/"};
    cJSON *root = NULL, *other = NULL;
    char *found = NULL, *beside = NULL; /* the other file of the pair */
    fbp_status st;

    FBP_TRY(fbp_json_read(path, &root));
    if (is_type(root, SCENARIO_TYPE)) {
        /* Find the metadata that belong to the scenario "tetra.json": "tetra_metadata.json", in the
         * scenario's folder or in projections/. */
        const char *name = fbp_base_name(path), *dot = strrchr(name, '.');
        const int length = (int)(dot ? (size_t)(dot - name) : strlen(name));
        FBP_TRY_GOTO(read_scenario(out, path, root, known));
        for (size_t i = 0; !found && i < N_OF(folders); i++) {
            free(beside);
            FBP_TRY_GOTO(
                fbp_scan_path(&beside, NULL, "%s%.*s_metadata.json", folders[i], length, name));
            FBP_TRY_GOTO(find(path, beside, &found));
        }
        if (found) { /* else a geometry without projections */
            FBP_TRY_GOTO(read_typed(found, METADATA_TYPE, &other));
            FBP_TRY_GOTO(read_metadata(out, found, other));
        }
    } else if (is_type(root, METADATA_TYPE)) {
        /* Find the scenario that the metadata name: at the path in the metadata, or under its file
         * name in the folder of the metadata, or embedded in them. */
        const cJSON *name = get(root, "acquisition_geometry.path_to_CTSimU_JSON");
        const cJSON *embedded = get(root, "simulation.ctsimu_scenario");
        const char *text = cJSON_IsString(name) ? name->valuestring : NULL;
        const char *slash = text ? strrchr(text, '/') : NULL;
        if (text)
            FBP_TRY_GOTO(find(path, text, &found));
        if (!found && slash)
            FBP_TRY_GOTO(find(path, slash + 1, &found));
        if (!found && !embedded)
            FBP_TRY_GOTO(
                FBP_INVALID("%s: acquisition_geometry.path_to_CTSimU_JSON: %s is missing, and no "
                            "scenario is embedded; copy the scenario into the folder of this file",
                            path, text ? text : "a scenario"));
        if (found)
            FBP_TRY_GOTO(read_typed(found, SCENARIO_TYPE, &other));
        FBP_TRY_GOTO(read_scenario(out, found ? found : path, found ? other : embedded, known));
        FBP_TRY_GOTO(read_metadata(out, path, root));
    } else {
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: file.file_type: expected \"%s\" or \"%s\"; check that it is a file of CTSimU",
            path, SCENARIO_TYPE, METADATA_TYPE));
    }
    if (found)
        st = fbp_scan_add_file(out, found);
fail:
    cJSON_Delete(root);
    cJSON_Delete(other);
    free(beside);
    free(found);
    return st;
}

const struct fbp_geometry_format fbp_geometry_ctsimu = {
    .name = "ctsimu",
    .about = "CTSimU scenarios and metadata",
    .extensions = ".json",
    .words = {SCENARIO_TYPE, METADATA_TYPE},
    .load = load,
};
