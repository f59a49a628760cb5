/* Checks that weights computed in float, as devices do, equal the host's in double. */
#define FBP_RAY_FLOAT

#include "geometry_util.h"

#include "geometry/kind.h"
#include "test.h"
#include "weight/weight.h"

static double greatest(const fbp_weights *w, const struct scan *scan, double *row)
{
    double most = 0;

    for (size_t k = 0; k < scan->n; k++)
        for (size_t r = 0; r < scan->panel.n_rows; r += 31) {
            fbp_weights_row(w, k, r, row);
            for (size_t c = 0; c < scan->panel.n_columns; c++)
                most = fmax(most, row[c]);
        }
    return most;
}

/* The greatest difference of a scan, as a part of its greatest weight. */
static double check(const struct scan *scan, const struct fbp_view *views)
{
    const size_t nc = scan->panel.n_columns;
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_rays rays;
    fbp_weights *w;
    double *row = not_null(malloc(nc * sizeof *row)), worst = 0;

    OK(fbp_views_facts(views_of(scan, views), NULL, &facts));
    OK(fbp_weights_create(&w, views_of(scan, views), &facts, FBP_ANGULAR_AUTO));
    fbp_weights_rays(w, &rays);
    const double most = greatest(w, scan, row);
    assert_true(most > 0);
    for (size_t k = 0; k < scan->n; k++)
        for (size_t r = 0; r < scan->panel.n_rows; r += 31) {
            struct fbp_ray_view view;
            struct fbp_ray_row line;
            fbp_weights_view(w, k, &view);
            fbp_ray_row_of(&rays, &view, (double)r, &line);
            fbp_weights_row(w, k, r, row);
            for (size_t c = 0; c < nc; c++) {
                const float got = fbp_ray_weight(&rays, &view, &line, (float)c);
                worst = fmax(worst, fabs((double)got - row[c]) / most);
                if (!(fabs((double)got - row[c]) <= 1e-6 * most))
                    fail_msg("view %zu, row %zu, column %zu: %.9g, not %.9g", k, r, c, (double)got,
                             row[c]);
            }
        }
    fbp_weights_destroy(&w);
    free(row);
    return worst;
}

TEST(float_is_enough)
{
    static const struct {
        const char *name;
        struct scan scan;
    } cases[] = {
        {"full", {.arc_deg = 360}},
        {"short", {.arc_deg = 200}},
        {"short, clockwise", {.arc_deg = -215, .start_deg = 77}},
        {"long", {.arc_deg = 330}},
        {"limited", {.arc_deg = 120}},
        {"short, turned", {.arc_deg = 200, .tilt_deg = {5, -8, 3}}},
        {"few views", {.n = 23, .arc_deg = 202, .tilt_deg = {4, -6, 2}}},
        {"a little short", {.n = 40, .arc_deg = 197, .tilt_deg = {0, 0, 2}}},
        {"offset", {.arc_deg = 360, .offset = {110, 0}}},
        {"offset, turned", {.arc_deg = 360, .offset = {-110, 5}, .tilt_deg = {2, 7, -4}}},
        {"parallel", {.kind = FBP_PARALLEL, .arc_deg = 180}},
        {"parallel, long", {.kind = FBP_PARALLEL, .arc_deg = 250, .tilt_deg = {1, 2, 3}}},
        {"parallel, offset", {.kind = FBP_PARALLEL, .arc_deg = 360, .offset = {-110, 0}}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scan scan = cases[i].scan;
        scan.n = scan.n ? scan.n : 301;
        scan.sod = 750;
        scan.sdd = 1200;
        scan.pitch[0] = scan.pitch[1] = 0.32;
        scan.panel = (struct fbp_panel){1248, 96};
        AUTO_FREE struct fbp_view *views = scan_views(&scan);
        print_message("%-18s %.1e of the greatest weight\n", cases[i].name, check(&scan, views));
    }
}

/* Sources that wander, panels that lean: every view its own. */
TEST(float_is_enough_for_any_view)
{
    for (int i = 0; i < 4; i++) {
        struct scan scan = {.n = 150,
                            .sod = 750,
                            .sdd = 1200,
                            .pitch = {0.32, 0.32},
                            .arc_deg = i % 2 ? 360 : 210,
                            .panel = {1248, 96}};
        AUTO_FREE struct fbp_view *views = scan_views(&scan);
        for (size_t k = 0; k < scan.n; k++)
            for (int a = 0; a < 3; a++) {
                views[k].s[a] += uniform(-3, 3);
                views[k].d[a] += uniform(-3, 3);
                views[k].u[a] += uniform(-0.01, 0.01);
                views[k].v[a] += uniform(-0.01, 0.01);
            }
        print_message("any views          %.1e of the greatest weight\n", check(&scan, views));
    }
}

TEST_MAIN(NULL, NULL)
