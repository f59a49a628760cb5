/* fbp_centre_find(), a public function (fbp/analysis.h): search for the detector column of the
 * rotation axis (`fbp recon --centre auto`). It combines three methods: agreement of rays that are
 * measured twice (match.c), consistency of all views of half a turn (wedge.c), and sharpness of
 * reconstructed slices (score.c).
 * Used by: cli/recon.c, calibrate.c. */
#include "fbp/analysis.h"

#include "analysis/centre.h"
#include "analysis/score.h"
#include "base/base.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "pipeline/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    /* least number of averaged columns in the coarse search, unless the panel has fewer columns */
    COARSE_COLUMNS = 256,
    COARSE_VIEWS = 90,
    FINE_VIEWS = 400,
    WIDTH = 4, /* columns per mean; match.c compares differences of means */
    PARTS = 4, /* number of parts of the views; their results are compared */
    ROWS_OF_CONE = 2,
    ROWS_OF_PARALLEL = 16,
    MOST_SAMPLES = 16 << 20,
    SLICES = 3,
    VALUES = 7,        /* number of axis columns for which each slice is reconstructed */
    MOST_VOXELS = 640, /* greatest number of voxels per side of a slice */
};

/* Slices are reconstructed for axis columns in steps of slice_step, up to slice_range on either
 * side of by_rays [columns], the axis found by rays that are measured twice. */
static const double slice_step = 0.5, slice_range = 0.5 * (VALUES - 1) / 2;

/* Limits of a reliable result.  most_misfit: misfit of opposite rays, 0 to 1; most_spread: range of
 * the axis columns from different parts of the views [columns]; most_apart: difference between the
 * axis columns of two methods, or of two slices [columns]; rival_share: score of a rival column /
 * best score, above which the rival counts (search_coarsely()). */
static const double most_misfit = 0.3, most_spread = 0.15, most_apart = 0.3, rival_share = 0.6;

/* Limits of the uncertainty [columns].  enough: up to it, the result of wedge.c needs no slices;
 * most_uncertain: above it, a result from half a turn is unreliable; no_guess: above it, an
 * unreliable result is replaced by the column of the scan file. */
static const double enough = 0.04, most_uncertain = 0.05, no_guess = 1;

struct search {
    const struct fbp_scan *scan;
    struct fbp_recon_params params;
    struct fbp_sinogram sinogram, coarse;
    struct fbp_match match, rough;
    struct fbp_wedge wedge;
    struct fbp_view *views; /* the scan's views with a shifted panel */
    float *slice;
    double slices_apart; /* range of the axis columns for which the slices are sharpest */
    bool at_end;         /* true: a slice is sharpest for the first or the last axis column tried */
    bool at_edge; /* true: the axis is too near the panel's edge to try columns on both sides */
    struct fbp_centre *out;
};

static fbp_status check_progress(const struct search *s)
{
    const struct fbp_progress now = {.struct_size = sizeof now};

    if (s->params.callbacks.progress &&
        s->params.callbacks.progress(s->params.callbacks.user, &now))
        return fbp_fail(FBP_ERR_CANCELLED, "cancelled");
    return FBP_OK;
}

static size_t stride_of(const struct fbp_match *m, size_t views)
{
    return m->joins ? 1 : (m->s->n_views + views - 1) / views;
}

/* Find the axis column for which opposite rays agree best, in steps of half an averaged column, and
 * a rival: a peak far from it with more than rival_share of its score. */
static fbp_status search_coarsely(struct search *s, size_t bin, double *column)
{
    const size_t n = 2 * s->coarse.n_columns - 1, stride = stride_of(&s->rough, COARSE_VIEWS);
    const size_t near = (size_t)6 * s->rough.width;
    const double shift = ((double)bin - 1) / 2;
    fbp_status st = FBP_OK;
    double *y = NULL;
    size_t best = 0, rival = n;

    FBP_TRY(fbp_calloc((void **)&y, n, sizeof *y, "columns"));
    for (size_t i = 0; i < n; i++) {
        struct fbp_agreement a;
        FBP_TRY_GOTO(check_progress(s));
        fbp_match_at(&s->rough, (double)i / 2, stride, 0, 1, &a);
        y[i] = -a.share * log(a.misfit + 1e-4);
        best = y[i] > y[best] ? i : best;
    }
    for (size_t i = 1; i + 1 < n; i++) {
        const bool peak = y[i] >= y[i - 1] && y[i] >= y[i + 1];
        const size_t apart = i > best ? i - best : best - i;
        if (peak && apart > near && y[i] > rival_share * y[best] && (rival == n || y[i] > y[rival]))
            rival = i;
    }
    *column = (double)best / 2 * (double)bin + shift;
    s->out->rival = rival < n ? (double)rival / 2 * (double)bin + shift : NAN;
fail:
    free(y);
    return st;
}

