/* Makes, describes and destroys the plan of a reconstruction. Public functions: fbp_plan_create(),
 * fbp_plan_info(), fbp_plan_estimate(), fbp_plan_destroy(). fbp_plan_create() opens the
 * projections, makes the view steps (corrections that wrap the source of the views, view_step.h)
 * and the tables of the job (job.c), divides the work (plan_memory.c), fills in the plan's summary
 * and logs notes and warnings. Also: the sources of views of a plan. plan_run.c runs a plan.
 * Used by: bench/, cli/, analysis/, pipeline/. */
#include "pipeline/plan.h"

#include "array/device_memory.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "prep/prep.h"

#include <stdio.h>
#include <string.h>

void fbp_plan_note(const fbp_plan *p, enum fbp_log_level level, const char *format, ...)
{
    char line[1200], safe[1200]; /* may contain text from files */

    FBP_PRINT_ARGUMENTS(line, sizeof line, format);
    if (!p->params.callbacks.log || !line[0])
        return;
    fbp_printable(safe, sizeof safe, line, strlen(line), "");
    p->params.callbacks.log(p->params.callbacks.user, level, safe);
}

size_t fbp_stored_views(const struct fbp_scan *scan)
{
    return scan->stored_views ? scan->stored_views : scan->n_views;
}

const char *fbp_plan_source_name(const fbp_plan *p)
{
    return p->params.input.source ? "views" : p->scan->projections;
}

/* ---- View steps ---- */

const struct fbp_job_tables *fbp_plan_measured(const fbp_plan *p)
{
    const struct fbp_view_step *last = p->n_steps ? p->steps[p->n_steps - 1] : NULL;

    return last && last->measured ? last->measured : &p->tables;
}

const struct fbp_prep *fbp_plan_prep(const fbp_plan *p)
{
    return p->n_steps && p->steps[0]->prep ? p->steps[0]->prep : &fbp_plan_measured(p)->prep;
}

struct fbp_corrections_step *fbp_plan_corrections(const fbp_plan *p)
{
    return p->n_steps ? p->steps[0]->corrections : NULL;
}

fbp_status fbp_plan_open_steps(const fbp_plan *p)
{
    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i]->open)
            FBP_TRY(p->steps[i]->open(p->steps[i]));
    return FBP_OK;
}

bool fbp_plan_check_in_steps(const fbp_plan *p, fbp_data_check *check)
{
    bool taken = false;

    for (size_t i = 0; i < p->n_steps; i++)
        if (p->steps[i]->checks) {
            p->steps[i]->check = check;
            taken = true;
        }
    return taken;
}

fbp_status fbp_plan_count_steps(const fbp_plan *p, struct fbp_prep_counts *out)
{
    *out = (struct fbp_prep_counts){0};
    for (size_t i = 0; !p->ranks.idle && i < p->n_steps; i++) {
        struct fbp_view_step *step = p->steps[i];
        if (step->repaired_once && p->ranks.part > 0)
            continue;
        if (step->count)
            FBP_TRY(step->count(step));
        fbp_prep_counts_add(out, &step->repaired);
    }
    return FBP_OK;
}

fbp_status fbp_plan_report_steps(const fbp_plan *p, struct fbp_report *report)
{
    struct fbp_prep_counts counts = {0};

    /* two stages: sinogram images have no repaired samples */
    if (fbp_plan_measured(p) != &p->tables)
        report->not_finite = report->clipped = 0;
    if (!p->params.cluster.team) /* in a team, rank 0 adds the counts of all processes at the end */
        FBP_TRY(fbp_plan_count_steps(p, &counts));
    report->not_finite += counts.not_finite;
    report->clipped += counts.clipped;
    report->ahead = 0;
    for (size_t i = 0; i < p->n_steps; i++) {
        report->ahead += p->steps[i]->seconds;
        if (p->steps[i]->note)
            fbp_plan_note(p, FBP_LOG_NOTE, "%s", p->steps[i]->note);
    }
    return FBP_OK;
}

