#include "pipeline/load.h"

static void swap_rows(float *a, float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

fbp_status fbp_load(fbp_source *source, bool top_down, const struct fbp_panel *panel,
                    const struct fbp_batch *batch, float *out)
{
    const size_t nc = panel->n_columns, n = batch->load_rows;
    const size_t row0 = top_down ? panel->n_rows - batch->load_row0 - n : batch->load_row0;

    if (n == 0)
        return FBP_OK;
    FBP_TRY(fbp_source_read(source, batch->view0, batch->n_views, row0, n, out));
    for (size_t k = 0; top_down && k < batch->n_views; k++)
        for (size_t r = 0; r < n / 2; r++)
            swap_rows(out + (k * n + r) * nc, out + (k * n + n - 1 - r) * nc, nc);
    return FBP_OK;
}
