/* S3 on a renderer: all variants, however they are added up, packed, cut into tiles and slabs, give
 * the volume of the reference; what is killed early is not shaded, and changes no other bit. */
#include "bench/papers/ino2009/s3.h"
#include "geometry/view.h"
#include "recon/fixture.h"

enum { MOST_VIEWS = 64, PLACES = 1 << 20 };

/* Of texture units that do not round fractions of a texel, and of those that do, to 1/256. */
static const double FINE_DB = 100, ROUNDED_DB = 50, EXACT_DB = 110, HALF_DB = 50;

/* Distances and steps of their own for every view, as the paper has them. */
static struct fbp_scan make_scan(size_t n_views, const size_t n[3], const size_t panel[2])
{
    static double angles[MOST_VIEWS], sod[MOST_VIEWS];
    const double sdd = 1200, pitch = 420.0 / (double)panel[0], voxel = 240.0 / (double)n[0];
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .n_views = n_views,
                                      .angles_rad = angles,
                                      .sod_mm = sod,
                                      .sdd_mm = &sdd,
                                      .n_sod = n_views,
                                      .n_sdd = 1,
                                      .pitch_mm = {pitch, pitch}};
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = n_views,
                            .panel = {panel[0], panel[1]},
                            .volume = {{n[0], n[1], n[2]}, {voxel, voxel, voxel}, {0}}};

    for (size_t k = 0; k < n_views; k++) {
        angles[k] = 2 * PI * (double)k / (double)n_views + 0.003 * sin(7 * (double)k);
        sod[k] = 750 + 4 * sin(3 * (double)k);
    }
    scan.views = calloc(n_views, sizeof *scan.views);
    assert_non_null(scan.views);
    OK(fbp_circle_views(&circle, scan.views));
    return scan;
}

struct job {
    fbp_s3 *s3;
    size_t n[3], n_views, voxels;
    float *usual;   /* volume of the variant, blended */
    double fast_db; /* that texture units reach */
};

static struct fbp_s3_time run(const struct job *j, const struct fbp_s3_way *way)
{
    const double least_db = way->exact ? EXACT_DB : way->half ? HALF_DB : j->fast_db;
    struct fbp_s3_error error;
    struct fbp_s3_time t;

    OK(fbp_s3_run(j->s3, way, &t));
    OK(fbp_s3_compare(j->s3, &error));
    if (!(error.psnr_db > least_db))
        fail_msg("%c, sum %d, kill %d, exact %d: %.1f dB",
                 fbp_s3_variant_at(j->s3, way->variant)->letter, way->sum, way->kill, way->exact,
                 error.psnr_db);
    assert_int_equal(t.passes,
                     fbp_s3_passes(fbp_s3_variant_at(j->s3, way->variant), j->n[2], j->n_views));
    return t;
}

static void same_bits(const struct job *j, const struct fbp_s3_way *way, const char *what)
{
    (void)run(j, way);
    if (memcmp(fbp_s3_volume(j->s3), j->usual, j->voxels * sizeof(float)) != 0)
        fail_msg("%c: other bits with %s", fbp_s3_variant_at(j->s3, way->variant)->letter, what);
}

/* Some slices alone, of views that the last run has left: the same bits, zeros elsewhere. */
static void check_middle(const struct job *j, size_t variant, bool half)
{
    const struct fbp_s3_way way = {.variant = variant, .middle = 5, .again = true, .half = half};
    const size_t slice = j->n[0] * j->n[1];
    const struct fbp_s3_variant *v = fbp_s3_variant_at(j->s3, variant);
    struct fbp_s3_error error;
    struct fbp_s3_time t;

    OK(fbp_s3_run(j->s3, &way, &t));
    OK(fbp_s3_compare(j->s3, &error));
    assert_true(error.psnr_db > (half ? HALF_DB : j->fast_db));
    assert_true(t.filter == 0 && t.upload == 0 && t.slices_alone <= t.total);
    assert_int_equal(t.passes, fbp_s3_passes(v, t.n_slices, j->n_views));
    assert_true(t.n_slices == j->n[2] || t.n_slices == (v->slices > 4 ? 16 : 8));
    assert_int_equal(t.z0 % (v->slices > 4 ? 16 : 4), 0);
    assert_true(t.z0 + t.n_slices <= j->n[2]);
    const float *voxels = fbp_s3_volume(j->s3);
    for (size_t z = 0; z < j->n[2]; z++)
        for (size_t i = z * slice; i < (z + 1) * slice; i++)
            if (z >= t.z0 && z < t.z0 + t.n_slices
                    ? memcmp(&voxels[i], &j->usual[i], sizeof *voxels) != 0
                    : voxels[i] != 0)
                fail_msg("%c: voxel %zu of slice %zu is %g", v->letter, i, z, (double)voxels[i]);
}

