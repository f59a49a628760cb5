/** @file viewer.h  Pictures of a volume as PNG: views from three sides, contact sheets (internal).
 */
#ifndef FBP_SRC_VIEWER_H
#define FBP_SRC_VIEWER_H

#include "fbp/array.h"
#include "fbp/picture.h"

#include "picture/turn.h"

#include <stddef.h>
#include <stdint.h>

/* Three pictures of a volume while they are made. */

/** One picture: bins along two axes of the volume, k[] voxels a bin. */
struct fbp_plane {
    int axis[2];    /**< of the volume: to the right, up */
    size_t bins[2]; /**< columns, rows; row 0 is the lowest */
    size_t w, h;    /**< pixels */
    float *value;   /**< [bins[1]][bins[0]] sums, then means; or greatest values */
};

struct fbp_viewer {
    fbp_source *src;
    const struct fbp_array_info *info; /**< of one frame, whose first slice is z0 */
    size_t z0;
    bool mip;
    size_t slice[3];
    size_t n[3];  /**< voxels of what is shown: turned, where it is */
    double mm[3]; /**< of a voxel of it */
    size_t k[3];  /**< voxels a bin, along x, y, z */
    struct fbp_plane planes[3];
    size_t band_rows;
    float *band;
    const struct fbp_turn *turn;           /**< NULL: the volume is shown as it lies */
    const struct fbp_projector *projector; /**< NULL: the host turns */
    int index;                             /**< of its device */
    void *device;
    size_t at_once;      /**< slices that are turned at once */
    float *slices;       /**< of them [at_once][ny][nx], as they were read */
    size_t rows;         /**< of a turned slice that are there at once */
    float *row;          /**< these */
    float *front, *side; /**< of the projector */
};

/** One pass over the volume, all that it shows into the bins of the pictures. */
fbp_status fbp_viewer_read(struct fbp_viewer *viewer);

/** Drawing as fbp_picture_write_source() does, with whole and checked parameters: greatest values
 *  by device `index` of a projector, or NULL: by the host. */
fbp_status fbp_viewer_draw(fbp_source *volume, const char *name, const char *png_path,
                           const struct fbp_picture_params *params,
                           const struct fbp_projector *projector, int index);

/* Letters of 5 x 7 dots, for labels in PNG files. */

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

/* A device that projects volumes, for pictures.
 *
 * The member `projector` of a backend points to one.  Greatest values are those that a host
 * finds by turn.h, with the same bits; -INFINITY where there are none.
 */

struct fbp_projector {
    /** A volume of n_slices; the turn must outlive the device.  *at_once: slices that it takes at
     *  once, at most.  NULL on failure. */
    fbp_status (*open)(void **out, int index, const struct fbp_turn *turn, size_t n_slices,
                       size_t *at_once);
    void (*close)(void **device);
    /** The next n slices [n][turn->n[1]][turn->n[0]]: greatest values along y and along x, in
     *  front[n][turned[0]] and side[n][turned[1]]; those along z stay on the device. */
    fbp_status (*project)(void *device, const float *slices, size_t n, float *front, float *side);
    /** Greatest values along z so far: rows [row0, row0 + n) in top[n][turned[0]]. */
    fbp_status (*top)(void *device, size_t row0, size_t n, float *top);
};

#endif /* FBP_SRC_VIEWER_H */
