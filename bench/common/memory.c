/* Reconstructions by an ordinary plan from memory to memory; commands of the papers and bench
 * host compare their volumes with these.
 * Used by: bench/host/, bench/papers/ino2009/, bench/papers/ino2010/, bench/papers/zinsser2013/. */
#include "bench/common/memory.h"

#include "fbp/device_memory.h"

#include "base/base.h"

/* Sides of an array with all frames of the volume, one after another along z. */
static void size_of(const struct fbp_plan_summary *info, size_t n[3])
{
    n[0] = info->volume.n[0];
    n[1] = info->volume.n[1];
    n[2] = (info->time_points > 1 ? info->time_points : 1) * info->volume.n[2];
}

fbp_status fbp_bench_sink(const fbp_plan *plan, float *out, fbp_sink **sink)
{
    size_t n[3];

    size_of(fbp_plan_info(plan), n);
    return fbp_sink_memory(sink, out, FBP_F32, n);
}

fbp_status fbp_bench_device_sink(const fbp_plan *plan, float *out, fbp_sink **sink)
{
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    size_t n[3];

    size_of(info, n);
    return fbp_sink_device_memory(sink, out, FBP_F32, n, info->backend, NULL);
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
        FBP_TRY(fbp_source_memory(&p.input.source, views, &info));
    const fbp_status st = run(scan, &p, out);
    if (views)
        fbp_source_close(&p.input.source);
    return st;
}
