/* Checks that a ball of 0.02/mm, 30 mm off the axis, has its value within 0.2 % for every kind of
 * scan, on every backend. */
#include "geometry/view.h"
#include "phantom/shapes.h"
#include "recon/fixture.h"

enum { N = 128, VIEWS = 360, SLICES = 9 };

static const double MU = 0.02, RADIUS = 40, OFF_AXIS = 30;

/* A scan to be made: what differs from the plain full circle. */
struct variant {
    enum fbp_kind kind;
    size_t n_views, n_rows;
    double step_deg, start_deg;
    double jitter;       /* of angles, in steps */
    double sod_noise_mm; /* of the source distance */
    double offset_mm;    /* of the panel along u */
    double tilt_deg[3];
    int c_arm;
    enum fbp_angular_weights weights;
};

static double noise(size_t i)
{
    const uint32_t h = (uint32_t)(i + 1) * 2654435761u;
    return (double)(h >> 8) / (double)(1u << 24) - 0.5;
}

static struct fbp_scan make_scan(const struct variant *v)
{
    const size_t n = v->n_views ? v->n_views : VIEWS;
    const double step = v->step_deg != 0 ? v->step_deg : 360.0 / (double)n;
    AUTO_FREE double *angles = even_angles(n, v->start_deg, step), *sod = malloc(n * sizeof *sod);
    const double sdd = 1200, pitch = v->kind == FBP_PARALLEL ? 2.0 : 3.2;
    struct fbp_circle circle = {.struct_size = sizeof circle,
                                .kind = v->kind,
                                .n_views = n,
                                .angles_rad = angles,
                                .sod_mm = sod,
                                .sdd_mm = &sdd,
                                .n_sod = n,
                                .n_sdd = 1,
                                .pitch_mm = {pitch, pitch},
                                .offset_mm = {v->offset_mm, 0}};
    struct fbp_scan scan = {
        .struct_size = sizeof scan,
        .kind = v->kind,
        .n_views = n,
        .panel = {N, v->n_rows ? v->n_rows : N},
        .angular_weights = v->weights,
        .volume = {.n = {N, N, v->n_rows == 1 ? 1 : SLICES}, .voxel_mm = {2, 2, 2}}};

    assert_non_null(sod);
    for (size_t i = 0; i < n; i++) {
        angles[i] += v->jitter * noise(i) * step * PI / 180;
        sod[i] = 750 + v->sod_noise_mm * noise(i + 7777);
    }
    for (int i = 0; i < 3; i++)
        circle.tilt_rad[i] = v->tilt_deg[i] * PI / 180;
    scan.views = calloc(n, sizeof *scan.views);
    assert_non_null(scan.views);
    if (v->c_arm) {
        circle.n_sod = 1;
        OK(fbp_c_arm_views(&circle, &scan.panel, scan.views));
        for (size_t i = 0; i < n; i++) { /* nothing but the 3x4 matrix may be needed */
            double P[12];
            OK(fbp_view_to_matrix(&scan.views[i], FBP_CONE, &scan.panel, P));
            OK(fbp_view_from_matrix(P, pitch, &scan.panel, &scan.views[i]));
        }
    } else {
        OK(fbp_circle_views(&circle, scan.views));
    }
    return scan;
}

static void check(const char *name, const struct variant *v)
{
    struct fbp_ellipsoid ball = {{OFF_AXIS, 0, 0}, {RADIUS, RADIUS, RADIUS}, 0, MU};
    const struct fbp_phantom phantom = {.n = 1, .items = &ball};
    static const struct {
        const char *device, *isa;
        enum fbp_precision precision;
    } backends[] = {{"ref", NULL, 0},
                    {"cpu", NULL, 0},
                    {"cpu", "c", 0},
                    {"cuda", NULL, FBP_PRECISION_EXACT},
                    {"cuda", NULL, FBP_PRECISION_FAST}};
    const char *saved = getenv("FBP_CPU");
    AUTO_FREE char *keep = saved ? strdup(saved) : NULL;
    AUTO_DROP struct fbp_scan scan = make_scan(v);

    simulate(&scan, &phantom);
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        if (!usable(backends[i].device))
            continue;
        if (backends[i].isa)
            setenv("FBP_CPU", backends[i].isa, 1);
        AUTO_FREE float *volume =
            reconstruct(&scan, fbp_recon_params(.device = backends[i].device,
                                                .precision = backends[i].precision));
        const double mean =
            mean_in_ball(&scan.volume, volume, (double[]){OFF_AXIS, 0, 0}, 0.8 * RADIUS);
        const double off = 100 * (mean / MU - 1);
        print_message("%-28s %-4s%-3s mean %.6f  %+.3f %%\n", name, backends[i].device,
                      backends[i].isa ? backends[i].isa : "", mean, off);
        if (!(fabs(off) < 0.2))
            fail_msg("%s on %s: mean %.6f is off by %+.3f %%", name, backends[i].device, mean, off);
    }
    if (keep)
        setenv("FBP_CPU", keep, 1);
    else
        unsetenv("FBP_CPU");
}

#define BALL(name, ...)                               \
    TEST(name)                                        \
    {                                                 \
        check(#name, &(struct variant){__VA_ARGS__}); \
    }

BALL(full, .n_views = VIEWS)
BALL(full_clockwise, .step_deg = -1, .start_deg = 33)
BALL(full_last_view_twice, .n_views = VIEWS + 1, .step_deg = 1)
BALL(short_210, .n_views = 210, .step_deg = 1, .start_deg = 40)
BALL(short_210_clockwise, .n_views = 210, .step_deg = -1, .start_deg = 40)
BALL(short_300, .n_views = 300, .step_deg = 1, .start_deg = -70)
BALL(offset_30_percent, .offset_mm = 0.3 * 409.6)
BALL(offset_minus_30_percent, .offset_mm = -0.3 * 409.6)
BALL(uneven_angles, .jitter = 0.9)
BALL(uneven_short, .n_views = 210, .step_deg = 1, .jitter = 0.9)
BALL(turned_about_v_2, .tilt_deg = {0, 2, 0})
BALL(turned_about_v_10, .tilt_deg = {0, 10, 0})
BALL(tilted_about_u_2, .tilt_deg = {2, 0, 0})
BALL(tilted_about_u_10, .tilt_deg = {10, 0, 0})
BALL(rolled_2, .tilt_deg = {0, 0, 2})
BALL(distances_a_view, .sod_noise_mm = 20)
BALL(c_arm_matrices, .n_views = 210, .step_deg = 1, .c_arm = 1)
BALL(fan, .n_rows = 1)
BALL(fan_short, .n_rows = 1, .n_views = 210, .step_deg = 1)
BALL(parallel, .kind = FBP_PARALLEL)
BALL(parallel_180, .kind = FBP_PARALLEL, .n_views = 180, .step_deg = 1)
BALL(parallel_offset, .kind = FBP_PARALLEL, .offset_mm = 0.3 * 256)

TEST_MAIN(NULL, NULL)
