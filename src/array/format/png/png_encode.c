/* PNG files of a sink's slices: greyscale of 8 or 16 bits, a row converted at a time. */
#include "array/format/png/png_encode.h"
#include "array/file/describe.h"
#include "array/format/png/png_memory.h"

#include "base/mem.h"

#include <string.h>

static void on_error(png_structp png, png_const_charp text)
{
    const struct fbp_piece *p = png_get_error_ptr(png);

    (void)fbp_fail(FBP_ERR_IO, "%s: cannot write PNG: %s", p->path, text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_write(png_structp png, png_bytep data, png_size_t n)
{
    if (fbp_piece_put(png_get_io_ptr(png), data, n) != FBP_OK)
        png_error(png, "the file cannot be written");
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* Everything that may jump: no local that is used behind is changed after setjmp. */
static fbp_status write_all(png_structp png, png_infop info, struct fbp_piece *p,
                            const struct fbp_array_info *slice, char *description, void *row,
                            const float *values, uint64_t *clipped)
{
    char key[] = "Description";
    png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = description};

    if (setjmp(png_jmpbuf(png)))
        return FBP_ERR_IO;
    png_set_write_fn(png, p, on_write, on_flush);
    png_set_IHDR(png, info, (png_uint_32)slice->n[0], (png_uint_32)slice->n[1],
                 slice->type == FBP_U16 ? 16 : 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 1); /* noise shrinks little at any level */
    png_set_filter(png, 0, PNG_FILTER_SUB);
    png_set_text(png, info, &text, 1);
    png_write_info(png, info);
    png_set_swap(png);
    for (size_t y = 0; y < slice->n[1]; y++) {
        *clipped += fbp_from_float(slice, values + y * slice->n[0], slice->n[0], row);
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
    return FBP_OK;
}

static fbp_status encode(struct fbp_piece *p, const struct fbp_array_info *slice,
                         const float *values, uint64_t *clipped)
{
    char *description = fbp_describe(slice);
    bool no_memory = false;
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, p, on_error, on_warning,
                                                &no_memory, fbp_png_take, fbp_png_give_back);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    fbp_status st = FBP_OK;
    void *row = NULL;

    if (!info || !description) {
        st = fbp_fail_nomem(0, "a PNG writer");
        goto fail;
    }
    FBP_TRY_GOTO(fbp_alloc(&row, slice->n[0] * fbp_type_size(slice->type), "a row"));
    st = write_all(png, info, p, slice, description, row, values, clipped);
    if (no_memory)
        st = FBP_ERR_NOMEM;
fail:
    png_destroy_write_struct(&png, &info);
    fbp_free(row);
    free(description);
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
