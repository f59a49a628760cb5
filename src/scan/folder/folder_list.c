/* Lists the files of a folder and of its direct subfolders, as single files and series of files
 * whose names differ by numbers, and reads the headers of their arrays (fbp_init_list()). Also the
 * log and the failures of a search for scans.
 * Used by: folder_guess.c, folder_scan.c. */
#include "geometry/kind.h"
#include "scan/folder/folder.h"

#include "base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file and its number in a series: the path is before + number + after. */
struct file {
    char *path;
    char *kind;   /* path with "#" in place of each number in the name */
    char *before; /* part of the path before the number; a file without a number: the whole path */
    const char *after; /* into path; "" without a number */
    size_t number;
    int digits; /* number of digits; 0: no number */
};

struct files {
    struct file *list;
    size_t n, room;
};

/* Add a path to the list, which owns the path; after a failure the path has been freed. */
static fbp_status add_file(struct files *files, char *path)
{
    /* Find the last digits of the name without its extension: characters [at, end) of the path. */
    const char *name = fbp_base_name(path), *dot = strrchr(name, '.');
    const size_t start = (size_t)(name - path);
    size_t end = dot ? (size_t)(dot - path) : strlen(path);
    while (end > start && !isdigit((unsigned char)path[end - 1]))
        end--;
    size_t at = end;
    while (at > start && isdigit((unsigned char)path[at - 1]))
        at--;
    const bool numbered = end > at && end - at <= 9 && !strchr(path, '%');
    char *before = numbered ? strndup(path, at) : strdup(path), kind[256];

    fbp_number_skeleton(name, kind);
    char *whole = fbp_path_join(path, kind);
    if (!before || !whole ||
        fbp_reserve((void **)&files->list, sizeof *files->list, files->n + 1, &files->room,
                    "names of files") != FBP_OK) {
        free(before);
        free(whole);
        free(path);
        return fbp_fail(FBP_ERR_NOMEM, "out of memory for names of files; close other programs");
    }
    files->list[files->n++] = (struct file){
        .path = path,
        .kind = whole,
        .before = before,
        .after = numbered ? path + end : path + strlen(path),
        .number = numbered ? (size_t)strtoul(path + at, NULL, 10) : 0,
        .digits = numbered ? (int)(end - at) : 0,
    };
    return FBP_OK;
}

_Thread_local struct fbp_init_state *fbp_init_now;

