/** @file simulate.h Simulation of a scan of a phantom by exact integrals, for `fbp simulate` and
 * fbp-bench: parameters, their defaults, and simulate_scan(). Implemented in cmd_simulate.c.
 * Used by: bench/common/bench.h, cmd_simulate.c. */
#ifndef FBP_CLI_SIMULATE_H
#define FBP_CLI_SIMULATE_H

#include "cli.h"

struct simulate_args {
    const char *phantom, *output, *truth, *directions;
    unsigned kind, trajectory; /**< kind: enum fbp_kind; trajectory: 0 circle, 1 c-arm */
    /** order: order of the directions of plane integrals (enum fbp_direction_order); pole: axis of
     * the rings that the directions form (enum fbp_pole) */
    unsigned order, pole;
    size_t size, views, samples, frames, detector[2], seed;
    double sod_mm, sdd_mm, pitch_mm, voxel_mm, arc_deg, start_deg, scale, noise_i0, noise_sd, decay;
    double gradient; /**< field gradient [G/cm], for MAT files only; 0: 1 G/cm */
    double offset_mm[2], tilt_deg[3];
    int threads;
    bool at_centres;
    enum fbp_type type;
    unsigned unit; /**< unit of the voxel values in the file of --truth: enum fbp_unit */
    bool force, quiet, json;
};

/** Default values of struct simulate_args. In voxel_mm, pitch_mm, detector, samples and frames, 0
 * stands for a value that simulate_scan() computes; in arc_deg, NaN does. */
extern const struct simulate_args simulate_defaults;

/**
 * Compute missing parameters, project the phantom, write the scan and, if requested, the true
 * volume, and print a summary.
 * @return an exit status; a failure has been reported.
 */
int simulate_scan(struct simulate_args *args);

#endif /* FBP_CLI_SIMULATE_H */
