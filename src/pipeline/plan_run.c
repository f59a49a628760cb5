/* Runs of a plan. Public functions (fbp/recon.h): fbp_plan_run() writes a file, fbp_plan_run_to()
 * writes to a sink, fbp_reconstruct() plans and runs from memory to memory. A run opens the source
 * and the sink that the caller does not pass; run_to() then creates the checks of the views and
 * the mask, computes the slabs (run.c), logs the results of the checks, and finishes the output.
 * Also public: opening a plan's devices before its runs (fbp_plan_open()), and host memory that
 * they reach (fbp_plan_alloc(), fbp_plan_release()).
 * Used by: bench/, cli/, analysis/. */
#include "pipeline/plan.h"

#include "array/device_memory.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/sink.h"
#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "pipeline/worker.h"
#include "prep/prep.h"
#include "team/team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler sets it");

/* Checks beside a run: that of views in the caller's memory, and the search for bad pixels and
 * saturated air. Views in memory: a thread makes both. Others are checked when they are read, and
 * the search follows the run, while the system still caches the files. */
struct checks {
    bool searches; /* true: search for bad pixels and saturated air, with `samples` */
    struct fbp_sample_check samples;
    const struct fbp_cancel_flag *stop;
    bool has_thread;
    pthread_t thread;
    fbp_status status; /* status of the checks; the message of a failed thread is in `message` */
    char message[400];
};

/* One run of a plan, with the objects that exist only during the run. */
struct plan_run {
    fbp_plan *plan;
    fbp_source *source;
    fbp_sink *sink;
    bool apart; /* true: every process of the team writes its own slices */
    /* path of an integer output whose range is that of the volume, which is therefore first written
     * to `sink` as floats; NULL: `sink` is the output */
    const char *output;
    fbp_timeline *timeline;
    struct fbp_job checked; /* job of the views that are checked */
    fbp_data_check *check;
    bool checked_in_step; /* a view step checks the measured views, instead of the run */
    /* true: the views are checked in the caller's memory: devices may read them directly */
    bool in_memory;
    struct checks checks;
    fbp_mask *mask;
    struct fbp_plan_run_team *team; /* NULL: a single process */
    uint64_t n_found;               /* voxels that min, max and mean include */
};

/* Return whether this process is rank 0 or alone: it publishes the output and reports results. */
static bool is_first(const fbp_plan *p)
{
    return fbp_team_rank(p->params.cluster.team) == 0;
}

static struct fbp_run_request request_of(struct plan_run *r)
{
    fbp_plan *p = r->plan;
    struct fbp_run_request out = {.job = &p->tables.job,
                                  .backend = p->backend,
                                  .work = &p->work,
                                  .source = r->source,
                                  .top_down = p->top_down && !r->checked_in_step,
                                  .sink = r->sink,
                                  .devices = p->devices,
                                  .n_devices = p->n_devices,
                                  .workers = p->workers.n ? &p->workers : NULL,
                                  .no_overlap = p->params.tuning.no_overlap,
                                  .timeline = r->timeline,
                                  .check = r->checked_in_step || r->in_memory ? NULL : r->check,
                                  .mask = r->mask,
                                  .sum = p->sum,
                                  .n_found = &r->n_found,
                                  .stop = fbp_cancel_flag(),
                                  .progress = p->params.callbacks.progress,
                                  .log = p->params.callbacks.log,
                                  .progress_user = p->params.callbacks.user,
                                  .log_user = p->params.callbacks.user};

    if (r->team) {
        out.progress = fbp_plan_team_progress;
        out.progress_user = r->team;
    }
    return out;
}

/* Filter all views into a scratch file, then backproject the rows of this file. */
static fbp_status compute_from_rows(struct plan_run *r, struct fbp_report *report)
{
    const struct fbp_plan_rows *rows = &r->plan->rows;
    struct fbp_run_request request = request_of(r);
    struct fbp_report filtering = {0};
    struct fbp_rows_file file;
    fbp_source *source = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_rows_open(&file, &r->plan->tables.job, r->plan->params.tuning.scratch));
    request.work = &rows->filtering;
    FBP_TRY_GOTO(fbp_rows_filter(&request, &file, &filtering));
    FBP_TRY_GOTO(fbp_rows_source(&rows->job, &file, &source));
    request.job = &rows->job;
    request.work = &r->plan->work;
    request.source = source;
    request.top_down = false;
    request.check = NULL;
    FBP_TRY_GOTO(fbp_run(&request, report));
    report->read += filtering.read;
    report->filter += filtering.filter;
    report->not_finite = filtering.not_finite;
    report->clipped = filtering.clipped;
