#include "bench/common/batch.h"

#include "backend/rows.h"
#include "bench/common/views.h"

#include <string.h>

struct filling {
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    const float *views;
    float *raw;
};

static void copy_rows(const struct filling *f, size_t k, float *to)
{
    const struct fbp_job *job = f->job;
    const size_t nc = job->panel.n_columns, view = fbp_batch_view(job, f->batch, k);
    const size_t row = view * job->panel.n_rows + f->batch->load_row0;

    memcpy(to, f->views + row * nc, f->batch->load_rows * nc * sizeof *to);
}

static void draw_rows(size_t seed, size_t n, float *to)
{
    uint32_t x = 0x9e3779b9u * (uint32_t)(seed + 1);

    for (size_t i = 0; i < n; i++)
        to[i] = fbp_bench_sample(fbp_bench_next(&x));
}

static void fill_view(void *user, size_t k, int worker)
{
    const struct filling *f = user;
    const size_t n = f->batch->load_rows * f->job->panel.n_columns;
    float *to = f->raw + k * n;

    (void)worker;
    if (f->views)
        copy_rows(f, k, to);
    else
        draw_rows(k, n, to);
}

void fbp_bench_fill(const struct fbp_job *job, const struct fbp_batch *batch, const float *views,
                    fbp_pool *pool, float *raw)
{
    struct filling f = {job, batch, views, raw};

    fbp_pool_for(pool, batch->n_views, fill_view, &f);
}

bool fbp_bench_as_is(const struct fbp_job *job, const struct fbp_batch *batch)
{
    return batch->n_views == job->n_views && batch->load_rows == job->panel.n_rows;
}
