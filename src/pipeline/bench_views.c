#include "pipeline/bench_views.h"

#include "backend/rows.h"
#include "base/mem.h"
#include "phantom/shadow.h"

#include <string.h>

/* A view a work item; what a worker owns. */
struct projection {
    const struct fbp_job *job;
    size_t n_balls;
    const struct fbp_ball *balls;
    struct fbp_shadow *shadows; /* [n_threads][n_balls] */
    double *rows;               /* [n_threads][n_columns] */
    float *out;
};

static void project_view(void *user, size_t k, int worker)
{
    const struct projection *p = user;
    const struct fbp_job *job = p->job;
    const size_t nc = job->panel.n_columns, nr = job->panel.n_rows;
    struct fbp_shadow *shadows = p->shadows + (size_t)worker * p->n_balls;
    struct fbp_ray ray;

    fbp_ray_of(&job->views[k], job->kind, &job->panel, &ray);
    for (size_t i = 0; i < p->n_balls; i++)
        fbp_shadow_of(&p->balls[i], &job->views[k], job->kind, &job->panel, &shadows[i]);
    for (size_t r = 0; r < nr; r++)
        fbp_shadow_row(shadows, p->n_balls, &ray, nc, r, p->rows + (size_t)worker * nc,
                       p->out + (k * nr + r) * nc);
}

fbp_status fbp_bench_project(const struct fbp_job *job, double half_mm, fbp_pool *pool,
                             int n_threads, float *out)
{
    const size_t workers = (size_t)n_threads;
    struct fbp_phantom phantom = {0};
    struct fbp_ball *balls = NULL;
    struct projection p = {.job = job, .out = out};
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_phantom_create(&phantom, "shepp-logan", half_mm, FBP_BENCH_WATER));
    FBP_TRY_GOTO(fbp_calloc((void **)&balls, phantom.n, sizeof *balls, "phantom"));
    for (size_t i = 0; i < phantom.n; i++)
        fbp_ball_of(&phantom.items[i], &balls[i]);
    p.n_balls = phantom.n;
    p.balls = balls;
    FBP_TRY_GOTO(
        fbp_calloc((void **)&p.shadows, workers * phantom.n, sizeof *p.shadows, "shadows"));
    FBP_TRY_GOTO(fbp_calloc((void **)&p.rows, workers * job->panel.n_columns, sizeof *p.rows,
                            "rows of views"));
    fbp_pool_for(pool, job->n_views, project_view, &p);
fail:
    free(p.rows);
    free(p.shadows);
    free(balls);
    fbp_phantom_clear(&phantom);
    return st;
}

struct filling {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const float *views;
    float *raw;
};

static void copy_rows(const struct filling *f, size_t half, size_t k, float *to)
{
    const struct fbp_job *job = f->job;
    const size_t nc = job->panel.n_columns, view = fbp_batch_view(job, f->batch, k);
    const size_t row = view * job->panel.n_rows + fbp_first_row(job, f->batch, half);

    memcpy(to, f->views + row * nc, f->batch->load_rows * nc * sizeof *to);
}

static void draw_rows(size_t seed, size_t n, float *to)
{
    uint32_t x = 0x9e3779b9u * (uint32_t)(seed + 1);

    for (size_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        to[i] = ((float)(x >> 9) + 1) * 0x1p-22f;
    }
}

/* A view, or half of one. */
static void fill_view(void *user, size_t item, int worker)
{
    const struct filling *f = user;
    const size_t n = f->batch->load_rows * f->job->panel.n_columns;
    float *to = f->raw + item * n;

    (void)worker;
    if (f->views)
        copy_rows(f, item / f->batch->n_views, item % f->batch->n_views, to);
    else
        draw_rows(item, n, to);
}

void fbp_bench_fill(const struct fbp_job *job, const struct fbp_batch *batch, const float *views,
                    fbp_pool *pool, float *raw)
{
    struct filling f = {job, batch, views, raw};

    fbp_pool_for(pool, fbp_halves(job) * batch->n_views, fill_view, &f);
}

bool fbp_bench_as_is(const struct fbp_job *job, const struct fbp_batch *batch)
{
    return !job->mirrored && batch->n_views == job->n_views &&
           batch->load_rows == job->panel.n_rows;
}
