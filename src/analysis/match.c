#include "analysis/centre.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <string.h>

/* Neighbouring views may be so many median steps apart, and rays lie so far beyond the last. */
static const double widest = 1.75, beyond = 0.75;

enum { HALF_WINDOW = 7, FEWEST_PAIRS = 8 };

static float *row_of(float *values, const struct fbp_sinogram *s, size_t row, size_t view)
{
    return values + (row * s->n_views + view) * s->n_columns;
}

static void running_mean(const double *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        const size_t a = i > HALF_WINDOW ? i - HALF_WINDOW : 0;
        const size_t b = i + HALF_WINDOW < n ? i + HALF_WINDOW : n - 1;
        double sum = 0;
        for (size_t k = a; k <= b; k++)
            sum += x[k];
        out[i] = sum / (double)(b - a + 1);
    }
}

/* The fine structure that all views share of a row, such as columns of other sensitivity. */
static void shared_by_views(const struct fbp_sinogram *s, size_t row, double *out, double *rough)
{
    const size_t n = s->n_columns;

    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k < s->n_views; k++)
        for (size_t i = 0; i < n; i++)
            out[i] += (double)row_of(s->values, s, row, k)[i] / (double)s->n_views;
    running_mean(out, n, rough);
    for (size_t i = 0; i < n; i++)
        out[i] -= rough[i];
}

/* A binomial filter: what interpolation does to noise at whole and half columns is then little. */
static void smooth(const float *x, const double *less, size_t n, float *out)
{
    static const double w[] = {70. / 256, 56. / 256, 28. / 256, 8. / 256, 1. / 256};

    for (size_t i = 0; i < n; i++) {
        double sum = w[0] * ((double)x[i] - less[i]);
        for (size_t k = 1; k < 5; k++) {
            const size_t a = i > k ? i - k : 0, b = i + k < n ? i + k : n - 1;
            sum += w[k] * ((double)x[a] - less[a] + (double)x[b] - less[b]);
        }
        out[i] = (float)sum;
    }
}

/* Differences of neighbouring means, of several views at one column. */
struct column {
    double sum, squares;
};

/* Add the run of n values from column x on. */
static void add_differences(const double *values, size_t x, size_t n, size_t width, double *sums,
                            struct column *to)
{
    sums[0] = 0;
    for (size_t i = 0; i < n; i++)
        sums[i + 1] = sums[i] + values[x + i];
    for (size_t i = width; i + width <= n; i++) {
        const double d = (sums[i + width] - 2 * sums[i] + sums[i - width]) / (double)width;
        to[x + i].sum += d;
        to[x + i].squares += d * d;
    }
}

/* Squares of what views differ by. */
static double energy_of(const struct column *columns, const double *counts, size_t n)
{
    double energy = 0;

    for (size_t i = 0; i < n; i++)
        if (counts[i] > 1)
            energy += columns[i].squares - columns[i].sum * columns[i].sum / counts[i];
    return fmax(energy, 0);
}

/* A place between two views. */
struct between {
    size_t a, b;
    double w; /* of b */
};

/* The views on both sides of an angle; false: none are near.  hint: where to begin. */
static bool find_views(const struct fbp_sinogram *s, double angle, struct between *out)
{
    const size_t n = s->n_views;
    const double *t = s->angles;
    size_t lo = 0, hi = n;

    angle -= 2 * FBP_PI * floor((angle - t[0]) / (2 * FBP_PI));
    while (hi - lo > 1) {
        const size_t middle = lo + (hi - lo) / 2;
        if (t[middle] <= angle)
            lo = middle;
        else
            hi = middle;
    }
    if (lo + 1 == n && !s->closed && angle - t[lo] > FBP_PI) /* before the first */
        angle -= 2 * FBP_PI;
    if (lo + 1 < n || s->closed) {
        const double next = lo + 1 < n ? t[lo + 1] : t[0] + 2 * FBP_PI;
        *out = (struct between){lo, (lo + 1) % n, (angle - t[lo]) / (next - t[lo])};
        if (angle >= t[0])
            return next - t[lo] <= widest * s->step;
    }
    const bool early = angle < t[0];
    *out = (struct between){early ? 0 : n - 2, early ? 1 : n - 1, 0};
    out->w = (angle - t[out->a]) / (t[out->b] - t[out->a]);
    return (early ? t[0] - angle : angle - t[n - 1]) <= beyond * s->step;
}

/* Of one detector row: where sides are compared, and sums over views. */
struct tally {
    size_t nc, width;
    double *difference, *both;          /* [column], of one view: both sides' difference, sum */
    double *running, *counts;           /* [column + 1], [column] */
    struct column *differences, *boths; /* [column] */
};

static void begin_tally(const struct fbp_match *m, struct tally *t)
{
    const size_t nc = m->s->n_columns;

    *t = (struct tally){.nc = nc, .width = m->width, .difference = m->scratch};
    t->both = t->difference + nc;
    t->differences = (struct column *)(void *)(t->both + nc);
    t->boths = t->differences + nc;
    t->counts = (double *)(void *)(t->boths + nc);
    t->running = t->counts + nc;
    memset(t->differences, 0, 5 * nc * sizeof(double));
}

