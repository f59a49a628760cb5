/*
 * RTK's numeric tests of reconstruction (test/rtk*test.cxx, July 2026), with their geometry,
 * phantom and measure: mean |difference| < E and PSNR = 20 log10 V - 10 log10 MSE > P over the
 * whole volume, against the phantom drawn at voxel centres.
 */
#include "geometry/kind.h"
#include "recon/peers.h"
#include "scan/file/scan.h"

enum { N = 128 };

static const double SID = 600, SDD = 1200;

/* A scan in RTK's terms; lengths in mm, angles in degrees. */
struct rtk_scan {
    bool parallel;
    size_t n_views, n_columns, n_rows;
    double arc, spacing;
    double origin[2]; /* centre of the first pixel */
    double projection_x, source_x, source_y;
};

/* In their axes (x, y, z) = ours (x, z, -y): the first source stands on -y and the others follow
 * by right-handed turns about z. */
static struct fbp_scan make_scan(const struct rtk_scan *r)
{
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = r->parallel ? FBP_PARALLEL : FBP_CONE,
                            .n_views = r->n_views,
                            .panel = {r->n_columns, r->n_rows},
                            .row_order = FBP_ROWS_BOTTOM_UP,
                            .volume = {.n = {N, N, N}, .voxel_mm = {2, 2, 2}}};
    const double middle_u = r->origin[0] + r->spacing * ((double)r->n_columns - 1) / 2;
    const double middle_v = r->origin[1] + r->spacing * ((double)r->n_rows - 1) / 2;

    scan.views = calloc(r->n_views, sizeof *scan.views);
    assert_non_null(scan.views);
    for (size_t k = 0; k < r->n_views; k++) {
        scan.views[k] = (struct fbp_view){.s = {r->source_x, -SID, r->source_y},
                                          .d = {r->projection_x + middle_u, SDD - SID, middle_v},
                                          .u = {r->spacing, 0, 0},
                                          .v = {0, 0, r->spacing}};
        if (r->parallel)
            memcpy(scan.views[k].s, (double[]){0, -1, 0}, sizeof scan.views[k].s);
        turn_view(&scan.views[k], (double)k * r->arc / (double)r->n_views * PI / 180);
    }
    return scan;
}

/* The test's usual detector, 128 x 128 pixels of 4 mm, and full circle. */
static struct rtk_scan usual(void)
{
    return (struct rtk_scan){.n_views = 180,
                             .n_columns = N,
                             .n_rows = N,
                             .arc = 360,
                             .spacing = 4,
                             .origin = {-254, -254}};
}

/* Theirs is table 3.1 with y reversed here (docs/phantoms.md). */
static struct fbp_phantom shepp_logan(double half)
{
    struct fbp_phantom p = create_phantom("shepp-logan-original", half, 1);
    for (size_t i = 0; i < p.n; i++) {
        p.items[i].centre_mm[1] = -p.items[i].centre_mm[1];
        p.items[i].turn_deg = -p.items[i].turn_deg;
    }
    return p;
}

/* Is a point within `radius` of the axis, and between the cones that every view sees? */
static bool in_field(const struct fbp_scan *scan, const struct fbp_geometry_facts *f, double radius,
                     const double x[3])
{
    double along = 0, source = 0, square = 0;

    for (int k = 0; k < 3; k++) {
        along += x[k] * f->axis[k];
        source += scan->views[0].s[k] * f->axis[k];
    }
    for (int k = 0; k < 3; k++)
        square += (x[k] - along * f->axis[k]) * (x[k] - along * f->axis[k]);
    const double near = scan->kind == FBP_CONE ? 1 - sqrt(square) / f->sod_mm[0] : 1;
    const double middle = scan->kind == FBP_CONE ? source : 0;
    return square <= radius * radius &&
           along >= middle + (f->fov_half_height_mm[0] - middle) * near &&
           along <= middle + (f->fov_half_height_mm[1] - middle) * near;
}

/* 0 outside the field of view, as their FieldOfViewImageFilter: what every view sees or, displaced,
 * what two opposite ones see together. */
static void mask_field_of_view(const struct fbp_scan *scan, bool displaced, float *volume)
{
    const struct fbp_grid *g = &scan->volume;
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    size_t i = 0;

    OK(fbp_views_facts(fbp_scan_views(scan), NULL, &facts));
    const double all = fmin(fabs(facts.edge_mm[0]), fabs(facts.edge_mm[1]));
    const double radius = displaced ? facts.fov_radius_mm : all;
    for (size_t z = 0; z < g->n[2]; z++)
        for (size_t y = 0; y < g->n[1]; y++)
            for (size_t x = 0; x < g->n[0]; x++, i++)
                if (!in_field(scan, &facts, radius,
                              (double[]){fbp_grid_coordinate(g, 0, (double)x),
                                         fbp_grid_coordinate(g, 1, (double)y),
                                         fbp_grid_coordinate(g, 2, (double)z)}))
                    volume[i] = 0;
}

