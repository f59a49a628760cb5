/* Checks that prj.mat files of EPR laboratories (format eprit) are read with the meaning of each
 * number, are written back, and that wrong ones are refused with a reason. */
#include "unit/mat_files.h"

#include "fbp/geometry_file.h"
#include "fbp/scan.h"
#include "geometry/view.h"
#include "scan/format/importers.h"
#define PRJ FBP_TEST_DIR "/eprit_prj.mat"

static struct fbp_scan load(struct prj *prj)
{
    put_prj(PRJ, prj);
    return open_scan(PRJ);
}

/* 2 MHz under G gauss a cm are 20 / (2.8025 G) mm; the first sample is at -4 MHz. */
TEST(frequencies_are_places)
{
    static const double length[4] = {2, 1, 4, 3};

    for (int falls = 0; falls < 2; falls++) {
        struct prj prj = prj_usual();
        for (int i = 0; falls && i < 6; i++)
            prj.b[i] = -prj.b[i];
        AUTO_CLEAR struct fbp_scan scan = load(&prj);
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
    }
}

TEST(the_real_parts_are_views)
{
    static const size_t n[3] = {6, 1, 4};
    float out[24];

    for (int complex = 0; complex < 2; complex++) {
        struct prj prj = prj_usual();
        prj.complex = complex;
        AUTO_CLEAR struct fbp_scan scan = load(&prj);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(scan.projections, NULL);
        assert_memory_equal(fbp_source_info(src)->n, n, sizeof n);
        assert_true((strstr(fbp_source_info(src)->taken, "real parts") != NULL) == (complex == 1));
        OK(fbp_source_read(src, 0, 4, 0, 1, FBP_F32, out));
        for (int i = 0; i < 24; i++)
            assert_true(out[i] == (float)prj.p[0][i]);
    }
}

/* P [samples x delays x projections], column-major, is [view][delay][sample]. */
TEST(delays_are_rows)
{
    static const size_t n[3] = {6, 2, 4};
    struct prj prj = prj_usual();
    float out[48];

    prj.n_delays = 2;
    AUTO_CLEAR struct fbp_scan scan = load(&prj);
    CLEANUP(fbp_source_close) fbp_source *src = open_source(scan.projections, NULL);
    assert_int_equal(scan.panel.n_rows, 2);
    assert_memory_equal(fbp_source_info(src)->n, n, sizeof n);
    OK(fbp_source_read(src, 0, 4, 0, 2, FBP_F32, out));
    for (int i = 0; i < 48; i++)
        assert_true(out[i] == (float)prj.p[0][i]);
}

static void refused(struct prj prj, const char *says)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    put_prj(PRJ, &prj);
    assert_int_not_equal(fbp_geometry_load(&scan, PRJ, "eprit", NULL), FBP_OK);
    if (!strstr(fbp_message(), says) || !strstr(fbp_message(), "eprit_prj.mat"))
        fail_msg("\"%s\" does not say \"%s\"", fbp_message(), says);
}

TEST(what_is_wrong_is_said)
{
    const struct prj usual = prj_usual();
    struct prj prj = usual;

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
    refused(prj, "B has 5 numbers, but P has 6 samples");
    prj = usual;
    prj.n_g = 3;
    refused(prj, "G has 3 gradients, but P has 4 projections");
    prj = usual;
    for (const char *name = "P\0B\0G\0"; *name; name += 2) {
        prj.without = name;
        refused(prj, "does not contain the arrays P");
    }
    prj = usual;
    prj.n_samples = prj.n_b = 1;
    refused(prj, "expected two or more");
}

/* Places of uneven steps, and rows of times. */
TEST(axes_are_prepared)
{
    const struct fbp_preparation even = {.struct_size = sizeof even, .resample = 1};
    const struct fbp_preparation fft = {.struct_size = sizeof fft, .fft = 8, .zero_sample = 2};
    struct fbp_scan_known known = {.struct_size = sizeof known, .preparation = &even};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct prj prj = prj_usual();

    prj.complex = true;
    prj.b[3] = 2.5;
    put_prj(PRJ, &prj);
    OK(fbp_scan_load(&scan, PRJ, &known));
    assert_true(scan.preparation->places[3] == 2.5 && scan.preparation->n_samples == 6);
    assert_true(fabs(scan.views[0].u[0] - 2 * 10 / (2.8025 * 2)) < 1e-12);
    fbp_scan_clear(&scan);
    known.preparation = &fft; /* 8 samples of 1 / (8 * 2 us) */
    prj = prj_usual();
    prj.complex = true;
    put_prj(PRJ, &prj);
    OK(fbp_scan_load(&scan, PRJ, &known));
    assert_int_equal(scan.panel.n_columns, 8);
    assert_true(fabs(scan.views[0].u[0] - 10 / (2.8025 * 2) / 16) < 1e-12);
    /* frequency 0 is sample 4, half a step behind the middle */
    assert_true(fabs(scan.views[0].d[0] + 10 / (2.8025 * 2) / 32) < 1e-12);
    fbp_scan_clear(&scan);
    prj.b[3] = 2.5;
    put_prj(PRJ, &prj);
    assert_fails(fbp_scan_load(&scan, PRJ, &known), FBP_ERR_UNSUPPORTED, "B has unequal steps");
}

