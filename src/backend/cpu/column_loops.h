/** @file column_loops.h  Inner loops of the CPU kernel "column", which backprojects views along
 * columns of voxels in z, in float and in double (internal).  column.c calls them through struct
 * fbp_bp_dsp of simd.h.  The plain C loops below are the specification; line_loops.h explains which
 * file compiles which loops.
 * Used by: simd.h.
 */
#ifndef FBP_SRC_CPU_COLUMN_LOOPS_H
#define FBP_SRC_CPU_COLUMN_LOOPS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    FBP_COLUMN_BELOW = 16, /**< number of zeros before row 0 of a stored detector column */
    FBP_COLUMN_ABOVE = 2,  /**< least number of zeros after the last row of the column */
    /** the length of a stored detector column is a multiple of this number */
    FBP_COLUMN_MULTIPLE = 32,
    FBP_COLUMN_SLICES = 528, /**< greatest number of slices per call */
    FBP_COLUMN_VIEWS = 8     /**< greatest number of views per call */
};

/**
 * Parameters of one transposed view along one voxel column. Along it, detector column u and depth w
 * are constant, and the detector row is, with t = z - z_ref,
 *
 *     v = v0 + t dv,   0 < dv,
 *
 * relative to the integer row `row`.
 */
struct fbp_bp_column {
    const float *left;  /**< row 0 of column floor(u); the next begins `stride` samples later */
    const float *ahead; /**< row 0 of the column that is used next, to prefetch; never NULL */
    float wl, wr;       /**< weights (1 - a) / w^2, a / w^2 of the two columns; a: fraction of u */
    float v0, dv, v_lo, v_hi;
    int row; /**< row from which v counts, as an index of stored rows: 0 is the first stored row */
    bool aligned; /**< a sinogram image whose rows are slices of the volume */
    /** slices [z0, z1) of the grid that project onto the detector, and a few more on either side */
    size_t z0, z1;
};

/**
 *     dst[z - z0] += sum_k lerp(line_k, v_k(z)),  line_k = wl left_k + wr right_k,  z = z0 … z1-1
 *
 * The interpolated detector column line_k is used for a whole voxel column (iFDK; Chen et al.
 * 2019).
 *
 * dst     z1 - z0 <= FBP_COLUMN_SLICES voxels
 * n       number of views
 * stride  samples from column to column, a multiple of FBP_COLUMN_MULTIPLE
 */
typedef void fbp_bp_column_fn(float *dst, size_t z0, size_t z1, float z_ref,
                              const struct fbp_bp_column *views, size_t n, size_t stride);

/** Number of values beyond the end of a detector column of doubles that the loops may read. */
enum { FBP_COLUMN_DOUBLE_BEYOND = 8 };

/** Two neighbouring columns of a sinogram image in double, and their interpolation weights. */
struct fbp_bp_column_double {
    const double *left; /**< first slice's sample in the left column; the right one begins `stride`
                           samples later */
    double wl, wr;
};

/**
 * Adds two neighbouring columns of each sinogram image, weighted, to a voxel column:
 *
 *     dst[i] += sum_k wl_k left_k[i] + wr_k right_k[i],   i < n
 *
 * in the order of views.  The bits of a value do not depend on the other values.
 */
typedef void fbp_bp_column_double_fn(double *dst, size_t n,
                                     const struct fbp_bp_column_double *views, size_t n_views,
                                     size_t stride);

#if defined(VL) /* vectors */

/*
 * Operations: VL lanes per vector, V of floats, VI of int32, DL doubles per vector D, V*(), VI*()
 * and D*(), and
 *
 *   ADD_SMALL, ADD_MIDDLE, ADD_LARGE     add_plain() or add_split() with functions that permute a
 *                                        window of the line: window(p, i) = p[i] of each lane, and
 *                                        window_above(p, i) = p[i + 1]; NULL: window(p + 1, i)
 *   SMALL_STEP, MIDDLE_STEP, LARGE_STEP  greatest dv for which VL slices stay in the window
 *   deinterleave(a, b, &even, &odd)      every other one of the 2 VL floats a, b
 *
 * A block is VL slices from a multiple of VL on, whatever slices are requested: no bit of a voxel
 * depends on the slices beside it.
 */

enum {
    BLOCKS = (FBP_COLUMN_SLICES / VL + 1 + VL - 1) / VL * VL,
    /* Greatest number of samples of half an interpolated detector column (its even or odd rows): at
       most 4.1 rows per slice (LARGE_STEP), whole vectors at both ends, and one window. */
    HALF = ((FBP_COLUMN_SLICES + 16) * 5 / 2 + 63) / 64 * 64
};

