/* Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl; must not be reached without them. */
#include "backend/cpu/bp.h"
#include "filter/parabola.h"

#if defined(__x86_64__)
#    include <immintrin.h>
#    include <string.h>

#    define SUFFIX(name)  name##_avx512
#    define VL            16
#    define V             __m512
#    define VI            __m512i
#    define VSET1(a)      _mm512_set1_ps(a)
#    define VADD(a, b)    _mm512_add_ps(a, b)
#    define VSUB(a, b)    _mm512_sub_ps(a, b)
#    define VMUL(a, b)    _mm512_mul_ps(a, b)
#    define VDIV(a, b)    _mm512_div_ps(a, b)
#    define VFMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#    define VMIN(a, b)    _mm512_min_ps(a, b)
#    define VMAX(a, b)    _mm512_max_ps(a, b)
#    define VFLOOR(a)     _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#    define VTOI(a)       _mm512_cvttps_epi32(a)
#    define VROUND(a)     _mm512_cvtps_epi32(a)
#    define VTOF(a)       _mm512_cvtepi32_ps(a)
#    define VABS(a)       _mm512_abs_ps(a)
#    define VIOTA()       _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#    define VUPPER()      _mm512_setr_ps(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
#    define VISET1(a)     _mm512_set1_epi32(a)
#    define VIADD(a, b)   _mm512_add_epi32(a, b)
#    define VIMUL(a, b)   _mm512_mullo_epi32(a, b)
#    define VGATHER(p, i) _mm512_i32gather_ps(i, p, 4)
#    define VLOAD(p)      _mm512_loadu_ps(p)
#    define VSTORE(p, a)  _mm512_storeu_ps(p, a)
#    define VISTORE(p, a) _mm512_storeu_si512(p, a)

/* Pairs of neighbours by 64-bit gathers, then even and odd ones apart. */
static inline void row_taps(const float *row, __m512i at, __m512 *even, __m512 *odd)
{
    const __m512i first =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(1));
    const __m256i low = _mm512_castsi512_si256(at), high = _mm512_extracti64x4_epi64(at, 1);
    const __m512 a = _mm512_castpd_ps(_mm512_i32gather_pd(low, (const void *)row, 4));
    const __m512 b = _mm512_castpd_ps(_mm512_i32gather_pd(high, (const void *)row, 4));

    *even = _mm512_permutex2var_ps(a, first, b);
    *odd = _mm512_permutex2var_ps(a, second, b);
}

static inline void taps(const float *view, size_t step, __m512i at, __m512 out[4])
{
    row_taps(view, at, &out[0], &out[1]);
    row_taps(view + step, at, &out[2], &out[3]);
}

#    define TAPS(view, step, at, out) taps(view, step, at, out)

/* p[i] of a window of 16 or 32: one permutation each. */
#    define WINDOW(p, i)            _mm512_permutexvar_ps(i, VLOAD(p))
#    define ABOVE(p, i)             WINDOW((p) + 1, i)
#    define WIDE(p, i)              _mm512_permutex2var_ps(VLOAD(p), i, VLOAD((p) + 16))
#    define WIDE_ABOVE(p, i)        WIDE(p, VIADD(i, VISET1(1))) /* quicker than other loads */
#    define SPLIT_WIDE(p, i, apart) WIDE(p, i)
#    define SMALL(name)             FBP_PLAIN(name, WINDOW, ABOVE)
#    define MIDDLE(name)            FBP_PLAIN(name, WIDE, WIDE_ABOVE)
#    define LARGE(name)             FBP_SPLIT(name, SPLIT_WIDE, 0)
#    define SMALL_STEP              0.999f /* 15 dv + 1 < 16, with room for rounding */
#    define MIDDLE_STEP             (0.999f * 30.0f / 15.0f) /* 15 dv + 2 < 32 */
#    define LARGE_STEP              (0.999f * 61.0f / 15.0f) /* 15 dv / 2 + 1 < 31.5 */

static inline void deinterleave(__m512 a, __m512 b, __m512 *even, __m512 *odd)
{
    const __m512i first =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    *even = _mm512_permutex2var_ps(a, first, b);
    *odd = _mm512_permutex2var_ps(a, _mm512_add_epi32(first, _mm512_set1_epi32(1)), b);
}

#    define DEINTERLEAVE(a, b, e, o) deinterleave(a, b, &(e), &(o))

#    include "backend/cpu/bp_row_tmpl.h"
#    include "backend/cpu/bp_tmpl.h"
#    include "backend/cpu/column_tmpl.h"
#endif
