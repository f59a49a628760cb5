#include "recon.h"

const char *const recon_filters[] = {"ram-lak", "shepp-logan", "cosine", "hamming", "hann", NULL};
const char *const recon_weights[] = {"", "auto", "equal", NULL};
const char *const recon_precisions[] = {"", "exact", "fast", "half", NULL};

/* The scan as it should have been read: fbp geometry check says what a flip changes. */
static void flip(const struct recon_args *a, struct fbp_scan *scan)
{
    fbp_views_flip(scan->views, scan->n_views, cli_flips(a->flip_u, a->flip_v, a->reverse));
}

int recon_prepare(struct recon_args *a, struct fbp_scan *scan, fbp_plan **plan)
{
    *plan = NULL;
    if (a->p.half_width > 0)
        a->p.spatial_filter = 1;
    if ((a->p.follow ? fbp_scan_load_growing : fbp_scan_load)(scan, a->scan) != FBP_OK)
        return cli_fail();
    flip(a, scan);
    for (int i = 0; i < 3; i++) { /* what is not given, the library completes */
        a->p.volume.n[i] = a->size[i];
        a->p.volume.voxel_mm[i] = a->voxel[i];
    }
    return fbp_plan_create(plan, scan, &a->p) == FBP_OK ? 0 : cli_fail();
}
