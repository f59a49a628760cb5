/** @file column_loops.h  Inner loops of the CPU kernels "column" and "tilted", which backproject
 * views along columns of voxels in z, in float, and "column" in double, too; and of "hierarchical",
 * which resamples views (internal).  column.c
 * calls them through struct fbp_bp_dsp of simd.h.  The plain C loops below are the specification;
 * line_loops.h explains which file compiles which loops. Used by: simd.h.
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

/** Greatest |slope| of a projected voxel column [detector columns per row] for which kernel
 * "tilted" omits the correction of fbp_bp_column_fn. */
static const float FBP_TILTED_SLOPE = 0.003f;

/**
 * Parameters of one transposed view along one voxel column. Along it, with t = z - z_ref, the
 * detector row is relative to the integer row `row`
 *
 *     v = v0 + t dv,          0 < dv, detector column u and depth w are constant     (column)
 *     v = (v0 + t dv) / w,    w = W0 + t W1,    u = u0 + slope v                     (tilted)
 *
 * Kernel "tilted" is for detectors that are slightly tilted against the z axis.  The projection of
 * a voxel column is then a straight line almost parallel to the detector columns, and w changes
 * little along the voxel column.
 */
struct fbp_bp_column {
    /** row 0 of detector column floor(u); tilted: of `column`.  The next detector column begins
     * `stride` samples later. */
    const float *left;
    const float *ahead; /**< row 0 of the column that is used next, to prefetch; never NULL */
    float wl, wr;       /**< column only: weights (1 - a) / w^2 and a / w^2 of the two detector
                           columns; a: fraction of u */
    float v0, dv, v_lo, v_hi;
    /** number of rows per slice, dv; tilted: an upper bound of it over the voxel column */
    float step;
    int row; /**< row from which v counts, as an index of stored rows: 0 is the first stored row */
    /** slices [z0, z1) of the grid that project onto the detector, and a few more on either side */
    size_t z0, z1;

    /* The following members are used by "tilted" only. */
    float u0;      /**< u at v = 0, minus `column` */
    float slope;   /**< detector columns per row */
    int column;    /**< floor of u at v = 0, limited to -1 … n_columns (columns of zeros) */
    int n_columns; /**< number of columns of the detector */
    /** coefficients of 1 / w = r[0] + t r[1] + t^2 r[2] + t^3 r[3]; relative error below 1e-7 */
    float r[4];
};

/**
 *     dst[z - z0] += sum_k lerp(line_k, v_k(z)),  line_k = wl left_k + wr right_k,  z = z0 … z1-1
 *
 * The interpolated detector column line_k is used for a whole voxel column (iFDK; Chen et al.
 * 2019).  "tilted" interpolates row r of the line at u = u0 + slope r, where the projection of the
 * voxel column crosses this row, and multiplies each value by 1 / w^2:
 *
 *     dst[z - z0] += sum_k lerp(line_k, v_k(z)) / w_k(z)^2
 *
 * Bilinear interpolation at (u, v) has a value greater by slope b (1 - b) (g - g').  b: fraction of
 * v; g, g': derivatives of the lower and the upper detector row along u.  This term is added if
 * |slope| > FBP_TILTED_SLOPE; for smaller slopes it is below 0.1 HU rms for a head.
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

/** Kernel "hierarchical": rows per vector of struct fbp_bp_rows, and greatest number of taps. */
enum { FBP_RESAMPLED_ROWS = 16, FBP_MOST_TAPS = 8 };

/** Rows at which columns of a view are resampled, by cubic convolution (Keys 1981), in vectors of
 * FBP_RESAMPLED_ROWS rows.  Row i of a vector is the sum over the taps t of weights[t][i] times row
 * at + i + t of the view.  Rows of the result are dv rows of the view apart.  If dv is not 1, row i
 * is off by (dv - 1) i, for which there are more taps than 4; unused taps have the weight 0. */
struct fbp_bp_rows {
    size_t n_taps; /**< at most FBP_MOST_TAPS */
    /** [vector] first row of the view */
    int at[FBP_COLUMN_SLICES / FBP_RESAMPLED_ROWS];
    /** [vector][tap][row] */
    float weights[FBP_COLUMN_SLICES / FBP_RESAMPLED_ROWS][FBP_MOST_TAPS][FBP_RESAMPLED_ROWS];
};

