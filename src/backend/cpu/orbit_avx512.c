/* Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl; must not be reached without them. */
#include "backend/cpu/orbit_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)  name##_avx512
#    define VL            16
#    define V             __m512
#    define VI            __m512i
#    define VSET1(a)      _mm512_set1_ps(a)
#    define VADD(a, b)    _mm512_add_ps(a, b)
#    define VSUB(a, b)    _mm512_sub_ps(a, b)
#    define VMUL(a, b)    _mm512_mul_ps(a, b)
#    define VFMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#    define VMIN(a, b)    _mm512_min_ps(a, b)
#    define VMAX(a, b)    _mm512_max_ps(a, b)
#    define VFLOOR(a)     _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#    define VTOI(a)       _mm512_cvttps_epi32(a)
#    define VIOTA()       _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#    define VISET1(a)     _mm512_set1_epi32(a)
#    define VIADD(a, b)   _mm512_add_epi32(a, b)
#    define VIMUL(a, b)   _mm512_mullo_epi32(a, b)
#    define VSTORE(p, a)  _mm512_storeu_ps(p, a)
#    define VISTORE(p, a) _mm512_storeu_si512(p, a)

#    include "backend/cpu/orbit_x86.h"
#endif
