/* Kernel "matrix" of plane integrals that are not interpolated linearly. */
#include "backend/cpu/bp.h"

#include "base/system.h"
#include "filter/parabola.h"

#include <math.h>

static float place(size_t x, const struct fbp_bp_line *l)
{
    const float u = l->u0 + ((float)x - l->x_ref) * l->u1;

    return u < l->u_lo ? l->u_lo : u > l->u_hi ? l->u_hi : u;
}

void fbp_bp_nearest_c(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                      const struct fbp_bp_line *l)
{
    const float *row = view + (ptrdiff_t)stride * l->row + l->column;

    for (size_t x = x0; x < x1; x++)
        dst[x] += row[(ptrdiff_t)floorf(place(x, l) + (float)FBP_NEAREST)];
}

void fbp_bp_cubic_c(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                    const struct fbp_bp_line *l)
{
    const float *row = view + (ptrdiff_t)stride * l->row + l->column;

    for (size_t x = x0; x < x1; x++) {
        const float u = place(x, l), first = floorf(u), t = u - first, s = 1 - t;
        const float *p = row + (ptrdiff_t)first - 1;
        dst[x] += (s * s * s * p[0] + (4 + 3 * t * t * (t - 2)) * p[1] +
                   (4 + 3 * s * s * (s - 2)) * p[2] + t * t * t * p[3]) /
                  6;
    }
}

static fbp_bp_matrix_fn *nearest(unsigned flags)
{
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        return fbp_bp_nearest_avx512;
    if (flags & FBP_CPU_AVX2)
        return fbp_bp_nearest_avx2;
#else
    (void)flags;
#endif
    return fbp_bp_nearest_c;
}

static fbp_bp_matrix_fn *cubic(unsigned flags)
{
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        return fbp_bp_cubic_avx512;
    if (flags & FBP_CPU_AVX2)
        return fbp_bp_cubic_avx2;
#else
    (void)flags;
#endif
    return fbp_bp_cubic_c;
}

fbp_bp_matrix_fn *fbp_bp_row_find(unsigned flags, enum fbp_interpolation how)
{
    return how == FBP_INTERPOLATION_NEAREST ? nearest(flags) : cubic(flags);
}
