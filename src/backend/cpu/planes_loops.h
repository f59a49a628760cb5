/** @file planes_loops.h  Inner loops of the CPU kernel "planes", which backprojects plane integrals
 * into cubes of 4 x 4 x 4 voxels, in float and in double (internal).  planes_volume_tmpl.h calls
 * them through struct fbp_bp_dsp of simd.h.  The plain C loops below are the specification;
 * line_loops.h explains which file compiles which loops.
 * Used by: simd.h.
 */
#ifndef FBP_SRC_CPU_PLANES_LOOPS_H
#define FBP_SRC_CPU_PLANES_LOOPS_H

#include "fbp/recon.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    FBP_PLANES_EDGE = 4,   /**< edge of a cube [voxels] */
    FBP_PLANES_BLOCK = 64, /**< voxels of a cube, [z][y][x] */
    FBP_PLANES_VIEWS =
        48, /**< greatest number of views per call; a multiple of every vector length */
    FBP_PLANES_MARGIN = 20 /**< least number of zeros on either side of a row of samples */
};

/** Greatest distance, in samples of one view, between projections of voxels of a cube whose samples
 * fit into a window of 16 (SPAN, the limit) or 8 samples (NARROW). The cube may begin up to one
 * sample after the window; 0.01 samples allow for rounding. */
#define FBP_PLANES_SPAN   14.99
#define FBP_PLANES_NARROW 6.99

/**
 * Parameters of views along a row of cubes in x.  Voxel (i, j, l) of the cube whose first voxel is
 * x projects to sample
 *
 *     u = start + x along + above + i step[0] + j step[1] + l step[2],
 *
 * where start + x along is the least u of the cube, and `above` is u of voxel (0, 0, 0) minus it.
 */
struct fbp_bp_planes {
    const float *samples; /**< sample 0 of the first view, inside its margins of zeros */
    size_t stride;        /**< samples from view to view */
    size_t n;             /**< number of views */
    /** number of channels, 0 or 1 for one; their cubes follow one another in memory */
    size_t frames;
    size_t frame; /**< samples from channel to channel */
    double last;  /**< greatest index at which a window begins; later windows contain only zeros */
    bool narrow;  /**< no cube covers more than FBP_PLANES_NARROW samples */
    double along[FBP_PLANES_VIEWS], start[FBP_PLANES_VIEWS], above[FBP_PLANES_VIEWS];
    float step[3][FBP_PLANES_VIEWS];
};

/** Like struct fbp_bp_planes, for views in double and one channel; `narrow` is not used. */
struct fbp_bp_planes_double {
    const double *samples;
    size_t stride, n, frames, frame;
    double last;
    bool narrow;
    double along[FBP_PLANES_VIEWS], start[FBP_PLANES_VIEWS], above[FBP_PLANES_VIEWS];
    double step[3][FBP_PLANES_VIEWS];
};

/**
 *     block[l][j][i] += sum_k value(view_k, u_k(i, j, l))
 *
 * value: linear between two samples; or sample floor(u), which is the nearest sample of
 * u - FBP_NEAREST; or the spline with four samples as coefficients (filter/parabola.h).
 *
 * block  [z][y][x]; in double, its address is a multiple of 64 bytes
 * x      first voxel of the cube, a multiple of FBP_PLANES_EDGE.  The bits of a term depend on it,
 *        but not on other views, cubes or channels.
 */
typedef void fbp_bp_planes_fn(float *block, double x, const struct fbp_bp_planes *p);
typedef void fbp_bp_planes_double_fn(double *block, double x, const struct fbp_bp_planes_double *p);

/** Returns the value of a row of doubles at position u >= 0: sample floor(u) for NEAREST (the
 * caller has added FBP_NEAREST to u), or by linear or spline interpolation. */
double fbp_row_value_double(const double *samples, double u, enum fbp_interpolation how);

#if defined(VL) /* vectors */

