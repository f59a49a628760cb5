/** @file score.h  Scores of slices, and the peak of scores (internal).  centre.c (search for the
 * rotation axis) and cli/sweep.c call these functions.
 * Used by: cli/sweep.c, centre.c, score.c. */
#ifndef FBP_SRC_ANALYSIS_SCORE_H
#define FBP_SRC_ANALYSIS_SCORE_H

#include <stdbool.h>
#include <stddef.h>

/** Kinds of scores of a slice.  A greater score is better. */
enum fbp_score {
    /** Sharpness: root mean square of the gradient of the smoothed slice, divided by the mean
     *  magnitude of the gradient. */
    FBP_SCORE_SHARPNESS = 0,
    /** Minus the sum of magnitudes of negative values, divided by the sum of all magnitudes (Donath
     * et al., J. Opt. Soc. Am. A 23 (2006) 1048).  Errors that cancel over a full circle do not
     * change the score. */
    FBP_SCORE_NEGATIVITY,
    FBP_SCORES
};

/**
 * Score a slice inside the circle of `radius` pixels around pixel (cx, cy).
 *
 * values  [ny][nx]; FBP_SCORE_SHARPNESS smooths them in place
 * @return the score; NaN if the circle contains fewer than 16 finite pixels.
 */
double fbp_slice_score(enum fbp_score score, float *values, size_t nx, size_t ny, double cx,
                       double cy, double radius);

/**
 * Find the position of the greatest score: the vertex of the parabola through the greatest of the
 * scores y[n], which have equal steps of the parameter, and its two neighbours.
 *
 * at_end  set to true if the greatest score is the first or the last, or if a neighbour is not
 *         finite: the position is then not interpolated
 * @return position in steps from the first score; NaN if no score is finite
 */
double fbp_score_peak(const double *y, size_t n, bool *at_end);

/**
 * Find a second peak that is nearly as high as the first: at most 1 % below it, with a valley
 * between the two that is at least a tenth of the range of all scores deep.
 * @return index of the second peak; n if there is none
 */
size_t fbp_score_rival(const double *y, size_t n);

#endif /* FBP_SRC_ANALYSIS_SCORE_H */
