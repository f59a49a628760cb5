/* Command `fbp bench ino2009`: options, and the order of the measurements of Ino, Yoshida and
 * Hagihara (2009).
 * Used by: bench/commands.c. */
#include "bench/common/jobs.h"
#include "bench/papers/ino2009/text.h"
#include "say.h"

#include "backend/backend.h"

#include <math.h>
#include <string.h>

struct s3_args {
    const char *variant, *device, *pictures;
    size_t size, views, runs;
    double seconds;
    int threads;
    bool brief, json, quiet;
};

#define S struct s3_args
static const struct opt table[] = {
    OPT(S, variant, .name = "variant", .arg = "A|B|C|D|E|F|G|M", .fallback = "all",
        .help = "measure only this one"),
    OPT(S, size, .name = "size", .arg = "N", .min = 8, .max = 4096, .fallback = "512",
        .help = "N^3 voxels from views of N x N pixels"),
    OPT(S, views, .name = "views", .arg = "K", .min = 3, .max = 65536, .fallback = "360",
        .help = "number of views"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "1",
        .help = "number of measurements; the fastest is printed"),
    OPT(S, seconds, .name = "seconds", .arg = "S", .min = 0, .max = 1e6, .fallback = "0.5",
        .help = "draw fewer slices if a backprojection would take longer, and extrapolate its "
                "seconds; 0: always draw all"),
    OPT(S, brief, .name = "brief",
        .help = "measure only Tables 2 and 3: no ping-pong, exact interpolation, early fragment "
                "kill and packing on the device"),
    OPT(S, device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "gl",
        .help = "renderer; fbp devices lists them"),
    BENCH_THREADS(S),
    OPT(S, pictures, .name = "pictures", .arg = "DIR",
        .help = "draw into this folder: Fig. 5, and the projections of Fig. 6 from the device and "
                "the CPU, and their difference"),
    OPT(S, json, .name = "json",
        .help = "print one JSON object with a measurement for each variant"),
    OPT(S, quiet, .name = "quiet", .letter = 'q', .help = "print only results and errors"),
};
#undef S

static size_t find_variant(const fbp_s3 *s3, char letter)
{
    size_t i = 0;

    while (fbp_s3_variant_at(s3, i)->letter != letter)
        i++;
    return i;
}

static bool is_asked(const struct s3_args *a, char letter)
{
    return !a->variant || a->variant[0] == letter;
}

/* Measure the variants that are not in the paper. Filtered views with four views per texel stay on
 * the device; `there`: they are on the device already. */
static int measure_more(const struct s3_args *a, const struct s3_how *how, fbp_s3 *s3, bool there,
                        struct s3_job *job)
{
    static const char letters[S3_MORE + 1] = "FGMCDEFGM"; /* from C on in fp16 */
    enum { HALF = 3 };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < S3_MORE; i++) {
        there &= i != HALF;
        if (!is_asked(a, letters[i]))
            continue;
        rc = s3_measure_alone(how, s3, find_variant(s3, letters[i]), i >= HALF, there,
                              &job->more[i]);
        there = true;
    }
    return rc;
}

static int measure_all(const struct s3_args *a, fbp_s3 *s3, const struct fbp_scan *scan,
                       struct s3_job *job)
{
    const struct s3_how how = {.size = a->size,
                               .views = a->views,
                               .runs = a->runs,
                               .seconds = a->seconds,
                               .brief = a->brief,
                               .quiet = a->quiet,
                               .silent = a->json};
    bool there = false;
    int rc = 0;

    job->renderer = fbp_s3_renderer(s3);
    if (fbp_s3_measure(s3, &job->limits) != FBP_OK)
        return cli_fail();
    for (size_t i = 0; rc == 0 && i < S3_VARIANTS; i++)
        if (is_asked(a, (char)('A' + i))) {
            rc = s3_measure(&how, s3, i, &job->results[i]);
            there = fbp_s3_variant_at(s3, i)->views > 1;
        }
    if (rc == 0)
        rc = measure_more(a, &how, s3, there, job);
    if (rc == 0 && a->json)
        rc = s3_json(job);
    else if (rc == 0)
        s3_print(job);
    if (rc == 0 && a->pictures)
        rc =
            s3_draw(job, s3, find_variant(s3, *(a->variant ? a->variant : "E")), scan, a->pictures);
    return rc;
}

