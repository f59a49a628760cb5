/* Running a plan. */
#include "array/array.h"
#include "array/far.h"
#include "array/reads.h"
#include "array/spool.h"
#include "backend/slab.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/plugin.h"
#include "base/process.h"
#include "base/sizes.h"
#include "base/stop.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "pipeline/plan.h"
#include "pipeline/worker.h"
#include "scan/file/preparation.h"
#include "scan/file/scan_inputs.h"
#include "team/team.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The run's bars into the file that was asked for. */
static fbp_status draw_timeline(const fbp_plan *p, const fbp_timeline *timeline, double seconds)
{
    const size_t *n = p->info.volume.n;
    char title[200];

    if (!timeline)
        return FBP_OK;
    snprintf(title, sizeof title,
             "%s, kernel %s %s: %zu &#215; %zu &#215; %zu voxels from %zu views, %.1f ms",
             p->info.backend, p->info.kernel, p->info.isa, n[0], n[1], n[2], p->scan->n_views,
             1e3 * seconds);
    return fbp_timeline_svg(timeline, title, p->timeline);
}

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a signal handler sets it");

/* A run of a plan, and what is made for it. */
struct plan_run {
    fbp_plan *plan;
    fbp_source *source;
    fbp_sink *sink;
    bool apart;         /* each of several processes writes its own slices */
    const char *output; /* what the sink's floats are converted to; NULL: the sink is the output */
    fbp_timeline *timeline;
    struct fbp_job looked; /* the views that are looked at */
    fbp_look *look;
    bool checked_in_step; /* a step checks the views, not the run */
    fbp_mask *mask;
    struct fbp_plan_run_team *team; /* NULL: this process is alone */
    uint64_t n_found;               /* voxels that min, max and mean are of */
};

/* The others write, and tell, nothing. */
static bool is_first(const fbp_plan *p)
{
    return fbp_team_rank(p->params.team) == 0;
}

/* What views see is a fact of those that were measured. */
static fbp_status make_mask(struct plan_run *r)
{
    const fbp_plan *p = r->plan;
    struct fbp_job job = p->tables.job;

    job.kind = fbp_plan_measured(p)->job.kind;
    job.facts = fbp_plan_measured(p)->job.facts;
    return fbp_mask_create(&r->mask, &job, p->params.mask != 0, fbp_outside_value(&p->params));
}

static fbp_status make_parts(struct plan_run *r)
{
    const fbp_plan *p = r->plan;

    r->looked = fbp_plan_measured(p)->job;
    if (p->params.team) /* all look at the same rows */
        r->looked.share[0] = r->looked.share[1] = 0;
    FBP_TRY(fbp_look_create(&r->look, &r->looked));
    r->checked_in_step = fbp_plan_check_in_steps(p, r->look);
    if (p->params.mask || p->tables.region)
        FBP_TRY(make_mask(r));
    return p->timeline ? fbp_timeline_create(&r->timeline) : FBP_OK;
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
                                  .no_overlap = p->params.no_overlap != 0,
                                  .timeline = r->timeline,
                                  .look = r->checked_in_step ? NULL : r->look,
                                  .mask = r->mask,
                                  .sum = p->sum,
                                  .n_found = &r->n_found,
                                  .stop = &p->stop,
                                  .progress = p->params.progress,
                                  .log = p->params.log,
                                  .user = p->params.user};
    if (r->team) {
        out.progress = fbp_plan_team_progress;
        out.log = fbp_plan_team_log;
        out.user = r->team;
    }
    return out;
}

/* Through a file of filtered rows. */
static fbp_status compute_from_rows(struct plan_run *r, struct fbp_report *report)
{
    const struct fbp_plan_rows *rows = &r->plan->rows;
    struct fbp_run_request request = request_of(r);
    struct fbp_report filtering = {0};
    struct fbp_rows_file file;
    fbp_source *source = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_rows_open(&file, &r->plan->tables.job, r->plan->params.scratch));
    request.work = &rows->filtering;
    FBP_TRY_GOTO(fbp_rows_filter(&request, &file, &filtering));
    FBP_TRY_GOTO(fbp_rows_source(&rows->job, &file, &source));
    request.job = &rows->job;
    request.work = &r->plan->work;
    request.source = source;
    request.top_down = false;
    request.look = NULL;
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

