/* Runs of a plan: fbp_plan_run() writes a file, fbp_plan_run_to() writes to a sink,
 * fbp_reconstruct() computes from memory to memory.
 *
 * All of them open source and sink, and call run_to(): open the checks and the mask, compute all
 * slabs (run.c), check the views that were read, and finish the output. */
#include "pipeline/plan.h"

#include "array/array.h"
#include "array/device_memory.h"
#include "array/file/bytes.h"
#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "pipeline/worker.h"
#include "team/team.h"

#include <stdio.h>

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler sets it");

/* One run of a plan, and the objects that exist during this run. */
struct plan_run {
    fbp_plan *plan;
    fbp_source *source;
    fbp_sink *sink;
    bool apart; /* each process of the team writes its own slices */
    /* path of the final file, if the floats of `sink` are converted to integers afterwards; NULL:
     * `sink` is the output */
    const char *output;
    fbp_timeline *timeline;
    struct fbp_job checked; /* job of the views that are checked */
    fbp_data_check *check;
    bool checked_in_step; /* a view step checks the views; the run does not */
    struct fbp_sample_search search;
    fbp_mask *mask;
    struct fbp_plan_run_team *team; /* NULL: a single process */
    uint64_t n_found;               /* voxels that min, max and mean include */
};

/* Is this rank 0 (or a single process)?  Rank 0 publishes the output and reports results. */
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
                                  .check = r->checked_in_step ? NULL : r->check,
                                  .mask = r->mask,
                                  .sum = p->sum,
                                  .n_found = &r->n_found,
                                  .stop = fbp_cancel_flag(),
                                  .progress = p->params.callbacks.progress,
                                  .log = p->params.callbacks.log,
                                  .user = p->params.callbacks.user};

    if (r->team) {
        out.progress = fbp_plan_team_progress;
        out.log = fbp_plan_team_log;
        out.user = r->team;
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

/* Compute all slices of this process and write them to the sink. */
static fbp_status compute(struct plan_run *r, struct fbp_report *report)
{
    const struct fbp_run_request request = request_of(r);

    if (r->team && r->plan->ranks.idle)
        return FBP_OK;
    FBP_TRY(r->plan->rows.used ? compute_from_rows(r, report) : fbp_run(&request, report));
    FBP_TRY(fbp_plan_report_steps(r->plan, report));
    FBP_TRY(fbp_check_cancelled()); /* a cancelled run may have left the last block incomplete */
    const fbp_status st = fbp_source_unchanged(r->source);
    if (st != FBP_OK) /* the files changed: slices may come from the old or the new version */
        fbp_sink_forget(r->sink);
    return st;
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
        FBP_TRY_GOTO(fbp_plan_convert(r->plan, r->source, r->sink, r->output, report, &converted));
    FBP_TRY_GOTO(fbp_sink_finish(converted ? converted : r->sink));
    const char *note = fbp_sink_note(converted ? converted : r->sink);
    if (note)
        fbp_plan_note(r->plan, FBP_LOG_WARNING, "%s", note);
    if (r->plan->params.cluster.n_parts)
        FBP_TRY_GOTO(fbp_plan_part_done(r->plan, r->sink, report));
    report->output_after_last_view = fbp_follow_latency(r->source, fbp_seconds());
    fbp_plan_report_output(converted ? converted : r->sink, report);
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

/* Compute all slices to r->sink, check the views that were read, and finish the output. */
static fbp_status run_to(struct plan_run *r, struct fbp_report *report, double start)
{
    fbp_plan *p = r->plan;
    struct fbp_prep_counts counts = {0};
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_plan_check_sink(p, r->sink));
    r->checked = fbp_plan_measured(p)->job;
    if (p->params.cluster.team) /* all processes check the same rows */
        r->checked.part.slices[0] = r->checked.part.slices[1] = 0;
    FBP_TRY_GOTO(fbp_data_check_create(&r->check, &r->checked));
    r->checked_in_step = fbp_plan_check_in_steps(p, r->check);
    if (p->params.output.fill || p->tables.region) {
        struct fbp_job job = p->tables.job;
        job.kind = r->checked.kind; /* the field of view depends on the measured views */
        job.facts = r->checked.facts;
        FBP_TRY_GOTO(
            fbp_mask_create(&r->mask, &job, p->params.output.fill, fbp_outside_value(&p->params)));
    }
    if (p->timeline)
        FBP_TRY_GOTO(fbp_timeline_create(&r->timeline));

    FBP_TRY_GOTO(fbp_plan_team_begin(p, r->sink, r->apart, &r->team));

    fbp_source *measured = r->checked_in_step ? r->source->below : r->source;
    if (is_first(p))
        fbp_plan_search_begin(p, measured, &r->search);
    st = compute(r, report);
    if (r->team) {
        if (st == FBP_OK)
            st = fbp_plan_count_steps(p, &counts);
        st = fbp_plan_team_computed(r->team, st, r->check, r->n_found, &counts, report);
    }
    FBP_TRY_GOTO(st);

    if (is_first(p)) {
        st = fbp_plan_report_data_check(p, r->check, measured, &r->search, report);
        if (st == FBP_ERR_INVALID) /* discard slices of empty views: no --resume */
            fbp_sink_forget(r->sink);
    }
    FBP_TRY_GOTO(fbp_plan_team_written(r->team, st));
    if (is_first(p))
        FBP_TRY_GOTO(finish_output(r, report, start));
fail:
    fbp_plan_search_end(&r->search);
    fbp_plan_team_end(&r->team);
    fbp_timeline_destroy(&r->timeline);
    (void)fbp_plan_check_in_steps(p, NULL);
    fbp_data_check_destroy(&r->check);
    fbp_mask_destroy(&r->mask);
    return st;
}

/* Check and clear the caller's report, if there is one.  Fails in a forked child. */
static fbp_status begin(const fbp_plan *p, struct fbp_report *report)
{
    fbp_message_clear();
    if (report) {
        FBP_TRY(FBP_CHECK(report, report));
        FBP_COPY_OUT(report, report, &(const struct fbp_report){0});
    }
    return fbp_check_process(p->process, "plan");
}

static fbp_status run_between(fbp_plan *p, fbp_source *source, fbp_sink *sink,
                              struct fbp_report *report)
{
    const double start = fbp_seconds();
    struct fbp_report own_report = {0};
    fbp_source *own = NULL, *stored = NULL, *reduced = NULL;
    struct plan_run run;
    fbp_sink *sent = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(begin(p, report));
    if (p->params.cluster.n_parts)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "part: the parts of a volume are written to a common file, not to a sink; "
                        "call fbp_plan_run() with the name of the file, or set n_parts to 0");
    FBP_TRY(fbp_plan_open_steps(p));
    if (is_first(p) && !sink)
        return fbp_fail(FBP_ERR_INVALID, "output: the sink is NULL; give a sink");
    if (!is_first(p)) {
        FBP_TRY(fbp_plan_team_sink(p, &sent));
        sink = sent;
    }
    if (source)
        FBP_TRY_GOTO(fbp_plan_check_source(p, source));
    else
        FBP_TRY_GOTO(fbp_plan_source_open(p, &own));
    stored = source ? source : own;
    FBP_TRY_GOTO(fbp_plan_source_reduce(p, stored, &reduced));
    FBP_TRY_GOTO(fbp_plan_source_await(p, stored));
    FBP_TRY_GOTO(fbp_device_memory_settle(fbp_sink_device(sink)));
    FBP_TRY_GOTO(fbp_plan_team_compare(p, reduced, ""));
    run = (struct plan_run){.plan = p, .source = reduced, .sink = sink};
    FBP_TRY_GOTO(run_to(&run, &own_report, start));
fail:
    if (report)
        FBP_COPY_OUT(report, report, &own_report);
    fbp_sink_close(&sent);
    fbp_plan_source_drop(stored, &reduced);
    fbp_plan_source_close(p, &own);
    return st;
}

