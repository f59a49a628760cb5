/* Sinks, the outputs for slices of a volume: opening by name and parameters, writing, finishing
 * and closing (public: fbp_sink_open(), fbp_sink_has(), fbp_sink_write(), fbp_sink_finish(),
 * fbp_sink_clipped(), fbp_sink_close()). The functions fbp_sink_*() check their arguments and call
 * the table of the kind of sink (struct fbp_sink_calls in sink.h). Also contains the kinds
 * "null:", which stores nothing, and "hash:", which computes a hash of all values.
 * Used by: bench/, cli/, analysis/, array/, phantom/, pipeline/, scan/. */
#include "array/sink.h"
#include "array/device_memory.h"
#include "array/file/bytes.h"
#include "base/cache.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sinks write memory as little-endian");

/* --- Sinks without files --- */

static fbp_status write_null(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    (void)data;
    fbp_sink_mark(s, z0, nz);
    return FBP_OK;
}

struct hash_sink {
    struct fbp_sink sink;
    uint64_t *slices; /* [info.n[2]] hash of each slice */
};

static fbp_status open_hash(struct fbp_sink *s, const struct fbp_sink_request *rq)
{
    struct hash_sink *h = (struct hash_sink *)s;

    (void)rq;
    return fbp_calloc((void **)&h->slices, s->info.n[2], sizeof *h->slices, "hashes of slices");
}

static fbp_status write_hash(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    uint64_t *slices = ((struct hash_sink *)s)->slices;

    for (size_t z = 0; z < nz; z++)
        slices[z0 + z] = fbp_hash(0, (const char *)data + z * s->slice_bytes, s->slice_bytes);
    fbp_sink_mark(s, z0, nz);
    return FBP_OK;
}

static uint64_t hash_of(const struct fbp_sink *s)
{
    const uint64_t *slices = ((const struct hash_sink *)s)->slices;

    return fbp_hash(0, slices, s->info.n[2] * sizeof *slices);
}

static void close_hash(struct fbp_sink *s)
{
    free(((struct hash_sink *)s)->slices);
}

/* Choose the kind of sink by the name of the output, or by `format` unless it is NULL. */
static const struct fbp_sink_calls *kind_of(const char *path, const struct fbp_sink_format *format)
{
    static const struct fbp_sink_calls null = {.bytes = sizeof(struct fbp_sink),
                                               .write = write_null};
    static const struct fbp_sink_calls hash = {.bytes = sizeof(struct hash_sink),
                                               .open = open_hash,
                                               .write = write_hash,
                                               .hash = hash_of,
                                               .close = close_hash};
    size_t n;

    if (!format && strcmp(path, "null:") == 0)
        return &null;
    if (!format && strcmp(path, "hash:") == 0)
        return &hash;
    if (!format && fbp_format_of_slices(path))
        return &fbp_sink_stack;
    if (!format)
        format = fbp_format_to_write(path, &n);
    return format && format->chunks ? &fbp_sink_chunks : &fbp_sink_file;
}

void fbp_output_needs(const char *path, const size_t n[3], enum fbp_type type, bool compress,
                      uint64_t limit, struct fbp_output_needs *out)
{
    enum { PACKER = 512 << 10 }; /* zlib, and rows of a PNG file */
    const struct fbp_sink_calls *calls = path ? kind_of(path, NULL) : NULL;

    *out = (struct fbp_output_needs){0};
    if (type != FBP_F32 && type != FBP_F64 && type != FBP_TYPE_NONE)
        out->writer_bytes = FBP_WRITE_BUFFER_BYTES + PACKER;
    if (calls && calls->needs)
        calls->needs(n, type, compress, limit, out);
}

/* Set the type of the stored samples: floats, or integers that represent the range of values `lo`
 * to `hi`. Unless the type is float32, *fingerprint, the hash of all settings, is extended by the
 * type and, for integers, the range; 0 stays 0. */
