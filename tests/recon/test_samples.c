/*
 * Samples that are wrong: dead, stuck, hot and saturated pixels, saturated air, counts that reach
 * 0. Views are the integrals of two balls off the centre, computed here.
 */
#include "geometry/view.h"
#include "recon/fixture.h"

enum { NC = 96, NR = 64, VIEWS = 90, PIXELS = NC * NR, MOST = 600 };

static const double I0 = 50000, SOD = 400, SDD = 600, PITCH = 1.8;

struct ball {
    double x, y, z, r, mu;
};

static const struct ball two[] = {{22, 9, 3, 17, 0.02}, {-19, -20, -4, 12, 0.03}};

/* The lines that a run printed. */
struct lines {
    char text[4000];
};

static void keep_line(void *user, enum fbp_log_level level, const char *line)
{
    struct lines *l = user;
    const size_t used = strlen(l->text);

    snprintf(l->text + used, sizeof l->text - used, "%d %s\n", (int)level, line);
}

static uint32_t random_bits(void)
{
    static uint64_t state = 88172645463325252ULL;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20);
}

static double normal(void)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)random_bits() / 4294967296.0;
    return sum - 6;
}

/* Line integral of a ball along the ray of a pixel position, in view angle t. */
static double chord(const struct ball *b, double t, double u, double v)
{
    const double s[3] = {SOD * cos(t), SOD * sin(t), 0};
    const double d[3] = {-SDD * cos(t) - u * sin(t), -SDD * sin(t) + u * cos(t), v};
    const double o[3] = {s[0] - b->x, s[1] - b->y, s[2] - b->z};
    const double dd = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const double od = o[0] * d[0] + o[1] * d[1] + o[2] * d[2];
    const double oo = o[0] * o[0] + o[1] * o[1] + o[2] * o[2];
    const double half = od * od / dd - oo + b->r * b->r;

    return half > 0 ? 2 * b->mu * sqrt(half) : 0;
}

/* Line integrals, means over 3 x 3 rays of a pixel. */
static double *project(const struct ball *balls, size_t n, size_t n_views)
{
    double *p = not_null(calloc(n_views * PIXELS, sizeof *p));

    for (size_t i = 0; i < n_views * PIXELS; i++) {
        const double t = 2 * PI * (double)(i / PIXELS) / (double)n_views;
        for (int a = 0; a < 9; a++) {
            const double u = ((double)(i % NC) - (NC - 1) / 2.0 + (a % 3 - 1) / 3.0) * PITCH;
            const double v = ((double)(i / NC % NR) - (NR - 1) / 2.0 + (a / 3 - 1) / 3.0) * PITCH;
            for (size_t j = 0; j < n; j++)
                p[i] += chord(&balls[j], t, u, v) / 9;
        }
    }
    return p;
}

struct trial {
    struct fbp_scan scan;
    enum fbp_type type; /* of the samples: FBP_U16 or FBP_F32 */
    uint16_t *counts;
    float *values;
    fbp_plan *plan;
    struct fbp_report report;
    struct lines lines;
    double mean[2]; /* in the two balls, as a part of mu */
};

/* Counts of 16 bits, with noise of photons if `noise`, or line integrals as floats. */
static void begin(struct trial *t, const double *p, size_t n_views, enum fbp_type type, bool noise)
{
    *t = (struct trial){.type = type};
    t->scan = (struct fbp_scan){.struct_size = sizeof t->scan,
                                .n_views = n_views,
                                .panel = {NC, NR},
                                .volume = {{88, 88, 56}, {1, 1, 1}, {0, 0, 0}},
                                .i0 = type == FBP_U16 ? I0 : 0};
    t->counts = malloc(n_views * PIXELS * sizeof *t->counts);
    t->values = malloc(n_views * PIXELS * sizeof *t->values);
    assert_true(t->counts && t->values);
    add_views(&t->scan, &(struct orbit){.sod_mm = SOD, .sdd_mm = SDD, .pitch_mm = {PITCH, PITCH}});
    for (size_t i = 0; i < n_views * PIXELS; i++) {
        const double n = I0 * exp(-p[i]), x = noise ? n + sqrt(n) * normal() : n;
        t->counts[i] = (uint16_t)fmin(fmax(rint(x), 0), 65535);
        t->values[i] = noise ? (float)-log(x / I0) : (float)p[i];
    }
}

static void end(struct trial *t)
{
    free(t->counts);
    free(t->values);
    fbp_scan_clear(&t->scan);
}