/* Every slice into the sink. */
static fbp_status compute(struct plan_run *r, struct fbp_report *report)
{
    const struct fbp_run_request request = request_of(r);

    if (r->team && r->plan->ranks.idle)
        return FBP_OK;
    FBP_TRY(r->plan->rows.used ? compute_from_rows(r, report) : fbp_run(&request, report));
    FBP_TRY(fbp_plan_report_steps(r->plan, report));
    return fbp_go_on(); /* else the last block may lack something */
}

/* Every slice of all processes. */
static fbp_status compute_all(struct plan_run *r, struct fbp_report *report)
{
    struct fbp_prep_counts ahead = {0};
    fbp_status st = compute(r, report);

    if (st == FBP_OK) {
        st = fbp_source_unchanged(r->source);
        if (st != FBP_OK) /* nobody knows which slices are of which data */
            fbp_sink_forget(r->sink);
    }
    if (!r->team)
        return st;
    if (st == FBP_OK)
        st = fbp_plan_count_steps(r->plan, &ahead);
    return fbp_plan_team_computed(r->team, st, r->look, r->n_found, &ahead, report);
}

/* May what was computed become the output? */
static fbp_status check_run(struct plan_run *r, struct fbp_report *report)
{
    const fbp_status st = fbp_plan_tell_look(
        r->plan, r->look, r->checked_in_step ? r->source->below : r->source, report);
    if (st == FBP_ERR_INVALID) /* slices of nothing are no beginning of a volume */
        fbp_sink_forget(r->sink);
    return st;
}

static fbp_status finish_output(struct plan_run *r, struct fbp_report *report, double start)
{
    struct fbp_span finishing = fbp_span_host(r->timeline);
    const double computed = fbp_seconds();
    fbp_sink *converted = NULL;
    fbp_status st = FBP_OK;

    if (r->output)
        FBP_TRY_GOTO(fbp_plan_convert(r->plan, r->source, r->sink, r->output, report, &converted));
    FBP_TRY_GOTO(fbp_sink_finish(converted ? converted : r->sink));
    const char *note = fbp_sink_note(converted ? converted : r->sink);
    if (note)
        fbp_plan_note(r->plan, FBP_LOG_WARNING, note);
    if (r->plan->params.n_parts)
        FBP_TRY_GOTO(fbp_plan_part_done(r->plan, r->sink, report));
    report->output_after_last_view = fbp_follow_latency(r->source, fbp_seconds());
    fbp_plan_report_output(converted ? converted : r->sink, report);
    report->finish = fbp_seconds() - computed;
    report->total = fbp_seconds() - start;
    FBP_TRY_GOTO(fbp_span_end(&finishing, FBP_LANE_HOST, 1, "output finished"));
    FBP_TRY_GOTO(draw_timeline(r->plan, r->timeline, report->total));
fail:
    fbp_sink_close(&converted);
    return st;
}

static fbp_status run_to(struct plan_run *r, struct fbp_report *report, double start)
{
    fbp_plan *p = r->plan;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_plan_check_sink(p, r->sink));
    FBP_TRY_GOTO(make_parts(r));
    FBP_TRY_GOTO(fbp_plan_team_begin(p, r->sink, r->apart, &r->team));
    FBP_TRY_GOTO(compute_all(r, report));
    st = is_first(p) ? check_run(r, report) : FBP_OK;
    FBP_TRY_GOTO(fbp_plan_team_written(r->team, st));
    if (is_first(p))
        FBP_TRY_GOTO(finish_output(r, report, start));
fail:
    fbp_plan_team_end(&r->team);
    fbp_timeline_destroy(&r->timeline);
    (void)fbp_plan_check_in_steps(p, NULL);
    fbp_look_destroy(&r->look);
    fbp_mask_destroy(&r->mask);
    return st;
}

