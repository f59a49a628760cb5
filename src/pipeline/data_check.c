/* Checks of the views for bad data, by a few samples per view (data_check.h): choice of the checked
 * rows and columns, results per row, and conclusions and warnings about the scan: truncated, dead
 * or differently exposed views, and intensities that are used as line integrals.
 *
 * Views are checked when they are read, or in the caller's memory. After the run,
 * fbp_data_check_finish() draws the conclusions; in a team, the results of all processes are joined
 * first.
 * Used by: pipeline/. */
#include "pipeline/data_check.h"

#include "array/array.h"
#include "array/device_memory.h"
#include "backend/rows.h"
#include "base/base.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "pipeline/job.h"
#include "prep/prep.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* CHECKED_ROWS: greatest number of checked rows per view. CHECKED_COLUMNS: greatest number of
 * checked columns at either end of a row. CHECKED_PLACES: number of pairs of neighbouring columns,
 * spread over a row, from which the greatest and least values of the row are found. */
enum {
    CHECKED_ROWS = 8,
    CHECKED_COLUMNS = 16,
    CHECKED_PLACES = 32,
    CHECKED_ENDS = 2 * CHECKED_PLACES
};

/* Results of the check of one row of a view, as line integrals unless stated otherwise. */
struct checked_row {
    /* peak: greatest value of the row; end: medians of the checked samples at the row's first and
     * last columns; noise: standard deviations of these medians */
    float peak, end[2], noise[2];
    /* low: least value of the row; slope: at each end, mean of the inner half of the checked
     * columns minus mean of the outer half; both are used only for line integrals */
    float low, slope[2];
    bool seen;
};

/* Results of the check of one view. lo, hi: least and greatest finite sample as measured;
 * unclipped: a sample is not clipped; dead: the view has no data (is_live()). */
struct checked_view {
    float lo, hi;
    bool unclipped, dead;
    bool odd; /* the exposure of the view differs from that of most views */
    /* difference between the line integrals at the ends of this view's rows and those of most
     * views, if the difference is significant and the same at all ends; else 0 */
    double shift;
};

#define NOTHING_CHECKED ((struct checked_view){.lo = INFINITY, .hi = -INFINITY})

/* Checked columns of a row: CHECKED_PLACES columns spread over the row, then their right
 * neighbours, and from index CHECKED_ENDS on the `ends` outermost columns at either end, outermost
 * first. */
struct checked_columns {
    size_t n, ends;
    size_t at[CHECKED_ENDS + 2 * CHECKED_COLUMNS];
};

struct fbp_data_check {
    const struct fbp_job *job;
    pthread_mutex_t lock; /* protects all members below */
    bool chosen;          /* rows and columns have been chosen */
    struct checked_columns columns;
    size_t rows[CHECKED_ROWS], n_rows;
    struct checked_view *views;
    struct checked_row *seen; /* [view][CHECKED_ROWS] */
    double reach; /* greatest distance of a detector edge from the projected axis [columns] */
    /* value of the samples in air if they seem to be intensities, not line integrals; else 0 */
    double air;
};

/* Detector row r of a view in memory; its samples have the type job->input.type. */
struct row_samples {
    const struct fbp_job *job;
    const void *samples;
    size_t r;
};

/* Return whether a view has samples of different values, and at least one that is not clipped. */
static inline bool is_live(const struct checked_view *v)
{
    return v->hi > v->lo && v->unclipped;
}

/* The lesser of two numbers; inline, because calls of fminf() would dominate the check's time. */
static inline float lesser(float a, float b)
{
    return b < a ? b : a;
}

static inline float greater(float a, float b)
{
    return b > a ? b : a;
}

/* Distance of the detector's first (end = 0) or last (end = 1) edge from the projected iso-centre,
 * a point of the rotation axis, in columns. */
static inline double edge_distance(const struct fbp_job *job, size_t view, int end)
{
    const double *m = job->matrices[view];
    const double axis =
        (m[3] / m[11] - (double)job->padded.left) / (double)(job->padded.inserted + 1);

    return end == 0 ? axis + 0.5 : (double)job->panel.n_columns - 0.5 - axis;
}

/* Return whether an end of the rows is the edge of an offset detector that is nearer to the axis:
 * the object usually extends beyond this edge, which does not count as truncation. The distances of
 * the two edges of an offset detector from the axis differ by at least 4 %. */
static inline bool is_axis_side(const fbp_data_check *check, size_t view, int end)
{
    return check->job->facts.offset && edge_distance(check->job, view, end) < 0.97 * check->reach;
}

/* ---- One row ----
 *
 * A check must be fast, because the thread that has read a view checks it. It compares values that
 * grow with the line integral (of intensities: minus the transmission), and computes logarithms
 * only of the results. */

