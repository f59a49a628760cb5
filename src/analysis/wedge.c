/* Finds the detector column of the rotation axis from all views of half a turn of parallel beams:
 * fbp_wedge_find() (method: centre.h).
 * Used by: calibrate.c, centre.c, drift.c. */
#include "analysis/calibrate.h"
#include "analysis/centre.h"

#include "base/math.h"

#include <string.h>

enum {
    MOST_VIEWS = 512, /* more views are averaged in groups of neighbours */
    MOST_COLUMNS = 512,
    MOST_WAVES = 128,
    /* periods of the first wave in the window; window and drifts change lower frequencies */
    FIRST_WAVE = 5,
    FEWEST_WAVES = 2,
    ROUNDS = 4,
};

/* Misfit of a wave in a detector row, if the axis is x averaged columns from the assumed one:
 * a + b cos(2 f x) + c sin(2 f x), with the frequency f of the wave [rad per averaged column];
 * freedom: degrees of freedom of the fit. */
struct misfit {
    double frequency, a, b, c, freedom;
};

/* Orthonormal harmonics at the views' angles: [0] even, [1] odd. harmonic: order of the next. */
struct basis {
    double *vectors[2]; /* [n][view] */
    size_t n[2], harmonic;
};

struct search {
    struct fbp_sinogram s; /* averaged */
    size_t bin, n_waves;
    double *table; /* [column][2][wave]: cosines and sines of all waves, times the window */
    double *waves; /* [2][wave][row][view] */
    struct misfit *misfits; /* [wave][row] */
    struct basis basis;
    double centre, half; /* assumed axis and half width of a window about it [averaged columns] */
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

/* Average groups of neighbouring views and columns of a sinogram, and allocate memory. */
static fbp_status begin_search(struct search *w, const struct fbp_sinogram *s)
{
    w->bin = group_of(s->n_columns, MOST_COLUMNS);
    FBP_TRY(fbp_sinogram_join(&w->s, s, group_of(s->n_views, MOST_VIEWS), w->bin, 1));
    const size_t n = w->s.n_views;
    const size_t table = 2 * sizeof(double) * MOST_WAVES * w->s.n_columns;
    FBP_TRY(fbp_alloc((void **)&w->table, table, "a table of waves"));
    memset(w->table, 0, table);
    FBP_TRY(fbp_alloc((void **)&w->waves, 2 * sizeof(double) * MOST_WAVES * w->s.n_rows * n,
                      "waves of a sinogram"));
    for (int i = 0; i < 2; i++)
        FBP_TRY(
            fbp_alloc((void **)&w->basis.vectors[i], (n + 3) * n * sizeof(double), "harmonics"));
    return fbp_calloc((void **)&w->misfits, MOST_WAVES * w->s.n_rows, sizeof *w->misfits, "waves");
}

static double frequency_of(const struct search *w, size_t wave)
{
    return FBP_PI * (double)(FIRST_WAVE + wave) / w->half;
}

/* Greatest harmonic of a wave along angles: Bessel functions of higher order are nearly 0. */
static double harmonics_of(const struct search *w, size_t wave)
{
    const double x = w->half * frequency_of(w, wave);

    return ceil(x + 3 * cbrt(x) + 1);
}

static double *wave_of(const struct search *w, int part, size_t wave, size_t row)
{
    return w->waves + (((size_t)part * MOST_WAVES + wave) * w->s.n_rows + row) * w->s.n_views;
}

/* Waves of all rows and views: Fourier sums over the columns about the assumed axis. */
static void transform(struct search *w)
{
    static const double taper = 0.2; /* part of half the window, at either end */

    for (size_t c = 0; c < w->s.n_columns; c++) {
        const double in = (w->half - fabs((double)c - w->centre)) / (taper * w->half);
        const double weight = in <= 0 ? 0 : in >= 1 ? 1 : 0.5 - 0.5 * cos(FBP_PI * in);
        for (size_t i = 0; i < w->n_waves; i++) {
            const double phase = frequency_of(w, i) * ((double)c - w->centre);
            w->table[(2 * c + 0) * MOST_WAVES + i] = weight * cos(phase);
            w->table[(2 * c + 1) * MOST_WAVES + i] = -weight * sin(phase);
        }
    }
    for (size_t row = 0; row < w->s.n_rows; row++)
        for (size_t k = 0; k < w->s.n_views; k++) {
            const float *x = w->s.values + (row * w->s.n_views + k) * w->s.n_columns;
            double sums[2 * MOST_WAVES] = {0};
            for (size_t c = 0; c < w->s.n_columns; c++)
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
    /* four sums, because each addition waits for the previous one to the same sum */
    double sums[4] = {0};
    size_t i = 0;

    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sums[0] += a[i] * b[i];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

void fbp_remove_component(const double *unit, double *v, size_t n)
{
    const double part = dot(unit, v, n);

    for (size_t k = 0; k < n; k++)
        v[k] -= part * unit[k];
}

bool fbp_orthonormalise(double *basis, size_t n_vectors, size_t n)
{
    double *v = basis + n_vectors * n;
    const double before = dot(v, v, n);

    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < n_vectors; i++)
            fbp_remove_component(basis + i * n, v, n);
    const double after = dot(v, v, n);
    for (size_t k = 0; k < n; k++)
        v[k] /= sqrt(after);
    return after > 1e-6 * before;
}

/* Scalar products of x and y without their components in a basis (even or odd harmonics). */
struct rest {
    double xx, xy, yy;
};

static struct rest rest_of(const struct search *w, int odd, const double *x, const double *y)
{
    const size_t n = w->s.n_views;
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

/* Fit harmonics to all waves.  A shift of the axis by d multiplies a wave x + i y by exp(i f d);
 * for the right axis, x has only even harmonics and y only odd ones. */
static void fit_waves(struct search *w)
{
    struct basis *b = &w->basis;
    const size_t n = w->s.n_views;

    /* Add the constant to the odd harmonics: rings, equal in all views, cause no misfit. */
    b->n[0] = b->n[1] = b->harmonic = 0;
    for (size_t k = 0; k < n; k++)
        b->vectors[1][k] = 1;
    b->n[1] += fbp_orthonormalise(b->vectors[1], b->n[1], n);
    for (size_t i = 0; i < w->n_waves; i++) {
        for (const size_t last = (size_t)harmonics_of(w, i); b->harmonic <= last; b->harmonic++)
            for (int part = 0; part < 2; part++) {
                const int odd = (int)(b->harmonic % 2);
                double *v = b->vectors[odd] + b->n[odd] * n;
                for (size_t k = 0; k < n; k++) {
                    const double phase = (double)b->harmonic * w->s.angles[k];
                    v[k] = part ? sin(phase) : cos(phase);
                }
                if (part == 0 || b->harmonic > 0)
                    b->n[odd] += fbp_orthonormalise(b->vectors[odd], b->n[odd], n);
            }
        const double freedom = (double)(2 * n - b->n[0] - b->n[1]);
        for (size_t row = 0; row < w->s.n_rows; row++) {
            const double *x = wave_of(w, 0, i, row), *y = wave_of(w, 1, i, row);
            const struct rest even = rest_of(w, 0, x, y), odd = rest_of(w, 1, x, y);
            const double here = even.xx + odd.yy, away = even.yy + odd.xx;
            w->misfits[i * w->s.n_rows + row] =
                (struct misfit){frequency_of(w, i), (here + away) / 2, (here - away) / 2,
                                odd.xy - even.xy, freedom};
        }
    }
}

/* Misfit of a wave, above 0, if the axis is d averaged columns from the assumed one. */
static double misfit_at(const struct misfit *m, double d)
{
    const double phase = 2 * m->frequency * d;

    return fmax(m->a + m->b * cos(phase) + m->c * sin(phase), 1e-9 * m->a);
}

/* Negative log likelihood that the axis is d averaged columns from the assumed one. */
static double cost(const struct search *w, double d)
{
    double sum = 0;

    for (const struct misfit *m = w->misfits; m < w->misfits + w->n_waves * w->s.n_rows; m++)
        if (m->a > 0)
            sum += m->freedom / 2 * log(misfit_at(m, d));
    return sum;
}

/* Find the shift d of the axis [averaged columns] with the least cost(), |d| at most about 3.
 * *error: standard deviation of d; INFINITY: the cost has no minimum there. */
static double least(const struct search *w, double *error)
{
    static const double range = 3, fine = 0.125;
    double best = 0, lowest = INFINITY, step = fine;

    for (double d = -range; d <= range; d += fine) {
        const double y = cost(w, d);
        best = y < lowest ? d : best;
        lowest = fmin(lowest, y);
    }
    *error = INFINITY;
    for (int i = 0; i < 4; i++) {
        const double y0 = cost(w, best - step), y1 = cost(w, best), y2 = cost(w, best + step);
        const double bend = y0 - 2 * y1 + y2;
        if (!(bend > 0))
            return best;
        best += fmax(-1, fmin(1, (y0 - y2) / (2 * bend))) * step;
        *error = step / sqrt(bend);
        step /= 2;
    }
    return best;
}

/* Sum, over groups of `waves` waves and `rows` rows, the squares of the cost's slope at shift d. */
static double scatter(const struct search *w, double d, size_t waves, size_t rows)
{
    double squares = 0;

    for (size_t i = 0; i < w->n_waves; i += waves)
        for (size_t r = 0; r < w->s.n_rows; r += rows) {
            double sum = 0;
            for (size_t k = i; k < i + waves && k < w->n_waves; k++)
                for (size_t q = r; q < r + rows && q < w->s.n_rows; q++) {
                    const struct misfit *m = &w->misfits[k * w->s.n_rows + q];
                    const double phase = 2 * m->frequency * d;
                    const double slope = m->frequency * (m->c * cos(phase) - m->b * sin(phase));
                    sum += m->a > 0 ? m->freedom * slope / misfit_at(m, d) : 0;
                }
            squares += sum * sum;
        }
    return squares;
}

fbp_status fbp_wedge_find(struct fbp_wedge *out, const struct fbp_sinogram *s, double near)
{
    static const double most_harmonics = 0.75; /* order of a harmonic / number of views */
    /* greatest frequency of a wave [rad per averaged column]; higher ones are near their aliases */
    static const double highest = 1;
    struct search w = {0};
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(begin_search(&w, s));
    const double bin = (double)w.bin, shift = (bin - 1) / 2, last = (double)w.s.n_columns - 1;
    w.centre = (near - shift) / bin;
    for (int i = 0; i < ROUNDS; i++) {
        w.half = fmin(w.centre, last - w.centre) + 0.5; /* half the window */
        w.n_waves = 0;
        while (w.half > 4 && w.n_waves < MOST_WAVES && frequency_of(&w, w.n_waves) < highest &&
               harmonics_of(&w, w.n_waves) + 2 < most_harmonics * (double)w.s.n_views)
            w.n_waves++;
        if (w.n_waves < FEWEST_WAVES)
            FBP_TRY_GOTO(fbp_fail(FBP_ERR_UNSUPPORTED,
                                  "centre: %zu views, or the columns around the assumed axis, are "
                                  "too few to find the axis; give the column",
                                  w.s.n_views));
        transform(&w);
        fit_waves(&w);
        const double d = least(&w, &out->error);
        if (i == 0)
            out->cost = cost(&w, d);
        const double var = out->error * out->error;
        const double a = var * sqrt(scatter(&w, d, 2, w.s.n_rows));
        const double b = w.s.n_rows > 3 ? var * sqrt(scatter(&w, d, w.n_waves, 1)) : 0;
        out->error = fmax(out->error, fmax(a, b)) * bin;
        w.centre += d;
        if (fabs(d) < 0.05)
            break;
    }
    out->column = w.centre * bin + shift;
fail:
    fbp_sinogram_clear(&w.s);
    fbp_free(w.table);
    fbp_free(w.waves);
    for (int i = 0; i < 2; i++)
        fbp_free(w.basis.vectors[i]);
    free(w.misfits);
    return st;
}