/* Is there room for a report, if one is wanted?  Zeros, until there is something to tell. */
static fbp_status begin_report(struct fbp_report *report)
{
    if (!report)
        return FBP_OK;
    FBP_TRY(FBP_CHECK(report, report));
    FBP_GIVE(report, report, &(const struct fbp_report){0});
    return FBP_OK;
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

    fbp_message_clear();
    FBP_TRY(begin_report(report));
    FBP_TRY(fbp_own_process(p->process, "plan"));
    if (p->params.n_parts)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "part: goes to a file that others write, too: run the plan into one "
                        "(fbp_plan_run()), or leave the parts out");
    FBP_TRY(fbp_plan_open_steps(p));
    if (is_first(p) && !sink)
        return fbp_fail(FBP_ERR_INVALID, "output: the sink is NULL: give one");
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
    FBP_TRY_GOTO(fbp_far_settle(fbp_sink_far(sink)));
    FBP_TRY_GOTO(fbp_plan_team_compare(p, reduced, ""));
    run = (struct plan_run){.plan = p, .source = reduced, .sink = sink};
    FBP_TRY_GOTO(run_to(&run, &own_report, start));
fail:
    if (report)
        FBP_GIVE(report, report, &own_report);
    fbp_sink_close(&sent);
    fbp_plan_source_drop(stored, &reduced);
    fbp_plan_source_close(p, &own);
    return st;
}

/* All have run, or one has failed.  Who was interrupted with the others says what he has left. */
static fbp_status agree(fbp_plan *p, fbp_status status)
{
    char own[1200];

    if (!p->params.team)
        return status;
    snprintf(own, sizeof own, "%s", fbp_message());
    const fbp_status st = fbp_team_meet(p->params.team, "run", status);
    if (st == FBP_ERR_CANCELLED && status == st) {
        fbp_message_clear();
        fbp_message_adopt(own);
    }
    return st;
}

/* fbp_plan_destroy() waits from here on. */
static struct fbp_stop_scope *begin_run(fbp_plan *p, struct fbp_stop_scope *scope)
{
    pthread_mutex_lock(&p->lock);
    p->n_runs++;
    pthread_mutex_unlock(&p->lock);
    return fbp_stop_scope(scope);
}

/* The last use of the plan by this call. */
static void end_run(fbp_plan *p, struct fbp_stop_scope *before)
{
    (void)fbp_stop_scope(before);
    atomic_store(&p->stop, false);
    pthread_mutex_lock(&p->lock);
    if (--p->n_runs == 0)
        pthread_cond_broadcast(&p->idle);
    pthread_mutex_unlock(&p->lock);
}

fbp_status fbp_plan_run_to(fbp_plan *p, fbp_source *source, fbp_sink *sink,
                           struct fbp_report *report)
{
    FBP_GIVEN(p);
    struct fbp_stop_scope scope = {.flag = &p->stop}, *const before = begin_run(p, &scope);
    const fbp_status st = agree(p, run_between(p, source, sink, report));

    end_run(p, before);
    return st;
}

static fbp_status run_file(fbp_plan *p, const char *output, struct fbp_report *report)
{
    const double start = fbp_seconds();
    const bool found = p->params.auto_range != 0; /* the range of the output, once it is there */
    struct fbp_report own_report = {0};
    fbp_source *source = NULL, *reduced = NULL;
    struct plan_run run;
    fbp_sink *sink = NULL;
    bool apart = false;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(begin_report(report));
    FBP_TRY(fbp_own_process(p->process, "plan"));
    FBP_TRY(fbp_plan_open_steps(p));
    FBP_TRY_GOTO(fbp_plan_source_open(p, &source));
    FBP_TRY_GOTO(fbp_plan_check_source(p, source));
    FBP_TRY_GOTO(fbp_plan_source_reduce(p, source, &reduced));
    FBP_TRY_GOTO(fbp_plan_source_await(p, source));
    FBP_TRY_GOTO(fbp_plan_team_open(p, reduced, output, &sink, &apart));
    if (p->params.n_parts && fbp_sink_missing(sink) == 0)
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "the output is already complete: nothing is computed; to compute it again, "
                      "remove it first");
    if (p->follow) /* devices shall be ready when the first view is */
        FBP_TRY_GOTO(fbp_plan_open(p));
    run = (struct plan_run){.plan = p,
                            .source = reduced,
                            .sink = sink,
                            .output = found ? output : NULL,
                            .apart = apart};
    FBP_TRY_GOTO(run_to(&run, &own_report, start));
    if (found && is_first(p))
        fbp_spool_discard(&sink);
