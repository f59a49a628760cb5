#include "scan/file/corrections.h"
#include "array/array.h"
#include "array/file/bytes.h"
#include "array/file/scratch.h"
#include "array/onto.h"
#include "backend/rows.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/stop.h"
#include "base/vec.h"
#include "geometry/kind.h"
#include "pipeline/division.h"
#include "pipeline/view_sources.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file's bytes written and read once [s], as plan_rows.c has it. */
static const double FILE_BYTE = 0.5e-9;

/* Of darks, flats and what else there was, line integrals know nothing; but of hardening. */
static void make_scan(struct fbp_ahead *a, const struct fbp_scan *scan)
{
    a->scan = *scan;
    a->scan.dark = a->scan.flat = a->scan.bad_pixels = NULL;
    a->scan.images = NULL;
    a->scan.i0 = 0;
}

/* z of a plane wave and the magnification that give the same picture (Fresnel's scaling theorem):
 * of a detector at distance sdd from the source and of an object at sod, z = (sdd - sod) / M, M =
 * sdd / sod. */
static void scale_of(const struct fbp_ahead *a, const struct fbp_view *v, double *z, double *M)
{
    double e[3] = {v->s[0], v->s[1], v->s[2]};

    *z = a->distance_mm;
    *M = 1;
    if (!fbp_kind_has_source(a->scan.kind))
        return;
    const double sod = fbp_normalise(e), beyond = -fbp_dot(v->d, e);
    *M = (sod + beyond) / sod;
    *z = beyond / *M;
}

void fbp_ahead_reach(const struct fbp_ahead *a, size_t k, double reach[2])
{
    const struct fbp_view *v = &a->scan.views[k];
    double z, M;

    scale_of(a, v, &z, &M);
    const double length = M * sqrt(a->wave * z); /* on the detector */
    reach[0] = length / fbp_norm(v->u);
    reach[1] = length / fbp_norm(v->v);
}

/* For the view whose phases reach farthest. */
static fbp_status open_phase(struct fbp_ahead *a, const struct fbp_corrections *c)
{
    static const double KEV_MM = 1.23984198e-6; /* h c */
    const struct fbp_panel *panel = &a->scan.panel;
    double most[2] = {0, 0}, reach[2];

    a->retrieves = true;
    a->distance_mm = c->paganin_mm;
    a->wave = c->paganin_delta_beta * KEV_MM / c->paganin_kev / (4 * FBP_PI);
    for (size_t k = 0; k < a->scan.n_views; k++) {
        fbp_ahead_reach(a, k, reach);
        if (!(reach[0] >= 0 && reach[1] >= 0))
            return fbp_fail(FBP_ERR_INVALID,
                            "paganin: in view %zu the detector does not lie behind the axis", k);
        most[0] = fmax(most[0], reach[0]);
        most[1] = fmax(most[1], reach[1]);
    }
    if (most[0] > (double)panel->n_columns / 4)
        return fbp_fail(FBP_ERR_INVALID,
                        "paganin: phases would reach over %.3g columns, and the detector has %zu: "
                        "check delta_beta, the energy (keV), distances and pitch (mm)",
                        most[0], panel->n_columns);
    return fbp_retrieval_open(&a->phase, panel->n_columns, panel->n_rows, most);
}

static fbp_status create(struct fbp_ahead *a, const struct fbp_scan *scan,
                         const struct fbp_corrections *c)
{
    FBP_TRY(fbp_prep_create(&a->prep, scan, a->top_down));
    a->prep.hardening.n = 0; /* it is done with what comes out */
    make_scan(a, scan);
    fbp_stripes_of(c, scan->n_views, scan->panel.n_columns, &a->stripes);
    a->n_rows = scan->panel.n_rows;
    return c->paganin_delta_beta > 0 ? open_phase(a, c) : FBP_OK;
}

