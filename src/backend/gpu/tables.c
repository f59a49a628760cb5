#include "backend/gpu/tables.h"

#include "backend/gpu/chain.h"
#include "backend/gpu/gpu_planes.h"
#include "backend/gpu/host.h"
#include "backend/slab.h"
#include "weight/ray.h"

enum {
    ALIGNMENT = 512,
    CALL_BYTES = 128 << 20,      /* rows that are filtered at a time: enough to fill a device */
    STEPS_CALL_BYTES = 32 << 20, /* so, step by step: they stay in a large GPU's L2 */
    CALL_VIEWS = 256,            /* views that a filter along columns takes at a time */
    SLICE_BYTES = 16 << 20,      /* slices that are scaled at a time */
};

enum { COMPLEX = 2 * sizeof(float) };

size_t gpu_column_taps(const struct fbp_job *job)
{
    return 2 * (job->columns->half_width + GPU_COLUMN_ROWS) + 1;
}

static size_t chain_length(const struct fbp_job *job, const struct gpu_offer *offer)
{
    return gpu_chain_length(job->wide.n_columns, offer->row_bytes());
}

/* Samples between those measured, two passes, a kernel that is not symmetric; double. */
static bool takes_space_alone(const struct fbp_job *job)
{
    const struct fbp_filter_design *f = job->filter;

    return fbp_in_double(job) || job->between > 0 || f->passes > 1 || f->kernel_back;
}

bool gpu_wants_space(const struct fbp_job *job)
{
    return job->spatial_filter || takes_space_alone(job);
}

enum gpu_way gpu_way_of(const struct fbp_job *job, const struct gpu_offer *offer)
{
    if (job->filtered)
        return GPU_NO_FILTER;
    if (gpu_wants_space(job))
        return GPU_IN_SPACE;
    if (chain_length(job, offer) > 0)
        return GPU_AT_ONCE;
    return offer->has_fft() ? GPU_BY_FFT : GPU_IN_SPACE;
}

