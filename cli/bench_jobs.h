/** @file bench_jobs.h  The jobs quoted everywhere: full circle, SOD 750 mm, SDD 1200 mm, detector
 * centred. */
#ifndef FBP_CLI_BENCH_JOBS_H
#define FBP_CLI_BENCH_JOBS_H

#include "fbp/scan.h"

struct bench_job {
    const char *name, *text;
    size_t views, columns, rows, size;
    double pitch_mm, voxel_mm;
};

enum { N_BENCH_JOBS = 3 };
extern const struct bench_job bench_jobs[N_BENCH_JOBS];

/** By name; NULL. */
const struct bench_job *bench_job_find(const char *name);

/** The same in small: views, rows, columns and voxels a side divided by n >= 1. */
struct bench_job bench_job_divided(const struct bench_job *job, size_t n);

/** Its geometry and volume; an exit status, failures reported. */
int bench_job_scan(const struct bench_job *job, struct fbp_scan *scan);

#endif /* FBP_CLI_BENCH_JOBS_H */
