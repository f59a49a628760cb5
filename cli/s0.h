/** @file s0.h  Scenario S0: the job of Okitsu, Ino and Hagihara (2008), measured and tabulated. */
#ifndef FBP_CLI_S0_H
#define FBP_CLI_S0_H

#include "cli.h"

/** A way of doing the job. */
struct s0_case {
    const char *name, *text;
    bool spatial;  /**< the paper's filter: Shepp-Logan's kernel, cut off after N/2 taps a side */
    bool matrices; /**< the scan as one 3x4 matrix a view, no symmetry used */
};

/** Seconds of the stages, each alone; NAN where a method has no such stage. */
struct s0_stages {
    double init, read, packing, download, filter, projections_back, backproject, volume_back,
        unpacking, write, finish;
};

/** The job as one case did it. */
struct s0_result {
    const struct s0_case *of;
    const char *backend, *kernel, *isa;
    int n_threads;
    size_t size, views;
    double seconds;          /**< from opening the scan to the renamed file, stages overlapping */
    double gups;             /**< voxels x views / seconds / 1e9 */
    struct s0_stages stages; /**< of a run without overlap */
    double apart;            /**< seconds of that run */
    double read_overlap, write_overlap;
    uint64_t peak_bytes;
    double rmse, psnr_db; /**< of a slice against `ref`; NAN without --pictures */
};

/** The published tables 1 and 2 with these results beside them. */
void s0_print_tables(const struct s0_result *results, size_t n);
/** One result as a line of JSON; an exit status. */
int s0_print_json(const struct s0_result *r);

/** What the slice of a result is compared with and drawn from. */
struct s0_picture {
    const char *dir, *work_dir; /**< for the pictures; for files that are removed again */
    const char *volume;         /**< that the result's slice is taken from */
    const struct fbp_scan *scan;
    const struct fbp_recon_params *params; /**< of the reference; its device is replaced */
};

/**
 * Draw the middle slice of the result and of the reference `ref`, as S0-CASE-DEVICE.png and
 * S0-CASE-ref.png, and fill in r->rmse and r->psnr_db.
 * @return an exit status; a failure has been reported.
 */
int s0_draw(const struct s0_picture *picture, struct s0_result *r);

#endif /* FBP_CLI_S0_H */
