#include "bench/bench_jobs.h"
#include "bench/s3.h"
#include "say.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct s3_args {
    const char *variant, *device, *pictures;
    size_t size, views, runs;
    int threads;
    bool brief, json, quiet;
};

#define S struct s3_args
static const struct opt table[] = {
    OPT(S, variant, .name = "variant", .arg = "A|B|C|D|E|F", .fallback = "all six",
        .help = "measure only this one"),
    OPT(S, size, .name = "size", .arg = "N", .min = 8, .max = 4096, .fallback = "512",
        .help = "N^3 voxels from views of N x N pixels"),
    OPT(S, views, .name = "views", .arg = "K", .min = 3, .max = 65536, .fallback = "360",
        .help = "number of views"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "1",
        .help = "number of measurements; the fastest is printed"),
    OPT(S, brief, .name = "brief",
        .help = "only the way of Tables 2 and 3: no ping-pong, exact interpolation, early fragment "
                "kill and packing on the device"),
    OPT(S, device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "gl",
        .help = "where to draw; fbp devices lists them"),
    BENCH_THREADS(S),
    OPT(S, pictures, .name = "pictures", .arg = "DIR",
        .help = "draw into this folder: Fig. 5, and the projections of Fig. 6 from the device and "
                "the CPU, and their difference"),
    OPT(S, json, .name = "json",
        .help = "print one JSON object with a measurement for each variant"),
    OPT(S, quiet, .name = "quiet", .letter = 'q', .help = "print only results and errors"),
};
#undef S

/* The fastest of several runs in one way, by its backprojection or, not synchronised, in all. */
static int measure(const struct s3_args *a, fbp_s3 *s3, const struct fbp_s3_way *way,
                   struct fbp_s3_time *out)
{
    struct fbp_s3_time t;

    for (size_t i = 0; i < a->runs; i++) {
        if (fbp_s3_run(s3, way, &t) != FBP_OK)
            return cli_fail();
        if (i == 0 || (way->synchronised ? t.backproject < out->backproject : t.total < out->total))
            *out = t;
    }
    return 0;
}

static int compare(fbp_s3 *s3, double *psnr_db)
{
    struct fbp_s3_error error;

    if (fbp_s3_compare(s3, &error) != FBP_OK)
        return cli_fail();
    *psnr_db = error.psnr_db;
    return 0;
}

/* Backprojection in another way, and how exact that was. */
static int measure_other(const struct s3_args *a, fbp_s3 *s3, struct fbp_s3_way way, double *out,
                         double *psnr_db)
{
    struct fbp_s3_time t;
    const int rc = measure(a, s3, &way, &t);

    if (rc == 0)
        *out = t.backproject;
    return rc == 0 && psnr_db ? compare(s3, psnr_db) : rc;
}

/* The whole job with early fragment kill. */
static int measure_kill(const struct s3_args *a, fbp_s3 *s3, struct fbp_s3_way way,
                        struct s3_result *r)
{
    struct fbp_s3_time t;
    int rc;

    way.kill = FBP_S3_STENCIL;
    rc = measure_other(a, s3, way, &r->stencil, NULL);
    way.kill = FBP_S3_DEPTH;
    if (rc == 0)
        rc = measure_other(a, s3, way, &r->depth, NULL);
    way.kill = r->stencil < r->depth ? FBP_S3_STENCIL : FBP_S3_DEPTH;
    way.synchronised = false;
    if (rc == 0)
        rc = measure(a, s3, &way, &t);
    if (rc == 0)
        r->kill_total = t.total;
    return rc;
}

static int measure_ways(const struct s3_args *a, fbp_s3 *s3, const struct fbp_s3_way *usual,
                        struct s3_result *r)
{
    struct fbp_s3_way way = *usual;
    struct fbp_s3_time t;

    way.sum = FBP_S3_PING_PONG;
    int rc = measure_other(a, s3, way, &r->ping_pong, NULL);
    way = *usual;
    way.exact = true;
    if (rc == 0)
        rc = measure_other(a, s3, way, &r->exact, &r->exact_psnr_db);
    way = *usual;
    way.pack_on_device = way.unpack_on_device = true;
    if (rc == 0)
        rc = measure(a, s3, &way, &t);
    if (rc == 0) {
        r->packing = t.packing;
        r->unpacking = t.unpacking;
        rc = measure_kill(a, s3, *usual, r);
    }
    return rc;
}

