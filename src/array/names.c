/* Lists the files that the name of an array describes (fbp_names_open()): one file, a folder of
 * views or slices, a shell pattern ("views/p_*.tif"), or a pattern with two numbers
 * ("views/%04d.tif 1 360"). Also checks whether an output would replace an input file, or would
 * later be read as one, and hashes names, sizes and times of input files (fbp_inputs_hash()).
 * numbered.c sorts the files of a folder.
 * Used by: bench/, cli/, array/, pipeline/, prep/, scan/. */
#include "array/names.h"
#include "array/array.h"
#include "array/file/bytes.h"
#include "base/cache.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    char *path;
    const struct fbp_format *format; /* by its name; NULL: unknown */
    /* errno of stat() for this entry, for example a broken link; 0: stat() succeeded */
    int error;
    const char *kind; /* kind of the entry, such as "a folder"; NULL: a regular file, or unknown */
};

struct listing {
    struct entry *entries;
    size_t n, room;
    size_t n_files; /* number of regular files */
};

/* Split a shell pattern such as "views/p_*.tif" into folder and *name ("p_*.tif"). false: no such
 * pattern, the folder does not exist, or a file with the whole name exists. A name with ':'
 * describes an array in a file. */
static bool split_glob(const char *path, char folder[PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) + 1 : 2;

    *name = slash ? slash + 1 : path;
    if (!strchr(*name, '*') || strchr(*name, ':') || access(path, F_OK) == 0 || n >= PATH_MAX)
        return false;
    memcpy(folder, slash ? path : "./", n);
    folder[n] = '\0';
    return fbp_is_folder(folder);
}

/* Whether a path is a folder of files (not a folder that is one array, as in Zarr), or a shell
 * pattern such as "views/p_*.tif". */
static bool names_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *name;

    return fbp_is_folder(path) ? !fbp_format_of_folder(path) : split_glob(path, folder, &name);
}

/* List the entries of a folder, except hidden ones, whose names match the shell pattern `name`;
 * NULL: all names. */
static fbp_status list(struct listing *l, const char *folder, const char *name)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    fbp_status st = FBP_OK;

    if (!dir)
        return fbp_fail(FBP_ERR_IO, "%s: cannot open the folder: %s", folder, strerror(errno));
    while ((errno = 0, e = readdir(dir))) {
        struct stat is;

        if (e->d_name[0] == '.' || (name && fnmatch(name, e->d_name, 0) != 0))
            continue;
        FBP_TRY_GOTO(fbp_reserve((void **)&l->entries, sizeof *l->entries, l->n + 1, &l->room,
                                 "a list of files"));
        const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
        char *path = NULL;
        FBP_TRY_GOTO(fbp_print_path(&path, "%s%s%s", folder, slash, e->d_name));
        const int error = stat(path, &is) == 0 ? 0 : errno;
        const char *kind = error || S_ISREG(is.st_mode) ? NULL
                           : S_ISDIR(is.st_mode)        ? "a folder"
                           : S_ISFIFO(is.st_mode)       ? "a named pipe"
                           : S_ISSOCK(is.st_mode)       ? "a socket"
                                                        : "a device";
        l->entries[l->n++] = (struct entry){path, fbp_format_of_name(path), error, kind};
        l->n_files += !kind;
    }
    if (errno)
        st = fbp_fail(FBP_ERR_IO, "%s: cannot read the folder: %s", folder, strerror(errno));
fail:
    closedir(dir);
    return st;
}

/* Find the most frequent format among the listed files of a folder. If none has a known format:
 * *out is NULL (headerless files) if `raw`, otherwise an error. FBP_ERR_INVALID if two formats are
 * equally frequent. */
static fbp_status choose(const struct listing *l, const char *folder, bool raw,
                         const struct fbp_format **out)
{
    const struct fbp_format *best = NULL, *second = NULL;
    size_t most = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct fbp_format *f = l->entries[i].format;
        size_t n = 0;

        for (size_t k = 0; f && k < l->n; k++)
            n += l->entries[k].format == f;
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
        return FBP_INVALID("%s: contains %zu %s files and as many %s files; select the views by a "
                           "pattern, such as \"views/%%04d.tif 1 360\"",
                           folder, most, best->name, second->name);
    if (best || (raw && l->n_files > 0))
        return FBP_OK;
    if (l->n == 0 && strchr(folder, '*'))
        return fbp_fail(FBP_ERR_IO, "%s: no file name matches the pattern; correct the pattern",
                        folder);
    return FBP_INVALID(
        "%s: found %zu files, none of which is an array (.tif, .png, .mha …) by its "
        "name; name the folder of the views, or describe headerless files with \"raw\"",
        folder, l->n_files);
}