/*
 * Operations: VL floats per vector V, DL doubles per vector D, V*() and D*(), and
 *
 *   VX(), VY()   i and j of the lanes of V: VL / 4 rows of 4 voxels along x; DX(), DY() of D
 *   PICK_16(c, i), PICK_8(c, i)   c[i] of each lane, from a window of 16 values in vectors c[], or
 *                                 of 8, which is faster if VL is 8, and gives the same bits
 *   struct linear                 a window of 16 doubles, with linear_load(p, &w) and
 *                                 linear_look(&w, u): the line through the two samples around u,
 *                                 which counts from p and is truncated
 *   struct nearest, cubic         the same, of sample u and of the spline at u
 *                                 (for VL <= 8, only the functions of ROW_OF_DOUBLES)
 *
 * The voxels of a cube lie within few samples of any view: all of them take their samples from one
 * window, which stays in registers.  A row is tabulated as lines, value[i] + u slope[i] with u from
 * the window's first sample: a voxel needs no fraction.
 */

/* Defines windows of samples in H vectors of floats, for three interpolations: struct W (linear),
 * W##_nearest, W##_cubic (polynomials of the fraction, for each interval between two samples). */
#    define PLANES_WINDOW(W, H, PICK)                                                         \
        struct W {                                                                            \
            V value[H], slope[H];                                                             \
        };                                                                                    \
        struct W##_nearest {                                                                  \
            V value[H];                                                                       \
        };                                                                                    \
        struct W##_cubic {                                                                    \
            V a[4][H];                                                                        \
        };                                                                                    \
        static inline void W##_load(const float *p, struct W *t)                              \
        {                                                                                     \
            UNROLL for (int h = 0; h < (H); h++)                                              \
            {                                                                                 \
                const V value = VLOAD(p + h * VL), u = VADD(VIOTA(), VSET1((float)(h * VL))); \
                t->slope[h] = VSUB(VLOAD(p + h * VL + 1), value);                             \
                t->value[h] = VFNMA(u, t->slope[h], value);                                   \
            }                                                                                 \
        }                                                                                     \
        static inline void W##_nearest_load(const float *p, struct W##_nearest *t)            \
        {                                                                                     \
            UNROLL for (int h = 0; h < (H); h++) t->value[h] = VLOAD(p + h * VL);             \
        }                                                                                     \
        static inline void W##_cubic_load(const float *p, struct W##_cubic *t)                \
        {                                                                                     \
            const V sixth = VSET1(1.0f / 6), half = VSET1(.5f);                               \
            UNROLL for (int h = 0; h < (H); h++)                                              \
            {                                                                                 \
                const float *s = p + h * VL;                                                  \
                const V before = VLOAD(s - 1), at = VLOAD(s), next = VLOAD(s + 1);            \
                const V after = VLOAD(s + 2), beside = VADD(before, next);                    \
                t->a[0][h] = VMUL(sixth, VFMA(VSET1(4), at, beside));                         \
                t->a[1][h] = VMUL(half, VSUB(next, before));                                  \
                t->a[2][h] = VFMA(half, beside, VSUB(VSET1(0), at));                          \
                t->a[3][h] = VFMA(half, VSUB(at, next), VMUL(sixth, VSUB(after, before)));    \
            }                                                                                 \
        }                                                                                     \
        static inline V W##_look(const struct W *t, V u)                                      \
        {                                                                                     \
            const VI i = VTOI(u);                                                             \
            return VFMA(PICK(t->slope, i), u, PICK(t->value, i));                             \
        }                                                                                     \
        static inline V W##_nearest_look(const struct W##_nearest *t, V u)                    \
        {                                                                                     \
            const VI i = VTOI(u);                                                             \
            return PICK(t->value, i);                                                         \
        }                                                                                     \
        static inline V W##_cubic_look(const struct W##_cubic *t, V u)                        \
        {                                                                                     \
            const VI i = VTOI(u);                                                             \
            const V f = VSUB(u, VTOF(i));                                                     \
            V value = PICK(t->a[3], i);                                                       \
            for (int k = 2; k >= 0; k--)                                                      \
                value = VFMA(value, f, PICK(t->a[k], i));                                     \
            return value;                                                                     \
        }

PLANES_WINDOW(wide, 16 / VL, PICK_16)
#    if VL <= 8
PLANES_WINDOW(narrow, 8 / VL, PICK_8)

/* Returns the spline of four taps at fraction `part` between s[1] and s[2]. */
static inline D spline_of(const D s[4], D part)
{
    const D bend = DADD(s[0], s[2]), slope = DSUB(s[2], s[0]), sixth = DSET1(1. / 6);
    const D last = DFMA(DSET1(3), DSUB(s[1], s[2]), DSUB(s[3], s[0]));
    const D second = DFMA(DSET1(-2), s[1], bend);
    D value = DFMA(part, DMUL(last, sixth), DMUL(second, DSET1(.5)));

    value = DFMA(part, value, DMUL(slope, DSET1(.5)));
    return DFMA(part, value, DMUL(DFMA(DSET1(4), s[1], bend), sixth));
}

