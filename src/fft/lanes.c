/* Filters rows of floats by FFT, many rows at once in the lanes of vectors (lanes.h): plans
 * (fbp_lanes_plan_open()), with tables computed in double, the table of functions for a length of
 * vectors (fbp_lanes_table()), and the functions for vectors of four floats, for any processor and
 * without FMA.
 * Used by: backend/cpu/convolve.c. */
#include "fft/lanes.h"

#include "base/math.h"

#include <math.h>

fbp_status fbp_lanes_plan_open(struct fbp_lanes_plan *p, size_t n, const double *response,
                               const double *imaginary)
{
    const size_t parts = imaginary ? 2 : 1;
    size_t radices[FBP_LANES_LEVELS], rest = n, below = n, floats = 0;
    unsigned levels = 0;

    *p = (struct fbp_lanes_plan){.n = n, .has_phase = imaginary != NULL};
    /* Radix 4 comes first, because the first level must be 4 or 2, and because blocks then soon
     * become small enough for a cache; the smallest blocks take the remaining factors 2. */
    radices[levels++] = rest % 4 == 0 ? 4 : 2;
    rest /= radices[0];
    for (; rest % 4 == 0 && rest % 16 != 8; rest /= 4)
        radices[levels++] = 4;
    p->leaf = rest % 8 == 0 ? 8 : rest % 2 == 0 ? 2 : 1;
    rest /= p->leaf;
    for (; rest % 5 == 0; rest /= 5)
        radices[levels++] = 5;
    for (; rest % 3 == 0; rest /= 3)
        radices[levels++] = 3;
    if (p->leaf == 1 && levels > 1) /* the smallest blocks have no twiddle factors */
        p->leaf = radices[--levels];
    p->n_levels = levels;
    for (unsigned i = 0; i < levels; i++) {
        below /= radices[i];
        p->level[i] = (struct fbp_lanes_level){.radix = radices[i], .m = below};
        floats += 2 * (radices[i] - 1) * below;
    }
    FBP_TRY(fbp_alloc((void **)&p->turns, floats * sizeof *p->turns, "the plan of a transform"));
    float *out = p->turns;
    for (unsigned i = 0; i < p->n_levels; i++) {
        const size_t radix = p->level[i].radix, m = p->level[i].m, points = radix * m;
        p->level[i].turn = out;
        for (size_t j = 0; j < m; j++)
            for (size_t k = 1; k < radix; k++) {
                const double angle = 2 * FBP_PI * (double)(j * k % points) / (double)points;
                *out++ = (float)cos(angle);
                *out++ = (float)-sin(angle);
            }
    }
    FBP_TRY(fbp_alloc((void **)&p->response, parts * n * sizeof *p->response, "filter response"));
    for (size_t i = 0; i < n; i++) {
        /* An in-place transform leaves frequency k at position i: the digits of k are those of i,
         * in the mixed radices, in reverse order. */
        size_t left = i, times = 1, k = 0;
        for (unsigned l = 0; l < p->n_levels; l++) {
            k += times * (left / p->level[l].m);
            left %= p->level[l].m;
            times *= p->level[l].radix;
        }
        k += times * left;
        const size_t at = k <= n / 2 ? k : n - k;
        p->response[parts * i] = (float)response[at];
        if (imaginary)
            p->response[2 * i + 1] = (float)((k == at ? 1 : -1) * imaginary[at]);
    }
    return FBP_OK;
}

void fbp_lanes_plan_close(struct fbp_lanes_plan *p)
{
    fbp_free(p->turns);
    fbp_free(p->response);
    *p = (struct fbp_lanes_plan){0};
}

const struct fbp_lanes *fbp_lanes_table(size_t lanes)
{
#if defined(__x86_64__)
    if (lanes >= fbp_lanes_avx512.lanes)
        return &fbp_lanes_avx512;
    if (lanes >= fbp_lanes_avx2.lanes)
        return &fbp_lanes_avx2;
#else
    (void)lanes;
#endif
    return &fbp_lanes_c;
}

/* Parameters of lanes_tmpl.h. */
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
