/* Checks EPR spectra of a field sweep: divided by the reference line they give the volume of the
 * plane integrals. */
#include "geometry/view.h"
#include "recon/planes_util.h"

enum { S = 240 };

static char *line_path; /* of the line's file */

/* The first derivative of a Gauss line, somewhere in the sweep: the middle of the views is where
 * the same axis has it. */
static double line_at(double sample)
{
    const double x = (sample - 131.3) / 4;

    return -x * exp(-x * x / 2) / 4;
}

/* Gradients of four magnitudes, so that samples are closer in some views than in others. */
static struct fbp_scan sweep(size_t rings)
{
    double(*direction)[3];
    const size_t n = directions_of(FBP_SET_SOLID_ANGLE, rings, &direction);
    struct fbp_scan scan = planes_scan(direction, n);

    scan.panel.n_columns = S;
    scan.volume = (struct fbp_grid){.n = {24, 24, 24}, .voxel_mm = {2. / 24, 2. / 24, 2. / 24}};
    for (size_t k = 0; k < n; k++) {
        const double step = PLANES_STEP * (.8 + .1 * (double)(k % 4));
        fbp_plane_view(direction[k], step, -(S - 1) / 2. * step, S, &scan.views[k]);
    }
    free(direction);
    return scan;
}

/* P(B) = integral of p(s) h(B + mu s) ds; a row runs against s. */
static float *spectra_of(const struct fbp_scan *scan, const float *planes)
{
    float *out = calloc(scan->n_views * S, sizeof *out);

    for (size_t k = 0; k < scan->n_views; k++) {
        const double *u = scan->views[k].u, step = sqrt(dot3(u, u));
        for (int c = 0; c < S; c++) {
            double sum = 0;
            for (int m = 0; m < S; m++)
                sum += (double)planes[k * S + (size_t)m] * line_at(c - m + (S - 1) / 2.);
            out[k * S + (size_t)c] = (float)(sum * step);
        }
    }
    return out;
}

static float *volume_of(const struct fbp_scan *scan, const float *views, const char *device,
                        double wiener, size_t oversampling)
{
    return planes_volume(scan, FBP_F32, views,
                         fbp_recon_params(.device = device, .filter = FBP_FILTER_HANN,
                                          .cutoff = .25, .epr.wiener = wiener,
                                          .epr.oversampling = oversampling));
}

static void compare(const char *device, size_t rings, double wiener, size_t oversampling,
                    double least, double most)
{
    const struct solid solid = ball_of_planes(2);
    AUTO_CLEAR struct fbp_scan scan = sweep(rings);
    AUTO_FREE float *planes = plane_samples(&scan, &solid, 1), *spectra = spectra_of(&scan, planes);
    AUTO_FREE float *wanted = volume_of(&scan, planes, device, 0, oversampling);

    scan.reference = strdup(line_path);
    AUTO_FREE float *got = volume_of(&scan, spectra, device, wiener, oversampling);
    const double wrong = difference(wanted, got, grid_size(&scan.volume));
    if (!(wrong >= least && wrong <= most))
        fail_msg("%s, Wiener %g: differs by %.2e of the peak, expected %g to %g", device, wiener,
                 wrong, least, most);
}

TEST(the_line_is_taken_out)
{
    compare("cpu", 12, 0, 0, 0, 2e-4);
    compare("cpu", 12, 0, 2, 0, 2e-4);
    compare("ref", 6, 0, 0, 0, 2e-4);
    if (usable("gl"))
        compare("gl", 6, 0, 2, 0, 2e-4);
    if (usable("cuda"))
        compare("cuda", 12, 0, 2, 0, 2e-4);
}

/* A term that is small changes little, a large one damps what the line has little of. */
TEST(wieners_term_is_heard)
{
    compare("cpu", 12, 1e-8, 0, 0, 1e-3);
    compare("cpu", 12, .1, 0, .05, 1);
}

