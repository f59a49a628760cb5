/*
 * Template for the shared-column kernels.  Parameters as in bp_tmpl.h, and
 *
 *   SMALL_WINDOW, LARGE_WINDOW  p[i] for VL indices that span a small or large window of samples
 *   SMALL_STEP, LARGE_STEP      greatest dv for which VL steps stay in it
 *
 * fbp_bp_column_c is the specification.
 */

/* What is left of a view once its line is built. */
struct SUFFIX(column_view) {
    const float *line;
    float v0, dv, v_lo, v_hi;
    size_t z0, z1;
};

/* line = wl left + wr right, over the rows that slices [z0, z1) can touch. */
static inline void SUFFIX(build_line)(const struct fbp_bp_column *c, size_t z0, size_t z1,
                                      float z_ref, size_t n_rows, float *line, size_t stride)
{
    const float lo = c->v0 + ((float)z0 - z_ref) * c->dv, hi = c->v0 + ((float)z1 - z_ref) * c->dv;
    /* Both ends clamped both ways: a view that is all beside the detector reads its zeros. */
    const float low = lo < c->v_lo ? c->v_lo : lo > c->v_hi ? c->v_hi : lo;
    const float high = hi < c->v_lo ? c->v_lo : hi > c->v_hi ? c->v_hi : hi;
    const V wl = VSET1(c->wl), wr = VSET1(c->wr);
    /* In samples from the start of the stored column, whole vectors, a window beyond the end. */
    ptrdiff_t from = (ptrdiff_t)low + c->row + FBP_COLUMN_BELOW - 2;
    ptrdiff_t end = (ptrdiff_t)high + c->row + FBP_COLUMN_BELOW + 2 * VL + 3;
    const ptrdiff_t most = FBP_COLUMN_BELOW + (ptrdiff_t)n_rows + FBP_COLUMN_ABOVE;

    from = from < 0 ? 0 : from / VL * VL;
    end = end > most ? most : end;
    for (ptrdiff_t i = from; i < end; i += VL) {
        const V a = VLOAD(c->left - FBP_COLUMN_BELOW + i);
        const V b = VLOAD(c->left + stride - FBP_COLUMN_BELOW + i);
        VSTORE(line + i, VFMA(wr, b, VMUL(wl, a)));
    }
}

/* lerp(line, v) of VL slices from z on. */
static inline V SUFFIX(sample)(const struct SUFFIX(column_view) * c, V t)
{
    const V vn = VFMA(t, VSET1(c->dv), VSET1(c->v0));
    const V v = VMIN(VMAX(vn, VSET1(c->v_lo)), VSET1(c->v_hi));
    const V fv = VFLOOR(v), b = VSUB(v, fv);
    const VI i = VTOI(fv);
    V lower, upper;

    if (c->dv > LARGE_STEP) {
        lower = VGATHER(c->line, i);
        upper = VGATHER(c->line + 1, i);
    } else {
        const int first = VFIRST(i); /* dv > 0: the least */
        const float *base = c->line + first;
        const VI in = VISUB(i, VISET1(first));
        if (c->dv <= SMALL_STEP) {
            lower = SMALL_WINDOW(base, in);
            upper = SMALL_WINDOW(base + 1, in);
        } else {
            lower = LARGE_WINDOW(base, in);
            upper = LARGE_WINDOW(base + 1, in);
        }
    }
    return VFMA(b, VSUB(upper, lower), lower);
}

void SUFFIX(fbp_bp_column)(float *dst, size_t z0, size_t z1, float z_ref,
                           const struct fbp_bp_column *views, size_t n, size_t n_rows, float *lines,
                           size_t stride)
{
    struct SUFFIX(column_view) c[FBP_COLUMN_VIEWS];
    size_t m = 0;

    for (size_t k = 0; k < n; k++) {
        const size_t first = views[k].z0 > z0 ? views[k].z0 : z0;
        const size_t end = views[k].z1 < z1 ? views[k].z1 : z1;
        float *line = lines + k * stride;
        if (first >= end)
            continue;
        /* Whole vectors from z0 on, so lanes before `first` are computed too. */
        SUFFIX(build_line)
        (&views[k], first > VL ? first - VL : 0, end + VL, z_ref, n_rows, line, stride);
        c[m++] = (struct SUFFIX(column_view)){line + FBP_COLUMN_BELOW + views[k].row,
                                              views[k].v0,
                                              views[k].dv,
                                              views[k].v_lo,
                                              views[k].v_hi,
                                              first,
                                              end};
    }
    for (size_t z = z0; z < z1; z += VL) {
        const V t = VADD(VSET1((float)z - z_ref), VIOTA());
        float rest[VL], *to = dst + (z - z0);
        const size_t left = z1 - z;
        if (left < VL) {
            for (size_t i = 0; i < left; i++)
                rest[i] = to[i];
            for (size_t i = left; i < VL; i++)
                rest[i] = 0;
            to = rest;
        }
        V sum = VLOAD(to);
        for (size_t k = 0; k < m; k++)
            if (z < c[k].z1 && z + VL > c[k].z0)
                sum = VADD(sum, SUFFIX(sample)(&c[k], t));
        VSTORE(to, sum);
        for (size_t i = 0; to == rest && i < left; i++)
            dst[z - z0 + i] = rest[i];
    }
}
