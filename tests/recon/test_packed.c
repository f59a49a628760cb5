/*
 * A scan whose views can only be read in order, as they are compressed, against the same views in a
 * plain file: the same kernel and the same bits where memory holds them unpacked, else a note that
 * names both kernels.
 */
#include "base/base.h"
#include "recon/fixture.h"

/* Full circles, whose kernels take distant views together, and a short one, whose kernel does not.
 */
static const struct scan_case {
    const char *kernel, *in_order;
    size_t views;
    double arc_deg;
    struct fbp_grid grid;
} cases[] = {
    {"rot90", "column", 36, 360, {{40, 40, 37}, {4, 4, 4}, {0, 0, 0}}},
    {"rot90", "column", 36, -360, {{39, 39, 36}, {4, 4, 4}, {0, 0, 3}}},
    {"column", "column", 36, 250, {{39, 39, 36}, {4, 4, 4}, {0, 0, 3}}},
};

enum { N_CASES = sizeof cases / sizeof *cases, COLUMNS = 48, ROWS = 40, PIXELS = COLUMNS * ROWS };

static struct fbp_scan make_scan(const struct scan_case *c)
{
    return head_scan(c->views, COLUMNS, ROWS,
                     &(struct orbit){.start_deg = 11,
                                     .step_deg = c->arc_deg / (double)c->views,
                                     .pitch_mm = {8, 7.5}},
                     c->grid, 90);
}

/* The scan's views in another file, floats or numbers of 16 bits; its name. */
static char *put_again(const struct fbp_scan *scan, const char *name, bool counts, bool compress)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {COLUMNS, ROWS, scan->n_views}};
    struct fbp_sink_params p = {.struct_size = sizeof p,
                                .compress = compress,
                                .type = counts ? FBP_U16 : FBP_F32,
                                .range = {-0.5, 6}};
    AUTO_FREE float *views = read_array(scan->projections);
    char *path = temporary(name);

    save_array(path, &info, &p, views);
    return path;
}

/* What a plan said that has to do with the order of reading. */
static char told[600];
static char unpacked[300]; /* the warning of repeated unpacking */

static void listen(void *user, enum fbp_log_level level, const char *line)
{
    if (strstr(line, " is decompressed "))
        snprintf(unpacked, sizeof unpacked, "%s", line);
    if (strstr(line, "is compressed, and"))
        snprintf(told, sizeof told, "%s", line);
}

/* Hash and kernel of a scan from `path`. */
static uint64_t hash_of(struct fbp_scan *scan, char *path, const struct fbp_recon_params *params,
                        const char *kernel)
{
    struct fbp_recon_params p = *params;
    struct fbp_report report = {.struct_size = sizeof report};

    p.struct_size = sizeof p;
    p.callbacks.log = listen;
    told[0] = '\0';
    scan->projections = path;
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, &p);
    if (strcmp(fbp_plan_info(plan)->kernel, kernel) != 0)
        fail_msg("%s: %s, not %s", path, fbp_plan_info(plan)->kernel, kernel);
    OK(fbp_plan_run(plan, "hash:", &report));
    return report.hash;
}

static const struct fbp_recon_params ways[] = {
    {.device = "cpu"},
    {.device = "cpu", .n_threads = 1, .tuning.batch_views = 8, .tuning.slab_slices = 10},
    {.device = "mock", .n_threads = 2, .tuning.slab_slices = 12},
    {.device = "mock:0,1", .n_threads = 2, .tuning.batch_views = 16},
};

TEST(bits_are_those_of_the_plain_file)
{
    static const char *const names[] = {"packed.mha", "packed.nrrd", "packed.nii.gz"};

    for (size_t i = 0; i < N_CASES; i++) {
        AUTO_DROP struct fbp_scan scan = make_scan(&cases[i]);
        char *const first = scan.projections;
        for (int counts = 0; counts < 2; counts++)
            for (size_t k = 0; k < 3; k++) {
                /* A NIfTI holds its scale as float32: the plain file is of the same format. */
                AUTO_FREE char *plain =
                    put_again(&scan, k == 2 ? "plain.nii" : "plain.mha", counts, false);
                AUTO_FREE char *packed = put_again(&scan, names[k], counts, true);
                const uint64_t right = hash_of(&scan, plain, &ways[0], cases[i].kernel);
                for (size_t w = 0; w < (k == 0 ? 4 : 1); w++) {
                    if (hash_of(&scan, packed, &ways[w], cases[i].kernel) != right)
                        fail_msg("%s, %s, way %zu: other bits", cases[i].kernel, names[k], w);
                    assert_string_equal(told, "");
                }
                scan.projections = first;
                remove(plain);
                remove(packed);
            }
    }
}

