/** @file analysis.h  Search for the rotation axis of a scan; scores of a slice, for searches of any
 *  parameter. */
#ifndef FBP_ANALYSIS_H
#define FBP_ANALYSIS_H

#include "fbp/recon.h"

FBP_BEGIN

/** Result of fbp_centre_find().  Columns are counted from 0. */
struct fbp_centre {
    size_t struct_size;
    double column;      /**< column of the axis: mean over views of the projected iso-centre */
    double by_rays;     /**< column for which conjugate rays, measured from both ends, agree best */
    double by_slice;    /**< column for which slices are sharpest; NaN: not computed */
    double spread;      /**< greatest difference between by_rays of parts of the views [columns] */
    double misfit;      /**< for conjugate rays: sum of squared differences, divided by the sum of
                             squares; 0: they agree */
    double rival;       /**< another column that is nearly as likely; NaN: none */
    bool sure;          /**< true: the results are consistent, and `column` is reliable */
    char why[300];      /**< reason why the result is not reliable; "" if it is */
    double by_turn;     /**< for half a turn of parallel beams: column for which all views are
                             consistent; NaN: not computed, or the views do not determine it */
    double uncertainty; /**< about one standard deviation of `column` [columns], from the scatter
                           between parts of the data; INFINITY: nothing determines the column, and
                           it is that of the scan */
};

/**
 * Find the detector column of the rotation axis.  The scan's own column is not used, unless nothing
 * else determines the column (a round object, views without an order): then it is the result.
 *
 * Conjugate rays, which are measured twice, once from each end, have equal values only for the
 * right column.  In half a turn of parallel beams, the mirror images of the first views continue
 * the last views, and all views together must be consistent with one function over the whole turn.
 * If these methods give no reliable result, slices are reconstructed for columns near it, and the
 * sharpest is searched.  The values are those of a reconstruction: after dark, flat, logarithm and
 * bad pixels.
 *
 * params  device, threads, memory, progress and source are used; NULL: defaults
 * @return FBP_OK, also if out->sure is false; FBP_ERR_UNSUPPORTED if no ray is measured from both
 *         ends, for filtered views, and for plane integrals; else as fbp_plan_create().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_centre_find(const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params,
                                                  struct fbp_centre *out);

FBP_END

#endif /* FBP_ANALYSIS_H */