/* ---- Sources of views: stored, selected and binned, corrected by view steps, kept in memory ----
 */

fbp_status fbp_plan_source_open(const fbp_plan *p, fbp_source **source)
{
    const struct fbp_scan *scan = p->scan;

    *source = p->params.input.source;
    if (*source && !scan->preparation)
        return FBP_OK;
    if (*source)
        return FBP_UNSUPPORTED("scan: prepare: not applied to views in memory; "
                               "prepare the views first, or name a file");
    if (!scan->projections)
        return FBP_INVALID(
            "scan: the scan names no projections; add the key \"projections\" to the "
            "scan file, or give the views in memory (in C: .input.source)");
    if (p->params.input.follow && scan->sinograms)
        return FBP_UNSUPPORTED("%s: no view of stored sinograms is complete before "
                               "the last one; omit --follow",
                               scan->projections);
    if (p->params.input.follow)
        FBP_TRY(fbp_source_follow(source, scan->projections, &scan->raw,
                                  p->params.input.follow_timeout_s));
    else
        FBP_TRY(fbp_scan_open_views(source, scan));
    if (!scan->preparation)
        return FBP_OK;
    /* Prefix an error of preparing the measured rows with the path of the scan file, unless the
     * rows are in the scan file itself, whose path the message already contains. */
    const fbp_status st = fbp_spectra_open(source, *source, scan);
    const char *path = scan->path;
    return path && strncmp(path, scan->projections, strlen(path)) != 0 ? fbp_error_context(path, st)
                                                                       : st;
}

fbp_status fbp_plan_source_reduce(fbp_plan *p, fbp_source *stored, fbp_source **out)
{
    *out = stored;
    if (p->beam)
        FBP_TRY(fbp_source_steady(out, stored, p->beam));
    FBP_TRY(fbp_source_zingers(out, p->scan, *out != stored));
    if (fbp_reduces(&p->reduction))
        FBP_TRY(fbp_source_reduce(out, *out, &p->reduction, p->top_down, fbp_plan_prep(p)->left_out,
                                  *out != stored));
    for (size_t i = 0; i < p->n_steps; i++) {
        struct fbp_view_step *step = p->steps[i];
        step->repaired = (struct fbp_prep_counts){0};
        step->seconds = 0;
        step->note = NULL;
        FBP_TRY(fbp_source_wrap(out, step->set_up, &step, *out, *out != stored));
    }
    return p->hold ? fbp_source_hold(out, *out, *out != stored) : FBP_OK;
}

void fbp_plan_source_drop(fbp_source *stored, fbp_source **out)
{
    if (*out != stored)
        fbp_source_close(out);
}

void fbp_plan_source_close(const fbp_plan *p, fbp_source **source)
{
    if (!p->params.input.source)
        fbp_source_close(source);
}

/* Return whether detector rows are stored from top to bottom; false if rows are time points (plane
 * integrals), which keep the order of the file. */
static bool is_top_down(const struct fbp_scan *s, const struct fbp_array_info *info)
{
    const enum fbp_row_order order = s->row_order == FBP_ROWS_AUTO ? info->row_order : s->row_order;

    return order == FBP_ROWS_TOP_DOWN && !fbp_kind_of(s->kind)->row_is_frame;
}

static bool has_size(const fbp_plan *p, const struct fbp_array_info *info)
{
    const struct fbp_panel *panel = &p->reduction.stored;

    return info->n[0] == panel->n_columns && info->n[1] == panel->n_rows &&
           info->n[2] == fbp_stored_views(p->scan);
}

/* Set the backend and the devices of a plan, which the parameters name. */
static fbp_status take_devices(fbp_plan *p)
{
    const char *device = p->params.device ? p->params.device : "auto";

    if (p->target) {
        p->backend = p->target->backend;
        p->n_devices = p->target->n_devices;
        return FBP_OK;
    }
    /* with device "auto", choose the first backend that computes in double precision */
    if (strcmp(device, "auto") == 0 && p->params.precision == FBP_PRECISION_DOUBLE)
        for (size_t i = 0; fbp_backends[i]; i++)
            if (fbp_backends[i]->can.doubles && !fbp_backends[i]->hidden) {
                device = fbp_backends[i]->name;
                break;
            }
    fbp_devices_await();
    return fbp_devices_find(device, &p->backend, p->devices, &p->n_devices);
}

