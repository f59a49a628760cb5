/*
 * mbirjax's test of direct reconstruction (tests/test_fbp_fdk.py): 64 views of 40 x 128 pixels of
 * a Shepp-Logan phantom of low dynamic range; NRMSE, greatest difference and 95th percentile of
 * the differences against the phantom drawn at voxel centres.  As theirs, the views are projected
 * from those voxels, each as a box across the detector.
 */
#include "geometry/view.h"
#include "recon/peers.h"

enum { VIEWS = 64, ROWS = 40, COLUMNS = 128 };

static const double SDD = 4 * COLUMNS, SID = 2 * COLUMNS;

struct limits {
    double nrmse, max, p95;
};

/* Their table; it fills n voxels of side h, the outermost voxels' centres being its ends. */
static struct fbp_phantom low_dynamic_range(const struct fbp_grid *g)
{
    static const double rows[9][8] = {
        /* x, y, half axes a, b, c, degrees, density */
        {0, 0, .69, .92, .9, 0, 1},         {0, .0184, .6624, .874, .88, 0, -.8},
        {.22, 0, .41, .16, .21, 108, -.2},  {-.22, 0, .31, .11, .22, 72, -.2},
        {0, .35, .21, .25, .5, 0, .1},      {0, .1, .046, .046, .046, 0, .1},
        {0, -.1, .046, .046, .046, 0, .1},  {-.08, -.605, .046, .023, .02, 0, .1},
        {0, -.605, .023, .023, .02, 0, .1},
    };
    const double r = ((double)g->n[0] - 1) / 2 * g->voxel_mm[0];
    const double h = ((double)g->n[2] - 1) / 2 * g->voxel_mm[2];
    struct fbp_phantom p = {.n = 9, .items = calloc(9, sizeof *p.items)};

    assert_non_null(p.items);
    for (int i = 0; i < 9; i++) {
        const double *e = rows[i];
        p.items[i] = (struct fbp_ellipsoid){.centre_mm = {e[0] * r, e[1] * r, 0},
                                            .axes_mm = {e[2] * r, e[3] * r, e[4] * h},
                                            .turn_deg = e[5],
                                            .density = e[6]};
    }
    return p;
}

static struct fbp_scan make_scan(bool parallel, double voxel)
{
    const double cone = 2 * atan2(COLUMNS / 2.0, SDD) * 180 / PI;
    const double arc = parallel ? 180 : 360 + cone;
    struct fbp_scan scan = {
        .struct_size = sizeof scan,
        .kind = parallel ? FBP_PARALLEL : FBP_CONE,
        .n_views = VIEWS,
        .panel = {COLUMNS, ROWS},
        .row_order = FBP_ROWS_BOTTOM_UP,
        .volume = {.n = {COLUMNS, COLUMNS, ROWS}, .voxel_mm = {voxel, voxel, voxel}}};

    add_views(&scan, &(struct orbit){.start_deg = -arc / 2,
                                     .step_deg = arc / VIEWS,
                                     .sod_mm = SID,
                                     .sdd_mm = SDD,
                                     .pitch_mm = {1, 1}});
    return scan;
}

/* Where a voxel falls in a view and what it adds there. */
struct footprint {
    double column, row; /* its middle */
    double width, height;
    double length; /* of a line through it */
};

static struct footprint footprint(const struct fbp_scan *scan, size_t k, const struct fbp_grid *g,
                                  const double x[3])
{
    const struct fbp_view *view = &scan->views[k];
    const bool parallel = scan->kind == FBP_PARALLEL;
    double depth = 0, dir[3], n[3] = {view->s[0], view->s[1], 0}, u = 0, v = 0;

    const double sod = hypot(n[0], n[1]);
    for (int i = 0; i < 3; i++) {
        dir[i] = parallel ? -view->s[i] : x[i] - view->s[i];
        depth -= dir[i] * n[i] / sod;
        u += (parallel ? x[i] : dir[i]) * view->u[i];
        v += (parallel ? x[i] : dir[i]) * view->v[i];
    }
    const double mag = parallel ? 1 : SDD / depth, flat = hypot(dir[0], dir[1]);
    const double steep = fmax(fabs(dir[0]), fabs(dir[1])) / flat;
    return (struct footprint){.column = u * mag + ((double)scan->panel.n_columns - 1) / 2,
                              .row = v * mag + ((double)scan->panel.n_rows - 1) / 2,
                              .width = mag * g->voxel_mm[0] * steep,
                              .height = mag * g->voxel_mm[2],
                              .length = g->voxel_mm[0] / steep * hypot(1, dir[2] / flat)};
}

/* What [middle - size/2, middle + size/2] covers of pixel i. */
static double overlap(double middle, double size, int i)
{
    return fmin(middle + size / 2, i + 0.5) - fmax(middle - size / 2, i - 0.5);
}

