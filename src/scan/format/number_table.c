#include "scan/format/number_table.h"

#include "array/array.h"
#include "array/file/format.h"
#include "base/base.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* All samples, as they lie in the file. */
static fbp_status read_all(fbp_source *source, double *out)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t n = info->n[0] * info->n[1] * info->n[2];
    float *single = NULL;

    if (info->type == FBP_F64 && info->scale == 0)
        return fbp_source_read_as_is(source, 0, info->n[2], 0, info->n[1], out);
    FBP_TRY(fbp_calloc((void **)&single, n, sizeof *single, "a table of numbers"));
    const fbp_status st = fbp_source_read(source, 0, info->n[2], 0, info->n[1], single);
    for (size_t i = 0; i < n; i++)
        out[i] = (double)single[i];
    free(single);
    return st;
}

/* [width][n] to [n][width]. */
static fbp_status turn(double *v, size_t width, size_t n)
{
    double *was = NULL;

    FBP_TRY(fbp_calloc((void **)&was, width * n, sizeof *was, "a table of numbers"));
    memcpy(was, v, width * n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++)
            v[i * width + k] = was[k * n + i];
    free(was);
    return FBP_OK;
}

static fbp_status take(fbp_source *source, const char *path, size_t width, const char *what,
                       double **out, size_t *n)
{
    const size_t *size = fbp_source_info(source)->n;
    const size_t rows = size[1] * size[2];
    size_t count = 0;

    FBP_TRY(fbp_mul(size[0], rows, "a table of numbers", &count));
    const bool is_list = width == 1, by_rows = size[0] == width;
    if (count == 0 || !(is_list || by_rows || (rows == width && size[2] == 1)))
        return fbp_fail(FBP_ERR_INVALID, "%s: holds %zu x %zu x %zu numbers: give %s", path,
                        size[2], size[1], size[0], what);
    FBP_TRY(fbp_calloc((void **)out, count, sizeof **out, "a table of numbers"));
    *n = count / width;
    FBP_TRY(read_all(source, *out));
    for (size_t i = 0; i < count; i++)
        if (!isfinite((*out)[i]))
            return fbp_fail(FBP_ERR_INVALID, "%s: number %zu is not finite: correct it", path, i);
    return is_list || by_rows ? FBP_OK : turn(*out, width, *n);
}

fbp_status fbp_number_table_load(const char *path, size_t width, const char *what, double **out,
                                 size_t *n)
{
    fbp_source *source = NULL;

    *out = NULL;
    *n = 0;
    if (fbp_has_extension(path, ".csv .txt .tsv .dat"))
        return fbp_number_rows_load(path, width, what, out, n);
    FBP_TRY(fbp_source_open_as(&source, path, NULL, FBP_SOURCE_LIST));
    const fbp_status st = take(source, path, width, what, out, n);
    fbp_source_close(&source);
    if (st != FBP_OK) {
        free(*out);
        *out = NULL;
    }
    return st;
}

fbp_status fbp_directions_load(const char *path, double (**out)[3], size_t *n)
{
    FBP_GIVEN(path, out, n);
    double *list = NULL;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_number_table_load(path, 3, "3 numbers a direction", &list, n));
    *out = (double(*)[3])(void *)list;
    return FBP_OK;
}
