/* Ring removal and phase retrieval, as a view step (a correction that wraps the source of the
 * views, view_step.h): fbp_corrections_step_create(). Rings: prep/prep.h (Vo et al. 2018, Muench
 * et al. 2009). Phases of one material: prep/phase.h (Paganin et al. 2002). The step has two kinds
 * of source: one corrects all views when the first row is requested, and keeps the rows that the
 * run needs, in memory or in a file; the other retrieves phases each time a view is read. Other
 * view steps also use fbp_integrals_…(), which read measured rows as line integrals.
 * Used by: cli/serve/, analysis/, pipeline/. */
#include "pipeline/view_step.h"

#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/math.h"
#include "base/system.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "pipeline/division.h"
#include "scan/file/scan.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fbp_corrections_step corrections;

/* ---- Line integrals of measured rows, for all view steps (view_step.h) ---- */

struct fbp_scan fbp_scan_of_integrals(const struct fbp_scan *scan)
{
    struct fbp_scan out = *scan;

    out.dark = out.flat = out.bad_pixels = NULL;
    out.images = NULL;
    out.flat_after = NULL;
    out.i0s = out.doses = NULL;
    out.i0 = 0;
    return out;
}

void fbp_turn_rows(float *rows, size_t n_rows, size_t n)
{
    for (size_t i = 0; i < n_rows / 2; i++) {
        float *a = rows + i * n, *b = rows + (n_rows - 1 - i) * n;
        for (size_t c = 0; c < n; c++) {
            const float x = a[c];
            a[c] = b[c];
            b[c] = x;
        }
    }
}

size_t fbp_integrals_floats(const struct fbp_measured *m, size_t n_rows)
{
    return (n_rows + 2 * m->prep.margin_rows) * m->scan.panel.n_columns;
}

/* Read detector rows [row0, row0 + n) of a view as floats, lowest row first. */
static fbp_status read_upwards(const struct fbp_measured *m, fbp_source *below, size_t view,
                               size_t row0, size_t n, float *out)
{
    const size_t first = m->top_down ? m->scan.panel.n_rows - row0 - n : row0;

    FBP_TRY(fbp_source_read(below, view, 1, first, n, FBP_F32, out));
    if (m->top_down)
        fbp_turn_rows(out, n, m->scan.panel.n_columns);
    return FBP_OK;
}

fbp_status fbp_integrals_read(const struct fbp_measured *m, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts)
{
    const size_t nc = m->scan.panel.n_columns, nr = m->scan.panel.n_rows;
    const size_t margin = m->prep.margin_rows, from = row0 > margin ? row0 - margin : 0;
    const size_t end = nr - row0 - n > margin ? row0 + n + margin : nr;
    struct fbp_prep_counts ignored = {0};

    if (end - from == n)
        work = out;
    FBP_TRY(read_upwards(m, below, view, from, end - from, work));
    for (size_t r = from; r < end; r++)
        fbp_prep_row(&m->prep, r, work + (r - from) * nc,
                     r >= row0 && r < row0 + n ? counts : &ignored);
    if (m->prep.n_bridges)
        fbp_prep_bridge(&m->prep, from, row0, row0 + n, work);
    if (work != out)
        memcpy(out, work + (row0 - from) * nc, n * nc * sizeof *out);
    return FBP_OK;
}

/* ---- Sizes, for the plan ---- */

/* Return the kind of input of phase retrieval: transmissions if the views are intensities and no
 * rings are removed first, which needs line integrals; else line integrals. */
static enum fbp_retrieved_from retrieved_from(const corrections *c)
{
    return c->measured.prep.intensity && !c->stripes.method ? FBP_FROM_TRANSMISSIONS
                                                            : FBP_FROM_INTEGRALS;
}

void fbp_corrections_choose_rows(corrections *c, const struct fbp_job *job)
{
    const struct fbp_batch all = fbp_work_all(job);
    /* keep all rows if phases are retrieved after ring removal, which needs whole views */
    const bool whole = all.load_rows == 0 || (c->retrieves && c->stripes.method);

    c->row0 = whole ? 0 : all.load_row0;
    c->n_rows = whole ? c->step.scan.panel.n_rows : all.load_rows;
}

