/** @file sweep.h  One slice for each value of a parameter of the geometry: which is the sharpest?
 */
#ifndef FBP_CLI_SWEEP_H
#define FBP_CLI_SWEEP_H

#include "recon.h"

/** What can be swept. */
enum sweep_parameter {
    SWEEP_CENTRE, /**< column that the rotation axis falls on, from 0 */
    SWEEP_TILT,   /**< further turn of the panel in its plane, right-handed about u x v [deg] */
    SWEEP_OFFSET, /**< panel's centre along +u from the ray through the iso-centre [mm] */
    SWEEP_SOD,    /**< source to axis [mm]; the panel keeps its distance from the source */
    SWEEP_SDD,    /**< source to panel [mm] */
    SWEEP_PARAMETERS
};

struct sweep_range {
    enum sweep_parameter parameter;
    double from, to, step; /**< step > 0, from <= to */
    size_t n;              /**< values */
};

enum { SWEEP_MOST = 1000 };

/** "centre", "tilt" …; NULL beyond the last. */
const char *sweep_name(size_t i);
/** "column", "deg", "mm" */
const char *sweep_unit(enum sweep_parameter parameter);

/**
 * Read "NAME=FROM:TO:STEP".
 * @return true, or false with a sentence in why[n].
 */
bool sweep_parse(const char *text, struct sweep_range *out, char *why, size_t n);

/** Value i: FROM + i STEP, without the rounding errors of a sum. */
double sweep_value(const struct sweep_range *range, size_t i);

/**
 * The scan's views with the parameter set to `value`, into views[scan->n_views].  Where views
 * differ (a C-arm), their mean gets the value and the differences stay.
 * @return FBP_OK, or what the geometry fails with.
 */
fbp_status sweep_apply(const struct fbp_scan *scan, enum sweep_parameter parameter, double value,
                       struct fbp_view *views);

/** What the scan has now: mean over views; 0 for the tilt. */
fbp_status sweep_present(const struct fbp_scan *scan, enum sweep_parameter parameter, double *out);

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

/** Run a sweep and write what it gives; args: -o names the contact sheet. */
int sweep_run(struct recon_args *args, const struct sweep_range *range);

#endif /* FBP_CLI_SWEEP_H */
