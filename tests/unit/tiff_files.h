/* TIFF files for the tests, by libtiff. */
#ifndef FBP_TESTS_TIFF_FILES_H
#define FBP_TESTS_TIFF_FILES_H

#include "unit/io_util.h"

#include <tiffio.h>

/* How a file is written; zero means plain strips of all rows, little-endian, uint16. */
struct tiff_way {
    const char *mode; /* NULL: "wl" */
    uint16_t bits, format, compression, predictor, photometric, samples, orientation;
    uint32_t rows, tile; /* of a strip; side of a tile */
    const char *description;
};

static inline void put_tags(TIFF *t, const struct tiff_way *w, uint32_t nx, uint32_t ny)
{
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, nx);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, ny);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, w->bits ? w->bits : 16);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, w->format ? w->format : SAMPLEFORMAT_UINT);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, w->samples ? w->samples : 1);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, w->photometric ? w->photometric : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_COMPRESSION, w->compression ? w->compression : COMPRESSION_NONE);
    if (w->predictor)
        TIFFSetField(t, TIFFTAG_PREDICTOR, w->predictor);
    if (w->photometric == PHOTOMETRIC_PALETTE) {
        static uint16_t map[256];
        TIFFSetField(t, TIFFTAG_COLORMAP, map, map, map);
    }
    if (w->orientation)
        TIFFSetField(t, TIFFTAG_ORIENTATION, w->orientation);
    if (w->description)
        TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, w->description);
    if (w->tile) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, w->tile);
        TIFFSetField(t, TIFFTAG_TILELENGTH, w->tile);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, w->rows ? w->rows : ny);
    }
}

/* libtiff swaps the buffers that it is given. */
static inline void put_strips(TIFF *t, uint32_t ny, size_t row_bytes, uint32_t rows,
                              const char *page)
{
    AUTO_FREE char *copy = not_null(malloc(ny * row_bytes));
    memcpy(copy, page, ny * row_bytes);
    for (uint32_t y = 0; y < ny; y += rows) {
        const uint32_t n = ny - y < rows ? ny - y : rows;
        assert_true(TIFFWriteEncodedStrip(t, y / rows, copy + y * row_bytes,
                                          (tmsize_t)(n * row_bytes)) >= 0);
    }
}

static inline void put_tiles(TIFF *t, uint32_t nx, uint32_t ny, size_t size, uint32_t side,
                             const char *page)
{
    AUTO_FREE char *tile = not_null(malloc(side * side * size));
    for (uint32_t y = 0; y < ny; y += side)
        for (uint32_t x = 0; x < nx; x += side) {
            memset(tile, 0x55, side * side * size); /* beyond the edge, too */
            for (uint32_t r = 0; r < side && y + r < ny; r++)
                memcpy(tile + r * side * size, page + ((y + r) * nx + x) * size,
                       (nx - x < side ? nx - x : side) * size);
            assert_true(TIFFWriteTile(t, tile, x, y, 0, 0) > 0);
        }
}

/* Pages [n][ny][nx] of native samples. */
static inline void put_tiff(const char *path, const struct tiff_way *w, uint32_t nx, uint32_t ny,
                            size_t n, const void *samples)
{
    const size_t size = (w->bits ? w->bits : 16u) / 8u * (w->samples ? w->samples : 1u);
    TIFF *t = not_null(TIFFOpen(path, w->mode ? w->mode : "wl"));
    for (size_t k = 0; k < n; k++) {
        const char *page = (const char *)samples + k * nx * ny * size;
        put_tags(t, w, nx, ny);
        if (w->tile)
            put_tiles(t, nx, ny, size, w->tile, page);
        else
            put_strips(t, ny, nx * size, w->rows ? w->rows : ny, page);
        assert_true(TIFFWriteDirectory(t));
    }
    TIFFClose(t);
}

#endif /* FBP_TESTS_TIFF_FILES_H */