static inline float sample(const struct row_samples *line, size_t c)
{
    return line->job->input.type == FBP_U16   ? (float)((const uint16_t *)line->samples)[c]
           : line->job->input.type == FBP_F64 ? (float)((const double *)line->samples)[c]
                                              : ((const float *)line->samples)[c];
}

/* Convert a sample to a value that grows with the line integral; NaN: a bad pixel. */
static inline float value(const struct fbp_prep *p, size_t pixel, float x, size_t *clipped)
{
    const float gain = p->gain ? p->gain[pixel] : p->inverse_i0;

    if (!p->intensity)
        return x;
    if (p->gain && gain == 0)
        return NAN;
    return -fbp_transmission(x, p->dark ? p->dark[pixel] : 0, gain, p->gain, clipped);
}

static float line_integral(const struct fbp_prep *p, float value)
{
    return p->intensity ? -logf(-value) : value;
}

/* Find the median of n <= CHECKED_COLUMNS values, without branches. If two values are in the
 * middle, the lower one is taken, because an object that covers only half of the checked columns at
 * an end of a row does not count as truncated. */
static float median(const float *x, size_t n)
{
    float all[CHECKED_COLUMNS], found = -INFINITY;
    int below[CHECKED_COLUMNS] = {0};

    for (size_t i = 0; i < CHECKED_COLUMNS; i++)
        all[i] = i < n ? x[i] : INFINITY;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < CHECKED_COLUMNS; i++)
            below[i] += all[k] < all[i];
    for (size_t i = 0; i < n; i++)
        found = below[i] <= (int)(n - 1) / 2 && all[i] > found ? all[i] : found;
    return n ? found : NAN;
}

/* Compute for n checked columns at an end of a row, the outermost first: median, standard deviation
 * of the median (*noise), and mean of the inner half minus mean of the outer half (*slope). */
static void check_end(const struct fbp_prep *p, const float *values, size_t n, float *end,
                      float *noise, float *slope)
{
    float halves[2] = {0, 0};

    for (size_t i = 0; i < n / 2; i++) {
        halves[0] += values[i];
        halves[1] += values[n - 1 - i];
    }
    *slope = n > 1 ? (halves[1] - halves[0]) / (float)(n / 2) : 0;
    float x[CHECKED_COLUMNS], d[CHECKED_COLUMNS];
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        const float v = values[i];
        if (!isfinite(v))
            continue;
        if (m > 0) { /* intensities: the quotient, whose logarithm is the difference */
            const float lo = lesser(v, x[m - 1]), hi = greater(v, x[m - 1]);
            d[m - 1] = p->intensity ? lo / hi : hi - lo;
        }
        x[m++] = v;
    }
    /* For Gaussian noise of standard deviation sigma, the median |difference| of neighbours is
     * 0.954 sigma, and the median of m samples has the standard deviation 1.25 sigma / sqrt(m). */
    const float typical = m > 1 ? median(d, m - 1) : 0;
    const float sigma = m > 1 ? 1.05f * (p->intensity ? logf(typical) : typical) : 0;
    *end = m ? line_integral(p, median(x, m)) : NAN;
    *noise = m ? 1.25f * sigma / sqrtf((float)m) : 0;
}

static void check_row(const struct row_samples *line, const struct checked_columns *columns,
                      struct checked_row *out)
{
    const struct fbp_prep *prep = line->job->filtering.prep;
    const size_t first = line->r * prep->panel.n_columns;
    float v[sizeof columns->at / sizeof *columns->at], peak = -INFINITY, low = INFINITY;
    size_t clipped = 0;

    for (size_t i = 0; i < columns->n; i++)
        v[i] = sample(line, columns->at[i]);
    for (size_t i = 0; prep->intensity && i < columns->n; i++)
        v[i] = value(prep, first + columns->at[i], v[i], &clipped);
    for (size_t i = 0; i < CHECKED_PLACES; i++) { /* the lesser of two: one may be hot */
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): at least 64 columns are read */
        const float a = v[i], b = v[CHECKED_PLACES + i];
        peak = isfinite(a) && isfinite(b) ? greater(peak, lesser(a, b)) : peak;
        low = isfinite(a) && isfinite(b) ? lesser(low, greater(a, b)) : low;
    }
    out->low = low;
    out->peak = isfinite(peak) ? line_integral(prep, peak) : peak;
    for (size_t end = 0; end < 2; end++)
        check_end(prep, v + CHECKED_ENDS + end * columns->ends, columns->ends, &out->end[end],
                  &out->noise[end], &out->slope[end]);
    out->seen = isfinite(out->peak) && isfinite(out->end[0]) && isfinite(out->end[1]);
}

static void search_life(const struct row_samples *line, size_t step, struct checked_view *v)
{
    const size_t nc = line->job->panel.n_columns;

    for (size_t c = 0; c < nc && !is_live(v); c += step) {
        const float x = sample(line, c);
        size_t clipped = 0;
        if (!isfinite(x) || isnan(value(line->job->filtering.prep, line->r * nc + c, x, &clipped)))
            continue;
        v->lo = lesser(v->lo, x);
        v->hi = greater(v->hi, x);
        v->unclipped |= clipped == 0;
    }
}

