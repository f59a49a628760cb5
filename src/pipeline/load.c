#include "pipeline/load.h"

#include "backend/rows.h"
#include "io/format.h"

static void swap_rows(char *a, char *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const char t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* n views from `view0` on, rows [first, first + load_rows), into out. */
static fbp_status load_views(fbp_source *source, bool top_down, const struct fbp_job *job,
                             size_t view0, size_t n_views, size_t first, size_t n, void *out)
{
    const size_t row = job->panel.n_columns * fbp_raw_size(job);
    const size_t row0 = top_down ? job->panel.n_rows - first - n : first;

    if (job->raw == FBP_U16)
        FBP_TRY(fbp_source_read_as_is(source, view0, n_views, row0, n, out));
    else
        FBP_TRY(fbp_source_read(source, view0, n_views, row0, n, out));
    for (size_t k = 0; top_down && k < n_views; k++)
        for (size_t r = 0; r < n / 2; r++)
            swap_rows((char *)out + (k * n + r) * row, (char *)out + (k * n + n - 1 - r) * row,
                      row);
    return FBP_OK;
}

fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_job *job,
                    const struct fbp_batch *batch, void *out)
{
    const size_t a_part = batch->n_views / job->turns, n = batch->load_rows;
    char *to = out;

    for (size_t half = 0; n > 0 && half < fbp_halves(job); half++)
        for (size_t k = 0; k < batch->n_views; k += a_part) {
            FBP_TRY(load_views(source, top_down, job, fbp_batch_view(job, batch, k), a_part,
                               fbp_first_row(job, batch, half), n, to));
            to += a_part * n * job->panel.n_columns * fbp_raw_size(job);
        }
    return FBP_OK;
}
