#include "backend/cuda/tables.h"

#include "backend/cuda/cuda.h"
#include "backend/cuda/filter.h"

#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 512,
    CALL_BYTES = 128 << 20,      /* rows that are filtered at a time: enough to fill a device */
    STEPS_CALL_BYTES = 32 << 20, /* so, step by step: they stay in a large GPU's L2 */
    CALL_VIEWS = 256,            /* views that a filter along columns takes at a time */
    SLICE_BYTES = 16 << 20,      /* slices that are scaled at a time */
};

/* Of a block, on every device. */
static size_t most_shared(void)
{
    int n = 0, bytes, least = 0;

    if (cudaGetDeviceCount(&n) != cudaSuccess)
        return 0;
    for (int i = 0; i < n; i++)
        if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, i) ==
                cudaSuccess &&
            (least == 0 || bytes < least))
            least = bytes;
    return (size_t)least;
}

static size_t chain_length(const struct fbp_job *job)
{
    return cuda_chain_length(job->wide.n_columns, most_shared());
}

size_t cuda_column_taps(const struct fbp_job *job)
{
    return 2 * (job->columns->half_width + CUDA_COLUMN_ROWS) + 1;
}

enum cuda_way cuda_way_of(const struct fbp_job *job)
{
    const char *wanted = gpu_host->environment(FBP_ENV_FFT);

    if (job->filtered)
        return CUDA_NO_FILTER;
    if (job->spatial_filter)
        return CUDA_IN_SPACE;
    if (chain_length(job) > 0 && !(wanted && strcmp(wanted, "cufft") == 0))
        return CUDA_AT_ONCE;
    return cuda_fft_found() ? CUDA_BY_CUFFT : CUDA_IN_SPACE;
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
    if (gpu_host->weights_separable(job->weights)) {
        t->image = place(t, job->panel.n_rows * nc * sizeof(float));
        t->lines = place(t, job->n_views * nc * sizeof(float));
    } else {
        t->rays = place(t, job->n_views * sizeof(struct fbp_ray_view));
    }
}

static size_t row_length(const struct fbp_job *job, enum cuda_way way)
{
    const size_t line = 16, wide = job->wide.n_columns; /* complex samples of a cache line */

    switch (way) {
    case CUDA_AT_ONCE:
        return (wide + line - 1) / line * line;
    case CUDA_BY_CUFFT:
        return job->filter->n_fft;
    default:
        return wide;
    }
}

static void lay_out_rows(const struct fbp_job *job, struct cuda_tables *t)
{
    const size_t call = t->way == CUDA_AT_ONCE ? CALL_BYTES : STEPS_CALL_BYTES;

    t->row_length = row_length(job, t->way);
    const size_t row = t->row_length * sizeof(float2), rows = most_rows(job);
    t->rows_a_call = call / row < rows ? call / row : rows;
    if (t->rows_a_call == 0)
        t->rows_a_call = 1;
    t->rows = place(t, t->rows_a_call * row);
    if (t->way == CUDA_BY_CUFFT || t->way == CUDA_IN_SPACE) {
        t->work_bytes = t->rows_a_call * row;
        t->work = place(t, t->work_bytes);
    }
}

/* Of a filter along columns, weighted views on their way through it. */
static void lay_out_columns(const struct fbp_job *job, struct cuda_tables *t)
{
    const size_t view = job->panel.n_rows * job->panel.n_columns * sizeof(float);
    const size_t most = job->n_views < CALL_VIEWS ? job->n_views : CALL_VIEWS;

    if (!job->columns)
        return;
    t->taps_v = place(t, cuda_column_taps(job) * sizeof(float));
    t->views_a_call = STEPS_CALL_BYTES / view < most ? STEPS_CALL_BYTES / view : most;
    if (t->views_a_call == 0)
        t->views_a_call = 1;
    t->weighted = place(t, t->views_a_call * view);
}

static void lay_out_filter(const struct fbp_job *job, struct cuda_tables *t)
{
    const struct fbp_filter_design *f = job->filter;

    t->way = cuda_way_of(job);
    if (t->way == CUDA_AT_ONCE) {
        t->fft_length = chain_length(job);
        t->filter = place(t, t->fft_length * sizeof(float));
        t->turns = place(t, cuda_chain_turns(t->fft_length) * sizeof(float2));
    } else if (t->way != CUDA_NO_FILTER) {
        t->filter = place(t, (t->way == CUDA_IN_SPACE ? 2 * f->half_width + 1 : f->n_fft / 2 + 1) *
                                 sizeof(float));
    }
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
    lay_out_filter(job, t);
    lay_out_rows(job, t);
    lay_out_weights(job, t);
    lay_out_columns(job, t);
    if (job->pad) {
        t->pad = place(t, 2 * job->pad->rule.n_lengths * job->pad->n_columns * sizeof(float));
        t->ends = place(t, t->rows_a_call * 4 * sizeof(struct fbp_pad_end));
    }
    t->counters = place(t, 2 * sizeof(uint64_t));
    t->ledger = place(t, fbp_ledger_words(job->n_views, job->panel.n_rows) * sizeof(unsigned));
    t->found = place(t, CUDA_FOUND * sizeof(struct cuda_found));
    if (cuda_kernel_of(job)->fetch || job->scale != 1 || job->shift != 0) {
        t->slice_bytes = slice > SLICE_BYTES ? slice : SLICE_BYTES / slice * slice;
        if (t->slice_bytes > job->grid.n[2] * slice)
            t->slice_bytes = job->grid.n[2] * slice;
        t->slices = place(t, CUDA_STAGES * t->slice_bytes);
    }
}
