/* A volume in parts, each by a process that knows nothing of the others: the bytes of one process,
 * whatever is computed, in whichever order and by however many, and memory within each one's limit.
 */
#include "pipeline/plan.h"
#include "recon/planes_util.h"

#include <sys/wait.h>

enum { FRAMES = 3 };

static void randomize(struct fbp_scan *scan)
{
    const size_t n = scan->n_views * scan->panel.n_rows * scan->panel.n_columns;
    AUTO_FREE float *p = not_null(malloc(n * sizeof *p));

    srand(7);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)rand() / (float)RAND_MAX;
    replace_samples(scan, p);
}

/* Enough slices for 64 parts. */
static struct fbp_scan cone(void)
{
    struct fbp_scan scan = circle_scan(24, 48, 0);

    scan.volume = (struct fbp_grid){{12, 12, 130}, {8, 8, 1.5}, {0, 0, 0}};
    randomize(&scan);
    return scan;
}

static struct fbp_scan planes(void)
{
    struct fbp_scan scan = rings_scan(8);

    scan.panel.n_rows = FRAMES;
    randomize(&scan);
    return scan;
}

static struct fbp_scan meridians(void)
{
    struct fbp_scan scan = grid_scan(12, 12, FBP_POLE_Z);

    randomize(&scan);
    return scan;
}

struct what {
    const char *name, *output;
    struct fbp_scan (*scan)(void);
    struct fbp_recon_params p;
};

static const struct what all[] = {
    {"cone", "v.mha", cone, {.n_threads = 1}},
    {"a kernel without turns", "v.mha", cone, {.n_threads = 1, .tuning.kernel = "column"}},
    {"a box", "v.nrrd", cone, {.n_threads = 1, .box = {{2, 9}, {0, 0}, {20, 90}}}},
    {"a region", "v.mha", cone, {.n_threads = 1, .region.shape = "ball:0,0,10,40"}},
    {"a mask", "v.npy", cone, {.n_threads = 1, .output.fill = true, .output.fill_value = -3}},
    {"integers", "v.tif", cone, {.output.type = FBP_U16, .output.range = {-9, 9}}},
    {"Hounsfield units", "v.h5", cone, {.n_threads = 1, .mu_water = 0.02}},
    {"frames", "v.mha", planes, {.n_threads = 1}},
    {"two stages", "v.mha", meridians, {.n_threads = 1, .epr.stages = 2}},
    {"chunks", "v.ome.zarr", cone, {.n_threads = 1}},
    {"chunks of a box", "v.ome.zarr", cone, {.n_threads = 1, .box = {{2, 9}, {0, 0}, {20, 90}}}},
    {"packed chunks", "v.ome.zarr", cone, {.n_threads = 1, .output.compress = true}},
    {"doubles", "v.mat", meridians, {.n_threads = 1, .precision = FBP_PRECISION_DOUBLE}},
};

/* Part k of n: what is missing then. */
static size_t do_part(const struct what *w, const struct fbp_scan *scan, const char *device,
                      const char *path, size_t k, size_t n)
{
    struct fbp_recon_params p = w->p;
    struct fbp_report report = {.struct_size = sizeof report};

    p.struct_size = sizeof p;
    p.device = device;
    p.cluster.part = k;
    p.cluster.n_parts = n;
    p.output.path = path;
    if (reconstruct_to(scan, &p, path, &report) != FBP_OK)
        fail_msg("%s, part %zu of %zu: %s", w->name, k, n, fbp_message());
    return report.slices_missing;
}

static char *whole(const struct what *w, const struct fbp_scan *scan, const char *device)
{
    struct fbp_recon_params p = w->p;

    AUTO_FREE char *name = printed("whole-%s", w->output);
    char *path = temporary(name);
    p.struct_size = sizeof p;
    p.device = device;
    OK(reconstruct_to(scan, &p, path, NULL));
    return path;
}

/* A file, or a folder of chunks. */
static void remove_all(const char *path)
{
    AUTO_FREE char *line = printed("rm -r %s", path);
    assert_int_equal(system(line), 0);
}

/* Byte for byte, and nothing is left beside it. */
static void assert_same(const struct what *w, const char *a, const char *b)
{
    AUTO_FREE char *line = printed("diff -rq %s %s && ! ls -d %s.part* 2>/dev/null", a, b, b);
    if (system(line) != 0)
        fail_msg("%s: parts are not the whole", w->name);
    remove_all(b);
}

/* Parts of one number, and then of two, the second of which finds half of them done. */
static void check(const struct what *w, const char *device)
{
    AUTO_DROP struct fbp_scan scan = w->scan();
    AUTO_FREE char *one = whole(w, &scan, device), *path = temporary(w->output);

    for (size_t k = 1; k <= 3; k++)
        assert_int_equal(do_part(w, &scan, device, path, k, 3) == 0, k == 3);
    assert_same(w, one, path);
    assert_true(do_part(w, &scan, device, path, 7, 7) > 0);
    assert_true(do_part(w, &scan, device, path, 3, 7) > 0);
    assert_int_equal(do_part(w, &scan, device, path, 1, 1), 0);
    assert_same(w, one, path);
    remove_all(one);
}

TEST(parts_have_the_bytes_of_the_whole)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        check(&all[i], "cpu");
        if (all[i].p.precision != FBP_PRECISION_DOUBLE && all[i].p.epr.stages < 2)
            check(&all[i], i % 2 ? "mock" : "mock:0,1");
    }
}