/* Work arrays for a view: its interpolated column, and each block's position in it. */
struct column_line {
    int at[BLOCKS]; /* floor(scale * v) of each block (find_blocks()) */
    float fraction[BLOCKS];
    float line[2 * HALF] __attribute__((aligned(64)));
};

/* Store floor and fraction of scale * v for n blocks of slices, from z (relative to z_ref) on; v:
 * detector row, from c->row on, onto which the block's first slice projects. */
static inline void find_blocks(const struct fbp_bp_column *c, float scale, float z, size_t n,
                               struct column_line *w)
{
    for (size_t j = 0; j < n; j += VL) {
        const V t = VFMA(VIOTA(), VSET1(VL), VSET1(z + (float)(j * VL)));
        const V v = VMUL(VFMA(t, VSET1(c->dv), VSET1(c->v0)), VSET1(scale)), fv = VFLOOR(v);
        VISTORE(w->at + j, VTOI(fv));
        VSTORE(w->fraction + j, VSUB(v, fv));
    }
}

/* Returns VL samples, from row i on, of a detector column interpolated between two stored columns
 * with the weights wl and wr, and prefetches these rows of the view that is computed next. */
static inline V line_rows(const struct fbp_bp_column *c, V wl, V wr, ptrdiff_t i, size_t stride)
{
    __builtin_prefetch(c->ahead + i);
    __builtin_prefetch(c->ahead + stride + i);
    return VFMA(wr, VLOAD(c->left + stride + i), VMUL(wl, VLOAD(c->left + i)));
}

/* Add a view to n blocks of slices, from slice position z on, by linear interpolation in the
 * interpolated detector column w->line.  w->line begins at row `from`, so that loads from
 * stored columns are aligned; rows outside the stored columns are 0. */
static ALWAYS_INLINE void add_plain(const struct fbp_bp_column *c, float z, size_t n, size_t stride,
                                    struct column_line *w, float *sum,
                                    V (*window)(const float *p, VI i),
                                    V (*window_above)(const float *p, VI i))
{
    find_blocks(c, 1, z, n, w);
    const ptrdiff_t first = c->row + w->at[0] + FBP_COLUMN_BELOW;
    const ptrdiff_t from = (first & ~((ptrdiff_t)VL - 1)) - FBP_COLUMN_BELOW;
    const ptrdiff_t end = c->row + (w->at[n - 1] + 1) + (ptrdiff_t)((VL - 1) * c->dv) + 3;
    const ptrdiff_t above = (ptrdiff_t)stride - FBP_COLUMN_BELOW, stop = end < above ? end : above;
    const V wl = VSET1(c->wl), wr = VSET1(c->wr);
    ptrdiff_t i = from;
    float *out = w->line;

    for (; i < end && i < -FBP_COLUMN_BELOW; i += VL, out += VL)
        VSTORE(out, VSET1(0));
    for (; i < stop; i += VL, out += VL)
        VSTORE(out, line_rows(c, wl, wr, i, stride));
    for (; i < end; i += VL, out += VL)
        VSTORE(out, VSET1(0));

    const V steps = VMUL(VIOTA(), VSET1(c->dv));
    const float *line = w->line + (c->row - from);
    for (size_t j = 0; j < n; j++, sum += VL) {
        const float *p = line + w->at[j];
        const V x = VADD(steps, VSET1(w->fraction[j]));
        const VI k = VTOI(x);
        const V b = VSUB(x, VTOF(k)), lower = window(p, k);
        const V upper = window_above ? window_above(p, k) : window(p + 1, k);
        VSTORE(sum, VADD(VLOAD(sum), VFMA(b, VSUB(upper, lower), lower)));
    }
}

/* Add a view to n blocks of slices from z on, like add_plain(), from twice the interpolated column
 * whose even rows (from `from`) are stored apart from its odd rows, each of half the length.  With
 * x = v / 2, v lies between the even row 2 round(x) and the odd row 2 floor(x) + 1, at the fraction
 * 2 |x - round(x)|.  The upper half of a window's lanes counts from p + apart. */
