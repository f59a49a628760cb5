/** @file bars.h  Bars on lanes over an axis of time, as SVG (internal). */
#ifndef FBP_SRC_BARS_H
#define FBP_SRC_BARS_H

#include "base/status.h"

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

#endif /* FBP_SRC_BARS_H */