static void run(struct trial *t, const char *device)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {NC, NR, t->scan.n_views}, .type = t->type};
    const void *samples = t->type == FBP_U16 ? (const void *)t->counts : t->values;
    struct fbp_recon_params p = {
        .struct_size = sizeof p, .device = device, .callbacks.log = keep_line};

    t->lines = (struct lines){""};
    t->report = (struct fbp_report){.struct_size = sizeof t->report};
    p.callbacks.user = &t->lines;
    OK(fbp_source_memory(&p.input.source, samples, &info));
    OK(fbp_plan_create(&t->plan, &t->scan, &p));
    AUTO_FREE float *volume = run_to_memory(t->plan, NULL, &t->report);
    for (int i = 0; i < 2; i++)
        t->mean[i] = mean_in_ball(&t->scan.volume, volume, (double[]){two[i].x, two[i].y, two[i].z},
                                  0.8 * two[i].r) /
                     two[i].mu;
    fbp_plan_destroy(&t->plan);
    fbp_source_close(&p.input.source);
}

static void set(struct trial *t, size_t pixel, double count)
{
    for (size_t k = 0; k < t->scan.n_views; k++) {
        t->counts[k * PIXELS + pixel] = (uint16_t)count;
        t->values[k * PIXELS + pixel] = (float)-log(fmax(count, 0.05) / I0);
    }
}

/* What is planted; returns the number of pixels. */
static size_t plant(struct trial *t, const char *what)
{
    size_t n = 0;

    if (strcmp(what, "column") == 0)
        for (size_t r = 0; r < NR; r++, n++)
            set(t, r * NC + 31, 0);
    else if (strcmp(what, "row") == 0)
        for (size_t c = 0; c < NC; c++, n++)
            set(t, 35 * NC + c, 0);
    else if (strcmp(what, "first row, first column") == 0)
        for (size_t i = 0; i < NC + NR - 1; i++, n++)
            set(t, i < NC ? i : (i - NC + 1) * NC, 0);
    else if (strcmp(what, "cluster") == 0)
        for (size_t i = 0; i < 49; i++, n++)
            set(t, (30 + i / 7) * NC + 40 + i % 7, 0);
    else
        for (; n < 60; n++) {
            const size_t pixel = (n * 101 + 13) % PIXELS;
            if (strcmp(what, "dead") == 0)
                set(t, pixel, 0);
            else if (strcmp(what, "saturated") == 0)
                set(t, pixel, 65535);
            else if (strcmp(what, "saturated at 60000") == 0)
                set(t, pixel, 60000);
            else if (strcmp(what, "stuck low") == 0)
                set(t, pixel, 1234);
            else if (strcmp(what, "stuck") == 0)
                set(t, pixel, 20000);
            else if (strcmp(what, "hot") == 0)
                for (size_t k = 0; k < t->scan.n_views; k++) {
                    const size_t i = k * PIXELS + pixel;
                    t->counts[i] = (uint16_t)fmin(t->counts[i] + 30000 + 50 * normal(), 65535);
                    t->values[i] -= 1.0F;
                }
            else
                fail_msg("%s: unknown", what);
        }
    return n;
}

/* Found, as the number of them; repaired, with the values of the clean scan. */
static void check_defect(struct trial *t, const struct trial *clean, const char *what, double limit)
{
    memcpy(t->counts, clean->counts, VIEWS * PIXELS * sizeof *t->counts);
    memcpy(t->values, clean->values, VIEWS * PIXELS * sizeof *t->values);
    const size_t n = plant(t, what); /* one may lie in a corner, and agree with the air there */
    run(t, "cpu");
    if (t->report.bad_pixels + 1 < n || t->report.bad_pixels > n ||
        !strstr(t->lines.text, "--bad-pixels auto"))
        fail_msg("%s: found %zu of %zu; printed:\n%s", what, t->report.bad_pixels, n,
                 t->lines.text);
    const double before = fabs(t->mean[0] - clean->mean[0]);
    t->scan.find_bad_pixels = true;
    run(t, "cpu");
    print_message("%-22s %3zu pixels: mean of a ball %6.2f %% before, %+.3f and %+.3f %% now\n",
                  what, t->report.repaired_pixels, 100 * before,
                  100 * (t->mean[0] - clean->mean[0]), 100 * (t->mean[1] - clean->mean[1]));
    if (t->report.repaired_pixels + 1 < n || t->report.bad_pixels > 0)
        fail_msg("%s: repaired %zu of %zu, left %zu", what, t->report.repaired_pixels, n,
                 t->report.bad_pixels);
    for (int i = 0; i < 2; i++)
        if (!(fabs(t->mean[i] - clean->mean[i]) < limit))
            fail_msg("%s: ball %d: %.5f, without defects %.5f", what, i, t->mean[i],
                     clean->mean[i]);
}

