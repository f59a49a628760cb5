/*
 * Input files whose order, unit or distances decide about the values: names of views with gaps and
 * with several numbers, angles of NXtomo in other units, a virtual detector, transmissions.  Two
 * discs off the axis are projected analytically here.
 */
#include "recon/fixture.h"

#include <sys/stat.h>

enum { N = 64, VIEWS = 90 };

static const double PITCH = 0.5, SOD = 300;

static const struct disc {
    double x, y, r, mu;
} discs[] = {{5, 3, 2.5, 0.07}, {-4, -2, 4, 0.02}};

/* One row of line integrals at this angle; sod 0: of a parallel beam; else the panel is on the
 * axis. */
static void project(double degrees, double sod, float *row)
{
    const double c = cos(degrees * PI / 180), s = sin(degrees * PI / 180);

    for (int i = 0; i < N; i++) {
        const double u = (i - (N - 1) / 2.) * PITCH, length = hypot(sod, u);
        row[i] = 0;
        for (size_t k = 0; k < sizeof discs / sizeof *discs; k++) {
            const struct disc *d = &discs[k];
            const double along = c * d->x + s * d->y, across = c * d->y - s * d->x;
            const double off = sod > 0 ? (across * sod - u * (sod - along)) / length : across - u;
            row[i] +=
                off * off < d->r * d->r ? (float)(2 * d->mu * sqrt(d->r * d->r - off * off)) : 0;
        }
    }
}

/* The mean in the middle of a disc. */
static double mean_in(const float *slice, const struct disc *d)
{
    double sum = 0, n = 0;

    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            if (hypot((i - (N - 1) / 2.) * PITCH - d->x, (j - (N - 1) / 2.) * PITCH - d->y) <
                0.6 * d->r) {
                sum += (double)slice[j * N + i];
                n++;
            }
    return sum / n;
}

/* Lines that were logged. */
static char logged[4000];

static void listen(void *user, enum fbp_log_level level, const char *line)
{
    snprintf(logged + strlen(logged), sizeof logged - strlen(logged), "%d %s\n", (int)level, line);
}

/* Both discs have their values, to this part. */
static void check_values(const char *what, const char *path, double part)
{
    logged[0] = '\0';
    AUTO_CLEAR struct fbp_scan scan = open_scan(path);
    scan.volume = (struct fbp_grid){{N, N, 1}, {PITCH, PITCH, PITCH}, {0, 0, 0}};
    AUTO_FREE float *v = reconstruct(
        &scan, &(struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                          .device = "cpu",
                                          .callbacks.log = listen});
    for (size_t k = 0; k < sizeof discs / sizeof *discs; k++)
        if (!(fabs(mean_in(v, &discs[k]) / discs[k].mu - 1) < part))
            fail_msg("%s: disc %zu has %g, not %g", what, k, mean_in(v, &discs[k]), discs[k].mu);
}

static void write_scan(const char *path, const char *kind, const char *projections,
                       const char *keys)
{
    FILE *f = not_null(fopen(path, "w"));

    fprintf(f,
            "{\"fbp_scan\": 1, \"kind\": \"%s\", \"projections\": \"%s\", "
            "\"detector\": {\"pitch_mm\": %g}, %s}",
            kind, projections, PITCH, keys);
    assert_int_equal(fclose(f), 0);
}

/* A folder of views: the name of view k, or "" if its file is missing. */
static char *make_folder(const char *name, void name_of(char *out, int k), double angle_of(int k))
{
    char *folder = temporary(name), path[800], file[64];
    float row[N];

    assert_int_equal(mkdir(folder, 0777), 0);
    for (int k = 0; k < VIEWS; k++) {
        const struct fbp_array_info info = {.struct_size = sizeof info, .n = {N, 1, 1}};
        name_of(file, k);
        if (!file[0])
            continue;
        project(angle_of(k), 0, row);
        snprintf(path, sizeof path, "%s/%s", folder, file);
        save_array(path, &info, NULL, row);
    }
    return folder;
}

static double even(int k)
{
    return 2 * k;
}

static double golden(int k)
{
    return fmod(111.246118 * k, 180);
}

static void name_gaps(char *out, int k)
{
    sprintf(out, k == 7 || k == 40 || k == 41 ? "" : "p_%d.mha", k + 8);
}

static void name_gaps_and_times(char *out, int k)
{
    const int time = 3 * k + k / 7;

    sprintf(out, k == 7 || k == 40 ? "" : "p_%03d_20260101_12%02d%02d.mha", k, time / 60,
            time % 60);
}

static void name_decimals(char *out, int k)
{
    sprintf(out, k == 50 ? "" : "p%g.mha", 0.25 + 0.25 * k);
}

static void name_times(char *out, int k) /* over midnight */
{
    const int s = 86400 - 200 + 7 * k;

    sprintf(out, "v_2026-01-%02d_%02d-%02d-%02d.mha", 1 + s / 86400, s / 3600 % 24, s / 60 % 60,
            s % 60);
}

static void name_golden(char *out, int k)
{
    sprintf(out, "s_%g_%d.mha", round(golden(k) * 100) / 100, k);
}

static void name_signed(char *out, int k)
{
    sprintf(out, "p_%d.mha", k - 45);
}