/* Ways that change no bit, and ways that change the last ones. */
static void check_ways(const struct job *j, size_t variant)
{
    const struct fbp_s3_way usual = {.variant = variant, .synchronised = true};
    struct fbp_s3_way way = usual;

    const struct fbp_s3_time t = run(j, &way);
    assert_int_equal(t.draws, t.passes);
    memcpy(j->usual, fbp_s3_volume(j->s3), j->voxels * sizeof(float));
    check_middle(j, variant, false);
    way.synchronised = false;
    way.pack_on_device = way.unpack_on_device = true;
    same_bits(j, &way, "packing on the device");
    way = usual;
    way.slices = 8;
    way.most_updates = 8 * j->n[0];
    same_bits(j, &way, "tiles and slabs");
    way = usual;
    way.sum = FBP_S3_PING_PONG;
    (void)run(j, &way);
    way.exact = true;
    (void)run(j, &way);
    way.sum = FBP_S3_BLEND;
    (void)run(j, &way);
    way = usual;
    way.half = true;
    (void)run(j, &way);
    memcpy(j->usual, fbp_s3_volume(j->s3), j->voxels * sizeof(float));
    check_middle(j, variant, true);
    way.pack_on_device = way.unpack_on_device = true;
    same_bits(j, &way, "packing on the device, fp16");
    (void)run(j, &usual);
    memcpy(j->usual, fbp_s3_volume(j->s3), j->voxels * sizeof(float));
}

/* Fragments in which any slice of their group is wanted. */
static double wanted_fragments(const struct job *j, const struct fbp_s3_variant *v)
{
    const uint8_t *wanted = fbp_s3_wanted(j->s3);
    const size_t slice = j->n[0] * j->n[1];
    double sum = 0;

    for (size_t z = 0; z < j->n[2]; z += v->slices)
        for (size_t i = 0; i < slice; i++) {
            bool any = false;
            for (size_t k = z; k < z + v->slices && k < j->n[2]; k++)
                any |= wanted[k * slice + i] != 0;
            sum += any;
        }
    return sum * (double)((j->n_views + v->views - 1) / v->views);
}

static void check_kill(const struct job *j, size_t variant, enum fbp_s3_kill kill, bool counts)
{
    const struct fbp_s3_variant *v = fbp_s3_variant_at(j->s3, variant);
    struct fbp_s3_way way = {.variant = variant, .kill = kill};

    /* the tests' size is that of slices, whatever else is drawn */
    way.pack_on_device = way.unpack_on_device = kill == FBP_S3_DEPTH;

    (void)run(j, &way);
    const float *voxels = fbp_s3_volume(j->s3);
    const uint8_t *wanted = fbp_s3_wanted(j->s3);
    size_t inside = 0;
    for (size_t i = 0; i < j->voxels; i++) {
        inside += wanted[i];
        if (wanted[i] ? memcmp(&voxels[i], &j->usual[i], sizeof(float)) != 0 : voxels[i] != 0)
            fail_msg("%c: voxel %zu is %g, and was %g", v->letter, i, (double)voxels[i],
                     (double)j->usual[i]);
    }
    assert_true(inside > j->voxels / 5 && inside < j->voxels / 3);
    way.count = true;
    if (counts) {
        const struct fbp_s3_time t = run(j, &way);
        assert_true(t.shaded == wanted_fragments(j, v));
    }
}

static void check_job(const struct fbp_scan *scan)
{
    const struct fbp_s3_params p = {.struct_size = sizeof p, .n_threads = 2};
    struct job j = {.n = {scan->volume.n[0], scan->volume.n[1], scan->volume.n[2]},
                    .n_views = scan->n_views,
                    .voxels = grid_size(&scan->volume)};

    struct fbp_s3_limits limits;

    OK(fbp_s3_open(&j.s3, scan, &p));
    OK(fbp_s3_measure(j.s3, &limits));
    j.fast_db = limits.values > PLACES / 2 ? FINE_DB : ROUNDED_DB;
    j.usual = malloc(j.voxels * sizeof *j.usual);
    assert_non_null(j.usual);
    /* Fragments can be counted from OpenGL 4.2 on. */
    const struct fbp_s3_way way = {.variant = 3, .count = true};
    struct fbp_s3_time t;
    const bool counts = fbp_s3_run(j.s3, &way, &t) == FBP_OK;
    for (size_t i = 0; fbp_s3_variant_at(j.s3, i); i++) {
        check_ways(&j, i);
        check_kill(&j, i, FBP_S3_STENCIL, counts);
        check_kill(&j, i, FBP_S3_DEPTH, counts);
    }
    free(j.usual);
    fbp_s3_close(&j.s3);
    assert_null(j.s3);
}