fail:
    fbp_source_close(&source);
    fbp_rows_close(&file);
    return st;
}

/* Compute the slices of this process, and write them to the sink. */
static fbp_status compute(struct plan_run *r, struct fbp_report *report)
{
    const struct fbp_run_request request = request_of(r);

    if (r->team && r->plan->ranks.idle)
        return FBP_OK;
    FBP_TRY(r->plan->rows.used ? compute_from_rows(r, report) : fbp_run(&request, report));
    FBP_TRY(fbp_plan_report_steps(r->plan, report));
    FBP_TRY(fbp_check_cancelled()); /* the last block of slices may be incomplete */
    const fbp_status st = fbp_source_unchanged(r->source);
    /* files changed during the run: discard the slices, which may mix old and new views */
    if (st != FBP_OK)
        fbp_sink_forget(r->sink);
    return st;
}

/* ---- The output ---- */

/* Check that a sink has the size of the plan's volume. */
static fbp_status check_sink(const fbp_plan *p, const fbp_sink *sink)
{
    const size_t *n = fbp_sink_info(sink)->n, *wanted = p->info.volume.n;
    const size_t slices = wanted[2] * p->info.time_points;
    char frames[80] = "";

    if (n[0] == wanted[0] && n[1] == wanted[1] && n[2] == slices)
        return FBP_OK;
    if (p->info.time_points > 1)
        snprintf(frames, sizeof frames, " (%zu frames of %zu slices)", p->info.time_points,
                 wanted[2]);
    return FBP_INVALID("output: has %zu x %zu x %zu voxels, but the plan's volume has %zu x %zu x "
                       "%zu%s; use the size of fbp_plan_info()",
                       n[0], n[1], n[2], wanted[0], wanted[1], slices, frames);
}

/* Callback between slices of the conversion to integers: report progress; nonzero: cancel. */
static int stops(void *user)
{
    const fbp_plan *p = user;
    const struct fbp_progress now = {.struct_size = sizeof now,
                                     .done = p->info.updates,
                                     .total = p->info.updates,
                                     .views_read = p->tables.job.n_views,
                                     .slabs_done = p->info.n_slabs,
                                     .n_slabs = p->info.n_slabs};

    return p->params.callbacks.progress
               ? p->params.callbacks.progress(p->params.callbacks.user, &now)
               : 0;
}

/* Convert the volume of floats in `values` to the integer output with the volume's range. */
static fbp_status convert(fbp_plan *p, const fbp_source *source, const fbp_sink *values,
                          const char *output, const struct fbp_report *report, fbp_sink **out)
{
    const struct fbp_grid *g = &p->info.volume;
    const size_t slice = g->n[0] * g->n[1] * sizeof(float), room = p->info.memory_limit / 8 / slice;
    /* unless the plan is open, its buffers have been freed, so there is memory for all threads */
    const size_t threads = p->workers.n ? 1 : (size_t)p->tables.job.n_threads;
    double range[2] = {report->min, report->max};

    FBP_TRY(fbp_spool_range(values, range));
    FBP_TRY(fbp_plan_sink_open(p, source, output, range, NULL, out));
    return fbp_spool_copy(values, *out, room < 1 ? 1 : room < threads ? room : threads, stops, p);
}

enum { NAMED = 12 }; /* greatest number of parts in a note */

/* After a run of one part (--part): store which slices are missing, and log missing parts. */
static fbp_status note_missing_parts(fbp_plan *p, const fbp_sink *sink, struct fbp_report *report)
{
    const size_t n = fbp_sink_info(sink)->n[2], n_parts = p->params.cluster.n_parts;
    size_t used = 0, count = 0;
    char parts[200] = "";

    report->slices_missing = fbp_sink_missing(sink);
    free(p->missing);
    p->missing = NULL;
    if (report->slices_missing == 0)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&p->missing, n, 1, "a table of slices"));
    for (size_t z = 0; z < n; z++)
        p->missing[z] = !fbp_sink_has(sink, z, 1);
    /* list the parts that lack slices, such as "3, 5, 9" */
    for (size_t k = 1; k <= n_parts && count <= NAMED; k++) {
        struct fbp_part part = {.struct_size = sizeof part};
        if (fbp_plan_part(p, k, &part) != FBP_OK || part.missing == 0)
            continue;
        if (count++ < NAMED)
            used +=
                (size_t)snprintf(parts + used, sizeof parts - used, "%s%zu", used ? ", " : "", k);
    }

    fbp_plan_note(p, FBP_LOG_NOTE,
                  "%zu of %zu slices are still missing (part%s %s%s of %zu); the last part to "
                  "finish gives the output its name, and interrupted parts must be run again",
                  report->slices_missing, n, count == 1 ? "" : "s", parts,
                  count > NAMED ? " ..." : "", n_parts);
    return FBP_OK;
}

