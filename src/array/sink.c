/* Sinks of all kinds: opening by name and parameters (fbp_sink_open()), writing, finishing,
 * closing. caller.c, sink_files.c, sink_stack.c, chunked.c and shared_output.c implement the kinds
 * (see sink.h). */
#include "array/sink.h"

#include "array/chunked.h"
#include "array/names.h"
#include "array/shared_output.h"

#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/file/outfile.h"

#include "base/base.h"
#include "base/cache.h"
#include "base/text.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sinks write memory as little-endian");

/* --- Opening --- */

/* Check that the name is free, or belongs to an output that can be replaced. */
static fbp_status check_name(const struct fbp_sink *s, const char *path)
{
    return (s->format->chunks ? fbp_chunked_check : fbp_output_check)(path);
}

/* Check a series of volumes, which not all formats can store. */
static fbp_status check_frames(const struct fbp_sink *s, const char *path, bool has_place)
{
    const size_t frames = fbp_array_frames(&s->info);

    if (s->info.n[2] % frames != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %zu slices are not those of %zu frames: give as many to each", path,
                        s->info.n[2], frames);
    if (frames == 1 || has_place)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "%s: such files have no place for a series of %zu frames: write .mha, .nii, "
                    ".nrrd, .h5, .mat, .npy or .raw",
                    path, frames);
}

/* Open a file or a folder of chunks. s->format: set by fbp_sink_open_as(); NULL: chosen by the
 * name. */
static fbp_status open_file(struct fbp_sink *s, const char *path,
                            const struct fbp_sink_params *params)
{
    struct fbp_layout *l = &s->layout;
    size_t n = strlen(path); /* length of the file's name; the name of an array may follow */
    char known[400], *whole;
    fbp_status st;

    /* The format. */
    const bool given = s->format;
    if (!given)
        s->format = fbp_format_to_write(path, &n);
    FBP_TRY(fbp_part_name(&s->path, "%.*s", (int)n, path));
    if (!s->format)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: no format is known for this name: end it in one of %s, or use "
                        "null: or hash:",
                        path, fbp_formats_written(known, sizeof known));
    if (given && !fbp_has_extension(path, s->format->extensions))
        return fbp_fail(FBP_ERR_INVALID, "%s: expected a name that ends in %s", path,
                        s->format->extensions);
    FBP_TRY(check_name(s, s->path));
    FBP_TRY(check_frames(s, path, s->format->frames));
    if (params->resume && s->fingerprint == 0)
        return fbp_fail(FBP_ERR_INVALID, "%s: cannot be resumed without a fingerprint", path);
    s->compress = s->format->packs_header || (s->compress && s->format->can_compress);

    /* The names of all files. If the name is a link, they are beside its target. */
    FBP_TRY(fbp_sink_follow_link(&s->path, s->format->extensions));
    FBP_TRY(fbp_part_name(&s->part, "%s.part", s->path));
    FBP_TRY(fbp_part_name(&s->log, "%s.part.log", s->path));
    if (s->fingerprint && path[n]) /* another array in the file is another output */
        s->fingerprint = fbp_hash(s->fingerprint, path + n, strlen(path + n));
    FBP_TRY(fbp_part_name(&whole, "%s%s", s->path, path + n));
    st = s->format->layout_with ? s->format->layout_with(s->context, whole, &s->info, l)
                                : s->format->layout(whole, &s->info, s->compress, l);
    free(whole);
    FBP_TRY(st);
    if (l->side_path && (strlen(s->path) != n || memcmp(path, s->path, n) != 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%.*s: is a link, but the output is of two files, which are looked for "
                        "beside each other: name %s itself",
                        (int)n, path, s->path);
    if (!s->compress || s->format->packs_header)
        s->part_offset = l->header_bytes;
    if (strcmp(l->data_path, s->path) != 0)
        FBP_TRY(fbp_part_name(&s->lock_path, "%s.part.log", l->data_path));

    /* Refuse to overwrite files that are not outputs. */
    FBP_TRY(check_name(s, l->data_path));
    if (l->side_path)
        FBP_TRY(fbp_output_check(l->side_path));
    for (size_t i = 0; i < params->n_keep && !params->force; i++) {
        bool hit = false;

        if (params->keep[i])
            FBP_TRY(fbp_input_is(params->keep[i], l->data_path, &hit));
        if (params->keep[i] && l->side_path && !hit)
            FBP_TRY(fbp_input_is(params->keep[i], l->side_path, &hit));
        if (hit)
            return fbp_fail(
                FBP_ERR_INVALID,
                "%s: this output would replace %s, which is read for it: choose another "
                "name, or give --force",
                s->path, params->keep[i]);
    }
    if (s->format->chunks)
        FBP_TRY(fbp_chunked_create(s, s->format->chunks, params->level_bytes));
    return fbp_sink_files_open(s, params);
}

