/* Views of another exposure than the rest: each is shifted by one amount as a whole, air, too.  An
 * object that is wider than the panel is not: neither are its rows alike, nor both ends, nor does
 * its greatest value grow by what its ends show. */
#include "prep/stripes.h"
#include "run/look_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SHIFTED = 0.08; /* by this part of the scan's greatest value */
static const double ALIKE = 0.15;   /* parts of the shift that ends differ by */
static const double SIGMAS = 4;

enum { SAMPLE = 128 }; /* views whose medians are taken: those of all took 1 ms of a run */

/* By so much of the shift, and of what neighbours show, the greatest value may miss it. */
static const double PEAK_SHIFT = 0.35, PEAK_TURN = 0.15;

/* What most views show at either end of each row, and how much they scatter by noise. */
struct usual {
    double end[LOOK_ROWS][2], noise, peak;
};

static const struct look_row *row_of(const fbp_look *look, size_t view, size_t i)
{
    return &look->seen[view * LOOK_ROWS + i];
}

/* View j of the sample that tells what is usual: all of a short scan, else views here and there, by
 * the golden section, so that no period of theirs is met. */
static size_t sampled(const fbp_look *look, size_t j)
{
    const size_t n = look->job->n_views;
    const double part = (double)j * 0.6180339887498949;

    return n <= SAMPLE ? j : (size_t)((part - floor(part)) * (double)n);
}

/* The median of the views' `what` in row i, of ends those that lie beside the object; 0 if no view
 * has seen it. */
static double median_of(const fbp_look *look, size_t i, int what, float *scratch)
{
    size_t n = 0;

    for (size_t j = 0; j < SAMPLE && j < look->job->n_views; j++) {
        const size_t k = sampled(look, j);
        const struct look_row *r = row_of(look, k, i);
        if (r->seen && !look->views[k].dead && (what > 3 || !look_is_axis_side(look, k, what % 2)))
            scratch[n++] = what < 2 ? r->end[what] : what < 4 ? r->noise[what - 2] : r->peak;
    }
    return n > 0 ? (double)fbp_median(scratch, n) : 0;
}

/* Rows with a hot pixel at an end are noisier than the rest. */
static void find_usual(const fbp_look *look, struct usual *u)
{
    float scratch[SAMPLE], noise[2 * LOOK_ROWS];
    size_t n = 0;

    *u = (struct usual){.peak = 0};
    for (size_t i = 0; i < look->n_rows; i++) {
        for (int end = 0; end < 2; end++) {
            u->end[i][end] = median_of(look, i, end, scratch);
            noise[n++] = (float)median_of(look, i, 2 + end, scratch);
        }
        u->peak = fmax(u->peak, median_of(look, i, 4, scratch));
    }
    u->noise = n > 0 ? (double)fbp_median(noise, n) : 0;
}

/* The median by which the ends of a view's rows are shifted, if all are by the same. */
static double shift_of(const fbp_look *look, size_t view, const struct usual *u)
{
    float shifts[2 * LOOK_ROWS], sorted[2 * LOOK_ROWS], noise[2 * LOOK_ROWS];
    size_t n = 0;

    for (size_t i = 0; i < look->n_rows; i++)
        for (int end = 0; end < 2; end++) {
            const struct look_row *r = row_of(look, view, i);
            if (!r->seen || look_is_axis_side(look, view, end))
                continue;
            noise[n] = look_most(r->noise[end], (float)u->noise);
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

/* The mean of a view's rows' greatest values. */
static double peak_of(const fbp_look *look, size_t view)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < look->n_rows; i++)
        if (row_of(look, view, i)->seen) {
            sum += (double)row_of(look, view, i)->peak;
            n++;
        }
    return n > 0 ? sum / (double)n : 0;
}

/* The whole view is shifted by d: between its ends, too.  before, behind: the nearest views that
 * are not, at n_views if there is none. */
static bool all_is_shifted(const fbp_look *look, size_t view, double d, size_t before,
                           size_t behind)
{
    const size_t n = look->job->n_views;
    const double a = peak_of(look, before < n ? before : behind);
    const double b = peak_of(look, behind < n ? behind : before), beside = (a + b) / 2;
    const double off = fabs(peak_of(look, view) - beside - d);

    return off <= PEAK_SHIFT * fabs(d) + PEAK_TURN * fabs(beside) + fabs(a - b) / 2;
}

