#include "run/corrected.h"

#include "array/array.h"
#include "array/file/bytes.h"
#include "array/file/scratch.h"
#include "array/onto.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/stop.h"
#include "run/integrals.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct corrected {
    const struct fbp_ahead *ahead;
    struct fbp_ahead_done *done;
    pthread_mutex_t lock; /* of: */
    bool filled;
    atomic_bool has_rings;
    float *samples;          /* [view][row][column] of what is kept; NULL: in */
    struct fbp_scratch file; /* of the same order */
};

/* Rows [row0, row0 + n) of those that are kept, on their way: all views of them,
 * [view][row][column]; or, while phases are retrieved, views [row0, row0 + n). */
struct band {
    fbp_source *src;
    size_t row0, n;
    float *samples;
    fbp_pool *pool;
    char *memory; /* of all threads, `bytes` each */
    size_t bytes;
    struct fbp_prep_counts *counts; /* one a thread */
};

static size_t columns(const fbp_source *src)
{
    return src->info.n[0];
}

static fbp_status prepare_view(void *user, size_t view, int worker)
{
    const struct band *b = user;
    const struct corrected *s = b->src->state;
    const struct fbp_ahead *a = s->ahead;
    float *work = (float *)(void *)(b->memory + (size_t)worker * b->bytes);

    return fbp_integrals_read(a, b->src->below, view, a->row0 + b->row0, b->n, work,
                              b->samples + view * b->n * columns(b->src), &b->counts[worker]);
}

static void correct_row(void *user, size_t row, int worker)
{
    const struct band *b = user;
    struct corrected *s = b->src->state;
    float *sinogram = b->samples + row * columns(b->src);
    void *scratch = b->memory + (size_t)worker * b->bytes;

    if (!fbp_stripes_found(&s->ahead->stripes, sinogram, b->n * columns(b->src), scratch))
        return;
    atomic_store(&s->has_rings, true);
    fbp_stripes_remove(&s->ahead->stripes, sinogram, b->n * columns(b->src), scratch);
}

/* Views that can only be read in order are read by this thread. */
static fbp_status prepare_views(struct band *b)
{
    for (size_t k = 0; fbp_source_in_order(b->src->below) && k < b->src->info.n[2]; k++) {
        FBP_TRY(fbp_go_on());
        FBP_TRY(prepare_view(b, k, 0));
    }
    if (fbp_source_in_order(b->src->below))
        return FBP_OK;
    FBP_TRY(fbp_pool_try(b->pool, b->src->info.n[2], prepare_view, b));
    return fbp_go_on();
}

/* Where a row of a view begins, in samples; `row` counts those that are kept. */
static uint64_t place_of(const fbp_source *src, size_t view, size_t row)
{
    const struct fbp_ahead *a = ((const struct corrected *)src->state)->ahead;

    return ((uint64_t)view * a->n_rows + row) * columns(src);
}

static fbp_status store_band(const struct band *b)
{
    const struct corrected *s = b->src->state;
    const size_t n = b->n * columns(b->src);

    for (size_t k = 0; !s->samples && k < b->src->info.n[2]; k++) {
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_write_at(s->file.fd, s->file.folder,
                             place_of(b->src, k, b->row0) * sizeof(float), b->samples + k * n,
                             n * sizeof(float)));
    }
    return FBP_OK;
}

static fbp_status correct_band(struct band *b)
{
    FBP_TRY(prepare_views(b));
    fbp_pool_for(b->pool, b->n, correct_row, b);
    FBP_TRY(fbp_go_on());
    return store_band(b);
}

static fbp_status correct_bands(struct band *b)
{
    const struct corrected *s = b->src->state;
    const struct fbp_ahead *a = s->ahead;

    for (size_t done = 0; done < a->n_rows; done += b->n) {
        b->row0 = done;
        b->n = a->n_rows - done < a->band_rows ? a->n_rows - done : a->band_rows;
        FBP_TRY(correct_band(b));
    }
    return FBP_OK;
}