static ALWAYS_INLINE void add_split(const struct fbp_bp_column *c, float z, size_t n, size_t stride,
                                    struct column_line *w, float *sum,
                                    V (*window)(const float *p, VI i, ptrdiff_t apart),
                                    bool is_apart)
{
    find_blocks(c, 0.5f, z, n, w);
    const ptrdiff_t two = (ptrdiff_t)2 * VL;
    const ptrdiff_t first = c->row + (ptrdiff_t)2 * w->at[0] + FBP_COLUMN_BELOW;
    const ptrdiff_t from = (first & ~(two - 1)) - FBP_COLUMN_BELOW;
    const ptrdiff_t end =
        c->row + (ptrdiff_t)2 * (w->at[n - 1] + 1) + (ptrdiff_t)((VL - 1) * c->dv) + 3;
    const ptrdiff_t above = (ptrdiff_t)stride - FBP_COLUMN_BELOW, stop = end < above ? end : above;
    const V wl = VSET1(2 * c->wl), wr = VSET1(2 * c->wr);
    ptrdiff_t i = from;
    float *out = w->line;

    for (; i < end && i < -FBP_COLUMN_BELOW; i += two, out += VL) {
        memset(out, 0, VL * sizeof *out);
        memset(out + HALF, 0, VL * sizeof *out);
    }
    for (; i < stop; i += two, out += VL) {
        const V a = line_rows(c, wl, wr, i, stride), b = line_rows(c, wl, wr, i + VL, stride);
        V e, o;
        deinterleave(a, b, &e, &o);
        VSTORE(out, e);
        VSTORE(out + HALF, o);
    }
    for (; i < end; i += two, out += VL) {
        memset(out, 0, VL * sizeof *out);
        memset(out + HALF, 0, VL * sizeof *out);
    }

    const ptrdiff_t d = c->row - from, half = d >> 1;
    const float *even = (d & 1 ? w->line + HALF : w->line) + half;
    const float *odd = d & 1 ? w->line + half + 1 : w->line + HALF + half;
    const ptrdiff_t apart = is_apart ? (ptrdiff_t)(0.25f * VL * c->dv) : 0;
    const V steps = VSUB(VMUL(VIOTA(), VSET1(0.5f * c->dv)), VMUL(VUPPER(), VSET1((float)apart)));
    for (size_t j = 0; j < n; j++, sum += VL) {
        const V x = VADD(steps, VSET1(w->fraction[j]));
        const VI k = VROUND(x);
        const V b = VABS(VSUB(x, VTOF(k)));
        const V e = window(even + w->at[j], k, apart), o = window(odd + w->at[j], VTOI(x), apart);
        VSTORE(sum, VFMA(b, VSUB(o, e), VFMA(e, VSET1(0.5f), VLOAD(sum))));
    }
}

/* Add a view to n blocks of slices, from z on, if slices lie too many rows apart for the windows of
 * add_plain() and add_split(): gathers samples of both columns. */
static inline void add_any(const struct fbp_bp_column *c, float z, size_t n, size_t stride,
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

/* Add parallel views whose rows coincide with the volume's slices, without interpolation between
 * rows, to `count` vectors of slices, which stay in registers, from slice position t on. */
static ALWAYS_INLINE void add_strip(const struct fbp_bp_column *views, size_t n, float t,
                                    size_t stride, float *sum, int count)
{
    V s[4];

    UNROLL
    for (int i = 0; i < count; i++)
        s[i] = VLOAD(sum + i * VL);
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const float *left = c->left + c->row + (ptrdiff_t)(c->v0 + t), *right = left + stride;
        const V wl = VSET1(c->wl), wr = VSET1(c->wr);
        UNROLL
        for (int i = 0; i < count; i++)
            s[i] = VADD(s[i], VFMA(wr, VLOAD(right + i * VL), VMUL(wl, VLOAD(left + i * VL))));
    }
    UNROLL
    for (int i = 0; i < count; i++)
        VSTORE(sum + i * VL, s[i]);
}

/* If all slices project onto stored rows, without fractions, in all views, add the views with
 * add_strip() and return true; else add nothing. */
static inline bool add_aligned(float *sum, size_t z0, size_t z1, size_t begin, float z_ref,
                               const struct fbp_bp_column *views, size_t n, size_t stride)
{
    const size_t blocks = (z1 - begin + VL - 1) / VL;
    const float t = (float)begin - z_ref;
    size_t j = 0;

    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const float first = c->v0 + t;
        const float last = (float)stride - FBP_COLUMN_BELOW - (float)(blocks * VL);
        if (!(c->aligned && c->dv >= 1 && c->dv <= 1 && first >= (float)(ptrdiff_t)first &&
              first <= (float)(ptrdiff_t)first && c->z0 <= z0 && c->z1 >= z1 &&
              first + (float)c->row >= -FBP_COLUMN_BELOW && first + (float)c->row <= last))
            return false;
    }
    for (; j + 4 <= blocks; j += 4)
        add_strip(views, n, t + (float)(j * VL), stride, sum + j * VL, 4);
    for (; j < blocks; j++)
        add_strip(views, n, t + (float)(j * VL), stride, sum + j * VL, 1);
    return true;
}

