/* Checks devices with memory of their own against the CPU: every kind of scan, repaired samples
 * and their counts, limits of memory. Small enough for compute-sanitizer; an argument selects
 * tests by name, such as "values_*". */
#include "geometry/view.h"
#include "phantom/shapes.h"
#include "recon/fixture.h"

enum { N = 40 };

/* The device under test: FBP_TEST_DEVICE. */
static const char *tested = "cuda";

/* A scan that differs from a full circle of line integrals in what is set. */
struct variant {
    const char *name;
    enum fbp_kind kind;
    size_t n_views, n_rows, n_columns;
    double step_deg, offset_mm, sod_noise_mm, jitter; /* jitter: of angles, in steps */
    double tilt_deg[3];
    int c_arm, counts, dead, broken, hardens;
    struct fbp_recon_params p;
};

static double noise(size_t i)
{
    const uint32_t h = (uint32_t)(i + 1) * 2654435761u;
    return (double)(h >> 8) / (double)(1u << 24) - 0.5;
}

/* Dead pixels in a column, a row and a corner. */
static void count_with_dead(struct fbp_scan *scan, float *p)
{
    const size_t nc = scan->panel.n_columns, n = nc * scan->panel.n_rows;
    AUTO_FREE float *mask = not_null(calloc(n, sizeof *mask));

    for (size_t i = 0; i < n; i++)
        mask[i] =
            i % nc == 17 || (i / nc == 9 && i % nc > 20) || (i % nc + i / nc < 3) || i % 131 == 0;
    count_photons(scan, p, mask);
}

/* Samples that are no numbers: at both ends of rows, alone, in runs, and a whole row. */
static void break_samples(const struct fbp_scan *scan, float *p)
{
    const size_t nc = scan->panel.n_columns, nr = scan->panel.n_rows;

    for (size_t row = 0; row < nr * scan->n_views; row++)
        for (size_t c = 0; c < nc; c++) {
            const size_t h = (row * nc + c) * 2654435761u % 1009;
            if ((row % 5 == 0 && c < 2) || (row % 7 == 0 && c + 3 > nc) || h < 3 || row == 77)
                p[row * nc + c] = row % 2 ? NAN : (row % 4 ? INFINITY : -INFINITY);
            if (h == 500 && scan->flat)
                p[row * nc + c] = -5;
        }
}

static void make_views(const struct variant *v, struct fbp_scan *scan)
{
    const size_t n = scan->n_views;
    const double step = v->step_deg != 0 ? v->step_deg : 360.0 / (double)n;
    AUTO_FREE double *angles = even_angles(n, 11, step);
    AUTO_FREE double *sod = malloc(n * sizeof *sod);
    const double across = (v->kind == FBP_PARALLEL ? 6.4 : 10.24) * N;
    const double sdd = 1200, pitch[2] = {across / (double)scan->panel.n_columns, across / N};
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .kind = v->kind,
                                      .n_views = n,
                                      .angles_rad = angles,
                                      .sod_mm = sod,
                                      .sdd_mm = &sdd,
                                      .n_sod = v->c_arm ? 1 : n,
                                      .n_sdd = 1,
                                      .pitch_mm = {pitch[0], pitch[1]},
                                      .offset_mm = {v->offset_mm, 0},
                                      .tilt_rad = {v->tilt_deg[0] * PI / 180,
                                                   v->tilt_deg[1] * PI / 180,
                                                   v->tilt_deg[2] * PI / 180}};

    assert_non_null(sod);
    for (size_t i = 0; i < n; i++) {
        sod[i] = 750 + v->sod_noise_mm * noise(i);
        angles[i] += v->jitter * noise(i + 999) * step * PI / 180;
    }
    scan->views = calloc(n, sizeof *scan->views);
    assert_non_null(scan->views);
    if (v->c_arm)
        OK(fbp_c_arm_views(&circle, &scan->panel, scan->views));
    else
        OK(fbp_circle_views(&circle, scan->views));
}

static struct fbp_scan make_scan(const struct variant *v)
{
    struct fbp_scan scan = {
        .struct_size = sizeof scan,
        .kind = v->kind,
        .n_views = v->n_views ? v->n_views : 70,
        .panel = {v->n_columns ? v->n_columns : N, v->n_rows ? v->n_rows : N - 3},
        .volume = {{37, 35, v->n_rows == 1 ? 1 : 33}, {5, 5, 5}, {3, -2, 4}}};