static size_t sinogram_bytes(const corrections *c)
{
    return c->step.scan.n_views * c->step.scan.panel.n_columns * sizeof(float);
}

uint64_t fbp_corrections_kept_bytes(const corrections *c)
{
    return c->as_read ? 0 : (uint64_t)c->n_rows * sinogram_bytes(c);
}

/* Number of floats of a view, rounded up because working memory follows, which must be aligned. */
static size_t view_floats(const corrections *c)
{
    const size_t line = FBP_ALIGN / sizeof(float);

    return (c->step.scan.panel.n_rows * c->step.scan.panel.n_columns + line - 1) / line * line;
}

/* Bytes of working memory per thread: the greater of those for ring removal and phase retrieval. */
static size_t thread_bytes(const corrections *c)
{
    const size_t band = fbp_integrals_floats(&c->measured, c->band_rows) * sizeof(float);
    const size_t view =
        fbp_integrals_floats(&c->measured, c->step.scan.panel.n_rows) * sizeof(float);
    size_t rings = 0, phases = 0;

    if (c->stripes.method) {
        rings = fbp_stripes_bytes(&c->stripes);
        rings = rings > band ? rings : band;
    }
    if (c->retrieves) {
        phases = fbp_retrieval_bytes(&c->phase);
        phases = view_floats(c) * sizeof(float) + (phases > view ? phases : view);
    }
    return ((rings > phases ? rings : phases) + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;
}

uint64_t fbp_corrections_memory_bytes(const corrections *c)
{
    const uint64_t kept =
        c->folder ? c->band_rows * sinogram_bytes(c) : fbp_corrections_kept_bytes(c);

    return kept + (uint64_t)c->n_threads * thread_bytes(c);
}

void fbp_corrections_divide(corrections *c, uint64_t room, const char *folder, int n_threads)
{
    c->folder = folder;
    c->band_rows = c->stripes.method ? c->n_rows : 0;
    if (folder && c->stripes.method) {
        const uint64_t fit = room / 4 / sinogram_bytes(c);
        c->band_rows = fit < 1 ? 1 : fit < c->n_rows ? (size_t)fit : c->n_rows;
    }
    /* use at least one thread; the working memory of more must fit into an eighth of `room` */
    const uint64_t each = thread_bytes(c), fit = each > 0 ? room / 8 / each : 1;
    const uint64_t items = c->retrieves ? c->step.scan.n_views : c->n_rows;
    const uint64_t usable = (uint64_t)n_threads < items ? (uint64_t)n_threads : items;
    c->n_threads = (int)(fit < 1 ? 1 : fit < usable ? fit : usable);
}

/* ---- Rows and views, corrected ---- */

/* Cone beam: get the effective distance z [mm] at which a plane wave gives the same image,
 * magnified by M (Fresnel scaling theorem): z = (sdd - sod) / M, M = sdd / sod. Parallel beam: z is
 * the distance that the scan gives, and M = 1. */
static void fresnel_scale(const corrections *c, const struct fbp_view *v, double *z, double *M)
{
    double e[3] = {v->s[0], v->s[1], v->s[2]};

    *z = c->distance_mm;
    *M = 1;
    if (!fbp_kind_has_source(c->step.scan.kind))
        return;
    const double sod = fbp_normalise(e), beyond = -fbp_dot(v->d, e);
    *M = (sod + beyond) / sod;
    *z = beyond / *M;
}

/* Get the blur of phase retrieval in detector columns (reach[0]) and rows (reach[1]). */
static void phase_reach(const corrections *c, size_t view, double reach[2])
{
    const struct fbp_view *v = &c->step.scan.views[view];
    double z, M;

    fresnel_scale(c, v, &z, &M);
    const double length = M * sqrt(c->wave * z); /* width of the blur on the detector [mm] */
    reach[0] = length / fbp_norm(v->u);
    reach[1] = length / fbp_norm(v->v);
}

/* Read a whole view, lowest row first, as the input of phase retrieval.
 * work: memory of fbp_integrals_floats() floats for all rows */
static fbp_status read_view(const corrections *c, fbp_source *below, size_t view, float *work,
                            float *out, struct fbp_prep_counts *counts)
{
    const struct fbp_measured *m = &c->measured;
    const size_t nc = m->scan.panel.n_columns, nr = m->scan.panel.n_rows;

    if (retrieved_from(c) == FBP_FROM_INTEGRALS)
        return fbp_integrals_read(m, below, view, 0, nr, work, out, counts);
    FBP_TRY(read_upwards(m, below, view, 0, nr, out));
    for (size_t r = 0; r < nr; r++)
        fbp_prep_transmissions(&m->prep, r, out + r * nc, counts);
    fbp_prep_bridge_transmissions(&m->prep, out);
    return FBP_OK;
}

/* ---- A source that keeps the corrected rows ---- */

struct kept {
    corrections *c;
    pthread_mutex_t lock; /* protects: */
    bool filled;
    atomic_bool has_rings;
    /* corrected samples in memory, [view][kept row][column]; NULL: they are in `file` */
    float *samples;
    struct fbp_scratch file; /* corrected samples in a scratch file, in the same order */
};

/* Work that the threads of a pool share. Ring removal: rows [row0, row0 + n) of the kept detector
 * rows, in all views, as samples[view][row][column]. Phase retrieval: views [row0, row0 + n). */
struct band {
    fbp_source *src;
    size_t row0, n;
    float *samples;
    fbp_pool *pool;
    char *memory; /* working memory, thread_bytes() bytes per thread */
    size_t bytes;
    struct fbp_prep_counts *counts; /* numbers of repaired samples, per thread */
};

/* Index in the kept samples of the first sample of a row (from the first kept row) of a view. */
static uint64_t position(const fbp_source *src, size_t view, size_t row)
{
    const struct kept *s = src->state;

    return ((uint64_t)view * s->c->n_rows + row) * src->info.n[0];
}

static fbp_status store(const struct band *b, uint64_t at, const float *from, size_t bytes)
{
    const struct kept *s = b->src->state;

    if (!s->samples)
        return fbp_write_at(s->file.fd, s->file.folder, at * sizeof *from, from, bytes);
    memcpy(s->samples + at, from, bytes);
    return FBP_OK;
}

static fbp_status read_band_of_view(void *user, size_t view, int worker)
{
    const struct band *b = user;
    const corrections *c = ((const struct kept *)b->src->state)->c;
    float *work = (float *)(void *)(b->memory + (size_t)worker * b->bytes);

    return fbp_integrals_read(&c->measured, b->src->below, view, c->row0 + b->row0, b->n, work,
                              b->samples + view * b->n * b->src->info.n[0], &b->counts[worker]);
}

static void remove_rings_of_row(void *user, size_t row, int worker)
{
    const struct band *b = user;
    struct kept *s = b->src->state;
    const size_t nc = b->src->info.n[0];
    float *sinogram = b->samples + row * nc;
    void *scratch = b->memory + (size_t)worker * b->bytes;

    if (!fbp_stripes_found(&s->c->stripes, sinogram, b->n * nc, scratch))
        return;
    atomic_store(&s->has_rings, true);
    fbp_stripes_remove(&s->c->stripes, sinogram, b->n * nc, scratch);
}

/* Get corrected detector rows [row0, row0 + n) of a view, lowest first. Rows that are not kept,
 * which checks of the views may need, are read as line integrals that are not corrected. */
static fbp_status get_rows(const fbp_source *src, size_t view, size_t row0, size_t n, float *out)
{
    const struct kept *s = src->state;
    const corrections *c = s->c;
    const size_t nc = src->info.n[0], kept_end = c->row0 + c->n_rows;

    for (size_t r = row0, some; r < row0 + n; r += some, out += some * nc) {
        some = 1;
        if (r < c->row0 || r >= kept_end) {
            struct fbp_prep_counts ignored = {0};
            float *work = NULL;
            FBP_TRY(fbp_alloc((void **)&work, fbp_integrals_floats(&c->measured, 1) * sizeof *work,
                              "rows of a view"));
            const fbp_status st =
                fbp_integrals_read(&c->measured, src->below, view, r, 1, work, out, &ignored);
            fbp_free(work);
            FBP_TRY(st);
            continue;
        }
        some = (row0 + n < kept_end ? row0 + n : kept_end) - r;
        const uint64_t at = position(src, view, r - c->row0);
        if (s->samples)
            memcpy(out, s->samples + at, some * nc * sizeof *out);
        else
            FBP_TRY(fbp_read_at(s->file.fd, s->file.folder, at * sizeof *out, out,
                                some * nc * sizeof *out));
    }
    return FBP_OK;
}

static fbp_status fetch_view(void *user, size_t i, int worker)
{
    const struct band *b = user;
    const corrections *c = ((const struct kept *)b->src->state)->c;
    const size_t view = b->row0 + i;
    float *to = (float *)(void *)(b->memory + i * b->bytes);

    (void)worker;
    if (c->stripes.method)
        return get_rows(b->src, view, 0, c->step.scan.panel.n_rows, to);
    return read_view(c, b->src->below, view, to + view_floats(c), to, &b->counts[i]);
}

static void retrieve_view(void *user, size_t i, int worker)
{
    const struct band *b = user;
    const corrections *c = ((const struct kept *)b->src->state)->c;
    float *view = (float *)(void *)(b->memory + i * b->bytes);
    double reach[2];

    (void)worker;
    phase_reach(c, b->row0 + i, reach);
    fbp_retrieve(&c->phase, retrieved_from(c), reach, view, view + view_floats(c));
}

/* Correct the detector rows that the run needs, in all views, and keep them. */
static fbp_status fill(fbp_source *src)
{
    struct kept *s = src->state;
    corrections *c = s->c;
    const size_t n_views = c->step.scan.n_views, nc = src->info.n[0], n = n_views * nc;
    const size_t n_threads = (size_t)c->n_threads;
    const bool in_order = fbp_source_in_order(src->below);
    const double start = fbp_seconds();
    struct band b = {.src = src, .bytes = thread_bytes(c)};
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_alloc((void **)&b.memory, n_threads * b.bytes, "sinograms"));
    FBP_TRY_GOTO(fbp_calloc((void **)&b.counts, n_threads, sizeof *b.counts, "counters"));
    FBP_TRY_GOTO(fbp_pool_create(&b.pool, c->n_threads));
    if (!c->folder) {
        FBP_TRY_GOTO(
            fbp_alloc((void **)&s->samples, c->n_rows * n * sizeof(float), "corrected views"));
        b.samples = s->samples;
    } else {
        FBP_TRY_GOTO(fbp_scratch_open(&s->file, c->folder, fbp_corrections_kept_bytes(c)));
        if (c->stripes.method)
            FBP_TRY_GOTO(fbp_alloc((void **)&b.samples, c->band_rows * n * sizeof(float),
                                   "a band of views"));
    }

    /* For each band (c->band_rows detector rows): read it in all views, remove rings, store it. */
    for (b.row0 = 0; c->stripes.method && b.row0 < c->n_rows; b.row0 += b.n) {
        b.n = c->n_rows - b.row0 < c->band_rows ? c->n_rows - b.row0 : c->band_rows;
        for (size_t k = 0; in_order && k < n_views; k++) {
            FBP_TRY_GOTO(fbp_check_cancelled());
            FBP_TRY_GOTO(read_band_of_view(&b, k, 0));
        }
        if (!in_order)
            FBP_TRY_GOTO(fbp_pool_try(b.pool, n_views, read_band_of_view, &b));
        FBP_TRY_GOTO(fbp_check_cancelled());
        fbp_pool_for(b.pool, b.n, remove_rings_of_row, &b);
        FBP_TRY_GOTO(fbp_check_cancelled());
        for (size_t k = 0; !s->samples && k < n_views; k++) { /* write to the file */
            FBP_TRY_GOTO(fbp_check_cancelled());
            FBP_TRY_GOTO(store(&b, position(src, k, b.row0), b.samples + k * b.n * nc,
                               b.n * nc * sizeof(float)));
        }
    }
    /* For each group of views, one per thread: read them, retrieve phases, store the kept rows. */
    for (b.row0 = 0; c->retrieves && b.row0 < n_views; b.row0 += b.n) {
        const bool alone = in_order && !c->stripes.method;
        b.n = n_views - b.row0 < n_threads ? n_views - b.row0 : n_threads;
        FBP_TRY_GOTO(fbp_pool_try(alone ? NULL : b.pool, b.n, fetch_view, &b));
        fbp_pool_for(b.pool, b.n, retrieve_view, &b);
        FBP_TRY_GOTO(fbp_check_cancelled());
        for (size_t i = 0; i < b.n; i++) {
            const float *view = (const float *)(void *)(b.memory + i * b.bytes);
            FBP_TRY_GOTO(store(&b, position(src, b.row0 + i, 0), view + c->row0 * nc,
                               c->n_rows * nc * sizeof *view));
        }
    }

    for (size_t i = 0; i < n_threads; i++)
        fbp_prep_counts_add(&c->step.repaired, &b.counts[i]);
    c->step.seconds = fbp_seconds() - start;
    if (c->stripes.method && !atomic_load(&s->has_rings))
        c->step.note = "rings: no rings were found, so the views are unchanged";
    s->filled = true;
fail:
    fbp_pool_destroy(&b.pool);
    fbp_free(b.memory);
    free(b.counts);
    if (c->folder)
        fbp_free(b.samples);
    if (st != FBP_OK) {
        fbp_free(s->samples);
        s->samples = NULL;
        fbp_scratch_close(&s->file);
    }
    return st;
}

