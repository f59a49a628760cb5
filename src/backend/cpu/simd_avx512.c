/* The inner loops of the CPU device (simd.h) for AVX-512: the operations of its vectors, from which
 * simd.h makes the loops and tables that simd_c.c selects.  Compiled with -mavx512f -mavx512dq
 * -mavx512bw -mavx512vl; must not be called unless the processor has these.
 * Used by: simd_c.c. */
#if defined(__x86_64__)
#    include <immintrin.h>
#    include <stddef.h>
#    include <string.h>

#    define SUFFIX(name)       name##_avx512
#    define VL                 16
#    define V                  __m512
#    define VI                 __m512i
#    define VSET1(a)           _mm512_set1_ps(a)
#    define VADD(a, b)         _mm512_add_ps(a, b)
#    define VSUB(a, b)         _mm512_sub_ps(a, b)
#    define VMUL(a, b)         _mm512_mul_ps(a, b)
#    define VDIV(a, b)         _mm512_div_ps(a, b)
#    define VFMA(a, b, c)      _mm512_fmadd_ps(a, b, c)
#    define VFNMA(a, b, c)     _mm512_fnmadd_ps(a, b, c)
#    define VMIN(a, b)         _mm512_min_ps(a, b)
#    define VMAX(a, b)         _mm512_max_ps(a, b)
#    define VFLOOR(a)          _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#    define VTOI(a)            _mm512_cvttps_epi32(a)
#    define VROUND(a)          _mm512_cvtps_epi32(a)
#    define VTOF(a)            _mm512_cvtepi32_ps(a)
#    define VABS(a)            _mm512_abs_ps(a)
#    define VIOTA()            _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#    define VUPPER()           _mm512_setr_ps(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
#    define VX()               _mm512_setr_ps(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#    define VY()               _mm512_setr_ps(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
#    define VISET1(a)          _mm512_set1_epi32(a)
#    define VIADD(a, b)        _mm512_add_epi32(a, b)
#    define VIMUL(a, b)        _mm512_mullo_epi32(a, b)
#    define VISLL(a, n)        _mm512_slli_epi32(a, n)
#    define VISRA(a, n)        _mm512_srai_epi32(a, n)
#    define VIMULHI16(a, b)    _mm512_mulhi_epu16(a, b)
#    define VISUB16(a, b)      _mm512_sub_epi16(a, b)
#    define VIZIP_LOW(a, b)    _mm512_unpacklo_epi32(a, b)
#    define VIZIP_HIGH(a, b)   _mm512_unpackhi_epi32(a, b)
#    define VITWICE(a)         _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(twice()))
#    define VMASK              __mmask16
#    define VGREATER(a, b)     _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#    define VSELECT(m, a, b)   _mm512_mask_blend_ps(m, b, a)
#    define VFIRST(a)          _mm512_cvtss_f32(a)
#    define VLAST(a)           _mm_cvtss_f32(_mm_permute_ps(_mm512_extractf32x4_ps(a, 3), 0xff))
#    define VGATHER(p, i)      _mm512_i32gather_ps(i, p, 4)
#    define VLOAD(p)           _mm512_loadu_ps(p)
#    define VSTREAM(p, a)      _mm512_stream_ps(p, a)
#    define VFENCE()           _mm_sfence()
#    define VSTORE(p, a)       _mm512_storeu_ps(p, a)
#    define VISTORE(p, a)      _mm512_storeu_si512(p, a)
#    define DL                 8
#    define D                  __m512d
#    define DSET1(a)           _mm512_set1_pd(a)
#    define DADD(a, b)         _mm512_add_pd(a, b)
#    define DSUB(a, b)         _mm512_sub_pd(a, b)
#    define DMUL(a, b)         _mm512_mul_pd(a, b)
#    define DFMA(a, b, c)      _mm512_fmadd_pd(a, b, c)
#    define DMIN(a, b)         _mm512_min_pd(a, b)
#    define DMAX(a, b)         _mm512_max_pd(a, b)
#    define DROUND(a)          _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#    define DX()               _mm512_setr_pd(0, 1, 2, 3, 0, 1, 2, 3)
#    define DY()               _mm512_setr_pd(0, 0, 0, 0, 1, 1, 1, 1)
#    define DLOAD(p)           _mm512_loadu_pd(p)
#    define DSTORE(p, a)       _mm512_storeu_pd(p, a)
#    define DSTORE_INT(p, a)   _mm256_storeu_si256((__m256i *)(void *)(p), _mm512_cvtpd_epi32(a))
#    define DSTORE_FLOAT(p, a) _mm256_storeu_ps(p, _mm512_cvtpd_ps(a))

static inline void zip(__m512 a, __m512 b, __m512 *lo, __m512 *hi)
{
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));

    *lo = _mm512_permutex2var_ps(a, first, b);
    *hi = _mm512_permutex2var_ps(a, second, b);
}

static inline void deinterleave(__m512 a, __m512 b, __m512 *even, __m512 *odd)
{
    const __m512i first =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    *even = _mm512_permutex2var_ps(a, first, b);
    *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(first, _mm512_set1_epi32(1)), b);
}

/* Loads the four samples around the position `at` of each lane (taps_fn): gathers of 64 bits load
 * pairs of neighbours, whose first and second samples are then separated. */
static inline void taps(const float *view, size_t step, __m512i at, __m512 out[4])
{
    const __m256i low = _mm512_castsi512_si256(at), high = _mm512_extracti64x4_epi64(at, 1);

    for (int r = 0; r < 2; r++, view += step) {
        const __m512 a = _mm512_castpd_ps(_mm512_i32gather_pd(low, (const void *)view, 4));
        const __m512 b = _mm512_castpd_ps(_mm512_i32gather_pd(high, (const void *)view, 4));
        deinterleave(a, b, &out[2 * r], &out[2 * r + 1]);
    }
}

