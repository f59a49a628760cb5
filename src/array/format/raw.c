/* Plain little-endian samples, [z][y][x], nothing else; what integers mean, and that they are a
 * series [frame][z][y][x], stands beside them. */
#include "array/file/describe.h"
#include "array/file/frames.h"

#include "base/base.h"
#include "base/text.h"

#include <string.h>

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    (void)compressed_bytes;
    FBP_TRY(fbp_layout_one(out, path));
    const bool told = info->scale != 0 || fbp_array_frames(info) > 1;
    return told ? fbp_describe_beside(path, info, out) : FBP_OK;
}

static const struct fbp_sink_format files[] = {
    {.extensions = ".raw .bin .vol", .layout = layout, .frames = true}, {0}};

const struct fbp_format fbp_format_raw = {
    .name = "raw", .title = "raw", .extensions = "", .files = files};
