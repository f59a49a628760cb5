/** @file png.h  8-bit PNG files (internal). */
#ifndef FBP_SRC_PNG_H
#define FBP_SRC_PNG_H

#include "base/status.h"

/** pixels[h][w][channels], top row first; channels 1 (grey) or 3 (RGB). */
fbp_status fbp_png_write(const char *path, size_t w, size_t h, int channels, const uint8_t *pixels);

#endif /* FBP_SRC_PNG_H */