/* Add the run of n values from x on. */
static void add_run(struct tally *t, size_t x, size_t n)
{
    if (n < 2 * t->width)
        return;
    add_differences(t->difference, x, n, t->width, t->running, t->differences);
    add_differences(t->both, x, n, t->width, t->running, t->boths);
    for (size_t i = t->width; i + t->width <= n; i++)
        t->counts[x + i]++;
}

/* Sums of squares of differences and of both sides. */
struct sums {
    double difference, both;
};

/* What views share is what columns differ by, not rays; of single pairs, all. */
static void end_tally(const struct tally *t, bool all, struct sums *out)
{
    double d = 0, e = 0;

    for (size_t i = 0; all && i < t->nc; i++) {
        d += t->differences[i].squares;
        e += t->boths[i].squares;
    }
    if (!all) {
        d = energy_of(t->differences, t->counts, t->nc);
        e = energy_of(t->boths, t->counts, t->nc);
    }
    out->difference += d;
    out->both += (d + e) / 2; /* (a - b)^2 + (a + b)^2 = 2 a^2 + 2 b^2 */
}

static double energy_of_views(const struct fbp_match *m)
{
    const struct fbp_sinogram *s = m->s;
    const size_t n = s->n_columns;
    struct sums sums = {0, 0};
    struct tally t;

    for (size_t row = 0; row < s->n_rows; row++) {
        begin_tally(m, &t);
        for (size_t k = 0; k < s->n_views; k++) {
            const float *x = row_of(m->values, s, row, k);
            for (size_t i = 0; i < n; i++)
                t.difference[i] = t.both[i] = (double)x[i];
            add_run(&t, 0, n);
        }
        end_tally(&t, m->joins, &sums);
    }
    return sums.difference / ((double)s->n_rows * (double)s->n_views);
}

/* Views whose opposite is among the views, of parallel beams. */
static size_t count_pairs(const struct fbp_sinogram *s)
{
    const double last = s->angles[s->n_views - 1] + 1e-6;
    size_t n = 0;

    for (size_t k = 0; k < s->n_views; k++)
        n += s->closed || s->angles[k] + FBP_PI <= last;
    return n;
}

/* Do the last views reach the mirror images of the first? */
static bool ends_meet(const struct fbp_sinogram *s)
{
    return s->n_views >= 6 && s->arc > FBP_PI - 3 * s->step;
}

fbp_status fbp_match_create(struct fbp_match *m, const struct fbp_sinogram *s, size_t width)
{
    const size_t n = s->n_columns;
    fbp_status st = FBP_OK;

    *m = (struct fbp_match){.s = s, .width = width};
    m->joins = !s->has_source && count_pairs(s) < FEWEST_PAIRS;
    if (m->joins ? !ends_meet(s) : s->arc < FBP_PI - s->step)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "centre: views over %.1f degrees measure no ray from both ends: look for "
                        "the axis with --sweep centre=FROM:TO:STEP",
                        s->arc * 180 / FBP_PI);
    FBP_TRY_GOTO(fbp_calloc((void **)&m->scratch, 9 * n + 1, sizeof *m->scratch, "rows"));
    FBP_TRY_GOTO(
        fbp_alloc((void **)&m->values, s->n_rows * s->n_views * n * sizeof(float), "a sinogram"));
    for (size_t row = 0; row < s->n_rows; row++) {
        memset(m->scratch, 0, n * sizeof *m->scratch);
        if (m->joins)
            shared_by_views(s, row, m->scratch, m->scratch + n);
        for (size_t k = 0; k < s->n_views; k++)
            smooth(row_of(s->values, s, row, k), m->scratch, n, row_of(m->values, s, row, k));
    }
    m->energy = energy_of_views(m);
    return FBP_OK;
fail:
    fbp_match_clear(m);
    return st;
}

void fbp_match_clear(struct fbp_match *m)
{
    fbp_free(m->values);
    free(m->scratch);
    *m = (struct fbp_match){0};
}

/* What a row has at a place between columns, by cubic convolution (Keys, IEEE Trans. ASSP 29 (1981)
 * 1153); y is inside. */
static double between_columns(const float *row, size_t n, double y)
{
    const size_t i = (size_t)y;
    const double w = y - (double)i;

    if (w == 0)
        return (double)row[i];
    const double a = (double)row[i], b = (double)row[i + 1];
    const double before = i > 0 ? (double)row[i - 1] : 2 * a - b;
    const double after = i + 2 < n ? (double)row[i + 2] : 2 * b - a;
    return a + 0.5 * w *
                   (b - before +
                    w * (2 * before - 5 * a + 4 * b - after + w * (3 * (a - b) + after - before)));
}

