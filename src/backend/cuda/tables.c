#include "backend/cuda/tables.h"

#include "backend/cuda/cuda.h"
#include "backend/cuda/filter.h"

enum {
    ALIGNMENT = 512,
    CALL_BYTES = 32 << 20,  /* rows that are filtered at a time: they stay in a large GPU's L2 */
    SLICE_BYTES = 16 << 20, /* slices that are scaled at a time */
};

bool cuda_filters_in_space(const struct fbp_job *job)
{
    return !job->filtered && (job->spatial_filter || !cuda_fft_found());
}

/* The next place, for n bytes. */
static size_t place(struct cuda_tables *t, size_t n)
{
    const size_t at = t->bytes;
    t->bytes += (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Complex rows of the whole scan as one batch: two views a row, of one part and one half. */
static size_t most_rows(const struct fbp_job *job)
{
    return fbp_halves(job) * job->turns * ((fbp_part_views(job) + 1) / 2) * job->panel.n_rows;
}

static void lay_out_weights(const struct fbp_job *job, struct cuda_tables *t)
{
    const size_t nc = job->panel.n_columns;

    if (job->filtered)
        return;
    if (cuda_host->weights_separable(job->weights)) {
        t->image = place(t, job->panel.n_rows * nc * sizeof(float));
        t->lines = place(t, job->n_views * nc * sizeof(float));
    } else {
        t->weights = place(t, t->rows_a_call * 2 * nc * sizeof(float));
    }
}

static size_t row_length(const struct fbp_job *job)
{
    return job->filtered || cuda_filters_in_space(job) ? job->wide.n_columns : job->filter->n_fft;
}

static size_t filter_values(const struct fbp_job *job)
{
    const struct fbp_filter_design *f = job->filter;

    return cuda_filters_in_space(job) ? 2 * f->half_width + 1 : f->n_fft / 2 + 1;
}

static void lay_out_rows(const struct fbp_job *job, struct cuda_tables *t)
{
    t->row_length = row_length(job);
    const size_t row = t->row_length * sizeof(float2), rows = most_rows(job);
    t->rows_a_call = CALL_BYTES / row < rows ? CALL_BYTES / row : rows;
    if (t->rows_a_call == 0)
        t->rows_a_call = 1;
    t->rows = place(t, t->rows_a_call * row);
    if (job->filtered)
        return;
    t->filter = place(t, filter_values(job) * sizeof(float));
    t->work_bytes = t->rows_a_call * row;
    t->work = place(t, t->work_bytes);
}

void cuda_tables_lay_out(const struct fbp_job *job, struct cuda_tables *t)
{
    const size_t image = job->panel.n_rows * job->panel.n_columns * sizeof(float);
    const size_t slice = job->grid.n[0] * job->grid.n[1] * sizeof(float);
    const struct fbp_prep *prep = job->prep;

    *t = (struct cuda_tables){0};
    if (prep->dark)
        t->dark = place(t, image);
    if (prep->gain)
        t->gain = place(t, image);
    if (prep->n_bridges)
        t->bridges = place(t, prep->n_bridges * sizeof(struct cuda_bridge));
    lay_out_rows(job, t);
    lay_out_weights(job, t);
    t->counters = place(t, 2 * sizeof(uint64_t));
    t->found = place(t, CUDA_FOUND * sizeof(struct cuda_found));
    if (cuda_kernel_choose(job)->fetch || job->scale != 1 || job->shift != 0) {
        t->slice_bytes = slice > SLICE_BYTES ? slice : SLICE_BYTES / slice * slice;
        if (t->slice_bytes > job->grid.n[2] * slice)
            t->slice_bytes = job->grid.n[2] * slice;
        t->slices = place(t, t->slice_bytes);
    }
}