/* Set this thread's error message: how many slices are stored, and how to continue. */
static void name_what_is_left(const fbp_plan *p, fbp_sink *sink, const char *output)
{
    const size_t kept = fbp_sink_resumable(sink), all = kept ? fbp_sink_info(sink)->n[2] : 0;

    fbp_message_clear();
    if (kept > 0 && p->params.cluster.n_parts)
        (void)!fbp_fail(FBP_ERR_CANCELLED,
                        "interrupted: %s is incomplete, but %zu of %zu slices are stored; run part "
                        "%zu of %zu again to continue",
                        output, kept, all, p->params.cluster.part, p->params.cluster.n_parts);
    else if (kept > 0)
        (void)!fbp_fail(FBP_ERR_CANCELLED,
                        "interrupted: %s is incomplete, but %zu of %zu slices are stored; continue "
                        "with --resume",
                        output, kept, all);
    else
        (void)!fbp_fail(FBP_ERR_CANCELLED, "interrupted: nothing was written");
}

/* Convert the output to integers if requested, publish it, and complete the report. */
static fbp_status finish_output(struct plan_run *r, struct fbp_report *report, double start)
{
    struct fbp_span finishing = fbp_span_host(r->timeline);
    const double computed = fbp_seconds();
    const size_t *n = r->plan->info.volume.n;
    fbp_sink *converted = NULL;
    char title[200];
    fbp_status st = FBP_OK;

    if (r->output)
        FBP_TRY_GOTO(convert(r->plan, r->source, r->sink, r->output, report, &converted));
    fbp_sink *const written = converted ? converted : r->sink;
    FBP_TRY_GOTO(fbp_sink_finish(written));
    const char *note = fbp_sink_note(written);
    if (note)
        fbp_plan_note(r->plan, FBP_LOG_WARNING, "%s", note);
    if (r->plan->params.cluster.n_parts)
        FBP_TRY_GOTO(note_missing_parts(r->plan, r->sink, report));
    report->output_after_last_view = fbp_follow_latency(r->source, fbp_seconds());
    const struct fbp_array_info *info = fbp_sink_info(written);
    report->hash = fbp_sink_hash(written);
    report->output_clipped += fbp_sink_clipped(written); /* added to other processes' counts */
    report->output_scale = info->scale;
    report->output_offset = info->offset;
    if (info->scale != 0) {
        const double least = info->type == FBP_I16 ? INT16_MIN : 0;
        const double top = info->type == FBP_U8 ? UINT8_MAX : UINT16_MAX;
        report->output_range[0] = info->offset + info->scale * least;
        report->output_range[1] = info->offset + info->scale * (least + top);
    }
    report->finish = fbp_seconds() - computed;
    report->total = fbp_seconds() - start;
    FBP_TRY_GOTO(fbp_span_end(&finishing, FBP_LANE_HOST, 1, "output finished"));
    if (r->timeline) {
        snprintf(title, sizeof title,
                 "%s, kernel %s %s: %zu &#215; %zu &#215; %zu voxels from %zu views, %.1f ms",
                 r->plan->info.backend, r->plan->info.kernel, r->plan->info.isa, n[0], n[1], n[2],
                 r->plan->scan->n_views, 1e3 * report->total);
        st = fbp_timeline_svg(r->timeline, title, r->plan->timeline);
    }

fail:
    fbp_sink_close(&converted);
    return st;
}

/* ---- Checks of the views that were read ---- */

/* Warn about `count` repaired samples. The warning has their percentage only if this process has
 * computed the whole volume, because otherwise it has not read all samples of the scan. */
