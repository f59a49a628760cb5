/* Draws Fig. 6 of Okitsu et al. (2008): the middle slice from the device and from `ref`, and
 * their difference. Called by command.c for --pictures.
 * Used by: command.c. */
#include "bench/papers/okitsu2008/text.h"

#include <stdlib.h>

/* Window of the head [1/mm]: the skull is white, brain and tumours have different grey values. */
static const double WINDOW[2] = {0, 0.4};

/* Slice z of a volume; *values is to be freed. */
static fbp_status read_slice(const char *volume, size_t z, struct fbp_array_info *info,
                             float **values)
{
    fbp_source *source = NULL;
    fbp_status st = fbp_source_open(&source, volume, NULL);

    *values = NULL;
    if (st == FBP_OK) {
        *info = *fbp_source_info(source);
        *values = malloc(info->n[0] * info->n[1] * sizeof **values);
        st = *values ? fbp_source_read(source, z, 1, 0, info->n[1], FBP_F32, *values)
                     : FBP_ERR_NOMEM;
    }
    fbp_source_close(&source);
    return st;
}

static fbp_status write_slice(const char *out, const struct fbp_array_info *info,
                              const float *values)
{
    fbp_sink *sink = NULL;
    fbp_status st = fbp_sink_open(&sink, out, info, NULL);

    if (st == FBP_OK)
        st = fbp_sink_write(sink, 0, 1, FBP_F32, values);
    if (st == FBP_OK)
        st = fbp_sink_finish(sink);
    fbp_sink_close(&sink);
    return st;
}

/* Slice z of a volume, and its difference from a volume of one slice, as volumes of one slice. */
static fbp_status write_slices(const char *volume, size_t z, const char *theirs, const char *ours,
                               const char *difference)
{
    struct fbp_array_info info = {.struct_size = sizeof info};
    float *a, *b = NULL;
    fbp_status st = read_slice(volume, z, &info, &a);

    if (st == FBP_OK)
        st = read_slice(theirs, 0, &info, &b);
    if (st == FBP_OK)
        st = write_slice(ours, &info, a);
    for (size_t i = 0; st == FBP_OK && i < info.n[0] * info.n[1]; i++)
        a[i] -= b[i];
    if (st == FBP_OK)
        st = write_slice(difference, &info, a);
    free(a);
    free(b);
    return st;
}

/* Reconstruct one slice of the volume by `ref`. */
static fbp_status reference_slice(const struct s0_picture *p, size_t z, const char *out)
{
    struct fbp_scan scan = *p->scan; /* shares what the scan owns */
    struct fbp_recon_params params = *p->params;
    fbp_plan *plan = NULL;

    scan.volume.centre_mm[2] = fbp_grid_coordinate(&p->scan->volume, 2, (double)z);
    scan.volume.n[2] = 1;
    params.device = "ref";
    params.tuning.kernel = NULL;
    fbp_status st = fbp_plan_create(&plan, &scan, &params);
    if (st == FBP_OK)
        st = fbp_plan_run(plan, out, NULL);
    fbp_plan_destroy(&plan);
    return st;
}

/* Write a picture S0-CASE-WHAT.png, black at lo and white at hi. */
static fbp_status draw(const char *slice, const struct s0_picture *p, const char *name,
                       const char *what, double lo, double hi)
{
    char png[600];

    if (snprintf(png, sizeof png, "%s/S0-%s-%s.png", p->dir, name, what) >= (int)sizeof png)
        return FBP_ERR_INVALID;
    return fbp_picture_write(slice, png, fbp_picture_params(.lo = lo, .hi = hi));
}

int s0_draw(const struct s0_picture *p, struct s0_result *r)
{
    const size_t z = p->scan->volume.n[2] / 2;
    char ours[500], theirs[500], difference[500];
    char what[64];
    struct fbp_comparison c = {.struct_size = sizeof c};

    snprintf(ours, sizeof ours, "%s/slice.mha", p->work_dir);
    snprintf(theirs, sizeof theirs, "%s/slice-ref.mha", p->work_dir);
    snprintf(difference, sizeof difference, "%s/difference.mha", p->work_dir);
    snprintf(what, sizeof what, "%s-difference", r->backend);
    if (reference_slice(p, z, theirs) != FBP_OK ||
        write_slices(p->volume, z, theirs, ours, difference) != FBP_OK ||
        fbp_array_compare(ours, theirs, 0, &c) != FBP_OK)
        return cli_fail();
    r->rmse = c.rmse;
    r->psnr_db = c.psnr_db;
    r->max = c.max;
    const double most = r->max > 0 ? r->max : 1; /* slices that differ nowhere are drawn grey */
    if (draw(ours, p, r->of->name, r->backend, WINDOW[0], WINDOW[1]) != FBP_OK ||
        draw(theirs, p, r->of->name, "ref", WINDOW[0], WINDOW[1]) != FBP_OK ||
        draw(difference, p, r->of->name, what, -most, most) != FBP_OK)
        return cli_fail();
    return 0;
}
