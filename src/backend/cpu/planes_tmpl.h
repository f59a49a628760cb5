/*
 * Template for the kernel of plane integrals.  Parameters:
 *
 *   SUFFIX(name)   name with the ISA suffix
 *   VL, V          floats per vector, and its type
 *   DL, D          doubles per vector, and its type, plus the V* and D* operations
 *   VX(), VY()     i and j of the lanes: VL / 4 rows of 4 voxels along x
 *   struct wide    a window of 16 samples in registers, with wide_load(p, &w), and
 *                  wide_look(&w, u): the line through the two samples around u, where u counts
 *                  from p and is truncated
 *   struct wide_nearest, struct wide_cubic   the same, of sample u and of the spline at u
 *   HAS_NARROW     1: there is a struct narrow, too, of 8 samples, which is quicker and gives the
 *                  same bits; and narrow_nearest, narrow_cubic
 *
 * A block is a cube, as its voxels then lie within few samples of any view: all of them take these
 * from one window, which stays in registers.  A row is tabulated as lines, value[i] + u slope[i]
 * with u from the window's first sample, so that a voxel needs no fraction.  fbp_bp_planes_c is the
 * specification.
 */

/* Where windows begin, and the block's first voxel from there.  Rounding instead of floor() makes
 * the window begin up to a whole sample below the block. */
static inline void SUFFIX(place)(const struct fbp_bp_planes *p, double x, int *window, float *first)
{
    const D lowest = DSET1(2 - FBP_PLANES_MARGIN), last = DSET1(p->last);

    for (size_t k = 0; k < p->n; k += DL) {
        const D least = DFMA(DSET1(x), DLOAD(p->along + k), DLOAD(p->start + k));
        const D begin = DROUND(DSUB(least, DSET1(0.5)));
        DSTORE_INT(window + k, DMIN(DMAX(begin, lowest), last));
        DSTORE_FLOAT(first + k, DADD(DSUB(least, begin), DLOAD(p->above + k)));
    }
}

#define UNROLL _Pragma("GCC unroll 8")

enum { SUFFIX(ROWS) = VL / 4, SUFFIX(VECTORS) = FBP_PLANES_BLOCK / VL };

/*
 * F frames, as many as registers hold: whoever knows where voxels lie takes the samples of each.
 * samples: those of the first frame, as p->samples are; blocks: [F][64].  Frames do not meet, so
 * that F changes no bit.
 */
#define FBP_PLANES_ADD(name, tables, F)                                                      \
    static inline void SUFFIX(name)(const struct fbp_bp_planes *p, const int *window,        \
                                    const float *first, const float *samples, float *blocks) \
    {                                                                                        \
        V sum[F][SUFFIX(VECTORS)];                                                           \
        UNROLL for (size_t f = 0; f < (F); f++)                                              \
            UNROLL for (size_t i = 0; i < SUFFIX(VECTORS); i++) sum[f][i] =                  \
                VLOAD(blocks + f * FBP_PLANES_BLOCK + i * VL);                               \
        for (size_t k = 0; k < p->n; k++) {                                                  \
            struct tables t[F];                                                              \
            const float *s = samples + (ptrdiff_t)(k * p->stride) + window[k];               \
            const V b = VSET1(p->step[1][k]), c = VSET1(p->step[2][k]);                      \
            const V rows = VMUL(b, VSET1(SUFFIX(ROWS)));                                     \
            UNROLL for (size_t f = 0; f < (F); f++) tables##_load(s + f * p->frame, &t[f]);  \
            V u = VFMA(VX(), VSET1(p->step[0][k]), VFMA(VY(), b, VSET1(first[k])));          \
            UNROLL for (int l = 0; l < 4; l++, u = VADD(u, c))                               \
            {                                                                                \
                V at = u;                                                                    \
                UNROLL for (int j = 0; j < 16 / VL; j++, at = VADD(at, rows))                \
                    UNROLL for (size_t f = 0; f < (F); f++)                                  \
                {                                                                            \
                    V *const to = &sum[f][l * (16 / VL) + j];                                \
                    *to = VADD(*to, tables##_look(&t[f], at));                               \
                }                                                                            \
            }                                                                                \
        }                                                                                    \
        UNROLL for (size_t f = 0; f < (F); f++)                                              \
            UNROLL for (size_t i = 0; i < SUFFIX(VECTORS); i++)                              \
                VSTORE(blocks + f * FBP_PLANES_BLOCK + i * VL, sum[f][i]);                   \
    }

/* All frames, `most` at once where windows are `quick`, and what is left one by one by add_one. */
#define FBP_PLANES_KERNEL(name, quick, most, add_most, add_one)                                    \
    void SUFFIX(name)(float *blocks, double x, const struct fbp_bp_planes *p)                      \
    {                                                                                              \
        const size_t n = p->frames > 1 ? p->frames : 1;                                            \
        int window[FBP_PLANES_VIEWS];                                                              \
        float first[FBP_PLANES_VIEWS];                                                             \
        size_t f = 0;                                                                              \
        SUFFIX(place)(p, x, window, first);                                                        \
        for (; (quick) && f + (most) <= n; f += (most))                                            \
            SUFFIX(add_most)                                                                       \
        (p, window, first, p->samples + f * p->frame, blocks + f * FBP_PLANES_BLOCK);              \
        for (; f < n; f++)                                                                         \
            (add_one)(p, window, first, p->samples + f * p->frame, blocks + f * FBP_PLANES_BLOCK); \
    }

FBP_PLANES_ADD(add_wide, wide, 1)
FBP_PLANES_ADD(add_wide_nearest, wide_nearest, 1)
FBP_PLANES_ADD(add_wide_cubic, wide_cubic, 1)
#if HAS_NARROW
FBP_PLANES_ADD(add_narrow, narrow, 1)
FBP_PLANES_ADD(add_narrow_nearest, narrow_nearest, 1)
FBP_PLANES_ADD(add_narrow_cubic, narrow_cubic, 1)
FBP_PLANES_ADD(add_two, narrow, 2)
FBP_PLANES_ADD(add_two_nearest, narrow_nearest, 2)
FBP_PLANES_KERNEL(fbp_bp_planes, p->narrow, 2, add_two,
                  p->narrow ? SUFFIX(add_narrow) : SUFFIX(add_wide))
FBP_PLANES_KERNEL(fbp_bp_planes_nearest, p->narrow, 2, add_two_nearest,
                  p->narrow ? SUFFIX(add_narrow_nearest) : SUFFIX(add_wide_nearest))
FBP_PLANES_KERNEL(fbp_bp_planes_cubic, p->narrow, 1, add_narrow_cubic,
                  p->narrow ? SUFFIX(add_narrow_cubic) : SUFFIX(add_wide_cubic))
#else
FBP_PLANES_ADD(add_five, wide, 5)
FBP_PLANES_ADD(add_five_nearest, wide_nearest, 5)
FBP_PLANES_KERNEL(fbp_bp_planes, true, 5, add_five, SUFFIX(add_wide))
FBP_PLANES_KERNEL(fbp_bp_planes_nearest, true, 5, add_five_nearest, SUFFIX(add_wide_nearest))
FBP_PLANES_KERNEL(fbp_bp_planes_cubic, true, 1, add_wide_cubic, SUFFIX(add_wide_cubic))
#endif