static void warn_about_count(const fbp_plan *p, size_t count, const char *what, const char *done)
{
    const struct fbp_scan *s = p->scan;
    const double all = (double)s->n_views * (double)s->panel.n_rows * (double)s->panel.n_columns;
    const bool whole = memcmp(p->info.whole.n, p->info.volume.n, sizeof p->info.whole.n) == 0 &&
                       !p->params.cluster.n_parts && !p->params.cluster.team;
    char share[80] = "";

    if (count == 0)
        return;
    if (whole)
        snprintf(share, sizeof share, ", %.2g %% of %zu views of %zu x %zu",
                 fmin(100, 100 * (double)count / all), s->n_views, s->panel.n_columns,
                 s->panel.n_rows);
    fbp_plan_note(p, FBP_LOG_WARNING, "%s: %zu%s: %s", what, count, share, done);
}

/* Check views in memory for bad data; search for bad pixels and saturated air if requested. */
static fbp_status check_beside(struct plan_run *r)
{
    if (r->in_memory)
        FBP_TRY(fbp_data_check_memory(r->check, r->source));
    return r->checks.searches ? fbp_check_samples(&r->checks.samples) : FBP_OK;
}

static void *checks_main(void *arg)
{
    struct plan_run *r = arg;
    struct checks *s = &r->checks;
    struct fbp_cancel_scope scope = {.flag = s->stop};

    fbp_message_clear();
    (void)fbp_cancel_scope(&scope);
    s->status = check_beside(r);
    (void)fbp_cancel_scope(NULL);
    snprintf(s->message, sizeof s->message, "%s", fbp_message());
    return NULL;
}

/* Prepare the checks beside a run; if the views are in memory, begin them in a thread. The search
 * for bad pixels reads the measured views; not searched are plane integrals, filtered views, views
 * in order or in device memory, and views of a caller's function. */
static void begin_checks(struct plan_run *r, fbp_source *measured)
{
    const fbp_plan *p = r->plan;
    const struct fbp_job *job = &fbp_plan_measured(p)->job;
    const struct fbp_prep *prep = fbp_plan_prep(p);
    struct checks *s = &r->checks;
    struct fbp_sample_check *c = &s->samples;
    size_t z0, n, end;

    *c = (struct fbp_sample_check){.prep = prep, .top_down = p->top_down, .source = measured};
    for (size_t i = 0; i < p->n_steps && !p->steps[i]->measured && c->source->below; i++)
        c->source = c->source->below;
    const fbp_source *root = c->source;
    while (root->below)
        root = root->below;
    s->searches = !job->input.filtered && fbp_kind_has_lines(job->kind) &&
                  !fbp_source_in_order(c->source) &&
                  (root->inputs.n > 0 || (fbp_source_samples(root) && !fbp_source_device(root)));
    fbp_job_slices(job, &z0, &n);
    job->rows(job, 0, job->n_views, z0, z0 + n, &c->row0, &end);
    c->n_rows = end - c->row0;
    /* search all rows if the job needs more than half of them and does not crop its slices to a box
     * (fbp_box_crops()), or if the rows of the job are not rows of the measured detector, because a
     * view step other than that of corrections.c yields them */
    if (p->n_steps > (fbp_plan_corrections(p) != NULL) ||
        (!fbp_box_crops(job) && 2 * c->n_rows > job->panel.n_rows)) {
        c->row0 = 0;
        c->n_rows = prep->panel.n_rows;
    }
    s->stop = fbp_cancel_flag();
    s->has_thread = (r->in_memory || (s->searches && fbp_source_samples(c->source))) &&
                    pthread_create(&s->thread, NULL, checks_main, r) == 0;
}

/* Wait for the thread of the checks. */
static void end_checks(struct checks *s)
{
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    s->has_thread = false;
}

/* Report and log bad pixels that the scan's list does not contain, and saturated samples in air. */
static void report_samples(const fbp_plan *p, const struct fbp_sample_check *c,
                           struct fbp_report *report)
{
    const char *white = fbp_scan_has_image(p->scan, FBP_IMAGE_FLAT) ? "the flat" : "i0";

