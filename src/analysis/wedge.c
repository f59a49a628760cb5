#include "analysis/centre.h"

#include "base/mem.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_VIEWS = 512, /* more are joined, as are columns */
    MOST_COLUMNS = 512,
    MOST_WAVES = 128,
    FIRST_WAVE = 5, /* longer ones feel the window, and a beam that drifts */
    FEWEST_WAVES = 2,
    ROUNDS = 4,
    PARTS = 4,
};

static const double most_harmonics = 0.75; /* of the views: what is left must tell */
static const double highest = 1; /* frequency, a column: higher ones are near their aliases */
static const double taper = 0.2; /* of half the window, at either end */
static const double range = 3, fine = 0.125;

/* What of a wave of a row does not fit, x columns from the centre: a + b cos 2 f x + c sin 2 f x.
 */
struct misfit {
    double frequency, a, b, c, freedom;
};

/* Orthonormal harmonics, at all angles; [0] even ones, [1] odd ones. */
struct basis {
    double *vectors[2]; /* [n][view] */
    size_t n[2], harmonic;
};

struct search {
    size_t n_views, n_columns, n_rows, bin, n_waves;
    double *angles;
    float *values;          /* [row][view][column], joined */
    double *table;          /* [column][2][wave]: windowed cosines and sines */
    double *waves;          /* [2][wave][row][view] */
    struct misfit *misfits; /* [wave][row] */
    struct basis basis;
    double centre, half; /* of the window, in joined columns */
};

static size_t group_of(size_t n, size_t most)
{
    return (n + most - 1) / most;
}

size_t fbp_wedge_bytes(size_t n_views, size_t n_columns, size_t n_rows)
{
    const size_t n = n_views / group_of(n_views, MOST_VIEWS);
    const size_t nc = n_columns / group_of(n_columns, MOST_COLUMNS);

    return n_rows * n * (nc * sizeof(float) + 2 * sizeof(double) * MOST_WAVES) +
           2 * (n + 3) * n * sizeof(double) + 2 * sizeof(double) * MOST_WAVES * nc +
           MOST_WAVES * n_rows * sizeof(struct misfit);
}

/* Every joined view is the mean of `group` neighbours by angle, every column of `bin`. */
static fbp_status join(struct search *w, const struct fbp_sinogram *s)
{
    const size_t group = group_of(s->n_views, MOST_VIEWS), nc = s->n_columns;

    w->bin = group_of(nc, MOST_COLUMNS);
    w->n_views = s->n_views / group;
    w->n_columns = nc / w->bin;
    w->n_rows = s->n_rows;
    FBP_TRY(fbp_calloc((void **)&w->angles, w->n_views, sizeof *w->angles, "angles"));
    FBP_TRY(fbp_alloc((void **)&w->values,
                      w->n_rows * w->n_views * w->n_columns * sizeof *w->values, "a sinogram"));
    for (size_t k = 0; k < w->n_views; k++)
        for (size_t i = 0; i < group; i++)
            w->angles[k] += s->angles[k * group + i] / (double)group;
    for (size_t row = 0; row < w->n_rows; row++)
        for (size_t k = 0; k < w->n_views; k++)
            for (size_t c = 0; c < w->n_columns; c++) {
                double sum = 0;
                for (size_t i = 0; i < group; i++)
                    for (size_t x = c * w->bin; x < (c + 1) * w->bin; x++)
                        sum += (double)s->values[(row * s->n_views + k * group + i) * nc + x];
                w->values[(row * w->n_views + k) * w->n_columns + c] =
                    (float)(sum / (double)(group * w->bin));
            }
    return FBP_OK;
}

static double frequency_of(const struct search *w, size_t wave)
{
    return FBP_PI * (double)(FIRST_WAVE + wave) / w->half;
}

/* Harmonics that a wave may have: Bessel functions fade out a little above their argument. */
static double harmonics_of(const struct search *w, size_t wave)
{
    const double x = w->half * frequency_of(w, wave);

    return ceil(x + 3 * cbrt(x) + 1);
}

static fbp_status choose_waves(struct search *w)
{
    const double last = (double)w->n_columns - 1;

    w->half = fmin(w->centre, last - w->centre) + 0.5;
    w->n_waves = 0;
    while (w->half > 4 && w->n_waves < MOST_WAVES && frequency_of(w, w->n_waves) < highest &&
           harmonics_of(w, w->n_waves) + 2 < most_harmonics * (double)w->n_views)
        w->n_waves++;
    if (w->n_waves < FEWEST_WAVES)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "centre: %zu views are too few to tell it",
                        w->n_views);
    return FBP_OK;
}

static double window_at(const struct search *w, size_t column)
{
    const double in = (w->half - fabs((double)column - w->centre)) / (taper * w->half);

    return in <= 0 ? 0 : in >= 1 ? 1 : 0.5 - 0.5 * cos(FBP_PI * in);
}

