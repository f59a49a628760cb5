/* Command `fbp bench qiao2015`: options, and the order of the measurements of Qiao et al.
 * (2015).
 * Used by: bench/commands.c. */
#include "bench/papers/qiao2015/text.h"
#include "say.h"

#include "backend/device.h"
#include "pipeline/job.h"

#include <string.h>

struct s4_args {
    const char *device, *pictures;
    size_t size, rings, samples, runs;
    int threads;
    bool json, quiet;
};

#define S struct s4_args
static const struct opt table[] = {
    OPT(S, size, .name = "size", .arg = "N", .min = 4, .max = 1024,
        .fallback = "64, 100, 128, 150 and 200", .help = "N^3 voxels, instead of the paper's"),
    OPT(S, rings, .name = "rings", .arg = "n", .min = 3, .max = 1000, .fallback = "18",
        .help = "rings of directions: 18 have the paper's 208"),
    OPT(S, samples, .name = "samples", .arg = "S", .min = 2, .max = 65536,
        .fallback = "2 ceil(sqrt(3) N/2)",
        .help = "samples per projection; even, because the kernel halves the number without a "
                "remainder"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "5",
        .help = "number of measurements; the fastest is printed"),
    OPT(S, device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "cuda",
        .help = "device of the plan, as fbp devices lists it. The paper's kernel needs cuda"),
    BENCH_THREADS(S),
    OPT(S, pictures, .name = "pictures", .arg = "DIR",
        .help = "draw into this folder: Figs. 1 to 3, and slices and profiles of GS, CM and CS and "
                "their differences (Figs. 4 and 5)"),
    OPT(S, json, .name = "json",
        .help = "print one JSON object with a measurement for each size and method"),
    OPT(S, quiet, .name = "quiet", .letter = 'q', .help = "print only results and errors"),
};
#undef S

static int check(const struct command *self, const struct s4_args *a)
{
    if (a->samples % 2)
        return opt_usage(self,
                         "--samples: the paper's kernel needs an even number, got %zu: it halves "
                         "the number without a remainder, which shifts t by half a sample: give "
                         "%zu",
                         a->samples, a->samples + 1);
    return bench_check_pictures(a->pictures);
}

/* Find the device.  A name that no build has is an error; a device that cannot be used has no
 * figures. */
static int find_device(struct s4_job *job)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    char name[32];
    size_t n;

    snprintf(name, sizeof name, "%.*s", (int)strcspn(job->device, ":"), job->device);
    if (strcmp(name, "auto") != 0 && !fbp_backend_find(name))
        return cli_error("device: \"%s\" is not in this build: choose one that fbp devices lists",
                         job->device);
    job->has_device = fbp_devices_find(job->device, &backend, devices, &n) == FBP_OK;
    job->has_cuda = job->has_device && strcmp(backend->name, "cuda") == 0;
    if (!job->has_device)
        say_note(job->quiet, "device %s cannot be used, its columns stay empty: %s", job->device,
                 fbp_message());
    return job->has_cuda && fbp_s4_gpu(&job->gpu) != FBP_OK ? cli_fail() : 0;
}

static int do_job(const struct s4_args *a)
{
    static struct s4_job job;

    job.n = a->size ? 1 : S4_SIZES;
    job.runs = a->runs;
    job.rings = a->rings;
    job.samples = a->samples;
    job.device = a->device ? a->device : "cuda";
    job.threads = a->threads;
    job.quiet = a->quiet;
    int rc = find_device(&job);

    for (size_t i = 0; i < job.n; i++)
        job.row[i].size = a->size ? a->size : s4_published[i].size;
    if (rc == 0)
        rc = s4_measure(&job);
    if (rc == 0 && a->json)
        rc = s4_json(&job);
    else if (rc == 0)
        s4_print(&job);
    if (rc == 0 && a->pictures)
        rc = s4_draw(&job, a->pictures);
    s4_clear(&job);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct s4_args a = {.rings = S4_PAPER_RINGS, .runs = 5};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = check(self, &a);
    return rc == OPT_GO_ON ? do_job(&a) : rc;
}

const struct command cmd_bench_s4 = {
    .name = "bench qiao2015",
    .alias = "bench S4",
    .summary = "Qiao 2015: EPR imaging, on GPU and CPU",
    .usage = "[options]",
    .about =
        "Z. Qiao, G. Redler, B. Epel, Y. Qian, H. Halpern: Implementation of GPU-accelerated back "
        "projection for EPR imaging. Journal of X-Ray Science and Technology, 2015, "
        "doi:10.3233/XST-150498.\n"
        "Backprojection of 208 filtered projections of a bottle. GS is the GPU in one stage: the "
        "paper's kernel in double, with its own launch. CM is the CPU in two stages, after the "
        "rings of directions are resampled to equal linear angles, which it needs. CS is the CPU "
        "in one stage. All have the same projections. Rows named plan are fbp's own method in one "
        "stage on --device.\n"
        "Table 1: seconds and factors; the host waits for the kernel. A second table has the "
        "times as the paper took them, without waiting. Advice: arguments sent or kept on the "
        "card; the kernel with and without its branch. Table 2: limits of the GPU. Registers and "
        "blocks of 32 to 1024 threads. Operations. The published figures are printed beside all "
        "of them. Errors are to double precision in one stage, in units of the greatest value. A "
        "- is a figure that was not measured, such as all of GS without CUDA.",
    .examples = "  fbp bench qiao2015\n"
                "  fbp bench qiao2015 --size 64 --json\n"
                "  fbp bench qiao2015 --pictures .\n",
    COMMAND_OPTS(table),
    .run = run,
};
