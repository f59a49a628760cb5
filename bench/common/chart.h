/** @file chart.h  Charts side by side as one SVG: Figs. 3 and 4 of Ino et al. (2010), Figs. 1 to 3
 * and 5 of Qiao et al. (2015). */
#ifndef FBP_BENCH_COMMON_CHART_H
#define FBP_BENCH_COMMON_CHART_H

#include "fbp/types.h"

/** A line of a chart. */
struct bench_series {
    const char *name;
    const double *x, *y; /**< values of n points; points that are not finite are omitted */
    size_t n;
    bool published; /**< dashed, with open points */
    bool bare;      /**< a line without points */
    int colour;     /**< 0 to 5; lines of one kind share one */
};

struct bench_chart {
    const char *title, *x_name;
    bool log_x, log_y;
    bool ticks_at_points; /**< ticks of the x axis: the x of the first line */
    bool values;          /**< each point has its y as text */
    const struct bench_series *series;
    size_t n; /**< of series */
};

/** Draw n charts side by side.  @return FBP_ERR_IO, FBP_ERR_NOMEM. */
FBP_MUST_CHECK fbp_status bench_chart_draw(const char *path, const char *title,
                                           const struct bench_chart *charts, size_t n);

#endif /* FBP_BENCH_COMMON_CHART_H */