/* ---- Views of another exposure than most views ----
 *
 * In such a view all line integrals, air included, are shifted by the same amount.  An object that
 * is wider than the panel shifts neither all rows nor both ends of a row equally, and shifts the
 * greatest value of a row by another amount than its ends. */

/* The shift of a view is the median difference of its values at the ends of rows from those of most
 * views.  The view can have another exposure if the shift exceeds SHIFTED times the usual greatest
 * value of a row, and SIGMAS times the noise, and if each difference deviates from the shift by at
 * most ALIKE times the shift plus SIGMAS times the noise. */
static const double SHIFTED = 0.08;
static const double ALIKE = 0.15;
static const double SIGMAS = 4;

/* Greatest number of views from which medians over views are found, to save time. */
enum { SAMPLE = 128 };

/* A view has another exposure only if the greatest values of its rows differ by the shift, too,
 * from those of neighbouring views, with a tolerance of PEAK_SHIFT times the shift plus PEAK_TURN
 * times the neighbours' mean plus half the difference of the neighbours. */
static const double PEAK_SHIFT = 0.35, PEAK_TURN = 0.15;

/* Medians over views. end: values at both ends of each checked row; noise: noise of these values;
 * peak: greatest value of a row (the largest of the medians of all checked rows). */
struct usual {
    double end[CHECKED_ROWS][2], noise, peak;
};

static const struct checked_row *row_of(const fbp_data_check *check, size_t view, size_t i)
{
    return &check->seen[view * CHECKED_ROWS + i];
}

/* Median over views of one quantity of checked row i; 0: no view has the quantity. With an offset
 * detector, the ends of rows near the axis are left out.
 *
 * what: 0, 1: value at the first and at the last columns of the row; 2, 3: noise of these values;
 * 4: greatest value of the row */
static double median_of(const fbp_data_check *check, size_t i, int what, float *scratch)
{
    const size_t n_views = check->job->n_views;
    size_t n = 0;

    for (size_t j = 0; j < SAMPLE && j < n_views; j++) {
        /* take all of up to SAMPLE views, else steps of the golden section (no periodic pattern) */
        const double part = (double)j * 0.6180339887498949;
        const size_t k = n_views <= SAMPLE ? j : (size_t)((part - floor(part)) * (double)n_views);
        const struct checked_row *r = row_of(check, k, i);
        if (r->seen && !check->views[k].dead && (what > 3 || !is_axis_side(check, k, what % 2)))
            scratch[n++] = what < 2 ? r->end[what] : what < 4 ? r->noise[what - 2] : r->peak;
    }
    return n > 0 ? (double)fbp_median(scratch, n) : 0;
}

/* Find the medians over views (struct usual). The noise is also a median over the ends of rows,
 * because an end with a hot pixel is noisier. */
static void find_usual(const fbp_data_check *check, struct usual *u)
{
    float scratch[SAMPLE], noise[2 * CHECKED_ROWS];
    size_t n = 0;

    *u = (struct usual){.peak = 0};
    for (size_t i = 0; i < check->n_rows; i++) {
        for (int end = 0; end < 2; end++) {
            u->end[i][end] = median_of(check, i, end, scratch);
            noise[n++] = (float)median_of(check, i, 2 + end, scratch);
        }
        u->peak = fmax(u->peak, median_of(check, i, 4, scratch));
    }
    u->noise = n > 0 ? (double)fbp_median(noise, n) : 0;
}

/* Median difference between the values at the ends of a view's rows and their medians over views,
 * if all ends differ equally and the difference is large enough (SHIFTED, SIGMAS); else 0. */
static double shift_of(const fbp_data_check *check, size_t view, const struct usual *u)
{
    float shifts[2 * CHECKED_ROWS], sorted[2 * CHECKED_ROWS], noise[2 * CHECKED_ROWS];
    size_t n = 0;

    for (size_t i = 0; i < check->n_rows; i++)
        for (int end = 0; end < 2; end++) {
            const struct checked_row *r = row_of(check, view, i);
            if (!r->seen || is_axis_side(check, view, end))
                continue;
            noise[n] = greater(r->noise[end], (float)u->noise);
            shifts[n++] = r->end[end] - (float)u->end[i][end];
        }
    if (n == 0)
        return 0;
    memcpy(sorted, shifts, n * sizeof *sorted);
    const double d = (double)fbp_median(sorted, n);
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)shifts[i] - d) <= ALIKE * fabs(d) + SIGMAS * (double)noise[i]))
            return 0;
    return fabs(d) > fmax(SHIFTED * u->peak, SIGMAS * u->noise) ? d : 0;
}

