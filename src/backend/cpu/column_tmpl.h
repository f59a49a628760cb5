/*
 * Template for the shared-column kernels.  Parameters as in bp_tmpl.h, and
 *
 *   SMALL, MIDDLE, LARGE(name)   what samples a line by permuting registers: FBP_PLAIN with a
 *                         window(p, i) = p[i] for VL indices, and above(p, i) = p[i + 1], or
 *                         FBP_SPLIT with a window(p, i, apart), the upper half of whose lanes
 *                         counts from p + apart, and whether there is such an offset
 *   SMALL_STEP, MIDDLE_STEP, LARGE_STEP   greatest dv for which VL slices stay in it
 *   DEINTERLEAVE(a, b, even, odd)         every other one of the 2 VL floats a, b
 *
 * A block is VL slices from a multiple of VL on, whatever is asked for: no bit of a voxel depends
 * on the slices beside it.  fbp_bp_column_c is the specification.
 */

enum {
    SUFFIX(BLOCKS) = (FBP_COLUMN_SLICES / VL + 1 + VL - 1) / VL * VL,
    /* Half a line: 4.1 rows a slice, whole vectors at both ends, a window beyond. */
    SUFFIX(HALF) = ((FBP_COLUMN_SLICES + 16) * 5 / 2 + 63) / 64 * 64
};

/* Where the blocks of one view begin in its line: sample and fraction. */
struct SUFFIX(walk) {
    float dv;
    ptrdiff_t from; /* row that the line begins with */
    size_t n;
    int at[SUFFIX(BLOCKS)];
    float fraction[SUFFIX(BLOCKS)];
    float line[2 * SUFFIX(HALF)] __attribute__((aligned(64)));
};

/* n blocks from slice z on, in steps of 1 / scale rows from c->row. */
static inline void SUFFIX(place)(const struct fbp_bp_column *c, float scale, float z, size_t n,
                                 struct SUFFIX(walk) * w)
{
    w->dv = c->dv;
    w->n = n;
    for (size_t j = 0; j < n; j += VL) {
        const V t = VFMA(VIOTA(), VSET1(VL), VSET1(z + (float)(j * VL)));
        const V v = VMUL(VFMA(t, VSET1(c->dv), VSET1(c->v0)), VSET1(scale)), fv = VFLOOR(v);
        VISTORE(w->at + j, VTOI(fv));
        VSTORE(w->fraction + j, VSUB(v, fv));
    }
}

/* The rows that a walk of n blocks needs: [w->from, end), `from` so that loads are aligned. */
static inline ptrdiff_t SUFFIX(span)(const struct fbp_bp_column *c, ptrdiff_t rows_a_step,
                                     ptrdiff_t align, struct SUFFIX(walk) * w)
{
    const ptrdiff_t first = c->row + rows_a_step * w->at[0] + FBP_COLUMN_BELOW;

    w->from = (first & ~(align - 1)) - FBP_COLUMN_BELOW;
    return c->row + rows_a_step * (w->at[w->n - 1] + 1) + (ptrdiff_t)((VL - 1) * c->dv) + 3;
}

/* VL samples of the line wl left + wr right from row i on.  The next view's are asked
 * for meanwhile. */
static inline V SUFFIX(rows)(const struct fbp_bp_column *c, V wl, V wr, ptrdiff_t i, size_t stride)
{
    __builtin_prefetch(c->ahead + i);
    __builtin_prefetch(c->ahead + stride + i);
    return VFMA(wr, VLOAD(c->left + stride + i), VMUL(wl, VLOAD(c->left + i)));
}

/* The line over rows [w->from, end): zeros beside the stored ones. */
static inline void SUFFIX(build_plain)(const struct fbp_bp_column *c, ptrdiff_t end, size_t stride,
                                       struct SUFFIX(walk) * w)
{
    const ptrdiff_t above = (ptrdiff_t)stride - FBP_COLUMN_BELOW, stop = end < above ? end : above;
    const V wl = VSET1(c->wl), wr = VSET1(c->wr);
    ptrdiff_t i = w->from;
    float *line = w->line;

