/* The factor that brings filtered views into fp16's range. */
#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/host.h"

#include <math.h>
#include <stdlib.h>

/* Larger line integrals saturate: exp(-4096) is nothing a detector measures. */
static const double MOST_INTEGRAL = 4096, HALF_MOST = 65504;

static double most_of(const double *row, size_t n, double most)
{
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(row[i]));
    return most;
}

/* Weights of rows [r0, r1) of the image, or of the lines of views. */
static double most_weight(const struct fbp_job *job, double *row)
{
    const size_t nc = job->panel.n_columns, nr = job->panel.n_rows;
    double image = 0, line = 0;

    if (!gpu_host->weights_separable(job->weights)) {
        /* Weights vary little along a column: a margin of 2 is ample. */
        for (size_t k = 0; k < job->n_views; k++)
            for (size_t r = 0; r<nr; r += nr / 2> 0 ? nr / 2 : 1) {
                gpu_host->weights_row(job->weights, k, r, row);
                image = most_of(row, nc, image);
            }
        return 2 * image;
    }
    for (size_t r = 0; r < nr; r++) {
        gpu_host->weights_image(job->weights, r, row);
        image = most_of(row, nc, image);
    }
    for (size_t k = 0; k < job->n_views; k++) {
        gpu_host->weights_line(job->weights, k, row);
        line = most_of(row, nc, line);
    }
    return image * line;
}

/* Magnitudes of the taps along columns, added up. */
static double most_of_columns(const struct fbp_column_filter *f)
{
    double sum = fabs(f->kernel[0]);

    for (size_t i = 1; i <= f->half_width; i++)
        sum += 2 * fabs(f->kernel[i]);
    return sum;
}

/* The taps of the ramp add up to at most 1/2 in magnitude, windows only lower them. */
fbp_status gpu_half_scale(const struct fbp_job *job, float *out)
{
    double *row = malloc(job->panel.n_columns * sizeof *row);
    int exponent = 0;

    if (!row)
        return gpu_host->fail(FBP_ERR_NOMEM, "device: no memory for a row of weights");
    const double most = most_weight(job, row) * MOST_INTEGRAL / 2 *
                        (job->columns ? most_of_columns(job->columns) : 1);
    free(row);
    (void)frexp(HALF_MOST / (most > 0 ? most : 1), &exponent);
    *out = (float)ldexp(1, exponent - 1);
    return FBP_OK;
}
