/* Writer of raw files, which have no header: little-endian samples, [z][y][x] (table
 * fbp_format_raw). If integers have a scale or the array is a series, it also writes a
 * description, FILE.json. source.c reads raw files by such a description, or by that of the
 * caller.
 * Used by: array/formats.c. */
#include "array/file/format.h"

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    (void)compressed_bytes;
    FBP_TRY(fbp_layout_one(out, path));
    const bool described = info->scale != 0 || fbp_array_frames(info) > 1;
    return described ? fbp_describe_beside(path, info, out) : FBP_OK;
}

static const struct fbp_sink_format files[] = {
    {.extensions = ".raw .bin .vol", .layout = layout, .frames = true}, {0}};

const struct fbp_format fbp_format_raw = {
    .name = "raw", .title = "raw", .extensions = "", .files = files};
