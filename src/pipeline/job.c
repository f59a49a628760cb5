/* Makes the tables of a reconstruction (struct fbp_job; fbp_job_create()) that all devices share:
 * grid of the volume, projection matrices, weights, filter, region and preparation of samples.
 * Also: their fingerprint, their description, the choice of the kernel (fbp_job_arrange()), and
 * the public function fbp_grid_resolve().
 * Used by: bench/, cli/, analysis/, pipeline/. */
#include "pipeline/job.h"

#include "base/cache.h"
#include "base/math.h"
#include "base/system.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "scan/file/scan.h"
#include "scan/file/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fbp_status fbp_grid_resolve(const struct fbp_grid *wanted, const struct fbp_scan *given,
                            struct fbp_grid *out)
{
    FBP_REQUIRE(out);
    struct fbp_scan whole, *const scan = &whole;

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, scan, given));
    *out = scan->volume;
    FBP_TRY(fbp_check_kind("scan.kind", scan->kind));
    if (out->n[0] == 0)
        FBP_TRY(fbp_grid_default(fbp_scan_views(scan), out));
    if (!wanted)
        return FBP_OK;
    const bool one_slice = fbp_kind_of(scan->kind)->integral == FBP_OVER_LINES &&
                           scan->panel.n_rows == 1 && wanted->n[0] == wanted->n[2];
    const bool size = wanted->n[0] > 0, voxel = wanted->voxel_mm[0] > 0;
    if (wanted->centre_mm[0] != 0 || wanted->centre_mm[1] != 0 || wanted->centre_mm[2] != 0)
        memcpy(out->centre_mm, wanted->centre_mm, sizeof out->centre_mm);
    for (int i = 0; i < 3; i++) {
        const double extent = (double)out->n[i] * out->voxel_mm[i];
        if (size)
            out->n[i] = i == 2 && one_slice ? 1 : wanted->n[i];
        if (voxel)
            out->voxel_mm[i] = wanted->voxel_mm[i];
        if (size && !voxel)
            out->voxel_mm[i] = extent / (double)out->n[i];
        if (voxel && !size)
            out->n[i] = fbp_voxels_along(extent, out->voxel_mm[i]);
    }
    return FBP_OK;
}

static struct fbp_views views_of(const struct fbp_job *job)
{
    return (struct fbp_views){job->kind, job->n_views, job->panel, job->views};
}

static void rows_of(const struct fbp_job *job, size_t k0, size_t k1, size_t z0, size_t z1,
                    size_t *r0, size_t *r1)
{
    const struct fbp_kind_table *kind = fbp_kind_of(job->kind);
    const struct fbp_views views = views_of(job);

    kind->rows(kind, &views, k0, k1, &job->grid, z0, z1, r0, r1);
    if (*r0 >= *r1)
        return;
    const size_t more = job->selection.whole_views ? job->panel.n_rows : job->selection.more_rows;
    *r0 = *r0 > more ? *r0 - more : 0;
    *r1 = job->panel.n_rows - *r1 > more ? *r1 + more : job->panel.n_rows;
}

/* Set job->padded.panel, the panel with additional columns, and change the matrices accordingly.
 * Additional columns: enough that an offset panel reaches equally far to both sides of the iso ray;
 * one column at either end for cubic splines, which have a coefficient beside the last sample; and
 * job->padded.inserted columns between measured columns. The column of the iso ray is the
 * projection of the iso-centre. */
static void widen(struct fbp_job *job)
{
    const double nc = (double)job->panel.n_columns, apart = (double)job->padded.inserted + 1;
    double left = job->epr.interpolation == FBP_INTERPOLATION_CUBIC, right = left;

    for (size_t k = 0; job->facts.offset && !job->input.filtered && k < job->n_views; k++) {
        const double axis = job->matrices[k][3] / job->matrices[k][11];
        left = fmax(left, apart * ceil(nc - 1 - 2 * axis));
        right = fmax(right, apart * ceil(2 * axis - (nc - 1)));
    }
    job->padded.left = (size_t)left;
    job->padded.panel = job->panel;
    job->padded.panel.n_columns += job->padded.left + (size_t)right;
    job->padded.panel.n_columns += job->padded.inserted * (job->panel.n_columns - 1);
    for (size_t k = 0; k < job->n_views; k++)
        for (int i = 0; i < 4; i++)
            job->matrices[k][i] = (double)(job->padded.inserted + 1) * job->matrices[k][i] +
                                  (double)job->padded.left * job->matrices[k][8 + i];
}