    report->bad_pixels = c->n_bad;
    report->saturated = c->n_flat;
    if (c->n_bad > 0)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "found %zu dead, stuck, hot or saturated pixels in %d views that bad_pixels "
                      "does not list; expect rings and wrong values, use --bad-pixels auto, or "
                      "list them in bad_pixels",
                      c->n_bad, FBP_CHECK_VIEWS);
    if (c->n_flat == 0)
        return;
    report->saturated_value = c->flat_top;
    report->saturated_share = (double)c->n_flat / (double)c->n_samples;
    fbp_plan_note(p, FBP_LOG_WARNING,
                  "%zu samples (%.2g %% of %d views) have the greatest value, %.7g, which is below "
                  "%s, so the detector is saturated in air, or %s is too large; values at the "
                  "object's edge are wrong; reduce the exposure, or correct %s",
                  c->n_flat, 100 * report->saturated_share, FBP_CHECK_VIEWS, c->flat_top, white,
                  white, white);
}

/* Finish the checks and the search, and log results; FBP_ERR_INVALID: all views are dead. */
static fbp_status report_data_check(struct plan_run *r, fbp_source *source,
                                    struct fbp_report *report)
{
    const fbp_plan *p = r->plan;
    fbp_data_check *check = r->check;
    struct checks *s = &r->checks;
    char line[800];

    if (!s->has_thread)
        s->status = check_beside(r);
    else if (end_checks(s), s->status != FBP_OK)
        fbp_message_adopt(s->message);
    FBP_TRY(s->status);
    FBP_TRY(fbp_data_check_finish(check, source, p->top_down, fbp_plan_source_name(p), report));
    fbp_data_check_dead(check, report, line, sizeof line);
    fbp_plan_note(p, FBP_LOG_WARNING, "%s", line);
    fbp_data_check_air(check, line, sizeof line);
    fbp_plan_note(p, FBP_LOG_WARNING, "%s", line);
    fbp_data_check_exposure(report, p->scan->n_views, line, sizeof line);
    fbp_plan_note(p, FBP_LOG_WARNING, "%s", line);
    warn_about_count(p, report->not_finite, "samples that are not numbers (NaN or infinite)",
                     "they were interpolated along the row, or set to 0 if the whole row is bad; "
                     "find their cause");
    warn_about_count(p, report->clipped, "samples that are at or below the dark",
                     "their transmission was set to 1e-6 (line integral 13.8); expect streaks, "
                     "expose longer, check the dark, or use --bad-pixels auto for dead pixels");

    report->repaired_pixels = fbp_plan_prep(p)->n_bridges;
    if (s->searches)
        report_samples(p, &s->samples, report);
    const bool padded = p->tables.job.filtering.pad;
    fbp_data_check_truncated(report, p->scan->n_views, padded, line, sizeof line);
    fbp_plan_note(p, padded ? FBP_LOG_NOTE : FBP_LOG_WARNING, "%s", line);
    return FBP_OK;
}

/* ---- A run ---- */

/* Compute all slices to r->sink, check the views that were read, and finish the output. */
static fbp_status run_to(struct plan_run *r, struct fbp_report *report, double start)
{
    fbp_plan *p = r->plan;
    struct fbp_prep_counts counts = {0};
    fbp_status st = FBP_OK;

    FBP_TRY(check_sink(p, r->sink));
    r->checked = fbp_plan_measured(p)->job;
    if (p->params.cluster.team) /* all processes check the same rows */
        r->checked.part.slices[0] = r->checked.part.slices[1] = 0;
    FBP_TRY_GOTO(fbp_data_check_create(&r->check, &r->checked));
    r->checked_in_step = fbp_plan_check_in_steps(p, r->check);
    r->in_memory = !r->checked_in_step && fbp_source_samples(r->source) && !p->top_down &&
                   fbp_source_info(r->source)->type == p->tables.job.input.type;
    if (p->params.output.fill || p->tables.region) {
        struct fbp_job job = p->tables.job;
        /* the field of view is that of the measured views, before corrections */
        job.kind = r->checked.kind;
        job.facts = r->checked.facts;
        FBP_TRY_GOTO(
            fbp_mask_create(&r->mask, &job, p->params.output.fill, fbp_outside_value(&p->params)));
    }
    if (p->timeline)
        FBP_TRY_GOTO(fbp_timeline_create(&r->timeline));

    FBP_TRY_GOTO(fbp_plan_team_begin(p, r->sink, r->apart, &r->team));

    fbp_source *measured = r->checked_in_step ? r->source->below : r->source;
    if (is_first(p))
        begin_checks(r, measured);
    st = compute(r, report);
    if (r->team) {
        if (st == FBP_OK)
            st = fbp_plan_count_steps(p, &counts);
        st = fbp_plan_team_computed(r->team, st, r->check, r->n_found, &counts, report);
    }
    FBP_TRY_GOTO(st);

    if (is_first(p)) {
        st = report_data_check(r, measured, report);
        /* all views are dead: discard the slices, so that --resume does not use them */
        if (st == FBP_ERR_INVALID)
            fbp_sink_forget(r->sink);
    }
    FBP_TRY_GOTO(fbp_plan_team_written(r->team, st));
    if (is_first(p))
        FBP_TRY_GOTO(finish_output(r, report, start));
fail:
    end_checks(&r->checks);
    free(r->checks.samples.bad);
    fbp_plan_team_end(&r->team);
    fbp_timeline_destroy(&r->timeline);
    (void)fbp_plan_check_in_steps(p, NULL);
    fbp_data_check_destroy(&r->check);
    fbp_mask_destroy(&r->mask);
    return st;
}

