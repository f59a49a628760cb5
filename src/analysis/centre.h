/** @file centre.h  Two methods of fbp_centre_find() for the detector column of the rotation axis
 * (internal): from rays that are measured twice (match.c), and from all views of half a turn
 * (wedge.c); and the detector rows that both need (sinogram.c).
 * Used by: analysis/. */
#ifndef FBP_SRC_ANALYSIS_CENTRE_H
#define FBP_SRC_ANALYSIS_CENTRE_H

#include "fbp/recon.h"

#include "base/base.h"

#include <math.h>

/* sinogram.c */

/** Line integrals of some detector rows of a scan whose views turn about an axis. */
struct fbp_sinogram {
    bool has_source;                   /**< fan or cone (geometry/kind.h) */
    size_t n_views, n_columns, n_rows; /**< n_rows: number of rows that were read */
    size_t first_row, gap; /**< panel's row of the first row, and distance of the rows [rows] */
    double *angles;        /**< [view] angles of sources or beams about the axis, ascending [rad] */
    float *values;         /**< [row][view][column] */
    double tangent; /**< column pitch / distance from source to panel; 0 for parallel beams */
    int along;   /**< +1: column numbers ascend in the direction in which a source moves that turns
                    counter-clockwise; -1: in the opposite direction */
    double step; /**< median angle between neighbouring views [rad] */
    double arc;  /**< angle from the first view to the last [rad] */
    bool closed; /**< true: full circle, the first view follows the last */
    double centre; /**< column of the projected iso-centre in the scan file, mean of the views */
};

/**
 * Read up to `most_rows` detector rows, corrected as for backprojection (dark, flat, logarithm, bad
 * pixels).  For parallel beams, the rows are evenly spread; else they are neighbours around the row
 * of the projected iso-centre.
 *
 * source  stored views; NULL: the scan's projections
 */
fbp_status fbp_sinogram_read(struct fbp_sinogram *s, const struct fbp_scan *scan,
                             fbp_source *source, size_t most_rows);
void fbp_sinogram_clear(struct fbp_sinogram *s);

/** Average groups of neighbouring views, columns and rows of s; those after the last whole group
 * are omitted.  Column c of *out is the mean of columns c * columns to (c + 1) * columns - 1 of s.
 */
fbp_status fbp_sinogram_join(struct fbp_sinogram *out, const struct fbp_sinogram *s, size_t views,
                             size_t columns, size_t rows);

/** Get the position of the least value of a parabola through `at` at x, and `before` and `after`
 * one step beside x; at most one step from x. */
static inline double fbp_vertex(double x, double step, double before, double at, double after)
{
    const double bend = before - 2 * at + after;
    const double move = bend > 0 ? (before - after) / (2 * bend) : before < after ? -1 : 1;

    return x + fmax(-1, fmin(1, move)) * step;
}

/* match.c
 *
 * The ray of column x at angle b is measured again in column 2 c - x at angle b + pi - 2 g, where g
 * is its fan angle and c the column of the rotation axis: both values agree only for the right c.
 * Parallel beams over half a turn measure hardly any ray twice, but their last views must continue
 * smoothly in the mirror images of the first.
 *
 * Differences of neighbouring means along columns are compared.  The part that all views share is
 * removed, because columns of different sensitivity (rings) would outweigh the object. */

struct fbp_match {
    const struct fbp_sinogram *s;
    float *values;   /**< smoothed s; if `joins`, without the fine structure that views share */
    double *scratch; /**< [9 n_columns + 1] work memory for a row (match.c) */
    size_t width;    /**< number of columns per mean */
    /** squares of differences of neighbouring means: sum over columns, mean over rows and views */
    double energy;
    /** true (parallel beams over half a turn): the last views are compared with the mirror images
     * of the first, instead of pairs of opposite rays */
    bool joins;
};

/** Prepare a comparison of opposite rays; s must outlive *m.  width: number of columns per mean.
 * FBP_ERR_UNSUPPORTED: the views cover too small an angle. */
fbp_status fbp_match_create(struct fbp_match *m, const struct fbp_sinogram *s, size_t width);
void fbp_match_clear(struct fbp_match *m);

struct fbp_agreement {
    double misfit; /**< sum of (a - b)^2 over sum of a^2 + b^2 of opposite rays; 0: equal */
    double share;  /**< sum of squares of the compared values / that of all values */
};

/** Compute how well opposite rays agree for axis column c, from every `stride`-th view of part
 * `part` of `parts`. A part of a full circle is a sector; of other scans, every `parts`-th view. If
 * m->joins, stride is ignored, and the comparisons are divided into parts. */
void fbp_match_at(const struct fbp_match *m, double c, size_t stride, size_t part, size_t parts,
                  struct fbp_agreement *out);

/* wedge.c
 *
 * Views of parallel beams, followed by their mirror images, are a function of the angle over a
 * whole turn.  Points within R of the axis move along columns by at most R per radian, therefore a
 * wave of frequency s along columns has no harmonics above R s along angles (the "bow tie" of
 * Rattey and Lindgren, IEEE Trans. ASSP 29 (1981) 994; used for the axis by Vo et al., Opt. Express
 * 22 (2014) 19078).  If the images are mirrored at a wrong column, higher harmonics appear.  Their
 * energy, the misfit, is found by least squares, because angles may be uneven; it depends on the
 * column by a sine and a cosine.  The part that is the same in all views (rings) is left out. */

struct fbp_wedge {
    double column; /**< column with the least misfit */
    double error;  /**< standard deviation [columns], from curvature and scatter of the misfit */
    /** Negative logarithm of the likelihood of that column, of waves in a window about `near`:
     * comparable for sinograms of one size and one `near`. */
    double cost;
};

/** Find the axis column near `near`, which must be right within about 3 of at most 512 groups of
 * averaged columns. FBP_ERR_UNSUPPORTED: too few views or columns. */
fbp_status fbp_wedge_find(struct fbp_wedge *out, const struct fbp_sinogram *s, double near);

/** Get the memory that fbp_wedge_find() needs [bytes]. */
size_t fbp_wedge_bytes(size_t n_views, size_t n_columns, size_t n_rows);

#endif /* FBP_SRC_ANALYSIS_CENTRE_H */