/* Read rows of corrected views. The first call corrects all views; other threads wait. */
static fbp_status read_kept(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                            size_t n_rows, bool as_float, void *out)
{
    struct kept *s = src->state;
    const bool top_down = s->c->measured.top_down;
    const size_t from = top_down ? src->info.n[1] - row0 - n_rows : row0, nc = src->info.n[0];
    float *to = out;

    (void)as_float; /* the samples are floats */
    pthread_mutex_lock(&s->lock);
    fbp_status st = s->filled ? FBP_OK : fbp_check_cancelled();
    if (st == FBP_OK && !s->filled)
        st = fill(src);
    pthread_mutex_unlock(&s->lock);
    FBP_TRY(st);
    for (size_t k = 0; k < n_slices; k++, to += n_rows * nc) {
        FBP_TRY(get_rows(src, slice0 + k, from, n_rows, to));
        if (top_down)
            fbp_turn_rows(to, n_rows, nc);
    }
    return FBP_OK;
}

static void close_kept(fbp_source *src)
{
    struct kept *s = src->state;

    pthread_mutex_destroy(&s->lock);
    fbp_free(s->samples);
    fbp_scratch_close(&s->file);
    free(s);
}

static fbp_status set_up_kept(fbp_source *src, const void *step, fbp_source *below)
{
    struct kept *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    s->c = *(corrections *const *)step;
    s->file.fd = -1;
    pthread_mutex_init(&s->lock, NULL);
    src->state = s;
    src->close = close_kept;
    src->read_block = read_kept;
    fbp_source_like(src, below);
    src->held_bytes = fbp_source_bytes(below, s->c->n_threads);
    return fbp_source_wrap_set_up(src, below);
}

