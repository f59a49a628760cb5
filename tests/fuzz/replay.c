/* replay --list: all targets.  replay --seeds TARGET FOLDER: write its seeds.
 * replay TARGET FILE|FOLDER…: run inputs, which were finds once.
 * replay --inside TARGET FILE…: the same, libraries that are contained otherwise in this process.
 * replay --all CORPUS: all folders below, each named by its target, and all seeds, whole and cut.
 */
#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST = 1 << 24, PATH_BYTES = 600 };

static unsigned n_run, n_accepted;

static uint8_t *get(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(LARGEST);

    if (!f || !data) {
        perror(path);
        exit(1);
    }
    *n = fread(data, 1, LARGEST, f);
    fclose(f);
    return data;
}

static void run_bytes(const struct fuzz_target *t, const uint8_t *data, size_t n)
{
    uint8_t *exact = malloc(n ? n : 1); /* of its own size, for checkers of memory */

    if (!exact)
        exit(1);
    memcpy(exact, data, n);
    n_accepted += fuzz_one(t, exact, n);
    free(exact);
    n_run++;
}

/* As it is, then cut and changed at every byte, or every step-th, of its beginning; step 0: not. */
static void run_file(const struct fuzz_target *t, const char *path, size_t step)
{
    size_t n;
    uint8_t *data = get(path, &n);

    run_bytes(t, data, n);
    for (size_t k = 0; step > 0 && k < n && k < 512; k += k < 64 ? step : 7 * step) {
        run_bytes(t, data, k);
        data[k] ^= 0xff;
        run_bytes(t, data, n);
        data[k] ^= 0xff;
    }
    free(data);
}

static void run_path(const struct fuzz_target *t, const char *path, size_t step)
{
    char file[PATH_BYTES];
    DIR *dir = opendir(path);

    if (!dir) {
        run_file(t, path, step);
        return;
    }
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        run_file(t, file, step);
    }
    closedir(dir);
}

/* HDF5 is read in children, which takes ten times as long, or a hundred times with sanitizers. */
static bool is_slow(const struct fuzz_target *t)
{
    return t->key && strcmp(t->key, "hdf5") == 0;
}

/* Whole, of which the reader must accept some, or nobody would see much of it; then cut. */
static bool run_seeds(const struct fuzz_target *t)
{
    char seeds[] = "/tmp/fbp-seeds.XXXXXX", command[80];

    if (!mkdtemp(seeds))
        exit(1);
    fuzz_seeds(t, seeds);
    n_run = n_accepted = 0;
    run_path(t, seeds, 0);
    const unsigned n_seeds = n_run, accepted = n_accepted;
    run_path(t, seeds, (is_slow(t) ? 4 : 1) * (1 + n_seeds / 4));
    printf("%-28s %2u seeds, %2u accepted; %u cut or changed, %u accepted%s\n", t->name, n_seeds,
           accepted, n_run - n_seeds, n_accepted - accepted,
           accepted ? "" : "   FAILED: no seed is accepted");
    fflush(stdout);
    snprintf(command, sizeof command, "rm -rf '%s'", seeds);
    (void)!system(command);
    return accepted > 0;
}

/* All targets: what is kept below `corpus`, and seeds. */
static bool run_all(const char *corpus)
{
    static struct fuzz_target all[FUZZ_TARGETS];
    const size_t n = fuzz_targets(all);
    char path[PATH_BYTES];
    bool all_seeded = true;

    for (size_t i = 0; i < n; i++) {
        const int length = snprintf(path, sizeof path, "%s/%s", corpus, all[i].name);
        if (length < (int)sizeof path && access(path, F_OK) == 0)
            run_path(&all[i], path, 0);
        all_seeded = run_seeds(&all[i]) && all_seeded;
    }
    return all_seeded;
}

static void list(void)
{
    static struct fuzz_target all[FUZZ_TARGETS];
    const size_t n = fuzz_targets(all);

    for (size_t i = 0; i < n; i++)
        puts(all[i].name);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "--seeds") == 0) {
        const struct fuzz_target t = fuzz_target_of(argv[2]);
        fuzz_seeds(&t, argv[3]);
        return 0;
    }
    if (argc < 3) {
        fputs("usage: replay --list | --seeds TARGET FOLDER | --all CORPUS | [--inside] TARGET "
              "FILE...\n",
              stderr);
        return 2;
    }
    const bool inside = strcmp(argv[1], "--inside") == 0;
    bool good = true;
    argv += inside;
    argc -= inside;
    fuzz_begin(inside);
    if (strcmp(argv[1], "--all") == 0)
        good = run_all(argv[2]);
    else {
        const struct fuzz_target t = fuzz_target_of(argv[1]);
        for (int i = 2; i < argc; i++)
            run_path(&t, argv[i], 0);
        printf("%u inputs, %u accepted\n", n_run, n_accepted);
    }
    fuzz_end();
    return good ? 0 : 1;
}
