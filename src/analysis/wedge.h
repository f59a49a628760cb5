/** @file wedge.h  The column of the axis for which views of half a turn fit together (internal).
 *
 * Views of parallel beams and their mirror images behind them are a function of the angle over a
 * whole turn.  What lies within R of the axis moves along columns by at most R a radian, so that a
 * wave of frequency s along columns has no harmonics above R s along angles (the "bow tie" of
 * Rattey and Lindgren, IEEE Trans. ASSP 29 (1981) 994; an axis from it: Vo et al., Opt. Express 22
 * (2014) 19078).  Mirrored at another column it has.  What does not fit is found by least squares,
 * so that angles may be uneven; it depends on the column by a sine and a cosine.  What is the same
 * in all views (columns of their own sensitivity: rings) is left out of it.
 */
#ifndef FBP_SRC_WEDGE_H
#define FBP_SRC_WEDGE_H

#include "analysis/sinogram.h"

struct fbp_wedge {
    double column; /**< where the least is that does not fit */
    double error;  /**< its standard deviation, by how sharp that least is and by how rows and waves
                        scatter; columns */
    double spread; /**< greatest distance of what parts of them say */
};

/** Look about the column `near`, which is right to within some columns.  FBP_ERR_UNSUPPORTED: there
 *  are too few views or columns to tell. */
fbp_status fbp_wedge_find(struct fbp_wedge *out, const struct fbp_sinogram *s, double near);

/** Bytes that it takes. */
size_t fbp_wedge_bytes(size_t n_views, size_t n_columns, size_t n_rows);

#endif /* FBP_SRC_WEDGE_H */
