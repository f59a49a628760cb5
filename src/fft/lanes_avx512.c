/* Filters rows of floats by FFT in AVX-512 vectors (template: lanes_tmpl.h; plans: lanes.h).
 * Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl; must not be called on processors
 * without these instructions.
 * Used by: lanes.c. */
#include "fft/lanes.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define TABLE          fbp_lanes_avx512
#    define VL             16
#    define V              __m512
#    define VSET1(a)       _mm512_set1_ps((float)(a))
#    define VFMA(a, b, c)  _mm512_fmadd_ps(a, b, c)
#    define VFNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#    define VLOADU(p)      _mm512_loadu_ps(p)
#    define VSTOREU(p, a)  _mm512_storeu_ps(p, a)

static inline void zip(__m512 a, __m512 b, __m512 *lo, __m512 *hi)
{
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));

    *lo = _mm512_permutex2var_ps(a, first, b);
    *hi = _mm512_permutex2var_ps(a, second, b);
}

#    define VZIP(a, b, lo, hi) zip(a, b, &(lo), &(hi))

#    include "fft/lanes_tmpl.h"
#endif
