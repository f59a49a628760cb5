/** @file sweep.h  One slice for each value of a parameter of the geometry: which is the sharpest?
 */
#ifndef FBP_CLI_SWEEP_H
#define FBP_CLI_SWEEP_H

#include "recon.h"

struct sweep_range {
    enum fbp_adjust parameter;
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

/** As enum fbp_score. */
extern const char *const sweep_scores[];

/** Run a sweep and write what it gives; args: -o names the contact sheet.  A range about the scan's
 *  own axis becomes one of columns. */
int sweep_run(struct recon_args *args, struct sweep_range *range);

#endif /* FBP_CLI_SWEEP_H */
