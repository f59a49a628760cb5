/* Command `fbp bench okitsu2008`: options, and the order of the measurements of Okitsu, Ino and
 * Hagihara (2008).
 * Used by: bench/commands.c. */
#include "bench/papers/okitsu2008/text.h"

#include "base/system.h"
#include "bench/common/modules.h"

#include <math.h>
#include <string.h>

#define S struct s0_args
static const struct opt table[] = {
    OPT(S, name, .name = "case", .arg = "NAME", .fallback = "all that the device has",
        .help = "fft: filter by FFT; spatial: the paper's filter, with half-width N/2; matrix: "
                "filter by FFT, the scan given as 3x4 matrices; paper: filter and kernel of the "
                "paper (CUDA); ladder: tables 3 and 4 (CUDA)"),
    OPT(S, sweep, .name = "sweep",
        .help = "after table 4, also omit its steps one by one, and try I = 1 ... 6 views per "
                "sum with J = 1, 2, 4 sums per launch"),
    OPT(S, size, .name = "size", .arg = "N", .min = 8, .max = 4096, .fallback = "512",
        .help = "N^3 voxels from views of N x N pixels"),
    OPT(S, views, .name = "views", .arg = "K", .min = 3, .max = 1e6, .fallback = "360",
        .help = "number of simulated projections"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "1",
        .help = "number of measurements; the fastest is printed"),
    BENCH_DEVICE(S),
    BENCH_THREADS(S),
    BENCH_MEMORY(S),
    OPT(S, pictures, .name = "pictures", .arg = "DIR",
        .help = "write pictures into this folder: the middle slice from the device and from ref "
                "(Fig. 6), and their difference"),
    OPT(S, directory, .name = "dir", .arg = "DIR", .fallback = "$TMPDIR or /tmp",
        .help = "where the temporary scan and volume are written: the disk that is timed"),
    OPT(S, json, .name = "json", .help = "print one JSON object with a measurement for each case"),
    OPT(S, quiet, .name = "quiet", .letter = 'q', .help = "print only results and errors"),
};
#undef S

static const struct s0_case cases[] = {
    {.name = "fft", .text = "filter by FFT"},
    {.name = "spatial", .text = "filter in space", .spatial = true},
    {.name = "matrix", .text = "filter by FFT, any matrices", .matrices = true, .kernel = "matrix"},
    {.name = "paper",
     .text = "filter in space",
     .spatial = true,
     .kernel = "s0",
     .only = "cuda",
     .batch = 24}, /* whole launches of six views */
};

enum { N_CASES = sizeof cases / sizeof *cases };

/* Simulate the paper's scan, and save it as a circle and as one 3x4 matrix per view; both use one
 * array. */
static int make_scans(const struct s0_args *a, const struct workplace *w)
{
    struct simulate_args s = simulate_defaults;
    struct fbp_scan scan = {.struct_size = sizeof scan};

    s.size = s.detector[0] = s.detector[1] = a->size;
    s.views = a->views;
    s.threads = a->threads;
    s.output = w->scan;
    s.quiet = a->quiet;
    int rc = bench_simulate(&s);
    if (rc == 0 && (fbp_scan_load(&scan, w->scan, NULL) != FBP_OK ||
                    fbp_scan_save(&scan, w->matrices, NULL) != FBP_OK))
        rc = cli_fail();
    fbp_scan_clear(&scan);
    return rc;
}

