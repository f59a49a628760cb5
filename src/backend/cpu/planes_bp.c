#include "backend/cpu/planes_bp.h"

#include "base/cpu_features.h"

#include <math.h>

/* Where the window of view k begins, and the block's first voxel from there. */
static ptrdiff_t place(const struct fbp_bp_planes *p, size_t k, double x, float *first)
{
    const double least = p->start[k] + x * p->along[k], window = floor(least);

    *first = (float)(least - window + p->above[k]);
    return (ptrdiff_t)fmin(fmax(window, 2 - FBP_PLANES_MARGIN), p->last);
}

/* The sum of 64 samples of one view. */
static void add(const float *window, float first, float a, float b, float c, float *block)
{
    for (int l = 0; l < FBP_PLANES_EDGE; l++)
        for (int j = 0; j < FBP_PLANES_EDGE; j++)
            for (int i = 0; i < FBP_PLANES_EDGE; i++) {
                const float u = first + (float)i * a + (float)j * b + (float)l * c;
                const int at = (int)u;
                const float *s = window + at;
                *block++ += s[0] + (u - (float)at) * (s[1] - s[0]);
            }
}

void fbp_bp_planes_c(float *block, double x, const struct fbp_bp_planes *p)
{
    for (size_t k = 0; k < p->n; k++) {
        float first;
        const float *window = p->samples + (ptrdiff_t)(k * p->stride) + place(p, k, x, &first);
        add(window, first, p->step[0][k], p->step[1][k], p->step[2][k], block);
    }
}

fbp_bp_planes_fn *fbp_bp_planes_find(unsigned flags)
{
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        return fbp_bp_planes_avx512;
    if (flags & FBP_CPU_AVX2)
        return fbp_bp_planes_avx2;
#else
    (void)flags;
#endif
    return fbp_bp_planes_c;
}
