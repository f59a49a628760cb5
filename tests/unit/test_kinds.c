/* Checks that every call refuses an unknown kind of geometry, and that calls for line integrals
 * refuse plane integrals. */
#include "recon/fixture.h"

#include "base/base.h"
#include "base/math.h"
#include "bench/common/measure.h"
#include "bench/papers/zinsser2013/s1.h"
#include "bench/rabbitct/rabbitct.h"
#include "geometry/kind.h"
#include "geometry/view.h"
#include "phantom/shapes.h"
#include "picture/draw.h"
#include "scan/file/scan.h"
#include "weight/weight.h"

enum { VIEWS = 12, COLUMNS = 24, ROWS = 8 };

static const enum fbp_kind made_up = (enum fbp_kind)3;

/* What a refused call must leave behind: its status, and the kind in the sentence. */
struct refusal {
    fbp_status status;
    const char *says;
};

static struct fbp_view *parallel_views(void)
{
    struct fbp_view *views = calloc(VIEWS, sizeof *views);
    double angles[VIEWS];

    for (int k = 0; k < VIEWS; k++)
        angles[k] = PI * k / VIEWS;
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .kind = FBP_PARALLEL,
                                      .n_views = VIEWS,
                                      .angles_rad = angles,
                                      .pitch_mm = {1, 1}};
    OK(fbp_circle_views(&circle, views));
    return views;
}

static struct fbp_scan scan_of(enum fbp_kind kind)
{
    return (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .kind = kind,
                             .n_views = VIEWS,
                             .panel = {COLUMNS, ROWS},
                             .views = parallel_views(),
                             .row_order = FBP_ROWS_BOTTOM_UP};
}

static void refused(fbp_status status, const struct refusal *r, const char *call)
{
    if (status != r->status || !strstr(fbp_message(), r->says))
        fail_msg("%s: status %d, \"%s\": expected %d and \"%s\"", call, (int)status, fbp_message(),
                 (int)r->status, r->says);
}

#define REFUSED(call) refused(call, r, #call)

static void refuse_circles(const struct fbp_scan *scan, const struct refusal *r)
{
    const double angles[2] = {0, 1}, sod = 500, sdd = 800;
    const struct fbp_circle circle =
        circle_of(2, angles, sod, sdd, .kind = scan->kind, .pitch_mm = {1, 1});
    struct fbp_view views[2];
    AUTO_FREE char *path = temporary("circle.json");

    REFUSED(fbp_circle_views(&circle, views));
    REFUSED(fbp_c_arm_views(&circle, &scan->panel, views));
    REFUSED(fbp_scan_save(scan, path, &circle));
    assert_int_not_equal(access(path, F_OK), 0);
}

static void refuse_files(struct fbp_scan *scan, const struct refusal *r)
{
    struct fbp_geometry_format_info formats[40] = {{.struct_size = sizeof *formats}};
    const struct fbp_geometry_facts facts = {.struct_size = sizeof facts, .n_angles = 1};
    const size_t n = fbp_geometry_formats(formats, 40);
    AUTO_FREE char *path = temporary("refused");
    size_t written = 0;

    for (size_t i = 0; i < n; i++)
        if (formats[i].writes) {
            refused(fbp_geometry_save(scan, path, formats[i].name), r, formats[i].name);
            assert_int_not_equal(access(path, F_OK), 0);
            written++;
        }
    assert_true(written >= 9);
    REFUSED(fbp_scan_save(scan, path, NULL));
    REFUSED(fbp_geometry_svg(fbp_scan_views(scan), NULL, &facts, path));
    assert_int_not_equal(access(path, F_OK), 0);
}

static void refuse_work(struct fbp_scan *scan, const struct refusal *r)
{
    struct fbp_centre centre = {.struct_size = sizeof centre};
    AUTO_FREE char *path = temporary("refused.mha");
    float *views = calloc((size_t)VIEWS * COLUMNS * ROWS, sizeof *views), volume[64];
    fbp_plan *plan;

    CLEANUP(fbp_phantom_clear) struct fbp_phantom phantom = create_phantom("shepp-logan", 8, 0.02);
    REFUSED(
        fbp_phantom_simulate(&phantom, scan, path, fbp_simulate_params(.seed = 1, .n_threads = 1)));
    assert_int_not_equal(access(path, F_OK), 0);
    scan->projections = path;
    REFUSED(fbp_plan_create(&plan, scan, NULL));
    REFUSED(fbp_centre_find(scan, NULL, &centre));
    scan->projections = NULL;
    REFUSED(fbp_reconstruct(scan, NULL, FBP_F32, views, volume, NULL));
    REFUSED(fbp_scan_reduce(scan, 2, 2));
    assert_int_equal(scan->n_views, VIEWS);
    free(views);
}

