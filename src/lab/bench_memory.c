#include "lab/bench_memory.h"

#include "base/status.h"

fbp_status fbp_bench_sink(const fbp_plan *plan, float *out, fbp_sink **sink)
{
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    const size_t *n = info->volume.n, frames = info->frames > 1 ? info->frames : 1;

    return fbp_sink_memory(sink, out, (const size_t[3]){n[0], n[1], frames * n[2]});
}

static fbp_status run(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                      float *out)
{
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_plan_create(&plan, scan, params));
    FBP_TRY_GOTO(fbp_bench_sink(plan, out, &sink));
    FBP_TRY_GOTO(fbp_plan_run_to(plan, NULL, sink, NULL));
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    return st;
}

fbp_status fbp_bench_reconstruct(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                                 const float *views, float *out)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {scan->panel.n_columns, scan->panel.n_rows, scan->n_views},
        .type = FBP_F32};
    struct fbp_recon_params p = *params;

    if (views)
        FBP_TRY(fbp_source_memory(&p.source, views, &info));
    const fbp_status st = run(scan, &p, out);
    if (views)
        fbp_source_close(&p.source);
    return st;
}
