/* Computes how well rays that are measured in both directions agree, for an assumed detector
 * column of the rotation axis: fbp_match_create() prepares the rows, fbp_match_at() compares them
 * (formulas: centre.h).
 * Used by: calibrate.c, centre.c. */
#include "analysis/centre.h"

#include "base/math.h"

#include <string.h>

static float *row_of(float *values, const struct fbp_sinogram *s, size_t row, size_t view)
{
    return values + (row * s->n_views + view) * s->n_columns;
}

/* Smooth a detector row of all views along columns, into m->values.  For a parallel beam over half
 * a turn (m->joins), first subtract the fine structure that all views share, because the
 * sensitivity of columns differs. */
static void prepare_row(struct fbp_match *m, size_t row)
{
    enum { HALF_WINDOW = 7 };
    /* Binomial filter: with it, interpolation between columns changes noise only slightly. */
    static const double w[] = {70. / 256, 56. / 256, 28. / 256, 8. / 256, 1. / 256};
    const struct fbp_sinogram *s = m->s;
    const size_t n = s->n_columns;
    double *shared = m->scratch, *mean = m->scratch + n;

    memset(shared, 0, n * sizeof *shared);
    if (m->joins) { /* mean of all views minus its running mean */
        for (size_t k = 0; k < s->n_views; k++)
            for (size_t i = 0; i < n; i++)
                shared[i] += (double)row_of(s->values, s, row, k)[i] / (double)s->n_views;
        for (size_t i = 0; i < n; i++) {
            const size_t a = i > HALF_WINDOW ? i - HALF_WINDOW : 0;
            const size_t b = i + HALF_WINDOW < n ? i + HALF_WINDOW : n - 1;
            double sum = 0;
            for (size_t k = a; k <= b; k++)
                sum += shared[k];
            mean[i] = sum / (double)(b - a + 1);
        }
        for (size_t i = 0; i < n; i++)
            shared[i] -= mean[i];
    }
    for (size_t k = 0; k < s->n_views; k++) {
        const float *x = row_of(s->values, s, row, k);
        float *out = row_of(m->values, s, row, k);
        for (size_t i = 0; i < n; i++) {
            double sum = w[0] * ((double)x[i] - shared[i]);
            for (size_t j = 1; j < 5; j++) {
                const size_t a = i > j ? i - j : 0, b = i + j < n ? i + j : n - 1;
                sum += w[j] * ((double)x[a] - shared[a] + (double)x[b] - shared[b]);
            }
            out[i] = (float)sum;
        }
    }
}

/* Sums over views, for a column, of the differences d of the averages beside it, and of d^2. */
struct column {
    double sum, squares;
};

/* Work memory, and sums over views, for one detector row. */
struct tally {
    size_t nc, width;
    double *difference, *both; /* [column] of one view: differences and sums of opposite rays */
    double *running, *counts;  /* [column + 1], [column] */
    struct column *differences, *boths; /* [column] */
};

