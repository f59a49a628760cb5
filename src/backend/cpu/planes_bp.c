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

typedef float value_fn(const float *samples, float u);

static float linear(const float *samples, float u)
{
    const int at = (int)u;

    return samples[at] + (u - (float)at) * (samples[at + 1] - samples[at]);
}

static float nearest(const float *samples, float u)
{
    return samples[(int)u];
}

static float cubic(const float *samples, float u)
{
    const int at = (int)u;
    const float *c = samples + at - 1, t = u - (float)at, s = 1 - t;

    return (s * s * s * c[0] + (4 + 3 * t * t * (t - 2)) * c[1] + (4 + 3 * s * s * (s - 2)) * c[2] +
            t * t * t * c[3]) /
           6;
}

/* The sum of 64 samples of one view. */
static inline void add(const float *window, float first, float a, float b, float c, value_fn *value,
                       float *block)
{
    for (int l = 0; l < FBP_PLANES_EDGE; l++)
        for (int j = 0; j < FBP_PLANES_EDGE; j++)
            for (int i = 0; i < FBP_PLANES_EDGE; i++)
                *block++ += value(window, first + (float)i * a + (float)j * b + (float)l * c);
}

static inline void add_all(float *blocks, double x, const struct fbp_bp_planes *p, value_fn *value)
{
    const size_t n = p->frames > 1 ? p->frames : 1;

    for (size_t k = 0; k < p->n; k++) {
        float first;
        const float *window = p->samples + (ptrdiff_t)(k * p->stride) + place(p, k, x, &first);
        for (size_t f = 0; f < n; f++)
            add(window + f * p->frame, first, p->step[0][k], p->step[1][k], p->step[2][k], value,
                blocks + f * FBP_PLANES_BLOCK);
    }
}

void fbp_bp_planes_c(float *block, double x, const struct fbp_bp_planes *p)
{
    add_all(block, x, p, linear);
}

void fbp_bp_planes_nearest_c(float *block, double x, const struct fbp_bp_planes *p)
{
    add_all(block, x, p, nearest);
}

void fbp_bp_planes_cubic_c(float *block, double x, const struct fbp_bp_planes *p)
{
    add_all(block, x, p, cubic);
}

enum level { PLAIN, AVX2, AVX512, N_LEVELS };

static enum level level_of(unsigned flags)
{
#if defined(__x86_64__)
    return flags & FBP_CPU_AVX512 ? AVX512 : flags & FBP_CPU_AVX2 ? AVX2 : PLAIN;
#else
    (void)flags;
    return PLAIN;
#endif
}

fbp_bp_planes_fn *fbp_bp_planes_find(unsigned flags, enum fbp_interpolation how)
{
#if defined(__x86_64__)
#    define LEVELS(name)                         \
        {                                        \
            name##_c, name##_avx2, name##_avx512 \
        }
#else
#    define LEVELS(name) \
        {                \
            name##_c     \
        }
#endif
    static fbp_bp_planes_fn *const all[][N_LEVELS] = {
        [FBP_INTERPOLATION_LINEAR] = LEVELS(fbp_bp_planes),
        [FBP_INTERPOLATION_NEAREST] = LEVELS(fbp_bp_planes_nearest),
        [FBP_INTERPOLATION_CUBIC] = LEVELS(fbp_bp_planes_cubic)};

    return all[how][level_of(flags)];
}