fbp_status fbp_ahead_create(struct fbp_ahead *a, const struct fbp_scan *scan, bool top_down)
{
    struct fbp_corrections c;

    *a = (struct fbp_ahead){.top_down = top_down};
    FBP_TRY(fbp_corrections_of(scan, &c));
    FBP_TRY(fbp_corrections_check("scan", &c, scan));
    if (!fbp_corrections_ahead(&c))
        return FBP_OK;
    const fbp_status st = create(a, scan, &c);
    if (st != FBP_OK)
        fbp_ahead_clear(a);
    a->used = st == FBP_OK;
    return st;
}

void fbp_ahead_clear(struct fbp_ahead *a)
{
    fbp_prep_clear(&a->prep);
    fbp_retrieval_close(&a->phase);
    *a = (struct fbp_ahead){0};
}

bool fbp_ahead_may_wait(const struct fbp_ahead *a)
{
    return a->retrieves && !a->stripes.method;
}

enum fbp_retrieved_from fbp_ahead_from(const struct fbp_ahead *a)
{
    return a->prep.intensity && !a->stripes.method ? FBP_FROM_TRANSMISSIONS : FBP_FROM_INTEGRALS;
}

void fbp_ahead_choose_rows(struct fbp_ahead *a, const struct fbp_job *job)
{
    const struct fbp_batch all = fbp_work_all(job);
    /* with rings, phases are retrieved from whole views */
    const bool whole = all.load_rows == 0 || (a->retrieves && a->stripes.method);

    a->row0 = whole ? 0 : all.load_row0;
    a->n_rows = whole ? a->scan.panel.n_rows : all.load_rows;
}

static size_t sinogram_bytes(const struct fbp_ahead *a)
{
    return a->scan.n_views * a->scan.panel.n_columns * sizeof(float);
}

uint64_t fbp_ahead_kept_bytes(const struct fbp_ahead *a)
{
    return a->as_read ? 0 : (uint64_t)a->n_rows * sinogram_bytes(a);
}

size_t fbp_ahead_read_floats(const struct fbp_ahead *a, size_t n_rows)
{
    return (n_rows + 2 * a->prep.margin_rows) * a->scan.panel.n_columns;
}

size_t fbp_ahead_view_floats(const struct fbp_ahead *a)
{
    const size_t line = FBP_ALIGN / sizeof(float);

    return (a->scan.panel.n_rows * a->scan.panel.n_columns + line - 1) / line * line;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t fbp_ahead_thread_bytes(const struct fbp_ahead *a)
{
    const size_t band = fbp_ahead_read_floats(a, a->band_rows) * sizeof(float);
    const size_t view = fbp_ahead_read_floats(a, a->scan.panel.n_rows) * sizeof(float);
    const size_t rings = a->stripes.method ? most(fbp_stripes_bytes(&a->stripes), band) : 0;
    const size_t phases = a->retrieves ? fbp_ahead_view_floats(a) * sizeof(float) +
                                             most(fbp_retrieval_bytes(&a->phase), view)
                                       : 0;

    return (most(rings, phases) + FBP_ALIGN - 1) / FBP_ALIGN * FBP_ALIGN;
}

uint64_t fbp_ahead_memory_bytes(const struct fbp_ahead *a)
{
    const uint64_t kept = a->folder ? a->band_rows * sinogram_bytes(a) : fbp_ahead_kept_bytes(a);

    return kept + (uint64_t)a->n_threads * fbp_ahead_thread_bytes(a);
}

size_t fbp_ahead_bands(const struct fbp_ahead *a)
{
    return a->band_rows ? (a->n_rows + a->band_rows - 1) / a->band_rows : 1;
}

/* As many threads as a part of the room has scratch for; one at least. */
static void choose_threads(struct fbp_ahead *a, uint64_t room, int n_threads)
{
    const uint64_t each = fbp_ahead_thread_bytes(a), fit = each > 0 ? room / each : 1;
    const uint64_t rows = a->retrieves ? a->scan.n_views : a->n_rows;
    const uint64_t usable = (uint64_t)n_threads < rows ? (uint64_t)n_threads : rows;

    a->n_threads = (int)(fit < 1 ? 1 : fit < usable ? fit : usable);
}

void fbp_ahead_divide(struct fbp_ahead *a, uint64_t room, const char *folder, int n_threads)
{
    a->folder = folder;
    a->band_rows = a->stripes.method ? a->n_rows : 0;
    if (folder && a->stripes.method) {
        const uint64_t fit = room / 4 / sinogram_bytes(a);
        a->band_rows = fit < 1 ? 1 : fit < a->n_rows ? (size_t)fit : a->n_rows;
    }
    choose_threads(a, room / 8, n_threads);
}

static void describe_phase(const struct fbp_ahead *a, char *line, size_t n)
{
    double reach[2], z, M;

    fbp_ahead_reach(a, 0, reach);
    scale_of(a, &a->scan.views[0], &z, &M);
    snprintf(line, n,
             "phases of one material (Paganin), effective distance %.5g mm, magnification %.5g, "
             "blur of %.3g columns",
             z, M, reach[0]);
}

void fbp_ahead_describe(const struct fbp_ahead *a, char *line, size_t n)
{
    char rings[120] = "", phases[160] = "", all[sizeof rings + sizeof phases + 300];

    if (!a->used)
        return;
    if (a->stripes.method)
        fbp_stripes_describe(&a->stripes, rings, sizeof rings);
    if (a->retrieves)
        describe_phase(a, phases, sizeof phases);
    snprintf(all, sizeof all, "%s%s%s%s%.256s", rings, rings[0] && phases[0] ? "; " : "", phases,
             line[0] ? "; " : "", line);
    snprintf(line, n, "%s", all);
}

/* Of a sinogram of few columns, whose samples have no order. */
static fbp_status time_stripes(const struct fbp_stripes *all, double *a_sample)
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
    *a_sample = (fbp_seconds() - start) / (double)n;
fail:
    fbp_free(sinogram);
    fbp_free(scratch);
    return st;
}

