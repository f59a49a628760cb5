/*
 * Real parallel-beam data of a synchrotron (APS), Data Exchange: raw counts, flats and darks to a
 * slice in one go.  The axis falls on column 296, which makes the air the quietest.
 */
#include "recon/fixture.h"

#define TOOTH FBP_SHARED_DATA "/tooth_parallel_aps/tooth.h5"

enum { SIZE = 400 };

/* The panel moved so that the axis, now at the middle column, falls on `column`. */
static struct fbp_scan load_scan(double column)
{
    struct fbp_scan scan = open_scan(TOOTH);
    for (size_t k = 0; k < scan.n_views; k++)
        for (int i = 0; i < 3; i++)
            scan.views[k].d[i] += (319.5 - column) * scan.views[k].u[i];
    scan.volume = (struct fbp_grid){{SIZE, SIZE, 1}, {1, 1, 1}, {0, 0, 0}};
    return scan;
}

TEST(finds_everything)
{
    AUTO_CLEAR struct fbp_scan scan = open_scan(TOOTH);
    assert_int_equal(scan.kind, FBP_PARALLEL);
    assert_int_equal(scan.n_views, 181);
    assert_int_equal(scan.panel.n_columns, 640);
    assert_int_equal(scan.panel.n_rows, 2);
    assert_string_equal(scan.projections, TOOTH ":/exchange/data");
    assert_string_equal(scan.flat, TOOTH ":/exchange/data_white");
    assert_string_equal(scan.dark, TOOTH ":/exchange/data_dark");
    size_t pitch = 0; /* what the file leaves open is assumed */
    for (size_t i = 0; i < scan.n_assumed; i++)
        pitch += strcmp(scan.assumed[i].key, "detector.pitch_mm") == 0;
    assert_int_equal(pitch, 1);
    const double *s = scan.views[180].s; /* 179.0055 degrees */
    assert_true(fabs(atan2(s[1], s[0]) * 180 / PI - 179.00552486) < 1e-6);
}

/* Share of what is below zero: a wrong axis leaves rings and tails of both signs. */
static double negativity(const float *v)
{
    double negative = 0, all = 0;

    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            const double dx = x - (SIZE - 1) / 2.0, dy = y - (SIZE - 1) / 2.0;
            if (dx * dx + dy * dy > SIZE * SIZE / 4.0)
                continue;
            const double a = (double)v[y * SIZE + x];
            negative += a < 0 ? -a : 0;
            all += fabs(a);
        }
    return negative / all;
}

/* Mean over a square of 2 n + 1 voxels. */
static double mean_around(const float *v, int x0, int y0, int n)
{
    double sum = 0;

    for (int y = y0 - n; y <= y0 + n; y++)
        for (int x = x0 - n; x <= x0 + n; x++)
            sum += (double)v[y * SIZE + x];
    return sum / ((2 * n + 1) * (2 * n + 1));
}

TEST(slice_is_clean)
{
    static const double columns[] = {294, 295, 296, 297, 298};
    double found[5];

    for (int i = 0; i < 5; i++) {
        AUTO_CLEAR struct fbp_scan scan = load_scan(columns[i]);
        AUTO_FREE float *v = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
        found[i] = negativity(v);
        print_message("axis at column %g: %.4f of the magnitude is negative\n", columns[i],
                      found[i]);
        if (i == 2) { /* enamel to the left of the middle, air in the corner */
            assert_true(mean_around(v, 107, 215, 3) > 5e-3);
            assert_true(fabs(mean_around(v, 60, 60, 8)) < 3e-4);
        }
    }
    for (int i = 0; i < 5; i++)
        assert_true(i == 2 || found[i] > found[2]);
}

int main(int argc, char **argv)
{
    if (access(TOOTH, R_OK) != 0)
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
