/** @file analysis.h  Search for the rotation axis of a scan; scores of a slice, for searches of any
 *  parameter. */
#ifndef FBP_ANALYSIS_H
#define FBP_ANALYSIS_H

#include "fbp/recon.h"

FBP_BEGIN

/** Scores of a slice.  A greater score is better. */
enum fbp_score {
    /** Sharpness: root mean square of the gradient of the smoothed slice, divided by the mean
     *  magnitude of the gradient. */
    FBP_SCORE_SHARPNESS = 0,
    /** Minus the sum of magnitudes of negative values, divided by the sum of all magnitudes (Donath
     *  et al., J. Opt. Soc. Am. A 23 (2006) 1048).  Insensitive to errors that a full circle
     *  averages out. */
    FBP_SCORE_NEGATIVITY,
    FBP_SCORES
};

/**
 * Score a slice inside the circle of `radius` pixels around pixel (cx, cy).
 *
 * values  [ny][nx]; FBP_SCORE_SHARPNESS smooths them in place
 * @return the score; NaN if the circle contains fewer than 16 finite pixels.
 */
FBP_API double fbp_slice_score(enum fbp_score score, float *values, size_t nx, size_t ny, double cx,
                               double cy, double radius);

/**
 * Find the position of the greatest score: the vertex of the parabola through the greatest of the
 * scores y[n], which have equal steps of the parameter, and its two neighbours.
 *
 * at_end  set to true if the greatest score is the first or the last, or if a neighbour is not
 *         finite: the position is then not interpolated
 * @return position in steps from the first score; NaN if no score is finite
 */
FBP_API double fbp_score_peak(const double *y, size_t n, bool *at_end);

/**
 * Find a second peak that is nearly as high as the first: at most 1 % below it, with a valley
 * between the two that is at least a tenth of the range of all scores deep.
 * @return index of the second peak; n if there is none
 */
FBP_API size_t fbp_score_rival(const double *y, size_t n);

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
