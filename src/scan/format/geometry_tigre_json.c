/* TIGRE's geometry as a JSON dictionary of the attributes of its Python class, with its angles. */
#include "array/array.h"
#include "base/text.h"
#include "scan/file/scan_json.h"
#include "scan/format/geometry_tigre.h"

#include <string.h>

static const char *const keys[] = {
    "mode",        "nVoxel",      "sVoxel", "dVoxel", "nDetector", "sDetector",
    "dDetector",   "DSO",         "DSD",    "COR",    "accuracy",  "offOrigin",
    "offDetector", "rotDetector", "angles", "n_proj", "filter",    "vectors",
};

/* A number, a list of numbers, or a list of lists of `width`. */
static fbp_status read_list(const struct fbp_json *o, const char *key, size_t width,
                            struct fbp_tigre_list *out)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(o->object, key);

    if (!value || cJSON_IsNull(value))
        return FBP_OK;
    out->width = width;
    if (cJSON_IsArray(value) && cJSON_IsArray(value->child))
        return fbp_json_table(o, key, width, &out->v, &out->n);
    FBP_TRY(fbp_json_list(o, key, &fbp_range_finite, &out->v, &out->n));
    if (width == 1)
        return FBP_OK;
    if (out->n != width)
        return fbp_json_wrong(o, key,
                              width == 2 ? "two numbers, or a list of two a view"
                                         : "three numbers, or a list of three a view");
    out->n = 1;
    return FBP_OK;
}

/* Angles: one a view, or three a view. */
static fbp_status read_angles(const struct fbp_json *o, struct fbp_tigre_list *out)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(o->object, "angles");

    return read_list(o, "angles",
                     cJSON_IsArray(value) && cJSON_IsArray(value->child) &&
                             cJSON_GetArraySize(value->child) == 3
                         ? 3
                         : 1,
                     out);
}

static fbp_status read_fixed(const struct fbp_json *o, const char *key, size_t size, double *out)
{
    const struct fbp_range extent = {FBP_PITCH_MM_MIN, FBP_DISTANCE_MM_MAX, false,
                                     "a number from 1e-9 to 1e12"};
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(o->object, key);
    size_t n = 0;

    if (cJSON_IsNull(value))
        return FBP_OK;
    return fbp_json_numbers(o, key, &extent, size, size, out, &n);
}

static fbp_status read_mode(const struct fbp_json *o, bool *parallel)
{
    static const char *const modes[] = {"cone", "parallel"};
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(o->object, "mode");
    size_t mode = 0;

    if (!cJSON_IsNull(value))
        FBP_TRY(fbp_json_choice(o, "mode", modes, 2, &mode));
    *parallel = mode == 1;
    return FBP_OK;
}

/* Of all views alike. */
static fbp_status read_sizes(const struct fbp_json *o, struct fbp_tigre *t)
{
    const struct {
        const char *key;
        size_t size;
        double *out;
    } sizes[] = {
        {"nDetector", 2, t->n_detector}, {"dDetector", 2, t->d_detector},
        {"sDetector", 2, t->s_detector}, {"nVoxel", 3, t->n_voxel},
        {"dVoxel", 3, t->d_voxel},       {"sVoxel", 3, t->s_voxel},
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        FBP_TRY(read_fixed(o, sizes[i].key, sizes[i].size, sizes[i].out));
    return FBP_OK;
}

static fbp_status read_json(const struct fbp_json *o, struct fbp_tigre *t)
{
    if (!cJSON_IsObject(o->object))
        return fbp_fail(FBP_ERR_INVALID, "%s: expected an object in braces: is it of TIGRE?",
                        o->file);
    FBP_TRY(fbp_json_keys(o, keys, sizeof keys / sizeof *keys));
    const cJSON *vectors = cJSON_GetObjectItemCaseSensitive(o->object, "vectors");
    if (vectors && !cJSON_IsNull(vectors))
        return fbp_json_wrong(o, "vectors", "null: views are made of angles and distances");
    FBP_TRY(read_mode(o, &t->parallel));
    FBP_TRY(read_sizes(o, t));
    FBP_TRY(read_list(o, "DSD", 1, &t->dsd));
    FBP_TRY(read_list(o, "DSO", 1, &t->dso));
    FBP_TRY(read_list(o, "COR", 1, &t->cor));
    FBP_TRY(read_list(o, "offDetector", 2, &t->off_detector));
    FBP_TRY(read_list(o, "rotDetector", 3, &t->rot_detector));
    FBP_TRY(read_list(o, "offOrigin", 3, &t->off_origin));
    return read_angles(o, &t->angles);
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return memmem(head, n, "\"DSD\"", 5) && memmem(head, n, "\"nDetector\"", 11);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    struct fbp_tigre t = {0};
    cJSON *root = NULL;
    fbp_status st;

    if (fbp_has_extension(path, ".mat")) {
        st = fbp_tigre_read_mat(&t, path);
    } else {
        FBP_TRY(fbp_json_read(path, &root));
        const struct fbp_json o = {path, "", root};
        st = read_json(&o, &t);
        cJSON_Delete(root);
    }
    if (st == FBP_OK)
        st = fbp_tigre_to_scan(&t, path, known, out);
    fbp_tigre_clear(&t);
    return st;
}

const struct fbp_geometry_format fbp_geometry_tigre = {
    .name = "tigre",
    .about = "TIGRE's geometry: JSON, or read from MAT",
    .extensions = ".mat",
    .detect = detect,
    .look = fbp_tigre_is_mat,
    .load = load,
    .save = fbp_tigre_save,
    .saves = FBP_KINDS_OF_LINES,
};