/* Whether an entry in a folder of headerless files (format NULL) is a subfolder, not a view. */
static bool is_subfolder(const struct entry *e, const struct fbp_format *format)
{
    return e->kind && !format && strcmp(e->kind, "a folder") == 0;
}

/* Print a note to s->note, such as "views: 360 tiff files, p_001.tif to p_360.tif; 2 other files
 * and darks (a folder) ignored". The note contains the number of ignored files, and the name of the
 * first ignored folder or device. */
static void describe(struct fbp_file_names *s, const char *folder, const struct listing *l,
                     const struct fbp_format *format)
{
    char files[40] = "", more[140] = "", count[60] = "", ignored[200], line[420];
    const struct entry *first = NULL;
    size_t n_files = 0, n_more = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct entry *e = &l->entries[i];

        n_files += !e->kind && e->format != format;
        if (e->kind && (e->format != format || is_subfolder(e, format))) {
            first = first ? first : e;
            n_more++;
        }
    }
    if (n_files)
        snprintf(files, sizeof files, "%zu other file%s", n_files, n_files == 1 ? "" : "s");
    if (n_more > 1)
        snprintf(count, sizeof count, ", and %zu more that %s no regular file%s", n_more - 1,
                 n_more == 2 ? "is" : "are", n_more == 2 ? "" : "s");
    if (first)
        snprintf(more, sizeof more, "%s%.24s (%s)%s", n_files ? " and " : "",
                 fbp_base_name(first->path), first->kind, count);
    snprintf(ignored, sizeof ignored, "; %s%s ignored", files, more);
    snprintf(line, sizeof line, "%.60s: %zu %s file%s, %.40s to %.40s%.39s%s%.105s", folder, s->n,
             format ? format->name : "headerless", s->n == 1 ? "" : "s", fbp_base_name(s->list[0]),
             fbp_base_name(s->list[s->n - 1]), s->numbering.order,
             s->numbering.gaps[0] ? ", with gaps in their numbers" : "",
             n_files || first ? ignored : "");
    snprintf(s->note, sizeof s->note, "%.*s", (int)sizeof s->note - 1, line);
}

fbp_status fbp_names_open(struct fbp_file_names *out, const char *path, bool raw)
{
    const struct fbp_format *format = NULL;
    struct listing l = {0};
    char folder[PATH_MAX];
    const char *name;
    fbp_status st;

    *out = (struct fbp_file_names){0};
    if (fbp_pattern_parse(path, &out->pattern)) {
        if (out->pattern.last < out->pattern.first)
            return FBP_INVALID("%s: the last number is below the first; expected a pattern such as "
                               "\"views/%%04d.mha 1 360\"",
                               path);
        out->n = (size_t)(out->pattern.last - out->pattern.first + 1);
        return FBP_OK;
    }

    const bool is_glob = !fbp_is_folder(path) && split_glob(path, folder, &name);
    FBP_TRY_GOTO(list(&l, is_glob ? folder : path, is_glob ? name : NULL));
    FBP_TRY_GOTO(choose(&l, path, raw, &format));
    /* n > 0 */
    FBP_TRY_GOTO(fbp_calloc((void **)&out->list, l.n, sizeof *out->list, "a list of files"));

    /* All files of the chosen format must be readable: if one were left out, all later views would
     * get a wrong index. */
    for (size_t i = 0; i < l.n; i++) {
        struct entry *e = &l.entries[i];
        if (e->format != format)
            continue;
        if (e->error)
            FBP_TRY_GOTO(
                fbp_fail(FBP_ERR_IO,
                         "%s: the status of this file, one of the views or slices, cannot be read: "
                         "%s; repair or remove it (it may be a link to a missing file)",
                         e->path, strerror(e->error)));
        if (e->kind && !is_subfolder(e, format))
            FBP_TRY_GOTO(fbp_fail(FBP_ERR_IO,
                                  "%s: is %s among the files of views or slices; replace it by a "
                                  "file, move it away, or name the files by a pattern",
                                  e->path, e->kind));
        if (!e->kind) {
            out->list[out->n++] = e->path;
            e->path = NULL;
        }
    }
    FBP_TRY_GOTO(fbp_number_files(out->list, out->n, path, &out->numbering));
    describe(out, path, &l, format);
fail:
    for (size_t i = 0; i < l.n; i++)
        free(l.entries[i].path);
    free(l.entries);
    return st;
}

