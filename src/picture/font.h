/** @file font.h  Letters of 5 x 7 dots, for labels in PNG files (internal). */
#ifndef FBP_SRC_FONT_H
#define FBP_SRC_FONT_H

#include <stddef.h>
#include <stdint.h>

enum { FBP_GLYPH_WIDTH = 6, FBP_GLYPH_HEIGHT = 9 }; /**< dots a letter takes, gaps included */

/** RGB pixels that letters are drawn on. */
struct fbp_canvas {
    uint8_t *rgb; /**< [h][w][3], top row first */
    size_t w, h;
};

/**
 * Write a line of ASCII with its upper left corner at (x, y), `dot` pixels a dot.  Small letters
 * are written as capitals; what there is no letter for is a question mark.  What reaches beyond
 * column `end` (or the canvas) is left out, whole letters at a time.
 */
void fbp_font_write(const struct fbp_canvas *canvas, size_t x, size_t y, size_t end, size_t dot,
                    const uint8_t rgb[3], const char *text);

#endif /* FBP_SRC_FONT_H */