/** Returns cubic convolution's weight of a sample at distance x. */
static inline float fbp_cubic_weight(float x)
{
    const float a = x < 0 ? -x : x, far = a < 2 ? 2 - a : 0, near = a < 1 ? 1 - a : 0;

    return -0.5f * (1 - far) * far * far + (1 - 2 * near) * near * near;
}

/** Returns the number of taps for rows dv apart. */
static inline size_t fbp_taps_of(double dv)
{
    const double apart = (dv < 1 ? 1 - dv : dv - 1) * (FBP_RESAMPLED_ROWS - 1) + 1.01;

    return apart < FBP_MOST_TAPS - 4 ? 4 + (size_t)apart : FBP_MOST_TAPS;
}

/** Returns the row of the first tap of a vector whose first row lies at v. */
static inline int fbp_first_tap(double v, double dv, size_t n_rows)
{
    const double before = dv < 1 ? (1 - dv) * (FBP_RESAMPLED_ROWS - 1) : 0;
    const double least = -(2 * FBP_RESAMPLED_ROWS + FBP_MOST_TAPS), most = (double)n_rows;
    const double in = v - before - 1;
    const double at = in < least ? least : in > most ? most : in;

    return (int)(at + 65536) - 65536; /* floor */
}

/**
 * Sets `out` for n rows, a multiple of FBP_RESAMPLED_ROWS, from a view of n_rows rows.  Row i of
 * the result lies at row v0 + (first + i) dv of the view.  The members at[] of rows far outside the
 * view are limited such that the taps read the zeros stored there.
 */
typedef void fbp_bp_rows_fn(struct fbp_bp_rows *out, size_t n, double v0, double dv,
                            ptrdiff_t first, size_t n_rows);

/**
 * Computes one image column: sums four neighbouring columns of a view, times u_weights, and
 * resamples the sum at `rows` to out[0 ... n-1].
 *
 * column  row 0 of the first of the four columns
 * stride  samples from column to column of the view
 * ahead   samples from these columns to those that are used next, which are loaded into the cache
 */
typedef void fbp_bp_resample_fn(float *out, size_t n, const struct fbp_bp_rows *rows,
                                const float *column, size_t stride, const float u_weights[4],
                                size_t ahead);

/**
 * Sums n resampled views of one column to n_out images:
 *
 *     out[m * apart + i] = sum_k coefficients[m * n + k] in[k * stride + i],   i < stride
 *
 * in the order of views.  stride: samples from view to view, a multiple of FBP_COLUMN_MULTIPLE;
 * apart: samples from image to image.
 */
typedef void fbp_bp_combine_fn(float *out, size_t apart, size_t n_out, const float *in,
                               size_t stride, size_t n, const float *coefficients);

#if defined(SUFFIX)

/* Returns stored column `column` of the view, at row i; a column of zeros for columns beside the
 * detector. */
static ALWAYS_INLINE const float *column_at(const struct fbp_bp_column *c, int column, ptrdiff_t i,
                                            size_t stride)
{
    const int inside = column < -1 || column > c->n_columns ? c->n_columns : column;

    return c->left + (ptrdiff_t)stride * (inside - c->column) + i;
}

/* Returns the detector column, relative to c->column, at which the projected voxel column crosses
 * stored row i. */
static inline float tilted_u(const struct fbp_bp_column *c, ptrdiff_t i)
{
    return c->u0 + c->slope * (float)(i - c->row);
}

#endif

#if defined(VL) /* vectors */

/*
 * Operations: VL lanes per vector, V of floats, VI of int32, DL doubles per vector D, V*(), VI*()
 * and D*(), and
 *
 *   ADD_SMALL, ADD_MIDDLE, ADD_LARGE     add_plain() or add_split() with functions that permute a
 *                                        window of the line: window(p, i) = p[i] of each lane, and
 *                                        window_above(p, i) = p[i + 1]; NULL: window(p + 1, i)
 *   SMALL_STEP, MIDDLE_STEP, LARGE_STEP  greatest rows per slice (fbp_bp_column.step)
 *                                        for which VL slices stay in the window
 *   deinterleave(a, b, &even, &odd)      every other one of the 2 VL floats a, b
 *
 * A block is VL slices from a multiple of VL on, whatever slices are requested: no bit of a voxel
 * depends on the slices beside it.
 */

enum {
    BLOCKS = (FBP_COLUMN_SLICES / VL + 1 + VL - 1) / VL * VL,
    /* Greatest number of samples of half an interpolated detector column (its even or odd rows): at
       most 4.1 rows per slice (LARGE_STEP), whole vectors at both ends, and one window. */
    HALF = ((FBP_COLUMN_SLICES + 16) * 5 / 2 + 63) / 64 * 64,
    /* greatest number of slices per call of add_windows() with CORRECTED: the second half of
     * column_line.line then holds derivatives */
    CORRECTED_SLICES = 256
};