char *fbp_names_get(const struct fbp_file_names *s, size_t k)
{
    return s->list ? fbp_strdup(s->list[k]) : fbp_pattern_name(&s->pattern, s->pattern.first + k);
}

void fbp_names_close(struct fbp_file_names *s)
{
    for (size_t i = 0; s->list && i < s->n; i++)
        free(s->list[i]);
    free(s->list);
    fbp_numbering_clear(&s->numbering);
    *s = (struct fbp_file_names){0};
}

bool fbp_names_many_files(const char *path)
{
    struct fbp_pattern p;

    return fbp_pattern_parse(path, &p) || names_folder(path);
}

size_t fbp_stack_count(const char *pattern)
{
    struct fbp_pattern p;

    return fbp_pattern_parse(pattern, &p) && p.first <= p.last ? (size_t)(p.last - p.first + 1) : 0;
}

char *fbp_stack_name(const char *pattern, size_t k)
{
    struct fbp_pattern p;

    return k < fbp_stack_count(pattern) && fbp_pattern_parse(pattern, &p)
               ? fbp_pattern_name(&p, p.first + k)
               : NULL;
}

fbp_status fbp_stack_numbering(const char *path, bool raw, struct fbp_numbering *out, size_t *n)
{
    struct fbp_file_names names = {0};
    fbp_status st = FBP_OK;

    if (names_folder(path))
        st = fbp_names_open(&names, path, raw);
    *n = names.n;
    *out = names.numbering;
    names.numbering = (struct fbp_numbering){.counted = false};
    fbp_names_close(&names);
    return st;
}

/* Return `st` if it is FBP_ERR_NOMEM or FBP_ERR_IO, after which files of a folder may be unknown.
 * Any other failure becomes FBP_OK: it is reported when the folder is opened for reading. */
static fbp_status unless_unseen(fbp_status st)
{
    if (st == FBP_ERR_NOMEM || st == FBP_ERR_IO)
        return st;
    fbp_message_clear();
    return FBP_OK;
}

const char *fbp_files_next(struct fbp_files *f, fbp_status *st)
{
    if (!f->begun) {
        f->begun = true;
        f->stack = !f->stop && fbp_names_many_files(f->path);
        if (f->stack)
            *st = unless_unseen(fbp_names_open(&f->names, f->path, true));
    }
    free(f->file);
    f->file = NULL;
    if (*st == FBP_OK && !f->stop && f->k < (f->stack ? f->names.n : 1)) {
        char *name = f->stack ? fbp_names_get(&f->names, f->k) : fbp_strdup(f->path);
        char *member = NULL;

        f->k++;
        *st = name ? unless_unseen(fbp_member_split(name, &f->file, &member))
                   : fbp_fail_nomem(strlen(f->path), "a path");
        free(name);
        free(member);
        if (*st == FBP_OK && f->file)
            return f->file;
    }
    free(f->file);
    f->file = NULL;
    fbp_names_close(&f->names);
    return NULL;
}

static fbp_status same_folder(const char *a, const char *b, bool *same)
{
    struct stat x = {0}, y = {0};
    bool there[2] = {false, false};
    char *of_a = fbp_path_join(a, "."), *of_b = fbp_path_join(b, ".");
    fbp_status st = of_a && of_b ? FBP_OK : fbp_fail_nomem(strlen(a) + strlen(b), "paths");

    if (st == FBP_OK)
        st = fbp_stat(of_a, &x, &there[0]);
    if (st == FBP_OK)
        st = fbp_stat(of_b, &y, &there[1]);
    *same = there[0] && there[1] && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    free(of_a);
    free(of_b);
    return st;
}

