/* Command `fbp bench ino2010`: options, and the order of the runs of Ino et al. (2010).
 * Used by: bench/commands.c. */
#include "bench/common/jobs.h"
#include "bench/papers/ino2010/text.h"
#include "say.h"

#include "backend/backend.h"

#include <math.h>
#include <string.h>

struct s2_args {
    const char *name, *device, *kernel, *streams, *directory, *pictures;
    size_t size, views, subvolumes, count, device_memory, memory, runs;
    int threads;
    bool plan, json, quiet;
};

#define S struct s2_args
static const struct opt table[] = {
    OPT(S, name, .name = "case", .arg = "a|b", .fallback = "both; without a GPU a",
        .help = "a: 1024^3 voxels from 720 views of 1024x1024; b: 2048^3 from 720 of 2048x2048"),
    OPT(S, size, .name = "size", .arg = "N", .min = 8, .max = 4096,
        .help = "another job: N^3 voxels from views of NxN"),
    OPT(S, views, .name = "views", .arg = "K", .min = 3, .max = 65536, .fallback = "720",
        .help = "number of views"),
    OPT(S, subvolumes, .name = "subvolumes", .arg = "B", .min = 1, .max = 1 << 24,
        .fallback = "as few as fit",
        .help = "number of boxes that the volume is cut into; the paper has 4 and 64"),
    BENCH_DEVICE(S),
    OPT(S, count, .name = "count", .arg = "1|2|4", .min = 1, .max = 4, .fallback = "all three",
        .help = "measure only with so many devices"),
    OPT(S, streams, .name = "streams", .arg = "on|off|both", .fallback = "both",
        .help = "on: copies and kernels overlap; off: the host waits for each step, which is when "
                "the steps are timed"),
    OPT(S, kernel, .name = "kernel", .arg = "NAME", .list = fbp_kernel_name,
        .fallback = "s2 on cuda, else column or matrix", .help = "backprojection kernel"),
    OPT_BYTE_COUNT(S, device_memory, .name = "device-memory", .arg = "BYTES",
                   .fallback = "90% of what is free",
                   .help = "how much of a device's own memory may be used; the paper's cards have "
                           "4G"),
    OPT_BYTE_COUNT(S, memory, .name = "memory", .arg = "BYTES", .fallback = "80% of what is free",
                   .help = "how much of the host's memory may be used; the paper's has 16G. A "
                           "volume that does not fit beside the views goes to a file"),
    OPT(S, directory, .name = "dir", .arg = "DIR", .fallback = "$TMPDIR or /tmp",
        .help = "where that temporary file is"),
    OPT(S, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "1",
        .help = "number of measurements; the fastest is printed"),
    OPT(S, plan, .name = "plan",
        .help = "only Table 1 with the numbers of the job, and what is "
                "decided; nothing is computed"),
    OPT(S, pictures, .name = "pictures", .arg = "DIR",
        .help = "draw Figs. 3 and 4 into this folder: S2-fig3.svg and S2-fig4.svg"),
    BENCH_THREADS(S),
    OPT(S, json, .name = "json", .help = "print one JSON object with a measurement for each run"),
    OPT(S, quiet, .name = "quiet", .letter = 'q', .help = "print only results and errors"),
};
#undef S

/* The head fills the circle that all views see. */
static int make_scan(const struct s2_result *r, struct fbp_scan *scan)
{
    const struct bench_job job = {
        .views = r->views,
        .columns = r->size,
        .rows = r->size,
        .size = r->size,
        .pitch_mm = 409.6 / (double)r->size,
        .voxel_mm = 256 / (double)r->size,
    };

    return bench_job_scan(&job, scan);
}

static bool wants(const struct s2_args *a, bool streams)
{
    return !a->streams || strcmp(a->streams, streams ? "off" : "on") != 0;
}

/* Measure the fastest run with s2_counts[i] devices into *out, which is in r->apart, r->streams or
 * r->today. */
static int measure_one(const struct s2_args *a, fbp_s2 *s2, struct s2_result *r, size_t i,
                       struct fbp_s2_time *out)
{
    const bool streams = out == &r->streams[i], today = out == &r->today[i];
    const char *how = today ? "fbp today" : streams ? "with streams" : "without streams";
    struct fbp_s2_time t;

