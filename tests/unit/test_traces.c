/* Checks the steps from measured EPR traces to plane integrals (baseline, FFT, phase, profile)
 * against closed forms. */
#include "unit/io_util.h"

#include "prep/prep.h"

#include <complex.h>

#define SCAN  FBP_TEST_DIR "/traces.json"
#define ROWS_ FBP_TEST_DIR "/traces.npy"
#define LIST  FBP_TEST_DIR "/traces.txt"

enum { SAMPLES = 64, SPECTRUM = 128, DIRECTIONS = 66 };

static const double PI = 3.14159265358979323846;
static const double DWELL = .0625, ZERO = 30.4, RADIUS = 6, CENTRE[3] = {1, -2, 1.5};

/* Plane integral of (1 - q)^2 in a ball: pi R^2 / 3 (1 - (t / R)^2)^3. */
static double soft_ball(const double n[3], double t)
{
    const double x = (t - n[0] * CENTRE[0] - n[1] * CENTRE[1] - n[2] * CENTRE[2]) / RADIUS;

    return fabs(x) < 1 ? PI * RADIUS * RADIUS / 3 * pow(1 - x * x, 3) : 0;
}

static double gradient_of(size_t k)
{
    return k % 2 ? 1.3 : 1;
}

/* s(time) = integral of p(t) exp(2 pi i nu time), nu = 2.8025 G t [cm]. */
static double complex trace_at(const double n[3], double gradient, double time_us)
{
    enum { POINTS = 600 };
    double complex sum = 0;

    for (int i = 0; i < POINTS; i++) {
        const double t = 10 * ((i + .5) / POINTS * 2 - 1);
        sum += soft_ball(n, t) * cexp(2 * PI * I * 2.8025 * gradient * t / 10 * time_us);
    }
    return sum * 20 / POINTS;
}

/* [n_views][1][n] complex numbers, of 8 or 16 bytes, as numpy.save() has them. */
static void put_complex(const char *path, const double complex *v, size_t n_views, size_t n,
                        bool twice)
{
    char head[200] = "\x93NUMPY\x01";
    FILE *f = fopen(path, "wb");

    const int length =
        snprintf(head + 10, sizeof head - 10,
                 "{'descr': '<c%d', 'fortran_order': False, 'shape': (%zu, 1, %zu), }",
                 twice ? 16 : 8, n_views, n);
    memset(head + 10 + length, ' ', (size_t)(118 - length));
    head[127] = '\n';
    head[8] = 118;
    head[9] = 0;
    fwrite(head, 1, 128, f);
    for (size_t i = 0; i < n_views * n; i++) {
        const double pair[2] = {creal(v[i]), cimag(v[i])};
        const float small[2] = {(float)pair[0], (float)pair[1]};
        fwrite(twice ? (const void *)pair : small, twice ? 16 : 8, 1, f);
    }
    assert_int_equal(fclose(f), 0);
}

static void put_scan(const double (*directions)[3], size_t n, const char *more)
{
    FILE *f = fopen(SCAN, "w");

    fprintf(f, "{\"fbp_scan\": 1, \"kind\": \"planes\", \"projections\": \"traces.npy\",\n"
               "\"volume\": {\"size\": [16, 16, 16], \"voxel_mm\": 1},\n\"gradients\": [");
    for (size_t k = 0; k < n; k++)
        fprintf(f, "%s[%.17g, %.17g, %.17g]", k ? ",\n" : "", gradient_of(k) * directions[k][0],
                gradient_of(k) * directions[k][1], gradient_of(k) * directions[k][2]);
    fprintf(f, "],\n%s}\n", more);
    assert_int_equal(fclose(f), 0);
}

static void make_directions(double (*out)[3])
{
    const struct fbp_directions set = {
        .struct_size = sizeof set, .set = FBP_SET_SOLID_ANGLE, .n = {10}};

    OK(fbp_directions_make(&set, out, NULL));
}

