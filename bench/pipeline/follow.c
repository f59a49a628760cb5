/* Command `fbp bench follow`: time from the last view of a running scan to the finished volume.  A
 * simulated scanner writes the views in a thread of its own.
 * Used by: bench/commands.c. */
#include "bench/common/jobs.h"
#include "cli.h"
#include "recon.h"

#include "base/math.h"
#include "base/system.h"
#include "fbp/recon.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = 500 };

/* How the views arrive: appended to a headerless file or a MetaImage, or in a file each. */
enum player_form { PLAYER_RAW, PLAYER_MHA, PLAYER_FILES };

struct player {
    const float *views; /* [n_views][rows][columns] */
    size_t n_views, columns, rows;
    double rate; /* views a second */
    enum player_form form;
    char path[440];   /* path as in a scan: a file or a pattern */
    double written;   /* time at which the last view was written (fbp_seconds()); valid after
                         player_end() */
    pthread_t thread; /* the rest is the player's own */
    struct fbp_stopper *reader;
    bool failed;
    int fd, error;
};

static const char *const player_forms[] = {"raw", "mha", "files", NULL};

static size_t view_bytes(const struct player *p)
{
    return p->columns * p->rows * sizeof(float);
}

/* How headerless files are described; type NONE for those with a header. */
static struct fbp_raw player_raw(const struct player *p)
{
    if (p->form == PLAYER_MHA)
        return (struct fbp_raw){0};
    return (struct fbp_raw){.type = FBP_F32, .n = {p->columns, p->rows, p->n_views}};
}

/* The file of view k under its final name, or under the one it is written with. */
static void name_view(char *out, const struct player *p, size_t k, bool final)
{
    const size_t n = (size_t)(strchr(p->path, '%') - p->path);

    snprintf(out, NAME_BYTES, "%.*s%06zu.raw%s", (int)n, p->path, k, final ? "" : ".tmp");
}