    for (; i < end && i < -FBP_COLUMN_BELOW; i += VL, line += VL)
        VSTORE(line, VSET1(0));
    for (; i < stop; i += VL, line += VL)
        VSTORE(line, SUFFIX(rows)(c, wl, wr, i, stride));
    for (; i < end; i += VL, line += VL)
        VSTORE(line, VSET1(0));
}

static inline float *SUFFIX(zeros)(float *p, size_t n)
{
    memset(p, 0, n * sizeof *p);
    return p + n;
}

/* Twice the line, its even rows (from w->from) apart from the odd ones. */
static inline void SUFFIX(build_split)(const struct fbp_bp_column *c, ptrdiff_t end, size_t stride,
                                       struct SUFFIX(walk) * w)
{
    const ptrdiff_t above = (ptrdiff_t)stride - FBP_COLUMN_BELOW, stop = end < above ? end : above;
    const V wl = VSET1(2 * c->wl), wr = VSET1(2 * c->wr);
    ptrdiff_t i = w->from;
    float *even = w->line, *odd = w->line + SUFFIX(HALF);

    for (; i < end && i < -FBP_COLUMN_BELOW; i += (ptrdiff_t)2 * VL) {
        even = SUFFIX(zeros)(even, VL);
        odd = SUFFIX(zeros)(odd, VL);
    }
    for (; i < stop; i += (ptrdiff_t)2 * VL, even += VL, odd += VL) {
        const V a = SUFFIX(rows)(c, wl, wr, i, stride), b = SUFFIX(rows)(c, wl, wr, i + VL, stride);
        V e, o;
        DEINTERLEAVE(a, b, e, o);
        VSTORE(even, e);
        VSTORE(odd, o);
    }
    for (; i < end; i += (ptrdiff_t)2 * VL) {
        even = SUFFIX(zeros)(even, VL);
        odd = SUFFIX(zeros)(odd, VL);
    }
}

/* sum += lerp(line, v), a window of the line from each block's first sample, and one a row on. */
#define FBP_PLAIN(name, window, above)                                                  \
    static inline void SUFFIX(name)(const struct fbp_bp_column *c, float z, size_t n,   \
                                    size_t stride, struct SUFFIX(walk) * w, float *sum) \
    {                                                                                   \
        SUFFIX(place)(c, 1, z, n, w);                                                   \
        SUFFIX(build_plain)(c, SUFFIX(span)(c, 1, VL, w), stride, w);                   \
        const V steps = VMUL(VIOTA(), VSET1(c->dv));                                    \
        const float *line = w->line + (c->row - w->from);                               \
        for (size_t j = 0; j < n; j++, sum += VL) {                                     \
            const float *p = line + w->at[j];                                           \
            const V x = VADD(steps, VSET1(w->fraction[j]));                             \
            const VI i = VTOI(x);                                                       \
            const V b = VSUB(x, VTOF(i)), lower = window(p, i), upper = above(p, i);    \
            VSTORE(sum, VADD(VLOAD(sum), VFMA(b, VSUB(upper, lower), lower)));          \
        }                                                                               \
    }

/*
 * The same from even and odd rows apart, each of half the span.  With x = v / 2, v lies between the
 * even row 2 round(x) and the odd row 2 floor(x) + 1, at 2 |x - round(x)| of the way.
 */
