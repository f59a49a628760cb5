/* Reading JSON: parsing of a file (fbp_json_read()), with line and column of a syntax error, and
 * typed access to its values (such as fbp_json_numbers()), with messages that name file and key.
 * Used by: scan/, scan/format/. */
#define FBP_SCAN_JSON_C
#include "scan/file/text.h"

#include "array/file/bytes.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const size_t MAX_BYTES = (size_t)256 << 20;

fbp_status fbp_json_read(const char *path, cJSON **out)
{
    char *text = NULL;
    const char *end = NULL;
    size_t size = 0;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_read_text(path, MAX_BYTES, &text, &size));
    if (strlen(text) != size)
        st = FBP_INVALID(
            "%s: contains zero bytes, so it is not a text file; check that it is the right file",
            path);
    else
        st = fbp_json_parse(text, size, &end, out);
    if (st != FBP_ERR_INVALID || strlen(text) != size) {
        free(text);
        return st;
    }

    /* For a key without quotes, cJSON reports the position after its first character: step back. */
    const char *at = end ? end : text, *start = text;
    if (at - text >= 2 && !strchr("\"{[-0123456789 \t\r\n", at[-1])) {
        const char *before = at - 2;
        while (before > text && strchr(" \t\r\n", *before))
            before--;
        if (*before == '{' || *before == ',')
            at--;
    }
    size_t line = 1;
    for (const char *p = text; p < at; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    const size_t column = (size_t)(at - start) + 1;
    if (strncmp(at, "\\u0000", 6) == 0)
        st = FBP_INVALID(
            "%s: line %zu, column %zu: a string contains the character \\u0000; remove it", path,
            line, column);
    else
        st = FBP_INVALID("%s: line %zu, column %zu: invalid JSON%s; check commas, quotes and "
                         "brackets, and write comments as \"//\": \"…\"",
                         path, line, column, *at ? "" : " (the file ends too early)");
    free(text);
    return st;
}

const cJSON *fbp_json_get(const struct fbp_json *o, const char *key)
{
    const cJSON *at = o->object;

    for (char part[64]; at && strchr(key, '.'); key = strchr(key, '.') + 1) {
        snprintf(part, sizeof part, "%.*s", (int)strcspn(key, "."), key);
        at = cJSON_GetObjectItemCaseSensitive(at, part);
    }
    return at ? cJSON_GetObjectItemCaseSensitive(at, key) : NULL;
}

/* "FILE: KEY: found V, expected WHAT" */
static fbp_status wrong(const struct fbp_json *o, const char *key, const cJSON *v,
                        const char *expected)
{
    char found[128];

    if (cJSON_IsNumber(v))
        snprintf(found, sizeof found, "%.10g", v->valuedouble);
    else if (cJSON_IsString(v))
        snprintf(found, sizeof found, strlen(v->valuestring) > 40 ? "\"%.40s…\"" : "\"%s\"",
                 v->valuestring);
    else if (cJSON_IsArray(v))
        snprintf(found, sizeof found, "a list of %d", cJSON_GetArraySize(v));
    else
        snprintf(found, sizeof found, "%s",
                 !v                  ? "nothing"
                 : cJSON_IsObject(v) ? "an object"
                 : cJSON_IsTrue(v)   ? "true"
                 : cJSON_IsFalse(v)  ? "false"
                                     : "null");
    return FBP_INVALID("%s: %s%s: found %s, expected %s", o->file, o->prefix, key, found, expected);
}

fbp_status fbp_json_wrong(const struct fbp_json *o, const char *key, const char *expected)
{
    return wrong(o, key, fbp_json_get(o, key), expected);
}

fbp_status fbp_json_missing(const struct fbp_json *o, const char *key, const char *remedy)
{
    return FBP_INVALID("%s: %s%s is missing; %s", o->file, o->prefix, key, remedy);
}

fbp_status fbp_json_context(const struct fbp_json *o, const char *key, fbp_status st)
{
    if (st == FBP_OK)
        return st;
    char *why = fbp_strdup(fbp_message());
    fbp_message_clear();
    fbp_fail(st, "%s: %s%s: %s", o->file, o->prefix, key, why ? why : "out of memory");
    free(why);
    return st;
}

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

