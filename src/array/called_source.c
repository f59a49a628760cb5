/* Views that a function of the caller's gives. */
#include "fbp/callback.h"

#include "array/called.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/file/growing.h"
#include "array/file/values.h"

#include "base/base.h"
#include "base/threads.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct called {
    struct fbp_source_functions callback;
    pthread_mutex_t turn; /* of calls, unless they may be concurrent */
};

fbp_status fbp_called_status(int result, const char *what, const char *why)
{
    char safe[FBP_WHY_BYTES];

    if (result == 0)
        return FBP_OK;
    FBP_TRY(fbp_go_on()); /* which may be why it failed */
    fbp_printable(safe, sizeof safe, why, strnlen(why, FBP_WHY_BYTES), "");
    if (safe[0])
        return fbp_fail(FBP_ERR_IO, "%s: %s", what, safe);
    return fbp_fail(FBP_ERR_IO, "%s: the program's own function failed (%d) and does not say why",
                    what, result);
}

static fbp_status call(fbp_source *src, size_t slice0, size_t n_slices, size_t row0, size_t n_rows,
                       void *out)
{
    struct called *c = src->state;
    char why[FBP_WHY_BYTES] = "", what[100];

    if (!c->callback.concurrent)
        pthread_mutex_lock(&c->turn);
    fbp_status st = fbp_go_on();
    if (st == FBP_OK) {
        const int result = c->callback.read(c->callback.user, slice0, n_slices, row0, n_rows, out,
                                            why, sizeof why);
        snprintf(what, sizeof what, "views %zu to %zu", slice0, slice0 + n_slices - 1);
        st = fbp_called_status(result, what, why);
    }
    if (!c->callback.concurrent)
        pthread_mutex_unlock(&c->turn);
    return st;
}

/* Slices of `some` bytes each, as values, through `scratch`; NULL: as they are. */
static fbp_status read_some(fbp_source *src, size_t slice0, size_t n, size_t row0, size_t n_rows,
                            void *scratch, void *out)
{
    const size_t samples = n * n_rows * src->info.n[0];

    FBP_TRY(call(src, slice0, n, row0, n_rows, scratch ? scratch : out));
    if (scratch)
        fbp_to_values(&src->info, scratch, samples, fbp_past_caches(samples), out);
    return FBP_OK;
}

static fbp_status read_called(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                              size_t n_rows, bool as_float, void *out)
{
    const struct called *c = src->state;
    const size_t most = c->callback.at_once, at_once = n_slices < most ? n_slices : most;
    const size_t size = fbp_type_size(src->info.type);
    const size_t slice = n_rows * src->info.n[0], step = slice * (as_float ? sizeof(float) : size);
    fbp_status st = FBP_OK;
    void *scratch = NULL;

    if (as_float && (src->info.type != FBP_F32 || src->info.scale != 0))
        FBP_TRY(fbp_alloc(&scratch, at_once * slice * size, "views to be converted"));
    for (size_t k = 0; k < n_slices && st == FBP_OK; k += at_once) {
        const size_t n = n_slices - k < at_once ? n_slices - k : at_once;
        st = read_some(src, slice0 + k, n, row0, n_rows, scratch, (char *)out + k * step);
    }
    fbp_free(scratch);
    return st;
}

static void close_called(fbp_source *src)
{
    struct called *c = src->state;

    pthread_mutex_destroy(&c->turn);
    free(c);
}

/* How far the views are that are still being measured. */
static fbp_status look_called(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes)
{
    const struct called *c = src->state;
    const size_t n = c->callback.there(c->callback.user), most = src->info.n[2];

    (void)again;
    *n_views = n < most ? n : most;
    *bytes = (uint64_t)*n_views * src->info.n[0] * src->info.n[1] * fbp_type_size(src->info.type);
    return FBP_OK;
}

static fbp_status fill_in(fbp_source *src, const struct fbp_source_functions *callback,
                          const struct fbp_array_info *info)
{
    struct called *c = NULL;
    uint64_t bytes;

    src->fd = -1;
    src->info = *info;
    if (info->row_order == FBP_ROWS_AUTO)
        src->info.row_order = FBP_ROWS_BOTTOM_UP;
    snprintf(src->info.format, sizeof src->info.format, "callback");
    src->path = fbp_strdup("views");
    if (!src->path)
        return fbp_fail_nomem(sizeof "views", "a path");
    FBP_TRY(fbp_array_bytes("callback", info, &bytes));
    FBP_TRY(fbp_calloc((void **)&c, 1, sizeof *c, "a source"));
    c->callback = *callback;
    c->callback.at_once += callback->at_once == 0;
    pthread_mutex_init(&c->turn, NULL);
    src->state = c;
    src->close = close_called;
    src->read_block = read_called;
    src->unpacks = callback->concurrent != 0;
    if (info->type != FBP_F32 || info->scale != 0) { /* scratch of a thread */
        const size_t n = c->callback.at_once < info->n[2] ? c->callback.at_once : info->n[2];
        src->reader_bytes = bytes / info->n[2] * n;
    }
    if (!callback->there)
        return FBP_OK;
    src->growing = true;
    src->look = look_called;
    return fbp_follow_create(&src->follow, src, 0);
}

fbp_status fbp_source_callback(fbp_source **out, const struct fbp_source_functions *given,
                               const struct fbp_array_info *theirs)
{
    FBP_GIVEN(out);
    struct fbp_source_functions callback;
    struct fbp_array_info info;
    fbp_source *src = NULL;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_TAKE(source_functions, &callback, given));
    FBP_TRY(FBP_TAKE(array_info, &info, theirs));
    if (!callback.read)
        return fbp_fail(FBP_ERR_INVALID, "fbp_source_functions: read: found NULL, expected a "
                                         "function");
    if (info.big_endian)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "callback: samples must be in this machine's order");
    FBP_TRY(fbp_calloc((void **)&src, 1, sizeof *src, "a source"));
    const fbp_status st = fill_in(src, &callback, &info);
    if (st == FBP_OK)
        *out = src;
    else
        fbp_source_close(&src);
    return st;
}