static bool put(int fd, const void *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        const ssize_t put = write(fd, (const char *)data + done, n - done);
        if (put < 0 && errno != EINTR)
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

static bool put_header(const struct player *p)
{
    char head[300];
    const int n = snprintf(head, sizeof head,
                           "ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                           "BinaryDataByteOrderMSB = False\nDimSize = %zu %zu %zu\n"
                           "ElementType = MET_FLOAT\nElementDataFile = LOCAL\n",
                           p->columns, p->rows, p->n_views);

    return put(p->fd, head, (size_t)n);
}

static bool put_file(const struct player *p, size_t k)
{
    char name[NAME_BYTES], final[NAME_BYTES];

    name_view(name, p, k, false);
    name_view(final, p, k, true);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const bool good = fd >= 0 && put(fd, p->views + k * p->columns * p->rows, view_bytes(p));

    const int error = errno;
    if (fd >= 0 && close(fd) == 0 && good)
        return rename(name, final) == 0;
    errno = fd >= 0 && good ? errno : error;
    return false;
}

static void sleep_until(double at)
{
    const struct timespec t = {(time_t)at, (long)((at - (double)(time_t)at) * 1e9)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void *play(void *arg)
{
    struct player *p = arg;
    const double start = fbp_seconds();

    for (size_t k = 0; k < p->n_views && !p->failed; k++) {
        sleep_until(start + (double)(k + 1) / p->rate);
        errno = 0;
        p->failed = p->form == PLAYER_FILES
                        ? !put_file(p, k)
                        : !put(p->fd, p->views + k * p->columns * p->rows, view_bytes(p));
        p->error = p->failed ? errno : 0;
    }
    p->written = fbp_seconds();
    if (p->failed)
        fbp_stopper_stop(p->reader);
    return NULL;
}

/* Name the files in a folder, remove those of an earlier scan, and write the header, if any. */
static int player_prepare(struct player *p, const char *folder)
{
    static const char *const names[] = {"live.raw", "live.mha", "live%06d.raw 0 "};
    char name[NAME_BYTES];

    p->fd = -1;
    p->failed = false;
    p->error = 0;
    snprintf(p->path, sizeof p->path, "%s/%s", folder, names[p->form]);
    if (p->form == PLAYER_FILES) {
        for (size_t k = 0; k < p->n_views; k++) {
            name_view(name, p, k, true);
            unlink(name);
        }
        snprintf(p->path + strlen(p->path), sizeof p->path - strlen(p->path), "%zu",
                 p->n_views - 1);
        return 0;
    }
    unlink(p->path);
    p->fd = open(p->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (p->fd < 0 || (p->form == PLAYER_MHA && !put_header(p)))
        return cli_error("%s: cannot write: %s: check the free space and the permissions", p->path,
                         strerror(errno));
    return 0;
}

/* Begin to write, in a thread of its own; an exit status, failures reported.  A failure to write
 * stops the reader, which would wait for views that do not come. */
static int player_begin(struct player *p, struct fbp_stopper *reader)
{
    p->reader = reader;
    if (pthread_create(&p->thread, NULL, play, p) == 0)
        return 0;
    return cli_error("threads: the system grants no more: close other programs");
}

/* Wait until all is written; an exit status. */
static int player_end(struct player *p)
{
    pthread_join(p->thread, NULL);
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    return p->failed
               ? cli_error(
                     "%s: cannot write the views: %s: free some space or choose another --dir",
                     p->path, strerror(p->error))
               : 0;
}

struct follow_args {
    const char *job, *device, *kernel, *directory;
    enum fbp_precision precision;
    unsigned form; /* enum player_form */
    size_t runs, batch, divide;
    int threads;
    double rate;
    bool json, quiet;
};

#define F struct follow_args
static const struct opt table[] = {
    BENCH_JOB(F, "J1"),
    OPT(F, rate, .name = "rate", .arg = "N", .min = 0.1, .max = 1e6, .fallback = "60",
        .help = "number of views written in a second"),
    OPT(F, form, .name = "form", .arg = "NAME", .names = player_forms, .fallback = "raw",
        .help = "how views are written: raw and mha append to one file, headerless or MetaImage; "
                "files writes one file a view"),
    OPT(F, runs, .name = "runs", .arg = "N", .min = 1, .max = 1000, .fallback = "5",
        .help = "number of scans into memory, and again into a file; the median is printed"),
    BENCH_DEVICE(F),
    BENCH_KERNEL(F),
    BENCH_THREADS(F),
    OPT(F, batch, .name = "batch", .arg = "N", .min = 1, .max = 65536, .fallback = "the plan's",
        .help = "compute at most N views at a time"),
    BENCH_DIVIDE(F),
    OPT(F, directory, .name = "dir", .arg = "DIR", .fallback = "$TMPDIR or /tmp",
        .help = "where scan and volume are written"),
    OPT(F, json, .name = "json", .help = "print one JSON object"),
    OPT(F, quiet, .name = "quiet", .letter = 'q', .help = "print only results and errors"),
};
#undef F

/* A scan that the player writes repeatedly, and the measurements. */
struct follow_bench {
    const struct follow_args *args;
    struct workplace place;
    struct fbp_scan scan; /* the scan; its projections are those of the player's files */
    struct player player;
    struct fbp_recon_params params;
    fbp_source *simulated;   /* where the views came from */
    float *views;            /* all of them */
    float *expected, *found; /* volume of the ordinary run, and a volume to compare with it */
    double ordinary;         /* seconds of a run from the complete file into memory */
    double *memory, *file;   /* seconds per run, after the last view was written */
    struct fbp_plan_summary info;
    size_t n_batches, last_batch; /* of the last run */
    double noticed;               /* seconds until the last run noticed its last view */
    bool same;                    /* all volumes have the same bits */
};

static int simulate(struct follow_bench *b)
{
    const struct follow_args *a = b->args;
    const struct bench_job j = bench_job_divided(bench_job_find(a->job), a->divide);
    struct simulate_args s = simulate_defaults;

    s.size = j.size;
    s.views = j.views;
    s.detector[0] = j.columns;
    s.detector[1] = j.rows;
    s.pitch_mm = j.pitch_mm;
    s.voxel_mm = j.voxel_mm;
    s.output = b->place.scan;
    s.threads = a->threads;
    s.quiet = a->quiet;
    return bench_simulate(&s);
}

/* The simulated views into memory, from where the player writes them. */
static int load(struct follow_bench *b)
{
    size_t n;

    if (fbp_scan_load(&b->scan, b->place.scan, NULL) != FBP_OK)
        return cli_fail();
    n = b->scan.panel.n_columns * b->scan.panel.n_rows * b->scan.n_views;
    b->views = malloc(n * sizeof *b->views);
    if (!b->views)
        return cli_error("out of memory for the views: choose a larger --divide");
    fbp_status st = fbp_source_open(&b->simulated, b->scan.projections, &b->scan.raw);
    if (st == FBP_OK)
        st = fbp_source_read(b->simulated, 0, b->scan.n_views, 0, b->scan.panel.n_rows, FBP_F32,
                             b->views);
    b->player = (struct player){.views = b->views,
                                .n_views = b->scan.n_views,
                                .columns = b->scan.panel.n_columns,
                                .rows = b->scan.panel.n_rows,
                                .rate = b->args->rate,
                                .form = (enum player_form)b->args->form};
    return st == FBP_OK ? 0 : cli_fail();
}

/* A plan for the files that the player is about to write; its devices opened. */
static int make_plan(struct follow_bench *b, fbp_plan **plan)
{
    if (player_prepare(&b->player, b->place.dir))
        return 1;
    free(b->scan.projections);
    b->scan.projections = strdup(b->player.path);
    b->scan.raw = player_raw(&b->player);
    if (!b->scan.projections)
        return cli_error("out of memory for a path: close other programs");
    if (fbp_plan_create(plan, &b->scan, &b->params) != FBP_OK || fbp_plan_open(*plan) != FBP_OK)
        return cli_fail();
    return 0;
}

/* Play and follow; seconds from the last view to the end of the run. */
static int play_to(struct follow_bench *b, fbp_plan *plan, fbp_sink *sink, double *seconds)
{
    struct fbp_report report = {.struct_size = sizeof report};

    struct fbp_stopper stopper = {.stopped = false};

    if (player_begin(&b->player, &stopper))
        return 1;
    fbp_stopper_attach(&stopper);
    const fbp_status st = sink ? fbp_plan_run_to(plan, NULL, sink, &report)
                               : fbp_plan_run(plan, b->place.volume, &report);
    const double end = fbp_seconds();
    fbp_stopper_attach(NULL);
    const int rc = player_end(&b->player);
    if (rc == 0 && st != FBP_OK)
        return cli_fail();
    *seconds = end - b->player.written;
    b->noticed = *seconds - report.output_after_last_view;
    b->n_batches = report.n_batches;
    b->last_batch = report.last_batch;
    return rc;
}

static size_t n_voxels(const struct follow_bench *b)
{
    return b->info.volume.n[0] * b->info.volume.n[1] * b->info.volume.n[2];
}

/* Allocate memory for the volume of a plan, and touch its pages, so that page faults are not timed.
 */
static int make_volume(const struct follow_bench *b, fbp_plan *plan, float **volume)
{
    if (fbp_plan_alloc(plan, n_voxels(b) * sizeof **volume, (void **)volume) != FBP_OK)
        return cli_fail();
    memset(*volume, 0, n_voxels(b) * sizeof **volume);
    return 0;
}

static int into_memory(struct follow_bench *b, double *seconds)
{
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    float *volume = NULL;
    int rc = make_plan(b, &plan);

    if (rc == 0)
        rc = make_volume(b, plan, &volume);
    if (rc == 0 && fbp_sink_memory(&sink, volume, FBP_F32, b->info.volume.n) != FBP_OK)
        rc = cli_fail();
    if (rc == 0)
        rc = play_to(b, plan, sink, seconds);
    if (rc == 0)
        b->same &= memcmp(volume, b->expected, n_voxels(b) * sizeof *volume) == 0;
    fbp_sink_close(&sink);
    if (plan)
        fbp_plan_release(plan, volume);
    fbp_plan_destroy(&plan);
    return rc;
}

/* The values of the file that was written. */
static int compare_file(struct follow_bench *b)
{
    const size_t *n = b->info.volume.n;
    fbp_source *source = NULL;
    const bool read = fbp_source_open(&source, b->place.volume, NULL) == FBP_OK &&
                      fbp_source_read(source, 0, n[2], 0, n[1], FBP_F32, b->found) == FBP_OK;
    const int rc = read ? 0 : cli_fail();

    if (read)
        b->same &= memcmp(b->found, b->expected, n_voxels(b) * sizeof *b->found) == 0;
    fbp_source_close(&source);
    return rc;
}

static int into_file(struct follow_bench *b, double *seconds)
{
    fbp_plan *plan = NULL;
    int rc = make_plan(b, &plan);

    if (rc == 0)
        rc = play_to(b, plan, NULL, seconds);
    if (rc == 0)
        rc = compare_file(b);
    fbp_plan_destroy(&plan);
    return rc;
}

/* Make an ordinary plan of the simulated scan, with the kernel that following chooses. */
static int make_ordinary_plan(struct follow_bench *b, fbp_plan **plan)
{
    struct fbp_recon_params params = b->params;
    int rc = make_plan(b, plan);

    if (rc == 0)
        b->info = *fbp_plan_info(*plan);
    fbp_plan_destroy(plan);
    if (rc)
        return rc;
    b->expected = malloc(n_voxels(b) * sizeof *b->expected);
    b->found = malloc(n_voxels(b) * sizeof *b->found);
    if (!b->expected || !b->found)
        return cli_error("out of memory for a volume: choose a larger --divide");
    params.input.follow = false;
    params.tuning.kernel = b->info.kernel;
    params.input.source = b->simulated;
    if (fbp_plan_create(plan, &b->scan, &params) != FBP_OK || fbp_plan_open(*plan) != FBP_OK)
        return cli_fail();
    return 0;
}

static int run_once(const struct follow_bench *b, fbp_plan *plan, float *volume, double *seconds)
{
    struct fbp_report report = {.struct_size = sizeof report};
    fbp_sink *sink = NULL;
    int rc = 0;

    if (fbp_sink_memory(&sink, volume, FBP_F32, b->info.volume.n) != FBP_OK ||
        fbp_plan_run_to(plan, NULL, sink, &report) != FBP_OK)
        rc = cli_fail();
    *seconds = report.total;
    fbp_sink_close(&sink);
    return rc;
}

/* Run the ordinary plan twice, to compare volumes with; the second run, with all buffers allocated,
 * is timed. */
static int run_ordinary(struct follow_bench *b)
{
    fbp_plan *plan = NULL;
    float *volume = NULL;
    int rc = make_ordinary_plan(b, &plan);

    if (rc == 0)
        rc = make_volume(b, plan, &volume);
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = run_once(b, plan, volume, &b->ordinary);
    if (rc == 0)
        memcpy(b->expected, volume, n_voxels(b) * sizeof *volume);
    if (plan)
        fbp_plan_release(plan, volume);
    fbp_plan_destroy(&plan);
    return rc;
}

static int measure(struct follow_bench *b)
{
    const size_t n = b->args->runs;
    int rc = run_ordinary(b);

    if (rc != 0)
        return rc;
    b->memory = calloc(2 * n, sizeof *b->memory);
    if (!b->memory)
        return cli_error("out of memory for the times of %zu runs: choose fewer --runs", n);
    b->file = b->memory + n;
    b->same = true;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = into_memory(b, &b->memory[i]);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = into_file(b, &b->file[i]);
    fbp_sort(b->memory, n);
    fbp_sort(b->file, n);
    return rc;
}

static int print_json(const struct follow_bench *b)
{
    const size_t n = b->args->runs;
    const struct cli_number numbers[] = {
        {"rate", b->args->rate},
        {"views", (double)b->player.n_views},
        {"runs", (double)n},
        {"batches", (double)b->n_batches},
        {"last_batch", (double)b->last_batch},
        {"noticed", b->noticed},
        {"seconds", b->memory[n / 2]},
        {"best", b->memory[0]},
        {"worst", b->memory[n - 1]},
        {"file", b->file[n / 2]},
        {"file_best", b->file[0]},
        {"file_worst", b->file[n - 1]},
        {"ordinary", b->ordinary},
        {"gups", (double)b->info.updates * b->args->rate / (double)b->player.n_views * 1e-9},
    };
    cJSON *root =
        bench_json_begin("follow", b->args->job, b->info.backend, b->info.kernel, b->info.isa);

    cJSON_AddNumberToObject(root, "threads", b->info.n_threads);
    cJSON_AddStringToObject(root, "form", player_forms[b->args->form]);
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    cJSON_AddBoolToObject(root, "same", b->same);
    return cli_json(root, true);
}

static void print_line(const char *what, const double *seconds, size_t n)
{
    printf("%-10s %9.1f %9.1f %9.1f\n", what, 1e3 * seconds[n / 2], 1e3 * seconds[0],
           1e3 * seconds[n - 1]);
}

static int print_text(const struct follow_bench *b)
{
    const size_t n = b->args->runs;
    char text[200];

    printf("%s, %g views/s as %s\n%s\n%zu batches, the last of %zu views\n\n%-10s %9s %9s %9s\n",
           b->args->job, b->args->rate, player_forms[b->args->form],
           plan_device(text, sizeof text, &b->info), b->n_batches, b->last_batch, "after [ms]",
           "median", "best", "worst");
    print_line("memory", b->memory, n);
    print_line("file", b->file, n);
    printf("\nall views there at the start: %.1f ms\nvolumes: %s\n", 1e3 * b->ordinary,
           b->same ? "the same bits" : "NOT the same bits");
    return 0;
}

static void clean_up(struct follow_bench *b)
{
    fbp_scan_clear(&b->scan);
    fbp_source_close(&b->simulated);
    free(b->views);
    free(b->expected);
    free(b->found);
    free(b->memory);
    workplace_remove(&b->place);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct follow_args a = {.job = "J1", .runs = 5, .divide = 1, .rate = 60};
    struct follow_bench b = {.args = &a, .scan = {.struct_size = sizeof b.scan}};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = bench_job_check(self, a.job);
    if (rc != OPT_GO_ON)
        return rc;
    if (workplace_make(&b.place, a.directory))
        return 1;
    b.params =
        *fbp_recon_params(.device = a.device, .n_threads = a.threads, .precision = a.precision,
                          .tuning.kernel = a.kernel, .tuning.batch_views = a.batch,
                          .input.follow = true, .input.follow_timeout_s = 60);
    rc = simulate(&b);
    if (rc == 0)
        rc = load(&b);
    if (rc == 0)
        rc = measure(&b);
    if (rc == 0)
        rc = (a.json ? print_json : print_text)(&b);
    if (rc == 0 && !b.same)
        rc =
            cli_error("follow: the volume differs from that of an ordinary run: report this error");
    clean_up(&b);
    return rc;
}

const struct command cmd_bench_follow = {
    .name = "bench follow",
    .summary = "time from the last view of a running scan to its volume",
    .usage = "[options]",
    .about = "Simulates a scanner that writes views of a full circle at a given rate, and "
             "reconstructs meanwhile: into memory, and into a file that is flushed to disk. "
             "Times start when the last view has been written. The volumes are compared, bit for "
             "bit, with that of an ordinary run of the same kernel.",
    .examples = "  fbp bench follow --device cuda --rate 60\n"
                "  fbp bench follow --divide 4 --form files --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
