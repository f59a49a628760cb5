/* What lies in a folder: single files, and series of files that differ by a number. */
#include "init.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Names of all files, sorted: those of a series stand together. */
struct names {
    char **list;
    size_t n, room;
};

static bool add_name(struct names *names, char *path)
{
    if (!path)
        return false;
    if (names->n == names->room) {
        const size_t room = names->room ? 2 * names->room : 256;
        char **list = realloc(names->list, room * sizeof *list);
        if (!list) {
            free(path);
            return false;
        }
        names->list = list;
        names->room = room;
    }
    names->list[names->n++] = path;
    return true;
}

static char *join(const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    char *path = NULL;

    if (asprintf(&path, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name) < 0)
        return NULL;
    return path;
}

/* Files of a folder and, once, of the folders in it. */
static int list_files(const char *folder, bool deeper, struct names *names)
{
    DIR *dir = opendir(folder);
    int rc = 0;

    if (!dir)
        return deeper ? cli_error("%s: cannot be looked into: is it a folder?", folder) : 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(dir)) != NULL;) {
        struct stat info;
        char *path = entry->d_name[0] == '.' ? NULL : join(folder, entry->d_name);
        if (!path || stat(path, &info) != 0) {
            free(path);
        } else if (S_ISREG(info.st_mode)) {
            rc = add_name(names, path) ? 0 : cli_error("out of memory for names of files");
        } else {
            if (S_ISDIR(info.st_mode) && deeper)
                rc = list_files(path, false, names);
            free(path);
        }
    }
    closedir(dir);
    return rc;
}

static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The last digits of a file's name but for its extension: [*at, *end); false if there are none. */
static bool find_number(const char *path, size_t *at, size_t *end)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t e = dot ? (size_t)(dot - path) : strlen(path);
    const size_t start = (size_t)(name - path);

    while (e > start && !isdigit((unsigned char)path[e - 1]))
        e--;
    *end = e;
    while (e > start && isdigit((unsigned char)path[e - 1]))
        e--;
    *at = e;
    return *end > e && *end - e <= 9;
}

/* Does `path` continue a series, with the next number? */
static bool same_series(const struct init_series *s, const char *path, size_t *number, int *digits)
{
    size_t at, end;

    if (!s->after[0] || !find_number(path, &at, &end) || strlen(s->before) != at ||
        strncmp(path, s->before, at) != 0 || strcmp(path + end, s->after) != 0)
        return false;
    *number = (size_t)strtoul(path + at, NULL, 10);
    *digits = (int)(end - at);
    return true;
}

static bool start_series(const char *path, struct init_series *s)
{
    struct stat info;
    size_t at, end;

    *s = (struct init_series){.path = strdup(path)};
    const bool numbered = find_number(path, &at, &end) && !strchr(path, '%');
    s->before = numbered ? strndup(path, at) : strdup(path);
    s->after = strdup(numbered ? path + end : "");
    if (numbered) {
        s->first = s->last = (size_t)strtoul(path + at, NULL, 10);
        s->digits = (int)(end - at);
    }
    if (stat(path, &info) == 0)
        s->bytes = (uint64_t)info.st_size;
    return s->path && s->before && s->after;
}

/* Numbers 8, 9, 10 have no zeros before them; 08, 09, 10 have. */
static bool continues(struct init_series *s, const char *path)
{
    size_t number;
    int digits;

    if (!same_series(s, path, &number, &digits))
        return false;
    const bool padded = digits == s->digits;
    char plain[24];
    snprintf(plain, sizeof plain, "%zu", number);
    if (number != s->last + 1 || s->missing || (!padded && (size_t)digits != strlen(plain))) {
        s->missing++;
        return true;
    }
    s->digits = padded ? s->digits : 0;
    s->last = number;
    return true;
}

static int make_series(const struct names *names, struct init_folder *out)
{
    out->series = calloc(names->n ? names->n : 1, sizeof *out->series);
    if (!out->series)
        return cli_error("out of memory for %zu files", names->n);
    for (size_t i = 0; i < names->n; i++) {
        if (out->n && continues(&out->series[out->n - 1], names->list[i]))
            continue;
        if (!start_series(names->list[i], &out->series[out->n++]))
            return cli_error("out of memory for %zu files", names->n);
    }
    return 0;
}

char *init_pattern(const struct init_series *s)
{
    char *text = NULL;
    const int n = s->last == s->first ? asprintf(&text, "%s", s->path)
                  : s->digits > 1
                      ? asprintf(&text, "%s%%0%dd%s %zu %zu", s->before, s->digits, s->after,
                                 s->first, s->last)
                      : asprintf(&text, "%s%%d%s %zu %zu", s->before, s->after, s->first, s->last);
    return n < 0 ? NULL : text;
}

/* Its size and type, if it is an array that can be read. */
static void open_series(struct init_series *s)
{
    char *pattern = init_pattern(s);
    fbp_source *source = NULL;

    if (s->bytes > 0 && pattern && fbp_source_open(&source, pattern, NULL) == FBP_OK) {
        s->info = *fbp_source_info(source);
        s->volume = strcmp(s->info.unit, "1/mm") == 0 || strcmp(s->info.unit, "HU") == 0;
    }
    fbp_source_close(&source);
    free(pattern);
}

int init_look(const char *path, struct init_folder *out)
{
    struct names names = {0};
    int rc = list_files(path, true, &names);

    *out = (struct init_folder){.path = path};
    if (rc == 0 && names.n > 0)
        qsort(names.list, names.n, sizeof *names.list, compare_names);
    if (rc == 0)
        rc = make_series(&names, out);
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        open_series(&out->series[i]);
    for (size_t i = 0; i < names.n; i++)
        free(names.list[i]);
    free(names.list);
    return rc;
}

void init_clear(struct init_folder *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->series[i].path);
        free(f->series[i].before);
        free(f->series[i].after);
    }
    free(f->series);
    *f = (struct init_folder){0};
}

/* Is `word` in the text?  Short ones must stand alone, between what are no letters. */
static bool says(const char *text, const char *word)
{
    const size_t n = strlen(word);

    for (const char *at = text; (at = strcasestr(at, word)) != NULL; at++)
        if (n > 3 ||
            ((at == text || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[n])))
            return true;
    return false;
}

enum init_role init_role_of(const char *path)
{
    static const struct {
        const char *word;
        enum init_role role;
    } words[] = {{"dark", INIT_DARK},    {"df", INIT_DARK},     {"di", INIT_DARK},
                 {"flat", INIT_FLAT},    {"white", INIT_FLAT},  {"bright", INIT_FLAT},
                 {"open", INIT_FLAT},    {"gain", INIT_FLAT},   {"ff", INIT_FLAT},
                 {"io", INIT_FLAT},      {"bad", INIT_BAD},     {"defect", INIT_BAD},
                 {"theta", INIT_ANGLES}, {"angle", INIT_ANGLES}};
    const char *slash = strrchr(path, '/');

    /* The file's own name first, then its folder's: flats/dark_1 is a dark. */
    for (int whole = 0; whole < 2; whole++) {
        const char *text = !whole && slash ? slash + 1 : path;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (says(text, words[i].word))
                return words[i].role;
    }
    return INIT_PROJECTIONS;
}
