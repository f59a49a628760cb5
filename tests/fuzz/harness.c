#include "harness.h"

#include "base/sandbox.h"
#include "fuzz/seeds_foreign.h"
#include "unit/foreign_texts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#ifdef __SANITIZE_ADDRESS__
#    define FUZZ_ASAN
#elif defined __has_feature
#    if __has_feature(address_sanitizer)
#        define FUZZ_ASAN
#    endif
#endif

static char folder[512];
static bool inside;
static unsigned n_files; /* in the folder, beside the input */

static void put(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static const char *in_folder(const char *name)
{
    static char path[800];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static unsigned count_files(void)
{
    unsigned n = 0;
    DIR *dir = opendir(folder);

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

/* An MHA of float32, zeros but for the background of flats. */
static void put_array(const char *name, unsigned nx, unsigned ny, unsigned nz, float value)
{
    char text[2048] = {0};
    const int n = snprintf(text, sizeof text,
                           "NDims = 3\nDimSize = %u %u %u\nElementType = MET_FLOAT\n"
                           "ElementDataFile = LOCAL\n",
                           nx, ny, nz);

    for (unsigned i = 0; i < nx * ny * nz; i++)
        memcpy(text + n + 4 * i, &value, sizeof value);
    put(in_folder(name), text, (size_t)n + 4 * nx * ny * nz);
}

/* What packed headers of MHD and NRRD name. */
static void put_packed(const void *data, size_t n)
{
    unsigned char packed[1024];
    uLongf size = sizeof packed;
    gzFile f = gzopen(in_folder("p.raw.gz"), "wb");

    if (!f || gzwrite(f, data, (unsigned)n) != (int)n || gzclose(f) != Z_OK ||
        compress(packed, &size, data, n) != Z_OK) {
        perror(folder);
        exit(1);
    }
    put(in_folder("p.zraw"), packed, size);
}

/* Folders that are Zarr arrays of 6 x 4 x 5 floats but for one file each, the input, and an image
 * whose array is there. */
static void put_zarrs(const void *data, size_t n)
{
    static const char plain[] = ZARR_ARRAY("null"),
                      packed[] = ZARR_ARRAY("{\"id\": \"zlib\", \"level\": 1}");
    static const char *const folders[] = {"array.zarr", "chunk.zarr", "image.zarr", "image.zarr/0"};

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(in_folder(folders[i]), 0700) != 0 && errno != EEXIST) {
            perror(folders[i]);
            exit(1);
        }
    put(in_folder("array.zarr/0.0.0"), data, n);
    put(in_folder("chunk.zarr/.zarray"), packed, sizeof packed - 1);
    put(in_folder("image.zarr/.zgroup"), "{\"zarr_format\": 2}", 18);
    put(in_folder("image.zarr/0/.zarray"), plain, sizeof plain - 1);
    put(in_folder("image.zarr/0/0.0.0"), data, n);
}

void fuzz_companions(const char *where)
{
    static const char zeros[4 * 6 * 4 * 5],
        line[] = "-2.5 1000 0 1250 -1.5 0 1000 750 -.001 0 0 .5\n";
    char lines[5 * sizeof line] = "";

    if (where != folder)
        snprintf(folder, sizeof folder, "%s", where);
    put_array("p.mha", 6, 4, 5, 1);
    put_array("dark.mha", 6, 4, 1, 0);
    put_array("flat.mha", 6, 4, 1, 100);
    put_array("small.mha", 5, 4, 5, 1);
    put(in_folder("p.raw"), zeros, sizeof zeros);
    for (int k = 0; k < 5; k++)
        strcat(lines, line);
    put(in_folder("m.txt"), lines, strlen(lines));
    put(in_folder("input.img"), zeros, sizeof zeros);
    put(in_folder("input.dta"), zeros, sizeof zeros);
    put(in_folder("b.dta"), zeros, sizeof zeros);
    put(in_folder("m.json"), ctsimu_scenario, strlen(ctsimu_scenario));
    fuzz_linac_companions(where);
    put_packed(zeros, sizeof zeros);
    put_zarrs(zeros, sizeof zeros);
}

/* The sanitizer's allocator takes no care of fork(): where threads of a pool allocate while another
 * makes a child, the child may wait for ever.  On one core a pool has one thread. */
static void be_on_one_core(void)
{
#ifdef FUZZ_ASAN
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
#endif
}

void fuzz_begin(bool in_this_process)
{
    const char *tmp = getenv("TMPDIR");

    be_on_one_core();
    inside = in_this_process;
    fbp_isolate_readers(!inside);
    if (!tmp)
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/fbp-fuzz.%ld", tmp, (long)getpid());
    if (mkdir(folder, 0700) != 0) {
        perror(folder);
        exit(1);
    }
    fuzz_companions(folder);
    n_files = count_files();
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void fuzz_end(void)
{
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void fuzz_check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s; message: %s\n", what, fbp_message());
    abort();
}

void fuzz_refused(fbp_status st, const char *path)
{
    const char *message = fbp_message(), *file = strrchr(path, '/');

    if (st == FBP_OK)
        return;
    fuzz_check(message[0] != '\0', "a failure without a message");
    fuzz_check(!strchr(message, '\n'), "a message of several lines");
    fuzz_check(st == FBP_ERR_NOMEM || strstr(message, file ? file + 1 : path),
               "a message that does not name the file");
}

/* The number of the next descriptor, the same before and after an input: none was left open. */
static int next_descriptor(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    fuzz_check(fd >= 0, "no descriptor is left");
    close(fd);
    return fd;
}

bool fuzz_one(const struct fuzz_target *target, const uint8_t *data, size_t n)
{
    char path[800];
    const int next = next_descriptor();
    snprintf(path, sizeof path, "%s", in_folder(target->file));
    put(path, data, n);
    fbp_message_clear();
    const bool accepted = target->run(path, target->key);
    fuzz_check(next_descriptor() == next || inside, "a descriptor was left open");
    unlink(path);
    fuzz_check(count_files() == n_files, "a file was left");
    return accepted;
}

struct fuzz_target fuzz_target_of(const char *name)
{
    static struct fuzz_target all[FUZZ_TARGETS];
    const size_t n = fuzz_targets(all);

    for (size_t i = 0; i < n; i++)
        if (name && strcmp(all[i].name, name) == 0)
            return all[i];
    fprintf(stderr, "no target %s; there are:\n", name ? name : "is named");
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "  %s\n", all[i].name);
    exit(77);
}
