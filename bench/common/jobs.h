/** @file jobs.h  Standard jobs J1 to J3 (full circle, SOD 750 mm, SDD 1200 mm, centred detector)
 * and P64 to P128x10 (EPR plane integrals). Included by the commands kernel, host, follow and
 * those of the papers. */
#ifndef FBP_BENCH_COMMON_JOBS_H
#define FBP_BENCH_COMMON_JOBS_H

#include "bench/common/bench.h"

#include "fbp/scan.h"

#include <stdbool.h>

struct bench_job {
    const char *name, *text;
    size_t views, columns, rows, size;
    double pitch_mm, voxel_mm;
    size_t rings;  /**< rings of directions of plane integrals, whose `rows` are frames; 0: a
                      circular cone-beam scan */
    bool linear;   /**< rings of equal linear angle: as many directions per ring as rings; false: of
                      equal solid angle */
    bool parallel; /**< half a turn of a parallel beam */
};

enum { N_BENCH_JOBS = 3, N_BENCH_PLANES = 8 };
extern const struct bench_job bench_jobs[N_BENCH_JOBS];

/** Jobs of EPR imaging with 208 directions and of parallel beams, which only --job selects. */
extern const struct bench_job bench_planes[N_BENCH_PLANES];

// clang-format off
/** Rows for option tables, such as those of bench.h. */
#define BENCH_JOB(S, default_)                                                                    \
    OPT(S, job, .name = "job", .arg = "J1|J2|J3", .fallback = default_,                           \
        .help = "J1: 512^3 voxels from views of 512x512; J2: 512^3 from 1248x960; "               \
                "J3: 1024^3 from 1248x960")
#define BENCH_PLANES(S, default_)                                                                 \
    OPT(S, job, .name = "job", .arg = "NAME", .fallback = default_,                               \
        .help = "J1: 512^3 voxels from views of 512x512; J2: 512^3 from 1248x960; "               \
                "J3: 1024^3 from 1248x960; P64, P128, P200: 64^3, 128^3, 200^3 from plane "       \
                "integrals along 208 directions; P128x10: ten delays of them; C1024: J3 from "     \
                "1440 views; C2048: 2048^3 from 2880 views; B1024, B2048: 1024^3, 2048^3 from half a turn of a parallel beam, "   \
                "as many views as voxels per side")
#define BENCH_DIVIDE(S)                                                                           \
    OPT(S, divide, .name = "divide", .arg = "N", .min = 1, .max = 64, .fallback = "1",            \
        .help = "a small job, to try it: divides views, rows, columns and voxels a side by N")
// clang-format on

/** Find a job by name; NULL: unknown. bench_any_find() also finds jobs of plane integrals. */
const struct bench_job *bench_job_find(const char *name);
const struct bench_job *bench_any_find(const char *name);

/** Check the argument of --job; NULL passes. Returns OPT_GO_ON, or the exit status of wrong usage.
 */
int bench_job_check(const struct command *command, const char *name);
int bench_any_check(const struct command *command, const char *name);

/** A smaller job: views, rows, columns and voxels per side divided by n >= 1. */
struct bench_job bench_job_divided(const struct bench_job *job, size_t n);

#define BENCH_PI 3.14159265358979323846

/** The path of a source in even steps: a circle, or the arc of a C-arm with a view at both ends. */
struct bench_orbit {
    double sod_mm, sdd_mm, pitch_mm, arc_rad;
    bool c_arm, parallel;
};

/** Allocate and fill scan->views; n_views and panel must be set. An exit status, failures reported.
 */
int bench_orbit_views(const struct bench_orbit *orbit, struct fbp_scan *scan);

/** Make the scan of a job, with its volume; an exit status, failures reported. */
int bench_job_scan(const struct bench_job *job, struct fbp_scan *scan);

#endif /* FBP_BENCH_COMMON_JOBS_H */
