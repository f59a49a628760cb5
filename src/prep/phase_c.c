/* For any processor, without contraction. */
#include "prep/phase_parts.h"

#define LANES          2
#define TABLE          fbp_retrieve_c
#define FMA(a, b, c)   ((a) * (b) + (c))
#define FNMA(a, b, c)  ((c) - (a) * (b))
#define FMAF(a, b, c)  FMA(a, b, c)
#define FNMAF(a, b, c) FNMA(a, b, c)
#define MAXF(a, b)     larger(a, b)

typedef float four __attribute__((vector_size(16)));
typedef unsigned four_bits __attribute__((vector_size(16)));

/* b where a is no number. */
static inline four larger(four a, four b)
{
    const four_bits is = (four_bits)(a > b);

    return (four)(((four_bits)a & is) | ((four_bits)b & ~is));
}

#include "prep/phase_tmpl.h"