TEST(all_variants_give_one_volume)
{
    static const size_t n[3] = {32, 32, 32}, panel[2] = {32, 32};
    AUTO_CLEAR struct fbp_scan scan = make_scan(32, n, panel);

    check_job(&scan);
}

/* Neither views nor slices are groups of four, and nothing is square. */
TEST(odd_sizes_do_too)
{
    static const size_t n[3] = {33, 31, 30}, panel[2] = {35, 29};
    AUTO_CLEAR struct fbp_scan scan = make_scan(37, n, panel);

    check_job(&scan);
}

/* Views and slices of few. */
TEST(less_than_a_group_does_too)
{
    static const size_t n[3] = {17, 19, 3}, panel[2] = {23, 9};
    AUTO_CLEAR struct fbp_scan scan = make_scan(11, n, panel);

    check_job(&scan);
}

TEST(what_cannot_be_drawn_is_said)
{
    static const size_t n[3] = {16, 16, 16}, panel[2] = {20, 20};
    const struct fbp_s3_params cpu = {.struct_size = sizeof cpu, .device = "cpu"},
                               gl = {.struct_size = sizeof gl};
    AUTO_CLEAR struct fbp_scan scan = make_scan(12, n, panel);
    struct fbp_s3_time t;
    fbp_s3 *s;

    OK(fbp_s3_open(&s, &scan, &gl));
    assert_fails(fbp_s3_run(s, &(struct fbp_s3_way){.again = true}, &t), FBP_ERR_INVALID,
                 "no filtered views to add again");
    fbp_s3_close(&s);
    assert_fails(fbp_s3_open(&s, &scan, &cpu), FBP_ERR_UNSUPPORTED,
                 "cpu does not draw with OpenGL; use --device gl");
    for (size_t k = 0; k < scan.n_views; k++) /* tilted about the ray */
        for (size_t i = 0; i < 3; i++)
            scan.views[k].v[i] += 0.02 * scan.views[k].u[i];
    assert_fails(fbp_s3_open(&s, &scan, &gl), FBP_ERR_UNSUPPORTED,
                 "use a circular scan whose panel is not tilted");
    assert_null(s);
}

/* Of 40 slices four in the middle are [16, 20), and sixteen [0, 16). */
TEST(slices_that_share_none_are_compared)
{
    static const size_t n[3] = {16, 16, 40}, panel[2] = {20, 44};
    const struct fbp_s3_params p = {.struct_size = sizeof p};
    AUTO_CLEAR struct fbp_scan scan = make_scan(12, n, panel);
    struct fbp_s3_error error;
    struct fbp_s3_time t;
    fbp_s3 *s;

    OK(fbp_s3_open(&s, &scan, &p));
    for (size_t i = 3; i < 7; i += 3) { /* D, F */
        const struct fbp_s3_way way = {.variant = i, .middle = 1};
        OK(fbp_s3_run(s, &way, &t));
        assert_int_equal(t.z0, i == 3 ? 16 : 0);
        OK(fbp_s3_compare(s, &error));
        assert_int_equal(error.n_voxels, t.n_slices * 16 * 16);
        assert_true(error.psnr_db > ROUNDED_DB && error.psnr_db < 200);
    }
    fbp_s3_close(&s);
}

TEST(sessions_can_be_opened_again)
{
    static const size_t n[3] = {8, 8, 8}, panel[2] = {12, 12};
    const struct fbp_s3_params p = {.struct_size = sizeof p};
    AUTO_CLEAR struct fbp_scan scan = make_scan(9, n, panel);
    struct fbp_s3_way way = {.variant = 3};
    struct fbp_s3_time t;

    for (int i = 0; i < 10; i++) {
        fbp_s3 *s;
        OK(fbp_s3_open(&s, &scan, &p));
        assert_null(fbp_s3_volume(s));
        OK(fbp_s3_run(s, &way, &t));
        assert_non_null(fbp_s3_volume(s));
        fbp_s3_close(&s);
    }
}

int main(int argc, char **argv)
{
    return usable("gl") ? run_file_tests(argc, argv, NULL, NULL) : 77;
}
