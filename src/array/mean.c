/* The mean of all slices of a source. */
#include "array/array.h"

#include "base/base.h"

#include <string.h>

fbp_status fbp_source_mean(fbp_source *source, double *mean)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t nc = info->n[0], nr = info->n[1];
    float *row = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_alloc((void **)&row, nc * sizeof *row, "an image row"));
    memset(mean, 0, nc * nr * sizeof *mean);
    for (size_t k = 0; k < info->n[2]; k++)
        for (size_t i = 0; i < nr; i++) { /* in the file's order: a compressed one is a stream */
            FBP_TRY_GOTO(fbp_source_read(source, k, 1, i, 1, row));
            for (size_t c = 0; c < nc; c++)
                mean[i * nc + c] += (double)row[c] / (double)info->n[2];
        }
    st = fbp_source_unchanged(source);
fail:
    fbp_free(row);
    return st;
}