fbp_status fbp_stack_joins(const char *path, const char *file, bool *out)
{
    char *first = NULL, *one = NULL;
    unsigned long long number;
    struct fbp_file_names names;
    struct fbp_pattern p;
    bool same = false;
    fbp_status st;

    *out = false;
    if (!fbp_names_many_files(path))
        return FBP_OK;
    st = fbp_names_open(&names, path, true);
    if (st != FBP_OK || names.n == 0) {
        st = st == FBP_OK ? FBP_OK : unless_unseen(st);
        goto fail;
    }
    /* whether `file` is a pattern of several files */
    const bool many = fbp_pattern_parse(file, &p) || fbp_pattern_place(file, strlen(file), &p);
    first = fbp_names_get(&names, 0);
    one = many ? fbp_pattern_name(&p, p.first) : fbp_strdup(file);
    FBP_TRY_GOTO(fbp_check_path(first));
    FBP_TRY_GOTO(fbp_check_path(one));
    FBP_TRY_GOTO(same_folder(first, file, &same));
    if (!same)
        goto fail;

    /* Whether the output `file` would later be read as one of the input files, or would change
     * which files are read. The input is a pattern of numbers: if the name of the output fits the
     * pattern, or if the output is a pattern, too, with files of the same format. The input is a
     * folder or a shell pattern: (1) the output has the format of the input files; (2) the input
     * files are headerless, so any file is read; or (3) the output has another format, and could
     * become the most frequent one, because the input is a single file or the output is many
     * files. */
    const struct fbp_format *ours = fbp_format_of_name(file), *theirs = fbp_format_of_name(first);
    if (!names.list)
        *out = fbp_pattern_fits(&names.pattern, fbp_base_name(one), &number) ||
               (ours && ours == theirs && many);
    else if (fbp_base_name(file)[0] != '.')
        *out = ours == theirs || !theirs || (ours && (names.n == 1 || many));
fail:
    free(first);
    free(one);
    fbp_names_close(&names);
    return st;
}

fbp_status fbp_stack_hash(uint64_t *h, const char *path)
{
    struct fbp_files files = {.path = path};
    fbp_status st = FBP_OK;

    for (const char *file; (file = fbp_files_next(&files, &st));) {
        const char *base = fbp_base_name(file);
        struct stat s = {0};
        bool there;

        st = fbp_stat(file, &s, &there);
        if (st != FBP_OK)
            continue;
        if (!there)
            s = (struct stat){0};
        const int64_t facts[3] = {(int64_t)s.st_size, (int64_t)s.st_mtim.tv_sec,
                                  (int64_t)s.st_mtim.tv_nsec};
        *h = fbp_hash(fbp_hash(*h, base, strlen(base)), facts, sizeof facts);
    }
    return st;
}

fbp_status fbp_watch_array(struct fbp_file_states *watch, const char *array)
{
    struct fbp_files files = {.path = array};
    fbp_status st = FBP_OK;

    for (const char *file; (file = fbp_files_next(&files, &st));)
        files.stop = !fbp_file_states_add(watch, file);
    FBP_TRY(st);
    return watch->status;
}

/* Add the name of an array to the hash h, in a form that does not depend on its spelling and on the
 * current folder: the real path of the existing file or folder in it, then the rest, such as a data
 * set or a placeholder. */
static uint64_t hash_name(uint64_t h, const char *name)
{
    char part[PATH_MAX], real[PATH_MAX];
    size_t n = strlen(name);

    if (n >= sizeof part)
        return fbp_hash(h, name, n); /* longer than any path */
    memcpy(part, name, n + 1);
    while (n > 0 && !realpath(part, real)) {
        while (n > 0 && part[n - 1] != '/')
            n--;
        while (n > 1 && part[n - 1] == '/')
            n--;
        part[n] = '\0';
    }
    if (n > 0 || realpath(".", real))
        h = fbp_hash(h, real, strlen(real));
    name += n + strspn(name + n, "/");
    return fbp_hash(h, name, strlen(name));
}

fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        *h = hash_name(*h, s->names[i]);
        FBP_TRY(fbp_stack_hash(h, s->names[i]));
    }
    return FBP_OK;
}

/* Whether `file` lies inside `folder`, an output that would be replaced as a whole. */
static bool lies_in(const char *file, const char *folder)
{
    char *a = realpath(file, NULL), *b = realpath(folder, NULL);
    const size_t n = b ? strlen(b) : 0;
    const bool is = a && b && strncmp(a, b, n) == 0 && a[n] == '/';

    free(a);
    free(b);
    return is;
}

fbp_status fbp_input_has(const char *input, const char *file, bool *is)
{
    /* number of consecutive missing files that ends the search: a pattern may describe millions */
    enum { MOST_MISSING = 10000 };
    struct fbp_files files = {.path = input};
    size_t missing = 0; /* number of consecutive missing files */
    fbp_status st = FBP_OK;
    struct stat out;
    bool out_there;

    *is = false;
    FBP_TRY(fbp_stat(file, &out, &out_there));
    for (const char *one; (one = fbp_files_next(&files, &st));) {
        bool there = false;
        struct stat in;

        if (out_there)
            st = fbp_stat(one, &in, &there);
        missing = there ? 0 : missing + 1;
        *is = strcmp(one, file) == 0 ||
              (there && in.st_dev == out.st_dev && in.st_ino == out.st_ino) ||
              (there && S_ISDIR(out.st_mode) && lies_in(one, file));
        files.stop = *is || missing == MOST_MISSING;
    }
    return st;
}

