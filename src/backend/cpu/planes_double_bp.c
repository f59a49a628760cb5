#include "backend/cpu/planes_double_bp.h"

#include "base/cpu_features.h"
#include "filter/spline.h"

#include <math.h>

/* Where the window of view k begins, and the block's first voxel from there. */
static ptrdiff_t place(const struct fbp_bp_planes_double *p, size_t k, double x, double *first)
{
    const double least = p->start[k] + x * p->along[k], window = floor(least);

    *first = least - window + p->above[k];
    return (ptrdiff_t)fmin(fmax(window, 2 - FBP_PLANES_MARGIN), p->last);
}

double fbp_row_value_double(const double *samples, double u, enum fbp_interpolation how)
{
    const int at = (int)u;
    const double *s = samples + at;
    double w[4];

    if (how == FBP_INTERPOLATION_NEAREST)
        return s[0];
    if (how == FBP_INTERPOLATION_LINEAR)
        return s[0] + (u - at) * (s[1] - s[0]);
    fbp_spline_weights(u - at, w);
    return w[0] * s[-1] + w[1] * s[0] + w[2] * s[1] + w[3] * s[2];
}

/* The sum of 64 samples of one view. */
static inline void add(const double *window, double first, const double step[3],
                       enum fbp_interpolation how, double *block)
{
    for (int l = 0; l < FBP_PLANES_EDGE; l++)
        for (int j = 0; j < FBP_PLANES_EDGE; j++)
            for (int i = 0; i < FBP_PLANES_EDGE; i++)
                *block++ += fbp_row_value_double(
                    window, first + i * step[0] + j * step[1] + l * step[2], how);
}

static inline void add_all(double *block, double x, const struct fbp_bp_planes_double *p,
                           enum fbp_interpolation how)
{
    for (size_t k = 0; k < p->n; k++) {
        const double step[3] = {p->step[0][k], p->step[1][k], p->step[2][k]};
        double first;
        const double *window = p->samples + (ptrdiff_t)(k * p->stride) + place(p, k, x, &first);
        add(window, first, step, how, block);
    }
}

void fbp_bp_planes_double_c(double *block, double x, const struct fbp_bp_planes_double *p)
{
    add_all(block, x, p, FBP_INTERPOLATION_LINEAR);
}

void fbp_bp_planes_double_nearest_c(double *block, double x, const struct fbp_bp_planes_double *p)
{
    add_all(block, x, p, FBP_INTERPOLATION_NEAREST);
}

void fbp_bp_planes_double_cubic_c(double *block, double x, const struct fbp_bp_planes_double *p)
{
    add_all(block, x, p, FBP_INTERPOLATION_CUBIC);
}

/* Of plain C, AVX2 and AVX-512. */
enum { N_LEVELS = 3 };

static size_t level_of(unsigned flags)
{
    return flags & FBP_CPU_AVX512 ? 2 : flags & FBP_CPU_AVX2 ? 1 : 0;
}

fbp_bp_planes_double_fn *fbp_bp_planes_double_find(unsigned flags, enum fbp_interpolation how)
{
#if defined(__x86_64__)
#    define LEVELS(name)                         \
        {                                        \
            name##_c, name##_avx2, name##_avx512 \
        }
#else
#    define LEVELS(name)                 \
        {                                \
            name##_c, name##_c, name##_c \
        }
#endif
    static fbp_bp_planes_double_fn *const all[][N_LEVELS] = {
        [FBP_INTERPOLATION_LINEAR] = LEVELS(fbp_bp_planes_double),
        [FBP_INTERPOLATION_NEAREST] = LEVELS(fbp_bp_planes_double_nearest),
        [FBP_INTERPOLATION_CUBIC] = LEVELS(fbp_bp_planes_double_cubic)};

    return all[how][level_of(flags)];
}
