/* PNG files for the tests, by libpng. */
#ifndef FBP_TESTS_PNG_FILES_H
#define FBP_TESTS_PNG_FILES_H

#include "unit/io_util.h"

#include <png.h>

enum { NX = 23, NY = 17, PAGE = NX * NY, NZ = 3 };

struct way {
    int bits, colour, interlace;
    const char *description;
};

static inline uint16_t value(size_t k, size_t i, int bits)
{
    return (uint16_t)((i * 2654435761u + k * 977) >> 7) & (uint16_t)((1u << bits) - 1);
}

/* Packed by libpng from a sample in 8 or 16 bits. */
static inline void put_png(const char *path, const struct way *w, size_t k)
{
    FILE *f = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    const int channels = w->colour == PNG_COLOR_TYPE_RGB          ? 3
                         : w->colour == PNG_COLOR_TYPE_GRAY_ALPHA ? 2
                                                                  : 1;
    png_color palette[2] = {{0, 0, 0}, {255, 255, 255}};
    unsigned char row[NX * 6];
    assert_true(f && png && info);
    png_init_io(png, f);
    png_set_IHDR(png, info, NX, NY, w->bits, w->colour, w->interlace, 0, 0);
    if (w->colour == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 2);
    if (w->description) {
        char key[] = "Description";
        png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE,
                         .key = key,
                         .text = (char *)(uintptr_t)w->description};
        png_set_text(png, info, &text, 1);
    }
    png_write_info(png, info);
    if (w->bits < 8)
        png_set_packing(png);
    const int passes = w->interlace ? png_set_interlace_handling(png) : 1;
    for (int p = 0; p < passes; p++)
        for (size_t y = 0; y < NY; y++) {
            for (size_t x = 0; x < (size_t)NX * (size_t)channels; x++) {
                const uint16_t v = value(k, y * NX + x, w->bits);
                row[w->bits == 16 ? 2 * x : x] = (unsigned char)(w->bits == 16 ? v >> 8 : v);
                if (w->bits == 16)
                    row[2 * x + 1] = (unsigned char)v;
            }
            if (w->colour == PNG_COLOR_TYPE_PALETTE)
                memset(row, 1, sizeof row);
            png_write_row(png, row);
        }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

#endif /* FBP_TESTS_PNG_FILES_H */
