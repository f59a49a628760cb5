/** @file pad.h  Continuation of rows beyond the panel's ends, for the host and for devices
 * (internal).
 *
 * A row that does not fall to 0 at the end of the panel is continued by P phi(t / E), t columns
 * beyond the end: P the row's value there, E the length, phi one falling shape.  The filter is
 * linear: this adds P (h * phi_E)(c) to filtered column c, from tables for some lengths E, computed
 * once in double, with interpolation in between.  The transforms keep their length.
 *
 * cosine   phi = (1 + cos(pi x)) / 2, E a fixed part of the row.
 * ellipse  phi = sqrt(1 - 0.7 x - 0.3 x^2); the square of an ellipse's shadow is a parabola,
 * therefore a parabola through the end is fitted to the squares of 32 samples of the row's outer
 * half, and E is where it ends (Maltz et al. 2007, Med. Phys. 34, 3077, fit an ellipse, too). A row
 * that does not fall towards its end is no ellipse's: then E is short.
 *
 * Measured values are used without their weights, because redundancy would bend them.
 * docs/accuracy.md has the choices and their errors.
 */
#ifndef FBP_SRC_PAD_H
#define FBP_SRC_PAD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef FBP_PAD_FN /* devices' compilers have other keywords */
#    define FBP_PAD_FN static inline
#endif

/** Number of samples of a row's outer half for the fit of an ellipse; greatest number of tables. */
enum { FBP_PAD_POINTS = 32, FBP_PAD_LENGTHS = 64 };

/** Parameters of both ends of a row. */
struct fbp_pad_rule {
    unsigned n_columns; /**< of the panel */
    unsigned edge;      /**< number of columns at an end for the fit of its value */
    bool fit;           /**< E from a parabola; else E = lengths[0] */
    bool ends[2];       /**< continued; false: towards the axis of an offset panel */
    unsigned n_lengths;
    float lengths[FBP_PAD_LENGTHS]; /**< [columns], growing */
};

/** Continuation of a row at an end: amount ((1 - part) tables[at] + part tables[at + 1]). */
struct fbp_pad_end {
    float amount, part;
    unsigned at;
};

/** Sums over points of a row's outer half, of x in [-1, 0) and y = p(x)^2 - p(0)^2. */
struct fbp_pad_sums {
    float xx, xxx, xxxx, xy, xxy;
};

/** Column of point i at an end. */
FBP_PAD_FN unsigned fbp_pad_point(const struct fbp_pad_rule *r, int end, unsigned i)
{
    const unsigned off = (i + 1) * (r->n_columns / 2) / FBP_PAD_POINTS;
    return end ? r->n_columns - 1 - off : off;
}

/** Column i of those at an end, the outermost first. */
FBP_PAD_FN unsigned fbp_pad_column(const struct fbp_pad_rule *r, int end, unsigned i)
{
    return end ? r->n_columns - 1 - i : i;
}

/** Share of sample i from the end in the value there of a line through `edge` samples. */
FBP_PAD_FN float fbp_pad_share(const struct fbp_pad_rule *r, unsigned i)
{
    const float n = (float)r->edge, mean = (n - 1) / 2, spread = n * (n * n - 1) / 12;
    return 1 / n + (r->edge > 1 ? mean * (mean - (float)i) / spread : 0);
}

/** Add a point: p as measured, p0 at the end. */
FBP_PAD_FN void fbp_pad_add(const struct fbp_pad_rule *r, unsigned i, float p, float p0,
                            struct fbp_pad_sums *s)
{
    const unsigned middle = r->n_columns / 2, place = (i + 1) * middle / FBP_PAD_POINTS;
    const float half = (float)middle, off = (float)place;
    const float x = -off / half, y = (p > 0 ? p * p : 0) - p0 * p0;

    s->xx += x * x;
    s->xxx += x * x * x;
    s->xxxx += x * x * x * x;
    s->xy += x * y;
    s->xxy += x * x * y;
}

/** Columns beyond the end to the point where y = b x + c x^2 falls to -p0^2.  Ellipses fall towards
 * their ends: at most 0.4 of the row if the row clearly falls, 0.1 if it does not. */
FBP_PAD_FN float fbp_pad_reach(const struct fbp_pad_rule *r, float p0, const struct fbp_pad_sums *s)
{
    const float least = 0.1f, most = 0.4f, n = (float)r->n_columns;
    const float det = s->xx * s->xxxx - s->xxx * s->xxx, square = p0 * p0;

    if (!(det > 0) || !(square > 0))
        return least * n;
    const float b = (s->xy * s->xxxx - s->xxy * s->xxx) / det / square;
    const float c = fminf((s->xx * s->xxy - s->xxx * s->xy) / det / square, -1e-6f);
    const float falls = fminf(fmaxf(-b, 0), 1), cap = least + (most - least) * falls;
    const float reach = (-b - sqrtf(b * b - 4 * c)) / (2 * c) / 2;
    return fminf(fmaxf(reach, 0), cap) * n;
}

/** The tables for this reach. */
FBP_PAD_FN void fbp_pad_place(const struct fbp_pad_rule *r, float reach, struct fbp_pad_end *out)
{
    unsigned at = 0;

    while (at + 2 < r->n_lengths && reach >= r->lengths[at + 1])
        at++;
    out->at = at;
    out->part = 0;
    if (r->n_lengths > 1) {
        const float part = (reach - r->lengths[at]) / (r->lengths[at + 1] - r->lengths[at]);
        out->part = fminf(fmaxf(part, 0), 1);
    }
}

#endif /* FBP_SRC_PAD_H */
