#include "array/format/png/png_write.h"
#include "array/file/outfile.h"
#include "array/format/png/png_memory.h"

/* libpng calls this instead of returning; it must not return either. */
static void on_error(png_structp png, png_const_charp text)
{
    const struct fbp_piece *to = png_get_error_ptr(png);

    (void)fbp_fail(FBP_ERR_IO, "%s: cannot write PNG: %s", to->path, text);
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

static void describe(png_structp png, png_infop info, char *description)
{
    char key[] = "Description";
    png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = description};

    if (description)
        png_set_text(png, info, &text, 1); /* copies it */
}

/* Everything that may jump: no local that is used behind is changed after setjmp. */
static fbp_status write_all(png_structp png, png_infop info, struct fbp_piece *to,
                            const struct fbp_png_image *image)
{
    if (setjmp(png_jmpbuf(png)))
        return FBP_ERR_IO;
    png_set_write_fn(png, to, on_write, on_flush);
    png_set_IHDR(png, info, (png_uint_32)image->n_columns, (png_uint_32)image->n_rows, image->bits,
                 image->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (image->quick) {
        png_set_compression_level(png, 1);
        png_set_filter(png, 0, PNG_FILTER_SUB);
    }
    describe(png, info, image->description);
    png_write_info(png, info);
    if (image->bits == 16)
        png_set_swap(png);
    for (size_t y = 0; y < image->n_rows; y++)
        png_write_row(png, image->row(image->user, y));
    png_write_end(png, NULL);
    return FBP_OK;
}

fbp_status fbp_png_put(struct fbp_piece *to, const struct fbp_png_image *image)
{
    bool no_memory = false;
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, to, on_error, on_warning,
                                                &no_memory, fbp_png_take, fbp_png_give_back);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    fbp_status st =
        info ? write_all(png, info, to, image) : fbp_fail_nomem(0, "a writer of PNG files");

    if (no_memory)
        st = FBP_ERR_NOMEM;
    png_destroy_write_struct(&png, &info);
    return st;
}

struct pixels {
    const uint8_t *first;
    size_t row_bytes;
};

static const void *row_of(void *user, size_t y)
{
    const struct pixels *p = user;

    return p->first + y * p->row_bytes;
}

fbp_status fbp_png_write(const char *path, size_t n_columns, size_t n_rows, int channels,
                         const uint8_t *pixels)
{
    struct pixels all = {pixels, n_columns * (size_t)channels};
    const struct fbp_png_image image = {n_columns, n_rows,        channels,
                                        .bits = 8, .row = row_of, .user = &all};
    struct fbp_piece to = {0};
    struct fbp_outfile out;
    fbp_status st;

    FBP_TRY_GOTO(fbp_outfile_open(&out, path));
    FBP_TRY_GOTO(fbp_piece_open(&to, out.fd, path, 0));
    FBP_TRY_GOTO(fbp_png_put(&to, &image));
    FBP_TRY_GOTO(fbp_piece_flush(&to));
    st = fbp_outfile_finish(&out);
fail:
    fbp_piece_close(&to);
    fbp_outfile_clear(&out);
    return st;
}
