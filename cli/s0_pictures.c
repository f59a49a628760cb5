/* Figure 6 of the paper: the same slice from the fast way and from the reference. */
#include "s0.h"

#include <stdlib.h>

/* Grey values of the head: the skull (1/mm) is white, the brain and its tumours are told apart. */
static const double WINDOW[2] = {0, 0.4};

/* One slice of a volume as a volume of its own. */
static fbp_status cut_slice(const char *volume, size_t z, const char *out)
{
    fbp_source *source = NULL;
    fbp_sink *sink = NULL;
    float *values = NULL;
    fbp_status st = fbp_source_open(&source, volume, NULL);

    if (st == FBP_OK) {
        struct fbp_array_info info = *fbp_source_info(source);
        values = malloc(info.n[0] * info.n[1] * sizeof *values);
        if (!values)
            st = FBP_ERR_NOMEM;
        info.origin_mm[2] += (double)z * info.spacing_mm[2];
        info.n[2] = 1;
        if (st == FBP_OK)
            st = fbp_source_read(source, z, 1, 0, info.n[1], values);
        if (st == FBP_OK)
            st = fbp_sink_open(&sink, out, &info, NULL);
    }
    if (st == FBP_OK)
        st = fbp_sink_write(sink, 0, 1, values);
    if (st == FBP_OK)
        st = fbp_sink_finish(sink);
    fbp_sink_close(&sink);
    fbp_source_close(&source);
    free(values);
    return st;
}

/* The same slice by `ref`: a volume of one slice, at its place. */
static fbp_status reference_slice(const struct s0_picture *p, size_t z, const char *out)
{
    struct fbp_scan scan = *p->scan; /* shares what the scan owns */
    struct fbp_recon_params params = *p->params;
    fbp_plan *plan = NULL;

    scan.volume.centre_mm[2] = fbp_grid_coordinate(&p->scan->volume, 2, (double)z);
    scan.volume.n[2] = 1;
    params.device = "ref";
    params.kernel = NULL;
    fbp_status st = fbp_plan_create(&plan, &scan, &params);
    if (st == FBP_OK)
        st = fbp_plan_run(plan, out, NULL);
    fbp_plan_destroy(&plan);
    return st;
}

static fbp_status draw(const char *slice, const struct s0_picture *p, const char *name,
                       const char *device)
{
    char png[600];

    if (snprintf(png, sizeof png, "%s/S0-%s-%s.png", p->dir, name, device) >= (int)sizeof png)
        return FBP_ERR_INVALID;
    return fbp_view_write(slice, png, fbp_view_params(.lo = WINDOW[0], .hi = WINDOW[1]));
}

int s0_draw(const struct s0_picture *p, struct s0_result *r)
{
    const size_t z = p->scan->volume.n[2] / 2;
    char ours[500], theirs[500];
    struct fbp_comparison c;

    snprintf(ours, sizeof ours, "%s/slice.mha", p->work_dir);
    snprintf(theirs, sizeof theirs, "%s/slice-ref.mha", p->work_dir);
    if (cut_slice(p->volume, z, ours) != FBP_OK || reference_slice(p, z, theirs) != FBP_OK ||
        fbp_compare(ours, theirs, 0, &c) != FBP_OK ||
        draw(ours, p, r->of->name, r->backend) != FBP_OK ||
        draw(theirs, p, r->of->name, "ref") != FBP_OK)
        return cli_fail();
    r->rmse = c.rmse;
    r->psnr_db = c.psnr_db;
    return 0;
}