#define FBP_SPLIT(name, window, apart)                                                     \
    static inline void SUFFIX(name)(const struct fbp_bp_column *c, float z, size_t n,      \
                                    size_t stride, struct SUFFIX(walk) * w, float *sum)    \
    {                                                                                      \
        SUFFIX(place)(c, 0.5f, z, n, w);                                                   \
        SUFFIX(build_split)(c, SUFFIX(span)(c, 2, (ptrdiff_t)2 * VL, w), stride, w);       \
        const ptrdiff_t d = c->row - w->from, half = d >> 1;                               \
        const float *odds = w->line + SUFFIX(HALF);                                        \
        const float *even = (d & 1 ? odds : w->line) + half;                               \
        const float *odd = d & 1 ? w->line + half + 1 : odds + half;                       \
        const ptrdiff_t shift = (apart) ? (ptrdiff_t)(0.25f * VL * c->dv) : 0;             \
        const V steps =                                                                    \
            VSUB(VMUL(VIOTA(), VSET1(0.5f * c->dv)), VMUL(VUPPER(), VSET1((float)shift))); \
        for (size_t j = 0; j < n; j++, sum += VL) {                                        \
            const V x = VADD(steps, VSET1(w->fraction[j]));                                \
            const VI i = VROUND(x);                                                        \
            const V b = VABS(VSUB(x, VTOF(i)));                                            \
            const V e = window(even + w->at[j], i, shift);                                 \
            const V o = window(odd + w->at[j], VTOI(x), shift);                            \
            VSTORE(sum, VFMA(b, VSUB(o, e), VFMA(e, VSET1(0.5f), VLOAD(sum))));            \
        }                                                                                  \
    }

SMALL(add_small)
MIDDLE(add_middle)
LARGE(add_large)

/* Where the steps are too large for any window, straight from the two detector columns. */
static inline void SUFFIX(add_any)(const struct fbp_bp_column *c, float z, size_t n, size_t stride,
                                   float *sum)
{
    const V wl = VSET1(c->wl), wr = VSET1(c->wr);
    const float *left = c->left, *right = c->left + stride;

    for (size_t j = 0; j < n; j++, sum += VL) {
        const V t = VADD(VIOTA(), VSET1(z + (float)(j * VL)));
        const V vn = VFMA(t, VSET1(c->dv), VSET1(c->v0));
        const V v = VMIN(VMAX(vn, VSET1(c->v_lo)), VSET1(c->v_hi)), fv = VFLOOR(v);
        const VI i = VIADD(VTOI(fv), VISET1(c->row));
        const V lower = VFMA(wr, VGATHER(right, i), VMUL(wl, VGATHER(left, i)));
        const V upper = VFMA(wr, VGATHER(right + 1, i), VMUL(wl, VGATHER(left + 1, i)));
        VSTORE(sum, VADD(VLOAD(sum), VFMA(VSUB(v, fv), VSUB(upper, lower), lower)));
    }
}

/*
 * Parallel views whose rows are the volume's slices: nothing lies between two rows, and the samples
 * of the two detector columns are added as they are.
 */
static inline bool SUFFIX(is_aligned)(const struct fbp_bp_column *c, size_t z0, size_t z1,
                                      size_t begin, size_t end, float z_ref, size_t stride)
{
    const float first = c->v0 + ((float)begin - z_ref);
    const float last = (float)stride - FBP_COLUMN_BELOW - (float)(end - begin);

    return c->aligned && c->dv >= 1 && c->dv <= 1 && first >= (float)(ptrdiff_t)first &&
           first <= (float)(ptrdiff_t)first && c->z0 <= z0 && c->z1 >= z1 &&
           first + (float)c->row >= -FBP_COLUMN_BELOW && first + (float)c->row <= last;
}

enum { SUFFIX(STRIP) = 4 }; /* vectors that stay in registers while views are added */

/* Vector i from p on. */
#define FBP_VECTOR(p, i) ((p) + (size_t)(i)*VL)

/* One vector more of a view. */
#define FBP_ADD(s, left, right, i) \
    s = VADD(s, VFMA(wr, VLOAD(FBP_VECTOR(right, i)), VMUL(wl, VLOAD(FBP_VECTOR(left, i)))))

