/* Tables of what lies beyond a row's ends, filtered; and how a row goes on. */
#include "filter/pad_design.h"

#include "base/mem.h"
#include "base/vec.h"

#include <string.h>

static const double COSINE_PART = 0.15; /* of the row: how far a cosine reaches */
static const double MOST_PART = 0.4;    /* how far an ellipse does, as fbp_pad_reach() */
static const double LENGTHS_AN_OCTAVE = 4;

static const char *const names[] = {
    [FBP_PAD_NONE] = "none", [FBP_PAD_COSINE] = "cosine", [FBP_PAD_ELLIPSE] = "ellipse"};

const char *fbp_pad_name(enum fbp_pad_kind kind)
{
    const size_t i = (size_t)kind;
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static double shape(enum fbp_pad_kind kind, double x)
{
    if (x >= 1)
        return 0;
    return kind == FBP_PAD_COSINE ? 0.5 + 0.5 * cos(FBP_PI * x) : sqrt(1 - 0.7 * x - 0.3 * x * x);
}

static void choose_lengths(struct fbp_pad_rule *r, enum fbp_pad_kind kind)
{
    const double n = (double)r->n_columns, most = MOST_PART * n;

    r->fit = kind == FBP_PAD_ELLIPSE;
    if (!r->fit) {
        r->lengths[r->n_lengths++] = (float)fmax(COSINE_PART * n, 2);
        return;
    }
    for (double length = 1; r->n_lengths + 1 < FBP_PAD_LENGTHS && length < most;
         length *= exp2(1 / LENGTHS_AN_OCTAVE))
        r->lengths[r->n_lengths++] = (float)length;
    r->lengths[r->n_lengths++] = (float)most;
}

/* sum over t > 0 of h(c - c(t)) phi(t / length), c(t) being t columns beyond the end. */
static void fill_table(const struct fbp_pad_request *rq, const struct fbp_filter_design *f, int end,
                       double length, size_t n_columns, float *out)
{
    const size_t last = rq->before + rq->n_columns - 1;
    const size_t reach = rq->half_width ? rq->half_width : f->n_columns - 1;

    for (size_t c = 0; c < n_columns; c++) {
        double sum = 0;
        for (size_t t = 1; (double)t < length; t++) {
            const ptrdiff_t at = end ? (ptrdiff_t)(last + t) : (ptrdiff_t)rq->before - (ptrdiff_t)t;
            const ptrdiff_t lag = at > (ptrdiff_t)c ? at - (ptrdiff_t)c : (ptrdiff_t)c - at;
            if ((size_t)lag <= reach)
                sum += f->kernel[lag] * shape(rq->kind, (double)t / length);
        }
        out[c] = (float)sum;
    }
}

static fbp_status fill_tables(struct fbp_pad *p, const struct fbp_pad_request *rq)
{
    const struct fbp_pad_rule *r = &p->rule;
    const size_t longest = (size_t)ceil((double)r->lengths[r->n_lengths - 1]);
    struct fbp_filter_design f;

    FBP_TRY(fbp_filter_design(&f, rq->filter, rq->cutoff, p->n_columns + longest, 0));
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; i < r->n_lengths; i++) {
            float *table = p->tables + ((size_t)end * r->n_lengths + i) * p->n_columns;
            if (r->ends[end])
                fill_table(rq, &f, end, (double)r->lengths[i], p->n_columns, table);
            else
                memset(table, 0, p->n_columns * sizeof *table);
        }
    fbp_filter_design_clear(&f);
    return FBP_OK;
}

fbp_status fbp_pad_create(struct fbp_pad **out, const struct fbp_pad_request *rq)
{
    const size_t n = rq->n_columns, edge = n / 32;
    struct fbp_pad *p = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    if (n < 8)
        return fbp_fail(FBP_ERR_INVALID,
                        "filter: rows of %zu columns are too short to be carried on beyond the "
                        "panel: leave --pad out",
                        n);
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "the padding"));
    p->n_columns = rq->before + n + rq->after;
    p->rule = (struct fbp_pad_rule){.n_columns = (unsigned)n,
                                    .edge = (unsigned)(edge < 4    ? 4
                                                       : edge > 16 ? 16
                                                                   : edge),
                                    .ends = {rq->before == 0, rq->after == 0}};
    choose_lengths(&p->rule, rq->kind);
    FBP_TRY_GOTO(fbp_alloc((void **)&p->tables, fbp_pad_floats(p) * sizeof(float), "the padding"));
    FBP_TRY_GOTO(fill_tables(p, rq));
    *out = p;
    return FBP_OK;
fail:
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

/* The row as it was measured; a column without weight counts as 0. */
static float measured(const float *line, const float *weights, unsigned c)
{
    return weights[c] > 0 ? line[c] / weights[c] : 0;
}

static void find_end(const struct fbp_pad_rule *r, int end, const float *line, const float *weights,
                     struct fbp_pad_end *out)
{
    const float weight = weights[fbp_pad_column(r, end, 0)];
    struct fbp_pad_sums sums = {0, 0, 0, 0, 0};
    float p0 = 0, reach = r->lengths[0];

    *out = (struct fbp_pad_end){0, 0, 0};
    for (unsigned i = 0; i < r->edge; i++)
        p0 += fbp_pad_share(r, i) * measured(line, weights, fbp_pad_column(r, end, i));
    if (!r->ends[end] || !(p0 > 0) || !(weight > 0))
        return;
    for (unsigned i = 0; r->fit && i < FBP_PAD_POINTS; i++) {
        const unsigned c = fbp_pad_point(r, end, i);
        if (weights[c] > 0)
            fbp_pad_add(r, i, measured(line, weights, c), p0, &sums);
    }
    if (r->fit)
        reach = fbp_pad_reach(r, p0, &sums);
    fbp_pad_place(r, reach, out);
    out->amount = p0 * weight;
}

void fbp_pad_ends(const struct fbp_pad_rule *r, const float *line, const float *weights,
                  struct fbp_pad_end out[2])
{
    for (int end = 0; end < 2; end++)
        find_end(r, end, line, weights, &out[end]);
}

static void apply_end(const struct fbp_pad *p, int end, const struct fbp_pad_end *e, float *row)
{
    const float *a = fbp_pad_table(p, end, e->at);
    const float *b = e->part > 0 ? a + p->n_columns : a;
    const float of_b = e->amount * e->part, of_a = e->amount - of_b;

    for (size_t c = 0; e->amount > 0 && c < p->n_columns; c++)
        row[c] += of_a * a[c] + of_b * b[c];
}

void fbp_pad_apply(const struct fbp_pad *p, const struct fbp_pad_end ends[2], float *row)
{
    for (int end = 0; end < 2; end++)
        apply_end(p, end, &ends[end], row);
}
