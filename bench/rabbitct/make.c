/* Makes a RabbitCT data set from a scan: filtered views, matrices, references. Called by
 * make_command.c.
 * Used by: make_command.c. */
#include "bench/common/filtered.h"
#include "bench/rabbitct/rabbitct.h"

#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/format/rabbitct.h"
#include "base/base.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "pipeline/job.h"
#include "pipeline/run.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A data set being written. */
struct making {
    const struct fbp_scan *scan;
    struct fbp_recon_params params;
    struct fbp_rabbitct_info info;
    struct fbp_job_tables tables;
    fbp_source *source;
    bool top_down;
    double *depths; /* w at the origin, a view */
    struct fbp_outfile out;
};

static const double DEFAULT_WATER = 0.02;

/* The iso-centre's depth differs from view to view as it does in the scan; its mean is 1. */
static fbp_status find_depths(struct making *m)
{
    const struct fbp_scan *s = m->scan;
    double sum = 0, P[12];

    FBP_TRY(fbp_calloc((void **)&m->depths, s->n_views, sizeof *m->depths, "depths"));
    for (size_t k = 0; k < s->n_views; k++) {
        FBP_TRY(fbp_view_to_matrix(&s->views[k], s->kind, &s->panel, P));
        m->depths[k] = P[11];
        sum += P[11];
    }
    for (size_t k = 0; k < s->n_views; k++)
        m->depths[k] *= (double)s->n_views / sum;
    return FBP_OK;
}

static fbp_status prepare(struct making *m, const struct fbp_rabbitct_make *make)
{
    const struct fbp_scan *s = m->scan;
    const double water = make->mu_water > 0 ? make->mu_water : DEFAULT_WATER;

    if (!fbp_kind_has_source(s->kind) || s->filtered)
        return fbp_fail(FBP_ERR_INVALID, "rabbitct: the scan is not a cone beam, or its views are "
                                         "filtered: give an unfiltered cone-beam scan");
    FBP_TRY(fbp_scan_open_views(&m->source, s));
    const enum fbp_row_order order =
        s->row_order == FBP_ROWS_AUTO ? fbp_source_info(m->source)->row_order : s->row_order;
    m->top_down = order == FBP_ROWS_TOP_DOWN;
    FBP_TRY(fbp_job_create(&m->tables, s, &m->params, m->top_down));
    m->tables.job.input.in_order = fbp_source_in_order(m->source);
    m->info = (struct fbp_rabbitct_info){.version = make->version ? make->version : 2,
                                         .n_columns = m->tables.job.padded.panel.n_columns,
                                         .n_rows = m->tables.job.padded.panel.n_rows,
                                         .n_views = s->n_views,
                                         .hu = {(float)(1000 / water), 0}};
    m->info.header_bytes = m->info.version == 2 ? 24 : 20;
    return find_depths(m);
}

/* Write a view at its position; because f = sum of I / w^2, samples are multiplied by the square of
 * w(0). */
static fbp_status write_view(void *user, size_t k, const float *samples)
{
    const struct making *m = user;
    const double *P = m->tables.job.matrices[k], depth = m->depths[k];
    const size_t n = m->info.n_columns * m->info.n_rows;
    const int fd = m->out.fd;
    uint64_t at = fbp_rabbitct_view(&m->info, k);
    double A[12];
    float *scaled = NULL;

    for (int i = 0; i < 12; i++)
        A[i] = depth * P[i % 3 * 4 + i / 3];
    FBP_TRY(fbp_alloc((void **)&scaled, n * sizeof *scaled, "a view"));
    for (size_t i = 0; i < n; i++)
        scaled[i] = (float)((double)samples[i] * depth * depth);
    fbp_status st = fbp_write_at(fd, m->out.path, at, A, sizeof A);
    if (st == FBP_OK)
        st = fbp_write_at(fd, m->out.path, at + sizeof A, scaled, n * sizeof *scaled);
    fbp_free(scaled);
    return st;
}

