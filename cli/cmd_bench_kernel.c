#include "bench_jobs.h"
#include "recon.h"

#include "fbp/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kernel_args {
    const char *job, *device, *kernel;
    enum fbp_precision precision;
    size_t views, slices;
    int threads;
    bool json;
};

#define K struct kernel_args
static const struct opt table[] = {
    OPT(K, job, .name = "job", .arg = "J1|J2|J3", .fallback = "all three",
        .help = "J1: 512^3 from views of 512x512; J2: 512^3 and J3: 1024^3, of 1248x960"),
    OPT(K, kernel, .name = "kernel", .arg = "NAME", .fallback = "every one",
        .help = "matrix takes any geometry, column untilted circular scans, mirror, rot180, rot90 "
                "and their combinations those with these symmetries"),
    OPT(K, device, .name = "device", .arg = "NAME", .fallback = "auto",
        .help = "where to compute; fbp devices lists them"),
    OPT(K, precision, .name = "precision", .arg = "NAME", .names = recon_precisions,
        .fallback = "the device's", .help = "exact, fast or half, where the device has them"),
    OPT(K, threads, .name = "threads", .arg = "N", .min = 0, .max = 4096, .fallback = "all cores",
        .help = "threads to compute with"),
    OPT(K, views, .name = "views", .arg = "K", .min = 1, .max = 4096,
        .fallback = "16, or a device's pass", .help = "views backprojected at a time"),
    OPT(K, slices, .name = "slices", .arg = "N", .min = 1, .max = 4096,
        .fallback = "64 million voxels' worth", .help = "slices of the slab"),
    OPT(K, json, .name = "json", .help = "print one line of JSON a measurement"),
};
#undef K

static const char *const kernels[] = {"matrix", "column",        "mirror",      "rot180",
                                      "rot90",  "rot180+mirror", "rot90+mirror"};

static int print_json(const struct bench_job *j, const struct fbp_kernel_time *t)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "bench", "kernel");
    cJSON_AddStringToObject(root, "case", j->name);
    cJSON_AddStringToObject(root, "device", t->backend);
    cJSON_AddStringToObject(root, "kernel", t->kernel);
    cJSON_AddStringToObject(root, "isa", t->isa);
    cJSON_AddNumberToObject(root, "threads", t->n_threads);
    cJSON_AddNumberToObject(root, "views", (double)t->n_views);
    cJSON_AddNumberToObject(root, "slices", (double)t->n_slices);
    cJSON_AddNumberToObject(root, "seconds", t->seconds);
    cJSON_AddNumberToObject(root, "gups", t->gups);
    cJSON_AddNumberToObject(root, "psnr_db", t->psnr_db);
    return cli_json(root, true);
}

static int measure(const struct kernel_args *a, const struct bench_job *j, const char *kernel)
{
    const size_t slices = a->slices ? a->slices : ((size_t)64 << 20) / (j->size * j->size);
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = a->device,
                                       .n_threads = a->threads,
                                       .precision = a->precision,
                                       .kernel = kernel};
    struct fbp_kernel_time t;
    struct fbp_scan scan;
    fbp_status st = FBP_OK;
    int rc = bench_job_scan(j, &scan);

    if (rc == 0)
        st = fbp_bench_kernel(&scan, &p, a->views, slices, &t);
    fbp_scan_clear(&scan);
    if (st == FBP_ERR_UNSUPPORTED && !a->kernel)
        return 0; /* every kernel that there is, on this device */
    if (rc || st != FBP_OK)
        return rc ? rc : cli_fail();
    if (a->json)
        return print_json(j, &t);
    printf("%-3s %-13s %-12s %7d %10.3f %10.1f\n", j->name, t.kernel, t.isa, t.n_threads, t.gups,
           t.psnr_db);
    fflush(stdout);
    return 0;
}

/* The kernel asked for, or every one. */
static int measure_all(const struct kernel_args *a, const struct bench_job *j)
{
    int rc = 0;

    if (a->kernel)
        return measure(a, j, a->kernel);
    for (size_t k = 0; rc == 0 && k < sizeof kernels / sizeof *kernels; k++)
        rc = measure(a, j, kernels[k]);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct kernel_args a = {0};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (a.job && !bench_job_find(a.job))
        return opt_usage(self, "--job: expected J1, J2 or J3, got \"%s\"", a.job);
    if (!a.json)
        printf("job kernel        isa          threads       GUPS  PSNR [dB]\n");
    rc = 0;
    for (size_t i = 0; rc == 0 && i < N_BENCH_JOBS; i++)
        if (!a.job || strcmp(a.job, bench_jobs[i].name) == 0)
            rc = measure_all(&a, &bench_jobs[i]);
    return rc;
}

const struct command cmd_bench_kernel = {
    .name = "bench kernel",
    .summary = "time the backprojection alone, with its error",
    .usage = "[options]",
    .about = "Filtered phantom views of full circular scans into the middle slices, data "
             "resident.  GUPS: 10^9 voxels x views a second.  PSNR: the middle slice against the "
             "reference in double.",
    .examples = "  fbp bench kernel --threads 1\n"
                "  fbp bench kernel --job J2 --kernel column --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
