#include "array/sink_stack.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/file/room.h"
#include "array/joint.h"
#include "array/stack_names.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* malloc'ed "out/slice_0007.tif", with ".part" behind it or nothing; NULL when out of memory. */
static char *name_of(const struct fbp_sink *s, size_t z, const char *behind)
{
    char *name = s->pattern.suffix ? fbp_pattern_name(&s->pattern, z) : fbp_strdup(s->path);
    char *whole = name ? fbp_format("%s%s", name, behind) : NULL;

    free(name);
    return whole;
}

static fbp_status check_kind(const struct fbp_sink *s)
{
    const struct fbp_slice_format *f = s->slices->slices;

    if (f->integers_only && (s->info.type == FBP_F32 || s->info.type == FBP_F64))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s holds no %s: choose uint8 or uint16 and the range that it "
                        "stands for (--output-type uint16 --output-range LO,HI), or write TIFF",
                        s->path, s->slices->title, fbp_type_name(s->info.type));
    if (!s->pattern.suffix && s->info.n[2] != 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: a %s file holds one slice, the volume has %zu: name a stack, such as "
                        "\"out/slice_%%04d%.*s\"",
                        s->path, s->slices->title, s->info.n[2], (int)strcspn(f->extensions, " "),
                        f->extensions);
    return f->check ? f->check(s->path, &s->info) : FBP_OK;
}

/* A name that cannot be taken would leave the slices after it without theirs. */
static fbp_status check_names(const struct fbp_sink *s)
{
    fbp_status st = FBP_OK;

    for (size_t z = 0; z < s->info.n[2] && st == FBP_OK; z++) {
        char *name = name_of(s, z, "");
        st = name ? fbp_output_check(name) : fbp_fail_nomem(strlen(s->path), "a path");
        free(name);
    }
    return st;
}

