#include "plan/ahead.h"

#include "backend/rows.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "plan/work.h"
#include "scan/file/corrections.h"

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
    a->scan.i0 = 0;
}

fbp_status fbp_ahead_create(struct fbp_ahead *a, const struct fbp_scan *scan, bool top_down)
{
    struct fbp_corrections c;

    *a = (struct fbp_ahead){.top_down = top_down};
    FBP_TRY(fbp_corrections_of(scan, &c));
    FBP_TRY(fbp_corrections_check("scan", &c, scan));
    if (!fbp_corrections_ahead(&c))
        return FBP_OK;
    FBP_TRY(fbp_prep_create(&a->prep, scan, top_down));
    a->prep.hardening.n = 0; /* it is done with what comes out */
    make_scan(a, scan);
    fbp_stripes_of(&c, scan->n_views, scan->panel.n_columns, &a->stripes);
    a->n_rows = scan->panel.n_rows;
    a->used = true;
    return FBP_OK;
}

void fbp_ahead_clear(struct fbp_ahead *a)
{
    fbp_prep_clear(&a->prep);
    *a = (struct fbp_ahead){0};
}

void fbp_ahead_choose_rows(struct fbp_ahead *a, const struct fbp_job *job)
{
    const struct fbp_batch all = fbp_work_all(job);
    const size_t nr = a->scan.panel.n_rows, end = all.load_row0 + all.load_rows;
    const size_t first = job->mirrored && nr - end < all.load_row0 ? nr - end : all.load_row0;
    const size_t last = job->mirrored && nr - all.load_row0 > end ? nr - all.load_row0 : end;

    a->row0 = all.load_rows ? first : 0;
    a->n_rows = all.load_rows ? last - first : nr;
}

static size_t sinogram_bytes(const struct fbp_ahead *a)
{
    return a->scan.n_views * a->scan.panel.n_columns * sizeof(float);
}

uint64_t fbp_ahead_kept_bytes(const struct fbp_ahead *a)
{
    return (uint64_t)a->n_rows * sinogram_bytes(a);
}

size_t fbp_ahead_view_floats(const struct fbp_ahead *a)
{
    return (a->band_rows + 2 * a->prep.margin_rows) * a->scan.panel.n_columns;
}

static uint64_t thread_bytes(const struct fbp_ahead *a)
{
    return fbp_stripes_bytes(&a->stripes) + fbp_ahead_view_floats(a) * sizeof(float);
}

uint64_t fbp_ahead_memory_bytes(const struct fbp_ahead *a)
{
    const uint64_t rows = a->folder ? a->band_rows : a->n_rows;

    return rows * sinogram_bytes(a) + (uint64_t)a->n_threads * thread_bytes(a);
}

size_t fbp_ahead_bands(const struct fbp_ahead *a)
{
    return (a->n_rows + a->band_rows - 1) / a->band_rows;
}

/* As many threads as a part of the room has scratch for; one at least. */
static void choose_threads(struct fbp_ahead *a, uint64_t room, int n_threads)
{
    const uint64_t fit = room / thread_bytes(a);
    const uint64_t most = (uint64_t)n_threads < a->n_rows ? (uint64_t)n_threads : a->n_rows;

    a->n_threads = (int)(fit < 1 ? 1 : fit < most ? fit : most);
}

void fbp_ahead_divide(struct fbp_ahead *a, uint64_t room, const char *folder, int n_threads)
{
    a->folder = folder;
    a->band_rows = a->n_rows;
    if (folder) {
        const uint64_t fit = room / 4 / sinogram_bytes(a);
        a->band_rows = fit < 1 ? 1 : fit < a->n_rows ? (size_t)fit : a->n_rows;
    }
    choose_threads(a, room / 8, n_threads);
}

void fbp_ahead_describe(const struct fbp_ahead *a, char *line, size_t n)
{
    char all[400];

    if (!a->used)
        return;
    fbp_stripes_describe(&a->stripes, all, sizeof all);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", line[0] ? "; " : "", line);
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

fbp_status fbp_ahead_estimate(const struct fbp_ahead *a, double *seconds)
{
    const double bytes = (double)fbp_ahead_kept_bytes(a);
    double a_sample;

    FBP_TRY(time_stripes(&a->stripes, &a_sample));
    *seconds =
        bytes / sizeof(float) * a_sample / a->n_threads + (a->folder ? bytes * FILE_BYTE : 0);
    return FBP_OK;
}

uint64_t fbp_ahead_hash(uint64_t h, const struct fbp_ahead *a)
{
    const double choices[] = {(double)a->stripes.method,  (double)a->stripes.size,
                              (double)a->stripes.levels,  a->stripes.sigma,
                              (double)a->stripes.wavelet, (double)a->prep.inverse_i0,
                              (double)a->prep.intensity};

    return fbp_prep_hash(fbp_hash(h, choices, sizeof choices), &a->prep);
}