/* Make the projection matrices of all views. The homogeneous coordinate w (depth) of view k is 1 at
 * the iso-centre or, if `depths` is given (filtered views), depths[k]. */
static fbp_status make_matrices(struct fbp_job *job, const double *depths)
{
    FBP_TRY(fbp_calloc((void **)&job->matrices, job->n_views, sizeof *job->matrices, "matrices"));
    for (size_t k = 0; k < job->n_views; k++) {
        double *m = job->matrices[k];
        FBP_TRY(fbp_check_cancelled());
        FBP_TRY(fbp_view_to_matrix(&job->views[k], job->kind, &job->panel, m));
        const double w0 = m[11];
        if (!(w0 > 0))
            return FBP_INVALID(
                "geometry: view %zu: the iso-centre is not on the panel's side of the "
                "source; check source and panel centre, or the sign of the matrix",
                k);
        for (int i = 0; i < 12; i++)
            m[i] *= (depths ? depths[k] : 1) / w0;
    }
    return FBP_OK;
}

/* Return whether neighbouring slices can be projected more than one detector row apart. */
static bool is_sparse(const struct fbp_job *job)
{
    const struct fbp_grid *g = &job->grid;

    for (size_t k = 0; k < job->n_views; k++) {
        const double *m = job->matrices[k];
        /* homogeneous coordinate w (depth) at the corner of the volume where it is least */
        double least = m[11];
        for (int i = 0; i < 3; i++)
            least += fmin(m[8 + i] * fbp_grid_coordinate(g, i, 0),
                          m[8 + i] * fbp_grid_coordinate(g, i, (double)g->n[i] - 1));
        if (!(fabs(m[6]) * g->voxel_mm[2] <= least))
            return true;
    }
    return false;
}

/* Number of filtered samples per measured sample. */
static size_t refined(const struct fbp_job *job, const struct fbp_recon_params *p)
{
    const double *m = job->matrices[0];

    if (job->input.filtered)
        return 1;
    if (fbp_kind_of(job->kind)->integral == FBP_OVER_PLANES)
        return p->epr.oversampling > 1 ? p->epr.oversampling : 1;
    if (p->filtering.refine != FBP_REFINE_AUTO)
        return (size_t)1 << p->filtering.refine;
    /* measured columns per voxel at the iso-centre (w = 1), in view 0 */
    const double columns = fmax(hypot(m[0] - m[8] * m[3], m[1] - m[9] * m[3]), 1e-9) *
                           fmin(job->grid.voxel_mm[0], job->grid.voxel_mm[1]);
    return columns >= 1.999 ? 1 : columns >= 0.999 ? 2 : 4; /* with room for rounded pitches */
}

