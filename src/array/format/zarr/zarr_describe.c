/* What the text files of a Zarr array say, and of the OME-Zarr image that it is of. */
#include "array/file/bytes.h"
#include "array/format/zarr/zarr.h"

#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT = 1 << 24, MOST_DIMS = 5 };

/* "FOLDER/NAME", malloc'ed. */
static char *in_folder(const char *folder, const char *name)
{
    const size_t n = strlen(folder);

    return fbp_format("%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

static bool has(const char *folder, const char *name)
{
    char *path = in_folder(folder, name);
    const bool is = path && access(path, F_OK) == 0;

    free(path);
    return is;
}

bool fbp_zarr_is_folder(const char *path)
{
    return has(path, ".zarray") || has(path, ".zattrs") || has(path, ".zgroup") ||
           has(path, "zarr.json");
}

/* *out NULL: there is no such file.  src: it is what is read from, too.  *ours: fbp wrote the text;
 * NULL: that is not asked. */
static fbp_status read_json(fbp_source *src, const char *folder, const char *name, bool *ours,
                            cJSON **out)
{
    char *path = in_folder(folder, name), *text = NULL;
    size_t n = 0;
    fbp_status st = path ? FBP_OK : fbp_fail_nomem(strlen(folder), "a path");

    *out = NULL;
    if (st == FBP_OK && access(path, F_OK) == 0) {
        st = fbp_read_text(path, MAX_TEXT, &text, &n);
        if (st == FBP_OK)
            st = fbp_inputs_add(&src->inputs, path);
        if (st == FBP_OK)
            st = fbp_json_parse(text, n, NULL, out);
        if (st == FBP_OK && ours) /* other writers lay their text out in other ways */
            *ours = strncmp(text, FBP_ZARR_BEGIN, strlen(FBP_ZARR_BEGIN)) == 0;
        if (st == FBP_ERR_INVALID)
            st = fbp_fail(st, "%s: is not JSON: it is damaged: copy it again", path);
    }
    free(text);
    free(path);
    return st;
}

static const cJSON *item(const cJSON *of, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(of, key);
}

static const char *text_of(const cJSON *of, const char *key)
{
    const cJSON *it = item(of, key);

    return cJSON_IsString(it) ? it->valuestring : "";
}

/* --- the array --- */

static fbp_status bad(const fbp_source *src, const char *what, const char *remedy)
{
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: %s: %s", src->path, what, remedy);
}

/* The last three of a list of sizes, x first; those before must be 1. */
static fbp_status take_sizes(const fbp_source *src, const cJSON *list, const char *what, bool ones,
                             size_t out[3], int *count)
{
    const int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;

    *count = n;
    if (n < 2 || n > MOST_DIMS)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: %s of %d dimension%s: [z][y][x] is needed",
                        src->path, what, n, n == 1 ? "" : "s");
    out[2] = 1;
    for (int i = 0; i < n; i++) {
        const cJSON *it = cJSON_GetArrayItem(list, n - 1 - i);
        const double v = cJSON_IsNumber(it) ? it->valuedouble : 0;
        if (!(v >= 1 && v < 0x1p48) || v != floor(v))
            return fbp_fail(FBP_ERR_INVALID, "%s: %s: a size of %g cannot be", src->path, what, v);
        if (i < 3)
            out[i] = (size_t)v;
        else if (ones && v != 1)
            return bad(src, "it is a series, or of several channels",
                       "store one volume, [z][y][x], by itself");
    }
    return FBP_OK;
}

static fbp_status take_type(fbp_source *src, const cJSON *root, struct fbp_zarr_array *out)
{
    static const struct {
        const char *name;
        enum fbp_type type;
    } types[] = {{"u1", FBP_U8},  {"b1", FBP_U8},  {"i1", FBP_I8},
                 {"u2", FBP_U16}, {"i2", FBP_I16}, {"u4", FBP_U32},
                 {"i4", FBP_I32}, {"f4", FBP_F32}, {"f8", FBP_F64}};
    const char *name = text_of(root, "dtype");

    for (size_t i = 0; name[0] && i < sizeof types / sizeof *types; i++)
        if (strcmp(name + 1, types[i].name) == 0)
            src->info.type = types[i].type;
    if (src->info.type == FBP_TYPE_NONE)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: samples of type %s are not read: store float32, float64, or integers "
                        "of 8 to 32 bits",
                        src->path, name[0] ? name : "(none)");
    out->foreign = fbp_type_size(src->info.type) > 1 && fbp_is_foreign(name[0] == '>');
    src->info.big_endian = fbp_is_foreign(false); /* samples are delivered in native order */
    return FBP_OK;
}