static void count(struct fbp_report *r, size_t view, double exposure)
{
    if (r->exposure_views++ == 0) {
        r->exposure_first = view;
        r->exposure[0] = r->exposure[1] = exposure;
    }
    r->exposure_last = view;
    r->exposure[0] = fmin(r->exposure[0], exposure);
    r->exposure[1] = fmax(r->exposure[1], exposure);
}

static bool is_usual(const fbp_look *look, size_t view)
{
    const struct look_view *v = &look->views[view];

    return !v->dead && v->shift == 0 && row_of(look, view, 0)->seen;
}

void look_for_air(fbp_look *look)
{
    static const double LOWER = 0.05, FLAT = 0.0025, SAME = 0.02, FAR_ABOVE = 20;
    const struct fbp_job *job = look->job;
    float ends[2 * LOOK_ROWS];
    size_t n_ends = 0, n = 0, n_air = 0, n_rows = 0, n_greatest = 0, n_lower = 0, n_half = 0;
    double slope = 0;
    struct usual u;

    if (job->prep->intensity || !fbp_kind_has_lines(job->kind))
        return;
    find_usual(look, &u);
    for (size_t i = 0; i < look->n_rows; i++)
        for (int end = 0; end < 2; end++)
            if (u.end[i][end] != 0) /* 0: the object reaches beyond it in all views */
                ends[n_ends++] = (float)u.end[i][end];
    const double air = n_ends > 0 ? (double)fbp_median(ends, n_ends) : 0;
    const double near = SAME * air + SIGMAS * u.noise;
    for (size_t i = 0; i < job->n_views * LOOK_ROWS; i++) {
        const struct look_row *r = &look->seen[i];
        if (!r->seen || look->views[i / LOOK_ROWS].dead)
            continue;
        n_rows++;
        n_greatest += (double)r->peak < 1.1 * air + near && (double)r->low > -near;
        n_lower += (double)r->low < (1 - LOWER) * air - SIGMAS * u.noise;
        n_half += (double)r->low < air / 2 - SIGMAS * u.noise;
        for (int end = 0; end < 2; end++) {
            if (look_is_axis_side(look, i / LOOK_ROWS, end))
                continue;
            n++;
            if (fabs((double)r->end[end] - air) > near)
                continue;
            n_air++;
            slope += (double)r->slope[end];
        }
    }
    const bool level =
        fabs(air - 1) <= 0.1 || air > FAR_ABOVE || (air > 0 && n_half >= 0.05 * (double)n_rows);
    const double scatter = SIGMAS * u.noise / sqrt((double)(n_air ? n_air : 1));
    if (level && n_rows > 0 && n_greatest >= 0.9 * (double)n_rows &&
        n_lower >= 0.05 * (double)n_rows && n_air >= 0.75 * (double)n &&
        fabs(slope) / (double)n_air <= FLAT * air + 2 * scatter)
        look->air = air;
}

void look_for_exposure(fbp_look *look, struct fbp_report *report)
{
    const size_t n = look->job->n_views;
    size_t before = n, behind = 0;
    struct usual u;

    find_usual(look, &u);
    for (size_t k = 0; k < n; k++)
        look->views[k].shift = look->views[k].dead ? 0 : shift_of(look, k, &u);
    for (size_t k = 0; k < n; k++) {
        struct look_view *v = &look->views[k];
        before = is_usual(look, k) ? k : before;
        for (behind = behind > k ? behind : k; behind < n && !is_usual(look, behind);)
            behind++;
        v->odd = v->shift != 0 && (before < n || behind < n) &&
                 all_is_shifted(look, k, v->shift, before, behind);
        if (v->odd)
            count(report, k, exp(-v->shift));
    }
}

void fbp_look_exposure(const struct fbp_report *r, size_t n_views, char *line, size_t n)
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
        "%s %s than the others, air and all: %s of their exposure: expect streaks; divide such "
        "views' intensities by that, or leave them out of the scan",
        views,
        r->exposure[1] < 1   ? "darker"
        : r->exposure[0] > 1 ? "brighter"
                             : "darker or brighter",
        factor);
}
