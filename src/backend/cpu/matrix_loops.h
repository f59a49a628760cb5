/** @file matrix_loops.h  Inner loops of the CPU kernel "matrix", which backprojects views of any
 * 3x4 matrix along rows of voxels in x (internal).  matrix.c calls them through struct fbp_bp_dsp
 * of simd.h.  The plain C loops below are the specification; line_loops.h explains which file
 * compiles which loops.
 * Used by: simd.h.
 */
#ifndef FBP_SRC_CPU_MATRIX_LOOPS_H
#define FBP_SRC_CPU_MATRIX_LOOPS_H

#include <stddef.h>

/** Width of the border of zeros around a filtered view: columns left and right, rows below and
 * above; FBP_CUBIC_*: columns for spline interpolation. */
enum { FBP_VIEW_LEFT = 1, FBP_VIEW_RIGHT = 2, FBP_VIEW_BELOW = 1, FBP_VIEW_ABOVE = 2 };
enum { FBP_CUBIC_LEFT = 3, FBP_CUBIC_RIGHT = 4 };

/**
 * Parameters of one view along one voxel row: with t = x - x_ref,
 *
 *     w = w0 + t w1,  u = (u0 + t u1) / w,  v = (v0 + t v1) / w,  w(iso-centre) = 1.
 *
 * u and v are relative to the integer pixel (column, row) near the principal point, where fp32 has
 * most digits left.  They are clamped to [u_lo, u_hi] and [v_lo, v_hi], the outermost coordinates
 * whose taps are all zeros of the border: values are continuous at the detector's edge.
 */
struct fbp_bp_line {
    float x_ref;
    float u0, u1, v0, v1, w0, w1;
    float u_lo, u_hi, v_lo, v_hi;
    /** pixel (column, row) from which u and v count; row 0 is the first stored row of the view */
    int column, row;
    /** samples from those of a voxel to those of the lines to come, which are loaded into the cache
     * in advance; 0: the lines need nearly the same samples */
    ptrdiff_t ahead;
};

/**
 *     dst[x] += value(view, u, v) / w^2,   x = x0 … x1-1
 *
 * value: bilinear interpolation; or, for a row of plane integrals (w = 1), the sample nearest to u,
 * or the spline whose coefficients are the samples (filter/parabola.h).
 *
 * dst     the whole voxel row, indexed by x
 * view    sample (0, 0) of a filtered view inside its border of zeros
 * stride  samples from row to row
 */
typedef void fbp_bp_matrix_fn(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                              const struct fbp_bp_line *line);

#if defined(VL) /* vectors */

/* Operations that simd_*.c define: VL lanes per vector, V of floats, VI of int32, V*() and VI*();
 * VGATHER(p, i) is p[i] of each lane; taps() is a taps_fn.  If permutations are faster than taps():
 * matrix_wide(p, i) is p[i] of each lane, i < MATRIX_WINDOW, and matrix_narrow(p, i) the same for i
 * < MATRIX_WINDOW / 2; VMASK, VGREATER(), VSELECT(mask, a, b), VFIRST() and VLAST(). */

/* Loads the four samples around the position `at` of each lane: view[at], view[at + 1], view[at +
 * step], view[at + step + 1]. */
typedef void taps_fn(const float *view, size_t step, VI at, V out[4]);

/* Returns the values that a view adds to VL voxels from voxel x on, by bilinear interpolation;
 * get_taps() is inlined. */
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

    if (l->ahead != 0)
        __builtin_prefetch(view + (ptrdiff_t)stride * ((int)fv[0] + l->row) + (int)fu[0] +
                           l->column + l->ahead);
    get_taps(view, stride, VIADD(row, VIADD(VTOI(fu), VISET1(l->column))), tap);
    const V lower = VFMA(a, VSUB(tap[1], tap[0]), tap[0]);
    const V upper = VFMA(a, VSUB(tap[3], tap[2]), tap[2]);
    return VMUL(VMUL(r, r), VFMA(b, VSUB(upper, lower), lower));
}

#    if defined(MATRIX_WINDOW)

/* Returns the samples of a row at column i[lane], interpolated towards the next column. */
static ALWAYS_INLINE V between(const float *row, VI i, V a, V (*window)(const float *p, VI i))
{
    const V left = window(row, i), right = window(row, VIADD(i, VISET1(1)));

    return VFMA(a, VSUB(right, left), left);
}

/* Interpolates between columns in n + 2 rows from `row` on, whose windows contain all lanes; lane k
 * needs row first[k] and the row above. */
static ALWAYS_INLINE void rows_at(const float *row, size_t stride, int n, V first, VI i, V a,
                                  V (*window)(const float *p, VI i), V *lower, V *upper)
{
    *lower = between(row, i, a, window);
    *upper = between(row += stride, i, a, window);
    for (int k = 0; k < n; k++) {
        const VMASK above = VGREATER(first, VSET1((float)k));
        *lower = VSELECT(above, *upper, *lower);
        *upper = VSELECT(above, between(row += stride, i, a, window), *upper);
    }
}

/* Returns the same values as linear_at().  Where w > 0, u and v are monotonic in x, so the first
 * and the last lane bound them: if all lanes are in a window of MATRIX_WINDOW columns and
 * MATRIX_ROWS rows, the samples come from permutations of windows, which are faster than loads of
 * single samples.  w may be negative in lanes beyond the last voxel. */