fail:
    if (st == FBP_ERR_CANCELLED)
        fbp_plan_say_what_is_left(p, sink, output);
    fbp_sink_close(&sink);
    fbp_plan_source_drop(source, &reduced);
    fbp_plan_source_close(p, &source);
    if (report)
        FBP_GIVE(report, report, &own_report);
    return st;
}

fbp_status fbp_plan_run(fbp_plan *p, const char *output, struct fbp_report *report)
{
    FBP_GIVEN(p, output);
    struct fbp_stop_scope scope = {.flag = &p->stop}, *const before = begin_run(p, &scope);
    const fbp_status st = agree(p, run_file(p, output, report));

    end_run(p, before);
    return st;
}

void fbp_plan_stop(fbp_plan *p)
{
    FBP_GIVEN_ELSE(, p);
    atomic_store(&p->stop, true);
}

void fbp_plan_timeline(fbp_plan *p, const char *path)
{
    FBP_GIVEN_ELSE(, p);
    p->timeline = path;
}

fbp_status fbp_plan_open(fbp_plan *p)
{
    FBP_GIVEN(p);
    fbp_message_clear();
    FBP_TRY(fbp_own_process(p->process, "plan"));
    if (p->workers.n)
        return FBP_OK;
    FBP_TRY(fbp_plan_open_rows(p));
    FBP_TRY(fbp_plan_open_steps(p));
    return fbp_workers_open(&p->workers, p->backend, fbp_plan_run_job(p), &p->work, p->devices,
                            p->n_devices);
}

fbp_status fbp_plan_alloc(fbp_plan *p, size_t bytes, void **out)
{
    FBP_GIVEN(p, out);
    *out = NULL;
    FBP_TRY(fbp_plan_open(p));
    return fbp_workers_alloc(&p->workers, bytes, out);
}

void fbp_plan_release(fbp_plan *p, void *memory)
{
    FBP_GIVEN_ELSE(, p);
    if (memory && p->process == getpid())
        fbp_workers_release(&p->workers, memory);
}

/* The output of a plan: opened, checked, converted, reported. */

/* As that of a process alone, whose devices scale values. */
uint64_t fbp_plan_job_fingerprint(const fbp_plan *p)
{
    struct fbp_job_tables tables = p->tables;

    if (p->sum) {
        tables.job.scale = p->sum->scale;
        tables.job.shift = p->sum->shift;
    }
    return fbp_job_fingerprint(&tables, p->backend);
}

fbp_status fbp_plan_fingerprint(const fbp_plan *p, const fbp_source *source, uint64_t *out)
{
    const struct fbp_array_info *info = &source->info;
    const uint64_t layout[] = {
        info->type, info->big_endian, info->n[0],        info->n[1],
        info->n[2], p->top_down,      p->scan->raw.type, p->scan->raw.header_bytes};
    const double values[] = {info->scale, info->offset};

    *out = 0;
    if (p->params.source || p->follow)
        return FBP_OK;
    uint64_t h = fbp_plan_job_fingerprint(p);
    h = fbp_hash(h, fbp_build(), strlen(fbp_build()));
    for (size_t i = 0; i < p->n_steps; i++)
        h = p->steps[i]->hash(p->steps[i], h);
    h = fbp_hash(h, layout, sizeof layout);
    h = fbp_hash(h, values, sizeof values);
    if (p->params.mask) {
        const double value =
            isnan(p->params.mask_value) ? NAN : p->params.mask_value; /* one of many */
        h = fbp_hash(h, &value, sizeof value);
    }
    h = fbp_preparation_hash(h, p->scan->preparation);
    FBP_TRY(fbp_inputs_hash(&h, &source->inputs));
    *out = h ? h : 1;
    return FBP_OK;
}

/* As planned; of an output that the plan did not know what memory is left. */
static uint64_t level_bytes(const fbp_plan *p)
{
    const uint64_t limit = p->info.memory_limit, planned = p->info.memory_bytes;

    return p->needs.level_bytes ? p->needs.level_bytes : limit > planned ? limit - planned : 1;
}

