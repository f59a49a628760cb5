/* Checks that the slices of a preview (analysis/preview.h) are those of a reconstruction with
 * kernel "matrix" after each change, and that only the necessary parts are computed again. */
#include "analysis/preview.h"
#include "base/system.h"
#include "recon/fixture.h"
#include "scan/adjust.h"

enum { N = 48, VIEWS = 90 };

static const char *device_name(void)
{
    return getenv("FBP_TEST_DEVICE") ? getenv("FBP_TEST_DEVICE") : "cpu";
}

/* A GPU rounds coordinates to 1/256 of a pixel by default, from a reference point that depends on
 * the order of the axes. */
static struct fbp_recon_params exact_params(void)
{
    return *fbp_recon_params(.device = device_name(), .n_threads = 2,
                             .precision = FBP_PRECISION_EXACT);
}

static struct fbp_scan make(double arc_deg, double offset_mm)
{
    AUTO_FREE double *angles = even_angles(VIEWS, 10, arc_deg / VIEWS);
    const struct fbp_circle circle =
        circle_of(VIEWS, angles, 300, 450, .pitch_mm = {3, 3}, .offset_mm = {offset_mm, 1});
    struct fbp_scan scan = {
        .struct_size = sizeof scan,
        .kind = FBP_CONE,
        .n_views = VIEWS,
        .panel = {72, 60},
        .volume = {.n = {N, N - 6, N - 2}, .voxel_mm = {2.5, 2.5, 2.5}, .centre_mm = {2, -3, 4}}};

    scan.views = not_null(calloc(VIEWS, sizeof *scan.views));
    OK(fbp_circle_views(&circle, scan.views));
    CLEANUP(fbp_phantom_clear)
    struct fbp_phantom head = create_phantom("shepp-logan", 50, 0.02);
    for (size_t i = 0; i < head.n; i++)
        head.items[i].centre_mm[0] += 6;
    simulate(&scan, &head);
    return scan;
}

/* Steps until all views are in all slices, or `most` steps. */
static void finish(fbp_preview *p, int most)
{
    bool more = true;

    for (int i = 0; more && i < most; i++)
        OK(fbp_preview_step(p, &more));
}

/* Greatest difference of the slices to those of a reconstruction, relative to its peak. */
static double difference(fbp_preview *p, const struct fbp_scan *scan,
                         const struct fbp_recon_params *given, const size_t at[3])
{
    const struct fbp_grid *g = &scan->volume;
    struct fbp_recon_params params = *given;
    AUTO_REMOVE char *path = temporary("volume.mha");
    double most = 0, peak = 0;

    params.tuning.kernel = "matrix";
    OK(reconstruct_to(scan, &params, path, NULL));
    AUTO_FREE float *volume = read_array(path);
    for (size_t i = 0; i < grid_size(g); i++)
        peak = fmax(peak, fabs((double)volume[i]));
    for (int plane = 0; plane < 3; plane++) {
        const int a = plane == 2, b = plane == 0 ? 1 : 2, c = 2 - plane;
        size_t v[3] = {at[0], at[1], at[2]};
        const float *values;
        float range[2], least = INFINITY, greatest = -INFINITY;
        OK(fbp_preview_slice(p, plane, &values, range));
        for (v[b] = 0; v[b] < g->n[b]; v[b]++)
            for (v[a] = 0; v[a] < g->n[a]; v[a]++) {
                least = fminf(least, values[v[b] * g->n[a] + v[a]]);
                greatest = fmaxf(greatest, values[v[b] * g->n[a] + v[a]]);
                most = fmax(most, fabs((double)values[v[b] * g->n[a] + v[a]] -
                                       (double)volume[(v[2] * g->n[1] + v[1]) * g->n[0] + v[0]]));
            }
        assert_true(fabsf(range[0] - least) <= 1e-6f * greatest);
        assert_true(fabsf(range[1] - greatest) <= 1e-6f * greatest);
        assert_int_equal(c + a + b, 3);
    }
    return most / peak;
}

