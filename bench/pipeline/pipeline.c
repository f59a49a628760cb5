/* Command `fbp bench pipeline`: a whole reconstruction from file to file, stage by stage.
 * Used by: bench/commands.c. */
#include "bench/common/bench.h"
#include "recon.h"

#include "base/text.h"

struct bench_args {
    const char *scan, *device, *directory;
    size_t size, views, memory;
    int threads;
    bool json, quiet;
};

#define B struct bench_args
static const struct opt table[] = {
    OPT(B, scan, .name = "scan.json", .positional = true,
        .help = "scan to time; without it, a scan is simulated, and removed at the end"),
    OPT(B, size, .name = "size", .arg = "N", .min = 1, .max = 65536, .fallback = "256",
        .help = "the volume is a cube with N voxels on each side; a given scan has its own volume"),
    OPT(B, views, .name = "views", .arg = "K", .min = 1, .max = 1e6, .fallback = "360",
        .help = "number of simulated projections"),
    BENCH_DEVICE(B),
    BENCH_THREADS(B),
    BENCH_MEMORY(B),
    OPT(B, directory, .name = "dir", .arg = "DIR", .fallback = "$TMPDIR or /tmp",
        .help = "where the temporary scan and volume are written: the disk that is timed"),
    OPT(B, json, .name = "json", .help = "print one JSON object"),
    OPT(B, quiet, .name = "quiet", .letter = 'q', .help = "print only results and errors"),
};
#undef B

static int make_input(const struct bench_args *a, struct workplace *w)
{
    struct simulate_args s = simulate_defaults;

    s.size = a->size ? a->size : 256;
    s.views = a->views;
    s.threads = a->threads;
    s.output = w->scan;
    s.quiet = a->quiet;
    return bench_simulate(&s);
}

static void case_name(char *buf, size_t n, const struct fbp_scan *scan,
                      const struct fbp_plan_summary *p)
{
    const size_t *v = p->volume.n;

    snprintf(buf, n, "%zux%zux%zu from %zux%zux%zu", v[0], v[1], v[2], scan->n_views,
             scan->panel.n_columns, scan->panel.n_rows);
}

static int print_json(const char *name, const struct fbp_plan_summary *p,
                      const struct fbp_report *r)
{
    cJSON *root = bench_json_begin("pipeline", name, p->backend, p->kernel, p->isa);

    cJSON_AddNumberToObject(root, "threads", p->n_threads);
    cJSON_AddNumberToObject(root, "seconds", r->total);
    cJSON_AddNumberToObject(root, "gups", r->gups);
    cJSON *stages = cJSON_AddObjectToObject(root, "stages");
    cJSON_AddNumberToObject(stages, "open", r->open);
    cJSON_AddNumberToObject(stages, "read", r->read);
    cJSON_AddNumberToObject(stages, "filter", r->filter);
    cJSON_AddNumberToObject(stages, "backproject", r->backproject);
    cJSON_AddNumberToObject(stages, "write", r->write);
    cJSON_AddNumberToObject(root, "read_overlap", bench_overlap(r->read, r->waiting_read));
    cJSON_AddNumberToObject(root, "write_overlap", bench_overlap(r->write, r->waiting_write));
    cJSON_AddNumberToObject(root, "memory_peak_bytes", (double)cli_peak_bytes());
    return cli_json(root, true);
}

static int print_text(const char *name, const struct fbp_plan_summary *p,
                      const struct fbp_report *r)
{
    const struct {
        const char *stage;
        double busy, waiting;
    } rows[] = {
        {"open", r->open, -1},
        {"read", r->read, r->waiting_read},
        {"filter", r->filter, -1},
        {"backproject", r->backproject, -1},
        {"write", r->write, r->waiting_write},
    };
    char text[200];

    printf("%s\n%s\n\n%-12s %10s %10s %10s\n", name, plan_device(text, sizeof text, p), "stage",
           "busy [s]", "waits [s]", "overlap");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        printf("%-12s %10.3f", rows[i].stage, rows[i].busy);
        if (rows[i].waiting >= 0)
            printf(" %10.3f %9.0f%%", rows[i].waiting,
                   100 * bench_overlap(rows[i].busy, rows[i].waiting));
        putchar('\n');
    }
    printf("%-12s %10.3f\n\n%.3f GUPS, peak memory %s\n", "all", r->total, r->gups,
           fbp_bytes_text(text, sizeof text, cli_peak_bytes()));
    return 0;
}

static int measure(const struct bench_args *a, struct workplace *w)
{
    struct progress progress;
    struct recon_args r = {
        RECON_ARGS,
        .p = *fbp_recon_params(.device = a->device, .n_threads = a->threads,
                               .memory_bytes = a->memory, .callbacks.progress = progress_update,
                               .callbacks.log = progress_log, .callbacks.user = &progress),
        .scan = a->scan ? a->scan : w->scan,
    };
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_report report = {.struct_size = sizeof report};
    fbp_plan *plan;
    char name[120];

    if (a->scan && a->size)
        r.size[0] = r.size[1] = r.size[2] = a->size;
    progress_start(&progress, a->views, a->quiet);
    int rc = recon_prepare(&r, &scan, &plan);
    if (rc == 0) {
        rc = fbp_plan_run(plan, w->volume, &report) == FBP_OK ? 0 : 1;
        progress_end(&progress);
        case_name(name, sizeof name, &scan, fbp_plan_info(plan));
        rc = rc ? cli_fail()
                : (a->json ? print_json : print_text)(name, fbp_plan_info(plan), &report);
    }
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct bench_args a = {.views = 360};
    struct workplace w;
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (workplace_make(&w, a.directory))
        return 1;
    rc = a.scan ? 0 : make_input(&a, &w);
    if (rc == 0)
        rc = measure(&a, &w);
    workplace_remove(&w);
    return rc;
}

const struct command cmd_bench_pipeline = {
    .name = "bench pipeline",
    .summary = "time a reconstruction stage by stage, from disk to disk",
    .usage = "[scan.json] [options]",
    .about = "The stages overlap: their times add up to more than the whole. The overlap of "
             "reading and of writing is the part of their time in which computing did not wait "
             "for them.",
    .examples = "  fbp bench pipeline\n"
                "  fbp bench pipeline --size 512 --views 720 --memory 1G --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
