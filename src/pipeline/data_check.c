#include "pipeline/data_check.h"
#include "array/array.h"
#include "array/far.h"
#include "backend/rows.h"
#include "base/mem.h"
#include "pipeline/job.h"
#include "prep/prep.h"
#include "prep/stripes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void needed_rows(const struct fbp_job *job, size_t k0, size_t k1, size_t *r0, size_t *r1)
{
    size_t z0, n;

    fbp_roi_slices(job, &z0, &n);
    job->rows(job, k0, k1, z0, z0 + n, r0, r1);
}

/* Rows spread over those that the volume needs of any view: by the first who looks, while a device
 * works already. */
static void choose(fbp_look *look)
{
    const struct fbp_job *job = look->job;
    size_t r0, r1;

    needed_rows(job, 0, job->n_views, &r0, &r1);
    const size_t n = r1 - r0, most = n < LOOK_ROWS ? n : LOOK_ROWS;
    for (size_t i = 0; i < most; i++)
        look->rows[i] = r0 + (2 * i + 1) * n / (2 * most);
    look->n_rows = most;
    look_choose_columns(&look->columns, job->panel.n_columns);
    look->chosen = true;
}

size_t fbp_look_bytes(const struct fbp_job *job)
{
    return sizeof(fbp_look) + job->n_views * (sizeof(struct look_view) +
                                              LOOK_ROWS * sizeof(struct look_row) + sizeof(float));
}

fbp_status fbp_look_create(fbp_look **out, const struct fbp_job *job)
{
    fbp_look *look = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&look, 1, sizeof *look, "a look at the views"));
    pthread_mutex_init(&look->lock, NULL);
    look->job = job;
    FBP_TRY_GOTO(fbp_calloc((void **)&look->views, job->n_views, sizeof *look->views,
                            "a look at the views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&look->seen, job->n_views * LOOK_ROWS, sizeof *look->seen,
                            "a look at the views"));
    for (size_t k = 0; k < job->n_views; k++) {
        look->views[k] = LOOK_AT_NOTHING;
        look->reach = fmax(look->reach, fmax(look_reach(job, k, 0), look_reach(job, k, 1)));
    }
    *out = look;
    return FBP_OK;
fail:
    fbp_look_destroy(&look);
    return st;
}

void fbp_look_destroy(fbp_look **look)
{
    if (!*look)
        return;
    pthread_mutex_destroy(&(*look)->lock);
    free((*look)->views);
    free((*look)->seen);
    free(*look);
    *look = NULL;
}

/* Views, and rows of them. */
static size_t packed_views(const struct fbp_job *job)
{
    return job->n_views * sizeof(struct look_view);
}

static size_t packed_rows(const struct fbp_job *job)
{
    return job->n_views * LOOK_ROWS * sizeof(struct look_row);
}

size_t fbp_look_packed(const struct fbp_job *job)
{
    return packed_views(job) + packed_rows(job);
}

void fbp_look_pack(const fbp_look *look, void *out)
{
    memcpy(out, look->views, packed_views(look->job));
    memcpy((char *)out + packed_views(look->job), look->seen, packed_rows(look->job));
}

static void join_view(struct look_view *to, const struct look_view *other)
{
    to->lo = look_least(to->lo, other->lo);
    to->hi = look_most(to->hi, other->hi);
    to->unclipped |= other->unclipped;
}

void fbp_look_join(fbp_look *look, const void *other)
{
    const char *views = other, *rows = views + packed_views(look->job);
    struct look_view view;
    struct look_row row;

    if (!look->chosen)
        choose(look);
    for (size_t k = 0; k < look->job->n_views; k++) {
        memcpy(&view, views + k * sizeof view, sizeof view);
        join_view(&look->views[k], &view);
    }
    for (size_t i = 0; i < look->job->n_views * LOOK_ROWS; i++) {
        memcpy(&row, rows + i * sizeof row, sizeof row);
        if (!look->seen[i].seen)
            look->seen[i] = row;
    }
}

/* Where a view lies: the batch as it was read, or the scan. */
struct place {
    const struct fbp_batch *batch;
    size_t k; /* view of the batch */
    const char *raw;
    bool whole;
};

