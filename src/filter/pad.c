/* Extrapolation of detector rows beyond the panel (pad.h): tables of the filtered extrapolations
 * (fbp_pad_create()), and their use on the CPU (fbp_pad_apply()).
 * Used by: bench/predict/, cli/, analysis/, backend/cpu/, backend/ref/, pipeline/. */
#include "filter/filter.h"

#include "base/math.h"
#include "base/text.h"

/* COSINE_PART: length of a cosine extrapolation; MOST_PART: greatest length of an elliptic one;
 * both as fractions of the length of a row. LENGTHS_AN_OCTAVE: number of tabulated lengths per
 * factor of two. */
static const double COSINE_PART = 0.15;
static const double MOST_PART = 0.4;
static const double LENGTHS_AN_OCTAVE = 4;

FBP_NAMES(fbp_pad_name, [FBP_PAD_NONE] = "none", [FBP_PAD_COSINE] = "cosine",
          [FBP_PAD_ELLIPSE] = "ellipse")

fbp_status fbp_pad_create(struct fbp_pad **out, const struct fbp_pad_request *rq)
{
    const size_t n = rq->n_columns, edge = n / 32;
    const double most = MOST_PART * (double)n;
    struct fbp_filter_design f = {0};
    struct fbp_pad *p = NULL;
    fbp_status st;

    *out = NULL;
    if (n < 8)
        return FBP_INVALID(
            "filter: rows of %zu columns are too short to be extrapolated beyond the "
            "panel; omit --pad",
            n);
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "the padding"));
    p->n_columns = rq->before + n + rq->after;
    struct fbp_pad_rule *r = &p->rule;
    *r = (struct fbp_pad_rule){.n_columns = (unsigned)n,
                               .edge = (unsigned)(edge < 4    ? 4
                                                  : edge > 16 ? 16
                                                              : edge),
                               .fit = rq->kind == FBP_PAD_ELLIPSE,
                               .ends = {rq->before == 0, rq->after == 0}};
    for (double length = 1; r->fit && r->n_lengths + 1 < FBP_PAD_LENGTHS && length < most;
         length *= exp2(1 / LENGTHS_AN_OCTAVE))
        r->lengths[r->n_lengths++] = (float)length;
    r->lengths[r->n_lengths++] = (float)(r->fit ? most : fmax(COSINE_PART * (double)n, 2));
    const size_t longest = (size_t)ceil((double)r->lengths[r->n_lengths - 1]);
    const size_t last = rq->before + n - 1, whole = p->n_columns + longest - 1;
    const size_t reach = rq->half_width ? rq->half_width : whole;
    FBP_TRY_GOTO(fbp_alloc((void **)&p->tables, fbp_pad_floats(p) * sizeof(float), "the padding"));
    FBP_TRY_GOTO(fbp_filter_design_times(&f, rq->filter, rq->cutoff, p->n_columns + longest, 0, 1,
                                         rq->factors));
    /* table[c]: the extrapolation phi (pad.h) filtered, which is the sum over t > 0 of kernel[c -
     * c(t)] phi(t / length); c(t): the column that is t columns beyond the panel's end */
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; i < r->n_lengths; i++) {
            float *table = p->tables + ((size_t)end * r->n_lengths + i) * p->n_columns;
            const double length = r->ends[end] ? (double)r->lengths[i] : 0;
            for (size_t c = 0; c < p->n_columns; c++) {
                double sum = 0;
                for (size_t t = 1; (double)t < length; t++) {
                    const double x = (double)t / length;
                    const long long at =
                        end ? (long long)(last + t) : (long long)rq->before - (long long)t;
                    const size_t lag = (size_t)llabs(at - (long long)c);
                    if (lag > reach)
                        continue;
                    const double phi =
                        r->fit ? sqrt(1 - 0.7 * x - 0.3 * x * x) : 0.5 + 0.5 * cos(FBP_PI * x);
                    sum += f.kernel[lag] * phi;
                }
                table[c] = (float)sum;
            }
        }
    *out = p;
    p = NULL;
fail:
    fbp_filter_design_clear(&f);
    fbp_pad_destroy(&p);
    return st;
}

void fbp_pad_destroy(struct fbp_pad **pad)
{
    if (!*pad)
        return;
    fbp_free((*pad)->tables);
    free(*pad);
    *pad = NULL;
}

size_t fbp_pad_floats(const struct fbp_pad *p)
{
    return 2 * (size_t)p->rule.n_lengths * p->n_columns;
}

/* Get the measured value of column c from its weighted value; 0 if the weight is not positive. */
static float measured(const float *line, const float *weights, unsigned c)
{
    return weights[c] > 0 ? line[c] / weights[c] : 0;
}

void fbp_pad_ends(const struct fbp_pad_rule *r, const float *line, const float *weights,
                  struct fbp_pad_end out[2])
{
    for (int end = 0; end < 2; end++) {
        const float weight = weights[fbp_pad_column(r, end, 0)];
        struct fbp_pad_sums sums = {0, 0, 0, 0, 0};
        float p0 = 0, reach = r->lengths[0];

        out[end] = (struct fbp_pad_end){0, 0, 0};
        for (unsigned i = 0; i < r->edge; i++)
            p0 += fbp_pad_share(r, i) * measured(line, weights, fbp_pad_column(r, end, i));
        if (!r->ends[end] || !(p0 > 0) || !(weight > 0))
            continue;
        for (unsigned i = 0; r->fit && i < FBP_PAD_POINTS; i++) {
            const unsigned c = fbp_pad_point(r, end, i);
            if (weights[c] > 0)
                fbp_pad_add(r, i, measured(line, weights, c), p0, &sums);
        }
        if (r->fit)
            reach = fbp_pad_reach(r, p0, &sums);
        fbp_pad_place(r, reach, &out[end]);
        out[end].amount = p0 * weight;
    }
}

void fbp_pad_apply(const struct fbp_pad *p, const struct fbp_pad_end ends[2], float *row)
{
    for (int end = 0; end < 2; end++) {
        const struct fbp_pad_end *e = &ends[end];
        const float *a = fbp_pad_table(p, end, e->at);
        const float *b = e->part > 0 ? a + p->n_columns : a;
        const float of_b = e->amount * e->part, of_a = e->amount - of_b;

        for (size_t c = 0; e->amount > 0 && c < p->n_columns; c++)
            row[c] += of_a * a[c] + of_b * b[c];
    }
}