/* Lines and rows that go round the same circle: as many samples as there are, also a prime number
 * of them, and objects that come nowhere near their ends. */
TEST(rows_may_be_periodic)
{
    const struct solid solid = {.centre = {.05, -.03, 0},
                                .axes = {.3, .3, .3},
                                .turn = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                .m = 2};
    static const size_t lengths[] = {PLANES_S, 111, 113};

    for (size_t i = 0; i < 3; i++) {
        AUTO_CLEAR struct fbp_scan scan = rings_scan(8);
        scan.panel.n_columns = lengths[i];
        scan.volume.n[0] = scan.volume.n[1] = scan.volume.n[2] = 20;
        AUTO_FREE float *views = plane_samples(&scan, &solid, 1);
        const struct fbp_recon_params p = {.device = "cpu", .cutoff = .1, .epr.periodic = true};
        struct fbp_recon_params by_ref = p, open = p;
        by_ref.device = "ref";
        open.epr.periodic = false;
        AUTO_FREE float *ref = planes_volume(&scan, FBP_F32, views, &by_ref);
        AUTO_FREE float *cpu = planes_volume(&scan, FBP_F32, views, &p);
        AUTO_FREE float *not_periodic = planes_volume(&scan, FBP_F32, views, &open);
        const size_t n = grid_size(&scan.volume);
        assert_true(difference(ref, cpu, n) < 1e-5);
        const double off = difference(not_periodic, cpu, n);
        if (!(off > 1e-3 && off < .1)) /* what closes around the circle, and does not otherwise */
            fail_msg("%zu samples: periodic rows differ by %.2g", lengths[i], off);
    }
}

TEST(what_cannot_be_divided_is_refused)
{
    static const struct {
        struct fbp_recon_params p;
        fbp_status status;
        const char *says;
    } rows[] = {
        {{.cutoff = 1}, FBP_ERR_INVALID, "is nearly 0 at"},
        {{.cutoff = .1, .epr.wiener = 2}, FBP_ERR_INVALID, "wiener"},
        {{.cutoff = .1, .filter = FBP_FILTER_TWO_RAMPS}, FBP_ERR_UNSUPPORTED, "no deconvolution"},
        {{.cutoff = .1, .epr.periodic = true, .epr.oversampling = 2},
         FBP_ERR_UNSUPPORTED,
         "cannot be combined with oversampling"},
        {{.cutoff = .1, .epr.periodic = true, .filtering.spatial = true},
         FBP_ERR_UNSUPPORTED,
         "cannot be combined with a filter in space"},
        {{.cutoff = .1}, FBP_ERR_INVALID, "the same field values"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    AUTO_CLEAR struct fbp_scan scan = sweep(6);
    AUTO_FREE float *views = calloc(scan.n_views * S, sizeof *views);
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {S, 1, scan.n_views}, .type = FBP_F32};
    CLEANUP(fbp_source_close) fbp_source *source = memory_source(views, &info);

    assert_no_plan(&scan, fbp_recon_params(.input.source = source, .epr.wiener = .1),
                   FBP_ERR_INVALID, "needs a reference spectrum");
    scan.reference = strdup(line_path);
    for (size_t i = 0; i < ROWS; i++) {
        struct fbp_recon_params p = rows[i].p;
        p.struct_size = sizeof p;
        p.device = "cpu";
        p.input.source = source;
        for (int a = 0; i + 1 == ROWS && a < 3; a++)
            scan.views[3].d[a] += .01 * scan.views[3].u[a];
        assert_no_plan(&scan, &p, rows[i].status, rows[i].says);
    }
}

int main(int argc, char **argv)
{
    line_path = temporary("spectra_line.csv");
    FILE *f = not_null(fopen(line_path, "w"));
    for (int i = 0; i < S; i++)
        fprintf(f, "%.17g\n", line_at(i));
    assert_int_equal(fclose(f), 0);
    const int failed = run_file_tests(argc, argv, NULL, NULL);
    unlink(line_path);
    free(line_path);
    return failed;
}
