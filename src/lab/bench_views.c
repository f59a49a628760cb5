#include "lab/bench_views.h"

#include "base/mem.h"
#include "base/pool.h"
#include "base/stop.h"
#include "fbp/phantom.h"
#include "phantom/shadow.h"

/* What the workers share: [n_views][n_rows][n_columns]; and what each owns. */
struct studio {
    const struct fbp_scan *scan;
    size_t n; /* samples of a view */
    float *views;
    uint16_t *counts; /* in their place */
    size_t n_balls;
    struct fbp_ball *balls;
    struct fbp_shadow *shadows; /* [workers][n_balls] */
    double *rows;               /* [workers][n_columns] */
};

static void fill_view(void *user, size_t view, int worker)
{
    const struct studio *s = user;
    uint32_t x = 0x9e3779b9u * (uint32_t)(view + 1);

    (void)worker;
    for (size_t i = 0; i < s->n; i++) {
        const uint32_t number = fbp_bench_next(&x);
        if (s->counts)
            s->counts[view * s->n + i] = (uint16_t)(number >> 16 | 1);
        else
            s->views[view * s->n + i] = fbp_bench_sample(number);
    }
}

static void project_view(void *user, size_t view, int worker)
{
    const struct studio *s = user;
    const size_t w = (size_t)worker;

    fbp_shadow_view(s->balls, s->n_balls, &s->scan->views[view], s->scan->kind, &s->scan->panel,
                    s->shadows + w * s->n_balls, s->rows + w * s->scan->panel.n_columns,
                    s->views + view * s->n);
}

static fbp_status for_views(struct studio *s, int n_threads, fbp_pool_fn *fn)
{
    fbp_pool *pool;

    FBP_TRY(fbp_pool_create(&pool, n_threads));
    fbp_pool_for(pool, s->scan->n_views, fn, s);
    fbp_pool_destroy(&pool);
    return fbp_go_on();
}

static struct studio studio_of(const struct fbp_scan *scan, float *views)
{
    return (struct studio){
        .scan = scan, .n = scan->panel.n_columns * scan->panel.n_rows, .views = views};
}

fbp_status fbp_bench_random(const struct fbp_scan *scan, int n_threads, enum fbp_type type,
                            void *views)
{
    struct studio s = studio_of(scan, views);

    s.counts = type == FBP_U16 ? views : NULL;
    return for_views(&s, n_threads > 0 ? n_threads : fbp_core_count(), fill_view);
}

fbp_status fbp_bench_project(const struct fbp_scan *scan, double half_mm, int n_threads,
                             float *views)
{
    struct studio s = studio_of(scan, views);
    const int n = n_threads > 0 ? n_threads : fbp_core_count();
    struct fbp_phantom phantom = {0};
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_phantom_create(&phantom, "shepp-logan", half_mm, FBP_BENCH_WATER));
    s.n_balls = phantom.n;
    FBP_TRY_GOTO(fbp_balls_of(&phantom, &s.balls));
    FBP_TRY_GOTO(
        fbp_calloc((void **)&s.shadows, (size_t)n * phantom.n, sizeof *s.shadows, "shadows"));
    FBP_TRY_GOTO(fbp_calloc((void **)&s.rows, (size_t)n * scan->panel.n_columns, sizeof *s.rows,
                            "rows of views"));
    st = for_views(&s, n, project_view);
fail:
    free(s.rows);
    free(s.shadows);
    free(s.balls);
    fbp_phantom_clear(&phantom);
    return st;
}