static fbp_status run_file(fbp_plan *p, const char *output, struct fbp_report *report)
{
    const double start = fbp_seconds();
    const bool finds_range = p->params.output.auto_range; /* floats first, then integers */
    struct fbp_report own_report = {0};
    fbp_source *source = NULL, *reduced = NULL;
    struct plan_run run;
    fbp_sink *sink = NULL;
    bool apart = false;
    fbp_status st = FBP_OK;

    FBP_TRY(begin(p, report));
    FBP_TRY(fbp_plan_open_steps(p));
    FBP_TRY_GOTO(fbp_plan_source_open(p, &source));
    FBP_TRY_GOTO(fbp_plan_check_source(p, source));
    FBP_TRY_GOTO(fbp_plan_source_reduce(p, source, &reduced));
    FBP_TRY_GOTO(fbp_plan_source_await(p, source));
    FBP_TRY_GOTO(fbp_plan_team_open(p, reduced, output, &sink, &apart));
    if (p->params.cluster.n_parts && fbp_sink_missing(sink) == 0)
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "the output is already complete, so nothing is computed; to compute it "
                      "again, remove the file first");
    if (p->follow) /* open the devices before the first view arrives */
        FBP_TRY_GOTO(fbp_plan_open(p));
    run = (struct plan_run){.plan = p,
                            .source = reduced,
                            .sink = sink,
                            .output = finds_range ? output : NULL,
                            .apart = apart};
    FBP_TRY_GOTO(run_to(&run, &own_report, start));
    if (finds_range && is_first(p))
        fbp_spool_discard(&sink);
