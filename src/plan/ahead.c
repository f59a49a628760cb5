#include "plan/ahead.h"

#include "backend/rows.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "geometry/kind.h"
#include "plan/work.h"
#include "scan/file/corrections.h"

#include <math.h>
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