/* The next place, for n bytes. */
static size_t place(struct gpu_tables *t, size_t n)
{
    const size_t at = t->bytes;
    t->bytes += (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

/* Complex rows of the whole scan as one batch: two views of one part per row; in double one. */
static size_t most_rows(const struct fbp_job *job)
{
    const size_t views = fbp_part_views(job);

    return job->turns * (fbp_in_double(job) ? views : (views + 1) / 2) * job->panel.n_rows;
}

static void lay_out_weights(const struct fbp_job *job, struct gpu_tables *t)
{
    const size_t nc = job->panel.n_columns;

    if (job->filtered)
        return;
    if (fbp_in_double(job))
        t->scales = place(t, job->n_views * sizeof(double));
    else if (gpu_host->weights_separable(job->weights)) {
        t->image = place(t, job->panel.n_rows * nc * sizeof(float));
        t->lines = place(t, job->n_views * nc * sizeof(float));
    } else {
        struct fbp_rays rays;
        gpu_host->weights_rays(job->weights, &rays);
        t->rays = place(t, job->n_views * sizeof(struct fbp_ray_view));
        if (rays.redundancy == FBP_PER_RAY)
            t->lines = place(t, job->n_views * nc * sizeof(float));
    }
}

static size_t row_length(const struct fbp_job *job, enum gpu_way way)
{
    const size_t line = 16, wide = job->wide.n_columns; /* complex samples of a cache line */

    switch (way) {
    case GPU_AT_ONCE:
        return (wide + line - 1) / line * line;
    case GPU_BY_FFT:
        return job->filter->n_fft;
    default:
        return wide;
    }
}

static void lay_out_rows(const struct fbp_job *job, struct gpu_tables *t)
{
    const size_t call = t->way == GPU_AT_ONCE ? CALL_BYTES : STEPS_CALL_BYTES;

    t->row_length = row_length(job, t->way);
    const size_t row = t->row_length * COMPLEX, rows = most_rows(job), lanes = job->turns;
    t->rows_a_call = call / row < rows ? call / row / lanes * lanes : rows;
    if (t->rows_a_call == 0)
        t->rows_a_call = lanes;
    t->rows = place(t, t->rows_a_call * row);
    if (t->way == GPU_BY_FFT || t->way == GPU_IN_SPACE) { /* a double takes as much as a pair */
        t->work_bytes = t->rows_a_call * row;
        t->work = place(t, t->work_bytes);
    }
}

/* Of a filter along columns, weighted views on their way through it. */
static void lay_out_columns(const struct fbp_job *job, struct gpu_tables *t)
{
    const size_t view = job->panel.n_rows * job->panel.n_columns * sizeof(float);
    const size_t most = job->n_views < CALL_VIEWS ? job->n_views : CALL_VIEWS;

    if (!job->columns)
        return;
    t->taps_v = place(t, gpu_column_taps(job) * sizeof(float));
    t->views_a_call = STEPS_CALL_BYTES / view < most ? STEPS_CALL_BYTES / view : most;
    if (t->views_a_call == 0)
        t->views_a_call = 1;
    t->weighted = place(t, t->views_a_call * view);
}

static void lay_out_filter(const struct fbp_job *job, const struct gpu_offer *offer,
                           struct gpu_tables *t)
{
    const struct fbp_filter_design *f = job->filter;

    t->way = gpu_way_of(job, offer);
    if (t->way == GPU_AT_ONCE) {
        t->fft_length = chain_length(job, offer);
        t->filter = place(t, t->fft_length * sizeof(float));
        t->turns = place(t, gpu_chain_turns(t->fft_length) * COMPLEX);
    } else if (t->way != GPU_NO_FILTER) {
        t->in_double = t->way == GPU_IN_SPACE && takes_space_alone(job);
        t->filter = place(t, (t->way == GPU_IN_SPACE ? 2 * f->half_width + 1 : f->n_fft / 2 + 1) *
                                 (t->in_double ? sizeof(double) : sizeof(float)));
    }
}

void gpu_tables_lay_out(const struct fbp_job *job, const struct gpu_offer *offer,
                        struct gpu_tables *t)
{
    const size_t image = job->panel.n_rows * job->panel.n_columns * sizeof(float);
    const struct fbp_slab asked = fbp_slab_asked(job, 0, 1);
    const size_t slice = fbp_slab_slice(&asked) * sizeof(float);
    const struct fbp_prep *prep = job->prep;

    *t = (struct gpu_tables){0};
    if (prep->dark)
        t->dark = place(t, image);
    if (prep->gain)
        t->gain = place(t, image);
    if (prep->n_bridges)
        t->bridges = place(t, prep->n_bridges * sizeof(struct gpu_bridge));
    lay_out_filter(job, offer, t);
    lay_out_rows(job, t);
    lay_out_weights(job, t);
    lay_out_columns(job, t);
    if (job->pad) {
        t->pad = place(t, sizeof(float) * 2 * job->pad->rule.n_lengths * job->pad->n_columns);
        t->ends = place(t, t->rows_a_call * 4 * sizeof(struct fbp_pad_end));
    }
    if (gpu_kernel_of(job)->planes)
        t->planes = place(t, job->n_views * sizeof(struct gpu_plane));
    if (job->region)
        t->wanted = place(t, gpu_cells(job->grid.n[0]) * gpu_cells(job->grid.n[1]) *
                                 sizeof(struct gpu_wanted));
    t->counters = place(t, 2 * sizeof(uint64_t));
    t->ledger = place(t, fbp_ledger_words(job->n_views, job->panel.n_rows) * sizeof(unsigned));
    t->found = place(t, GPU_FOUND * (fbp_in_double(job) ? sizeof(struct gpu_found_double)
                                                        : sizeof(struct gpu_found)));
    if (gpu_kernel_of(job)->volume_size || job->scale != 1 || job->shift != 0) {
        t->slice_bytes = slice > SLICE_BYTES ? slice : SLICE_BYTES / slice * slice;
        if (t->slice_bytes > job->grid.n[2] * slice)
            t->slice_bytes = job->grid.n[2] * slice;
        t->slices = place(t, GPU_STAGES * t->slice_bytes);
    }
}
