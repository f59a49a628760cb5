#include "backend/meridian.h"
#include "backend/ref/ref.h"

fbp_status ref_meridian(fbp_device *device, const void *filtered, size_t plane, size_t row0,
                        size_t n_rows, float *out)
{
    const struct fbp_job *job = ((const struct ref_device *)(const void *)device)->job;
    const struct fbp_meridian_pictures *m = job->pictures;
    const size_t n = job->wide.n_columns;

    for (size_t r = row0; r < row0 + n_rows; r++)
        for (size_t c = 0; c < m->n_columns; c++) {
            double sum = 0;
            for (size_t k = m->first[plane]; k < m->first[plane + 1]; k++) {
                const double *at = m->at[k];
                sum += ref_row_value(job, (const double *)filtered + k * n,
                                     at[0] + (double)c * at[1] + (double)r * at[2]);
            }
            *out++ = (float)sum;
        }
    return FBP_OK;
}
