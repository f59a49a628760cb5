/*
 * Template: the kernel of plane integrals in plain C, which is its specification, and the choice
 * among instruction sets.  Parameters:
 *
 *   VALUE                  the type of samples and voxels
 *   PLANES                 struct fbp_bp_planes, or the one of doubles
 *   NAMED(how)             the kernel's name, with "", "_nearest" or "_cubic" for `how`
 *   KERNEL, FIND           its type, and what finds it
 *   VALUE_AT(s, u, how)    of the row s at u >= 0
 *   N_FRAMES(p), FRAME(p)  blocks that are added to, and from a row to that of the next one
 */
#include "base/system.h"

#include <math.h>

/* Where the window of view k begins, and the block's first voxel from there. */
static ptrdiff_t place(const PLANES *p, size_t k, double x, VALUE *first)
{
    const double least = p->start[k] + x * p->along[k], window = floor(least);

    *first = (VALUE)(least - window + p->above[k]);
    return (ptrdiff_t)fmin(fmax(window, 2 - FBP_PLANES_MARGIN), p->last);
}

/* The sum of 64 samples of one view. */
static inline void add(const VALUE *window, VALUE first, const VALUE step[3],
                       enum fbp_interpolation how, VALUE *block)
{
    for (int l = 0; l < FBP_PLANES_EDGE; l++)
        for (int j = 0; j < FBP_PLANES_EDGE; j++)
            for (int i = 0; i < FBP_PLANES_EDGE; i++)
                *block++ += VALUE_AT(
                    window, first + (VALUE)i * step[0] + (VALUE)j * step[1] + (VALUE)l * step[2],
                    how);
}

static inline void add_all(VALUE *blocks, double x, const PLANES *p, enum fbp_interpolation how)
{
    for (size_t k = 0; k < p->n; k++) {
        const VALUE step[3] = {p->step[0][k], p->step[1][k], p->step[2][k]};
        VALUE first;
        const VALUE *window = p->samples + (ptrdiff_t)(k * p->stride) + place(p, k, x, &first);
        for (size_t f = 0; f < N_FRAMES(p); f++)
            add(window + f * FRAME(p), first, step, how, blocks + f * FBP_PLANES_BLOCK);
    }
}

void NAMED(_c)(VALUE *blocks, double x, const PLANES *p)
{
    add_all(blocks, x, p, FBP_INTERPOLATION_LINEAR);
}

void NAMED(_nearest_c)(VALUE *blocks, double x, const PLANES *p)
{
    add_all(blocks, x, p, FBP_INTERPOLATION_NEAREST);
}

void NAMED(_cubic_c)(VALUE *blocks, double x, const PLANES *p)
{
    add_all(blocks, x, p, FBP_INTERPOLATION_CUBIC);
}

KERNEL *FIND(unsigned flags, enum fbp_interpolation how)
{
#if defined(__x86_64__)
    const size_t level = flags & FBP_CPU_AVX512 ? 2 : flags & FBP_CPU_AVX2 ? 1 : 0;
    static KERNEL *const all[][3] = {
        [FBP_INTERPOLATION_LINEAR] = {NAMED(_c), NAMED(_avx2), NAMED(_avx512)},
        [FBP_INTERPOLATION_NEAREST] = {NAMED(_nearest_c), NAMED(_nearest_avx2),
                                       NAMED(_nearest_avx512)},
        [FBP_INTERPOLATION_CUBIC] = {NAMED(_cubic_c), NAMED(_cubic_avx2), NAMED(_cubic_avx512)}};

    return all[how][level];
#else
    static KERNEL *const all[] = {[FBP_INTERPOLATION_LINEAR] = NAMED(_c),
                                  [FBP_INTERPOLATION_NEAREST] = NAMED(_nearest_c),
                                  [FBP_INTERPOLATION_CUBIC] = NAMED(_cubic_c)};

    (void)flags;
    return all[how];
#endif
}
