/* Checks the warnings about views (truncated object, views without data, volume larger than the
 * field of view): they are the same on every backend and for every division of the work. */
#include "geometry/view.h"
#include "recon/fixture.h"

enum { N = 64, ROWS = 24, VIEWS = 40, PIXELS = N * ROWS };

static const double MU = 0.02;

/* Lines that were said. */
struct said {
    char text[4000];
};

static void listen(void *user, enum fbp_log_level level, const char *line)
{
    struct said *s = user;
    const size_t used = strlen(s->text);

    snprintf(s->text + used, sizeof s->text - used, "%d %s\n", (int)level, line);
}

/* A ball of radius r about (x, 0, 0); 64 columns see 80 mm about the axis. */
static struct fbp_scan scan_ball(double x, double r, size_t n_columns, double offset_mm)
{
    struct fbp_ellipsoid ball = {{x, 0, 0}, {r, r, r}, 0, MU};
    const struct fbp_phantom phantom = {.n = 1, .items = &ball};
    const double pitch = 2 * 80 * 1200. / 750 / N;
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = VIEWS,
                            .panel = {n_columns, ROWS},
                            .volume = {{40, 40, 16}, {3, 3, 3}, {0, 0, 0}}};

    add_views(&scan, &(struct orbit){.pitch_mm = {pitch, pitch}, .offset_mm = offset_mm});
    simulate(&scan, &phantom);
    return scan;
}

static fbp_status run(const struct fbp_scan *scan, struct fbp_recon_params p,
                      struct fbp_report *report, struct said *said)
{
    *said = (struct said){""};
    p.struct_size = sizeof p;
    p.callbacks.log = listen;
    p.callbacks.user = said;
    return reconstruct_to(scan, &p, "null:", report);
}

static void check_truncated(const char *what, const struct fbp_scan *scan, size_t n)
{
    struct fbp_report r = {.struct_size = sizeof r};
    struct said said;

    OK(run(scan, (struct fbp_recon_params){.device = "cpu"}, &r, &said));
    if (r.truncated_views != n || (strstr(said.text, "wider than the panel") != NULL) != (n > 0))
        fail_msg("%s: %zu views are truncated (%zu to %zu, %g and %g), expected %zu; said:\n%s",
                 what, r.truncated_views, r.truncated_first, r.truncated_last, r.truncated[0],
                 r.truncated[1], n, said.text);
}

TEST(wide_objects_are_seen)
{
    struct fbp_report r = {.struct_size = sizeof r};
    struct said said;

    struct fbp_scan scan = scan_ball(0, 100, N, 0);
    check_truncated("a ball of 100 mm in a view of 80 mm", &scan, VIEWS);
    OK(run(&scan, (struct fbp_recon_params){.device = "cpu"}, &r, &said));
    for (int end = 0; end < 2; end++) /* sqrt(1 - .759^2): 75.9 mm is the outermost but one */
        if (!(fabs(r.truncated[end] - 0.651) < 0.01))
            fail_msg("end %d reaches %g of the greatest value", end, r.truncated[end]);
    drop_scan(&scan);

    scan = scan_ball(0, 82, N, 0);
    check_truncated("a ball of 82 mm", &scan, VIEWS);
    drop_scan(&scan);

    /* To one side, it is cut off where it stands beside the axis: at the last column, seen from
     * -y, at the first from +y. */
    scan = scan_ball(30, 60, N, 0);
    OK(run(&scan, (struct fbp_recon_params){.device = "cpu"}, &r, &said));
    assert_true(r.truncated_views > 8 && r.truncated_views < 32);
    assert_true(r.truncated[0] > 0.2 && r.truncated[1] > 0.2);
    drop_scan(&scan);
}

TEST(what_fits_is_not_blamed)
{
    struct fbp_scan scan = scan_ball(0, 76, N, 0);
    check_truncated("a ball that fits", &scan, 0);
    drop_scan(&scan);

    scan = scan_ball(0, 85, 52, 48);
    check_truncated("the axis side of an offset panel", &scan, 0);
    drop_scan(&scan);

    scan = scan_ball(0, 125, 52, 48);
    check_truncated("the outer side of an offset panel", &scan, VIEWS);
    drop_scan(&scan);
}