/* Open the projections, compare their size with the scan, find bad pixels if requested, find the
 * devices, which may still be starting (fbp_devices_start()), make the view steps, store properties
 * of the source that the run will read, and close it. */
static fbp_status take_source(fbp_plan *p)
{
    static fbp_view_step_create *const all[] = {fbp_corrections_step_create, fbp_rings_step_create,
                                                fbp_rectify_step_create,
                                                fbp_two_stages_step_create};
    const size_t n_all = sizeof all / sizeof *all;
    _Static_assert(sizeof all / sizeof *all <= FBP_MOST_STEPS, "a plan has no room for all steps");
    const struct fbp_scan *scan = p->scan;
    fbp_source *source = NULL, *reduced = NULL;
    struct fbp_corrections c;
    char *missing = NULL;
    fbp_status st = FBP_OK;

    fbp_reduction_of(scan, &p->reduction);
    FBP_TRY(fbp_plan_source_open(p, &source));
    const struct fbp_array_info *info = fbp_source_info(source);
    fbp_plan_note(p, FBP_LOG_NOTE, "%s", info->taken);
    fbp_plan_note(p, FBP_LOG_WARNING, "%s", info->missing);
    fbp_preparation_describe(scan->preparation, p->info.prepared, sizeof p->info.prepared);
    /* the description begins with the preparation of spectrometer rows, else with corrections */
    FBP_TRY_GOTO(fbp_corrections_of(scan, &c));
    p->zingers = c.zingers;
    if (!p->info.prepared[0]) {
        fbp_corrections_describe(&c, p->info.prepared, sizeof p->info.prepared);
    }
    if (!has_size(p, info))
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: contains %zu views of %zu rows x %zu columns, but the scan has "
            "%zu views of %zu x %zu; correct the scan, or give its views",
            fbp_plan_source_name(p), info->n[2], info->n[1], info->n[0], fbp_stored_views(scan),
            p->reduction.stored.n_rows, p->reduction.stored.n_columns));
    p->top_down = is_top_down(scan, info);
    if (scan->find_bad_pixels && p->params.input.follow)
        FBP_TRY_GOTO(FBP_UNSUPPORTED("bad_pixels: auto needs the complete scan first, so it "
                                     "excludes --follow; omit one of the two"));
    FBP_TRY_GOTO(fbp_beam_create(&p->beam, scan, &missing));
    fbp_plan_note(p, FBP_LOG_WARNING, "%s", missing ? missing : "");
    free(missing);
    FBP_TRY_GOTO(fbp_bad_pixels_find(&p->whole_scan, source, p->top_down, &p->images));

    FBP_TRY_GOTO(take_devices(p));
    /* Make the view steps; the input of each is the scan that the previous one yields. */
    for (size_t i = 0; i < n_all; i++) {
        const struct fbp_view_step *last = p->n_steps ? p->steps[p->n_steps - 1] : NULL;
        struct fbp_view_step_request request = {.scan = last ? &last->scan : scan,
                                                .params = &p->params,
                                                .backend = p->backend,
                                                .top_down = p->top_down,
                                                .measured = !last};
        FBP_TRY_GOTO(all[i](&p->steps[p->n_steps], &request));
        p->n_steps += p->steps[p->n_steps] != NULL;
        fbp_plan_note(p, FBP_LOG_WARNING, "%s", request.warning);
    }
    FBP_TRY_GOTO(fbp_plan_source_reduce(p, source, &reduced));

    info = fbp_source_info(reduced);
    const enum fbp_type stored = reduced->below ? reduced->stored_type : info->type;
    p->in_order = fbp_source_in_order(reduced);
    p->unpacks = fbp_source_reads_in_parallel(reduced);
    p->held_bytes = fbp_source_bytes(reduced, 0);
    p->reader_bytes = fbp_source_bytes(reduced, 1) - p->held_bytes;
    p->hold_bytes = fbp_hold_bytes(reduced);
    p->follow = fbp_source_grows(reduced);
    p->type = info->scale != 0 ? FBP_F32 : info->type; /* scaled integers are no counts */
    p->info.input_bytes =
        reduced->below ? reduced->stored_bytes
                       : (uint64_t)info->n[0] * info->n[1] * info->n[2] * fbp_type_size(info->type);
    if (info->scale == 0 && stored != FBP_F32 && stored != FBP_F64 && !fbp_scan_is_intensity(scan))
        fbp_plan_note(
            p, FBP_LOG_WARNING,
            "the projections are integers, but are used as line integrals, because neither flat "
            "nor i0 is given; add \"i0\" or \"flat\" to the scan file if they are counts");
    fbp_plan_source_drop(source, &reduced);