static ALWAYS_INLINE V linear_by_windows(float x, const float *view, size_t stride,
                                         const struct fbp_bp_line *l)
{
    const float rounding = 1 / 64.0f; /* of u and v [pixels], with ample room */
    const V t = VADD(VSET1(x - l->x_ref), VIOTA());
    const V r = VDIV(VSET1(1.0f), VFMA(t, VSET1(l->w1), VSET1(l->w0)));
    const V u = VMUL(VFMA(t, VSET1(l->u1), VSET1(l->u0)), r);
    const V v = VMUL(VFMA(t, VSET1(l->v1), VSET1(l->v0)), r);
    const float ua = VFIRST(u), ub = VLAST(u), va = VFIRST(v), vb = VLAST(v);
    const float u_least = ua < ub ? ua : ub, u_most = ua < ub ? ub : ua;
    const float v_least = va < vb ? va : vb, v_most = va < vb ? vb : va;
    const float column = floorf(u_least - rounding), row = floorf(v_least - rounding);

    /* windows stay inside the view and the zeros around it */
    if (!(VLAST(r) > 0 && stride >= MATRIX_WINDOW && u_least >= l->u_lo + rounding &&
          u_most <= l->u_hi - 1 && v_least >= l->v_lo + rounding && v_most <= l->v_hi - 1 &&
          u_most + rounding < column + (float)(MATRIX_WINDOW - 1) &&
          v_most + rounding < row + MATRIX_ROWS - 1))
        return linear_at(x, view, stride, l, taps);
    const float *from = view + (ptrdiff_t)stride * ((int)row + l->row) + l->column + (int)column;
    const V fu = VFLOOR(u), fv = VFLOOR(v), a = VSUB(u, fu), b = VSUB(v, fv);
    const VI i = VTOI(VSUB(fu, VSET1(column)));
    const V first = VSUB(fv, VSET1(row));
    const int n = (int)(v_most + rounding - row);
    V lower, upper;

    if (l->ahead != 0)
        for (int k = 0; k < MATRIX_WINDOW / 2; k += 16)
            __builtin_prefetch(from + l->ahead + k);
    if (u_most + rounding < column + (float)(MATRIX_WINDOW / 2 - 1))
        rows_at(from, stride, n, first, i, a, matrix_narrow, &lower, &upper);
    else
        rows_at(from, stride, n, first, i, a, matrix_wide, &lower, &upper);
    return VMUL(VMUL(r, r), VFMA(b, VSUB(upper, lower), lower));
}
#    endif

/* Returns the detector position u of VL voxels from voxel x on, for a row of plane integrals (w =
 * 1). */
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

/* Defines the function NAME, a fbp_bp_matrix_fn; TYPE: static void, or void.  VALUE: expression for
 * the values that are added to VL voxels from x on.  Values of lanes beyond x1 are dropped; clamped
 * coordinates keep their loads inside the view. */
#    define MATRIX_KERNEL(TYPE, NAME, VALUE)                                          \
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

#    if defined(MATRIX_WINDOW)
MATRIX_KERNEL(static void, matrix_linear, linear_by_windows((float)x, view, stride, l))
#    else
MATRIX_KERNEL(static void, matrix_linear, linear_at((float)x, view, stride, l, taps))
#    endif
MATRIX_KERNEL(static void, matrix_nearest, nearest_at(row_u(x, l), row))
MATRIX_KERNEL(static void, matrix_cubic, cubic_at(row_u(x, l), row))

#elif defined(SUFFIX) /* plain C */

static void matrix_linear(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                          const struct fbp_bp_line *l)
{
    for (size_t x = x0; x < x1; x++) {
        const float t = (float)x - l->x_ref;
        const float r = 1.0f / (l->w0 + t * l->w1);
        const float u = clampf((l->u0 + t * l->u1) * r, l->u_lo, l->u_hi);
        const float v = clampf((l->v0 + t * l->v1) * r, l->v_lo, l->v_hi);
        const float fu = floorf(u), fv = floorf(v), a = u - fu, b = v - fv;
        const float *p =
            view + (ptrdiff_t)((int)fv + l->row) * (ptrdiff_t)stride + ((int)fu + l->column);
        const float *q = p + stride;
        const float lower = p[0] + a * (p[1] - p[0]), upper = q[0] + a * (q[1] - q[0]);
        dst[x] += r * r * (lower + b * (upper - lower));
    }
}

static void matrix_nearest(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                           const struct fbp_bp_line *l)
{
    const float *row = view + (ptrdiff_t)stride * l->row + l->column;

    for (size_t x = x0; x < x1; x++) {
        const float u = clampf(l->u0 + ((float)x - l->x_ref) * l->u1, l->u_lo, l->u_hi);
        dst[x] += row[(ptrdiff_t)floorf(u + (float)FBP_NEAREST)];
    }
}

static void matrix_cubic(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                         const struct fbp_bp_line *l)
{
    const float *row = view + (ptrdiff_t)stride * l->row + l->column;

    for (size_t x = x0; x < x1; x++) {
        const float u = clampf(l->u0 + ((float)x - l->x_ref) * l->u1, l->u_lo, l->u_hi);
        const float first = floorf(u);
        dst[x] += spline(row + (ptrdiff_t)first - 1, u - first);
    }
}

#endif

#endif /* FBP_SRC_CPU_MATRIX_LOOPS_H */
