/* Command `fbp bench kernel`: the backprojection alone, with its error and the limit of the
 * device. */
#include "bench/kernels/text.h"
#include "recon.h"

#include "backend/backend.h"

#include <stdlib.h>
#include <string.h>

struct kernel_args {
    const char *job, *device, *kernel, *region;
    enum fbp_precision precision;
    size_t views, slices, runs, divide;
    int threads;
    bool shapes, json;
};

#define K struct kernel_args
static const struct opt table[] = {
    BENCH_PLANES(K, "J1, J2 and J3"),
    OPT(K, kernel, .name = "kernel", .arg = "NAME", .list = fbp_kernel_name,
        .fallback = "every one",
        .help = "matrix works for every geometry, column for circular scans without tilt, rot180 "
                "and rot90 for scans with these symmetries"),
    BENCH_DEVICE(K),
    OPT(K, precision, .name = "precision", .arg = "NAME", .list = choices_precision,
        .fallback = "every one", .help = "precision, if the device has it"),
    BENCH_THREADS(K),
    OPT(K, views, .name = "views", .arg = "K", .min = 1, .max = 4096,
        .fallback = "all, or 16 on a CPU", .help = "number of views backprojected at a time"),
    OPT(K, slices, .name = "slices", .arg = "N", .min = 1, .max = 4096,
        .fallback = "all, or 64 million voxels' worth on a CPU",
        .help = "number of slices, around the middle of the volume"),
    OPT(K, region, .name = "region", .arg = "SHAPE", .fallback = "all",
        .help =
            "only what lies in a region of interest, as for fbp recon; speeds count its voxels"),
    OPT(K, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "5",
        .help = "number of runs from memory to memory; the median is printed"),
    OPT(K, shapes, .name = "shapes",
        .help = "time every shape that a kernel of a GPU has, not only the one that it would take"),
    BENCH_DIVIDE(K),
    OPT(K, json, .name = "json", .help = "print one JSON object with a measurement for each line"),
};
#undef K

/* A run of the command. */
struct kernel_run {
    const struct kernel_args *args;
    fbp_bench *bench;
    struct bench_table table;
    size_t n_measured;
};

static size_t index_of(const struct bench_job *j)
{
    size_t i = 0;
    while (i < N_BENCH_JOBS && strcmp(bench_jobs[i].name, j->name) != 0)
        i++;
    return i; /* jobs of planes are measured alone and use the last column */
}

/* Measure a kernel once and print it; shape -1: the kernel's own choice. */
static int measure_once(struct kernel_run *r, const struct bench_job *j, const char *kernel,
                        enum fbp_precision precision, int shape, int *n_shapes)
{
    const struct kernel_args *a = r->args;
    struct fbp_kernel_time t;
    char name[64];
    const fbp_status st = fbp_bench_kernel(r->bench, kernel, precision, &t);

    *n_shapes = t.n_shapes;
    if (st == FBP_ERR_UNSUPPORTED && !(a->kernel && a->precision))
        return 0; /* every one that there is, on this device */
    if (st != FBP_OK)
        return cli_fail();
    r->n_measured++;
    const char *is = bench_precision(t.isa);
    snprintf(name, sizeof name, "%s%s%s", t.kernel, *is ? " " : "", is);
    struct bench_row *row = bench_table_row(&r->table, name);
    if (row)
        row->kernel[index_of(j)] = t;
    if (a->json)
        return bench_json_kernel(&r->table, j, fbp_bench_about(r->bench), &t, shape);
    bench_print_kernel(j, &t, shape);
    return 0;
}

static int measure_kernel(struct kernel_run *r, const struct bench_job *j, const char *kernel,
                          enum fbp_precision precision)
{
    int rc = 0, n = 1;

    if (!r->args->shapes)
        return measure_once(r, j, kernel, precision, -1, &n);
    for (int shape = 0; rc == 0 && shape < n; shape++) {
        char text[16];
        snprintf(text, sizeof text, "%d", shape);
        setenv("FBP_SHAPE", text, 1);
        rc = measure_once(r, j, kernel, precision, shape, &n);
    }
    unsetenv("FBP_SHAPE");
    return rc;
}

/* Measure a kernel in the requested precision, or in all, exact first, because the others are
 * compared with exact. */
static int measure_precisions(struct kernel_run *r, const struct bench_job *j, const char *kernel)
{
    int rc = 0;

    if (r->args->precision || !fbp_bench_about(r->bench)->has_precisions)
        return measure_kernel(r, j, kernel, r->args->precision);
    for (int p = FBP_PRECISION_EXACT; rc == 0 && p <= FBP_PRECISION_HALF; p++)
        rc = measure_kernel(r, j, kernel, (enum fbp_precision)p);
    return rc;
}

