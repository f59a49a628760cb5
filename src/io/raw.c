/* Plain little-endian float32, [z][y][x], nothing else. */
#include "io/format.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    (void)info;
    (void)compressed_bytes;
    out->data_path = fbp_strdup(path);
    return out->data_path ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}

const struct fbp_sink_format fbp_sink_raw = {
    .name = "raw", .extensions = ".raw .bin .vol", .layout = layout};
