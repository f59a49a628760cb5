/* --refine: filtered samples between the measured ones of a row, on every device, beside a sum in
 * double precision with 16 samples per measured one, which is nearly band-limited interpolation. */
#include "recon/fixture.h"

#include "filter/filter.h"

enum { VIEWS = 360, COLUMNS = 256, ROWS = 3, VOXELS = 128 };

static const double SOD = 750, SDD = 1200, PITCH = 3.2; /* columns of 2 mm on the axis */

static struct fbp_scan make_scan(double offset_mm)
{
    return head_scan(VIEWS, COLUMNS, ROWS,
                     &(struct orbit){.pitch_mm = {PITCH, PITCH}, .offset_mm = offset_mm},
                     (struct fbp_grid){{VOXELS, VOXELS, 1}, {2, 2, 2}, {0, 0, 0}}, 110);
}

/* The reconstruction of the centred scan in double precision (Feldkamp, Davis and Kress 1984), from
 * rows with R samples per measured one. */
static void reconstruct_double(const struct fbp_scan *scan, size_t R, float *out)
{
    const size_t length = R * (COLUMNS - 1) + 1;
    const double tau = PITCH * SOD / SDD, step = 2 * PI / VIEWS;
    AUTO_FREE float *views = read_array(scan->projections);
    AUTO_FREE double *sums = not_null(calloc((size_t)VOXELS * VOXELS, sizeof *sums));
    AUTO_FREE double *row = not_null(malloc((length + 1) * sizeof *row));
    struct fbp_filter_design design;
    struct fbp_row_filter filter;
    struct fbp_row_work work;

    OK(fbp_filter_design_times(&design, FBP_FILTER_RAM_LAK, 1, length, 0, R,
                               (struct fbp_filter_factors){0}));
    OK(fbp_row_filter_open(&filter, &design, false));
    OK(fbp_row_work_alloc(&work, &design));
    for (size_t k = 0; k < VIEWS; k++) {
        const double *s = scan->views[k].s, *u = scan->views[k].u;
        memset(work.line, 0, design.n_fft * sizeof *work.line);
        for (size_t c = 0; c < COLUMNS; c++) {
            const double a = tau * ((double)c - (COLUMNS - 1) / 2.0);
            work.line[R * c] =
                (double)views[(k * ROWS + ROWS / 2) * COLUMNS + c] * SOD / hypot(SOD, a);
        }
        fbp_row_filter(&filter, &work, row);
        row[length] = 0;
        for (size_t i = 0; i < (size_t)VOXELS * VOXELS; i++) {
            double x[3];
            voxel_at(&scan->volume, i, x);
            const double w = 1 - (x[0] * s[0] + x[1] * s[1]) / (SOD * SOD);
            const double along = (x[0] * u[0] + x[1] * u[1]) / PITCH / w / tau;
            const double at = (double)R * (along + (COLUMNS - 1) / 2.0), first = floor(at);
            if (first < 0 || first >= (double)length)
                continue;
            const double *q = row + (size_t)first;
            sums[i] += (q[0] + (at - first) * (q[1] - q[0])) / (w * w) * step / tau / 2;
        }
    }
    for (size_t i = 0; i < (size_t)VOXELS * VOXELS; i++)
        out[i] = (float)sums[i];
    fbp_row_work_free(&work);
    fbp_row_filter_close(&filter);
    fbp_filter_design_clear(&design);
}

static struct fbp_recon_params params_of(const char *device, enum fbp_refine refine)
{
    return (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .device = device,
                                     .precision = FBP_PRECISION_EXACT,
                                     .filtering.refine = refine};
}

static double hu_between(const float *a, const float *b, size_t n)
{
    return rms_between(a, b, n) * 1000 / 0.02;
}

