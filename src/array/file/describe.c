/* Writes and parses (fbp_describe(), fbp_parse_description()) one line of JSON with properties of
 * an array that a format cannot store: row order, unit, scale of integers, spacing, origin,
 * history, frames. TIFF and PNG files contain the line; if RAW and NPY files need it, it is in
 * FILE.json. Also makes the warning about missing chunks of HDF5 and Zarr arrays
 * (fbp_describe_missing()).
 * Used by: array/, array/format/. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char bottom_up[] = "bottom-up", top_down[] = "top-down";

char *fbp_describe(const struct fbp_array_info *i)
{
    char scale[32], offset[32], scaled[120] = "", unit[40] = "", place[320] = "", frames[40] = "";
    char spacing[100], origin[100], history[300] = "", slice[80] = "";

    if (i->slices)
        snprintf(slice, sizeof slice, ", \"slice\": %zu, \"slices\": %zu", i->slice, i->slices);
    if (fbp_array_frames(i) > 1)
        snprintf(frames, sizeof frames, ", \"frames\": %zu", i->time_points);
    if (i->scale != 0)
        snprintf(scaled, sizeof scaled, ", \"scale\": %s, \"offset\": %s",
                 fbp_number_text(scale, i->scale), fbp_number_text(offset, i->offset));
    if (i->unit[0])
        snprintf(unit, sizeof unit, ", \"unit\": \"%.15s\"", i->unit);
    if (i->spacing_mm[0] > 0)
        snprintf(place, sizeof place, ", \"spacing_mm\": [%s], \"origin_mm\": [%s]",
                 fbp_triple_text(spacing, sizeof spacing, ", ", i->spacing_mm),
                 fbp_triple_text(origin, sizeof origin, ", ", i->origin_mm));
    if (i->history[0])
        snprintf(history, sizeof history, ", \"history\": \"%s\"", i->history);
    return fbp_format("{\"fbp\": 1, \"type\": \"%s\", \"size\": [%zu, %zu, %zu], \"rows\": \"%s\""
                      "%s%s%s%s%s%s}",
                      fbp_type_name(i->type), i->n[0], i->n[1], i->n[2],
                      i->row_order == FBP_ROWS_TOP_DOWN ? top_down : bottom_up, frames, unit,
                      scaled, place, history, slice);
}

static bool number(const cJSON *root, const char *key, double *out)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);

    if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
        return false;
    *out = item->valuedouble;
    return true;
}

static bool triple(const cJSON *root, const char *key, double out[3])
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, key);

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) != 3)
        return false;
    for (int i = 0; i < 3; i++) {
        const cJSON *item = cJSON_GetArrayItem(list, i);
        if (!cJSON_IsNumber(item) || !isfinite(item->valuedouble))
            return false;
        out[i] = item->valuedouble;
    }
    return true;
}

static const char *text_of(const cJSON *root, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);

    return cJSON_IsString(item) ? item->valuestring : "";
}

/* Fill *info from the parsed JSON line that fbp_describe() wrote; sized: its size must be that of
 * *info. false: another program wrote the line, or it is damaged or describes another array. */
static bool take(const cJSON *root, bool sized, struct fbp_array_info *info)
{
    const char *rows = text_of(root, "rows"), *unit = text_of(root, "unit");
    const enum fbp_type type = fbp_type_from_name(text_of(root, "type"));
    double version, n[3], frames, slice, slices;

    if (!number(root, "fbp", &version) || !triple(root, "size", n) || type == FBP_TYPE_NONE)
        return false;
    for (int i = 0; i < 3; i++) { /* an unknown size is taken from the line */
        if (info->type == FBP_TYPE_NONE && n[i] >= 1 && n[i] < 0x1p40)
            info->n[i] = (size_t)n[i];
        if (sized && !(fabs(n[i] - (double)info->n[i]) < 0.5))
            return false;
    }
    if (info->type != FBP_TYPE_NONE && type != info->type)
        return false;
    if (strcmp(rows, bottom_up) != 0 && strcmp(rows, top_down) != 0)
        return false;
    info->type = type;
    info->row_order = rows[0] == 't' ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP;
    if (strlen(unit) < sizeof info->unit)
        snprintf(info->unit, sizeof info->unit, "%s", unit);
    snprintf(info->history, sizeof info->history, "%.255s", text_of(root, "history"));
    if (cJSON_HasObjectItem(root, "scale") &&
        (!number(root, "scale", &info->scale) || !number(root, "offset", &info->offset)))
        return false;

    /* Index and number of slices, if the file is one slice of a volume; older files lack them. */
    if (number(root, "slice", &slice) && number(root, "slices", &slices) && slice >= 0 &&
        slice < slices && slices < 0x1p40) {
        info->slice = (size_t)slice;
        info->slices = (size_t)slices;
    }
    if (cJSON_HasObjectItem(root, "frames")) {
        if (!number(root, "frames", &frames) || !(frames >= 1 && frames <= (double)info->n[2]) ||
            info->n[2] % (size_t)frames != 0)
            return false;
        info->time_points = (size_t)frames;
    }
    if (!cJSON_HasObjectItem(root, "spacing_mm"))
        return true;
    if (!triple(root, "spacing_mm", info->spacing_mm) ||
        !triple(root, "origin_mm", info->origin_mm))
        return false;
    for (int i = 0; i < 3; i++)
        if (!(info->spacing_mm[i] > 0))
            return false;
    info->has_spacing = true;
    return true;
}

