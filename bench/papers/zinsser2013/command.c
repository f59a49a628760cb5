#include "bench/common/jobs.h"
#include "bench/papers/zinsser2013/text.h"

#include <math.h>
#include <string.h>

struct s1_args {
    const char *device;
    size_t size, views, detector[2], runs, test;
    int threads;
    bool json;
};

#define S struct s1_args
static const struct opt table[] = {
    OPT(S, size, .name = "size", .arg = "N", .min = 8, .max = 4096, .fallback = "512",
        .help = "N^3 voxels in a cube of 256 mm"),
    OPT(S, views, .name = "views", .arg = "K", .min = 2, .max = 2048, .fallback = "496",
        .help = "number of views, over 198 degrees"),
    OPT(S, detector, .name = "detector", .arg = "UxV", .min = 1, .max = 16384,
        .fallback = "1248x960",
        .help = "columns x rows of the detector, whose size in mm does not change"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "5",
        .help = "number of runs; the median is printed"),
    OPT(S, test, .name = "test", .arg = "1...9", .min = 1, .max = 9, .fallback = "all",
        .help = "only one row of Table II; 9: the fastest shapes of today"),
    BENCH_DEVICE(S),
    OPT(S, threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores", .help = "number of threads that make the views"),
    OPT(S, json, .name = "json", .help = "print one JSON object with a measurement for each row"),
};
#undef S

enum { TODAY = 9, MOST_RESULTS = 64 };

/* The stand-in for RabbitCT: a C-arm that wobbles, over 198 degrees, from end to end. */
static int make_scan(const struct s1_args *a, struct fbp_scan *scan)
{
    const double voxel = 256.0 / (double)a->size;
    const struct bench_orbit arm = {.sod_mm = 745,
                                    .sdd_mm = 1196,
                                    .pitch_mm = 1248 * .308 / (double)a->detector[0],
                                    .arc_rad = 198 * BENCH_PI / 180,
                                    .c_arm = true};

    *scan = (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                              .n_views = a->views,
                              .panel = {a->detector[0], a->detector[1]},
                              .volume = {{a->size, a->size, a->size}, {voxel, voxel, voxel}, {0}}};
    return bench_orbit_views(&arm, scan);
}

/* A measurement in progress. */
struct session {
    const struct s1_args *a;
    const struct fbp_scan *scan;
    struct fbp_recon_params params;
    struct s1_job job;
    fbp_s1 *s1;
    struct s1_result results[MOST_RESULTS];
    size_t n, best; /* results; the index of the best of today's shapes */
};

static int describe(struct session *s)
{
    static struct fbp_device_info devices[64] = {{.struct_size = sizeof *devices}};
    const size_t n = fbp_devices(devices, 64);

    s->job = (struct s1_job){.size = s->a->size,
                             .views = s->a->views,
                             .columns = s->a->detector[0],
                             .rows = s->a->detector[1],
                             .runs = s->a->runs};
    for (size_t i = 0; i < n && i < 64; i++)
        if (strncmp(devices[i].name, "cuda", 4) == 0) {
            snprintf(s->job.device, sizeof s->job.device, "%.*s",
                     (int)strcspn(devices[i].text, ","), devices[i].text);
            break;
        }
    if (fbp_bench_limits(s->a->device, &s->job.limits) != FBP_OK)
        return cli_fail();
    if (s->a->json)
        return s1_print_json_limits(&s->job);
    s1_print_job(&s->job);
    s1_print_table1(&s->job);
    return 0;
}

static int time_parts(struct session *s, size_t index, struct s1_result *r, bool all_parts)
{
    r->shape = *fbp_s1_shape_at(s->s1, index);
    for (int part = all_parts ? FBP_S1_I : FBP_S1_ALL; part < FBP_S1_PARTS; part++)
        if (fbp_s1_measure(s->s1, index, (enum fbp_s1_part)part, s->a->runs, &r->part[part]) !=
            FBP_OK)
            return cli_fail();
    return 0;
}

static int show(const struct session *s, const struct s1_result *r)
{
    if (s->a->json)
        return s1_print_json_row(&s->job, r);
    s1_print_row(r);
    return 0;
}

/* The paper's tests in their order, then today's shapes. */
static int measure_shapes(struct session *s)
{
    const struct fbp_s1_shape *shape;
    double least = INFINITY;
    int rc = 0;

    for (size_t i = 0; rc == 0 && (shape = fbp_s1_shape_at(s->s1, i)); i++) {
        struct s1_result r = {0};
        if (s->a->test && s->a->test != (size_t)(shape->test ? shape->test : TODAY))
            continue;
        rc = time_parts(s, i, &r, shape->test != 0);
        if (rc == 0)
            rc = show(s, &r);
        if (rc == 0 && shape->test && s->n < MOST_RESULTS)
            s->results[s->n++] = r;
        if (rc == 0 && !shape->test && r.part[FBP_S1_ALL].seconds < least) {
            least = r.part[FBP_S1_ALL].seconds;
            s->best = i;
        }
    }
    return rc;
}

/* Row 9: the best of today's shapes, taken apart. */
static int measure_best(struct session *s)
{
    struct s1_result *r = &s->results[s->n];

    if (!s->best)
        return 0;
    *r = (struct s1_result){.best = true};
    int rc = time_parts(s, s->best, r, true);
    s->n++;
    return rc ? rc : show(s, r);
}

/* The best beside whole reconstructions, with its error. */
static int measure_error(struct session *s)
{
    struct fbp_s1_error error;

    if (!s->best)
        return 0;
    if (fbp_s1_compare(s->s1, s->best, &error) != FBP_OK)
        return cli_fail();
    if (s->a->json)
        return s1_print_json_error(&s->job, &error);
    s1_print_table3(&s->job, &s->results[s->n - 1], &error);
    return 0;
}

static int measure(struct session *s)
{
    int rc = describe(s);

    if (rc)
        return rc;
    if (fbp_s1_open(&s->s1, s->scan, &s->params) != FBP_OK)
        return cli_fail();
    if (!s->a->json)
        s1_print_head(&s->job);
    rc = measure_shapes(s);
    if (rc == 0)
        rc = measure_best(s);
    if (rc == 0 && !s->a->json)
        s1_print_verdicts(s->results, s->n, &s->job);
    if (rc == 0)
        rc = measure_error(s);
    fbp_s1_close(&s->s1);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct s1_args a = {.size = 512, .views = 496, .detector = {1248, 960}, .runs = 5};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    static struct session s;
    s.a = &a;
    s.scan = &scan;
    s.params = (struct fbp_recon_params){
        .struct_size = sizeof s.params, .device = a.device, .n_threads = a.threads};
    rc = make_scan(&a, &scan);
    if (rc == 0)
        rc = measure(&s);
    fbp_scan_clear(&scan);
    return rc;
}

const struct command cmd_bench_s1 = {
    .name = "bench zinsser2013",
    .alias = "bench S1",
    .summary = "Zinsser 2013: backprojection by any 3x4 matrices",
    .usage = "[options]",
    .about =
        "Times the kernels of Zinsser and Keck (2013) on their job, 512^3 voxels from 496 views "
        "of a C-arm, with the shapes of their Table II and with the fastest shapes of today. The "
        "views are random and already on the device; errors are measured with views of a "
        "phantom.\nEach kernel is also run in parts: I, only its instructions; M, also reads and "
        "writes the volume; T, also fetches samples, but all from one line of the cache. All "
        "parts run at the occupancy of the whole kernel.\nThe limits of the device are measured "
        "first. From them, the last table tells what limits each kernel.",
    .examples = "  fbp bench zinsser2013\n"
                "  fbp bench zinsser2013 --size 1024 --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