fbp_status fbp_plan_sink_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              const double *range, const struct fbp_sink_joint *joint,
                              fbp_sink **sink)
{
    const struct fbp_sink_joint part = {.part = p->params.part, .n_parts = p->params.n_parts};
    const struct fbp_grid *g = &p->info.volume;
    struct fbp_inputs inputs = {0};
    uint64_t hash = 0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_scan_inputs(&inputs, p->scan, source));
    FBP_TRY_GOTO(fbp_inputs_add(&inputs, p->tables.region_file));
    FBP_TRY_GOTO(fbp_plan_fingerprint(p, source, &hash));
    const struct fbp_sink_params params = {.struct_size = sizeof params,
                                           .resume = p->params.resume != 0 &&
                                                     (!p->params.auto_range || !range),
                                           .compress = p->params.compress != 0,
                                           .fingerprint = hash,
                                           .keep = (const char *const *)inputs.names,
                                           .n_keep = inputs.n,
                                           .type = p->params.output_type,
                                           .range = {range ? range[0] : 0, range ? range[1] : 0},
                                           .force = p->params.force != 0,
                                           .level_bytes = level_bytes(p)};
    struct fbp_array_info info = {.struct_size = sizeof info, .type = FBP_F32, .has_spacing = true};

    for (int i = 0; i < 3; i++) {
        info.n[i] = g->n[i];
        info.spacing_mm[i] = g->voxel_mm[i];
        /* of the whole volume, so that boxes of one volume lie exactly side by side */
        info.origin_mm[i] = fbp_grid_coordinate(&p->info.whole, i, (double)p->info.roi[i][0]);
    }
    info.frames = p->info.frames;
    info.n[2] *= info.frames;
    snprintf(info.history, sizeof info.history, "%s", p->info.prepared);
    snprintf(info.unit, sizeof info.unit, "%s", p->info.unit);
    if (part.n_parts)
        joint = &part;
    st = joint ? fbp_plan_joint_open(p, sink, output, &info, &params, joint)
               : (range ? fbp_sink_open : fbp_spool_open)(sink, output, &info, &params);
fail:
    fbp_inputs_clear(&inputs);
    return st;
}

/* Between slices of the conversion: does the user want to stop? */
static int stops(void *user)
{
    const fbp_plan *p = user;
    const struct fbp_progress now = {.struct_size = sizeof now,
                                     .done = p->info.updates,
                                     .total = p->info.updates,
                                     .views_read = p->tables.job.n_views,
                                     .slabs_done = p->info.n_slabs,
                                     .n_slabs = p->info.n_slabs};

    return p->params.progress ? p->params.progress(p->params.user, &now) : 0;
}

/* All floats are there: the output, by the range that they have. */
fbp_status fbp_plan_convert(fbp_plan *p, const fbp_source *source, const fbp_sink *values,
                            const char *output, const struct fbp_report *report, fbp_sink **out)
{
    const struct fbp_grid *g = &p->info.volume;
    const size_t slice = g->n[0] * g->n[1] * sizeof(float), room = p->info.memory_limit / 8 / slice;
    const size_t threads =
        p->workers.n ? 1 : (size_t)p->tables.job.n_threads; /* whose memory is free */
    double range[2] = {report->min, report->max};

    FBP_TRY(fbp_spool_range(values, range));
    FBP_TRY(fbp_plan_sink_open(p, source, output, range, NULL, out));
    return fbp_spool_copy(values, *out, room < 1 ? 1 : room < threads ? room : threads, stops, p);
}

fbp_status fbp_plan_check_sink(const fbp_plan *p, const fbp_sink *sink)
{
    const size_t *n = fbp_sink_info(sink)->n, *wanted = p->info.volume.n;
    const size_t slices = wanted[2] * p->info.frames;
    char frames[80] = "";

    if (n[0] == wanted[0] && n[1] == wanted[1] && n[2] == slices)
        return FBP_OK;
    if (p->info.frames > 1)
        snprintf(frames, sizeof frames, " (%zu frames of %zu slices)", p->info.frames, wanted[2]);
    return fbp_fail(FBP_ERR_INVALID,
                    "output: has %zu x %zu x %zu voxels, the plan's volume %zu x %zu x %zu%s: see "
                    "fbp_plan_info()",
                    n[0], n[1], n[2], wanted[0], wanted[1], slices, frames);
}

