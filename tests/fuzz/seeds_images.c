#include "fuzz/seeds_foreign.h"

#include "unit/png_files.h"
#include "unit/tiff_files.h"

void fuzz_seeds_tiff(const char *folder)
{
    static const struct tiff_way ways[] = {
        {.mode = "wl"},
        {.mode = "wb"},
        {.mode = "w8"},
        {.bits = 8, .rows = 2, .orientation = ORIENTATION_BOTLEFT},
        {.bits = 32, .format = SAMPLEFORMAT_IEEEFP, .description = "ImageJ=1.52\nunit=mm\n"},
        {.bits = 16, .format = SAMPLEFORMAT_INT, .tile = 16},
        {.bits = 64, .format = SAMPLEFORMAT_IEEEFP, .compression = COMPRESSION_LZW},
        {.compression = COMPRESSION_ADOBE_DEFLATE, .predictor = PREDICTOR_HORIZONTAL},
        {.bits = 32,
         .format = SAMPLEFORMAT_IEEEFP,
         .compression = COMPRESSION_ADOBE_DEFLATE,
         .predictor = PREDICTOR_FLOATINGPOINT,
         .tile = 16},
        {.compression = COMPRESSION_PACKBITS, .rows = 3},
        {.bits = 8, .compression = COMPRESSION_LZMA},
        {.bits = 8, .photometric = PHOTOMETRIC_MINISWHITE},
        {.bits = 8, .photometric = PHOTOMETRIC_PALETTE},
        {.bits = 8, .photometric = PHOTOMETRIC_RGB, .samples = 3},
    };
    uint32_t samples[2 * 6 * 4 * 2];

    for (uint32_t i = 0; i < sizeof samples / sizeof *samples; i++)
        samples[i] = i * i % 1000;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        put_tiff(fuzz_seed_path(folder, "way", (int)i, ".tif"), &ways[i], 6, 4, 2, samples);
}

void fuzz_seeds_png(const char *folder)
{
    static const struct way ways[] = {
        {.bits = 1},
        {.bits = 2},
        {.bits = 4},
        {.bits = 8},
        {.bits = 16, .description = "a scan"},
        {.bits = 8, .interlace = PNG_INTERLACE_ADAM7},
        {.bits = 8, .colour = PNG_COLOR_TYPE_RGB},
        {.bits = 8, .colour = PNG_COLOR_TYPE_GRAY_ALPHA},
        {.bits = 8, .colour = PNG_COLOR_TYPE_PALETTE},
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        put_png(fuzz_seed_path(folder, "way", (int)i, ".png"), &ways[i], i);
}
