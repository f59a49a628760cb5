/* Which files a name stands for: a pattern, a folder, or one file. */
#include "array/stack_names.h"
#include "array/file/bytes.h"
#include "array/file/member.h"
#include "array/formats.h"
#include "array/names.h"

#include "base/cache.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool fbp_stack_is_pattern(const char *path)
{
    struct fbp_pattern p;

    return fbp_pattern_parse(path, &p) || fbp_pattern_place(path, strlen(path), &p);
}

bool fbp_stack_is(const char *path)
{
    struct fbp_pattern p;

    return fbp_pattern_parse(path, &p) || fbp_names_is_folder(path);
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

/* Is a file, or are those of a pattern, of a series of numbered names? */
static fbp_status in_series(const struct fbp_pattern *series, const char *file, bool *is)
{
    struct fbp_pattern p;
    unsigned long long number;
    char *one = fbp_pattern_parse(file, &p) || fbp_pattern_place(file, strlen(file), &p)
                    ? fbp_pattern_name(&p, p.first)
                    : fbp_strdup(file);

    if (!one)
        return fbp_fail_nomem(strlen(file), "a path");
    const char *slash = strrchr(one, '/');
    *is = fbp_pattern_fits(series, slash ? slash + 1 : one, &number);
    free(one);
    return FBP_OK;
}

/* Would it change what is read next time?  A file of the pattern's series, or a stack of its
 * format; in a folder a file of its format, one that makes its only file doubtful, any beside
 * headerless ones. */
static fbp_status changes(const struct fbp_names *names, const char *first, const char *file,
                          bool *out)
{
    const struct fbp_format *ours = fbp_format_of_name(file), *theirs = fbp_format_of_name(first);
    const bool many = fbp_stack_is_pattern(file);
    const char *slash = strrchr(file, '/');

    if (!names->list) {
        FBP_TRY(in_series(&names->pattern, file, out));
        *out |= ours && ours == theirs && many;
    } else if ((slash ? slash + 1 : file)[0] != '.') {
        *out = ours == theirs || !theirs || (ours && (names->n == 1 || many));
    }
    return FBP_OK;
}

static fbp_status joins(const struct fbp_names *names, const char *file, bool *out)
{
    char *first;
    bool beside = false;

    if (names->n == 0)
        return FBP_OK;
    first = fbp_names_get(names, 0);
    if (!first)
        return fbp_fail_nomem(strlen(file), "a path");
    fbp_status st = same_folder(first, file, &beside);
    if (st == FBP_OK && beside)
        st = changes(names, first, file, out);
    free(first);
    return st;
}

static size_t n_files(const struct fbp_pattern *p)
{
    return p->first <= p->last ? (size_t)(p->last - p->first + 1) : 0;
}

size_t fbp_stack_count(const char *pattern)
{
    struct fbp_pattern p;

    return fbp_pattern_parse(pattern, &p) ? n_files(&p) : 0;
}

char *fbp_stack_name(const char *pattern, size_t k)
{
    struct fbp_pattern p;

    return fbp_pattern_parse(pattern, &p) && k < n_files(&p) ? fbp_pattern_name(&p, p.first + k)
                                                             : NULL;
}

fbp_status fbp_stack_numbering(const char *path, bool raw, struct fbp_numbering *out, size_t *n)
{
    struct fbp_names names = {0};
    fbp_status st = FBP_OK;

    if (fbp_names_is_folder(path))
        st = fbp_names_open(&names, path, raw);
    *n = names.n;
    *out = names.numbering;
    names.numbering = (struct fbp_numbering){.counted = false};
    fbp_names_close(&names);
    return st;
}

/* What is wrong with the files of a folder, their readers say; that there may be more of them than
 * are known counts here. */
static fbp_status unless_unknown(fbp_status st)
{
    if (st == FBP_ERR_NOMEM || st == FBP_ERR_IO)
        return st;
    fbp_message_clear();
    return FBP_OK;
}

fbp_status fbp_stack_joins(const char *path, const char *file, bool *out)
{
    struct fbp_names names;

    *out = false;
    if (!fbp_stack_is(path))
        return FBP_OK;
    fbp_status st = fbp_names_open(&names, path, true);
    st = st == FBP_OK ? joins(&names, file, out) : unless_unknown(st);
    fbp_names_close(&names);
    return st;
}

/* The file of an array inside a file is that file. */
static fbp_status do_file(const char *name, fbp_stack_fn *fn, void *user, bool *go_on)
{
    char *file = NULL, *member = NULL;

    *go_on = false;
    if (!name)
        return fbp_fail_nomem(1, "a path");
    const fbp_status st = unless_unknown(fbp_member_split(name, &file, &member));
    if (file)
        *go_on = fn(user, file);
    free(file);
    free(member);
    return st;
}

fbp_status fbp_stack_each(const char *path, fbp_stack_fn *fn, void *user)
{
    struct fbp_names names = {0};
    bool go_on = true;

    if (!fbp_stack_is(path))
        return do_file(path, fn, user, &go_on);
    fbp_status st = fbp_names_open(&names, path, true);
    if (st != FBP_OK)
        st = unless_unknown(st);
    for (size_t k = 0; st == FBP_OK && go_on && k < names.n; k++) {
        char *name = fbp_names_get(&names, k);
        st = do_file(name, fn, user, &go_on);
        free(name);
    }
    fbp_names_close(&names);
    return st;
}

/* Those of an open folder whose names fit a pattern. */
static fbp_status each_that_fits(DIR *dir, const struct fbp_pattern *p, const char *output,
                                 fbp_stack_fn *fn, void *user)
{
    unsigned long long number;
    const struct dirent *e;
    bool go_on = true;

    while (go_on && (errno = 0, e = readdir(dir))) {
        if (!fbp_pattern_fits(p, e->d_name, &number))
            continue;
        char *path = fbp_path_join(output, e->d_name);
        if (!path)
            return fbp_fail_nomem(strlen(output), "a path");
        go_on = fn(user, path);
        free(path);
    }
    return !go_on || errno == 0 ? FBP_OK
                                : fbp_fail(FBP_ERR_IO, "%s: its folder cannot be listed: %s",
                                           output, strerror(errno));
}

fbp_status fbp_stack_each_there(const char *output, fbp_stack_fn *fn, void *user)
{
    struct fbp_pattern p;

    if (!fbp_pattern_place(output, strlen(output), &p) || fbp_pattern_parse(output, &p))
        return fbp_stack_each(output, fn, user);
    char *folder = fbp_path_join(output, ".");
    if (!folder)
        return fbp_fail_nomem(strlen(output), "a path");
    DIR *dir = opendir(folder);
    const int error = errno;
    free(folder);
    if (!dir && (error == ENOENT || error == ENOTDIR))
        return FBP_OK; /* nothing is there yet */
    if (!dir)
        return fbp_fail(FBP_ERR_IO, "%s: its folder cannot be listed: %s", output, strerror(error));
    const fbp_status st = each_that_fits(dir, &p, output, fn, user);
    closedir(dir);
    return st;
}

/* A hash on its way. */
struct hashing {
    uint64_t *h;
    fbp_status status;
};

static bool hash_file(void *user, const char *file)
{
    struct hashing *hashing = user;
    bool there;
    struct stat s;

    hashing->status = fbp_stat(file, &s, &there);
    if (hashing->status != FBP_OK)
        return false;
    if (!there)
        s = (struct stat){0};
    const int64_t facts[3] = {(int64_t)s.st_size, (int64_t)s.st_mtim.tv_sec,
                              (int64_t)s.st_mtim.tv_nsec};
    const char *base = fbp_base_name(file);
    *hashing->h = fbp_hash(fbp_hash(*hashing->h, base, strlen(base)), facts, sizeof facts);
    return true;
}

fbp_status fbp_stack_hash(uint64_t *h, const char *path)
{
    struct hashing hashing = {.h = h, .status = FBP_OK};

    FBP_TRY(fbp_stack_each(path, hash_file, &hashing));
    return hashing.status;
}

fbp_status fbp_watch_array(struct fbp_watch *watch, const char *array)
{
    FBP_TRY(fbp_stack_each(array, fbp_watch_file, watch));
    return watch->status;
}
