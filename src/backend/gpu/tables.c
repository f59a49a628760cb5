/* Layout of a GPU's tables and scratch memory in one block (gpu_tables_lay_out()), the choice of
 * the method by which rows are filtered (gpu_filter_method_of()), and the order of frequencies in
 * the one-launch filter (the "chain"; tables.h).
 * Used by: backend/cuda/, backend/gl/, backend/gpu/. */
#include "backend/gpu/tables.h"

#include "backend/gpu/gpu_kernel.h"
#include "backend/module.h"
#include "backend/slab.h"
#include "backend/views.h"
#include "weight/ray.h"

enum {
    ALIGNMENT = 512,
    CALL_BYTES = 128 << 20, /* greatest size of rows per call if the filter is one launch [bytes] */
    /* greatest size of the rows that one call filters, if the filter has several launches [bytes]:
       the rows stay in the second-level cache of a large GPU */
    STEPS_CALL_BYTES = 32 << 20,
    CALL_VIEWS = 256,       /* greatest number of views per call of the filter along columns */
    SLICE_BYTES = 16 << 20, /* greatest size of slices per call, but at least one [bytes] */
};

enum { COMPLEX = 2 * sizeof(float), INNER = GPU_CHAIN_INNER, STEP = GPU_CHAIN_STEP };

size_t gpu_chain_row_bytes(size_t length)
{
    return length / INNER * GPU_CHAIN_PADDED * 2 * sizeof(float);
}

size_t gpu_chain_length(size_t n_columns, size_t row_bytes)
{
    static const size_t radices[] = {GPU_CHAIN_RADICES};

    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++) {
        const size_t length = radices[i] * INNER;
        if (length >= 2 * n_columns)
            return gpu_chain_row_bytes(length) <= row_bytes ? length : 0;
    }
    return 0;
}

size_t gpu_chain_twiddles(size_t length)
{
    return length + INNER;
}

double gpu_chain_twiddle(size_t length, size_t i)
{
    const bool outer = i < length;
    const size_t k = outer ? i : i - length, row = outer ? INNER : STEP;
    const size_t product = k / row * (k % row);

    return (double)product / (double)(outer ? length : INNER);
}

size_t gpu_chain_frequency(size_t length, size_t i)
{
    const size_t radix = length / INNER, across = radix * STEP, at = i % across;
    return at / STEP + radix * (at % STEP + STEP * (i / across));
}

size_t gpu_column_taps(const struct fbp_job *job)
{
    return 2 * (job->filtering.columns->half_width + GPU_COLUMN_ROWS) + 1;
}

/* Plane integrals have one row per channel.  Oversampled, they need taps and sums in double, which
 * only the filter in space has. */
static bool needs_space(const struct fbp_job *job)
{
    const struct fbp_filter_design *f = job->filtering.design;
    const bool one_row = job->padded.panel.n_rows == fbp_channels(job);

    return fbp_in_double(job) || f->passes > 1 || f->kernel_back ||
           (job->padded.inserted > 0 && one_row);
}

bool gpu_needs_spatial_filter(const struct fbp_job *job)
{
    return job->filtering.spatial || needs_space(job);
}

enum gpu_filter_method gpu_filter_method_of(const struct fbp_job *job,
                                            const struct gpu_filter_capabilities *offer)
{
    if (job->input.filtered)
        return GPU_FILTER_NONE;
    if (gpu_needs_spatial_filter(job))
        return GPU_FILTER_SPATIAL;
    if (job->padded.inserted == 0 &&
        gpu_chain_length(job->padded.panel.n_columns, offer->row_bytes()) > 0)
        return GPU_FILTER_CHAIN;
    return offer->has_fft() ? GPU_FILTER_FFT : GPU_FILTER_SPATIAL;
}