/* Set the type of the stored samples: floats, or integers that represent a range of values. */
static fbp_status take_type(struct fbp_sink *s, const char *path,
                            const struct fbp_sink_params *params)
{
    const double lo = params->range[0], hi = params->range[1];
    const enum fbp_type type = params->type ? params->type : FBP_F32;
    const double top = type == FBP_U8 ? UINT8_MAX : UINT16_MAX;

    s->info.type = type;
    s->info.scale = s->info.offset = 0;
    s->info.row_order = FBP_ROWS_BOTTOM_UP;
    if (type == FBP_F64 && s->fingerprint)
        s->fingerprint = fbp_hash(s->fingerprint, &type, sizeof type);
    if (type == FBP_F32 || type == FBP_F64)
        return FBP_OK;
    if (type != FBP_U8 && type != FBP_U16)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: %s is not written: choose float32, float64, uint16 or uint8", path,
                        fbp_type_name(type));
    if (!(lo < hi) || !isfinite((hi - lo) / top))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the range %g to %g cannot be mapped to %s: give the least and the "
                        "greatest value that matter",
                        path, lo, hi, fbp_type_name(type));
    if (strcmp(path, "hash:") == 0)
        return fbp_fail(FBP_ERR_INVALID, "hash: is that of float32: leave the output type out");
    s->info.scale = (hi - lo) / top;
    s->info.offset = lo;
    if (s->fingerprint)
        s->fingerprint = fbp_hash(s->fingerprint + type, params->range, sizeof params->range);
    return FBP_OK;
}

/* Open the kind of sink that the name describes. s->format: set by fbp_sink_open_as(); NULL: chosen
 * by the name. joint NULL: one process writes the output. */
static fbp_status open_kind(struct fbp_sink *s, const char *path,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_share *joint)
{
    const struct fbp_write_mode ways = {joint != NULL, params->compress != 0};
    uint64_t bytes = 0;

    FBP_TRY(fbp_write_mode_check(path, s->format, &ways));
    FBP_TRY(take_type(s, path, params));
    FBP_TRY(fbp_array_bytes(path, &s->info, &bytes));
    if (bytes > SIZE_MAX)
        return fbp_fail(FBP_ERR_INVALID, "%s: too large for this machine", path);
    s->slice_bytes = s->info.n[0] * s->info.n[1] * fbp_type_size(s->info.type);
    FBP_TRY(fbp_calloc((void **)&s->have, s->info.n[2], 1, "a table of slices"));
    if (joint)
        FBP_TRY(fbp_shared_output_create(s, path, joint));
    if (!s->format && strcmp(path, "null:") == 0) {
        s->kind = FBP_SINK_NULL;
        return FBP_OK;
    }
    if (!s->format && strcmp(path, "hash:") == 0) {
        s->kind = FBP_SINK_HASH;
        return fbp_calloc((void **)&s->hash, s->info.n[2], sizeof *s->hash, "hashes of slices");
    }
    s->slices = s->format ? NULL : fbp_format_of_slices(path);
    if (s->slices) {
        s->kind = FBP_SINK_STACK;
        FBP_TRY(check_frames(s, path, false));
        return fbp_sink_stack_open(s, path, params);
    }
    s->kind = FBP_SINK_FILE;
    return open_file(s, path, params);
}