/* Traces of the ball under all directions, with a line as baseline and a phase. */
static void put_traces(bool twice, double phase, double more_phase)
{
    double(*n)[3] = malloc(DIRECTIONS * sizeof *n);
    AUTO_FREE double complex *v = malloc(DIRECTIONS * SAMPLES * sizeof *v);

    make_directions(n);
    for (size_t k = 0; k < DIRECTIONS; k++)
        for (size_t j = 0; j < SAMPLES; j++)
            v[k * SAMPLES + j] = (trace_at(n[k], gradient_of(k), ((double)j - ZERO) * DWELL) + 3 -
                                  2 * I + (.05 + .02 * I) * (double)j) *
                                 cexp(I * (phase + more_phase * (double)k));
    put_complex(ROWS_, v, DIRECTIONS, SAMPLES, twice);
    free(n);
}

static struct fbp_scan load(const char *prepare)
{
    double(*n)[3] = malloc(DIRECTIONS * sizeof *n);

    make_directions(n);
    put_scan((const double(*)[3])n, DIRECTIONS, prepare);
    free(n);
    return open_scan(SCAN);
}

static fbp_source *open_traces(const struct fbp_scan *scan)
{
    fbp_source *below, *out;

    OK(fbp_source_open(&below, scan->projections, &scan->raw));
    OK(fbp_spectra_open(&out, below, scan));
    return out;
}

/* Rows against the closed form at the places that the views have. */
static double worst(const struct fbp_scan *scan)
{
    fbp_source *src = open_traces(scan);
    double row[SPECTRUM], most = 0;

    for (size_t k = 0; k < scan->n_views; k++) {
        const struct fbp_view *v = &scan->views[k];
        const double step = sqrt(v->u[0] * v->u[0] + v->u[1] * v->u[1] + v->u[2] * v->u[2]);
        const double n[3] = {v->u[0] / step, v->u[1] / step, v->u[2] / step};
        const double middle = v->d[0] * n[0] + v->d[1] * n[1] + v->d[2] * n[2];
        OK(fbp_source_read(src, k, 1, 0, 1, FBP_F64, row));
        for (int i = 0; i < SPECTRUM; i++)
            most =
                fmax(most, fabs(row[i] - soft_ball(n, middle + (i - (SPECTRUM - 1) / 2.) * step)));
    }
    fbp_source_close(&src);
    return most / (PI * RADIUS * RADIUS / 3);
}

#define FFT "\"fft\": 128, \"zero_sample\": 30.4, \"dwell_us\": 0.0625, \"baseline\": 1, "

TEST(traces_become_projections)
{
    static const char *const phases[] = {"\"phase\": 40", "\"phase\": \"all\"",
                                         "\"phase\": \"view\""};

    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < 3; i++) {
            put_traces(twice, 40 * PI / 180, i == 2 ? .3 : 0);
            AUTO_FREE char *text = printed("\"prepare\": {" FFT "%s}", phases[i]);
            AUTO_CLEAR struct fbp_scan scan = load(text);
            assert_int_equal(scan.panel.n_columns, SPECTRUM);
            const double error = worst(&scan);
            if (!(error < 3e-3))
                fail_msg("%s: %g", phases[i], error);
        }
}

TEST(a_volume_has_its_density)
{
    AUTO_FREE float *volume = malloc(16 * 16 * 16 * sizeof *volume);
    fbp_sink *sink;

    put_traces(true, 1, 0);
    AUTO_CLEAR struct fbp_scan scan = load("\"prepare\": {" FFT "\"phase\": \"all\"}");
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu"));
    assert_string_equal(fbp_plan_info(plan)->prepared,
                        "baseline of order 1, FFT of traces to 128 samples, time 0 at sample 30.4, "
                        "phase determined for all views");
    OK(fbp_sink_memory(&sink, volume, FBP_F32, (size_t[3]){16, 16, 16}));
    OK(fbp_plan_run_to(plan, NULL, sink, NULL));
    double most = 0;
    for (int z = 4; z < 12; z++)
        for (int y = 4; y < 12; y++)
            for (int x = 4; x < 12; x++) {
                const double at[3] = {x - 7.5 - CENTRE[0], y - 7.5 - CENTRE[1],
                                      z - 7.5 - CENTRE[2]};
                const double q =
                    (at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) / (RADIUS * RADIUS);
                const double truth = q < 1 ? (1 - q) * (1 - q) : 0;
                most = fmax(most, fabs((double)volume[(z * 16 + y) * 16 + x] - truth));
            }
    if (!(most < .02))
        fail_msg("error %g", most);
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
}

