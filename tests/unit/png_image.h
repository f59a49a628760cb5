/* Pictures read back: all of a PNG file, in the format asked for. */
#ifndef FBP_TESTS_PNG_IMAGE_H
#define FBP_TESTS_PNG_IMAGE_H

#include "test.h"

#include <png.h>

struct image {
    size_t w, h;
    uint8_t *samples; /* free() them */
};

/* format: PNG_FORMAT_GRAY or PNG_FORMAT_RGB, of 1 and 3 samples a pixel. */
static inline struct image decode(const char *path, png_uint_32 format)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&png, path));
    png.format = format;
    struct image im = {png.width, png.height, malloc(PNG_IMAGE_SIZE(png))};
    assert_non_null(im.samples);
    assert_true(png_image_finish_read(&png, NULL, im.samples, 0, NULL));
    return im;
}

#endif
