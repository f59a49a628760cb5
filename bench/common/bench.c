/* Functions that the commands of fbp-bench share: temporary folder, JSON, cells of tables, paths
 * of pictures.
 * Used by: bench/. */
#include "bench/common/bench.h"
#include "say.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *bench_folder(const char *given)
{
    const char *temporary = getenv("TMPDIR");

    return given ? given : temporary && *temporary ? temporary : "/tmp";
}

int bench_check_pictures(const char *folder)
{
    if (folder && access(folder, W_OK | X_OK) != 0)
        return cli_error("%s: the folder for --pictures is missing or read-only: create it first",
                         folder);
    return OPT_GO_ON;
}

int bench_picture(char path[BENCH_PATH], const char *folder, const char *name)
{
    if (snprintf(path, BENCH_PATH, "%s/%s", folder, name) >= BENCH_PATH)
        return cli_error("--pictures: the path %.80s… is too long: choose another folder", folder);
    return 0;
}

void bench_cell(int width, int decimals, double v)
{
    if (isfinite(v))
        printf(" %*.*f", width, decimals, v);
    else
        printf(" %*s", width, "-");
}

int workplace_make(struct workplace *w, const char *base)
{
    base = bench_folder(base);
    if (snprintf(w->dir, sizeof w->dir, "%s/fbp-bench-XXXXXX", base) >= (int)sizeof w->dir)
        return cli_error("--dir: the path %.80s… is too long: choose another folder", base);
    if (!mkdtemp(w->dir))
        return cli_error("%s: cannot make a directory there: %s: choose another --dir", base,
                         strerror(errno));
    snprintf(w->scan, sizeof w->scan, "%s/scan.json", w->dir);
    snprintf(w->matrices, sizeof w->matrices, "%s/matrices.json", w->dir);
    snprintf(w->volume, sizeof w->volume, "%s/volume.mha", w->dir);
    return 0;
}

/* Delete all files of the temporary folder, which workplace_make() created; return 0 or the first
 * errno. */
static int empty(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    int error = dir ? 0 : errno;

    while (dir && (errno = 0, entry = readdir(dir))) {
        const bool own = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
        if (own && unlinkat(dirfd(dir), entry->d_name, 0) != 0 && error == 0)
            error = errno;
    }
    if (dir && error == 0)
        error = errno; /* of readdir() */
    if (dir)
        closedir(dir);
    return error;
}

void workplace_remove(const struct workplace *w)
{
    const int error = empty(w->dir);

    if (rmdir(w->dir) != 0 && !say_failed()) /* one failure, one line */
        say_warning(false, "%s: the temporary folder cannot be emptied: %s: remove it", w->dir,
                    strerror(error ? error : errno));
}

cJSON *bench_json_begin(const char *bench, const char *name, const char *backend,
                        const char *kernel, const char *isa)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "bench", bench);
    cJSON_AddStringToObject(root, "case", name);
    cJSON_AddStringToObject(root, "device", backend);
    if (kernel)
        cJSON_AddStringToObject(root, "kernel", kernel);
    if (isa)
        cJSON_AddStringToObject(root, "isa", isa);
    return root;
}

int bench_json_add(cJSON *measurement)
{
    static cJSON *list; /* in the result of the command, which say_close() frees */

    if (!list) {
        cJSON *result = cJSON_CreateObject();
        list = cJSON_AddArrayToObject(result, "measurements");
        (void)say_keep(result, true);
    }
    if (!cJSON_AddItemToArray(list, measurement))
        cJSON_Delete(measurement); /* out of memory, which say_close() reports */
    return 0;
}

void bench_json_numbers(cJSON *root, const struct cli_number *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isfinite(numbers[i].value))
            cJSON_AddNumberToObject(root, numbers[i].key, numbers[i].value);
}

void bench_json_host_seconds(cJSON *root, const struct fbp_host_time *t)
{
    const struct cli_number numbers[] = {
        {"seconds", t->median}, {"best", t->best},     {"worst", t->worst},
        {"whole", t->whole},    {"filter", t->filter}, {"backproject", t->backproject},
        {"fetch", t->fetch},    {"gups", t->gups},
    };

    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
}

int bench_simulate(struct simulate_args *s)
{
    say_note(s->quiet, "simulating %zu views for %zu^3 voxels", s->views, s->size);
    s->quiet = true;
    return simulate_scan(s);
}

double bench_overlap(double busy, double waiting)
{
    return busy > 0 && waiting < busy ? 1 - waiting / busy : busy > 0 ? 0 : 1;
}
