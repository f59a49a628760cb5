#include "array/names.h"
#include "array/file/format.h"
#include "array/formats.h"

#include "base/base.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* "views/p_*.tif" in quotes, which no shell has replaced: its folder, free(); *name: what files of
 * it are called.  NULL: the path is none of these.  '?' and ':' go with arrays inside files. */
static char *split_glob(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');

    *name = slash ? slash + 1 : path;
    if (!strchr(*name, '*') || strchr(*name, ':') || access(path, F_OK) == 0)
        return NULL;
    char *folder = slash ? fbp_format("%.*s", (int)(slash - path + 1), path) : fbp_strdup("./");
    if (folder && is_folder(folder))
        return folder;
    free(folder);
    return NULL;
}

bool fbp_names_is_folder(const char *path)
{
    const char *name;
    char *of_glob = is_folder(path) ? NULL : split_glob(path, &name);
    const bool is = of_glob || (is_folder(path) && !fbp_format_of_folder(path));

    free(of_glob);
    return is;
}

/* One of a folder's files; NULL as format: none is known. */
struct entry {
    char *path;
    const struct fbp_format *format;
    int error;        /* why it cannot be looked at, such as a link that leads nowhere; 0 */
    const char *what; /* it is no file but … ; NULL */
};

struct listing {
    struct entry *entries;
    size_t n, room;
    size_t n_files; /* of all n, those that are no folders, pipes, … */
};

static const char *kind_of(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a named pipe"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

static fbp_status add(struct listing *l, const char *folder, const char *name)
{
    struct stat st;

    if (l->n == l->room) {
        const size_t room = l->room ? 2 * l->room : 256;
        struct entry *more = realloc(l->entries, room * sizeof *more);
        if (!more)
            return fbp_fail_nomem(room * sizeof *more, "a list of files");
        l->entries = more;
        l->room = room;
    }
    char *path = fbp_format("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    if (!path)
        return fbp_fail_nomem(strlen(name), "a path");
    const int error = stat(path, &st) == 0 ? 0 : errno;
    const char *what = error ? NULL : kind_of(st.st_mode);
    l->entries[l->n++] = (struct entry){path, fbp_format_of_name(path), error, what};
    l->n_files += !what;
    return FBP_OK;
}

/* name: what the files are called, as a shell has it; NULL: all of them. */
static fbp_status list(struct listing *l, const char *folder, const char *name)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    fbp_status st = FBP_OK;

    if (!dir)
        return fbp_fail(FBP_ERR_IO, "%s: cannot open the folder: %s", folder, strerror(errno));
    while (st == FBP_OK && (errno = 0, e = readdir(dir)))
        if (e->d_name[0] != '.' && (!name || fnmatch(name, e->d_name, 0) == 0))
            st = add(l, folder, e->d_name);
    if (st == FBP_OK && errno)
        st = fbp_fail(FBP_ERR_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
    closedir(dir);
    return st;
}

static size_t count(const struct listing *l, const struct fbp_format *format)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        n += l->entries[i].format == format;
    return n;
}

/* The format that most files have; a tie is for the user to decide. */
static fbp_status choose(const struct listing *l, const char *folder, bool raw,
                         const struct fbp_format **out)
{
    const struct fbp_format *best = NULL, *second = NULL;
    size_t most = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct fbp_format *f = l->entries[i].format;
        const size_t n = f ? count(l, f) : 0;
        if (f && f != best && n == most)
            second = f;
        if (n > most) {
            most = n;
            best = f;
            second = NULL;
        }
    }
    *out = best;
    if (best && second)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: holds %zu %s and as many %s files: name those that are meant by a "
                        "pattern, such as \"views/%%04d.tif 1 360\"",
                        folder, most, best->name, second->name);
    if (best || (raw && l->n_files > 0))
        return FBP_OK;
    if (l->n == 0 && strchr(folder, '*'))
        return fbp_fail(FBP_ERR_IO, "%s: there is no file of such a name: correct the pattern",
                        folder);
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: none of its %zu files has the name of an array (.tif, .png, .mha …): name "
                    "the folder with the views, or describe headerless files with \"raw\"",
                    folder, l->n_files);
}

/* A folder has the format of headerless files, none, but is no view. */
static bool is_aside(const struct entry *e, const struct fbp_format *format)
{
    return e->what && !format && strcmp(e->what, kind_of(S_IFDIR)) == 0;
}