static int measure_kernels(struct kernel_run *r, const struct bench_job *j)
{
    const char *kernel;
    int rc = 0;

    if (r->args->kernel)
        return measure_precisions(r, j, r->args->kernel);
    for (size_t k = 0; rc == 0 && (kernel = fbp_kernel_name(k)); k++)
        rc = measure_precisions(r, j, kernel);
    return rc;
}

/* Measure whole reconstructions, if all kernels were requested on a device with its own memory. */
static int measure_host(struct kernel_run *r, const struct bench_job *j,
                        const struct fbp_scan *scan)
{
    static const struct {
        const char *name, *kernel;
        enum fbp_precision precision;
        bool counts;
    } ways[] = {{"memory to memory, matrix fast", "matrix", FBP_PRECISION_FAST, false},
                {"memory to memory, exact", NULL, FBP_PRECISION_EXACT, false},
                {"memory to memory, half", NULL, FBP_PRECISION_HALF, false},
                {"counts to memory, half", NULL, FBP_PRECISION_HALF, true}};
    const struct kernel_args *a = r->args;
    const bool all =
        j->rings == 0 && !a->kernel && !a->precision && !a->views && !a->slices && !a->region;
    int rc = 0;

    for (size_t i = 0;
         rc == 0 && all && fbp_bench_about(r->bench)->own_memory && i < sizeof ways / sizeof *ways;
         i++) {
        const struct fbp_recon_params p = {.struct_size = sizeof p,
                                           .device = a->device,
                                           .n_threads = a->threads,
                                           .tuning.kernel = ways[i].kernel,
                                           .precision = ways[i].precision};
        const struct fbp_host_options options = {.n_runs = a->runs, .counts = ways[i].counts};
        struct fbp_host_time t;
        if (fbp_bench_host(scan, &p, &options, &t) != FBP_OK)
            return cli_fail();
        struct bench_row *row = bench_table_row(&r->table, ways[i].name);
        if (row)
            row->host[index_of(j)] = t;
        if (a->json)
            rc = bench_json_host(&r->table, j, ways[i].name, &t);
        else
            bench_print_host(&r->table, j, ways[i].name, &t);
    }
    return rc;
}

static int measure(struct kernel_run *r, const struct bench_job *job)
{
    const struct bench_job j = bench_job_divided(job, r->args->divide);
    struct fbp_scan scan = {.struct_size = sizeof scan};
    int rc = bench_job_scan(&j, &scan);

    if (rc == 0 && fbp_bench_scan(r->bench, &scan, r->args->views, r->args->slices) != FBP_OK)
        rc = cli_fail();
    if (rc == 0 && !r->args->json)
        bench_print_scan(&j, fbp_bench_about(r->bench));
    if (rc == 0)
        rc = measure_kernels(r, &j);
    if (rc == 0)
        rc = measure_host(r, &j, &scan);
    fbp_scan_clear(&scan);
    return rc;
}

static int measure_all(struct kernel_run *r)
{
    const struct kernel_args *a = r->args;
    int rc = 0;

    bench_find_device(&r->table, fbp_bench_about(r->bench));
    if (!a->json)
        bench_print_head(&r->table);
    if (a->job)
        rc = measure(r, bench_any_find(a->job));
    for (size_t i = 0; rc == 0 && i < N_BENCH_JOBS && !a->job; i++)
        rc = measure(r, &bench_jobs[i]);
    if (rc == 0 && r->n_measured == 0)
        return cli_fail(); /* no job has the kernel that was asked for */
    if (rc == 0 && !a->json && !a->job)
        bench_print_table(&r->table);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct kernel_args a = {.runs = 5, .divide = 1};
    static struct kernel_run r;
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = bench_any_check(self, a.job);
    if (rc != OPT_GO_ON)
        return rc;
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = a.device,
                                       .n_threads = a.threads,
                                       .region.shape = a.region};
    r.args = &a;
    rc = fbp_bench_create(&r.bench, &p) == FBP_OK ? measure_all(&r) : cli_fail();
    fbp_bench_destroy(&r.bench);
    return rc;
}

const struct command cmd_bench_kernel = {
    .name = "bench kernel",
    .summary = "time the backprojection alone, with its error",
    .usage = "[options]",
    .about = "Backprojects filtered views of full circular scans that are already in "
             "memory.\nGUPS: 10^9 voxels x views in a second, with random views; median, best "
             "and worst of at least five runs, by the device's clock if it has one.\nlimit: the "
             "speed as a part of the device's own measured limit.\nPSNR, RMSE, max: views of a "
             "phantom, compared with the reference in double precision, in up to 16 whole slices "
             "and in single voxels elsewhere; in HU, water is 0.02/mm.\nto exact: RMSE, compared "
             "with the same kernel in precision exact.\nA device with its own memory computes "
             "all views and slices, and the table also has whole reconstructions from memory to "
             "memory, as in fbp bench host.",
    .examples = "  fbp bench kernel --device cuda\n"
                "  fbp bench kernel --device cpu --threads 1\n"
                "  fbp bench kernel --job J2 --kernel column --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
