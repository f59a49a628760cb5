/*
 * Template of the transforms of lanes.h.  Parameters:
 *
 *   VL                      floats per vector
 *   V                       vector type, for which the operators + - * are defined
 *   VSET1(a)                a in all lanes
 *   VFMA(a, b, c)           a b + c, and VFNMA(a, b, c) c - a b
 *   VZIP(a, b, lo, hi)      lo = a0 b0 a1 b1 …, hi the rest
 *   VLOADU(p), VSTOREU(p, a)  where p is not aligned
 *   TABLE                   name of the table
 *
 * Blocks are cut by decimation in frequency on the way there, and joined by decimation in time on
 * the way back (Van Loan, Computational Frameworks for the FFT, 1992, 1.4 and 1.9).
 */

#define S float
#include "fft/small_tmpl.h"

enum { POINT = 2 * VL, MOST = 8 };

/* Where the parts of a number lie; exchanged on the way back. */
enum way { THERE, BACK };

INLINE V *part(float *x, enum way way, bool imaginary)
{
    return (V *)(void *)(x + ((way == THERE) == imaginary ? VL : 0));
}

INLINE void load(float *x, size_t m, size_t n, enum way way, V *re, V *im)
{
    UNROLL
    for (size_t k = 0; k < n; k++) {
        re[k] = *part(x + k * m * POINT, way, false);
        im[k] = *part(x + k * m * POINT, way, true);
    }
}

INLINE void store(float *x, size_t m, size_t n, enum way way, const V *re, const V *im)
{
    UNROLL
    for (size_t k = 0; k < n; k++) {
        *part(x + k * m * POINT, way, false) = re[k];
        *part(x + k * m * POINT, way, true) = im[k];
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

/* Of the result the first `wanted` blocks. */
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

/* The whole, whose second half is zeros that need not be there. */
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

/* n blocks there, times the response, and back. */
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
#define LEVEL(radix)                                                    \
    static void cut_##radix(const struct fbp_lanes_level *l, float *x)  \
    {                                                                   \
        cut(radix, l, x);                                               \
    }                                                                   \
    static void join_##radix(const struct fbp_lanes_level *l, float *x) \
    {                                                                   \
        join(radix, radix, l, x);                                       \
    }

LEAVES(1)
LEAVES(2)
LEAVES(3)
LEAVES(4)
LEAVES(5)
LEAVES(8)
LEVEL(2)
LEVEL(3)
LEVEL(4)
LEVEL(5)
LEVEL(8)

typedef void leaves_fn(float *x, size_t n, const float *response);
typedef void level_fn(const struct fbp_lanes_level *l, float *x);

static leaves_fn *const all_leaves[MOST + 1][2] = {
    [1] = {leaves_1, phases_1}, [2] = {leaves_2, phases_2}, [3] = {leaves_3, phases_3},
    [4] = {leaves_4, phases_4}, [5] = {leaves_5, phases_5}, [8] = {leaves_8, phases_8}};
static level_fn *const all_levels[MOST + 1][2] = {[2] = {cut_2, join_2},
                                                  [3] = {cut_3, join_3},
                                                  [4] = {cut_4, join_4},
                                                  [5] = {cut_5, join_5},
                                                  [8] = {cut_8, join_8}};

/* The blocks of a level, from the point `at` of the whole on. */
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
        all_levels[l->radix][0](l, x);
        filter_blocks(f, level + 1, x, at);
        all_levels[l->radix][1](l, x);
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

/* A square: zipping the first half of the vectors with the second turns the index of an element by
 * one bit, and log2(VL) turns exchange row and column. */
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

static void gather_part(const float *const *rows, const float *scale, size_t n, float *x)
{
    size_t i = 0;

    for (; i + VL <= n; i += VL) {
        V a[VL];
        UNROLL
        for (size_t l = 0; l < VL; l++)
            a[l] = VLOADU(rows[l] + i) * VSET1(scale[l]);
        transpose(a);
        UNROLL
        for (size_t l = 0; l < VL; l++)
            *(V *)(void *)(x + (i + l) * POINT) = a[l];
    }
    for (; i < n; i++)
        for (size_t l = 0; l < VL; l++)
            x[i * POINT + l] = rows[l][i] * scale[l];
}

static void gather(const float *const *a, const float *const *b, const float *scale_a,
                   const float *scale_b, size_t n, float *x)
{
    gather_part(a, scale_a, n, x);
    gather_part(b, scale_b, n, x + VL);
}

static void scatter_part(const float *x, const float *scale, size_t n, float *const *rows)
{
    size_t i = 0;

    for (; i + VL <= n; i += VL) {
        V a[VL];
        UNROLL
        for (size_t l = 0; l < VL; l++)
            a[l] = *(const V *)(const void *)(x + (i + l) * POINT);
        transpose(a);
        UNROLL
        for (size_t l = 0; l < VL; l++)
            VSTOREU(rows[l] + i, a[l] * VSET1(scale[l]));
    }
    for (; i < n; i++)
        for (size_t l = 0; l < VL; l++)
            rows[l][i] = x[i * POINT + l] * scale[l];
}

static void scatter(const float *x, const float *scale_a, const float *scale_b, size_t n,
                    float *const *a, float *const *b)
{
    scatter_part(x, scale_a, n, a);
    scatter_part(x + VL, scale_b, n, b);
}

const struct fbp_lanes TABLE = {VL, filter, gather, scatter};