fail:
    fbp_plan_source_close(p, &source);
    return st;
}

fbp_status fbp_plan_check_source(const fbp_plan *p, const fbp_source *source)
{
    const struct fbp_array_info *info = fbp_source_info(source);

    if (has_size(p, info) && is_top_down(p->scan, info) == p->top_down &&
        ((info->type == FBP_U16 && info->scale == 0) || p->tables.job.input.type != FBP_U16))
        return FBP_OK;
    return FBP_INVALID(
        "views: %zu views of %zu rows x %zu columns, %s, differ in size, row order, type "
        "or scale from those for which the plan was made; make another plan",
        info->n[2], info->n[1], info->n[0], fbp_type_name(info->type));
}

static int is_cancelled(void *user, size_t n_there)
{
    (void)user, (void)n_there;
    return fbp_check_cancelled() != FBP_OK;
}

fbp_status fbp_plan_source_await(const fbp_plan *p, fbp_source *stored)
{
    FBP_TRY(fbp_device_memory_settle(fbp_source_device(stored)));
    if (p->follow)
        return FBP_OK;
    return fbp_source_await(stored, fbp_source_info(stored)->n[2], is_cancelled, NULL, NULL);
}

/* ---- The summary of a plan ---- */

static void fill_info(fbp_plan *p)
{
    struct fbp_plan_summary *i = &p->info;
    const struct fbp_job *job = &p->tables.job, *measured = &fbp_plan_measured(p)->job;
    const struct fbp_slab any = fbp_slab_asked(job, 0, 1);
    size_t first, n;

    i->struct_size = sizeof *i;
    fbp_job_slices(job, &first, &n);
    fbp_box_grid(job, &i->volume);
    i->whole = job->grid;
    fbp_axpy(i->volume.centre_mm, 1, p->tables.centre_mm, i->volume.centre_mm);
    fbp_axpy(i->whole.centre_mm, 1, p->tables.centre_mm, i->whole.centre_mm);
    memcpy(i->box, job->requested.box, sizeof i->box);
    i->time_points = fbp_volumes(job);

    i->backend = p->backend->name;
    i->kernel = job->selection.name;
    i->isa = job->selection.isa;
    i->n_devices = p->n_devices;
    i->n_threads = job->n_threads;

    i->facts = &measured->facts;
    i->filtered = measured->input.filtered;
    i->fft_length = measured->input.filtered || measured->filtering.spatial
                        ? 0
                        : measured->filtering.design->n_fft;
    fbp_job_describe(fbp_plan_measured(p), i->weights, sizeof i->weights);
    for (size_t k = 0; k < p->n_steps; k++)
        p->steps[k]->describe(p->steps[k], i);
    if (p->zingers > 0) {
        char rest[sizeof i->prepared];
        snprintf(rest, sizeof rest, "%s", i->prepared);
        snprintf(i->prepared, sizeof i->prepared, "zingers above %.4g sigma%s%.200s", p->zingers,
                 rest[0] ? "; " : "", rest);
    }
    snprintf(i->unit, sizeof i->unit, "%s",
             p->params.mu_water > 0 ? "HU" : fbp_value_unit(measured->kind, p->params.output.unit));

    i->n_slabs = fbp_work_slabs(&p->work, job);
    i->slab_slices = p->work.slab_slices;
    i->batch_views = p->work.batch_views;
    i->n_batches = p->work.n_batches;
    i->follows = p->follow;
    i->keeps_views = p->work.kept;
    i->shares_views = p->work.shared;
    i->view_reads = p->work.view_reads;
    if (p->rows.used) {
        i->view_reads = p->rows.filtering.view_reads;
        i->scratch_reads = p->work.view_reads;
        i->scratch_bytes = fbp_rows_bytes(job);
    }
    i->memory_bytes = p->work.memory_bytes;
    i->device_bytes = p->work.device_bytes;
    if (fbp_plan_corrections(p))
        i->input_bytes *= fbp_plan_retrievals(p);
    else if (measured == job) /* EPR in two stages reads its views once */
        i->input_bytes = (uint64_t)((double)i->input_bytes * i->view_reads);
    i->output_bytes = (uint64_t)i->volume.n[0] * i->volume.n[1] * fbp_plan_own_slices(p) *
                      fbp_type_size(p->params.output.type);
    i->part = p->params.cluster.part;
    i->n_parts = p->params.cluster.n_parts;
    i->updates = fbp_wanted_voxels(job, &any, first, first + n) * i->time_points *
                 fbp_work_own_views(job, fbp_group_views(p->backend, job));
    if (job->requested.region) { /* compute the fractions of the box's work that the region saves */
        struct fbp_job whole = *job;
        whole.requested.region = NULL;
        fbp_job_slices(&whole, &first, &n);
        const struct fbp_slab all = fbp_slab_asked(&whole, first, n);
        const double updates = (double)fbp_wanted_voxels(&whole, &all, first, first + n) *
                               (double)fbp_work_own_views(job, fbp_group_views(p->backend, job)) *
                               (double)fbp_volumes(job);
        const double rows = (double)fbp_work_all(&whole).load_rows;
        fbp_box_wanted(job, &i->region_slices[0], &i->region_slices[1]);
        i->region_voxels =
            fbp_region_count(job->requested.region, i->region_slices[0], i->region_slices[1]);
        i->region_saves_updates = 1 - (double)i->updates / updates;
        i->region_saves_rows = rows > 0 ? 1 - (double)fbp_work_all(job).load_rows / rows : 0;
    }

    if (i->predicted.total > 0)
        i->predicted.gups = (double)i->updates / i->predicted.total * 1e-9;
}