/* A scan of directions that are no round numbers; views nearer the end have samples closer
 * together.
 */
static struct fbp_scan make_scan(struct fbp_view views[5], double first, double nearer)
{
    const double n[5][3] = {{1, 2, 3}, {-2, .1, .7}, {0, 0, 1}, {.3, -.3, .4}, {5, -6, 1}};

    for (size_t k = 0; k < 5; k++) {
        const double length = sqrt(n[k][0] * n[k][0] + n[k][1] * n[k][1] + n[k][2] * n[k][2]);
        const double unit[3] = {n[k][0] / length, n[k][1] / length, n[k][2] / length};
        const double tau = 0.37 / (1 + nearer * (double)k);
        fbp_plane_view(unit, tau, first * tau, 7, &views[k]);
    }
    return (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .kind = FBP_PLANES,
                             .n_views = 5,
                             .panel = {7, 2},
                             .views = views,
                             .volume = {{4, 5, 6}, {.1, .2, .3}, {1, -2, 3}}};
}

static void write_prj(const struct fbp_scan *scan, enum fbp_type type, double gradient,
                      const float *values)
{
    CLEANUP(fbp_sink_close) fbp_sink *sink = NULL;

    remove(PRJ);
    OK(fbp_scan_sink_prj(
        &sink, PRJ, scan, gradient,
        &(struct fbp_sink_params){.struct_size = sizeof(struct fbp_sink_params), .type = type}));
    OK(fbp_sink_write(sink, 3, 2, FBP_F32, values + 3 * 14));
    OK(fbp_sink_write(sink, 0, 3, FBP_F32, values));
    assert_int_equal(access(PRJ, F_OK), -1); /* it has another name until it is whole */
    OK(fbp_sink_finish(sink));
}

/* Samples bit for bit, views to the last digits, the volume; and nothing has to be guessed. */
TEST(what_is_written_comes_back)
{
    static const size_t n[3] = {7, 2, 5};
    struct fbp_view views[5];
    float values[70], out[70];

    for (int i = 0; i < 70; i++)
        values[i] = 1.f / (float)(i + 3);
    for (int way = 0; way < 4; way++) {
        const struct fbp_scan scan = make_scan(views, way % 2 ? -2.25 : -3, way / 2 * .3);
        write_prj(&scan, way % 2 ? FBP_F64 : FBP_F32, way % 2 ? 2.7 : 1, values);
        AUTO_CLEAR struct fbp_scan back = open_scan(PRJ);
        assert_int_equal(scan.n_views, back.n_views);
        assert_memory_equal(&scan.panel, &back.panel, sizeof scan.panel);
        assert_memory_equal(&scan.volume, &back.volume, sizeof scan.volume);
        for (size_t k = 0; k < scan.n_views; k++)
            for (int i = 0; i < 3; i++) {
                assert_true(fabs(scan.views[k].u[i] - back.views[k].u[i]) < 1e-15);
                assert_true(fabs(scan.views[k].d[i] - back.views[k].d[i]) < 2e-15);
            }
        assert_int_equal(back.n_assumed, 0);
        CLEANUP(fbp_source_close) fbp_source *src = open_source(back.projections, NULL);
        assert_memory_equal(fbp_source_info(src)->n, n, sizeof n);
        assert_int_equal(fbp_source_info(src)->type, way % 2 ? FBP_F64 : FBP_F32);
        OK(fbp_source_read(src, 0, 5, 0, 2, FBP_F32, out));
        assert_memory_equal(out, values, sizeof out);
    }
}

