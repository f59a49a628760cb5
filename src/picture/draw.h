/** @file draw.h Draws images for inspection (internal): PNG pictures of volumes, PNG contact sheets
 * of several images, and SVG drawings of geometries, directions, curves and bars over time.
 *
 * draw.c writes PNG files, svg.c SVG files. For maximum intensity projections of a rotated volume,
 * turn.c rotates slices on the host; a backend may project on a device (struct fbp_projector).
 * Used by: bench/, cli/, backend/, picture/, pipeline/. */
#ifndef FBP_SRC_PICTURE_DRAW_H
#define FBP_SRC_PICTURE_DRAW_H

#include "fbp/array.h"
#include "fbp/picture.h"

#include "geometry/view.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * turn.c: slices of a volume, rotated about the z axis through the volume's centre
 *
 * The value of a rotated slice at (i, j) is interpolated at a position of the original slice.
 * Positions are sums of integers from tables, in 1/256 of a voxel; therefore all devices compute
 * equal positions, and equal weights, because multiples of 1/256 are exact in fp32. A value is a
 * fixed sequence of roundings, and no operand is small enough for a denormal intermediate result:
 * devices without denormal numbers produce the same bits.
 */

enum { FBP_TURN_UNIT = 256 };

/** Bits of the float 2^-80; smaller magnitudes become 0 before a slice is interpolated. */
#define FBP_TURN_LEAST 0x17800000u

struct fbp_turn {
    size_t n[2];      /**< voxels of a slice along x, y */
    size_t turned[2]; /**< numbers of columns and rows of a rotated slice, which is large enough for
                         the whole original slice */
    double mm[2];     /**< size of the voxels of a rotated slice along x, y [mm] */
    bool whole; /**< true: the angle is a multiple of 90 degrees, and voxels are copied without
                   interpolation */
    /** Tables for column i and row j of the rotated slice: its voxel (i, j) is interpolated at
     * position (x_i[i] + x_j[j], y_i[i] + y_j[j]) of the original slice, in units of 1/256 voxel
     * from the centre of the first voxel. The four tables are contiguous in memory, in this order.
     */
    int32_t *x_i, *y_i, *x_j, *y_j;
};

/** Compute the tables for a rotation of slices by `degrees`, counter-clockwise seen from +z.  n,
 * mm: number and size of the volume's voxels along x, y.  fbp_turn_clear() frees the tables. */
fbp_status fbp_turn_make(struct fbp_turn *out, const size_t n[2], const double mm[2],
                         double degrees);
void fbp_turn_clear(struct fbp_turn *turn);

static inline size_t fbp_turn_entries(const struct fbp_turn *t)
{
    return 2 * (t->turned[0] + t->turned[1]);
}

/** Prepare a slice [n[1]][n[0]] once, before its rows are interpolated: values that are not finite
 * become NaN, and magnitudes below 2^-80 become 0. Does nothing if turn->whole. */
void fbp_turn_prepare(const struct fbp_turn *turn, float *slice);

/** Compute row j of the rotated slice: row[turned[0]]; NaN outside the original slice. */
void fbp_turn_row(const struct fbp_turn *turn, const float *slice, size_t j, float *row);

/** Functions by which a device computes maximum intensity projections of a rotated volume; optional
 * member `projector` of a backend. The greatest values have the same bits as on the host, which
 * uses fbp_turn_row(); -INFINITY if a ray meets no voxel. */
struct fbp_projector {
    /** Opens device number `index` for a volume of n_slices slices; the tables of `turn` must exist
     * until close(). Sets *at_once to the greatest number of slices per call of project(). *out is
     * NULL on failure. */
    fbp_status (*open)(void **out, int index, const struct fbp_turn *turn, size_t n_slices,
                       size_t *at_once);
    void (*close)(void **device);
    /** Rotates and projects the next n slices [n][turn->n[1]][turn->n[0]]: greatest values along y
     * into front[n][turned[0]], along x into side[n][turned[1]]; the device stores those along z
     * for top(). */
    fbp_status (*project)(void *device, const float *slices, size_t n, float *front, float *side);
    /** Gets rows [row0, row0 + n) of the projection along z of all slices passed to project() so
     * far: top[n][turned[0]]. */
    fbp_status (*top)(void *device, size_t row0, size_t n, float *top);
};

/* draw.c: views and labels as PNG */

/** Compute the grey window [*lo, *hi], hi > lo: the range of the n finite values in `sample`
 * without the n / part lowest and the n / part highest ones. Sorts and frees `sample`. */
void fbp_grey_window(float *sample, size_t n, size_t part, double *lo, double *hi);

/** Draw a volume as fbp_picture_write() does; the caller has checked the parameters and set all of
 * them, and `name` is the volume's name in messages. Device `index` of the projector computes
 * maximum intensity projections; projector NULL: the host does. */
fbp_status fbp_viewer_draw(fbp_source *volume, const char *name, const char *png_path,
                           const struct fbp_picture_params *params,
                           const struct fbp_projector *projector, int index);

