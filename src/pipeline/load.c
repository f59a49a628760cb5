#include "pipeline/load.h"

#include "backend/rows.h"

static void swap_rows(float *a, float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* n views from `view0` on, rows [first, first + load_rows), into out. */
static fbp_status load_views(fbp_source *source, bool top_down, const struct fbp_job *job,
                             size_t view0, size_t n_views, size_t first, size_t n, float *out)
{
    const size_t nc = job->panel.n_columns;
    const size_t row0 = top_down ? job->panel.n_rows - first - n : first;

    FBP_TRY(fbp_source_read(source, view0, n_views, row0, n, out));
    for (size_t k = 0; top_down && k < n_views; k++)
        for (size_t r = 0; r < n / 2; r++)
            swap_rows(out + (k * n + r) * nc, out + (k * n + n - 1 - r) * nc, nc);
    return FBP_OK;
}

fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, float *out)
{
    const size_t a_part = batch->n_views / job->turns, n = batch->load_rows;

    for (size_t half = 0; n > 0 && half < fbp_halves(job); half++)
        for (size_t k = 0; k < batch->n_views; k += a_part) {
            FBP_TRY(load_views(source, top_down, job, fbp_batch_view(job, batch, k), a_part,
                               fbp_first_row(job, batch, half), n, out));
            out += a_part * n * job->panel.n_columns;
        }
    return FBP_OK;
}
