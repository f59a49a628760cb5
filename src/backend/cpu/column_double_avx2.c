/* Compiled with -mavx2 -mfma; must not be reached unless the CPU has both. */
#include "backend/cpu/column_double_bp.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define SUFFIX(name)  name##_avx2
#    define VL            4
#    define V             __m256d
#    define VSET1(a)      _mm256_set1_pd(a)
#    define VADD(a, b)    _mm256_add_pd(a, b)
#    define VMUL(a, b)    _mm256_mul_pd(a, b)
#    define VFMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#    define VLOAD(p)      _mm256_loadu_pd(p)
#    define VSTORE(p, a)  _mm256_storeu_pd(p, a)

#    include "backend/cpu/column_double_tmpl.h"
#endif
