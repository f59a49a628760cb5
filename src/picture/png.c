#include "picture/png.h"

#include "array/file/outfile.h"
#include "array/format/png/png_memory.h"

/* libpng calls this instead of returning; it must not return either. */
static void on_error(png_structp png, png_const_charp text)
{
    const struct fbp_outfile *out = png_get_error_ptr(png);
    (void)fbp_fail(FBP_ERR_IO, "%s: cannot write PNG: %s", out->path, text);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

/* Everything that may jump, apart from what must be freed: no local is changed after setjmp. */
static fbp_status write_all(png_structp png, png_infop info, FILE *f, size_t w, size_t h,
                            int channels, const uint8_t *pixels)
{
    if (setjmp(png_jmpbuf(png)))
        return FBP_ERR_IO;
    png_init_io(png, f);
    png_set_IHDR(png, info, (png_uint_32)w, (png_uint_32)h, 8,
                 channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < h; y++)
        png_write_row(png, pixels + y * w * (size_t)channels);
    png_write_end(png, NULL);
    return FBP_OK;
}

fbp_status fbp_png_write(const char *path, size_t w, size_t h, int channels, const uint8_t *pixels)
{
    struct fbp_outfile out;
    bool no_memory = false;
    png_structp png = NULL;
    png_infop info = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_outfile_open(&out, path));
    png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &out, on_error, on_warning, &no_memory,
                                    fbp_png_take, fbp_png_give_back);
    info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        st = fbp_fail_nomem(0, "PNG writer");
        goto fail;
    }
    FBP_TRY_GOTO(write_all(png, info, out.f, w, h, channels, pixels));
    st = no_memory ? FBP_ERR_NOMEM : fbp_outfile_finish(&out);
fail:
    png_destroy_write_struct(&png, &info);
    fbp_outfile_clear(&out);
    return st;
}