/* Make the ramp filter and the weights for views of line integrals. */
static fbp_status filter_lines(struct fbp_job_tables *t, const struct fbp_recon_params *p)
{
    struct fbp_job *job = &t->job;

    if (p->epr.periodic || p->epr.response)
        return FBP_UNSUPPORTED(
            "%s: applies to plane integrals (kind planes) only; omit it for this scan",
            p->epr.periodic ? "periodic" : "response");
    if (p->epr.wiener > 0)
        return FBP_UNSUPPORTED(
            "wiener: applies to spectra of plane integrals (kind planes) only; omit wiener");
    if (p->epr.oversampling > 1)
        return FBP_UNSUPPORTED(
            "oversampling: applies to plane integrals (kind planes) only; use refine instead");
    if (job->padded.inserted > 0 && (p->pad != FBP_PAD_NONE || p->filtering.spatial))
        return FBP_UNSUPPORTED("refine: found together with %s; omit one of them",
                               p->pad != FBP_PAD_NONE ? "pad" : "spatial");
    FBP_TRY(fbp_weights_create(&t->weights, views_of(job), &job->facts, t->angular));
    const struct fbp_filter_factors factors = {p->filtering.n_window, p->filtering.window};
    FBP_TRY(fbp_filter_design_times(&t->filter, p->filter, t->cutoff, job->padded.panel.n_columns,
                                    p->filtering.spatial ? p->filtering.half_width : 0,
                                    job->padded.inserted + 1, factors));
    t->shaped = factors.n > 0;
    fbp_weights_errors(t->weights, &job->grid, t->centre_mm, job->facts.method_error);
    job->filtering.weights = t->weights;
    job->filtering.design = &t->filter;
    if (p->pad != FBP_PAD_NONE) {
        const size_t left = job->padded.left;
        const struct fbp_pad_request request = {
            .kind = p->pad,
            .filter = p->filter,
            .cutoff = t->cutoff,
            .factors = factors,
            .half_width = p->filtering.spatial ? t->filter.half_width : 0,
            .n_columns = job->panel.n_columns,
            .before = left,
            .after = job->padded.panel.n_columns - job->panel.n_columns - left};
        FBP_TRY(fbp_pad_create(&t->pad, &request));
        t->pad_kind = p->pad;
        job->filtering.pad = t->pad;
    }

    if (t->cutoff_v > 0) {
        FBP_TRY(fbp_column_filter_design(&t->columns, t->cutoff_v, job->panel.n_rows));
        job->filtering.columns = &t->columns;
    }
    return FBP_OK;
}

/* Prefix an error about the directions of plane integrals with the path of the scan file. */
static fbp_status of_file(const struct fbp_scan *scan, fbp_status st)
{
    const bool named = scan->path && fbp_kind_of(scan->kind)->integral == FBP_OVER_PLANES;

    return named ? fbp_error_context(scan->path, st) : st;
}

/* Greatest difference of middle_of() [samples] between views with the same reference spectrum. */
static const double SAME = 1e-6;

/* Return the position, as a fractional sample index, at which the plane of view k passes through
 * the origin; the reference spectrum has its middle there. */
static double middle_of(const struct fbp_scan *scan, size_t k)
{
    const struct fbp_view *v = &scan->views[k];

    return ((double)scan->panel.n_columns - 1) / 2 - fbp_dot(v->d, v->u) / fbp_dot(v->u, v->u);
}

/* Check that all views have as many samples as the reference spectrum (n), at the same positions: a
 * shift between a view and the spectrum would shift the object. */
static fbp_status check_spectra(const struct fbp_scan *scan, size_t n)
{
    if (scan->bin > 1)
        return FBP_UNSUPPORTED(
            "%s: the division by a reference spectrum needs spectra at full resolution; omit --bin",
            scan->reference);
    if (n != scan->panel.n_columns)
        return FBP_INVALID("%s: the reference spectrum has %zu samples, but the views have %zu; "
                           "measure or resample it at the same field values",
                           scan->reference, n, scan->panel.n_columns);
    for (size_t k = 1; k < scan->n_views; k++)
        if (!(fabs(middle_of(scan, k) - middle_of(scan, 0)) <= SAME))
            return FBP_INVALID(
                "%s: in view %zu the plane through the origin is at sample %.7g, but in view 0 at "
                "sample %.7g; one reference spectrum needs the same field values in all views, so "
                "resample the views",
                scan->reference, k, middle_of(scan, k), middle_of(scan, 0));
    return FBP_OK;
}

/* Design a filter of rows of n_columns samples: a convolution kernel with half_width samples on
 * each side or, if half_width is 0, a response for FFT; for cubic interpolation with spline
 * coefficients. */
