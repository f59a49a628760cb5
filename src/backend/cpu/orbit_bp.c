#include "backend/cpu/orbit_bp.h"

#include "base/system.h"

#include <math.h>

/* The specification of all others. */
static inline void orbit(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o,
                         size_t stride, size_t turns)
{
    for (size_t z = 0; z < n; z++, dst += turns)
        for (size_t i = 0; i < turns; i++) {
            const float along = o->v0[i] + (t0 + (float)z) * o->dv[i];
            const float v = along < o->v_lo ? o->v_lo : along > o->v_hi ? o->v_hi : along;
            const float fv = floorf(v), b = v - fv, wl = o->wl[i], wr = o->wr[i];
            const float *p = o->left[i] + ((ptrdiff_t)fv + o->row) * (ptrdiff_t)turns,
                        *q = p + stride;
            for (size_t j = 0; j < turns; j++) {
                const float lower = wl * p[j] + wr * q[j];
                const float upper = wl * p[turns + j] + wr * q[turns + j];
                dst[(i + j) % turns] += lower + b * (upper - lower);
            }
        }
}

static void rot90_c(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o, size_t stride)
{
    orbit(dst, n, t0, o, stride, 4);
}

static void rot180_c(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o, size_t stride)
{
    orbit(dst, n, t0, o, stride, 2);
}

const struct fbp_orbit_dsp fbp_orbit_c = {.rot90 = rot90_c, .rot180 = rot180_c};

void fbp_orbit_dsp_init(struct fbp_orbit_dsp *dsp, unsigned flags)
{
    *dsp = fbp_orbit_c;
#if defined(__x86_64__)
    if (flags & FBP_CPU_AVX2)
        *dsp = fbp_orbit_avx2;
    if (flags & FBP_CPU_AVX512)
        *dsp = fbp_orbit_avx512;
#else
    (void)flags;
#endif
}
