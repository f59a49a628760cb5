/*
 * Template for the SIMD backprojection kernels.  Parameters:
 *
 *   SUFFIX(name)  name with the ISA suffix
 *   VL            floats per vector
 *   V, VI         float and int32 vector types, plus the V* operations
 *   TAPS(view, step, at, out)   the four samples around each lane: view[at], [at + 1],
 *                 [at + step], [at + step + 1]
 *
 * Included once per ISA file; fbp_bp_matrix_c is the specification.
 */

/* VL voxels from x: the increment of each. */
static inline V SUFFIX(increment)(float x, const float *view, VI stride, size_t step,
                                  const struct fbp_bp_line *l)
{
    const V t = VADD(VSET1(x - l->x_ref), VIOTA());
    const V r = VDIV(VSET1(1.0f), VFMA(t, VSET1(l->w1), VSET1(l->w0)));
    const V un = VMUL(VFMA(t, VSET1(l->u1), VSET1(l->u0)), r);
    const V vn = VMUL(VFMA(t, VSET1(l->v1), VSET1(l->v0)), r);
    const V u = VMIN(VMAX(un, VSET1(l->u_lo)), VSET1(l->u_hi));
    const V v = VMIN(VMAX(vn, VSET1(l->v_lo)), VSET1(l->v_hi));
    const V fu = VFLOOR(u), fv = VFLOOR(v), a = VSUB(u, fu), b = VSUB(v, fv);
    const VI row = VIADD(VTOI(fv), VISET1(l->row));
    const VI at = VIADD(VIMUL(row, stride), VIADD(VTOI(fu), VISET1(l->column)));
    V tap[4];
    TAPS(view, step, at, tap);
    const V lower = VFMA(a, VSUB(tap[1], tap[0]), tap[0]);
    const V upper = VFMA(a, VSUB(tap[3], tap[2]), tap[2]);
    return VMUL(VMUL(r, r), VFMA(b, VSUB(upper, lower), lower));
}

void SUFFIX(fbp_bp_matrix)(float *dst, size_t x0, size_t x1, const float *view, size_t stride,
                           const struct fbp_bp_line *l)
{
    const VI vstride = VISET1((int)stride);
    size_t x = x0;

    for (; x + VL <= x1; x += VL) {
        const V add = SUFFIX(increment)((float)x, view, vstride, stride, l);
        VSTORE(dst + x, VADD(VLOAD(dst + x), add));
    }
    if (x < x1) {
        /* Lanes beyond x1 are computed, clamped into the border, and dropped. */
        float rest[VL];
        VSTORE(rest, SUFFIX(increment)((float)x, view, vstride, stride, l));
        for (size_t i = 0; x + i < x1; i++)
            dst[x + i] += rest[i];
    }
}