static void take_times(const struct fbp_plan_summary *p, const struct fbp_report *r, bool apart,
                       double prepared, double seconds, struct s0_result *out)
{
    out->backend = p->backend;
    out->kernel = p->kernel;
    out->isa = p->isa;
    out->n_threads = p->n_threads;
    if (apart && seconds < out->apart) {
        struct s0_stages *s = &out->stages;
        out->apart = seconds;
        *s = (struct s0_stages){.init = prepared + r->open,
                                .read = r->read,
                                .packing = NAN,
                                .download = r->upload > 0 ? r->upload : NAN,
                                .filter = r->filter - r->upload,
                                .projections_back = NAN,
                                .backproject = r->backproject,
                                .volume_back = r->fetch > 0 ? r->fetch : NAN,
                                .unpacking = NAN,
                                .write = r->write - r->fetch,
                                .finish = r->finish};
        s->others = seconds - s->init - s->read - r->filter - s->backproject - r->write - s->finish;
    } else if (!apart && seconds < out->seconds) {
        out->seconds = seconds;
        out->gups = 1e-9 * (double)p->updates / seconds;
        out->read_overlap = bench_overlap(r->read, r->waiting_read);
        out->write_overlap = bench_overlap(r->write, r->waiting_write);
        out->peak_bytes = cli_peak_bytes();
    }
}

/* Time an ordinary reconstruction, from opening the scan to renaming the finished file. */
static int time_once(const struct s0_session *s, bool apart, struct s0_result *out)
{
    const double start = fbp_seconds();
    struct recon_args r = s0_arguments(s, out->of, apart);
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_report report = {.struct_size = sizeof report};
    fbp_plan *plan;

    int rc = recon_prepare(&r, &scan, &plan);
    const double prepared = fbp_seconds() - start;
    if (rc == 0) {
        const fbp_status st = fbp_plan_run(plan, s->place->volume, &report);
        const double seconds = fbp_seconds() - start;
        progress_end(s->progress);
        if (st == FBP_OK)
            take_times(fbp_plan_info(plan), &report, apart, prepared, seconds, out);
        else
            rc = st == FBP_ERR_CANCELLED ? cli_error("interrupted") : cli_fail();
    }
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return rc;
}

static int draw(const struct s0_session *s, struct s0_result *out)
{
    struct recon_args r = s0_arguments(s, out->of, false);
    struct fbp_scan scan = {.struct_size = sizeof scan};
    const struct s0_picture picture = {s->a->pictures, s->place->dir, s->place->volume, &scan,
                                       &r.p};

    if (!s->a->pictures)
        return 0;
    int rc = fbp_scan_load(&scan, r.scan, NULL) == FBP_OK ? s0_draw(&picture, out) : cli_fail();
    progress_end(s->progress);
    fbp_scan_clear(&scan);
    return rc;
}

static int measure(const struct s0_session *s, const struct s0_case *kind, struct s0_result *out)
{
    int rc = 0;

    *out = (struct s0_result){.of = kind,
                              .backend = "",
                              .size = s->a->size,
                              .views = s->a->views,
                              .seconds = INFINITY,
                              .apart = INFINITY,
                              .rmse = NAN,
                              .psnr_db = NAN,
                              .max = NAN};
    for (size_t i = 0; rc == 0 && i < s->a->runs; i++) {
        rc = time_once(s, false, out);
        if (rc == 0)
            rc = time_once(s, true, out);
    }
    if (rc == 0)
        rc = draw(s, out);
    return rc == 0 && s->a->json ? s0_print_json(out) : rc;
}

static bool wanted(const struct s0_args *a, const char *name)
{
    return !a->name || strcmp(a->name, name) == 0;
}

/* Measure the case of --case, or all cases that the device supports. */
static int measure_cases(const struct s0_session *s, struct s0_result *results, size_t *n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < N_CASES; i++) {
        const bool can =
            !cases[i].only || *n == 0 || strcmp(results[0].backend, cases[i].only) == 0;
        if (wanted(s->a, cases[i].name) && can)
            rc = measure(s, &cases[i], &results[(*n)++]);
    }
    return rc;
}

/* Why the paper's kernels do not run on this device. */
static const char *why_no_kernels(char *text, size_t n)
{
    struct fbp_device_info d[16] = {{.struct_size = sizeof *d}};
    const size_t n_devices = fbp_devices(d, 16);

    snprintf(text, n, "the paper's kernels need --device cuda");
    for (size_t i = 0; i < n_devices && i < 16; i++)
        if (strcmp(d[i].name, "cuda") == 0 && d[i].reason[0])
            snprintf(text, n, "the paper's kernels need a CUDA device: %s", d[i].reason);
    return text;
}

