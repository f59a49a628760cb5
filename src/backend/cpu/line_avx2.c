/* Compiled with -mavx2 -mfma; must not be reached unless the CPU has both. */
#include "backend/cpu/line.h"

#if defined(__x86_64__)
#    include <immintrin.h>
#    include <math.h>
#    include <stdbool.h>
#    include <stdint.h>

#    define TABLE         fbp_line_avx2
#    define VL            8
#    define V             __m256
#    define VSET1(a)      _mm256_set1_ps(a)
#    define VMUL(a, b)    _mm256_mul_ps(a, b)
#    define VFMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#    define VMAX(a, b)    _mm256_max_ps(a, b)
#    define VABS(a)       _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#    define VLOAD(p)      _mm256_loadu_ps(p)
#    define VSTREAM(p, a) _mm256_stream_ps(p, a)
#    define VSTORE(p, a)  _mm256_storeu_ps(p, a)

static inline void zip(__m256 a, __m256 b, __m256 *lo, __m256 *hi)
{
    const __m256 even = _mm256_unpacklo_ps(a, b), odd = _mm256_unpackhi_ps(a, b);

    *lo = _mm256_permute2f128_ps(even, odd, 0x20);
    *hi = _mm256_permute2f128_ps(even, odd, 0x31);
}

#    define VZIP(a, b, lo, hi) zip(a, b, &(lo), &(hi))

#    include "backend/cpu/line_tmpl.h"
#endif