/* Mean, over the checked rows of a view, of their greatest values. */
static double peak_of(const fbp_data_check *check, size_t view)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < check->n_rows; i++)
        if (row_of(check, view, i)->seen) {
            sum += (double)row_of(check, view, i)->peak;
            n++;
        }
    return n > 0 ? sum / (double)n : 0;
}

static bool is_usual(const fbp_data_check *check, size_t view)
{
    const struct checked_view *v = &check->views[view];

    return !v->dead && v->shift == 0 && row_of(check, view, 0)->seen;
}

static void find_air(fbp_data_check *check)
{
    static const double LOWER = 0.05, FLAT = 0.0025, SAME = 0.02, FAR_ABOVE = 20;
    const struct fbp_job *job = check->job;
    float ends[2 * CHECKED_ROWS];
    size_t n_ends = 0, n = 0, n_air = 0, n_rows = 0, n_greatest = 0, n_lower = 0, n_half = 0;
    double slope = 0;
    struct usual u;

    if (job->filtering.prep->intensity || !fbp_kind_has_lines(job->kind))
        return;
    find_usual(check, &u);
    for (size_t i = 0; i < check->n_rows; i++)
        for (int end = 0; end < 2; end++)
            /* median_of() returns 0 at the axis side of an offset detector */
            if (u.end[i][end] != 0)
                ends[n_ends++] = (float)u.end[i][end];
    const double air = n_ends > 0 ? (double)fbp_median(ends, n_ends) : 0;
    const double near = SAME * air + SIGMAS * u.noise;
    for (size_t i = 0; i < job->n_views * CHECKED_ROWS; i++) {
        const struct checked_row *r = &check->seen[i];
        if (!r->seen || check->views[i / CHECKED_ROWS].dead)
            continue;
        n_rows++;
        n_greatest += (double)r->peak < 1.1 * air + near && (double)r->low > -near;
        n_lower += (double)r->low < (1 - LOWER) * air - SIGMAS * u.noise;
        n_half += (double)r->low < air / 2 - SIGMAS * u.noise;
        for (int end = 0; end < 2; end++) {
            if (is_axis_side(check, i / CHECKED_ROWS, end))
                continue;
            n++;
            if (fabs((double)r->end[end] - air) > near)
                continue;
            n_air++;
            slope += (double)r->slope[end];
        }
    }
    const bool level = fabs(air - 1) <= 0.1 || air > FAR_ABOVE ||
                       (air > 0 && (double)n_half >= 0.05 * (double)n_rows);
    const double scatter = SIGMAS * u.noise / sqrt((double)(n_air ? n_air : 1));
    if (level && n_rows > 0 && (double)n_greatest >= 0.9 * (double)n_rows &&
        (double)n_lower >= 0.05 * (double)n_rows && (double)n_air >= 0.75 * (double)n &&
        fabs(slope) / (double)n_air <= FLAT * air + 2 * scatter)
        check->air = air;
}

static void find_exposure(fbp_data_check *check, struct fbp_report *report)
{
    const size_t n = check->job->n_views;
    /* nearest views before and after view k that have the usual exposure; n: none */
    size_t before = n, behind = 0;
    struct usual u;

    find_usual(check, &u);
    for (size_t k = 0; k < n; k++)
        check->views[k].shift = check->views[k].dead ? 0 : shift_of(check, k, &u);
    for (size_t k = 0; k < n; k++) {
        struct checked_view *v = &check->views[k];
        before = is_usual(check, k) ? k : before;
        for (behind = behind > k ? behind : k; behind < n && !is_usual(check, behind);)
            behind++;
        if (v->shift == 0 || (before == n && behind == n))
            continue;
        /* Check whether the greatest values of the view's rows are also shifted, by d. */
        const double d = v->shift, a = peak_of(check, before < n ? before : behind);
        const double b = peak_of(check, behind < n ? behind : before), beside = (a + b) / 2;
        const double off = fabs(peak_of(check, k) - beside - d), exposure = exp(-d);
        v->odd = off <= PEAK_SHIFT * fabs(d) + PEAK_TURN * fabs(beside) + fabs(a - b) / 2;
        if (!v->odd)
            continue;
        if (report->exposure_views++ == 0) {
            report->exposure_first = k;
            report->exposure[0] = report->exposure[1] = exposure;
        }
        report->exposure_last = k;
        report->exposure[0] = fmin(report->exposure[0], exposure);
        report->exposure[1] = fmax(report->exposure[1], exposure);
    }
}

