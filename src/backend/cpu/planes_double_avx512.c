/* Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl; must not be reached without them. */
#include "backend/cpu/planes_double_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)     name##_avx512
#    define VL               8
#    define V                __m512d
#    define VSET1(a)         _mm512_set1_pd(a)
#    define VADD(a, b)       _mm512_add_pd(a, b)
#    define VSUB(a, b)       _mm512_sub_pd(a, b)
#    define VMUL(a, b)       _mm512_mul_pd(a, b)
#    define VFMA(a, b, c)    _mm512_fmadd_pd(a, b, c)
#    define VMIN(a, b)       _mm512_min_pd(a, b)
#    define VMAX(a, b)       _mm512_max_pd(a, b)
#    define VROUND(a)        _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#    define VLOAD(p)         _mm512_loadu_pd(p)
#    define VSTORE(p, a)     _mm512_storeu_pd(p, a)
#    define VSTORE_INT(p, a) _mm256_storeu_si256((__m256i *)(void *)(p), _mm512_cvtpd_epi32(a))
#    define VX()             _mm512_setr_pd(0, 1, 2, 3, 0, 1, 2, 3)
#    define VY()             _mm512_setr_pd(0, 0, 0, 0, 1, 1, 1, 1)

/* Lines through p[i] and p[i + 1], their u counted from p. */
struct linear {
    __m512d value[2], slope[2];
};

struct nearest {
    __m512d value[2];
};

/* Polynomials of the fraction of u. */
struct cubic {
    __m512d c[4][2];
};

static inline void linear_load(const double *p, struct linear *t)
{
    const __m512d iota = _mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7);

    for (int h = 0; h < 2; h++) {
        const int from = 8 * h;
        const __m512d value = VLOAD(p + from);
        t->slope[h] = VSUB(VLOAD(p + from + 1), value);
        t->value[h] = _mm512_fnmadd_pd(VADD(iota, VSET1(from)), t->slope[h], value);
    }
}

static inline void nearest_load(const double *p, struct nearest *t)
{
    t->value[0] = VLOAD(p);
    t->value[1] = VLOAD(p + 8);
}

static inline void cubic_load(const double *p, struct cubic *t)
{
    const __m512d sixth = VSET1(1. / 6), half = VSET1(.5);

    for (int h = 0; h < 2; h++) {
        const int from = 8 * h - 1;
        const double *at = p + from;
        const __m512d a = VLOAD(at), b = VLOAD(at + 1), c = VLOAD(at + 2), d = VLOAD(at + 3);
        t->c[0][h] = VMUL(VFMA(VSET1(4), b, VADD(a, c)), sixth);
        t->c[1][h] = VMUL(VSUB(c, a), half);
        t->c[2][h] = VMUL(VFMA(VSET1(-2), b, VADD(a, c)), half);
        t->c[3][h] = VMUL(VFMA(VSET1(3), VSUB(b, c), VSUB(d, a)), sixth);
    }
}

static inline __m512d of_16(const __m512d table[2], __m512i i)
{
    return _mm512_permutex2var_pd(table[0], i, table[1]);
}

static inline __m512d linear_look(const struct linear *t, __m512d u)
{
    const __m512i i = _mm512_cvttpd_epi64(u);

    return VFMA(of_16(t->slope, i), u, of_16(t->value, i));
}

static inline __m512d nearest_look(const struct nearest *t, __m512d u)
{
    return of_16(t->value, _mm512_cvttpd_epi64(u));
}

static inline __m512d cubic_look(const struct cubic *t, __m512d u)
{
    const __m512i i = _mm512_cvttpd_epi64(u);
    const __m512d part = VSUB(u, _mm512_cvtepi64_pd(i));
    const __m512d upper = VFMA(part, of_16(t->c[3], i), of_16(t->c[2], i));

    return VFMA(part, VFMA(part, upper, of_16(t->c[1], i)), of_16(t->c[0], i));
}

#    include "backend/cpu/planes_double_tmpl.h"
#endif