/* The row as it lies in memory; false if it is not there. */
static bool find_row(const fbp_look *look, const struct place *at, size_t r, struct look_line *out)
{
    const struct fbp_job *job = look->job;
    const struct fbp_batch *b = at->batch;
    const size_t size = job->panel.n_columns * fbp_raw_size(job);
    const char *samples = NULL;

    if (at->whole)
        samples = at->raw + (fbp_batch_view(job, b, at->k) * job->panel.n_rows + r) * size;
    else if (r >= b->load_row0 && r < b->load_row0 + b->load_rows)
        samples = at->raw + (at->k * b->load_rows + (r - b->load_row0)) * size;
    *out = (struct look_line){job, samples, r};
    return samples;
}

/* Views that look dead in the rows that are looked at are looked at in all of them. */
static void look_at_all(const fbp_look *look, const struct place *at, struct look_view *v)
{
    const struct fbp_batch *b = at->batch;
    struct look_line line;

    for (size_t i = 0; i < b->load_rows && !look_is_live(v); i++)
        if (find_row(look, at, b->load_row0 + i, &line))
            look_for_life(&line, 1, v);
}

/* What one look at a view sees. */
struct seen {
    struct look_view view;
    struct look_row rows[LOOK_ROWS];
};

static void look_at_view(const fbp_look *look, const struct place *at, struct seen *seen)
{
    const struct fbp_job *job = look->job;
    const size_t view = fbp_batch_view(job, at->batch, at->k);
    const size_t step = job->panel.n_columns / LOOK_PLACES + 1;
    struct look_line lines[LOOK_ROWS];
    size_t r0, r1, which[LOOK_ROWS], n = 0;

    needed_rows(job, view, view + 1, &r0, &r1); /* other rows may be here or not */
    for (size_t i = 0; i < look->n_rows; i++) {
        const size_t r = look->rows[i];
        if (seen->rows[i].seen || r < r0 || r >= r1 || !find_row(look, at, r, &lines[n]))
            continue;
        look_ahead(&lines[n], &look->columns);
        which[n++] = i;
    }
    for (size_t i = 0; i < n; i++) {
        look_at_line(&lines[i], &look->columns, &seen->rows[which[i]]);
        look_for_life(&lines[i], step, &seen->view);
    }
    if (!look_is_live(&seen->view))
        look_at_all(look, at, &seen->view);
}

void fbp_look_at(fbp_look *look, const struct fbp_batch *batch, size_t k, const void *raw,
                 bool whole)
{
    const struct place at = {batch, k, raw, whole};
    const size_t view = fbp_batch_view(look->job, batch, k);
    struct look_view *v = &look->views[view];
    struct look_row *rows = &look->seen[view * LOOK_ROWS];
    struct seen seen;

    if (batch->load_rows == 0)
        return;
    pthread_mutex_lock(&look->lock);
    if (!look->chosen)
        choose(look);
    seen.view = *v;
    memcpy(seen.rows, rows, sizeof seen.rows);
    pthread_mutex_unlock(&look->lock);
    look_at_view(look, &at, &seen);
    pthread_mutex_lock(&look->lock); /* another device may have had other rows of it */
    join_view(v, &seen.view);
    for (size_t i = 0; i < look->n_rows; i++)
        rows[i] = rows[i].seen ? rows[i] : seen.rows[i];
    pthread_mutex_unlock(&look->lock);
}

enum { FAR_BYTES = 1 << 20 };

/* Row i of those that are looked at, of n views from view0 on: samples [n][column]. */
static void look_at_rows(fbp_look *look, size_t i, size_t view0, size_t n, const char *samples)
{
    const struct fbp_job *job = look->job;
    const size_t size = job->panel.n_columns * fbp_raw_size(job);
    const size_t step = job->panel.n_columns / LOOK_PLACES + 1;

    pthread_mutex_lock(&look->lock); /* devices without that memory look at what they read */
    for (size_t k = view0; k < view0 + n; k++) {
        const struct look_line line = {job, samples + (k - view0) * size, look->rows[i]};
        struct look_row *seen = &look->seen[k * LOOK_ROWS + i];
        size_t r0, r1;
        needed_rows(job, k, k + 1, &r0, &r1);
        if (seen->seen || line.r < r0 || line.r >= r1)
            continue;
        look_at_line(&line, &look->columns, seen);
        look_for_life(&line, step, &look->views[k]);
    }
    pthread_mutex_unlock(&look->lock);
}