void fbp_data_check_exposure(const struct fbp_report *r, size_t n_views, char *line, size_t n)
{
    char views[64], factor[64];

    line[0] = '\0';
    if (r->exposure_views == 0)
        return;
    if (r->exposure_views == 1)
        snprintf(views, sizeof views, "view %zu is", r->exposure_first);
    else
        snprintf(views, sizeof views, "%zu of %zu views (%zu to %zu) are", r->exposure_views,
                 n_views, r->exposure_first, r->exposure_last);
    if (r->exposure_views == 1)
        snprintf(factor, sizeof factor, "%.3g", r->exposure[0]);
    else
        snprintf(factor, sizeof factor, "%.3g to %.3g", r->exposure[0], r->exposure[1]);
    snprintf(
        line, n,
        "%s %s than neighbouring views, in air, too, by a factor of %s; expect streaks, divide "
        "the intensities of these views by the factor, or remove them from the scan",
        views,
        r->exposure[1] < 1   ? "darker"
        : r->exposure[0] > 1 ? "brighter"
                             : "darker or brighter",
        factor);
}

/* ---- Truncated and dead views ---- */

/* A row is truncated if the value at one of its ends exceeds CUT_OFF times the greatest value of
 * the row.  The projection of an ellipse has this value at 0.16 % of its width from its edge. */
static const float CUT_OFF = 0.08f;
/* If the least value at the ends of all rows is positive and below this fraction of the greatest
 * value of the scan, it is taken as the line integral of air, and subtracted from all values. */
static const float IN_AIR = 0.1f;
/* A row counts as empty if its values are at most this fraction of the scan's greatest value. */
static const float EMPTY = 0.1f;
/* Number of standard deviations that are subtracted from a value at an end of a row before it is
 * compared with CUT_OFF, so that noise causes no warning even in thousands of rows. */
static const float SIGMAS_AT_END = 4;

static void find_truncation(const fbp_data_check *check, struct fbp_report *report)
{
    const size_t n_views = check->job->n_views, enough = check->n_rows < 2 ? 1 : 2;
    /* peak: greatest value of the scan; least: least value at any end of a row; noise: mean noise
     * at the first and last columns of all rows (estimates of a single row may be far too small) */
    float peak = 0, least = INFINITY, noise[2] = {0, 0};
    double sum[2] = {0, 0};
    size_t n = 0;

    for (size_t i = 0; i < n_views * CHECKED_ROWS; i++) {
        const struct checked_row *r = &check->seen[i];
        if (!r->seen || check->views[i / CHECKED_ROWS].odd)
            continue;
        peak = greater(peak, r->peak);
        least = lesser(least, lesser(r->end[0], r->end[1]));
        sum[0] += (double)r->noise[0];
        sum[1] += (double)r->noise[1];
        n++;
    }
    const float air = least > 0 && least < IN_AIR * peak ? least : 0;
    for (int end = 0; end < 2 && n > 0; end++)
        noise[end] = (float)(sum[end] / (double)n);

    for (size_t k = 0; k < n_views; k++) {
        bool cut = false;
        for (int end = 0; end < 2 && !check->views[k].odd; end++) {
            /* greatest ratio, over the truncated rows of the view, of the value at this end of a
             * row to the greatest value of the row */
            double most = 0;
            size_t n_cut = 0;
            for (size_t i = 0; i < check->n_rows && !is_axis_side(check, k, end); i++) {
                const struct checked_row *r = row_of(check, k, i);
                const float at_end = r->end[end] - air, top = greater(r->peak, r->end[end]) - air;
                if (!r->seen || !(r->peak > EMPTY * peak) ||
                    !(at_end - SIGMAS_AT_END * greater(r->noise[end], noise[end]) > CUT_OFF * top))
                    continue;
                const double part = (double)(at_end / top);
                n_cut += part > 0;
                most = part > most ? part : most;
            }
            if (n_cut < enough)
                continue;
            report->truncated[end] = fmax(report->truncated[end], most);
            cut |= most > 0;
        }
        if (!cut)
            continue;
        if (report->truncated_views++ == 0)
            report->truncated_first = k;
        report->truncated_last = k;
    }
}

void fbp_data_check_truncated(const struct fbp_report *r, size_t n_views, bool padded, char *line,
                              size_t n)
{
    char range[64] = "", where[120];
    const double *part = r->truncated;

    line[0] = '\0';
    if (r->truncated_views == 0)
        return;
    if (r->truncated_views < n_views)
        snprintf(range, sizeof range, " (%zu to %zu)", r->truncated_first, r->truncated_last);
    if (part[0] > 0 && part[1] > 0)
        snprintf(where, sizeof where,
                 "%.0f %% of a row's greatest value at its first column, %.0f %% at its last",
                 100 * part[0], 100 * part[1]);
    else
        snprintf(where, sizeof where, "%.0f %% of a row's greatest value at its %s column",
                 100 * fmax(part[0], part[1]), part[0] > 0 ? "first" : "last");
    snprintf(line, n, "the object is wider than the panel in %zu of %zu views%s, with up to %s; %s",
             r->truncated_views, n_views, range, where,
             padded ? "rows were extrapolated beyond the panel (--pad)"
                    : "values rise towards the edge of the field of view, but --pad ellipse "
                      "extrapolates the rows");
}

