/* Spectra of a field sweep: plane integrals convolved with a line.  Divided by that line, they give
 * the volume of the plane integrals. */
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

static void write_line(void)
{
    FILE *f = not_null(fopen(line_path, "w"));

    for (int i = 0; i < S; i++)
        fprintf(f, "%.17g\n", line_at(i));
    assert_int_equal(fclose(f), 0);
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
    float *out = calloc(grid_size(&scan->volume), sizeof *out);

    OK(fbp_reconstruct(scan,
                       fbp_recon_params(.device = device, .filter = FBP_FILTER_HANN, .cutoff = .25,
                                        .epr.wiener = wiener, .epr.oversampling = oversampling,
                                        .n_threads = 2),
                       FBP_F32, views, out, NULL));
    return out;
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
        float *views = plane_samples(&scan, &solid, 1), *volumes[3];
        for (int device = 0; device < 3; device++) {
            volumes[device] = calloc(grid_size(&scan.volume), sizeof *volumes[device]);
            OK(fbp_reconstruct(&scan,
                               fbp_recon_params(.device = device ? "cpu" : "ref", .cutoff = .1,
                                                .epr.periodic = device < 2, .n_threads = 2),
                               FBP_F32, views, volumes[device], NULL));
        }
        const size_t n = grid_size(&scan.volume);
        assert_true(difference(volumes[0], volumes[1], n) < 1e-5);
        const double off = difference(volumes[2], volumes[1], n);
        if (!(off > 1e-3 && off < .1)) /* what closes around the circle, and does not otherwise */
            fail_msg("%zu samples: periodic rows differ by %.2g", lengths[i], off);
        for (int device = 0; device < 3; device++)
            free(volumes[device]);
        free(views);
    }
}

static void refused(const struct fbp_scan *scan, struct fbp_recon_params *p, const char *word)
{
    fbp_plan *plan = NULL;

    p->struct_size = sizeof *p;
    p->device = "cpu";
    assert_int_not_equal(fbp_plan_create(&plan, scan, p), FBP_OK);
    if (!strstr(fbp_message(), word))
        fail_msg("\"%s\" does not say \"%s\"", fbp_message(), word);
}

TEST(what_cannot_be_divided_is_refused)
{
    AUTO_CLEAR struct fbp_scan scan = sweep(6);
    const float *views = calloc(scan.n_views * S, sizeof *views);

    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {S, 1, scan.n_views}, .type = FBP_F32};
    CLEANUP(fbp_source_close) fbp_source *source = memory_source(views, &info);
    refused(&scan, &(struct fbp_recon_params){.input.source = source, .epr.wiener = .1},
            "needs a reference spectrum");
    scan.reference = strdup(line_path);
    refused(&scan, &(struct fbp_recon_params){.input.source = source, .cutoff = 1}, "is 0 above");
    refused(&scan,
            &(struct fbp_recon_params){.input.source = source, .cutoff = .1, .epr.wiener = 2},
            "wiener");
    refused(&scan,
            &(struct fbp_recon_params){
                .input.source = source, .cutoff = .1, .filter = FBP_FILTER_TWO_RAMPS},
            "no deconvolution");
    refused(&scan,
            &(struct fbp_recon_params){
                .input.source = source, .cutoff = .1, .epr.periodic = true, .epr.oversampling = 2},
            "cannot be combined with oversampling");
    refused(
        &scan,
        &(struct fbp_recon_params){
            .input.source = source, .cutoff = .1, .epr.periodic = true, .filtering.spatial = true},
        "cannot be combined with a filter in space");
    for (int i = 0; i < 3; i++)
        scan.views[3].d[i] += .01 * scan.views[3].u[i];
    refused(&scan, &(struct fbp_recon_params){.input.source = source, .cutoff = .1},
            "with the same field values");
    free((void *)(uintptr_t)views);
}

int main(int argc, char **argv)
{
    line_path = temporary("spectra_line.csv");
    write_line();
    const int failed = run_file_tests(argc, argv, NULL, NULL);
    unlink(line_path);
    free(line_path);
    return failed;
}