/* The error of the linear interpolation falls by about 4 for every doubling of the samples. */
TEST(error_falls_with_the_square)
{
    static const char *const devices[] = {"ref", "cpu", "cuda", "gl"};
    AUTO_DROP struct fbp_scan scan = make_scan(0);
    const size_t n = grid_size(&scan.volume);
    AUTO_FREE float *limit = not_null(malloc(n * sizeof *limit));
    AUTO_FREE float *same = not_null(malloc(n * sizeof *same));

    reconstruct_double(&scan, 16, limit);
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        double error[3];
        if (!usable(devices[d]))
            continue;
        for (int i = 0; i < 3; i++) {
            const struct fbp_recon_params p = params_of(devices[d], (enum fbp_refine)i);
            AUTO_FREE float *got = reconstruct(&scan, &p);
            reconstruct_double(&scan, (size_t)1 << i, same);
            error[i] = hu_between(got, limit, n);
            print_message("%s, refine %s: %.2f HU rms from the limit, %.1f dB from double\n",
                          devices[d], fbp_refine_name((size_t)i), error[i], psnr_db(got, same, n));
            assert_true(psnr_db(got, same, n) > 100);
        }
        assert_true(error[0] > 3.3 * error[1] && error[1] > 3.7 * error[2]);
    }
}

/* Rows of a panel that is offset are extended by whole columns; every device does the same. */
TEST(offset_panels)
{
    static const char *const devices[] = {"cpu", "cuda", "gl"};
    AUTO_DROP struct fbp_scan scan = make_scan(100.8);
    const size_t n = grid_size(&scan.volume);

    for (int i = 0; i < 3; i++) {
        const struct fbp_recon_params p = params_of("ref", (enum fbp_refine)i);
        AUTO_FREE float *want = reconstruct(&scan, &p);
        for (size_t d = 0; d < 3; d++) {
            const struct fbp_recon_params q = params_of(devices[d], (enum fbp_refine)i);
            if (!usable(devices[d]))
                continue;
            AUTO_FREE float *got = reconstruct(&scan, &q);
            const double db = psnr_db(got, want, n);
            print_message("%s, refine %s: %.1f dB\n", devices[d], fbp_refine_name((size_t)i), db);
            assert_true(db > 100);
        }
    }
}

/* Samples per voxel on the axis: half a column, one and two. */
TEST(auto_counts_samples_per_voxel)
{
    static const struct {
        double voxel_mm;
        const char *says;
    } cases[] = {{1, "4 filtered samples"}, {2, "2 filtered samples"}, {4.1, NULL}};
    AUTO_DROP struct fbp_scan scan = make_scan(0);

    for (size_t i = 0; i < 3; i++) {
        CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
        struct fbp_recon_params p = params_of("cpu", FBP_REFINE_AUTO);
        scan.volume.voxel_mm[0] = scan.volume.voxel_mm[1] = cases[i].voxel_mm;
        OK(fbp_plan_create(&plan, &scan, &p));
        const char *weights = fbp_plan_info(plan)->weights;
        print_message("voxels of %g mm: %s\n", cases[i].voxel_mm, weights);
        assert_true(cases[i].says ? strstr(weights, cases[i].says) != NULL
                                  : strstr(weights, "filtered samples") == NULL);
    }
}

TEST(what_it_cannot_be_combined_with)
{
    AUTO_DROP struct fbp_scan scan = make_scan(0);
    struct fbp_recon_params p = params_of("cpu", FBP_REFINE_2);
    fbp_plan *plan = NULL;

    p.pad = FBP_PAD_ELLIPSE;
    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_UNSUPPORTED, "found together with pad");
    p.pad = FBP_PAD_NONE;
    p.filtering.spatial = true;
    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_UNSUPPORTED, "found together with spatial");
    p.filtering.spatial = false;
    p.epr.oversampling = 2;
    assert_fails(fbp_plan_create(&plan, &scan, &p), FBP_ERR_UNSUPPORTED, "use refine");
}

TEST_MAIN(NULL, NULL)