TEST(slices_are_those_of_the_volume)
{
    static const double arcs[] = {360, 250, 360}, offsets[] = {0, 0, 55};
    const size_t at[] = {20, 13, 30};

    for (int i = 0; i < 3; i++) {
        AUTO_DROP struct fbp_scan scan = make(arcs[i], offsets[i]);
        const struct fbp_recon_params exact = exact_params(), *params = &exact;
        struct fbp_preview_state s;
        fbp_preview *p;
        OK(fbp_preview_create(&p, params));
        OK(fbp_preview_set(p, &scan, params, at));
        fbp_preview_state(p, &s);
        assert_true(s.has_read && s.has_filtered && s.done[0] == 0);
        finish(p, 1);
        fbp_preview_state(p, &s);
        assert_true(s.done[0] >= VIEWS / 8 && s.done[0] < VIEWS / 4 && s.done[2] == s.done[0]);
        const double few = difference(p, &scan, params, at);
        finish(p, 100);
        fbp_preview_state(p, &s);
        assert_true(s.done[0] == VIEWS && s.done[1] == VIEWS && s.done[2] == VIEWS);
        const double d = difference(p, &scan, params, at);
        print_message("arc %g, offset %g: %.2g, after one step %.2g\n", arcs[i], offsets[i], d,
                      few);
        assert_true(few > 0.02 && few < 1.5);
        assert_true(d < 2e-6);
        fbp_preview_destroy(&p);
    }
}

/* A change, whether views are then filtered again, and the permitted difference. */
static void changes(fbp_preview *p, struct fbp_scan *scan, const struct fbp_recon_params *params,
                    const size_t at[3], const char *what, bool filters, double most)
{
    struct fbp_preview_state s;
    const double begin = fbp_seconds();

    OK(fbp_preview_set(p, scan, params, at));
    finish(p, 100);
    const double seconds = fbp_seconds() - begin;
    fbp_preview_state(p, &s);
    const double d = difference(p, scan, params, at);
    print_message("%s: %.2g%s, %.0f ms\n", what, d, s.has_filtered ? ", filtered" : "",
                  1e3 * seconds);
    assert_int_equal(s.has_filtered, filters);
    assert_true(d <= most);
}

TEST(only_what_changed_is_computed_again)
{
    AUTO_DROP struct fbp_scan scan = make(360, 0);
    struct fbp_recon_params params = exact_params();
    size_t at[] = {20, 13, 30};
    fbp_preview *p;

    OK(fbp_preview_create(&p, &params));
    changes(p, &scan, &params, at, "first", true, 2e-6);
    at[1] = 25;
    changes(p, &scan, &params, at, "another slice", false, 2e-6);
    OK(fbp_adjust_set(&scan, FBP_ADJUST_CENTRE, 35.9));
    changes(p, &scan, &params, at, "axis", false, 2e-3);
    OK(fbp_adjust_set(&scan, FBP_ADJUST_SDD, 470));
    changes(p, &scan, &params, at, "sdd", true, 2e-6);
    params.filter = FBP_FILTER_HANN;
    params.cutoff = 0.8;
    changes(p, &scan, &params, at, "filter", true, 2e-6);
    OK(fbp_scan_correct(&scan,
                        &(struct fbp_corrections){.struct_size = sizeof(struct fbp_corrections),
                                                  .beam_hardening = {1, .05}}));
    changes(p, &scan, &params, at, "beam hardening", true, 2e-6);
    struct fbp_corrections c = {.struct_size = sizeof c, .beam_hardening = {1, .05}};
    OK(fbp_corrections_rings(&c, "sorting:7"));
    OK(fbp_scan_correct(&scan, &c));
    changes(p, &scan, &params, at, "rings", true, 2e-6);
    /* a refused change leaves the slices as they are */
    const double before = difference(p, &scan, &params, at);
    params.cutoff = 7;
    assert_int_equal(fbp_preview_set(p, &scan, &params, at), FBP_ERR_INVALID);
    params.cutoff = 0.8;
    assert_true(fabs(difference(p, &scan, &params, at) - before) <= 1e-12);
    fbp_preview_destroy(&p);
}

TEST_MAIN(NULL, NULL)
