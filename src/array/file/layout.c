/* What a sink writes around the samples: names and headers. */
#include "array/file/format.h"

#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

fbp_status fbp_layout_one(struct fbp_layout *out, const char *path)
{
    out->data_path = fbp_strdup(path);
    return out->data_path ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}

fbp_status fbp_layout_pair(struct fbp_layout *out, const char *path, const char *own,
                           const char *samples, const char **name)
{
    const char *slash;

    out->data_path = fbp_format("%.*s%s", (int)(strlen(path) - strlen(own)), path, samples);
    out->side_path = fbp_strdup(path);
    if (!out->data_path || !out->side_path)
        return fbp_fail_nomem(strlen(path), "a path");
    slash = strrchr(out->data_path, '/');
    *name = slash ? slash + 1 : out->data_path;
    return FBP_OK;
}

fbp_status fbp_layout_put(const struct fbp_layout *layout, const struct fbp_array_info *info,
                          struct fbp_piece *to)
{
    return layout->put_header ? layout->put_header(info, to)
                              : fbp_piece_put(to, layout->header, layout->header_bytes);
}

void fbp_layout_clear(struct fbp_layout *layout)
{
    free(layout->header);
    free(layout->side_path);
    free(layout->side_text);
    free(layout->data_path);
    memset(layout, 0, sizeof *layout);
}

fbp_status fbp_sink_spacing(const char *path, const struct fbp_array_info *info, bool *given)
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