/* ---- A source that retrieves phases as views are read ---- */

/* Slot of the cache of views after phase retrieval, each followed by memory for its transform. */
struct slot {
    float *view;
    size_t index;  /* index of the view + 1; 0: none */
    bool taken;    /* a thread fills or reads this slot */
    uint64_t last; /* value of struct retrieved's counter `now` at the last use of the slot */
};

/* State of the source, with a cache of n_threads views after phase retrieval: a view is usually
 * read several times in a row, each time other rows. */
struct retrieved {
    corrections *c;
    char *memory;         /* memory of all slots */
    pthread_mutex_t lock; /* protects: */
    pthread_cond_t freed;
    struct slot *slots;
    uint64_t now;
    /* [view] 1: the repaired samples of the view are included in step.repaired */
    unsigned char *counted;
};

/* Find the cache slot that holds a view (index: number of the view + 1), else the least recently
 * used free slot. NULL: the view's slot, or every slot, is in use, and the caller must wait. */
static struct slot *find_slot(const struct retrieved *s, size_t index)
{
    struct slot *oldest = NULL;

    for (int i = 0; i < s->c->n_threads; i++) {
        struct slot *slot = &s->slots[i];
        if (slot->index == index)
            return slot->taken ? NULL : slot;
        if (!slot->taken && (!oldest || slot->last < oldest->last))
            oldest = slot;
    }
    return oldest;
}

