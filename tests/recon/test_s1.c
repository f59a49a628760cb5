/* The kernels of S1 on a CUDA device: every shape adds what the exact kernel adds, to within the
 * texture units' interpolation, whatever is left over of views, slices and tiles. */
#include "bench/common/measure.h"
#include "bench/papers/zinsser2013/s1.h"
#include "recon/fixture.h"

/* A C-arm scan of odd sizes: tiles, chunks of slices and launches all have a last, partial one. Its
 * views are filtered, so that a plan does not resample its rolled detectors. */
static struct fbp_scan make_scan(size_t n_views, size_t n)
{
    const double voxel = 230.0 / (double)n;
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = n_views,
                            .filtered = true,
                            .panel = {149, 117},
                            .volume = {{n, n - 7, n + 5}, {voxel, voxel, voxel}, {1.5, -2, 3}}};

    add_views(&scan, &(struct orbit){.step_deg = 198.0 / (double)(n_views - 1),
                                     .sod_mm = 745,
                                     .sdd_mm = 1196,
                                     .pitch_mm = {2.6, 2.6},
                                     .c_arm = true});
    return scan;
}

static void check_shapes(size_t n_views, size_t n)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(n_views, n);
    double first = 0;
    size_t i = 0;
    fbp_s1 *s;

    OK(fbp_s1_open(&s, &scan, fbp_recon_params(.device = "cuda")));
    for (const struct fbp_s1_shape *shape; (shape = fbp_s1_shape_at(s, i)); i++) {
        struct fbp_s1_error e;
        OK(fbp_s1_compare(s, i, &e));
        print_message("%zu views, %c, I %u, K %u, %u x %u: %.1f dB, %.3f HU\n", n_views,
                      shape->kernel, shape->views, shape->voxels, shape->block_x, shape->block_y,
                      e.psnr_db, e.rmse_hu);
        if (i == 0)
            first = e.psnr_db;
        assert_true(e.psnr_db >= 60);
        assert_true(fabs(e.psnr_db - first) < 0.2); /* they differ in the order of sums alone */
        assert_true(e.rmse_hu > 0 && e.max_hu >= e.rmse_hu);
        assert_true(e.double_hu > .5 * e.rmse_hu && e.double_hu < 2 * e.rmse_hu);
    }
    assert_true(i > 8);
    fbp_s1_close(&s);
    assert_null(s);
}

TEST(shapes_agree_with_the_exact_kernel)
{
    check_shapes(37, 44);
    check_shapes(5, 21);
    check_shapes(6, 150); /* so few columns a voxel that textures have two texels a column */
}

/* One small scan, for tools that slow everything down. */
TEST(shapes_once)
{
    check_shapes(9, 19);
}

/* Parts cost no more than the whole, at its occupancy; their counts are those of the job. */
TEST(parts_are_counted)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(33, 40);
    const double updates = 40.0 * 33 * 45 * 33;
    fbp_s1 *s;

    OK(fbp_s1_open(&s, &scan, fbp_recon_params(.device = "cuda")));
    for (size_t i = 0; fbp_s1_shape_at(s, i); i++) {
        struct fbp_s1_time t[FBP_S1_PARTS];
        for (int part = 0; part < FBP_S1_PARTS; part++) {
            OK(fbp_s1_measure(s, i, (enum fbp_s1_part)part, 3, &t[part]));
            assert_true(t[part].seconds > 0 && t[part].occupancy > 0 && t[part].registers > 0);
            assert_true(t[part].updates == updates && t[part].instructions > 8 * updates);
            assert_true(fabs(t[part].gups * t[part].seconds - 1e-9 * updates) < 1e-12 * updates);
            assert_true(fabs(t[part].occupancy - t[FBP_S1_I].occupancy) < 1e-9);
        }
        const struct fbp_s1_shape *shape = fbp_s1_shape_at(s, i);
        assert_true(t[FBP_S1_ALL].n_launches >= (33 + shape->views - 1) / shape->views);
        assert_true(t[FBP_S1_I].volume_bytes == 0);
        assert_true(t[FBP_S1_ALL].volume_bytes ==
                    8 * (updates / 33) * (double)t[FBP_S1_ALL].n_launches);
    }
    struct fbp_s1_time t;
    assert_int_equal(fbp_s1_measure(s, 1000, FBP_S1_ALL, 1, &t), FBP_ERR_INVALID);
    fbp_s1_close(&s);
}

/* What does not fit is said before anything is allocated. */
TEST(memory_that_is_not_there)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(5, 21);
    fbp_s1 *s;

    scan.volume.n[2] = 900000000; /* within the range of sizes */
    assert_int_equal(fbp_s1_open(&s, &scan, fbp_recon_params(.device = "cuda")), FBP_ERR_NOMEM);
    assert_null(s);
    assert_says("fewer views or voxels");
}

TEST(limits_are_measured)
{
    struct fbp_limits l;

    OK(fbp_bench_limits("cuda", &l));
    print_message("fma %.3g, fetches %.3g %.3g %.3g, copy %.3g, up %.3g, down %.3g a second\n",
                  l.fma, l.texture_r32f, l.texture_r16f, l.texture_rgba16f, l.copy, l.upload,
                  l.download);
    assert_true(l.fma > l.texture_r32f && l.texture_r32f > 0 && l.texture_r16f > 0 &&
                l.texture_rgba16f > 0 && l.copy > l.upload && l.upload > 0 && l.download > 0);
}

int main(int argc, char **argv)
{
    if (!usable("cuda"))
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