static void refuse_all(enum fbp_kind kind, const struct refusal *r)
{
    AUTO_CLEAR struct fbp_scan scan = scan_of(kind);

    const struct fbp_views views = fbp_scan_views(&scan);
    const struct fbp_grid grid = {.n = {4, 4, 4}, .voxel_mm = {1, 1, 1}};
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts, .n_angles = 0};
    struct fbp_weights *weights;
    struct fbp_grid found;
    size_t rows[2] = {7, 9};
    double P[12];
    REFUSED(fbp_view_to_matrix(&scan.views[0], scan.kind, &scan.panel, P));
    REFUSED(fbp_views_facts(views, NULL, &facts));
    REFUSED(fbp_views_facts(views, &grid, &facts));
    REFUSED(fbp_geometry_rows(views, 0, VIEWS, &grid, 0, 4, &rows[0], &rows[1]));
    assert_int_equal(rows[0], rows[1]);
    REFUSED(fbp_grid_default(views, &found));
    REFUSED(fbp_grid_resolve(NULL, &scan, &found));
    REFUSED(fbp_weights_create(&weights, views, &facts, FBP_ANGULAR_AUTO));
    refuse_circles(&scan, r);
    refuse_files(&scan, r);
    refuse_work(&scan, r);
    const struct fbp_rabbitct_make make = {.struct_size = sizeof make};
    const struct fbp_host_options options = {.n_runs = 1};
    struct fbp_host_time time;
    fbp_bench *bench;
    fbp_s1 *s1;
    AUTO_FREE char *path = temporary("refused.rct");
    OK(fbp_bench_create(&bench, fbp_recon_params(.device = "ref")));
    REFUSED(fbp_bench_scan(bench, &scan, 0, 0));
    fbp_bench_destroy(&bench);
    REFUSED(fbp_bench_host(&scan, NULL, &options, &time));
    REFUSED(fbp_s1_open(&s1, &scan, NULL));
    REFUSED(fbp_rabbitct_create(path, &scan, &make));
    assert_int_not_equal(access(path, F_OK), 0);
}

static struct fbp_scan scan_of_planes(void)
{
    const struct fbp_directions set = {.struct_size = sizeof set, .n = {5}};
    struct fbp_scan scan = scan_of(FBP_PLANES);
    double direction[40][3];

    OK(fbp_directions_make(&set, NULL, &scan.n_views));
    OK(fbp_directions_make(&set, direction, NULL));
    free(scan.views);
    scan.views = calloc(scan.n_views, sizeof *scan.views);
    scan.panel.n_rows = 1;
    for (size_t k = 0; k < scan.n_views; k++)
        fbp_plane_view(direction[k], 1, -(COLUMNS - 1) / 2., COLUMNS, &scan.views[k]);
    return scan;
}

/* What works on lines has nothing to do with planes, and says so. */
TEST(planes_are_refused_by_what_works_on_lines)
{
    const struct refusal lines = {FBP_ERR_UNSUPPORTED, "scans of kind planes have none"}, *r;
    const struct refusal formats = {FBP_ERR_UNSUPPORTED, "cannot store a scan of kind planes"};
    struct fbp_geometry_format_info written[40] = {{.struct_size = sizeof *written}};
    const size_t n = fbp_geometry_formats(written, 40);
    AUTO_CLEAR struct fbp_scan scan = scan_of_planes();
    struct fbp_centre centre = {.struct_size = sizeof centre};
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_weights *weights;
    AUTO_FREE char *path = temporary("refused");

    r = &lines;
    OK(fbp_views_facts(fbp_scan_views(&scan), NULL, &facts));
    REFUSED(fbp_weights_create(&weights, fbp_scan_views(&scan), &facts, FBP_ANGULAR_AUTO));
    refuse_circles(&scan, r);
    scan.projections = strdup(path);
    REFUSED(fbp_centre_find(&scan, NULL, &centre));
    r = &formats;
    for (size_t i = 0; i < n; i++)
        if (written[i].writes && strcmp(written[i].name, "fbp") != 0)
            refused(fbp_geometry_save(&scan, path, written[i].name), r, written[i].name);
    assert_int_not_equal(access(path, F_OK), 0);
}

TEST(what_is_no_kind_is_refused)
{
    const struct refusal r = {FBP_ERR_INVALID,
                              "is not a geometry kind; expected cone, parallel or planes"};
    const struct refusal few = {FBP_ERR_INVALID, "42 is not a geometry kind"};

    refuse_all((enum fbp_kind)42, &few);
    refuse_all(made_up, &r);
    refuse_all((enum fbp_kind) - 1, &r);
    assert_string_equal(fbp_kind_name((enum fbp_kind)42), "unknown");
}

/* Names of options come from here. */
TEST(kinds_are_listed)
{
    for (enum fbp_kind k = FBP_CONE; k <= FBP_PLANES; k++)
        assert_string_equal(fbp_kind_listed(k), fbp_kind_name(k));
    assert_null(fbp_kind_listed(made_up));
    assert_null(fbp_kind_listed(SIZE_MAX));
}

TEST_MAIN(NULL, NULL)
