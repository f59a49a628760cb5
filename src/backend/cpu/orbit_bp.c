#include "backend/cpu/orbit_bp.h"

#include "base/cpu_features.h"

#include <math.h>

/* The specification of all others. */
static inline void orbit(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o,
                         size_t stride, size_t halves, size_t turns)
{
    const size_t lanes = halves * turns;

    for (size_t z = 0; z < n; z++, dst += lanes)
        for (size_t i = 0; i < turns; i++) {
            const float along = o->v0[i] + (t0 + (float)z) * o->dv[i];
            const float v = along < o->v_lo ? o->v_lo : along > o->v_hi ? o->v_hi : along;
            const float fv = floorf(v), b = v - fv, wl = o->wl[i], wr = o->wr[i];
            const float *p = o->left[i] + ((ptrdiff_t)fv + o->row) * (ptrdiff_t)lanes,
                        *q = p + stride;
            for (size_t s = 0; s < lanes; s += turns)
                for (size_t j = 0; j < turns; j++) {
                    const float lower = wl * p[s + j] + wr * q[s + j];
                    const float upper = wl * p[lanes + s + j] + wr * q[lanes + s + j];
                    dst[s + (i + j) % turns] += lower + b * (upper - lower);
                }
        }
}

#define FBP_ORBIT_C(name, halves, turns)                                                          \
    static void name(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o, size_t stride) \
    {                                                                                             \
        orbit(dst, n, t0, o, stride, halves, turns);                                              \
    }

FBP_ORBIT_C(rot180_c, 1, 2)
FBP_ORBIT_C(rot90_c, 1, 4)
FBP_ORBIT_C(mirror_c, 2, 1)
FBP_ORBIT_C(mirror_rot180_c, 2, 2)
FBP_ORBIT_C(mirror_rot90_c, 2, 4)

const struct fbp_orbit_dsp fbp_orbit_c = {
    {{NULL, rot180_c, rot90_c}, {mirror_c, mirror_rot180_c, mirror_rot90_c}}};

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
