/* Checks the key flip of scan files: flipped columns, rows and direction of rotation give the
 * right views. */
#include "geometry/view.h"
#include "unit/foreign_files.h"
#include "unit/geometry_util.h"

enum { N = 7 };

static struct fbp_view *circle(const double offset[2], double tilt_deg)
{
    const struct scan scan = {.n = N,
                              .start_deg = 20,
                              .arc_deg = 300,
                              .sod = 500,
                              .sdd = 800,
                              .pitch = {0.8, 0.7},
                              .offset = {offset[0], offset[1]},
                              .tilt_deg = {tilt_deg, 2 * tilt_deg, 3 * tilt_deg},
                              .panel = {6, 4}};

    return scan_views(&scan);
}

TEST(twice_is_as_never)
{
    static const double offset[2] = {3, -2};
    AUTO_FREE struct fbp_view *a = circle(offset, 2), *b = circle(offset, 2);

    for (unsigned flips = 0; flips < 8; flips++) {
        fbp_views_flip(b, N, flips);
        assert_true(flips == 0 || fabs(a[3].u[0] - b[3].u[0]) + fabs(a[3].v[2] - b[3].v[2]) > 1e-3);
        fbp_views_flip(b, N, flips);
        same_views(a, b, N, 1e-10);
    }
}

/* Angles 20 + d become 20 - d; the panel goes with the source. */
TEST(direction_turns_about_view_0)
{
    static const double offset[2] = {3, -2};
    AUTO_FREE struct fbp_view *a = circle(offset, 0);
    const double angle = (20 - 300.0 / N) * FBP_PI / 180;

    const struct fbp_view first = a[0];
    fbp_views_flip(a, N, FBP_FLIP_DIRECTION);
    same_views(a, &first, 1, 1e-10);
    near3("s", a[1].s, 500 * cos(angle), 500 * sin(angle), 0);
    near3("u", a[1].u, -0.8 * sin(angle), 0.8 * cos(angle), 0);
    near3("d", a[1].d, -300 * cos(angle) - 3 * sin(angle), -300 * sin(angle) + 3 * cos(angle), -2);
}

/* The mirror through the axis and the source of view 0 takes a scan of a centred detector to the
 * one of flipped columns and direction. */
TEST(columns_and_direction_are_a_mirror)
{
    static const double centred[2] = {0, 4};
    AUTO_FREE struct fbp_view *a = circle(centred, 0), *b = circle(centred, 0);
    const double m[3] = {-sin(20 * FBP_PI / 180), cos(20 * FBP_PI / 180), 0};

    for (int k = 0; k < N; k++) {
        double *const vectors[4] = {a[k].s, a[k].d, a[k].u, a[k].v};
        for (int i = 0; i < 4; i++)
            fbp_axpy(vectors[i], -2 * fbp_dot(vectors[i], m), m, vectors[i]);
    }
    fbp_views_flip(b, N, FBP_FLIP_U | FBP_FLIP_DIRECTION);
    same_views(a, b, N, 1e-10);
}

TEST(scan_files_say_flips)
{
    static const char text[] =
        "{\"fbp_scan\": 1, \"detector\": {\"columns\": 6, \"rows\": 4, \"pitch_mm\": [0.8, 0.7]},\n"
        "\"source_to_axis_mm\": 500, \"source_to_detector_mm\": 800, \"angles_deg\": [0, 90],\n"
        "\"flip\": [\"u\", \"direction\"]}\n";
    struct fbp_scan s = {.struct_size = sizeof s};

    write_changed("f.json", text, NULL, NULL);
    s = load_file("f.json");
    near3("u", s.views[0].u, 0, -0.8, 0);
    near3("s", s.views[1].s, 0, -500, 0);
    fbp_scan_clear(&s);
    write_changed("f.json", text, "[\"u\", \"direction\"]", "\"v\"");
    s = load_file("f.json");
    near3("v", s.views[0].v, 0, 0, -0.7);
    near3("u", s.views[0].u, 0, 0.8, 0);
    fbp_scan_clear(&s);
    write_changed("f.json", text, "\"direction\"", "\"w\"");
    refuses("f.json", "flip: found a list of 2, expected \"u\"");
    write_changed("f.json", text, "[\"u\", \"direction\"]", "true");
    refuses("f.json", "flip: found true");
}

TEST_MAIN(make_files, drop_files)
