/* Command `fbp bench write`: the parts of writing a volume, each timed alone. */
#include "bench/common/bench.h"
#include "say.h"

#include <string.h>

struct write_args {
    const char *directory, *name;
    enum fbp_type type;
    size_t size;
    int threads;
    bool json;
};

#define W struct write_args
static const struct opt table[] = {
    OPT(W, name, .name = "name", .arg = "NAME", .fallback = "volume.mha",
        .help = "name of the output, which says its format, or slices such as %04d.tif"),
    OPT(W, directory, .name = "dir", .arg = "DIR", .fallback = "$TMPDIR or /tmp",
        .help = "where it is written, and removed: the disk that is timed"),
    OPT(W, type, .name = "output-type", .arg = "NAME", .list = choices_output_type,
        .fallback = "float32", .help = "type of the stored values"),
    OPT(W, size, .name = "size", .arg = "N", .min = 1, .max = FBP_SIDE_MAX, .fallback = "512",
        .help = "the volume is a cube with N voxels on each side"),
    OPT(W, threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,
        .fallback = "all cores, at most 8", .help = "number of threads"),
    OPT(W, json, .name = "json", .help = "print one JSON object"),
};
#undef W

static void print_rate(const char *name, const double rate[2], bool several)
{
    printf("%-24s %9.2f", name, 1e-9 * rate[0]);
    if (several)
        printf(" %9.2f", 1e-9 * rate[1]);
    putchar('\n');
}

static void print_memory(const struct fbp_memory_rates *m)
{
    const bool several = m->n_threads > 1;
    char threads[24];

    snprintf(threads, sizeof threads, "%d threads", m->n_threads);
    printf("%-24s %9s %9s\n", "memory [GB/s]", "1 thread", several ? threads : "");
    print_rate("fresh pages", m->fresh, several);
    print_rate("copy", m->copy, several);
    print_rate("hash", m->hash, several);
    print_rate("new file, write()", m->file, several);
    print_rate("new file, mapped", m->mapped, several);
    printf("\n%-16s %7s %9s %9s %9s %10s %10s\n", "output", "threads", "open [s]", "write [s]",
           "finish [s]", "write GB/s", "all GB/s");
    fflush(stdout);
}

static void print_output(const char *name, const struct fbp_output_time *t)
{
    for (int i = 0; i < (t->n_threads > 1 ? 2 : 1); i++)
        printf("%-16s %7d %9.3f %9.3f %10.3f %10.2f %10.2f\n", name, i ? t->n_threads : 1,
               t->open[i], t->write[i], t->finish[i], 1e-9 * t->bytes / t->write[i],
               1e-9 * t->bytes / (t->open[i] + t->write[i] + t->finish[i]));
    fflush(stdout);
}

static void add_memory(cJSON *root, const struct fbp_memory_rates *m)
{
    const struct {
        const char *name;
        const double *rate;
    } rows[] = {{"fresh_pages", m->fresh},
                {"copy", m->copy},
                {"hash", m->hash},
                {"file_written", m->file},
                {"file_mapped", m->mapped}};
    cJSON *memory = cJSON_AddObjectToObject(root, "memory_bytes_per_second");

    cJSON_AddNumberToObject(root, "threads", m->n_threads);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cJSON_AddItemToObject(memory, rows[i].name, cJSON_CreateDoubleArray(rows[i].rate, 2));
    cJSON_AddArrayToObject(root, "outputs");
}

static void add_output(cJSON *root, const char *name, const struct fbp_output_time *t)
{
    for (int i = 0; i < (t->n_threads > 1 ? 2 : 1); i++) {
        const struct bench_number numbers[] = {
            {"threads", i ? t->n_threads : 1},
            {"bytes", t->bytes},
            {"open", t->open[i]},
            {"write", t->write[i]},
            {"finish", t->finish[i]},
        };
        cJSON *output = cJSON_CreateObject();
        cJSON_AddStringToObject(output, "output", name);
        bench_json_numbers(output, numbers, sizeof numbers / sizeof *numbers);
        cJSON_AddItemToArray(cJSON_GetObjectItem(root, "outputs"), output);
    }
}

/* Memory first, then what needs no disk, then the output itself. */
static int measure(const struct write_args *a, const struct workplace *w, cJSON *root)
{
    char path[sizeof w->dir + 200];
    const char *const names[] = {"null:", "hash:", a->name}, *const outputs[] = {
                                                                 "null:", "hash:", path};
    struct fbp_write_options o = {.size = a->size, .n_threads = a->threads, .type = a->type};
    struct fbp_memory_rates memory;
    struct fbp_output_time time;

    snprintf(path, sizeof path, "%s/pages.tmp", w->dir);
    o.output = path;
    if (fbp_bench_memory(&o, &memory) != FBP_OK)
        return cli_fail();
    if (root)
        add_memory(root, &memory);
    else
        print_memory(&memory);
    snprintf(path, sizeof path, "%s/%s", w->dir, a->name);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        o.output = outputs[i];
        if (fbp_bench_write(&o, &time) != FBP_OK)
            return cli_fail();
        if (root)
            add_output(root, names[i], &time);
        else
            print_output(names[i], &time);
    }
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct write_args a = {.name = "volume.mha", .size = 512};
    struct workplace w;
    int rc = opt_parse(self, &a, argc, argv);

    if (rc != OPT_GO_ON)
        return rc;
    if (strchr(a.name, '/') || strlen(a.name) > 150)
        return opt_usage(self,
                         "--name: expected a name without folders, got \"%s\"; --dir names "
                         "the folder",
                         a.name);
    if (workplace_make(&w, a.directory))
        return 1;
    cJSON *root = a.json ? cJSON_CreateObject() : NULL;
    if (root) {
        cJSON_AddStringToObject(root, "bench", "write");
        cJSON_AddNumberToObject(root, "size", (double)a.size);
    }
    rc = measure(&a, &w, root);
    workplace_remove(&w);
    if (root && rc == 0)
        return cli_json(root, true);
    cJSON_Delete(root);
    return rc;
}

const struct command cmd_bench_write = {
    .name = "bench write",
    .summary = "time writing: fresh pages, copies, hashes, the disk, each apart",
    .usage = "[options]",
    .about =
        "Tells what limits writing. Each row is measured by one thread, and by all.\n"
        "fresh pages: new memory, which the system fills with zeros. copy: memory to memory. "
        "hash: of what is written, for hash: and for the journal that --resume reads. new file: "
        "pages of a file in memory, by write(), for which most file systems let one thread at "
        "a time into a file, and through a mapping.\n"
        "Then a volume of random values is written, slice by slice, as by a device with its "
        "own memory. open reserves the room, finish waits for the disk and gives the file its "
        "name. null: writes nothing.\n"
        "GB/s are of float32 values, whatever is stored.",
    .examples = "  fbp bench write --dir /dev/shm --size 1024\n"
                "  fbp bench write --dir /data --name '%04d.tif' --output-type uint16 --json\n",
    COMMAND_OPTS(table),
    .run = run,
};