static fbp_status design(struct fbp_filter_design *out, const struct fbp_recon_params *p,
                         const struct fbp_spectral_filter *s, size_t n_columns, size_t half_width)
{
    const bool cubic = p->epr.interpolation == FBP_INTERPOLATION_CUBIC;
    const size_t n = cubic ? n_columns + FBP_SPLINE_REACH : n_columns;
    const size_t width = cubic ? 0 : half_width;
    const size_t oversampling = p->epr.oversampling > 1 ? p->epr.oversampling : 1;
    fbp_status st = FBP_OK;

    if (p->epr.periodic)
        st = fbp_periodic_design(out, s, n);
    else if (s->reference.n > 0 || s->response.n > 0)
        st = fbp_deconvolution_design(out, s, n, width, oversampling);
    else
        st = fbp_parabola_design(out, s->filter, s->cutoff, n, width, oversampling);
    if (st != FBP_OK || !cubic)
        return st;
    st = fbp_filter_spline(out, n_columns, half_width);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

/* Design the filter of plane integrals: the filter p->filter (by default f^2, f: frequency), times
 * the response table in the file p->epr.response, divided by the transform of the reference
 * spectrum in the file scan->reference, which has one number per sample of a view. */
static fbp_status design_plane_filter(struct fbp_filter_design *out, const struct fbp_scan *scan,
                                      const struct fbp_recon_params *p, size_t n_columns)
{
    const bool cubic = p->epr.interpolation == FBP_INTERPOLATION_CUBIC;
    const size_t half_width = p->filtering.spatial ? p->filtering.half_width : 0;
    struct fbp_spectral_filter s = {.filter = p->filter, .cutoff = p->cutoff > 0 ? p->cutoff : 1};
    /* option that makes rows longer, or NULL; periodic rows must keep the measured length */
    const char *longer = p->epr.oversampling > 1 ? "oversampling"
                         : p->filtering.spatial  ? "a filter in space"
                         : cubic                 ? "cubic interpolation"
                                                 : NULL;
    double *table = NULL, *spectrum = NULL;
    size_t n = 0;
    fbp_status st;

    if (p->epr.wiener > 0 && !scan->reference)
        return FBP_INVALID(
            "wiener: needs a reference spectrum; give --reference, or omit --wiener");
    if (p->epr.periodic && longer)
        return FBP_UNSUPPORTED("periodic: cannot be combined with %s; omit one of the two", longer);
    if (p->epr.response) {
        FBP_TRY_GOTO(fbp_number_table_load(p->epr.response, 2,
                                           "a fraction of the Nyquist frequency and a factor",
                                           &table, &s.response.n));
        s.response.table = table;
        FBP_TRY_GOTO(fbp_error_context(p->epr.response, fbp_response_check(&s.response)));
    }
    if (p->filtering.n_window > 0) {
        if (p->epr.response)
            FBP_TRY_GOTO(
                FBP_INVALID("window: the filter is already multiplied by the factors of %s; "
                            "omit window, or response",
                            p->epr.response));
        s.response.n = p->filtering.n_window;
        FBP_TRY_GOTO(fbp_calloc((void **)&table, 2 * s.response.n, sizeof *table, "the filter"));
        for (size_t i = 0; i < s.response.n; i++) {
            table[2 * i] = (double)i / (double)(s.response.n - 1);
            table[2 * i + 1] = p->filtering.window[i];
        }
        s.response.table = table;
    }
    if (scan->reference) {
        st = fbp_number_table_load(scan->reference, 1, "one number per sample", &spectrum, &n);
        if (st == FBP_OK)
            st = check_spectra(scan, n);
        s.reference = (struct fbp_reference){
            .h = spectrum, .n = n, .centre = middle_of(scan, 0), .wiener = p->epr.wiener};
        if (st == FBP_OK)
            st = fbp_error_context(scan->reference, design(out, p, &s, n_columns, half_width));
        if (st == FBP_OK && !(p->cutoff > 0 || p->epr.wiener > 0)) {
            fbp_filter_design_clear(out);
            st = FBP_INVALID(
                "%s: the division by a reference spectrum amplifies noise at high frequencies; "
                "give a cut-off, such as --cutoff 0.1, or a Wiener term (--wiener)",
                scan->reference);
        }
        st = fbp_error_context("reference", st);
    } else {
        st = design(out, p, &s, n_columns, half_width);
    }
fail:
    free(table);
    free(spectrum);
    return st;
}

/* Make the filter and the weights (solid angles) for views of plane integrals. */
static fbp_status filter_planes(struct fbp_job_tables *t, const struct fbp_recon_params *p,
                                const struct fbp_scan *scan)
{
    struct fbp_job *job = &t->job;

    if (p->mu_water > 0)
        return FBP_UNSUPPORTED("mu_water: plane integrals are not attenuations, so "
                               "Hounsfield units do not apply; omit mu_water");
    if (p->pad != FBP_PAD_NONE)
        return FBP_UNSUPPORTED("pad: rows of plane integrals need no extrapolation; omit pad");
    if (t->cutoff_v > 0)
        return FBP_UNSUPPORTED("cutoff_v: plane integrals have no detector columns; omit cutoff_v");
    if (p->filtering.refine)
        return FBP_UNSUPPORTED(
            "refine: applies to rows of line integrals; use oversampling for plane integrals");
    if (t->angular != FBP_ANGULAR_AUTO)
        return FBP_UNSUPPORTED("angular_weights: plane integrals are weighted by "
                               "solid angles; set the scan's quadrature instead");

    FBP_TRY(of_file(scan, fbp_weights_of_planes(&t->weights, views_of(job), scan->quadrature,
                                                scan->plane_weights, scan->reference != NULL)));
    const fbp_status st = design_plane_filter(&t->filter, scan, p, job->padded.panel.n_columns);
    FBP_TRY(scan->reference ? of_file(scan, st) : st);
    t->divided = scan->reference != NULL;
    t->wiener = p->epr.wiener;
    t->shaped = p->epr.response || p->filtering.n_window > 0;
    job->filtering.weights = t->weights;
    job->filtering.design = &t->filter;
    return FBP_OK;
}

fbp_status fbp_job_create(struct fbp_job_tables *t, const struct fbp_scan *scan,
                          const struct fbp_recon_params *p, bool top_down)
{
    const struct fbp_kind_table *kind = fbp_kind_of(scan->kind);
    struct fbp_job *job = &t->job;
    struct fbp_corrections corrections;
    fbp_status st = FBP_OK;

    *t = (struct fbp_job_tables){.filter_name = p->filter,
                                 .cutoff = p->cutoff > 0 ? p->cutoff : 1,
                                 .cutoff_v = p->filtering.cutoff_v};
    t->angular = p->filtering.angular_weights != FBP_ANGULAR_DEFAULT ? p->filtering.angular_weights
                 : scan->angular_weights != FBP_ANGULAR_DEFAULT      ? scan->angular_weights
                                                                     : FBP_ANGULAR_AUTO;
    *job = (struct fbp_job){
        .kind = scan->kind,
        .n_views = scan->n_views,
        .panel = scan->panel,
        .channels = fbp_kind_frames(scan->kind, &scan->panel),
        .views = scan->views,
        .filtering.prep = &t->prep,
        .rows = rows_of,
        .filtering.spatial = p->filtering.spatial,
        .input.filtered = scan->filtered,
        .scale = p->mu_water > 0 ? 1000 / p->mu_water : fbp_value_scale(scan->kind, p->output.unit),
        .shift = p->mu_water > 0 ? -1000 : 0,
        .precision = p->precision,
        .epr.interpolation = p->epr.interpolation,
        .selection.requested = p->tuning.kernel,
        .selection.symmetric_views = 1,
        .n_threads = p->n_threads > 0 ? p->n_threads : fbp_core_count(),
    };
    FBP_TRY_GOTO(fbp_grid_resolve(&p->volume, scan, &job->grid));
    FBP_TRY_GOTO(fbp_check_grid(&job->grid));
    FBP_TRY_GOTO(fbp_box_set(job, p->box));
    FBP_TRY_GOTO(fbp_region_of(p, job, &t->region, &t->region_file));
    job->requested.region = t->region;
    FBP_TRY_GOTO(of_file(scan, fbp_views_facts(fbp_scan_views(scan), &job->grid, &job->facts)));
    if (!scan->filtered) /* filtered views are weighted already */
        FBP_TRY_GOTO(fbp_error_context(scan->projections ? scan->projections : "scan",
                                       fbp_geometry_circular(&job->facts)));
    if (scan->depths && !scan->filtered)
        FBP_TRY_GOTO(
            FBP_INVALID("scan.depths: allowed for filtered views only; set scan.filtered"));
    if (scan->filtered && fbp_prep_is_needed(scan))
        FBP_TRY_GOTO(FBP_INVALID("scan: filtered views cannot have dark, flat, i0 or "
                                 "bad_pixels; remove these keys, or \"filtered\""));
    /* filtered views of different depths have no rotational symmetry */
    for (size_t k = 0; scan->depths && k < job->n_views; k++)
        if (fabs(scan->depths[k] - scan->depths[0]) > 1e-12 * scan->depths[0])
            job->facts.symmetry &= ~(unsigned)(FBP_SYM_ROT180 | FBP_SYM_ROT90);
    /* Line integrals are interpolated linearly only.  Cubic interpolation needs spline
     * coefficients, which only the filter of plane integrals computes. */
    if (p->epr.interpolation != FBP_INTERPOLATION_LINEAR && kind->integral != FBP_OVER_PLANES)
        FBP_TRY_GOTO(FBP_UNSUPPORTED(
            "interpolation: %s applies to plane integrals (kind planes) only; omit interpolation",
            fbp_interpolation_name(p->epr.interpolation)));
    if (p->epr.interpolation == FBP_INTERPOLATION_CUBIC && scan->filtered)
        FBP_TRY_GOTO(
            FBP_UNSUPPORTED("interpolation: the filter computes the coefficients of %s, but "
                            "these views are already filtered; omit interpolation",
                            fbp_interpolation_name(p->epr.interpolation)));

    if (fbp_in_double(job) && fbp_prep_is_needed(scan)) /* dark, flat, bad pixels are floats */
        FBP_TRY_GOTO(
            FBP_UNSUPPORTED("precision: double needs plane integrals without corrections; remove "
                            "dark, flat, i0 and bad_pixels from the scan, or omit precision"));
    /* Check the corrections of a scan in memory; a scan file was checked when it was read. */
    FBP_TRY_GOTO(fbp_corrections_of(scan, &corrections));
    FBP_TRY_GOTO(fbp_corrections_check("scan", &corrections, scan));
    /* Move the origin to the centre of the circle of the sources, except for filtered views,
     * because scan->depths are their depths at the origin of the scan. */
    if (!scan->filtered) {
        struct fbp_views views = views_of(job);
        FBP_TRY_GOTO(fbp_views_centre(kind, &views, t->centre_mm, &t->views));
        job->views = views.view;
        fbp_axpy(job->grid.centre_mm, -1, t->centre_mm, job->grid.centre_mm);
    }
    FBP_TRY_GOTO(make_matrices(job, scan->depths));
    job->padded.inserted = refined(job, p) - 1;
    widen(job);
    job->sparse = is_sparse(job);
    if (!scan->filtered)
        FBP_TRY_GOTO(kind->integral == FBP_OVER_PLANES ? filter_planes(t, p, scan)
                                                       : filter_lines(t, p));
    FBP_TRY_GOTO(fbp_prep_create(&t->prep, scan, top_down));
    return FBP_OK;
fail:
    fbp_job_clear(t);
    return st;
}

void fbp_job_clear(struct fbp_job_tables *t)
{
    free(t->job.matrices);
    free(t->views);
    free(t->region_file);
    fbp_region_destroy(&t->region);
    fbp_weights_destroy(&t->weights);
    fbp_filter_design_clear(&t->filter);
    fbp_column_filter_clear(&t->columns);
    fbp_pad_destroy(&t->pad);
    fbp_prep_clear(&t->prep);
    *t = (struct fbp_job_tables){0};
}

void fbp_job_of_rows(const struct fbp_job *job, struct fbp_prep *prep, struct fbp_job *out)
{
    *prep = (struct fbp_prep){.panel = job->padded.panel, .inverse_i0 = 1};
    *out = *job;
    out->input.filtered = true;
    out->panel = job->padded.panel;
    out->padded.left = out->padded.inserted = 0;
    out->filtering.prep = prep;
    out->filtering.columns = NULL;
    out->filtering.pad = NULL;
    out->input.type = FBP_F32;
    out->input.in_order = out->input.unpacks = false;
}

uint64_t fbp_job_fingerprint(const struct fbp_job_tables *t, const struct fbp_backend *backend)
{
    const struct fbp_job *job = &t->job;
    uint64_t h = 0x66627021;

    h = fbp_hash(h, backend->name, strlen(backend->name));
    h = fbp_hash(h, job->selection.name, strlen(job->selection.name));
    h = fbp_hash(h, job->selection.isa, strlen(job->selection.isa));
    h = fbp_hash(h, job->views, job->n_views * sizeof *job->views);
    h = fbp_hash(h, &job->panel, sizeof job->panel);
    h = fbp_hash(h, &job->grid, sizeof job->grid);
    if (t->views)
        h = fbp_hash(h, t->centre_mm, sizeof t->centre_mm);
    h = fbp_hash(h, job->requested.box, sizeof job->requested.box);
    if (job->requested.region)
        h = fbp_region_hash(h, job->requested.region);
    if (job->input.filtered)
        h = fbp_hash(h, job->matrices, job->n_views * sizeof *job->matrices);
    else
        h = fbp_hash(h, t->filter.response, (t->filter.n_fft / 2 + 1) * sizeof(double));
    if (t->filter.imaginary)
        h = fbp_hash(h, t->filter.imaginary, (t->filter.n_fft / 2 + 1) * sizeof(double));
    if (t->filter.periodic)
        h = fbp_hash(h, &t->filter.n_fft, sizeof t->filter.n_fft);
    if (t->filter.passes > 1)
        h = fbp_hash(h, &t->filter.passes, sizeof t->filter.passes);
    h = fbp_hash(h, &t->filter.half_width, sizeof t->filter.half_width);
    for (size_t k = 0; !job->input.filtered && k < job->n_views; k++) {
        const double step = fbp_weights_step(job->filtering.weights, k);
        h = fbp_hash(h, &step, sizeof step);
    }
    if (job->filtering.columns)
        h = fbp_hash(h, t->columns.kernel, (t->columns.half_width + 1) * sizeof(double));
    if (job->filtering.pad) {
        h = fbp_hash(h, &t->pad_kind, sizeof t->pad_kind);
        h = fbp_hash(h, t->pad->tables, fbp_pad_floats(t->pad) * sizeof(float));
    }
    const double choices[] = {(double)job->kind,
                              (double)job->input.filtered,
                              (double)job->filtering.spatial,
                              (double)job->padded.inserted,
                              job->scale,
                              job->shift,
                              (double)job->precision,
                              (double)job->epr.interpolation,
                              (double)t->angular,
                              (double)t->prep.inverse_i0,
                              (double)t->prep.intensity};
    h = fbp_hash(h, choices, sizeof choices);
    return fbp_prep_hash(h, &t->prep);
}

void fbp_job_describe(const struct fbp_job_tables *t, char *buf, size_t n)
{
    char weights[200];

    buf[0] = '\0';

    if (t->job.input.filtered) {
        snprintf(buf, n,
                 "%zu views over %.1f deg, already weighted and filtered: backprojection only",
                 t->job.n_views, t->job.facts.arc_rad * 180 / FBP_PI);
        return;
    }
    fbp_weights_describe(t->weights, weights, sizeof weights);
    fbp_text_add(buf, n, "", "%s; filter %s", weights, fbp_filter_name(t->filter_name));
    if (t->views)
        fbp_text_add(buf, n, ", ", "axis through (%.5g, %.5g, %.5g) mm", t->centre_mm[0],
                     t->centre_mm[1], t->centre_mm[2]);
    if (t->cutoff < 1)
        fbp_text_add(buf, n, ", ", "cut-off %.3g", t->cutoff);
    if (t->shaped)
        fbp_text_add(buf, n, ", ", "times the given response");
    if (t->divided)
        fbp_text_add(buf, n, ", ", "divided by the reference spectrum");
    if (t->wiener > 0)
        fbp_text_add(buf, n, "", " (Wiener %.3g)", t->wiener);
    if (t->filter.periodic)
        fbp_text_add(buf, n, ", ", "rows periodic");
    if (t->job.padded.inserted)
        fbp_text_add(buf, n, ", ", "%zu filtered samples per measured one",
                     t->job.padded.inserted + 1);
    if (t->job.epr.interpolation)
        fbp_text_add(buf, n, ", ", "%s interpolation",
                     fbp_interpolation_name(t->job.epr.interpolation));
    if (t->job.filtering.columns)
        fbp_text_add(buf, n, ", ", "Hann along columns, cut-off %.3g", t->cutoff_v);
    if (t->job.filtering.spatial)
        fbp_text_add(buf, n, ", ", "in space, S = %zu", t->filter.half_width);
    if (t->job.filtering.pad)
        fbp_text_add(buf, n, ", ", "rows extrapolated (%s)", fbp_pad_name(t->pad_kind));
}

/* ---- Choice of the kernel by which a backend computes a job ---- */

fbp_status fbp_job_arrange(struct fbp_job *job, const struct fbp_backend *backend)
{
    const struct fbp_kind_table *kind = fbp_kind_of(job->kind);
    const struct fbp_filter_design *filter = job->filtering.design;
    const char *name =
        job->selection.requested ? job->selection.requested : fbp_environment(FBP_ENV_KERNEL);
    /* an unsupported precision is an error only if it is double: backends replace the others */
    const bool in_double = fbp_in_double(job);

    job->selection.whole_views = false;
    job->selection.group_views = 0;
    job->selection.more_rows = 0;
    if (in_double && kind->integral != FBP_OVER_PLANES && !job->epr.second_stage)
        return FBP_UNSUPPORTED(
            "precision: double applies to plane integrals (kind planes), not to kind "
            "%s; choose exact, or omit precision",
            kind->name);
    if (in_double && !backend->can.doubles)
        return FBP_UNSUPPORTED(
            "precision: device %s computes in float32 only; omit double, or use device cpu",
            backend->name);
    if (in_double && job->epr.second_stage && !backend->can.meridian_images)
        return FBP_UNSUPPORTED(
            "stages: device %s has no second stage in double precision; omit stages or "
            "double, or use device cpu",
            backend->name);
    if (job->padded.inserted && !backend->can.oversamples)
        return FBP_UNSUPPORTED(
            "%s: device %s does not support this option; omit the option, or use device cpu",
            kind->integral == FBP_OVER_PLANES ? "oversampling" : "refine", backend->name);
    if (!(1u << job->epr.interpolation &
          (backend->can.interpolations | 1u << FBP_INTERPOLATION_LINEAR)))
        return FBP_UNSUPPORTED(
            "interpolation: device %s interpolates linearly only; omit %s, or use device cpu",
            backend->name, fbp_interpolation_name(job->epr.interpolation));
    if (job->channels > 1 && !backend->can.channels)
        return FBP_UNSUPPORTED(
            "scan: the views have %zu frames (delays), but device %s reconstructs only "
            "one; use device cpu, or reconstruct each frame separately",
            fbp_channels(job), backend->name);
    if (filter && filter->periodic && !backend->can.periodic)
        return FBP_UNSUPPORTED(
            "periodic: device %s does not support periodic rows; omit periodic, or use device cpu",
            backend->name);
    if (filter && (filter->passes > 1 || filter->imaginary) && !backend->can.any_filter)
        return FBP_UNSUPPORTED(
            "filter: device %s supports neither the filter two-ramps-unpadded nor a reference "
            "spectrum; choose another filter, omit the reference, or use device cpu",
            backend->name);

    if (name && backend->choose(job, name))
        return FBP_OK;
    if (job->selection.requested)
        return FBP_UNSUPPORTED(
            "kernel: device %s has no \"%s\" for this scan, volume and options; omit "
            "the kernel",
            backend->name, job->selection.requested);
    if (!backend->choose(job, NULL))
        return FBP_UNSUPPORTED(
            "kernel: device %s has no kernel for this scan, volume and interpolation; "
            "use device ref",
            backend->name);
    return FBP_OK;
}