/* Of a row that is not kept. */
static fbp_status prepare_one(const fbp_source *src, size_t view, size_t row, float *out)
{
    const struct fbp_ahead *a = ((const struct corrected *)src->state)->ahead;
    struct fbp_prep_counts ignored = {0};
    float *work = NULL;

    FBP_TRY(fbp_alloc((void **)&work, (2 * a->prep.margin_rows + 1) * columns(src) * sizeof *work,
                      "rows of a view"));
    const fbp_status st = fbp_integrals_read(a, src->below, view, row, 1, work, out, &ignored);
    fbp_free(work);
    return st;
}

/* Detector rows [row0, row0 + n) of a view, upwards. */
static fbp_status get_rows(const fbp_source *src, size_t view, size_t row0, size_t n, float *out)
{
    const struct corrected *s = src->state;
    const struct fbp_ahead *a = s->ahead;

    for (size_t r = row0, some; r < row0 + n; r += some, out += some * columns(src)) {
        const size_t kept_end = a->row0 + a->n_rows;
        some = 1;
        if (r < a->row0 || r >= kept_end) {
            FBP_TRY(prepare_one(src, view, r, out));
            continue;
        }
        some = (row0 + n < kept_end ? row0 + n : kept_end) - r;
        const uint64_t at = place_of(src, view, r - a->row0);
        const size_t bytes = some * columns(src) * sizeof *out;
        if (s->samples)
            memcpy(out, s->samples + at, bytes);
        else
            FBP_TRY(fbp_read_at(s->file.fd, s->file.folder, at * sizeof *out, out, bytes));
    }
    return FBP_OK;
}

/* Some views from b->row0 on, one a thread: whole ones, first as they are without phases. */
static fbp_status fetch_view(void *user, size_t i, int worker)
{
    const struct band *b = user;
    const struct corrected *s = b->src->state;
    const struct fbp_ahead *a = s->ahead;
    const size_t view = b->row0 + i, nr = a->scan.panel.n_rows;
    float *to = (float *)(void *)(b->memory + i * b->bytes);

    (void)worker;
    if (a->stripes.method)
        return get_rows(b->src, view, 0, nr, to);
    return fbp_integrals_read_view(a, b->src->below, view, to + fbp_ahead_view_floats(a), to,
                                   &b->counts[i]);
}

static void retrieve_view(void *user, size_t i, int worker)
{
    const struct band *b = user;
    const struct fbp_ahead *a = ((const struct corrected *)b->src->state)->ahead;
    float *view = (float *)(void *)(b->memory + i * b->bytes);
    double reach[2];

    (void)worker;
    fbp_ahead_reach(a, b->row0 + i, reach);
    fbp_retrieve(&a->phase, fbp_ahead_from(a), reach, view, view + fbp_ahead_view_floats(a));
}

/* The rows that are kept of one of them. */
static fbp_status store_view(const struct band *b, size_t i)
{
    const struct corrected *s = b->src->state;
    const struct fbp_ahead *a = s->ahead;
    const float *rows =
        (const float *)(void *)(b->memory + i * b->bytes) + a->row0 * columns(b->src);
    const size_t bytes = a->n_rows * columns(b->src) * sizeof *rows;
    const uint64_t at = place_of(b->src, b->row0 + i, 0);

    if (!s->samples)
        return fbp_write_at(s->file.fd, s->file.folder, at * sizeof *rows, rows, bytes);
    memcpy(s->samples + at, rows, bytes);
    return FBP_OK;
}

static fbp_status retrieve_some(struct band *b)
{
    const struct corrected *s = b->src->state;
    const bool in_order = fbp_source_in_order(b->src->below) && !s->ahead->stripes.method;

    FBP_TRY(fbp_pool_try(in_order ? NULL : b->pool, b->n, fetch_view, b));
    fbp_pool_for(b->pool, b->n, retrieve_view, b);
    FBP_TRY(fbp_go_on());
    for (size_t i = 0; i < b->n; i++)
        FBP_TRY(store_view(b, i));
    return FBP_OK;
}

static fbp_status retrieve_views(struct band *b)
{
    const struct fbp_ahead *a = ((const struct corrected *)b->src->state)->ahead;
    const size_t at_once = (size_t)a->n_threads;

    for (b->row0 = 0; b->row0 < a->scan.n_views; b->row0 += b->n) {
        b->n = a->scan.n_views - b->row0 < at_once ? a->scan.n_views - b->row0 : at_once;
        FBP_TRY(retrieve_some(b));
    }
    return FBP_OK;
}