    say_note(a->quiet, "%zu^3, C = %zu, %s", r->size, s2_counts[i], how);
    /* The first ordinary run on a device may have to choose the shape of its kernel. */
    for (size_t k = 0; k < a->runs + (today && r->plan.own_memory); k++) {
        if ((today ? fbp_s2_reconstruct(s2, s2_counts[i], &t)
                   : fbp_s2_run(s2, s2_counts[i], streams, &t)) != FBP_OK)
            return cli_fail();
        if (!today && r->hash && t.hash != r->hash)
            return cli_error("ino2010: C = %zu, %s: the volume differs from that of the earlier "
                             "runs: report this error, or check the device",
                             s2_counts[i], how);
        r->hash = today ? r->hash : t.hash;
        if (k == 0 || t.total < out->total)
            *out = t;
    }
    return 0;
}

/* Measure all numbers of devices. today: ordinary reconstructions; false: runs with and without
 * streams. */
static int measure_counts(const struct s2_args *a, fbp_s2 *s2, struct s2_result *r, bool today)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < S2_COUNTS; i++) {
        struct fbp_s2_time *const out[] = {&r->apart[i], &r->streams[i], &r->today[i]};
        for (size_t k = today ? 2 : 0; rc == 0 && k < (today ? 3 : 2); k++)
            if (s2_counts[i] <= r->plan.n_devices && (!a->count || a->count == s2_counts[i]) &&
                (today || wants(a, k == 1)))
                rc = measure_one(a, s2, r, i, out[k]);
    }
    r->plan = *fbp_s2_about(s2);
    return rc;
}

static int show(const struct s2_args *a, const struct s2_result *r)
{
    int rc = 0;

    if (!a->json)
        s2_print_table2(r);
    for (size_t i = 0; rc == 0 && a->json && i < S2_COUNTS; i++) {
        if (r->apart[i].n_devices)
            rc = s2_json_run(r, i, &r->apart[i]);
        if (rc == 0 && r->streams[i].n_devices)
            rc = s2_json_run(r, i, &r->streams[i]);
    }
    return rc == 0 && a->json ? s2_json_error(r) : rc;
}

static int measure(const struct s2_args *a, fbp_s2 *s2, struct s2_result *r)
{
    int rc = a->json ? s2_json_plan(r) : (s2_print_plan(r), 0);

    if (rc || a->plan)
        return rc;
    rc = measure_counts(a, s2, r, false);
    if (rc == 0 && fbp_s2_compare(s2, &r->error) != FBP_OK)
        rc = cli_fail();
    r->compared = rc == 0;
    if (rc == 0)
        rc = measure_counts(a, s2, r, true);
    if (rc)
        return rc;
    const fbp_status st = fbp_bench_limits(r->plan.backend, &r->limits);
    return st == FBP_OK || st == FBP_ERR_UNSUPPORTED ? show(a, r) : cli_fail();
}

/* One job, from its scan to its tables. */
static int do_case(const struct s2_args *a, struct s2_result *r)
{
    const struct fbp_s2_params p = {.device = a->device,
                                    .most_devices = a->count ? a->count : s2_counts[S2_COUNTS - 1],
                                    .kernel = a->kernel,
                                    .subvolumes = a->subvolumes,
                                    .device_memory_bytes = a->device_memory,
                                    .memory_bytes = a->memory,
                                    .folder = bench_folder(a->directory),
                                    .n_threads = a->threads};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_s2 *s2 = NULL;
    int rc = make_scan(r, &scan);

    if (rc == 0 && fbp_s2_open(&s2, &scan, &p) != FBP_OK)
        rc = cli_fail();
    if (rc == 0) {
        r->plan = *fbp_s2_about(s2);
        if (a->count > r->plan.n_devices)
            rc = cli_error(
                "--count: %zu devices were requested, %s has %zu: choose a smaller number",
                a->count, r->plan.backend, r->plan.n_devices);
    }
    if (rc == 0)
        rc = measure(a, s2, r);
    fbp_s2_close(&s2);
    fbp_scan_clear(&scan);
    return rc;
}

