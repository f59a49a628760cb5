/* PNG files of a sink's slices: greyscale of 8 or 16 bits, a row converted at a time. */
#include "array/format/png/png_encode.h"
#include "array/file/describe.h"
#include "array/format/png/png_write.h"

#include "base/base.h"

#include <stdlib.h>

/* A slice whose values are converted as its rows are asked for. */
struct rows {
    const struct fbp_array_info *slice;
    const float *values;
    void *row;
    uint64_t *clipped;
};

static const void *next_row(void *user, size_t y)
{
    const struct rows *r = user;
    const size_t n = r->slice->n[0];

    *r->clipped += fbp_from_float(r->slice, r->values + y * n, n, r->row);
    return r->row;
}

static fbp_status encode(struct fbp_piece *p, const struct fbp_array_info *slice,
                         const void *values, uint64_t *clipped)
{
    struct rows rows = {slice, values, NULL, clipped};
    struct fbp_png_image image = {.n_columns = slice->n[0],
                                  .n_rows = slice->n[1],
                                  .channels = 1,
                                  .bits = slice->type == FBP_U16 ? 16 : 8,
                                  .quick = true,
                                  .description = fbp_describe(slice),
                                  .row = next_row,
                                  .user = &rows};
    fbp_status st;

    if (!image.description) {
        st = fbp_fail_nomem(0, "the description of a PNG file");
        goto fail;
    }
    FBP_TRY_GOTO(fbp_alloc(&rows.row, slice->n[0] * fbp_type_size(slice->type), "a row"));
    st = fbp_png_put(p, &image);
fail:
    fbp_free(rows.row);
    free(image.description);
    return st;
}

enum { MOST_PIXELS = 1000000 }; /* libpng's own bound */

static fbp_status check(const char *path, const struct fbp_array_info *info)
{
    if (info->n[0] <= MOST_PIXELS && info->n[1] <= MOST_PIXELS)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID, "%s: %zu x %zu pixels are too many for PNG: write TIFF", path,
                    info->n[0], info->n[1]);
}

const struct fbp_slice_format fbp_png_slices = {
    .extensions = ".png",
    .encode = encode,
    .check = check,
    .integers_only = true,
    .compressed = true,
};
