/* Detector rows that slices need, and reconstruction of a slice into a picture. Called by
 * cmd_recon.c. */
#include "recon.h"

#include "geometry/kind.h"
#include "scan/file/scan.h"

#include <stdlib.h>

int recon_rows(const struct fbp_scan *scan, const struct fbp_plan_summary *plan, size_t rows[2])
{
    const fbp_status st = fbp_geometry_rows(fbp_scan_views(scan), 0, scan->n_views, &plan->whole,
                                            plan->box[2][0], plan->box[2][1], &rows[0], &rows[1]);
    return st == FBP_OK ? 0 : cli_fail();
}

/* Write the slice as a picture; if there are several frames, the first one. */
static fbp_status draw(const struct fbp_grid *g, const float *values, const char *path,
                       double shown[2])
{
    struct fbp_array_info info = {.struct_size = sizeof info,
                                  .n = {g->n[0], g->n[1], g->n[2]},
                                  .type = FBP_F32,
                                  .has_spacing = true,
                                  .spacing_mm = {g->voxel_mm[0], g->voxel_mm[1], g->voxel_mm[2]}};
    fbp_source *source = NULL;
    fbp_status st = fbp_source_memory(&source, values, &info);

    if (st == FBP_OK)
        st = fbp_picture_write("the slice", path,
                               fbp_picture_params(.source = source, .shown = shown));
    fbp_source_close(&source);
    return st;
}

fbp_status recon_picture(fbp_plan *plan, const char *path, struct fbp_report *report,
                         double shown[2])
{
    const struct fbp_grid *g = &fbp_plan_info(plan)->volume;
    const size_t n[3] = {g->n[0], g->n[1], g->n[2] * fbp_plan_info(plan)->time_points};
    float *values = malloc(n[0] * n[1] * n[2] * sizeof *values);
    fbp_sink *sink = NULL;
    fbp_status st = values ? fbp_sink_memory(&sink, values, FBP_F32, n) : FBP_ERR_NOMEM;

    if (st == FBP_OK)
        st = fbp_plan_run_to(plan, NULL, sink, report);
    if (st == FBP_OK)
        st = draw(g, values, path, shown);
    fbp_sink_close(&sink);
    free(values);
    return st;
}
