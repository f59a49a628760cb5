#include "prep/stripes.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

static size_t or_default(size_t given, size_t usual)
{
    return given ? given : usual;
}

void fbp_stripes_of(const struct fbp_corrections *c, size_t n_views, size_t n_columns,
                    struct fbp_stripes *out)
{
    const size_t odd = n_columns - (n_columns + 1) % 2;

    *out = (struct fbp_stripes){.method = c->rings,
                                .n_views = n_views,
                                .n_columns = n_columns,
                                .size = or_default(c->ring_size, odd < 21 ? odd : 21),
                                .levels = or_default(c->ring_levels, 5),
                                .sigma = c->ring_sigma > 0 ? c->ring_sigma : 1,
                                .wavelet = c->ring_wavelet ? c->ring_wavelet : 9};
    if (out->method == FBP_RINGS_WAVELET)
        out->levels = fbp_stripes_wavelet_levels(out);
}

void fbp_stripes_describe(const struct fbp_stripes *s, char *buf, size_t n)
{
    if (s->method == FBP_RINGS_SORTING)
        snprintf(buf, n, "rings by sorting, median of %zu columns", s->size);
    else
        snprintf(buf, n, "rings by wavelets db%u, %zu level%s, sigma %.4g", s->wavelet, s->levels,
                 s->levels == 1 ? "" : "s", s->sigma);
}

size_t fbp_stripes_bytes(const struct fbp_stripes *s)
{
    return s->method == FBP_RINGS_SORTING ? fbp_stripes_sorting_bytes(s)
                                          : fbp_stripes_wavelet_bytes(s);
}

/* Hoare's selection. */
float fbp_median(float *x, size_t n)
{
    const ptrdiff_t k = (ptrdiff_t)(n / 2);

    for (ptrdiff_t low = 0, high = (ptrdiff_t)n - 1; low < high;) {
        const float pivot = x[k];
        ptrdiff_t i = low, j = high;
        do {
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all are given */
            while (x[i] < pivot)
                i++;
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): as above */
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                const float other = x[i];
                x[i++] = x[j];
                x[j--] = other;
            }
        } while (i <= j);
        low = j < k ? i : low;
        high = k < i ? j : high;
    }
    return x[k];
}

/* The fourth difference along columns has the same value in all angles where a pixel is wrong; at
 * the edges of an object it changes with the angle, and elsewhere it is small. */
bool fbp_stripes_found(const struct fbp_stripes *s, const float *sinogram, size_t stride,
                       void *scratch)
{
    enum { MOST_VIEWS = 512 };
    static const float SIGMAS = 8, MEDIAN_SIGMA = 1.86F, PART = 1e-3F; /* 1.25 x 1.48 */
    const size_t step = (s->n_views + MOST_VIEWS - 1) / MOST_VIEWS;
    float *e = scratch;

    for (size_t c = 2; c + 2 < s->n_columns; c++) {
        float level = 0;
        size_t n = 0;
        for (size_t k = 0; k < s->n_views; k += step) {
            const float *x = sinogram + k * stride + c;
            e[n++] = x[0] - (4 * (x[-1] + x[1]) - (x[-2] + x[2])) / 6;
            level += fabsf(x[0]);
        }
        const float m = fbp_median(e, n);
        for (size_t i = 0; i < n; i++)
            e[i] = fabsf(e[i] - m);
        const float error = MEDIAN_SIGMA * fbp_median(e, n) / sqrtf((float)n);
        if (fabsf(m) > SIGMAS * error + PART * level / (float)n)
            return true;
    }
    return false;
}

void fbp_stripes_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch)
{
    if (s->method == FBP_RINGS_SORTING)
        fbp_stripes_sorting(s, sinogram, stride, scratch);
    else
        fbp_stripes_wavelet(s, sinogram, stride, scratch);
}