fail:
    if (st == FBP_ERR_CANCELLED)
        fbp_plan_say_what_is_left(p, sink, output);
    fbp_sink_close(&sink);
    fbp_plan_source_drop(source, &reduced);
    fbp_plan_source_close(p, &source);
    if (report)
        FBP_COPY_OUT(report, report, &own_report);
    return st;
}

/* Register a run (fbp_plan_destroy() waits for all registered runs), and make p->stop cancel the
 * calling thread's work.  Returns the previous cancel scope. */
static struct fbp_cancel_scope *begin_run(fbp_plan *p, struct fbp_cancel_scope *scope)
{
    pthread_mutex_lock(&p->lock);
    p->n_runs++;
    pthread_mutex_unlock(&p->lock);
    return fbp_cancel_scope(scope);
}

/* Unregister a run.  All processes of a team return the status of the first failure.  A process
 * that was cancelled with the others keeps its own message about slices that --resume can use.  The
 * run must not use the plan after this call. */
static fbp_status end_run(fbp_plan *p, struct fbp_cancel_scope *before, fbp_status status)
{
    char own[1200];
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
        pthread_cond_broadcast(&p->idle);
    pthread_mutex_unlock(&p->lock);
    return st;
}

fbp_status fbp_plan_run_to(fbp_plan *p, fbp_source *source, fbp_sink *sink,
                           struct fbp_report *report)
{
    FBP_REQUIRE(p);
    const struct fbp_cancel_flag flag = {.set = &p->stop, .outer = fbp_cancel_flag()};
    struct fbp_cancel_scope scope = {.flag = &flag}, *const before = begin_run(p, &scope);

    return end_run(p, before, run_between(p, source, sink, report));
}

fbp_status fbp_plan_run(fbp_plan *p, const char *output, struct fbp_report *report)
{
    FBP_REQUIRE(p, output);
    const struct fbp_cancel_flag flag = {.set = &p->stop, .outer = fbp_cancel_flag()};
    struct fbp_cancel_scope scope = {.flag = &flag}, *const before = begin_run(p, &scope);

    return end_run(p, before, run_file(p, output, report));
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
    if (report) /* `total` is one of the first fields, which the struct of every release has */
        report->total = fbp_seconds() - start;
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
    return st;
}
