/* Command `fbp bench zinsser2013`: options, and the order of the measurements: kernels and whole
 * calls (Tables I to III), or copies (section V).
 * Used by: bench/commands.c. */
#include "bench/common/jobs.h"
#include "bench/common/memory.h"
#include "bench/common/modules.h"
#include "bench/papers/zinsser2013/text.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

struct s1_args {
    const char *device, *pictures;
    size_t size, views, detector[2], runs, test;
    int threads;
    bool transfers, json;
};

#define S struct s1_args
static const struct opt table[] = {
    OPT(S, size, .name = "size", .arg = "N", .min = 8, .max = 4096,
        .fallback = "512; --transfers: 512 and 1024", .help = "N^3 voxels in a cube of 256 mm"),
    OPT(S, views, .name = "views", .arg = "K", .min = 2, .max = 2048, .fallback = "496",
        .help = "number of views, over 198 degrees"),
    OPT(S, detector, .name = "detector", .arg = "UxV", .min = 1, .max = 16384,
        .fallback = "1248x960",
        .help = "columns x rows of the detector, whose size in mm does not change; on a CPU, "
                "1248x960 takes minutes also for small volumes: try --size 64 --detector 156x120"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "5",
        .help = "number of runs; the median is printed"),
    OPT(S, test, .name = "test", .arg = "1...9", .min = 1, .max = 9, .fallback = "all",
        .help = "only one row of Table II; 9: the fastest shapes of today"),
    OPT(S, transfers, .name = "transfers",
        .help = "section V instead of the tables: copies overlapped with kernels"),
    OPT(S, pictures, .name = "pictures", .arg = "DIR",
        .help = "with --transfers: draw the timelines (Fig. 3) into this folder: "
                "zinsser2013-fig3-resident.svg and zinsser2013-fig3-streamed.svg"),
    BENCH_DEVICE(S),
    OPT(S, threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores", .help = "number of threads that make the views"),
    OPT(S, json, .name = "json", .help = "print one JSON object with a measurement for each row"),
};
#undef S

enum { TODAY = 9, MOST_RESULTS = 64, CASES = 2 };

/* Make the scan in place of RabbitCT's data: filtered views of a wobbling C-arm over 198 degrees.
 */
static int make_scan(const struct s1_args *a, size_t size, struct fbp_scan *scan)
{
    const double voxel = 256.0 / (double)size;
    const struct bench_orbit arm = {.sod_mm = 745,
                                    .sdd_mm = 1196,
                                    .pitch_mm = 1248 * .308 / (double)a->detector[0],
                                    .arc_rad = 198 * BENCH_PI / 180,
                                    .c_arm = true};

    *scan = (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                              .n_views = a->views,
                              .panel = {a->detector[0], a->detector[1]},
                              .filtered = true,
                              .volume = {{size, size, size}, {voxel, voxel, voxel}, {0}}};
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
    size_t n, best; /* number of results, and the index of the fastest of today's shapes */
};

/* Set the job, and find the limits and kernels of the device. */
static int describe(struct session *s)
{
    struct fbp_device_info device = {.struct_size = sizeof device};
    const struct fbp_backend *backend;

    if (fbp_bench_device(s->a->device, &backend) != FBP_OK)
        return cli_fail();
    backend->discovery.describe(0, &device);
    const char *sm = strstr(device.text, ", sm_");
    s->job = (struct s1_job){.size = s->scan->volume.n[0],
                             .views = s->a->views,
                             .columns = s->a->detector[0],
                             .rows = s->a->detector[1],
                             .runs = s->a->runs,
                             .kernels = bench_device_of(backend)->s1 != NULL};
    snprintf(s->job.device, sizeof s->job.device, "%.*s", sm ? (int)(sm - device.text) : 99,
             sm ? device.text : backend->name);
    if (sm)
        snprintf(s->job.architecture, sizeof s->job.architecture, "%.*s", (int)strcspn(sm + 2, ","),
                 sm + 2);
    const fbp_status st = fbp_bench_limits(s->a->device, &s->job.limits);
    return st == FBP_OK || st == FBP_ERR_UNSUPPORTED ? 0 : cli_fail();
}

static bool wants(const struct session *s, int test)
{
    return !s->a->test || s->a->test == (size_t)(test ? test : TODAY);
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

/* The paper's tests in their order, then today's shapes. */
static int measure_shapes(struct session *s)
{
    const struct fbp_s1_shape *shape;
    double least = INFINITY;
    int rc = 0;

    for (size_t i = 0; !s->s1 && !s->a->json && i < S1_TESTS; i++)
        if (wants(s, s1_table2[i].shape.test))
            rc = s1_print_row(&s->job, &(struct s1_result){.shape = s1_table2[i].shape}, false);
    for (size_t i = 0; s->s1 && rc == 0 && (shape = fbp_s1_shape_at(s->s1, i)); i++) {
        struct s1_result r = {0};
        if (!wants(s, shape->test))
            continue;
        rc = time_parts(s, i, &r, shape->test != 0);
        if (rc == 0)
            rc = s1_print_row(&s->job, &r, s->a->json);
        if (rc == 0 && shape->test && s->n < MOST_RESULTS)
            s->results[s->n++] = r;
        if (rc == 0 && !shape->test && r.part[FBP_S1_ALL].seconds < least) {
            least = r.part[FBP_S1_ALL].seconds;
            s->best = i;
        }
    }
    return rc;
}

/* Row 9 of Table II: all parts of the fastest of today's shapes. */
static int measure_best(struct session *s)
{
    struct s1_result *r = &s->results[s->n];

    if (!s->best)
        return 0;
    *r = (struct s1_result){.best = true};
    int rc = time_parts(s, s->best, r, true);
    s->n++;
    return rc ? rc : s1_print_row(&s->job, r, s->a->json);
}

/* The fastest kernel alone, with its errors. */
static int measure_error(struct session *s)
{
    struct fbp_s1_error e;

    if (!s->best)
        return 0;
    if (fbp_s1_compare(s->s1, s->best, &e) != FBP_OK)
        return cli_fail();
    const struct fbp_s1_time *t = &s->results[s->n - 1].part[FBP_S1_ALL];
    return s1_print_call(&s->job,
                         &(struct s1_call){"today, fastest kernel alone", s->job.size, t->seconds,
                                           t->gups, e.double_hu, e.rmse_hu},
                         s->a->json);
}

/* A whole call: an ordinary reconstruction, host to host, then once more for its error. */
static fbp_status measure_call(const struct session *s, struct s1_call *out)
{
    const struct fbp_host_options options = {.n_runs = s->a->runs};
    const size_t *n = s->scan->volume.n, view = s->scan->panel.n_columns * s->scan->panel.n_rows;
    float *views = NULL, *volume = NULL;
    struct fbp_host_time t;
    struct fbp_s1_error e;
    fbp_status st = FBP_OK;

    FBP_TRY(fbp_bench_host(s->scan, &s->params, &options, &t));
    FBP_TRY_GOTO(fbp_alloc((void **)&views, s->a->views * view * sizeof *views, "views"));
    FBP_TRY_GOTO(fbp_alloc((void **)&volume, n[0] * n[1] * n[2] * sizeof *volume, "a volume"));
    FBP_TRY_GOTO(fbp_s1_project(s->scan, s->a->threads, views));
    FBP_TRY_GOTO(fbp_bench_reconstruct(s->scan, &s->params, views, volume));
    FBP_TRY_GOTO(fbp_s1_compare_volume(s->scan, &s->params, views, volume, &e));
    *out = (struct s1_call){out->text, n[0], t.median, t.gups, e.double_hu, e.rmse_hu};
fail:
    fbp_free(volume);
    fbp_free(views);
    return st;
}

static int measure(struct session *s)
{
    int rc = describe(s);

    if (rc)
        return rc;
    if (s->job.kernels && fbp_s1_open(&s->s1, s->scan, &s->params) != FBP_OK)
        return cli_fail();
    if (!s->a->json)
        s1_print_table1(&s->job);
    else if (s->job.kernels)
        rc = s1_print_json_limits(&s->job);
    if (rc == 0)
        rc = measure_shapes(s);
    if (rc == 0)
        rc = measure_best(s);
    if (rc == 0 && !s->a->json)
        s1_print_verdicts(s->results, s->n, &s->job);
    if (rc == 0)
        rc = measure_error(s);
    fbp_s1_close(&s->s1);
    if (rc || s->a->test)
        return rc;
    /* Without a GPU the paper's own job takes minutes: it is measured only if --size is given. */
    struct s1_call call = {"today, whole call, kernel matrix", s->job.size, NAN, NAN, NAN, NAN};
    if ((s->job.kernels || s->a->size) && measure_call(s, &call) != FBP_OK)
        return cli_fail();
    rc = s1_print_call(&s->job, &call, s->a->json);
    if (!s->a->json && isnan(call.seconds))
        printf("The whole call was not measured: without CUDA it is measured only with --size.\n");
    return rc;
}

/* Section V, with the volume on the device, or streamed. */
static int measure_transfers(struct session *s, bool streamed)
{
    struct fbp_s1_transfers t;
    char path[BENCH_PATH];
    int rc = describe(s);

    if (rc == 0 && s->a->pictures)
        rc = bench_picture(path, s->a->pictures,
                           streamed ? "zinsser2013-fig3-streamed.svg"
                                    : "zinsser2013-fig3-resident.svg");
    if (rc)
        return rc;
    const fbp_status st = fbp_s1_transfers(s->scan, &s->params, streamed, s->a->runs,
                                           s->a->pictures ? path : NULL, &t);
    if (st != FBP_OK && st != FBP_ERR_UNSUPPORTED)
        return cli_fail();
    rc = s1_print_transfers(&s->job, &t, s->a->json);
    if (st != FBP_OK && !s->a->json)
        printf("not measured: %s\n", fbp_message());
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    static const size_t sizes[CASES] = {512, 1024};
    struct s1_args a = {.views = 496, .detector = {1248, 960}, .runs = 5};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON && a.pictures && !a.transfers)
        rc = opt_usage(self, "--pictures: only --transfers draws pictures: add --transfers");
    if (rc == OPT_GO_ON)
        rc = bench_check_pictures(a.pictures);
    if (rc != OPT_GO_ON)
        return rc;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < (a.transfers ? CASES : 1); i++) {
        static struct session s;
        struct fbp_scan scan = {.struct_size = sizeof scan};
        s = (struct session){.a = &a, .scan = &scan};
        s.params = (struct fbp_recon_params){.struct_size = sizeof s.params,
                                             .device = a.device,
                                             .n_threads = a.threads,
                                             .tuning.kernel = "matrix"};
        rc = make_scan(&a, a.size ? a.size : sizes[i], &scan);
        if (rc == 0)
            rc = a.transfers ? measure_transfers(&s, i > 0) : measure(&s);
        fbp_scan_clear(&scan);
    }
    return rc;
}

