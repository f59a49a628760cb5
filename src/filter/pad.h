/** @file pad.h  Extrapolation of detector rows beyond the panel's ends, for the host and for
 * devices: the shape of the extrapolation, and its fit to each row (internal; C, CUDA).
 *
 * A row that does not fall to 0 at the end of the panel is continued by P phi(t / E): t is the
 * distance beyond the end [columns], P the row's value there, E the length, and phi a fixed
 * decreasing function.  The filter is linear: the extrapolation adds P (h * phi_E)(c) to filtered
 * column c.  Tables contain h * phi_E for several lengths E, computed once in double; values in
 * between are interpolated.  The length of the transforms does not change.
 * Used by: cli/recon.h, backend/cuda/filter_kernels.h, backend/gl/filter.c, filter.h.
 */
#ifndef FBP_SRC_PAD_H
#define FBP_SRC_PAD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* The function phi(x), x = t / E, and the length E.
 *
 * cosine   phi = (1 + cos(pi x)) / 2; E is a fixed fraction of the row.
 * ellipse  phi = sqrt(1 - 0.7 x - 0.3 x^2).  The square of the projection of an ellipse is a
 *          parabola; therefore a parabola through the end is fitted to the squares of 32 samples of
 *          the row's outer half, and E is the distance to its zero (Maltz et al. 2007, Med. Phys.
 *          34, 3077, also fit an ellipse).  If a row does not fall towards its end, E is short.
 *
 * The fit uses measured values without weights, because redundancy weights would change their
 * shape.  bench/results/accuracy.md has the choices and their errors. */

#ifndef FBP_PAD_FN /* compilers of devices have other keywords */
#    define FBP_PAD_FN static inline
#endif

/** FBP_PAD_POINTS: number of samples in a row's outer half to which an ellipse is fitted.
 * FBP_PAD_LENGTHS: greatest number of tables per end of the row. */
enum { FBP_PAD_POINTS = 32, FBP_PAD_LENGTHS = 64 };

/** Parameters of the extrapolation of rows beyond the panel, equal for all rows. */
struct fbp_pad_rule {
    unsigned n_columns; /**< columns of the panel */
    unsigned edge;      /**< number of outermost samples that determine the row's value at an end */
    bool fit;           /**< true: length E is fitted to each row; false: E = lengths[0] */
    bool ends[2]; /**< true: the row is extrapolated at this end (0: first column, 1: last); false:
                     the filtered row has columns beyond the panel at this end (offset panel) */
    unsigned n_lengths;
    float lengths[FBP_PAD_LENGTHS]; /**< lengths E of the tables [columns], ascending */
};

/** Extrapolation of a row at one of its ends: amount * ((1 - part) * tables[at] + part * tables[at
 * + 1]), with the tables of struct fbp_pad for this end. */
struct fbp_pad_end {
    float amount, part;
    unsigned at;
};

/** Sums for the least-squares fit of y = p(x)^2 - p(0)^2 by b x + c x^2 over the outer half of a
 * row p; x in [-1, 0), 0 at the row's end. */
struct fbp_pad_sums {
    float xx, xxx, xxxx, xy, xxy;
};

/** Get the column of sample i of the fit of an ellipse at an end of the row. */
FBP_PAD_FN unsigned fbp_pad_point(const struct fbp_pad_rule *r, int end, unsigned i)
{
    const unsigned off = (i + 1) * (r->n_columns / 2) / FBP_PAD_POINTS;
    return end ? r->n_columns - 1 - off : off;
}

/** Get the column that is number i from an end of the row; 0 is the outermost. */
FBP_PAD_FN unsigned fbp_pad_column(const struct fbp_pad_rule *r, int end, unsigned i)
{
    return end ? r->n_columns - 1 - i : i;
}

/** Get the weight of sample i, counted from an end of the row, in the sum that is the row's value
 * at this end.  The value is that of a line fitted to the outermost r->edge samples. */
FBP_PAD_FN float fbp_pad_share(const struct fbp_pad_rule *r, unsigned i)
{
    const float n = (float)r->edge, mean = (n - 1) / 2, spread = n * (n * n - 1) / 12;
    return 1 / n + (r->edge > 1 ? mean * (mean - (float)i) / spread : 0);
}

/** Add sample i of the fit of an ellipse to the sums.  p: measured value; p0: that at the end. */
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

/** Get the distance [columns] from the end of the row to the zero of the fitted parabola p0^2 + b x
 * + c x^2: at most 0.4 of the row's length if the row falls steeply towards its end, at most 0.1 if
 * it does not fall, and limits between these for slow falls. */
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

/** Find the two tables with lengths around `reach` [columns], and the weight of the second. */
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

/** Name of an extrapolation: "none", "cosine", "ellipse"; NULL for any other number. */
const char *fbp_pad_name(size_t i);

#endif /* FBP_SRC_PAD_H */