/* Defines a window of doubles as a pointer: no permutation reaches 16 doubles. NAME_taps(p, u, s)
 * of simd_*.c loads N samples per lane from p + u on; returns the fractions of u. */
#        define ROW_OF_DOUBLES(NAME, N, FIRST, VALUE)                       \
            struct NAME {                                                   \
                const double *samples;                                      \
            };                                                              \
            static inline void NAME##_load(const double *p, struct NAME *t) \
            {                                                               \
                t->samples = p + (FIRST);                                   \
            }                                                               \
            static inline D NAME##_look(const struct NAME *t, D u)          \
            {                                                               \
                D s[N];                                                     \
                const D part = NAME##_taps(t->samples, u, s);               \
                return VALUE;                                               \
            }

ROW_OF_DOUBLES(nearest, 1, 0, ((void)part, s[0]))
ROW_OF_DOUBLES(linear, 2, 0, DFMA(part, DSUB(s[1], s[0]), s[0]))
ROW_OF_DOUBLES(cubic, 4, -1, spline_of(s, part))
#    endif

/* Find, for each view, the first sample of the window, and the position u of the cube's first voxel
 * relative to this sample.  The window begins up to one sample below the cube, because its start is
 * rounded instead of truncated. */
#    define PLANES_FIND(NAME, PLANES, T, STORE)                                           \
        static inline void NAME(const PLANES *p, double x, int *window, T *first)         \
        {                                                                                 \
            const D lowest = DSET1(2 - FBP_PLANES_MARGIN), last = DSET1(p->last);         \
            for (size_t k = 0; k < p->n; k += DL) {                                       \
                const D least = DFMA(DSET1(x), DLOAD(p->along + k), DLOAD(p->start + k)); \
                const D begin = DROUND(DSUB(least, DSET1(0.5)));                          \
                DSTORE_INT(window + k, DMIN(DMAX(begin, lowest), last));                  \
                STORE(first + k, DADD(DSUB(least, begin), DLOAD(p->above + k)));          \
            }                                                                             \
        }

PLANES_FIND(find_windows, struct fbp_bp_planes, float, DSTORE_FLOAT)
PLANES_FIND(find_windows_double, struct fbp_bp_planes_double, double, DSTORE)

/* Defines a function that adds all views to LAYERS layers of the cubes of F channels.  Channels
 * share the positions of voxels, so a call adds as many channels as registers hold.  L lanes of
 * type T per vector P (V or D).  CORNER: u of the layers' first voxel in view k.  samples: those of
 * the first channel.  The results do not depend on F. */
