#include "backend/gpu/gpu_plain.h"

static const size_t LINE_BYTES = 128; /* of the cache */

static size_t texel_bytes(const struct fbp_job *job)
{
    return job->turns * sizeof(float);
}

struct gpu_plain gpu_plain_of(const struct fbp_job *job, size_t n_rows)
{
    const size_t line = LINE_BYTES / texel_bytes(job);
    const size_t across = GPU_BORDER + job->wide.n_columns + GPU_BORDER;
    const size_t stride = (across + line - 1) / line * line;

    return (struct gpu_plain){.stride = (unsigned)stride,
                              .group = (GPU_BORDER + n_rows + GPU_BORDER) * stride,
                              .columns = (int)job->wide.n_columns,
                              .rows = (int)n_rows};
}

size_t gpu_plain_bytes(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    return n_groups * gpu_plain_of(job, n_rows).group * texel_bytes(job);
}
