/* Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl; must not be reached without them. */
#include "backend/cpu/planes_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)       name##_avx512
#    define VL                 16
#    define V                  __m512
#    define VSET1(a)           _mm512_set1_ps(a)
#    define VADD(a, b)         _mm512_add_ps(a, b)
#    define VMUL(a, b)         _mm512_mul_ps(a, b)
#    define VFMA(a, b, c)      _mm512_fmadd_ps(a, b, c)
#    define VLOAD(p)           _mm512_loadu_ps(p)
#    define VSTORE(p, a)       _mm512_storeu_ps(p, a)
#    define VX()               _mm512_setr_ps(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#    define VY()               _mm512_setr_ps(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)
#    define DL                 8
#    define D                  __m512d
#    define DSET1(a)           _mm512_set1_pd(a)
#    define DADD(a, b)         _mm512_add_pd(a, b)
#    define DSUB(a, b)         _mm512_sub_pd(a, b)
#    define DFMA(a, b, c)      _mm512_fmadd_pd(a, b, c)
#    define DMIN(a, b)         _mm512_min_pd(a, b)
#    define DMAX(a, b)         _mm512_max_pd(a, b)
#    define DROUND(a)          _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#    define DLOAD(p)           _mm512_loadu_pd(p)
#    define DSTORE_INT(p, a)   _mm256_storeu_si256((__m256i *)(void *)(p), _mm512_cvtpd_epi32(a))
#    define DSTORE_FLOAT(p, a) _mm256_storeu_ps(p, _mm512_cvtpd_ps(a))

struct wide {
    __m512 value, slope;
};

/* Lines through p[i] and p[i + 1], their u counted from sample 0. */
static inline void wide_load(const float *p, struct wide *t)
{
    const __m512 iota = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512 value = VLOAD(p);

    t->slope = _mm512_sub_ps(VLOAD(p + 1), value);
    t->value = _mm512_fnmadd_ps(iota, t->slope, value);
}

static inline __m512 wide_look(const struct wide *t, __m512 u)
{
    const __m512i i = _mm512_cvttps_epi32(u);

    return VFMA(_mm512_permutexvar_ps(i, t->slope), u, _mm512_permutexvar_ps(i, t->value));
}

struct wide_nearest {
    __m512 value;
};

static inline void wide_nearest_load(const float *p, struct wide_nearest *t)
{
    t->value = VLOAD(p);
}

static inline __m512 wide_nearest_look(const struct wide_nearest *t, __m512 u)
{
    return _mm512_permutexvar_ps(_mm512_cvttps_epi32(u), t->value);
}

/* A spline as a polynomial of the fraction, for each place between two samples. */
struct wide_cubic {
    __m512 a[4];
};

static inline void wide_cubic_load(const float *p, struct wide_cubic *t)
{
    const __m512 before = VLOAD(p - 1), at = VLOAD(p), next = VLOAD(p + 1), after = VLOAD(p + 2);
    const __m512 beside = VADD(before, next), sixth = VSET1(1.0f / 6), half = VSET1(.5f);

    t->a[0] = VMUL(sixth, VFMA(VSET1(4), at, beside));
    t->a[1] = VMUL(half, _mm512_sub_ps(next, before));
    t->a[2] = VFMA(half, beside, _mm512_sub_ps(_mm512_setzero_ps(), at));
    t->a[3] = VFMA(half, _mm512_sub_ps(at, next), VMUL(sixth, _mm512_sub_ps(after, before)));
}

static inline __m512 wide_cubic_look(const struct wide_cubic *t, __m512 u)
{
    const __m512i i = _mm512_cvttps_epi32(u);
    const __m512 f = _mm512_sub_ps(u, _mm512_cvtepi32_ps(i));
    __m512 value = _mm512_permutexvar_ps(i, t->a[3]);

    for (int k = 2; k >= 0; k--)
        value = VFMA(value, f, _mm512_permutexvar_ps(i, t->a[k]));
    return value;
}

#    define HAS_NARROW 0 /* one permutation reaches all 16 samples */

#    include "backend/cpu/planes_tmpl.h"
#endif
