/* Slices that a function of the caller's takes. */
#include "fbp/callback.h"

#include "array/called.h"
#include "array/file/bytes.h"
#include "array/sink.h"

#include "base/base.h"
#include "base/threads.h"

#include <stdio.h>
#include <unistd.h>

struct fbp_called_sink {
    struct fbp_sink_functions callback;
    pthread_mutex_t turn; /* of begin() and end(), and of write() unless it may be concurrent */
    bool asked, begun;
    fbp_status status; /* of begin(), and its message */
    char message[FBP_WHY_BYTES + 100];
};

static fbp_status begin_once(struct fbp_sink *s)
{
    struct fbp_called_sink *c = s->called;
    char why[FBP_WHY_BYTES] = "";

    if (!c->callback.begin)
        return FBP_OK;
    return fbp_called_status(c->callback.begin(c->callback.user, s->info.n, why, sizeof why),
                             "output: to begin it", why);
}

/* begin(), before the first slice; *c->turn is held.  Who comes after a failure is told the same:
 * of several writers, any may be the first that the run hears of. */
static fbp_status begin(struct fbp_sink *s)
{
    struct fbp_called_sink *c = s->called;

    if (!c->asked) {
        c->asked = true;
        c->status = begin_once(s);
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

static int give(const struct fbp_called_sink *c, size_t z, size_t n, const void *data, char *why,
                size_t n_why)
{
    const struct fbp_sink_functions *f = &c->callback;

    return f->write_double ? f->write_double(f->user, z, n, data, why, n_why)
                           : f->write(f->user, z, n, data, why, n_why);
}

static fbp_status write_some(struct fbp_called_sink *c, size_t z, size_t n, const void *data)
{
    char why[FBP_WHY_BYTES] = "", what[100];

    FBP_TRY(fbp_go_on());
    snprintf(what, sizeof what, "output: slices %zu to %zu", z, z + n - 1);
    return fbp_called_status(give(c, z, n, data, why, sizeof why), what, why);
}

static fbp_status write_called(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    struct fbp_called_sink *c = s->called;
    const size_t at_once = c->callback.at_once, slice = fbp_sink_given_bytes(s);

    pthread_mutex_lock(&c->turn);
    fbp_status st = begin(s);
    if (c->callback.concurrent)
        pthread_mutex_unlock(&c->turn);
    for (size_t k = 0; k < nz && st == FBP_OK; k += at_once)
        st = write_some(c, z0 + k, nz - k < at_once ? nz - k : at_once,
                        (const char *)data + k * slice);
    if (!c->callback.concurrent)
        pthread_mutex_unlock(&c->turn);
    return st;
}

static fbp_status end(struct fbp_sink *s, bool complete)
{
    struct fbp_called_sink *c = s->called;
    char why[FBP_WHY_BYTES] = "";

    if (!c->begun)
        return FBP_OK;
    c->begun = false;
    if (!c->callback.end)
        return FBP_OK;
    return fbp_called_status(c->callback.end(c->callback.user, complete, why, sizeof why),
                             "output: to finish it", why);
}

static fbp_status finish_called(struct fbp_sink *s)
{
    return end(s, true);
}

static void close_called(struct fbp_sink *s)
{
    if (s->process == getpid()) /* nobody is told of a sink that ends as it is closed */
        (void)!end(s, false);
    pthread_mutex_destroy(&s->called->turn);
    free(s->called);
}

static const struct fbp_sink_calls calls = {
    .write = write_called, .finish = finish_called, .close = close_called};

static fbp_status fill_in(struct fbp_sink *s, const struct fbp_sink_functions *callback)
{
    uint64_t bytes;

    FBP_TRY(fbp_array_bytes("output", &s->info, &bytes));
    s->slice_bytes = fbp_sink_given_bytes(s);
    FBP_TRY(fbp_calloc((void **)&s->have, s->info.n[2], 1, "a table of slices"));
    FBP_TRY(fbp_calloc((void **)&s->called, 1, sizeof *s->called, "a sink"));
    s->calls = &calls;
    s->called->callback = *callback;
    s->called->callback.at_once += callback->at_once == 0;
    pthread_mutex_init(&s->called->turn, NULL);
    return FBP_OK;
}

fbp_status fbp_sink_callback(fbp_sink **out, const struct fbp_sink_functions *given,
                             const size_t n[3])
{
    FBP_GIVEN(out, n);
    struct fbp_sink_functions callback;
    struct fbp_sink *s = NULL;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_TAKE(sink_functions, &callback, given));
    if (!callback.write == !callback.write_double)
        return fbp_fail(FBP_ERR_INVALID,
                        "fbp_sink_functions: write: found %s, expected one function, for float or "
                        "for double",
                        callback.write ? "two" : "NULL");
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a sink"));
    s->kind = FBP_SINK_CALLED;
    s->process = getpid();
    s->fd = s->log_fd = s->lock_fd = -1;
    s->info = (struct fbp_array_info){.struct_size = sizeof s->info,
                                      .n = {n[0], n[1], n[2]},
                                      .type = callback.write ? FBP_F32 : FBP_F64};
    pthread_mutex_init(&s->lock, NULL);
    const fbp_status st = fill_in(s, &callback);
    if (st == FBP_OK)
        *out = s;
    else
        fbp_sink_close(&s);
    return st;
}
