/*
 * Template of the functions of lanes.h (filter, gather, scatter) for one length of vectors.
 * Parameters:
 *
 *   VL                      floats per vector
 *   V                       vector type with the operators + - *
 *   VSET1(a)                a in all lanes
 *   VFMA(a, b, c)           a b + c, and VFNMA(a, b, c) c - a b
 *   VZIP(a, b, lo, hi)      lo = a0 b0 a1 b1 …, hi the rest
 *   VLOADU(p), VSTOREU(p, a)  for p that is not aligned
 *   TABLE                   name of the struct fbp_lanes that is defined
 *
 * The transform cuts blocks by decimation in frequency, and the inverse joins them by decimation in
 * time (Van Loan, Computational Frameworks for the FFT, 1992, 1.4 and 1.9).
 * Used by: lanes.c, lanes_avx2.c, lanes_avx512.c.
 */

#define S float
#include "fft/small_tmpl.h"

enum { POINT = 2 * VL, MOST = 8 };

/* Direction of a transform: THERE: forward; BACK: inverse, which is the forward transform with real
 * and imaginary parts exchanged.  The value is the offset [floats], in a point (VL real parts, VL
 * imaginary parts), of the parts that count as real. */
enum way { THERE = 0, BACK = VL };

INLINE void load(float *x, size_t m, size_t n, enum way way, V *re, V *im)
{
    UNROLL
    for (size_t k = 0; k < n; k++, x += m * POINT) {
        re[k] = *(V *)(void *)(x + way);
        im[k] = *(V *)(void *)(x + VL - way);
    }
}

INLINE void store(float *x, size_t m, size_t n, enum way way, const V *re, const V *im)
{
    UNROLL
    for (size_t k = 0; k < n; k++, x += m * POINT) {
        *(V *)(void *)(x + way) = re[k];
        *(V *)(void *)(x + VL - way) = im[k];
    }
}

INLINE void cut(size_t radix, const struct fbp_lanes_level *l, float *x)
{
    const float *w = l->turn;

    for (size_t p = 0; p < l->m; p++, x += POINT, w += 2 * (radix - 1)) {
        V re[MOST], im[MOST];
        load(x, l->m, radix, THERE, re, im);
        dft(radix, re, im);
        turn_all(radix, w, re, im);
        store(x, l->m, radix, THERE, re, im);
    }
}

/* One level of the inverse transform: join `radix` blocks of m = l->m points to one block, and
 * store only its first wanted * m points. */
INLINE void join(size_t radix, size_t wanted, const struct fbp_lanes_level *l, float *x)
{
    const float *w = l->turn;

    for (size_t p = 0; p < l->m; p++, x += POINT, w += 2 * (radix - 1)) {
        V re[MOST], im[MOST];
        load(x, l->m, radix, BACK, re, im);
        turn_all(radix, w, re, im);
        dft(radix, re, im);
        store(x, l->m, wanted, BACK, re, im);
    }
}

/* First level of the transform: cut whole rows into `radix` blocks (2 or 4); the rows' second half
 * counts as zeros and is not read. */
INLINE void cut_half(size_t radix, const struct fbp_lanes_level *l, float *x)
{
    const float *w = l->turn;

    for (size_t p = 0; p < l->m; p++, x += POINT, w += 2 * (radix - 1)) {
        V re[4], im[4];
        load(x, l->m, radix / 2, THERE, re, im);
        if (radix == 2) {
            re[1] = re[0];
            im[1] = im[0];
        } else {
            const V r = re[1], i = im[1];
            re[3] = re[0] - i;
            im[3] = im[0] + r;
            re[2] = re[0] - r;
            im[2] = im[0] - i;
            re[1] = re[0] + i;
            im[1] = im[0] - r;
            re[0] = re[0] + r;
            im[0] = im[0] + i;
        }
        turn_all(radix, w, re, im);
        store(x, l->m, radix, THERE, re, im);
    }
}

/* Transform n of the smallest blocks (leaves), multiply them by the filter's response, and
 * transform them back. */
INLINE void leaves(size_t radix, bool has_phase, float *x, size_t n, const float *response)
{
    for (; n > 0; n--, x += radix * POINT, response += (has_phase ? 2 : 1) * radix) {
        V re[MOST], im[MOST];
        load(x, 1, radix, THERE, re, im);
        dft(radix, re, im);
        UNROLL
        for (size_t k = 0; k < radix; k++) {
            if (has_phase) {
                turn(re + k, im + k, response + 2 * k);
            } else {
                re[k] = re[k] * VSET1(response[k]);
                im[k] = im[k] * VSET1(response[k]);
            }
        }
        dft(radix, im, re);
        store(x, 1, radix, THERE, re, im);
    }
}