/* What became of the output. */
void fbp_plan_report_output(const fbp_sink *sink, struct fbp_report *report)
{
    const struct fbp_array_info *info = fbp_sink_info(sink);

    report->hash = fbp_sink_hash(sink);
    report->output_clipped += fbp_sink_clipped(sink); /* to those of other processes */
    report->output_scale = info->scale;
    report->output_offset = info->offset;
    if (info->scale != 0) {
        report->output_range[0] = info->offset;
        report->output_range[1] =
            info->offset + info->scale * (info->type == FBP_U8 ? UINT8_MAX : UINT16_MAX);
    }
}

void fbp_plan_say_what_is_left(const fbp_plan *p, fbp_sink *sink, const char *output)
{
    const size_t kept = fbp_sink_kept(sink), all = kept ? fbp_sink_info(sink)->n[2] : 0;

    fbp_message_clear();
    if (kept > 0 && p->params.n_parts)
        (void)!fbp_fail(FBP_ERR_CANCELLED,
                        "interrupted: %s is not complete, but %zu of %zu slices are kept: run part "
                        "%zu of %zu again",
                        output, kept, all, p->params.part, p->params.n_parts);
    else if (kept > 0)
        (void)!fbp_fail(FBP_ERR_CANCELLED,
                        "interrupted: nothing was written as %s, but %zu of %zu slices are kept: "
                        "--resume goes on from there",
                        output, kept, all);
    else
        (void)!fbp_fail(FBP_ERR_CANCELLED, "interrupted: nothing was written and nothing is kept");
}

/* A plan of one of several processes that compute a volume. */

static void mark_own(const fbp_plan *p, unsigned char *mine, size_t n)
{
    const struct fbp_job *job = &p->tables.job;

    for (size_t i = 0; i < n; i++)
        mine[i] = fbp_roi_is_own(job, i % fbp_roi_size(job, 2)) && fbp_plan_has_sum(p, i);
}

size_t fbp_plan_own_slices(const fbp_plan *p)
{
    const struct fbp_job *job = &p->tables.job;
    const size_t nz = fbp_roi_size(job, 2), volumes = fbp_volumes(job);
    size_t n = 0;

    if (!p->params.n_parts)
        return nz * volumes;
    for (size_t z = 0; z < nz; z++)
        n += fbp_roi_is_own(job, z);
    return n * volumes;
}

fbp_status fbp_plan_joint_open(const fbp_plan *p, fbp_sink **sink, const char *output,
                               const struct fbp_array_info *info,
                               const struct fbp_sink_params *params,
                               const struct fbp_sink_joint *joint)
{
    struct fbp_sink_joint own = *joint;
    unsigned char *mine = NULL;

    FBP_TRY(fbp_calloc((void **)&mine, info->n[2], 1, "a table of slices"));
    mark_own(p, mine, info->n[2]);
    own.mine = mine;
    const fbp_status st = fbp_sink_open_joint(sink, output, info, params, &own);
    free(mine);
    return st;
}

/* Slices of all frames that are not there. */
static size_t count_missing(const fbp_plan *p, const struct fbp_job *job)
{
    const size_t nz = fbp_roi_size(job, 2), all = nz * fbp_volumes(job);
    size_t n = 0;

    for (size_t i = 0; p->missing && i < all; i++)
        n += p->missing[i] && fbp_roi_is_own(job, i % nz);
    return n;
}

fbp_status fbp_plan_part(const fbp_plan *p, size_t part, struct fbp_part *out)
{
    FBP_GIVEN(p);
    const size_t n_parts = p->params.n_parts;
    struct fbp_part whole = {.struct_size = sizeof whole};
    struct fbp_job job = p->tables.job;
    const size_t box = fbp_roi_first(&job, 2);
    size_t first, n;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(part, out));
    if (part < 1 || part > n_parts)
        return fbp_fail(FBP_ERR_INVALID, "part %zu: the plan has %zu parts", part, n_parts);
    FBP_TRY(fbp_part_share(&job, (struct fbp_part_of){part, n_parts}, job.share));
    fbp_roi_slices(&job, &first, &n);
    whole.slices[0] = first - box;
    whole.slices[1] = first + n - box;
    const struct fbp_slab any = fbp_slab_asked(&job, 0, 1);
    whole.updates =
        fbp_wanted_voxels(&job, &any, first, first + n) * fbp_volumes(&job) * job.n_views;
    whole.missing = count_missing(p, &job);
    FBP_GIVE(part, out, &whole);
    return FBP_OK;
}

