/* All in one: from memory to memory. */
#include "api/plan.h"

#include "base/clock.h"
#include "base/sizes.h"
#include "plan/params.h"

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
