/* Views to measure with: random samples, or integrals of a head phantom. Called by the commands
 * that measure from memory.
 * Used by: bench/host/, bench/kernels/, bench/papers/ino2009/, bench/papers/ino2010/,
 * bench/papers/zinsser2013/. */
#include "bench/common/views.h"

#include "base/threads.h"
#include "fbp/phantom.h"
#include "phantom/shapes.h"

/* State of the workers that fill views [n_views][n_rows][n_columns]: floats or counts. */
struct filling {
    size_t n; /* samples per view */
    float *views;
    uint16_t *counts; /* NULL: fill `views` */
};

static void fill_view(void *user, size_t view, int worker)
{
    const struct filling *f = user;
    uint32_t x = 0x9e3779b9u * (uint32_t)(view + 1);

    (void)worker;
    for (size_t i = 0; i < f->n; i++) {
        const uint32_t number = fbp_bench_next(&x);
        if (f->counts)
            f->counts[view * f->n + i] = (uint16_t)(number >> 16 | 1);
        else
            f->views[view * f->n + i] = fbp_bench_sample(number);
    }
}

fbp_status fbp_bench_random(const struct fbp_scan *scan, int n_threads, enum fbp_type type,
                            void *views)
{
    struct filling f = {.n = scan->panel.n_columns * scan->panel.n_rows, .views = views};
    fbp_pool *pool;

    f.counts = type == FBP_U16 ? views : NULL;
    FBP_TRY(fbp_pool_create(&pool, n_threads > 0 ? n_threads : fbp_core_count()));
    fbp_pool_for(pool, scan->n_views, fill_view, &f);
    fbp_pool_destroy(&pool);
    return fbp_check_cancelled();
}

fbp_status fbp_bench_project(const struct fbp_scan *scan, double half_mm, int n_threads,
                             float *views)
{
    const struct fbp_simulate_params params = {
        .struct_size = sizeof params, .n_threads = n_threads, .samples = views};
    struct fbp_phantom phantom = {0};

    FBP_TRY(fbp_phantom_create(&phantom, "shepp-logan", half_mm, FBP_BENCH_WATER));
    const fbp_status st = fbp_phantom_simulate(&phantom, scan, NULL, &params);
    fbp_phantom_clear(&phantom);
    return st;
}
