/** @file analysis.h  Find the rotation axis of a scan; measure how sharp a slice is. */
#ifndef FBP_ANALYSIS_H
#define FBP_ANALYSIS_H

#include "fbp/recon.h"

FBP_BEGIN

/** Scores of a slice.  A greater score is better. */
enum fbp_score {
    FBP_SCORE_SHARPNESS = 0, /**< root mean square of the gradient, divided by the mean; of the
                                smoothed slice */
    FBP_SCORE_NEGATIVITY,    /**< minus the share of negative values in the sum of magnitudes; does
                                not see errors that a full circle averages out */
    FBP_SCORES
};

/**
 * Score a slice inside the circle of `radius` pixels around (cx, cy).
 *
 * values: [ny][nx]; the call smooths them in place
 * @return NaN if the circle contains fewer than 16 finite pixels.
 */
FBP_API double fbp_slice_score(enum fbp_score score, float *values, size_t nx, size_t ny, double cx,
                               double cy, double radius);

/**
 * Position of the greatest score.  The scores y[n] stand at equal steps of x.  The peak is the
 * vertex of the parabola through the greatest score and its two neighbours.
 *
 * at_end  set if the greatest score is the first or the last, or if a neighbour has no score: then
 *         nothing is interpolated
 * @return x in steps from the first value, NaN if no score is finite
 */
FBP_API double fbp_score_peak(const double *y, size_t n, bool *at_end);

/**
 * Is there a second peak, nearly as high as the first?  The valley between them must be as deep as
 * a tenth of the range of all scores, and the score may be at most 1 % below the best.
 * @return its index; n if there is none
 */
FBP_API size_t fbp_score_rival(const double *y, size_t n);

/** The result of fbp_centre_find(). */
struct fbp_centre {
    size_t struct_size;
    double column;   /**< column of the axis, from 0: mean over views of the projected iso-centre */
    double by_rays;  /**< column found from rays that are measured from both ends */
    double by_slice; /**< column of the sharpest slice; NaN: was not computed */
    double spread;   /**< greatest distance between the results of parts of the data, in columns */
    double misfit;   /**< for rays measured twice: sum of squared differences, divided by the sum of
                          squares; 0 = they agree */
    double rival;    /**< another column that is nearly as good; NaN: none */
    bool sure;       /**< the results above agree */
    char why[300];   /**< reason if not sure, else "" */
    double by_turn;  /**< half a turn of parallel beams: column for which all views fit together;
                          NaN: was not computed, or the views do not determine it */
    double uncertainty; /**< uncertainty of `column` [columns]: about one standard deviation, from
                           the scatter between parts of the data; INFINITY: nothing determines the
                           column, and it is that of the scan */
};

/**
 * Find the detector column of the rotation axis.  The column in the scan is not used, unless
 * nothing else determines it.
 *
 * Some rays are measured twice, once from each end.  Their values agree only for the right column.
 * In half a turn of parallel beams, the mirror images of the first views continue the last views,
 * and all views together must fit one function over the whole turn.  If there are only few such
 * rays, the sharpest slice near their result is searched, too.  If nothing determines the column (a
 * round object, views without an order), the scan's own column is the result.  The values are those
 * of a reconstruction: after dark, flat, logarithm and bad pixels.
 *
 * params: device, threads, memory, progress and source are used; NULL = defaults
 * @return FBP_OK, also if out->sure is false; FBP_ERR_UNSUPPORTED if no ray is measured from both
 * ends; as fbp_plan_create().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_centre_find(const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params,
                                                  struct fbp_centre *out);

FBP_END

#endif /* FBP_ANALYSIS_H */
