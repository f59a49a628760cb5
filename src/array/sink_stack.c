/* The sink for one file per slice, such as "out/slice_%04d.tif", or for a single file of one slice
 * (table `fbp_sink_stack`). Each slice is written as a file NAME.part; all these files are renamed
 * at the end. PATTERN.part.log is journal and lock; its hashes are hashes of whole files.
 * Used by: output_files.c, shared_output.c, sink.c. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/names.h"
#include "array/shared_output.h"
#include "base/cache.h"
#include "base/text.h"
#include "base/threads.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

struct stack {
    struct fbp_output out;
    const struct fbp_format *format;
    struct fbp_pattern pattern; /* suffix NULL: a single file */
};

struct fbp_file_name fbp_sink_slice_name(struct fbp_output *o, size_t z, const char *end)
{
    const struct fbp_pattern *p = &((struct stack *)o)->pattern;

    return p->suffix ? fbp_file_name("%.*s%0*zu%.*s%s", p->n_prefix, p->prefix, p->width, z,
                                     p->n_suffix, p->suffix, end)
                     : fbp_file_name("%s%s", o->path, end);
}

/* Check that all slice files can get their final names: a folder of such a name would stop the
 * renaming halfway. */
static fbp_status check_names(struct fbp_output *o)
{
    for (size_t z = 0; z < o->sink.info.n[2]; z++)
        FBP_TRY(fbp_output_check(fbp_sink_slice_name(o, z, "").text));
    return FBP_OK;
}

/* Scan the folder of a pattern such as "out/%04d.tif", if the folder exists. clear false: check
 * that only slices of this volume match the pattern; true: remove temporary slice files of any
 * volume, if they are known to be fbp's (`ours`) or empty. */
static fbp_status scan_folder(struct fbp_output *o, bool clear, bool ours)
{
    const struct fbp_pattern *pattern = &((struct stack *)o)->pattern;
    const char *end = clear ? ".part" : "";
    DIR *dir = opendir(o->folder);
    const struct dirent *e;
    fbp_status st = FBP_OK;

    if (!dir && errno == ENOENT)
        return FBP_OK;
    while (dir && st == FBP_OK && (errno = 0, e = readdir(dir))) {
        const size_t n = strlen(e->d_name), n_end = strlen(end);
        unsigned long long number;
        char file[NAME_MAX + 1];

        if (n <= n_end || strcmp(e->d_name + n - n_end, end) != 0)
            continue;
        memcpy(file, e->d_name, n - n_end);
        file[n - n_end] = '\0';
        if (!fbp_pattern_fits(pattern, file, &number))
            continue;
        const struct fbp_file_name name = fbp_sink_slice_name(o, (size_t)number, end);
        const bool same = strcmp(fbp_base_name(name.text), e->d_name) == 0;
        if (clear && same)
            st = fbp_part_clear(NULL, name.text, ours);
        else if (!clear && (!same || number >= o->sink.info.n[2]))
            st = FBP_INVALID("%s: contains %s, which is not one of the %zu slices of this volume; "
                             "remove it, or choose another folder",
                             o->path, file, o->sink.info.n[2]);
    }
    if (st == FBP_OK && (!dir || errno != 0))
        st = fbp_fail_list(o->path);
    if (dir)
        closedir(dir);
    return st;
}

fbp_status fbp_stack_check_others(struct fbp_output *o)
{
    return ((struct stack *)o)->pattern.suffix ? scan_folder(o, false, false) : FBP_OK;
}

static fbp_status clear(struct fbp_output *o, bool ours)
{
    return ((struct stack *)o)->pattern.suffix ? scan_folder(o, true, ours)
                                               : fbp_part_clear(o, o->part, ours);
}

fbp_status fbp_stack_clear_missing(struct fbp_output *o)
{
    const struct fbp_sink *s = &o->sink;

    for (size_t z = 0; z < s->info.n[2]; z++)
        if (!s->have[z] && (!s->mine || s->mine[z]))
            FBP_TRY(fbp_part_clear(NULL, fbp_sink_slice_name(o, z, ".part").text, true));
    return FBP_OK;
}

static bool remove_parts(struct fbp_output *o)
{
    for (size_t z = 0; z < o->sink.info.n[2]; z++)
        unlink(fbp_sink_slice_name(o, z, ".part").text);
    return true;
}

fbp_status fbp_stack_check_room(struct fbp_output *o, int fd)
{
    /* The size of compressed slice files is not known in advance: their space is not checked. */
    const uint64_t need = ((struct stack *)o)->format->slices->compressed
                              ? 0
                              : (uint64_t)o->sink.slice_bytes * o->sink.info.n[2];
    const uint64_t left = fbp_disk_free(fd);

    return need <= left ? FBP_OK : fbp_fail_disk_full(o->path, need, left);
}

