/* Command `fbp bench kernel`: the backprojection alone, with its error and the limit of the device,
 * as lines, as a table and as JSON.
 * Used by: bench/commands.c. */
#include "bench/common/jobs.h"
#include "bench/common/measure.h"
#include "choices.h"
#include "commit.h"
#include "recon.h"

#include "backend/backend.h"

#include <math.h>
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
static const struct opt options_table[] = {
    BENCH_PLANES(K, "J1, J2 and J3"),
    OPT(K, kernel, .name = "kernel", .arg = "NAME", .list = fbp_kernel_name,
        .fallback = "every one",
        .help =
            "matrix works for every geometry, column for circular scans without tilt, tilted (on "
            "a CPU) for small tilts, hierarchical (on a CPU, CUDA) for many views without tilt, "
            "parallel (CUDA) for parallel beams, rot180 and rot90 for scans with these symmetries"),
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

/* Rows of the table: a kernel of a precision, or a way of reconstructing memory to memory. */
enum { BENCH_MOST_ROWS = 24 };

struct bench_row {
    char name[64];
    struct fbp_kernel_time kernel[N_BENCH_JOBS + 1]; /* n_runs 0: not measured */
    /* n_runs 0: not measured; the last entry: jobs of planes */
    struct fbp_host_time host[N_BENCH_JOBS + 1];
};

struct bench_table {
    size_t n;
    struct bench_row rows[BENCH_MOST_ROWS];
    struct fbp_device_info device; /* that all was measured on */
    struct fbp_limits limits;      /* of it; all 0: not known */
};

static const double HU = 1000 / 0.02; /* HU per 1/mm of a difference, with water of 0.02/mm */

/* Find the row `name`, or add it; NULL: the table is full. */
static struct bench_row *bench_table_row(struct bench_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->rows[i].name, name) == 0)
            return &t->rows[i];
    if (t->n == BENCH_MOST_ROWS)
        return NULL;
    snprintf(t->rows[t->n].name, sizeof t->rows[t->n].name, "%s", name);
    return &t->rows[t->n++];
}

/* The precision at the end of an isa text: "exact", "fast", "half" or "". */
static const char *bench_precision(const char *isa)
{
    const char *name;

    for (size_t i = 0; (name = choices_precision(i)); i++)
        if (*name && cli_ends_with(isa, name))
            return name;
    return "";
}

/* The device's entry of fbp_devices(), and its limits. */
static void bench_find_device(struct bench_table *t, const struct fbp_bench_info *info)
{
    const char *backend = info->backend;
    static struct fbp_device_info d[64] = {{.struct_size = sizeof *d}};
    const size_t n = fbp_devices(d, 64), length = strlen(backend);

    t->limits = info->limits;
    snprintf(t->device.name, sizeof t->device.name, "%s", backend);
    for (size_t i = 0; i < n && i < 64; i++)
        if (strncmp(d[i].name, backend, length) == 0 && strchr(":", d[i].name[length])) {
            t->device = d[i];
            return;
        }
}

static void print_limits(const struct fbp_limits *l)
{
    printf("measured limits: fp32 multiply-adds %.1f T/s; bilinear fetches of 1, 2, 4 fp32 %.0f, "
           "%.0f, %.0f G/s, fp16 %.0f, %.0f, %.0f G/s; loads of 4, 8, 16 bytes from L1 %.1f, %.1f, "
           "%.1f TB/s; copies on the device %.2f TB/s, up %.1f and down %.1f GB/s\n",
           1e-12 * l->fma, 1e-9 * l->texture_r32f, 1e-9 * l->texture_rg32f,
           1e-9 * l->texture_rgba32f, 1e-9 * l->texture_r16f, 1e-9 * l->texture_rg16f,
           1e-9 * l->texture_rgba16f, 1e-12 * l->load_4, 1e-12 * l->load_8, 1e-12 * l->load_16,
           1e-12 * l->copy, 1e-9 * l->upload, 1e-9 * l->download);
}

/* Print one measurement as a line of text or JSON; bench_print_head() prints the headings. shape
 * -1: chosen by the kernel. */
