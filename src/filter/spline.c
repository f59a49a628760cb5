#include "filter/spline.h"

#include "base/mem.h"
#include "filter/from_kernel.h"

#include <math.h>
#include <stdlib.h>

static double tap(const struct fbp_filter_design *d, ptrdiff_t n)
{
    return n < 0 && d->kernel_back ? d->kernel_back[-n] : d->kernel[n < 0 ? -n : n];
}

/* The kernel at n, convolved with that of the coefficients. */
static double coefficient(const struct fbp_filter_design *d, ptrdiff_t n)
{
    const double z = sqrt(3) - 2;
    double sum = tap(d, n), power = 1;

    for (ptrdiff_t m = 1; m <= FBP_SPLINE_REACH; m++) {
        power *= z;
        sum += power * (tap(d, n - m) + tap(d, n + m));
    }
    return sqrt(3) * sum;
}

static fbp_status merge(const struct fbp_filter_design *from, struct fbp_filter_design *to)
{
    const bool asymmetric = from->kernel_back != NULL;
    double *ahead = NULL, *behind = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_filter_design_alloc(to, asymmetric));
    FBP_TRY_GOTO(fbp_calloc((void **)&ahead, to->n_columns, sizeof *ahead, "the filter"));
    FBP_TRY_GOTO(fbp_calloc((void **)&behind, to->n_columns, sizeof *behind, "the filter"));
    for (size_t n = 0; n < to->n_columns; n++) {
        ahead[n] = coefficient(from, (ptrdiff_t)n);
        behind[n] = coefficient(from, -(ptrdiff_t)n);
    }
    st = fbp_filter_from_kernel(to, ahead, asymmetric ? behind : NULL);
fail:
    free(ahead);
    free(behind);
    return st;
}

fbp_status fbp_filter_spline(struct fbp_filter_design *d, size_t n_columns, size_t half_width)
{
    struct fbp_filter_design to = {.n_columns = n_columns, .half_width = half_width};
    fbp_status st;

    if (d->passes > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "filter: %s has no cubic interpolation: use two-ramps",
                        fbp_filter_name(FBP_FILTER_TWO_RAMPS_UNPADDED));
    st = merge(d, &to);
    fbp_filter_design_clear(st == FBP_OK ? d : &to);
    if (st == FBP_OK)
        *d = to;
    return st;
}
