#include "picture/outfile.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fbp_status fbp_outfile_open(struct fbp_outfile *out, const char *path)
{
    *out = (struct fbp_outfile){.path = fbp_strdup(path), .part = fbp_format("%s.part", path)};
    if (!out->path || !out->part)
        return fbp_fail_nomem(strlen(path), "file name");
    out->f = fopen(out->part, "wbe");
    if (!out->f)
        return fbp_fail(FBP_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
    return FBP_OK;
}

fbp_status fbp_outfile_finish(struct fbp_outfile *out)
{
    const bool bad = ferror(out->f) != 0;
    const bool closed = fclose(out->f) == 0;

    out->f = NULL;
    if (bad || !closed)
        return fbp_fail(FBP_ERR_IO, "%s: cannot write: %s", out->path, strerror(errno));
    if (rename(out->part, out->path) != 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot rename the finished file: %s", out->path,
                        strerror(errno));
    free(out->part);
    out->part = NULL;
    return FBP_OK;
}

void fbp_outfile_clear(struct fbp_outfile *out)
{
    if (out->f)
        fclose(out->f);
    if (out->part)
        unlink(out->part);
    free(out->part);
    free(out->path);
    *out = (struct fbp_outfile){0};
}
