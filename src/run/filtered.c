#include "run/filtered.h"

#include "base/mem.h"
#include "base/pool.h"
#include "run/load.h"

/* What one thread works with. */
struct filterer {
    fbp_device *dev;
    float *raw, *rounded;
    double *filtered;
};

struct filter_views {
    const struct fbp_job *job;
    const struct fbp_backend *backend;
    fbp_source *source;
    bool top_down;
    fbp_filtered_fn *take;
    void *user;
    struct filterer *filterers;
};

static fbp_status filter_view(void *user, size_t k, int worker)
{
    const struct filter_views *v = user;
    const struct filterer *f = &v->filterers[worker];
    const size_t rows = v->job->panel.n_rows, n = rows * v->job->wide.n_columns;
    const struct fbp_batch batch = {.view0 = k, .n_views = 1, .n_rows = rows, .load_rows = rows};

    FBP_TRY(fbp_load(v->source, v->top_down, v->job, &batch, NULL, NULL, f->raw));
    FBP_TRY(v->backend->filter(f->dev, &batch, f->raw, f->filtered));
    for (size_t i = 0; i < n; i++)
        f->rounded[i] = (float)f->filtered[i];
    return v->take(v->user, k, f->rounded);
}

static fbp_status open_filterer(const struct filter_views *v, struct filterer *f)
{
    const size_t rows = v->job->panel.n_rows, n = rows * v->job->wide.n_columns;

    FBP_TRY(v->backend->open(&f->dev, 0, v->job));
    FBP_TRY(fbp_alloc((void **)&f->raw, rows * v->job->panel.n_columns * sizeof(float), "a view"));
    FBP_TRY(fbp_alloc((void **)&f->filtered, n * sizeof(double), "a filtered view"));
    return fbp_alloc((void **)&f->rounded, n * sizeof(float), "a filtered view");
}

static void close_filterer(const struct filter_views *v, struct filterer *f)
{
    if (f->dev)
        v->backend->close(&f->dev);
    fbp_free(f->raw);
    fbp_free(f->filtered);
    fbp_free(f->rounded);
}

fbp_status fbp_filter_views(const struct fbp_job *job, fbp_source *source, bool top_down,
                            fbp_filtered_fn *take, void *user)
{
    struct filter_views v = {.job = job,
                             .backend = fbp_backend_find("ref"),
                             .source = source,
                             .top_down = top_down,
                             .take = take,
                             .user = user};
    const int n = job->in_order ? 1 : job->n_threads; /* going back in a compressed scan is dear */
    fbp_pool *pool = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&v.filterers, (size_t)n, sizeof *v.filterers, "threads"));
    for (int i = 0; i < n; i++)
        FBP_TRY_GOTO(open_filterer(&v, &v.filterers[i]));
    FBP_TRY_GOTO(fbp_pool_create(&pool, n));
    st = fbp_pool_try(pool, job->n_views, filter_view, &v);
fail:
    fbp_pool_destroy(&pool);
    for (int i = 0; v.filterers && i < n; i++)
        close_filterer(&v, &v.filterers[i]);
    free(v.filterers);
    return st;
}
