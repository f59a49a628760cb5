/* The text files of an OME-Zarr image, version 0.4, on Zarr version 2. */
#include "array/format/zarr/zarr.h"

#include "array/file/bytes.h"
#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 600 };

static const char group[] = "{\n  \"zarr_format\": 2\n}\n";

/* "[z, y, x]" of numbers x, y, z. */
static const char *triple(char text[120], const double v[3])
{
    char number[3][32];

    snprintf(text, 120, "[%s, %s, %s]", fbp_number_text(number[2], v[2]),
             fbp_number_text(number[1], v[1]), fbp_number_text(number[0], v[0]));
    return text;
}

/* The centre of voxel 0 of a level is the mean of the voxels of level 0 that it is made of. */
static char *dataset(const struct fbp_array_info *info, bool placed, const struct fbp_level *level,
                     size_t k)
{
    double step[3], origin[3];
    char a[120], b[120];

    for (int i = 0; i < 3; i++) {
        const double spacing = placed ? info->spacing_mm[i] : 1;
        step[i] = spacing * (double)level->step[i];
        origin[i] = (placed ? info->origin_mm[i] : 0) + spacing * (double)(level->step[i] - 1) / 2;
    }
    return fbp_format("        {\n"
                      "          \"path\": \"%zu\",\n"
                      "          \"coordinateTransformations\": [\n"
                      "            {\"type\": \"scale\", \"scale\": %s},\n"
                      "            {\"type\": \"translation\", \"translation\": %s}\n"
                      "          ]\n"
                      "        }",
                      k, triple(a, step), triple(b, origin));
}

static char *axis(char name, bool placed)
{
    return fbp_format("{\"name\": \"%c\", \"type\": \"space\"%s}", name,
                      placed ? ", \"unit\": \"millimeter\"" : "");
}

static char *all_datasets(const struct fbp_array_info *info, bool placed,
                          const struct fbp_levels *levels)
{
    char *text = fbp_strdup("");

    for (size_t k = 0; text && k < levels->n_levels; k++) {
        char *one = dataset(info, placed, &levels->level[k], k);
        char *more = one ? fbp_format("%s%s%s", text, k ? ",\n" : "", one) : NULL;
        free(one);
        free(text);
        text = more;
    }
    return text;
}

/* What makes the group an image. */
static char *multiscales(const struct fbp_array_info *info, bool placed,
                         const struct fbp_levels *levels)
{
    char *z = axis('z', placed), *y = axis('y', placed), *x = axis('x', placed);
    char *datasets = all_datasets(info, placed, levels), *text = NULL;

    if (z && y && x && datasets)
        text = fbp_format("{\n"
                          "  \"multiscales\": [\n"
                          "    {\n"
                          "      \"version\": \"0.4\",\n"
                          "      \"name\": \"volume\",\n"
                          "      \"type\": \"mean\",\n"
                          "      \"axes\": [\n        %s,\n        %s,\n        %s\n      ],\n"
                          "      \"datasets\": [\n%s\n      ]\n"
                          "    }\n"
                          "  ]\n"
                          "}\n",
                          z, y, x, datasets);
    free(z);
    free(y);
    free(x);
    free(datasets);
    return text;
}

static char *array(enum fbp_type type, const struct fbp_levels *levels, size_t k, int compression)
{
    const size_t *n = levels->level[k].n, *c = levels->chunk;
    const char *code = type == FBP_U8    ? "|u1"
                       : type == FBP_U16 ? "<u2"
                       : type == FBP_F64 ? "<f8"
                                         : "<f4";
    char compressor[60] = "null";

    if (compression)
        snprintf(compressor, sizeof compressor, "{\"id\": \"zlib\", \"level\": %d}", compression);
    return fbp_format(FBP_ZARR_BEGIN "%zu, %zu, %zu],\n"
                                     "  \"chunks\": [%zu, %zu, %zu],\n"
                                     "  \"dtype\": \"%s\",\n"
                                     "  \"order\": \"C\",\n"
                                     "  \"fill_value\": 0,\n"
                                     "  \"compressor\": %s,\n"
                                     "  \"filters\": null,\n"
                                     "  \"dimension_separator\": \"/\"\n"
                                     "}\n",
                      n[2], n[1], n[0], c[2], c[1], c[0], code, compressor);
}

/* Another member of an object, "units"; any text may be a unit. */
static char *unit_member(const char *unit)
{
    cJSON *value = unit[0] ? cJSON_CreateString(unit) : NULL;
    char *quoted = cJSON_PrintUnformatted(value);
    char *out = !unit[0] ? fbp_strdup("")
                : quoted ? fbp_format(",\n  \"units\": %s", quoted)
                         : NULL;

    cJSON_free(quoted);
    cJSON_Delete(value);
    return out;
}

/* What the numbers stand for, by the names of the CF conventions. */
static char *attributes(const struct fbp_array_info *info)
{
    char a[32], b[32], scale[120] = "", *unit = unit_member(info->unit), *out = NULL;

    if (info->scale != 0)
        snprintf(scale, sizeof scale, ",\n  \"scale_factor\": %s,\n  \"add_offset\": %s",
                 fbp_number_text(a, info->scale), fbp_number_text(b, info->offset));
    if (unit)
        out = fbp_format("{\n  \"_ARRAY_DIMENSIONS\": [\"z\", \"y\", \"x\"]%s%s\n}\n", unit, scale);
    free(unit);
    return out;
}

static fbp_status text(const struct fbp_array_info *info, const struct fbp_levels *levels,
                       int compression, size_t k, char **name, char **out)
{
    const size_t level = k / 2 - 1;
    bool placed;

    *name = *out = NULL;
    FBP_TRY(fbp_sink_spacing("OME-Zarr", info, &placed));
    if (k >= 2 && level >= levels->n_levels)
        return FBP_OK;
    if (k < 2) {
        *name = fbp_strdup(k ? ".zattrs" : ".zgroup");
        *out = k ? multiscales(info, placed, levels) : fbp_strdup(group);
    } else {
        *name = fbp_format("%zu/%s", level, k % 2 ? ".zattrs" : ".zarray");
        *out = k % 2 ? attributes(info) : array(info->type, levels, level, compression);
    }
    return *name && *out ? FBP_OK : fbp_fail_nomem(ROOM, "an OME-Zarr header");
}

const struct fbp_chunk_format fbp_zarr_chunks = {.text = text};

/* It has no header; what there is beside the samples is text(). */
fbp_status fbp_zarr_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out)
{
    bool given;

    (void)compressed_bytes;
    FBP_TRY(fbp_sink_spacing(path, info, &given));
    return fbp_layout_one(out, path);
}