/* Views are in the order of the number that counts them, and angles follow it across gaps. */
TEST(names_order_the_views)
{
    static const struct {
        const char *what;
        void (*name_of)(char *out, int k);
        double (*angle_of)(int k);
        const char *warning;
    } rows[] = {
        {"gaps", name_gaps, even, "3 files are missing, numbers 15, 48 to 49; the angle"},
        {"gaps and times", name_gaps_and_times, even,
         "2 files are missing, numbers 7, 40; the angle"},
        {"decimals", name_decimals, even, "1 file is missing, number 12.75; the angle"},
        {"times", name_times, even, NULL},
        {"a sign", name_signed, even, NULL},
        {"golden ratio", name_golden, golden, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *folder = make_folder("views", rows[i].name_of, rows[i].angle_of), json[900],
             keys[2000] = "\"angles_deg\": {\"start\": 0, \"step\": 2}", command[2000];
        for (int k = 0; k < VIEWS && rows[i].angle_of == golden; k++)
            sprintf(k ? keys + strlen(keys) : keys, "%s%.4f%s", k ? ", " : "\"angles_deg\": [",
                    golden(k), k + 1 < VIEWS ? "" : "]");
        snprintf(json, sizeof json, "%s.json", folder);
        write_scan(json, "parallel", folder, keys);
        check_values(rows[i].what, json, 0.015);
        if (rows[i].warning ? !strstr(logged, rows[i].warning) : strstr(logged, "missing") != NULL)
            fail_msg("%s: expected \"%s\" in:\n%s", rows[i].what,
                     rows[i].warning ? rows[i].warning : "no warning", logged);
        snprintf(command, sizeof command, "rm -rf '%s' '%s'", folder, json);
        assert_int_equal(system(command), 0);
        free(folder);
    }
}

/* A list of angles in the order of the other number of the names. */
TEST(angles_go_with_the_names)
{
    char *folder = make_folder("golden", name_golden, golden), json[900], keys[2000], command[2000];
    double sorted[VIEWS];
    int n = 0;

    for (int k = 0; k < VIEWS; k++) { /* by insertion */
        int at = k;
        for (; at > 0 && sorted[at - 1] > golden(k); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = golden(k);
    }
    for (int k = 0; k < VIEWS; k++)
        n += sprintf(keys + n, "%s%.4f%s", k ? ", " : "\"angles_deg\": [", sorted[k],
                     k + 1 < VIEWS ? "" : "]");
    snprintf(json, sizeof json, "%s.json", folder);
    write_scan(json, "parallel", folder, keys);
    check_values("sorted angles", json, 0.015);
    assert_contains(logged, "each angle is assigned to the file whose name contains it");
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", folder, json);
    assert_int_equal(system(command), 0);
    free(folder);
}

/* A detector on the rotation axis; one between source and axis is refused with the remedy. */
TEST(virtual_detector)
{
    float views[VIEWS * N];
    AUTO_REMOVE char *json = temporary("scan.json");
    struct fbp_scan scan = {.struct_size = sizeof scan};

    for (int k = 0; k < VIEWS; k++)
        project(4. * k, SOD, views + k * N);
    AUTO_FREE char *path = write_array("views.mha", N, 1, VIEWS, views);
    write_scan(json, "cone", path,
               "\"source_to_axis_mm\": 300, \"source_to_detector_mm\": 300, "
               "\"angles_deg\": {\"start\": 0, \"step\": 4}");
    check_values("virtual detector", json, 0.015);
    write_scan(json, "cone", path,
               "\"source_to_axis_mm\": 300, \"source_to_detector_mm\": 150, "
               "\"angles_deg\": {\"start\": 0, \"step\": 4}");
    assert_fails(fbp_scan_load(&scan, json, NULL), FBP_ERR_INVALID,
                 "multiply its distance and pitch by the same factor, such as 2");
    remove(path);
}

/* Are float samples named as intensities? */
static bool is_named(double air, double noise, bool integrals, bool i0)
{
    float views[VIEWS * N];
    char *json = temporary("scan.json"), keys[200];
    uint32_t seed = 1;

    for (int k = 0; k < VIEWS; k++)
        project(2. * k, 0, views + k * N);
    for (int i = 0; i < VIEWS * N; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double x = integrals ? (double)views[i] : air * exp(-(double)views[i]);
        views[i] = (float)(x + noise * ((double)seed / 4294967296. - 0.5));
    }
    AUTO_FREE char *path = write_array("views.mha", N, 1, VIEWS, views);
    snprintf(keys, sizeof keys, "%s \"angles_deg\": {\"start\": 0, \"step\": 2}",
             i0 ? "\"i0\": 1, " : "");
    write_scan(json, "parallel", path, keys);
    logged[0] = '\0';
    struct fbp_scan scan = open_scan(json);
    free(reconstruct(&scan,
                     &(struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                                .device = "cpu",
                                                .callbacks.log = listen}));
    fbp_scan_clear(&scan);
    remove(path);
    remove(json);
    free(json);
    return strstr(logged, "were used as line integrals") != NULL;
}

TEST(transmissions_are_named)
{
    assert_true(is_named(1, 0, false, false));
    assert_contains(logged, "\"i0\": 1 in");
    assert_null(strstr(logged, "wider than the panel"));
    assert_true(is_named(0.95, 0.05, false, false));
    assert_true(is_named(1e4, 300, false, false) && is_named(1e4, 0, false, false));
    assert_contains(logged, "\"i0\": 1e+04 in");
    assert_false(is_named(1, 0, false, true));
    assert_false(is_named(1, 0, true, false));
    assert_false(is_named(1, 0.05, true, false));
}

TEST_MAIN(NULL, NULL)
