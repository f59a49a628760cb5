/** @file simulate.h  Making a scan: shared by the commands simulate and bench. */
#ifndef FBP_CLI_SIMULATE_H
#define FBP_CLI_SIMULATE_H

#include "cli.h"

struct simulate_args {
    const char *phantom, *output, *truth, *directions;
    unsigned kind, trajectory; /**< enum fbp_kind; 0 circle, 1 c-arm */
    unsigned order, pole;      /**< of directions: enum fbp_direction_order, enum fbp_pole */
    size_t size, views, samples, frames, detector[2], seed;
    double sod_mm, sdd_mm, pitch_mm, voxel_mm, arc_deg, start_deg, scale, noise_i0, noise_sd, decay;
    double gradient; /**< 0: not given */
    double offset_mm[2], tilt_deg[3];
    int threads, at_centres;
    enum fbp_type type;
    unsigned unit; /**< of the truth: enum fbp_unit */
    bool force, quiet, json;
};

/** The defaults: zero lengths and counts are worked out by simulate_scan(). */
extern const struct simulate_args simulate_defaults;

/**
 * Fill in what is not given, project the phantom, write the scan and, if wanted, the truth.
 * @return an exit status; a failure has been reported.
 */
int simulate_scan(struct simulate_args *args);

#endif /* FBP_CLI_SIMULATE_H */
