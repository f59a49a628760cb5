/* Compiled with -mavx2; must not be reached without them. */
#include "prep/phase_parts.h"

#if defined(__x86_64__)
#    define LANES 4
#    define TABLE fbp_retrieve_avx2
#    include "prep/phase_tmpl.h"
#endif
