/* Phase retrieval (phase_tmpl.h) with AVX-512: compiled with the flags of these instructions,
 * called by phase.c only on processors that have them.
 * Used by: phase.c. */
#include "prep/phase.h"

#if defined(__x86_64__)
#    include <immintrin.h>

#    define LANES          8
#    define TABLE          fbp_retrieve_avx512
#    define FMA(a, b, c)   _mm512_fmadd_pd(a, b, c)
#    define FNMA(a, b, c)  _mm512_fnmadd_pd(a, b, c)
#    define FMAF(a, b, c)  _mm512_fmadd_ps(a, b, c)
#    define FNMAF(a, b, c) _mm512_fnmadd_ps(a, b, c)
#    define MAXF(a, b)     _mm512_max_ps(a, b)
#    include "prep/phase_tmpl.h"
#endif
