/*
 * Template of kernel "matrix" (fbp_bp_matrix_fn in simd.h), included by simd_avx2.c and
 * simd_avx512.c.  Parameters: VL lanes per vector, V of floats, VI of int32, the operations V*()
 * and VI*(), and VGATHER(p, i), p[i] of each lane.
 */

/* The four samples around each lane: view[at], [at + 1], [at + step], [at + step + 1]. */
typedef void taps_fn(const float *view, size_t step, VI at, V out[4]);

/* The increments of VL voxels from x on; get_taps() is inlined. */
static ALWAYS_INLINE V linear_at(float x, const float *view, size_t stride,
                                 const struct fbp_bp_line *l, taps_fn *get_taps)
{
    const V t = VADD(VSET1(x - l->x_ref), VIOTA());
    const V r = VDIV(VSET1(1.0f), VFMA(t, VSET1(l->w1), VSET1(l->w0)));
    const V un = VMUL(VFMA(t, VSET1(l->u1), VSET1(l->u0)), r);
    const V vn = VMUL(VFMA(t, VSET1(l->v1), VSET1(l->v0)), r);
    const V u = VMIN(VMAX(un, VSET1(l->u_lo)), VSET1(l->u_hi));
    const V v = VMIN(VMAX(vn, VSET1(l->v_lo)), VSET1(l->v_hi));
    const V fu = VFLOOR(u), fv = VFLOOR(v), a = VSUB(u, fu), b = VSUB(v, fv);
    const VI row = VIMUL(VIADD(VTOI(fv), VISET1(l->row)), VISET1((int)stride));
    V tap[4];

    get_taps(view, stride, VIADD(row, VIADD(VTOI(fu), VISET1(l->column))), tap);
    const V lower = VFMA(a, VSUB(tap[1], tap[0]), tap[0]);
    const V upper = VFMA(a, VSUB(tap[3], tap[2]), tap[2]);
    return VMUL(VMUL(r, r), VFMA(b, VSUB(upper, lower), lower));
}

/* u of VL voxels of a row of plane integrals, w = 1. */
static inline V row_u(size_t x, const struct fbp_bp_line *l)
{
    const V t = VADD(VSET1((float)x - l->x_ref), VIOTA());

    return VMIN(VMAX(VFMA(t, VSET1(l->u1), VSET1(l->u0)), VSET1(l->u_lo)), VSET1(l->u_hi));
}

static inline V nearest_at(V u, const float *row)
{
    return VGATHER(row, VTOI(VFLOOR(VADD(u, VSET1((float)FBP_NEAREST)))));
}

static inline V cubic_at(V u, const float *row)
{
    const V fu = VFLOOR(u), one = VSET1(1), four = VSET1(4), three = VSET1(3);
    const V t = VSUB(u, fu), s = VSUB(one, t), t2 = VMUL(t, t), s2 = VMUL(s, s);
    const VI at = VTOI(fu);
    const V lower = VFMA(VMUL(three, t2), VSUB(t, VSET1(2)), four);
    const V upper = VFMA(VMUL(three, s2), VSUB(s, VSET1(2)), four);
    V sum = VMUL(VMUL(s2, s), VGATHER(row - 1, at));

    sum = VFMA(lower, VGATHER(row, at), sum);
    sum = VFMA(upper, VGATHER(row + 1, at), sum);
    sum = VFMA(VMUL(t2, t), VGATHER(row + 2, at), sum);
    return VMUL(sum, VSET1(1.0f / 6));
}

/* A fbp_bp_matrix_fn; TYPE: static void, or void.  VALUE: the increments of VL voxels from x on,
 * from `view` or, for plane integrals, from `row`.  Lanes beyond x1 are clamped into the border of
 * zeros, and dropped. */
#define MATRIX_KERNEL(TYPE, NAME, VALUE)                                          \
    TYPE NAME(float *dst, size_t x0, size_t x1, const float *view, size_t stride, \
              const struct fbp_bp_line *l)                                        \
    {                                                                             \
        const float *const row = view + (ptrdiff_t)stride * l->row + l->column;   \
        size_t x = x0;                                                            \
        (void)row;                                                                \
        for (; x + VL <= x1; x += VL)                                             \
            VSTORE(dst + x, VADD(VLOAD(dst + x), VALUE));                         \
        if (x < x1) {                                                             \
            float rest[VL];                                                       \
            VSTORE(rest, VALUE);                                                  \
            for (size_t i = 0; x + i < x1; i++)                                   \
                dst[x + i] += rest[i];                                            \
        }                                                                         \
    }

MATRIX_KERNEL(static void, matrix_linear, linear_at((float)x, view, stride, l, taps))
MATRIX_KERNEL(static void, matrix_nearest, nearest_at(row_u(x, l), row))
MATRIX_KERNEL(static void, matrix_cubic, cubic_at(row_u(x, l), row))
