/** @file draw.h  Pictures of volumes as PNG, and drawings as SVG (internal).
 *
 * draw.c draws views of a volume and contact sheets; turn.c rotates slices; a backend may project
 * volumes (struct fbp_projector).  svg.c draws geometries, directions, curves and bars.
 */
#ifndef FBP_SRC_PICTURE_DRAW_H
#define FBP_SRC_PICTURE_DRAW_H

#include "fbp/array.h"
#include "fbp/picture.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* turn.c: slices of a volume, rotated about the axis z through its middle.
 *
 * The value of a rotated slice at (i, j) is interpolated at a place of the original slice.  Places
 * are sums of integers from tables, in 1/256 of a voxel, so that every device finds the same ones;
 * weights, too: 1/256 and 255/256 have no rounding in fp32.  A value is a fixed sequence of
 * roundings, and none of its operands is so small that an intermediate result is denormal: devices
 * without denormal numbers give the same bits.
 */

enum { FBP_TURN_UNIT = 256 };

/** Bits of 2^-80: values below it count as 0. */
#define FBP_TURN_LEAST 0x17800000u

struct fbp_turn {
    size_t n[2];      /**< voxels of a slice along x, y */
    size_t turned[2]; /**< voxels of a rotated slice, which contains it */
    double mm[2];     /**< size of these voxels */
    bool whole;       /**< whole quarters of a turn: voxels are taken as they are */
    /** Tables along x, for column i and for row j; along y, the same: the place for (i, j) is
     *  (x_i + x_j, y_i + y_j), 0 being the middle of the first voxel.  In memory in this order:
     * x_i, y_i, x_j, y_j. */
    int32_t *x_i, *y_i, *x_j, *y_j;
};

/** Rotate by `degrees`, counter-clockwise seen from +z; n, mm: of the volume.  fbp_turn_clear()
 * frees the tables. */
fbp_status fbp_turn_make(struct fbp_turn *out, const size_t n[2], const double mm[2],
                         double degrees);
void fbp_turn_clear(struct fbp_turn *turn);

/** Entries of the tables. */
static inline size_t fbp_turn_entries(const struct fbp_turn *t)
{
    return 2 * (t->turned[0] + t->turned[1]);
}

/** Call once before rows are taken from a slice [n[1]][n[0]]: values that are not finite become
 * NaN, and values that are too small 0. */
void fbp_turn_prepare(const struct fbp_turn *turn, float *slice);

/** Row j of the rotated slice, turned[0] values; NaN outside the slice. */
void fbp_turn_row(const struct fbp_turn *turn, const float *slice, size_t j, float *row);

/** A device that projects volumes; the member `projector` of a backend points to one.  Greatest
 * values are those that a host finds by fbp_turn_row(), with the same bits; -INFINITY if there are
 * none. */
struct fbp_projector {
    /** Open a device for a volume of n_slices; the turn must outlive the device.  *at_once:
     * greatest number of slices per call.  *out is NULL on failure. */
    fbp_status (*open)(void **out, int index, const struct fbp_turn *turn, size_t n_slices,
                       size_t *at_once);
    void (*close)(void **device);
    /** Project the next n slices [n][turn->n[1]][turn->n[0]]: greatest values along y and along x,
     * in front[n][turned[0]] and side[n][turned[1]]; those along z stay on the device. */
    fbp_status (*project)(void *device, const float *slices, size_t n, float *front, float *side);
    /** Fetch the greatest values along z so far: rows [row0, row0 + n) in top[n][turned[0]]. */
    fbp_status (*top)(void *device, size_t row0, size_t n, float *top);
};

/* draw.c: views and labels as PNG. */

/** Draw as fbp_picture_write_source() does, with complete and checked parameters: greatest values
 * by device `index` of a projector, or, if that is NULL, by the host. */
fbp_status fbp_viewer_draw(fbp_source *volume, const char *name, const char *png_path,
                           const struct fbp_picture_params *params,
                           const struct fbp_projector *projector, int index);

enum { FBP_GLYPH_WIDTH = 6, FBP_GLYPH_HEIGHT = 9 }; /**< dots per letter, gaps included */

/** RGB pixels on which letters are drawn. */
struct fbp_canvas {
    uint8_t *rgb; /**< [h][w][3], top row first */
    size_t w, h;
};

/**
 * Write a line of ASCII with its upper left corner at (x, y), `dot` pixels per dot, in letters of 5
 * x 7 dots.  Small letters are written as capitals, characters without a letter as question marks.
 * Letters that extend beyond column `end` (or the canvas) are left out.
 */
void fbp_font_write(const struct fbp_canvas *canvas, size_t x, size_t y, size_t end, size_t dot,
                    const uint8_t rgb[3], const char *text);

/* svg.c: drawings.  A file appears when it is complete. */

/** Draws the contents of a page; numbers are printed with decimal points in any locale. */
typedef void fbp_svg_draw(FILE *f, const void *user);

/**
 * Write a page of width x height pixels with the project's fonts and background.  Classes of text:
 * head, small, name, value.
 * @return FBP_ERR_IO, FBP_ERR_NOMEM.
 */
fbp_status fbp_svg_page(const char *path, int width, int height, fbp_svg_draw *draw,
                        const void *user);

/** Write text with its lower left corner at (x, y); style: attributes; words: SVG, already escaped.
 */
void fbp_svg_text(FILE *f, double x, double y, const char *style, const char *words);

/** An event on a lane from `begin` to `end` [s]. */
struct fbp_bar {
    size_t lane;
    double begin, end;
    size_t shade;    /**< odd and even ones have different shades */
    char words[120]; /**< description; shown with its times */
};

/**
 * Draw bars over an axis from 0 to the last end.  Each is a rect of class "bar" with a title
 * "LANE: WORDS, BEGIN to END ms".
 *
 * title  above the drawing; lanes[n_lanes]: names, those without a bar are left out
 * @return FBP_ERR_IO, FBP_ERR_NOMEM.
 */
fbp_status fbp_bars_svg(const char *path, const char *title, const char *const *lanes,
                        size_t n_lanes, const struct fbp_bar *bars, size_t n_bars);

#endif /* FBP_SRC_PICTURE_DRAW_H */
