#include "backend/cpu/column_double_bp.h"

#include "base/system.h"

void fbp_bp_column_double_c(double *dst, size_t n, const struct fbp_bp_column_double *views,
                            size_t n_views, size_t stride)
{
    for (size_t k = 0; k < n_views; k++) {
        const double *left = views[k].left, *right = left + stride;
        for (size_t i = 0; i < n; i++)
            dst[i] += views[k].wl * left[i] + views[k].wr * right[i];
    }
}

fbp_bp_column_double_fn *fbp_bp_column_double_find(unsigned flags)
{
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX512)
        return fbp_bp_column_double_avx512;
    if (flags & FBP_CPU_AVX2)
        return fbp_bp_column_double_avx2;
#else
    (void)flags;
#endif
    return fbp_bp_column_double_c;
}
