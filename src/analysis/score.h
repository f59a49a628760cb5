/** @file score.h  Scores of reconstructed slices, and the peak of a list of scores (internal;
 * score.c). The search for the rotation axis (centre.c) and `fbp recon --sweep` choose the geometry
 * with the best score.
 * Used by: cli/sweep.c, centre.c, score.c. */
#ifndef FBP_SRC_ANALYSIS_SCORE_H
#define FBP_SRC_ANALYSIS_SCORE_H

#include <stdbool.h>
#include <stddef.h>

/** Kinds of scores of a slice.  A greater score is better. */
enum fbp_score {
    /** Sharpness: root mean square over mean magnitude of the smoothed slice's gradient. */
    FBP_SCORE_SHARPNESS = 0,
    /** Minus the sum of magnitudes of negative values, divided by the sum of all magnitudes (Donath
       et al., J. Opt. Soc. Am. A 23 (2006) 1048). */
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
 * scores y[n] and its two neighbours.  The scores belong to equally spaced values of a parameter.
 *
 * at_end  set to true if the greatest score is the first or the last, or if a neighbour is not
 *         finite: the position is then not interpolated
 * @return position in steps from the first score; NaN if no score is finite
 */
double fbp_score_peak(const double *y, size_t n, bool *at_end);

/**
 * Find a second peak of the scores y[n] that is nearly as high as the first: it is lower by at most
 * 1 % of the magnitude of the greatest score, and the least score between the two peaks is below
 * the second peak by at least a tenth of the range of all scores (greatest minus least).
 * @return index of the second peak; n: none
 */
size_t fbp_score_rival(const double *y, size_t n);

#endif /* FBP_SRC_ANALYSIS_SCORE_H */