/* Of a view of nothing. */
static fbp_status time_phase(const struct fbp_ahead *a, double *a_view)
{
    const size_t n = fbp_ahead_view_floats(a);
    float *view = NULL;
    void *work = NULL;
    double reach[2];
    fbp_status st = FBP_OK;

    fbp_ahead_reach(a, 0, reach);
    FBP_TRY_GOTO(fbp_alloc((void **)&view, n * sizeof *view, "a view"));
    FBP_TRY_GOTO(fbp_alloc(&work, fbp_retrieval_bytes(&a->phase), "a view's transform"));
    memset(view, 0, n * sizeof *view);
    const double start = fbp_seconds();
    fbp_retrieve(&a->phase, FBP_FROM_INTEGRALS, reach, view, work);
    *a_view = fbp_seconds() - start;
fail:
    fbp_free(view);
    fbp_free(work);
    return st;
}

fbp_status fbp_ahead_estimate(const struct fbp_ahead *a, size_t times, double *seconds)
{
    const double bytes = (double)fbp_ahead_kept_bytes(a);
    double a_sample = 0, a_view = 0;

    if (a->stripes.method)
        FBP_TRY(time_stripes(&a->stripes, &a_sample));
    if (a->retrieves)
        FBP_TRY(time_phase(a, &a_view));
    *seconds = (bytes / sizeof(float) * a_sample + (double)(times * a->scan.n_views) * a_view) /
                   a->n_threads +
               (a->folder ? bytes * FILE_BYTE : 0);
    return FBP_OK;
}

uint64_t fbp_ahead_hash(uint64_t h, const struct fbp_ahead *a)
{
    const double choices[] = {(double)a->stripes.method,
                              (double)a->stripes.size,
                              (double)a->stripes.levels,
                              a->stripes.sigma,
                              (double)a->stripes.wavelet,
                              a->wave,
                              a->distance_mm,
                              (double)a->prep.inverse_i0,
                              (double)a->prep.intensity,
                              a->retrieves && fbp_retrieval_is_fused()};

    return fbp_prep_hash(fbp_hash(h, choices, sizeof choices), &a->prep);
}

