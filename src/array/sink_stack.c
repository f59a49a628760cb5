/* A sink with one file per slice, "out/slice_%04d.tif", or a single file of one slice. Slice k is
 * written completely as NAME.part; all slices are renamed at the end. PATTERN.part.log is journal
 * and lock; the hash in its lines is the hash of a whole file. sink.c, sink_files.c and
 * shared_output.c call it. */
#include "array/sink.h"

#include "array/names.h"
#include "array/shared_output.h"

#include "array/file/bytes.h"
#include "array/file/outfile.h"

#include "base/base.h"
#include "base/cache.h"
#include "base/text.h"
#include "base/threads.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* --- Names --- */

fbp_status fbp_sink_stack_name(const struct fbp_sink *s, size_t z, const char *end, char **out)
{
    char *name = s->pattern.suffix ? fbp_pattern_name(&s->pattern, z) : fbp_strdup(s->path);

    *out = name ? fbp_format("%s%s", name, end) : NULL;
    free(name);
    return *out ? FBP_OK : fbp_fail_nomem(strlen(s->path), "a path");
}

/* Check that all slices can be renamed: a name in use would stop publication halfway. */
static fbp_status check_names(const struct fbp_sink *s)
{
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *name;

        FBP_TRY(fbp_sink_stack_name(s, z, "", &name));
        const fbp_status st = fbp_output_check(name);
        free(name);
        FBP_TRY(st);
    }
    return FBP_OK;
}

/* Scan the stack's folder, if it exists. inputs NULL: check that only slices of this volume match
 * the pattern. Otherwise remove temporary slices of any volume, if they are `ours` or empty. */
static fbp_status scan_folder(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                              bool ours)
{
    const char *end = inputs ? ".part" : "";
    DIR *dir = opendir(s->folder);
    const struct dirent *e;
    fbp_status st = FBP_OK;

    if (!dir && errno == ENOENT)
        return FBP_OK;
    while (dir && st == FBP_OK && (errno = 0, e = readdir(dir))) {
        const size_t n = strlen(e->d_name), n_end = strlen(end);
        char *file = NULL, *name = NULL, *path = NULL; /* path: the expected name */
        unsigned long long number;
        bool same = false;

        if (n <= n_end || strcmp(e->d_name + n - n_end, end) != 0)
            continue;
        st = fbp_part_name(&file, "%.*s", (int)(n - n_end), e->d_name);
        const bool fits = st == FBP_OK && fbp_pattern_fits(&s->pattern, file, &number);
        if (fits && (inputs || number < s->info.n[2])) {
            st = fbp_sink_stack_name(s, (size_t)number, "", &name);
            same = st == FBP_OK && strcmp(fbp_base_name(name), file) == 0;
        }
        if (st == FBP_OK && fits && !same && !inputs)
            st = fbp_fail(FBP_ERR_INVALID,
                          "%s: %s is there and no slice of this volume of %zu: remove it or choose "
                          "another folder",
                          s->path, file, s->info.n[2]);
        if (same && inputs) {
            path = fbp_path_join(s->path, e->d_name);
            st = path ? fbp_part_clear(inputs, path, ours)
                      : fbp_fail_nomem(strlen(s->path), "a path");
        }
        free(file);
        free(name);
        free(path);
    }
    if (st == FBP_OK && (!dir || errno != 0))
        st = fbp_fail(FBP_ERR_IO, "%s: its folder cannot be listed: %s", s->path, strerror(errno));
    if (dir)
        closedir(dir);
    return st;
}

fbp_status fbp_sink_stack_check_others(const struct fbp_sink *s)
{
    return s->pattern.suffix ? scan_folder(s, NULL, false) : FBP_OK;
}

/* Check that no slice would replace an input, or be read as a part of one. */
static fbp_status spare_inputs(const struct fbp_sink *s, const struct fbp_sink_params *params)
{
    struct stat *is = NULL; /* slices that already exist */
    const char *hit = NULL;
    fbp_status st = FBP_OK;
    bool there = false;
    size_t n = 0;

    FBP_TRY(fbp_calloc((void **)&is, s->info.n[2], sizeof *is, "a table of slices"));
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *name;

        FBP_TRY_GOTO(fbp_sink_stack_name(s, z, "", &name));
        st = fbp_stat(name, &is[n], &there);
        free(name);
        if (st != FBP_OK)
            goto fail;
        n += there;
    }
    for (size_t i = 0; i < params->n_keep && st == FBP_OK && !hit; i++) {
        const char *input = params->keep[i];
        struct fbp_files files = {.path = input, .stop = n == 0};
        bool joins = false;

        for (const char *file; input && (file = fbp_files_next(&files, &st));) {
            struct stat in;

            st = fbp_stat(file, &in, &there);
            for (size_t k = 0; there && k < n; k++)
                files.stop |= in.st_dev == is[k].st_dev && in.st_ino == is[k].st_ino;
            hit = files.stop ? input : NULL;
        }
        if (st == FBP_OK && input && !hit)
            st = fbp_stack_joins(input, s->path, &joins);
        hit = joins ? input : hit;
    }
    if (st == FBP_OK && hit)
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: this output would replace or join %s, which is read for it: choose "
                      "another folder, or give --force",
                      s->path, hit);