/* The rays of one view against those that run the other way. */
static void compare_view(const struct fbp_match *m, size_t row, size_t k, double c, struct tally *t)
{
    const struct fbp_sinogram *s = m->s;
    const size_t nc = s->n_columns;
    const float *own = row_of(m->values, s, row, k);
    const double first = ceil(fmax(0, 2 * c - (double)nc + 1));
    size_t begin = (size_t)first, x = begin;
    struct between v = {0, 0, 0};
    bool known = s->tangent > 0 || find_views(s, s->angles[k] + FBP_PI, &v);

    for (; x < nc && (double)x <= 2 * c; x++) {
        const double y = 2 * c - (double)x;
        if (s->tangent > 0) {
            const double fan = s->along * atan(((double)x - c) * s->tangent);
            known = find_views(s, s->angles[k] + FBP_PI - 2 * fan, &v);
        }
        if (!known) {
            add_run(t, begin, x - begin);
            begin = x + 1;
            continue;
        }
        const double other = (1 - v.w) * between_columns(row_of(m->values, s, row, v.a), nc, y) +
                             v.w * between_columns(row_of(m->values, s, row, v.b), nc, y);
        t->difference[x] = (double)own[x] - other;
        t->both[x] = (double)own[x] + other;
    }
    add_run(t, begin, x - begin);
}

/* A view of the half turn, or behind it the mirror image of one of its first. */
struct extended {
    size_t view;
    double angle;
    bool mirrored;
};

/* View number `at` of those up to `last`, and their mirror images behind them. */
static struct extended extended_view(const struct fbp_sinogram *s, size_t last, size_t at)
{
    const bool mirrored = at > last;
    const size_t view = mirrored ? at - last - 1 : at;

    return (struct extended){view, s->angles[view] + (mirrored ? FBP_PI : 0), mirrored};
}

static double extended_value(const struct fbp_match *m, size_t row, const struct extended *e,
                             double c, size_t x)
{
    const float *v = row_of(m->values, m->s, row, e->view);
    return e->mirrored ? between_columns(v, m->s->n_columns, 2 * c - (double)x) : (double)v[x];
}

/* Number `at` against the cubic through two views on either side. */
static void compare_with_neighbours(const struct fbp_match *m, size_t row, size_t last, size_t at,
                                    double c, struct tally *t)
{
    const struct fbp_sinogram *s = m->s;
    const size_t nc = s->n_columns, from = (size_t)ceil(fmax(0, 2 * c - (double)nc + 1));
    const struct extended self = extended_view(s, last, at);
    struct extended node[4];
    double w[4];
    size_t x = from;

    for (size_t i = 0; i < 4; i++)
        node[i] = extended_view(s, last, at + i - (i < 2 ? 2 : 1));
    for (int i = 0; i < 4; i++) { /* Lagrange's weights */
        w[i] = 1;
        for (int k = 0; k < 4; k++)
            if (k != i)
                w[i] *= (self.angle - node[k].angle) / (node[i].angle - node[k].angle);
    }
    for (; x < nc && (double)x <= 2 * c; x++) {
        const double own = extended_value(m, row, &self, c, x);
        double other = 0;
        for (int i = 0; i < 4; i++)
            other += w[i] * extended_value(m, row, &node[i], c, x);
        t->difference[x] = own - other;
        t->both[x] = own + other;
    }
    add_run(t, from, x - from);
}

/* The ends of half a turn. */
static double compare_ends(const struct fbp_match *m, double c, size_t part, size_t parts,
                           struct sums *out)
{
    const struct fbp_sinogram *s = m->s;
    size_t last = s->n_views - 1;
    struct tally t;
    double n = 0;

    while (last > 3 && s->angles[last] > s->angles[0] + FBP_PI - 0.25 * s->step)
        last--;
    for (size_t row = 0, i = 0; row < s->n_rows; row++)
        for (size_t at = last - 1; at <= last + 2; at++, i++)
            if (i % parts == part) {
                begin_tally(m, &t);
                compare_with_neighbours(m, row, last, at, c, &t);
                end_tally(&t, true, out);
                n++;
            }
    return n;
}

void fbp_match_at(const struct fbp_match *m, double c, size_t stride, size_t part, size_t parts,
                  struct fbp_agreement *out)
{
    const struct fbp_sinogram *s = m->s;
    const size_t first = s->closed ? s->n_views * part / parts : part;
    const size_t end = s->closed ? s->n_views * (part + 1) / parts : s->n_views;
    const size_t step = s->closed ? stride : stride * parts;
    struct sums sums = {0, 0};
    struct tally t;
    double n = 0;

    if (m->joins)
        n = compare_ends(m, c, part, parts, &sums);
    for (size_t row = 0; !m->joins && row < s->n_rows; row++) {
        begin_tally(m, &t);
        for (size_t k = first; k < end; k += step, n++)
            compare_view(m, row, k, c, &t);
        end_tally(&t, false, &sums);
    }
    out->share = n > 0 && m->energy > 0 ? sums.both / (2 * n * m->energy) : 0;
    out->misfit = sums.both > 0 ? sums.difference / sums.both : 1;
}
