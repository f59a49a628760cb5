/* Command `fbp bench host`: whole reconstructions from memory to memory.
 * Used by: bench/commands.c. */
#include "bench/common/jobs.h"
#include "recon.h"

#include "bench/common/measure.h"

#include <string.h>

struct host_args {
    const char *job, *device, *kernel, *timeline;
    enum fbp_precision precision;
    size_t runs, batch, memory, divide, stages;
    int threads;
    bool counts, on_device, json;
};

/* Job J4: views and volume take 46 GB, so only --job J4 selects it. */
static const struct bench_job large = {
    "J4", "2048^3 from 720 x 2048 x 2048", 720, 2048, 2048, 2048, 0.2, 0.125, 0, false, false};

#define H struct host_args
static const struct opt table[] = {
    OPT(H, job, .name = "job", .arg = "NAME", .fallback = "J1, J2 and J3",
        .help = "J1: 512^3 voxels from views of 512x512; J2: 512^3 from 1248x960; J3: 1024^3 from "
                "1248x960; J4: 2048^3 from 2048x2048, which takes 50 GB of memory; P64, P128, "
                "P200: 64^3, 128^3, 200^3 from plane integrals along 208 directions; P128x10: ten "
                "delays of them; C1024: J3 from 1440 views; C2048: 2048^3 from 2880 views of "
                "2048x2048, which takes 83 GB; B1024, B2048: 1024^3, 2048^3 from half a turn of a "
                "parallel beam, as many views as voxels per side"),
    BENCH_DEVICE(H),
    BENCH_KERNEL(H),
    OPT(H, stages, .name = "stages", .arg = "N", .min = 1, .max = 2, .fallback = "1",
        .help = "2: plane integrals are backprojected in two stages, from directions of equal "
                "linear angle: P128 is then 18 x 18 of them"),
    BENCH_THREADS(H),
    OPT(H, batch, .name = "batch", .arg = "N", .min = 1, .max = 65536, .fallback = "the plan's",
        .help = "views computed at a time"),
    OPT(H, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "5",
        .help = "number of runs; the median is printed"),
    OPT_BYTE_COUNT(H, memory, .name = "device-memory", .arg = "BYTES",
                   .fallback = "90% of what is free",
                   .help = "how much of a device's own memory may be used"),
    OPT(H, counts, .name = "counts",
        .help = "views are 16-bit counts, as from a detector, instead of line integrals"),
    OPT(H, on_device, .name = "on-device",
        .help = "views and volume lie in the device's own memory, as tensors do: nothing crosses "
                "the bus"),
    OPT(H, timeline, .name = "timeline", .arg = "FILE.svg",
        .help = "also draw when each stage of one more run worked; needs --job"),
    BENCH_DIVIDE(H),
    OPT(H, json, .name = "json", .help = "print one JSON object with a measurement for each job"),
};
#undef H

static int print_json(const struct bench_job *j, const struct fbp_host_time *t)
{
    const struct cli_number numbers[] = {
        {"slabs", (double)t->n_slabs},
        {"batches", (double)t->n_batches},
        {"runs", (double)t->n_runs},
        {"plan", t->plan},
        {"open", t->open},
        {"pin", t->pin},
        {"first", t->first},
    };
    const struct cli_number rest[] = {
        {"rmse_hu", t->rmse_hu}, {"psnr_db", t->psnr_db}, {"min", t->min},
        {"max", t->max},         {"mean", t->mean},
    };
    cJSON *root = bench_json_begin("host", j->name, t->backend, t->kernel, t->isa);

    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    bench_json_host_seconds(root, t);
    bench_json_numbers(root, rest, sizeof rest / sizeof *rest);
    return bench_json_add(root);
}

static int print_text(const struct bench_job *j, const struct fbp_host_time *t)
{
    printf("%-3s %-13s %-12s %7.2f %7.2f %7.2f %7.2f %7.0f %7.3f %7.1f %7.1f %7.1f %7.1f %7.0f "
           "%7.0f %7.0f %7.1f\n",
           j->name, t->kernel, t->isa, 1e3 * t->median, 1e3 * t->best, 1e3 * t->worst,
           1e3 * t->whole, t->gups, t->rmse_hu, t->psnr_db, 1e3 * t->filter, 1e3 * t->backproject,
           1e3 * t->fetch, 1e3 * t->plan, 1e3 * t->open, 1e3 * t->pin, 1e3 * t->first);
    fflush(stdout);
    return 0;
}

static int measure(const struct host_args *a, const struct bench_job *job)
{
    const struct fbp_recon_params p = {.struct_size = sizeof p,
                                       .device = a->device,
                                       .n_threads = a->threads,
                                       .precision = a->precision,
                                       .tuning.kernel = a->kernel,
                                       .device_memory_bytes = a->memory,
                                       .tuning.batch_views = a->batch,
                                       .epr.stages = (int)a->stages};
    struct bench_job j = bench_job_divided(job, a->divide);
    const struct fbp_host_options options = {a->runs, a->counts, a->timeline, a->on_device};
    struct fbp_host_time t;
    struct fbp_scan scan = {.struct_size = sizeof scan};

    j.linear = a->stages == 2;
    int rc = bench_job_scan(&j, &scan);

    if (rc == 0 && fbp_bench_host(&scan, &p, &options, &t) != FBP_OK)
        rc = cli_fail();
    fbp_scan_clear(&scan);
    return rc ? rc : (a->json ? print_json : print_text)(&j, &t);
}

static const struct bench_job *find(const char *name)
{
    return strcmp(name, large.name) == 0 ? &large : bench_any_find(name);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct host_args a = {.runs = 5, .divide = 1};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (a.job && !find(a.job))
        return opt_usage(
            self,
            "--job: expected J1, J2, J3, J4, P64, P128, P200, P128x10, B1024 or B2048, got \"%s\"",
            a.job);
    if (a.timeline && (!a.job || !cli_ends_with(a.timeline, ".svg")))
        return opt_usage(self,
                         "--timeline: expected --job and a name that ends in .svg, got \"%s\"",
                         a.timeline);
    if (!a.json)
        printf("job kernel        isa           median    best   worst   whole    GUPS RMSE HU "
               "PSNR dB  filter "
               "backpr.   fetch    plan    open     pin   first\n");
    if (a.job)
        return measure(&a, find(a.job));
    rc = 0;
    for (size_t i = 0; rc == 0 && i < N_BENCH_JOBS; i++)
        rc = measure(&a, &bench_jobs[i]);
    return rc;
}

const struct command cmd_bench_host = {
    .name = "bench host",
    .summary = "time whole reconstructions, from memory to memory",
    .usage = "[options]",
    .about = "The views are random, of full circular scans. Views and volume lie in memory that "
             "the device can copy directly.\nTimes in ms. median, best, worst: of runs of an "
             "open plan. whole: also makes, opens and destroys the plan. filter (with uploads), "
             "backpr., fetch: one stage at a time. plan, open, pin (allocates the memory), first "
             "(run): measured once.\nGUPS: 10^9 voxels x views in a second, from the "
             "median.\nRMSE, PSNR: some slices of a head phantom (water 0.02/mm), compared with "
             "the kernel matrix in precision exact.",
    .examples = "  fbp bench host --device cuda --precision fast\n"
                "  fbp bench host --job J1 --runs 11 --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
