#include "run/look.h"

#include "array/array.h"
#include "array/far.h"
#include "backend/rows.h"
#include "base/mem.h"
#include "plan/roi.h"
#include "run/look_parts.h"

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