TEST(defects)
{
    static const struct {
        const char *what;
        double limit;
    } all[] = {{"dead", 2e-4},      {"saturated", 2e-4}, {"saturated at 60000", 2e-4},
               {"stuck low", 2e-4}, {"stuck", 2e-4},     {"hot", 2e-4},
               {"column", 2e-4},    {"row", 2e-4},       {"first row, first column", 2e-4},
               {"cluster", 1e-2}};
    AUTO_FREE double *p = project(two, 2, VIEWS);

    for (int kind = 0; kind < 4; kind++) {
        struct trial clean, t;
        print_message("%s, %s\n", kind < 2 ? "counts" : "line integrals",
                      kind % 2 ? "noise" : "no noise");
        begin(&clean, p, VIEWS, kind < 2 ? FBP_U16 : FBP_F32, kind % 2);
        run(&clean, "cpu");
        for (int i = 0; i < 2; i++)
            if (!(fabs(clean.mean[i] - 1) < 1e-3))
                fail_msg("ball %d has %.5f of its value", i, clean.mean[i]);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            begin(&t, p, VIEWS, clean.type, false);
            check_defect(&t, &clean, all[i].what, all[i].limit);
            end(&t);
        }
        end(&clean);
    }
}

/* Other devices, larger pixels, rows from the top, and corrections in a pass ahead repair the same
 * pixels.  Views that are still being written cannot be searched. */
TEST(everywhere)
{
    AUTO_FREE double *p = project(two, 2, VIEWS);
    struct trial clean, t;

    for (int way = 0; way < 5; way++) {
        const char *device = way == 0 ? "ref" : way == 1 ? "mock" : "cpu";
        begin(&clean, p, VIEWS, FBP_U16, true);
        begin(&t, p, VIEWS, FBP_U16, true);
        memcpy(t.counts, clean.counts, VIEWS * PIXELS * sizeof *t.counts);
        plant(&t, "dead");
        struct trial *const both[] = {&clean, &t};
        for (int i = 0; i < 2; i++) {
            struct fbp_corrections c = {.struct_size = sizeof c, .rings = FBP_RINGS_SORTING};
            if (way == 2)
                OK(fbp_scan_reduce(&both[i]->scan, 1, 2));
            if (way == 3)
                both[i]->scan.row_order = FBP_ROWS_TOP_DOWN;
            if (way == 4)
                OK(fbp_scan_correct(&both[i]->scan, &c));
            both[i]->scan.find_bad_pixels = i == 1;
            run(both[i], device);
        }
        if (way != 2) /* whose pixels are left out of means */
            assert_int_equal(t.report.repaired_pixels, 60);
        assert_int_equal(t.report.bad_pixels, 0);
        assert_int_equal(t.report.clipped, 0);
        for (int i = 0; i < 2 && way != 3; i++) /* turned over, balls are elsewhere */
            if (!(fabs(t.mean[i] - clean.mean[i]) < 5e-4))
                fail_msg("way %d: ball %d: %.5f, without defects %.5f", way, i, t.mean[i],
                         clean.mean[i]);
        end(&clean);
        end(&t);
    }
}

/* Air that is saturated below i0, and counts that reach 0, are reported with their number. */
TEST(saturated_air_and_zeros)
{
    const struct ball dense[] = {{22, 9, 3, 17, 0.5}};
    AUTO_FREE double *p = project(two, 2, VIEWS), *q = project(dense, 1, VIEWS);

    for (int noise = 0; noise < 2; noise++) {
        struct trial t;
        size_t n = 0;
        begin(&t, p, VIEWS, FBP_U16, noise);
        for (size_t i = 0; i < VIEWS * PIXELS; i++)
            t.counts[i] = t.counts[i] > 45000 ? 45000 : t.counts[i];
        run(&t, "cpu");
        assert_int_equal((int)t.report.saturated_value, 45000);
        assert_true(t.report.saturated_share > 0.3 && t.report.saturated > 10000);
        assert_contains(t.lines.text, "have the greatest value, 45000, which is below i0");
        assert_int_equal(t.report.bad_pixels, 0);
        t.scan.i0 = 45000; /* the same counts are those of air */
        run(&t, "cpu");
        assert_int_equal(t.report.saturated, 0);
        end(&t);
        begin(&t, q, VIEWS, FBP_U16, noise);
        for (size_t i = 0; i < VIEWS * PIXELS; i++)
            n += t.counts[i] == 0;
        run(&t, "cpu");
        assert_true(n > 100);
        assert_true(t.report.clipped > n / 2 && t.report.clipped <= n);
        assert_contains(t.lines.text, "samples that are at or below the dark: ");
        assert_int_equal(t.report.bad_pixels, 0);
        end(&t);
    }
}

/* Scans without bad pixels. */
struct scene {
    const char *name;
    struct ball balls[12];
    size_t n, n_views;
    double i0;             /* photons of a pixel in air; 0: I0 */
    double gain;           /* of pixels, up to this part off */
    size_t gap[2], pin[2]; /* rows without an object; columns with one in all views */
};