#define LEAVES(radix)                                                     \
    static void leaves_##radix(float *x, size_t n, const float *response) \
    {                                                                     \
        leaves(radix, false, x, n, response);                             \
    }                                                                     \
    static void phases_##radix(float *x, size_t n, const float *response) \
    {                                                                     \
        leaves(radix, true, x, n, response);                              \
    }

LEAVES(1)
LEAVES(2)
LEAVES(3)
LEAVES(4)
LEAVES(5)
LEAVES(8)

static void (*const all_leaves[MOST + 1][2])(float *x, size_t n, const float *response) = {
    [1] = {leaves_1, phases_1}, [2] = {leaves_2, phases_2}, [3] = {leaves_3, phases_3},
    [4] = {leaves_4, phases_4}, [5] = {leaves_5, phases_5}, [8] = {leaves_8, phases_8}};

/* Filter the blocks that the level before `level` has cut from one block: transform them by all
 * further levels, multiply by the response, and transform back.  at: position of the first of these
 * blocks in the row [points]. */
static void filter_blocks(const struct fbp_lanes_plan *f, unsigned level, float *x, size_t at)
{
    const struct fbp_lanes_level *l = &f->level[level];

    if (level == f->n_levels) {
        const struct fbp_lanes_level *above = l - 1;
        all_leaves[f->leaf][f->has_phase](x, above->radix,
                                          f->response + (f->has_phase ? 2 : 1) * at);
        return;
    }
    const size_t n = l[-1].radix, points = l[-1].m;
    for (size_t k = 0; k < n; k++, x += points * POINT, at += points) {
        if (l->radix == 4)
            cut(4, l, x);
        else if (l->radix == 5)
            cut(5, l, x);
        else
            cut(3, l, x);
        filter_blocks(f, level + 1, x, at);
        if (l->radix == 4)
            join(4, 4, l, x);
        else if (l->radix == 5)
            join(5, 5, l, x);
        else
            join(3, 3, l, x);
    }
}

static void filter(const struct fbp_lanes_plan *f, float *x)
{
    const struct fbp_lanes_level *first = &f->level[0];

    if (first->radix == 2)
        cut_half(2, first, x);
    else
        cut_half(4, first, x);
    filter_blocks(f, 1, x, 0);
    if (first->radix == 2)
        join(2, 1, first, x);
    else
        join(4, 2, first, x);
}

/* Transpose a square of VL vectors: interleaving the first half of the vectors with the second half
 * rotates the bits of each element's index by one; after log2(VL) rotations, rows and columns are
 * exchanged. */
INLINE void transpose(V a[VL])
{
    UNROLL
    for (size_t step = 1; step < VL; step *= 2) {
        V b[VL];
        UNROLL
        for (size_t i = 0; i < VL / 2; i++)
            VZIP(a[i], a[i + VL / 2], b[2 * i], b[2 * i + 1]);
        UNROLL
        for (size_t i = 0; i < VL; i++)
            a[i] = b[i];
    }
}

static void gather(const float *const *a, const float *const *b, const float *scale_a,
                   const float *scale_b, size_t n, float *x)
{
    for (int part = 0; part < 2; part++, x += VL) {
        const float *const *rows = part ? b : a, *scale = part ? scale_b : scale_a;
        size_t i = 0;
        for (; i + VL <= n; i += VL) {
            V v[VL];
            UNROLL
            for (size_t l = 0; l < VL; l++)
                v[l] = VLOADU(rows[l] + i) * VSET1(scale[l]);
            transpose(v);
            UNROLL
            for (size_t l = 0; l < VL; l++)
                *(V *)(void *)(x + (i + l) * POINT) = v[l];
        }
        for (; i < n; i++)
            for (size_t l = 0; l < VL; l++)
                x[i * POINT + l] = rows[l][i] * scale[l];
    }
}

static void scatter(const float *x, const float *scale_a, const float *scale_b, size_t n,
                    float *const *a, float *const *b)
{
    for (int part = 0; part < 2; part++, x += VL) {
        const float *scale = part ? scale_b : scale_a;
        float *const *rows = part ? b : a;
        size_t i = 0;
        for (; i + VL <= n; i += VL) {
            V v[VL];
            UNROLL
            for (size_t l = 0; l < VL; l++)
                v[l] = *(const V *)(const void *)(x + (i + l) * POINT);
            transpose(v);
            UNROLL
            for (size_t l = 0; l < VL; l++)
                VSTOREU(rows[l] + i, v[l] * VSET1(scale[l]));
        }
        for (; i < n; i++)
            for (size_t l = 0; l < VL; l++)
                rows[l][i] = x[i * POINT + l] * scale[l];
    }
}

const struct fbp_lanes TABLE = {VL, filter, gather, scatter};
