/* Notes and warnings about a plan, and about the views that a run has read.
 *
 * plan.c calls fbp_plan_log_remarks(), plan_run.c calls fbp_plan_report_data_check().  Both send
 * lines to the caller's log. */
#include "pipeline/plan.h"

#include "array/array.h"
#include "array/file/format.h"
#include "base/text.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "pipeline/job.h"
#include "prep/prep.h"
#include "scan/file/scan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fbp_plan_log_remarks(const fbp_plan *p)
{
    static const double MOST = 8; /* line integral of 0.03 % of the intensity */
    static const char *const boxes[] = {"column", "matrix"}; /* kernels; the fastest first */
    const struct fbp_job *measured = &fbp_plan_measured(p)->job;
    const struct fbp_prep *prep = fbp_plan_prep(p);
    const struct fbp_recon_params *params = &p->params;
    const bool asks_for_filter = params->filter != FBP_FILTER_RAM_LAK || params->cutoff > 0 ||
                                 params->filtering.cutoff_v > 0 || params->filtering.spatial ||
                                 params->filtering.half_width > 0 || params->pad ||
                                 params->epr.oversampling > 1 || params->epr.wiener > 0 ||
                                 params->epr.periodic || params->epr.response ||
                                 params->filtering.angular_weights != FBP_ANGULAR_DEFAULT;
    struct fbp_corrections c;
    char line[600], bytes[32];

    /* the scan */
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
        fbp_plan_note(p, FBP_LOG_NOTE, "%zu bad pixels are excluded from the means",
                      prep->n_left_out);
    /* A polynomial that falls within the usual range of line integrals was fitted to objects that
     * are too thin. */
    const double turn =
        fbp_corrections_of(p->scan, &c) == FBP_OK ? fbp_corrections_turn(&c, MOST) : 0;
    if (turn > 0)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "beam hardening: the polynomial decreases above a line integral of %.3g, so "
                      "thicker objects would appear thinner; fit it to all thicknesses in the scan",
                      turn);
    /* the warnings that `fbp geometry check` prints */
    for (size_t i = 0;
         fbp_scan_remark(p->scan, &measured->facts, &p->info.volume, i, line, sizeof line); i++)
        fbp_plan_note(p, FBP_LOG_WARNING, "%s", line);

    /* parameters that have no effect */
    if (!p->backend->can.precisions &&
        (params->precision == FBP_PRECISION_FAST || params->precision == FBP_PRECISION_HALF))
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "device %s has only the precision exact; --precision has no effect",
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

    /* memory that is too small */
    if (p->follow && p->work.n_slabs > p->n_devices)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "only %zu of %zu slabs of the volume fit into memory; only these are "
                      "computed during the scan, and the others after the last view; raise "
                      "--memory or --device-memory to finish sooner",
                      p->n_devices, p->work.n_slabs);
    if (p->in_order && !p->hold && !p->follow && !fbp_plan_corrections(p) && p->work.n_slabs >= 3)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "the compressed file %.120s is decompressed %zu times, once per slab; raise "
                      "--memory, or decompress it",
                      fbp_plan_source_name(p), p->work.n_slabs);
    if (fbp_plan_retrievals(p) > 1)
        fbp_plan_note(p, FBP_LOG_NOTE,
                      "the views do not fit into memory together with the volume, so they are "
                      "read, and phases retrieved, %zu times, once per slab; raise --memory, or "
                      "name a folder for the views with --scratch",
                      fbp_plan_retrievals(p));
    if (p->unpacked_needs) { /* a compressed scan changes the kernel */
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
    if (fbp_box_crops(&p->tables.job) && !p->tables.region) { /* whole slices, smaller box */
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

/* Warn about `count` repaired samples.  Their percentage is added only if the whole volume was
 * computed by this process, because then all samples were checked. */
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

/* The rows to search, of the measured views, which are below the steps.  False: these views have no
 * lines, can be read only once, or are in a device's memory. */
static bool searchable(const fbp_plan *p, fbp_source *source, struct fbp_sample_check *c)
{
    const struct fbp_job *job = &fbp_plan_measured(p)->job;
    const struct fbp_prep *prep = fbp_plan_prep(p);
    size_t z0, n, end;

    *c = (struct fbp_sample_check){.prep = prep, .top_down = p->top_down, .source = source};
    for (size_t i = 0; i < p->n_steps && !p->steps[i]->measured && c->source->below; i++)
        c->source = c->source->below;
    const fbp_source *root = c->source;
    while (root->below)
        root = root->below;
    if (job->input.filtered || !fbp_kind_has_lines(job->kind) || fbp_source_in_order(c->source) ||
        (root->inputs.n == 0 && (!fbp_source_samples(root) || fbp_source_device(root))))
        return false;
    fbp_box_slices(job, &z0, &n);
    job->rows(job, 0, job->n_views, z0, z0 + n, &c->row0, &end);
    c->n_rows = end - c->row0;
    /* a step may yield rows of another detector */
    if (p->n_steps > (fbp_plan_corrections(p) != NULL) ||
        (!fbp_box_crops(job) && 2 * c->n_rows > job->panel.n_rows)) { /* nearly all */
        c->row0 = 0;
        c->n_rows = prep->panel.n_rows;
    }
    return true;
}

static void *search_main(void *arg)
{
    struct fbp_sample_search *s = arg;
    struct fbp_cancel_scope scope = {.flag = s->stop};

    fbp_message_clear();
    (void)fbp_cancel_scope(&scope);
    s->status = fbp_check_samples(&s->check);
    (void)fbp_cancel_scope(NULL);
    snprintf(s->message, sizeof s->message, "%s", fbp_message());
    return NULL;
}

void fbp_plan_search_begin(const fbp_plan *p, fbp_source *source, struct fbp_sample_search *s)
{
    s->wanted = searchable(p, source, &s->check);
    s->stop = fbp_cancel_flag();
    s->has_thread = s->wanted && fbp_source_samples(s->check.source) &&
                    pthread_create(&s->thread, NULL, search_main, s) == 0;
}

void fbp_plan_search_end(struct fbp_sample_search *s)
{
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    s->has_thread = false;
    free(s->check.bad);
    s->check.bad = NULL;
}

/* Report bad pixels that no map lists, and saturated air. */
static fbp_status report_samples(const fbp_plan *p, struct fbp_sample_search *s,
                                 struct fbp_report *report)
{
    const struct fbp_sample_check *c = &s->check;
    const char *white = fbp_scan_has_image(p->scan, FBP_IMAGE_FLAT) ? "the flat" : "i0";

    report->repaired_pixels = fbp_plan_prep(p)->n_bridges;
    if (!s->wanted)
        return FBP_OK;
    if (!s->has_thread)
        s->status = fbp_check_samples(&s->check);
    else if (fbp_plan_search_end(s), s->status != FBP_OK)
        fbp_message_adopt(s->message);
    FBP_TRY(s->status);
    report->bad_pixels = c->n_bad;
    report->saturated = c->n_flat;
    if (c->n_bad > 0)
        fbp_plan_note(p, FBP_LOG_WARNING,
                      "found %zu dead, stuck, hot or saturated pixels in %d views that bad_pixels "
                      "does not list; expect rings and wrong values, use --bad-pixels auto, or "
                      "list them in bad_pixels",
                      c->n_bad, FBP_CHECK_VIEWS);
    if (c->n_flat == 0)
        return FBP_OK;
    report->saturated_value = c->flat_top;
    report->saturated_share = (double)c->n_flat / (double)c->n_samples;
    fbp_plan_note(p, FBP_LOG_WARNING,
                  "%zu samples (%.2g %% of %d views) have the greatest value, %.7g, which is below "
                  "%s, so the detector is saturated in air, or %s is too large; values at the "
                  "object's edge are wrong; reduce the exposure, or correct %s",
                  c->n_flat, 100 * report->saturated_share, FBP_CHECK_VIEWS, c->flat_top, white,
                  white, white);
    return FBP_OK;
}

/* Report the checks of the views.  Returns FBP_ERR_INVALID if no view has any data. */
fbp_status fbp_plan_report_data_check(const fbp_plan *p, fbp_data_check *check, fbp_source *source,
                                      struct fbp_sample_search *search, struct fbp_report *report)
{
    char line[800];

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

    FBP_TRY(report_samples(p, search, report));
    const bool padded = p->tables.job.filtering.pad;
    fbp_data_check_truncated(report, p->scan->n_views, padded, line, sizeof line);
    fbp_plan_note(p, padded ? FBP_LOG_NOTE : FBP_LOG_WARNING, "%s", line);
    return FBP_OK;
}