/* Sums over opposite rays a and b: of (a - b)^2 (difference) and of a^2 + b^2 (both). */
struct sums {
    double difference, both;
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

/* Add for columns [x, x + n) of a view the differences of adjacent means of `width` columns. */
static void add_run(struct tally *t, size_t x, size_t n)
{
    const size_t width = t->width;

    if (n < 2 * width)
        return;
    for (int side = 0; side < 2; side++) {
        const double *values = side ? t->both : t->difference;
        struct column *to = side ? t->boths : t->differences;
        double *sums = t->running;
        sums[0] = 0;
        for (size_t i = 0; i < n; i++)
            sums[i + 1] = sums[i] + values[x + i];
        for (size_t i = width; i + width <= n; i++) {
            const double d = (sums[i + width] - 2 * sums[i] + sums[i - width]) / (double)width;
            to[x + i].sum += d;
            to[x + i].squares += d * d;
        }
    }
    for (size_t i = width; i + width <= n; i++)
        t->counts[x + i]++;
}

/* Sum, over columns, the squares of differences of neighbouring means.  If `all` is false, subtract
 * from each difference its mean over the views, because the sensitivity of columns may differ. */
static double energy_of(const struct tally *t, const struct column *columns, bool all)
{
    double energy = 0;

    for (size_t i = 0; i < t->nc; i++)
        if (all)
            energy += columns[i].squares;
        else if (t->counts[i] > 1)
            energy += columns[i].squares - columns[i].sum * columns[i].sum / t->counts[i];
    return all ? energy : fmax(energy, 0);
}

static void end_tally(const struct tally *t, bool all, struct sums *out)
{
    const double d = energy_of(t, t->differences, all), e = energy_of(t, t->boths, all);

    out->difference += d;
    out->both += (d + e) / 2; /* (a - b)^2 + (a + b)^2 = 2 a^2 + 2 b^2 */
}

fbp_status fbp_match_create(struct fbp_match *m, const struct fbp_sinogram *s, size_t width)
{
    enum { FEWEST_PAIRS = 8 };
    const size_t n = s->n_columns;
    const double last = s->angles[s->n_views - 1] + 1e-6;
    struct sums sums = {0, 0};
    size_t n_pairs = 0; /* number of views whose opposite view is measured, too */
    struct tally t;
    fbp_status st = FBP_OK;

    *m = (struct fbp_match){.s = s, .width = width};
    for (size_t k = 0; k < s->n_views; k++)
        n_pairs += s->closed || s->angles[k] + FBP_PI <= last;
    m->joins = !s->has_source && n_pairs < FEWEST_PAIRS;
    const bool reaches_ends = s->n_views >= 6 && s->arc > FBP_PI - 3 * s->step;
    if (m->joins ? !reaches_ends : s->arc < FBP_PI - s->step)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "centre: %zu views over %.1f degrees measure too few rays from both sides; "
                        "use --sweep centre=FROM:TO:STEP to find the axis",
                        s->n_views, s->arc * 180 / FBP_PI);
    FBP_TRY_GOTO(fbp_calloc((void **)&m->scratch, 9 * n + 1, sizeof *m->scratch, "rows"));
    FBP_TRY_GOTO(
        fbp_alloc((void **)&m->values, s->n_rows * s->n_views * n * sizeof(float), "a sinogram"));
    for (size_t row = 0; row < s->n_rows; row++)
        prepare_row(m, row);

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
    m->energy = sums.difference / ((double)s->n_rows * (double)s->n_views);
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

/* Position of an angle between views a and b. */
struct between {
    size_t a, b;
    double w; /* weight of b */
};

/* Find the two views on either side of an angle, for interpolation; at an end of the arc, the two
 * nearest views, for extrapolation.  false: no view is near. */
static bool find_views(const struct fbp_sinogram *s, double angle, struct between *out)
{
    /* Limits, in median angles between views. widest: greatest angle between views for
     * interpolation; beyond: greatest angle of extrapolation at either end. */
    static const double widest = 1.75, beyond = 0.75;
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

/* Interpolate row[n] at position y by cubic convolution (Keys, IEEE Trans. ASSP 29 (1981) 1153). */
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

/* Compare the rays of view k with opposite rays, for axis column c; add the result to *t. */
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

/* A view of half a turn, or the mirror image of such a view, half a turn later.  In a parallel
 * beam, the mirror images of views 0, 1, … continue the sequence of views after the last one. */
struct extended {
    size_t view;
    double angle;
    bool mirrored;
};

/* Element `at` of views 0 to `last` of half a turn, then mirror images of views 0, 1, … */
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

/* Compare each of the four views around the end of half a turn with the cubic through the two views
 * before and the two after it; returns the number of comparisons. */
static double compare_ends(const struct fbp_match *m, double c, size_t part, size_t parts,
                           struct sums *out)
{
    const struct fbp_sinogram *s = m->s;
    const size_t nc = s->n_columns, from = (size_t)ceil(fmax(0, 2 * c - (double)nc + 1));
    size_t last = s->n_views - 1;
    struct tally t;
    double n = 0;

    while (last > 3 && s->angles[last] > s->angles[0] + FBP_PI - 0.25 * s->step)
        last--;
    for (size_t i = 0; i < 4 * s->n_rows; i++) {
        const size_t row = i / 4, at = last - 1 + i % 4;
        const struct extended self = extended_view(s, last, at);
        struct extended node[4];
        double w[4]; /* Lagrange's weights */
        size_t x = from;
        if (i % parts != part)
            continue;
        for (size_t j = 0; j < 4; j++)
            node[j] = extended_view(s, last, at + j - (j < 2 ? 2 : 1));
        for (int j = 0; j < 4; j++) {
            w[j] = 1;
            for (int k = 0; k < 4; k++)
                if (k != j)
                    w[j] *= (self.angle - node[k].angle) / (node[j].angle - node[k].angle);
        }
        begin_tally(m, &t);
        for (; x < nc && (double)x <= 2 * c; x++) {
            const double own = extended_value(m, row, &self, c, x);
            double other = 0;
            for (int j = 0; j < 4; j++)
                other += w[j] * extended_value(m, row, &node[j], c, x);
            t.difference[x] = own - other;
            t.both[x] = own + other;
        }
        add_run(&t, from, x - from);
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