static fbp_status make_room(struct band *b, struct corrected *s)
{
    const struct fbp_ahead *a = s->ahead;
    const size_t n = a->scan.n_views * columns(b->src);

    b->bytes = fbp_ahead_thread_bytes(a);
    FBP_TRY(fbp_alloc((void **)&b->memory, (size_t)a->n_threads * b->bytes, "sinograms"));
    FBP_TRY(fbp_calloc((void **)&b->counts, (size_t)a->n_threads, sizeof *b->counts, "counters"));
    FBP_TRY(fbp_pool_create(&b->pool, a->n_threads));
    if (!a->folder) {
        FBP_TRY(fbp_alloc((void **)&s->samples, a->n_rows * n * sizeof(float), "corrected views"));
        b->samples = s->samples;
        return FBP_OK;
    }
    FBP_TRY(fbp_scratch_open(&s->file, a->folder, fbp_ahead_kept_bytes(a)));
    if (!a->stripes.method)
        return FBP_OK;
    return fbp_alloc((void **)&b->samples, a->band_rows * n * sizeof(float), "a band of views");
}

static void drop(struct corrected *s)
{
    fbp_free(s->samples);
    s->samples = NULL;
    fbp_scratch_close(&s->file);
}

/* All that is kept. */
static fbp_status fill(fbp_source *src)
{
    struct corrected *s = src->state;
    struct band b = {.src = src};
    const double start = fbp_seconds();
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(make_room(&b, s));
    if (s->ahead->stripes.method)
        FBP_TRY_GOTO(correct_bands(&b));
    if (s->ahead->retrieves)
        FBP_TRY_GOTO(retrieve_views(&b));
    *s->done = (struct fbp_ahead_done){.seconds = fbp_seconds() - start,
                                       .no_rings =
                                           s->ahead->stripes.method && !atomic_load(&s->has_rings)};
    for (int i = 0; i < s->ahead->n_threads; i++) {
        s->done->mended.not_finite += b.counts[i].not_finite;
        s->done->mended.clipped += b.counts[i].clipped;
    }
    s->filled = true;
fail:
    fbp_pool_destroy(&b.pool);
    fbp_free(b.memory);
    free(b.counts);
    if (s->ahead->folder)
        fbp_free(b.samples);
    if (st != FBP_OK)
        drop(s);
    return st;
}

static fbp_status fill_once(fbp_source *src)
{
    struct corrected *s = src->state;

    pthread_mutex_lock(&s->lock);
    fbp_status st = s->filled ? FBP_OK : fbp_go_on();
    if (st == FBP_OK && !s->filled)
        st = fill(src);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static fbp_status read_corrected(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    const struct fbp_ahead *a = ((const struct corrected *)src->state)->ahead;
    const size_t from = a->top_down ? a->scan.panel.n_rows - row0 - n_rows : row0;
    float *to = out;

    (void)as_float; /* it is one */
    FBP_TRY(fill_once(src));
    for (size_t k = 0; k < n_slices; k++, to += n_rows * columns(src)) {
        FBP_TRY(get_rows(src, slice0 + k, from, n_rows, to));
        if (a->top_down)
            fbp_turn_rows(to, n_rows, columns(src));
    }
    return FBP_OK;
}

static void close_corrected(fbp_source *src)
{
    struct corrected *s = src->state;

    pthread_mutex_destroy(&s->lock);
    drop(s);
    free(s);
}

static fbp_status set_up(fbp_source *src, const void *what, fbp_source *below)
{
    struct corrected *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    memcpy(s, what, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_corrected;
    src->read_block = read_corrected;
    fbp_integrals_facts(src, below);
    src->held_bytes = fbp_source_bytes(below, s->ahead->n_threads);
    return fbp_source_onto(src, below);
}

fbp_status fbp_source_corrected(fbp_source **out, const struct fbp_ahead *ahead, fbp_source *below,
                                bool owned, struct fbp_ahead_done *done)
{
    const struct corrected what = {.ahead = ahead, .done = done, .file = {.fd = -1}};

    return fbp_source_over(out, set_up, &what, below, owned);
}
