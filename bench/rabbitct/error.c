/* The error that RabbitCT ranks by. */
#include "bench/rabbitct/rabbitct.h"

#include <math.h>

float fbp_rabbitct_hu(const float hu[2], float f)
{
    if (!(f > 0))
        return 0;
    const float grey = floorf(hu[0] * f + hu[1] + 0.5f);
    return grey > 4095 ? 4095 : grey;
}

void fbp_rabbitct_compare(const float *volume, const uint16_t *reference, size_t n,
                          const float hu[2], struct fbp_rabbitct_error *out)
{
    double sum = 0;

    *out = (struct fbp_rabbitct_error){0};
    for (size_t i = 0; i < n; i++) {
        const float grey = hu ? fbp_rabbitct_hu(hu, volume[i]) : volume[i];
        const double e = (double)(grey - (float)reference[i]), size = fabs(e);
        sum += e * e;
        out->max = fmax(out->max, size);
        out->histogram[size < FBP_RABBITCT_BINS - 1 ? (int)size : FBP_RABBITCT_BINS - 1]++;
    }
    out->mse = sum / (double)n;
    out->rmse = sqrt(out->mse);
    out->psnr_db = out->mse > 1e-8   ? 10 * log10(4095.0 * 4095.0 / out->mse)
                   : isnan(out->mse) ? NAN
                                     : INFINITY;
}
