/** @file measure.h  What a job of S4 has (internal). */
#ifndef FBP_BENCH_PAPERS_QIAO2015_MEASURE_H
#define FBP_BENCH_PAPERS_QIAO2015_MEASURE_H

#include "bench/papers/qiao2015/s4.h"
#include "fbp/phantom.h"

#include "base/threads.h"
#include "bench/common/truth.h"
#include "pipeline/job.h"

#include <sys/types.h>
#include <unistd.h>

struct fbp_s4 {
    pid_t process; /* that opened it */
    int n_threads;
    size_t rings;
    struct fbp_scan scan;
    double d;         /* distance of voxels, and of samples */
    double *gx;       /* [3][n_views]: GX, GY and GZ */
    float *views;     /* [n_views][samples] */
    double *filtered; /* the same, filtered and weighted */
    struct fbp_phantom phantom;
    struct fbp_job_tables tables;
    fbp_pool *pool;
    double *object; /* [N][N][N] */
    bool done;      /* there is one */
    struct fbp_bench_truth truth;
};

#endif /* FBP_BENCH_PAPERS_QIAO2015_MEASURE_H */
