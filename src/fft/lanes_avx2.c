/* Filters rows of floats by FFT in AVX2 vectors (template: lanes_tmpl.h; plans: lanes.h).  Compiled
 * with -mavx2 -mfma; must not be called on processors without these instructions.
 * Used by: lanes.c. */
#include "fft/lanes.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define TABLE          fbp_lanes_avx2
#    define VL             8
#    define V              __m256
#    define VSET1(a)       _mm256_set1_ps((float)(a))
#    define VFMA(a, b, c)  _mm256_fmadd_ps(a, b, c)
#    define VFNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#    define VLOADU(p)      _mm256_loadu_ps(p)
#    define VSTOREU(p, a)  _mm256_storeu_ps(p, a)

static inline void zip(__m256 a, __m256 b, __m256 *lo, __m256 *hi)
{
    const __m256 l = _mm256_unpacklo_ps(a, b), h = _mm256_unpackhi_ps(a, b);

    *lo = _mm256_permute2f128_ps(l, h, 0x20);
    *hi = _mm256_permute2f128_ps(l, h, 0x31);
}

#    define VZIP(a, b, lo, hi) zip(a, b, &(lo), &(hi))

#    include "fft/lanes_tmpl.h"
#endif