static void make_table(struct search *w)
{
    for (size_t c = 0; c < w->n_columns; c++)
        for (size_t i = 0; i < w->n_waves; i++) {
            const double phase = frequency_of(w, i) * ((double)c - w->centre);
            const double weight = window_at(w, c);
            w->table[(2 * c + 0) * MOST_WAVES + i] = weight * cos(phase);
            w->table[(2 * c + 1) * MOST_WAVES + i] = -weight * sin(phase);
        }
}

static double *wave_of(const struct search *w, int part, size_t wave, size_t row)
{
    return w->waves + (((size_t)part * MOST_WAVES + wave) * w->n_rows + row) * w->n_views;
}

static void transform(struct search *w)
{
    make_table(w);
    for (size_t row = 0; row < w->n_rows; row++)
        for (size_t k = 0; k < w->n_views; k++) {
            const float *x = w->values + (row * w->n_views + k) * w->n_columns;
            double sums[2 * MOST_WAVES] = {0};
            for (size_t c = 0; c < w->n_columns; c++)
                for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
                    sums[i] += (double)x[c] * w->table[2 * c * MOST_WAVES + i];
            for (size_t i = 0; i < w->n_waves; i++) {
                wave_of(w, 0, i, row)[k] = sums[i];
                wave_of(w, 1, i, row)[k] = sums[MOST_WAVES + i];
            }
        }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sums[4] = {0}; /* four at a time: each waits for the one before */
    size_t i = 0;

    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sums[0] += a[i] * b[i];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

/* The vector behind the last, freed of all before it; left out if it is little but them. */
static void add_vector(struct basis *b, int odd, size_t n)
{
    double *v = b->vectors[odd] + b->n[odd] * n;
    const double before = dot(v, v, n);

    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < b->n[odd]; i++) {
            const double *u = b->vectors[odd] + i * n, part = dot(u, v, n);
            for (size_t k = 0; k < n; k++)
                v[k] -= part * u[k];
        }
    const double after = dot(v, v, n);
    if (!(after > 1e-6 * before))
        return;
    for (size_t k = 0; k < n; k++)
        v[k] /= sqrt(after);
    b->n[odd]++;
}

/* All harmonics up to one. */
static void extend_basis(struct search *w, size_t harmonic)
{
    struct basis *b = &w->basis;
    const size_t n = w->n_views;

    for (; b->harmonic <= harmonic; b->harmonic++)
        for (int part = 0; part < 2; part++) {
            const int odd = (int)(b->harmonic % 2);
            double *v = b->vectors[odd] + b->n[odd] * n;
            for (size_t k = 0; k < n; k++) {
                const double phase = (double)b->harmonic * w->angles[k];
                v[k] = part ? sin(phase) : cos(phase);
            }
            if (part == 0 || b->harmonic > 0)
                add_vector(b, odd, n);
        }
}

/* Rings are the same in all views: of the part that changes its sign in mirror images, too. */
static void begin_basis(struct search *w)
{
    w->basis.n[0] = w->basis.n[1] = w->basis.harmonic = 0;
    for (size_t k = 0; k < w->n_views; k++)
        w->basis.vectors[1][k] = 1;
    add_vector(&w->basis, 1, w->n_views);
}

/* Products of what two vectors have beside their parts in the basis. */
struct rest {
    double xx, xy, yy;
};

static struct rest rest_of(const struct search *w, int odd, const double *x, const double *y)
{
    const size_t n = w->n_views;
    struct rest r = {dot(x, x, n), dot(x, y, n), dot(y, y, n)};

    for (size_t i = 0; i < w->basis.n[odd]; i++) {
        const double *v = w->basis.vectors[odd] + i * n;
        const double vx = dot(v, x, n), vy = dot(v, y, n);
        r.xx -= vx * vx;
        r.xy -= vx * vy;
        r.yy -= vy * vy;
    }
    return r;
}

/* Moved by d, a wave x + i y becomes (x + i y) exp(i f d); its real part has even harmonics, the
 * other odd ones. */
static void fit_waves(struct search *w)
{
    begin_basis(w);
    for (size_t i = 0; i < w->n_waves; i++) {
        extend_basis(w, (size_t)harmonics_of(w, i));
        const double freedom = (double)(2 * w->n_views - w->basis.n[0] - w->basis.n[1]);
        for (size_t row = 0; row < w->n_rows; row++) {
            const double *x = wave_of(w, 0, i, row), *y = wave_of(w, 1, i, row);
            const struct rest even = rest_of(w, 0, x, y), odd = rest_of(w, 1, x, y);
            const double here = even.xx + odd.yy, away = even.yy + odd.xx;
            w->misfits[i * w->n_rows + row] =
                (struct misfit){frequency_of(w, i), (here + away) / 2, (here - away) / 2,
                                odd.xy - even.xy, freedom};
        }
    }
}

