/** @file centre.h  Methods that find the rotation axis: opposite rays, and views of half a turn
 * (internal). */
#ifndef FBP_SRC_CENTRE_H
#define FBP_SRC_CENTRE_H

#include "fbp/recon.h"

#include "base/status.h"

/* Line integrals of some detector rows, views by angle. */

/** Rows of a scan whose views go round an axis. */
struct fbp_sinogram {
    bool has_source;                   /**< of the rays (geometry/kind.h) */
    size_t n_views, n_columns, n_rows; /**< n_rows: that were read */
    double *angles;                    /**< ascending, of the sources about the axis [rad] */
    float *values;                     /**< [row][view][column] */
    double tangent; /**< of the fan angle, from column to column; 0 for parallel beams */
    int along;      /**< +1: columns run as the source does counter-clockwise, -1: against it */
    double step;    /**< median distance of views [rad] */
    double arc;     /**< from the first to the last [rad] */
    bool closed;    /**< a full circle: after the last view comes the first */
    double centre;  /**< column of the iso-centre as the scan has it, mean over views */
};

/**
 * Read up to `most_rows` detector rows, of values that backprojection would use: after dark, flat,
 * logarithm and bad pixels.  Of parallel beams, each of whose rows is a slice, evenly spread ones;
 * of a cone those next to the row that the iso-centre falls on.
 *
 * source  the stored views; NULL: the scan's projections
 */
fbp_status fbp_sinogram_read(struct fbp_sinogram *s, const struct fbp_scan *scan,
                             fbp_source *source, size_t most_rows);
void fbp_sinogram_clear(struct fbp_sinogram *s);

/** One row, the mean of all, of means of `bin` columns; the last ones that are left over are left
 *  out.  Column c of *out is the middle of columns bin c to bin c + bin - 1. */
fbp_status fbp_sinogram_join(struct fbp_sinogram *out, const struct fbp_sinogram *s, size_t bin);

/* How well rays agree that are measured from both ends.
 *
 * The ray of column x at angle b is measured once more in column 2 c - x at angle b + pi - 2 g, g
 * its fan angle, if c is the column of the rotation axis: only then both agree.  Parallel beams
 * over half a turn have no such rays, but their last views must go on in the mirror images of the
 * first.
 *
 * What is compared are differences of neighbouring means along columns, without what all views
 * share: detector columns of their own sensitivity (rings) do not outweigh the object.
 */

struct fbp_match {
    const struct fbp_sinogram *s;
    float *values;   /**< as s->values, without what views share, lightly smoothed */
    double *scratch; /**< rows of a view: difference, sum, and their running sums */
    size_t width;    /**< of the means, in columns */
    double energy;   /**< mean square of differences of means, of all views */
    bool joins;      /**< the ends of half a turn are compared, not pairs of rays */
};

/** s must outlive *m.  FBP_ERR_UNSUPPORTED: no ray is measured from both ends. */
fbp_status fbp_match_create(struct fbp_match *m, const struct fbp_sinogram *s, size_t width);
void fbp_match_clear(struct fbp_match *m);

struct fbp_agreement {
    double misfit; /**< squares of differences to squares: 0 = the same, 1 = unrelated */
    double share;  /**< of the squares of all views, what was compared */
};

/** For one column c, of every `stride`-th view of part `part` of `parts`: of a full circle one
 *  behind the other, else interlaced. */
void fbp_match_at(const struct fbp_match *m, double c, size_t stride, size_t part, size_t parts,
                  struct fbp_agreement *out);

/* The column of the axis for which views of half a turn fit together.
 *
 * Views of parallel beams and their mirror images behind them are a function of the angle over a
 * whole turn.  What lies within R of the axis moves along columns by at most R a radian, so that a
 * wave of frequency s along columns has no harmonics above R s along angles (the "bow tie" of
 * Rattey and Lindgren, IEEE Trans. ASSP 29 (1981) 994; an axis from it: Vo et al., Opt. Express 22
 * (2014) 19078).  Mirrored at another column it has.  What does not fit is found by least squares,
 * so that angles may be uneven; it depends on the column by a sine and a cosine.  What is the same
 * in all views (columns of their own sensitivity: rings) is left out of it.
 */

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

#endif /* FBP_SRC_CENTRE_H */