static double misfit_at(const struct search *s, double c, size_t part, size_t parts)
{
    struct fbp_agreement a;

    if (c < 0 || c > (double)s->sinogram.n_columns - 1)
        return 1;
    fbp_match_at(&s->match, c, stride_of(&s->match, FINE_VIEWS), part, parts, &a);
    return a.misfit;
}

/* Improve axis column c by four parabolic interpolations of the misfit. */
static double descend(const struct search *s, double c, size_t part, size_t parts)
{
    const double last = (double)s->sinogram.n_columns - 1;
    double step = 0.5;

    for (int i = 0; i < 4; i++) {
        const double a = misfit_at(s, c - step, part, parts), b = misfit_at(s, c, part, parts);
        const double d = misfit_at(s, c + step, part, parts);
        c = fmax(0, fmin(last, fbp_vertex(c, step, a, b, d)));
        step = i > 0 ? step / 2 : step;
    }
    return c;
}

/* Set by_rays, misfit, spread and rival of the result by comparing rays that are measured twice. */
static fbp_status compare_rays(struct search *s)
{
    const size_t reduced = s->sinogram.n_columns / COARSE_COLUMNS, bin = reduced ? reduced : 1;
    const double range = 2 * (double)bin;
    double column, best, least = INFINITY, parts[2] = {INFINITY, -INFINITY};

    FBP_TRY(fbp_sinogram_join(&s->coarse, &s->sinogram, 1, bin, s->sinogram.n_rows));
    FBP_TRY(fbp_match_create(&s->rough, &s->coarse, WIDTH));
    FBP_TRY(search_coarsely(s, bin, &column));
    fbp_match_clear(&s->rough);
    fbp_sinogram_clear(&s->coarse);
    FBP_TRY(fbp_match_create(&s->match, &s->sinogram, WIDTH));

    best = column;
    for (double c = column - range; c <= column + range; c += 0.5) {
        const double misfit = misfit_at(s, c, 0, 1);
        FBP_TRY(check_progress(s));
        best = misfit < least ? c : best;
        least = fmin(least, misfit);
    }
    s->out->by_rays = descend(s, best, 0, 1);
    s->out->misfit = misfit_at(s, s->out->by_rays, 0, 1);
    for (size_t i = 0; i < PARTS; i++) {
        const double c = descend(s, s->out->by_rays, i, PARTS);
        parts[0] = fmin(parts[0], c);
        parts[1] = fmax(parts[1], c);
    }
    s->out->spread = parts[1] - parts[0];
    return FBP_OK;
}

/* Reconstruct a slice with the axis at detector column `column`, and compute its sharpness. */
static fbp_status score_slice(struct search *s, const struct fbp_grid *grid, double column,
                              double *score)
{
    const double move = s->sinogram.centre - column;
    struct fbp_scan scan = *s->scan;
    struct fbp_recon_params p = s->params;
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;

    memcpy(s->views, scan.views, scan.n_views * sizeof *s->views);
    for (size_t k = 0; k < scan.n_views; k++)
        for (int i = 0; i < 3; i++)
            s->views[k].d[i] += move * s->views[k].u[i];
    scan.views = s->views;
    scan.volume = *grid;
    FBP_TRY_GOTO(fbp_plan_create(&plan, &scan, &p));
    FBP_TRY_GOTO(fbp_sink_memory(&sink, s->slice, FBP_F32, grid->n));
    FBP_TRY_GOTO(fbp_plan_run_to(plan, NULL, sink, NULL));
    const double *mm = grid->voxel_mm;
    const double radius = 0.95 * fbp_plan_info(plan)->facts->fov_radius_mm / fmax(mm[0], mm[1]);
    *score = fbp_slice_score(FBP_SCORE_SHARPNESS, s->slice, grid->n[0], grid->n[1],
                             -fbp_grid_coordinate(grid, 0, 0) / mm[0],
                             -fbp_grid_coordinate(grid, 1, 0) / mm[1], radius);
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    return st;
}

/* Set by_slice of the result: reconstruct slices, each for several axis columns, and average the
 * columns for which they are sharpest.  An axis near the panel's edge is not tried (at_edge). */
