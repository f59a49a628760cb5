#include "array/sink_stack.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/file/room.h"
#include "array/joint.h"

#include "base/cache.h"
#include "base/base.h"
#include "base/threads.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Samples that are not compressed have a size that is known. */
static fbp_status check_room(const struct fbp_sink *s, int fd)
{
    const uint64_t need =
        s->slices->slices->compressed ? 0 : (uint64_t)s->slice_bytes * s->info.n[2];
    const uint64_t left = fbp_room_left(fd);

    return need <= left ? FBP_OK : fbp_fail_room(s->path, need, left);
}

/* A run that was stopped while its slices got their names has written all of them: first they get
 * the rest of their names, whatever this run is. */
static fbp_status finish_published(const struct fbp_sink *s)
{
    size_t n = 0;
    bool gone = false;

    FBP_TRY(fbp_journal_published(s, &n));
    for (size_t z = 0; z < n; z++)
        FBP_TRY(fbp_sink_stack_name_slice(s, z, &gone));
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
        char *name = fbp_sink_stack_name(s, z0, behind[i]);
        found = name && holds(name, hash, scratch);
        free(name);
    }
    fbp_message_clear(); /* such slices are simply computed again */
    return found;
}

static fbp_status name_second(struct fbp_sink *s)
{
    char *unpadded;

    FBP_TRY(name_unpadded(s, &unpadded));
    const fbp_status st = fbp_sink_name_second(s, unpadded);
    free(unpadded);
    return st;
}

static const struct fbp_joint_kind one_of_several = {.check = fbp_sink_stack_check_others,
                                                     .clear = fbp_sink_stack_clear,
                                                     .room = check_room,
                                                     .clear_missing = fbp_sink_stack_clear_missing,
                                                     .remove = fbp_sink_stack_remove_parts,
                                                     .has = file_is_there,
                                                     .names = fbp_sink_stack_name_slices};

static fbp_status begin(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool resume)
{
    bool left = false, found = false;

    FBP_TRY(name_second(s));
    if (s->joint && !s->joint->own.first)
        return fbp_joint_join(s, inputs, &one_of_several);
    FBP_TRY(fbp_part_spare(inputs, s->log));
    FBP_TRY(fbp_sink_lock(s, inputs, &left));
    if (left)
        FBP_TRY(fbp_joint_yield(s, resume));
    const bool shared = resume && fbp_joint_is_left(s);
    if (left && !shared)
        FBP_TRY(finish_published(s));
    if (s->joint || shared)
        return fbp_joint_take_over(s, inputs, left, resume, &one_of_several);
    FBP_TRY(fbp_sink_stack_check_others(s));
    if (left && resume)
        FBP_TRY(fbp_journal_find(s, &found));
    if (found) {
        FBP_TRY(fbp_journal_resume(s, file_is_there));
        return fbp_sink_stack_clear_missing(s, inputs);
    }
    FBP_TRY(fbp_sink_stack_clear(s, inputs, left));
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
    FBP_TRY(fbp_sink_stack_spare(s, params));
    FBP_TRY(fbp_sink_stack_check_names(s));
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
    if (one.unit[0]) { /* of a volume: views may be left out */
        one.slice = z;
        one.slices = s->info.n[2];
    }
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
    char *name = fbp_sink_stack_name(s, z, ".part");
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
    FBP_TRY(fbp_sink_stack_check_names(s));
    FBP_TRY(fbp_journal_publish(s));
    s->owned = s->log_made = false; /* nothing is removed any more */
    FBP_TRY(fbp_sink_stack_name_slices(s, &gone));
    if (gone)
        return fbp_fail(FBP_ERR_IO,
                        "%s: another program removed slices before they had their names: "
                        "start again",
                        s->path);
    s->published = true;
    return unlink(s->log) == 0 || errno == ENOENT ? FBP_OK : fbp_fail_write(s->log, errno, 0);
}

void fbp_sink_stack_remove(struct fbp_sink *s)
{
    fbp_sink_stack_remove_parts(s);
    unlink(s->log);
}
