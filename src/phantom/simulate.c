/* Whole scans and volumes: one view or slice a work item, written by the thread that made it, so
 * that memory is one picture a thread. */
#include "base/sizes.h"
#include "phantom/body.h"
#include "phantom/poisson.h"
#include "phantom/shadow.h"

#include "base/mem.h"
#include "base/pool.h"
#include "base/stop.h"
#include "base/vec.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"

/* What a worker owns. */
struct bench {
    float *picture;
    double *row;
    struct fbp_shadow *shadows;
    struct fbp_spans spans;
};

struct job {
    const struct fbp_phantom *phantom;
    const struct fbp_ball *balls;
    const struct fbp_body *bodies;
    const struct fbp_scan *scan;
    const struct fbp_grid *grid;
    double i0;
    uint64_t seed;
    fbp_sink *sink;
    struct bench *benches;
    int n_threads;
};

static void add_noise(const struct job *job, size_t view, size_t n, float *p)
{
    for (size_t i = 0; i < n && (i % 4096 || !fbp_stopped()); i++) {
        struct fbp_random random = fbp_random_at(job->seed, view, i);
        const double count = fbp_poisson(&random, job->i0 * exp(-(double)p[i]));
        p[i] = (float)-log(fmax(count, 1) / job->i0);
    }
}

/* Line integrals. */
static fbp_status project_lines(void *user, size_t k, int worker)
{
    struct job *job = user;
    const struct fbp_scan *scan = job->scan;
    struct bench *b = &job->benches[worker];

    fbp_shadow_view(job->balls, job->phantom->n, &scan->views[k], scan->kind, &scan->panel,
                    b->shadows, b->row, b->picture);
    if (job->phantom->n_shapes > 0)
        FBP_TRY(fbp_bodies_view(job->bodies, job->phantom, &scan->views[k], scan->kind,
                                &scan->panel, &b->spans, b->picture));
    if (job->i0 > 0)
        add_noise(job, k, scan->panel.n_columns * scan->panel.n_rows, b->picture);
    FBP_TRY(fbp_go_on());
    return fbp_sink_write(job->sink, k, 1, b->picture);
}

/* What fills a view of what it integrates over. */
static fbp_pool_try_fn *const project_of[FBP_N_INTEGRALS] = {[FBP_OVER_LINES] = project_lines};

static fbp_status fill_slice(void *user, size_t z, int worker)
{
    struct job *job = user;
    float *picture = job->benches[worker].picture;

    FBP_TRY(fbp_phantom_voxels(job->phantom, job->grid, z, z + 1, picture));
    return fbp_sink_write(job->sink, z, 1, picture);
}

static void free_benches(struct job *job)
{
    for (int i = 0; job->benches && i < job->n_threads; i++) {
        fbp_free(job->benches[i].picture);
        free(job->benches[i].row);
        free(job->benches[i].shadows);
        fbp_spans_free(&job->benches[i].spans);
    }
    free(job->benches);
}

static fbp_status alloc_benches(struct job *job, const size_t n[3])
{
    size_t pixels, bytes;

    FBP_TRY(fbp_mul(n[0], n[1], "picture", &pixels));
    FBP_TRY(fbp_mul(pixels, sizeof(float), "picture", &bytes));
    FBP_TRY(fbp_calloc((void **)&job->benches, (size_t)job->n_threads, sizeof *job->benches,
                       "workers"));
    for (int i = 0; i < job->n_threads; i++) {
        struct bench *b = &job->benches[i];
        FBP_TRY(fbp_alloc((void **)&b->picture, bytes, "picture"));
        FBP_TRY(fbp_calloc((void **)&b->row, n[0], sizeof *b->row, "row of a view"));
        FBP_TRY(
            fbp_calloc((void **)&b->shadows, job->phantom->n + 1, sizeof *b->shadows, "shadows"));
        FBP_TRY(fbp_spans_alloc(&b->spans, job->phantom->n_shapes));
    }
    return FBP_OK;
}