static fbp_status compare_slices(struct search *s)
{
    struct fbp_grid all, grid;
    double lo = INFINITY, hi = -INFINITY, sum = 0;
    const double edge = (double)s->sinogram.n_columns - 1 - s->out->by_rays;
    const double first = s->out->by_rays - slice_range;

    s->at_edge = fmin(s->out->by_rays, edge) < slice_range;
    if (s->at_edge)
        return FBP_OK;
    FBP_TRY(fbp_grid_resolve(NULL, s->scan, &all));
    grid = all;
    grid.n[2] = 1;
    for (int i = 0; i < 2; i++)
        grid.n[i] = all.n[i] < MOST_VOXELS ? all.n[i] : MOST_VOXELS;
    const size_t n = all.n[2] < SLICES ? all.n[2] : SLICES;
    FBP_TRY(fbp_calloc((void **)&s->views, s->scan->n_views, sizeof *s->views, "views"));
    FBP_TRY(fbp_alloc((void **)&s->slice, grid.n[0] * grid.n[1] * sizeof *s->slice, "a slice"));
    for (size_t i = 0; i < n; i++) {
        const size_t z = (2 * i + 1) * all.n[2] / (2 * n);
        double y[VALUES];
        bool at_end;
        grid.centre_mm[2] = fbp_grid_coordinate(&all, 2, (double)z);
        for (size_t k = 0; k < VALUES; k++)
            FBP_TRY(score_slice(s, &grid, first + (double)k * slice_step, &y[k]));
        const double c = first + slice_step * fbp_score_peak(y, VALUES, &at_end);
        s->at_end |= at_end;
        lo = fmin(lo, c);
        hi = fmax(hi, c);
        sum += c;
    }
    s->out->by_slice = sum / (double)n;
    s->slices_apart = hi - lo;
    return FBP_OK;
}

/* Mark the result as not reliable; append a reason, with the numbers a and b, to c->why. */
static void doubt(struct fbp_centre *c, const char *fmt, double a, double b)
{
    const size_t used = strlen(c->why);

    c->sure = false;
    if (used > 0 && used + 3 < sizeof c->why)
        memcpy(c->why + used, "; ", 3);
    snprintf(c->why + strlen(c->why), sizeof c->why - strlen(c->why), fmt, a, b);
}

/* Set column, uncertainty, sure and why of the result from the results of all methods. */
static void decide(struct search *s)
{
    struct fbp_centre *c = s->out;
    const struct fbp_wedge *w = &s->wedge;
    const bool joins = s->match.joins, by_turn = joins && w->error <= enough;
    const double apart = fabs(c->by_rays - c->by_slice);

    c->sure = true;
    if (c->misfit > most_misfit)
        doubt(c, "rays that opposite views measure twice differ by %.0f %%", 100 * sqrt(c->misfit),
              0);
    if (!isnan(c->rival))
        doubt(c, "column %.6g is nearly as likely", c->rival, 0);
    if (!by_turn && c->spread > (isnan(c->by_slice) ? most_spread : most_apart))
        doubt(c, "estimates from different parts of the scan differ by %.2g columns", c->spread, 0);
    if (s->at_edge)
        doubt(c, "column %.6g is at the panel's edge", c->by_rays, 0);

    if (by_turn) {
        c->column = w->column;
        c->uncertainty = w->error;
    } else {
        c->column = c->by_rays;
        /* standard error of the mean of 4 values: half their spread over sqrt(4) */
        c->uncertainty = c->spread / PARTS;
        if (!isnan(c->by_slice)) {
            c->uncertainty = fmax(c->uncertainty, fmax(apart, s->slices_apart) / 2);
            if (s->at_end || !(apart <= most_apart))
                doubt(c,
                      "slices are sharpest for column %.6g, but opposite rays agree best for %.6g",
                      c->by_slice, c->by_rays);
            else /* weighted mean, in which slices count double */
                c->column = (c->by_rays + 2 * c->by_slice) / 3;
            if (s->slices_apart > most_apart)
                doubt(c, "estimates from different slices differ by %.2g columns", s->slices_apart,
                      0);
        }
        if (joins && isfinite(w->error)) { /* mean weighted by 1 / variance */
            const double a = w->error, b = fmax(c->uncertainty, 1e-3), both = hypot(a, b);
            if (fabs(w->column - c->column) > 2.5 * both)
                doubt(c, "all views together give column %.6g, but rays and slices give %.6g",
                      w->column, c->column);
            c->column = (c->column * a * a + w->column * b * b) / (both * both);
            c->uncertainty = a * b / both;
        }
        if (joins && c->uncertainty > most_uncertain)
            doubt(c, "the uncertainty is %.2g columns", c->uncertainty, 0);
    }

    /* Replace an unreliable result by the column of the scan file if its misfit, uncertainty or
     * (unless from half a turn) spread is large, or if the axis is at the panel's edge. */
    const bool worthless = c->misfit > most_misfit || s->at_edge || c->uncertainty > no_guess ||
                           (!joins && c->spread > no_guess);
    if (!c->sure && worthless) {
        doubt(c, "the column of the scan file is used instead of %.6g", c->column, 0);
        c->column = s->sinogram.centre;
        c->uncertainty = INFINITY;
    }
}