/* Tables 3 and 4; the published figures alone if the device lacks the kernels. */
static int measure_ladder(const struct s0_session *s, const char *backend)
{
    struct s0_ladder ladder;
    char why[400];

    if (strcmp(backend, "cuda") != 0) {
        if (!s->a->json)
            s0_print_ladder(NULL, why_no_kernels(why, sizeof why));
        return 0;
    }
    const int rc = s0_run_ladder(s, &ladder);
    if (rc == 0 && s->a->json)
        return s0_print_ladder_json(&ladder);
    if (rc == 0)
        s0_print_ladder(&ladder, NULL);
    return rc;
}

static int measure_all(const struct s0_args *a, const struct workplace *w)
{
    struct s0_result results[N_CASES];
    struct progress progress;
    const struct s0_session s = {a, w, &progress};
    const struct fbp_backend *found; /* if there is none, the first run reports it */
    const char *backend = fbp_bench_device(a->device, &found) == FBP_OK ? found->name : "cuda";
    char why[400];
    size_t n = 0;

    if (a->name && strcmp(backend, "cuda") != 0) {
        if (strcmp(a->name, "ladder") == 0 && !a->json)
            return measure_ladder(&s, backend);
        if (strcmp(a->name, "ladder") == 0 || strcmp(a->name, "paper") == 0)
            return cli_error("--case %s: %s", a->name, why_no_kernels(why, sizeof why));
    }
    progress_start(&progress, a->views, a->quiet); /* from here on Ctrl-C cleans up */
    int rc = make_scans(a, w);
    if (rc == 0)
        rc = measure_cases(&s, results, &n);
    if (rc == 0 && n > 0 && !a->json)
        s0_print_tables(results, n);
    if (rc == 0 && wanted(a, "ladder"))
        rc = measure_ladder(&s, n > 0 ? results[0].backend : backend);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct s0_args a = {.size = 512, .views = 360, .runs = 1};
    struct workplace w;
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    bool known = !a.name || strcmp(a.name, "ladder") == 0;
    for (size_t i = 0; !known && i < N_CASES; i++)
        known = strcmp(a.name, cases[i].name) == 0;
    if (!known)
        return opt_usage(self, "--case: expected fft, spatial, matrix, paper or ladder, got \"%s\"",
                         a.name);
    rc = bench_check_pictures(a.pictures);
    if (rc != OPT_GO_ON)
        return rc;
    if (workplace_make(&w, a.directory))
        return 1;
    rc = measure_all(&a, &w);
    workplace_remove(&w);
    return rc;
}

const struct command cmd_bench_s0 = {
    .name = "bench okitsu2008",
    .alias = "bench S0",
    .summary = "Okitsu 2008: 512^3 voxels from 360 views, on one GPU",
    .usage = "[options]",
    .about =
        "Y. Okitsu, F. Ino, K. Hagihara: Accelerating Cone Beam Reconstruction Using the "
        "CUDA-enabled GPU. High Performance Computing (HiPC), LNCS 5374, 2008.\nfbp simulates "
        "the paper's job, reconstructs it from file to file with the Shepp-Logan filter, and "
        "prints the times beside tables 1 and 2 of the paper. The total is the time of an ordinary "
        "run, from opening the scan to "
        "renaming the finished file; reading, computing and writing overlap. The stages are "
        "timed in a second run, one after another. Tables 3 and 4 time the backprojection "
        "kernels of the paper on CUDA devices, with all views and the whole volume; each "
        "error is relative to the volume of the exact kernel. Table 3 applies the paper's rules to "
        "the proposed step; its instructions were counted in the code for the device.",
    .examples = "  fbp bench okitsu2008 --device cpu --pictures .\n"
                "  fbp bench okitsu2008 --case fft --size 256 --runs 3 --json\n"
                "  fbp bench okitsu2008 --device cuda --case ladder --sweep\n",
    COMMAND_OPTS(table),
    .run = run,
};
