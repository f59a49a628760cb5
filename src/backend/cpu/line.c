#include "backend/cpu/line.h"

#include "base/system.h"

#include <math.h>

static float peak(const float *x, size_t n)
{
    float most = 0;

    for (size_t i = 0; i < n; i++)
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return most;
}

static void weigh(const float *x, const float *a, const float *b, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * a[i] * b[i];
}

static void transpose(const float *in, size_t n_rows, size_t n_columns, float *out, size_t stride)
{
    for (size_t c = 0; c < n_columns; c++)
        for (size_t r = 0; r < n_rows; r++)
            out[c * stride + r] = in[r * n_columns + c];
}

enum { LANES = 4 };

static void convolve(const float *x, const float *centre, size_t S, size_t n, float *out)
{
    for (size_t c = 0; c < n; c++) {
        const size_t lo = c > S ? c - S : 0, end = c + S < n ? c + S + 1 : n;
        const float *k = centre + c;
        float sum[LANES] = {0};
        for (size_t i = lo; i < end; i++)
            for (size_t l = 0; l < LANES; l++)
                sum[l] += k[-(ptrdiff_t)i] * x[i * LANES + l];
        for (size_t l = 0; l < LANES; l++)
            out[c * LANES + l] = sum[l];
    }
}

const struct fbp_line_dsp fbp_line_c = {
    peak, weigh, transpose, convolve, LANES,
};

void fbp_line_dsp_init(struct fbp_line_dsp *dsp, unsigned flags)
{
    *dsp = fbp_line_c;
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX2)
        *dsp = fbp_line_avx2;
    if (flags & FBP_CPU_AVX512)
        *dsp = fbp_line_avx512;
#else
    (void)flags;
#endif
}
