#include "pipeline/look.h"

#include "backend/rows.h"
#include "base/mem.h"
#include "pipeline/look_parts.h"
#include "pipeline/roi.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { PLACES = 32 }; /* in a row, for its greatest value */

static void needed_rows(const struct fbp_job *job, size_t k0, size_t k1, size_t *r0, size_t *r1)
{
    const size_t z0 = fbp_roi_first(job, 2);

    job->rows(job, k0, k1, z0, z0 + fbp_roi_size(job, 2), r0, r1);
}

/* Rows spread over those that the volume needs of any view. */
static void choose_rows(fbp_look *look)
{
    const struct fbp_job *job = look->job;
    size_t r0, r1;

    needed_rows(job, 0, job->n_views, &r0, &r1);
    const size_t n = r1 - r0, most = n < LOOK_ROWS ? n : LOOK_ROWS;
    for (size_t i = 0; i < most; i++)
        look->rows[i] = r0 + (2 * i + 1) * n / (2 * most);
    look->n_rows = most;
}

size_t fbp_look_bytes(const struct fbp_job *job)
{
    return sizeof(fbp_look) +
           job->n_views * (sizeof(struct look_view) + LOOK_ROWS * sizeof(struct look_row));
}

fbp_status fbp_look_create(fbp_look **out, const struct fbp_job *job)
{
    fbp_look *look = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&look, 1, sizeof *look, "a look at the views"));
    pthread_mutex_init(&look->lock, NULL);
    look->job = job;
    choose_rows(look);
    FBP_TRY_GOTO(fbp_calloc((void **)&look->views, job->n_views, sizeof *look->views,
                            "a look at the views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&look->seen, job->n_views * LOOK_ROWS, sizeof *look->seen,
                            "a look at the views"));
    for (size_t k = 0; k < job->n_views; k++)
        look->views[k] = LOOK_AT_NOTHING;
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

static void look_at_sample(const struct fbp_prep *prep, size_t pixel, float x, struct look_view *v)
{
    bool clipped = false;

    if (!isfinite(x) || isnan(fbp_prep_sample(prep, pixel, x, &clipped)))
        return;
    v->lo = fminf(v->lo, x);
    v->hi = fmaxf(v->hi, x);
    v->unclipped |= !clipped;
}

/* Row r of a view in memory. */
struct row {
    const fbp_look *look;
    const char *samples;
    size_t r;
};

static float raw_sample(const struct row *row, size_t c)
{
    return row->look->job->raw == FBP_U16 ? (float)((const uint16_t *)(const void *)row->samples)[c]
                                          : ((const float *)(const void *)row->samples)[c];
}

static float line_integral(const struct row *row, size_t c)
{
    const struct fbp_prep *prep = row->look->job->prep;
    bool clipped;

    return fbp_prep_sample(prep, row->r * prep->panel.n_columns + c, raw_sample(row, c), &clipped);
}

/* Of few. */
static float median(float *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const float v = x[i];
        size_t k = i;
        for (; k > 0 && x[k - 1] > v; k--)
            x[k] = x[k - 1];
        x[k] = v;
    }
    return n ? x[(n - 1) / 2] : NAN; /* the lower one: what just touches an end is not cut off */
}

/* Median of the n outermost columns at an end, and the standard deviation that noise gives it. */
static void look_at_end(const struct row *row, int end, struct look_row *out)
{
    const size_t nc = row->look->job->panel.n_columns, wanted = nc / 32;
    const size_t n = wanted < 4 ? (nc < 4 ? nc : 4) : wanted < LOOK_COLUMNS ? wanted : LOOK_COLUMNS;
    float x[LOOK_COLUMNS], d[LOOK_COLUMNS];
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        const float p = line_integral(row, end ? nc - 1 - i : i);
        if (!isfinite(p))
            continue;
        if (m > 0)
            d[m - 1] = fabsf(p - x[m - 1]);
        x[m++] = p;
    }
    /* median |difference| = 0.954 sigma; that of a median of m: 1.25 sigma / sqrt(m) */
    const float sigma = m > 1 ? 1.05f * median(d, m - 1) : 0;
    out->end[end] = median(x, m);
    out->noise[end] = m ? 1.25f * sigma / sqrtf((float)m) : 0;
}

/* The lesser of two neighbours is no hot pixel. */
static void look_at_row(const struct row *row, struct look_row *out)
{
    const size_t nc = row->look->job->panel.n_columns;
    float peak = -INFINITY;

    for (size_t i = 0; i < PLACES; i++) {
        const size_t c = (2 * i + 1) * nc / (2 * PLACES);
        const float a = line_integral(row, c), b = line_integral(row, c + 1 < nc ? c + 1 : c);
        if (isfinite(a) && isfinite(b))
            peak = fmaxf(peak, fminf(a, b));
    }
    out->peak = peak;
    for (int end = 0; end < 2; end++)
        look_at_end(row, end, out);
    out->seen = isfinite(out->peak) && isfinite(out->end[0]) && isfinite(out->end[1]);
}

