/** @file png.h  Writer of PNG pictures from pixels in memory (internal; png.c), for pictures of
 * slices and projections.
 * Used by: png.c, picture/draw.c. */
#ifndef FBP_SRC_ARRAY_FORMAT_PNG_H
#define FBP_SRC_ARRAY_FORMAT_PNG_H

#include "base/base.h"

/** Write pixels[n_rows][n_columns][channels] of 8 bits, top row first, as a PNG file. channels: 1
 * (grey) or 3 (RGB). */
fbp_status fbp_png_write(const char *path, size_t n_columns, size_t n_rows, int channels,
                         const uint8_t *pixels);

#endif /* FBP_SRC_ARRAY_FORMAT_PNG_H */