static bool has(struct fbp_output *o, const struct fbp_boundary *boundary, size_t z0, size_t nz,
                uint64_t hash, void *scratch)
{
    bool found = false;

    (void)boundary;
    for (int i = 0; !found && nz == 1 && i < 2; i++) {
        const struct fbp_file_name name = fbp_sink_slice_name(o, z0, i == 0 ? ".part" : "");
        uint64_t size = 0, h = 0;
        int fd = -1;

        found = fbp_open_file(name.text, &fd, &size) == FBP_OK;
        for (uint64_t at = 0; found && at < size; at += FBP_WRITE_BUFFER_BYTES) {
            const size_t n =
                size - at < FBP_WRITE_BUFFER_BYTES ? (size_t)(size - at) : FBP_WRITE_BUFFER_BYTES;

            found = fbp_read_at(fd, name.text, at, scratch, n) == FBP_OK;
            h = found ? fbp_hash(h, scratch, n) : h;
        }
        found = found && h == hash;
        if (fd >= 0)
            close(fd);
    }
    fbp_message_clear(); /* a slice that cannot be read is computed again */
    return found;
}

static fbp_status sync_slices(struct fbp_output *o)
{
    /* One call syncs the files of all slices, although it also syncs data of other programs. */
    return syncfs(o->log_fd) < 0 ? fbp_fail_write(o->path, errno, 0) : FBP_OK;
}

/* Slices that several threads encode. */
struct slices {
    struct stack *stack;
    size_t z0;
    const void *data;
};

/* Write the file of one slice, unless an earlier run, which is being resumed, has written it.
 * Callback of a thread pool. */
static fbp_status write_slice(void *user, size_t item, int worker)
{
    const struct slices *w = user;
    struct fbp_output *o = &w->stack->out;
    const size_t z = w->z0 + item;
    struct fbp_array_info slice = o->sink.info;
    struct fbp_write_buffer p = {0};
    uint64_t clipped = 0;
    fbp_status st;
    int fd;

    (void)worker;
    if (fbp_sink_has(&o->sink, z, 1))
        return FBP_OK;
    slice.n[2] = 1;
    slice.origin_mm[2] += (double)z * slice.spacing_mm[2];
    if (slice.unit[0]) { /* a slice of a volume: views have no unit */
        slice.slice = z;
        slice.slices = o->sink.info.n[2];
    }

    const struct fbp_file_name name = fbp_sink_slice_name(o, z, ".part");
    FBP_TRY(fbp_part_create(name.text, &fd));
    FBP_TRY_GOTO(fbp_write_buffer_open(&p, fd, name.text, 0));
    FBP_TRY_GOTO(w->stack->format->slices->encode(
        &p, &slice, (const char *)w->data + item * fbp_sink_given_bytes(&o->sink), &clipped));
    FBP_TRY_GOTO(fbp_write_buffer_flush(&p));
    fbp_begin_sync(fd, 0, p.at);
fail:
    fbp_write_buffer_close(&p);
    if (close(fd) < 0 && st == FBP_OK)
        st = fbp_fail(FBP_ERR_IO, "%s: cannot close: %s", name.text, strerror(errno));
    if (st == FBP_OK && o->sink.fingerprint)
        st = fbp_journal_append(o, z, 1, p.hash);
    if (st == FBP_OK)
        fbp_sink_mark_clipped(&o->sink, z, 1, clipped);
    else
        unlink(name.text);
    return st;
}

static fbp_status write_slices(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    struct slices w = {.stack = (struct stack *)s, .z0 = z0, .data = data};
    const size_t cores = (size_t)fbp_core_count();
    fbp_pool *pool = NULL;

    if (nz > 1 && w.stack->format->slices->compressed) {
        FBP_TRY(fbp_pool_create(&pool, (int)(nz < cores ? nz : cores)));
        const fbp_status st = fbp_pool_try(pool, nz, write_slice, &w);
        fbp_pool_destroy(&pool);
        return st;
    }
    for (size_t k = 0; k < nz; k++)
        FBP_TRY(write_slice(&w, k, 0));
    return FBP_OK;
}

fbp_status fbp_stack_rename(struct fbp_output *o, size_t n, bool *gone)
{
    for (size_t z = 0; z < n; z++) {
        const struct fbp_file_name part = fbp_sink_slice_name(o, z, ".part");
        const struct fbp_file_name name = fbp_sink_slice_name(o, z, "");

        if (rename(part.text, name.text) == 0)
            continue;
        if (errno != ENOENT)
            return fbp_fail(FBP_ERR_IO,
                            "%s: this temporary file cannot be renamed to %s: %s; some slices "
                            "already have their "
                            "final names, so run again to rename the others",
                            part.text, name.text, strerror(errno));
        *gone |= access(name.text, F_OK) != 0;
    }
    if (n > 0)
        fbp_sync_folder(o->path);
    return FBP_OK;
}