/* The row as it lies in memory; false if it is not there. */
static bool find_row(const fbp_look *look, const struct fbp_batch *b, size_t k, size_t r,
                     const char *raw, bool whole, struct row *out)
{
    const struct fbp_job *job = look->job;
    const size_t size = job->panel.n_columns * fbp_raw_size(job);

    *out = (struct row){.look = look, .r = r};
    if (whole)
        out->samples = raw + (fbp_batch_view(job, b, k) * job->panel.n_rows + r) * size;
    for (size_t half = 0; !whole && half < fbp_halves(job); half++) {
        const size_t first = fbp_first_row(job, b, half);
        if (r >= first && r < first + b->load_rows)
            out->samples = raw + ((half * b->n_views + k) * b->load_rows + (r - first)) * size;
    }
    return out->samples;
}

static bool is_live(const struct look_view *v)
{
    return v->hi > v->lo && v->unclipped;
}

/* Some samples of the row, or all, until the view is seen to be alive. */
static void look_for_life(const struct row *row, size_t step, struct look_view *v)
{
    const struct fbp_prep *prep = row->look->job->prep;
    const size_t nc = row->look->job->panel.n_columns;

    for (size_t c = 0; c < nc && !is_live(v); c += step)
        look_at_sample(prep, row->r * nc + c, raw_sample(row, c), v);
}

/* Views that look dead in the rows that are looked at are looked at in all of them. */
static void look_at_all(const fbp_look *look, const struct fbp_batch *b, size_t k, const char *raw,
                        bool whole, struct look_view *v)
{
    struct row row;

    for (size_t half = 0; half < fbp_halves(look->job); half++)
        for (size_t i = 0; i < b->load_rows && !is_live(v); i++)
            if (find_row(look, b, k, fbp_first_row(look->job, b, half) + i, raw, whole, &row))
                look_for_life(&row, 1, v);
}

static void look_at_view(fbp_look *look, const struct fbp_batch *b, size_t k, const char *raw,
                         bool whole)
{
    const struct fbp_job *job = look->job;
    const size_t view = fbp_batch_view(job, b, k), nc = job->panel.n_columns;
    const size_t step = nc / PLACES + 1;
    struct look_view *v = &look->views[view];
    struct row row;
    size_t r0, r1;

    needed_rows(job, view, view + 1, &r0, &r1); /* other rows may be here or not */
    for (size_t i = 0; i < look->n_rows; i++) {
        struct look_row *seen = &look->seen[view * LOOK_ROWS + i];
        const size_t r = look->rows[i];
        if (seen->seen || r < r0 || r >= r1 || !find_row(look, b, k, r, raw, whole, &row))
            continue;
        look_at_row(&row, seen);
        look_for_life(&row, step, v);
    }
    if (!is_live(v))
        look_at_all(look, b, k, raw, whole, v);
}

void fbp_look_at(fbp_look *look, const struct fbp_batch *b, const void *raw, bool whole)
{
    pthread_mutex_lock(&look->lock);
    for (size_t k = 0; b->load_rows > 0 && k < b->n_views; k++)
        look_at_view(look, b, k, raw, whole);
    pthread_mutex_unlock(&look->lock);
}

/* The rest of a view, from its middle on, until it is seen to be alive. */
static fbp_status read_on(fbp_look *look, fbp_source *source, bool top_down, size_t view)
{
    const size_t nc = look->job->panel.n_columns, nr = look->job->panel.n_rows;
    struct look_view *v = &look->views[view];
    float *line = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_alloc((void **)&line, nc * sizeof *line, "a row of a view"));
    for (size_t i = 0; st == FBP_OK && i < nr && !is_live(v); i++) {
        const size_t at = (nr / 2 + i) % nr, r = top_down ? nr - 1 - at : at;
        st = fbp_source_read(source, view, 1, at, 1, line);
        for (size_t c = 0; st == FBP_OK && c < nc; c++)
            look_at_sample(look->job->prep, r * nc + c, line[c], v);
    }
    fbp_free(line);
    return st;
}

static fbp_status count_dead(fbp_look *look, fbp_source *source, bool top_down, size_t *n)
{
    const struct fbp_job *job = look->job;

    *n = 0;
    if (job->panel.n_columns * job->panel.n_rows < 2)
        return FBP_OK;
    for (size_t k = 0; k < job->n_views; k++) {
        if (!is_live(&look->views[k]))
            FBP_TRY(read_on(look, source, top_down, k));
        look->views[k].dead = !is_live(&look->views[k]);
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
    if (!look->job->filtered)
        look_for_truncation(look, report);
    return FBP_OK;
}