static void check_quality(const char *name, const char *device, const float *ours,
                          const float *truth, size_t n, double e_limit, double p_limit)
{
    double sum = 0, square = 0;

    for (size_t i = 0; i < n; i++) {
        const double d = (double)ours[i] - (double)truth[i];
        sum += fabs(d);
        square += d * d;
    }
    const double e = sum / (double)n, p = 20 * log10(2) - 10 * log10(square / (double)n);
    print_message("%-34s %-4s E %.4f < %.3f  P %.2f > %.1f dB\n", name, device, e, e_limit, p,
                  p_limit);
    if (!(e < e_limit && p > p_limit))
        fail_msg("%s on %s: E %.4f, P %.2f dB", name, device, e, p);
}

/* What a case has beside its scan. */
struct how {
    const char *name;
    double half, e, p;
    bool mask;
    float *(*spoil)(const struct fbp_scan *scan, float *views);
    enum fbp_filter filter;
    double cutoff, cutoff_v;
    size_t slab;
};

static void run(struct fbp_scan *scan, const struct fbp_phantom *phantom, const float *truth,
                const struct how *how)
{
    AUTO_FREE float *views = project(scan, phantom);

    if (how->spoil)
        how->spoil(scan, views);
    for (int i = 0; i < N_PEER_DEVICES; i++) {
        if (!usable(peer_devices[i]))
            continue;
        AUTO_FREE float *volume = reconstruct_views(
            scan, views,
            fbp_recon_params(.device = peer_devices[i], .filter = how->filter,
                             .cutoff = how->cutoff, .filtering.cutoff_v = how->cutoff_v,
                             .tuning.slab_slices = how->slab));
        if (how->mask)
            mask_field_of_view(scan, false, volume);
        check_quality(how->name, peer_devices[i], volume, truth, grid_size(&scan->volume), how->e,
                      how->p);
    }
}

/* The phantom in the usual volume, kept from case to case; `phantom` NULL: let go of it. */
static const float *usual_truth(const struct fbp_phantom *phantom, const struct fbp_grid *g,
                                double half)
{
    static float *kept;
    static double kept_half;

    if (!phantom || half != kept_half) {
        free(kept);
        kept = phantom ? draw_centres(phantom, g) : NULL;
        kept_half = half;
    }
    return kept;
}

static void run_case(const struct rtk_scan *r, const struct how *how)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(r);
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = shepp_logan(how->half);
    run(&scan, &phantom, usual_truth(&phantom, &scan.volume, how->half), how);
}

/* A scan and phantom seen from axes that are the columns of R: x' = R^T x. */
static void turn(const double R[3][3], double x[3])
{
    double out[3];
    for (int i = 0; i < 3; i++)
        out[i] = R[0][i] * x[0] + R[1][i] * x[1] + R[2][i] * x[2];
    memcpy(x, out, sizeof out);
}

static void turned_volume(const char *name, const double R[3][3])
{
    struct rtk_scan r = usual();
    r.source_x = 20;
    r.source_y = 15;
    AUTO_CLEAR struct fbp_scan scan = make_scan(&r);
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = shepp_logan(116);
    for (size_t k = 0; k < scan.n_views; k++) {
        turn(R, scan.views[k].s);
        turn(R, scan.views[k].d);
        turn(R, scan.views[k].u);
        turn(R, scan.views[k].v);
    }
    /* Ellipsoids become shapes, which may be turned about any axis. */
    phantom.shapes = calloc(phantom.n, sizeof *phantom.shapes);
    assert_non_null(phantom.shapes);
    for (size_t i = 0; i < phantom.n; i++) {
        const struct fbp_ellipsoid *e = &phantom.items[i];
        const double t = e->turn_deg * PI / 180;
        struct fbp_shape *s = &phantom.shapes[i];
        *s = (struct fbp_shape){.kind = FBP_SHAPE_ELLIPSOID,
                                .axes = {{cos(t), sin(t), 0}, {-sin(t), cos(t), 0}, {0, 0, 1}},
                                .density = e->density};
        memcpy(s->centre_mm, e->centre_mm, sizeof s->centre_mm);
        memcpy(s->half_mm, e->axes_mm, sizeof s->half_mm);
        turn(R, s->centre_mm);
        for (int k = 0; k < 3; k++)
            turn(R, s->axes[k]);
    }
    phantom.n_shapes = phantom.n;
    phantom.n = 0;
    AUTO_FREE float *truth = draw_centres(&phantom, &scan.volume);
    run(&scan, &phantom, truth,
        &(struct how){.name = name, .half = 116, .e = 0.03, .p = 26, .mask = true});
}