void fbp_data_check_air(const fbp_data_check *check, char *line, size_t n)
{
    const bool one = fabs(check->air - 1) < 0.02;

    line[0] = '\0';
    if (check->air > 0)
        snprintf(line, n,
                 "the samples were used as line integrals, but seem to be intensities, because "
                 "rows have their greatest values, about %.3g, at their ends, in air; give \"i0\": "
                 "%.4g in the scan file, or a flat",
                 check->air, one ? 1 : check->air);
}

void fbp_data_check_dead(const fbp_data_check *check, const struct fbp_report *report, char *line,
                         size_t n)
{
    const size_t n_views = check->job->n_views;
    char list[400] = ""; /* such as "7, 12 to 15, ..." */
    size_t used = 0, runs = 0;

    line[0] = '\0';
    if (report->dead_views == 0)
        return;
    for (size_t k = 0, end; k < n_views && runs <= 8 && used + 64 < sizeof list; k = end) {
        end = k + 1;
        if (!check->views[k].dead)
            continue;
        while (end < n_views && check->views[end].dead)
            end++;
        if (runs++ == 8)
            snprintf(list + used, sizeof list - used, ", ...");
        else
            used += (size_t)snprintf(list + used, sizeof list - used,
                                     end - k > 1 ? "%s%zu to %zu" : "%s%zu", runs > 1 ? ", " : "",
                                     k, end - 1);
    }
    snprintf(line, n,
             "%zu of %zu views (%s) contain no data: all their samples are equal, clipped, or not "
             "numbers; remove these views from the scan, or measure them again",
             report->dead_views, n_views, list);
}

static fbp_status fail_all_dead(const fbp_data_check *check, const char *name)
{
    const size_t n = check->job->n_views;
    struct checked_view all = NOTHING_CHECKED;

    for (size_t k = 0; k < n; k++) {
        all.lo = lesser(all.lo, check->views[k].lo);
        all.hi = greater(all.hi, check->views[k].hi);
        all.unclipped |= check->views[k].unclipped;
    }
    if (all.lo > all.hi)
        return FBP_INVALID(
            "%s: no sample of the %zu views is a number; check the file, and the type "
            "and byte order in the scan file",
            name, n);
    if (all.lo == all.hi)
        return FBP_INVALID(
            "%s: all samples of the %zu views are %.7g; check the file, or data set, "
            "and the type in the scan file",
            name, n, (double)all.lo);
    if (!all.unclipped)
        return FBP_INVALID(
            "%s: all intensities of the %zu views, %.7g to %.7g, are at or below the "
            "dark image; check that the file contains projections, and that \"dark\" "
            "and \"i0\" or \"flat\" belong to them",
            name, n, (double)all.lo, (double)all.hi);
    return FBP_INVALID(
        "%s: in each of the %zu views, all samples are equal, clipped, or not numbers "
        "(%.7g to %.7g); check the file, or data set",
        name, n, (double)all.lo, (double)all.hi);
}

/* ---- Checks of views while a run reads them ---- */

static void needed_rows(const struct fbp_job *job, size_t k0, size_t k1, size_t *r0, size_t *r1)
{
    size_t z0, n;

    fbp_job_slices(job, &z0, &n);
    job->rows(job, k0, k1, z0, z0 + n, r0, r1);
}

/* Choose the checked rows, spread over the detector rows that the slices of this job need from any
 * view, and the checked columns. Called before the first check, not when the check is created,
 * because finding these rows would delay the start of the device. */
static void choose(fbp_data_check *check)
{
    const struct fbp_job *job = check->job;
    const size_t nc = job->panel.n_columns, wanted = nc / 32;
    struct checked_columns *out = &check->columns;
    size_t r0, r1;

    needed_rows(job, 0, job->n_views, &r0, &r1);
    const size_t n = r1 - r0, most = n < CHECKED_ROWS ? n : CHECKED_ROWS;
    for (size_t i = 0; i < most; i++)
        check->rows[i] = r0 + (2 * i + 1) * n / (2 * most);
    check->n_rows = most;

    for (size_t i = 0; i < CHECKED_PLACES; i++) {
        const size_t c = (2 * i + 1) * nc / CHECKED_ENDS;
        out->at[i] = c;
        out->at[CHECKED_PLACES + i] = c + 1 < nc ? c + 1 : c;
    }
    out->ends = wanted >= CHECKED_COLUMNS ? CHECKED_COLUMNS
                : wanted >= 4             ? wanted
                : nc < 4                  ? nc
                                          : 4;
    out->n = CHECKED_ENDS;
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; i < out->ends; i++)
            out->at[out->n++] = end ? nc - 1 - i : i;
    check->chosen = true;
}