static int measure_variant(const struct s3_args *a, fbp_s3 *s3, size_t index, struct s3_result *r)
{
    struct fbp_s3_way way = {.variant = index, .synchronised = true};
    struct fbp_s3_time t;

    *r = (struct s3_result){.of = *fbp_s3_variant_at(s3, index),
                            .exact_psnr_db = NAN,
                            .ping_pong = NAN,
                            .exact = NAN,
                            .stencil = NAN,
                            .depth = NAN,
                            .kill_total = NAN,
                            .packing = NAN,
                            .unpacking = NAN};
    say_note(a->quiet, "variant %c: %s", r->of.letter, r->of.text);
    fbp_s3_cost_of(s3, &way, &r->cost);
    int rc = measure(a, s3, &way, &r->time);
    if (rc == 0)
        rc = compare(s3, &r->psnr_db);
    if (rc == 0 && !a->brief)
        rc = measure_ways(a, s3, &way, r);
    way.synchronised = false; /* the last run: its volume is drawn */
    if (rc == 0)
        rc = measure(a, s3, &way, &t);
    r->done = rc == 0;
    if (r->done)
        r->total = t.total;
    return rc;
}

static size_t find_variant(const fbp_s3 *s3, char letter)
{
    size_t i = 0;

    while (fbp_s3_variant_at(s3, i)->letter != letter)
        i++;
    return i;
}

static int measure_all(const struct s3_args *a, fbp_s3 *s3, const struct fbp_scan *scan,
                       struct s3_job *job)
{
    int rc = 0;

    job->renderer = fbp_s3_renderer(s3);
    if (fbp_s3_measure(s3, &job->limits) != FBP_OK)
        return cli_fail();
    for (size_t i = 0; rc == 0 && i < S3_VARIANTS; i++)
        if (!a->variant || a->variant[0] == 'A' + (char)i)
            rc = measure_variant(a, s3, i, &job->results[i]);
    if (rc == 0 && (!a->variant || a->variant[0] == 'F'))
        rc = measure_variant(a, s3, find_variant(s3, 'F'), &job->sixteen);
    if (rc == 0 && a->json)
        rc = s3_json(job);
    else if (rc == 0)
        s3_print(job);
    if (rc == 0 && a->pictures)
        rc = s3_draw(job, s3, scan, a->pictures);
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
    struct s3_job job = {.size = a->size, .views = a->views, .runs = a->runs};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_s3 *s3 = NULL;
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
    if (a->variant && (strlen(a->variant) != 1 || !strchr("ABCDEF", a->variant[0])))
        return opt_usage(self, "--variant: expected A, B, C, D, E or F, got \"%s\"", a->variant);
    if (a->pictures && access(a->pictures, W_OK | X_OK) != 0)
        return cli_error("%s: the folder for --pictures is missing or read-only: create it first",
                         a->pictures);
    return OPT_GO_ON;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct s3_args a = {.size = S3_PAPER_SIZE, .views = S3_PAPER_VIEWS, .runs = 1};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = check(self, &a);
    return rc == OPT_GO_ON ? do_job(&a) : rc;
}

const struct command cmd_bench_s3 = {
    .name = "bench S3",
    .summary = "the job of a paper of 2009, drawn by OpenGL",
    .usage = "[options]",
    .about =
        "The job of Ino, Yoshida and Hagihara (2009): filtered backprojection as drawing into "
        "floating-point targets. Variant A draws one view into one slice a pass; B draws it into "
        "four slices, which share the terms that do not depend on z; C draws four views, which are "
        "one RGBA texel, into one slice; D does both; E also leaves the terms that are linear in x "
        "and y to the vertex stage. F, which is not in the paper, is E with sixteen slices. Rows "
        "are filtered in the fragment stage, by Shepp-Logan's "
        "kernel.\n"
        "Table 1: the passes of each variant. Table 2: seconds of the stages, with the "
        "host waiting after each of them, and of the whole job with and without that. Other ways: "
        "sums that go from one texture to another instead of blending, interpolation by four "
        "fetches, early fragment kill by stencil and by depth, packing on the device. Table 3: "
        "operations and bytes a second. The published figures are printed beside all of them.\n"
        "On a software renderer the whole job takes half an hour: use --size and --views. The "
        "views are those of a head phantom; errors are to double precision.",
    .examples = "  fbp bench S3 --size 64 --views 64 --runs 2\n"
                "  fbp bench S3 --variant D --brief --json\n"
                "  fbp bench S3 --pictures .\n",
    COMMAND_OPTS(table),
    .run = run,
};
