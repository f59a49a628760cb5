#include "recon.h"

const char *const recon_filters[] = {"ram-lak", "shepp-logan", "cosine", "hamming", "hann", NULL};
const char *const recon_weights[] = {"", "auto", "equal", NULL};
const char *const recon_precisions[] = {"", "exact", "fast", "half", NULL};

/* The scan as it should have been read: fbp geometry check says what a flip changes. */
static void flip(const struct recon_args *a, struct fbp_scan *scan)
{
    fbp_views_flip(scan->views, scan->n_views, cli_flips(a->flip_u, a->flip_v, a->reverse));
}

fbp_status recon_centre(struct fbp_scan *scan, double column)
{
    double P[12], now = 0;

    for (size_t k = 0; k < scan->n_views; k++) {
        const fbp_status st = fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P);
        if (st != FBP_OK)
            return st;
        now += P[3] / P[11] / (double)scan->n_views;
    }
    for (size_t k = 0; k < scan->n_views; k++)
        for (int i = 0; i < 3; i++)
            scan->views[k].d[i] += (now - column) * scan->views[k].u[i];
    return FBP_OK;
}

int recon_load(const struct recon_args *a, struct fbp_scan *scan)
{
    if ((a->p.follow ? fbp_scan_load_growing : fbp_scan_load)(scan, a->scan) != FBP_OK)
        return cli_fail();
    flip(a, scan);
    if (!isnan(a->centre) && recon_centre(scan, a->centre) != FBP_OK)
        return cli_fail();
    return 0;
}

int recon_prepare(struct recon_args *a, struct fbp_scan *scan, fbp_plan **plan)
{
    *plan = NULL;
    if (a->p.half_width > 0)
        a->p.spatial_filter = 1;
    if (recon_load(a, scan) != 0)
        return 1;
    for (int i = 0; i < 3; i++) { /* what is not given, the library completes */
        a->p.volume.n[i] = a->size[i];
        a->p.volume.voxel_mm[i] = a->voxel[i];
    }
    return fbp_plan_create(plan, scan, &a->p) == FBP_OK ? 0 : cli_fail();
}