TEST(clean_scans)
{
    static const struct scene scenes[] = {
        {.name = "a ball on the axis", .balls = {{0, 0, 0, 25, 0.02}}, .n = 1},
        {.name = "a small dense ball on the axis", .balls = {{0, 0, 0, 1.5, 0.3}}, .n = 1},
        {.name = "a wide ball", .balls = {{5, 0, 0, 90, 0.02}}, .n = 1},
        {.name = "small dense balls",
         .n = 12,
         .balls = {{30, 5, 3, 1.5, 0.5},
                   {-12, 8, 1, 1.5, 0.5},
                   {0, -30, -20, 1.5, 0.5},
                   {7, 22, 14, 1.5, 0.5},
                   {-33, 4, 9, 1.5, 0.5},
                   {18, -8, -12, 1.5, 0.5},
                   {3, 3, 20, 1.5, 0.5},
                   {-9, -19, 5, 1.5, 0.5},
                   {25, 25, -9, 1.5, 0.5},
                   {-22, 20, -3, 1.5, 0.5},
                   {11, -11, 0, 1.5, 0.5},
                   {35, -5, 7, 1.5, 0.5}}},
        {.name = "few views", .n_views = 8},
        {.name = "five views", .n_views = 5},
        {.name = "90 degrees apart", .n_views = 4},
        {.name = "few photons", .i0 = 40},
        {.name = "hardly any photons", .i0 = 6, .balls = {{5, 0, 0, 40, 0.06}}, .n = 1},
        {.name = "rings", .gain = 0.08},
        {.name = "two objects and a row of air", .gap = {31, 32}},
        {.name = "two objects and rows of air", .gap = {29, 33}},
        {.name = "a pin on the axis", .pin = {47, 48}},
    };

    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const struct scene *s = &scenes[i];
        const size_t n_views = s->n_views ? s->n_views : VIEWS;
        AUTO_FREE double *p = project(s->n ? s->balls : two, s->n ? s->n : 2, n_views);
        for (size_t k = 0; k < n_views * PIXELS; k++) {
            const size_t c = k % NC, r = k / NC % NR;
            p[k] = r >= s->gap[0] && r < s->gap[1] ? 0 : p[k];
            p[k] += c >= s->pin[0] && c < s->pin[1] && r > 9 && r < 50 ? 1 : 0;
        }
        for (int kind = 0; kind < 4; kind++) {
            struct trial t;
            begin(&t, p, n_views, kind < 2 ? FBP_U16 : FBP_F32, kind % 2);
            const double i0 = s->i0 > 0 ? s->i0 : I0;
            for (size_t k = 0; k < n_views * PIXELS; k++) {
                const double pixel = fmod(0.6180339887 * (double)(k % PIXELS), 1) * 2 - 1;
                const double n = i0 * exp(-p[k]) * (1 + s->gain * pixel);
                const double x = n + (kind % 2 ? sqrt(n) * normal() : 0);
                t.counts[k] = (uint16_t)fmax(rint(x), 0);
                t.values[k] = (float)-log(fmax(x, 0.1) / i0);
            }
            t.scan.i0 = kind < 2 ? i0 : 0;
            run(&t, "cpu");
            if (t.report.bad_pixels || t.report.saturated)
                fail_msg("%s, kind %d: %zu bad pixels, %zu saturated\n%s", s->name, kind,
                         t.report.bad_pixels, t.report.saturated, t.lines.text);
            end(&t);
        }
    }
}

/* The removal of rings changes nothing where there are none, and removes those that there are. */
TEST(rings)
{
    static const enum fbp_ring_removal methods[] = {FBP_RINGS_SORTING, FBP_RINGS_WAVELET};
    AUTO_FREE double *p = project(two, 2, VIEWS);

    for (int i = 0; i < 4; i++)
        for (int planted = 0; planted < 2; planted++) {
            struct fbp_corrections c = {.struct_size = sizeof c, .rings = methods[i / 2]};
            struct trial t;
            begin(&t, p, VIEWS, FBP_F32, i % 2);
            for (size_t k = 0; planted && k < VIEWS * PIXELS; k++)
                t.values[k] += k % NC % 13 == 3 ? 0.02F : 0;
            run(&t, "cpu");
            const double mean[] = {t.mean[0], t.mean[1]}, most = t.report.max;
            OK(fbp_scan_correct(&t.scan, &c));
            run(&t, "cpu");
            const bool same = t.mean[0] == mean[0] && t.mean[1] == mean[1] && t.report.max == most;
            if (same == (planted > 0) || same != !!strstr(t.lines.text, "no rings were found"))
                fail_msg("method %d, %s rings: means %.6f %.6f, without removal %.6f %.6f\n%s",
                         i / 2, planted ? "planted" : "no", t.mean[0], t.mean[1], mean[0], mean[1],
                         t.lines.text);
            end(&t);
        }
}

TEST_MAIN(NULL, NULL)