void fbp_init_log(enum fbp_log_level level, const char *fmt, ...)
{
    char line[1200], safe[1400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    va_end(ap);
    fbp_printable(safe, sizeof safe, line, strlen(line), "");
    if (fbp_init_now->log)
        fbp_init_now->log(fbp_init_now->user, level, safe);
}

void fbp_init_lost_scan(const char *path)
{
    fbp_init_now->lost_own |= fbp_has_extension(path, ".json");
    fbp_init_now->lost_foreign |= fbp_has_extension(path, ".xtekct .log .pca .dsc");
}

/* Record that a file or folder cannot be read, for the reason in errno. */
static void unreadable(const char *path)
{
    fbp_init_now->lost_memory |= errno == ENOMEM;
    fbp_init_lost_scan(path);
    if (errno != ENOMEM && !fbp_init_now->unread[0])
        snprintf(fbp_init_now->unread, sizeof fbp_init_now->unread, "%s: cannot be read: %s", path,
                 strerror(errno));
    if (errno != ENOMEM)
        fbp_init_log(FBP_LOG_WARNING, "%s: ignored, because it cannot be read: %s", path,
                     strerror(errno));
}

void fbp_init_failed(fbp_status st)
{
    fbp_init_now->lost_memory |= st == FBP_ERR_NOMEM;
    if (st == FBP_ERR_IO)
        fbp_init_log(FBP_LOG_WARNING, "%s: ignored", fbp_message());
}

static bool is_array_name(const char *path)
{
    for (const struct fbp_array_format *const *f = fbp_array_formats(); *f; f++)
        if (fbp_has_extension(path, *(*f)->written ? (*f)->written : (*f)->slices))
            return true;
    return false;
}

/* List the files of a folder and, if `deeper`, of the folders in it. */
static fbp_status list_files(const char *folder, bool deeper, struct files *files)
{
    const char *slash = fbp_has_extension(folder, "/") ? "" : "/";
    DIR *dir = opendir(folder);
    fbp_status st = FBP_OK;

    if (!dir && deeper)
        return fbp_fail(FBP_ERR_IO,
                        "%s: cannot be opened as a folder: %s; name the folder of the data", folder,
                        strerror(errno));
    if (!dir) {
        unreadable(folder);
        return FBP_OK;
    }
    errno = 0;
    for (struct dirent *entry; st == FBP_OK && (entry = readdir(dir)) != NULL; errno = 0) {
        struct stat info;
        char *path =
            entry->d_name[0] == '.' ? NULL : fbp_format("%s%s%s", folder, slash, entry->d_name);
        const bool there = path && stat(path, &info) == 0;
        if (!there && entry->d_name[0] != '.')
            unreadable(path ? path : entry->d_name);
        fbp_init_now->lost_memory |= !path && entry->d_name[0] != '.';
        if (there && S_ISDIR(info.st_mode) && deeper)
            st = list_files(path, false, files);
        if (there && S_ISREG(info.st_mode) && access(path, R_OK) == 0) {
            st = add_file(files, path);
            continue;
        }
        if (there && S_ISREG(info.st_mode))
            unreadable(path);
        else if (there && !(S_ISDIR(info.st_mode) && deeper))
            fbp_init_log(FBP_LOG_NOTE, "%s: ignored, because it is %s", path,
                         S_ISDIR(info.st_mode) ? "a folder two levels below the given one"
                                               : "not a regular file");
        free(path);
    }
    if (st == FBP_OK && errno != 0)
        st = fbp_fail(FBP_ERR_IO, "%s: the folder cannot be listed: %s", folder, strerror(errno));
    closedir(dir);
    return st;
}

/* Compare two files: files of one series follow one another, in the order of their numbers. */
static int compare_files(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    int order = strcmp(x->kind, y->kind);

    if (order == 0)
        order = strverscmp(x->before, y->before);
    if (order == 0)
        order = strcmp(x->after, y->after);
    if (order == 0)
        order = (x->number > y->number) - (x->number < y->number);
    return order ? order : strcmp(x->path, y->path);
}

static bool start_series(const struct file *file, struct fbp_init_series *s)
{
    struct stat info;

    *s = (struct fbp_init_series){.path = strdup(file->path),
                                  .before = strdup(file->before),
                                  .after = strdup(file->after),
                                  .first = file->number,
                                  .last = file->number,
                                  .digits = file->digits};
    if (stat(file->path, &info) == 0)
        s->bytes = (uint64_t)info.st_size;
    else
        unreadable(file->path);
    return s->path && s->before && s->after;
}

/* Add a file to a series; false: the file does not belong to it, because its name differs in more
 * than the number. A number that follows the last one (8, 9, 10, or 08, 09, 10) extends the series;
 * files after a gap are only counted. */
static bool continues(struct fbp_init_series *s, const struct file *file)
{
    char plain[24];

    if (!s->after[0] || strcmp(s->before, file->before) != 0 || strcmp(s->after, file->after) != 0)
        return false;
    const bool padded = file->digits == s->digits;
    const int digits = snprintf(plain, sizeof plain, "%zu", file->number);
    if (file->number != s->last + 1 || s->missing || (!padded && file->digits != digits)) {
        s->missing++;
        return true;
    }
    s->digits = padded ? s->digits : 0;
    s->last = file->number;
    return true;
}

static void clear_series(struct fbp_init_series *s)
{
    free(s->path);
    free(s->before);
    free(s->after);
    free(s->glob);
    free(s->why);
    fbp_numbering_clear(&s->order);
    *s = (struct fbp_init_series){.path = NULL};
}

/* Join n files whose names have several changing numbers, decimals or gaps to one series s. s->path
 * is NULL if they are not one series.  If several numbers change and the files form at most n/2
 * runs of consecutive numbers, they are not joined: each run counts as a scan of its own. */
static fbp_status join_files(const struct file *files, size_t n, size_t runs,
                             struct fbp_init_series *s)
{
    char **paths = calloc(n, sizeof *paths);
    fbp_source *source = NULL;
    bool negative = false;
    fbp_status st = FBP_OK;

    if (!start_series(&files[0], s) || !paths)
        FBP_TRY_GOTO(fbp_fail_nomem(n, "names of files"));
    for (size_t i = 0; i < n; i++)
        paths[i] = files[i].path;
    st = fbp_number_files(paths, n, files[0].kind, &s->order);
    /* The names allow two orders of the files: keep the error message, which is reported if the
     * files are the projections. */
    if (st == FBP_ERR_INVALID) {
        s->why = strdup(fbp_message());
        if (runs <= n / 2)
            clear_series(s);
        free(paths);
        return FBP_OK;
    }
    FBP_TRY_GOTO(st);
    for (size_t i = 0; i < s->order.n_columns * n; i++)
        negative |= s->order.columns[i] < 0;
    const bool one = s->order.counted && (s->order.n_columns == 1 || runs > n / 2);
    if (one) { /* kind "p_#.tif" to "p_[0-9]*.tif" */
        const char *const run = negative ? "[-0-9]*" : "[0-9]*", *kind = files[0].kind;
        char *to = s->glob = calloc(strlen(kind) * strlen(run) + 1, 1);
        for (const char *p = kind; to && *p; p++)
            to = *p == '#' && p >= fbp_base_name(kind) ? stpcpy(to, run) : (*to = *p, to + 1);
    }
    free(s->path);
    s->path = strdup(paths[0]);
    s->last = s->first + n; /* more than one file */
    if (!s->path || !s->glob || fbp_source_open(&source, s->glob, NULL) != FBP_OK ||
        fbp_source_info(source)->n[2] != n)
        clear_series(s);
    fbp_source_close(&source);
fail:
    if (st != FBP_OK)
        clear_series(s);
    free(paths);
    return st;
}

static fbp_status make_series(const struct files *files, struct fbp_init_folder *out)
{
    const struct file *list = files->list;

    out->series = calloc(files->n ? files->n : 1, sizeof *out->series);
    if (!out->series)
        return fbp_fail_nomem(files->n, "files");
    for (size_t i = 0, end; i < files->n; i = end) { /* files of one kind */
        struct fbp_init_series *first = &out->series[out->n], *last = NULL, joined;
        for (end = i; end < files->n && strcmp(list[i].kind, list[end].kind) == 0; end++) {
            if (last && continues(last, &list[end]))
                continue;
            last = &out->series[out->n++];
            if (!start_series(&list[end], last))
                return fbp_fail_nomem(files->n, "files");
        }
        const size_t runs = out->n - (size_t)(first - out->series);
        if (!is_array_name(list[i].path) || (runs == 1 && !first->missing))
            continue;
        FBP_TRY(join_files(&list[i], end - i, runs, &joined));
        for (; joined.path && out->series + out->n > first; out->n--)
            clear_series(&out->series[out->n - 1]);
        if (joined.path)
            out->series[out->n++] = joined;
    }
    return FBP_OK;
}

char *fbp_init_pattern(const struct fbp_init_series *s)
{
    if (s->glob || s->last == s->first)
        return fbp_strdup(s->glob ? s->glob : s->path);
    return s->digits > 1
               ? fbp_format("%s%%0%dd%s %zu %zu", s->before, s->digits, s->after, s->first, s->last)
               : fbp_format("%s%%d%s %zu %zu", s->before, s->after, s->first, s->last);
}

fbp_status fbp_init_list(const char *path, struct fbp_init_folder *out)
{
    struct files files = {0};
    fbp_status st = list_files(path, true, &files);

    *out = (struct fbp_init_folder){.path = path};
    if (st == FBP_OK && files.n > 0)
        qsort(files.list, files.n, sizeof *files.list, compare_files);
    if (st == FBP_OK)
        st = make_series(&files, out);
    for (size_t i = 0; st == FBP_OK && i < out->n; i++) { /* size and type of arrays */
        struct fbp_init_series *s = &out->series[i];
        char *pattern = s->why ? NULL : fbp_init_pattern(s);
        fbp_source *source = NULL;
        fbp_status opened = FBP_ERR_UNSUPPORTED;
        if (s->why)
            continue;
        fbp_init_now->lost_memory |= !pattern;
        if (s->bytes > 0 && pattern)
            opened = fbp_source_open(&source, pattern, NULL);
        if (opened == FBP_ERR_IO && !fbp_init_now->unread[0])
            snprintf(fbp_init_now->unread, sizeof fbp_init_now->unread, "%s", fbp_message());
        if (fbp_init_tried(opened)) {
            s->info = *fbp_source_info(source);
            s->volume = strcmp(s->info.unit, "HU") == 0; /* or 1 over any length */
            for (size_t k = 0; fbp_unit_name((enum fbp_unit)k); k++) {
                char of[8];
                snprintf(of, sizeof of, "1/%s", fbp_unit_name((enum fbp_unit)k));
                s->volume |= strncmp(s->info.unit, of, strlen(of)) == 0;
            }
        } else if (s->bytes > 0 && is_array_name(s->path)) {
            s->why = strdup(fbp_message());
        }
        fbp_source_close(&source);
        free(pattern);
    }
    for (size_t i = 0; i < files.n; i++) {
        free(files.list[i].path);
        free(files.list[i].kind);
        free(files.list[i].before);
    }
    free(files.list);
    return st;
}

void fbp_init_clear(struct fbp_init_folder *f)
{
    for (size_t i = 0; i < f->n; i++)
        clear_series(&f->series[i]);
    free(f->series);
    *f = (struct fbp_init_folder){0};
}