/* Returns p[i] of each lane from a window of 16 or 32 samples, by a permutation instead of a
 * gather. */
static inline __m512 window16(const float *p, __m512i i)
{
    return _mm512_permutexvar_ps(i, VLOAD(p));
}

static inline __m512 window32(const float *p, __m512i i)
{
    return _mm512_permutex2var_ps(VLOAD(p), i, VLOAD(p + 16));
}

static inline __m512 window64(const float *p, __m512i i)
{
    return _mm512_mask_blend_ps(_mm512_cmpgt_epi32_mask(i, VISET1(31)), window32(p, i),
                                window32(p + 32, i));
}

#    define MATRIX_WINDOW 64
#    define MATRIX_ROWS   6
#    define matrix_wide   window64
#    define matrix_narrow window32

static inline __m512 window32_above(const float *p, __m512i i)
{
    return window32(p, VIADD(i, VISET1(1))); /* faster than the loads of window32(p + 1, i) */
}

static inline __m512 one_window32(const float *p, __m512i i, ptrdiff_t apart)
{
    (void)apart;
    return window32(p, i);
}

#    define ADD_SMALL(...)  add_plain(__VA_ARGS__, window16, NULL)
#    define ADD_MIDDLE(...) add_plain(__VA_ARGS__, window32, window32_above)
#    define ADD_LARGE(...)  add_split(__VA_ARGS__, one_window32, false)
#    define SMALL_STEP      0.999f                   /* 15 dv + 1 < 16, with room for rounding */
#    define MIDDLE_STEP     (0.999f * 30.0f / 15.0f) /* 15 dv + 2 < 32 */
#    define LARGE_STEP      (0.999f * 61.0f / 15.0f) /* 15 dv / 2 + 1 < 31.5 */

#    define PICK_16(c, i) _mm512_permutexvar_ps(i, (c)[0])

/* Windows of 16 samples (double) that kernel "planes" keeps in registers, for linear, nearest and
 * spline interpolation.  linear: value = value[i] + slope[i] u with i = floor(u); cubic: c are the
 * coefficients of a polynomial in u - i. */

struct linear {
    __m512d value[2], slope[2];
};

struct nearest {
    __m512d value[2];
};

struct cubic {
    __m512d c[4][2];
};

static inline void linear_load(const double *p, struct linear *t)
{
    const __m512d iota = _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7);

    for (int h = 0; h < 2; h++) {
        const int from = 8 * h;
        const __m512d value = DLOAD(p + from);
        t->slope[h] = DSUB(DLOAD(p + from + 1), value);
        t->value[h] = _mm512_fnmadd_pd(DADD(iota, DSET1(from)), t->slope[h], value);
    }
}

static inline void nearest_load(const double *p, struct nearest *t)
{
    t->value[0] = DLOAD(p);
    t->value[1] = DLOAD(p + 8);
}

static inline void cubic_load(const double *p, struct cubic *t)
{
    const __m512d sixth = DSET1(1. / 6), half = DSET1(.5);

    for (int h = 0; h < 2; h++) {
        const int from = 8 * h - 1;
        const double *at = p + from;
        const __m512d a = DLOAD(at), b = DLOAD(at + 1), c = DLOAD(at + 2), d = DLOAD(at + 3);
        t->c[0][h] = DMUL(DFMA(DSET1(4), b, DADD(a, c)), sixth);
        t->c[1][h] = DMUL(DSUB(c, a), half);
        t->c[2][h] = DMUL(DFMA(DSET1(-2), b, DADD(a, c)), half);
        t->c[3][h] = DMUL(DFMA(DSET1(3), DSUB(b, c), DSUB(d, a)), sixth);
    }
}

static inline __m512d of_16(const __m512d table[2], __m512i i)
{
    return _mm512_permutex2var_pd(table[0], i, table[1]);
}

static inline __m512d linear_look(const struct linear *t, __m512d u)
{
    const __m512i i = _mm512_cvttpd_epi64(u);

    return DFMA(of_16(t->slope, i), u, of_16(t->value, i));
}

static inline __m512d nearest_look(const struct nearest *t, __m512d u)
{
    return of_16(t->value, _mm512_cvttpd_epi64(u));
}

static inline __m512d cubic_look(const struct cubic *t, __m512d u)
{
    const __m512i i = _mm512_cvttpd_epi64(u);
    const __m512d part = DSUB(u, _mm512_cvtepi64_pd(i));
    const __m512d upper = DFMA(part, of_16(t->c[3], i), of_16(t->c[2], i));

    return DFMA(part, DFMA(part, upper, of_16(t->c[1], i)), of_16(t->c[0], i));
}

#    include "backend/cpu/simd.h"

MATRIX_KERNEL(void, fbp_bp_matrix_avx512_gather, linear_at((float)x, view, stride, l, taps))

#    define VNNI __attribute__((target("avx512vnni")))

VNNI static inline __m256i add_products_vnni(__m256i sum, const int16_t *samples, __m256i weights)
{
    return _mm256_dpwssd_epi32(sum, _mm256_loadu_si256((const void *)samples), weights);
}

VNNI void fbp_bp_rot90_half_vnni(float *dst, size_t n_slices, float t0,
                                 const struct fbp_bp_rot_half *r)
{
    half_loop(dst, n_slices, t0, r, add_products_vnni);
}
#endif