/* A cubic in the place of sample i, whatever the places are. */
TEST(cubics_are_resampled_exactly)
{
    double complex v[DIRECTIONS * 16];
    char text[600] = "\"prepare\": {\"resample\": [";

    for (int falls = 0; falls < 2; falls++) {
        snprintf(text, sizeof text, "\"prepare\": {\"resample\": [");
        for (int i = 0; i < 16; i++) {
            const double at = (falls ? -1 : 1) * (i + .3 * sin(i) - 7);
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.15g", i ? ", " : "", at);
            for (int k = 0; k < DIRECTIONS; k++)
                v[k * 16 + i] = at * at * at - 2 * at + k;
        }
        strcat(text, "]}");
        put_complex(ROWS_, v, DIRECTIONS, 16, true);
        AUTO_CLEAR struct fbp_scan scan = load(text);
        CLEANUP(fbp_source_close) fbp_source *src = open_traces(&scan);
        double row[16];
        const double first = falls ? 7 : -7, last = (falls ? -1 : 1) * (15 + .3 * sin(15) - 7);
        for (size_t k = 0; k < DIRECTIONS; k++) {
            const struct fbp_view *view = &scan.views[k];
            OK(fbp_source_read(src, k, 1, 0, 1, FBP_F64, row));
            for (int i = 0; i < 16; i++) {
                const double at = first + (last - first) * i / 15;
                assert_true(fabs(row[i] - (at * at * at - 2 * at + (double)k)) < 1e-9);
            }
            /* places of the strongest gradient are those given, against the direction if they fall
             */
            const double scale = 1.3 / gradient_of(k),
                         step = sqrt(view->u[0] * view->u[0] + view->u[1] * view->u[1] +
                                     view->u[2] * view->u[2]);
            assert_true(fabs(step - scale * fabs(last - first) / 15) < 1e-9);
        }
    }
}

static void put_numbers(const char *path, size_t n, double (*f)(size_t i))
{
    FILE *file = fopen(path, "w");

    for (size_t i = 0; i < n; i++)
        fprintf(file, "%.17g\n", f(i));
    assert_int_equal(fclose(file), 0);
}

static double hill(size_t i)
{
    return 2 * exp(-pow(((double)i - 8) / 4, 2));
}

TEST(profiles_divide)
{
    double complex v[DIRECTIONS * 16];
    double row[16];

    for (size_t i = 0; i < DIRECTIONS * 16; i++)
        v[i] = 3 * hill(i % 16) + 5;
    put_complex(ROWS_, v, DIRECTIONS, 16, false);
    put_numbers(LIST, 16, hill);
    struct fbp_scan scan =
        load("\"spacing_mm\": 1, \"prepare\": {\"profile\": \"traces.txt\", \"profile_threshold\": "
             "0.5, \"baseline\": 0, \"baseline_samples\": [0, 2]}");
    fbp_source *src = open_traces(&scan);
    const double base = 5 + 1.5 * ((double)(float)hill(0) + (double)(float)hill(1));
    OK(fbp_source_read(src, 3, 1, 0, 1, FBP_F64, row));
    for (size_t i = 0; i < 16; i++) {
        const double wanted = hill(i) >= 1 ? (3 * hill(i) + 5 - base) / hill(i) : 0;
        assert_true(fabs(row[i] - wanted) < 1e-5);
    }
    fbp_source_close(&src);
    fbp_scan_clear(&scan);
}