static fbp_status take_type(struct fbp_array_info *info, const struct fbp_sink_request *rq,
                            uint64_t *fingerprint)
{
    const double lo = rq->params->range[0], hi = rq->params->range[1];
    const enum fbp_type type = rq->params->type ? rq->params->type : FBP_F32;
    const double top = type == FBP_U8 ? UINT8_MAX : UINT16_MAX; /* number of steps */

    info->type = type;
    info->scale = info->offset = 0;
    info->row_order = FBP_ROWS_BOTTOM_UP;
    if (type == FBP_F64 && *fingerprint)
        *fingerprint = fbp_hash(*fingerprint, &type, sizeof type);
    if (type == FBP_F32 || type == FBP_F64)
        return FBP_OK;
    if (type != FBP_U8 && type != FBP_U16 && type != FBP_I16)
        return FBP_UNSUPPORTED(
            "%s: output of type %s is not supported; choose float32, float64, uint16, int16 or "
            "uint8",
            rq->path, fbp_type_name(type));
    if (!(lo < hi) || !isfinite((hi - lo) / top))
        return FBP_INVALID("%s: the range %g to %g cannot be mapped to %s; give the least and the "
                           "greatest relevant value",
                           rq->path, lo, hi, fbp_type_name(type));
    if (strcmp(rq->path, "hash:") == 0)
        return FBP_INVALID("hash: the hash is computed from float32 values; omit the output type");
    info->scale = (hi - lo) / top;
    info->offset = type == FBP_I16 ? lo - INT16_MIN * info->scale : lo;
    if (*fingerprint)
        *fingerprint = fbp_hash(*fingerprint + type, rq->params->range, sizeof rq->params->range);
    return FBP_OK;
}

fbp_status fbp_sink_create(struct fbp_sink **out, const struct fbp_sink_calls *calls,
                           const struct fbp_array_info *info, const char *what)
{
    struct fbp_sink *s = NULL;
    uint64_t bytes = 0;

    *out = NULL;
    FBP_TRY(fbp_array_bytes(what, info, &bytes));
    if (bytes > SIZE_MAX)
        return FBP_INVALID("%s: the volume is too large for this machine; choose a smaller volume",
                           what);
    FBP_TRY(fbp_calloc((void **)&s, 1, calls->bytes, "a sink"));
    *out = s;
    s->calls = calls;
    s->info = *info;
    s->slice_bytes = info->n[0] * info->n[1] * fbp_type_size(info->type);
    s->process = getpid();
    pthread_mutex_init(&s->lock, NULL);
    return fbp_calloc((void **)&s->have, info->n[2], 1, "a table of slices");
}

static fbp_status open_sink(fbp_sink **out, struct fbp_sink_request rq,
                            const struct fbp_array_info *given)
{
    const struct fbp_sink_params defaults = {.struct_size = sizeof defaults};
    struct fbp_sink_params own;
    struct fbp_array_info info;
    fbp_status st;

    *out = NULL;
    FBP_TRY(FBP_COPY_IN(sink_params, &own, rq.params ? rq.params : &defaults));
    FBP_TRY(fbp_check_choice("sink: type", (long)own.type, FBP_F64));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sink: range[0]", own.range[0]));
    FBP_TRY(fbp_check_range(&fbp_range_value, "sink: range[1]", own.range[1]));
    if (own.n_keep && !own.keep)
        return FBP_INVALID("sink: keep: found NULL, expected an array of %zu file names",
                           own.n_keep);
    FBP_TRY(FBP_COPY_IN(array_info, &info, given));
    FBP_TRY(fbp_write_mode_check(rq.path, rq.format,
                                 &(struct fbp_write_mode){rq.share != NULL, own.compress}));
    rq.params = &own;
    uint64_t fingerprint = own.fingerprint;
    FBP_TRY(take_type(&info, &rq, &fingerprint));
    FBP_TRY_GOTO(fbp_sink_create(out, kind_of(rq.path, rq.format), &info, rq.path));
    struct fbp_sink *s = *out;
    s->fingerprint = fingerprint;
    if (rq.share) {
        if (fingerprint == 0)
            FBP_TRY_GOTO(FBP_INVALID(
                "%s: an output in parts needs all views in files; store the views in files first",
                rq.path));
        FBP_TRY_GOTO(fbp_calloc((void **)&s->mine, info.n[2], 1, "a table of slices"));
        for (size_t z = 0; z < info.n[2]; z++)
            s->mine[z] = rq.share->mine[z] != 0;
    }
    if (s->calls->open)
        FBP_TRY_GOTO(s->calls->open(s, &rq));
    return FBP_OK;
fail:
    fbp_sink_close(out);
    return st;
}