enum { FBP_GLYPH_WIDTH = 6, FBP_GLYPH_HEIGHT = 9 }; /**< dots per letter, including the gap */

/** RGB pixels on which letters are drawn. */
struct fbp_canvas {
    uint8_t *rgb; /**< [h][w][3], top row first */
    size_t w, h;
};

/**
 * Draw a line of ASCII text with its upper left corner at (x, y) in letters of 5 x 7 dots; dot:
 * pixels per dot. Lower-case letters are drawn as capitals, unknown characters as question marks.
 * The text ends before a letter that would extend beyond column `end`; pixels outside the canvas
 * are omitted.
 */
void fbp_font_write(const struct fbp_canvas *canvas, size_t x, size_t y, size_t end, size_t dot,
                    const uint8_t rgb[3], const char *text);

/* svg.c: SVG drawings; a file gets its final name only when it is complete */

/** Callback that writes the contents of an SVG page to f. While it runs, fprintf() writes decimal
 * points in any locale. */
typedef void fbp_svg_draw(FILE *f, const void *user);

/** Write an SVG page of width x height pixels with the project's fonts and background, which
 * defines the CSS classes head, small, name and value for text.
 * @return FBP_ERR_IO, FBP_ERR_NOMEM. */
fbp_status fbp_svg_page(const char *path, int width, int height, fbp_svg_draw *draw,
                        const void *user);

/** Write an SVG text element at (x, y) [pixels], by default the left end of its baseline. style:
 * SVG attributes; words: text in which the caller has escaped &, < and >. */
void fbp_svg_text(FILE *f, double x, double y, const char *style, const char *words);

/** A bar of a drawing over time (fbp_bars_svg()), in row `lane`, from `begin` to `end` [s]. */
struct fbp_bar {
    size_t lane;
    double begin, end;
    size_t shade;    /**< shade % 2 selects one of two shades of the row's colour */
    char words[120]; /**< description, shown with the times */
};

/**
 * Draw bars over a time axis from 0 to the last end. Each bar is a rect of class "bar" with a title
 * "LANE: WORDS, BEGIN to END ms".
 *
 * title  above the drawing
 * lanes  [n_lanes] names of the rows; rows without bars are not drawn
 * @return FBP_ERR_IO, FBP_ERR_NOMEM
 */
fbp_status fbp_bars_svg(const char *path, const char *title, const char *const *lanes,
                        size_t n_lanes, const struct fbp_bar *bars, size_t n_bars);

/** One image of a contact sheet (fbp_sheet_write()). */
struct fbp_tile {
    const float *values; /**< values of the image, [n[1]][n[0]] with n = fbp_sheet_params.n, row 0
                            at the bottom */
    const char *label;   /**< ASCII text below the image; '\n' begins a new line */
    /** true: the image gets a coloured frame, and its label the colour of the frame */
    bool marked;
};

/** Parameters of fbp_sheet_write(). */
struct fbp_sheet_params {
    size_t n[2];       /**< number of values of each image along x and y */
    const char *title; /**< one line of ASCII at the top; NULL: none */
};

/**
 * Draw a contact sheet: at least one image, all of the same size, in rows, as one RGB PNG. One grey
 * window extends from the 0.5 to the 99.5 percentile of all images. Images whose longer side has at
 * most 64 values are enlarged by a whole factor. Lines of a label are cut off after 79 characters.
 *
 * @return FBP_ERR_IO, FBP_ERR_NOMEM.
 */
fbp_status fbp_sheet_write(const char *png_path, const struct fbp_tile *tiles, size_t n_tiles,
                           const struct fbp_sheet_params *params);

/** Returns a rough upper limit of the memory that fbp_sheet_write() needs [bytes], for n_tiles
 * images whose labels have `label_lines` lines. */
size_t fbp_sheet_bytes(size_t n_tiles, size_t label_lines, const struct fbp_sheet_params *params);

/** A curve through the points (x[i], y[i]), 0 <= i < n, with ascending x, and its labels. */
struct fbp_curve {
    const char *title, *x_name, *y_name;
    const double *x, *y;
    size_t n;
    double best; /**< x that is marked; NaN: none */
};

/** Draw a curve as SVG.
 * @return FBP_ERR_INVALID (no points, or no finite value), FBP_ERR_IO, FBP_ERR_NOMEM. */
fbp_status fbp_curve_svg(const struct fbp_curve *curve, const char *path);

/**
 * Draw the geometry of a scan as SVG: seen from +z (x to the right, y up) and from the side (first
 * source to the left, z up), in one scale, with the numbers of `facts`. Plane integrals: the
 * directions of the views on a sphere.
 *
 * @param grid   NULL, or n[0] == 0: no volume is drawn
 * @param facts  facts of these views, from fbp_views_facts()
 * @return FBP_ERR_INVALID (no views), FBP_ERR_IO, FBP_ERR_NOMEM.
 */
fbp_status fbp_geometry_svg(struct fbp_views views, const struct fbp_grid *grid,
                            const struct fbp_geometry_facts *facts, const char *path);

#endif /* FBP_SRC_PICTURE_DRAW_H */
