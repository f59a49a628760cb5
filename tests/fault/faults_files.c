/* Folders of small files: listed, compared, copied, emptied. */
#include "faults.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *path)
{
    perror(path);
    exit(1);
}

/* Calls fn for everything in a folder, in any order; `rest` is its name below the first folder. */
static void each(const char *folder, const char *rest,
                 void (*fn)(const char *path, const char *rest, bool is_folder, void *arg),
                 void *arg)
{
    DIR *dir = opendir(folder);

    if (!dir)
        fail(folder);
    for (struct dirent *e; (e = readdir(dir));) {
        char path[600], below[300];
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        snprintf(below, sizeof below, "%s%s%s", rest, *rest ? "/" : "", e->d_name);
        if (lstat(path, &st) == 0)
            fn(path, below, S_ISDIR(st.st_mode), arg);
    }
    closedir(dir);
}

uint64_t fault_hash(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (int c; f && (c = getc_unlocked(f)) != EOF;)
        hash = (hash ^ (unsigned char)c) * 1099511628211u;
    if (f)
        fclose(f);
    return hash;
}

/* "v.h5.part.log.1of2.34c367b0.edges": that number. */
static void drop_number(char *name)
{
    char *journal = strstr(name, ".part.log.");
    char *number = journal ? strchr(journal + strlen(".part.log."), '.') : NULL;
    char *rest = number ? strchr(number + 1, '.') : NULL;

    if (number)
        memmove(number, rest ? rest : "", strlen(rest ? rest : "") + 1);
}

/* Does a journal speak of slices?  Such lines begin with a number. */
static bool has_slices(const char *name, const char *path)
{
    static char text[1 << 16];
    const char *line = text;

    if (!strstr(name, ".part.log"))
        return false;
    for (fault_text(path, text, sizeof text); line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (isdigit((unsigned char)*line))
            return true;
    }
    return false;
}

static void add(const char *path, const char *rest, bool is_folder, void *arg)
{
    struct fault_files *all = arg;

    if (is_folder) {
        each(path, rest, add, all);
        return;
    }
    all->file = realloc(all->file, (all->n + 1) * sizeof *all->file);
    if (!all->file)
        fail(path);
    struct fault_file *f = &all->file[all->n++];
    *f = (struct fault_file){.hash = fault_hash(path)};
    snprintf(f->name, sizeof f->name, "%s", rest);
    drop_number(f->name);
    f->has_slices = has_slices(f->name, path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct fault_file *)a)->name, ((const struct fault_file *)b)->name);
}

struct fault_files fault_list(const char *folder)
{
    struct fault_files all = {0};

    each(folder, "", add, &all);
    if (all.n)
        qsort(all.file, all.n, sizeof *all.file, by_name);
    return all;
}

const struct fault_file *fault_find(const struct fault_files *files, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (strcmp(files->file[i].name, name) == 0)
            return &files->file[i];
    return NULL;
}

static void drop(const char *path, const char *rest, bool is_folder, void *arg)
{
    if (is_folder)
        each(path, rest, drop, arg);
    if ((is_folder ? rmdir : unlink)(path) != 0)
        fail(path);
}

void fault_empty(const char *folder)
{
    each(folder, "", drop, NULL);
}

void fault_copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    struct stat st;

    if (!in || !out)
        fail(in ? to : from);
    for (int c; (c = getc_unlocked(in)) != EOF;)
        putc_unlocked(c, out);
    fclose(in);
    if (fclose(out) != 0)
        fail(to);
    if (stat(from, &st) == 0) {
        const struct timespec times[2] = {st.st_atim, st.st_mtim};
        utimensat(0, to, times, 0);
    }
}

static void copy_one(const char *path, const char *rest, bool is_folder, void *arg)
{
    char to[600];

    snprintf(to, sizeof to, "%s/%s", (const char *)arg, rest);
    if (!is_folder) {
        fault_copy_file(path, to);
        return;
    }
    if (mkdir(to, 0777) != 0)
        fail(to);
    each(path, rest, copy_one, arg);
}

void fault_copy(const char *from, const char *to)
{
    each(from, "", copy_one, (void *)(uintptr_t)to);
}

void fault_text(const char *path, char *out, size_t room)
{
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(out, 1, room - 1, f) : 0;

    out[n] = '\0';
    if (f)
        fclose(f);
}