static fbp_status open_sink(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context,
                            const struct fbp_sink_share *joint)
{
    const struct fbp_sink_params defaults = {.struct_size = sizeof defaults};
    struct fbp_sink_params own;
    struct fbp_array_info whole;
    struct fbp_sink *s = NULL;

    *out = NULL;
    FBP_TRY(FBP_COPY_IN(sink_params, &own, params ? params : &defaults));
    FBP_TRY(fbp_check_choice("sink: type", (long)own.type, FBP_F64));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sink: range[0]", own.range[0]));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sink: range[1]", own.range[1]));
    if (own.n_keep && !own.keep)
        return fbp_fail(FBP_ERR_INVALID, "sink: keep: found NULL, expected %zu names", own.n_keep);
    FBP_TRY(FBP_COPY_IN(array_info, &whole, info));
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a sink"));
    pthread_mutex_init(&s->lock, NULL);
    s->fd = s->log_fd = s->lock_fd = -1;
    s->process = getpid();
    s->info = whole;
    s->compress = own.compress;
    s->fingerprint = own.fingerprint;
    s->format = format;
    s->context = context;
    const fbp_status st = open_kind(s, path, &own, joint);
    s->context = NULL;
    if (st == FBP_OK)
        *out = s;
    else
        fbp_sink_close(&s);
    return st;
}

fbp_status fbp_sink_open(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                         const struct fbp_sink_params *params)
{
    FBP_REQUIRE(out, path);
    fbp_message_clear();
    return open_sink(out, path, info, params, NULL, NULL, NULL);
}

fbp_status fbp_sink_open_as(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context)
{
    return open_sink(out, path, info, params, format, context, NULL);
}

fbp_status fbp_sink_open_shared(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                                const struct fbp_sink_params *params,
                                const struct fbp_sink_share *joint)
{
    fbp_message_clear();
    return open_sink(out, path, info, params, NULL, NULL, joint);
}

/* --- Writing --- */

void fbp_sink_mark_clipped(struct fbp_sink *s, size_t z0, size_t nz, uint64_t clipped)
{
    pthread_mutex_lock(&s->lock);
    s->clipped += clipped;
    for (size_t z = z0; z < z0 + nz; z++) {
        s->n_have += !s->have[z];
        s->have[z] = 1;
    }
    pthread_mutex_unlock(&s->lock);
}

void fbp_sink_mark(struct fbp_sink *s, size_t z0, size_t nz)
{
    fbp_sink_mark_clipped(s, z0, nz, 0);
}

void fbp_sink_written(fbp_sink *sink, size_t z0, size_t nz)
{
    fbp_sink_mark(sink, z0, nz);
}

bool fbp_sink_has(const fbp_sink *sink, size_t z0, size_t nz)
{
    FBP_REQUIRE_ELSE(false, sink);
    struct fbp_sink *s = (struct fbp_sink *)(uintptr_t)sink; /* only its lock is changed */
    bool all = z0 <= s->info.n[2] && nz <= s->info.n[2] - z0;

    pthread_mutex_lock(&s->lock);
    for (size_t z = z0; all && z < z0 + nz; z++)
        all = s->have[z];
    pthread_mutex_unlock(&s->lock);
    return all;
}

/* Store bytes at their position; also a callback of fbp_write_buffer. */
static fbp_status put_bytes(void *sink, uint64_t at, const void *data, size_t n)
{
    const struct fbp_sink *s = sink;

    return s->shared ? fbp_boundary_put(s, at, data, n) : fbp_sink_put(s, at, data, n);
}

/* Store slices in PATH.part, unchanged or converted to integers. */
static fbp_status write_file(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    const uint64_t at = s->part_offset + (uint64_t)z0 * s->slice_bytes;
    const size_t bytes = nz * s->slice_bytes;
    struct fbp_write_buffer p = {0};
    uint64_t clipped = 0, hash;
    fbp_status st;

    if (s->info.scale == 0) {
        FBP_TRY_GOTO(put_bytes(s, at, data, bytes));
        hash = s->fingerprint ? fbp_write_buffer_hash(0, data, bytes) : 0;
    } else {
        FBP_TRY_GOTO(fbp_write_buffer_open(&p, s->fd, s->part, at));
        p.to = put_bytes;
        p.user = s;
        FBP_TRY_GOTO(fbp_write_buffer_put_values(&p, &s->info, data,
                                                 nz * s->info.n[0] * s->info.n[1], &clipped));
        FBP_TRY_GOTO(fbp_write_buffer_flush(&p));
        hash = p.hash;
    }
    if (!s->compress && !s->passing)
        fbp_begin_sync(s->fd, at, bytes);
    if (s->fingerprint)
        FBP_TRY_GOTO(fbp_journal_append(s, z0, nz, hash));
    fbp_sink_mark_clipped(s, z0, nz, clipped);
fail:
    fbp_write_buffer_close(&p);
    return st;
}

