/* Values of CTSimU's files: numbers with a unit that may drift. */
#include "scan/format/ctsimu.h"

#include <math.h>
#include <string.h>

const cJSON *fbp_ct_at(const cJSON *root, const char *path)
{
    char key[64];

    while (root && *path) {
        const size_t n = strcspn(path, ".");
        if (n >= sizeof key)
            return NULL;
        memcpy(key, path, n);
        key[n] = '\0';
        root = cJSON_GetObjectItemCaseSensitive(root, key);
        path += n + (path[n] == '.');
    }
    return cJSON_IsNull(root) ? NULL : root;
}

fbp_status fbp_ct_wrong(const struct fbp_ct *in, const char *key, const char *what)
{
    return fbp_fail(FBP_ERR_INVALID, "%s: %s%s%s: %s", in->file, in->name, *key ? "." : "", key,
                    what);
}

const char *fbp_ct_type(const cJSON *root)
{
    const cJSON *type = fbp_ct_at(root, "file.file_type");

    return cJSON_IsString(type) ? type->valuestring : NULL;
}

/* Factor to mm or radians; 0: no such unit. */
static double factor(enum fbp_ct_unit unit, const char *name)
{
    static const struct {
        const char *name;
        enum fbp_ct_unit unit;
        double factor;
    } units[] = {
        {"nm", FBP_CT_MM, 1e-6}, {"um", FBP_CT_MM, 1e-3},
        {"mm", FBP_CT_MM, 1},    {"cm", FBP_CT_MM, 10},
        {"dm", FBP_CT_MM, 100},  {"m", FBP_CT_MM, 1000},
        {"rad", FBP_CT_RAD, 1},  {"deg", FBP_CT_RAD, 3.14159265358979323846 / 180},
    };

    if (unit == FBP_CT_NUMBER)
        return 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].unit == unit && strcmp(units[i].name, name) == 0)
            return units[i].factor;
    return 0;
}

/* One drift or a list of them; one that the reconstruction is to know is an error. */
static fbp_status check_drifts(const struct fbp_ct *in, const char *key, const cJSON *drifts)
{
    const cJSON *drift, *first = cJSON_IsArray(drifts) ? drifts->child : drifts;

    for (drift = first; drift; drift = cJSON_IsArray(drifts) ? drift->next : NULL) {
        const cJSON *is_known = fbp_ct_at(drift, "known_to_reconstruction");
        if (!cJSON_IsFalse(is_known))
            return fbp_fail(FBP_ERR_UNSUPPORTED,
                            "%s: %s.%s: drifts that are known to the reconstruction are not "
                            "supported: give the views in a scan file",
                            in->file, in->name, key);
    }
    return FBP_OK;
}

fbp_status fbp_ct_number(const struct fbp_ct *in, const char *key, enum fbp_ct_unit unit,
                         double *out, bool *found)
{
    const cJSON *item = fbp_ct_at(in->at, key);
    const cJSON *value = cJSON_IsObject(item) ? fbp_ct_at(item, "value") : item;
    const cJSON *name = cJSON_IsObject(item) ? fbp_ct_at(item, "unit") : NULL;
    /* what the toolbox takes a number without a unit for */
    const char *fallback = unit == FBP_CT_RAD ? "deg" : "mm";
    const double scale = factor(unit, name && cJSON_IsString(name) ? name->valuestring : fallback);

    *found = false;
    if (!value)
        return FBP_OK;
    if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble))
        return fbp_ct_wrong(in, key, "expected a number");
    if (!(scale > 0))
        return fbp_ct_wrong(in, key,
                            unit == FBP_CT_MM ? "expected a unit of length: nm, um, mm, cm, dm or m"
                                              : "expected a unit of angle: deg or rad");
    FBP_TRY(check_drifts(in, key, fbp_ct_at(item, "drifts")));
    *out = value->valuedouble * scale;
    *found = true;
    return FBP_OK;
}

fbp_status fbp_ct_count(const struct fbp_ct *in, const char *key, size_t *out)
{
    double x = 0;
    bool found;

    FBP_TRY(fbp_ct_number(in, key, FBP_CT_NUMBER, &x, &found));
    if (!found || !(x >= 1 && x <= 1e6 && x == floor(x)))
        return fbp_ct_wrong(in, key, "expected a whole number from 1 to 1000000");
    *out = (size_t)x;
    return FBP_OK;
}

fbp_status fbp_ct_vector(const struct fbp_ct *in, const char *const axes[3], enum fbp_ct_unit unit,
                         double out[3], bool *found)
{
    int n = 0;

    for (int i = 0; i < 3; i++) {
        bool one;
        FBP_TRY(fbp_ct_number(in, axes[i], unit, &out[i], &one));
        n += one;
    }
    *found = n == 3;
    return n == 0 || n == 3 ? FBP_OK : fbp_ct_wrong(in, "", "one of three coordinates is missing");
}
