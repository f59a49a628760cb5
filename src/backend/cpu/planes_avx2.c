/* Compiled with -mavx2 -mfma; must not be reached unless the CPU has both. */
#include "backend/cpu/planes_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)       name##_avx2
#    define VL                 8
#    define V                  __m256
#    define VSET1(a)           _mm256_set1_ps(a)
#    define VADD(a, b)         _mm256_add_ps(a, b)
#    define VMUL(a, b)         _mm256_mul_ps(a, b)
#    define VFMA(a, b, c)      _mm256_fmadd_ps(a, b, c)
#    define VLOAD(p)           _mm256_loadu_ps(p)
#    define VSTORE(p, a)       _mm256_storeu_ps(p, a)
#    define VX()               _mm256_setr_ps(0, 1, 2, 3, 0, 1, 2, 3)
#    define VY()               _mm256_setr_ps(0, 0, 0, 0, 1, 1, 1, 1)
#    define DL                 4
#    define D                  __m256d
#    define DSET1(a)           _mm256_set1_pd(a)
#    define DADD(a, b)         _mm256_add_pd(a, b)
#    define DSUB(a, b)         _mm256_sub_pd(a, b)
#    define DFMA(a, b, c)      _mm256_fmadd_pd(a, b, c)
#    define DMIN(a, b)         _mm256_min_pd(a, b)
#    define DMAX(a, b)         _mm256_max_pd(a, b)
#    define DROUND(a)          _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#    define DLOAD(p)           _mm256_loadu_pd(p)
#    define DSTORE_INT(p, a)   _mm_storeu_si128((__m128i *)(void *)(p), _mm256_cvtpd_epi32(a))
#    define DSTORE_FLOAT(p, a) _mm_storeu_ps(p, _mm256_cvtpd_ps(a))

struct narrow {
    __m256 value, slope;
};

struct wide {
    struct narrow low, high;
};

/* Lines through p[i] and p[i + 1], their u counted from sample -from. */
static inline void lines(const float *p, float from, struct narrow *t)
{
    const __m256 iota = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), value = VLOAD(p);

    t->slope = _mm256_sub_ps(VLOAD(p + 1), value);
    t->value = _mm256_fnmadd_ps(_mm256_add_ps(iota, VSET1(from)), t->slope, value);
}

static inline void narrow_load(const float *p, struct narrow *t)
{
    lines(p, 0, t);
}

static inline void wide_load(const float *p, struct wide *t)
{
    lines(p, 0, &t->low);
    lines(p + 8, 8, &t->high);
}

static inline __m256 narrow_look(const struct narrow *t, __m256 u)
{
    const __m256i i = _mm256_cvttps_epi32(u);

    return VFMA(_mm256_permutevar8x32_ps(t->slope, i), u, _mm256_permutevar8x32_ps(t->value, i));
}

/* The bit of 8 in an index says which half. */
static inline __m256 either(__m256 low, __m256 high, __m256i i)
{
    return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, i), _mm256_permutevar8x32_ps(high, i),
                            _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));
}

static inline __m256 wide_look(const struct wide *t, __m256 u)
{
    const __m256i i = _mm256_cvttps_epi32(u);

    return VFMA(either(t->low.slope, t->high.slope, i), u, either(t->low.value, t->high.value, i));
}

struct narrow_nearest {
    __m256 value;
};

struct wide_nearest {
    __m256 low, high;
};

static inline void narrow_nearest_load(const float *p, struct narrow_nearest *t)
{
    t->value = VLOAD(p);
}

static inline void wide_nearest_load(const float *p, struct wide_nearest *t)
{
    t->low = VLOAD(p);
    t->high = VLOAD(p + 8);
}

static inline __m256 narrow_nearest_look(const struct narrow_nearest *t, __m256 u)
{
    return _mm256_permutevar8x32_ps(t->value, _mm256_cvttps_epi32(u));
}

static inline __m256 wide_nearest_look(const struct wide_nearest *t, __m256 u)
{
    return either(t->low, t->high, _mm256_cvttps_epi32(u));
}

/* A spline as a polynomial of the fraction, for each place between two samples. */
struct narrow_cubic {
    __m256 a[4];
};

struct wide_cubic {
    struct narrow_cubic low, high;
};

static inline void narrow_cubic_load(const float *p, struct narrow_cubic *t)
{
    const __m256 before = VLOAD(p - 1), at = VLOAD(p), next = VLOAD(p + 1), after = VLOAD(p + 2);
    const __m256 beside = VADD(before, next), sixth = VSET1(1.0f / 6), half = VSET1(.5f);

    t->a[0] = VMUL(sixth, VFMA(VSET1(4), at, beside));
    t->a[1] = VMUL(half, _mm256_sub_ps(next, before));
    t->a[2] = VFMA(half, beside, _mm256_sub_ps(_mm256_setzero_ps(), at));
    t->a[3] = VFMA(half, _mm256_sub_ps(at, next), VMUL(sixth, _mm256_sub_ps(after, before)));
}

static inline void wide_cubic_load(const float *p, struct wide_cubic *t)
{
    narrow_cubic_load(p, &t->low);
    narrow_cubic_load(p + 8, &t->high);
}

static inline __m256 narrow_cubic_look(const struct narrow_cubic *t, __m256 u)
{
    const __m256i i = _mm256_cvttps_epi32(u);
    const __m256 f = _mm256_sub_ps(u, _mm256_cvtepi32_ps(i));
    __m256 value = _mm256_permutevar8x32_ps(t->a[3], i);

    for (int k = 2; k >= 0; k--)
        value = VFMA(value, f, _mm256_permutevar8x32_ps(t->a[k], i));
    return value;
}

static inline __m256 wide_cubic_look(const struct wide_cubic *t, __m256 u)
{
    const __m256i i = _mm256_cvttps_epi32(u);
    const __m256 f = _mm256_sub_ps(u, _mm256_cvtepi32_ps(i));
    __m256 value = either(t->low.a[3], t->high.a[3], i);

    for (int k = 2; k >= 0; k--)
        value = VFMA(value, f, either(t->low.a[k], t->high.a[k], i));
    return value;
}

#    define HAS_NARROW 1

#    include "backend/cpu/planes_tmpl.h"
#endif