static double unit(size_t i)
{
    const uint32_t h = (uint32_t)(i + 1) * 2654435761u;
    return (double)((h ^ h >> 15) * 2246822519u >> 8) / (double)(1u << 24);
}

/* Noise of 300 photons, air that measures 6 % of the greatest value, rings, hot pixels at the ends.
 */
static void spoil(float *p)
{
    for (size_t i = 0; i < (size_t)VIEWS * PIXELS; i++) {
        const size_t c = i % N, pixel = i % PIXELS;
        const double noise = sqrt(-2 * log(unit(2 * i) + 1e-9)) * cos(2 * PI * unit(2 * i + 1));
        const double sigma = exp(0.5 * (double)p[i]) / sqrt(300);
        p[i] += (float)(0.18 + sigma * noise + 0.02 * unit(7 * c));
        if (unit(31 * pixel) < 0.01 || (pixel / N) % 5 == 0 ? c == 1 : false)
            p[i] = 8;
    }
}

TEST(noise_is_no_object)
{
    struct fbp_scan scan = scan_ball(0, 75, N, 0);
    float *p = read_array(scan.projections);

    spoil(p);
    replace_samples(&scan, p);
    check_truncated("noise, rings, hot pixels and an offset of air", &scan, 0);
    free(p);
    drop_scan(&scan);

    scan = scan_ball(0, 100, N, 0);
    p = read_array(scan.projections);
    spoil(p);
    replace_samples(&scan, p);
    check_truncated("the same with a wide ball", &scan, VIEWS);
    free(p);
    drop_scan(&scan);
}

/* Views of a small ball, in ever other noise of up to a quarter of what it shows: of the few
 * columns at an end of a single row the noise comes out too small at times, and what air shows too
 * large. */
TEST(noise_is_no_object_however_small)
{
    AUTO_DROP struct fbp_scan scan = scan_ball(20, 12, N, 0);
    AUTO_FREE float *clean = read_array(scan.projections), *p = read_array(scan.projections);

    for (size_t draw = 0; draw < 12; draw++) {
        const double sigma = 0.02 * (double)(1 + draw % 6);
        for (size_t i = 0; i < (size_t)VIEWS * PIXELS; i++) {
            const size_t at = i + draw * VIEWS * PIXELS;
            p[i] = clean[i] + (float)(sigma * sqrt(-2 * log(unit(2 * at) + 1e-9)) *
                                      cos(2 * PI * unit(2 * at + 1)));
        }
        replace_samples(&scan, p);
        check_truncated("a small ball in noise", &scan, 0);
    }
}

/* Of a ball of 60 mm beside the axis, or one that is cut off, in noise or not: what is said of the
 * views [first, end), which have another exposure. */
static void check_exposure(double x, double r, bool noise, size_t first, size_t end, double part)
{
    AUTO_DROP struct fbp_scan scan = scan_ball(x, r, N, 0);
    AUTO_FREE float *p = read_array(scan.projections);
    struct fbp_report before = {.struct_size = sizeof before},
                      report = {.struct_size = sizeof report};
    struct said said;

    if (noise)
        spoil(p);
    replace_samples(&scan, p);
    OK(run(&scan, (struct fbp_recon_params){.device = "cpu"}, &before, &said));
    assert_int_equal(before.exposure_views, 0);
    /* Some views' exposure is another: line integrals of the whole view are shifted. */
    for (size_t i = first * PIXELS; i < end * PIXELS; i++)
        p[i] -= (float)log(part);
    replace_samples(&scan, p);
    OK(run(&scan, (struct fbp_recon_params){.device = "cpu"}, &report, &said));
    if (report.exposure_views != end - first || report.exposure_first != first ||
        report.exposure_last != end - 1 || !(fabs(report.exposure[0] / part - 1) < 0.1) ||
        !(fabs(report.exposure[1] / part - 1) < 0.1) ||
        !strstr(said.text,
                part < 1 ? " darker than neighbouring views" : " brighter than neighbouring views"))
        fail_msg("%g, %g: %zu views (%zu to %zu) have %g to %g of the exposure, expected %g; "
                 "said:\n%s",
                 x, r, report.exposure_views, report.exposure_first, report.exposure_last,
                 report.exposure[0], report.exposure[1], part, said.text);
    assert_true(report.truncated_views <= before.truncated_views);
    assert_true(report.truncated_views + (end - first) >= before.truncated_views);
}