/* Open source and sink, and run.
 *  given: source of the views; NULL: that of the plan (files of the scan, or the caller's source)
 *  to: sink that the single process, or rank 0 of a team, writes if `output` is NULL
 *  output: path of the output file */
static fbp_status open_and_run(fbp_plan *p, fbp_source *given, fbp_sink *to, const char *output,
                               struct fbp_report *report)
{
    const double start = fbp_seconds();
    const bool finds_range = output && p->params.output.auto_range; /* first written as floats */
    struct fbp_report own_report = {0};
    fbp_source *own = NULL, *stored = NULL, *reduced = NULL;
    struct plan_run run = {.plan = p, .output = finds_range ? output : NULL};
    fbp_sink *sink = NULL; /* sink that this function opens */
    fbp_status st = FBP_OK;

    fbp_message_clear();
    if (report) {
        FBP_TRY(FBP_CHECK(report, report));
        FBP_COPY_OUT(report, report, &own_report);
    }
    FBP_TRY(fbp_check_process(p->process, "plan"));
    if (!output && p->params.cluster.n_parts)
        return FBP_UNSUPPORTED(
            "part: the parts of a volume are written to a common file, not to a sink; "
            "call fbp_plan_run() with the name of the file, or set n_parts to 0");
    FBP_TRY(fbp_plan_open_steps(p));
    if (!output && is_first(p) && !to)
        return FBP_INVALID("output: the sink is NULL; give a sink");
    if (!output && !is_first(p))
        FBP_TRY(fbp_plan_team_sink(p, &sink));
    if (!given)
        FBP_TRY_GOTO(fbp_plan_source_open(p, &own));
    stored = given ? given : own;
    FBP_TRY_GOTO(fbp_plan_check_source(p, stored));
    FBP_TRY_GOTO(fbp_plan_source_reduce(p, stored, &reduced));
    FBP_TRY_GOTO(fbp_plan_source_await(p, stored));
    if (output) {
        FBP_TRY_GOTO(fbp_plan_team_open(p, reduced, output, &sink, &run.apart));
        if (p->params.cluster.n_parts && fbp_sink_missing(sink) == 0)
            fbp_plan_note(p, FBP_LOG_NOTE,
                          "the output is already complete, so nothing is computed; to compute it "
                          "again, remove the file first");
        if (p->follow) /* open the devices before the first view is measured */
            FBP_TRY_GOTO(fbp_plan_open(p));
    } else {
        FBP_TRY_GOTO(fbp_device_memory_settle(fbp_sink_device(sink ? sink : to)));
        FBP_TRY_GOTO(fbp_plan_team_compare(p, reduced, ""));
    }
    run.source = reduced;
    run.sink = sink ? sink : to;
    FBP_TRY_GOTO(run_to(&run, &own_report, start));
    if (finds_range && is_first(p))
        fbp_spool_discard(&sink);
fail:
    if (output && st == FBP_ERR_CANCELLED)
        name_what_is_left(p, sink, output);
    fbp_sink_close(&sink);
    fbp_plan_source_drop(stored, &reduced);
    fbp_plan_source_close(p, &own);
    if (report)
        FBP_COPY_OUT(report, report, &own_report);
    return st;
}

/* Register a run, for which fbp_plan_destroy() waits, and run with p->stop as a condition that
 * cancels this thread's work. All processes of a team return the status of the first failure; if it
 * is a cancellation, with their own messages about slices that --resume can use. */
static fbp_status run_plan(fbp_plan *p, fbp_source *source, fbp_sink *sink, const char *output,
                           struct fbp_report *report)
{
    const struct fbp_cancel_flag flag = {.set = &p->stop, .outer = fbp_cancel_flag()};
    struct fbp_cancel_scope scope = {.flag = &flag};
    char own[1200];

