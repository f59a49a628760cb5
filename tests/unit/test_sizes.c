/* Structs that cross the border of the library: their sizes, and callers that were built with an
 * older or a newer header. */
#include "fbp/fbp.h"

#include "base/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A struct begins with its size, and ends without padding, so that a field which a later release
 * appends lies beyond what an older caller has. */
#define WHOLE(what, last)                                                               \
    _Static_assert(offsetof(struct fbp_##what, struct_size) == 0, "its size is first"); \
    _Static_assert(sizeof(struct fbp_##what) == FBP_BYTES_TO(struct fbp_##what, last),  \
                   "nothing behind the last field")

WHOLE(array_info, slices);
WHOLE(centre, uncertainty);
WHOLE(circle, skew_rad);
WHOLE(cluster, binds);
WHOLE(comparison, not_finite);
WHOLE(corrections, paganin_mm);
WHOLE(curve, best);
WHOLE(device_info, numa_node);
WHOLE(directions, n);
WHOLE(folder_known, user);
WHOLE(geometry_facts, gap_error);
WHOLE(geometry_format_info, extensions);
WHOLE(meridians, most);
WHOLE(geometry_known, preparation);
WHOLE(picture_params, frame);
WHOLE(part, missing);
WHOLE(plan_summary, nodes);
WHOLE(progress, waiting_for);
WHOLE(recon_params, unused);
WHOLE(report, saturated_share);
WHOLE(preparation, places);
WHOLE(scan, find_bad_pixels);
WHOLE(scan_known, preparation);
WHOLE(sheet_params, hi);
WHOLE(simulate_params, sink);
WHOLE(sink_functions, write_double);
WHOLE(sink_params, unused);
WHOLE(source_functions, there);
WHOLE(team_functions, stop_patience);

static void assert_refused_for(fbp_status st, const char *word)
{
    assert_int_equal(st, FBP_ERR_INVALID);
    assert_non_null(strstr(fbp_message(), word));
    fbp_message_clear();
}

/* What a release might look like to the one before and the one behind it. */
struct first {
    size_t struct_size;
    double a;
};
struct second {
    size_t struct_size;
    double a, b;
};

static void inputs_are_completed(void **state)
{
    (void)state;
    const struct first older = {.struct_size = sizeof older, .a = 1};
    struct second own = {.b = 7}, newer = {.struct_size = sizeof newer, .a = 2};
    struct first small;

    assert_int_equal(fbp_take_struct("x", &own, sizeof own, &older, sizeof older), FBP_OK);
    assert_true(own.struct_size == sizeof own && own.a == 1 && own.b == 0);
    assert_int_equal(fbp_take_struct("x", &small, sizeof small, &newer, sizeof small), FBP_OK);
    assert_true(small.struct_size == sizeof small && small.a == 2);
    newer.b = 1e-300;
    assert_refused_for(fbp_take_struct("x", &small, sizeof small, &newer, sizeof small), "beyond");
    assert_refused_for(fbp_take_struct("x", &own, sizeof own, NULL, sizeof older), "NULL");
    for (size_t size = 0; size < sizeof older; size++) {
        const struct first wrong = {.struct_size = size};
        assert_refused_for(fbp_take_struct("x", &own, sizeof own, &wrong, sizeof older),
                           "struct_size");
    }
    const struct first wild = {.struct_size = SIZE_MAX};
    assert_refused_for(fbp_take_struct("x", &own, sizeof own, &wild, sizeof older), "struct_size");
}

static void results_keep_to_their_room(void **state)
{
    (void)state;
    const struct second own = {.struct_size = sizeof own, .a = 3, .b = 4};
    const struct first old = {.struct_size = sizeof old, .a = 5};
    struct second theirs = {.struct_size = sizeof old, .b = 6};

    fbp_give_struct(&theirs, &own, sizeof own);
    assert_true(theirs.struct_size == sizeof old && theirs.a == 3 && theirs.b == 6);
    theirs.struct_size = sizeof theirs;
    fbp_give_struct(&theirs, &old, sizeof old);
    assert_true(theirs.struct_size == sizeof theirs && theirs.a == 5 && theirs.b == 0);
}

/* Each call that takes or fills such a struct asks for its size. */
static void every_call_asks(void **state)
{
    (void)state;
    double values[] = {1, 2};
    float samples[4] = {0};
    char line[300];
    struct fbp_view view = {{100, 0, 0}, {-100, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const struct fbp_panel panel = {2, 2};
    const struct fbp_views views = {FBP_CONE, 1, panel, &view};
    struct fbp_scan scan = {.n_views = 1, .panel = panel, .views = &view, .i0 = 3};
    struct fbp_phantom phantom = {0};
    struct fbp_geometry_facts facts = {0};
    struct fbp_array_info info = {.n = {2, 2, 1}, .type = FBP_F32};
    struct fbp_curve curve = {.x = values, .y = values, .n = 2};
    struct fbp_centre centre = {0};
    struct fbp_comparison comparison = {0};
    struct fbp_device_info device = {0};
    struct fbp_geometry_format_info format = {0};
    struct fbp_grid grid = {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    fbp_source *source;
    fbp_sink *sink;
    fbp_adder *adder;
    fbp_plan *plan;

    assert_refused_for(fbp_plan_create(&plan, &scan, NULL), "fbp_scan");
    assert_refused_for(fbp_adder_create(&adder, &scan, NULL), "fbp_scan");
    assert_refused_for(fbp_reconstruct(&scan, NULL, samples, samples, NULL), "fbp_scan");
    assert_refused_for(fbp_scan_load(&scan, "x"), "fbp_scan");
    assert_refused_for(fbp_scan_load_growing(&scan, "x"), "fbp_scan");
    assert_refused_for(fbp_scan_load_known(&scan, "x", NULL), "fbp_scan");
    assert_refused_for(fbp_scan_save(&scan, "x", NULL), "fbp_scan");
    assert_refused_for(fbp_scan_reduce(&scan, 1, 2), "fbp_scan");
    assert_refused_for(fbp_geometry_load(&scan, "x", NULL, NULL), "fbp_scan");
    assert_refused_for(fbp_geometry_save(&scan, "x", NULL), "fbp_scan");
    assert_refused_for(fbp_phantom_project(&phantom, &scan, "null:", 0, 0, 1), "fbp_scan");
    assert_refused_for(fbp_centre_find(&scan, NULL, &centre), "fbp_centre");
    assert_true(fbp_scan_reads(&scan, "x"));
    assert_false(fbp_scan_is_intensity(&scan));
    assert_refused_for(fbp_grid_resolve(NULL, &scan, &grid), "fbp_scan");
    assert_refused_for(fbp_views_facts(views, NULL, &facts), "fbp_geometry_facts");
    assert_refused_for(fbp_geometry_circular(&facts), "fbp_geometry_facts");
    assert_false(fbp_geometry_remark(&facts, 0, line, sizeof line));
    assert_refused_for(fbp_geometry_svg(views, NULL, &facts, "x.svg"), "fbp_geometry_facts");
    assert_refused_for(fbp_curve_svg(&curve, "x.svg"), "fbp_curve");
    assert_refused_for(fbp_source_memory(&source, samples, &info), "fbp_array_info");
    assert_refused_for(fbp_sink_open(&sink, "null:", &info, NULL), "fbp_array_info");
    assert_refused_for(fbp_array_compare("a", "b", 0, &comparison), "fbp_comparison");
    assert_true(fbp_devices(&device, 1) == 0 && strstr(fbp_message(), "fbp_device_info"));
    assert_true(fbp_geometry_formats(&format, 1) == 0);
    assert_non_null(strstr(fbp_message(), "fbp_geometry_format_info"));
}

/* A list of a newer caller's, larger structs. */
static void lists_have_steps(void **state)
{
    (void)state;
    struct newer {
        struct fbp_device_info known;
        double more;
    } d[8];
    struct fbp_device_info plain[8] = {{.struct_size = sizeof *plain}};
    const size_t n = fbp_devices(plain, 8);

    memset(d, 0x5a, sizeof d);
    d[0].known.struct_size = sizeof *d;
    assert_int_equal(fbp_devices((struct fbp_device_info *)d, 8), n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(d[i].known.name, plain[i].name);
        assert_true(d[i].known.struct_size == sizeof *d && d[i].more == 0);
        assert_true(plain[i].struct_size == sizeof *plain);
    }
    assert_true(n == 8 || d[n].known.struct_size != sizeof *d);
}

static void the_release_is_one(void **state)
{
    (void)state;
    char text[40];

    snprintf(text, sizeof text, "%d.%d.%d", FBP_VERSION_MAJOR, FBP_VERSION_MINOR,
             FBP_VERSION_PATCH);
    assert_string_equal(fbp_version(), text);
    assert_string_equal(FBP_VERSION, text);
    assert_string_equal(FBP_RELEASE, text); /* what CMake calls this release */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_completed), cmocka_unit_test(results_keep_to_their_room),
        cmocka_unit_test(every_call_asks),      cmocka_unit_test(lists_have_steps),
        cmocka_unit_test(the_release_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