static void column(float *dst, size_t z0, size_t z1, float z_ref, const struct fbp_bp_column *views,
                   size_t n, size_t stride)
{
    struct column_line w;
    float sum[FBP_COLUMN_SLICES + 2 * VL] __attribute__((aligned(64)));
    const size_t begin = z0 / VL * VL;

    memcpy(sum + (z0 - begin), dst, (z1 - z0) * sizeof *dst);
    if (add_aligned(sum, z0, z1, begin, z_ref, views, n, stride)) {
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
            ADD_SMALL(c, z, blocks, stride, &w, to);
        else if (c->dv <= MIDDLE_STEP)
            ADD_MIDDLE(c, z, blocks, stride, &w, to);
        else if (c->dv <= LARGE_STEP)
            ADD_LARGE(c, z, blocks, stride, &w, to);
        else
            add_any(c, z, blocks, stride, to);
    }
    memcpy(dst, sum + (z0 - begin), (z1 - z0) * sizeof *dst);
}

/* Add all sinogram images to `count` vectors of doubles in registers, from slice `at` on. */
static ALWAYS_INLINE void add_strip_double(const struct fbp_bp_column_double *views, size_t n,
                                           size_t at, size_t stride, double *sum, int count)
{
    D s[4];

    UNROLL
    for (int i = 0; i < count; i++)
        s[i] = DLOAD(sum + i * DL);
    for (size_t k = 0; k < n; k++) {
        const double *left = views[k].left + at, *right = left + stride;
        const D wl = DSET1(views[k].wl), wr = DSET1(views[k].wr);
        UNROLL
        for (int i = 0; i < count; i++)
            s[i] = DADD(s[i], DFMA(wr, DLOAD(right + i * DL), DMUL(wl, DLOAD(left + i * DL))));
    }
    UNROLL
    for (int i = 0; i < count; i++)
        DSTORE(sum + i * DL, s[i]);
}

static void column_double(double *dst, size_t n, const struct fbp_bp_column_double *views,
                          size_t n_views, size_t stride)
{
    size_t i = 0;

    for (; i + (size_t)4 * DL <= n; i += (size_t)4 * DL)
        add_strip_double(views, n_views, i, stride, dst + i, 4);
    for (; i < n; i += DL) { /* the last vector may be incomplete */
        const size_t bytes = (n - i < DL ? n - i : DL) * sizeof *dst;
        double last[DL] = {0};
        memcpy(last, dst + i, bytes);
        add_strip_double(views, n_views, i, stride, last, 1);
        memcpy(dst + i, last, bytes);
    }
}

#elif defined(SUFFIX) /* plain C */

static void column(float *dst, size_t z0, size_t z1, float z_ref, const struct fbp_bp_column *views,
                   size_t n, size_t stride)
{
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const size_t first = c->z0 > z0 ? c->z0 : z0, end = c->z1 < z1 ? c->z1 : z1;
        const float *left = c->left, *right = left + stride;
        for (size_t z = first; z < end; z++) {
            const float v = clampf(c->v0 + ((float)z - z_ref) * c->dv, c->v_lo, c->v_hi);
            const float fv = floorf(v), b = v - fv;
            const ptrdiff_t i = (ptrdiff_t)fv + c->row;
            const float lower = c->wl * left[i] + c->wr * right[i];
            const float upper = c->wl * left[i + 1] + c->wr * right[i + 1];
            dst[z - z0] += lower + b * (upper - lower);
        }
    }
}

static void column_double(double *dst, size_t n, const struct fbp_bp_column_double *views,
                          size_t n_views, size_t stride)
{
    for (size_t k = 0; k < n_views; k++) {
        const double *left = views[k].left, *right = left + stride;
        for (size_t i = 0; i < n; i++)
            dst[i] += views[k].wl * left[i] + views[k].wr * right[i];
    }
}

#endif

#endif /* FBP_SRC_CPU_COLUMN_LOOPS_H */