/* ---- Notes and warnings about a plan ---- */

/* Log all notes and warnings about a plan. */
static void log_remarks(const fbp_plan *p)
{
    static const double MOST = 8; /* line integral with a transmission of 0.03 % */
    /* kernels that may be able to compute only a box, the fastest first */
    static const char *const boxes[] = {"column", "matrix"};
    const struct fbp_job *measured = &fbp_plan_measured(p)->job;
    const struct fbp_prep *prep = fbp_plan_prep(p);
    const struct fbp_recon_params *params = &p->params;
    const bool asks_for_filter =
        params->filter != FBP_FILTER_RAM_LAK || params->cutoff > 0 ||
        params->filtering.cutoff_v > 0 || params->filtering.spatial || params->filtering.refine ||
        params->filtering.half_width > 0 || params->pad || params->filtering.n_window > 0 ||
        params->epr.oversampling > 1 || params->epr.wiener > 0 || params->epr.periodic ||
        params->epr.response || params->filtering.angular_weights != FBP_ANGULAR_DEFAULT;
    struct fbp_corrections c;
    char line[600], bytes[32];

    if (fbp_scan_assumed(p->scan, line, sizeof line) > 0)
        fbp_plan_note(p, FBP_LOG_WARNING, "%s", line);
    if (p->scan->note)
        fbp_plan_note(p, FBP_LOG_WARNING, "%s", p->scan->note);
    fbp_reduction_describe(&p->reduction, fbp_stored_views(p->scan), line, sizeof line);
    fbp_plan_note(p, FBP_LOG_NOTE, "%s", line);
    for (size_t i = 0; i < 3; i++)
        if (prep->missing[i])
            fbp_plan_note(p, FBP_LOG_WARNING, "%s", prep->missing[i]);
    if (prep->n_left_out > 0)
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "binning: %zu bad pixels are excluded from the means of pixels",
                      prep->n_left_out);
    /* Warn if the beam hardening polynomial decreases: it was fitted to too thin objects. */
    const double turn =
        fbp_corrections_of(p->scan, &c) == FBP_OK ? fbp_corrections_turn(&c, MOST) : 0;
    if (turn > 0)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "beam hardening: the polynomial decreases above a line integral of %.3g, so "
                      "thicker objects would appear thinner; fit it to all thicknesses in the scan",
                      turn);
    /* log the warnings about the geometry that `fbp geometry check` also prints */
    for (size_t i = 0;
         fbp_scan_remark(p->scan, &measured->facts, &p->info.volume, i, line, sizeof line); i++)
        fbp_plan_note(p, FBP_LOG_WARNING, "%s", line);

    /* note parameters that have no effect */
    if (!p->backend->can.precisions &&
        (params->precision == FBP_PRECISION_FAST || params->precision == FBP_PRECISION_HALF))
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "--precision: fast and half have no effect on device %s; omit the option",
                      p->backend->name);
    if (!p->backend->can.own_memory && params->device_memory_bytes > 0)
        fbp_plan_note(
            p, FBP_LOG_NOTE,
            "device %s uses host memory; --device-memory has no effect, use --memory instead",
            p->backend->name);
    if (measured->input.filtered && asks_for_filter)
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "the views are already weighted and filtered; options for filter and weights "
                      "have no effect");
    p->backend->remark(&p->tables.job, line, sizeof line);
    fbp_plan_note(p, FBP_LOG_NOTE, "%s", line);

    /* state what a number of views without quarter turns costs */
    const struct fbp_geometry_facts *facts = &measured->facts;
    const double n_views = (double)measured->n_views;
    const bool evenly = fabs(facts->step_rad[2] * n_views - 2 * FBP_PI) < 1e-3 &&
                        fabs(facts->step_rad[0] * n_views - 2 * FBP_PI) < 1e-3;
    if (evenly && facts->symmetry & FBP_SYM_COLUMN && measured->n_views % 4 &&
        !params->tuning.kernel && measured->grid.n[2] >= 16)
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "%zu views are not divisible by 4, so that kernel rot90, which computes four "
                      "symmetric voxels at once, is not used: with %zu views it can be up to 2 "
                      "times as fast, if the volume is square and centred on the axis",
                      measured->n_views, (measured->n_views + 3) / 4 * 4);

    /* warn about too little memory */
    if (p->follow && p->work.n_slabs > p->n_devices)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "only %zu of %zu slabs (groups of slices) of the volume fit into memory; "
                      "only these are computed during the scan, and the others after the last "
                      "view; raise --memory or --device-memory to finish sooner",
                      p->n_devices, p->work.n_slabs);
    if (p->in_order && !p->hold && !p->follow && !fbp_plan_corrections(p) && p->work.n_slabs >= 3)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "the compressed file %.120s is decompressed %zu times, once per slab (group "
                      "of slices); raise --memory, or decompress it",
                      fbp_plan_source_name(p), p->work.n_slabs);
    if (fbp_plan_retrievals(p) > 1)
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "the views do not fit into memory together with the volume, so they are "
                      "read, and phases retrieved, %zu times, once per slab (group of slices); "
                      "raise --memory, or name a folder for the views with --scratch",
                      fbp_plan_retrievals(p));
    if (p->unpacked_needs) {
        line[0] = '\0';
        if (p->unpacked_needs > p->info.memory_limit)
            snprintf(line, sizeof line, "raise --memory to %s, or ",
                     fbp_bytes_text(bytes, sizeof bytes, p->unpacked_needs));
        fbp_plan_note(
            p, FBP_LOG_NOTE,
            "%.200s is compressed, and its decompressed views do not fit into memory, so kernel %s "
            "replaces %s, and values differ in their last digits; %sdecompress it",
            fbp_plan_source_name(p), p->tables.job.selection.name, p->kernel_unpacked, line);
    }
    /* note that the kernel computes more voxels than the requested box */
    if (fbp_box_crops(&p->tables.job) && !p->tables.region) {
        const size_t *all = p->info.whole.n, *box = p->info.volume.n;
        const double times = (double)all[0] * (double)all[1] / ((double)box[0] * (double)box[1]);
        const char *name = NULL;
        for (size_t i = 0; !name && i < sizeof boxes / sizeof *boxes; i++) {
            struct fbp_job job = p->tables.job;
            if (p->backend->choose(&job, boxes[i]) && job.selection.boxes)
                name = boxes[i];
        }
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "kernel %s computes whole slices, %.3g times as many voxels as the box%s%s%s",
                      p->info.kernel, times, name ? "; --kernel " : "", name ? name : "",
                      name ? " computes only the box, with slightly different values" : "");
    }
    fbp_plan_note_team(p);
    if (prep->n_bridges > 0)
        fbp_plan_note(p, FBP_LOG_NOTE, "%zu bad pixels are interpolated from their neighbours",
                      prep->n_bridges);
}

