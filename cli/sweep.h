/** @file sweep.h fbp recon --sweep: reconstruct a slice for each value of a geometry parameter and
 * find the value with the best score. Implemented in sweep.c.
 * Used by: cmd_recon.c, sweep.c. */
#ifndef FBP_CLI_SWEEP_H
#define FBP_CLI_SWEEP_H

#include "recon.h"

/** The range of --sweep NAME=FROM:TO:STEP. */
struct sweep_range {
    enum fbp_adjust parameter;
    double from, to, step; /**< numbers FROM, TO and STEP; step > 0, from < to */
    size_t n;              /**< number of values, 2 to SWEEP_MOST */
};

enum { SWEEP_MOST = 1000 };

/**
 * Read the range of a sweep, "NAME=FROM:TO:STEP".
 * @return true, or false with a sentence about the error in why[n].
 */
bool sweep_parse(const char *text, struct sweep_range *out, char *why, size_t n);

/** Get value i of the range of a sweep, FROM + i STEP, without the rounding errors of a sum. */
double sweep_value(const struct sweep_range *range, size_t i);

/** Names of enum fbp_score, for --score; the list ends with NULL. */
extern const char *const sweep_scores[];

/** Run a sweep; write the contact sheet (-o) and the curve of the scores (--curve), and print the
 * result. A range of --sweep centre from a negative to a positive number is relative to the axis in
 * the scan file; *range is converted to columns. Returns the exit status. */
int sweep_run(struct recon_args *args, struct sweep_range *range);

#endif /* FBP_CLI_SWEEP_H */
