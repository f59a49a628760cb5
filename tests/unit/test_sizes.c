/* Checks that a call refuses a public struct whose struct_size differs from that of the header. */
#include "base/base.h"
#include "geometry/kind.h"
#include "picture/draw.h"
#include "scan/file/scan.h"
#include "test.h"

static void assert_refused_for(fbp_status st, const char *word)
{
    assert_fails(st, FBP_ERR_INVALID, word);
    fbp_message_clear();
}

struct example {
    size_t struct_size;
    double a;
};

TEST(any_other_size_is_refused)
{
    const struct example right = {.struct_size = sizeof right, .a = 1};
    struct example own = {0};

    OK(fbp_copy_struct_in("x", &own, sizeof own, &right));
    assert_true(own.struct_size == sizeof own && own.a == 1);
    assert_refused_for(fbp_copy_struct_in("x", &own, sizeof own, NULL), "NULL");
    for (size_t size = 0; size < 3 * sizeof right; size++) {
        const struct example wrong = {.struct_size = size};
        if (size != sizeof right)
            assert_refused_for(fbp_copy_struct_in("x", &own, sizeof own, &wrong), "struct_size");
    }
}

TEST(results_keep_their_size)
{
    const struct example own = {.struct_size = 0, .a = 3};
    struct example theirs = {.struct_size = sizeof theirs};

    fbp_copy_struct_out(&theirs, &own, sizeof own);
    assert_true(theirs.struct_size == sizeof theirs && theirs.a == 3);
}

/* Each call that takes or fills such a struct asks for its size. */
TEST(every_call_asks)
{
    float samples[4] = {0};
    char line[300];
    struct fbp_view view = {{100, 0, 0}, {-100, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const struct fbp_panel panel = {2, 2};
    struct fbp_scan scan = {.n_views = 1, .panel = panel, .views = &view, .i0 = 3};
    struct fbp_phantom phantom = {0};
    struct fbp_geometry_facts facts = {0};
    struct fbp_array_info info = {.n = {2, 2, 1}, .type = FBP_F32};
    struct fbp_centre centre = {0};
    struct fbp_comparison comparison = {0};
    struct fbp_device_info device = {0};
    struct fbp_geometry_format_info format = {0};
    struct fbp_grid grid = {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    fbp_source *source;
    fbp_sink *sink;
    fbp_accumulator *accumulator;
    fbp_plan *plan;

    assert_refused_for(fbp_plan_create(&plan, &scan, NULL), "fbp_scan");
    assert_refused_for(fbp_accumulator_create(&accumulator, &scan, NULL), "fbp_scan");
    assert_refused_for(fbp_reconstruct(&scan, NULL, FBP_F32, samples, samples, NULL), "fbp_scan");
    assert_refused_for(fbp_scan_load(&scan, "x", NULL), "fbp_scan");
    assert_refused_for(fbp_scan_load(&scan, "x", NULL), "fbp_scan");
    assert_refused_for(fbp_scan_save(&scan, "x", NULL), "fbp_scan");
    assert_refused_for(fbp_scan_reduce(&scan, 1, 2), "fbp_scan");
    assert_refused_for(fbp_geometry_load(&scan, "x", NULL, NULL), "fbp_scan");
    assert_refused_for(fbp_geometry_save(&scan, "x", NULL), "fbp_scan");
    assert_refused_for(
        fbp_phantom_simulate(&phantom, &scan, "null:", fbp_simulate_params(.n_threads = 1)),
        "fbp_scan");
    assert_refused_for(fbp_centre_find(&scan, NULL, &centre), "fbp_centre");
    assert_true(fbp_scan_reads(&scan, "x"));
    assert_false(fbp_scan_is_intensity(&scan));
    assert_refused_for(fbp_grid_resolve(NULL, &scan, &grid), "fbp_scan");
    assert_false(fbp_geometry_remark(&facts, 0, line, sizeof line));
    assert_refused_for(fbp_source_memory(&source, samples, &info), "fbp_array_info");
    assert_refused_for(fbp_sink_open(&sink, "null:", &info, NULL), "fbp_array_info");
    assert_refused_for(fbp_array_compare("a", "b", 0, &comparison), "fbp_comparison");
    assert_true(fbp_devices(&device, 1) == 0 && strstr(fbp_message(), "fbp_device_info"));
    assert_true(fbp_geometry_formats(&format, 1) == 0);
    assert_says("fbp_geometry_format_info");
}

/* The caller sets the size of the first element only. */
TEST(lists_get_sizes)
{
    struct fbp_device_info d[8] = {{.struct_size = sizeof *d}};
    const size_t n = fbp_devices(d, 8);

    for (size_t i = 0; i < n && i < 8; i++)
        assert_true(d[i].struct_size == sizeof *d && d[i].name[0] != 0);
}

TEST(the_release_is_one)
{
    AUTO_FREE char *text =
        printed("%d.%d.%d", FBP_VERSION_MAJOR, FBP_VERSION_MINOR, FBP_VERSION_PATCH);
    assert_string_equal(fbp_version(), text);
    assert_string_equal(FBP_VERSION, text);
    assert_string_equal(FBP_RELEASE, text); /* what CMake calls this release */
}

TEST_MAIN(NULL, NULL)