static fbp_status write_views(struct making *m)
{
    FBP_TRY(fbp_rabbitct_put_header(&m->out, &m->info));
    if (fflush(m->out.f) != 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot write: check the free space", m->out.path);
    FBP_TRY(fbp_bench_filter(&m->tables.job, m->source, m->top_down, write_view, m));
    return fbp_source_unchanged(m->source);
}

/* Open the views of a data set as a source, whatever its name is. */
static fbp_status open_views(fbp_source **out, const char *path)
{
    fbp_source *src = NULL;
    uint64_t size = 0;
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    src->fd = -1;
    src->path = fbp_strdup(path);
    if (!src->path)
        FBP_TRY_GOTO(fbp_fail_nomem(strlen(path), "a path"));
    snprintf(src->info.format, sizeof src->info.format, "%s", fbp_format_rabbitct.name);
    FBP_TRY_GOTO(fbp_open_file(path, &src->fd, &size));
    FBP_TRY_GOTO(fbp_format_rabbitct.open(src));
    *out = src;
    return FBP_OK;
fail:
    fbp_source_close(&src);
    return st;
}

/* Grey values of the volume that is reconstructed from what was written so far. */
static fbp_status reconstruct(const struct making *m, size_t side, float *volume)
{
    struct fbp_recon_params p = m->params;
    struct fbp_scan written = {.struct_size = sizeof written};
    fbp_sink *sink = NULL;
    fbp_plan *plan = NULL;
    const size_t n[3] = {side, side, side};
    fbp_status st;

    p.precision = FBP_PRECISION_EXACT;
    p.volume = (struct fbp_grid){.n = {side, side, side}};
    FBP_TRY_GOTO(fbp_rabbitct_load(&written, m->out.part));
    FBP_TRY_GOTO(open_views(&p.input.source, m->out.part));
    FBP_TRY_GOTO(fbp_plan_create(&plan, &written, &p));
    FBP_TRY_GOTO(fbp_sink_memory(&sink, volume, FBP_F32, n));
    FBP_TRY_GOTO(fbp_plan_run_to(plan, NULL, sink, NULL));
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
    fbp_scan_clear(&written);
    return st;
}

static fbp_status write_reference(struct making *m, size_t side, uint64_t at)
{
    const size_t slice = side * side;
    float *volume = NULL;
    uint16_t *grey = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_alloc((void **)&volume, slice * side * sizeof *volume, "a reference"));
    FBP_TRY_GOTO(fbp_alloc((void **)&grey, slice * sizeof *grey, "a slice of a reference"));
    FBP_TRY_GOTO(reconstruct(m, side, volume));
    for (size_t z = 0; z < side; z++) {
        for (size_t i = 0; i < slice; i++)
            grey[i] = (uint16_t)fbp_rabbitct_hu(m->info.hu, volume[z * slice + i]);
        FBP_TRY_GOTO(fbp_write_at(m->out.fd, m->out.path, at + z * slice * sizeof *grey, grey,
                                  slice * sizeof *grey));
    }
fail:
    fbp_free(volume);
    fbp_free(grey);
    return st;
}

static fbp_status make_all(struct making *m, const char *path, size_t n_references)
{
    FBP_TRY(fbp_outfile_open(&m->out, path));
    FBP_TRY(write_views(m));
    uint64_t at = fbp_rabbitct_view(&m->info, m->info.n_views);
    for (size_t i = 0; i < n_references; i++) {
        const uint64_t side = fbp_rabbitct_side(i);
        FBP_TRY(write_reference(m, (size_t)side, at));
        at += side * side * side * sizeof(uint16_t);
    }
    return fbp_outfile_finish(&m->out);
}

static fbp_status take_make(struct fbp_rabbitct_make *own, const struct fbp_rabbitct_make *given)
{
    FBP_TRY(fbp_copy_struct_in("rabbitct", own, sizeof *own, given));
    FBP_TRY(fbp_check_optional(&fbp_range_mu, "rabbitct: mu_water", own->mu_water));
    if (own->n_references > FBP_RABBITCT_REFERENCES || own->version < 0 || own->version > 2)
        return fbp_fail(
            FBP_ERR_INVALID,
            "rabbitct: expected version 1 or 2 with at most %d references, got version %d with %zu",
            FBP_RABBITCT_REFERENCES, own->version, own->n_references);
    return FBP_OK;
}

fbp_status fbp_rabbitct_create(const char *path, const struct fbp_scan *scan,
                               const struct fbp_rabbitct_make *given)
{
    struct making m = {.scan = scan};
    struct fbp_rabbitct_make own, *const make = &own;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(take_make(&own, given));
    FBP_TRY(fbp_take_params(&m.params, make->params));
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY_GOTO(prepare(&m, make));
    FBP_TRY_GOTO(make_all(&m, path, make->n_references));
fail:
    fbp_outfile_clear(&m.out);
    fbp_source_close(&m.source);
    fbp_job_clear(&m.tables);
    free(m.depths);
    return st;
}
