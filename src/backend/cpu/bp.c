#include "backend/cpu/bp.h"

#include "base/system.h"

#include <math.h>

static float clampf(float a, float lo, float hi)
{
    return a < lo ? lo : a > hi ? hi : a;
}

void fbp_bp_matrix_c(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                     const struct fbp_bp_line *l)
{
    for (size_t x = x0; x < x1; x++) {
        const float t = (float)x - l->x_ref;
        const float r = 1.0f / (l->w0 + t * l->w1);
        const float u = clampf((l->u0 + t * l->u1) * r, l->u_lo, l->u_hi);
        const float v = clampf((l->v0 + t * l->v1) * r, l->v_lo, l->v_hi);
        const float fu = floorf(u), fv = floorf(v), a = u - fu, b = v - fv;
        const float *p =
            view + (ptrdiff_t)((int)fv + l->row) * (ptrdiff_t)stride + ((int)fu + l->column);
        const float *q = p + stride;
        const float lower = p[0] + a * (p[1] - p[0]), upper = q[0] + a * (q[1] - q[0]);
        dst[x] += r * r * (lower + b * (upper - lower));
    }
}

void fbp_bp_column_c(float *dst, size_t z0, size_t z1, float z_ref,
                     const struct fbp_bp_column *views, size_t n, size_t stride)
{
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const size_t first = c->z0 > z0 ? c->z0 : z0, end = c->z1 < z1 ? c->z1 : z1;
        const float *left = c->left, *right = left + stride;
        for (size_t z = first; z < end; z++) {
            const float v = clampf(c->v0 + ((float)z - z_ref) * c->dv, c->v_lo, c->v_hi);
            const float fv = floorf(v), b = v - fv;
            const ptrdiff_t i = (ptrdiff_t)fv + c->row;
            const float lower = c->wl * left[i] + c->wr * right[i];
            const float upper = c->wl * left[i + 1] + c->wr * right[i + 1];
            dst[z - z0] += lower + b * (upper - lower);
        }
    }
}

void fbp_bp_dsp_init(struct fbp_bp_dsp *dsp, unsigned flags)
{
    dsp->matrix = fbp_bp_matrix_c;
    dsp->column = fbp_bp_column_c;

#if defined(__x86_64__)
    if (!(flags & FBP_CPU_AVX2))
        return;
    dsp->matrix = flags & FBP_CPU_GATHER ? fbp_bp_matrix_avx2_gather : fbp_bp_matrix_avx2;
    dsp->column = fbp_bp_column_avx2;
    if (!(flags & FBP_CPU_AVX512))
        return;
    dsp->matrix = fbp_bp_matrix_avx512;
    dsp->column = fbp_bp_column_avx512;
#else
    (void)flags;
#endif
}