static fbp_status retrieve(fbp_source *src, size_t view, float *out)
{
    struct retrieved *s = src->state;
    corrections *c = s->c;
    float *work = out + view_floats(c);
    struct fbp_prep_counts counts = {0};
    double reach[2];

    FBP_TRY(fbp_check_cancelled());
    FBP_TRY(read_view(c, src->below, view, work, out, &counts));
    phase_reach(c, view, reach);
    fbp_retrieve(&c->phase, retrieved_from(c), reach, out, work);
    pthread_mutex_lock(&s->lock);
    if (!s->counted[view])
        fbp_prep_counts_add(&c->step.repaired, &counts);
    s->counted[view] = 1;
    pthread_mutex_unlock(&s->lock);
    return FBP_OK;
}

static fbp_status read_retrieved(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    struct retrieved *s = src->state;
    const bool top_down = s->c->measured.top_down;
    const size_t nc = src->info.n[0], from = top_down ? src->info.n[1] - row0 - n_rows : row0;
    float *to = out;

    (void)as_float; /* the samples are floats */
    for (size_t k = 0; k < n_slices; k++, to += n_rows * nc) {
        const size_t view = slice0 + k;
        struct slot *slot;
        pthread_mutex_lock(&s->lock);
        while (!(slot = find_slot(s, view + 1)))
            pthread_cond_wait(&s->freed, &s->lock);
        const bool is_there = slot->index == view + 1;
        slot->index = view + 1;
        slot->taken = true;
        pthread_mutex_unlock(&s->lock);

        const fbp_status st = is_there ? FBP_OK : retrieve(src, view, slot->view);
        if (st == FBP_OK) {
            memcpy(to, slot->view + from * nc, n_rows * nc * sizeof *to);
            if (top_down)
                fbp_turn_rows(to, n_rows, nc);
        }
        pthread_mutex_lock(&s->lock);
        slot->taken = false;
        slot->last = ++s->now;
        if (st != FBP_OK)
            slot->index = 0;
        pthread_cond_broadcast(&s->freed);
        pthread_mutex_unlock(&s->lock);
        FBP_TRY(st);
    }
    return FBP_OK;
}