/* ---- Making a plan ---- */

/* Callback of the cancel scope: return whether the caller has cancelled fbp_plan_create(). */
static bool plan_stops(void *user)
{
    const fbp_plan *p = user;
    const struct fbp_progress none = {.struct_size = sizeof none, .total = 1};

    return p->params.callbacks.progress &&
           p->params.callbacks.progress(p->params.callbacks.user, &none);
}

static fbp_status make_plan(fbp_plan *p)
{
    const struct fbp_recon_params *params = &p->params;
    const struct fbp_write_mode ways = {params->cluster.n_parts > 0, params->output.compress};
    const bool is_auto = !params->device || strcmp(params->device, "auto") == 0;
    char line[800];

    FBP_TRY(fbp_check_cancelled());
    FBP_TRY(fbp_check_scan(p->scan));
    if (params->output.path)
        FBP_TRY(fbp_write_mode_check(params->output.path, NULL, &ways));
    fbp_plan_take_cores(p);
    if (params->tuning.scratch && !p->target)
        FBP_TRY(fbp_scratch_check(params->tuning.scratch));
    fbp_sandbox_forget();
    FBP_TRY(take_source(p));

    const struct fbp_view_step *last = p->n_steps ? p->steps[p->n_steps - 1] : NULL;
    if (last && last->make_job)
        FBP_TRY(last->make_job(last, params, &p->tables));
    else
        FBP_TRY(fbp_job_create(&p->tables, last ? &last->scan : p->scan, params, p->top_down));
    /* If the device that the name "auto" selected cannot compute the job, select another device. */
    if (is_auto && !p->target) {
        const struct fbp_backend *before = p->backend;
        fbp_device_capable(fbp_backends, &p->tables.job, &p->backend, &p->devices[0], line,
                           sizeof line);
        if (p->backend != before) {
            p->n_devices = 1;
            fbp_plan_note(p, FBP_LOG_NOTE, "%s", line);
        }
    }
    FBP_TRY(fbp_plan_take_card(p));
    p->contained_bytes = fbp_sandbox_bytes();
    FBP_TRY(fbp_plan_arrange_steps(p));
    FBP_TRY(fbp_plan_consider_rows(p));
    fill_info(p);
    log_remarks(p);
    return FBP_OK;
}

