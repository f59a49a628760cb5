#include "run/sum.h"

void fbp_sum_take(struct fbp_sum *sum, struct fbp_job *job)
{
    sum->scale = job->scale;
    sum->shift = job->shift;
    job->scale = 1;
    job->shift = 0;
}

fbp_status fbp_sum_finish(const struct fbp_sum *sum, size_t z, size_t n, size_t slice, float *x)
{
    const float scale = (float)sum->scale, shift = (float)sum->shift;

    FBP_TRY(sum->add(sum->user, z, n, x));
    for (size_t i = 0; (scale != 1 || shift != 0) && i < n * slice; i++)
        x[i] = scale * x[i] + shift;
    return FBP_OK;
}
