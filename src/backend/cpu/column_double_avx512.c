/* Compiled with -mavx512f -mavx512dq -mavx512bw -mavx512vl; must not be reached without them. */
#include "backend/cpu/column_double_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)  name##_avx512
#    define VL            8
#    define V             __m512d
#    define VSET1(a)      _mm512_set1_pd(a)
#    define VADD(a, b)    _mm512_add_pd(a, b)
#    define VMUL(a, b)    _mm512_mul_pd(a, b)
#    define VFMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#    define VLOAD(p)      _mm512_loadu_pd(p)
#    define VSTORE(p, a)  _mm512_storeu_pd(p, a)

#    include "backend/cpu/column_double_tmpl.h"
#endif
