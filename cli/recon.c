#include "recon.h"

const char *const recon_filters[] = {"ram-lak", "shepp-logan", "cosine", "hamming", "hann", NULL};
const char *const recon_weights[] = {"", "auto", "equal", NULL};
const char *const recon_precisions[] = {"", "exact", "fast", "half", NULL};

/* --size and --voxel replace the scan's keys one by one, as the scan file's own keys would. */
static void choose_volume(struct recon_args *a, const struct fbp_scan *scan)
{
    struct fbp_grid *g = &a->p.volume;

    if (a->size[0] == 0 && a->voxel[0] <= 0)
        return;
    *g = scan->volume;
    if (g->n[0] == 0)
        fbp_grid_default(scan->views, scan->n_views, scan->kind, &scan->panel, g);
    for (int i = 0; i < 3; i++) {
        if (a->size[0] != 0)
            g->n[i] = a->size[i];
        if (a->voxel[0] > 0)
            g->voxel_mm[i] = a->voxel[i];
    }
    /* "--size N" means N x N where one detector row measures one slice. */
    if (scan->panel.n_rows == 1 && a->size[0] == a->size[2] && a->size[0] == a->size[1])
        g->n[2] = 1;
}

int recon_prepare(struct recon_args *a, struct fbp_scan *scan, fbp_plan **plan)
{
    *plan = NULL;
    if (a->p.half_width > 0)
        a->p.spatial_filter = 1;
    if (fbp_scan_load(scan, a->scan) != FBP_OK)
        return cli_fail();
    choose_volume(a, scan);
    return fbp_plan_create(plan, scan, &a->p) == FBP_OK ? 0 : cli_fail();
}