/* Is it the name of slice `number`, as this pattern writes it? */
static fbp_status look_at_name(const struct fbp_sink *s, unsigned long long number,
                               const char *name, bool *same)
{
    char *ours = name_of(s, (size_t)number, "");

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
static fbp_status check_others(const struct fbp_sink *s)
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
static fbp_status clear_parts(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                              bool ours)
{
    const struct clearing c = {inputs, ours};

    return s->pattern.suffix ? each_file(s, clear_part, &c) : fbp_part_clear(inputs, s->part, ours);
}

/* What a resumed run still has to write must not be half there. */
static fbp_status clear_missing(const struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    fbp_status st = FBP_OK;

    for (size_t z = 0; z < s->info.n[2] && st == FBP_OK; z++) {
        if (s->have[z] || (s->joint && !s->joint->mine[z]))
            continue;
        char *part = name_of(s, z, ".part");
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
        char *name = name_of(s, z, "");
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

static fbp_status spare_inputs(const struct fbp_sink *s, const struct fbp_sink_params *params)
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

/* Samples that are not compressed have a size that is known. */
static fbp_status check_room(const struct fbp_sink *s, int fd)
{
    const uint64_t need =
        s->slices->slices->compressed ? 0 : (uint64_t)s->slice_bytes * s->info.n[2];
    const uint64_t left = fbp_room_left(fd);

    return need <= left ? FBP_OK : fbp_fail_room(s->path, need, left);
}

/* Give slice z its name, which it may have already; *gone: it is nowhere. */
static fbp_status publish_slice(const struct fbp_sink *s, size_t z, bool *gone)
{
    char *part = name_of(s, z, ".part"), *name = name_of(s, z, "");
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

static fbp_status publish_slices(const struct fbp_sink *s, bool *gone)
{
    for (size_t z = 0; z < s->info.n[2]; z++)
        FBP_TRY(publish_slice(s, z, gone));
    fbp_sync_folder(s->path);
    return FBP_OK;
}

/* A run that was stopped while its slices got their names has written all of them: first they get
 * the rest of their names, whatever this run is. */
static fbp_status finish_published(const struct fbp_sink *s)
{
    size_t n = 0;
    bool gone = false;

    FBP_TRY(fbp_journal_published(s, &n));
    for (size_t z = 0; z < n; z++)
        FBP_TRY(publish_slice(s, z, &gone));
    if (n > 0)
        fbp_sync_folder(s->path);
    return FBP_OK;
}

/* The same files under any padding: "out/%d.tif" for "out/%04d.tif".  NULL: it is that already. */
static fbp_status name_unpadded(const struct fbp_sink *s, char **out)
{
    const struct fbp_pattern *p = &s->pattern;

    *out = NULL;
    if (!p->suffix || p->width == 0)
        return FBP_OK;
    *out = fbp_format("%.*s%%d%.*s", p->n_prefix, p->prefix, p->n_suffix, p->suffix);
    return *out ? FBP_OK : fbp_fail_nomem(strlen(s->path), "a path");
}

static bool holds(const char *path, uint64_t hash, void *scratch)
{
    uint64_t size = 0, h = 0;
    bool whole = true;
    int fd = -1;

    if (fbp_open_file(path, &fd, &size) != FBP_OK)
        return false;
    for (uint64_t at = 0; whole && at < size; at += FBP_PIECE_BYTES) {
        const size_t n = size - at < FBP_PIECE_BYTES ? (size_t)(size - at) : FBP_PIECE_BYTES;
        whole = fbp_read_at(fd, path, at, scratch, n) == FBP_OK;
        h = whole ? fbp_hash(h, scratch, n) : h;
    }
    close(fd);
    return whole && h == hash;
}

/* Is the file of a slice there, whole?  A fbp_run_there_fn. */
static bool file_is_there(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash,
                          void *scratch)
{
    static const char *const behind[] = {".part", ""};
    bool found = false;

    for (size_t i = 0; !found && nz == 1 && i < 2; i++) {
        char *name = name_of(s, z0, behind[i]);
        found = name && holds(name, hash, scratch);
        free(name);
    }
    fbp_message_clear(); /* such slices are simply computed again */
    return found;
}

static fbp_status lock(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool *left)
{
    char *unpadded;

    FBP_TRY(fbp_part_spare(inputs, s->log));
    FBP_TRY(name_unpadded(s, &unpadded));
    const fbp_status st = fbp_sink_lock(s, inputs, unpadded, left);
    free(unpadded);
    return st;
}

static void remove_parts(const struct fbp_sink *s)
{
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *part = name_of(s, z, ".part");
        if (part)
            unlink(part);
        free(part);
    }
}

static const struct fbp_joint_kind one_of_several = {.check = check_others,
                                                     .clear = clear_parts,
                                                     .room = check_room,
                                                     .clear_missing = clear_missing,
                                                     .remove = remove_parts,
                                                     .has = file_is_there,
                                                     .names = publish_slices};

/* With other processes. */
static fbp_status join(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    char *unpadded;

    FBP_TRY(name_unpadded(s, &unpadded));
    s->lock_path = unpadded ? fbp_format("%s.part.log", unpadded) : NULL;
    const bool lost = unpadded && !s->lock_path;
    free(unpadded);
    return lost ? fbp_fail_nomem(strlen(s->path), "a path")
                : fbp_joint_join(s, inputs, &one_of_several);
}

static fbp_status begin(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool resume)
{
    bool left = false, found = false;

    if (s->joint)
        return join(s, inputs);
    FBP_TRY(lock(s, inputs, &left));
    if (left)
        FBP_TRY(fbp_joint_yield(s, resume));
    if (left)
        FBP_TRY(finish_published(s));
    FBP_TRY(check_others(s));
    if (left && resume)
        FBP_TRY(fbp_journal_find(s, &found));
    if (found) {
        FBP_TRY(fbp_journal_resume(s, file_is_there));
        return clear_missing(s, inputs);
    }
    FBP_TRY(clear_parts(s, inputs, left));
    s->log_made = true;
    FBP_TRY(check_room(s, s->log_fd));
    FBP_TRY(fbp_journal_create(s));
    s->owned = true;
    return FBP_OK;
}

static fbp_status name_files(struct fbp_sink *s, const char *path)
{
    s->path = fbp_strdup(path);
    if (!s->path)
        return fbp_fail_nomem(strlen(path), "a path");
    if (!fbp_pattern_place(s->path, strlen(s->path), &s->pattern)) {
        s->pattern.suffix = NULL;
        FBP_TRY(fbp_sink_follow_link(&s->path, s->slices->slices->extensions));
    }
    s->part = fbp_format("%s.part", s->path);
    s->log = fbp_format("%s.part.log", s->path);
    return s->part && s->log ? FBP_OK : fbp_fail_nomem(strlen(path), "a path");
}

fbp_status fbp_sink_stack_open(struct fbp_sink *s, const char *path,
                               const struct fbp_sink_params *params)
{
    struct fbp_part_inputs inputs = {0};
    fbp_status st;

    FBP_TRY(name_files(s, path));
    FBP_TRY(check_kind(s));
    FBP_TRY(fbp_output_folder(s->path, &s->folder, &s->made_folder));
    FBP_TRY(spare_inputs(s, params));
    FBP_TRY(check_names(s));
    st = fbp_part_inputs_open(&inputs, params);
    if (st == FBP_OK)
        st = begin(s, &inputs, params->resume);
    fbp_part_inputs_close(&inputs);
    return st;
}

/* What the file of slice z says of itself. */
static struct fbp_array_info slice_info(const struct fbp_sink *s, size_t z)
{
    struct fbp_array_info one = s->info;

    one.n[2] = 1;
    one.origin_mm[2] += (double)z * one.spacing_mm[2];
    return one;
}

static fbp_status write_file(struct fbp_sink *s, size_t z, const char *name, const void *values)
{
    const struct fbp_array_info slice = slice_info(s, z);
    struct fbp_piece p = {0};
    uint64_t clipped = 0;
    fbp_status st;
    int fd;

    FBP_TRY(fbp_part_create(name, &fd));
    FBP_TRY_GOTO(fbp_piece_open(&p, fd, name, 0));
    FBP_TRY_GOTO(s->slices->slices->encode(&p, &slice, values, &clipped));
    FBP_TRY_GOTO(fbp_piece_flush(&p));
    fbp_begin_sync(fd, 0, p.at);
fail:
    fbp_piece_close(&p);
    if (close(fd) < 0 && st == FBP_OK)
        st = fbp_fail(FBP_ERR_IO, "%s: cannot close: %s", name, strerror(errno));
    if (st == FBP_OK && s->fingerprint)
        st = fbp_journal_append(s, z, 1, p.hash);
    if (st == FBP_OK)
        fbp_sink_mark_clipped(s, z, 1, clipped);
    else
        unlink(name);
    return st;
}

/* What a run that is resumed has left may be computed again, with slices beside it that are
 * missing. */
static fbp_status write_slice(struct fbp_sink *s, size_t z, const void *values)
{
    if (fbp_sink_has(s, z, 1))
        return FBP_OK;
    char *name = name_of(s, z, ".part");
    const fbp_status st =
        name ? write_file(s, z, name, values) : fbp_fail_nomem(strlen(s->path), "a path");

    free(name);
    return st;
}

/* Slices that are compressed at the same time. */
struct slices {
    struct fbp_sink *sink;
    size_t z0;
    const void *data;
};

/* A slice of what a sink is given. */
static const void *slice_of(const struct fbp_sink *s, const void *data, size_t z)
{
    return (const char *)data + z * fbp_sink_given_bytes(s);
}

static fbp_status write_item(void *user, size_t item, int worker)
{
    const struct slices *w = user;

    (void)worker;
    return write_slice(w->sink, w->z0 + item, slice_of(w->sink, w->data, item));
}

static fbp_status write_together(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    struct slices w = {.sink = s, .z0 = z0, .data = data};
    const size_t cores = (size_t)fbp_core_count();
    fbp_pool *pool = NULL;

    FBP_TRY(fbp_pool_create(&pool, (int)(nz < cores ? nz : cores)));
    const fbp_status st = fbp_pool_try(pool, nz, write_item, &w);
    fbp_pool_destroy(&pool);
    return st;
}

fbp_status fbp_sink_stack_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    if (nz > 1 && s->slices->slices->compressed)
        return write_together(s, z0, nz, data);
    for (size_t z = 0; z < nz; z++)
        FBP_TRY(write_slice(s, z0 + z, slice_of(s, data, z)));
    return FBP_OK;
}

/* From the line in the journal on the new stack is the one that counts: whoever comes next finishes
 * it. */
fbp_status fbp_sink_stack_publish(struct fbp_sink *s)
{
    bool gone = false;

    /* One call for all slices, at the price of whatever else the file system has to write. */
    if (syncfs(s->log_fd) < 0)
        return fbp_fail_write(s->path, errno, 0);
    FBP_TRY(check_names(s));
    FBP_TRY(fbp_journal_publish(s));
    s->owned = s->log_made = false; /* nothing is removed any more */
    FBP_TRY(publish_slices(s, &gone));
    if (gone)
        return fbp_fail(FBP_ERR_IO,
                        "%s: another program removed slices before they had their names: "
                        "start again",
                        s->path);
    unlink(s->log);
    return FBP_OK;
}

void fbp_sink_stack_remove(struct fbp_sink *s)
{
    remove_parts(s);
    unlink(s->log);
}
