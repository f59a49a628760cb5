/*
 * Template for the kernel of plane integrals in double: planes_tmpl.h says what it does.
 * Parameters:
 *
 *   SUFFIX(name)  name with the ISA suffix
 *   VL, V         doubles per vector, 4 or 8, and its type, plus the V* operations
 *   VX(), VY()    i and j of the lanes: VL / 4 rows of 4 voxels along x
 *   struct linear what is known of a window of 16 samples, with linear_load(p, &t), and
 *                 linear_look(&t, u): between the samples around u, which counts from p
 *   struct nearest, struct cubic   the same, of sample u and of the spline at u
 *
 * A block's 64 voxels fill 16 vectors of 4: as many as there are registers.  It is therefore done
 * in passes of 8 vectors.
 */

/* Of a pass; rows of a vector; vectors of a layer. */
enum { SUFFIX(LAYERS) = VL / 2, SUFFIX(ROWS) = VL / 4, SUFFIX(A_LAYER) = 16 / VL };

static inline void SUFFIX(place)(const struct fbp_bp_planes_double *p, double x, int *window,
                                 double *first)
{
    const V lowest = VSET1(2 - FBP_PLANES_MARGIN), last = VSET1(p->last);

    for (size_t k = 0; k < p->n; k += VL) {
        const V least = VFMA(VSET1(x), VLOAD(p->along + k), VLOAD(p->start + k));
        const V begin = VROUND(VSUB(least, VSET1(0.5)));
        VSTORE_INT(window + k, VMIN(VMAX(begin, lowest), last));
        VSTORE(first + k, VADD(VSUB(least, begin), VLOAD(p->above + k)));
    }
}

/* Written out, so that sums stay in registers. */
#define FBP_EIGHT(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

#define FBP_TAKE_SUM(i) V sum##i = VLOAD(part + (size_t)(i)*VL);
#define FBP_GIVE_SUM(i) VSTORE(part + (size_t)(i)*VL, sum##i);

/* Vector i: the next rows of its layer, or the first of the next one. */
#define FBP_ADD_TO_SUM(i)                      \
    if ((i) > 0 && (i) % SUFFIX(A_LAYER) == 0) \
        u = at = VADD(u, c);                   \
    else if ((i) > 0)                          \
        at = VADD(at, rows);                   \
    sum##i = VADD(sum##i, LOOK(&t, at));

#define FBP_PLANES_DOUBLE(name, table)                                                     \
    /* All views into the layers from l0 on. */                                            \
    static inline void SUFFIX(table##_add)(const struct fbp_bp_planes_double *p,           \
                                           const int *window, const double *first, int l0, \
                                           double *part)                                   \
    {                                                                                      \
        FBP_EIGHT(FBP_TAKE_SUM)                                                            \
        for (size_t k = 0; k < p->n; k++) {                                                \
            struct table t;                                                                \
            const V b = VSET1(p->step[1][k]), c = VSET1(p->step[2][k]);                    \
            const V rows = VMUL(b, VSET1(SUFFIX(ROWS)));                                   \
            table##_load(p->samples + (ptrdiff_t)(k * p->stride) + window[k], &t);         \
            const V corner = VFMA(VSET1(l0), c, VSET1(first[k]));                          \
            V u = VFMA(VX(), VSET1(p->step[0][k]), VFMA(VY(), b, corner)), at = u;         \
            FBP_EIGHT(FBP_ADD_TO_SUM)                                                      \
        }                                                                                  \
        FBP_EIGHT(FBP_GIVE_SUM)                                                            \
    }                                                                                      \
                                                                                           \
    void SUFFIX(name)(double *block, double x, const struct fbp_bp_planes_double *p)       \
    {                                                                                      \
        int window[FBP_PLANES_VIEWS];                                                      \
        double first[FBP_PLANES_VIEWS];                                                    \
                                                                                           \
        SUFFIX(place)(p, x, window, first);                                                \
        for (int l0 = 0; l0 < FBP_PLANES_EDGE; l0 += SUFFIX(LAYERS))                       \
            SUFFIX(table##_add)(p, window, first, l0, block + (size_t)l0 * 16);            \
    }

#define LOOK linear_look
FBP_PLANES_DOUBLE(fbp_bp_planes_double, linear)
#undef LOOK
#define LOOK nearest_look
FBP_PLANES_DOUBLE(fbp_bp_planes_double_nearest, nearest)
#undef LOOK
#define LOOK cubic_look
FBP_PLANES_DOUBLE(fbp_bp_planes_double_cubic, cubic)
