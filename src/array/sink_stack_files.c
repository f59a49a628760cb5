/* The files of a stack: their names, what else lies beside them, and how they get their names. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"
#include "array/part.h"
#include "array/sink_stack.h"
#include "array/stack_names.h"

#include "base/base.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* malloc'ed "out/slice_0007.tif", with ".part" behind it or nothing; NULL when out of memory. */
char *fbp_sink_stack_name(const struct fbp_sink *s, size_t z, const char *behind)
{
    char *name = s->pattern.suffix ? fbp_pattern_name(&s->pattern, z) : fbp_strdup(s->path);
    char *whole = name ? fbp_format("%s%s", name, behind) : NULL;

    free(name);
    return whole;
}

/* A name that cannot be taken would leave the slices after it without theirs. */
fbp_status fbp_sink_stack_check_names(const struct fbp_sink *s)
{
    fbp_status st = FBP_OK;

    for (size_t z = 0; z < s->info.n[2] && st == FBP_OK; z++) {
        char *name = fbp_sink_stack_name(s, z, "");
        st = name ? fbp_output_check(name) : fbp_fail_nomem(strlen(s->path), "a path");
        free(name);
    }
    return st;
}

/* Is it the name of slice `number`, as this pattern writes it? */
static fbp_status look_at_name(const struct fbp_sink *s, unsigned long long number,
                               const char *name, bool *same)
{
    char *ours = fbp_sink_stack_name(s, (size_t)number, "");

    if (!ours)
        return fbp_fail_nomem(strlen(s->path), "a path");
    const char *slash = strrchr(ours, '/');
    *same = strcmp(slash ? slash + 1 : ours, name) == 0;
    free(ours);
    return FBP_OK;
}

/* Calls fn for every file of the stack's folder, if that is there. */
static fbp_status each_file(const struct fbp_sink *s,
                            fbp_status (*fn)(const struct fbp_sink *s, const char *name,
                                             const void *user),
                            const void *user)
{
    DIR *dir = opendir(s->folder);
    const struct dirent *e;
    fbp_status st = FBP_OK;

    if (dir || errno == ENOENT)
        errno = 0;
    while (dir && st == FBP_OK && (e = readdir(dir))) {
        st = fn(s, e->d_name, user);
        errno = 0;
    }
    if (st == FBP_OK && errno != 0)
        st = fbp_fail(FBP_ERR_IO, "%s: its folder cannot be listed: %s", s->path, strerror(errno));
    if (dir)
        closedir(dir);
    return st;
}

static fbp_status check_other(const struct fbp_sink *s, const char *name, const void *user)
{
    unsigned long long number;
    bool ours = false;

    (void)user;
    if (!fbp_pattern_fits(&s->pattern, name, &number))
        return FBP_OK;
    if (number < s->info.n[2])
        FBP_TRY(look_at_name(s, number, name, &ours));
    if (ours)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: %s is there and no slice of this volume of %zu: remove it or choose "
                    "another folder",
                    s->path, name, s->info.n[2]);
}

/* Slices of another, larger volume would be taken for some of this one. */
fbp_status fbp_sink_stack_check_others(const struct fbp_sink *s)
{
    return s->pattern.suffix ? each_file(s, check_other, NULL) : FBP_OK;
}

/* Is it NAME.part of one of this pattern's names? */
static fbp_status look_at_part(const struct fbp_sink *s, const char *name, bool *is)
{
    const size_t n = strlen(name), behind = strlen(".part");
    unsigned long long number;
    fbp_status st = FBP_OK;

    *is = false;
    if (n <= behind || strcmp(name + n - behind, ".part") != 0)
        return FBP_OK;
    char *base = fbp_format("%.*s", (int)(n - behind), name);
    if (!base)
        return fbp_fail_nomem(n, "a path");
    if (s->pattern.suffix && fbp_pattern_fits(&s->pattern, base, &number))
        st = look_at_name(s, number, base, is);
    free(base);
    return st;
}

struct clearing {
    const struct fbp_part_inputs *inputs;
    bool ours;
};

static fbp_status clear_part(const struct fbp_sink *s, const char *name, const void *user)
{
    const struct clearing *c = user;
    bool is = false;

    FBP_TRY(look_at_part(s, name, &is));
    if (!is)
        return FBP_OK;
    char *path = fbp_path_join(s->path, name);
    const fbp_status st =
        path ? fbp_part_clear(c->inputs, path, c->ours) : fbp_fail_nomem(strlen(s->path), "a path");
    free(path);
    return st;
}

/* Slices that a killed run of this name has left, perhaps of a larger volume; the lock says that
 * nobody writes them now.  Of other files with such names none may be there. */