/* rtkfdktest: a source 20 mm beside and 15 mm above the middle of the detector. */
TEST(fdk)
{
    struct rtk_scan r = usual();
    r.source_x = 20;
    r.source_y = 15;
    run_case(&r,
             &(struct how){.name = "rtkfdktest", .half = 116, .e = 0.03, .p = 26, .mask = true});
    run_case(&r, &(struct how){.name = "rtkfdktest, slabs of 16",
                               .half = 116,
                               .e = 0.03,
                               .p = 26,
                               .mask = true,
                               .slab = 16});
}

TEST(fdk_turned)
{
    const double h = sqrt(0.5);
    turned_volume("rtkfdktest, axes turned by 90",
                  (const double[3][3]){{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}});
    turned_volume("rtkfdktest, axes turned by 45, 45",
                  (const double[3][3]){{h, -h, 0}, {0.5, 0.5, -h}, {0.5, 0.5, h}});
}

/*
 * Their directions for "45 degrees" are the columns (h, h, 0), (-h, 0, 0), (h, 0, 1), h = sqrt 1/2:
 * voxel (i, j, k) is at (-5, -13, -20) or the like + 2 (h (i - j + k), h i, k), which is a point of
 * a grid along the axes, number (i - j + k, k, i), spaced 2 h, 2 and 2 h.
 */
static struct fbp_grid around(const double origin[3], size_t n)
{
    const double h = 2 * 0.70710678118, m = (double)n - 1;
    return (struct fbp_grid){
        .n = {3 * n - 2, n, n},
        .voxel_mm = {h, 2, h},
        .centre_mm = {origin[0] + h * m / 2, -(origin[2] + m), origin[1] + h * m / 2}};
}

static float *pick(const float *all, const struct fbp_grid *g, size_t n)
{
    float *out = not_null(malloc(n * n * n * sizeof *out));
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) {
                const size_t x = i + (n - 1 - j) + k, y = n - 1 - k, z = i;
                out[(k * n + j) * n + i] = all[(z * g->n[1] + y) * g->n[0] + x];
            }
    return out;
}

static void oblique(const char *name, const double origin[3], size_t n)
{
    struct rtk_scan r = usual();
    r.source_x = 20;
    r.source_y = 15;
    AUTO_CLEAR struct fbp_scan scan = make_scan(&r);
    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = shepp_logan(116);
    scan.volume = around(origin, n);
    AUTO_FREE float *views = project(&scan, &phantom), *all = draw_centres(&phantom, &scan.volume);
    AUTO_FREE float *truth = pick(all, &scan.volume, n);
    for (int i = 0; i < N_PEER_DEVICES; i++) {
        if (!usable(peer_devices[i]))
            continue;
        float *volume =
            reconstruct_views(&scan, views, fbp_recon_params(.device = peer_devices[i]));
        mask_field_of_view(&scan, false, volume);
        AUTO_FREE float *picked = pick(volume, &scan.volume, n);
        check_quality(name, peer_devices[i], picked, truth, n * n * n, 0.03, 26);
        free(volume);
    }
}

TEST(fdk_oblique)
{
    oblique("rtkfdktest, oblique axes", (const double[3]){-127, -127, -127}, N);
    oblique("rtkfdktest, region", (const double[3]){-5, -13, -20}, 64);
}

TEST(fbp_parallel)
{
    struct rtk_scan r = usual();
    r.parallel = true;
    r.spacing = 2;
    r.origin[0] = r.origin[1] = -127;
    run_case(&r, &(struct how){
                     .name = "rtkfbpparalleltest", .half = 116, .e = 0.03, .p = 26, .mask = true});
}

static uint64_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 11;
}

/* Gaussian noise of deviation 1 (Box and Muller 1958). */
static float *add_noise(const struct fbp_scan *scan, float *views)
{
    const size_t n = scan->n_views * scan->panel.n_columns * scan->panel.n_rows;
    uint64_t seed = 42;

    for (size_t i = 0; i < n; i++) {
        const double a = ((double)next_random(&seed) + 1) * 0x1p-53;
        const double b = (double)next_random(&seed) * 0x1p-53;
        views[i] += (float)(sqrt(-2 * log(a)) * cos(2 * PI * b));
    }
    return views;
}

