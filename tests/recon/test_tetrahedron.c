/*
 * A scan simulated by others (CTSimU tetrahedron): raw counts, dark, flat, direction, axes.  The
 * stage turns counter-clockwise, so in the object's frame the source runs clockwise.
 */
#include "recon/fixture.h"

enum { VIEWS = 21, N = 150, SIZE = 100 };

static const double VOXEL = 0.975;

static char *data_path(const char *name)
{
    char *out = malloc(strlen(FBP_SHARED_DATA) + strlen(name) + 64);
    assert_non_null(out);
    sprintf(out, "%s/ctsimu_tetrahedron_cone/%s", FBP_SHARED_DATA, name);
    return out;
}

static struct fbp_scan make_scan(void)
{
    static const double sod = 300, sdd = 400;
    double *angles = even_angles(VIEWS, 180, -18);
    const struct fbp_circle circle = {
        .struct_size = sizeof circle,
        .n_views = VIEWS,
        .angles_rad = angles,
        .sod_mm = &sod,
        .sdd_mm = &sdd,
        .n_sod = 1,
        .n_sdd = 1,
        .pitch_mm = {1.3, 1.3}
    };
    struct fbp_scan scan = {
        .n_views = VIEWS,
        .panel = {N,                   N},
        .row_order = FBP_ROWS_TOP_DOWN,
        .raw = {                  .type = FBP_U16, .n = {N, N, VIEWS} },
        .projections = data_path("tetra_projections.raw"),
        .dark = data_path("tetra_dark.raw"),
        .flat = data_path("tetra_flat_0000.raw"),
        .volume = { {SIZE, SIZE, SIZE},          {VOXEL, VOXEL, VOXEL},           {0, 0, 0}}
    };

    scan.views = calloc(VIEWS, sizeof *scan.views);
    assert_non_null(scan.views);
    OK(fbp_circle_views(&circle, scan.views));
    free(angles);
    return scan;
}

/* Planes of a convex binary STL: outward normal and a point, as floats in the file. */
struct planes {
    size_t n;
    float (*triangles)[12];
};

static struct planes read_stl(const char *path)
{
    struct planes p = {0};
    FILE *f = fopen(path, "rb");
    uint32_t count;

    assert_non_null(f);
    assert_int_equal(fseek(f, 80, SEEK_SET), 0);
    assert_int_equal(fread(&count, 4, 1, f), 1);
    p.triangles = malloc(count * sizeof *p.triangles);
    assert_non_null(p.triangles);
    for (p.n = 0; p.n < count; p.n++) {
        unsigned char skipped[2];
        assert_int_equal(fread(p.triangles[p.n], sizeof *p.triangles, 1, f), 1);
        assert_int_equal(fread(skipped, 2, 1, f), 1);
    }
    fclose(f);
    return p;
}

/* The object stands on the stage at (9.428083, 0, 8.888888) mm. */
static int inside(const struct planes *p, double x, double y, double z)
{
    const double q[3] = {x - 9.428083, y, z - 8.888888};

    for (size_t i = 0; i < p->n; i++) {
        const float *t = p->triangles[i];
        double side = 0;
        for (int a = 0; a < 3; a++)
            side += (double)t[a] * (q[a] - (double)t[3 + a]);
        if (side > 0)
            return 0;
    }
    return 1;
}

/* Overlap (intersection over union) of the bright voxels with the object, axes flipped as asked. */
static double overlap(const float *v, float threshold, const struct fbp_grid *g,
                      const struct planes *p, const double sign[3])
{
    size_t both = 0, either = 0;

    for (size_t i = 0; i < grid_size(g); i++) {
        const double x = fbp_grid_coordinate(g, 0, (double)(i % SIZE));
        const double y = fbp_grid_coordinate(g, 1, (double)(i / SIZE % SIZE));
        const double z = fbp_grid_coordinate(g, 2, (double)(i / SIZE / SIZE));
        const int a = v[i] > threshold, b = inside(p, sign[0] * x, sign[1] * y, sign[2] * z);
        both += (size_t)(a && b);
        either += (size_t)(a || b);
    }
    return (double)both / (double)either;
}

static void stands_where_it_was_put(void **state)
{
    static const double flips[4][3] = {
        {1,  1,  1 },
        {-1, 1,  1 },
        {1,  -1, 1 },
        {1,  1,  -1}
    };
    struct fbp_scan scan = make_scan();
    char *stl = data_path("tetra.stl");
    const struct planes planes = read_stl(stl);
    double sum = 0;
    size_t n = 0;

    (void)state;
    float *v = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    for (size_t i = 0; i < grid_size(&scan.volume); i++)
        assert_true(isfinite(v[i]));
    for (size_t i = 0; i < grid_size(&scan.volume); i++)
        if (inside(&planes, fbp_grid_coordinate(&scan.volume, 0, (double)(i % SIZE)),
                   fbp_grid_coordinate(&scan.volume, 1, (double)(i / SIZE % SIZE)),
                   fbp_grid_coordinate(&scan.volume, 2, (double)(i / SIZE / SIZE)))) {
            sum += (double)v[i];
            n++;
        }
    const float threshold = (float)(0.5 * sum / (double)n);
    double fit[4];
    for (int i = 0; i < 4; i++)
        fit[i] = overlap(v, threshold, &scan.volume, &planes, flips[i]);
    print_message(
        "mean inside %.4f/mm; overlap with the STL %.3f; flipped x %.3f, y %.3f, z %.3f\n",
        sum / (double)n, fit[0], fit[1], fit[2], fit[3]);
    assert_true(fit[0] > 0.8);
    assert_true(fit[1] < 0.6 && fit[3] < 0.6);
    free(v);
    free(planes.triangles);
    free(stl);
    fbp_scan_clear(&scan); /* the data stay */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stands_where_it_was_put)};

    if (access(FBP_SHARED_DATA "/ctsimu_tetrahedron_cone/README.md", R_OK) != 0)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
