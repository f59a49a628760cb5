/*
 * Template of kernel "planes" (fbp_bp_planes_fn and fbp_bp_planes_double_fn in simd.h), included by
 * simd_avx2.c and simd_avx512.c.  Parameters: VL floats per vector V, DL doubles per vector D, the
 * operations V*() and D*(), and
 *
 *   VX(), VY()   i and j of the lanes of V: VL / 4 rows of 4 voxels along x; DX(), DY() of D
 *   PICK_16(c, i), PICK_8(c, i)   c[i] of each lane, from a window of 16 values in vectors c[], or
 *                                 of 8, which is faster if VL is 8, and gives the same bits
 *   struct linear                 a window of 16 doubles, with linear_load(p, &w) and
 *                                 linear_look(&w, u): the line through the two samples around u,
 *                                 which counts from p and is truncated
 *   struct nearest, cubic         the same, of sample u and of the spline at u
 *
 * The voxels of a cube lie within few samples of any view: all of them take their samples from one
 * window, which stays in registers.  A row is tabulated as lines, value[i] + u slope[i] with u from
 * the window's first sample: a voxel needs no fraction.
 */

/*
 * Windows of floats, of H vectors: struct W (lines), W##_nearest (samples), W##_cubic (splines as
 * polynomials of the fraction, for each interval between two samples).
 */
#define PLANES_WINDOW(W, H, PICK)                                                         \
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
#if VL == 8
PLANES_WINDOW(narrow, 1, PICK_8)
#endif

/* Find where windows begin, and the cube's first voxel from there.  Because of rounding instead of
 * floor() a window begins up to a whole sample below the cube. */
#define PLANES_FIND(NAME, PLANES, T, STORE)                                           \
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

/*
 * Add all views to LAYERS layers of F cubes, of as many channels as registers hold: these share the
 * positions of voxels.  L lanes of type T per vector P (V or D).  CORNER: u of the layers' first
 * voxel in view k.  samples: those of the first channel.  Channels do not meet: F changes no bit.
 */
#define PLANES_ADD(NAME, TABLE, F, P, L, T, PLANES, LAYERS, CORNER)                               \
    static inline void NAME(const PLANES *p, const int *window, const T *first, const T *samples, \
                            int layer, T *blocks)                                                 \
    {                                                                                             \
        enum { PER_LAYER = 16 / L, VECTORS = (LAYERS)*PER_LAYER };                                \
        P sum[F][VECTORS];                                                                        \
        (void)layer;                                                                              \
        UNROLL for (size_t f = 0; f < (F); f++) UNROLL for (size_t i = 0; i < VECTORS; i++)       \
            sum[f][i] = P##LOAD(blocks + f * FBP_PLANES_BLOCK + i * L);                           \
        for (size_t k = 0; k < p->n; k++) {                                                       \
            struct TABLE t[F];                                                                    \
            const T *s = samples + (ptrdiff_t)(k * p->stride) + window[k];                        \
            const P b = P##SET1(p->step[1][k]), c = P##SET1(p->step[2][k]);                       \
            const P rows = P##MUL(b, P##SET1(L / 4));                                             \
            UNROLL for (size_t f = 0; f < (F); f++) TABLE##_load(s + f * p->frame, &t[f]);        \
            P u = P##FMA(P##X(), P##SET1(p->step[0][k]), P##FMA(P##Y(), b, CORNER));              \
            UNROLL for (int l = 0; l < (LAYERS); l++, u = P##ADD(u, c))                           \
            {                                                                                     \
                P at = u;                                                                         \
                UNROLL for (int j = 0; j < PER_LAYER; j++, at = P##ADD(at, rows))                 \
                    UNROLL for (size_t f = 0; f < (F); f++)                                       \
                {                                                                                 \
                    P *const to = &sum[f][l * PER_LAYER + j];                                     \
                    *to = P##ADD(*to, TABLE##_look(&t[f], at));                                   \
                }                                                                                 \
            }                                                                                     \
        }                                                                                         \
        UNROLL for (size_t f = 0; f < (F); f++) UNROLL for (size_t i = 0; i < VECTORS; i++)       \
            P##STORE(blocks + f * FBP_PLANES_BLOCK + i * L, sum[f][i]);                           \
    }

#define PLANES_ADD_FLOAT(NAME, TABLE, F) \
    PLANES_ADD(NAME, TABLE, F, V, VL, float, struct fbp_bp_planes, 4, VSET1(first[k]))

/* All channels: `most` at a time if windows are `quick`, the rest one by one with add_one(). */
#define PLANES_KERNEL(NAME, quick, most, add_most, add_one)                  \
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

/* One channel; half the voxels per pass: a cube's 64 doubles would fill all registers of AVX2. */
#define PLANES_KERNEL_DOUBLE(NAME, TABLE)                                                \
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
#if VL == 8
PLANES_ADD_FLOAT(add_narrow, narrow, 1)
PLANES_ADD_FLOAT(add_narrow_nearest, narrow_nearest, 1)
PLANES_ADD_FLOAT(add_narrow_cubic, narrow_cubic, 1)
PLANES_ADD_FLOAT(add_two, narrow, 2)
PLANES_ADD_FLOAT(add_two_nearest, narrow_nearest, 2)
PLANES_KERNEL(planes, p->narrow, 2, add_two, p->narrow ? add_narrow : add_wide)
PLANES_KERNEL(planes_nearest, p->narrow, 2, add_two_nearest,
              p->narrow ? add_narrow_nearest : add_wide_nearest)
PLANES_KERNEL(planes_cubic, p->narrow, 1, add_narrow_cubic,
              p->narrow ? add_narrow_cubic : add_wide_cubic)
#else
PLANES_ADD_FLOAT(add_five, wide, 5)
PLANES_ADD_FLOAT(add_five_nearest, wide_nearest, 5)
PLANES_KERNEL(planes, true, 5, add_five, add_wide)
PLANES_KERNEL(planes_nearest, true, 5, add_five_nearest, add_wide_nearest)
PLANES_KERNEL(planes_cubic, true, 1, add_wide_cubic, add_wide_cubic)
#endif

PLANES_KERNEL_DOUBLE(planes_double, linear)
PLANES_KERNEL_DOUBLE(planes_double_nearest, nearest)
PLANES_KERNEL_DOUBLE(planes_double_cubic, cubic)

/* The table of this instruction set, of this template and the others. */
const struct fbp_bp_dsp SUFFIX(fbp_bp) = FBP_BP_TABLE;
