/* Arrays in the caller's memory as sources and sinks: that of the host, or of a device. */
#include "array/far.h"
#include "array/file/bytes.h"
#include "array/sink.h"

#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* When the caller is done with it. */
static fbp_status copy_far(struct fbp_far *far, void *to, const void *from, size_t bytes)
{
    FBP_TRY(fbp_far_settle(far));
    return far->copy(far, &(struct fbp_pieces){.to = to, .from = from, .n = 1, .bytes = bytes});
}

static fbp_status read_memory(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const size_t row = src->info.n[0] * fbp_type_size(src->info.type);

    if (!src->memory)
        return fbp_fail(FBP_ERR_INVALID, "memory: there are no views yet: give them to the run");
    const void *from = (const char *)src->memory + (slice * src->info.n[1] + row0) * row;
    if (src->far)
        return copy_far(src->far, out, from, n_rows * row);
    memcpy(out, from, n_rows * row);
    return FBP_OK;
}

static fbp_status open_source(fbp_source **out, const void *samples,
                              const struct fbp_array_info *given)
{
    struct fbp_array_info whole, *const info = &whole;
    fbp_source *src = NULL;
    uint64_t bytes;
    fbp_status st;

    *out = NULL;
    FBP_TRY(FBP_TAKE(array_info, info, given));
    FBP_TRY(fbp_array_bytes("memory", info, &bytes));
    if (info->big_endian)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "memory: samples must be in this machine's order");
    FBP_TRY(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    src->fd = -1;
    src->info = *info;
    src->memory = samples;
    src->read = read_memory;
    if (info->row_order == FBP_ROWS_AUTO)
        src->info.row_order = FBP_ROWS_BOTTOM_UP;
    snprintf(src->info.format, sizeof src->info.format, "memory");
    src->path = fbp_strdup("memory");
    if (!src->path) {
        st = fbp_fail_nomem(sizeof "memory", "a path");
        goto fail;
    }
    *out = src;
    return FBP_OK;
fail:
    fbp_source_close(&src);
    return st;
}

fbp_status fbp_source_memory(fbp_source **out, const void *samples,
                             const struct fbp_array_info *info)
{
    FBP_GIVEN(out);
    fbp_message_clear();
    return open_source(out, samples, info);
}

static void close_far(fbp_source *src)
{
    src->far->close(src->far);
}

fbp_status fbp_source_far_memory(fbp_source **out, const void *samples,
                                 const struct fbp_array_info *info, struct fbp_far *far)
{
    const fbp_status st = open_source(out, samples, info);

    if (st != FBP_OK) {
        far->close(far);
        return st;
    }
    (*out)->far = far;
    (*out)->close = close_far;
    return FBP_OK;
}

static fbp_status write_memory(fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    void *to = (char *)s->memory + z0 * s->slice_bytes;

    if (s->far)
        return copy_far(s->far, to, data, nz * s->slice_bytes);
    memcpy(to, data, nz * s->slice_bytes);
    return FBP_OK;
}

static fbp_status finish_memory(fbp_sink *s)
{
    (void)s;
    return FBP_OK;
}

static void close_memory(fbp_sink *s)
{
    if (s->far)
        s->far->close(s->far);
}

static const struct fbp_sink_calls memory_calls = {write_memory, finish_memory, close_memory};

/* type: FBP_F32 or FBP_F64. */
static fbp_status open_sink(fbp_sink **out, enum fbp_type type, void *samples, const size_t n[3])
{
    struct fbp_sink *s = NULL;
    uint64_t bytes;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a sink"));
    s->kind = FBP_SINK_MEMORY;
    s->process = getpid();
    s->fd = s->log_fd = s->lock_fd = -1;
    s->memory = samples;
    s->calls = &memory_calls;
    s->info = (struct fbp_array_info){.n = {n[0], n[1], n[2]}, .type = type};
    pthread_mutex_init(&s->lock, NULL);
    FBP_TRY_GOTO(fbp_array_bytes("memory", &s->info, &bytes));
    s->slice_bytes = n[0] * n[1] * fbp_type_size(type);
    FBP_TRY_GOTO(fbp_calloc((void **)&s->have, n[2], 1, "a table of slices"));
    *out = s;
    return FBP_OK;
fail:
    fbp_sink_close(&s);
    return st;
}

fbp_status fbp_sink_memory(fbp_sink **out, float *samples, const size_t n[3])
{
    FBP_GIVEN(out, samples, n);
    fbp_message_clear();
    return open_sink(out, FBP_F32, samples, n);
}

fbp_status fbp_sink_memory_double(fbp_sink **out, double *samples, const size_t n[3])
{
    FBP_GIVEN(out, samples, n);
    fbp_message_clear();
    return open_sink(out, FBP_F64, samples, n);
}

fbp_status fbp_sink_far_memory(fbp_sink **out, enum fbp_type type, void *samples, const size_t n[3],
                               struct fbp_far *far)
{
    const fbp_status st = open_sink(out, type, samples, n);

    if (st == FBP_OK)
        (*out)->far = far;
    else
        far->close(far);
    return st;
}

struct fbp_far *fbp_source_far(const fbp_source *src)
{
    return src->far;
}

struct fbp_far *fbp_sink_far(const fbp_sink *sink)
{
    return sink->far;
}

const void *fbp_source_samples(const fbp_source *src)
{
    return src->memory;
}

void *fbp_sink_samples(const fbp_sink *sink)
{
    return sink->kind == FBP_SINK_MEMORY ? sink->memory : NULL;
}

const struct fbp_array_info *fbp_sink_info(const fbp_sink *sink)
{
    return &sink->info;
}

void fbp_sink_written(fbp_sink *sink, size_t z0, size_t nz)
{
    fbp_sink_mark(sink, z0, nz);
}
