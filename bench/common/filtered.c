/* Filters all views of a scan in double precision, by the backend `ref` (filtered.h).
 * Used by: bench/papers/qiao2015/measure.c, bench/rabbitct/make.c. */
#include "bench/common/filtered.h"

#include "backend/backend.h"
#include "base/base.h"
#include "base/threads.h"
#include "pipeline/run.h"

/* Device and buffers of one thread of fbp_bench_filter(): one view as read (raw), filtered, and
 * rounded to float. */
struct filterer {
    fbp_device *dev;
    float *raw, *rounded;
    double *filtered;
};

/* State of fbp_bench_filter(). */
struct filter_views {
    const struct fbp_job *job;
    const struct fbp_backend *backend;
    fbp_source *source;
    bool top_down;
    fbp_bench_filtered_fn *take;
    void *user;
    struct filterer *filterers;
};

static fbp_status filter_view(void *user, size_t k, int worker)
{
    const struct filter_views *v = user;
    const struct filterer *f = &v->filterers[worker];
    const size_t rows = v->job->panel.n_rows, n = rows * v->job->padded.panel.n_columns;
    const struct fbp_batch batch = {.view0 = k, .n_views = 1, .n_rows = rows, .load_rows = rows};

    FBP_TRY(fbp_load(v->source, v->top_down, v->job, &batch, NULL, NULL, f->raw));
    FBP_TRY(v->backend->filter(f->dev, &batch, f->raw, f->filtered));
    for (size_t i = 0; i < n; i++)
        f->rounded[i] = (float)f->filtered[i];
    return v->take(v->user, k, f->rounded);
}

fbp_status fbp_bench_filter(const struct fbp_job *job, fbp_source *source, bool top_down,
                            fbp_bench_filtered_fn *take, void *user)
{
    struct filter_views v = {.job = job,
                             .backend = fbp_backend_find("ref"),
                             .source = source,
                             .top_down = top_down,
                             .take = take,
                             .user = user};
    const size_t raw = job->panel.n_rows * job->panel.n_columns;
    const size_t samples = job->panel.n_rows * job->padded.panel.n_columns;
    const int n = job->input.in_order ? 1 : job->n_threads; /* views must be read in order */
    fbp_pool *pool = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&v.filterers, (size_t)n, sizeof *v.filterers, "threads"));
    for (int i = 0; i < n; i++) {
        struct filterer *f = &v.filterers[i];
        FBP_TRY_GOTO(v.backend->open(&f->dev, 0, job));
        FBP_TRY_GOTO(fbp_alloc((void **)&f->raw, raw * sizeof(float), "a view"));
        FBP_TRY_GOTO(fbp_alloc((void **)&f->filtered, samples * sizeof(double), "a filtered view"));
        FBP_TRY_GOTO(fbp_alloc((void **)&f->rounded, samples * sizeof(float), "a filtered view"));
    }

    FBP_TRY_GOTO(fbp_pool_create(&pool, n));
    st = fbp_pool_try(pool, job->n_views, filter_view, &v);
fail:
    fbp_pool_destroy(&pool);
    for (int i = 0; v.filterers && i < n; i++) {
        if (v.filterers[i].dev)
            v.backend->close(&v.filterers[i].dev);
        fbp_free(v.filterers[i].raw);
        fbp_free(v.filterers[i].filtered);
        fbp_free(v.filterers[i].rounded);
    }

    free(v.filterers);
    return st;
}
