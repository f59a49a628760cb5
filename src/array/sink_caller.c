/* Sinks that deliver slices to the calling program: into its memory (fbp_sink_memory()), or to its
 * functions (fbp_sink_callback()); both are public. The memory may be that of a device
 * (fbp_sink_on_device()). Counterpart: source_caller.c.
 * Used by: bench/, cli/, analysis/, phantom/, pipeline/. */
#include "array/device_memory.h"
#include "array/file/bytes.h"
#include "array/sink.h"
#include "base/threads.h"
#include "fbp/callback.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- Memory --- */

struct memory_sink {
    struct fbp_sink sink;
    void *samples;
    /* access to `samples`, if they are in device memory; NULL: host memory */
    struct fbp_device_memory *device;
};

static void *memory_of(const struct fbp_sink *s, struct fbp_device_memory **device)
{
    const struct memory_sink *m = (const struct memory_sink *)s;

    *device = m->device;
    return m->samples;
}

static fbp_status write_memory(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    const struct memory_sink *m = (const struct memory_sink *)s;
    void *to = (char *)m->samples + z0 * s->slice_bytes;

    if (m->device)
        FBP_TRY(fbp_device_memory_transfer(m->device, to, data, nz * s->slice_bytes));
    else
        memcpy(to, data, nz * s->slice_bytes);
    fbp_sink_mark(s, z0, nz);
    return FBP_OK;
}

static void close_memory(struct fbp_sink *s)
{
    struct fbp_device_memory *device = ((struct memory_sink *)s)->device;

    if (device)
        device->close(device);
}

/* Returns the description of the array that a sink without a file receives: size and type. */
static struct fbp_array_info info_of(enum fbp_type type, const size_t n[3])
{
    return (struct fbp_array_info){
        .struct_size = sizeof(struct fbp_array_info), .n = {n[0], n[1], n[2]}, .type = type};
}

fbp_status fbp_sink_on_device(fbp_sink **out, enum fbp_type type, void *samples, const size_t n[3],
                              struct fbp_device_memory *far)
{
    static const struct fbp_sink_calls calls = {.bytes = sizeof(struct memory_sink),
                                                .memory = memory_of,
                                                .write = write_memory,
                                                .close = close_memory};
    const struct fbp_array_info info = info_of(type, n);
    const fbp_status st = fbp_sink_create(out, &calls, &info, "memory");

    if (*out) {
        ((struct memory_sink *)*out)->samples = samples;
        ((struct memory_sink *)*out)->device = far;
    } else if (far) {
        far->close(far);
    }
    if (st != FBP_OK)
        fbp_sink_close(out);
    return st;
}

fbp_status fbp_sink_memory(fbp_sink **out, void *samples, enum fbp_type type, const size_t n[3])
{
    FBP_REQUIRE(out, samples, n);
    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_check_float("sink", type));
    return fbp_sink_on_device(out, type, samples, n, NULL);
}

/* --- Functions --- */

struct called_sink {
    struct fbp_sink sink;
    struct fbp_sink_functions callback;
    /* held while the callback begin() runs, and while write() runs unless `concurrent` is set */
    pthread_mutex_t turn;
    /* asked: begin() was called; begun: it succeeded, and end() was not called yet */
    bool asked, begun;
    fbp_status status; /* status of begin(), and its message */
    char message[FBP_WHY_BYTES + 100];
};

/* Call the callback begin() before the first slice; the caller holds c->turn. If it fails, every
 * thread that writes gets the same message, because the run may report the status of any thread. */
static fbp_status begin(struct called_sink *c)
{
    char why[FBP_WHY_BYTES] = "";

    if (!c->asked) {
        c->asked = true;
        if (c->callback.begin)
            c->status = fbp_callback_status(
                c->callback.begin(c->callback.user, c->sink.info.n, why, sizeof why),
                "output: begin()", why);
        c->begun = c->status == FBP_OK;
        if (!c->begun)
            snprintf(c->message, sizeof c->message, "%s", fbp_message());
    } else if (c->status != FBP_OK) {
        fbp_message_adopt(c->message);
    } else if (!c->begun) {
        return fbp_fail(FBP_ERR_IO, "output: slices were written after the output had ended; "
                                    "write all slices before the sink is finished");
    }
    return c->status;
}

static fbp_status write_called(struct fbp_sink *s, size_t z0, size_t nz, const void *data)
{
    struct called_sink *c = (struct called_sink *)s;
    const struct fbp_sink_functions *f = &c->callback;

    pthread_mutex_lock(&c->turn);
    fbp_status st = begin(c);
    if (f->concurrent)
        pthread_mutex_unlock(&c->turn);
    for (size_t k = 0; k < nz && st == FBP_OK; k += f->at_once) {
        const size_t z = z0 + k, n = nz - k < f->at_once ? nz - k : f->at_once;
        const void *slices = (const char *)data + k * s->slice_bytes;
        char why[FBP_WHY_BYTES] = "", what[100];

        st = fbp_check_cancelled();
        if (st != FBP_OK)
            break;
        const int result = f->write_double ? f->write_double(f->user, z, n, slices, why, sizeof why)
                                           : f->write(f->user, z, n, slices, why, sizeof why);
        snprintf(what, sizeof what, "output: slices %zu to %zu", z, z + n - 1);
        st = fbp_callback_status(result, what, why);
    }
    if (!f->concurrent)
        pthread_mutex_unlock(&c->turn);
    FBP_TRY(st);
    fbp_sink_mark(s, z0, nz);
    return FBP_OK;
}

static fbp_status end(struct called_sink *c, bool complete)
{
    char why[FBP_WHY_BYTES] = "";

    if (!c->begun)
        return FBP_OK;
    c->begun = false;
    if (!c->callback.end)
        return FBP_OK;
    return fbp_callback_status(c->callback.end(c->callback.user, complete, why, sizeof why),
                               "output: end()", why);
}

static fbp_status finish_called(struct fbp_sink *s)
{
    return end((struct called_sink *)s, true);
}

static void close_called(struct fbp_sink *s)
{
    struct called_sink *c = (struct called_sink *)s;

    if (s->process == getpid())
        (void)!end(c, false); /* no failure can be reported while closing */
    pthread_mutex_destroy(&c->turn);
}

fbp_status fbp_sink_callback(fbp_sink **out, const struct fbp_sink_functions *given,
                             const size_t n[3])
{
    FBP_REQUIRE(out, n);
    static const struct fbp_sink_calls calls = {.bytes = sizeof(struct called_sink),
                                                .write = write_called,
                                                .finish = finish_called,
                                                .close = close_called};
    struct fbp_sink_functions callback;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_COPY_IN(sink_functions, &callback, given));
    if (!callback.write == !callback.write_double)
        return FBP_INVALID(
            "fbp_sink_functions: write: found %s, expected one function, for float or "
            "for double",
            callback.write ? "two" : "NULL");
    const struct fbp_array_info info = info_of(callback.write ? FBP_F32 : FBP_F64, n);
    const fbp_status st = fbp_sink_create(out, &calls, &info, "output");
    if (*out) {
        struct called_sink *c = (struct called_sink *)*out;
        c->callback = callback;
        c->callback.at_once += callback.at_once == 0;
        pthread_mutex_init(&c->turn, NULL);
    }
    if (st != FBP_OK)
        fbp_sink_close(out);
    return st;
}
