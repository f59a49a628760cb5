/** @file analysis.h  What a scan tells about itself: where its rotation axis is, how sharp a slice.
 */
#ifndef FBP_ANALYSIS_H
#define FBP_ANALYSIS_H

#include "fbp/recon.h"

FBP_BEGIN

/** Scores of a slice; of each, the greatest is the best. */
enum fbp_score {
    FBP_SCORE_SHARPNESS = 0, /**< of the smoothed slice: root mean square of the gradient over its
                                mean */
    FBP_SCORE_NEGATIVITY,    /**< minus the share of negative values in the sum of all magnitudes;
                                blind to what a full circle averages out */
    FBP_SCORES
};

/**
 * Score a slice inside the circle of `radius` pixels about (cx, cy).  values: smoothed in place.
 * @return NaN if fewer than 16 finite pixels lie in it.
 */
FBP_API double fbp_slice_score(enum fbp_score score, float *values, size_t nx, size_t ny, double cx,
                               double cy, double radius);

/**
 * Where scores peak: of the greatest of y[n] at equal steps of x and its neighbours the vertex of
 * the parabola.
 *
 * at_end  the greatest is the first or the last (or has a neighbour without a score): nothing was
 *         interpolated
 * @return x in steps from the first value, NaN if no score is finite
 */
FBP_API double fbp_score_peak(const double *y, size_t n, bool *at_end);

/**
 * Another peak that is nearly as high: a value behind a valley of a tenth of all that scores differ
 * by, with a score of at most a hundredth less than the best.
 * @return its index, n if there is none
 */
FBP_API size_t fbp_score_rival(const double *y, size_t n);

/** A rotation axis that was looked for. */
struct fbp_centre {
    size_t struct_size;
    double column;   /**< that it falls on, from 0: mean over views of where the iso-centre lies */
    double by_rays;  /**< what rays say that are measured from both ends */
    double by_slice; /**< what the sharpest slice says; NaN: was not asked */
    double spread;   /**< greatest distance of what parts of the data say, in columns */
    double misfit;   /**< of such rays: squares of differences to squares, 0 = they agree */
    double rival;    /**< another column that could be meant; NaN: none */
    bool sure;       /**< all of that goes together */
    char why[300];   /**< why it is not sure; "" */
    double by_turn;  /**< half a turn of parallel beams: for which all views fit together; NaN: was
                          not asked, or they do not tell */
    double uncertainty; /**< of `column`, in columns: about one standard deviation, by how parts of
                             the data scatter; INFINITY: nothing tells, and it is the scan's own */
};

/**
 * Find the column of the detector that the rotation axis falls on, whatever the scan says now.
 * First by rays that are measured twice, from both ends, which agree for the right column only (of
 * half a turn of parallel beams: the last views go on in the mirror images of the first, and all
 * fit together as a function over the whole turn); where these are few, by the sharpest slice near
 * that, too.  Where nothing tells it (a round object, views in no order) the scan's own column is
 * kept.  Values are those of a reconstruction: after dark, flat, logarithm and bad pixels.
 *
 * params: device, threads, memory, progress and kernel are used; NULL = defaults
 * @return FBP_OK, also if it is not sure; FBP_ERR_UNSUPPORTED if no ray is measured from both ends;
 *         as fbp_plan_create().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_centre_find(const struct fbp_scan *scan,
                                                  const struct fbp_recon_params *params,
                                                  struct fbp_centre *out);

FBP_END

#endif /* FBP_ANALYSIS_H */