static struct s2_result result_of(const struct s2_args *a, size_t i)
{
    const struct s2_published *p = &s2_published[i];
    const bool own = a->size || a->views;
    struct s2_result r = {.of = p,
                          .name = own ? "own" : p->name,
                          .size = a->size ? a->size : p->size,
                          .views = a->views ? a->views : p->views};

    r.is_paper = r.size == p->size && r.views == p->views;
    return r;
}

/* Run the requested cases; without --case both, but only the first on devices without memory of
 * their own. */
static int do_cases(const struct s2_args *a)
{
    struct s2_result results[S2_CASES];
    size_t n = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < S2_CASES; i++) {
        if (a->name && strcmp(a->name, s2_published[i].name) != 0)
            continue;
        if (n > 0 && ((a->size && !a->name) || !results[0].plan.own_memory))
            break;
        if (n > 0 && !a->json)
            putchar('\n');
        results[n] = result_of(a, i);
        rc = do_case(a, &results[n++]);
    }
    if (rc == 0 && !a->plan && !a->json)
        s2_print_table3(results, n);
    if (rc == 0 && !a->plan && a->pictures)
        rc = s2_draw(results, n, a->pictures);
    return rc;
}

static int check(const struct command *self, const struct s2_args *a)
{
    if (a->name && strcmp(a->name, "a") != 0 && strcmp(a->name, "b") != 0)
        return opt_usage(self, "--case: expected a or b, got \"%s\"", a->name);
    if (a->streams && strcmp(a->streams, "on") != 0 && strcmp(a->streams, "off") != 0 &&
        strcmp(a->streams, "both") != 0)
        return opt_usage(self, "--streams: expected on, off or both, got \"%s\"", a->streams);
    if (a->count == 3)
        return opt_usage(self, "--count: expected 1, 2 or 4, got \"3\"");
    return bench_check_pictures(a->pictures);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct s2_args a = {.runs = 1};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = check(self, &a);
    return rc == OPT_GO_ON ? do_cases(&a) : rc;
}

const struct command cmd_bench_s2 = {
    .name = "bench ino2010",
    .alias = "bench S2",
    .summary = "Ino 2010: volumes larger than a GPU, on several GPUs",
    .usage = "[options]",
    .about =
        "F. Ino, Y. Okitsu, T. Kishi, S. Ohnishi, K. Hagihara: Out-of-core cone beam "
        "reconstruction using multiple GPUs. IEEE International Symposium on Biomedical Imaging "
        "(ISBI), 2010, pp. 792-795.\n"
        "The volume is cut along x and y into B boxes of whole z columns. C devices filter K/C "
        "views each (Shepp-Logan filter, in space). The filtered views are gathered in the memory "
        "of the host. Then the devices take the boxes in turns. For each box all views are sent to "
        "its device, I at a time: I = 5 with s2, the kernel of okitsu2008 and the default on CUDA; "
        "I >= 8 with other kernels. Finished boxes are "
        "copied into the whole volume. A volume that does not fit into the memory of the host "
        "goes to a file, and is cut along y alone, into slabs of whole rows.\n"
        "Table 1: work and memory of each of C devices. Table 2: seconds for 1, 2 and 4 devices, "
        "if there are so many, each row of the slowest device; stages are timed without streams. "
        "The lines \"limit\" below it name the part of a run that takes longest if each part "
        "runs alone: views by the rate of sending them to all devices at the same time, computing "
        "and volume as measured without streams. fbp today: an ordinary reconstruction on as many "
        "devices, from memory to memory; it is not measured if the volume is in a file. Table 3: "
        "views/s, normalised to the memory bandwidth of the paper's GPU. The published figures "
        "are printed beside all of them.\n"
        "The views are those of a head phantom. The volume is compared with that of an ordinary "
        "reconstruction by the same kernel, and with one in double precision.",
    .examples = "  fbp bench ino2010 --size 64 --views 90 --device cpu --subvolumes 4\n"
                "  fbp bench ino2010 --plan --device-memory 4G --memory 16G\n"
                "  fbp bench ino2010 --case b --subvolumes 64 --device-memory 4G --memory 16G\n",
    COMMAND_OPTS(table),
    .run = run,
};
