/* MAT files of EPR laboratories, prj.mat: what their numbers mean, and what is wrong with them. */
#include "unit/mat_files.h"

#include "fbp/geometry_file.h"
#include "fbp/scan.h"

#include <math.h>

#define PRJ FBP_TEST_DIR "/eprit_prj.mat"

static struct fbp_scan load(struct prj *prj)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    put_prj(PRJ, prj);
    if (fbp_scan_load(&scan, PRJ) != FBP_OK)
        fail_msg("%s", fbp_message());
    return scan;
}

/* 2 MHz under G gauss a cm are 20 / (2.8025 G) mm; the first sample is at -4 MHz. */
static void frequencies_are_places(void **state)
{
    static const double length[4] = {2, 1, 4, 3};

    (void)state;
    for (int falls = 0; falls < 2; falls++) {
        struct prj prj = prj_usual();
        for (int i = 0; falls && i < 6; i++)
            prj.b[i] = -prj.b[i];
        struct fbp_scan scan = load(&prj);
        assert_int_equal(scan.kind, FBP_PLANES);
        assert_int_equal(scan.n_views, 4);
        assert_int_equal(scan.panel.n_columns, 6);
        assert_int_equal(scan.panel.n_rows, 1);
        assert_int_equal(scan.n_assumed, 1);
        for (size_t k = 0; k < 4; k++) {
            const double mm = 10 / (2.8025 * length[k]), sign = falls ? -1 : 1;
            for (size_t i = 0; i < 3; i++) {
                const double n = prj.g[4 * i + k] / length[k];
                assert_true(fabs(scan.views[k].u[i] - sign * 2 * mm * n) < 1e-12);
                /* the middle of -4 and 6 MHz is 1 */
                assert_true(fabs(scan.views[k].d[i] - sign * mm * n) < 1e-12);
            }
        }
        fbp_scan_clear(&scan);
    }
}

static void the_real_parts_are_views(void **state)
{
    static const size_t n[3] = {6, 1, 4};
    float out[24];

    (void)state;
    for (int complex = 0; complex < 2; complex++) {
        struct prj prj = prj_usual();
        prj.complex = complex;
        struct fbp_scan scan = load(&prj);
        fbp_source *src = open_source(scan.projections, NULL);
        assert_memory_equal(fbp_source_info(src)->n, n, sizeof n);
        assert_true((strstr(fbp_source_info(src)->taken, "real parts") != NULL) == (complex == 1));
        assert_int_equal(fbp_source_read(src, 0, 4, 0, 1, out), FBP_OK);
        for (int i = 0; i < 24; i++)
            assert_true(out[i] == (float)prj.p[0][i]);
        fbp_source_close(&src);
        fbp_scan_clear(&scan);
    }
}

/* P [samples x delays x projections], column-major, is [view][delay][sample]. */
static void delays_are_rows(void **state)
{
    static const size_t n[3] = {6, 2, 4};
    struct prj prj = prj_usual();
    float out[48];

    (void)state;
    prj.n_delays = 2;
    struct fbp_scan scan = load(&prj);
    fbp_source *src = open_source(scan.projections, NULL);
    assert_int_equal(scan.panel.n_rows, 2);
    assert_memory_equal(fbp_source_info(src)->n, n, sizeof n);
    assert_int_equal(fbp_source_read(src, 0, 4, 0, 2, out), FBP_OK);
    for (int i = 0; i < 48; i++)
        assert_true(out[i] == (float)prj.p[0][i]);
    fbp_source_close(&src);
    fbp_scan_clear(&scan);
}

static void refused(struct prj prj, const char *says)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    put_prj(PRJ, &prj);
    assert_int_not_equal(fbp_geometry_load(&scan, PRJ, "eprit", NULL), FBP_OK);
    if (!strstr(fbp_message(), says) || !strstr(fbp_message(), "eprit_prj.mat"))
        fail_msg("\"%s\" does not say \"%s\"", fbp_message(), says);
}

static void what_is_wrong_is_said(void **state)
{
    const struct prj usual = prj_usual();
    struct prj prj = usual;

    (void)state;
    prj.g[1] = prj.g[5] = prj.g[9] = 0;
    refused(prj, "gradient 1 is 0");
    prj = usual;
    prj.b[3] = -3;
    refused(prj, "B is not monotonic: number 3 is -3");
    prj.b[3] = 2.5;
    refused(prj, "B has unequal steps");
    prj.b[3] = NAN;
    refused(prj, "B: number 3 is not finite");
    prj = usual;
    prj.g[2] = INFINITY;
    refused(prj, "G: number 2 is not finite");
    prj = usual;
    prj.n_b = 5;
    refused(prj, "B has 5 numbers, but P 6 samples");
    prj = usual;
    prj.n_g = 3;
    refused(prj, "G has 3 gradients, but P 4 projections");
    prj = usual;
    for (const char *name = "P\0B\0G\0"; *name; name += 2) {
        prj.without = name;
        refused(prj, "has no arrays P");
    }
    prj = usual;
    prj.n_samples = prj.n_b = 1;
    refused(prj, "two samples or more");
}

/* Places of uneven steps, and rows of times. */
static void axes_are_prepared(void **state)
{
    const struct fbp_preparation even = {.struct_size = sizeof even, .resample = 1};
    const struct fbp_preparation fft = {.struct_size = sizeof fft, .fft = 8, .zero_sample = 2};
    struct fbp_scan_known known = {.struct_size = sizeof known, .preparation = &even};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct prj prj = prj_usual();

    (void)state;
    prj.complex = true;
    prj.b[3] = 2.5;
    put_prj(PRJ, &prj);
    assert_int_equal(fbp_scan_load_known(&scan, PRJ, &known), FBP_OK);
    assert_true(scan.preparation->places[3] == 2.5 && scan.preparation->n_samples == 6);
    assert_true(fabs(scan.views[0].u[0] - 2 * 10 / (2.8025 * 2)) < 1e-12);
    fbp_scan_clear(&scan);
    known.preparation = &fft; /* 8 samples of 1 / (8 * 2 us) */
    prj = prj_usual();
    prj.complex = true;
    put_prj(PRJ, &prj);
    assert_int_equal(fbp_scan_load_known(&scan, PRJ, &known), FBP_OK);
    assert_int_equal(scan.panel.n_columns, 8);
    assert_true(fabs(scan.views[0].u[0] - 10 / (2.8025 * 2) / 16) < 1e-12);
    /* frequency 0 is sample 4, half a step behind the middle */
    assert_true(fabs(scan.views[0].d[0] + 10 / (2.8025 * 2) / 32) < 1e-12);
    fbp_scan_clear(&scan);
    prj.b[3] = 2.5;
    put_prj(PRJ, &prj);
    assert_int_equal(fbp_scan_load_known(&scan, PRJ, &known), FBP_ERR_UNSUPPORTED);
    assert_says("B has unequal steps");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_are_places), cmocka_unit_test(the_real_parts_are_views),
        cmocka_unit_test(delays_are_rows),        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(axes_are_prepared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