fbp_status fbp_json_keys(const struct fbp_json *o, const char *const *keys, size_t n)
{
    /* names that other programs use for these keys */
    static const struct {
        const char *key, *theirs[4];
    } names[] = {{"source_to_axis_mm", {"sod", "sod_mm", "sad", "dso"}},
                 {"source_to_detector_mm", {"sdd", "sdd_mm", "dsd"}},
                 {"angles_deg", {"angles", "theta"}},
                 {"pitch_mm", {"pixel", "pixel_size", "pixel_size_mm", "pixel_mm"}},
                 {"pitch_mm", {"pitch"}},
                 {"centre_mm", {"center_mm", "center"}},
                 {"voxel_mm", {"spacing_mm", "voxel_size_mm"}},
                 {"offset_mm", {"offset"}},
                 {"flat", {"flats", "white"}},
                 {"dark", {"darks"}}};
    const cJSON *item;

    cJSON_ArrayForEach(item, o->object)
    {
        const char *key = item->string, *near = NULL;
        if (key[0] == '_' || (key[0] == '/' && key[1] == '/')) /* a comment */
            continue;
        if (is_one_of(key, keys, n)) {
            if (fbp_json_get(o, key) != item)
                return FBP_INVALID("%s: %s%s: given twice; remove one", o->file, o->prefix, key);
            continue;
        }
        for (size_t i = 0; i < N_OF(names); i++)
            for (size_t k = 0; k < 4 && names[i].theirs[k]; k++)
                if (strcasecmp(key, names[i].theirs[k]) == 0 && is_one_of(names[i].key, keys, n))
                    near = names[i].key;
        if (!near)
            near = fbp_nearest(key, keys, n);
        return FBP_INVALID("%s: %s%.60s: unknown key; %s%s%s", o->file, o->prefix, key,
                           near ? "did you mean \""
                                : "see the lists in docs/scan.md, docs/geometry.md",
                           near ? near : "", near ? "\"?" : "");
    }
    return FBP_OK;
}

fbp_status fbp_json_child(const struct fbp_json *o, const char *key, const char *prefix,
                          const char *const *keys, size_t n, struct fbp_json *out)
{
    *out = (struct fbp_json){o->file, prefix, fbp_json_get(o, key)};
    if (!out->object)
        return FBP_OK;
    if (!cJSON_IsObject(out->object))
        return fbp_json_wrong(o, key, "an object in braces");
    return fbp_json_keys(out, keys, n);
}

/* Check and get one number; index: its position in the list at `key`, for messages; below 0: the
 * number is the value of `key` itself. */
static fbp_status number(const struct fbp_json *o, const char *key, const cJSON *v, long index,
                         const struct fbp_range *range, double *out)
{
    char name[128];
    const double x = cJSON_IsNumber(v) ? v->valuedouble : NAN;

    if (fbp_in_range(range, x)) {
        *out = x;
        return FBP_OK;
    }
    if (index < 0)
        return wrong(o, key, v, range->expected);
    snprintf(name, sizeof name, "%s[%ld]", key, index);
    return wrong(o, name, v, range->expected);
}

fbp_status fbp_json_numbers(const struct fbp_json *o, const char *key,
                            const struct fbp_range *range, size_t n_min, size_t n_max, double *out,
                            size_t *n)
{
    const cJSON *value = fbp_json_get(o, key), *item;
    long index = 0;

    *n = 0;
    if (!value)
        return FBP_OK;
    if (n_min == 1 && cJSON_IsNumber(value)) {
        FBP_TRY(number(o, key, value, -1, range, out));
        *n = 1;
        return FBP_OK;
    }
    const size_t size = cJSON_IsArray(value) ? (size_t)cJSON_GetArraySize(value) : 0;
    if (n_max == 1 || size < n_min || size > n_max) {
        char expected[96];
        if (n_min == n_max)
            snprintf(expected, sizeof expected, n_min == 1 ? "a number" : "a list of %zu numbers",
                     n_min);
        else
            snprintf(expected, sizeof expected, "a number or a list of %s%zu",
                     n_max > 2 ? "up to " : "", n_max);
        return fbp_json_wrong(o, key, expected);
    }
    cJSON_ArrayForEach(item, value)
    {
        FBP_TRY(number(o, key, item, index, range, out + index));
        index++;
    }
    *n = size;
    return FBP_OK;
}

