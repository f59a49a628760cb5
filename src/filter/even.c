#include "filter/even.h"

#include "filter/fft.h"

#include <stdbool.h>
#include <stdint.h>

size_t fbp_even_length(size_t n)
{
    for (size_t length = n + (n & 1); length && length <= SIZE_MAX / 16; length += 2) {
        size_t rest = length;
        for (size_t p = 2; p <= 5; p++)
            while (rest % p == 0)
                rest /= p;
        if (rest == 1)
            return length;
    }
    return 0;
}

struct even {
    double *values;
    size_t n;
    bool done;
};

static void transform(void *arg)
{
    struct even *e = arg;
    const fftw_plan plan =
        fftw_plan_r2r_1d((int)e->n, e->values, e->values, FFTW_REDFT00, FFTW_ESTIMATE);

    if (!plan)
        return;
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    e->done = true;
}

fbp_status fbp_even_transform(double *values, size_t n)
{
    struct even e = {values, n, false};

    FBP_TRY(fbp_fft_plan(2 * (n - 1), transform, &e));
    return e.done ? FBP_OK
                  : fbp_fail(FBP_ERR_NOMEM, "filter: cannot plan a transform of %zu points", n);
}
