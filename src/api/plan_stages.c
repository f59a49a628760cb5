/* A plan of two stages: the job that is divided and run is that of the pictures, and what is read
 * is a source of them. */
#include "api/plan.h"

fbp_status fbp_plan_make_stages(fbp_plan *p)
{
    if (p->params.stages < 2)
        return FBP_OK;
    return fbp_stages_create(&p->stages, p->scan, &p->params, p->backend, p->top_down);
}

fbp_status fbp_plan_make_job(fbp_plan *p, const struct fbp_scan *scan)
{
    struct fbp_recon_params second = p->params;

    if (!p->stages.used)
        return fbp_job_create(&p->tables, scan, &p->params, p->top_down);
    second.volume = (struct fbp_grid){0}; /* the scan of the pictures has it */
    second.interpolation = FBP_INTERPOLATION_LINEAR;
    second.periodic = 0;
    return fbp_job_create(&p->tables, &p->stages.scan, &second, false);
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

fbp_status fbp_plan_report_stages(const fbp_plan *p, struct fbp_report *report)
{
    struct fbp_prep_counts counts = {0};

    if (!p->pictures)
        return FBP_OK;
    FBP_TRY(fbp_pictures_counts(p->pictures, &counts));
    report->not_finite = counts.not_finite;
    report->clipped = counts.clipped;
    return FBP_OK;
}