static void add_voxel(const struct footprint *f, double value, const struct fbp_panel *panel,
                      float *view)
{
    const int c0 = (int)floor(f->column - f->width / 2 + 0.5), nc = (int)panel->n_columns;
    const int r0 = (int)floor(f->row - f->height / 2 + 0.5), nr = (int)panel->n_rows;

    for (int r = r0; overlap(f->row, f->height, r) > 0; r++)
        for (int c = c0; overlap(f->column, f->width, c) > 0; c++)
            if (r >= 0 && r < nr && c >= 0 && c < nc)
                view[r * nc + c] += (float)(value * f->length * overlap(f->row, f->height, r) *
                                            overlap(f->column, f->width, c));
}

/* The views of voxels; free() them. */
static float *project_voxels(const struct fbp_scan *scan, const struct fbp_grid *g,
                             const float *volume)
{
    const size_t pixels = scan->panel.n_columns * scan->panel.n_rows;
    float *views = not_null(calloc(scan->n_views * pixels, sizeof *views));

    for (size_t k = 0; k < scan->n_views; k++)
        for (size_t i = 0; i < grid_size(g); i++) {
            if (volume[i] == 0)
                continue;
            const size_t x = i % g->n[0], y = i / g->n[0] % g->n[1], z = i / (g->n[0] * g->n[1]);
            const struct footprint f = footprint(scan, k, g,
                                                 (double[]){fbp_grid_coordinate(g, 0, (double)x),
                                                            fbp_grid_coordinate(g, 1, (double)y),
                                                            fbp_grid_coordinate(g, 2, (double)z)});
            add_voxel(&f, (double)volume[i], &scan->panel, views + k * pixels);
        }
    return views;
}

/* 0 outside the ellipse that fits in a slice, as their use_ror_mask has it unless told otherwise.
 */
static void mask_slices(const struct fbp_grid *g, float *volume)
{
    const double nx = (double)g->n[0], ny = (double)g->n[1];

    for (size_t i = 0; i < grid_size(g); i++) {
        const double x = (double)(i % g->n[0]) - (nx - 1) / 2;
        const double y = (double)(i / g->n[0] % g->n[1]) - (ny - 1) / 2;
        if (hypot(x / (nx - 1), y / (ny - 1)) > 0.5)
            volume[i] = 0;
    }
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* volume becomes the differences. */
static void check(const char *name, const char *device, float *volume, const float *truth, size_t n,
                  const struct limits *limits)
{
    double square = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        volume[i] = fabsf(volume[i] - truth[i]);
        square += (double)volume[i] * (double)volume[i];
        norm += (double)truth[i] * (double)truth[i];
    }
    qsort(volume, n, sizeof *volume, by_value);
    const double nrmse = sqrt(square / norm), max = (double)volume[n - 1];
    const double p95 = (double)volume[(size_t)(0.95 * (double)(n - 1))];
    print_message(
        "test_fbp_fdk, %-16s %-4s NRMSE %.4f < %.2f  max %.4f < %.2f  95 %% %.4f < %.3f\n", name,
        device, nrmse, limits->nrmse, max, limits->max, p95, limits->p95);
    if (!(nrmse < limits->nrmse && max < limits->max && p95 < limits->p95))
        fail_msg("%s on %s", name, device);
}

/* Projected from voxels of `fine`, reconstructed in the scan's; compared with values at their
 * centres or, where `means`, with their means. */
static void run(const char *name, const struct fbp_scan *scan, const struct fbp_grid *fine,
                bool means, const struct limits *limits)
{
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = low_dynamic_range(fine);
    AUTO_FREE float *drawn = draw_centres(&phantom, fine);
    AUTO_FREE float *views = project_voxels(scan, fine, drawn);
    AUTO_FREE float *truth = draw_centres(&phantom, &scan->volume);

    if (means)
        OK(fbp_phantom_voxels(&phantom, &scan->volume, 0, scan->volume.n[2], truth));
    for (int i = 0; i < N_PEER_DEVICES; i++) {
        if (!usable(peer_devices[i]))
            continue;
        AUTO_FREE float *volume = reconstruct_views(
            scan, views,
            fbp_recon_params(.device = peer_devices[i], .precision = FBP_PRECISION_EXACT));
        mask_slices(&scan->volume, volume);
        check(name, peer_devices[i], volume, truth, grid_size(&scan->volume), limits);
    }
}

TEST(parallel)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(true, 1);
    run("parallel", &scan, &scan.volume, false, &(struct limits){0.25, 0.43, 0.091});
}

TEST(cone)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(false, 0.5);
    run("cone", &scan, &scan.volume, false, &(struct limits){0.35, 0.59, 0.144});
}

/* Voxels 1.9 times as long along their rows' axis and 2.9 times along z.  They pass the phantom
 * through the coarse grid by splines; here the coarse voxels' means are what is compared with. */
TEST(anisotropic_cone)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(false, 0.5);
    const struct fbp_grid fine = scan.volume;
    scan.volume = (struct fbp_grid){.n = {67, 128, 14}, .voxel_mm = {1.9 * .5, .5, 2.9 * .5}};
    run("anisotropic cone", &scan, &fine, true, &(struct limits){0.49, 0.89, 0.213});
}

TEST_MAIN(NULL, NULL)