#    define PLANES_ADD(NAME, TABLE, F, P, L, T, PLANES, LAYERS, CORNER)                         \
        static inline void NAME(const PLANES *p, const int *window, const T *first,             \
                                const T *samples, int layer, T *blocks)                         \
        {                                                                                       \
            enum { PER_LAYER = 16 / L, VECTORS = (LAYERS)*PER_LAYER };                          \
            P sum[F][VECTORS];                                                                  \
            (void)layer;                                                                        \
            UNROLL for (size_t f = 0; f < (F); f++) UNROLL for (size_t i = 0; i < VECTORS; i++) \
                sum[f][i] = P##LOAD(blocks + f * FBP_PLANES_BLOCK + i * L);                     \
            for (size_t k = 0; k < p->n; k++) {                                                 \
                struct TABLE t[F];                                                              \
                const T *s = samples + (ptrdiff_t)(k * p->stride) + window[k];                  \
                const P b = P##SET1(p->step[1][k]), c = P##SET1(p->step[2][k]);                 \
                /* between vectors: L / 4 rows, or in turn half a row and the rest */           \
                const P half = P##MUL(P##SET1(2), P##SET1(p->step[0][k]));                      \
                const P rows = (L) < 4 ? P##SUB(b, half) : P##MUL(b, P##SET1(L / 4));           \
                UNROLL for (size_t f = 0; f < (F); f++) TABLE##_load(s + f * p->frame, &t[f]);  \
                P u = P##FMA(P##X(), P##SET1(p->step[0][k]), P##FMA(P##Y(), b, CORNER));        \
                UNROLL for (int l = 0; l < (LAYERS); l++, u = P##ADD(u, c))                     \
                {                                                                               \
                    P at = u;                                                                   \
                    UNROLL for (int j = 0; j < PER_LAYER;                                       \
                                j++, at = P##ADD(at, (L) < 4 && j % 2 ? half : rows))           \
                        UNROLL for (size_t f = 0; f < (F); f++)                                 \
                    {                                                                           \
                        P *const to = &sum[f][l * PER_LAYER + j];                               \
                        *to = P##ADD(*to, TABLE##_look(&t[f], at));                             \
                    }                                                                           \
                }                                                                               \
            }                                                                                   \
            UNROLL for (size_t f = 0; f < (F); f++) UNROLL for (size_t i = 0; i < VECTORS; i++) \
                P##STORE(blocks + f * FBP_PLANES_BLOCK + i * L, sum[f][i]);                     \
        }

#    define PLANES_ADD_FLOAT(NAME, TABLE, F) \
        PLANES_ADD(NAME, TABLE, F, V, VL, float, struct fbp_bp_planes, 4, VSET1(first[k]))

/* Defines a loop over all channels.  If `quick` is true, add_most() adds `most` channels per call,
 * and add_one() adds each of the remaining channels; otherwise add_one() adds each channel. */
#    define PLANES_KERNEL(NAME, quick, most, add_most, add_one)                  \
        static void NAME(float *blocks, double x, const struct fbp_bp_planes *p) \
        {                                                                        \
            const size_t n = p->frames > 1 ? p->frames : 1;                      \
            int window[FBP_PLANES_VIEWS];                                        \
            float first[FBP_PLANES_VIEWS];                                       \
            size_t f = 0;                                                        \
            find_windows(p, x, window, first);                                   \
            for (; (quick) && f + (most) <= n; f += (most))                      \
                add_most(p, window, first, p->samples + f * p->frame, 0,         \
                         blocks + f * FBP_PLANES_BLOCK);                         \
            for (; f < n; f++)                                                   \
                (add_one)(p, window, first, p->samples + f * p->frame, 0,        \
                          blocks + f * FBP_PLANES_BLOCK);                        \
        }

/* Defines a loop for one channel in double; with AVX2 each pass takes half the voxels of a cube,
 * because its 64 doubles would fill all registers. */
#    define PLANES_KERNEL_DOUBLE(NAME, TABLE)                                                \
        PLANES_ADD(NAME##_add, TABLE, 1, D, DL, double, struct fbp_bp_planes_double, DL / 2, \
                   DFMA(DSET1(layer), c, DSET1(first[k])))                                   \
        static void NAME(double *block, double x, const struct fbp_bp_planes_double *p)      \
        {                                                                                    \
            int window[FBP_PLANES_VIEWS];                                                    \
            double first[FBP_PLANES_VIEWS];                                                  \
            find_windows_double(p, x, window, first);                                        \
            for (int layer = 0; layer < FBP_PLANES_EDGE; layer += DL / 2)                    \
                NAME##_add(p, window, first, p->samples, layer, block + (size_t)layer * 16); \
        }

PLANES_ADD_FLOAT(add_wide, wide, 1)
PLANES_ADD_FLOAT(add_wide_nearest, wide_nearest, 1)
PLANES_ADD_FLOAT(add_wide_cubic, wide_cubic, 1)
#    if VL <= 8
PLANES_ADD_FLOAT(add_narrow, narrow, 1)
PLANES_ADD_FLOAT(add_narrow_nearest, narrow_nearest, 1)
PLANES_ADD_FLOAT(add_narrow_cubic, narrow_cubic, 1)
PLANES_KERNEL(planes_cubic, p->narrow, 1, add_narrow_cubic, add_wide_cubic)
#    endif
#    if VL == 4
PLANES_KERNEL(planes, p->narrow, 1, add_narrow, add_wide)
PLANES_KERNEL(planes_nearest, p->narrow, 1, add_narrow_nearest, add_wide_nearest)
#    elif VL == 8
PLANES_ADD_FLOAT(add_two, narrow, 2)
PLANES_ADD_FLOAT(add_two_nearest, narrow_nearest, 2)
PLANES_KERNEL(planes, p->narrow, 2, add_two, p->narrow ? add_narrow : add_wide)
PLANES_KERNEL(planes_nearest, p->narrow, 2, add_two_nearest,
              p->narrow ? add_narrow_nearest : add_wide_nearest)
#    else
PLANES_ADD_FLOAT(add_five, wide, 5)
PLANES_ADD_FLOAT(add_five_nearest, wide_nearest, 5)
PLANES_KERNEL(planes, true, 5, add_five, add_wide)
PLANES_KERNEL(planes_nearest, true, 5, add_five_nearest, add_wide_nearest)
PLANES_KERNEL(planes_cubic, true, 1, add_wide_cubic, add_wide_cubic)
#    endif

PLANES_KERNEL_DOUBLE(planes_double, linear)
PLANES_KERNEL_DOUBLE(planes_double_nearest, nearest)
PLANES_KERNEL_DOUBLE(planes_double_cubic, cubic)

#elif defined(SUFFIX) /* plain C */

static inline float value_at(const float *samples, float u, enum fbp_interpolation how)
{
    const int at = (int)u;

    if (how == FBP_INTERPOLATION_CUBIC)
        return spline(samples + at - 1, u - (float)at);
    if (how == FBP_INTERPOLATION_NEAREST)
        return samples[at];
    return samples[at] + (u - (float)at) * (samples[at + 1] - samples[at]);
}

double fbp_row_value_double(const double *samples, double u, enum fbp_interpolation how)
{
    const int at = (int)u;
    const double *s = samples + at;
    double w[4];

    if (how == FBP_INTERPOLATION_NEAREST)
        return s[0];
    if (how == FBP_INTERPOLATION_LINEAR)
        return s[0] + (u - at) * (s[1] - s[0]);
    fbp_spline_weights(u - at, w);
    return w[0] * s[-1] + w[1] * s[0] + w[2] * s[1] + w[3] * s[2];
}

/* Defines the loops of kernel "planes" in plain C: NAME, NAME_nearest and NAME_cubic, for samples
 * and voxels of type T.  For each view a loop finds the window that begins at the sample at or
 * below the cube's least u, and u of the first voxel relative to this sample. */
#    define FBP_PLANES_C(NAME, T, PLANES, VALUE_AT)                                               \
        static inline void NAME##_add(T *blocks, double x, const PLANES *p,                       \
                                      enum fbp_interpolation how)                                 \
        {                                                                                         \
            for (size_t k = 0; k < p->n; k++) {                                                   \
                const T step[3] = {p->step[0][k], p->step[1][k], p->step[2][k]};                  \
                const double least = p->start[k] + x * p->along[k], window = floor(least);        \
                const T first = (T)(least - window + p->above[k]);                                \
                const T *samples = p->samples + (ptrdiff_t)(k * p->stride) +                      \
                                   (ptrdiff_t)fmin(fmax(window, 2 - FBP_PLANES_MARGIN), p->last); \
                T *out = blocks;                                                                  \
                for (size_t f = 0; f == 0 || f < p->frames; f++, samples += p->frame)             \
                    for (int l = 0; l < FBP_PLANES_EDGE; l++)                                     \
                        for (int j = 0; j < FBP_PLANES_EDGE; j++)                                 \
                            for (int i = 0; i < FBP_PLANES_EDGE; i++)                             \
                                *out++ += VALUE_AT(samples,                                       \
                                                   first + (T)i * step[0] + (T)j * step[1] +      \
                                                       (T)l * step[2],                            \
                                                   how);                                          \
            }                                                                                     \
        }                                                                                         \
        static void NAME(T *blocks, double x, const PLANES *p)                                    \
        {                                                                                         \
            NAME##_add(blocks, x, p, FBP_INTERPOLATION_LINEAR);                                   \
        }                                                                                         \
        static void NAME##_nearest(T *blocks, double x, const PLANES *p)                          \
        {                                                                                         \
            NAME##_add(blocks, x, p, FBP_INTERPOLATION_NEAREST);                                  \
        }                                                                                         \
        static void NAME##_cubic(T *blocks, double x, const PLANES *p)                            \
        {                                                                                         \
            NAME##_add(blocks, x, p, FBP_INTERPOLATION_CUBIC);                                    \
        }

FBP_PLANES_C(planes, float, struct fbp_bp_planes, value_at)
FBP_PLANES_C(planes_double, double, struct fbp_bp_planes_double, fbp_row_value_double)

#endif

#endif /* FBP_SRC_CPU_PLANES_LOOPS_H */
