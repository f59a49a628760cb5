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
    /* The zeros at both ends belong to it, as far as a slice may reach into them. */
    const float least = c->v_lo - (FBP_COLUMN_BELOW - 1), most = c->v_hi + FBP_COLUMN_ABOVE;
    /* Slices beside the detector are clamped to v_lo and v_hi where no window is used. */
    const float low = lo < least ? least : lo > c->v_hi ? c->v_hi : lo;
    const float high = hi < c->v_lo ? c->v_lo : hi > most ? most : hi;
    const V wl = VSET1(c->wl), wr = VSET1(c->wr);
    /* In samples from the start of the stored column, whole vectors, a window beyond the end. */
    const ptrdiff_t size = FBP_COLUMN_BELOW + (ptrdiff_t)n_rows + FBP_COLUMN_ABOVE;
    ptrdiff_t from = (ptrdiff_t)low + c->row + FBP_COLUMN_BELOW - 2;
    ptrdiff_t end = (ptrdiff_t)high + c->row + FBP_COLUMN_BELOW + (ptrdiff_t)2 * VL + 3;

    from = from < 0 ? 0 : from / VL * VL;
    end = end > size ? size : end;
    for (ptrdiff_t i = from; i < end; i += VL) {
        const V a = VLOAD(c->left - FBP_COLUMN_BELOW + i);
        const V b = VLOAD(c->left + stride - FBP_COLUMN_BELOW + i);
        VSTORE(line + i, VFMA(wr, b, VMUL(wl, a)));
    }
}

/* v of VL slices from z on, and the integer and fraction to interpolate with. */
static inline VI SUFFIX(place)(const struct SUFFIX(column_view) * c, V t, V *fraction)
{
    const V v = VFMA(t, VSET1(c->dv), VSET1(c->v0)), fv = VFLOOR(v);

    *fraction = VSUB(v, fv);
    return VTOI(fv);
}

/*
 * lerp(line, v) by permuting a window of the line.  No clamping: slices up to a vector beyond those
 * that see the detector meet the zeros at the ends of the line (FBP_COLUMN_BELOW, _ABOVE).
 */
#define FBP_WINDOW_SAMPLE(name, window)                                     \
    static inline V SUFFIX(name)(const struct SUFFIX(column_view) * c, V t) \
    {                                                                       \
        V b;                                                                \
        const VI i = SUFFIX(place)(c, t, &b);                               \
        const int first = VFIRST(i); /* dv > 0: the least */                \
        const float *base = c->line + first;                                \
        const VI in = VISUB(i, VISET1(first));                              \
        const V lower = window(base, in), upper = window(base + 1, in);     \
        return VFMA(b, VSUB(upper, lower), lower);                          \
    }

FBP_WINDOW_SAMPLE(sample_small, SMALL_WINDOW)
FBP_WINDOW_SAMPLE(sample_large, LARGE_WINDOW)

/* The same where the steps are too large for any window. */
static inline V SUFFIX(sample_any)(const struct SUFFIX(column_view) * c, V t)
{
    const V vn = VFMA(t, VSET1(c->dv), VSET1(c->v0));
    const V v = VMIN(VMAX(vn, VSET1(c->v_lo)), VSET1(c->v_hi));
    const V fv = VFLOOR(v), b = VSUB(v, fv);
    const VI i = VTOI(fv);
    const V lower = VGATHER(c->line, i), upper = VGATHER(c->line + 1, i);

    return VFMA(b, VSUB(upper, lower), lower);
}

/* Views by the size of their steps: what a view is depends on it and the voxel column alone, so the
 * order of the sum does too. */
struct SUFFIX(column_views) {
    struct SUFFIX(column_view) small[FBP_COLUMN_VIEWS], large[FBP_COLUMN_VIEWS],
        any[FBP_COLUMN_VIEWS];
    size_t n_small, n_large, n_any;
};

static inline void SUFFIX(add_view)(struct SUFFIX(column_views) * all,
                                    const struct SUFFIX(column_view) * c)
{
    if (c->dv <= SMALL_STEP)
        all->small[all->n_small++] = *c;
    else if (c->dv <= LARGE_STEP)
        all->large[all->n_large++] = *c;
    else
        all->any[all->n_any++] = *c;
}

#define FBP_ADD_SAMPLES(sum, views, n, sample)           \
    for (size_t k = 0; k < (n); k++)                     \
        if (z < (views)[k].z1 && z + VL > (views)[k].z0) \
    (sum) = VADD(sum, SUFFIX(sample)(&(views)[k], t))

void SUFFIX(fbp_bp_column)(float *dst, size_t z0, size_t z1, float z_ref,
                           const struct fbp_bp_column *views, size_t n, size_t n_rows, float *lines,
                           size_t stride)
{
    struct SUFFIX(column_views) all;

    all.n_small = all.n_large = all.n_any = 0;
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *v = &views[k];
        const size_t first = v->z0 > z0 ? v->z0 : z0, end = v->z1 < z1 ? v->z1 : z1;
        float *line = lines + k * stride;
        if (first >= end)
            continue;
        /* Whole vectors from z0 on, so lanes before `first` are computed too. */
        SUFFIX(build_line)(v, first > VL ? first - VL : 0, end + VL, z_ref, n_rows, line, stride);
        SUFFIX(add_view)
        (&all, &(struct SUFFIX(column_view)){line + FBP_COLUMN_BELOW + v->row, v->v0, v->dv,
                                             v->v_lo, v->v_hi, first, end});
    }
    for (size_t z = z0; z < z1; z += VL) {
        const V t = VADD(VSET1((float)z - z_ref), VIOTA());
        const size_t left = z1 - z;
        float rest[VL] = {0}, *to = dst + (z - z0);
        if (left < VL) {
            for (size_t i = 0; i < left; i++)
                rest[i] = to[i];
            to = rest;
        }
        V sum = VLOAD(to);
        FBP_ADD_SAMPLES(sum, all.small, all.n_small, sample_small);
        FBP_ADD_SAMPLES(sum, all.large, all.n_large, sample_large);
        FBP_ADD_SAMPLES(sum, all.any, all.n_any, sample_any);
        VSTORE(to, sum);
        for (size_t i = 0; to == rest && i < left; i++)
            dst[z - z0 + i] = rest[i];
    }
}