fbp_status fbp_json_list(const struct fbp_json *o, const char *key, const struct fbp_range *range,
                         double **out, size_t *n)
{
    const cJSON *value = fbp_json_get(o, key);
    const size_t size = cJSON_IsArray(value) ? (size_t)cJSON_GetArraySize(value) : 1;
    double *list = NULL;

    *n = 0;
    if (!value)
        return FBP_OK;
    if (!(cJSON_IsNumber(value) || (cJSON_IsArray(value) && size > 0)))
        return fbp_json_wrong(o, key, "a number or a list of numbers");
    FBP_TRY(fbp_calloc((void **)&list, size, sizeof *list, key));
    const fbp_status st = fbp_json_numbers(o, key, range, 1, size > 1 ? size : 2, list, n);
    if (st != FBP_OK) {
        free(list);
        return st;
    }
    *out = list;
    return FBP_OK;
}

fbp_status fbp_json_table(const struct fbp_json *o, const char *key, size_t width, double **out,
                          size_t *n)
{
    const cJSON *value = fbp_json_get(o, key), *row, *item;
    const size_t size = cJSON_IsArray(value) ? (size_t)cJSON_GetArraySize(value) : 0;
    double *table = NULL, *to;
    long k = 0;
    fbp_status st = FBP_OK;

    *n = 0;
    if (size == 0)
        return fbp_json_wrong(o, key, "a path, or a list with one list of numbers per view");
    FBP_TRY(fbp_calloc((void **)&table, size, width * sizeof *table, key));
    to = table;
    cJSON_ArrayForEach(row, value)
    {
        char name[64], expected[64];
        long i = 0;
        snprintf(name, sizeof name, "%s[%ld]", key, k++);
        snprintf(expected, sizeof expected, "a list of %zu numbers", width);
        if (!cJSON_IsArray(row) || (size_t)cJSON_GetArraySize(row) != width)
            FBP_TRY_GOTO(wrong(o, name, row, expected));
        cJSON_ArrayForEach(item, row)
        {
            FBP_TRY_GOTO(number(o, name, item, i++, &fbp_range_finite, to++));
        }
    }
    *out = table;
    *n = size;
    return FBP_OK;
fail:
    free(table);
    return st;
}

fbp_status fbp_json_text(const struct fbp_json *o, const char *key, const char **out)
{
    const cJSON *value = fbp_json_get(o, key);

    if (!value)
        return FBP_OK;
    if (!cJSON_IsString(value) || value->valuestring[0] == '\0')
        return fbp_json_wrong(o, key, "text in quotes");
    *out = value->valuestring;
    return FBP_OK;
}

fbp_status fbp_json_choice(const struct fbp_json *o, const char *key, const char *const *names,
                           size_t n, size_t *out)
{
    const cJSON *value = fbp_json_get(o, key);
    char expected[160] = "";

    if (!value)
        return FBP_OK;
    for (size_t i = 0; i < n; i++) {
        if (cJSON_IsString(value) && strcmp(value->valuestring, names[i]) == 0) {
            *out = i;
            return FBP_OK;
        }
        fbp_text_add(expected, sizeof expected, " or ", "\"%s\"", names[i]);
    }
    return fbp_json_wrong(o, key, expected);
}

fbp_status fbp_json_flag(const struct fbp_json *o, const char *key, bool *out)
{
    const cJSON *value = fbp_json_get(o, key);

    if (!value)
        return FBP_OK;
    if (!cJSON_IsBool(value))
        return fbp_json_wrong(o, key, "true or false");
    *out = cJSON_IsTrue(value);
    return FBP_OK;
}