fbp_status fbp_sink_stack_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                bool ours)
{
    const struct clearing c = {inputs, ours};

    return s->pattern.suffix ? each_file(s, clear_part, &c) : fbp_part_clear(inputs, s->part, ours);
}

/* What a resumed run still has to write must not be half there. */
fbp_status fbp_sink_stack_clear_missing(const struct fbp_sink *s,
                                        const struct fbp_part_inputs *inputs)
{
    fbp_status st = FBP_OK;

    for (size_t z = 0; z < s->info.n[2] && st == FBP_OK; z++) {
        if (s->have[z] || (s->joint && !s->joint->mine[z]))
            continue;
        char *part = fbp_sink_stack_name(s, z, ".part");
        st = part ? fbp_part_clear(inputs, part, true) : fbp_fail_nomem(strlen(s->path), "a path");
        free(part);
    }
    return st;
}

/* Files of slices that are there already, by device and inode. */
struct slices_there {
    struct stat *is;
    size_t n;
    bool hit;
    fbp_status status;
};

static bool is_slice(void *user, const char *file)
{
    struct slices_there *there = user;
    bool is_there;
    struct stat st;

    there->status = fbp_stat(file, &st, &is_there);
    if (!is_there)
        return there->status == FBP_OK;
    for (size_t i = 0; i < there->n && !there->hit; i++)
        there->hit = st.st_dev == there->is[i].st_dev && st.st_ino == there->is[i].st_ino;
    return !there->hit;
}

static fbp_status look_at_slices(const struct fbp_sink *s, struct slices_there *out)
{
    FBP_TRY(fbp_calloc((void **)&out->is, s->info.n[2], sizeof *out->is, "a table of slices"));
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *name = fbp_sink_stack_name(s, z, "");
        bool there = false;
        const fbp_status st = name ? fbp_stat(name, &out->is[out->n], &there)
                                   : fbp_fail_nomem(strlen(s->path), "a path");
        free(name);
        FBP_TRY(st);
        out->n += there;
    }
    return FBP_OK;
}

/* *hit: the input, if the output would replace or join it. */
static fbp_status look_at_input(const struct fbp_sink *s, const char *input,
                                struct slices_there *there, const char **hit)
{
    bool joins = false;

    if (there->n > 0)
        FBP_TRY(fbp_stack_each(input, is_slice, there));
    FBP_TRY(there->status);
    if (!there->hit)
        FBP_TRY(fbp_stack_joins(input, s->path, &joins));
    if (there->hit || joins)
        *hit = input;
    return FBP_OK;
}

fbp_status fbp_sink_stack_spare(const struct fbp_sink *s, const struct fbp_sink_params *params)
{
    struct slices_there there = {.status = FBP_OK};
    const char *hit = NULL;

    if (params->force)
        return FBP_OK;
    fbp_status st = look_at_slices(s, &there);
    for (size_t i = 0; i < params->n_keep && st == FBP_OK && !hit; i++)
        if (params->keep[i])
            st = look_at_input(s, params->keep[i], &there, &hit);
    free(there.is);
    if (hit)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: this output would replace or join %s, which is read for it: choose "
                        "another folder, or give --force",
                        s->path, hit);
    return st;
}

/* Give slice z its name, which it may have already; *gone: it is nowhere. */
fbp_status fbp_sink_stack_name_slice(const struct fbp_sink *s, size_t z, bool *gone)
{
    char *part = fbp_sink_stack_name(s, z, ".part"), *name = fbp_sink_stack_name(s, z, "");
    fbp_status st = FBP_OK;

    if (!part || !name)
        st = fbp_fail_nomem(strlen(s->path), "a path");
    else if (rename(part, name) < 0) {
        *gone |= errno == ENOENT && access(name, F_OK) != 0;
        if (errno != ENOENT)
            st = fbp_fail(FBP_ERR_IO,
                          "%s: cannot be renamed to %s: %s: some slices of the stack are new, the "
                          "others follow when any run of this output is started",
                          part, name, strerror(errno));
    }
    free(part);
    free(name);
    return st;
}

fbp_status fbp_sink_stack_name_slices(const struct fbp_sink *s, bool *gone)
{
    for (size_t z = 0; z < s->info.n[2]; z++)
        FBP_TRY(fbp_sink_stack_name_slice(s, z, gone));
    fbp_sync_folder(s->path);
    return FBP_OK;
}

void fbp_sink_stack_remove_parts(const struct fbp_sink *s)
{
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *part = fbp_sink_stack_name(s, z, ".part");
        if (part)
            unlink(part);
        free(part);
    }
}
