#include "array/onto.h"

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