/* Projection of a voxel column. */
enum projection {
    UPRIGHT,  /* parallel to the detector columns (kernel "column") */
    TILTED,   /* a line with |slope| <= FBP_TILTED_SLOPE */
    CORRECTED /* a line with a greater slope; the correction of fbp_bp_column_fn is added */
};

/* Work arrays for a view: its interpolated column, and each block's position in it. */
struct column_line {
    int at[BLOCKS];         /* floor(scale * v) of each block (find_blocks()) */
    float fraction[BLOCKS]; /* scale * v - at[]; tilted: at[] as a float, not a fraction */
    float line[2 * HALF] __attribute__((aligned(64)));
};

/* Returns 1 / w at slice positions t (kernel "tilted"). */
static ALWAYS_INLINE V inverse_depth(const struct fbp_bp_column *c, V t)
{
    const V upper = VFMA(t, VSET1(c->r[3]), VSET1(c->r[2]));

    return VFMA(t, VFMA(t, upper, VSET1(c->r[1])), VSET1(c->r[0]));
}

/* Set w->at and w->fraction of n blocks of slices.  The first block begins at slice position z
 * (relative to z_ref); v: detector row, relative to c->row, onto which a block's first slice
 * projects. */
static ALWAYS_INLINE void find_blocks(const struct fbp_bp_column *c, float scale, float z, size_t n,
                                      struct column_line *w, bool tilted)
{
    for (size_t j = 0; j < n; j += VL) {
        const V t = VFMA(VIOTA(), VSET1(VL), VSET1(z + (float)(j * VL)));
        const V vn = VMUL(VFMA(t, VSET1(c->dv), VSET1(c->v0)), VSET1(scale));
        const V v = tilted ? VMUL(vn, inverse_depth(c, t)) : vn, fv = VFLOOR(v);
        VISTORE(w->at + j, VTOI(fv));
        VSTORE(w->fraction + j, tilted ? fv : VSUB(v, fv));
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

/* Returns VL samples of the projected voxel column, from row i on, if it crosses detector columns
 * within these rows.  row: row numbers of the lanes, relative to c->row; *difference: right minus
 * left detector column, per lane.  The loop in tilted_line() computes the same bits for a row, so a
 * sample does not depend on the other rows of its vector. */
static ALWAYS_INLINE V crossing_rows(const struct fbp_bp_column *c, ptrdiff_t i, V row,
                                     size_t stride, V *difference)
{
    const float first = floorf(tilted_u(c, i)), last = floorf(tilted_u(c, i + VL - 1));
    const float lo = first < last ? first : last, hi = first < last ? last : first;
    const V slope = VSET1(c->slope), between = VFLOOR(VADD(VSET1(c->u0), VMUL(slope, row)));
    V sum = VSET1(0);

    *difference = VSET1(0);
    for (float k = lo; k <= hi; k++) {
        const int column = c->column + (int)k;
        const V a = VFMA(row, slope, VSET1(c->u0 - k));
        const V left = VLOAD(column_at(c, column, i, stride));
        const V step = VSUB(VLOAD(column_at(c, column + 1, i, stride)), left);
        /* 1 for rows between these two columns, else 0 */
        const V here = VMAX(VSUB(VSET1(1), VABS(VSUB(between, VSET1(k)))), VSET1(0));
        sum = VFMA(here, VFMA(a, step, left), sum);
        *difference = VFMA(here, step, *difference);
    }
    return sum;
}

/* Store the detector rows [i, stop), interpolated at the projected voxel column, to `out`; stop is
 * rounded up to whole vectors.  If slopes_at > 0, also store slope * d/du of each to out +
 * slopes_at.  Rows whose samples lie between the same two detector columns are computed in one
 * loop, all others by crossing_rows(). */
static ALWAYS_INLINE void tilted_line(const struct fbp_bp_column *c, ptrdiff_t i, ptrdiff_t stop,
                                      size_t stride, float *out, ptrdiff_t slopes_at)
{
    const float per_column = 1 / fabsf(c->slope); /* rows per column, or infinity */
    const V slope = VSET1(c->slope);
    V row = VADD(VIOTA(), VSET1((float)(i - c->row)));

    while (i < stop) {
        const float first = tilted_u(c, i), lo = floorf(first);
        const float rows = (c->slope > 0 ? lo + 1 - first : first - lo) * per_column;
        /* last row between the same columns; the estimate may be wrong by rounding */
        ptrdiff_t last = rows < (float)(stop - i) ? i + (ptrdiff_t)rows : stop + VL;
        while (last > i && floorf(tilted_u(c, last)) != lo)
            last--;
        while (last < stop && floorf(tilted_u(c, last + 1)) == lo)
            last++;
        const float *p = column_at(c, c->column + (int)lo, 0, stride);
        const float *ahead = c->ahead + (p - c->left);
        const V u0 = VSET1(c->u0 - lo);
        for (; i < stop && i + VL - 1 <= last; i += VL, out += VL) {
            const V a = VFMA(row, slope, u0), left = VLOAD(p + i);
            const V step = VSUB(VLOAD(p + stride + i), left);
            __builtin_prefetch(ahead + i);
            __builtin_prefetch(ahead + stride + i);
            VSTORE(out, VFMA(a, step, left));
            if (slopes_at > 0)
                VSTORE(out + slopes_at, VMUL(slope, step));
            row = VADD(row, VSET1(VL));
        }
        if (i < stop && last < i + VL - 1) {
            V step;
            VSTORE(out, crossing_rows(c, i, row, stride, &step));
            if (slopes_at > 0)
                VSTORE(out + slopes_at, VMUL(slope, step));
            row = VADD(row, VSET1(VL));
            i += VL;
            out += VL;
        }
    }
}

/* Add a view to n blocks of slices, from slice position z on, by linear interpolation in the
 * interpolated detector column w->line, which begins at row `from`, because loads from stored
 * columns must be aligned.  Rows outside the stored columns are 0. */
static ALWAYS_INLINE void add_plain(const struct fbp_bp_column *c, float z, size_t n, size_t stride,
                                    struct column_line *w, float *sum, enum projection how,
                                    V (*window)(const float *p, VI i),
                                    V (*window_above)(const float *p, VI i))
{
    const bool tilted = how != UPRIGHT;
    find_blocks(c, 1, z, n, w, tilted);
    const ptrdiff_t first = c->row + w->at[0] + FBP_COLUMN_BELOW;
    const ptrdiff_t from = (first & ~((ptrdiff_t)VL - 1)) - FBP_COLUMN_BELOW;
    const ptrdiff_t end = c->row + (w->at[n - 1] + 1) + (ptrdiff_t)((VL - 1) * c->step) + 3;
    const ptrdiff_t above = (ptrdiff_t)stride - FBP_COLUMN_BELOW, stop = end < above ? end : above;
    const V wl = VSET1(c->wl), wr = VSET1(c->wr);
    ptrdiff_t i = from;
    float *out = w->line;

    for (; i < end && i < -FBP_COLUMN_BELOW; i += VL, out += VL) {
        VSTORE(out, VSET1(0));
        if (how == CORRECTED)
            VSTORE(out + HALF, VSET1(0));
    }
    if (tilted)
        tilted_line(c, i, stop, stride, out, how == CORRECTED ? HALF : 0);
    for (; i < stop; i += VL, out += VL)
        if (!tilted)
            VSTORE(out, line_rows(c, wl, wr, i, stride));
    for (; i < end; i += VL, out += VL) {
        VSTORE(out, VSET1(0));
        if (how == CORRECTED)
            VSTORE(out + HALF, VSET1(0));
    }

    const V steps = VMUL(VIOTA(), VSET1(c->dv));
    const float *line = w->line + (c->row - from);
    V t = VADD(VIOTA(), VSET1(z));
    for (size_t j = 0; j < n; j++, sum += VL, t = VADD(t, VSET1(VL))) {
        const float *p = line + w->at[j];
        const V at = VSET1(w->fraction[j]), r = tilted ? inverse_depth(c, t) : VSET1(1);
        const V x =
            tilted ? VSUB(VMUL(VFMA(t, VSET1(c->dv), VSET1(c->v0)), r), at) : VADD(steps, at);
        const VI k = VTOI(x);
        const V b = VSUB(x, VTOF(k)), lower = window(p, k);
        const V upper = window_above ? window_above(p, k) : window(p + 1, k);
        V value = VFMA(b, VSUB(upper, lower), lower);
        if (how == CORRECTED) {
            const V g = window(p + HALF, k);
            const V g_upper = window_above ? window_above(p + HALF, k) : window(p + HALF + 1, k);
            value = VFMA(VFNMA(b, b, b), VSUB(g, g_upper), value);
        }
        VSTORE(sum, tilted ? VFMA(VMUL(r, r), value, VLOAD(sum)) : VADD(VLOAD(sum), value));
    }
}

/* Add a view to n blocks of slices from z on, like add_plain(), from the interpolated detector
 * column (UPRIGHT: twice its values), whose even rows (from `from`) and odd rows are stored
 * separately, each of half the length.  With x = v / 2, v lies between the even row 2 round(x) and
 * the odd row 2 floor(x) + 1, at the fraction 2 |x - round(x)|.  The upper half of a window's lanes
 * counts from p + apart. */
static ALWAYS_INLINE void add_split(const struct fbp_bp_column *c, float z, size_t n, size_t stride,
                                    struct column_line *w, float *sum, enum projection how,
                                    V (*window)(const float *p, VI i, ptrdiff_t apart),
                                    bool is_apart)
{
    const bool tilted = how != UPRIGHT;
    const ptrdiff_t odd_at = how == CORRECTED ? HALF / 2 : HALF;
    find_blocks(c, 0.5f, z, n, w, tilted);
    const ptrdiff_t two = (ptrdiff_t)2 * VL;
    const ptrdiff_t first = c->row + (ptrdiff_t)2 * w->at[0] + FBP_COLUMN_BELOW;
    const ptrdiff_t from = (first & ~(two - 1)) - FBP_COLUMN_BELOW;
    const ptrdiff_t end =
        c->row + (ptrdiff_t)2 * (w->at[n - 1] + 1) + (ptrdiff_t)((VL - 1) * c->step) + 3;
    const ptrdiff_t above = (ptrdiff_t)stride - FBP_COLUMN_BELOW, stop = end < above ? end : above;
    const V wl = VSET1(2 * c->wl), wr = VSET1(2 * c->wr);
    ptrdiff_t i = from;
    float *out = w->line;

    const ptrdiff_t parts = how == CORRECTED ? 2 : 1;
    /* "tilted" only: 16 VL rows from tilted_line(), then their derivatives */
    float rows[2 * 16 * VL];
    const ptrdiff_t begin = i, run = (ptrdiff_t)16 * VL;
    for (; i < end; i += two, out += VL) {
        const bool stored = i >= -FBP_COLUMN_BELOW && i < stop;
        const float *at = rows + (i - begin) % run;
        if (tilted && stored && (at == rows || i - two < -FBP_COLUMN_BELOW)) {
            const ptrdiff_t full = i + run - (at - rows);
            tilted_line(c, i, stop < full ? stop : full, stride, rows + (at - rows),
                        how == CORRECTED ? run : 0);
        }
        for (ptrdiff_t part = 0; part < parts; part++) {
            V e = VSET1(0), o = VSET1(0);
            if (stored && tilted)
                deinterleave(VLOAD(at + part * run), VLOAD(at + part * run + VL), &e, &o);
            else if (stored)
                deinterleave(line_rows(c, wl, wr, i, stride), line_rows(c, wl, wr, i + VL, stride),
                             &e, &o);
            VSTORE(out + part * HALF, e);
            VSTORE(out + part * HALF + odd_at, o);
        }
    }

    const ptrdiff_t d = c->row - from, half = d >> 1;
    const float *even = (d & 1 ? w->line + odd_at : w->line) + half;
    const float *odd = d & 1 ? w->line + half + 1 : w->line + odd_at + half;
    const V upper_half = VUPPER(), half_dv = VSET1(0.5f * c->dv), half_v0 = VSET1(0.5f * c->v0);
    ptrdiff_t apart = is_apart ? (ptrdiff_t)(0.25f * VL * c->dv) : 0;
    const V steps = VSUB(VMUL(VIOTA(), half_dv), VMUL(upper_half, VSET1((float)apart)));
    V t = VADD(VIOTA(), VSET1(z));
    for (size_t j = 0; j < n; j++, sum += VL, t = VADD(t, VSET1(VL))) {
        const V r = tilted ? inverse_depth(c, t) : VSET1(1);
        V x = VADD(steps, VSET1(w->fraction[j]));
        if (tilted) {
            x = VSUB(VMUL(VFMA(t, half_dv, half_v0), r), VSET1(w->fraction[j]));
            apart = is_apart ? (ptrdiff_t)x[VL / 2] : 0;
            x = is_apart ? VSUB(x, VMUL(upper_half, VSET1((float)apart))) : x;
        }
        const VI k = VROUND(x), l = VTOI(x);
        const V signed_b = VSUB(x, VTOF(k)), b = VABS(signed_b);
        const float *p = even + w->at[j], *q = odd + w->at[j];
        const V e = window(p, k, apart), o = window(q, l, apart);
        V value = tilted ? VFMA(VADD(b, b), VSUB(o, e), e) : VSET1(0);
        if (how == CORRECTED) { /* the even row is the lower one if signed_b > 0 */
            const V s = VADD(signed_b, signed_b);
            value = VFMA(VFNMA(s, VABS(s), s),
                         VSUB(window(p + HALF, k, apart), window(q + HALF, l, apart)), value);
        }
        if (tilted)
            VSTORE(sum, VFMA(VMUL(r, r), value, VLOAD(sum)));
        else
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
    V s[8];

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
        if (!(c->dv >= 1 && c->dv <= 1 && first >= (float)(ptrdiff_t)first &&
              first <= (float)(ptrdiff_t)first && c->z0 <= z0 && c->z1 >= z1 &&
              first + (float)c->row >= -FBP_COLUMN_BELOW && first + (float)c->row <= last))
            return false;
    }
    for (; j + 8 <= blocks; j += 8)
        add_strip(views, n, t + (float)(j * VL), stride, sum + j * VL, 8);
    for (; j + 4 <= blocks; j += 4)
        add_strip(views, n, t + (float)(j * VL), stride, sum + j * VL, 4);
    for (; j < blocks; j++)
        add_strip(views, n, t + (float)(j * VL), stride, sum + j * VL, 1);
    return true;
}

/* Add a view to n blocks of slices, by the smallest window that holds a block's rows. */
static ALWAYS_INLINE void add_windows(const struct fbp_bp_column *c, float z, size_t n,
                                      size_t stride, struct column_line *w, float *sum,
                                      enum projection how)
{
    if (c->step <= SMALL_STEP)
        ADD_SMALL(c, z, n, stride, w, sum, how);
    else if (c->step <= MIDDLE_STEP)
        ADD_MIDDLE(c, z, n, stride, w, sum, how);
    else if (how != UPRIGHT || c->step <= LARGE_STEP)
        ADD_LARGE(c, z, n, stride, w, sum, how);
    else
        add_any(c, z, n, stride, sum);
}

static ALWAYS_INLINE void add_columns(float *dst, size_t z0, size_t z1, float z_ref,
                                      const struct fbp_bp_column *views, size_t n, size_t stride,
                                      bool tilted)
{
    struct column_line w;
    float sum[FBP_COLUMN_SLICES + 2 * VL] __attribute__((aligned(64)));
    const size_t begin = z0 / VL * VL;

    memcpy(sum + (z0 - begin), dst, (z1 - z0) * sizeof *dst);
    if (!tilted && add_aligned(sum, z0, z1, begin, z_ref, views, n, stride)) {
        memcpy(dst, sum + (z0 - begin), (z1 - z0) * sizeof *dst);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const size_t from = (c->z0 > z0 ? c->z0 : z0) / VL * VL, end = c->z1 < z1 ? c->z1 : z1;
        if (from >= end)
            continue;
        const bool corrected = tilted && fabsf(c->slope) > FBP_TILTED_SLOPE;
        const size_t blocks = (end - from + VL - 1) / VL;
        const size_t most = corrected ? CORRECTED_SLICES / VL : blocks;
        for (size_t j = 0; j < blocks; j += most) {
            const size_t now = blocks - j < most ? blocks - j : most, at = from + j * VL;
            const float z = (float)at - z_ref;
            float *to = sum + (at - begin);
            if (corrected)
                add_windows(c, z, now, stride, &w, to, CORRECTED);
            else
                add_windows(c, z, now, stride, &w, to, tilted ? TILTED : UPRIGHT);
        }
    }
    memcpy(dst, sum + (z0 - begin), (z1 - z0) * sizeof *dst);
}

static void column(float *dst, size_t z0, size_t z1, float z_ref, const struct fbp_bp_column *views,
                   size_t n, size_t stride)
{
    add_columns(dst, z0, z1, z_ref, views, n, stride, false);
}

static void tilted(float *dst, size_t z0, size_t z1, float z_ref, const struct fbp_bp_column *views,
                   size_t n, size_t stride)
{
    add_columns(dst, z0, z1, z_ref, views, n, stride, true);
}

static void set_rows(struct fbp_bp_rows *out, size_t n, double v0, double dv, ptrdiff_t first,
                     size_t n_rows)
{
    const V one = VSET1(1), two = VSET1(2), zero = VSET1(0);

    out->n_taps = fbp_taps_of(dv);
    for (size_t j = 0; j < n / FBP_RESAMPLED_ROWS; j++) {
        const double v = v0 + (double)(first + (ptrdiff_t)(j * FBP_RESAMPLED_ROWS)) * dv;
        out->at[j] = fbp_first_tap(v, dv, n_rows);
        for (size_t t = 0; t < out->n_taps; t++)
            for (size_t i = 0; i < FBP_RESAMPLED_ROWS; i += VL) {
                /* distance of tap t, row at + i + t, from v + i dv */
                const V lane = VADD(VIOTA(), VSET1((float)i));
                const V x = VFMA(lane, VSET1((float)(dv - 1)),
                                 VSET1((float)(v - (double)(out->at[j] + (int)t))));
                const V far = VMAX(VSUB(two, VABS(x)), zero), near = VMAX(VSUB(far, one), zero);
                const V outer = VMUL(VMUL(VMUL(far, far), VSET1(-0.5f)), VSUB(one, far));
                const V inner = VMUL(VMUL(near, near), VSUB(one, VADD(near, near)));
                VSTORE(out->weights[j][t] + i, VADD(outer, inner));
            }
    }
}

/* Resample one vector of rows. */
static ALWAYS_INLINE void resample_rows(float *out, const float *line,
                                        const float (*weights)[FBP_RESAMPLED_ROWS], size_t n_taps)
{
    V sum[FBP_RESAMPLED_ROWS / VL];

    UNROLL
    for (int i = 0; i < FBP_RESAMPLED_ROWS / VL; i++)
        sum[i] = VMUL(VLOAD(weights[0] + i * VL), VLOAD(line + i * VL));
    for (size_t t = 1; t < n_taps; t++) {
        UNROLL
        for (int i = 0; i < FBP_RESAMPLED_ROWS / VL; i++)
            sum[i] = VFMA(VLOAD(weights[t] + i * VL), VLOAD(line + t + i * VL), sum[i]);
    }
    UNROLL
    for (int i = 0; i < FBP_RESAMPLED_ROWS / VL; i++)
        VSTORE(out + i * VL, sum[i]);
}

static void resample(float *out, size_t n, const struct fbp_bp_rows *rows, const float *column,
                     size_t stride, const float u_weights[4], size_t ahead)
{
    const size_t count = n / FBP_RESAMPLED_ROWS;
    const ptrdiff_t begin = rows->at[0],
                    end = rows->at[count - 1] + FBP_RESAMPLED_ROWS + FBP_MOST_TAPS;
    const V w0 = VSET1(u_weights[0]), w1 = VSET1(u_weights[1]);
    const V w2 = VSET1(u_weights[2]), w3 = VSET1(u_weights[3]);
    float line[FBP_COLUMN_SLICES * 3 / 2] __attribute__((aligned(64)));

    for (ptrdiff_t i = begin; i < end; i += VL) {
        const float *p = column + i;
        V sum = VMUL(w0, VLOAD(p));
        __builtin_prefetch(p + ahead);
        __builtin_prefetch(p + 3 * stride + ahead);
        sum = VFMA(w1, VLOAD(p + stride), sum);
        sum = VFMA(w2, VLOAD(p + 2 * stride), sum);
        VSTORE(line + (i - begin), VFMA(w3, VLOAD(p + 3 * stride), sum));
    }
    for (size_t j = 0; j < count; j++)
        resample_rows(out + j * FBP_RESAMPLED_ROWS, line + (rows->at[j] - begin), rows->weights[j],
                      rows->n_taps);
}

/* Sum 2 vectors of rows of all views to `count` images. */
static ALWAYS_INLINE void combine_some(float *out, size_t apart, const float *in, size_t stride,
                                       size_t n, const float *coefficients, int count)
{
    V low[6], high[6];

    UNROLL
    for (int m = 0; m < count; m++)
        low[m] = high[m] = VSET1(0);
    for (size_t k = 0; k < n; k++, in += stride) {
        const V a = VLOAD(in), b = VLOAD(in + VL);
        UNROLL
        for (int m = 0; m < count; m++) {
            const V c = VSET1(coefficients[(size_t)m * n + k]);
            low[m] = VFMA(c, a, low[m]);
            high[m] = VFMA(c, b, high[m]);
        }
    }
    UNROLL
    for (int m = 0; m < count; m++) {
        VSTORE(out + (size_t)m * apart, low[m]);
        VSTORE(out + (size_t)m * apart + VL, high[m]);
    }
}

static void combine(float *out, size_t apart, size_t n_out, const float *in, size_t stride,
                    size_t n, const float *coefficients)
{
    for (size_t i = 0; i < stride; i += (size_t)2 * VL) {
        size_t m = 0;
        for (; m + 6 <= n_out; m += 6)
            combine_some(out + m * apart + i, apart, in + i, stride, n, coefficients + m * n, 6);
        for (; m + 2 <= n_out; m += 2)
            combine_some(out + m * apart + i, apart, in + i, stride, n, coefficients + m * n, 2);
        if (m < n_out)
            combine_some(out + m * apart + i, apart, in + i, stride, n, coefficients + m * n, 1);
    }
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

static void set_rows(struct fbp_bp_rows *out, size_t n, double v0, double dv, ptrdiff_t first,
                     size_t n_rows)
{
    out->n_taps = fbp_taps_of(dv);
    for (size_t j = 0; j < n / FBP_RESAMPLED_ROWS; j++) {
        const double v = v0 + (double)(first + (ptrdiff_t)(j * FBP_RESAMPLED_ROWS)) * dv;
        out->at[j] = fbp_first_tap(v, dv, n_rows);
        for (size_t t = 0; t < out->n_taps; t++)
            for (size_t i = 0; i < FBP_RESAMPLED_ROWS; i++)
                out->weights[j][t][i] = fbp_cubic_weight(
                    (float)(v - (double)(out->at[j] + (int)t)) + (float)i * (float)(dv - 1));
    }
}

static void resample(float *out, size_t n, const struct fbp_bp_rows *rows, const float *column,
                     size_t stride, const float u_weights[4], size_t ahead)
{
    (void)ahead;
    for (size_t i = 0; i < n; i++) {
        const size_t j = i / FBP_RESAMPLED_ROWS, lane = i % FBP_RESAMPLED_ROWS;
        const float *p = column + rows->at[j] + lane;
        out[i] = 0;
        for (size_t t = 0; t < rows->n_taps; t++, p++)
            out[i] += rows->weights[j][t][lane] *
                      (u_weights[0] * p[0] + u_weights[1] * p[stride] +
                       u_weights[2] * p[2 * stride] + u_weights[3] * p[3 * stride]);
    }
}

static void combine(float *out, size_t apart, size_t n_out, const float *in, size_t stride,
                    size_t n, const float *coefficients)
{
    for (size_t m = 0; m < n_out; m++)
        for (size_t i = 0; i < stride; i++) {
            float sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += coefficients[m * n + k] * in[k * stride + i];
            out[m * apart + i] = sum;
        }
}

/* Returns stored row i of the interpolated detector column of kernel "tilted"; *step: difference of
 * the columns beside it. */
static float tilted_row(const struct fbp_bp_column *c, ptrdiff_t i, size_t stride, float *step)
{
    const float u = tilted_u(c, i), lo = floorf(u);
    const float *p = column_at(c, c->column + (int)lo, i, stride);

    *step = p[stride] - p[0];
    return p[0] + (u - lo) * *step;
}

static void tilted(float *dst, size_t z0, size_t z1, float z_ref, const struct fbp_bp_column *views,
                   size_t n, size_t stride)
{
    for (size_t k = 0; k < n; k++) {
        const struct fbp_bp_column *c = &views[k];
        const size_t first = c->z0 > z0 ? c->z0 : z0, end = c->z1 < z1 ? c->z1 : z1;
        for (size_t z = first; z < end; z++) {
            const float t = (float)z - z_ref;
            const float r = c->r[0] + t * (c->r[1] + t * (c->r[2] + t * c->r[3]));
            const float v = clampf((c->v0 + t * c->dv) * r, c->v_lo, c->v_hi);
            const float fv = floorf(v);
            const ptrdiff_t i = (ptrdiff_t)fv + c->row;
            float g, above;
            const float lower = tilted_row(c, i, stride, &g);
            const float upper = tilted_row(c, i + 1, stride, &above), b = v - fv;
            float value = lower + b * (upper - lower);
            if (fabsf(c->slope) > FBP_TILTED_SLOPE)
                value += c->slope * b * (1 - b) * (g - above);
            dst[z - z0] += r * r * value;
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
