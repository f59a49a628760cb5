#include "recon.h"

const char *const recon_filters[] = {"ram-lak", "shepp-logan", "cosine", "hamming", "hann", NULL};
const char *const recon_weights[] = {"", "auto", "equal", NULL};
const char *const recon_precisions[] = {"", "exact", "fast", "half", NULL};

/* As enum fbp_type. */
const char *const recon_output_types[] = {"", "uint8", "", "uint16", "", "", "", "float32", NULL};

/* Pictures; the library looks after volumes. */
static int keep_inputs(const struct recon_args *a, const struct fbp_scan *scan)
{
    const char *const outputs[] = {a->preview, a->timeline, a->curve,
                                   a->sweep || recon_is_picture(a) ? a->output : NULL};

    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i] && fbp_scan_reads(scan, outputs[i]))
            return cli_error("%s: is read for this reconstruction, or would be next time: choose "
                             "another name",
                             outputs[i]);
    return 0;
}

/* The scan as it should have been read: fbp geometry check says what a flip changes. */
static void flip(const struct recon_args *a, struct fbp_scan *scan)
{
    fbp_views_flip(scan->views, scan->n_views, cli_flips(a->flip_u, a->flip_v, a->reverse));
}

int recon_load(const struct recon_args *a, struct fbp_scan *scan)
{
    if ((a->p.follow ? fbp_scan_load_growing : fbp_scan_load)(scan, a->scan) != FBP_OK)
        return cli_fail();
    flip(a, scan);
    return keep_inputs(a, scan);
}

int recon_grid(const struct recon_args *a, const struct fbp_scan *scan, struct fbp_grid *out)
{
    struct fbp_grid wanted = {0};

    for (int i = 0; i < 3; i++) { /* what is not given, the library completes */
        wanted.n[i] = a->size[i];
        wanted.voxel_mm[i] = a->voxel[i];
    }
    fbp_grid_resolve(&wanted, scan, out);
    if (a->slice != SIZE_MAX && a->slice >= out->n[2])
        return cli_error("--slice %zu: the volume has slices 0 to %zu", a->slice, out->n[2] - 1);
    return 0;
}

int recon_prepare(struct recon_args *a, struct fbp_scan *scan, fbp_plan **plan)
{
    struct fbp_grid grid;

    *plan = NULL;
    if (a->p.half_width > 0)
        a->p.spatial_filter = 1;
    if (recon_load(a, scan) != 0 || adjust_scan(scan, a->adjust) != 0 ||
        recon_grid(a, scan, &grid) != 0)
        return 1;
    if (a->water[3] > 0) {
        if (recon_water(a, scan, &grid, &a->found) != 0)
            return 1;
        a->p.mu_water = a->found.mean;
    }
    if (a->slice != SIZE_MAX) {
        grid.centre_mm[2] = fbp_grid_coordinate(&grid, 2, (double)a->slice);
        grid.n[2] = 1;
    }
    scan->volume = grid;
    return fbp_plan_create(plan, scan, &a->p) == FBP_OK ? 0 : cli_fail();
}
