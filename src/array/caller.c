/* Sources and sinks in the calling program: arrays in its memory, on the host or on a device
 * (fbp_source_memory(), fbp_sink_memory()), and callbacks that provide views or store slices
 * (fbp_source_callback(), fbp_sink_callback()). */
#include "fbp/callback.h"

#include "array/device_memory.h"
#include "array/sink.h"

#include "array/file/bytes.h"
#include "array/file/format.h"

#include "base/base.h"
#include "base/text.h"
#include "base/threads.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WHY_BYTES = 512 }; /* size of the buffer for a callback's error message */

static fbp_status copy_far(struct fbp_device_memory *far, void *to, const void *from, size_t bytes)
{
    FBP_TRY(fbp_device_memory_settle(far));
    return far->copy(far,
                     &(struct fbp_strided_copy){.to = to, .from = from, .n = 1, .bytes = bytes});
}

/* Create a source without a file. kind: "memory" or "callback"; path: its name in messages. */
static fbp_status create_source(fbp_source **out, const struct fbp_array_info *given,
                                const char *kind, const char *path)
{
    struct fbp_array_info info;
    fbp_source *src = NULL;
    uint64_t bytes;

    FBP_TRY(FBP_COPY_IN(array_info, &info, given));
    FBP_TRY(fbp_array_bytes(kind, &info, &bytes));
    if (info.big_endian)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: samples must be in this machine's order", kind);
    FBP_TRY(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    src->fd = -1;
    src->info = info;
    if (info.row_order == FBP_ROWS_AUTO)
        src->info.row_order = FBP_ROWS_BOTTOM_UP;
    snprintf(src->info.format, sizeof src->info.format, "%s", kind);
    src->path = fbp_strdup(path);
    if (!src->path) {
        fbp_source_close(&src);
        return fbp_fail_nomem(strlen(path), "a path");
    }
    *out = src;
    return FBP_OK;
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

static void close_far_source(fbp_source *src)
{
    src->far->close(src->far);
}

static fbp_status open_memory_source(fbp_source **out, const void *samples,
                                     const struct fbp_array_info *info)
{
    *out = NULL;
    FBP_TRY(create_source(out, info, "memory", "memory"));
    (*out)->memory = samples;
    (*out)->read = read_memory;
    return FBP_OK;
}

fbp_status fbp_source_memory(fbp_source **out, const void *samples,
                             const struct fbp_array_info *info)
{
    FBP_REQUIRE(out);
    fbp_message_clear();
    return open_memory_source(out, samples, info);
}

fbp_status fbp_source_on_device(fbp_source **out, const void *samples,
                                const struct fbp_array_info *info, struct fbp_device_memory *far)
{
    const fbp_status st = open_memory_source(out, samples, info);

    if (st != FBP_OK) {
        far->close(far);
        return st;
    }
    (*out)->far = far;
    (*out)->close = close_far_source;
    return FBP_OK;
}

const void *fbp_source_samples(const fbp_source *src)
{
    return src->memory;
}

struct fbp_device_memory *fbp_source_device(const fbp_source *src)
{
    return src->far;
}

/* Create a sink without a file. what: its name in messages. */
static fbp_status create_sink(fbp_sink **out, const struct fbp_sink_calls *calls,
                              enum fbp_type type, const size_t n[3], const char *what)
{
    struct fbp_sink *s = NULL;
    uint64_t bytes;
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a sink"));
    s->kind = FBP_SINK_CALLER;
    s->process = getpid();
    s->fd = s->log_fd = s->lock_fd = -1;
    s->info = (struct fbp_array_info){
        .struct_size = sizeof s->info, .n = {n[0], n[1], n[2]}, .type = type};
    pthread_mutex_init(&s->lock, NULL);
    FBP_TRY_GOTO(fbp_array_bytes(what, &s->info, &bytes));
    s->slice_bytes = fbp_sink_given_bytes(s);
    FBP_TRY_GOTO(fbp_calloc((void **)&s->have, n[2], 1, "a table of slices"));
    s->calls = calls;
    *out = s;
    return FBP_OK;
fail:
    fbp_sink_close(&s);
    return st;
}

static fbp_status write_memory(fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    void *to = (char *)s->memory + z0 * s->slice_bytes;

    if (s->far)
        return copy_far(s->far, to, data, nz * s->slice_bytes);
    memcpy(to, data, nz * s->slice_bytes);
    return FBP_OK;
}

static void close_memory(fbp_sink *s)
{
    if (s->far)
        s->far->close(s->far);
}

/* Open a sink on host memory. type: FBP_F32 or FBP_F64. */
static fbp_status open_memory_sink(fbp_sink **out, enum fbp_type type, void *samples,
                                   const size_t n[3])
{
    static const struct fbp_sink_calls calls = {.write = write_memory, .close = close_memory};

    FBP_TRY(create_sink(out, &calls, type, n, "memory"));
    (*out)->memory = samples;
    return FBP_OK;
}

fbp_status fbp_sink_memory(fbp_sink **out, float *samples, const size_t n[3])
{
    FBP_REQUIRE(out, samples, n);
    fbp_message_clear();
    return open_memory_sink(out, FBP_F32, samples, n);
}

fbp_status fbp_sink_memory_double(fbp_sink **out, double *samples, const size_t n[3])
{
    FBP_REQUIRE(out, samples, n);
    fbp_message_clear();
    return open_memory_sink(out, FBP_F64, samples, n);
}

fbp_status fbp_sink_on_device(fbp_sink **out, enum fbp_type type, void *samples, const size_t n[3],
                              struct fbp_device_memory *far)
{
    const fbp_status st = open_memory_sink(out, type, samples, n);

    if (st == FBP_OK)
        (*out)->far = far;
    else
        far->close(far);
    return st;
}

struct fbp_device_memory *fbp_sink_device(const fbp_sink *sink)
{
    return sink->far;
}

void *fbp_sink_samples(const fbp_sink *sink)
{
    return sink->memory;
}

/* Convert the result of a callback to a status: FBP_OK; FBP_ERR_CANCELLED if the library call is
 * being cancelled, which may be the cause of the failure; else FBP_ERR_IO with the callback's
 * message. */
static fbp_status status_of(int result, const char *what, const char *why)
{
    char safe[WHY_BYTES];

    if (result == 0)
        return FBP_OK;
    FBP_TRY(fbp_check_cancelled());
    fbp_printable(safe, sizeof safe, why, strnlen(why, WHY_BYTES), "");
    if (safe[0])
        return fbp_fail(FBP_ERR_IO, "%s: %s", what, safe);
    return fbp_fail(FBP_ERR_IO, "%s: the program's own function failed (%d) and does not say why",
                    what, result);
}

/* State of a source whose views are provided by a callback. */
struct called_source {
    struct fbp_source_functions callback;
    pthread_mutex_t turn; /* held during a callback, unless callbacks may be concurrent */
};

static fbp_status read_called(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows, bool as_float, void *out)
{
    struct called_source *c = src->state;
    const struct fbp_source_functions *f = &c->callback;
    const size_t at_once = n_slices < f->at_once ? n_slices : f->at_once;
    const size_t size = fbp_type_size(src->info.type);
    const size_t slice = n_rows * src->info.n[0], step = slice * (as_float ? sizeof(float) : size);
    fbp_status st = FBP_OK;
    void *scratch = NULL; /* views as the callback provides them; NULL: no conversion */

    if (as_float && (src->info.type != FBP_F32 || src->info.scale != 0))
        FBP_TRY(fbp_alloc(&scratch, at_once * slice * size, "views to be converted"));
    for (size_t k = 0; k < n_slices && st == FBP_OK; k += at_once) {
        const size_t n = n_slices - k < at_once ? n_slices - k : at_once, samples = n * slice;
        void *to = (char *)out + k * step;
        char why[WHY_BYTES] = "", what[100];

        if (!f->concurrent)
            pthread_mutex_lock(&c->turn);
        st = fbp_check_cancelled();
        if (st == FBP_OK) {
            const int result = f->read(f->user, slice0 + k, n, row0, n_rows, scratch ? scratch : to,
                                       why, sizeof why);
            snprintf(what, sizeof what, "views %zu to %zu", slice0 + k, slice0 + k + n - 1);
            st = status_of(result, what, why);
        }
        if (!f->concurrent)
            pthread_mutex_unlock(&c->turn);
        if (st == FBP_OK && scratch)
            fbp_to_values(&src->info, scratch, samples, fbp_past_caches(samples), to);
    }
    fbp_free(scratch);
    return st;
}

static void close_called_source(fbp_source *src)
{
    struct called_source *c = src->state;

    pthread_mutex_destroy(&c->turn);
    free(c);
}

/* fbp_source.look for a source whose views are still being measured. */
static fbp_status look_called(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes)
{
    const struct called_source *c = src->state;
    const size_t n = c->callback.there(c->callback.user), most = src->info.n[2];

    (void)again;
    *n_views = n < most ? n : most;
    *bytes = (uint64_t)*n_views * src->info.n[0] * src->info.n[1] * fbp_type_size(src->info.type);
    return FBP_OK;
}

fbp_status fbp_source_callback(fbp_source **out, const struct fbp_source_functions *given,
                               const struct fbp_array_info *theirs)
{
    FBP_REQUIRE(out);
    struct fbp_source_functions callback;
    struct called_source *c = NULL;
    fbp_source *src = NULL;
    fbp_status st;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_COPY_IN(source_functions, &callback, given));
    FBP_TRY(FBP_CHECK(array_info, theirs));
    if (!callback.read)
        return fbp_fail(FBP_ERR_INVALID, "fbp_source_functions: read: found NULL, expected a "
                                         "function");
    FBP_TRY(create_source(&src, theirs, "callback", "views"));
    FBP_TRY_GOTO(fbp_calloc((void **)&c, 1, sizeof *c, "a source"));
    callback.at_once += callback.at_once == 0;
    c->callback = callback;
    pthread_mutex_init(&c->turn, NULL);
    src->state = c;
    src->close = close_called_source;
    src->read_block = read_called;
    src->unpacks = callback.concurrent != 0;
    if (src->info.type != FBP_F32 || src->info.scale != 0) { /* scratch memory per thread */
        const size_t *n = src->info.n, at_once = callback.at_once < n[2] ? callback.at_once : n[2];
        src->reader_bytes = (uint64_t)n[0] * n[1] * fbp_type_size(src->info.type) * at_once;
    }
    if (callback.there) {
        src->growing = true;
        src->look = look_called;
        FBP_TRY_GOTO(fbp_follow_create(&src->follow, src, 0));
    }
    *out = src;
    return FBP_OK;
fail:
    fbp_source_close(&src);
    return st;
}

/* State of a sink whose slices are stored by a callback. */
struct called_sink {
    struct fbp_sink_functions callback;
    pthread_mutex_t turn; /* held in begin(), end(), and write() unless concurrent */
    bool asked, begun;    /* begin() was called; begin() succeeded, and end() was not called yet */
    fbp_status status;    /* status of begin(), and its message */
    char message[WHY_BYTES + 100];
};

/* Call begin() before the first slice; c->turn is held. After a failure every writer gets the same
 * message, because the run may report the status of any of them. */
static fbp_status begin(struct fbp_sink *s, struct called_sink *c)
{
    char why[WHY_BYTES] = "";

    if (!c->asked) {
        c->asked = true;
        if (c->callback.begin)
            c->status = status_of(c->callback.begin(c->callback.user, s->info.n, why, sizeof why),
                                  "output: to begin it", why);
        c->begun = c->status == FBP_OK;
        if (!c->begun)
            snprintf(c->message, sizeof c->message, "%s", fbp_message());
    } else if (c->status != FBP_OK) {
        fbp_message_adopt(c->message);
    } else if (!c->begun) {
        return fbp_fail(FBP_ERR_IO, "output: it has ended");
    }
    return c->status;
}

static fbp_status write_called(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    struct called_sink *c = s->state;
    const struct fbp_sink_functions *f = &c->callback;

    pthread_mutex_lock(&c->turn);
    fbp_status st = begin(s, c);
    if (f->concurrent)
        pthread_mutex_unlock(&c->turn);
    for (size_t k = 0; k < nz && st == FBP_OK; k += f->at_once) {
        const size_t z = z0 + k, n = nz - k < f->at_once ? nz - k : f->at_once;
        const void *slices = (const char *)data + k * s->slice_bytes;
        char why[WHY_BYTES] = "", what[100];

        st = fbp_check_cancelled();
        if (st != FBP_OK)
            break;
        const int result = f->write_double ? f->write_double(f->user, z, n, slices, why, sizeof why)
                                           : f->write(f->user, z, n, slices, why, sizeof why);
        snprintf(what, sizeof what, "output: slices %zu to %zu", z, z + n - 1);
        st = status_of(result, what, why);
    }
    if (!f->concurrent)
        pthread_mutex_unlock(&c->turn);
    return st;
}

static fbp_status end(struct called_sink *c, bool complete)
{
    char why[WHY_BYTES] = "";

    if (!c->begun)
        return FBP_OK;
    c->begun = false;
    if (!c->callback.end)
        return FBP_OK;
    return status_of(c->callback.end(c->callback.user, complete, why, sizeof why),
                     "output: to finish it", why);
}

static fbp_status finish_called(struct fbp_sink *s)
{
    return end(s->state, true);
}

static void close_called(struct fbp_sink *s)
{
    struct called_sink *c = s->state;

    if (!c)
        return;
    if (s->process == getpid())
        (void)!end(c, false); /* no failure can be reported while closing */
    pthread_mutex_destroy(&c->turn);
    free(c);
}

fbp_status fbp_sink_callback(fbp_sink **out, const struct fbp_sink_functions *given,
                             const size_t n[3])
{
    FBP_REQUIRE(out, n);
    static const struct fbp_sink_calls calls = {write_called, finish_called, close_called};
    struct fbp_sink_functions callback;
    struct called_sink *c = NULL;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_COPY_IN(sink_functions, &callback, given));
    if (!callback.write == !callback.write_double)
        return fbp_fail(FBP_ERR_INVALID,
                        "fbp_sink_functions: write: found %s, expected one function, for float or "
                        "for double",
                        callback.write ? "two" : "NULL");
    FBP_TRY(create_sink(out, &calls, callback.write ? FBP_F32 : FBP_F64, n, "output"));
    const fbp_status st = fbp_calloc((void **)&c, 1, sizeof *c, "a sink");
    if (st != FBP_OK) {
        fbp_sink_close(out);
        return st;
    }
    c->callback = callback;
    c->callback.at_once += callback.at_once == 0;
    pthread_mutex_init(&c->turn, NULL);
    (*out)->state = c;
    return FBP_OK;
}
