#include "backend/gpu/tuned.h"

#include "backend/gpu/host.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16, MOST_PATH = 4096 };

/* The path of the file, its folders made if `make`; false if there is no place for one. */
static bool find_path(const struct gpu_tuned_file *file, char path[MOST_PATH], bool make)
{
    const char *cache = gpu_host->environment(FBP_ENV_CACHE);
    const char *home = gpu_host->environment(FBP_ENV_HOME);
    int n;

    if (cache && cache[0] == '/') /* relative ones are to be ignored */
        n = snprintf(path, MOST_PATH, "%s", cache);
    else if (home && home[0] == '/')
        n = snprintf(path, MOST_PATH, "%s/.cache", home);
    else
        return false;
    if (n < 0 || n > MOST_PATH - 8 - (int)strlen(file->name))
        return false;
    if (make)
        (void)mkdir(path, 0700);
    n += snprintf(path + n, (size_t)(MOST_PATH - n), "/fbp");
    if (make)
        (void)mkdir(path, 0777);
    snprintf(path + n, (size_t)(MOST_PATH - n), "/%s", file->name);
    return true;
}

/* The lines below the title; NULL if they cannot be used.  To be freed. */
static char *read_lines(const char *path, const char *title)
{
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, MOST_BYTES + 1) : NULL;
    size_t n = text ? fread(text, 1, MOST_BYTES + 1, file) : 0;

    if (file)
        (void)fclose(file);
    const size_t above = strlen(title);
    if (!text || n < above || n > MOST_BYTES || memcmp(text, title, above) != 0 ||
        strlen(text) != n || text[n - 1] != '\n') {
        free(text);
        return NULL;
    }
    memmove(text, text + above, n - above + 1);
    return text;
}

/* The shape of the line "key<TAB>shape", or -1. */
static int shape_of(const char *line, const char *key)
{
    const size_t n = strlen(key);
    char *end = NULL;

    if (strncmp(line, key, n) != 0 || line[n] != '\t' || line[n + 1] < '0' || line[n + 1] > '9')
        return -1;
    const long shape = strtol(line + n + 1, &end, 10);
    return *end == '\0' && shape < 1000 ? (int)shape : -1;
}

int gpu_tuned_recall(const struct gpu_tuned_file *file, const char *key, int n_shapes)
{
    char path[MOST_PATH], *rest = NULL;
    char *text = find_path(file, path, false) ? read_lines(path, file->title) : NULL;
    int found = -1;

    if (!text)
        return -1;
    for (char *line = strtok_r(text, "\n", &rest); line && found < 0;
         line = strtok_r(NULL, "\n", &rest))
        found = shape_of(line, key);
    free(text);
    return found < n_shapes ? found : -1;
}

/* The title, all other lines of `old`, and the new one. */
static bool write_lines(FILE *to, const char *title, char *old, const char *key, int shape)
{
    const size_t n = strlen(key);
    char *rest = NULL;
    bool ok = fputs(title, to) >= 0;

    for (char *line = old ? strtok_r(old, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, key, n) != 0 || line[n] != '\t')
            ok = ok && fprintf(to, "%s\n", line) > 0;
    return ok && fprintf(to, "%s\t%d\n", key, shape) > 0;
}

void gpu_tuned_keep(const struct gpu_tuned_file *file, const char *key, int shape)
{
    char path[MOST_PATH], part[MOST_PATH + 8];

    if (!find_path(file, path, true))
        return;
    snprintf(part, sizeof part, "%s.XXXXXX", path);
    const int fd = mkstemp(part); /* other devices and processes may be doing the same */
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!to) {
        if (fd >= 0) {
            (void)close(fd);
            (void)unlink(part);
        }
        return;
    }
    char *old = read_lines(path, file->title);
    bool ok = write_lines(to, file->title, old, key, shape);
    ok = ok && fflush(to) == 0 && fsync(fd) == 0; /* whole before it replaces the old one */
    ok = fclose(to) == 0 && ok;
    free(old);
    if (!ok || rename(part, path) != 0)
        (void)unlink(part);
}
