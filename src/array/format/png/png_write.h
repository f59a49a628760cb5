/** @file png_write.h  The writer of PNG files: slices of a sink, and pictures (internal). */
#ifndef FBP_SRC_PNG_WRITE_H
#define FBP_SRC_PNG_WRITE_H

#include "array/file/piece.h"

struct fbp_png_image {
    size_t n_columns, n_rows;
    int channels;      /**< 1 (grey) or 3 (RGB) */
    int bits;          /**< of a channel: 8, or 16 in this machine's byte order */
    bool quick;        /**< compress little: noise shrinks little at any level */
    char *description; /**< a text beside the pixels; NULL: none */
    /** Pixels of row y, from the top; asked for in order, and used until the next call. */
    const void *(*row)(void *user, size_t y);
    void *user;
};

/** @return FBP_ERR_NOMEM, FBP_ERR_IO. */
fbp_status fbp_png_put(struct fbp_piece *to, const struct fbp_png_image *image);

/** The same as a file: pixels[n_rows][n_columns][channels] of 8 bits, top row first. */
fbp_status fbp_png_write(const char *path, size_t n_columns, size_t n_rows, int channels,
                         const uint8_t *pixels);

#endif /* FBP_SRC_PNG_WRITE_H */
