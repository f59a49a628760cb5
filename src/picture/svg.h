/** @file svg.h  Drawings as SVG: page, bars over time, directions (internal). */
#ifndef FBP_SRC_SVG_H
#define FBP_SRC_SVG_H

#include "fbp/picture.h"

#include "base/base.h"

#include <stdio.h>

/* An SVG file that appears when it is complete. */

/** What is on the page; numbers are printed with decimal points, whatever the program's locale. */
typedef void fbp_svg_draw(FILE *f, const void *user);

/**
 * A page of width x height pixels with the project's fonts and background.  Classes of text: head,
 * small, name, value.
 * @return FBP_ERR_IO, FBP_ERR_NOMEM.
 */
fbp_status fbp_svg_page(const char *path, int width, int height, fbp_svg_draw *draw,
                        const void *user);

/** Text whose lower left corner is at (x, y); style: attributes.  `words` are SVG already. */
void fbp_svg_text(FILE *f, double x, double y, const char *style, const char *words);

/* Bars on lanes over an axis of time, as SVG. */

/** What happened on a lane from `begin` to `end` [s]. */
struct fbp_bar {
    size_t lane;
    double begin, end;
    size_t shade;    /**< even and odd ones are told apart */
    char words[120]; /**< what it was; shown with its times */
};

/**
 * Draw bars over an axis from 0 to the last end.  Each is a rect of class "bar" with a title
 * "LANE: WORDS, BEGIN to END ms".
 *
 * title  over the whole; lanes[n_lanes]: names, those without a bar are left out
 * @return FBP_ERR_IO, FBP_ERR_NOMEM.
 */
fbp_status fbp_bars_svg(const char *path, const char *title, const char *const *lanes,
                        size_t n_lanes, const struct fbp_bar *bars, size_t n_bars);

/* Directions on the sphere as a drawing. */

/** The half sphere with equal areas, the sphere from the side, and numbers; grid: NULL = none. */
fbp_status fbp_planes_svg(struct fbp_views views, const struct fbp_grid *grid,
                          const struct fbp_geometry_facts *facts, const char *path);

#endif /* FBP_SRC_SVG_H */