fbp_status fbp_plan_create(fbp_plan **out, const struct fbp_scan *scan,
                           const struct fbp_recon_params *params)
{
    FBP_REQUIRE(out);
    return fbp_plan_create_for(out, scan, params, NULL);
}

fbp_status fbp_plan_create_for(fbp_plan **out, const struct fbp_scan *scan,
                               const struct fbp_recon_params *params,
                               const struct fbp_plan_target *target)
{
    struct fbp_recon_params own;
    struct fbp_scan whole;
    fbp_plan *p = NULL;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_take_params(&own, params));
    FBP_TRY(FBP_COPY_IN(scan, &whole, scan));
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "plan"));
    p->whole_scan = whole;
    p->scan = &p->whole_scan;
    p->target = target;
    p->process = getpid();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->params = own;
    p->timeline = own.tuning.timeline;
    if (own.output.type == FBP_TYPE_NONE)
        p->params.output.type = own.precision == FBP_PRECISION_DOUBLE ? FBP_F64 : FBP_F32;
    if (p->params.output.type != FBP_F32 && p->params.output.type != FBP_F64 &&
        own.output.range[0] == 0 && own.output.range[1] == 0)
        memcpy(p->params.output.range, fbp_usual_hu_range(own.output.type),
               sizeof p->params.output.range);
    struct fbp_cancel_scope scope = {.flag = fbp_cancel_flag(), .asked = plan_stops, .user = p};
    struct fbp_cancel_scope *before = fbp_cancel_scope(&scope);
    const fbp_status st = fbp_plan_agree(p, make_plan(p));
    (void)fbp_cancel_scope(before);
    if (st == FBP_OK)
        *out = p;
    else
        fbp_plan_destroy(&p);
    return st;
}

