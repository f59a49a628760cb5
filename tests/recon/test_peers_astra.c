/*
 * ASTRA's test of scale (tests/python/functional/test_rec_scaling.py): a cube of 1, or a square,
 * keeps its value for every distance, pixel and voxel; theirs is projected from voxels, here from
 * the analytic box.  The mean over its middle must be 1 within 5e-2.
 */
#include "recon/peers.h"

static const double TOLERANCE = 5e-2;

/* Voxels [from, to) of n along every axis but z of a slice, side s. */
static struct fbp_shape box(size_t n, double from, double to, double s, bool flat)
{
    const double middle = ((from + to) / 2 - (double)n / 2) * s, half = (to - from) / 2 * s;
    return (struct fbp_shape){.kind = FBP_SHAPE_BOX,
                              .centre_mm = {middle, middle, flat ? 0 : middle},
                              .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                              .half_mm = {half, half, flat ? 1e4 : half},
                              .density = 1};
}

/* One of their projection geometries; a source at infinity: parallel. */
struct geometry {
    double source, detector, arc, pitch[2];
    size_t columns, rows;
};

static struct fbp_scan make_scan(const struct geometry *g, size_t n, double s)
{
    enum { VIEWS = 180 };
    const bool parallel = isinf(g->source), flat = g->rows == 1;
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .kind = parallel ? FBP_PARALLEL : FBP_CONE,
                            .n_views = VIEWS,
                            .panel = {g->columns, g->rows},
                            .row_order = FBP_ROWS_BOTTOM_UP,
                            .volume = {.n = {n, n, flat ? 1 : n}, .voxel_mm = {s, s, s}}};

    scan.views = calloc(VIEWS, sizeof *scan.views);
    assert_non_null(scan.views);
    for (int k = 0; k < VIEWS; k++) {
        scan.views[k] = (struct fbp_view){.s = {parallel ? 1 : g->source, 0, 0},
                                          .d = {-g->detector, 0, 0},
                                          .u = {0, g->pitch[0], 0},
                                          .v = {0, 0, g->pitch[1]}};
        turn_view(&scan.views[k], k * g->arc / VIEWS * PI / 180);
    }
    return scan;
}

/* The greatest distance from 1 so far, on each device. */
struct worst {
    double off[N_PEER_DEVICES];
    int n;
};

static void run(const struct geometry *g, size_t n, double s, const size_t cube[2],
                const size_t middle[2], struct worst *worst)
{
    AUTO_CLEAR struct fbp_scan scan = make_scan(g, n, s);
    struct fbp_shape shape = box(n, (double)cube[0], (double)cube[1], s, g->rows == 1);
    const struct fbp_phantom phantom = {.n_shapes = 1, .shapes = &shape};
    AUTO_FREE float *views = project(&scan, &phantom);

    for (int i = 0; i < N_PEER_DEVICES; i++) {
        if (!usable(peer_devices[i]))
            continue;
        float *volume =
            reconstruct_views(&scan, views, fbp_recon_params(.device = peer_devices[i]));
        /* Mean over voxels [from, to) along every axis. */
        const bool flat = (&scan.volume)->n[2] == 1;
        double sum = 0;
        size_t count = 0;
        for (size_t z = flat ? 0 : middle[0]; z < (flat ? 1 : middle[1]); z++)
            for (size_t y = middle[0]; y < middle[1]; y++)
                for (size_t x = middle[0]; x < middle[1]; x++, count++)
                    sum +=
                        (double)volume[(z * (&scan.volume)->n[1] + y) * (&scan.volume)->n[0] + x];
        const double mean = sum / (double)count;
        worst->off[i] = fmax(worst->off[i], fabs(mean - 1));
        if (!(fabs(mean - 1) < TOLERANCE))
            fail_msg("%s: source %g, detector %g, arc %g, pixel %g x %g, voxel %g: mean %.4f",
                     peer_devices[i], g->source, g->detector, g->arc, g->pitch[0], g->pitch[1], s,
                     mean);
        free(volume);
    }
    worst->n++;
}

static void report(const char *name, const struct worst *worst)
{
    for (int i = 0; i < N_PEER_DEVICES; i++)
        if (usable(peer_devices[i]))
            print_message("test_rec_scaling, %-22s %-4s %2d cases: off by at most %.4f < %.2f\n",
                          name, peer_devices[i], worst->n, worst->off[i], TOLERANCE);
}

static void cones(double arc, const char *name)
{
    static const double sizes[] = {0.8, 1}, sources[] = {500, 1000}, detectors[] = {0, 250};
    static const size_t cube[] = {25, 35}, middle[] = {27, 32};
    struct worst worst = {{0}, 0};

    for (int k = 0; k < 32; k++) {
        const struct geometry g = {.source = sources[k & 1],
                                   .detector = detectors[k >> 1 & 1],
                                   .arc = arc,
                                   .pitch = {sizes[k >> 2 & 1], sizes[k >> 3 & 1]},
                                   .columns = 128,
                                   .rows = 128};
        run(&g, 64, sizes[k >> 4], cube, middle, &worst);
    }
    report(name, &worst);
}

TEST(cone)
{
    cones(360, "FDK");
}

TEST(cone_short)
{
    cones(270, "FDK short scan");
}

static const double flat_sizes[] = {0.8, 1, 1.25};
static const size_t square[] = {50, 70}, square_middle[] = {55, 65};

TEST(fan)
{
    static const double sources[] = {500, 1000}, detectors[] = {0, 250, 500};
    struct worst worst = {{0}, 0};

    for (int k = 0; k < 54; k++) {
        const double pitch = flat_sizes[k / 18];
        const struct geometry g = {.source = sources[k % 2],
                                   .detector = detectors[k / 2 % 3],
                                   .arc = 360,
                                   .pitch = {pitch, pitch},
                                   .columns = 256,
                                   .rows = 1};
        run(&g, 128, flat_sizes[k / 6 % 3], square, square_middle, &worst);
    }
    report("FBP fan", &worst);
}

TEST(parallel)
{
    struct worst worst = {{0}, 0};

    for (int k = 0; k < 9; k++) {
        const double pitch = flat_sizes[k % 3];
        const struct geometry g = {
            .source = INFINITY, .arc = 180, .pitch = {pitch, pitch}, .columns = 256, .rows = 1};
        run(&g, 128, flat_sizes[k / 3], square, square_middle, &worst);
    }
    report("FBP parallel", &worst);
}

TEST_MAIN(NULL, NULL)