fbp_status fbp_parse_description(const char *text, size_t n, bool sized,
                                 struct fbp_array_info *info, bool *ours)
{
    struct fbp_array_info found = *info;
    cJSON *root = NULL;
    char *line = NULL;

    *ours = false;
    if (!memmem(text, n < 40 ? n : 40, "\"fbp\"", 5))
        return FBP_OK;
    line = strndup(text, n); /* `text` may have no final '\0' */
    if (!line)
        return fbp_fail_nomem(n, "a description");
    const fbp_status st = fbp_json_parse(line, strlen(line), NULL, &root);
    free(line);
    if (st == FBP_ERR_NOMEM)
        return st;
    *ours = root && take(root, sized, &found);
    cJSON_Delete(root);
    if (*ours)
        *info = found;
    return FBP_OK;
}

void fbp_describe_missing(const char *path, size_t n, size_t all, const char *what,
                          const unsigned char *lacks, struct fbp_array_info *info)
{
    enum { RUNS = 4 };
    const size_t n_slices = info->n[2];
    char list[120] = "";
    size_t runs = 0;

    for (size_t z = 0, end; lacks && z < n_slices && runs <= RUNS; z = end) {
        for (end = z + 1; end < n_slices && lacks[end] == lacks[z];)
            end++;
        if (!lacks[z])
            continue;
        const size_t used = strlen(list);
        if (runs++ == RUNS)
            snprintf(list + used, sizeof list - used, ", ...");
        else if (end > z + 1)
            snprintf(list + used, sizeof list - used, "%s%zu to %zu", used ? ", " : "", z, end - 1);
        else
            snprintf(list + used, sizeof list - used, "%s%zu", used ? ", " : "", z);
    }
    snprintf(info->missing, sizeof info->missing,
             "%.120s: %zu of %zu %s%s%s%s; their samples are replaced by the fill value; copy the "
             "file again, unless they are missing on purpose",
             path, n, all, what, runs ? " (views or slices " : "", list,
             runs ? ", counted from 0)" : "");
}

fbp_status fbp_parse_description_beside(const char *path, struct fbp_array_info *info, bool *ours)
{
    enum { MOST_BYTES = 4096 };
    char *beside = NULL, *text = NULL;
    fbp_status st = FBP_OK;
    struct stat is;
    size_t n = 0;

    *ours = false;
    FBP_TRY(fbp_print_path(&beside, "%s.json", path));
    /* PATH.json may be another program's: it is read only if it is a small regular file. */
    if (stat(beside, &is) == 0) {
        if (S_ISREG(is.st_mode) && is.st_size <= MOST_BYTES)
            st = fbp_read_text(beside, MOST_BYTES, &text, &n);
    } else if (errno != ENOENT && errno != ENOTDIR) {
        st = fbp_fail(FBP_ERR_IO, "%s: cannot read: %s", beside, strerror(errno));
    }
    if (st == FBP_OK && text)
        st = fbp_parse_description(text, n, true, info, ours);
    free(text);
    free(beside);
    return st;
}

fbp_status fbp_describe_beside(const char *path, const struct fbp_array_info *info,
                               struct fbp_layout *out)
{
    char *line = fbp_describe(info);

    out->side_path = fbp_format("%s.json", path);
    out->side_text = line ? fbp_format("%s\n", line) : NULL;
    free(line);
    return out->side_path && out->side_text ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}
