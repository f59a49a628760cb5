/** @file analysis.h  fbp_centre_find(): the detector column of the rotation axis, found from the
 * views of a scan.  Programs, bindings and cli/recon.c (`fbp recon --centre auto`) call it. */
#ifndef FBP_ANALYSIS_H
#define FBP_ANALYSIS_H

#include "fbp/recon.h"

FBP_BEGIN

/** Result of fbp_centre_find().  Detector columns are counted from 0. */
struct fbp_centre {
    size_t struct_size;
    double column;  /**< result: detector column of the rotation axis (mean over the views of the
                       column of the projected iso-centre) */
    double by_rays; /**< detector column for which conjugate rays (the same line, measured from both
                       ends) agree best */
    /** Detector column for which reconstructed slices are sharpest; NaN: no slices were needed. */
    double by_slice;
    /** Range of the four columns that conjugate rays yield in four parts of the views [columns]. */
    double spread;
    /** Misfit of conjugate rays a, b: sum of (a - b)^2 / sum of (a^2 + b^2); 0: they agree. */
    double misfit;
    /** Another detector column that is nearly as likely as the column found; NaN: none. */
    double rival;
    bool sure; /**< true: the column is reliable; false: `why` states why it is not */
    /** Reason why the column found is not reliable, one sentence; "": it is reliable. */
    char why[300];
    /** Half a turn of parallel beams: detector column for which all views and their mirror images
     * are consistent with one object; NaN: not computed, or not determined by the views. */
    double by_turn;
    /** About one standard deviation of `column` [columns], estimated from differences between parts
     * of the data; INFINITY: the data do not determine the column, and `column` is that of the scan
     * file. */
    double uncertainty;
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
