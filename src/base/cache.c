/* A hash function for fingerprints of data (fbp_hash()), and the cache (fbp_cache_get(),
 * fbp_cache_put(); cache.h): files that keep results of measurements, such as the speeds of links
 * between devices, from run to run.
 * Used by: bench/, analysis/, array/, backend/, geometry/, pipeline/, prep/, scan/. */
#include "base/cache.h"

#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t FACTOR = 0xd6e8feb86659fd93u;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= FACTOR;
    x ^= x >> 32;
    x *= FACTOR;
    return x ^ x >> 32;
}

/* Load a little-endian number. */
static inline uint64_t load64(const unsigned char *p)
{
    uint64_t x;

    memcpy(&x, p, sizeof x);
    return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(x) : x;
}

static inline uint64_t take(uint64_t lane, const unsigned char *p)
{
    lane = (lane ^ load64(p)) * FACTOR;
    return lane ^ lane >> 29;
}

uint64_t fbp_hash(uint64_t seed, const void *data, size_t n)
{
    const unsigned char *p = data;
    /* four variables, not an array, which compilers would keep in memory instead of in registers */
    uint64_t a = seed ^ 0x9e3779b97f4a7c15u, b = seed + 1, c = seed ^ 0x94d049bb133111ebu,
             d = seed + n;

    for (; n >= 32; n -= 32, p += 32) {
        a = take(a, p);
        b = take(b, p + 8);
        c = take(c, p + 16);
        d = take(d, p + 24);
    }
    uint64_t h = mix(a) ^ mix(b + 1) * 3 ^ mix(c + 2) * 5 ^ mix(d + 3) * 7;
    for (; n > 0; n -= n < 8 ? n : 8, p += 8) {
        unsigned char padded[8] = {0};
        memcpy(padded, p, n < 8 ? n : 8);
        h = mix(h ^ load64(padded));
    }
    return mix(h);
}

enum { MAX_BYTES = 1 << 16, MAX_PATH = 4096 };

/* Find the path of a file of the cache; make: create the cache folder and its folder fbp, if they
 * are missing.  Returns false if neither XDG_CACHE_HOME nor HOME is an absolute path, or if the
 * path is too long. */
static bool find_path(const char *name, char path[MAX_PATH], bool make)
{
    const char *cache = fbp_environment(FBP_ENV_CACHE);
    const char *home = fbp_environment(FBP_ENV_HOME);
    int n;

    if (cache && cache[0] == '/') /* the XDG specification requires that relative paths in
                                     XDG_CACHE_HOME are ignored */
        n = snprintf(path, MAX_PATH, "%s", cache);
    else if (home && home[0] == '/')
        n = snprintf(path, MAX_PATH, "%s/.cache", home);
    else
        return false;
    if (n < 0 || n > MAX_PATH - 8 - (int)strlen(name))
        return false;
    if (make)
        (void)mkdir(path, 0700);
    n += snprintf(path + n, (size_t)(MAX_PATH - n), "/fbp");
    if (make)
        (void)mkdir(path, 0777);
    snprintf(path + n, (size_t)(MAX_PATH - n), "/%s", name);
    return true;
}

/* Read the lines after the title line of a cache file; the caller frees them.  NULL: the file is
 * missing, larger than 64 KiB or damaged, or has another title. */
static char *read_lines(const char *path, const char *title)
{
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, MAX_BYTES + 1) : NULL;
    size_t n = text ? fread(text, 1, MAX_BYTES + 1, file) : 0;

    if (file)
        (void)fclose(file);
    const size_t above = strlen(title);
    if (!text || n < above || n > MAX_BYTES || memcmp(text, title, above) != 0 ||
        strlen(text) != n || text[n - 1] != '\n') {
        free(text);
        return NULL;
    }
    memmove(text, text + above, n - above + 1);
    return text;
}

/* Return the value in a line "key<TAB>value" of a cache file; NULL: the line has another key. */
static const char *value_of(const char *line, const char *key)
{
    const size_t n = strlen(key);

    return strncmp(line, key, n) == 0 && line[n] == '\t' ? line + n + 1 : NULL;
}

bool fbp_cache_get(const struct fbp_cache_file *file, const char *key, char *value, size_t n)
{
    char path[MAX_PATH], *rest = NULL;
    char *text = find_path(file->name, path, false) ? read_lines(path, file->title) : NULL;
    const char *found = NULL;

    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && !found;
         line = strtok_r(NULL, "\n", &rest))
        found = value_of(line, key);
    const bool fits = found && strlen(found) < n;
    if (fits)
        memcpy(value, found, strlen(found) + 1);
    free(text);
    return fits;
}

/* Create and open a temporary file next to `path`, which close_part() renames to `path`; part:
 * receives its name.  NULL on failure. */
static FILE *open_part(const char *path, char part[MAX_PATH + 8])
{
    snprintf(part, MAX_PATH + 8, "%s.XXXXXX", path);
    const int fd = mkstemp(part); /* other processes may write the same file */
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!to && fd >= 0) {
        (void)close(fd);
        (void)unlink(part);
    }
    return to;
}

/* Close the temporary file `part`, and rename it to `path` if all data (`ok`) were written. */
static void close_part(FILE *to, bool ok, const char *part, const char *path)
{
    ok = ok && fflush(to) == 0 && fsync(fileno(to)) == 0;
    ok = fclose(to) == 0 && ok;
    if (!ok || rename(part, path) != 0)
        (void)unlink(part);
}

void fbp_cache_put(const struct fbp_cache_file *file, const char *key, const char *value)
{
    char path[MAX_PATH], part[MAX_PATH + 8], *rest = NULL;
    FILE *to = find_path(file->name, path, true) ? open_part(path, part) : NULL;

    if (!to)
        return;
    char *old = read_lines(path, file->title);
    bool ok = fputs(file->title, to) >= 0;
    for (char *line = old ? strtok_r(old, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        if (!value_of(line, key))
            ok = ok && fprintf(to, "%s\n", line) > 0;
    ok = ok && fprintf(to, "%s\t%s\n", key, value) > 0;
    close_part(to, ok, part, path);
    free(old);
}
