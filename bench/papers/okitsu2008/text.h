/** @file text.h  Cases, steps and measurements of Okitsu, Ino and Hagihara (2008), and the
 * functions that measure, print and draw them. Included by the files of this folder. */
#ifndef FBP_BENCH_PAPERS_OKITSU2008_TEXT_H
#define FBP_BENCH_PAPERS_OKITSU2008_TEXT_H

#include "bench/common/bench.h"
#include "bench/papers/okitsu2008/rules.h"
#include "recon.h"

/** A reconstruction of the job: filter, geometry and kernel. */
struct s0_case {
    const char *name, *text;
    bool spatial; /**< the paper's filter in space: Shepp-Logan kernel with N/2 taps on each side */
    bool matrices;      /**< the scan is one 3x4 matrix per view, so that no symmetry is used */
    const char *kernel; /**< NULL: the fastest */
    const char *only;   /**< the backend that has the kernel; NULL: all */
    size_t batch;       /**< views per batch; 0: chosen by the plan */
};

/** Arguments of the command. */
struct s0_args {
    const char *name, *device, *directory, *pictures;
    size_t size, views, runs, memory;
    int threads;
    bool sweep, json, quiet;
};

/** A run of the command: arguments, temporary files, and progress. */
struct s0_session {
    const struct s0_args *a;
    const struct workplace *place;
    struct progress *progress;
};

/** Arguments of fbp recon for a case; apart: one stage at a time. */
struct recon_args s0_arguments(const struct s0_session *s, const struct s0_case *kind, bool apart);

/** Seconds of the stages, each alone; NAN where a method has no such stage. */
struct s0_stages {
    double init, read, packing, download, filter, projections_back, backproject, volume_back,
        unpacking, write, finish;
    double others; /**< the rest of the total, such as closing the device and freeing its memory */
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
    double rmse, psnr_db,
        max; /**< difference of the middle slice from `ref`; NAN without --pictures */
};

/** A step of Table 4, of the paper or added by us. */
struct s0_step {
    const char *text, *kernel;
    double paper; /**< seconds; NAN: not in the paper */
    int i, j;     /**< views per sum, sums per launch */
};

/** Seconds of a step: the best of several, all views into the whole volume. */
struct s0_time {
    const struct s0_step *of;
    double filter, backproject, gups;
    double psnr_db; /**< against the kernel `column`, exact; NAN: not compared */
};

enum { S0_PROPOSED = 5, S0_STEPS = 7, S0_WITHOUT = 5, S0_SWEEP_I = 6, S0_SWEEP_J = 3 };

/** Steps of Table 4 up to S0_PROPOSED, then the merged form of J. */
extern const struct s0_step s0_steps[S0_STEPS];

/** The ladder as it was run. */
struct s0_ladder {
    const char *backend, *isa;
    size_t size, views, half_width;
    struct s0_time steps[S0_STEPS]; /**< of Table 4 */
    struct s0_time without[S0_WITHOUT];
    struct s0_time sweep[S0_SWEEP_I][S0_SWEEP_J];
    bool swept;                                /**< the last two are there */
    struct fbp_limits limits;                  /**< of the device, measured */
    struct s0_code filter_code, proposed_code; /**< instruction counts of filter and proposed step,
                                                  compiled for the device */
};

/** Run the ladder; an exit status, failures reported. */
int s0_run_ladder(const struct s0_session *s, struct s0_ladder *out);
/** Print Tables 3 and 4; ladder NULL: only the published figures, and the reason `why`. */
void s0_print_ladder(const struct s0_ladder *ladder, const char *why);
/** Add a JSON measurement per step, and one of Table 3; an exit status. */
int s0_print_ladder_json(const struct s0_ladder *ladder);

enum { S0_COLUMN = 11, S0_STAGES = 12, S0_COMPARISON = 17, S0_TABLE2_ROWS = 20 };

/** A row of Table 2: the stages, totals, and from S0_COMPARISON on the comparison with `ref`. */
struct s0_row {
    const char *text, *key; /**< key: of a stage, in JSON */
    double proposed, prior; /**< published */
    size_t at;              /**< offset of the measured value in struct s0_result */
    double scale;
    int decimals;
};
extern const struct s0_row s0_table2[S0_TABLE2_ROWS];

/** Print Tables 1 and 2 with published and measured figures. */
void s0_print_tables(const struct s0_result *results, size_t n);
/** Add a result as a JSON measurement; an exit status. */
int s0_print_json(const struct s0_result *r);
/** Add a number to a JSON object; NAN becomes null. */
void s0_add_number(cJSON *object, const char *key, double v);

/** Files and parameters for drawing and comparing the middle slice of a result. */
struct s0_picture {
    const char *dir, *work_dir; /**< folder of the pictures, and folder of temporary files */
    const char *volume;         /**< file of the volume of the result */
    const struct fbp_scan *scan;
    /** parameters of the reference; the device is replaced by ref */
    const struct fbp_recon_params *params;
};

/**
 * Draw the middle slice of the result and of the reference `ref`, as S0-CASE-DEVICE.png and
 * S0-CASE-ref.png, and their difference, black to white from -r->max to r->max, as
 * S0-CASE-DEVICE-difference.png; fill in r->rmse, r->psnr_db and r->max.
 * @return an exit status; a failure has been reported.
 */
int s0_draw(const struct s0_picture *picture, struct s0_result *r);

#endif /* FBP_BENCH_PAPERS_OKITSU2008_TEXT_H */