static void bench_print_head(const struct bench_table *t)
{
    printf("%s: %s%s%s; commit %s\n", t->device.name, t->device.text,
           t->device.driver[0] ? ", driver " : "", t->device.driver, FBP_COMMIT);
    if (t->limits.fma > 0)
        print_limits(&t->limits);
    printf("%-3s %-13s %-12s %9s %9s %9s %9s %6s %7s %8s %8s %8s\n", "job", "kernel", "isa", "GUPS",
           "ms", "best", "worst", "limit", "PSNR", "RMSE", "max", "to exact");
    printf("%-3s %-13s %-12s %9s %9s %9s %9s %6s %7s %8s %8s %8s\n", "", "", "", "median", "", "",
           "", "", "[dB]", "[HU]", "[HU]", "[HU]");
}

static void bench_print_scan(const struct bench_job *j, const struct fbp_bench_info *i)
{
    printf("%-3s %zu views into %zu slices; errors in %zu whole slices and %zu voxels, against "
           "double (views %.1f s, reference %.1f s)\n",
           j->name, i->n_views, i->n_slices, i->whole_slices, i->more_voxels, i->project,
           i->reference);
    fflush(stdout);
}

/* "93%", of what is known */
static const char *percent(char *buf, size_t n, const struct fbp_kernel_time *t)
{
    if (t->limit_gups > 0)
        snprintf(buf, n, "%.0f%%", 100 * t->gups / t->limit_gups);
    else
        snprintf(buf, n, "-");
    return buf;
}

static void bench_print_kernel(const struct bench_job *j, const struct fbp_kernel_time *t,
                               int shape)
{
    char limit[16], hu[16] = "-", of[24] = "";

    if (isfinite(t->hu))
        snprintf(hu, sizeof hu, "%.4f", t->hu);
    if (shape >= 0)
        snprintf(of, sizeof of, "shape %d ", shape);
    printf("%-3s %-13s %-12s %9.2f %9.2f %9.2f %9.2f %6s %7.1f %8.4f %8.3f %8s  %s%s%s\n", j->name,
           t->kernel, t->isa, t->gups, 1e3 * t->median, 1e3 * t->best, 1e3 * t->worst,
           percent(limit, sizeof limit, t), t->psnr_db, HU * t->rmse, HU * t->max_error, hu, of,
           t->limit[0] ? "of " : "", t->limit);
    fflush(stdout);
}

/* Seconds of the longer of the two transfers alone; 0: not known. */
static double transfer_seconds(const struct bench_table *table, const struct bench_job *j,
                               const struct fbp_host_time *t)
{
    const struct fbp_limits *l = &table->limits;
    const size_t sample = t->counts ? sizeof(uint16_t) : sizeof(float);
    const double up = (double)(j->views * j->columns * j->rows * sample);
    const double down = (double)(j->size * j->size * j->size) * sizeof(float);

    return l->upload > 0 && l->download > 0 ? fmax(up / l->upload, down / l->download) : 0;
}

static void bench_print_host(const struct bench_table *table, const struct bench_job *j,
                             const char *name, const struct fbp_host_time *t)
{
    printf("%-3s %s: %s %s, %.1f ms (%.1f to %.1f), %.0f GUPS, %.4f HU from exact; filter %.1f, "
           "backprojection %.1f, fetch %.1f ms one by one; the longer transfer alone %.1f ms\n",
           j->name, name, t->kernel, t->isa, 1e3 * t->median, 1e3 * t->best, 1e3 * t->worst,
           t->gups, t->rmse_hu, 1e3 * t->filter, 1e3 * t->backproject, 1e3 * t->fetch,
           1e3 * transfer_seconds(table, j, t));
    fflush(stdout);
}

static cJSON *json_head(const struct bench_table *table, const char *bench,
                        const struct bench_job *j, const char *backend)
{
    cJSON *root = bench_json_begin(bench, j->name, backend, NULL, NULL);

    cJSON_AddStringToObject(root, "device_text", table->device.text);
    cJSON_AddStringToObject(root, "driver", table->device.driver);
    cJSON_AddStringToObject(root, "commit", FBP_COMMIT);
    return root;
}