static void close_retrieved(fbp_source *src)
{
    struct retrieved *s = src->state;

    pthread_cond_destroy(&s->freed);
    pthread_mutex_destroy(&s->lock);
    fbp_free(s->memory);
    free(s->slots);
    free(s->counted);
    free(s);
}

static fbp_status set_up_retrieved(fbp_source *src, const void *step, fbp_source *below)
{
    corrections *c = *(corrections *const *)step;
    const size_t bytes = thread_bytes(c), n = (size_t)c->n_threads;
    struct retrieved *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    s->c = c;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->freed, NULL);
    src->state = s;
    src->close = close_retrieved;
    src->read_block = read_retrieved;
    src->unpacks = true;
    fbp_source_like(src, below);
    src->held_bytes = fbp_source_bytes(below, c->n_threads);
    FBP_TRY(fbp_calloc((void **)&s->counted, c->step.scan.n_views, 1, "counters"));
    FBP_TRY(fbp_calloc((void **)&s->slots, n, sizeof *s->slots, "views"));
    FBP_TRY(fbp_alloc((void **)&s->memory, n * bytes, "views"));
    for (size_t i = 0; i < n; i++)
        s->slots[i].view = (float *)(void *)(s->memory + i * bytes);
    return fbp_source_wrap_set_up(src, below);
}

/* ---- The step ---- */

static fbp_status set_up(fbp_source *src, const void *step, fbp_source *below)
{
    corrections *c = *(corrections *const *)step;

    c->step.repaired_once = !c->as_read;
    return (c->as_read ? set_up_retrieved : set_up_kept)(src, step, below);
}