uint64_t fbp_sink_thread_bytes(enum fbp_type type)
{
    const uint64_t packer = 512 << 10; /* zlib, and rows of a PNG file */

    return type == FBP_F32 || type == FBP_F64 || type == FBP_TYPE_NONE
               ? 0
               : FBP_WRITE_BUFFER_BYTES + packer;
}

/* Write slices of doubles for FBP_F64, else of floats. */
static fbp_status write_given(fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    FBP_TRY(fbp_check_process(s->process, "output"));
    if (s->finished || z0 > s->info.n[2] || nz > s->info.n[2] - z0)
        return fbp_fail(FBP_ERR_INVALID, "output: slices [%zu, +%zu) of %zu cannot be written%s",
                        z0, nz, s->info.n[2], s->finished ? ": it is finished" : "");
    if (nz == 0)
        return FBP_OK;
    if (!s->fingerprint) /* otherwise finished slices are kept for resumption */
        FBP_TRY(fbp_check_cancelled());
    if (s->kind == FBP_SINK_STACK)
        return fbp_sink_stack_write(s, z0, nz, data);
    if (s->kind == FBP_SINK_FILE && !s->chunked)
        return write_file(s, z0, nz, data);
    if (s->chunked) { /* each slice is counted in its layer of chunks only once */
        for (size_t i = 0, n; i < nz; i += n) {
            const bool there = fbp_sink_has(s, z0 + i, 1);

            for (n = 1; i + n < nz && fbp_sink_has(s, z0 + i + n, 1) == there;)
                n++;
            if (there)
                continue;
            FBP_TRY(write_file(s, z0 + i, n, (const char *)data + i * fbp_sink_given_bytes(s)));
            FBP_TRY(fbp_chunked_count(s, z0 + i, n));
        }
        return FBP_OK;
    }
    if (s->kind == FBP_SINK_HASH)
        for (size_t z = 0; z < nz; z++)
            s->hash[z0 + z] = fbp_hash(0, (const char *)data + z * s->slice_bytes, s->slice_bytes);
    if (s->calls)
        FBP_TRY(s->calls->write(s, z0, nz, data));
    fbp_sink_mark(s, z0, nz);
    return FBP_OK;
}

/* Convert values of the other precision, one slice at a time to save memory, and write them. */
static fbp_status write_other(fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    const bool to_double = s->info.type == FBP_F64;
    const size_t n = s->info.n[0] * s->info.n[1];
    fbp_status st = FBP_OK;
    void *slice = NULL;

    FBP_TRY(fbp_alloc(&slice, fbp_sink_given_bytes(s), "a slice of the output"));
    for (size_t z = 0; z < nz && st == FBP_OK; z++) {
        for (size_t i = 0; i < n; i++)
            if (to_double)
                ((double *)slice)[i] = (double)((const float *)data)[z * n + i];
            else
                ((float *)slice)[i] = (float)((const double *)data)[z * n + i];
        st = write_given(s, z0 + z, 1, slice);
    }
    fbp_free(slice);
    return st;
}

fbp_status fbp_sink_write(fbp_sink *s, size_t z0, size_t nz, const float *data)
{
    FBP_REQUIRE(s, data);
    fbp_message_clear();
    return (s->info.type == FBP_F64 ? write_other : write_given)(s, z0, nz, data);
}

fbp_status fbp_sink_write_double(fbp_sink *s, size_t z0, size_t nz, const double *data)
{
    FBP_REQUIRE(s, data);
    fbp_message_clear();
    return (s->info.type == FBP_F64 ? write_given : write_other)(s, z0, nz, data);
}

/* --- Finishing --- */