    pthread_mutex_lock(&p->lock);
    p->n_runs++;
    pthread_mutex_unlock(&p->lock);
    struct fbp_cancel_scope *const before = fbp_cancel_scope(&scope);
    const fbp_status status = open_and_run(p, source, sink, output, report);
    fbp_status st = status;
    if (p->params.cluster.team) {
        snprintf(own, sizeof own, "%s", fbp_message());
        st = fbp_team_meet(p->params.cluster.team, "run", status);
        if (st == FBP_ERR_CANCELLED && status == st) {
            fbp_message_clear();
            fbp_message_adopt(own);
        }
    }
    (void)fbp_cancel_scope(before);
    atomic_store(&p->stop, false);
    pthread_mutex_lock(&p->lock);
    if (--p->n_runs == 0)
        pthread_cond_broadcast(&p->idle); /* the plan may be destroyed from here on */
    pthread_mutex_unlock(&p->lock);
    return st;
}

fbp_status fbp_plan_run_to(fbp_plan *p, fbp_source *source, fbp_sink *sink,
                           struct fbp_report *report)
{
    FBP_REQUIRE(p);
    return run_plan(p, source, sink, NULL, report);
}

fbp_status fbp_plan_run(fbp_plan *p, const char *output, struct fbp_report *report)
{
    FBP_REQUIRE(p, output);
    return run_plan(p, NULL, NULL, output, report);
}

void fbp_plan_timeline(fbp_plan *p, const char *path)
{
    FBP_REQUIRE_ELSE(, p);
    p->timeline = path;
}

fbp_status fbp_plan_open(fbp_plan *p)
{
    FBP_REQUIRE(p);
    fbp_message_clear();
    FBP_TRY(fbp_check_process(p->process, "plan"));
    if (p->workers.n)
        return FBP_OK;
    FBP_TRY(fbp_plan_open_rows(p));
    FBP_TRY(fbp_plan_open_steps(p));
    return fbp_workers_open(&p->workers, p->backend, p->rows.used ? &p->rows.job : &p->tables.job,
                            &p->work, p->devices, p->n_devices);
}

fbp_status fbp_plan_alloc(fbp_plan *p, size_t bytes, void **out)
{
    FBP_REQUIRE(p, out);
    *out = NULL;
    FBP_TRY(fbp_plan_open(p));
    return fbp_workers_alloc(&p->workers, bytes, out);
}

void fbp_plan_release(fbp_plan *p, void *memory)
{
    FBP_REQUIRE_ELSE(, p);
    if (memory && p->process == getpid())
        fbp_workers_release(&p->workers, memory);
}

/* ---- Reconstruction from memory to memory ---- */

fbp_status fbp_reconstruct(const struct fbp_scan *given, const struct fbp_recon_params *params,
                           enum fbp_type type, const void *views, void *volume,
                           struct fbp_report *report)
{
    FBP_REQUIRE(views, volume);
    const double start = fbp_seconds();
    struct fbp_scan whole, *const scan = &whole;
    struct fbp_recon_params p;
    struct fbp_reduction reduction;
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(fbp_check_float("reconstruct", type));
    FBP_TRY(FBP_COPY_IN(scan, scan, given));
    FBP_TRY(fbp_take_params(&p, params));
    fbp_reduction_of(scan, &reduction);
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {reduction.stored.n_columns, reduction.stored.n_rows, fbp_stored_views(scan)},
        .type = type,
        .row_order = scan->row_order};
    p.input.source = NULL;
    if (type == FBP_F64)
        p.precision = FBP_PRECISION_DOUBLE;
    FBP_TRY_GOTO(fbp_source_memory(&p.input.source, views, &info));
    FBP_TRY_GOTO(fbp_plan_create(&plan, scan, &p));
    const struct fbp_plan_summary *made = fbp_plan_info(plan);
    const size_t *v = made->volume.n, n[3] = {v[0], v[1], made->time_points * v[2]};
    FBP_TRY_GOTO(fbp_sink_memory(&sink, volume, type, n));
    FBP_TRY_GOTO(fbp_plan_run_to(plan, NULL, sink, report));
    if (report) /* total time of this call, including the creation of the plan */
        report->total = fbp_seconds() - start;
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
    return st;
}