static void destroy(struct fbp_view_step *step)
{
    corrections *c = (corrections *)step;

    fbp_prep_clear(&c->measured.prep);
    fbp_retrieval_close(&c->phase);
    free(c);
}

/* Insert a description of ring removal and phase retrieval at the beginning of info->prepared,
 * because both are applied before the steps that this text already describes. */
static void describe(const struct fbp_view_step *step, struct fbp_plan_summary *info)
{
    const corrections *c = (const corrections *)step;
    char rings[120] = "", phases[160] = "", all[sizeof rings + sizeof phases + 300];
    double reach[2], z, M;

    if (c->stripes.method)
        fbp_stripes_describe(&c->stripes, rings, sizeof rings);
    if (c->retrieves) {
        phase_reach(c, 0, reach);
        fresnel_scale(c, &step->scan.views[0], &z, &M);
        snprintf(phases, sizeof phases,
                 "phase retrieval for one material (Paganin), effective distance %.5g mm, "
                 "magnification %.5g, blur of %.3g columns",
                 z, M, reach[0]);
    }
    snprintf(all, sizeof all, "%s%s%s%s%.256s", rings, rings[0] && phases[0] ? "; " : "", phases,
             info->prepared[0] ? "; " : "", info->prepared);
    snprintf(info->prepared, sizeof info->prepared, "%.255s", all);
}

static uint64_t hash(const struct fbp_view_step *step, uint64_t h)
{
    const corrections *c = (const corrections *)step;
    const double choices[] = {(double)c->stripes.method,
                              (double)c->stripes.size,
                              (double)c->stripes.levels,
                              c->stripes.sigma,
                              (double)c->stripes.wavelet,
                              c->wave,
                              c->distance_mm,
                              (double)c->measured.prep.inverse_i0,
                              (double)c->measured.prep.intensity,
                              c->retrieves && fbp_retrieval_is_fused()};

    return fbp_prep_hash(fbp_hash(h, choices, sizeof choices), &c->measured.prep);
}

/* Measure the time of ring removal per sample [s], with up to 64 columns of pseudo-random data. */
static fbp_status time_stripes(const struct fbp_stripes *all, double *per_sample)
{
    enum { COLUMNS = 64 };
    struct fbp_stripes few = *all;
    float *sinogram = NULL;
    void *scratch = NULL;
    fbp_status st = FBP_OK;

    few.n_columns = all->n_columns < COLUMNS ? all->n_columns : COLUMNS;
    few.size = all->size < few.n_columns ? all->size : few.n_columns;
    const size_t n = few.n_views * few.n_columns;
    FBP_TRY_GOTO(fbp_alloc((void **)&sinogram, n * sizeof *sinogram, "a sinogram"));
    FBP_TRY_GOTO(fbp_alloc(&scratch, fbp_stripes_bytes(&few), "a sinogram's scratch"));
    for (size_t i = 0; i < n; i++)
        sinogram[i] = (float)(i * 2654435761u >> 8 & 0xffff) * 1e-4f;
    const double start = fbp_seconds();
    fbp_stripes_remove(&few, sinogram, few.n_columns, scratch);
    *per_sample = (fbp_seconds() - start) / (double)n;
fail:
    fbp_free(sinogram);
    fbp_free(scratch);
    return st;
}

/* Measure the time of phase retrieval per view [s], with a view of zeros. */
static fbp_status time_phase(const corrections *c, double *per_view)
{
    const size_t n = view_floats(c);
    float *view = NULL;
    void *work = NULL;
    double reach[2];
    fbp_status st = FBP_OK;

    phase_reach(c, 0, reach);
    FBP_TRY_GOTO(fbp_alloc((void **)&view, n * sizeof *view, "a view"));
    FBP_TRY_GOTO(fbp_alloc(&work, fbp_retrieval_bytes(&c->phase), "a view's transform"));
    memset(view, 0, n * sizeof *view);
    const double start = fbp_seconds();
    fbp_retrieve(&c->phase, FBP_FROM_INTEGRALS, reach, view, work);
    *per_view = fbp_seconds() - start;
fail:
    fbp_free(view);
    fbp_free(work);
    return st;
}

