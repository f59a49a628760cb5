#include "pipeline/load.h"

#include "backend/rows.h"
#include "io/format.h"

struct load {
    fbp_source *source;
    bool top_down;
    const struct fbp_job *job;
    const struct fbp_batch *batch;
    size_t at_once; /* views of an item */
    char *out;
};

static void swap_rows(char *a, char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* n views from `view0` of the scan on, rows [first, first + n), into out. */
static fbp_status load_views(const struct load *l, size_t view0, size_t n_views, size_t first,
                             char *out)
{
    const struct fbp_job *job = l->job;
    const size_t row = job->panel.n_columns * fbp_raw_size(job), n = l->batch->load_rows;
    const size_t row0 = l->top_down ? job->panel.n_rows - first - n : first;

    if (job->raw == FBP_U16)
        FBP_TRY(fbp_source_read_as_is(l->source, view0, n_views, row0, n, out));
    else
        FBP_TRY(fbp_source_read(l->source, view0, n_views, row0, n, (float *)(void *)out));
    for (size_t k = 0; l->top_down && k < n_views; k++)
        for (size_t r = 0; r < n / 2; r++)
            swap_rows(out + (k * n + r) * row, out + (k * n + n - 1 - r) * row, row);
    return FBP_OK;
}

/* Some views of a part, in one half: items count through the batch as it is stored. */
static fbp_status load_item(void *user, size_t item, int worker)
{
    const struct load *l = user;
    const struct fbp_batch *b = l->batch;
    const size_t view = item * l->at_once, half = view / b->n_views, k = view % b->n_views;
    const size_t size = b->load_rows * l->job->panel.n_columns * fbp_raw_size(l->job);

    (void)worker;
    return load_views(l, fbp_batch_view(l->job, b, k), l->at_once, fbp_first_row(l->job, b, half),
                      l->out + view * size);
}

fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, fbp_pool *pool, void *out)
{
    /* One thread reads a part in one piece; several a view each. */
    const size_t a_part = batch->n_views / job->turns, at_once = pool ? 1 : a_part;
    struct load l = {source, top_down, job, batch, at_once, out};
    const size_t n = fbp_halves(job) * batch->n_views / at_once;

    return batch->load_rows > 0 ? fbp_pool_try(pool, n, load_item, &l) : FBP_OK;
}
