/*
 * Template for plane integrals by kernel "matrix", where they are not interpolated linearly: a view
 * is one row, and w is 1.  Parameters as in bp_tmpl.h, and
 *
 *   VGATHER(p, i)  p[i] of each lane
 *
 * Included once per ISA file; bp_row.c is the specification.
 */

static inline V SUFFIX(nearest)(V u, const float *row)
{
    return VGATHER(row, VTOI(VFLOOR(VADD(u, VSET1((float)FBP_NEAREST)))));
}

/* The four taps of a spline, by their weights. */
static inline V SUFFIX(cubic)(V u, const float *row)
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

/* VL voxels from x: where they are in the row, from the line's column on. */
static inline V SUFFIX(row_place)(size_t x, const struct fbp_bp_line *l)
{
    const V t = VADD(VSET1((float)x - l->x_ref), VIOTA());

    return VMIN(VMAX(VFMA(t, VSET1(l->u1), VSET1(l->u0)), VSET1(l->u_lo)), VSET1(l->u_hi));
}

#define FBP_BP_ROW(name)                                                                           \
    void SUFFIX(fbp_bp_##name)(float *dst, size_t x0, size_t x1, const float *view, size_t stride, \
                               const struct fbp_bp_line *l)                                        \
    {                                                                                              \
        const float *row = view + (ptrdiff_t)stride * l->row + l->column;                          \
        size_t x = x0;                                                                             \
        for (; x + VL <= x1; x += VL)                                                              \
            VSTORE(dst + x, VADD(VLOAD(dst + x), SUFFIX(name)(SUFFIX(row_place)(x, l), row)));     \
        if (x < x1) {                                                                              \
            float rest[VL];                                                                        \
            VSTORE(rest, SUFFIX(name)(SUFFIX(row_place)(x, l), row));                              \
            for (size_t i = 0; x + i < x1; i++)                                                    \
                dst[x + i] += rest[i];                                                             \
        }                                                                                          \
    }

FBP_BP_ROW(nearest)
FBP_BP_ROW(cubic)