void fbp_integrals_facts(fbp_source *src, const fbp_source *below)
{
    src->info = below->info;
    src->info.type = FBP_F32;
    src->info.scale = src->info.offset = 0;
    src->info.big_endian = false;
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

/* Detector rows [row0, row0 + n) of a view as floats, upwards. */
static fbp_status read_upwards(const struct fbp_ahead *a, fbp_source *below, size_t view,
                               size_t row0, size_t n, float *out)
{
    const size_t nr = a->scan.panel.n_rows, first = a->top_down ? nr - row0 - n : row0;

    FBP_TRY(fbp_source_read(below, view, 1, first, n, out));
    if (a->top_down)
        fbp_turn_rows(out, n, a->scan.panel.n_columns);
    return FBP_OK;
}

fbp_status fbp_integrals_read(const struct fbp_ahead *a, fbp_source *below, size_t view,
                              size_t row0, size_t n, float *work, float *out,
                              struct fbp_prep_counts *counts)
{
    const size_t nc = a->scan.panel.n_columns, nr = a->scan.panel.n_rows;
    const size_t margin = a->prep.margin_rows, from = row0 > margin ? row0 - margin : 0;
    const size_t end = nr - row0 - n > margin ? row0 + n + margin : nr;
    struct fbp_prep_counts others = {0};

    if (end - from == n)
        work = out;
    FBP_TRY(read_upwards(a, below, view, from, end - from, work));
    for (size_t r = from; r < end; r++)
        fbp_prep_row(&a->prep, r, work + (r - from) * nc,
                     r >= row0 && r < row0 + n ? counts : &others);
    if (a->prep.n_bridges)
        fbp_prep_bridge(&a->prep, from, row0, row0 + n, work);
    if (work != out)
        memcpy(out, work + (row0 - from) * nc, n * nc * sizeof *out);
    return FBP_OK;
}

fbp_status fbp_integrals_read_view(const struct fbp_ahead *a, fbp_source *below, size_t view,
                                   float *work, float *out, struct fbp_prep_counts *counts)
{
    const size_t nc = a->scan.panel.n_columns, nr = a->scan.panel.n_rows;

    if (fbp_ahead_from(a) == FBP_FROM_INTEGRALS)
        return fbp_integrals_read(a, below, view, 0, nr, work, out, counts);
    FBP_TRY(read_upwards(a, below, view, 0, nr, out));
    for (size_t r = 0; r < nr; r++)
        fbp_prep_transmissions(&a->prep, r, out + r * nc, counts);
    fbp_prep_bridge_transmissions(&a->prep, out);
    return FBP_OK;
}

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

/* A view, and behind it what retrieving takes. */
struct slot {
    float *view;
    size_t index;  /* of the view, from 1 on; 0: none */
    bool taken;    /* somebody retrieves it, or reads from it */
    uint64_t last; /* when that was over */
};

struct retrieved {
    const struct fbp_ahead *ahead;
    struct fbp_prep_counts *mended;
    char *memory;         /* of all slots */
    pthread_mutex_t lock; /* of: */
    pthread_cond_t freed;
    struct slot *slots;
    uint64_t now;           /* counts */
    unsigned char *counted; /* [view] in *mended */
};

/* The one that has the view; else the one that was used longest ago of those that are free; NULL:
 * it is to be waited for. */
static struct slot *find(const struct retrieved *s, size_t index)
{
    struct slot *oldest = NULL;

    for (int i = 0; i < s->ahead->n_threads; i++) {
        struct slot *slot = &s->slots[i];
        if (slot->index == index)
            return slot->taken ? NULL : slot;
        if (!slot->taken && (!oldest || slot->last < oldest->last))
            oldest = slot;
    }
    return oldest;
}

static struct slot *take(struct retrieved *s, size_t index, bool *has_it)
{
    struct slot *slot;

    pthread_mutex_lock(&s->lock);
    while (!(slot = find(s, index)))
        pthread_cond_wait(&s->freed, &s->lock);
    *has_it = slot->index == index;
    slot->index = index;
    slot->taken = true;
    pthread_mutex_unlock(&s->lock);
    return slot;
}

static void give_back(struct retrieved *s, struct slot *slot, bool is_good)
{
    pthread_mutex_lock(&s->lock);
    slot->taken = false;
    slot->last = ++s->now;
    if (!is_good)
        slot->index = 0;
    pthread_cond_broadcast(&s->freed);
    pthread_mutex_unlock(&s->lock);
}

static void count(struct retrieved *s, size_t view, const struct fbp_prep_counts *counts)
{
    pthread_mutex_lock(&s->lock);
    if (!s->counted[view]) {
        s->mended->not_finite += counts->not_finite;
        s->mended->clipped += counts->clipped;
    }
    s->counted[view] = 1;
    pthread_mutex_unlock(&s->lock);
}

static fbp_status retrieve(fbp_source *src, size_t view, float *out)
{
    struct retrieved *s = src->state;
    const struct fbp_ahead *a = s->ahead;
    float *work = out + fbp_ahead_view_floats(a);
    struct fbp_prep_counts counts = {0};
    double reach[2];

    FBP_TRY(fbp_go_on());
    FBP_TRY(fbp_integrals_read_view(a, src->below, view, work, out, &counts));
    fbp_ahead_reach(a, view, reach);
    fbp_retrieve(&a->phase, fbp_ahead_from(a), reach, out, work);
    count(s, view, &counts);
    return FBP_OK;
}

/* Rows [row0, row0 + n) as they are stored. */
static fbp_status read_view(fbp_source *src, size_t view, size_t row0, size_t n, float *out)
{
    struct retrieved *s = src->state;
    const struct fbp_ahead *a = s->ahead;
    const size_t nc = src->info.n[0], from = a->top_down ? a->scan.panel.n_rows - row0 - n : row0;
    bool has_it;
    struct slot *slot = take(s, view + 1, &has_it);
    const fbp_status st = has_it ? FBP_OK : retrieve(src, view, slot->view);

    if (st == FBP_OK) {
        memcpy(out, slot->view + from * nc, n * nc * sizeof *out);
        if (a->top_down)
            fbp_turn_rows(out, n, nc);
    }
    give_back(s, slot, st == FBP_OK);
    return st;
}

static fbp_status read_retrieved(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, bool as_float, void *out)
{
    float *to = out;

    (void)as_float; /* it is one */
    for (size_t k = 0; k < n_slices; k++, to += n_rows * src->info.n[0])
        FBP_TRY(read_view(src, slice0 + k, row0, n_rows, to));
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

static fbp_status make_slots(struct retrieved *s)
{
    const size_t bytes = fbp_ahead_thread_bytes(s->ahead), n = (size_t)s->ahead->n_threads;

    FBP_TRY(fbp_calloc((void **)&s->counted, s->ahead->scan.n_views, 1, "counters"));
    FBP_TRY(fbp_calloc((void **)&s->slots, n, sizeof *s->slots, "views"));
    FBP_TRY(fbp_alloc((void **)&s->memory, n * bytes, "views"));
    for (size_t i = 0; i < n; i++)
        s->slots[i].view = (float *)(void *)(s->memory + i * bytes);
    return FBP_OK;
}

static fbp_status set_up_retrieved(fbp_source *src, const void *what, fbp_source *below)
{
    struct retrieved *s;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a source"));
    *s = *(const struct retrieved *)what;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->freed, NULL);
    src->state = s;
    src->close = close_retrieved;
    src->read_block = read_retrieved;
    src->unpacks = true;
    fbp_integrals_facts(src, below);
    src->held_bytes = fbp_source_bytes(below, s->ahead->n_threads);
    FBP_TRY(make_slots(s));
    return fbp_source_onto(src, below);
}

fbp_status fbp_source_retrieved(fbp_source **out, const struct fbp_ahead *ahead, fbp_source *below,
                                bool owned, struct fbp_prep_counts *mended)
{
    const struct retrieved what = {.ahead = ahead, .mended = mended};

    return fbp_source_over(out, set_up_retrieved, &what, below, owned);
}