/* Reserve n bytes at the end of the block; returns their offset. */
static size_t place(struct gpu_tables *t, size_t n)
{
    const size_t at = t->bytes;
    t->bytes += (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return at;
}

void gpu_tables_lay_out(const struct fbp_job *job, const struct gpu_filter_capabilities *offer,
                        struct gpu_tables *t)
{
    const size_t nc = job->panel.n_columns, image = job->panel.n_rows * nc * sizeof(float);
    const size_t lines = job->n_views * nc * sizeof(float);
    const struct fbp_filter_design *f = job->filtering.design;
    const size_t cache_line = 16, wide = job->padded.panel.n_columns; /* complex samples */
    const size_t lanes = job->selection.symmetric_views, views = fbp_part_views(job);
    const struct fbp_slab asked = fbp_slab_asked(job, 0, 1);
    const size_t slice = fbp_slab_slice(&asked) * sizeof(float);
    const struct fbp_prep *prep = job->filtering.prep;

    *t = (struct gpu_tables){0};
    if (prep->dark)
        t->dark = place(t, image);
    if (prep->gain)
        t->gain = place(t, image);
    if (prep->n_bridges)
        t->bridges = place(t, prep->n_bridges * sizeof(struct gpu_bridge));

    /* Lay out the response or taps of the filter, and the buffer of rows that one call filters. */
    t->way = gpu_filter_method_of(job, offer);
    if (t->way == GPU_FILTER_CHAIN) {
        t->fft_length = gpu_chain_length(wide, offer->row_bytes());
        t->filter = place(t, t->fft_length * sizeof(float));
        t->twiddles = place(t, gpu_chain_twiddles(t->fft_length) * COMPLEX);
        t->row_length = (wide + cache_line - 1) / cache_line * cache_line;
    } else {
        t->row_length = t->way == GPU_FILTER_FFT ? f->n_fft : wide;
        t->in_double = t->way == GPU_FILTER_SPATIAL && needs_space(job);
        if (t->way != GPU_FILTER_NONE)
            t->filter =
                place(t, (t->way == GPU_FILTER_SPATIAL ? 2 * f->half_width + 1 : f->n_fft / 2 + 1) *
                             (t->in_double ? sizeof(double) : sizeof(float)));
    }
    /* Complex rows if the whole scan were one batch. A complex row contains a row of two views of
     * one symmetric part, as real and imaginary part; in double, of one view. */
    const size_t rows = lanes * (fbp_in_double(job) ? views : (views + 1) / 2) * job->panel.n_rows;
    const size_t row = t->row_length * COMPLEX;
    const size_t call = (t->way == GPU_FILTER_CHAIN ? CALL_BYTES : STEPS_CALL_BYTES) / row;
    t->rows_per_call = call < rows ? call / lanes * lanes : rows;
    if (t->rows_per_call == 0)
        t->rows_per_call = lanes;
    /* some kernels store views by combining rows: all rows of a view are in one call */
    if (gpu_stores_whole_views(gpu_kernel_of(job)) && t->rows_per_call < lanes * job->panel.n_rows)
        t->rows_per_call = lanes * job->panel.n_rows;
    t->rows = place(t, t->rows_per_call * row);
    /* `work` is as large as `rows`: a sample in double has the bytes of a pair of floats */
    if (t->way == GPU_FILTER_FFT || t->way == GPU_FILTER_SPATIAL) {
        t->work_bytes = t->rows_per_call * row;
        t->work = place(t, t->work_bytes);
    }

    if (job->input.filtered) {
        /* the source's views are weighted already */
    } else if (fbp_in_double(job)) {
        t->scales = place(t, job->n_views * sizeof(double));
    } else if (gpu_host->weights_separable(job->filtering.weights)) {
        t->image = place(t, image);
        t->lines = place(t, lines);
    } else {
        struct fbp_rays rays;
        gpu_host->weights_rays(job->filtering.weights, &rays);
        t->rays = place(t, job->n_views * sizeof(struct fbp_ray_view));
        if (rays.redundancy == FBP_PER_RAY)
            t->lines = place(t, lines);
    }
    if (job->filtering.columns) {
        const size_t most = job->n_views < CALL_VIEWS ? job->n_views : CALL_VIEWS;
        t->taps_v = place(t, gpu_column_taps(job) * sizeof(float));
        t->views_per_call = STEPS_CALL_BYTES / image < most ? STEPS_CALL_BYTES / image : most;
        if (t->views_per_call == 0)
            t->views_per_call = 1;
        t->weighted = place(t, t->views_per_call * image);
    }
    if (job->filtering.pad) {
        t->pad = place(t, sizeof(float) * 2 * job->filtering.pad->rule.n_lengths *
                              job->filtering.pad->n_columns);
        t->ends = place(t, t->rows_per_call * 4 * sizeof(struct fbp_pad_end));
    }
    if (gpu_kernel_of(job)->planes)
        t->planes = place(t, job->n_views * sizeof(struct gpu_plane));
    if (gpu_kernel_of(job)->slices)
        t->parallel = place(t, job->n_views * sizeof(struct gpu_parallel_view));
    if (gpu_kernel_of(job)->decimates) {
        t->view_groups = place(t, gpu_groups_of(job) * sizeof(struct gpu_view_group));
        t->images = place(t, gpu_images_of(job) * sizeof(struct gpu_block_images));
    }
    if (job->requested.region)
        t->wanted = place(t, gpu_cells(job->grid.n[0]) * gpu_cells(job->grid.n[1]) *
                                 sizeof(struct gpu_wanted));
    t->counters = place(t, 2 * sizeof(uint64_t));
    t->row_bitmap =
        place(t, fbp_row_bitmap_words(job->n_views, job->panel.n_rows) * sizeof(unsigned));
    t->found = place(t, GPU_STATISTICS_BLOCKS * (fbp_in_double(job)
                                                     ? sizeof(struct gpu_block_statistics_double)
                                                     : sizeof(struct gpu_block_statistics)));
    if (gpu_kernel_of(job)->volume_size || job->scale != 1 || job->shift != 0) {
        t->slice_bytes = slice > SLICE_BYTES ? slice : SLICE_BYTES / slice * slice;
        if (t->slice_bytes > job->grid.n[2] * slice)
            t->slice_bytes = job->grid.n[2] * slice;
        t->slices = place(t, GPU_STAGES * t->slice_bytes);
    }
}