static fbp_status take_coding(const fbp_source *src, const cJSON *root, struct fbp_zarr_array *out)
{
    const cJSON *compressor = item(root, "compressor"), *filters = item(root, "filters");
    const char *id = text_of(compressor, "id");

    if (strcmp(text_of(root, "order"), "C") != 0)
        return bad(src, "its chunks are in Fortran order", "store them in C order");
    if (cJSON_IsArray(filters) && cJSON_GetArraySize(filters) > 0)
        return bad(src, "its chunks have filters", "store them without");
    out->compressed = compressor && !cJSON_IsNull(compressor);
    if (out->compressed && strcmp(id, "zlib") != 0 && strcmp(id, "gzip") != 0)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: its chunks are compressed by %s, of which only zlib and gzip are read: "
            "store it by one of these, or uncompressed (in Python compressor=None), or as .npy",
            src->path, id[0] ? id : "an unknown codec");
    const char *separator = text_of(root, "dimension_separator");
    if (item(root, "dimension_separator") && strcmp(separator, ".") != 0 &&
        strcmp(separator, "/") != 0)
        return bad(src, "its dimension_separator is neither \".\" nor \"/\"",
                   "correct it in .zarray");
    out->separator = separator[0] == '/' ? '/' : '.';
    return FBP_OK;
}

/* What is no number, such as null, is 0. */
static double number_of(const cJSON *value)
{
    static const struct {
        const char *name;
        float value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};

    for (size_t i = 0; cJSON_IsString(value) && i < sizeof words / sizeof *words; i++)
        if (strcmp(value->valuestring, words[i].name) == 0)
            return (double)words[i].value;
    return cJSON_IsNumber(value) ? value->valuedouble : cJSON_IsTrue(value);
}

/* Of chunks that were never written. */
static void take_fill(const fbp_source *src, const cJSON *value, struct fbp_zarr_array *out)
{
    const double v = number_of(value);
    const int64_t integer = isnan(v) ? 0 : v < -0x1p62 || v > 0x1p62 ? 0 : (int64_t)v;
    const float single = (float)v;

    if (src->info.type == FBP_F64)
        memcpy(out->fill, &v, sizeof v);
    else if (src->info.type == FBP_F32)
        memcpy(out->fill, &single, sizeof single);
    else
        memcpy(out->fill, &integer, sizeof integer); /* its first bytes are the lowest */
    if (out->foreign)
        fbp_swap_bytes(out->fill, fbp_type_size(src->info.type), 1);
}

static fbp_status take_array(fbp_source *src, const cJSON *root, struct fbp_zarr_array *out)
{
    int n_chunks;

    if (!cJSON_IsNumber(item(root, "zarr_format")) || item(root, "zarr_format")->valuedouble != 2)
        return bad(src, "its .zarray is not of version 2", "store it as Zarr version 2");
    FBP_TRY(take_sizes(src, item(root, "shape"), "an array", true, src->info.n, &out->n_dims));
    FBP_TRY(take_sizes(src, item(root, "chunks"), "chunks", false, out->chunk, &n_chunks));
    if (n_chunks != out->n_dims)
        return bad(src, "its chunks have other dimensions than it", "it is damaged: copy it again");
    FBP_TRY(take_type(src, root, out));
    FBP_TRY(take_coding(src, root, out));
    take_fill(src, item(root, "fill_value"), out);
    return FBP_OK;
}

/* Scale, offset and unit by the names of the CF conventions. */
static void take_attributes(fbp_source *src, const cJSON *root)
{
    const cJSON *scale = item(root, "scale_factor"), *offset = item(root, "add_offset");

    snprintf(src->info.unit, sizeof src->info.unit, "%s", text_of(root, "units"));
    if (!cJSON_IsNumber(scale) && !cJSON_IsNumber(offset))
        return;
    src->info.scale = cJSON_IsNumber(scale) ? scale->valuedouble : 1;
    src->info.offset = cJSON_IsNumber(offset) ? offset->valuedouble : 0;
}

/* --- the image --- */

static double unit_in_mm(const char *unit)
{
    static const struct {
        const char *name;
        double mm;
    } units[] = {{"meter", 1e3},       {"centimeter", 10},  {"millimeter", 1},
                 {"micrometer", 1e-3}, {"nanometer", 1e-6}, {"angstrom", 1e-7}};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].mm;
    return 0;
}

/* Scale, then translation, z first, onto what is there. */
static void apply(const cJSON *list, int n, double step[MOST_DIMS], double origin[MOST_DIMS])
{
    const cJSON *one;

    cJSON_ArrayForEach(one, list)
    {
        const cJSON *scale = item(one, "scale"), *shift = item(one, "translation");
        for (int i = 0; i < n; i++) {
            const cJSON *a = cJSON_GetArrayItem(scale, i), *b = cJSON_GetArrayItem(shift, i);
            if (cJSON_IsNumber(a)) {
                step[i] *= a->valuedouble;
                origin[i] *= a->valuedouble;
            }
            if (cJSON_IsNumber(b))
                origin[i] += b->valuedouble;
        }
    }
}

static bool has_units(const cJSON *axes, int n, double mm[MOST_DIMS])
{
    for (int i = 0; i < n; i++) {
        const char *unit = text_of(cJSON_GetArrayItem(axes, i), "unit");
        mm[i] = unit_in_mm(unit);
        if (i >= n - 3 && mm[i] == 0)
            return false;
    }
    return true;
}

