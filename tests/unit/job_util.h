/* A job of the CPU without a run, for tests of the division of the work (test_cut, test_ranks,
 * test_work). */
#ifndef FBP_TESTS_JOB_UTIL_H
#define FBP_TESTS_JOB_UTIL_H

#include "recon/fixture.h"

#include "pipeline/job.h"

struct case_ {
    struct fbp_scan scan;
    struct fbp_job_tables tables;
};

/* n_views views of n x n pixels, kernel column. */
static inline void setup(struct case_ *c, int n_threads, size_t n_views, size_t n,
                         struct fbp_grid grid)
{
    c->scan = circle_scan(n_views, n, 0);
    c->scan.volume = grid;
    OK(fbp_job_create(&c->tables, &c->scan,
                      fbp_recon_params(.n_threads = n_threads, .tuning.kernel = "column"), false));
    OK(fbp_job_arrange(&c->tables.job, fbp_backend_find("cpu")));
}

static inline void drop(struct case_ *c)
{
    fbp_job_clear(&c->tables);
    fbp_scan_clear(&c->scan);
}

#endif /* FBP_TESTS_JOB_UTIL_H */