fbp_status fbp_data_check_create(fbp_data_check **out, const struct fbp_job *job)
{
    fbp_data_check *check = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&check, 1, sizeof *check, "checks of the views"));
    pthread_mutex_init(&check->lock, NULL);
    check->job = job;
    FBP_TRY_GOTO(fbp_calloc((void **)&check->views, job->n_views, sizeof *check->views,
                            "checks of the views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&check->seen, job->n_views * CHECKED_ROWS, sizeof *check->seen,
                            "checks of the views"));
    for (size_t k = 0; k < job->n_views; k++) {
        check->views[k] = NOTHING_CHECKED;
        check->reach = fmax(check->reach, fmax(edge_distance(job, k, 0), edge_distance(job, k, 1)));
    }
    *out = check;
    return FBP_OK;
fail:
    fbp_data_check_destroy(&check);
    return st;
}

void fbp_data_check_destroy(fbp_data_check **check)
{
    if (!*check)
        return;
    pthread_mutex_destroy(&(*check)->lock);
    free((*check)->views);
    free((*check)->seen);
    free(*check);
    *check = NULL;
}

size_t fbp_data_check_packed(const struct fbp_job *job)
{
    return job->n_views * (sizeof(struct checked_view) + CHECKED_ROWS * sizeof(struct checked_row));
}

size_t fbp_data_check_bytes(const struct fbp_job *job)
{
    return sizeof(fbp_data_check) + fbp_data_check_packed(job);
}

void fbp_data_check_pack(fbp_data_check *check, void *out)
{
    const size_t n = check->job->n_views, views = n * sizeof *check->views;

    pthread_mutex_lock(&check->lock);
    memcpy(out, check->views, views);
    memcpy((char *)out + views, check->seen, n * CHECKED_ROWS * sizeof *check->seen);
    pthread_mutex_unlock(&check->lock);
}

static void join_view(struct checked_view *to, const struct checked_view *other)
{
    to->lo = lesser(to->lo, other->lo);
    to->hi = greater(to->hi, other->hi);
    to->unclipped |= other->unclipped;
}

void fbp_data_check_join(fbp_data_check *check, const void *other)
{
    const char *views = other, *rows = views + check->job->n_views * sizeof(struct checked_view);
    struct checked_view view;
    struct checked_row row;

    pthread_mutex_lock(&check->lock); /* a thread may still check views in memory */
    if (!check->chosen)
        choose(check);
    for (size_t k = 0; k < check->job->n_views; k++) {
        memcpy(&view, views + k * sizeof view, sizeof view);
        join_view(&check->views[k], &view);
    }
    for (size_t i = 0; i < check->job->n_views * CHECKED_ROWS; i++) {
        memcpy(&row, rows + i * sizeof row, sizeof row);
        if (!check->seen[i].seen)
            check->seen[i] = row;
    }
    pthread_mutex_unlock(&check->lock);
}

void fbp_data_check_view(fbp_data_check *check, const struct fbp_batch *batch, size_t k,
                         const void *raw)
{
    const struct fbp_job *job = check->job;
    const size_t view = fbp_batch_view(job, batch, k), size = fbp_raw_size(job);
    const size_t row_bytes = job->panel.n_columns * size;
    const size_t step = job->panel.n_columns / CHECKED_PLACES + 1;
    /* `raw` contains detector rows [row0, row0 + n_rows) of each view */
    const size_t row0 = batch->load_row0, n_rows = batch->load_rows;
    const char *rows = (const char *)raw + k * n_rows * row_bytes;
    struct checked_row *all = &check->seen[view * CHECKED_ROWS], seen[CHECKED_ROWS];
    struct row_samples lines[CHECKED_ROWS];
    size_t r0, r1, which[CHECKED_ROWS], n = 0;

    if (batch->load_rows == 0)
        return;
    pthread_mutex_lock(&check->lock);
    if (!check->chosen)
        choose(check);
    struct checked_view v = check->views[view];
    memcpy(seen, all, sizeof seen);
    pthread_mutex_unlock(&check->lock);

    needed_rows(job, view, view + 1, &r0, &r1); /* other rows may not be in memory */
    for (size_t i = 0; i < check->n_rows; i++) {
        const size_t r = check->rows[i];
        if (seen[i].seen || r < r0 || r >= r1 || r < row0 || r >= row0 + n_rows)
            continue;
        const char *line = rows + (r - row0) * row_bytes;
        lines[n] = (struct row_samples){job, line, r};
        which[n++] = i;
        for (size_t c = 0; c < CHECKED_PLACES; c++)
            __builtin_prefetch(line + check->columns.at[c] * size);
        for (size_t end = 0; end < 2; end++)
            __builtin_prefetch(line +
                               check->columns.at[CHECKED_ENDS + end * check->columns.ends] * size);
    }
    for (size_t i = 0; i < n; i++) {
        check_row(&lines[i], &check->columns, &seen[which[i]]);
        search_life(&lines[i], step, &v);
    }
    for (size_t r = row0; r < row0 + n_rows && !is_live(&v); r++)
        search_life(&(struct row_samples){job, rows + (r - row0) * row_bytes, r}, 1, &v);

    /* lock, because another device may have checked other rows of this view */
    pthread_mutex_lock(&check->lock);
    join_view(&check->views[view], &v);
    for (size_t i = 0; i < check->n_rows; i++)
        all[i] = all[i].seen ? all[i] : seen[i];
    pthread_mutex_unlock(&check->lock);
}