static int bench_json_kernel(const struct bench_table *table, const struct bench_job *j,
                             const struct fbp_bench_info *info, const struct fbp_kernel_time *t,
                             int shape)
{
    const struct cli_number numbers[] = {
        {"threads", t->n_threads},
        {"size", (double)j->size},
        {"columns", (double)j->columns},
        {"rows", (double)j->rows},
        {"views", (double)t->n_views},
        {"slices", (double)t->n_slices},
        {"runs", (double)t->n_runs},
        {"seconds", t->median},
        {"best", t->best},
        {"worst", t->worst},
        {"gups", t->gups},
        {"limit_gups", t->limit_gups > 0 ? t->limit_gups : NAN},
        {"fraction", t->limit_gups > 0 ? t->gups / t->limit_gups : NAN},
        {"psnr_db", t->psnr_db},
        {"rmse", t->rmse},
        {"max_error", t->max_error},
        {"hu_to_exact", t->hu},
        {"whole_slices", (double)info->whole_slices},
        {"more_voxels", (double)info->more_voxels},
        {"shape", shape >= 0 ? (double)shape : (double)NAN},
    };
    cJSON *root = json_head(table, "kernel", j, t->backend);

    cJSON_AddStringToObject(root, "kernel", t->kernel);
    cJSON_AddStringToObject(root, "isa", t->isa);
    cJSON_AddStringToObject(root, "precision", bench_precision(t->isa));
    cJSON_AddStringToObject(root, "clock", t->by_events ? "events" : "host");
    cJSON_AddStringToObject(root, "limit", t->limit);
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

static int bench_json_host(const struct bench_table *table, const struct bench_job *j,
                           const char *name, const struct fbp_host_time *t)
{
    const double transfer = transfer_seconds(table, j, t);
    const struct cli_number numbers[] = {
        {"size", (double)j->size},   {"columns", (double)j->columns}, {"rows", (double)j->rows},
        {"views", (double)j->views}, {"runs", (double)t->n_runs},
    };
    const struct cli_number rest[] = {
        {"hu_to_exact", t->rmse_hu},
        {"limit_seconds", transfer > 0 ? transfer : NAN},
        {"fraction", transfer > 0 ? transfer / t->median : NAN},
    };
    cJSON *root = json_head(table, "host", j, t->backend);

    cJSON_AddStringToObject(root, "row", name);
    cJSON_AddStringToObject(root, "kernel", t->kernel);
    cJSON_AddStringToObject(root, "isa", t->isa);
    cJSON_AddStringToObject(root, "limit", transfer > 0 ? "the longer transfer" : "");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    bench_json_host_seconds(root, t);
    bench_json_numbers(root, rest, sizeof rest / sizeof *rest);
    return bench_json_add(root);
}

static void print_cell(const struct bench_row *row, size_t job)
{
    const struct fbp_kernel_time *k = &row->kernel[job];
    const struct fbp_host_time *h = &row->host[job];
    char limit[16];

    if (k->n_runs && k->limit_gups > 0)
        printf(" %.4g, %.1f dB, %s |", k->gups, k->psnr_db, percent(limit, sizeof limit, k));
    else if (k->n_runs)
        printf(" %.4g, %.1f dB |", k->gups, k->psnr_db);
    else if (h->n_runs)
        printf(" %.1f, %.3f HU |", 1e3 * h->median, h->rmse_hu);
    else
        printf(" - |");
}

static bool is_beside_exact(const struct bench_row *row)
{
    for (size_t i = 0; i < N_BENCH_JOBS; i++)
        if (row->kernel[i].n_runs && isfinite(row->kernel[i].hu))
            return true;
    return false;
}

/* Print all measurements as one table with a column per job. */
static void bench_print_table(const struct bench_table *t)
{
    printf("\n| |");
    for (size_t i = 0; i < N_BENCH_JOBS; i++)
        printf(" %s %s |", bench_jobs[i].name, bench_jobs[i].text);
    printf("\n|---|---|---|---|\n");
    for (size_t r = 0; r < t->n; r++) {
        const struct bench_row *row = &t->rows[r];
        const bool host = row->host[0].n_runs || row->host[1].n_runs || row->host[2].n_runs;
        printf("| %s [%s] |", row->name, host ? "ms" : "GUPS");
        for (size_t i = 0; i < N_BENCH_JOBS; i++)
            print_cell(row, i);
        putchar('\n');
    }
    for (size_t r = 0; r < t->n; r++) {
        if (!is_beside_exact(&t->rows[r]))
            continue;
        printf("| %s against exact [HU] |", t->rows[r].name);
        for (size_t i = 0; i < N_BENCH_JOBS; i++)
            if (t->rows[r].kernel[i].n_runs && isfinite(t->rows[r].kernel[i].hu))
                printf(" %.4f |", t->rows[r].kernel[i].hu);
            else
                printf(" - |");
        putchar('\n');
    }
}

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
        return cli_fail(); /* no job supports the requested kernel */
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
    COMMAND_OPTS(options_table),
    .run = run,
};