fail:
    free(is);
    return st;
}

/* --- Opening --- */

fbp_status fbp_sink_stack_open(struct fbp_sink *s, const char *path,
                               const struct fbp_sink_params *params)
{
    const struct fbp_slice_format *f = s->slices->slices;
    struct fbp_pattern *p = &s->pattern;

    /* Names. */
    FBP_TRY(fbp_part_name(&s->path, "%s", path));
    if (!fbp_pattern_place(s->path, strlen(s->path), p)) {
        p->suffix = NULL;
        FBP_TRY(fbp_sink_follow_link(&s->path, f->extensions));
    }
    FBP_TRY(fbp_part_name(&s->part, "%s.part", s->path));
    FBP_TRY(fbp_part_name(&s->log, "%s.part.log", s->path));
    if (p->suffix && p->width > 0) /* "out/%d.tif" can name the files of "out/%04d.tif" */
        FBP_TRY(fbp_part_name(&s->lock_path, "%.*s%%d%.*s.part.log", p->n_prefix, p->prefix,
                              p->n_suffix, p->suffix));

    /* Limits of the format. */
    if (f->integers_only && (s->info.type == FBP_F32 || s->info.type == FBP_F64))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %s holds no %s: choose uint8 or uint16 and the range that it "
                        "stands for (--output-type uint16 --output-range LO,HI), or write TIFF",
                        s->path, s->slices->title, fbp_type_name(s->info.type));
    if (!p->suffix && s->info.n[2] != 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: a %s file holds one slice, the volume has %zu: name a stack, such as "
                        "\"out/slice_%%04d%.*s\"",
                        s->path, s->slices->title, s->info.n[2], (int)strcspn(f->extensions, " "),
                        f->extensions);
    if (f->check)
        FBP_TRY(f->check(s->path, &s->info));

    FBP_TRY(fbp_output_folder(s->path, &s->folder, &s->made_folder));
    if (!params->force)
        FBP_TRY(spare_inputs(s, params));
    FBP_TRY(check_names(s));
    return fbp_sink_files_open(s, params);
}

fbp_status fbp_sink_stack_check_room(const struct fbp_sink *s, int fd)
{
    /* The size of compressed files is not known in advance. */
    const uint64_t need =
        s->slices->slices->compressed ? 0 : (uint64_t)s->slice_bytes * s->info.n[2];
    const uint64_t left = fbp_disk_free(fd);

    return need <= left ? FBP_OK : fbp_fail_disk_full(s->path, need, left);
}

bool fbp_sink_stack_has(const struct fbp_sink *s, size_t z0, size_t nz, uint64_t hash,
                        void *scratch)
{
    static const char *const ends[] = {".part", ""};
    bool found = false;

    for (size_t i = 0; !found && nz == 1 && i < 2; i++) {
        uint64_t size = 0, h = 0;
        char *name = NULL;
        int fd = -1;

        found = fbp_sink_stack_name(s, z0, ends[i], &name) == FBP_OK &&
                fbp_open_file(name, &fd, &size) == FBP_OK;
        for (uint64_t at = 0; found && at < size; at += FBP_WRITE_BUFFER_BYTES) {
            const size_t n =
                size - at < FBP_WRITE_BUFFER_BYTES ? (size_t)(size - at) : FBP_WRITE_BUFFER_BYTES;

            found = fbp_read_at(fd, name, at, scratch, n) == FBP_OK;
            h = found ? fbp_hash(h, scratch, n) : h;
        }
        found = found && h == hash;
        if (fd >= 0)
            close(fd);
        free(name);
    }
    fbp_message_clear(); /* these slices are computed again */
    return found;
}

fbp_status fbp_sink_stack_begin(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool left,
                                bool resume)
{
    bool found = false;

    FBP_TRY(fbp_sink_stack_check_others(s));
    if (left && resume)
        FBP_TRY(fbp_journal_find(s, &found));
    if (found) {
        FBP_TRY(fbp_journal_resume(s));
        return fbp_sink_stack_clear_missing(s, inputs);
    }
    FBP_TRY(fbp_sink_stack_clear(s, inputs, left));
    s->log_made = true;
    FBP_TRY(fbp_sink_stack_check_room(s, s->log_fd));
    FBP_TRY(fbp_journal_create(s));
    s->owned = true;
    return FBP_OK;
}

/* --- Temporary slices --- */

fbp_status fbp_sink_stack_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                                bool ours)
{
    return s->pattern.suffix ? scan_folder(s, inputs, ours) : fbp_part_clear(inputs, s->part, ours);
}

fbp_status fbp_sink_stack_clear_missing(const struct fbp_sink *s,
                                        const struct fbp_part_inputs *inputs)
{
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *part;

        if (s->have[z] || (s->shared && !s->shared->mine[z]))
            continue;
        FBP_TRY(fbp_sink_stack_name(s, z, ".part", &part));
        const fbp_status st = fbp_part_clear(inputs, part, true);
        free(part);
        FBP_TRY(st);
    }
    return FBP_OK;
}

