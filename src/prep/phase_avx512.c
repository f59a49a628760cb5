/* Compiled with AVX-512's flags; must not be reached without them. */
#include "prep/phase_parts.h"

#if defined(__x86_64__)
#    define LANES 8
#    define TABLE fbp_retrieve_avx512
#    include "prep/phase_tmpl.h"
#endif
