/* MetaImage headers for sinks; `Unit` is a key of our own, which other readers ignore; what
 * integers mean is said by MetaImage's ElementToIntensityFunction. */
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/format/mha/mha.h"

#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* "Key = x y z\n", and what stands for a fourth axis. */
static void append_axes(char *buf, size_t n, const char *key, const double x[3], const char *fourth)
{
    char a[32], b[32], c[32];
    const size_t at = strlen(buf);

    snprintf(buf + at, n - at, "%s = %s %s %s%s\n", key, fbp_number_text(a, x[0]),
             fbp_number_text(b, x[1]), fbp_number_text(c, x[2]), fourth);
}

/* The size of the stream takes the same room whatever it is: the header is written twice. */
/* The same for the facts of a volume, with those of a fourth axis: times are counted. */
struct axes {
    char dims[8], place[480], turn[64], sizes[120];
};

static void tell_axes(const struct fbp_array_info *info, bool given, struct axes *out)
{
    const bool series = fbp_array_frames(info) > 1;
    char frames[32] = "";

    if (series)
        snprintf(frames, sizeof frames, " %zu", info->frames);
    snprintf(out->dims, sizeof out->dims, "%d", series ? 4 : 3);
    snprintf(out->turn, sizeof out->turn, "%s",
             series ? "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1" : "1 0 0 0 1 0 0 0 1");
    snprintf(out->sizes, sizeof out->sizes, "%zu %zu %zu%s", info->n[0], info->n[1],
             fbp_frame_slices(info), frames);
    out->place[0] = '\0';
    if (!given)
        return;
    append_axes(out->place, sizeof out->place, "Offset", info->origin_mm, series ? " 0" : "");
    append_axes(out->place, sizeof out->place, "ElementSpacing", info->spacing_mm,
                series ? " 1" : "");
}

static fbp_status header(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, const char *data_file, char **out)
{
    char size[64] = "", unit[32] = "", scale[160] = "", comment[280] = "", a[32], b[32];
    const char *element = info->type == FBP_U8    ? "MET_UCHAR"
                          : info->type == FBP_U16 ? "MET_USHORT"
                          : info->type == FBP_F64 ? "MET_DOUBLE"
                                                  : "MET_FLOAT";
    bool given = false;
    struct axes axes;

    FBP_TRY(fbp_sink_spacing(path, info, &given));
    if (compressed_bytes)
        snprintf(size, sizeof size, "CompressedDataSize = %20llu\n",
                 (unsigned long long)compressed_bytes);
    tell_axes(info, given, &axes);
    if (info->unit[0])
        snprintf(unit, sizeof unit, "Unit = %.15s\n", info->unit);
    if (info->history[0])
        snprintf(comment, sizeof comment, "Comment = %s\n", info->history);
    if (info->scale != 0)
        snprintf(scale, sizeof scale,
                 "ElementToIntensityFunctionSlope = %s\nElementToIntensityFunctionOffset = %s\n",
                 fbp_number_text(a, info->scale), fbp_number_text(b, info->offset));
    *out = fbp_format("ObjectType = Image\nNDims = %s\nBinaryData = True\n"
                      "BinaryDataByteOrderMSB = False\nCompressedData = %s\n%s"
                      "TransformMatrix = %s\n%s%s%s%sDimSize = %s\n"
                      "ElementType = %s\nElementDataFile = %s\n",
                      axes.dims, compressed_bytes ? "True" : "False", size, axes.turn, axes.place,
                      unit, comment, scale, axes.sizes, element, data_file);
    return *out ? FBP_OK : fbp_fail_nomem(512, "a MetaImage header");
}

static fbp_status layout_mha(const char *path, const struct fbp_array_info *info,
                             uint64_t compressed_bytes, struct fbp_layout *out)
{
    FBP_TRY(header(path, info, compressed_bytes, "LOCAL", &out->header));
    out->header_bytes = strlen(out->header);
    return fbp_layout_one(out, path);
}

static fbp_status layout_mhd(const char *path, const struct fbp_array_info *info,
                             uint64_t compressed_bytes, struct fbp_layout *out)
{
    const char *name;

    FBP_TRY(fbp_layout_pair(out, path, ".mhd", compressed_bytes ? ".zraw" : ".raw", &name));
    return header(path, info, compressed_bytes, name, &out->side_text);
}

const struct fbp_sink_format fbp_mha_files[] = {
    {.extensions = ".mha", .layout = layout_mha, .can_compress = true, .frames = true},
    {.extensions = ".mhd", .layout = layout_mhd, .can_compress = true, .frames = true},
    {0},
};