/* 64 processes at once; returns how many of them have published. */
static int run_64(const struct what *w, const struct fbp_scan *scan, const char *device,
                  const char *path)
{
    pid_t children[64];
    int published = 0;

    for (size_t k = 0; k < 64; k++) {
        children[k] = fork();
        if (children[k] == 0)
            _exit(do_part(w, scan, device, path, 64 - k, 64) == 0);
    }
    for (size_t k = 0; k < 64; k++) {
        int status;
        assert_int_equal(waitpid(children[k], &status, 0), children[k]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
        published += WEXITSTATUS(status);
    }
    return published;
}

TEST(of_64_processes_at_once)
{
    static const char *const devices[] = {"cpu", "mock"};

    for (size_t d = 0; d < 2; d++) {
        AUTO_DROP struct fbp_scan scan = cone();
        AUTO_FREE char *one = whole(&all[0], &scan, devices[d]), *path = temporary("v.mha");
        /* one that ends after the last has published has found it published */
        assert_true(run_64(&all[0], &scan, devices[d], path) >= 1);
        assert_same(&all[0], one, path);
        remove(one);
    }
}

/* The tables of a plan say which slices each part takes, and what it takes. */
TEST(a_plan_tells_its_parts)
{
    AUTO_DROP struct fbp_scan scan = cone();
    size_t slices = 0;
    uint64_t updates = 0, all_updates;

    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu"));
    all_updates = fbp_plan_info(plan)->updates;
    fbp_plan_destroy(&plan);
    OK(fbp_plan_create(&plan, &scan,
                       fbp_recon_params(.device = "cpu", .cluster.part = 2, .cluster.n_parts = 5)));
    for (size_t k = 1; k <= 5; k++) {
        struct fbp_part part = {.struct_size = sizeof part};
        OK(fbp_plan_part(plan, k, &part));
        assert_int_equal(part.slices[0], slices);
        slices = part.slices[1];
        updates += part.updates;
        assert_true(k != 2 || part.updates == fbp_plan_info(plan)->updates);
    }
    assert_int_equal(slices, 130);
    assert_int_equal(updates, all_updates);
    struct fbp_part part = {.struct_size = sizeof part};
    assert_int_equal(fbp_plan_part(plan, 6, &part), FBP_ERR_INVALID);
    assert_int_equal(fbp_plan_part(plan, 0, &part), FBP_ERR_INVALID);
    fbp_plan_destroy(&plan);
}

static void refused(const struct fbp_scan *scan, const struct fbp_recon_params *given,
                    const char *why)
{
    struct fbp_recon_params p = *given;
    fbp_plan *plan;

    if (!p.cluster.n_parts) {
        p.cluster.part = 1;
        p.cluster.n_parts = 2;
    }
    assert_int_not_equal(fbp_plan_create(&plan, scan, &p), FBP_OK);
    assert_says(why);
}

TEST(what_parts_cannot_do_is_refused)
{
    AUTO_DROP struct fbp_scan scan = cone();
    AUTO_FREE char *path = temporary("v.mha");
    AUTO_FREE float *memory = malloc(12 * 12 * 130 * sizeof *memory);
    fbp_sink *sink;

    refused(&scan, fbp_recon_params(.cluster.part = 17, .cluster.n_parts = 16), "part 17 of 16");
    refused(&scan, fbp_recon_params(.cluster.part = 0, .cluster.n_parts = 16),
            "count from 1 to 16");
    refused(&scan, fbp_recon_params(.cluster.part = 1, .cluster.n_parts = 199), "at most");
    refused(&scan, fbp_recon_params(.input.follow = true), "omit --follow");
    refused(&scan, fbp_recon_params(.output.type = FBP_U8, .output.auto_range = true),
            "--output-range LO,HI");
    fbp_plan *plan = create_plan(
        &scan, fbp_recon_params(.device = "cpu", .cluster.part = 1, .cluster.n_parts = 2));
    OK(fbp_sink_memory(&sink, memory, FBP_F32, (const size_t[]){12, 12, 130}));
    assert_int_equal(fbp_plan_run_to(plan, NULL, sink, NULL), FBP_ERR_UNSUPPORTED);
    fbp_sink_close(&sink);
    assert_int_equal(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_UNSUPPORTED);
    OK(fbp_plan_run(plan, "null:", NULL)); /* to measure with */
    fbp_plan_destroy(&plan);
    assert_int_equal(reconstruct_to(&scan,
                                    fbp_recon_params(.device = "cpu", .cluster.part = 1,
                                                     .cluster.n_parts = 2, .output.compress = true),
                                    path, NULL),
                     FBP_ERR_UNSUPPORTED); /* OME-Zarr: unit/joint */
    assert_says("compress");
}

/* What the other part has begun with. */
TEST(parts_that_differ_do_not_meet)
{
    static const struct fbp_recon_params others[] = {
        {.filter = FBP_FILTER_HANN},
        {.mu_water = 0.02},
        {.output.type = FBP_U8, .output.range = {0, 1}},
        {.tuning.kernel = "matrix"}};
    AUTO_DROP struct fbp_scan scan = cone();
    AUTO_REMOVE char *path = temporary("v.mha");

    do_part(&all[0], &scan, "cpu", path, 1, 2);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct fbp_recon_params p = others[i];
        p.struct_size = sizeof p;
        p.device = "cpu";
        p.cluster.part = 2;
        p.cluster.n_parts = 2;
        assert_int_equal(reconstruct_to(&scan, &p, path, NULL), FBP_ERR_INVALID);
        if (!strstr(fbp_message(), "other options or another scan, device, kernel"))
            fail_msg("%s", fbp_message());
    }
    assert_int_equal(do_part(&all[0], &scan, "cpu", path, 2, 2), 0);
}

TEST_MAIN(NULL, NULL)