fbp_status fbp_look_at_far(fbp_look *look, const fbp_source *source)
{
    const struct fbp_job *job = look->job;
    const size_t row = job->panel.n_columns * fbp_raw_size(job), view = job->panel.n_rows * row;
    const size_t most = row < FAR_BYTES ? FAR_BYTES / row : 1;
    struct fbp_far *far = fbp_source_far(source);
    char *samples = NULL;
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&look->lock);
    if (!look->chosen)
        choose(look);
    pthread_mutex_unlock(&look->lock);
    FBP_TRY(fbp_alloc((void **)&samples, most * row, "rows of views"));
    for (size_t i = 0; st == FBP_OK && i < look->n_rows; i++)
        for (size_t k = 0, n; st == FBP_OK && k < job->n_views; k += n) {
            n = job->n_views - k < most ? job->n_views - k : most;
            st = far->copy(far,
                           &(struct fbp_pieces){.to = samples,
                                                .from = (const char *)fbp_source_samples(source) +
                                                        k * view + look->rows[i] * row,
                                                .n = n,
                                                .bytes = row,
                                                .to_stride = row,
                                                .from_stride = view});
            if (st == FBP_OK)
                look_at_rows(look, i, k, n, samples);
        }
    fbp_free(samples);
    return st;
}

/* The rest of a view, from its middle on, until it is seen to be alive. */
static fbp_status read_on(fbp_look *look, fbp_source *source, bool top_down, size_t view)
{
    struct fbp_job job = *look->job; /* whose samples are read as floats */
    const size_t nc = job.panel.n_columns, nr = job.panel.n_rows;
    struct look_view *v = &look->views[view];
    float *samples = NULL;
    fbp_status st = FBP_OK;

    job.raw = FBP_F32;
    FBP_TRY(fbp_alloc((void **)&samples, nc * sizeof *samples, "a row of a view"));
    for (size_t i = 0; st == FBP_OK && i < nr && !look_is_live(v); i++) {
        const size_t at = (nr / 2 + i) % nr, r = top_down ? nr - 1 - at : at;
        st = fbp_source_read(source, view, 1, at, 1, samples);
        if (st == FBP_OK)
            look_for_life(&(struct look_line){&job, samples, r}, 1, v);
    }
    fbp_free(samples);
    return st;
}

static fbp_status count_dead(fbp_look *look, fbp_source *source, bool top_down, size_t *n)
{
    const struct fbp_job *job = look->job;

    *n = 0;
    if (job->panel.n_columns * job->panel.n_rows < 2)
        return FBP_OK;
    for (size_t k = 0; k < job->n_views; k++) {
        if (!look_is_live(&look->views[k]))
            FBP_TRY(read_on(look, source, top_down, k));
        look->views[k].dead = !look_is_live(&look->views[k]);
        *n += look->views[k].dead;
    }
    return FBP_OK;
}

fbp_status fbp_look_sum_up(fbp_look *look, fbp_source *source, bool top_down, const char *name,
                           struct fbp_report *report)
{
    FBP_TRY(count_dead(look, source, top_down, &report->dead_views));
    if (report->dead_views == look->job->n_views)
        return look_refuse(look, name);
    if (look->job->filtered ||
        look->job->filter->imaginary) /* spectra: no air, and no object's edge */
        return FBP_OK;
    look_for_air(look);
    if (look->air > 0)
        return FBP_OK;
    look_for_exposure(look, report);
    look_for_truncation(look, report);
    return FBP_OK;
}

/* * What a row shows.  It has to cost little: a view is looked at by whoever has read it.  So
 * values are compared as they grow with line integrals, of intensities as minus the transmission,
 * and only what is told of a row becomes a logarithm.
 */

