/* What a job takes of a GPU's memory. */
#include "backend/gpu/gpu_bytes.h"

/* A texture lies in blocks of 64 bytes x 128 rows, or of fewer rows if it has fewer. */
static size_t texture_bytes(const struct gpu_kernel *k, size_t n_texels, size_t n_rows,
                            size_t n_layers)
{
    const size_t texel = (size_t)k->channels * (size_t)k->bits / 8;
    const size_t width = (n_texels * texel + 63) / 64 * 64;
    size_t rows = 8;

    while (rows < 128 && rows < n_rows)
        rows *= 2;
    return width * ((n_rows + rows - 1) / rows * rows) * n_layers;
}

size_t gpu_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const size_t n_groups = (n_views + job->turns - 1) / job->turns;

    return k->channels ? texture_bytes(k, gpu_row_texels(k, job), n_rows, n_groups)
                       : k->views_bytes(job, n_groups, n_rows);
}

size_t gpu_volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_frames(job) * gpu_volume_size(gpu_kernel_of(job), job, slab) * fbp_value_size(job);
}

/* Allocations are rounded up to pages of 2 MiB: the block of tables, and at most six buffers. */
size_t gpu_fixed_bytes(const struct fbp_job *job, const struct gpu_offer *offer)
{
    const size_t rounding = 7 * ((size_t)2 << 20);
    struct gpu_tables t;

    gpu_tables_lay_out(job, offer, &t);
    return t.bytes + rounding;
}