fbp_status fbp_input_is(const char *input, const char *file, bool *is)
{
    FBP_TRY(fbp_input_has(input, file, is));
    return *is ? FBP_OK : fbp_stack_joins(input, file, is);
}

fbp_status fbp_inputs_add_array(struct fbp_inputs *s, const char *path, const struct fbp_raw *raw)
{
    fbp_source *source = NULL;

    if (!path)
        return FBP_OK;
    fbp_status st = fbp_source_open(&source, path, raw);
    if (st == FBP_ERR_NOMEM)
        return st;
    if (st != FBP_OK) {
        fbp_message_clear();
        return fbp_inputs_add(s, path);
    }
    st = fbp_inputs_add_all(s, &source->inputs, 0);
    fbp_source_close(&source);
    return st;
}

/* Check whether writing `file` would replace one of the inputs, or would later be read as a part of
 * one. */
static fbp_status compare_file(const struct fbp_inputs *s, const char *file, bool *hit)
{
    *hit = false;
    for (size_t i = 0; i < s->n && !*hit; i++)
        FBP_TRY(fbp_input_is(s->names[i], file, hit));
    return FBP_OK;
}

/* Check whether writing an output would replace an input or add a file to one: compare its name and
 * its existing files, or all matching files if the name is a pattern such as "out/%04d.tif". */
static fbp_status compare_output(const struct fbp_inputs *s, const char *output, bool *is_there,
                                 bool *hit)
{
    struct fbp_files files = {.path = output};
    unsigned long long number;
    struct fbp_pattern p;
    const struct dirent *e;
    fbp_status st = FBP_OK;
    bool there;

    FBP_TRY(compare_file(s, output, hit));
    if (*hit)
        return FBP_OK;
    if (!fbp_pattern_place(output, strlen(output), &p) || fbp_pattern_parse(output, &p)) {
        for (const char *file; (file = fbp_files_next(&files, &st));) {
            struct stat is;

            st = fbp_stat(file, &is, &there);
            *is_there |= there;
            if (st == FBP_OK)
                st = compare_file(s, file, hit);
            files.stop = *hit;
        }
        return st;
    }

    char *folder = fbp_path_join(output, ".");
    FBP_TRY(fbp_check_path(folder));
    DIR *dir = opendir(folder);
    const int error = errno;
    free(folder);
    errno = error;
    if (!dir && (error == ENOENT || error == ENOTDIR))
        return FBP_OK; /* nothing exists yet */
    while (dir && st == FBP_OK && !*hit && (errno = 0, e = readdir(dir))) {
        if (!fbp_pattern_fits(&p, e->d_name, &number))
            continue;
        char *path = fbp_path_join(output, e->d_name);
        *is_there = true;
        st = path ? compare_file(s, path, hit) : fbp_fail_nomem(strlen(output), "a path");
        free(path);
    }
    if (st == FBP_OK && !*hit && (!dir || errno != 0))
        st = fbp_fail_list(output);
    if (dir)
        closedir(dir);
    return st;
}

bool fbp_inputs_hit(const struct fbp_inputs *named, fbp_all_inputs_fn *add_all, const void *user,
                    const char *output)
{
    struct fbp_inputs all = {0};
    bool is_there = false, hit = false;
    fbp_status st;

    FBP_TRY_GOTO(compare_output(named, output, &is_there, &hit));
    if (!hit && is_there) {
        FBP_TRY_GOTO(add_all(&all, user));
        FBP_TRY_GOTO(compare_output(&all, output, &is_there, &hit));
    }
fail:
    fbp_inputs_clear(&all);
    if (st == FBP_OK)
        fbp_message_clear();
    return st != FBP_OK || hit;
}

static fbp_status add_one(struct fbp_inputs *all, const void *array)
{
    return fbp_inputs_add_array(all, array, NULL);
}

bool fbp_array_reads(const char *array, const char *file)
{
    FBP_REQUIRE_ELSE(false, array, file);
    struct fbp_inputs named = {0};

    fbp_message_clear();
    const fbp_status st = fbp_inputs_add(&named, array);
    const bool hit = st != FBP_OK || fbp_inputs_hit(&named, add_one, array, file);
    fbp_inputs_clear(&named);
    return hit;
}
