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

#define FBP_PLANES_ADD(name, tables)                                                              \
    static inline void SUFFIX(name)(const struct fbp_bp_planes *p, const int *window,             \
                                    const float *first, V *sum)                                   \
    {                                                                                             \
        for (size_t k = 0; k < p->n; k++) {                                                       \
            struct tables t;                                                                      \
            const V b = VSET1(p->step[1][k]), c = VSET1(p->step[2][k]);                           \
            const V rows = VMUL(b, VSET1(VL / 4));                                                \
            tables##_load(p->samples + (ptrdiff_t)(k * p->stride) + window[k], &t);               \
            V u = VFMA(VX(), VSET1(p->step[0][k]), VFMA(VY(), b, VSET1(first[k])));               \
            for (int l = 0; l < 4; l++, u = VADD(u, c)) {                                         \
                V at = u;                                                                         \
                for (int j = 0; j < 16 / VL; j++, at = VADD(at, rows))                            \
                    sum[l * (16 / VL) + j] = VADD(sum[l * (16 / VL) + j], tables##_look(&t, at)); \
            }                                                                                     \
        }                                                                                         \
    }

#define FBP_PLANES_KERNEL(name, add_narrow, add_wide)                        \
    void SUFFIX(name)(float *block, double x, const struct fbp_bp_planes *p) \
    {                                                                        \
        int window[FBP_PLANES_VIEWS];                                        \
        float first[FBP_PLANES_VIEWS];                                       \
        V sum[FBP_PLANES_BLOCK / VL];                                        \
        SUFFIX(place)(p, x, window, first);                                  \
        for (int i = 0; i < FBP_PLANES_BLOCK / VL; i++)                      \
            sum[i] = VLOAD(block + i * VL);                                  \
        if (p->narrow)                                                       \
            SUFFIX(add_narrow)(p, window, first, sum);                       \
        else                                                                 \
            SUFFIX(add_wide)(p, window, first, sum);                         \
        for (int i = 0; i < FBP_PLANES_BLOCK / VL; i++)                      \
            VSTORE(block + i * VL, sum[i]);                                  \
    }

FBP_PLANES_ADD(add_wide, wide)
FBP_PLANES_ADD(add_wide_nearest, wide_nearest)
FBP_PLANES_ADD(add_wide_cubic, wide_cubic)
#if HAS_NARROW
FBP_PLANES_ADD(add_narrow, narrow)
FBP_PLANES_ADD(add_narrow_nearest, narrow_nearest)
FBP_PLANES_ADD(add_narrow_cubic, narrow_cubic)
FBP_PLANES_KERNEL(fbp_bp_planes, add_narrow, add_wide)
FBP_PLANES_KERNEL(fbp_bp_planes_nearest, add_narrow_nearest, add_wide_nearest)
FBP_PLANES_KERNEL(fbp_bp_planes_cubic, add_narrow_cubic, add_wide_cubic)
#else
FBP_PLANES_KERNEL(fbp_bp_planes, add_wide, add_wide)
FBP_PLANES_KERNEL(fbp_bp_planes_nearest, add_wide_nearest, add_wide_nearest)
FBP_PLANES_KERNEL(fbp_bp_planes_cubic, add_wide_cubic, add_wide_cubic)
#endif
