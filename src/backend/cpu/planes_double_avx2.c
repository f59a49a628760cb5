/* Compiled with -mavx2 -mfma; must not be reached unless the CPU has both. */
#include "backend/cpu/planes_double_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)     name##_avx2
#    define VL               4
#    define V                __m256d
#    define VSET1(a)         _mm256_set1_pd(a)
#    define VADD(a, b)       _mm256_add_pd(a, b)
#    define VSUB(a, b)       _mm256_sub_pd(a, b)
#    define VMUL(a, b)       _mm256_mul_pd(a, b)
#    define VFMA(a, b, c)    _mm256_fmadd_pd(a, b, c)
#    define VMIN(a, b)       _mm256_min_pd(a, b)
#    define VMAX(a, b)       _mm256_max_pd(a, b)
#    define VROUND(a)        _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#    define VLOAD(p)         _mm256_loadu_pd(p)
#    define VSTORE(p, a)     _mm256_storeu_pd(p, a)
#    define VSTORE_INT(p, a) _mm_storeu_si128((__m128i *)(void *)(p), _mm256_cvtpd_epi32(a))
#    define VX()             _mm256_setr_pd(0, 1, 2, 3)
#    define VY()             _mm256_setzero_pd()

/* No permutation reaches more than 4 doubles: all samples of a voxel are loaded at once. */
struct linear {
    const double *samples;
};

struct nearest {
    const double *samples;
};

struct cubic {
    const double *samples;
};

static inline void linear_load(const double *p, struct linear *t)
{
    t->samples = p;
}

static inline void nearest_load(const double *p, struct nearest *t)
{
    t->samples = p;
}

static inline void cubic_load(const double *p, struct cubic *t)
{
    t->samples = p - 1;
}

/* Where the samples of the lanes are. */
struct places {
    const double *at[4];
};

static inline struct places places_of(const double *p, __m128i i)
{
    const long long low = _mm_cvtsi128_si64(i), high = _mm_extract_epi64(i, 1);

    return (struct places){
        {p + (int)low, p + (int)(low >> 32), p + (int)high, p + (int)(high >> 32)}};
}

static inline __m256d both(__m128d low, __m128d high)
{
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}

static inline __m256d linear_look(const struct linear *t, __m256d u)
{
    const __m128i i = _mm256_cvttpd_epi32(u);
    const struct places p = places_of(t->samples, i);
    const __m256d even = both(_mm_loadu_pd(p.at[0]), _mm_loadu_pd(p.at[2]));
    const __m256d odd = both(_mm_loadu_pd(p.at[1]), _mm_loadu_pd(p.at[3]));
    const __m256d first = _mm256_unpacklo_pd(even, odd), second = _mm256_unpackhi_pd(even, odd);
    const __m256d part = VSUB(u, _mm256_cvtepi32_pd(i));

    return VFMA(part, VSUB(second, first), first);
}

static inline __m256d nearest_look(const struct nearest *t, __m256d u)
{
    const struct places p = places_of(t->samples, _mm256_cvttpd_epi32(u));

    return _mm256_setr_pd(*p.at[0], *p.at[1], *p.at[2], *p.at[3]);
}

/* The four taps of each lane, turned. */
static inline void taps(const struct places *p, __m256d out[4])
{
    const __m256d a = VLOAD(p->at[0]), b = VLOAD(p->at[1]);
    const __m256d c = VLOAD(p->at[2]), d = VLOAD(p->at[3]);
    const __m256d even_ab = _mm256_unpacklo_pd(a, b), odd_ab = _mm256_unpackhi_pd(a, b);
    const __m256d even_cd = _mm256_unpacklo_pd(c, d), odd_cd = _mm256_unpackhi_pd(c, d);

    out[0] = _mm256_permute2f128_pd(even_ab, even_cd, 0x20);
    out[1] = _mm256_permute2f128_pd(odd_ab, odd_cd, 0x20);
    out[2] = _mm256_permute2f128_pd(even_ab, even_cd, 0x31);
    out[3] = _mm256_permute2f128_pd(odd_ab, odd_cd, 0x31);
}

static inline __m256d cubic_look(const struct cubic *t, __m256d u)
{
    const __m128i i = _mm256_cvttpd_epi32(u);
    const struct places p = places_of(t->samples, i);
    const __m256d part = VSUB(u, _mm256_cvtepi32_pd(i)), sixth = VSET1(1. / 6);
    __m256d s[4];

    taps(&p, s);
    const __m256d bend = VADD(s[0], s[2]), slope = VSUB(s[2], s[0]);
    const __m256d last = VFMA(VSET1(3), VSUB(s[1], s[2]), VSUB(s[3], s[0]));
    const __m256d second = VFMA(VSET1(-2), s[1], bend);
    __m256d value = VFMA(part, VMUL(last, sixth), VMUL(second, VSET1(.5)));
    value = VFMA(part, value, VMUL(slope, VSET1(.5)));
    return VFMA(part, value, VMUL(VFMA(VSET1(4), s[1], bend), sixth));
}

#    include "backend/cpu/planes_double_tmpl.h"
#endif
