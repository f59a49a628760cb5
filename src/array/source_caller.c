/* Sources whose views come from the calling program: from its memory (fbp_source_memory()), or
 * from its functions (fbp_source_callback()); both are public. The memory may be that of a device
 * (fbp_source_on_device()). Counterpart: sink_caller.c.
 * Used by: bench/, cli/, array/, pipeline/. */
#include "array/device_memory.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"
#include "base/threads.h"
#include "fbp/callback.h"

#include <stdio.h>
#include <string.h>

fbp_status fbp_device_memory_transfer(struct fbp_device_memory *far, void *to, const void *from,
                                      size_t bytes)
{
    FBP_TRY(fbp_device_memory_settle(far));
    return far->copy(far,
                     &(struct fbp_strided_copy){.to = to, .from = from, .n = 1, .bytes = bytes});
}

fbp_status fbp_callback_status(int result, const char *what, const char *why)
{
    char safe[FBP_WHY_BYTES];

    if (result == 0)
        return FBP_OK;
    FBP_TRY(fbp_check_cancelled());
    fbp_printable(safe, sizeof safe, why, strnlen(why, FBP_WHY_BYTES), "");
    if (safe[0])
        return fbp_fail(FBP_ERR_IO, "%s: %s", what, safe);
    return fbp_fail(FBP_ERR_IO,
                    "%s: the callback of your program failed with code %d, without a message; "
                    "let it return a message, too",
                    what, result);
}

/* Create a source without a file. kind: "memory" or "callback"; path: its name in messages. */
static fbp_status create_source(fbp_source **out, const struct fbp_array_info *given,
                                const char *kind, const char *path)
{
    struct fbp_array_info info;
    fbp_source *src = NULL;
    uint64_t bytes;

    FBP_TRY(FBP_COPY_IN(array_info, &info, given));
    if (fbp_type_size(info.type) == 0)
        return FBP_INVALID("%s: type: found %d, expected an element type, such as FBP_F32", kind,
                           (int)info.type);
    FBP_TRY(fbp_array_bytes(kind, &info, &bytes));
    if (info.big_endian)
        return FBP_UNSUPPORTED("%s: samples must be in the byte order of this machine; swap "
                               "their bytes, and leave big_endian 0",
                               kind);
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
        return FBP_INVALID(
            "views: the plan was made without their samples; pass the views to its run");
    const void *from = (const char *)src->memory + (slice * src->info.n[1] + row0) * row;
    if (src->far)
        return fbp_device_memory_transfer(src->far, out, from, n_rows * row);
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

/* State of a source whose views come from a callback of the calling program. */
struct called_source {
    struct fbp_source_functions callback;
    /* held while the callback read() runs, unless the caller allows concurrent calls */
    pthread_mutex_t turn;
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
    void *scratch = NULL; /* samples to be converted; NULL: the callback writes to `out` */

    if (as_float && (src->info.type != FBP_F32 || src->info.scale != 0))
        FBP_TRY(fbp_alloc(&scratch, at_once * slice * size, "views to be converted"));
    for (size_t k = 0; k < n_slices && st == FBP_OK; k += at_once) {
        const size_t n = n_slices - k < at_once ? n_slices - k : at_once, samples = n * slice;
        void *to = (char *)out + k * step;
        char why[FBP_WHY_BYTES] = "", what[100];

        if (!f->concurrent)
            pthread_mutex_lock(&c->turn);
        st = fbp_check_cancelled();
        if (st == FBP_OK) {
            const int result = f->read(f->user, slice0 + k, n, row0, n_rows, scratch ? scratch : to,
                                       why, sizeof why);
            snprintf(what, sizeof what, "views %zu to %zu", slice0 + k, slice0 + k + n - 1);
            st = fbp_callback_status(result, what, why);
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

/* Counts the available views of a source with callbacks whose scan is still being measured; the
 * member `look` of the source. */
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
        return FBP_INVALID("fbp_source_functions: read: found NULL, expected a "
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