void fbp_sink_stack_remove(const struct fbp_sink *s)
{
    for (size_t z = 0; z < s->info.n[2]; z++) {
        char *part;

        if (fbp_sink_stack_name(s, z, ".part", &part) == FBP_OK)
            unlink(part);
        free(part);
    }
}

/* --- Writing --- */

/* Slices that several threads encode. */
struct slices {
    struct fbp_sink *sink;
    size_t z0;
    const void *data;
};

/* Write the file of one slice, unless a resumed run has it already. A fbp_pool_try_fn. */
static fbp_status write_slice(void *user, size_t item, int worker)
{
    const struct slices *w = user;
    struct fbp_sink *s = w->sink;
    const size_t z = w->z0 + item;
    struct fbp_array_info slice = s->info;
    struct fbp_write_buffer p = {0};
    uint64_t clipped = 0;
    char *name;
    fbp_status st;
    int fd;

    (void)worker;
    if (fbp_sink_has(s, z, 1))
        return FBP_OK;
    slice.n[2] = 1;
    slice.origin_mm[2] += (double)z * slice.spacing_mm[2];
    if (slice.unit[0]) { /* a slice of a volume: views have no unit, and may be incomplete */
        slice.slice = z;
        slice.slices = s->info.n[2];
    }

    FBP_TRY(fbp_sink_stack_name(s, z, ".part", &name));
    st = fbp_part_create(name, &fd);
    if (st != FBP_OK) {
        free(name);
        return st;
    }
    FBP_TRY_GOTO(fbp_write_buffer_open(&p, fd, name, 0));
    FBP_TRY_GOTO(s->slices->slices->encode(
        &p, &slice, (const char *)w->data + item * fbp_sink_given_bytes(s), &clipped));
    FBP_TRY_GOTO(fbp_write_buffer_flush(&p));
    fbp_begin_sync(fd, 0, p.at);
fail:
    fbp_write_buffer_close(&p);
    if (close(fd) < 0 && st == FBP_OK)
        st = fbp_fail(FBP_ERR_IO, "%s: cannot close: %s", name, strerror(errno));
    if (st == FBP_OK && s->fingerprint)
        st = fbp_journal_append(s, z, 1, p.hash);
    if (st == FBP_OK)
        fbp_sink_mark_clipped(s, z, 1, clipped);
    else
        unlink(name);
    free(name);
    return st;
}

fbp_status fbp_sink_stack_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    struct slices w = {.sink = s, .z0 = z0, .data = data};
    const size_t cores = (size_t)fbp_core_count();
    fbp_pool *pool = NULL;

    if (nz > 1 && s->slices->slices->compressed) {
        FBP_TRY(fbp_pool_create(&pool, (int)(nz < cores ? nz : cores)));
        const fbp_status st = fbp_pool_try(pool, nz, write_slice, &w);
        fbp_pool_destroy(&pool);
        return st;
    }
    for (size_t k = 0; k < nz; k++)
        FBP_TRY(write_slice(&w, k, 0));
    return FBP_OK;
}

/* --- Publication --- */

fbp_status fbp_sink_stack_rename(const struct fbp_sink *s, size_t n, bool *gone)
{
    for (size_t z = 0; z < n; z++) {
        char *part = NULL, *name = NULL;
        fbp_status st = fbp_sink_stack_name(s, z, ".part", &part);

        if (st == FBP_OK)
            st = fbp_sink_stack_name(s, z, "", &name);
        if (st == FBP_OK && rename(part, name) < 0) {
            *gone |= errno == ENOENT && access(name, F_OK) != 0;
            if (errno != ENOENT)
                st = fbp_fail(FBP_ERR_IO,
                              "%s: cannot be renamed to %s: %s: some slices of the stack are new, "
                              "the others follow when any run of this output is started",
                              part, name, strerror(errno));
        }
        free(part);
        free(name);
        FBP_TRY(st);
    }
    if (n > 0)
        fbp_sync_folder(s->path);
    return FBP_OK;
}

fbp_status fbp_sink_stack_publish(struct fbp_sink *s)
{
    bool gone = false;

    /* One call for all slices, although it also syncs data of other programs. */
    if (syncfs(s->log_fd) < 0)
        return fbp_fail_write(s->path, errno, 0);
    FBP_TRY(check_names(s));
    /* After this line the new stack is valid: the next run completes it. */
    FBP_TRY(fbp_append(s->log_fd, s->log, "publish\n"));
    FBP_TRY(fbp_sync_file(s->log_fd, s->log));
    s->owned = s->log_made = false; /* no file is removed from here on */
    FBP_TRY(fbp_sink_stack_rename(s, s->info.n[2], &gone));
    if (gone)
        return fbp_fail(FBP_ERR_IO,
                        "%s: another program removed slices before they had their names: "
                        "start again",
                        s->path);
    s->published = true;
    return unlink(s->log) == 0 || errno == ENOENT ? FBP_OK : fbp_fail_write(s->log, errno, 0);
}
