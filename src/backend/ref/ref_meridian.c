#include "backend/meridian.h"
#include "backend/ref/ref.h"

/* Sample (c, r) of a picture; filtered: the frame of view 0, the next view is `view` on. */
static double sample(const struct fbp_job *job, const double *filtered, size_t view, size_t plane,
                     size_t c, size_t r)
{
    const struct fbp_meridian_pictures *m = job->pictures;
    double sum = 0;

    for (size_t k = m->first[plane]; k < m->first[plane + 1]; k++) {
        const double *at = m->at[k];
        sum +=
            ref_row_value(job, filtered + k * view, at[0] + (double)c * at[1] + (double)r * at[2]);
    }
    return sum;
}

fbp_status ref_meridian(fbp_device *device, const void *filtered, const struct fbp_picture *p,
                        void *out)
{
    const struct fbp_job *job = ((const struct ref_device *)(const void *)device)->job;
    const double *frame = (const double *)filtered + p->frame * job->wide.n_columns;
    const size_t n = job->pictures->n_columns, view = job->wide.n_rows * job->wide.n_columns;
    struct fbp_job one_row = *job;

    one_row.wide.n_rows = 1;
    for (size_t i = 0; i < p->n_rows * n; i++) {
        const double value = sample(&one_row, frame, view, p->plane, i % n, p->row0 + i / n);
        if (fbp_in_double(job))
            ((double *)out)[i] = value;
        else
            ((float *)out)[i] = (float)value;
    }
    return FBP_OK;
}