void look_choose_columns(struct look_columns *out, size_t n_columns)
{
    const size_t wanted = n_columns / 32, most = n_columns < 4 ? n_columns : 4;
    size_t n = LOOK_ENDS;

    for (size_t i = 0; i < LOOK_PLACES; i++) {
        const size_t c = (2 * i + 1) * n_columns / LOOK_ENDS;
        out->at[i] = c;
        out->at[LOOK_PLACES + i] = c + 1 < n_columns ? c + 1 : c;
    }
    out->ends = wanted < 4 ? most : wanted < LOOK_COLUMNS ? wanted : LOOK_COLUMNS;
    for (int end = 0; end < 2; end++)
        for (size_t i = 0; i < out->ends; i++)
            out->at[n++] = end ? n_columns - 1 - i : i;
    out->n = n;
}

void look_ahead(const struct look_line *line, const struct look_columns *columns)
{
    const size_t size = fbp_raw_size(line->job);
    const char *samples = line->samples;

    for (size_t i = 0; i < LOOK_PLACES; i++)
        __builtin_prefetch(samples + columns->at[i] * size);
    for (size_t end = 0; end < 2; end++)
        __builtin_prefetch(samples + columns->at[LOOK_ENDS + end * columns->ends] * size);
}

static inline float sample(const struct look_line *line, size_t c)
{
    return line->job->raw == FBP_U16   ? (float)((const uint16_t *)line->samples)[c]
           : line->job->raw == FBP_F64 ? (float)((const double *)line->samples)[c]
                                       : ((const float *)line->samples)[c];
}

/* What grows with the line integral, NaN for a bad pixel; *clipped counts. */
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

/* The lower one, of few: what just touches an end is not cut off.  Without branches: the greatest
 * of those that no more than half are below. */
static float median(const float *x, size_t n)
{
    float all[LOOK_COLUMNS], found = -INFINITY;
    int below[LOOK_COLUMNS] = {0};

    for (size_t i = 0; i < LOOK_COLUMNS; i++)
        all[i] = i < n ? x[i] : INFINITY;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < LOOK_COLUMNS; i++)
            below[i] += all[k] < all[i];
    for (size_t i = 0; i < n; i++)
        found = below[i] <= (int)(n - 1) / 2 && all[i] > found ? all[i] : found;
    return n ? found : NAN;
}

/* Median of n columns at an end, and the standard deviation that noise gives it. */
static void look_at_end(const struct fbp_prep *p, const float *values, size_t n, float *end,
                        float *noise, float *slope)
{
    float halves[2] = {0, 0};

    for (size_t i = 0; i < n / 2; i++) {
        halves[0] += values[i];
        halves[1] += values[n - 1 - i];
    }
    *slope = n > 1 ? (halves[1] - halves[0]) / (float)(n / 2) : 0;
    float x[LOOK_COLUMNS], d[LOOK_COLUMNS];
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        const float v = values[i];
        if (!isfinite(v))
            continue;
        if (m > 0) { /* logarithms differ by that of the quotient */
            const float lo = look_least(v, x[m - 1]), hi = look_most(v, x[m - 1]);
            d[m - 1] = p->intensity ? lo / hi : hi - lo;
        }
        x[m++] = v;
    }
    /* median |difference| = 0.954 sigma; that of a median of m: 1.25 sigma / sqrt(m) */
    const float typical = m > 1 ? median(d, m - 1) : 0;
    const float sigma = m > 1 ? 1.05f * (p->intensity ? logf(typical) : typical) : 0;
    *end = m ? line_integral(p, median(x, m)) : NAN;
    *noise = m ? 1.25f * sigma / sqrtf((float)m) : 0;
}

void look_at_line(const struct look_line *line, const struct look_columns *columns,
                  struct look_row *out)
{
    const struct fbp_prep *prep = line->job->prep;
    const size_t first = line->r * prep->panel.n_columns;
    float v[sizeof columns->at / sizeof *columns->at], peak = -INFINITY, low = INFINITY;
    size_t clipped = 0;