/* Without a view, all that come after it would be those before them. */
static fbp_status check_views(const struct listing *l, const struct fbp_format *format)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct entry *e = &l->entries[i];
        if (e->format != format)
            continue;
        if (e->error)
            return fbp_fail(FBP_ERR_IO,
                            "%s: one of the folder's files cannot be looked at: %s: mend or remove "
                            "it (is it a link to a file that is gone?)",
                            e->path, strerror(e->error));
        if (e->what && !is_aside(e, format))
            return fbp_fail(FBP_ERR_IO,
                            "%s: is %s, among the folder's views: put the view's file in its "
                            "place, move it away, or name the views by a pattern",
                            e->path, e->what);
    }
    return FBP_OK;
}

/* What lies beside the views, "; 2 other files and darks (a folder) ignored": files are counted, of
 * what is no file the first is named. */
static void describe_others(const struct listing *l, const struct fbp_format *format, char *out,
                            size_t n)
{
    const struct entry *first = NULL;
    size_t n_files = 0, n_more = 0;
    char files[40] = "", more[140] = "", count[60] = "", line[200];

    for (size_t i = 0; i < l->n; i++) {
        const struct entry *e = &l->entries[i];
        n_files += !e->what && e->format != format;
        if (e->what && (e->format != format || is_aside(e, format))) {
            first = first ? first : e;
            n_more++;
        }
    }
    if (n_files)
        snprintf(files, sizeof files, "%zu other file%s", n_files, n_files == 1 ? "" : "s");
    if (n_more > 1)
        snprintf(count, sizeof count, ", and %zu more that %s no file%s", n_more - 1,
                 n_more == 2 ? "is" : "are", n_more == 2 ? "" : "s");
    if (first)
        snprintf(more, sizeof more, "%s%.24s (%s)%s", n_files ? " and " : "",
                 fbp_base_name(first->path), first->what, count);
    snprintf(line, sizeof line, "; %s%s ignored", files, more);
    snprintf(out, n, "%.*s", (int)n - 1, n_files || first ? line : "");
}

static void describe(struct fbp_names *s, const char *folder, const char *format,
                     const char *ignored)
{
    char line[420];

    snprintf(line, sizeof line, "%.60s: %zu %s file%s, %.40s to %.40s%.39s%s%.105s", folder, s->n,
             format, s->n == 1 ? "" : "s", fbp_base_name(s->list[0]),
             fbp_base_name(s->list[s->n - 1]), s->numbering.order,
             s->numbering.gaps[0] ? ", with gaps in their numbers" : "", ignored);
    snprintf(s->note, sizeof s->note, "%.*s", (int)sizeof s->note - 1, line);
}

static fbp_status take_folder(struct fbp_names *out, const char *folder, bool raw)
{
    const struct fbp_format *format = NULL;
    struct listing l = {0};
    const char *name;
    char *of_glob = is_folder(folder) ? NULL : split_glob(folder, &name), ignored[106];
    fbp_status st;

    FBP_TRY_GOTO(list(&l, of_glob ? of_glob : folder, of_glob ? name : NULL));
    FBP_TRY_GOTO(choose(&l, folder, raw, &format));
    FBP_TRY_GOTO(check_views(&l, format));
    FBP_TRY_GOTO(
        fbp_calloc((void **)&out->list, l.n, sizeof *out->list, "a list of files")); /* n > 0 */
    for (size_t i = 0; i < l.n; i++)
        if (l.entries[i].format == format && !l.entries[i].what) {
            out->list[out->n++] = l.entries[i].path;
            l.entries[i].path = NULL;
        }
    FBP_TRY_GOTO(fbp_number_files(out->list, out->n, folder, &out->numbering));
    describe_others(&l, format, ignored, sizeof ignored);
    describe(out, folder, format ? format->name : "headerless", ignored);
fail:
    for (size_t i = 0; i < l.n; i++)
        free(l.entries[i].path);
    free(l.entries);
    free(of_glob);
    return st;
}

fbp_status fbp_names_open(struct fbp_names *out, const char *path, bool raw)
{
    *out = (struct fbp_names){0};
    if (!fbp_pattern_parse(path, &out->pattern))
        return take_folder(out, path, raw);
    if (out->pattern.last < out->pattern.first)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the last number is below the first: expected a pattern such as "
                        "\"views/%%04d.mha 1 360\"",
                        path);
    out->n = (size_t)(out->pattern.last - out->pattern.first + 1);
    return FBP_OK;
}

char *fbp_names_get(const struct fbp_names *s, size_t k)
{
    return s->list ? fbp_strdup(s->list[k]) : fbp_pattern_name(&s->pattern, s->pattern.first + k);
}

void fbp_names_close(struct fbp_names *s)
{
    for (size_t i = 0; s->list && i < s->n; i++)
        free(s->list[i]);
    free(s->list);
    fbp_numbering_clear(&s->numbering);
    *s = (struct fbp_names){0};
}
