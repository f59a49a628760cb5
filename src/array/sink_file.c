/* The sink for one output file (table `fbp_sink_file`): samples at fixed positions in PATH.part,
 * compression, and renaming to the final name. Other sinks with files share its functions for
 * names, header and hashes of slices.
 * Used by: array/. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/names.h"
#include "array/shared_output.h"
#include "base/cache.h"
#include "base/text.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

uint64_t fbp_output_part_bytes(struct fbp_output *o)
{
    return o->part_offset + (uint64_t)o->sink.slice_bytes * o->sink.info.n[2] +
           o->layout.tail_bytes;
}

/* Store bytes of PATH.part. The system admits one writing thread per file; one write() is faster
 * than a copy into the mapping. If at least WRITERS threads are storing bytes already, this thread
 * copies. If the copy fails, the bytes are written, and write() returns the reason. */
static fbp_status put(void *output, uint64_t at, const void *data, size_t n)
{
    enum { WRITERS = 2 };
    struct fbp_output *o = output;
    const bool copies =
        atomic_fetch_add(&o->n_storing, 1) >= WRITERS && o->map && at + n <= o->map_bytes;
    fbp_status st = FBP_OK;

    if (!copies || !fbp_map_copy(o->map, at, data, n))
        st = fbp_write_at(o->fd, o->part, at, data, n);
    atomic_fetch_sub(&o->n_storing, 1);
    return st;
}

static fbp_status get(struct fbp_output *o, uint64_t at, void *out, size_t n)
{
    return fbp_read_at(o->fd, o->part, at, out, n);
}

static fbp_status open_part(struct fbp_output *o, bool create)
{
    FBP_TRY(create ? fbp_part_create(o->part, &o->fd) : fbp_part_reopen(o, o->part, &o->fd));
    o->map_bytes = (size_t)fbp_output_part_bytes(o);
    if (o->fd >= 0)
        o->map = fbp_map_memory_file(o->fd, o->map_bytes);
    return FBP_OK;
}

static fbp_status clear(struct fbp_output *o, bool ours)
{
    return fbp_part_clear(o, o->part, ours);
}

static bool remove_part(struct fbp_output *o)
{
    unlink(o->part);
    return access(o->part, F_OK) < 0;
}

static fbp_status sync_part(struct fbp_output *o)
{
    return fbp_sync_file(o->fd, o->part);
}

fbp_status fbp_output_clear_beside(struct fbp_output *o, bool ours)
{
    FBP_TRY(fbp_part_clear(o, fbp_file_name("%s.z", o->part).text, ours));
    return fbp_part_clear(o, fbp_file_name("%s.side", o->part).text, ours);
}

/* Allocate the pages of PATH.part, in pieces, because each call locks the file. A failure is
 * reported by the writes that lack a page. */
static void *reserve_pages(void *user)
{
    enum { PIECE = 32 << 20 };
    struct fbp_output *o = user;

    for (uint64_t at = 0; at < o->map_bytes && !atomic_load(&o->stop_reserver); at += PIECE) {
        const uint64_t left = o->map_bytes - at;
        if (fallocate(o->fd, 0, (off_t)at, (off_t)(left < PIECE ? left : PIECE)) < 0)
            break;
    }
    return NULL;
}

static fbp_status reserve(struct fbp_output *o)
{
    const uint64_t need = fbp_output_part_bytes(o);
    /* On a tmpfs, fallocate() clears every page and takes as long as writing. Therefore only the
     * free space is checked here, and a thread allocates the pages while slices are computed. */
    const int error = (o->map ? fbp_disk_extend : fbp_disk_reserve)(o->fd, need);

    if (error == 0 && o->map)
        o->has_reserver = pthread_create(&o->reserver, NULL, reserve_pages, o) == 0;
    if (error == 0)
        return FBP_OK;
    if (error != ENOSPC && error != EDQUOT && error != EFBIG) {
        errno = error;
        return fbp_part_cannot("reserve space for", o->part);
    }
    if (o->owned && ftruncate(o->fd, 0) < 0) /* the blocks reserved so far then count as free */
        return fbp_part_cannot("empty", o->part);
    const uint64_t left = fbp_disk_free(o->fd);
    if (need <= left) /* a quota, or a limit of the file system */
        return fbp_fail_write(o->path, error, need);
    return fbp_fail_disk_full(o->path, need, left);
}