/* Of some rows or waves: half the logarithm of the likelihood, negative, noise being unknown. */
static double cost(const struct search *w, double d, size_t part, size_t parts)
{
    double sum = 0;

    for (size_t i = 0; i < w->n_waves * w->n_rows; i++) {
        const struct misfit *m = &w->misfits[i];
        const double phase = 2 * m->frequency * d;
        const double j = m->a + m->b * cos(phase) + m->c * sin(phase);
        if (i / w->n_rows % parts == part && m->a > 0)
            sum += m->freedom / 2 * log(fmax(j, 1e-9 * m->a));
    }
    return sum;
}

/* The least cost, and its standard deviation. */
static double least(const struct search *w, double about, size_t part, size_t parts, double *error)
{
    double best = about, lowest = INFINITY, step = fine;

    for (double d = about - range; d <= about + range; d += fine) {
        const double y = cost(w, d, part, parts);
        best = y < lowest ? d : best;
        lowest = fmin(lowest, y);
    }
    *error = INFINITY;
    for (int i = 0; i < 4; i++) {
        const double y0 = cost(w, best - step, part, parts), y1 = cost(w, best, part, parts);
        const double y2 = cost(w, best + step, part, parts), bend = y0 - 2 * y1 + y2;
        if (!(bend > 0))
            return best;
        best += fmax(-1, fmin(1, (y0 - y2) / (2 * bend))) * step;
        *error = step / sqrt(bend);
        step /= 2;
    }
    return best;
}

static fbp_status allocate(struct search *w)
{
    const size_t n = w->n_views;

    FBP_TRY(fbp_alloc((void **)&w->table, 2 * sizeof(double) * MOST_WAVES * w->n_columns,
                      "a table of waves"));
    memset(w->table, 0, 2 * sizeof(double) * MOST_WAVES * w->n_columns);
    FBP_TRY(fbp_alloc((void **)&w->waves, 2 * sizeof(double) * MOST_WAVES * w->n_rows * n,
                      "waves of a sinogram"));
    for (int i = 0; i < 2; i++)
        FBP_TRY(
            fbp_alloc((void **)&w->basis.vectors[i], (n + 3) * n * sizeof(double), "harmonics"));
    return fbp_calloc((void **)&w->misfits, MOST_WAVES * w->n_rows, sizeof *w->misfits, "waves");
}

static void clear(struct search *w)
{
    free(w->angles);
    fbp_free(w->values);
    fbp_free(w->table);
    fbp_free(w->waves);
    for (int i = 0; i < 2; i++)
        fbp_free(w->basis.vectors[i]);
    free(w->misfits);
}

/* By how much a wave of a row would have the sum of costs fall. */
static double slope(const struct misfit *m, double d)
{
    const double phase = 2 * m->frequency * d;
    const double j = m->a + m->b * cos(phase) + m->c * sin(phase);

    return m->a > 0 ? m->freedom * m->frequency * (m->c * cos(phase) - m->b * sin(phase)) /
                          fmax(j, 1e-9 * m->a)
                    : 0;
}

/* Sum of squares of slopes of groups: of `of` neighbouring waves in all rows, or of rows in all
 * waves. */
static double scatter(const struct search *w, double d, size_t waves, size_t rows)
{
    double squares = 0;

    for (size_t i = 0; i < w->n_waves; i += waves)
        for (size_t r = 0; r < w->n_rows; r += rows) {
            double sum = 0;
            for (size_t k = i; k < i + waves && k < w->n_waves; k++)
                for (size_t q = r; q < r + rows && q < w->n_rows; q++)
                    sum += slope(&w->misfits[k * w->n_rows + q], d);
            squares += sum * sum;
        }
    return squares;
}

static void compare_parts(const struct search *w, struct fbp_wedge *out)
{
    double lo = INFINITY, hi = -INFINITY, error;
    double all = least(w, 0, 0, 1, &out->error);

    for (size_t i = 0; i < PARTS; i++) {
        const double d = least(w, all, i, PARTS, &error);
        lo = fmin(lo, d);
        hi = fmax(hi, d);
    }
    out->spread = (hi - lo) * (double)w->bin;
    const double var = out->error * out->error;
    const double a = var * sqrt(scatter(w, all, 2, w->n_rows));
    const double b = w->n_rows > 3 ? var * sqrt(scatter(w, all, w->n_waves, 1)) : 0;
    out->error = fmax(out->error, fmax(a, b)) * (double)w->bin;
}

fbp_status fbp_wedge_find(struct fbp_wedge *out, const struct fbp_sinogram *s, double near)
{
    struct search w = {0};
    fbp_status st = FBP_OK;
    double shift = 0;

    FBP_TRY_GOTO(join(&w, s));
    shift = ((double)w.bin - 1) / 2;
    w.centre = (near - shift) / (double)w.bin;
    FBP_TRY_GOTO(allocate(&w));
    for (int i = 0; i < ROUNDS; i++) {
        double error;
        FBP_TRY_GOTO(choose_waves(&w));
        transform(&w);
        fit_waves(&w);
        const double d = least(&w, 0, 0, 1, &error);
        compare_parts(&w, out);
        w.centre += d;
        if (fabs(d) < 0.05)
            break;
    }
    out->column = w.centre * (double)w.bin + shift;
fail:
    clear(&w);
    return st;
}