static fbp_status find_centre(struct search *s)
{
    struct fbp_centre *c = s->out;
    const struct fbp_scan *scan = s->scan;
    const bool has_source = fbp_kind_has_source(scan->kind);
    char has[32], needs[32];

    FBP_TRY(fbp_check_lines("centre", scan->kind));
    if (scan->filtered)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "centre: the axis cannot be found in filtered views; give its column (--centre)");

    /* Choose the number of detector rows.  Fail if these rows, their smoothed copies, the averaged
     * row of the coarse search with its copy, and the memory of wedge.c exceed the memory limit. */
    const double row = (double)scan->n_views * (double)scan->panel.n_columns;
    const double most = has_source ? ROWS_OF_CONE : ROWS_OF_PARALLEL;
    const double rows = fmax(1, fmin(most, floor(MOST_SAMPLES / row)));
    const size_t waves =
        has_source ? 0 : fbp_wedge_bytes(scan->n_views, scan->panel.n_columns, (size_t)rows);
    const double bytes =
        (double)fbp_resident_bytes() + (2 * rows + 2) * row * sizeof(float) + (double)waves;
    if (s->params.memory_bytes && bytes > (double)s->params.memory_bytes)
        return fbp_fail(FBP_ERR_NOMEM,
                        "centre: the search for the axis needs %s of memory, but the limit is %s; "
                        "raise --memory, or give the column (--centre)",
                        fbp_bytes_estimate_text(needs, sizeof needs, bytes),
                        fbp_bytes_text(has, sizeof has, s->params.memory_bytes));
    FBP_TRY(fbp_sinogram_read(&s->sinogram, scan, s->params.input.source, (size_t)rows));
    FBP_TRY(compare_rays(s));
    s->wedge.error = INFINITY;
    if (s->match.joins) { /* half a turn of parallel beams */
        const fbp_status st = fbp_wedge_find(&s->wedge, &s->sinogram, c->by_rays);
        if (st == FBP_ERR_UNSUPPORTED) { /* too few views */
            fbp_message_clear();
            s->wedge.error = INFINITY;
        } else {
            FBP_TRY(st);
        }
        if (isfinite(s->wedge.error))
            c->by_turn = s->wedge.column;
    }
    const bool reliable =
        s->match.joins ? s->wedge.error <= enough
                       : c->misfit <= most_misfit && c->spread <= most_spread && isnan(c->rival);
    if (!reliable)
        FBP_TRY(compare_slices(s));
    decide(s);
    return FBP_OK;
}

fbp_status fbp_centre_find(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                           struct fbp_centre *out)
{
    struct fbp_centre own = {.by_slice = NAN, .by_turn = NAN, .rival = NAN};
    struct fbp_recon_params p;
    struct fbp_scan whole;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(centre, out));
    FBP_TRY(FBP_COPY_IN(scan, &whole, scan));
    FBP_TRY(fbp_take_params(&p, params));
    struct search s = {.scan = &whole, .out = &own};
    /* Use only parameters that suit single slices: device, threads, memory, source, progress. */
    s.params = (struct fbp_recon_params){.struct_size = sizeof s.params,
                                         .device = p.device,
                                         .n_threads = p.n_threads,
                                         .memory_bytes = p.memory_bytes,
                                         .device_memory_bytes = p.device_memory_bytes,
                                         .input.source = p.input.source,
                                         .callbacks.progress = p.callbacks.progress,
                                         .callbacks.user = p.callbacks.user};
    const fbp_status st = find_centre(&s);
    fbp_match_clear(&s.rough);
    fbp_match_clear(&s.match);
    fbp_sinogram_clear(&s.coarse);
    fbp_sinogram_clear(&s.sinogram);
    fbp_free(s.slice);
    free(s.views);
    FBP_COPY_OUT(centre, out, &own);
    return st;
}
