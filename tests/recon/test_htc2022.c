/*
 * Real fan-beam data of the Helsinki Tomography Challenge 2022 against the organisers' own
 * reconstruction: 721 views, 0 to 360 degrees, both ends.
 */
#include "recon/fixture.h"
#include "recon/mat5.h"

enum { VIEWS = 721, COLUMNS = 560, SIZE = 512 };

static const double PIXEL = 0.1483223173330444;

static void write_sinogram(const double *sinogram, const char *path)
{
    const struct fbp_array_info info = {.n = {COLUMNS, 1, VIEWS}, .spacing_mm = {0.2, 0.2, 1}};
    fbp_sink *sink;

    OK(fbp_sink_open(&sink, path, &info,
                     &(struct fbp_sink_params){.struct_size = sizeof(struct fbp_sink_params)}));
    for (size_t k = 0; k < VIEWS; k++) {
        float row[COLUMNS];
        for (size_t c = 0; c < COLUMNS; c++)
            row[c] = (float)sinogram[c * VIEWS + k]; /* column-major */
        OK(fbp_sink_write(sink, k, 1, row));
    }
    OK(fbp_sink_finish(sink));
    fbp_sink_close(&sink);
}

static struct fbp_scan make_scan(const char *sinogram)
{
    struct fbp_scan scan = {.n_views = VIEWS,
                            .panel = {COLUMNS, 1},
                            .projections = strdup(sinogram),
                            .volume = {{SIZE, SIZE, 1}, {PIXEL, PIXEL, PIXEL}, {0, 0, 0}}};

    add_views(&scan, &(struct orbit){.start_deg = -90,
                                     .step_deg = 0.5,
                                     .sod_mm = 410.66,
                                     .sdd_mm = 553.74,
                                     .pitch_mm = {0.2, 0.2}});
    return scan;
}

/* Inside 240 pixels of the centre; theirs is per effective pixel and upside down. */
static double nrmse(const float *ours, const double *theirs)
{
    double sum = 0, square = 0;

    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            const double dx = x - (SIZE - 1) / 2.0, dy = y - (SIZE - 1) / 2.0;
            if (dx * dx + dy * dy > 240.0 * 240.0)
                continue;
            const double a = (double)ours[y * SIZE + x] * PIXEL;
            const double b = theirs[x * SIZE + (SIZE - 1 - y)];
            sum += (a - b) * (a - b);
            square += b * b;
        }
    return sqrt(sum / square);
}

static void check(const char *name)
{
    char path[600], *sinogram_path = temporary("sinogram.mha");
    static const char *const devices[] = {"ref", "cpu", "cuda"};

    snprintf(path, sizeof path, "%s/htc2022_fanbeam/htc2022_%s_full.mat", FBP_SHARED_DATA, name);
    double *sinogram = mat5_read(path, VIEWS, COLUMNS);
    snprintf(path, sizeof path, "%s/htc2022_fanbeam/htc2022_%s_recon_fbp.mat", FBP_SHARED_DATA,
             strcmp(name, "ta") == 0 ? "ta_full" : name);
    double *theirs = mat5_read(path, SIZE, SIZE);
    if (!sinogram || !theirs)
        skip();
    write_sinogram(sinogram, sinogram_path);
    struct fbp_scan scan = make_scan(sinogram_path);
    for (int d = 0; d < 3; d++) {
        if (!usable(devices[d]))
            continue;
        float *equal = reconstruct(
            &scan, fbp_recon_params(.device = devices[d], .angular_weights = FBP_ANGULAR_EQUAL));
        float *automatic = reconstruct(&scan, fbp_recon_params(.device = devices[d]));
        const double e = nrmse(equal, theirs), a = nrmse(automatic, theirs);
        print_message("%s, %s: NRMSE equal weights %.2e, automatic %.2e\n", name, devices[d], e, a);
        assert_true(e <= 2e-4);
        assert_true(a <= 5e-3);
        free(equal);
        free(automatic);
    }
    free(sinogram);
    free(theirs);
    drop_scan(&scan);
    free(sinogram_path);
}

static void phantom_ta(void **state)
{
    (void)state;
    check("ta");
}

static void phantom_01a(void **state)
{
    (void)state;
    check("01a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(phantom_ta), cmocka_unit_test(phantom_01a)};

    if (access(FBP_SHARED_DATA "/htc2022_fanbeam/README.md", R_OK) != 0)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