    make_views(v, &scan);
    simulate_head(&scan, 80);
    if (v->hardens)
        OK(fbp_scan_correct(
            &scan, &(const struct fbp_corrections){.struct_size = sizeof(struct fbp_corrections),
                                                   .beam_hardening = {1.1, 0.07, -0.01, 0.002}}));
    if (v->counts || v->broken) {
        AUTO_FREE float *p = read_array(scan.projections);
        if (v->counts && v->dead)
            count_with_dead(&scan, p);
        else if (v->counts)
            count_photons(&scan, p, NULL);
        if (v->broken)
            break_samples(&scan, p);
        replace_samples(&scan, p);
    }
    return scan;
}

static float *run(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                  const char *device, enum fbp_precision precision, struct fbp_report *report)
{
    struct fbp_recon_params p = *params;
    AUTO_FREE char *path = temporary("volume.mha");

    p.struct_size = sizeof p;
    p.device = device;
    p.precision = precision;
    OK(reconstruct_to(scan, &p, path, report));
    float *out = read_array(path);
    remove(path);
    return out;
}

static void check(const struct variant *v)
{
    static const enum fbp_precision precisions[] = {FBP_PRECISION_EXACT, FBP_PRECISION_FAST};
    static const char *const names[] = {"exact", "fast"};
    AUTO_DROP struct fbp_scan scan = make_scan(v);
    struct fbp_report wanted = {.struct_size = sizeof wanted}, got = {.struct_size = sizeof got};
    const size_t n = grid_size(&scan.volume);
    AUTO_FREE float *cpu = run(&scan, &v->p, "cpu", FBP_PRECISION_EXACT, &wanted);

    assert_true(wanted.max > 0);

    for (int i = 0; i < 2; i++) {
        AUTO_FREE float *own = run(&scan, &v->p, tested, precisions[i], &got);
        const double db = psnr_db(own, cpu, n);
        print_message("%-18s %-5s against cpu %6.1f dB; %zu not finite, %zu clipped\n", v->name,
                      names[i], db, got.not_finite, got.clipped);
        if (!(db >= (i == 0 ? 105 : 60)))
            fail_msg("%s: %.1f dB", v->name, db);
        assert_true(got.not_finite == wanted.not_finite);
        assert_true(got.clipped == wanted.clipped);
        assert_true((v->broken != 0) == (got.not_finite > 0));
    }
}

TEST(values_of_scans)
{
    static const struct variant variants[] = {
        {.name = "full circle"},
        {.name = "odd views", .n_views = 53},
        {.name = "one view a pass", .n_views = 33},
        {.name = "short scan", .n_views = 71, .step_deg = 3},
        {.name = "clockwise", .step_deg = -360.0 / 70},
        {.name = "offset panel", .offset_mm = 0.3 * 409.6},
        {.name = "offset, but the other", .offset_mm = -0.3 * 409.6},
        {.name = "distance a view", .sod_noise_mm = 20},
        {.name = "c-arm", .n_views = 71, .step_deg = 3, .c_arm = 1},
        {.name = "parallel", .kind = FBP_PARALLEL},
        {.name = "parallel offset", .kind = FBP_PARALLEL, .offset_mm = 0.3 * 256},
        {.name = "fan", .n_rows = 1},
        {.name = "fan, odd, short", .n_rows = 1, .n_views = 71, .step_deg = 3},
        {.name = "fan, offset", .n_rows = 1, .offset_mm = 0.3 * 409.6},
        {.name = "short, clockwise", .n_views = 71, .step_deg = -3},
        {.name = "limited angle", .n_views = 40, .step_deg = 3},
        {.name = "uneven angles", .jitter = 0.9},
        {.name = "uneven, short", .n_views = 71, .step_deg = 3, .jitter = 0.9},
        {.name = "turned about v", .tilt_deg = {0, 10, 0}},
        {.name = "tilted about u", .tilt_deg = {10, 0, 0}},
        {.name = "rolled", .tilt_deg = {0, 0, 5}},
        {.name = "tilted, short", .n_views = 71, .step_deg = 3, .tilt_deg = {4, -6, 2}},
        {.name = "tilted, few views", .n_views = 23, .step_deg = 8.8, .tilt_deg = {4, -6, 2}},
        {.name = "tilted, offset", .offset_mm = 0.3 * 409.6, .tilt_deg = {2, 0, 1}},
        {.name = "distances, offset", .sod_noise_mm = 20, .offset_mm = 0.3 * 409.6},
        {.name = "parallel, half", .kind = FBP_PARALLEL, .n_views = 60, .step_deg = 3},
        {.name = "parallel, tilted",
         .kind = FBP_PARALLEL,
         .n_views = 70,
         .step_deg = 3,
         .tilt_deg = {3, 0, 2}},
    };

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        check(&variants[i]);
}