enum { COPIED_BYTES = 1 << 20 };

fbp_status fbp_data_check_memory(fbp_data_check *check, const fbp_source *source)
{
    const struct fbp_job *job = check->job;
    const size_t row = job->panel.n_columns * fbp_raw_size(job), view = job->panel.n_rows * row;
    const size_t most = row < COPIED_BYTES ? COPIED_BYTES / row : 1;
    const size_t step = job->panel.n_columns / CHECKED_PLACES + 1;
    const char *memory = fbp_source_samples(source);
    struct fbp_device_memory *far = fbp_source_device(source);
    char *samples = NULL;
    size_t r0, r1;
    fbp_status st = FBP_OK;

    const struct fbp_batch all = {
        .n_views = job->n_views, .n_rows = job->panel.n_rows, .load_rows = job->panel.n_rows};
    if (!far) {
        for (size_t k = 0; k < job->n_views; k++) {
            FBP_TRY(fbp_check_cancelled());
            fbp_data_check_view(check, &all, k, memory);
        }
        return FBP_OK;
    }
    pthread_mutex_lock(&check->lock);
    if (!check->chosen)
        choose(check);
    pthread_mutex_unlock(&check->lock);
    FBP_TRY(fbp_alloc((void **)&samples, most * row, "rows of views"));
    for (size_t i = 0; i < check->n_rows; i++)
        for (size_t k = 0, n; k < job->n_views; k += n) {
            n = job->n_views - k < most ? job->n_views - k : most;
            const struct fbp_strided_copy copy = {.to = samples,
                                                  .from = memory + k * view + check->rows[i] * row,
                                                  .n = n,
                                                  .bytes = row,
                                                  .to_stride = row,
                                                  .from_stride = view};
            FBP_TRY_GOTO(far->copy(far, &copy));
            pthread_mutex_lock(&check->lock); /* other threads may check other views */
            for (size_t j = 0; j < n; j++) {
                const struct row_samples line = {job, samples + j * row, check->rows[i]};
                struct checked_row *seen = &check->seen[(k + j) * CHECKED_ROWS + i];
                needed_rows(job, k + j, k + j + 1, &r0, &r1);
                if (seen->seen || line.r < r0 || line.r >= r1)
                    continue;
                check_row(&line, &check->columns, seen);
                search_life(&line, step, &check->views[k + j]);
            }
            pthread_mutex_unlock(&check->lock);
        }
fail:
    fbp_free(samples);
    return st;
}

/* Read rows of a view that seems dead, from the middle row on, until one shows that it is not. */
static fbp_status read_on(fbp_data_check *check, fbp_source *source, bool top_down, size_t view)
{
    struct fbp_job job = *check->job; /* a copy whose samples are floats */
    const size_t nc = job.panel.n_columns, nr = job.panel.n_rows;
    struct checked_view *v = &check->views[view];
    float *samples = NULL;
    fbp_status st = FBP_OK;

    job.input.type = FBP_F32;
    FBP_TRY(fbp_alloc((void **)&samples, nc * sizeof *samples, "a row of a view"));
    for (size_t i = 0; st == FBP_OK && i < nr && !is_live(v); i++) {
        const size_t at = (nr / 2 + i) % nr, r = top_down ? nr - 1 - at : at;
        st = fbp_source_read(source, view, 1, at, 1, FBP_F32, samples);
        if (st == FBP_OK)
            search_life(&(struct row_samples){&job, samples, r}, 1, v);
    }
    fbp_free(samples);
    return st;
}

fbp_status fbp_data_check_finish(fbp_data_check *check, fbp_source *source, bool top_down,
                                 const char *name, struct fbp_report *report)
{
    const struct fbp_job *job = check->job;

    report->dead_views = 0;
    for (size_t k = 0; job->panel.n_columns * job->panel.n_rows > 1 && k < job->n_views; k++) {
        if (!is_live(&check->views[k]))
            FBP_TRY(read_on(check, source, top_down, k));
        check->views[k].dead = !is_live(&check->views[k]);
        report->dead_views += check->views[k].dead;
    }
    if (report->dead_views == job->n_views)
        return fail_all_dead(check, name);
    /* filtered views and deconvolved EPR spectra (imaginary filter) have no air at row ends */
    if (job->input.filtered || job->filtering.design->imaginary)
        return FBP_OK;
    find_air(check);
    if (check->air > 0)
        return FBP_OK;
    find_exposure(check, report);
    find_truncation(check, report);
    return FBP_OK;
}