static fbp_status publish(struct fbp_output *o)
{
    bool gone = false;

    FBP_TRY(sync_slices(o));
    FBP_TRY(check_names(o));
    /* After this journal line the new slices are valid: if this run is stopped, the next run
     * completes the renaming. */
    FBP_TRY(fbp_append(o->log_fd, o->log, "publish\n"));
    FBP_TRY(fbp_sync_file(o->log_fd, o->log));
    o->owned = o->log_made = false; /* no file is removed from here on */
    FBP_TRY(fbp_stack_rename(o, o->sink.info.n[2], &gone));
    if (gone)
        return fbp_fail(
            FBP_ERR_IO,
            "%s: another program removed slices before the output was complete; start again",
            o->path);
    o->published = true;
    return FBP_OK;
}

/* Check that no slice file would replace an input file, or later be read as a file of an input. */
static fbp_status spare_inputs(struct fbp_output *o, const struct fbp_sink_params *params)
{
    struct stat *is = NULL; /* slices that already exist */
    const char *hit = NULL;
    fbp_status st = FBP_OK;
    bool there = false;
    size_t n = 0;

    FBP_TRY(fbp_calloc((void **)&is, o->sink.info.n[2], sizeof *is, "a table of slices"));
    for (size_t z = 0; z < o->sink.info.n[2]; z++) {
        FBP_TRY_GOTO(fbp_stat(fbp_sink_slice_name(o, z, "").text, &is[n], &there));
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
            st = fbp_stack_joins(input, o->path, &joins);
        hit = joins ? input : hit;
    }
    if (st == FBP_OK && hit)
        st = FBP_INVALID("%s: this output would overwrite the input %s, or become a part of that "
                         "series; choose another folder, or give --force",
                         o->path, hit);
fail:
    free(is);
    return st;
}

static fbp_status open_stack(struct fbp_sink *s, const struct fbp_sink_request *rq)
{
    static const struct fbp_store store = {
        .write = write_slices,
        .has = has,
        .clear = clear,
        .remove = remove_parts,
        .sync = sync_slices,
        .publish = publish,
    };
    struct stack *k = (struct stack *)s;
    struct fbp_output *o = &k->out;
    struct fbp_pattern *p = &k->pattern;

    fbp_output_begin(o, &store, rq);
    k->format = fbp_format_of_slices(rq->path);
    const struct fbp_slice_format *f = k->format->slices;
    FBP_TRY(fbp_output_check_frames(o, rq->path, false));

    /* Names. */
    FBP_TRY(fbp_print_path(&o->path, "%s", rq->path));
    if (!fbp_pattern_place(o->path, strlen(o->path), p)) {
        p->suffix = NULL;
        FBP_TRY(fbp_output_name_parts(o, f->extensions));
    } else {
        FBP_TRY(fbp_output_name_parts(o, NULL));
    }
    FBP_TRY(fbp_print_path(&o->layout.data_path, "%s", fbp_sink_slice_name(o, 0, "").text));

    /* Limits of the format. */
    if (f->integers_only && o->sink.info.type != FBP_U8 && o->sink.info.type != FBP_U16)
        return FBP_INVALID("%s: %s cannot store %s; choose uint8 or uint16 and a range of values "
                           "(--output-type uint16 --output-range LO,HI), or write TIFF",
                           o->path, k->format->title, fbp_type_name(o->sink.info.type));
    if (!p->suffix && o->sink.info.n[2] != 1)
        return FBP_INVALID(
            "%s: a %s file holds one slice, but the volume has %zu; name one file per "
            "slice, such as \"out/slice_%%04d%.*s\"",
            o->path, k->format->title, o->sink.info.n[2], (int)strcspn(f->extensions, " "),
            f->extensions);
    if (f->check)
        FBP_TRY(f->check(o->path, &o->sink.info));

    FBP_TRY(fbp_output_folder(o->path, &o->folder, &o->made_folder));
    if (!rq->params->force)
        FBP_TRY(spare_inputs(o, rq->params));
    FBP_TRY(check_names(o));
    return fbp_output_open(o, rq);
}

const struct fbp_sink_calls fbp_sink_stack = {
    .bytes = sizeof(struct stack),
    .open = open_stack,
    .finish = fbp_output_finish,
    .kept = fbp_output_kept,
    .close = fbp_output_close,
};
