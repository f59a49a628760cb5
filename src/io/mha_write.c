/* MetaImage headers for sinks; `Unit` is a key of our own, which other readers ignore. */
#include "io/bytes.h"
#include "io/format.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "Key = x y z\n", or nothing. */
static void append_triple(char *buf, size_t n, const char *key, const double x[3])
{
    char a[32], b[32], c[32];
    const size_t at = strlen(buf);

    snprintf(buf + at, n - at, "%s = %s %s %s\n", key, fbp_number_text(a, x[0]),
             fbp_number_text(b, x[1]), fbp_number_text(c, x[2]));
}

static fbp_status check_spacing(const char *path, const struct fbp_array_info *info, bool *given)
{
    *given = false;
    for (int i = 0; i < 3; i++)
        *given |= info->spacing_mm[i] != 0;
    for (int i = 0; i < 3 && *given; i++)
        if (!(info->spacing_mm[i] > 0) || !isfinite(info->spacing_mm[i]) ||
            !isfinite(info->origin_mm[i]))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: spacing %g mm, origin %g mm along axis %d cannot be written", path,
                            info->spacing_mm[i], info->origin_mm[i], i);
    return FBP_OK;
}

/* The size of the stream takes the same room whatever it is: the header is written twice. */
static fbp_status header(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, const char *data_file, char **out)
{
    char size[64] = "", place[400] = "", unit[32] = "";
    bool given = false;

    FBP_TRY(check_spacing(path, info, &given));
    if (compressed_bytes)
        snprintf(size, sizeof size, "CompressedDataSize = %20llu\n",
                 (unsigned long long)compressed_bytes);
    if (given) {
        append_triple(place, sizeof place, "Offset", info->origin_mm);
        append_triple(place, sizeof place, "ElementSpacing", info->spacing_mm);
    }
    if (info->unit[0])
        snprintf(unit, sizeof unit, "Unit = %.15s\n", info->unit);
    *out = fbp_format("ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                      "BinaryDataByteOrderMSB = False\nCompressedData = %s\n%s"
                      "TransformMatrix = 1 0 0 0 1 0 0 0 1\n%s%sDimSize = %zu %zu %zu\n"
                      "ElementType = MET_FLOAT\nElementDataFile = %s\n",
                      compressed_bytes ? "True" : "False", size, place, unit, info->n[0],
                      info->n[1], info->n[2], data_file);
    return *out ? FBP_OK : fbp_fail_nomem(512, "a MetaImage header");
}

static fbp_status layout_mha(const char *path, const struct fbp_array_info *info,
                             uint64_t compressed_bytes, struct fbp_layout *out)
{
    FBP_TRY(header(path, info, compressed_bytes, "LOCAL", &out->header));
    out->header_bytes = strlen(out->header);
    out->data_path = fbp_strdup(path);
    return out->data_path ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}

static fbp_status layout_mhd(const char *path, const struct fbp_array_info *info,
                             uint64_t compressed_bytes, struct fbp_layout *out)
{
    const size_t stem = strlen(path) - 4; /* without ".mhd" */
    const char *slash;

    out->data_path = fbp_format("%.*s%s", (int)stem, path, compressed_bytes ? ".zraw" : ".raw");
    out->side_path = fbp_strdup(path);
    if (!out->data_path || !out->side_path)
        return fbp_fail_nomem(strlen(path), "a path");
    slash = strrchr(out->data_path, '/');
    return header(path, info, compressed_bytes, slash ? slash + 1 : out->data_path,
                  &out->side_text);
}

const struct fbp_sink_format fbp_sink_mha = {
    .name = "mha", .extensions = ".mha", .layout = layout_mha, .can_compress = true};
const struct fbp_sink_format fbp_sink_mhd = {
    .name = "mhd", .extensions = ".mhd", .layout = layout_mhd, .can_compress = true};