/* Rows of every length that the filter has a kernel for, a full one and the next; beyond them it
 * takes another way, which FBP_FFT=cufft asks for with any. */
TEST(values_of_lengths)
{
    static const size_t columns[] = {2,    256,  257,  512,  513,  768,  769,
                                     1024, 1025, 1280, 1281, 1536, 1537, 2048,
                                     2049, 2560, 2561, 3072, 3073, 4096, 4097};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        AUTO_FREE char *name = printed("%zu columns", columns[i]);
        const struct variant v = {
            .name = name, .n_columns = columns[i], .n_views = 9, .n_rows = 4, .step_deg = 40};
        check(&v);
    }
    if (strcmp(tested, "cuda") != 0)
        return;
    setenv("FBP_FFT", "cufft", 1);
    check(&(struct variant){.name = "cuFFT"});
    check(&(struct variant){.name = "cuFFT, c-arm", .n_views = 71, .step_deg = 3, .c_arm = 1});
    check(&(struct variant){.name = "cuFFT, offset", .offset_mm = 0.3 * 409.6});
    check(&(struct variant){.name = "cuFFT, along v", .p = {.filtering.cutoff_v = 0.4}});
    unsetenv("FBP_FFT");
}

TEST(values_of_options)
{
    static const struct variant variants[] = {
        {.name = "in space", .p = {.filtering.spatial = true}},
        {.name = "in space, 7 taps", .p = {.filtering.spatial = true, .filtering.half_width = 7}},
        {.name = "hann, 0.7", .p = {.filter = FBP_FILTER_HANN, .cutoff = 0.7}},
        {.name = "along v", .p = {.filtering.cutoff_v = 0.4}},
        {.name = "along v, 4 rows", .n_rows = 4, .p = {.filtering.cutoff_v = 0.4}},
        {.name = "along v, in space", .p = {.filtering.cutoff_v = 0.4, .filtering.spatial = true}},
        {.name = "along v, offset", .offset_mm = 0.3 * 409.6, .p = {.filtering.cutoff_v = 0.4}},
        {.name = "along v, c-arm",
         .n_views = 71,
         .step_deg = 3,
         .c_arm = 1,
         .p = {.filtering.cutoff_v = 0.4, .tuning.slab_slices = 5}},
        {.name = "HU", .p = {.mu_water = 0.02}},
        {.name = "HU, slabs", .p = {.mu_water = 0.02, .tuning.slab_slices = 5}},
        {.name = "c-arm, slabs", .step_deg = 3, .c_arm = 1, .p = {.tuning.slab_slices = 4}},
    };

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        check(&variants[i]);
}

TEST(values_of_counts)
{
    static const struct variant variants[] = {
        {.name = "dark and flat", .counts = 1},
        {.name = "bad pixels", .counts = 1, .dead = 1},
        {.name = "bad pixels, slabs", .counts = 1, .dead = 1, .p = {.tuning.slab_slices = 3}},
        {.name = "bad pixels, along v",
         .counts = 1,
         .dead = 1,
         .p = {.tuning.slab_slices = 3, .filtering.cutoff_v = 0.4}},
        {.name = "not finite", .broken = 1},
        {.name = "not finite, c-arm", .broken = 1, .n_views = 71, .step_deg = 3, .c_arm = 1},
        {.name = "counts, c-arm", .counts = 1, .n_views = 71, .step_deg = 3, .c_arm = 1},
        {.name = "not finite counts", .counts = 1, .broken = 1},
        {.name = "hardened", .hardens = 1},
        {.name = "hardened counts", .hardens = 1, .counts = 1, .broken = 1},
        {.name = "hardened, bad pixels", .hardens = 1, .counts = 1, .dead = 1, .n_rows = 20},
        {.name = "hardened, padded", .hardens = 1, .p = {.pad = FBP_PAD_ELLIPSE}},
        {.name = "hardened, c-arm", .hardens = 1, .n_views = 71, .step_deg = 3, .c_arm = 1},
        {.name = "all of it",
         .counts = 1,
         .dead = 1,
         .broken = 1,
         .n_views = 53,
         .offset_mm = 0.3 * 409.6},
    };

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        check(&variants[i]);
}

