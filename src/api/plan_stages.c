/* A plan of two stages: the job that is divided and run is that of the pictures, and what is read
 * is a source of them. */
#include "api/plan.h"

#include <stdio.h>
#include <string.h>

/* The scan that is filtered: what was measured, corrected, or resampled. */
static const struct fbp_scan *filtered_scan(const fbp_plan *p)
{
    return p->rectify.used  ? &p->rectify.scan
           : p->ahead.used  ? &p->ahead.scan
           : p->angles.used ? &p->angles.scan
                            : p->scan;
}

static fbp_status make_rectify(fbp_plan *p)
{
    FBP_TRY(fbp_rectify_create(&p->rectify, filtered_scan(p), &p->params.volume, p->top_down));
    fbp_rectify_describe(&p->rectify, p->info.prepared, sizeof p->info.prepared);
    if (p->rectify.warning[0])
        fbp_plan_note(p, FBP_LOG_WARNING, p->rectify.warning);
    return FBP_OK;
}

static fbp_status make_angles(fbp_plan *p)
{
    if (p->params.angles == 0)
        return FBP_OK;
    if (p->params.follow)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "angles: resampling needs all views at once, and does not follow a scan: "
                        "leave one of the two out");
    return fbp_angles_create(&p->angles, p->scan, p->params.angles, p->params.ring_interpolation);
}

fbp_status fbp_plan_make_stages(fbp_plan *p)
{
    FBP_TRY(fbp_plan_make_ahead(p));
    FBP_TRY(make_angles(p));
    FBP_TRY(make_rectify(p));
    if (p->params.stages < 2)
        return FBP_OK;
    return fbp_stages_create(&p->stages, filtered_scan(p), &p->params, p->backend, p->top_down);
}

fbp_status fbp_plan_make_job(fbp_plan *p)
{
    struct fbp_recon_params second = p->params;

    if (!p->stages.used)
        return fbp_job_create(&p->tables, filtered_scan(p), &p->params, p->top_down);
    second.volume = (struct fbp_grid){0}; /* the scan of the pictures has it */
    second.interpolation = FBP_INTERPOLATION_LINEAR;
    second.periodic = 0;
    second.unit = FBP_UNIT_MM; /* it is that of what was measured, not of the pictures */
    FBP_TRY(fbp_job_create(&p->tables, &p->stages.scan, &second, false));
    p->tables.job.scale = p->stages.first.job.scale;
    p->tables.job.second = true;
    p->tables.job.series = fbp_frames(&p->stages.first.job);
    p->tables.job.rows_are_slices = p->stages.planes.pole == 2;
    return FBP_OK;
}

fbp_status fbp_plan_source_stages(fbp_plan *p, const fbp_source *stored, fbp_source **source)
{
    p->mended = (struct fbp_prep_counts){0};
    p->ahead_done = (struct fbp_ahead_done){0};
    if (p->ahead.as_read)
        FBP_TRY(fbp_source_retrieved(source, &p->ahead, *source, *source != stored,
                                     &p->ahead_done.mended));
    else if (p->ahead.used)
        FBP_TRY(
            fbp_source_corrected(source, &p->ahead, *source, *source != stored, &p->ahead_done));
    if (p->rectify.used)
        FBP_TRY(fbp_source_rectified(source, &p->rectify, *source, *source != stored,
                                     p->ahead.used ? NULL : &p->ahead_done.mended));
    if (p->angles.used)
        FBP_TRY(fbp_source_resampled(source, &p->angles, *source, *source != stored, &p->mended));
    if (p->stages.used)
        FBP_TRY(fbp_source_pictures(source, p->pictures, &p->stages, *source, *source != stored));
    return FBP_OK;
}

void fbp_plan_describe_stages(const fbp_plan *p, char *line, size_t n)
{
    const size_t used = strlen(line);

    if (p->angles.used)
        snprintf(line + used, n - used, "; rings and their weights resampled to %zu angles (%s)",
                 p->angles.n, fbp_ring_interpolation_name(p->angles.how));
    if (p->stages.used)
        fbp_stages_describe(&p->stages, line + strlen(line), n - strlen(line));
}

fbp_status fbp_plan_open_stages(fbp_plan *p)
{
    return p->stages.used && !p->pictures ? fbp_pictures_open(&p->pictures, &p->stages) : FBP_OK;
}

void fbp_plan_stages_look(const fbp_plan *p, fbp_look *look)
{
    if (p->pictures)
        fbp_pictures_look(p->pictures, look);
}

/* Of those that share a slab, the first one counts what each of them prepares: all views, but where
 * views are prepared as they are read. */
fbp_status fbp_plan_count_ahead(const fbp_plan *p, struct fbp_prep_counts *out)
{
    *out = (struct fbp_prep_counts){0};
    if (p->ranks.idle)
        return FBP_OK;
    if (p->pictures && p->ranks.part == 0)
        FBP_TRY(fbp_pictures_counts(p->pictures, out));
    if (p->ahead.as_read || (p->rectify.used && !p->ahead.used) || p->ranks.part == 0) {
        out->not_finite += p->ahead_done.mended.not_finite;
        out->clipped += p->ahead_done.mended.clipped;
    }
    if (p->ranks.part == 0)
        out->not_finite += p->mended.not_finite;
    return FBP_OK;
}

fbp_status fbp_plan_report_stages(const fbp_plan *p, struct fbp_report *report)
{
    struct fbp_prep_counts counts = {0};

    if (p->pictures) /* which are read by the second stage, as they are */
        report->not_finite = report->clipped = 0;
    if (!p->params.team) /* whose processes find that out at the end */
        FBP_TRY(fbp_plan_count_ahead(p, &counts));
    report->not_finite += counts.not_finite;
    report->clipped += counts.clipped;
    report->ahead = p->ahead_done.seconds;
    if (p->ahead_done.no_rings)
        fbp_plan_note(p, FBP_LOG_NOTE, "rings: no rings were found: the views are left unchanged");
    return FBP_OK;
}