fbp_status fbp_sink_excuse(struct fbp_sink *s, fbp_status st)
{
    if (st == FBP_OK || !s->published)
        return st;
    free(s->note);
    s->note = fbp_format("%s: %s is complete all the same: remove what is left of %s* yourself",
                         fbp_message(), s->path, s->part);
    fbp_message_clear();
    return FBP_OK;
}

fbp_status fbp_sink_finish(fbp_sink *s)
{
    FBP_REQUIRE(s);
    size_t n = 0, first = 0; /* slices of this process that were not written */

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "output"));
    if (s->finished)
        return FBP_OK;
    for (size_t z = s->info.n[2]; z-- > 0;)
        if (!s->have[z] && (!s->shared || s->shared->mine[z])) {
            first = z;
            n++;
        }
    if (n > 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %zu of %zu slices were never written, the first is %zu: resume the "
                        "run",
                        s->path ? s->path : "output", n, s->info.n[2], first);
    fbp_status st = FBP_OK;
    if (s->shared)
        st = fbp_shared_output_finish(s);
    else if (s->kind == FBP_SINK_FILE)
        st = fbp_sink_publish(s);
    else if (s->kind == FBP_SINK_STACK)
        st = fbp_sink_stack_publish(s);
    FBP_TRY(fbp_sink_excuse(s, st));
    if (s->calls && s->calls->finish)
        FBP_TRY(s->calls->finish(s));
    s->finished = true;
    return FBP_OK;
}

const struct fbp_array_info *fbp_sink_info(const fbp_sink *sink)
{
    return &sink->info;
}

size_t fbp_sink_missing(const fbp_sink *s)
{
    return s->shared && s->shared->manifest && !s->shared->complete ? s->info.n[2] - s->n_have : 0;
}

const char *fbp_sink_note(const fbp_sink *s)
{
    return s->note;
}

uint64_t fbp_sink_clipped(const fbp_sink *s)
{
    FBP_REQUIRE_ELSE(0, s);
    return s->clipped;
}

uint64_t fbp_sink_hash(const fbp_sink *s)
{
    FBP_REQUIRE_ELSE(0, s);
    return s->kind == FBP_SINK_HASH ? fbp_hash(0, s->hash, s->info.n[2] * sizeof *s->hash) : 0;
}

void fbp_sink_forget(fbp_sink *s)
{
    s->fingerprint = 0;
}

size_t fbp_sink_resumable(struct fbp_sink *s)
{
    if (s && s->shared && s->shared->manifest && !s->finished)
        return fbp_shared_output_kept(s);
    return s && !s->finished && s->fingerprint && s->log_fd >= 0 ? s->n_have : 0;
}

void fbp_sink_close(fbp_sink **sink)
{
    FBP_REQUIRE_ELSE(, sink);
    struct fbp_sink *s = *sink;

    if (!s)
        return;
    if (s->process != getpid()) /* the files belong to the parent process */
        s->owned = s->log_made = s->lock_made = s->made_folder = false;

    /* Remove unfinished files while they are locked, before another process can own them. */
    if (s->shared && s->shared->manifest && s->process == getpid()) {
        fbp_shared_output_leave(s);
    } else if (s->owned && !s->finished && fbp_sink_resumable(s) == 0) {
        if (s->kind == FBP_SINK_STACK) {
            fbp_sink_stack_remove(s);
            unlink(s->log);
        } else {
            fbp_sink_file_remove(s);
        }
    } else if (!s->owned && s->log_made) {
        unlink(s->log);
    }
    fbp_sink_unlock_second(s);

    if (s->calls)
        s->calls->close(s);
    if (s->made_folder && !s->finished)
        rmdir(s->folder); /* fails if the folder is not empty */
    if (s->log_fd >= 0)
        close(s->log_fd);
    if (s->fd >= 0)
        close(s->fd);
    fbp_shared_output_destroy(&s->shared);
    fbp_chunked_destroy(&s->chunked);
    fbp_layout_clear(&s->layout);
    pthread_mutex_destroy(&s->lock);
    free(s->path);
    free(s->part);
    free(s->log);
    free(s->lock_path);
    free(s->note);
    free(s->folder);
    free(s->have);
    free(s->hash);
    free(s);
    *sink = NULL;
}