/* Vectors side by side, of all views. */
static inline void SUFFIX(add_strip)(const struct fbp_bp_column *views, size_t n_views, float t,
                                     size_t stride, float *sum)
{
    V s0 = VLOAD(sum), s1 = VLOAD(FBP_VECTOR(sum, 1));
    V s2 = VLOAD(FBP_VECTOR(sum, 2)), s3 = VLOAD(FBP_VECTOR(sum, 3));

    for (size_t k = 0; k < n_views; k++) {
        const struct fbp_bp_column *c = &views[k];
        const float *left = c->left + c->row + (ptrdiff_t)(c->v0 + t), *right = left + stride;
        const V wl = VSET1(c->wl), wr = VSET1(c->wr);
        FBP_ADD(s0, left, right, 0);
        FBP_ADD(s1, left, right, 1);
        FBP_ADD(s2, left, right, 2);
        FBP_ADD(s3, left, right, 3);
    }
    VSTORE(sum, s0);
    VSTORE(FBP_VECTOR(sum, 1), s1);
    VSTORE(FBP_VECTOR(sum, 2), s2);
    VSTORE(FBP_VECTOR(sum, 3), s3);
}

static inline void SUFFIX(add_vector)(const struct fbp_bp_column *views, size_t n_views, float t,
                                      size_t stride, float *sum)
{
    V s = VLOAD(sum);

    for (size_t k = 0; k < n_views; k++) {
        const struct fbp_bp_column *c = &views[k];
        const float *left = c->left + c->row + (ptrdiff_t)(c->v0 + t);
        const V wl = VSET1(c->wl), wr = VSET1(c->wr);
        FBP_ADD(s, left, left + stride, 0);
    }
    VSTORE(sum, s);
}

#undef FBP_ADD
#undef FBP_VECTOR

/* All views, if each of them is aligned. */
static inline bool SUFFIX(add_aligned)(float *sum, size_t z0, size_t z1, size_t begin, float z_ref,
                                       const struct fbp_bp_column *views, size_t n, size_t stride)
{
    const size_t blocks = (z1 - begin + VL - 1) / VL;
    const float t = (float)begin - z_ref;
    size_t j = 0;

    for (size_t k = 0; k < n; k++)
        if (!SUFFIX(is_aligned)(&views[k], z0, z1, begin, begin + blocks * VL, z_ref, stride))
            return false;
    for (; j + SUFFIX(STRIP) <= blocks; j += SUFFIX(STRIP))
        SUFFIX(add_strip)(views, n, t + (float)(j * VL), stride, sum + j * VL);
    for (; j < blocks; j++)
        SUFFIX(add_vector)(views, n, t + (float)(j * VL), stride, sum + j * VL);
    return true;
}

void SUFFIX(fbp_bp_column)(float *dst, size_t z0, size_t z1, float z_ref,
                           const struct fbp_bp_column *views, size_t n, size_t stride)
{
    struct SUFFIX(walk) walk;
    float sum[FBP_COLUMN_SLICES + 2 * VL] __attribute__((aligned(64)));
    const size_t begin = z0 / VL * VL;

    memcpy(sum + (z0 - begin), dst, (z1 - z0) * sizeof *dst);
    if (SUFFIX(add_aligned)(sum, z0, z1, begin, z_ref, views, n, stride)) {
        memcpy(dst, sum + (z0 - begin), (z1 - z0) * sizeof *dst);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const size_t from = (c->z0 > z0 ? c->z0 : z0) / VL * VL, end = c->z1 < z1 ? c->z1 : z1;
        if (from >= end)
            continue;
        const size_t blocks = (end - from + VL - 1) / VL;
        const float z = (float)from - z_ref;
        float *to = sum + (from - begin);
        if (c->dv <= SMALL_STEP)
            SUFFIX(add_small)(c, z, blocks, stride, &walk, to);
        else if (c->dv <= MIDDLE_STEP)
            SUFFIX(add_middle)(c, z, blocks, stride, &walk, to);
        else if (c->dv <= LARGE_STEP)
            SUFFIX(add_large)(c, z, blocks, stride, &walk, to);
        else
            SUFFIX(add_any)(c, z, blocks, stride, to);
    }
    memcpy(dst, sum + (z0 - begin), (z1 - z0) * sizeof *dst);
}
