#include "run/sum.h"

void fbp_sum_take(struct fbp_sum *sum, struct fbp_job *job)
{
    sum->scale = job->scale;
    sum->shift = job->shift;
    job->scale = 1;
    job->shift = 0;
}

size_t fbp_sum_run(const struct fbp_sum *sum, size_t z, size_t n, size_t *at)
{
    size_t end;

    while (*at < n && sum && sum->has && !sum->has(sum->user, z + *at))
        ++*at;
    for (end = *at; end < n; end++)
        if (sum && sum->has && !sum->has(sum->user, z + end))
            break;
    return end - *at;
}

void fbp_sum_scale(const struct fbp_sum *sum, size_t n, float *x)
{
    const float scale = (float)sum->scale, shift = (float)sum->shift;

    for (size_t i = 0; (scale != 1 || shift != 0) && i < n; i++)
        x[i] = scale * x[i] + shift;
}
