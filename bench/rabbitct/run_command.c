/* Command `fbp rabbitct run`: reconstructs a RabbitCT data set with the loop and the timing of
 * its runner.
 * Used by: bench/commands.c. */
#include "bench/rabbitct/text.h"
#include "cli.h"

#include "bench/rabbitct/feed.h"
#include "recon.h"

#include "array/file/format.h"
#include "backend/backend.h"
#include "base/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct run_args {
    const char *data, *reference, *output, *volume;
    struct fbp_feed_params p;
    size_t size;
    bool prefetch, force, json;
};

#define RUN struct run_args
// clang-format off
static const struct opt table[] = {
    OPT(RUN, data, .name = "data", .positional = true, .required = true,
        .help = "the data set (.rctd, .rct)"),
    OPT(RUN, size, .name = "size", .arg = "L", .min = 128, .max = 1024, .fallback = "512",
        .help = "voxels on each side of the cube of 256 mm: 128, 256, 512 or 1024"),
    OPT(RUN, p.device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "auto",
        .help = "where to compute; fbp devices lists them"),
    OPT(RUN, p.precision, .name = "precision", .arg = "NAME", .list = choices_precision,
        .fallback = "the device's",
        .help = "exact is the most accurate; fast and half can be faster on a GPU"),
    OPT(RUN, p.n_threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores", .help = "number of threads"),
    OPT(RUN, p.batch_views, .name = "batch", .arg = "N", .min = 8, .max = 256, .fallback = "64; cpu 32",
        .help = "number of views computed at a time, a multiple of 8"),
    OPT(RUN, prefetch, .name = "prefetch-all-projections",
        .help = "read all views before the first is computed, not a quarter of them at a time"),
    OPT(RUN, reference, .name = "reference", .arg = "FILE", .fallback = "the data set's",
        .help = "compare with this .vol or data set"),
    OPT(RUN, output, .name = "output", .letter = 'o', .arg = "FILE.rctd",
        .help = "also write what a runner writes: times, a slice, the error"),
    OPT(RUN, volume, .name = "volume", .arg = "FILE.vol",
        .help = "also write the grey values, as float32"),
    FORCE_OPTION(RUN, force),
    OPT(RUN, json, .name = "json", .help = "print one JSON object"),
};
// clang-format on
#undef RUN

/* A run: what it needs and what it found. */
struct run {
    const struct run_args *a;
    struct fbp_rabbitct_info info;
    double *matrices;
    uint16_t *reference; /* NULL: the data set has none */
    fbp_source *source;
    fbp_feed *feed;
    float *views, *volume; /* of the feed */
    size_t n_buffers, n_voxels;
    uint64_t *us;
    double opened, seconds; /* to open the device; of all views */
    struct fbp_rabbitct_error error;
};

static fbp_status open_feed(struct run *r)
{
    const size_t L = r->a->size, image = r->info.n_columns * r->info.n_rows;
    const double voxel = 256.0 / (double)L, start = fbp_seconds();
    struct fbp_feed_params p = r->a->p;
    fbp_status st;

    p.struct_size = sizeof p;
    p.panel = (struct fbp_panel){r->info.n_columns, r->info.n_rows};
    p.volume = (struct fbp_grid){.n = {L, L, L}, .voxel_mm = {voxel, voxel, voxel}};
    p.n_views = r->info.n_views;
    st = fbp_feed_open(&r->feed, &p);
    r->opened = fbp_seconds() - start;
    if (st == FBP_OK)
        st = fbp_feed_alloc(r->feed, r->n_buffers * image * sizeof(float), (void **)&r->views);
    if (st == FBP_OK)
        st = fbp_feed_alloc(r->feed, r->n_voxels * sizeof(float), (void **)&r->volume);
    if (st == FBP_OK) /* touch the pages, so that page faults are not timed */
        memset(r->volume, 0, r->n_voxels * sizeof(float));
    return st;
}

static int prepare(struct run *r)
{
    size_t n_views;

    if (fbp_rabbitct_probe(r->a->data, &r->info) != FBP_OK ||
        fbp_rabbitct_matrices(r->a->data, &r->matrices, &n_views) != FBP_OK ||
        fbp_source_open(&r->source, r->a->data, NULL) != FBP_OK)
        return cli_fail();
    r->n_voxels = r->a->size * r->a->size * r->a->size;
    r->n_buffers = r->a->prefetch ? n_views : (n_views + 3) / 4;
    r->us = calloc(n_views, sizeof *r->us);
    if (!r->us)
        return cli_error("out of memory for the times of %zu views: close other programs", n_views);
    if (r->a->reference || r->info.n_references > 0) {
        r->reference =
            rabbitct_load_reference(r->a->reference ? r->a->reference : r->a->data, r->a->size);
        if (!r->reference)
            return 1;
    }
    return open_feed(r) == FBP_OK ? 0 : cli_fail();
}

static void put_down(struct run *r)
{
    if (r->feed) {
        fbp_feed_release(r->feed, r->views);
        fbp_feed_release(r->feed, r->volume);
    }
    fbp_feed_close(&r->feed);
    fbp_source_close(&r->source);
    free(r->matrices);
    free(r->reference);
    free(r->us);
}

/* Add view k, which is in buffer i of n; after the last view, fetch the volume. */
static fbp_status add_view(struct run *r, size_t k, size_t i, size_t n)
{
    const size_t image = r->info.n_columns * r->info.n_rows;
    const double start = fbp_seconds();
    fbp_status st = fbp_feed_add(r->feed, r->matrices + 12 * k, r->views + i * image, true);

    if (st == FBP_OK && k + 1 == r->info.n_views)
        st = fbp_feed_fetch(r->feed, r->volume);
    else if (st == FBP_OK && i + 1 == n)
        st = fbp_feed_settle(r->feed);
    const double took = fbp_seconds() - start;
    r->us[k] = (uint64_t)(took * 1e6 + 0.5);
    r->seconds += took;
    return st;
}

/* Run as RabbitCT's runner does: read a part of the views, untimed, then add them one by one. */
static fbp_status run_views(struct run *r)
{
    const size_t n = r->info.n_views;

    for (size_t first = 0; first < n; first += r->n_buffers) {
        const size_t part = n - first < r->n_buffers ? n - first : r->n_buffers;
        fbp_status st =
            fbp_source_read(r->source, first, part, 0, r->info.n_rows, FBP_F32, r->views);
        for (size_t i = 0; i < part && st == FBP_OK; i++)
            st = add_view(r, first + i, i, part);
        if (st != FBP_OK)
            return st;
    }
    return fbp_source_unchanged(r->source);
}

/* Convert the volume to grey values, in place. */
static void to_grey(struct run *r)
{
    for (size_t i = 0; i < r->n_voxels; i++)
        r->volume[i] = fbp_rabbitct_hu(r->info.hu, r->volume[i]);
}

static fbp_status write_volume(const struct run *r)
{
    const size_t L = r->a->size;
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {L, L, L}, .type = FBP_F32};
    fbp_sink *sink = NULL;
    fbp_status st = fbp_sink_open(&sink, r->a->volume, &info, NULL);

    if (st == FBP_OK)
        st = fbp_sink_write(sink, 0, L, FBP_F32, r->volume);
    if (st == FBP_OK)
        st = fbp_sink_finish(sink);
    fbp_sink_close(&sink);
    return st;
}

