#include "prep/stripes.h"

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

void fbp_stripes_remove(const struct fbp_stripes *s, float *sinogram, size_t stride, void *scratch)
{
    if (s->method == FBP_RINGS_SORTING)
        fbp_stripes_sorting(s, sinogram, stride, scratch);
    else
        fbp_stripes_wavelet(s, sinogram, stride, scratch);
}
