/*
 * A scan simulated by others (CTSimU tetrahedron), straight from its scenario: raw counts, dark,
 * flat, direction, axes.
 */
#include "recon/fixture.h"

#include "base/math.h"

enum { VIEWS = 21, N = 150, SIZE = 100 };

static const double VOXEL = 0.975;

static char *data_path(const char *name)
{
    char *out = not_null(malloc(strlen(FBP_SHARED_DATA) + strlen(name) + 64));
    sprintf(out, "%s/ctsimu_tetrahedron_cone/%s", FBP_SHARED_DATA, name);
    return out;
}

/* As the scenario and the metadata beside it describe it, but for a smaller volume. */
static struct fbp_scan load_scan(const char *name)
{
    AUTO_FREE char *path = data_path(name);

    struct fbp_scan scan = open_scan(path);
    assert_int_equal(scan.n_views, VIEWS);
    assert_int_equal(scan.panel.n_columns, N);
    assert_true(scan.volume.n[2] == N && fabs(scan.volume.voxel_mm[2] - VOXEL) < 1e-12);
    assert_non_null(scan.dark);
    assert_non_null(scan.flat);
    for (int i = 0; i < 3; i++)
        scan.volume.n[i] = SIZE;
    return scan;
}

/* A binary STL: normal and three corners a triangle. */
struct mesh {
    size_t n;
    float (*triangles)[12];
};

/* Does the ray from q meet the triangle?  Moeller and Trumbore 1997. */
static int meets(const float *t, const double q[3])
{
    static const double ray[3] = {0.9539, 0.2391, 0.1812}; /* along no edge or face */
    double e1[3], e2[3], s[3], p[3], r[3];

    for (int a = 0; a < 3; a++) {
        e1[a] = (double)t[6 + a] - (double)t[3 + a];
        e2[a] = (double)t[9 + a] - (double)t[3 + a];
        s[a] = q[a] - (double)t[3 + a];
    }
    fbp_cross(ray, e2, p);
    fbp_cross(s, e1, r);
    const double det = fbp_dot(e1, p), u = fbp_dot(s, p) / det, v = fbp_dot(ray, r) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && fbp_dot(e2, r) / det > 0;
}

/* The middle of the object's bounding box stands at (9.428083, 0, 8.888888) mm on the stage; in its
 * own file that is (9.428083, 0, 13.333332). */
static int inside(const struct mesh *p, double x, double y, double z)
{
    const double q[3] = {x, y, z - 8.888888 + 13.333332};
    int crossings = 0;

    if (fabs(q[1]) > 33 || q[2] < -14 || q[2] > 41 || q[0] < -19 || q[0] > 38)
        return 0;
    for (size_t i = 0; i < p->n; i++)
        crossings += meets(p->triangles[i], q);
    return crossings % 2;
}

/* Overlap (intersection over union) of the bright voxels with the object, axes flipped as asked. */
static double overlap(const float *v, float threshold, const struct fbp_grid *g,
                      const struct mesh *p, const double sign[3])
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

/* Centre of the voxels that `weight` picks: those above a threshold, or inside the mesh. */
static void centre(const float *v, float threshold, const struct fbp_grid *g, const struct mesh *m,
                   double out[3])
{
    double n = 0;

    out[0] = out[1] = out[2] = 0;
    for (size_t i = 0; i < grid_size(g); i++) {
        const size_t at[3] = {i % SIZE, i / SIZE % SIZE, i / SIZE / SIZE};
        double x[3];
        for (int a = 0; a < 3; a++)
            x[a] = fbp_grid_coordinate(g, a, (double)at[a]);
        if (v ? v[i] <= threshold : !inside(m, x[0], x[1], x[2]))
            continue;
        n++;
        for (int a = 0; a < 3; a++)
            out[a] += x[a];
    }
    for (int a = 0; a < 3; a++)
        out[a] /= n;
}

/*
 * 21 views of saturated iron make streaks, so the overlap stays below 1 (0.75 at the best
 * threshold); what counts is that it is nearly gone when an axis is flipped, and where the middle
 * is.
 */
TEST(stands_where_it_was_put)
{
    static const double flips[4][3] = {{1, 1, 1}, {-1, 1, 1}, {1, -1, 1}, {1, 1, -1}};
    struct fbp_scan scan = load_scan("tetra.json");
    const struct fbp_grid *g = &scan.volume;
    AUTO_FREE char *stl = data_path("tetra.stl");
    struct mesh mesh = {0};
    FILE *f = not_null(fopen(stl, "rb"));
    uint32_t count;
    assert_int_equal(fseek(f, 80, SEEK_SET), 0);
    assert_int_equal(fread(&count, 4, 1, f), 1);
    mesh.triangles = malloc(count * sizeof *mesh.triangles);
    assert_non_null(mesh.triangles);
    for (mesh.n = 0; mesh.n < count; mesh.n++) {
        unsigned char skipped[2];
        assert_int_equal(fread(mesh.triangles[mesh.n], sizeof *mesh.triangles, 1, f), 1);
        assert_int_equal(fread(skipped, 2, 1, f), 1);
    }
    fclose(f);
    double fit[4], ours[3], theirs[3];

    AUTO_FREE float *v = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    for (size_t i = 0; i < grid_size(g); i++)
        assert_true(isfinite(v[i]));
    double sum = 0, n = 0;
    for (size_t i = 0; i < grid_size(g); i++)
        if (inside(&mesh, fbp_grid_coordinate(g, 0, (double)(i % SIZE)),
                   fbp_grid_coordinate(g, 1, (double)(i / SIZE % SIZE)),
                   fbp_grid_coordinate(g, 2, (double)(i / SIZE / SIZE)))) {
            sum += (double)v[i];
            n++;
        }
    const double mean = sum / n;
    const float threshold = (float)(0.6 * mean);
    for (int i = 0; i < 4; i++)
        fit[i] = overlap(v, threshold, g, &mesh, flips[i]);
    centre(v, threshold, g, &mesh, ours);
    centre(NULL, 0, g, &mesh, theirs);
    print_message(
        "mean inside %.4f/mm; overlap with the STL %.3f; flipped x %.3f, y %.3f, z %.3f\n", mean,
        fit[0], fit[1], fit[2], fit[3]);
    print_message("middle (%.2f %.2f %.2f) mm, of the STL (%.2f %.2f %.2f) mm\n", ours[0], ours[1],
                  ours[2], theirs[0], theirs[1], theirs[2]);
    assert_true(fit[0] > 0.7);
    assert_true(fit[1] < 0.2 && fit[3] < 0.2);
    for (int a = 0; a < 3; a++)
        assert_true(fabs(ours[a] - theirs[a]) < 3);
    free(mesh.triangles);
    fbp_scan_clear(&scan); /* the data stay */
}

/* The metadata lead to the scenario, as the scenario leads to the metadata. */
TEST(loads_from_either_file)
{
    AUTO_CLEAR struct fbp_scan a = load_scan("tetra.json"), b = load_scan("tetra_metadata.json");

    assert_string_equal(a.projections, b.projections);
    assert_string_equal(a.flat, b.flat);
    assert_int_equal(a.row_order, FBP_ROWS_TOP_DOWN);
    assert_int_equal(b.row_order, FBP_ROWS_TOP_DOWN);
    assert_memory_equal(a.views, b.views, VIEWS * sizeof *a.views);
}

int main(int argc, char **argv)
{
    if (access(FBP_SHARED_DATA "/ctsimu_tetrahedron_cone/README.md", R_OK) != 0)
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