TEST(another_exposure_is_no_wide_object)
{
    check_exposure(15, 60, false, 12, 13, 0.5);
    check_exposure(15, 60, true, 0, 1, 0.5);
    check_exposure(15, 60, true, 39, 40, 0.25);
    check_exposure(15, 60, true, 20, 27, 0.7);
    check_exposure(15, 60, false, 5, 6, 2);
    check_exposure(0, 100, false, 12, 13, 0.5);
}

/* An object that sticks out on both sides in few views, as a patient's arms do, is one: rows
 * differ, and it is no higher in the middle. */
TEST(few_wide_views_are_no_exposure)
{
    AUTO_DROP struct fbp_scan scan = scan_ball(15, 60, N, 0);
    AUTO_FREE float *p = read_array(scan.projections);

    for (size_t k = 12; k < 15; k++)
        for (size_t i = 0; i < PIXELS; i++) {
            const double row = ((double)(i / N) - ROWS / 2.0) / ROWS, c = (double)(i % N);
            const double from_end = fmin(c, N - 1 - c);
            p[k * PIXELS + i] += (float)(from_end < 9 ? 0.8 * (1 - row * row) : 0);
        }
    replace_samples(&scan, p);
    check_truncated("arms in three views", &scan, 3);
}

/* Counts that have to be made line integrals of, coarse voxels, all divisions and devices. */
TEST(divisions_see_the_same)
{
    static const struct fbp_recon_params cases[] = {
        {.device = "cpu", .n_threads = 1},
        {.device = "cpu", .tuning.slab_slices = 1},
        {.device = "cpu", .tuning.slab_slices = 3, .tuning.batch_views = 8},
        {.device = "cpu", .tuning.kernel = "matrix"},
        {.device = "ref", .tuning.slab_slices = 2},
        {.device = "mock:0,1", .tuning.slab_slices = 3},
        {.device = "mock", .tuning.batch_views = 8},
        {.device = "cuda"},
        {.device = "cuda", .tuning.slab_slices = 3, .tuning.batch_views = 32},
        {.device = "gl", .tuning.slab_slices = 3, .tuning.batch_views = 16},
    };
    static const struct fbp_grid grids[] = {{{40, 40, 16}, {3, 3, 3}, {0, 0, 0}},
                                            {{10, 10, 5}, {12, 12, 13}, {0, 0, 0}}};
    AUTO_DROP struct fbp_scan scan = scan_ball(30, 60, N, 0);
    AUTO_FREE float *p = read_array(scan.projections);

    spoil(p);
    count_photons(&scan, p, NULL);
    replace_samples(&scan, p);
    for (size_t g = 0; g < 2; g++) {
        struct fbp_report first = {.struct_size = sizeof first}, r = {.struct_size = sizeof r};
        struct said said;
        scan.volume = grids[g];
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (!usable(cases[i].device))
                continue;
            OK(run(&scan, cases[i], &r, &said));
            if (i == 0)
                first = r;
            assert_true(r.truncated_views > 0);
            assert_int_equal(r.truncated_views, first.truncated_views);
            assert_int_equal(r.truncated_first, first.truncated_first);
            assert_int_equal(r.truncated_last, first.truncated_last);
            assert_memory_equal(r.truncated, first.truncated, sizeof r.truncated);
        }
    }
}