    for (size_t i = 0; i < columns->n; i++)
        v[i] = sample(line, columns->at[i]);
    for (size_t i = 0; prep->intensity && i < columns->n; i++)
        v[i] = value(prep, first + columns->at[i], v[i], &clipped);
    for (size_t i = 0; i < LOOK_PLACES; i++) { /* the lesser of two neighbours is no hot pixel */
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): columns are at least these */
        const float a = v[i], b = v[LOOK_PLACES + i];
        peak = isfinite(a) && isfinite(b) ? look_most(peak, look_least(a, b)) : peak;
        low = isfinite(a) && isfinite(b) ? look_least(low, look_most(a, b)) : low;
    }
    out->low = low;
    out->peak = isfinite(peak) ? line_integral(prep, peak) : peak;
    for (size_t end = 0; end < 2; end++)
        look_at_end(prep, v + LOOK_ENDS + end * columns->ends, columns->ends, &out->end[end],
                    &out->noise[end], &out->slope[end]);
    out->seen = isfinite(out->peak) && isfinite(out->end[0]) && isfinite(out->end[1]);
}

void look_for_life(const struct look_line *line, size_t step, struct look_view *v)
{
    const size_t nc = line->job->panel.n_columns;

    for (size_t c = 0; c < nc && !look_is_live(v); c += step) {
        const float x = sample(line, c);
        size_t clipped = 0;
        if (!isfinite(x) || isnan(value(line->job->prep, line->r * nc + c, x, &clipped)))
            continue;
        v->lo = look_least(v->lo, x);
        v->hi = look_most(v->hi, x);
        v->unclipped |= clipped == 0;
    }
}

/* Views of another exposure than the rest: each is shifted by one amount as a whole, air, too.  An
 * object that is wider than the panel is not: neither are its rows alike, nor both ends, nor does
 * its greatest value grow by what its ends show. */

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

/* What was seen, judged and put into words. */

/* A row whose ends reach this part of its greatest value is cut off: an ellipse loses half a
 * hundredth of its width there. */
static const float CUT_OFF = 0.08f;
static const float IN_AIR = 0.1f; /* ends that reach this part of the greatest value may be air */
static const float EMPTY = 0.1f;  /* rows that reach only this part of it say nothing */
static const float SIGMAS_AT_END = 4; /* of thousands of rows none is beyond that by chance */

/* Of all rows: greatest value; what air was measured as, the least that any end shows, if that is
 * little; and the mean noise at both ends: of one row's few columns it comes out far too small at
 * times. */
struct scan_look {
    float peak, air, noise[2];
};

static struct scan_look look_at_scan(const fbp_look *look)
{
    struct scan_look s = {0};
    double noise[2] = {0, 0};
    float least = INFINITY;
    size_t n = 0;

    for (size_t i = 0; i < look->job->n_views * LOOK_ROWS; i++) {
        const struct look_row *r = &look->seen[i];
        if (!r->seen || look->views[i / LOOK_ROWS].odd)
            continue;
        s.peak = look_most(s.peak, r->peak);
        least = look_least(least, look_least(r->end[0], r->end[1]));
        noise[0] += (double)r->noise[0];
        noise[1] += (double)r->noise[1];
        n++;
    }
    s.air = least > 0 && least < IN_AIR * s.peak ? least : 0;
    for (int end = 0; end < 2 && n > 0; end++)
        s.noise[end] = (float)(noise[end] / (double)n);
    return s;
}

/* Which part of its greatest value a row has at an end, 0 where it is not cut off there. */
static double cut_off(const struct look_row *r, int end, const struct scan_look *scan)
{
    const float at_end = r->end[end] - scan->air,
                peak = look_most(r->peak, r->end[end]) - scan->air;
    const float noise = look_most(r->noise[end], scan->noise[end]);

    return at_end - SIGMAS_AT_END * noise > CUT_OFF * peak ? (double)(at_end / peak) : 0;
}

/* Of a view at an end: the greatest part of the rows that are cut off, if two are. */
static double cut_off_view(const fbp_look *look, size_t view, int end, const struct scan_look *s)
{
    const size_t enough = look->n_rows < 2 ? 1 : 2;
    double most = 0;
    size_t n = 0;

    for (size_t i = 0; i < look->n_rows; i++) {
        const struct look_row *r = &look->seen[view * LOOK_ROWS + i];
        const double part = r->seen && r->peak > EMPTY * s->peak ? cut_off(r, end, s) : 0;
        n += part > 0;
        most = part > most ? part : most;
    }
    return n >= enough ? most : 0;
}

