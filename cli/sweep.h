/** @file sweep.h  One slice for each value of a parameter of the geometry: which is the sharpest?
 */
#ifndef FBP_CLI_SWEEP_H
#define FBP_CLI_SWEEP_H

#include "recon.h"

struct sweep_range {
    enum adjust parameter;
    double from, to, step; /**< step > 0, from <= to */
    size_t n;              /**< values */
};

enum { SWEEP_MOST = 1000 };

/**
 * Read "NAME=FROM:TO:STEP".
 * @return true, or false with a sentence in why[n].
 */
bool sweep_parse(const char *text, struct sweep_range *out, char *why, size_t n);

/** Value i: FROM + i STEP, without the rounding errors of a sum. */
double sweep_value(const struct sweep_range *range, size_t i);

/** Scores of a slice; of each, the greatest is the best. */
enum sweep_score {
    SWEEP_SHARPNESS,  /**< of the smoothed slice: root mean square of the gradient over its mean */
    SWEEP_NEGATIVITY, /**< minus the share of negative values in the sum of all magnitudes; blind
                           to what a full circle averages out */
    SWEEP_SCORES
};

extern const char *const sweep_scores[];

/**
 * Score a picture inside the circle of `radius` pixels about (cx, cy).  values: smoothed in place.
 * @return NaN if fewer than 16 finite pixels lie in it.
 */
double sweep_score_of(enum sweep_score score, float *values, size_t nx, size_t ny, double cx,
                      double cy, double radius);

/**
 * Where scores peak: of the greatest of y[n] at equal steps of x and its neighbours the vertex of
 * the parabola.
 *
 * at_end  the greatest is the first or the last (or has a neighbour without a score): nothing was
 *         interpolated
 * @return x in steps from the first value, NaN if no score is finite
 */
double sweep_peak(const double *y, size_t n, bool *at_end);

/**
 * Another peak that is nearly as high: a value behind a valley of a tenth of all that scores differ
 * by, with a score of at most a hundredth less than the best.
 * @return its index, n if there is none
 */
size_t sweep_rival(const double *y, size_t n);

/** Run a sweep and write what it gives; args: -o names the contact sheet.  A range about the scan's
 *  own axis becomes one of columns. */
int sweep_run(struct recon_args *args, struct sweep_range *range);

#endif /* FBP_CLI_SWEEP_H */