static int do_job(const struct s3_args *a)
{
    const struct bench_job of = {.views = a->views,
                                 .columns = a->size,
                                 .rows = a->size,
                                 .size = a->size,
                                 .pitch_mm = 409.6 / (double)a->size,
                                 .voxel_mm = 256 / (double)a->size};
    const struct fbp_s3_params p = {
        .struct_size = sizeof p, .device = a->device, .n_threads = a->threads};
    struct s3_job job = {.size = a->size, .views = a->views, .runs = a->runs, .silent = a->json};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_s3 *s3 = NULL;

    if (!fbp_s3_draws(a->device) && !a->json && !a->pictures) {
        s3_print(&job);
        return 0;
    }
    int rc = bench_job_scan(&of, &scan);

    if (rc == 0 && fbp_s3_open(&s3, &scan, &p) != FBP_OK)
        rc = cli_fail();
    if (rc == 0)
        rc = measure_all(a, s3, &scan, &job);
    fbp_s3_close(&s3);
    fbp_scan_clear(&scan);
    return rc;
}

static int check(const struct command *self, const struct s3_args *a)
{
    if (a->variant && (strlen(a->variant) != 1 || !strchr("ABCDEFGM", a->variant[0])))
        return opt_usage(self, "--variant: expected A, B, C, D, E, F, G or M, got \"%s\"",
                         a->variant);
    return bench_check_pictures(a->pictures);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct s3_args a = {.size = S3_PAPER_SIZE, .views = S3_PAPER_VIEWS, .runs = 1, .seconds = 0.5};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = check(self, &a);
    return rc == OPT_GO_ON ? do_job(&a) : rc;
}

const struct command cmd_bench_s3 = {
    .name = "bench ino2009",
    .alias = "bench S3",
    .summary = "Ino 2009: the same job in the graphics pipeline of OpenGL",
    .usage = "[options]",
    .about =
        "F. Ino, S. Yoshida, K. Hagihara: RGBA Packing for Fast Cone Beam Reconstruction on the "
        "GPU. Medical Imaging 2009: Physics of Medical Imaging, Proc. SPIE 7258, 2009.\n"
        "Runs the paper's job: filtered backprojection as drawing into floating-point targets. "
        "Variant A draws one view into one slice per pass; B draws it into four slices, which "
        "share the terms that do not depend on z; C draws four views, packed in one RGBA texel, "
        "into one slice; D does both; E also moves the terms that are linear in x and y to the "
        "vertex stage. Three variants are not in the paper: F is E with sixteen slices; G is D "
        "with eight views; M has sixteen slices and takes any 3x4 matrices. These and C to E are "
        "also drawn from views in fp16 (RGBA16F). Rows are filtered in the fragment stage with "
        "the Shepp-Logan kernel.\n"
        "Table 1: passes of each variant. Table 2: seconds of the stages, each waited for, and of "
        "the whole job with and without waiting. Other methods: ping-pong textures instead of "
        "blending, interpolation by four fetches, early fragment kill by stencil and by depth, "
        "packing on the device. Table 3: operations and bytes per second, by the paper's rules "
        "and by those of this program. The published figures are printed beside all of them.\n"
        "A line with the main figures is printed when a variant is done. If a backprojection "
        "would take longer than --seconds, some slices in the middle of the volume are drawn "
        "(row \"slices drawn\"), and backprojection, readback, unpacking and the totals are "
        "extrapolated to all slices; fixed costs are counted once. All views are always packed, "
        "sent and filtered. On a software renderer that alone takes minutes: use --size and "
        "--views. The views show a head phantom; errors are relative to double precision.",
    .examples = "  fbp bench ino2009 --size 64 --views 64 --runs 2\n"
                "  fbp bench ino2009 --variant D --brief --json\n"
                "  fbp bench ino2009 --pictures .\n",
    COMMAND_OPTS(table),
    .run = run,
};