/* Less memory, the same bits; too little, a sentence. */
TEST(memory_limits_are_kept)
{
    const struct variant v = {.n_views = 141};
    AUTO_DROP struct fbp_scan scan = make_scan(&v);

    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = tested));
    const uint64_t wants = fbp_plan_info(plan)->device_bytes;
    fbp_plan_destroy(&plan);
    if (wants == 0) { /* all lies in the host's memory */
        skip();
    }
    const uint64_t whole = reconstruct_hash(&scan, fbp_recon_params(.device = tested));
    const uint64_t limit = wants - (64 << 10);
    OK(fbp_plan_create(&plan, &scan,
                       fbp_recon_params(.device = tested, .device_memory_bytes = limit)));
    assert_true(fbp_plan_info(plan)->device_bytes <= limit);
    assert_true(fbp_plan_info(plan)->n_slabs > 1 || fbp_plan_info(plan)->batch_views < 64);
    fbp_plan_destroy(&plan);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = tested,
                                                         .device_memory_bytes = limit)) == whole);
    assert_fails(
        fbp_plan_create(&plan, &scan,
                        fbp_recon_params(.device = tested, .device_memory_bytes = 1 << 20)),
        FBP_ERR_NOMEM, "--device-memory");
}

static uint64_t free_bytes(void)
{
    struct fbp_device_info d[64] = {{.struct_size = sizeof *d}};
    const size_t n = fbp_devices(d, 64);

    for (size_t i = 0; i < n && i < 64; i++)
        if (strncmp(d[i].name, tested, strlen(tested)) == 0)
            return d[i].free_bytes;
    return 0;
}

static int note_least(void *user, const struct fbp_progress *p)
{
    uint64_t *least = user, now = free_bytes();

    if (now < *least)
        *least = now;
    return 0;
}

/* What a run takes of the device is what its plan says, give or take nothing. */
TEST(memory_is_foretold)
{
    enum { VIEWS = 96 };
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .n_views = VIEWS,
                                      .panel = {617, 300},
                                      .volume = {{256, 256, 256}, {1, 1, 1}, {0, 0, 0}}};
    struct fbp_ellipsoid ball = {{0, 0, 0}, {60, 50, 40}, 0, 0.02};
    const struct fbp_phantom phantom = {.n = 1, .items = &ball};

    if (free_bytes() == 0)
        skip(); /* this device does not tell */
    add_views(&scan, &(struct orbit){.pitch_mm = {0.64, 0.64}});
    simulate(&scan, &phantom);
    for (int i = 0; i < 4; i++) {
        uint64_t least = UINT64_MAX;
        struct fbp_recon_params p = {.struct_size = sizeof p,
                                     .device = tested,
                                     .precision = i % 2 ? FBP_PRECISION_FAST : FBP_PRECISION_EXACT,
                                     .mu_water = 0.02,
                                     .tuning.slab_slices = i / 2 ? 40 : 0,
                                     .callbacks.progress = note_least,
                                     .callbacks.user = &least};
        CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, &p);
        OK(fbp_plan_run(plan, "null:", NULL)); /* what is loaded at the first use is not counted */
        const uint64_t before = free_bytes();
        least = UINT64_MAX;
        OK(fbp_plan_run(plan, "null:", NULL));
        const double taken = (double)before - (double)least;
        const double foretold = (double)fbp_plan_info(plan)->device_bytes;
        print_message("%s: %.1f MiB taken, %.1f MiB foretold\n", i % 2 ? "fast" : "exact",
                      taken / (1 << 20), foretold / (1 << 20));
        assert_true(taken <= foretold);
    }
}

/* A limit beyond the device itself: the device's refusal becomes an error with the remedy.  By
 * OpenGL the work is divided until buffers hold it (recon/gl_limits), and this would be computed;
 * recon/gl_faults plants that memory lacks. */
TEST(memory_that_is_not_there)
{
    const struct variant v = {.n_views = 8};
    fbp_plan *plan;

    if (strcmp(tested, "gl") == 0)
        skip();
    AUTO_DROP struct fbp_scan scan = make_scan(&v);
    scan.volume = (struct fbp_grid){{4096, 4096, 8192}, {0.05, 0.05, 0.02}, {0, 0, 0}};
    OK(fbp_plan_create(
        &plan, &scan,
        fbp_recon_params(.device = tested, .device_memory_bytes = (uint64_t)1 << 44)));
    assert_int_equal(fbp_plan_run(plan, "null:", NULL), FBP_ERR_NOMEM);
    print_message("%s\n", fbp_message());
    assert_says("--device-memory");
    fbp_plan_destroy(&plan);
}

int main(int argc, char **argv)
{
    if (getenv("FBP_TEST_DEVICE"))
        tested = getenv("FBP_TEST_DEVICE");
    if (!usable(tested))
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
