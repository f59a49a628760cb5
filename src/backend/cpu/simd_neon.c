/* The inner loops of the CPU device (simd.h) for NEON, the vectors of AArch64 processors: the
 * operations of its vectors, from which simd.h makes the loops and tables that simd_c.c selects.
 * All AArch64 processors have these instructions, so the file needs no compiler flags. */
#if defined(__aarch64__)
#    include <arm_neon.h>
#    include <stddef.h>

#    define SUFFIX(name) name##_neon

#    define VL                 4
#    define V                  float32x4_t
#    define VI                 int32x4_t
#    define VSET1(a)           vdupq_n_f32(a)
#    define VADD(a, b)         vaddq_f32(a, b)
#    define VSUB(a, b)         vsubq_f32(a, b)
#    define VMUL(a, b)         vmulq_f32(a, b)
#    define VDIV(a, b)         vdivq_f32(a, b)
#    define VFMA(a, b, c)      vfmaq_f32(c, a, b)
#    define VFNMA(a, b, c)     vfmsq_f32(c, a, b)
#    define VMIN(a, b)         vminnmq_f32(a, b) /* b if a is NaN, as on x86-64 */
#    define VMAX(a, b)         vmaxnmq_f32(a, b)
#    define VFLOOR(a)          vrndmq_f32(a)
#    define VTOI(a)            vcvtq_s32_f32(a)
#    define VROUND(a)          vcvtnq_s32_f32(a)
#    define VTOF(a)            vcvtq_f32_s32(a)
#    define VABS(a)            vabsq_f32(a)
#    define VIOTA()            ((V){0, 1, 2, 3})
#    define VUPPER()           ((V){0, 0, 1, 1})
#    define VX()               VIOTA()
#    define VY()               VSET1(0)
#    define VISET1(a)          vdupq_n_s32(a)
#    define VIADD(a, b)        vaddq_s32(a, b)
#    define VIMUL(a, b)        vmulq_s32(a, b)
#    define VGATHER(p, i)      ((V){(p)[(i)[0]], (p)[(i)[1]], (p)[(i)[2]], (p)[(i)[3]]})
#    define VLOAD(p)           vld1q_f32(p)
#    define VSTORE(p, a)       vst1q_f32(p, a)
#    define VISTORE(p, a)      vst1q_s32(p, a)
#    define VSTREAM(p, a)      VSTORE(p, a) /* NEON has no stores past the caches … */
#    define VFENCE()           ((void)0)    /* … and none that would need a fence */
#    define DL                 2
#    define D                  float64x2_t
#    define DSET1(a)           vdupq_n_f64(a)
#    define DADD(a, b)         vaddq_f64(a, b)
#    define DSUB(a, b)         vsubq_f64(a, b)
#    define DMUL(a, b)         vmulq_f64(a, b)
#    define DFMA(a, b, c)      vfmaq_f64(c, a, b)
#    define DMIN(a, b)         vminnmq_f64(a, b)
#    define DMAX(a, b)         vmaxnmq_f64(a, b)
#    define DROUND(a)          vrndnq_f64(a)
#    define DX()               ((D){0, 1})
#    define DY()               DSET1(0)
#    define DLOAD(p)           vld1q_f64(p)
#    define DSTORE(p, a)       vst1q_f64(p, a)
#    define DSTORE_INT(p, a)   vst1_s32(p, vmovn_s64(vcvtq_s64_f64(a)))
#    define DSTORE_FLOAT(p, a) vst1_f32(p, vcvt_f32_f64(a))

static inline void zip(V a, V b, V *lo, V *hi)
{
    *lo = vzip1q_f32(a, b);
    *hi = vzip2q_f32(a, b);
}

static inline void deinterleave(V a, V b, V *even, V *odd)
{
    *even = vuzp1q_f32(a, b);
    *odd = vuzp2q_f32(a, b);
}

static inline void taps(const float *view, size_t step, VI at, V out[4])
{
    for (int r = 0; r < 2; r++, view += step)
        deinterleave(vcombine_f32(vld1_f32(view + at[0]), vld1_f32(view + at[1])),
                     vcombine_f32(vld1_f32(view + at[2]), vld1_f32(view + at[3])), &out[2 * r],
                     &out[2 * r + 1]);
}

/* Defines PICK(c, i), c[i] of each lane of a window of H vectors (kernel "planes"), and WINDOW(p,
 * i), p[i] (kernel "column"), i < 4 H.  Table look-ups, vqtblNq_u8(), count in bytes; N: number of
 * vectors, or more. */
#    define WINDOW(PICK, WINDOW, H, TABLE, LOOKUP)                                          \
        static inline V PICK(const V *c, VI i)                                              \
        {                                                                                   \
            const VI bytes = vmlaq_s32(VISET1(0x03020100), i, VISET1(0x04040404));          \
            TABLE t;                                                                        \
            _Pragma("GCC unroll 4") for (int h = 0; h < (H); h++) t.val[h] =                \
                vreinterpretq_u8_f32(c[h]);                                                 \
            return vreinterpretq_f32_u8(LOOKUP(t, vreinterpretq_u8_s32(bytes)));            \
        }                                                                                   \
        static inline V WINDOW(const float *p, VI i)                                        \
        {                                                                                   \
            V c[H];                                                                         \
            _Pragma("GCC unroll 4") for (int h = 0; h < (H); h++) c[h] = VLOAD(p + h * VL); \
            return PICK(c, i);                                                              \
        }

typedef struct {
    uint8x16_t val[1];
} uint8x16x1;
#    define LOOKUP_1(t, i) vqtbl1q_u8((t).val[0], i)
WINDOW(pick_4, window4, 1, uint8x16x1, LOOKUP_1)
WINDOW(pick_8, window8, 2, uint8x16x2_t, vqtbl2q_u8)
WINDOW(pick_16, window16, 4, uint8x16x4_t, vqtbl4q_u8)

#    define ADD_SMALL(...)  add_plain(__VA_ARGS__, window4, NULL)
#    define ADD_MIDDLE(...) add_plain(__VA_ARGS__, window8, NULL)
#    define ADD_LARGE(...)  add_plain(__VA_ARGS__, window16, NULL)
#    define SMALL_STEP      0.999f                 /* 3 dv + 1 < 4, with room for rounding */
#    define MIDDLE_STEP     (0.999f * 7.0f / 3.0f) /* 3 dv + 1 < 8 */
#    define LARGE_STEP      (0.999f * 4.1f)        /* 3 dv + 1 < 16; HALF allows 4.1 */
#    define PICK_16         pick_16
#    define PICK_8          pick_8

static inline D nearest_taps(const double *p, D u, D s[1])
{
    const int64x2_t i = vcvtq_s64_f64(u);

    s[0] = (D){p[i[0]], p[i[1]]};
    return u;
}

static inline D linear_taps(const double *p, D u, D s[2])
{
    const int64x2_t i = vcvtq_s64_f64(u);
    const D a = DLOAD(p + i[0]), b = DLOAD(p + i[1]);

    s[0] = vzip1q_f64(a, b);
    s[1] = vzip2q_f64(a, b);
    return DSUB(u, vrndq_f64(u));
}

static inline D cubic_taps(const double *p, D u, D s[4])
{
    (void)linear_taps(p + 2, u, s + 2);
    return linear_taps(p, u, s);
}

#    include "backend/cpu/simd.h"
#endif