void look_for_truncation(const fbp_look *look, struct fbp_report *report)
{
    const struct scan_look scan = look_at_scan(look);

    for (size_t k = 0; k < look->job->n_views; k++) {
        bool cut = false;
        if (look->views[k].odd)
            continue;
        for (int end = 0; end < 2; end++) {
            const double part =
                look_is_axis_side(look, k, end) ? 0 : cut_off_view(look, k, end, &scan);
            report->truncated[end] = fmax(report->truncated[end], part);
            cut |= part > 0;
        }
        if (!cut)
            continue;
        if (report->truncated_views++ == 0)
            report->truncated_first = k;
        report->truncated_last = k;
    }
}

void fbp_look_truncated(const struct fbp_report *r, size_t n_views, bool padded, char *line,
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
    snprintf(line, n, "the object is wider than the panel in %zu of %zu views%s: up to %s: %s",
             r->truncated_views, n_views, range, where,
             padded ? "rows were carried on beyond it (--pad)"
                    : "values rise towards the edge of the field of view; --pad ellipse carries "
                      "rows on");
}

void fbp_look_air(const fbp_look *look, char *line, size_t n)
{
    const bool one = fabs(look->air - 1) < 0.02;

    line[0] = '\0';
    if (look->air > 0)
        snprintf(line, n,
                 "the samples are intensities and were taken as line integrals: rows have their "
                 "greatest values, about %.3g, at their ends, as air has: the object is inverted: "
                 "give \"i0\": %.4g in the scan file, or a flat",
                 look->air, one ? 1 : look->air);
}

/* "7, 12 to 15, ..." */
static void list_views(const fbp_look *look, char *text, size_t n)
{
    const size_t n_views = look->job->n_views;
    size_t used = 0, runs = 0;

    for (size_t k = 0, end; k < n_views && used + 64 < n; k = end) {
        end = k + 1;
        if (!look->views[k].dead)
            continue;
        while (end < n_views && look->views[end].dead)
            end++;
        if (runs++ == 8) {
            snprintf(text + used, n - used, ", ...");
            return;
        }
        used += (size_t)snprintf(text + used, n - used, end - k > 1 ? "%s%zu to %zu" : "%s%zu",
                                 runs > 1 ? ", " : "", k, end - 1);
    }
}

void fbp_look_dead(const fbp_look *look, const struct fbp_report *report, char *line, size_t n)
{
    char views[400] = "";

    line[0] = '\0';
    if (report->dead_views == 0)
        return;
    list_views(look, views, sizeof views);
    snprintf(line, n,
             "nothing was measured in %zu of %zu views (%s): all samples of a view are the same, "
             "clipped, or no numbers: leave such views out of the scan, or measure them again",
             report->dead_views, look->job->n_views, views);
}

fbp_status look_refuse(const fbp_look *look, const char *name)
{
    const size_t n = look->job->n_views;
    struct look_view all = LOOK_AT_NOTHING;

    for (size_t k = 0; k < n; k++) {
        all.lo = look_least(all.lo, look->views[k].lo);
        all.hi = look_most(all.hi, look->views[k].hi);
        all.unclipped |= look->views[k].unclipped;
    }
    if (all.lo > all.hi)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: no sample of %zu views is a number: is it the right file, of the type "
                        "and byte order that the scan says?",
                        name, n);
    if (all.lo == all.hi)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: all samples of %zu views are %.7g: nothing was measured: is it the "
                        "right file, or data set, of the type that the scan says?",
                        name, n, (double)all.lo);
    if (!all.unclipped)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: all intensities of %zu views, %.7g to %.7g, are nothing above the "
                        "dark: are these projections and not darks, and are \"dark\" and \"i0\" "
                        "or \"flat\" theirs?",
                        name, n, (double)all.lo, (double)all.hi);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: in each of %zu views all samples are the same, clipped, or no numbers "
                    "(%.7g to %.7g): is it the right file, or data set?",
                    name, n, (double)all.lo, (double)all.hi);
}