/* rtkrampfiltertest: noise under a Hann window; a detector cut off at one side. */
TEST(ramp_filter)
{
    struct rtk_scan r = usual();
    run_case(&r, &(struct how){.name = "rtkrampfiltertest, noise, Hann 0.8",
                               .half = 128,
                               .e = 0.72,
                               .p = 22.4,
                               .spoil = add_noise,
                               .filter = FBP_FILTER_HANN,
                               .cutoff = 0.8});
    run_case(&r, &(struct how){.name = "the same, along columns, too",
                               .half = 128,
                               .e = 0.74,
                               .p = 21.8,
                               .spoil = add_noise,
                               .filter = FBP_FILTER_HANN,
                               .cutoff = 0.8,
                               .cutoff_v = 0.8});
    r.n_columns = 114;
    run_case(&r, &(struct how){
                     .name = "rtkrampfiltertest, 114 columns", .half = 128, .e = 0.12, .p = 20.8});
}

TEST(displaced_detector)
{
    static const struct {
        const char *name;
        double projection_x, origin;
    } cases[] = {
        {"rtkdisplaceddetectortest, +120", 120, -254},
        {"rtkdisplaceddetectortest, -120", -120, -254},
        {"rtkdisplaceddetectortest, 0", 0, -254},
        {"rtkdisplaceddetectortest, from -400", 0, -400},
        {"rtkdisplaceddetectortest, from -100", 0, -100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rtk_scan r = usual();
        r.projection_x = cases[i].projection_x;
        r.origin[0] = cases[i].origin;
        run_case(&r, &(struct how){.name = cases[i].name, .half = 128, .e = 0.061, .p = 24});
    }
}

TEST(short_scan)
{
    struct rtk_scan r = usual();
    r.n_views = 110;
    r.arc = 240;
    run_case(&r, &(struct how){.name = "rtkshortscantest", .half = 116, .e = 0.09, .p = 22});
}

/* Is a point seen by every view? */
static bool seen_by_all(const double *P, const struct fbp_scan *scan, const double x[3])
{
    for (size_t k = 0; k < scan->n_views; k++, P += 12) {
        const double w = P[8] * x[0] + P[9] * x[1] + P[10] * x[2] + P[11];
        const double c = (P[0] * x[0] + P[1] * x[1] + P[2] * x[2] + P[3]) / w;
        const double r = (P[4] * x[0] + P[5] * x[1] + P[6] * x[2] + P[7]) / w;
        if (c < 0 || r < 0 || c > (double)scan->panel.n_columns - 1 ||
            r > (double)scan->panel.n_rows - 1)
            return false;
    }
    return true;
}

/* What this program says that a scan can see. */
static void draw_field(const struct fbp_scan *scan, bool displaced, float *out)
{
    for (size_t i = 0; i < grid_size(&scan->volume); i++)
        out[i] = 1;
    mask_field_of_view(scan, displaced, out);
}

/* rtkfovtest: what this program says it can see, against the voxels that every view sees; then the
 * same from little more than half of that detector. */
TEST(field_of_view)
{
    struct rtk_scan r = usual();
    struct fbp_scan scan = make_scan(&r);
    const struct fbp_grid *g = &scan.volume;
    AUTO_FREE double *matrices = malloc(scan.n_views * 12 * sizeof *matrices);
    AUTO_FREE float *want = malloc(grid_size(g) * sizeof *want),
                    *got = malloc(grid_size(g) * sizeof *got);
    size_t i = 0;

    assert_true(matrices && want && got);
    for (size_t k = 0; k < scan.n_views; k++)
        OK(fbp_view_to_matrix(&scan.views[k], FBP_CONE, &scan.panel, matrices + 12 * k));
    for (size_t z = 0; z < N; z++)
        for (size_t y = 0; y < N; y++)
            for (size_t x = 0; x < N; x++)
                want[i++] = seen_by_all(matrices, &scan,
                                        (double[]){fbp_grid_coordinate(g, 0, (double)x),
                                                   fbp_grid_coordinate(g, 1, (double)y),
                                                   fbp_grid_coordinate(g, 2, (double)z)});
    draw_field(&scan, false, got);
    check_quality("rtkfovtest", "", got, want, grid_size(g), 0.02, 23.5);
    fbp_scan_clear(&scan);
    r.n_columns = 78;
    r.origin[0] = -54;
    scan = make_scan(&r);
    draw_field(&scan, true, got);
    check_quality("rtkfovtest, displaced", "", got, want, grid_size(g), 0.02, 23.5);
    fbp_scan_clear(&scan);
}

int main(int argc, char **argv)
{
    const int failed = run_file_tests(argc, argv, NULL, NULL);
    usual_truth(NULL, NULL, 0);
    return failed;
}
