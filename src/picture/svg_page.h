/** @file svg_page.h  An SVG file that appears when it is complete (internal). */
#ifndef FBP_SRC_SVG_PAGE_H
#define FBP_SRC_SVG_PAGE_H

#include "base/status.h"

#include <stdio.h>

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

#endif /* FBP_SRC_SVG_PAGE_H */
