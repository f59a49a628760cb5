/* Vectors of four lanes, which every processor of today has, without contraction. */
#include "fft/lanes.h"

#define TABLE              fbp_lanes_c
#define VL                 4
#define V                  v4
#define VSET1(a)           four((float)(a))
#define VFMA(a, b, c)      ((a) * (b) + (c))
#define VFNMA(a, b, c)     ((c) - (a) * (b))
#define VLOADU(p)          (*(const u4 *)(const void *)(p))
#define VSTOREU(p, a)      (*(u4 *)(void *)(p) = (a))
#define VZIP(a, b, lo, hi) zip(a, b, &(lo), &(hi))

typedef float v4 __attribute__((vector_size(16), may_alias));
typedef float u4 __attribute__((vector_size(16), may_alias, aligned(4)));

static inline v4 four(float a)
{
    return (v4){a, a, a, a};
}

static inline void zip(v4 a, v4 b, v4 *lo, v4 *hi)
{
    *lo = (v4){a[0], b[0], a[1], b[1]};
    *hi = (v4){a[2], b[2], a[3], b[3]};
}

#include "fft/lanes_tmpl.h"