const struct command cmd_bench_s1 = {
    .name = "bench zinsser2013",
    .alias = "bench S1",
    .summary = "Zinsser 2013: backprojection by any 3x4 matrices",
    .usage = "[options]",
    .about =
        "Timo Zinsser and Benjamin Keck: Systematic Performance Optimization of Cone-Beam "
        "Back-Projection on the Kepler Architecture. 12th International Meeting on Fully "
        "Three-Dimensional Image Reconstruction (Fully3D), pp. 225-228, 2013.\n"
        "Times the paper's kernels on its job, 512^3 voxels from 496 filtered views of a C-arm, "
        "with the shapes of Table II and with the fastest shapes of today, on a CUDA device. The "
        "views are random and on the device. Each kernel is also run in parts: I, only its "
        "instructions; M, also reads and writes of the volume; T, also fetches of samples, all "
        "from one line of the cache. All parts run at the occupancy of the whole kernel. The "
        "limits of the device (Table I) are measured; from them follows what limits each kernel.\n"
        "Table III: the fastest kernel alone, and a whole call, an ordinary reconstruction from "
        "views in host memory to the volume in host memory. Errors are those of a phantom, in HU "
        "of water at 0.02/mm: against a backprojection in double, and against the kernel matrix in "
        "precision exact.\n"
        "Other devices lack the kernels: the published tables are printed, and the whole call is "
        "measured if --size is given.\n"
        "--transfers: section V, on any device, by the kernel matrix. Views are copied in chunks "
        "of 8, 16, 24, 32, 32 ... while kernels run. First, the volume is in two parts of 3/4 and "
        "1/4 of the slices, and one is copied back while the other is computed. Then, half of the "
        "views are on the device at a time, and parts of 1/16 of the slices (256 MiB of 1024^3) "
        "pass through two buffers.",
    .examples = "  fbp bench zinsser2013\n"
                "  fbp bench zinsser2013 --device cpu --size 128\n"
                "  fbp bench zinsser2013 --transfers --pictures .\n",
    COMMAND_OPTS(table),
    .run = run,
};
