/*
 * The orbit kernels, for both x86 files: 256 bits hold one row of 8 lanes or two rows of 4, 128
 * bits two rows of 2.  (Two rows of 8 in 512 bits are slower: half of these loads cross a cache
 * line.)
 */

static inline __m128 rotate4(__m128 a, int turns, int i)
{
    if (turns == 2 && i == 1)
        return _mm_permute_ps(a, _MM_SHUFFLE(2, 3, 0, 1));
    return a;
}

static inline __m256 rotate8(__m256 a, int turns, int i)
{
    if (turns == 2 && i == 1)
        return _mm256_permute_ps(a, _MM_SHUFFLE(2, 3, 0, 1));
    switch (turns == 4 ? i : 0) {
    case 1:
        return _mm256_permute_ps(a, _MM_SHUFFLE(2, 1, 0, 3));
    case 2:
        return _mm256_permute_ps(a, _MM_SHUFFLE(1, 0, 3, 2));
    case 3:
        return _mm256_permute_ps(a, _MM_SHUFFLE(0, 3, 2, 1));
    default:
        return a;
    }
}

static inline void add_rows_of_2(float *p, __m128 a)
{
    const __m128 to = _mm_castsi128_ps(_mm_loadl_epi64((const void *)p));
    const __m128 sum = _mm_add_ps(to, _mm_add_ps(a, _mm_movehl_ps(a, a)));
    _mm_storel_epi64((void *)p, _mm_castps_si128(sum));
}

static inline void add_rows_of_4(float *p, __m256 a)
{
    const __m128 sum = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    _mm_storeu_ps(p, _mm_add_ps(_mm_loadu_ps(p), sum));
}

#define ROWS 2

#define T             __m128
#define TLOAD(p)      _mm_loadu_ps(p)
#define TSET1(a)      _mm_set1_ps(a)
#define TMUL(a, b)    _mm_mul_ps(a, b)
#define TFMA(a, b, c) _mm_fmadd_ps(a, b, c)
#define TROTATE(a, i) rotate4(a, TURNS, i)
#define START(p)      _mm_setzero_ps()
#define FINISH(p, a)  add_rows_of_2(p, a)
#define SLOPE         _mm_setr_ps(-1, -1, 1, 1)
#define BASE          _mm_setr_ps(1, 1, 0, 0)

#define KERNEL SUFFIX(mirror)
#define LANES  2
#define TURNS  1
#include "backend/cpu/orbit_tmpl.h"

#define KERNEL SUFFIX(rot180)
#define LANES  2
#define TURNS  2
#include "backend/cpu/orbit_tmpl.h"

#undef T
#undef TLOAD
#undef TSET1
#undef TMUL
#undef TFMA
#undef TROTATE
#undef START
#undef FINISH
#undef SLOPE
#undef BASE

#define T             __m256
#define TLOAD(p)      _mm256_loadu_ps(p)
#define TSET1(a)      _mm256_set1_ps(a)
#define TMUL(a, b)    _mm256_mul_ps(a, b)
#define TFMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define TROTATE(a, i) rotate8(a, TURNS, i)
#define START(p)      _mm256_setzero_ps()
#define FINISH(p, a)  add_rows_of_4(p, a)
#define SLOPE         _mm256_setr_ps(-1, -1, -1, -1, 1, 1, 1, 1)
#define BASE          _mm256_setr_ps(1, 1, 1, 1, 0, 0, 0, 0)

#define KERNEL SUFFIX(rot90)
#define LANES  4
#define TURNS  4
#include "backend/cpu/orbit_tmpl.h"

#define KERNEL SUFFIX(mirror_rot180)
#define LANES  4
#define TURNS  2
#include "backend/cpu/orbit_tmpl.h"

#undef ROWS
#undef START
#undef FINISH
#undef SLOPE
#undef BASE

#define ROWS         1
#define TADD(a, b)   _mm256_add_ps(a, b)
#define TSUB(a, b)   _mm256_sub_ps(a, b)
#define START(p)     _mm256_loadu_ps(p)
#define FINISH(p, a) _mm256_storeu_ps(p, a)

#define KERNEL SUFFIX(mirror_rot90)
#define LANES  8
#define TURNS  4
#include "backend/cpu/orbit_tmpl.h"

const struct fbp_orbit_dsp SUFFIX(fbp_orbit) = {
    {{NULL, SUFFIX(rot180), SUFFIX(rot90)},
     {SUFFIX(mirror), SUFFIX(mirror_rot180), SUFFIX(mirror_rot90)}}};
