/* Compiled with -mavx2 -mfma; must not be reached unless the CPU has both. */
#include "backend/cpu/orbit_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)  name##_avx2
#    define VL            8
#    define V             __m256
#    define VI            __m256i
#    define VSET1(a)      _mm256_set1_ps(a)
#    define VADD(a, b)    _mm256_add_ps(a, b)
#    define VSUB(a, b)    _mm256_sub_ps(a, b)
#    define VMUL(a, b)    _mm256_mul_ps(a, b)
#    define VFMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#    define VMIN(a, b)    _mm256_min_ps(a, b)
#    define VMAX(a, b)    _mm256_max_ps(a, b)
#    define VFLOOR(a)     _mm256_floor_ps(a)
#    define VTOI(a)       _mm256_cvttps_epi32(a)
#    define VIOTA()       _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)
#    define VISET1(a)     _mm256_set1_epi32(a)
#    define VIADD(a, b)   _mm256_add_epi32(a, b)
#    define VIMUL(a, b)   _mm256_mullo_epi32(a, b)
#    define VSTORE(p, a)  _mm256_storeu_ps(p, a)
#    define VISTORE(p, a) _mm256_storeu_si256((void *)(p), a)

#    include "backend/cpu/orbit_x86.h"
#endif