/* A run that must fail with this sentence, and leave nothing. */
static void check_refused(const struct fbp_scan *scan, const char *device, const char *sentence)
{
    AUTO_FREE char *path = temporary("dead.mha");

    assert_int_equal(reconstruct_to(scan,
                                    fbp_recon_params(.device = device, .tuning.slab_slices = 5),
                                    path, NULL),
                     FBP_ERR_INVALID);
    if (!strstr(fbp_message(), sentence) || !strstr(fbp_message(), scan->projections))
        fail_msg("%s: said \"%s\", expected \"%s\"", device, fbp_message(), sentence);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(nothing_measured_is_an_error)
{
    static const char *const devices[] = {"cpu", "ref", "mock", "cuda"};
    AUTO_DROP struct fbp_scan scan = scan_ball(0, 60, N, 0);
    AUTO_FREE float *p = read_array(scan.projections);

    for (size_t d = 0; d < 4; d++) {
        if (!usable(devices[d]))
            continue;
        for (size_t i = 0; i < (size_t)VIEWS * PIXELS; i++)
            p[i] = NAN;
        replace_samples(&scan, p);
        check_refused(&scan, devices[d], "no sample of the 40 views is a number");
        for (size_t i = 0; i < (size_t)VIEWS * PIXELS; i++)
            p[i] = 65535;
        replace_samples(&scan, p);
        check_refused(&scan, devices[d], "all samples of the 40 views are 65535");
        for (size_t i = 0; i < (size_t)VIEWS * PIXELS; i++)
            p[i] = -1 - (float)(i % 7);
        replace_samples(&scan, p);
        scan.i0 = 1000;
        check_refused(&scan, devices[d], "are at or below the dark");
        scan.i0 = 0;
        for (size_t i = 0; i < (size_t)VIEWS * PIXELS; i++)
            p[i] = (float)(i / PIXELS);
        replace_samples(&scan, p);
        check_refused(&scan, devices[d], "in each of the 40 views, all samples are equal");
    }
}

TEST(dead_views_are_told)
{
    AUTO_DROP struct fbp_scan scan = scan_ball(0, 60, N, 0);
    AUTO_FREE float *p = read_array(scan.projections);
    struct fbp_report r = {.struct_size = sizeof r};
    struct said said;

    for (size_t i = 0; i < PIXELS; i++) {
        p[3 * PIXELS + i] = NAN;
        for (size_t k = 12; k < 15; k++)
            p[k * PIXELS + i] = 0;
    }
    p[13 * PIXELS + 5] = 1; /* in a corner: this one is alive */
    replace_samples(&scan, p);
    OK(run(&scan, (struct fbp_recon_params){.device = "cpu", .tuning.slab_slices = 4}, &r, &said));
    assert_int_equal(r.dead_views, 3);
    assert_contains(said.text, "3 of 40 views (3, 12, 14) contain no data");
}

/* Slices in which there is nothing are no dead scan. */
TEST(empty_slices_pass)
{
    AUTO_DROP struct fbp_scan scan = scan_ball(0, 10, N, 0);
    struct fbp_report r = {.struct_size = sizeof r};
    struct said said;

    OK(run(&scan, (struct fbp_recon_params){.device = "cpu", .box = {{0, 0}, {0, 0}, {15, 16}}}, &r,
           &said));
    assert_int_equal(r.dead_views, 0);
    assert_string_equal(said.text, "");
}

static void check_volume(const char *what, const struct fbp_scan *scan, const struct fbp_grid *grid,
                         const char *warning)
{
    struct fbp_recon_params p = {.struct_size = sizeof p, .volume = *grid, .callbacks.log = listen};
    struct said said = {""};

    p.callbacks.user = &said;
    fbp_plan *plan = create_plan(scan, &p);
    fbp_plan_destroy(&plan);
    if (warning ? !strstr(said.text, warning) : said.text[0] != '\0')
        fail_msg("%s: said \"%s\", expected \"%s\"", what, said.text, warning ? warning : "");
}

TEST(only_larger_volumes_warn)
{
    struct fbp_scan scan = scan_ball(0, 60, N, 0);

    scan.volume = (struct fbp_grid){{0}, {0}, {0}};
    check_volume("the default", &scan, &(struct fbp_grid){0}, NULL);
    check_volume("finer voxels", &scan, &(struct fbp_grid){.voxel_mm = {1, 1, 1}}, NULL);
    check_volume("more voxels", &scan, &(struct fbp_grid){.n = {100, 100, 30}}, NULL);
    check_volume("wider", &scan, &(struct fbp_grid){{80, 64, 16}, {3, 2, 2}, {0}},
                 "1 the volume extends 118.5 mm from the axis");
    check_volume("higher", &scan, &(struct fbp_grid){{40, 40, 40}, {3, 3, 3}, {0}},
                 "1 the volume has slices from z = -58.5 to 58.5 mm");
    drop_scan(&scan);

    scan = scan_ball(0, 60, 52, 48);
    scan.volume = (struct fbp_grid){{0}, {0}, {0}};
    check_volume("the default of an offset panel", &scan, &(struct fbp_grid){0}, NULL);
    drop_scan(&scan);
}

TEST_MAIN(NULL, NULL)