/* P, B and G as laboratories have them: by columns, delays second, MHz and G/cm. */
TEST(arrays_are_those_of_laboratories)
{
    struct fbp_view views[5];
    const struct fbp_scan scan = make_scan(views, -3, .3);
    float values[70] = {0};

    values[1 * 14 + 1 * 7 + 2] = 5;
    write_prj(&scan, FBP_F32, 2.5, values);
    struct fbp_mat_array *p, *b, *g;
    struct fbp_mat *file;
    OK(fbp_mat_open(PRJ, &file));
    OK(fbp_mat_read(file, "P", &p));
    OK(fbp_mat_read(file, "B", &b));
    OK(fbp_mat_read(file, "G", &g));
    assert_true(p->rank == 3 && p->sizes[0] == 7 && p->sizes[1] == 2 && p->sizes[2] == 5);
    assert_true(p->class == FBP_MX_SINGLE && !p->complex);
    assert_true(((const float *)p->real)[2 + 7 * (1 + 2 * 1)] == 5.f); /* P(3, 2, 2) */
    assert_true(b->sizes[0] == 7 && b->sizes[1] == 1 && g->sizes[0] == 5 && g->sizes[1] == 3);
    const double *mhz = b->real, *gauss = g->real;
    assert_true(fabs(mhz[0] + 3 * .037 * 2.8025 * 2.5) < 1e-14);
    assert_true(fabs(mhz[6] - 3 * .037 * 2.8025 * 2.5) < 1e-14);
    assert_true(fabs(gauss[0] - 2.5 / sqrt(14)) < 1e-14);
    assert_true(fabs(gauss[10 + 2] - 2.5 * 1.6) < 1e-14); /* along z, samples 1.6 times closer */
    fbp_mat_free(p);
    fbp_mat_free(b);
    fbp_mat_free(g);
    fbp_mat_close(file);
}

static void not_written(const char *path, const struct fbp_scan *scan, double gradient,
                        enum fbp_type type, const char *says)
{
    fbp_sink *sink;

    assert_int_not_equal(
        fbp_scan_sink_prj(&sink, path, scan, gradient,
                          &(struct fbp_sink_params){.struct_size = sizeof(struct fbp_sink_params),
                                                    .type = type,
                                                    .range = {0, 1}}),
        FBP_OK);
    assert_null(sink);
    assert_says(says);
}

TEST(what_cannot_be_written_is_said)
{
    struct fbp_view views[5];
    struct fbp_scan scan = make_scan(views, -3, 0);

    remove(PRJ);
    not_written(PRJ, &scan, 0, FBP_F32, "gradient");
    not_written(PRJ, &scan, -1, FBP_F32, "gradient");
    not_written(PRJ, &scan, NAN, FBP_F32, "gradient");
    not_written(PRJ, &scan, 1, FBP_U8, "type uint8 is not supported for views");
    not_written(FBP_TEST_DIR "/prj.mha", &scan, 1, FBP_F32, "expected a name that ends in .mat");
    not_written(PRJ ":P", &scan, 1, FBP_F32, "expected a name that ends in .mat");
    not_written("null:", &scan, 1, FBP_F32, "expected a name that ends in .mat");
    scan.panel.n_rows = (size_t)1 << 26;
    not_written(PRJ, &scan, 1, FBP_F32, "less than 2 GiB; write a scan file (.json)");
    scan.panel.n_rows = 2;
    for (int i = 0; i < 3; i++)
        views[3].d[i] += views[3].u[i] / 100;
    not_written(PRJ, &scan, 1, FBP_F32, "samples from the centre in view 3");
    scan = make_scan(views, -3, 0);
    scan.kind = FBP_PARALLEL;
    not_written(PRJ, &scan, 1, FBP_F32, "not views of kind parallel");
    scan.kind = FBP_PLANES;
    assert_int_equal(access(PRJ, F_OK), -1);
    struct prj other = prj_usual();
    put_prj(PRJ, &other);
    not_written(PRJ, &scan, 1, FBP_F32, "which another program has written");
}

/* B in another unit is not taken for MHz, nor spectra for traces. */
TEST(units_are_heeded)
{
    const struct fbp_preparation fft = {.struct_size = sizeof fft, .fft = 8};
    const struct fbp_scan_known known = {.struct_size = sizeof known, .preparation = &fft};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_view views[5];
    const struct fbp_scan made = make_scan(views, -3, 0);
    struct prj prj = prj_usual();
    const float values[70] = {0};

    put_prj(PRJ, &prj);
    mat_put_more(PRJ, mat_text("B_unit", "cm"), false);
    assert_fails(fbp_scan_load(&scan, PRJ, NULL), FBP_ERR_UNSUPPORTED,
                 "B_unit is \"cm\", but B must be in MHz");
    write_prj(&made, FBP_F32, 1, values);
    assert_fails(fbp_scan_load(&scan, PRJ, &known), FBP_ERR_INVALID,
                 "rows are spectra, which need no FFT");
}

TEST_MAIN(NULL, NULL)
