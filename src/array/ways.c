#include "array/ways.h"

#include "array/formats.h"

#include <string.h>

static fbp_status check_file(const char *path, const struct fbp_sink_format *f,
                             const struct fbp_ways *ways)
{
    const bool packed = f->packs_header || (ways->compress && f->can_compress);

    if (ways->parts && packed && !f->chunks)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: a compressed file is written from its start to its end, and not in "
                        "parts: write it plain, and compress it when it is complete",
                        path);
    return FBP_OK;
}

fbp_status fbp_ways_check(const char *path, const struct fbp_sink_format *format,
                          const struct fbp_ways *ways)
{
    size_t n;

    if (format)
        return check_file(path, format, ways);
    if (ways->parts && strcmp(path, "hash:") == 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "hash: is that of all slices, which parts that know nothing of each other "
                        "do not have: write a volume, or leave the parts out");
    if (fbp_format_of_slices(path))
        return FBP_OK;
    format = fbp_format_to_write(path, &n);
    return format ? check_file(path, format, ways) : FBP_OK;
}