static fbp_status estimate(const struct fbp_view_step *step, const struct fbp_view_readings *reads,
                           double *seconds)
{
    /* time to write a byte to a scratch file and read it back [s] */
    static const double FILE_BYTE = 0.5e-9;
    const corrections *c = (const corrections *)step;
    const double bytes = (double)fbp_corrections_kept_bytes(c);
    const double views = (double)((c->as_read ? reads->slabs : 1) * step->scan.n_views);
    double per_sample = 0, per_view = 0;

    if (c->stripes.method)
        FBP_TRY(time_stripes(&c->stripes, &per_sample));
    if (c->retrieves)
        FBP_TRY(time_phase(c, &per_view));
    *seconds = (bytes / sizeof(float) * per_sample + views * per_view) / c->n_threads +
               (c->folder ? bytes * FILE_BYTE : 0);
    return FBP_OK;
}

fbp_status fbp_corrections_step_create(struct fbp_view_step **out,
                                       struct fbp_view_step_request *request)
{
    static const double KEV_MM = 1.23984198e-6; /* Planck constant times speed of light [keV mm] */
    const struct fbp_scan *scan = request->scan;
    const struct fbp_panel *panel = &scan->panel;
    /* Greatest widths of the blur (phase_reach()) of all views. */
    double most[2] = {0, 0}, reach[2];
    struct fbp_corrections wanted;
    corrections *c = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_corrections_of(scan, &wanted));
    FBP_TRY(fbp_corrections_check("scan", &wanted, scan));
    if (!fbp_corrections_need_prepass(&wanted))
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&c, 1, sizeof *c, "corrections"));
    c->step = (struct fbp_view_step){.scan = fbp_scan_of_integrals(scan),
                                     .prep = &c->measured.prep,
                                     .corrections = c,
                                     .set_up = set_up,
                                     .destroy = destroy,
                                     .describe = describe,
                                     .hash = hash,
                                     .estimate = estimate};
    c->measured.scan = c->step.scan;
    c->measured.top_down = request->top_down;
    c->n_rows = scan->panel.n_rows;
    FBP_TRY_GOTO(fbp_prep_create(&c->measured.prep, scan, request->top_down));
    c->measured.prep.hardening.n = 0; /* the job corrects beam hardening later */
    fbp_stripes_of(&wanted, scan->n_views, scan->panel.n_columns, &c->stripes);
    c->retrieves = wanted.paganin_delta_beta > 0;
    if (c->retrieves) {
        c->distance_mm = wanted.paganin_mm;
        c->wave = wanted.paganin_delta_beta * KEV_MM / wanted.paganin_kev / (4 * FBP_PI);
    }
    for (size_t k = 0; c->retrieves && k < scan->n_views; k++) {
        phase_reach(c, k, reach);
        if (!(reach[0] >= 0 && reach[1] >= 0))
            FBP_TRY_GOTO(fbp_fail(
                FBP_ERR_INVALID,
                "paganin: in view %zu the detector is not behind the axis; check the distances",
                k));
        most[0] = fmax(most[0], reach[0]);
        most[1] = fmax(most[1], reach[1]);
    }
    if (most[0] > (double)panel->n_columns / 4)
        FBP_TRY_GOTO(fbp_fail(
            FBP_ERR_INVALID,
            "paganin: the phase retrieval blurs over %.3g columns, too many for a detector of %zu; "
            "check delta_beta, the energy (keV), distances and pitch (mm)",
            most[0], panel->n_columns));
    if (c->retrieves) /* one size of transforms for all views */
        FBP_TRY_GOTO(fbp_retrieval_open(&c->phase, panel->n_columns, panel->n_rows, most));

    if (request->params->input.follow)
        FBP_TRY_GOTO(fbp_fail(FBP_ERR_UNSUPPORTED,
                              "%s: this correction needs complete views or the whole scan, so it "
                              "excludes --follow; omit one of the two",
                              c->stripes.method ? "rings" : "paganin"));
    *out = &c->step;
    return FBP_OK;
fail:
    destroy(&c->step);
    return st;
}