static fbp_status write_files(const struct run *r)
{
    const size_t L = r->a->size;
    const struct fbp_rabbitct_result result = {.version = r->info.version,
                                               .size = L,
                                               .n_views = r->info.n_views,
                                               .us = r->us,
                                               .slice = r->volume + (L / 2 - 1) * L * L,
                                               .error = r->error};
    fbp_status st = r->a->output ? fbp_rabbitct_result_write(r->a->output, &result) : FBP_OK;

    return st == FBP_OK && r->a->volume ? write_volume(r) : st;
}

static double gups(const struct run *r)
{
    return (double)r->n_voxels * (double)r->info.n_views / r->seconds * 1e-9;
}

static int print(const struct run *r)
{
    const char *backend, *kernel, *isa;
    char t[2][24];

    fbp_feed_names(r->feed, &backend, &kernel, &isa);
    printf("%zu^3 voxels from %zu views of %zu x %zu pixels on %s, kernel %s, %s\n", r->a->size,
           r->info.n_views, r->info.n_columns, r->info.n_rows, backend, kernel, isa);
    printf("device opened in %s; views added, and the volume fetched, in %s: %.4g GUPS\n",
           cli_seconds(t[0], sizeof t[0], r->opened), cli_seconds(t[1], sizeof t[1], r->seconds),
           gups(r));
    if (r->reference)
        rabbitct_print(&r->error);
    else
        printf("no reference to compare with: give --reference\n");
    return 0;
}

static int print_json(const struct run *r)
{
    const char *backend, *kernel, *isa;
    cJSON *root = cJSON_CreateObject();

    fbp_feed_names(r->feed, &backend, &kernel, &isa);
    cJSON_AddStringToObject(root, "bench", "rabbitct");
    cJSON_AddNumberToObject(root, "size", (double)r->a->size);
    cJSON_AddNumberToObject(root, "views", (double)r->info.n_views);
    cJSON_AddStringToObject(root, "device", backend);
    cJSON_AddStringToObject(root, "kernel", kernel);
    cJSON_AddStringToObject(root, "isa", isa);
    cJSON_AddNumberToObject(root, "seconds_open", r->opened);
    cJSON_AddNumberToObject(root, "seconds", r->seconds);
    cJSON_AddNumberToObject(root, "gups", gups(r));
    if (r->reference)
        rabbitct_json(root, &r->error);
    return cli_json(root, true);
}

static int finish(struct run *r)
{
    to_grey(r);
    if (r->reference)
        fbp_rabbitct_compare(r->volume, r->reference, r->n_voxels, NULL, &r->error);
    if (write_files(r) != FBP_OK)
        return cli_fail();
    return (r->a->json ? print_json : print)(r);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct run_args a = {.size = 512};
    struct run r = {.a = &a};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (!rabbitct_is_size(a.size))
        return opt_usage(self, "--size: expected 128, 256, 512 or 1024, got \"%zu\"", a.size);
    if (a.volume && !cli_ends_with(a.volume, ".vol"))
        return opt_usage(self, "--volume: expected a name that ends in .vol, got \"%s\"", a.volume);
    if (cli_check_files(&(struct cli_files){.force = a.force,
                                            .inputs = {a.data, a.reference},
                                            .outputs = {a.output, a.volume}}) != 0)
        return 1;
    rc = prepare(&r);
    if (rc == 0)
        rc = run_views(&r) == FBP_OK ? finish(&r) : cli_fail();
    put_down(&r);
    return rc;
}

const struct command cmd_rabbitct_run = {
    .name = "rabbitct run",
    .summary = "reconstruct a RabbitCT data set as its runner does",
    .usage = "DATA [options]",
    .about = "Views are read a quarter at a time, which is not timed, and given to the device "
             "one by one. The time is the sum over all views; it includes the copies to the "
             "device, and the copy of the volume from it. The error is that of fbp rabbitct "
             "compare.",
    .examples = "  fbp rabbitct run rabbitct_512-v2.rctd\n"
                "  fbp rabbitct run rabbitct_1024-v2.rctd --size 1024 --device cuda --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
