/* Compiled with -mavx2 -mfma; must not be reached unless the CPU has both. */
#include "backend/cpu/bp.h"
#include "filter/parabola.h"

#if defined(__x86_64__)
#    include <immintrin.h>
#    include <string.h>

#    define SUFFIX(name)  name##_avx2
#    define VL            8
#    define V             __m256
#    define VI            __m256i
#    define VSET1(a)      _mm256_set1_ps(a)
#    define VADD(a, b)    _mm256_add_ps(a, b)
#    define VSUB(a, b)    _mm256_sub_ps(a, b)
#    define VMUL(a, b)    _mm256_mul_ps(a, b)
#    define VDIV(a, b)    _mm256_div_ps(a, b)
#    define VFMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#    define VMIN(a, b)    _mm256_min_ps(a, b)
#    define VMAX(a, b)    _mm256_max_ps(a, b)
#    define VFLOOR(a)     _mm256_floor_ps(a)
#    define VTOI(a)       _mm256_cvttps_epi32(a)
#    define VROUND(a)     _mm256_cvtps_epi32(a)
#    define VTOF(a)       _mm256_cvtepi32_ps(a)
#    define VABS(a)       _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#    define VIOTA()       _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)
#    define VUPPER()      _mm256_setr_ps(0, 0, 0, 0, 1, 1, 1, 1)
#    define VISET1(a)     _mm256_set1_epi32(a)
#    define VIADD(a, b)   _mm256_add_epi32(a, b)
#    define VIMUL(a, b)   _mm256_mullo_epi32(a, b)
#    define VGATHER(p, i) _mm256_i32gather_ps(p, i, 4)
#    define VLOAD(p)      _mm256_loadu_ps(p)
#    define VSTORE(p, a)  _mm256_storeu_ps(p, a)
#    define VISTORE(p, a) _mm256_storeu_si256((__m256i *)(void *)(p), a)

/* Two neighbours at once, of any alignment. */
static inline long long pair(const float *p)
{
    long long both;
    memcpy(&both, p, sizeof both);
    return both;
}

static inline __m128 two_pairs(const float *p, const int *i)
{
    return _mm_castsi128_ps(_mm_set_epi64x(pair(p + i[1]), pair(p + i[0])));
}

static inline __m256 four_pairs(const float *p, const int *i)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(two_pairs(p, i)), two_pairs(p, i + 4), 1);
}

static inline void taps(const float *view, size_t step, __m256i at, __m256 out[4])
{
    int i[8] __attribute__((aligned(32)));

    _mm256_store_si256((__m256i *)(void *)i, at);
    __asm__("" : "+m"(i)); /* loads of them are cheaper than extraction */
    const __m256 a = four_pairs(view, i), b = four_pairs(view, i + 2);
    const __m256 c = four_pairs(view + step, i), d = four_pairs(view + step, i + 2);
    out[0] = _mm256_shuffle_ps(a, b, 0x88);
    out[1] = _mm256_shuffle_ps(a, b, 0xdd);
    out[2] = _mm256_shuffle_ps(c, d, 0x88);
    out[3] = _mm256_shuffle_ps(c, d, 0xdd);
}

#    define TAPS(view, step, at, out) taps(view, step, at, out)

/* p[i] of a window of 8, and of two that begin `apart` samples from each other, for four lanes each
 * (i counted from its own lane's window); i < 8. */
static inline __m256 window8(const float *p, __m256i i)
{
    return _mm256_permutevar8x32_ps(_mm256_loadu_ps(p), i);
}

static inline __m256 window8_twice(const float *p, __m256i i, ptrdiff_t apart)
{
    return _mm256_blend_ps(window8(p, i), window8(p + apart, i), 0xf0);
}

static inline void deinterleave(__m256 a, __m256 b, __m256 *even, __m256 *odd)
{
    const __m256 low = _mm256_permute2f128_ps(a, b, 0x20),
                 high = _mm256_permute2f128_ps(a, b, 0x31);

    *even = _mm256_shuffle_ps(low, high, 0x88);
    *odd = _mm256_shuffle_ps(low, high, 0xdd);
}

#    define ABOVE(p, i)              window8((p) + 1, i)
#    define ONE_WINDOW(p, i, apart)  window8(p, i)
#    define SMALL(name)              FBP_PLAIN(name, window8, ABOVE)
#    define MIDDLE(name)             FBP_SPLIT(name, ONE_WINDOW, 0)
#    define LARGE(name)              FBP_SPLIT(name, window8_twice, 1)
#    define SMALL_STEP               0.999f /* 7 dv + 1 < 8, with room for rounding */
#    define MIDDLE_STEP              (0.999f * 13.0f / 7.0f) /* 7 dv / 2 + 1 < 7.5 */
#    define LARGE_STEP               (0.999f * 11.0f / 3.0f) /* 3 dv / 2 + 2 < 7.5 */
#    define DEINTERLEAVE(a, b, e, o) deinterleave(a, b, &(e), &(o))

#    include "backend/cpu/bp_row_tmpl.h"
#    include "backend/cpu/bp_tmpl.h"
#    include "backend/cpu/column_tmpl.h"

/* The same with gathers, for processors that do them quickly. */
static inline void gathered_taps(const float *view, size_t step, __m256i at, __m256 out[4])
{
    out[0] = VGATHER(view, at);
    out[1] = VGATHER(view + 1, at);
    out[2] = VGATHER(view + step, at);
    out[3] = VGATHER(view + step + 1, at);
}

#    undef SUFFIX
#    undef TAPS
#    define SUFFIX(name)              name##_avx2_gather
#    define TAPS(view, step, at, out) gathered_taps(view, step, at, out)

#    include "backend/cpu/bp_tmpl.h"
#endif
