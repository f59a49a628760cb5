/* Option --hu-from-roi of fbp recon: measures the attenuation of water in a sphere that, according
 * to the user, contains water (recon_water()), for Hounsfield units.
 * Used by: recon.c. */
#include "recon.h"

#include "scan/file/scan.h"

#include <stdlib.h>

/* Greatest number of voxels in the box around the water sphere. */
static const double most_voxels = 1 << 30;

/* Choose the box around the water sphere on the grid `all`; it may extend beyond the volume. */
static int choose_grid(const struct recon_args *a, const struct fbp_scan *scan,
                       const struct fbp_grid *all, struct fbp_grid *out)
{
    double voxels = 1;

    *out = *all;
    for (int i = 0; i < 3; i++) {
        const double first = fbp_grid_coordinate(all, i, 0), mm = all->voxel_mm[i];
        double lo = ceil((a->water[i] - a->water[3] - first) / mm - 1e-9);
        double hi = floor((a->water[i] + a->water[3] - first) / mm + 1e-9);
        if (i == 2 && scan->panel.n_rows == 1) {
            lo = fmax(lo, 0);
            hi = fmin(hi, 0);
        }
        voxels *= fmax(0, hi - lo + 1);
        out->n[i] = (size_t)fmin(fmax(0, hi - lo + 1), most_voxels);
        out->centre_mm[i] = first + (lo + hi) / 2 * mm;
    }
    if (voxels < 1)
        return cli_error("--hu-from-roi: no voxel lies in the sphere of radius %g mm about (%g, "
                         "%g, %g) mm; give a larger radius, or a centre nearer to a voxel",
                         a->water[3], a->water[0], a->water[1], a->water[2]);
    if (voxels > most_voxels)
        return cli_error("--hu-from-roi: the box around the sphere contains about %.3g voxels, "
                         "which is too many; give a smaller radius",
                         voxels);
    return 0;
}

/* Check that every view's detector contains the projection of the whole water sphere. */
static int check_view(const struct recon_args *a, const struct fbp_scan *scan)
{
    const double reach = hypot(a->water[0], a->water[1]) + a->water[3];
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    const double edges[] = {-0.5, (double)scan->panel.n_rows - 0.5};
    double z[2] = {-INFINITY, INFINITY}, P[12], g[3];

    if (fbp_views_facts(fbp_scan_views(scan), NULL, &facts) != FBP_OK)
        return cli_fail();
    if (reach > facts.fov_radius_mm)
        return cli_error("--hu-from-roi: the sphere extends %.4g mm from the axis, beyond the "
                         "field of view of %.4g mm; choose a sphere inside it",
                         reach, facts.fov_radius_mm);
    if (scan->panel.n_rows == 1)
        return 0;
    /* Find z[0] to z[1], the range of z of the sphere's centre for which all views contain the
     * sphere: points x of the sphere have g . x + c >= 0 for the planes through the source and
     * the outer edge of the first or last detector row. */
    for (size_t k = 0; k < scan->n_views; k++) {
        if (fbp_view_to_matrix(&scan->views[k], scan->kind, &scan->panel, P) != FBP_OK)
            return cli_fail();
        for (int e = 0; e < 2; e++) {
            const double side = e ? -1 : 1;
            for (int i = 0; i < 3; i++)
                g[i] = side * (P[4 + i] - edges[e] * P[8 + i]);
            const double c = side * (P[7] - edges[e] * P[11]);
            const double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
            const double rest = g[0] * a->water[0] + g[1] * a->water[1] + c - a->water[3] * length;
            if (fabs(g[2]) <= 1e-12 * length)
                z[1] = rest < 0 ? -INFINITY : z[1];
            else if (g[2] > 0)
                z[0] = fmax(z[0], -rest / g[2]);
            else
                z[1] = fmin(z[1], -rest / g[2]);
        }
    }
    if (a->water[2] >= z[0] - 1e-9 && a->water[2] <= z[1] + 1e-9)
        return 0;
    if (!(z[0] <= z[1]))
        return cli_error("--hu-from-roi: all views see a sphere of radius %g mm at (%g, %g) mm for "
                         "no value of z; give a smaller radius, or a centre nearer to the axis",
                         a->water[3], a->water[0], a->water[1]);
    return cli_error("--hu-from-roi: all views see a sphere of radius %g mm at (%g, %g) mm for z "
                     "from %.4g to %.4g mm, but not for z = %g mm; choose another z",
                     a->water[3], a->water[0], a->water[1], z[0], z[1], a->water[2]);
}

/* Compute mean and standard deviation of the voxels v inside the sphere, in two passes. */
static int take_values(const struct recon_args *a, const struct fbp_grid *g, const float *v,
                       struct recon_water *out)
{
    double sum = 0, squares = 0;
    size_t n = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t z = 0, i = 0; z < g->n[2]; z++)
            for (size_t y = 0; y < g->n[1]; y++)
                for (size_t x = 0; x < g->n[0]; x++, i++) {
                    const double d[] = {fbp_grid_coordinate(g, 0, (double)x) - a->water[0],
                                        fbp_grid_coordinate(g, 1, (double)y) - a->water[1],
                                        fbp_grid_coordinate(g, 2, (double)z) - a->water[2]};
                    if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >
                        a->water[3] * a->water[3] * (1 + 1e-9))
                        continue;
                    if (pass == 0) {
                        sum += (double)v[i];
                        n++;
                    } else {
                        squares += pow((double)v[i] - sum / (double)n, 2);
                    }
                }
    if (n == 0)
        return cli_error("--hu-from-roi: no voxel lies in the sphere; give a larger radius");
    *out = (struct recon_water){sum / (double)n, sqrt(squares / (double)n), n};
    if (!(out->mean > 0))
        return cli_error("--hu-from-roi: the mean of %zu voxels is %.4g 1/mm, which cannot be "
                         "water; check the position of the sphere",
                         n, out->mean);
    return 0;
}

int recon_water(const struct recon_args *a, const struct fbp_scan *scan, const struct fbp_grid *all,
                struct recon_water *out)
{
    struct fbp_scan part = *scan;
    struct fbp_recon_params p = a->p;
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;

    if (choose_grid(a, scan, all, &part.volume) != 0 || check_view(a, scan) != 0)
        return 1;
    /* the sphere is small, so each process of a team (MPI) computes the whole sphere */
    p.cluster.team = NULL;
    p.mu_water = 0;
    p.output.fill = false;
    p.region.shape = NULL;
    p.output.resume = p.output.compress = false;
    p.cluster.part = p.cluster.n_parts = 0;
    p.output.path = NULL;
    p.callbacks.log = NULL;
    p.volume = (struct fbp_grid){0};
    if (fbp_plan_create(&plan, &part, &p) != FBP_OK)
        return cli_fail();
    const size_t *n = part.volume.n;
    float *values = malloc(n[0] * n[1] * n[2] * sizeof *values);
    int rc = values
                 ? 0
                 : cli_error("out of memory for the voxels of --hu-from-roi; close other programs");
    if (rc == 0 && (fbp_sink_memory(&sink, values, FBP_F32, n) != FBP_OK ||
                    fbp_plan_run_to(plan, NULL, sink, NULL) != FBP_OK))
        rc = cli_fail();
    fbp_sink_close(&sink);
    if (rc == 0)
        rc = take_values(a, &part.volume, values, out);
    free(values);
    fbp_plan_destroy(&plan);
    return rc;
}