const struct fbp_plan_summary *fbp_plan_info(const fbp_plan *plan)
{
    FBP_REQUIRE_ELSE(NULL, plan);
    return &plan->info;
}

fbp_status fbp_plan_estimate(const fbp_plan *p, double *seconds)
{
    FBP_REQUIRE(p, seconds);
    const struct fbp_view_readings reads = {.slabs = fbp_work_readings(&p->work),
                                            .rows = p->info.view_reads,
                                            .n_threads = p->tables.job.n_threads};
    double steps = 0, one;

    fbp_message_clear();
    FBP_TRY(fbp_check_process(p->process, "plan"));
    for (size_t i = 0; i < p->n_steps; i++) {
        if (!p->steps[i]->estimate)
            continue;
        FBP_TRY(p->steps[i]->estimate(p->steps[i], &reads, &one));
        steps += one;
    }
    FBP_TRY(fbp_estimate(&p->tables.job, p->backend, p->devices[0], &p->work, p->info.view_reads,
                         seconds));
    *seconds += steps;
    return FBP_OK;
}

void fbp_plan_destroy(fbp_plan **plan)
{
    FBP_REQUIRE_ELSE(, plan);
    fbp_plan *p = *plan;
    /* a forked child process has neither the runs nor the threads and devices of its parent */
    const bool own = p && p->process == getpid();

    if (!p)
        return;
    const struct fbp_cancel_flag *flag = fbp_cancel_flag();
    while (flag && flag->set != &p->stop)
        flag = flag->outer;
    if (own && flag) { /* waiting for the run would never end */
        fbp_message_clear();
        (void)!FBP_INVALID(
            "plan: fbp_plan_destroy() was called by a callback of the plan's own run, "
            "and was ignored; stop the run in the callback, and destroy the plan after "
            "the run has returned");
        return;
    }
    if (own) {
        pthread_mutex_lock(&p->lock);
        while (p->n_runs > 0) /* another thread runs the plan */
            pthread_cond_wait(&p->idle, &p->lock);
        pthread_mutex_unlock(&p->lock);
        pthread_mutex_destroy(&p->lock);
        pthread_cond_destroy(&p->idle);
        fbp_workers_close(&p->workers);
    }
    for (size_t i = 0; i < p->n_steps; i++)
        if (own || !p->steps[i]->open)
            p->steps[i]->destroy(p->steps[i]);
    fbp_job_clear(&p->tables);
    fbp_plan_forget_sums(p);
    fbp_images_free(p->images);
    fbp_beam_free(p->beam);
    free(p->missing);
    free(p);
    *plan = NULL;
}