fbp_status fbp_sink_open(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                         const struct fbp_sink_params *params)
{
    FBP_REQUIRE(out, path);
    fbp_message_clear();
    return open_sink(out, (struct fbp_sink_request){.path = path, .params = params}, info);
}

fbp_status fbp_sink_open_as(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                            const struct fbp_sink_params *params,
                            const struct fbp_sink_format *format, const void *context)
{
    return open_sink(out, (struct fbp_sink_request){path, params, format, context, NULL}, info);
}

fbp_status fbp_sink_open_shared(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                                const struct fbp_sink_params *params,
                                const struct fbp_sink_share *joint)
{
    fbp_message_clear();
    return open_sink(out, (struct fbp_sink_request){path, params, NULL, NULL, joint}, info);
}

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

/* Write slices that are given as doubles if the sink stores FBP_F64, else as floats. */
static fbp_status write_given(fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    FBP_TRY(fbp_check_process(s->process, "output"));
    if (s->finished)
        return FBP_INVALID("output: slices were written after the output was finished; write all "
                           "slices before finishing the output");
    if (z0 > s->info.n[2] || nz > s->info.n[2] - z0)
        return FBP_INVALID(
            "output: %zu slices from slice %zu on do not lie inside the volume of %zu "
            "slices; write only slices of the volume, counted from 0",
            nz, z0, s->info.n[2]);
    if (nz == 0)
        return FBP_OK;
    /* a run that can be resumed stores computed slices even if it is cancelled */
    if (!s->fingerprint)
        FBP_TRY(fbp_check_cancelled());
    return (s->files ? s->files->store->write : s->calls->write)(s, z0, nz, data);
}

/* Write floats to a sink of doubles, or the reverse: slices are converted one at a time. */
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

fbp_status fbp_sink_write(fbp_sink *s, size_t z0, size_t nz, enum fbp_type type, const void *data)
{
    FBP_REQUIRE(s, data);
    fbp_message_clear();
    FBP_TRY(fbp_check_float("sink", type));
    return ((s->info.type == FBP_F64) == (type == FBP_F64) ? write_given : write_other)(s, z0, nz,
                                                                                        data);
}

fbp_status fbp_sink_finish(fbp_sink *s)
{
    FBP_REQUIRE(s);
    size_t n = 0, first = 0; /* slices of this process that are missing */

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "output"));
    if (s->finished)
        return FBP_OK;
    for (size_t z = s->info.n[2]; z-- > 0;)
        if (!s->have[z] && (!s->mine || s->mine[z])) {
            first = z;
            n++;
        }
    if (n > 0)
        return FBP_INVALID("%s: %zu of %zu slices were never written, the first is %zu; write all "
                           "slices before finishing the output",
                           s->files ? s->files->path : "output", n, s->info.n[2], first);
    if (s->calls->finish)
        FBP_TRY(s->calls->finish(s));
    s->finished = true;
    return FBP_OK;
}

const struct fbp_array_info *fbp_sink_info(const fbp_sink *sink)
{
    return &sink->info;
}

void *fbp_sink_samples(const fbp_sink *sink)
{
    struct fbp_device_memory *device;

    return sink->calls->memory ? sink->calls->memory(sink, &device) : NULL;
}

struct fbp_device_memory *fbp_sink_device(const fbp_sink *sink)
{
    struct fbp_device_memory *device = NULL;

    if (sink->calls->memory)
        (void)sink->calls->memory(sink, &device);
    return device;
}

size_t fbp_sink_missing(const fbp_sink *s)
{
    return s->files && s->files->shared ? s->info.n[2] - s->n_have : 0;
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
    return s->calls->hash ? s->calls->hash(s) : 0;
}

void fbp_sink_forget(fbp_sink *s)
{
    s->fingerprint = 0;
}

size_t fbp_sink_resumable(struct fbp_sink *s)
{
    return s && !s->finished && s->calls->kept ? s->calls->kept(s) : 0;
}

void fbp_sink_close(fbp_sink **sink)
{
    FBP_REQUIRE_ELSE(, sink);
    struct fbp_sink *s = *sink;

    if (!s)
        return;
    if (s->calls->close)
        s->calls->close(s);
    pthread_mutex_destroy(&s->lock);
    free(s->note);
    free(s->have);
    free(s->mine);
    free(s);
    *sink = NULL;
}