fbp_status fbp_output_write_header(struct fbp_output *o)
{
    struct fbp_write_buffer p = {0};
    fbp_status st;

    if (o->part_offset == 0)
        return FBP_OK;
    FBP_TRY_GOTO(fbp_write_buffer_open(&p, o->fd, o->part, 0));
    FBP_TRY_GOTO(fbp_layout_put(&o->layout, &o->sink.info, &p));
    st = fbp_write_buffer_flush(&p);
fail:
    fbp_write_buffer_close(&p);
    return st;
}

fbp_status fbp_output_write(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    struct fbp_output *o = s->files;
    const uint64_t at = o->part_offset + (uint64_t)z0 * o->sink.slice_bytes;
    const size_t bytes = nz * o->sink.slice_bytes;
    struct fbp_write_buffer p = {0};
    uint64_t clipped = 0, hash;
    fbp_status st;

    if (o->sink.info.scale == 0) {
        FBP_TRY_GOTO(o->put(o, at, data, bytes));
        hash = o->sink.fingerprint ? fbp_write_buffer_hash(0, data, bytes) : 0;
    } else {
        FBP_TRY_GOTO(fbp_write_buffer_open(&p, o->fd, o->part, at));
        p.to = o->put;
        p.user = o;
        FBP_TRY_GOTO(fbp_write_buffer_put_values(
            &p, &o->sink.info, data, nz * o->sink.info.n[0] * o->sink.info.n[1], &clipped));
        FBP_TRY_GOTO(fbp_write_buffer_flush(&p));
        hash = p.hash;
    }
    if (!o->compress && !o->passing)
        fbp_begin_sync(o->fd, at, bytes);
    if (o->sink.fingerprint)
        FBP_TRY_GOTO(fbp_journal_append(o, z0, nz, hash));
    fbp_sink_mark_clipped(&o->sink, z0, nz, clipped);
fail:
    fbp_write_buffer_close(&p);
    return st;
}

bool fbp_output_has(struct fbp_output *o, const struct fbp_boundary *boundary, size_t z0, size_t nz,
                    uint64_t hash, void *scratch)
{
    uint64_t at = o->part_offset + (uint64_t)z0 * o->sink.slice_bytes, found = 0;
    const uint64_t end = at + (uint64_t)nz * o->sink.slice_bytes;

    for (size_t n; at < end; at += n) {
        n = end - at < FBP_WRITE_BUFFER_BYTES ? (size_t)(end - at) : FBP_WRITE_BUFFER_BYTES;
        if ((boundary ? fbp_boundary_get(o, boundary, at, scratch, n)
                      : o->store->get(o, at, scratch, n)) != FBP_OK) {
            fbp_message_clear(); /* these slices are computed again */
            return false;
        }
        found = fbp_hash(found, scratch, n);
    }
    return found == hash;
}

/* --- Publication --- */

/* Compress PATH.part into the new file `path`. Some formats compress their header, too; the header
 * of other formats is written last, uncompressed, because it contains the compressed size. */