/* Too little for the views beside the volume: in order, with the other kernel, and said. */
TEST(too_little_memory_is_said)
{
    struct scan_case large = cases[0];

    large.views = 8000;
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .n_views = large.views,
                                      .panel = {COLUMNS, ROWS},
                                      .volume = large.grid};
    add_views(&scan, &(struct orbit){.step_deg = 360. / 8000, .pitch_mm = {8, 7.5}});
    scan.projections = temporary("zeros.mha");
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {COLUMNS, ROWS, large.views}};
    const struct fbp_sink_params params = {.struct_size = sizeof params, .compress = true};
    AUTO_FREE float *zeros = not_null(calloc(large.views * PIXELS, sizeof *zeros));
    save_array(scan.projections, &info, &params, zeros);

    struct fbp_recon_params p = {
        .struct_size = sizeof p, .device = "cpu", .n_threads = 1, .callbacks.log = listen};
    fbp_plan *plan = create_plan(&scan, &p);
    const uint64_t held = fbp_plan_info(plan)->memory_bytes;
    assert_string_equal(fbp_plan_info(plan)->kernel, "rot90");
    assert_string_equal(told, "");
    fbp_plan_destroy(&plan);
    const size_t limit = held - (40u << 20); /* of 59 MiB of views, and the rest */
    fbp_limit_memory(limit);
    OK(fbp_plan_create(&plan, &scan, &p));
    fbp_limit_memory(0);
    assert_true(fbp_plan_info(plan)->memory_bytes <= limit);
    assert_string_equal(fbp_plan_info(plan)->kernel, "column");
    fbp_plan_destroy(&plan);
    assert_contains(told, "kernel column replaces rot90");
    assert_contains(told, "raise --memory to");
}

/* A compressed scan of noise, larger than its tables. */
static struct fbp_scan make_noise(size_t n_views)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {COLUMNS, ROWS, n_views}};
    const struct fbp_sink_params params = {.struct_size = sizeof params, .compress = true};
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = n_views,
                            .panel = {COLUMNS, ROWS},
                            .volume = {{40, 40, 44}, {4, 4, 4}, {0, 0, 0}}};
    AUTO_FREE float *noise = not_null(malloc(n_views * PIXELS * sizeof *noise));
    uint32_t random = 1;

    for (size_t i = 0; i < n_views * PIXELS; i++)
        noise[i] = (float)((random = random * 1664525u + 1013904223u) >> 8);
    add_views(&scan, &(struct orbit){.step_deg = 360. / (double)n_views, .pitch_mm = {8, 7.5}});
    scan.projections = temporary("noise.mha");
    save_array(scan.projections, &info, &params, noise);
    return scan;
}

/* Bytes that this process has read so far. */
static unsigned long long bytes_read(void)
{
    unsigned long long n = 0;
    FILE *io = fopen("/proc/self/io", "r");

    if (!io || fscanf(io, "rchar: %llu", &n) != 1)
        n = 0;
    if (io)
        fclose(io);
    return n;
}

/* Devices that take views of their own would each begin anew, batch after batch. */
TEST(several_devices_unpack_it_once_a_slab)
{
    const size_t n_views = 1600, views_bytes = n_views * PIXELS * sizeof(float);
    AUTO_DROP struct fbp_scan scan = make_noise(n_views);
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = "mock:0,1",
                                       .tuning.slab_slices = 9,
                                       .tuning.batch_views = 8,
                                       .callbacks.log = listen};
    struct fbp_report r = {.struct_size = sizeof r};

    fbp_plan *plan = create_plan(&scan, &p);
    const size_t limit = fbp_plan_info(plan)->memory_bytes - views_bytes / 2;
    fbp_plan_destroy(&plan);
    fbp_limit_memory(limit);
    OK(fbp_plan_create(&plan, &scan, &p));
    fbp_limit_memory(0);
    assert_string_equal(fbp_plan_info(plan)->kernel, "column"); /* they are not held */
    assert_contains(
        unpacked,
        "noise.mha is decompressed 5 times, once per slab (group of slices); raise --memory");
    const unsigned long long before = bytes_read();
    OK(fbp_plan_run(plan, "hash:", &r));
    if (before == 0)
        print_message("/proc/self/io cannot be read: nothing was counted\n");
    else
        assert_true(bytes_read() - before < (fbp_plan_info(plan)->n_slabs + 2) * views_bytes);
    fbp_plan_destroy(&plan);
}

static int at_once(void *user, const struct fbp_progress *p)
{
    int *n = user;

    if (++*n == 1)
        assert_true(p->done == 0 && p->views_read == 1);
    return 1;
}

/* Asked while views are unpacked: nothing was computed by then. */
TEST(it_can_be_cancelled)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&cases[0]);
    char *const first = scan.projections, *packed = put_again(&scan, "packed.mha", false, true);
    int n = 0;
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "cpu",
                                 .callbacks.progress = at_once,
                                 .callbacks.user = &n};

    scan.projections = packed;
    fbp_plan *plan = create_plan(&scan, &p);
    assert_int_equal(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_CANCELLED);
    assert_true(n >= 1);
    fbp_plan_destroy(&plan);
    scan.projections = first;
    remove(packed);
    free(packed);
}

/* A stream that is damaged far behind is an error, whoever holds what came before. */
TEST(damage_is_an_error)
{
    AUTO_DROP struct fbp_scan scan = make_scan(&cases[0]);
    char *const first = scan.projections, *packed = put_again(&scan, "packed.mha", false, true);

    FILE *f = not_null(fopen(packed, "r+"));
    fseek(f, -9, SEEK_END);
    fputc(77, f);
    fclose(f);
    scan.projections = packed;
    fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "cpu"));
    assert_int_equal(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_INVALID);
    assert_says("copy it again");
    fbp_plan_destroy(&plan);
    scan.projections = first;
    remove(packed);
    free(packed);
}

TEST_MAIN(NULL, NULL)
