#include "array/onto.h"

#include "base/base.h"
#include "base/text.h"

#include <string.h>

fbp_status fbp_source_onto(fbp_source *src, fbp_source *below)
{
    const struct fbp_array_info *info = &below->info;

    src->below = below;
    src->stored_type = below->below ? below->stored_type : info->scale != 0 ? FBP_F32 : info->type;
    src->stored_bytes =
        below->below ? below->stored_bytes
                     : (uint64_t)info->n[0] * info->n[1] * info->n[2] * fbp_type_size(info->type);
    src->path = fbp_strdup(below->path);
    if (!src->path)
        return fbp_fail_nomem(strlen(below->path), "a path");
    return fbp_inputs_add_all(&src->inputs, &below->inputs, 0);
}

fbp_status fbp_source_over(fbp_source **out, fbp_source_set_up *set_up, const void *what,
                           fbp_source *below, bool owned)
{
    fbp_source *src = NULL;

    *out = NULL;
    fbp_status st = fbp_calloc((void **)&src, 1, sizeof *src, "a source");
    if (st == FBP_OK) {
        src->fd = -1;
        st = set_up(src, what, below);
    }
    if (st == FBP_OK) {
        src->owns_below = owned;
        *out = src;
        return FBP_OK;
    }
    fbp_source_close(&src);
    if (owned)
        fbp_source_close(&below);
    return st;
}
