#include "bench/papers/qiao2015/text.h"
#include "say.h"

#include "backend/backend.h"

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
        .help = "samples of a projection; the paper's kernel needs an even number"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "5",
        .help = "number of measurements; the fastest is printed"),
    OPT(S, device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "cuda",
        .help = "the GPU; fbp devices lists them. The kernels of the paper's arguments are of cuda "
                "alone"),
    BENCH_THREADS(S),
    OPT(S, pictures, .name = "pictures", .arg = "DIR",
        .help = "draw into this folder: Figs. 1 to 3, and slices and profiles of GS, CM and CS and "
                "their differences (Figs. 4 and 5)"),
    OPT(S, json, .name = "json",
        .help = "print one JSON object with a measurement for each size and way"),
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
    if (a->size % 2)
        return opt_usage(self, "--size: the paper's kernel needs an even number, got %zu: give %zu",
                         a->size, a->size + 1);
    return bench_check_pictures(a->pictures);
}

/* Is there the GPU that was asked for?  Another name than that of a device is a mistake. */
static int find_gpu(struct s4_job *job)
{
    static struct fbp_device_info list[64] = {{.struct_size = sizeof *list}};
    const size_t kind = strcspn(job->device, ":"), n = fbp_devices(list, 64);
    size_t known = 0;

    for (size_t i = 0; fbp_device_name(i); i++)
        known += strncmp(fbp_device_name(i), job->device, kind) == 0 &&
                 strlen(fbp_device_name(i)) == kind;
    if (!known)
        return cli_error("device: \"%s\" is not in this build: see fbp devices", job->device);
    for (size_t i = 0; i < n && i < 64; i++)
        if (strncmp(list[i].name, job->device, kind) == 0 && strcspn(list[i].name, ":") == kind &&
            !list[i].reason[0])
            job->has_gpu = true;
    job->has_cuda = job->has_gpu && kind == 4 && strncmp(job->device, "cuda", kind) == 0;
    if (!job->has_gpu)
        say_note(job->quiet, "there is no GPU (%s): its columns are -", job->device);
    if (job->has_cuda && fbp_s4_gpu(&job->gpu) != FBP_OK)
        return cli_fail();
    return 0;
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
    int rc = find_gpu(&job);

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
        "The job of Qiao, Redler, Epel, Qian and Halpern (2015): backprojection of 208 filtered "
        "projections of a bottle. GS is the GPU in one stage: the paper's kernel, in double, with "
        "its own launch; the same without its faults (sums in registers, no branch); and what a "
        "plan takes. CM is the CPU in two stages, from directions of equal linear angle, which it "
        "needs; CS the CPU in one.\n"
        "Table 1: seconds of all, GS computed and gathered apart, the host waiting for the kernel; "
        "beside it the paper's way, which took the launch for computing time. Table 2: the GPU. "
        "Blocks of 32 to 1024 threads: how many threads a multiprocessor has as the paper counts, "
        "as registers allow, and counted. Operations. The published figures are printed beside all "
        "of them. Errors are to double precision on the same projections, as parts of the greatest "
        "value. Without a GPU its columns are -.",
    .examples = "  fbp bench qiao2015\n"
                "  fbp bench qiao2015 --size 64 --json\n"
                "  fbp bench qiao2015 --pictures .\n",
    COMMAND_OPTS(table),
    .run = run,
};