enum { NAMED = 12 };

/* "part 6" or "parts 3, 5, 9", as many as a line holds; "": those of another number of parts. */
static void name_missing(const fbp_plan *p, char *line, size_t n)
{
    char list[200] = "";
    size_t used = 0, count = 0;

    for (size_t k = 1; k <= p->params.n_parts && count <= NAMED; k++) {
        struct fbp_part part = {.struct_size = sizeof part};
        if (fbp_plan_part(p, k, &part) != FBP_OK || part.missing == 0)
            continue;
        if (count++ < NAMED)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu", used ? ", " : "", k);
    }
    snprintf(line, n, "part%s %s%s", count == 1 ? "" : "s", list, count > NAMED ? " ..." : "");
}

fbp_status fbp_plan_part_done(fbp_plan *p, const fbp_sink *sink, struct fbp_report *report)
{
    const size_t n = fbp_sink_info(sink)->n[2];
    char parts[300], line[500];

    report->slices_missing = fbp_sink_missing(sink);
    free(p->missing);
    p->missing = NULL;
    if (report->slices_missing == 0)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&p->missing, n, 1, "a table of slices"));
    for (size_t z = 0; z < n; z++)
        p->missing[z] = !fbp_sink_has(sink, z, 1);
    name_missing(p, parts, sizeof parts);
    snprintf(line, sizeof line,
             "%zu of %zu slices are not there yet: %s of %zu: the last part that is done gives the "
             "output its name; one that was killed has to be run again",
             report->slices_missing, n, parts, p->params.n_parts);
    fbp_plan_note(p, FBP_LOG_NOTE, line);
    return FBP_OK;
}

/* All in one: from memory to memory. */

static fbp_status open_sink(fbp_sink **out, enum fbp_type type, void *volume, const size_t n[3])
{
    return type == FBP_F64 ? fbp_sink_memory_double(out, volume, n)
                           : fbp_sink_memory(out, volume, n);
}

/* type: of views and volume. */
static fbp_status reconstruct(const struct fbp_scan *given, const struct fbp_recon_params *params,
                              enum fbp_type type, const void *views, void *volume,
                              struct fbp_report *report)
{
    const double start = fbp_seconds();
    struct fbp_scan whole, *const scan = &whole;
    struct fbp_recon_params p;
    struct fbp_reduction reduction;
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, scan, given));
    FBP_TRY(fbp_take_params(&p, params));
    fbp_reduction_of(scan, &reduction);
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {reduction.stored.n_columns, reduction.stored.n_rows, fbp_stored_views(scan)},
        .type = type,
        .row_order = scan->row_order};
    p.source = NULL;
    if (type == FBP_F64)
        p.precision = FBP_PRECISION_DOUBLE;
    FBP_TRY_GOTO(fbp_source_memory(&p.source, views, &info));
    FBP_TRY_GOTO(fbp_plan_create(&plan, scan, &p));
    const struct fbp_plan_summary *made = fbp_plan_info(plan);
    const size_t *v = made->volume.n, n[3] = {v[0], v[1], made->frames * v[2]};
    FBP_TRY_GOTO(open_sink(&sink, type, volume, n));
    FBP_TRY_GOTO(fbp_plan_run_to(plan, NULL, sink, report));
    if (report) /* one of its first fields, which every release has */
        report->total = fbp_seconds() - start;
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.source);
    return st;
}

fbp_status fbp_reconstruct(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                           const float *views, float *volume, struct fbp_report *report)
{
    FBP_GIVEN(views, volume);
    return reconstruct(scan, params, FBP_F32, views, volume, report);
}

fbp_status fbp_reconstruct_double(const struct fbp_scan *scan,
                                  const struct fbp_recon_params *params, const double *views,
                                  double *volume, struct fbp_report *report)
{
    FBP_GIVEN(views, volume);
    return reconstruct(scan, params, FBP_F64, views, volume, report);
}
