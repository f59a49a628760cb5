/** @file sinogram.h  Line integrals of some detector rows, views by angle (internal). */
#ifndef FBP_SRC_SINOGRAM_H
#define FBP_SRC_SINOGRAM_H

#include "fbp/recon.h"

#include "base/status.h"

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

#endif /* FBP_SRC_SINOGRAM_H */
