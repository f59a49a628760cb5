/* Reads references of the RabbitCT benchmark, and computes the error that it ranks by. Called by
 * the commands rabbitct run and compare.
 * Used by: compare_command.c, make.c, run_command.c, text.c. */
#include "bench/rabbitct/rabbitct.h"

#include "array/file/bytes.h"
#include "base/base.h"

#include <math.h>
#include <unistd.h>

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

fbp_status fbp_rabbitct_reference(const char *path, size_t size, uint16_t *out)
{
    const uint64_t n_bytes = (uint64_t)size * size * size * sizeof *out;
    struct fbp_rabbitct_info info;
    uint64_t bytes = 0, at = 0;
    int fd = -1;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(fbp_open_file(path, &fd, &bytes));
    if (fbp_rabbitct_named(path)) { /* behind the views of a data set */
        size_t i = 0;
        FBP_TRY_GOTO(fbp_rabbitct_read_info(fd, path, bytes, &info));
        at = fbp_rabbitct_view(&info, info.n_views);
        for (; i < info.n_references && fbp_rabbitct_side(i) != size; i++) {
            const uint64_t side = fbp_rabbitct_side(i);
            at += side * side * side * sizeof *out;
        }
        if (i == info.n_references)
            FBP_TRY_GOTO(
                fbp_fail(FBP_ERR_INVALID,
                         "%s: has no reference of %zu^3 voxels (it has %zu references, from 128^3 "
                         "on): choose another --size, or give a separate file of the reference",
                         path, size, info.n_references));
    } else if (bytes != n_bytes) {
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_INVALID,
                              "%s: found %llu bytes, expected a reference of %zu^3 voxels of 16 "
                              "bits (%llu bytes): give a file of this size",
                              path, (unsigned long long)bytes, size, (unsigned long long)n_bytes));
    }
    st = fbp_read_at(fd, path, at, out, (size_t)n_bytes);
fail:
    close(fd);
    return st;
}