static fbp_status compress_part(struct fbp_output *o, const char *path)
{
    enum { IN_BYTES = 1 << 18, WINDOW = 15, GZIP = 16 };
    const uint64_t start = o->format->packs_header ? 0 : o->layout.header_bytes;
    const uint64_t total = fbp_output_part_bytes(o); /* includes the header if it is compressed */
    struct fbp_write_buffer p = {0};
    z_stream z = {0};
    bool begun = false;
    void *in = NULL;
    fbp_status st;
    int fd;

    FBP_TRY(fbp_part_create(path, &fd));
    FBP_TRY_GOTO(fbp_alloc(&in, IN_BYTES, "zlib"));
    FBP_TRY_GOTO(fbp_write_buffer_open(&p, fd, path, start));
    /* The fastest level of zlib is used: slower levels compress noise hardly better. */
    begun = deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, WINDOW + (o->format->gzip ? GZIP : 0), 8,
                         Z_DEFAULT_STRATEGY) == Z_OK;
    if (!begun)
        FBP_TRY_GOTO(fbp_fail_nomem(1 << 18, "zlib"));
    for (uint64_t at = 0; at < total;) {
        const size_t n = total - at < IN_BYTES ? (size_t)(total - at) : IN_BYTES;

        FBP_TRY_GOTO(fbp_check_cancelled());
        FBP_TRY_GOTO(fbp_read_at(o->fd, o->part, at, in, n));
        at += n;
        z.next_in = in;
        z.avail_in = (uInt)n;
        do {
            z.next_out = (Bytef *)p.buf + p.n;
            z.avail_out = (uInt)(FBP_WRITE_BUFFER_BYTES - p.n);
            if (deflate(&z, at == total ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
                FBP_TRY_GOTO(fbp_fail(
                    FBP_ERR_IO,
                    "%s: zlib failed to compress the samples; try again, or omit --compress",
                    path));
            p.n = FBP_WRITE_BUFFER_BYTES - z.avail_out;
            if (z.avail_out == 0)
                FBP_TRY_GOTO(fbp_write_buffer_flush(&p));
        } while (z.avail_out == 0);
    }
    FBP_TRY_GOTO(fbp_write_buffer_flush(&p));
    if (!o->format->packs_header) {
        fbp_layout_clear(&o->layout);
        FBP_TRY_GOTO(o->format->layout(o->path, &o->sink.info, p.at - start, &o->layout));
        FBP_TRY_GOTO(fbp_write_at(fd, path, 0, o->layout.header, o->layout.header_bytes));
    }
    st = fbp_sync_file(fd, path);
fail:
    if (begun)
        deflateEnd(&z);
    fbp_write_buffer_close(&p);
    fbp_free(in);
    if (close(fd) < 0 && st == FBP_OK)
        st = fbp_part_cannot("close", path);
    if (st != FBP_OK)
        unlink(path);
    return st;
}

/* Remove an older integer output of the same name together with its description PATH.json, whose
 * scale would otherwise be applied to the new samples. */
static fbp_status remove_described(struct fbp_output *o)
{
    const char *old = o->layout.data_path;
    const struct fbp_file_name beside = fbp_file_name("%s.json", old);
    struct fbp_array_info info = {.type = FBP_TYPE_NONE};
    bool described = false;

    FBP_TRY(fbp_parse_description_beside(old, &info, &described));
    if (!described)
        return FBP_OK;
    if (unlink(old) < 0 && errno != ENOENT)
        return fbp_part_cannot("replace", old);
    return unlink(beside.text) < 0 ? fbp_part_cannot("remove", beside.text) : FBP_OK;
}

/* Give `data`, the file with the samples, its final name; write its text file, if it has one. */
static fbp_status publish_names(struct fbp_output *o, const char *data)
{
    const struct fbp_layout *l = &o->layout;
    const struct fbp_file_name side = fbp_file_name("%s.side", o->part);
    fbp_status st;
    int fd;

    if (!l->side_path) {
        FBP_TRY(remove_described(o));
        st = fbp_part_rename(data, l->data_path);
        o->published = st == FBP_OK;
        return st;
    }

    /* The text file is written before any file is renamed: a full disk then changes no names. */
    FBP_TRY(fbp_part_create(side.text, &fd));
    st = fbp_write_at(fd, side.text, 0, l->side_text, strlen(l->side_text));
    if (st == FBP_OK)
        st = fbp_sync_file(fd, side.text);
    close(fd);
    if (st != FBP_OK)
        goto fail;

    /* The text file must never describe samples of another volume: the old samples are removed
     * first, and the new ones renamed last. After an interruption either one complete volume
     * exists, or none. */
    if (!fbp_has_extension(l->side_path, ".json"))
        FBP_TRY_GOTO(remove_described(o));
    if (unlink(l->data_path) < 0 && errno != ENOENT)
        FBP_TRY_GOTO(fbp_part_cannot("replace", l->data_path));
    FBP_TRY_GOTO(fbp_part_rename(side.text, l->side_path));
    st = fbp_part_rename(data, l->data_path);
    o->published = st == FBP_OK;
    if (st != FBP_OK)
        unlink(l->side_path);
fail:
    if (st != FBP_OK)
        unlink(side.text);
    return st;
}

/* Complete the output: compress PATH.part if requested, sync the file, and rename it. */
static fbp_status publish(struct fbp_output *o)
{
    const struct fbp_file_name packed = fbp_file_name("%s.z", o->part);

    if (!o->compress) {
        FBP_TRY(sync_part(o));
        return publish_names(o, o->part);
    }
    FBP_TRY(compress_part(o, packed.text));
    const fbp_status st = publish_names(o, packed.text);
    if (st != FBP_OK)
        unlink(packed.text);
    return st;
}

fbp_status fbp_output_finish(struct fbp_sink *s)
{
    struct fbp_output *o = s->files;
    fbp_status st = o->store->publish(o);

    if (st == FBP_OK) {
        if (o->store->remove(o)) /* after compression PATH.part still exists */
            unlink(o->log);
        fbp_sync_folder(o->path);
        if (access(o->log, F_OK) == 0)
            st = fbp_fail(FBP_ERR_IO,
                          "%s: this journal of a finished run cannot be removed; remove the file",
                          o->log);
    }
    return fbp_output_excuse(o, st);
}

static const struct fbp_store store = {
    .put = put,
    .get = get,
    .write = fbp_output_write,
    .has = fbp_output_has,
    .open = open_part,
    .clear = clear,
    .remove = remove_part,
    .reserve = reserve,
    .sync = sync_part,
    .publish = publish,
};

fbp_status fbp_output_name_file(struct fbp_output *o, const struct fbp_sink_request *rq,
                                fbp_status (*check)(const char *path))
{
    const struct fbp_sink_params *params = rq->params;
    struct fbp_layout *l = &o->layout;
    const char *path = rq->path;
    size_t n = strlen(path); /* length of FILE in "FILE:ARRAY" */
    char known[400];

    /* The format. */
    if (!rq->format)
        o->format = fbp_format_to_write(path, &n);
    FBP_TRY(fbp_print_path(&o->path, "%.*s", (int)n, path));
    if (!o->format)
        return FBP_INVALID(
            "%s: unknown file format; choose a name that ends in one of %s, or use null: or hash:",
            path, fbp_formats_written(known, sizeof known));
    if (rq->format && !fbp_has_extension(path, o->format->extensions))
        return FBP_INVALID("%s: expected a name that ends in %s; correct the name", path,
                           o->format->extensions);
    FBP_TRY(check(o->path));
    FBP_TRY(fbp_output_check_frames(o, path, o->format->frames));
    if (params->resume && o->sink.fingerprint == 0)
        return FBP_INVALID("%s: cannot be resumed, because fbp_sink_params.fingerprint is 0; set "
                           "it, or start again without resume",
                           path);
    o->compress = o->format->packs_header || (o->compress && o->format->can_compress);

    /* Set the names of all temporary files. If the name is a link, they are beside its target. */
    FBP_TRY(fbp_output_name_parts(o, o->format->extensions));
    if (o->sink.fingerprint && path[n]) /* outputs to two arrays of one file differ */
        o->sink.fingerprint = fbp_hash(o->sink.fingerprint, path + n, strlen(path + n));
    const struct fbp_file_name whole = fbp_file_name("%s%s", o->path, path + n);
    if (strlen(whole.text) + 1 == sizeof whole.text)
        return FBP_INVALID("%.100s...: the file name is too long; choose a shorter one", path);
    FBP_TRY(o->format->layout_with
                ? o->format->layout_with(rq->context, whole.text, &o->sink.info, l)
                : o->format->layout(whole.text, &o->sink.info, o->compress, l));
    if (l->side_path && (strlen(o->path) != n || memcmp(path, o->path, n) != 0))
        return FBP_INVALID(
            "%.*s: is a link, but this format needs two files in one folder; name %s itself",
            (int)n, path, o->path);
    if (!o->compress || o->format->packs_header)
        o->part_offset = l->header_bytes;

    /* Fail if a file exists that check() refuses to replace, or an input (without --force). */
    FBP_TRY(check(l->data_path));
    if (l->side_path)
        FBP_TRY(fbp_output_check(l->side_path));
    for (size_t i = 0; i < params->n_keep && !params->force; i++) {
        bool hit = false;

        if (params->keep[i])
            FBP_TRY(fbp_input_is(params->keep[i], l->data_path, &hit));
        if (params->keep[i] && l->side_path && !hit)
            FBP_TRY(fbp_input_is(params->keep[i], l->side_path, &hit));
        if (hit)
            return FBP_INVALID(
                "%s: this output would overwrite the input %s; choose another name, or "
                "give --force",
                o->path, params->keep[i]);
    }
    return FBP_OK;
}

static fbp_status open_file(struct fbp_sink *s, const struct fbp_sink_request *rq)
{
    struct fbp_output *o = (struct fbp_output *)s;

    fbp_output_begin(o, &store, rq);
    FBP_TRY(fbp_output_name_file(o, rq, fbp_output_check));
    return fbp_output_open(o, rq);
}

const struct fbp_sink_calls fbp_sink_file = {
    .bytes = sizeof(struct fbp_output),
    .open = open_file,
    .finish = fbp_output_finish,
    .kept = fbp_output_kept,
    .close = fbp_output_close,
};