/* Run fn for every slice of an array described by info, into the sink at path. */
static fbp_status run(struct job *job, const struct fbp_array_info *info, const char *path,
                      fbp_pool_try_fn *fn)
{
    fbp_pool *pool = NULL;
    fbp_status st;

    if (job->n_threads <= 0)
        job->n_threads = fbp_core_count();
    if ((size_t)job->n_threads > info->n[2])
        job->n_threads = (int)info->n[2];
    FBP_TRY_GOTO(alloc_benches(job, info->n));
    FBP_TRY_GOTO(fbp_pool_create(&pool, job->n_threads));
    FBP_TRY_GOTO(
        fbp_sink_open(&job->sink, path, info,
                      &(struct fbp_sink_params){.struct_size = sizeof(struct fbp_sink_params)}));
    FBP_TRY_GOTO(fbp_pool_try(pool, info->n[2], fn, job));
    st = fbp_sink_finish(job->sink);
fail:
    fbp_sink_close(&job->sink);
    fbp_pool_destroy(&pool);
    free_benches(job);
    return st;
}

static void projections_info(const struct fbp_scan *scan, struct fbp_array_info *info)
{
    const struct fbp_panel *p = &scan->panel;
    const double pitch[2] = {fbp_norm(scan->views[0].u), fbp_norm(scan->views[0].v)};

    *info = (struct fbp_array_info){
        .struct_size = sizeof *info,
        .n = {p->n_columns, p->n_rows, scan->n_views},
        .type = FBP_F32,
        .has_spacing = true,
        .spacing_mm = {pitch[0], pitch[1], 1},
        .origin_mm = {-((double)p->n_columns - 1) / 2 * pitch[0],
                      -((double)p->n_rows - 1) / 2 * pitch[1], 0},
        .row_order = FBP_ROWS_BOTTOM_UP,
    };
}

fbp_status fbp_phantom_project(const struct fbp_phantom *phantom, const struct fbp_scan *given,
                               const char *path, double noise_i0, uint64_t seed, int n_threads)
{
    struct fbp_scan whole, *const scan = &whole;
    struct fbp_array_info info;
    struct fbp_ball *balls = NULL;
    struct fbp_body *bodies = NULL;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, scan, given));
    FBP_TRY(fbp_because("phantom", fbp_check_scan(scan)));
    fbp_pool_try_fn *const project = project_of[fbp_kind_of(scan->kind)->integral];
    if (!project)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "phantom: nothing simulates scans of kind %s yet",
                        fbp_kind_of(scan->kind)->name);
    FBP_TRY(fbp_check_optional(&fbp_range_noise, "phantom: noise_i0", noise_i0));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "phantom: n_threads", n_threads));
    FBP_TRY_GOTO(fbp_balls_of(phantom, &balls));
    FBP_TRY_GOTO(fbp_bodies_of(phantom, &bodies));
    projections_info(scan, &info);
    struct job job = {.phantom = phantom,
                      .balls = balls,
                      .bodies = bodies,
                      .scan = scan,
                      .i0 = noise_i0,
                      .seed = seed,
                      .n_threads = n_threads};
    st = run(&job, &info, path, project);
fail:
    free(balls);
    free(bodies);
    return st;
}

fbp_status fbp_phantom_volume(const struct fbp_phantom *phantom, const struct fbp_grid *grid,
                              const char *path, int n_threads)
{
    struct fbp_array_info info = {.struct_size = sizeof info,
                                  .type = FBP_F32,
                                  .has_spacing = true,
                                  .unit = "1/mm",
                                  .row_order = FBP_ROWS_BOTTOM_UP};

    fbp_message_clear();
    FBP_TRY(fbp_because("phantom", fbp_check_grid(grid)));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "phantom: n_threads", n_threads));
    for (int i = 0; i < 3; i++) {
        info.n[i] = grid->n[i];
        info.spacing_mm[i] = grid->voxel_mm[i];
        info.origin_mm[i] = fbp_grid_coordinate(grid, i, 0);
    }
    struct job job = {.phantom = phantom, .grid = grid, .n_threads = n_threads};
    return run(&job, &info, path, fill_slice);
}