/* First derivatives have no integral: all views get one sign. */
TEST(derivatives_get_one_sign)
{
    double complex v[DIRECTIONS * 16];

    for (int which = 0; which < 2; which++) {
        double row[16], first = 0;
        for (size_t i = 0; i < DIRECTIONS * 16; i++) {
            const double x = ((double)(i % 16) - 8 + .05 * (double)(i / 16 % 7)) / 3;
            v[i] = -x * exp(-x * x) * cexp(I * (1.5 + (which ? .4 * sin((double)(i / 16)) : 0)));
        }
        put_complex(ROWS_, v, DIRECTIONS, 16, true);
        AUTO_CLEAR struct fbp_scan scan =
            load(which ? "\"spacing_mm\": 1, \"prepare\": {\"phase\": \"view\"}"
                       : "\"spacing_mm\": 1, \"prepare\": {\"phase\": \"all\"}");
        CLEANUP(fbp_source_close) fbp_source *src = open_traces(&scan);
        for (size_t k = 0; k < DIRECTIONS; k++) {
            OK(fbp_source_read(src, k, 1, 0, 1, FBP_F64, row));
            for (int i = 0; i < 16; i++)
                assert_true(fabs(fabs(row[i]) - cabs(v[k * 16 + (size_t)i])) < 1e-9);
            first = k ? first : row[6];
            assert_true(row[6] * first > 0);
        }
    }
}

TEST(wrong_steps_are_refused)
{
    static const struct {
        const char *keys, *says;
    } rows[] = {
        {"\"prepare\": {\"baselin\": 1}", "did you mean \"baseline\""},
        {"\"prepare\": {\"baseline\": 2}", "prepare.baseline: found 2, expected 0 (a constant)"},
        {"\"prepare\": {\"baseline\": 0, \"baseline_samples\": [60, 70]}",
         "found 60 to 70, but a row has samples 0 to 63"},
        {"\"prepare\": {\"baseline_samples\": [0, 7]}", "needs the order of the baseline"},
        {"\"prepare\": {\"baseline\": 1, \"baseline_samples\": [3, 4]}", "two samples or more"},
        {"\"prepare\": {\"fft\": 32, \"dwell_us\": 1}", "at least the 64 samples of a trace"},
        {"\"prepare\": {\"fft\": 64}", "give dwell_us, or increasing times"},
        {"\"prepare\": {\"zero_sample\": 3}", "give \"fft\""},
        {"\"prepare\": {\"fft\": 64, \"dwell_us\": 1, \"zero_sample\": 64}", "samples 0 to 63"},
        {"\"spacing_mm\": 1, \"prepare\": {\"fft\": 64, \"dwell_us\": 1}",
         "spacing_mm: follows from prepare.dwell_us and the gradients"},
        {"\"prepare\": {\"resample\": [1, 2, 3]}", "found 3 positions, but rows have 64 samples"},
        {"\"spacing_mm\": 1, \"prepare\": {\"phase\": \"every\"}", "\"all\", \"view\""},
        {"\"spacing_mm\": 1, \"prepare\": {\"profile_threshold\": 0.2}", "needs \"profile\""},
        {"\"spacing_mm\": 1, \"prepare\": {\"profile\": \"traces.txt\", \"profile_threshold\": 1}",
         "from 0 to 1"},
    };
    struct fbp_scan scan = {.struct_size = sizeof scan};
    double(*n)[3] = malloc(DIRECTIONS * sizeof *n);

    make_directions(n);
    put_traces(false, 0, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_scan((const double(*)[3])n, DIRECTIONS, rows[i].keys);
        assert_int_equal(fbp_scan_load(&scan, SCAN, NULL), FBP_ERR_INVALID);
        if (!strstr(fbp_message(), rows[i].says) || !strstr(fbp_message(), "traces.json"))
            fail_msg("\"%s\" does not say \"%s\"", fbp_message(), rows[i].says);
    }
    free(n);
}

TEST_MAIN(NULL, NULL)