/* Spacing and origin, if the axes of space have lengths as units. */
static void take_place(fbp_source *src, const cJSON *image, const cJSON *dataset, int n)
{
    double step[MOST_DIMS] = {1, 1, 1, 1, 1}, origin[MOST_DIMS] = {0}, mm[MOST_DIMS] = {0};
    struct fbp_array_info *info = &src->info;
    bool good = has_units(item(image, "axes"), n, mm);

    apply(item(dataset, "coordinateTransformations"), n, step, origin);
    apply(item(image, "coordinateTransformations"), n, step, origin);
    info->spacing_mm[2] = 1; /* of one picture */
    for (int i = 0; i < n && i < 3; i++) {
        const int k = n - 1 - i;
        info->spacing_mm[i] = step[k] * mm[k];
        info->origin_mm[i] = origin[k] * mm[k];
        good = good && info->spacing_mm[i] > 0 && isfinite(info->spacing_mm[i]) &&
               isfinite(info->origin_mm[i]);
    }
    info->has_spacing = good;
}

static const cJSON *image_of(const cJSON *attributes)
{
    return cJSON_GetArrayItem(item(attributes, "multiscales"), 0);
}

/* The data set of an image that has this path; NULL: none has. */
static const cJSON *find_dataset(const cJSON *image, const char *path, size_t n)
{
    const cJSON *one;

    cJSON_ArrayForEach(one, item(image, "datasets"))
    {
        const char *own = text_of(one, "path");
        if (strlen(own) == n && strncmp(own, path, n) == 0)
            return one;
    }
    return NULL;
}

/* An array in the folder of its image. */
static fbp_status look_above(fbp_source *src, int n_dims)
{
    size_t n = strlen(src->file), first;
    cJSON *attributes = NULL;

    while (n > 1 && src->file[n - 1] == '/')
        n--;
    for (first = n; first > 0 && src->file[first - 1] != '/';)
        first--;
    char *above = first ? fbp_format("%.*s", (int)first, src->file) : fbp_strdup(".");
    fbp_status st =
        above ? read_json(src, above, ".zattrs", NULL, &attributes) : fbp_fail_nomem(n, "a path");
    const cJSON *image = image_of(attributes);
    const cJSON *dataset = find_dataset(image, src->file + first, n - first);
    if (dataset)
        take_place(src, image, dataset, n_dims);
    cJSON_Delete(attributes);
    free(above);
    return st;
}

static fbp_status open_array(fbp_source *src, const char *folder, struct fbp_zarr_array *out)
{
    cJSON *array = NULL, *attributes = NULL;
    fbp_status st;

    FBP_TRY_GOTO(read_json(src, folder, ".zarray", &out->ours, &array));
    if (!array)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID, "%s: its array %s has no .zarray: copy it again",
                              src->path, folder));
    FBP_TRY_GOTO(take_array(src, array, out));
    FBP_TRY_GOTO(read_json(src, folder, ".zattrs", NULL, &attributes));
    take_attributes(src, attributes);
fail:
    cJSON_Delete(array);
    cJSON_Delete(attributes);
    return st;
}

static fbp_status no_image(const fbp_source *src)
{
    if (has(src->file, "zarr.json"))
        return bad(src, "is Zarr of version 3, and version 2 is read",
                   "store it as version 2 (OME-Zarr 0.4), uncompressed or by zlib (in Python "
                   "zarr_format=2 and compressor=None), or as .npy (numpy.save)");
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is a Zarr group without an image (multiscales): name one of its arrays, "
                    "such as %s/0",
                    src->path, src->path);
}

/* The first data set of an image is the largest. */
static fbp_status open_image(fbp_source *src, const cJSON *attributes, struct fbp_zarr_array *out,
                             char **folder)
{
    const cJSON *image = image_of(attributes);
    const cJSON *dataset = cJSON_GetArrayItem(item(image, "datasets"), 0);
    const char *path = text_of(dataset, "path");

    if (!path[0] || path[0] == '/' || strstr(path, ".."))
        return no_image(src);
    *folder = in_folder(src->file, path);
    if (!*folder)
        return fbp_fail_nomem(strlen(path), "a path");
    FBP_TRY(open_array(src, *folder, out));
    take_place(src, image, dataset, out->n_dims);
    return FBP_OK;
}

fbp_status fbp_zarr_describe(fbp_source *src, struct fbp_zarr_array *out, char **folder)
{
    cJSON *attributes = NULL;

    if (has(src->file, ".zarray")) {
        *folder = fbp_strdup(src->file);
        if (!*folder)
            return fbp_fail_nomem(strlen(src->file), "a path");
        FBP_TRY(open_array(src, *folder, out));
        return look_above(src, out->n_dims);
    }
    if (!fbp_zarr_is_folder(src->file))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: is a file, and a Zarr array is a folder: unpack it, or correct the "
                        "name",
                        src->path);
    FBP_TRY(read_json(src, src->file, ".zattrs", NULL, &attributes));
    const fbp_status st = open_image(src, attributes, out, folder);
    cJSON_Delete(attributes);
    return st;
}
