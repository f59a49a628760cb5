/* Memory of the device and of the host, and copies between them.
 *
 * All contexts of a renderer share their objects with one context that is open as long as any
 * device is.  A thread with this context makes and drops host buffers, so that memory allocated by
 * one plan can be copied by the devices of every other plan on the same renderer, as with pinned
 * memory in CUDA.
 */
#include "backend/gl/gl.h"

#include "backend/gl/error.h"
#include "backend/gl/limits.h"
#include "backend/gl/plant.h"
#include "backend/rows.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gl_share {
    int index;
    unsigned users; /* guarded by all.lock */
    struct gl_queue *queue;
    struct gl_egl egl;
};

/* The shared context of each renderer.  One that is lost is removed from here, and closed by its
 * last user. */
static struct {
    pthread_mutex_t lock;
    struct gl_share *of[GL_MOST_RENDERERS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static fbp_status begin(void *share)
{
    struct gl_share *s = share;

    FBP_TRY(gl_egl_open(&s->egl, s->index));
    gl_check_shared();
    return FBP_OK;
}

static void end(void *share)
{
    gl_egl_close(&((struct gl_share *)share)->egl);
}

static fbp_status make_share(struct gl_share **out, int index)
{
    static const struct gl_queue_life life = {.begin = begin, .end = end};
    struct gl_share *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *s);
    s->index = index;
    const fbp_status st = gl_queue_open(&s->queue, &life, s);
    if (st == FBP_OK)
        *out = s;
    else
        free(s);
    return st;
}

static fbp_status run_check_reset(void *share, void *command)
{
    bool *const *lost = command;

    (void)share;
    **lost = gl_was_reset();
    return FBP_OK;
}

/* A reset of the renderer loses all contexts that share objects. */
static bool is_lost(struct gl_share *s)
{
    bool lost = false, *to = &lost;

    return gl_queue_call(s->queue, run_check_reset, &to, sizeof to) != FBP_OK || lost;
}

fbp_status gl_share_enter(struct gl_share **out, int index)
{
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&all.lock);
    struct gl_share **at = &all.of[index];
    if (*at && is_lost(*at))
        *at = NULL;
    if (!*at)
        st = make_share(at, index);
    *out = *at;
    if (*at)
        (*at)->users++;
    pthread_mutex_unlock(&all.lock);
    return st;
}

void gl_share_leave(struct gl_share **share)
{
    struct gl_share *s = *share;

    if (!s)
        return;
    pthread_mutex_lock(&all.lock);
    if (--s->users == 0) {
        if (all.of[s->index] == s)
            all.of[s->index] = NULL;
        gl_queue_close(&s->queue);
        gl_buffers_forget(s);
        free(s);
    }
    pthread_mutex_unlock(&all.lock);
    *share = NULL;
}

const struct gl_egl *gl_share_context(const struct gl_share *share)
{
    return &share->egl;
}

static struct gl_buffer *new_buffer(size_t bytes, const void *owner)
{
    struct gl_buffer *b = calloc(1, sizeof *b);

    if (!b) {
        (void)!gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot allocate %zu bytes", sizeof *b);
        return NULL;
    }
    b->bytes = bytes ? bytes : 4;
    b->owner = owner;
    return b;
}

static fbp_status run_drop(void *unused, void *command)
{
    struct gl_buffer *const *b = command;

    (void)unused;
    gl_buffer_drop(*b);
    free(*b);
    return FBP_OK;
}

/* Drop a buffer after all commands submitted so far. */
static void drop(struct gl_queue *queue, struct gl_buffer *b)
{
    (void)!gl_queue_submit_last(queue, run_drop, &b, sizeof(struct gl_buffer *));
}

/* Drop a reference to a host buffer, and the buffer with the last one. */
static void release_host(void *buffer)
{
    struct gl_buffer *b = buffer;

    if (b && gl_buffer_release(b))
        drop(((const struct gl_share *)b->owner)->queue, b);
}

/* If the allocation of a host buffer fails, it fails for one plan only, so the error is not that of
 * the queue. */
struct host_making {
    struct gl_buffer *buffer;
    const char *what;
    fbp_status *status;
    char *message;
    size_t n;
};

static fbp_status run_make_host(void *share, void *command)
{
    const struct host_making *m = command;

    (void)share;
    *m->status = gl_buffer_make(m->buffer, true, m->what);
    if (*m->status != FBP_OK)
        snprintf(m->message, m->n, "%s", gpu_host->message());
    glFinish(); /* makes it visible to other contexts */
    return FBP_OK;
}

fbp_status gl_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out)
{
    struct gl_share *share = gl_of(device)->share;
    struct gl_buffer *b = new_buffer(bytes, share);
    fbp_status st = FBP_OK;
    char message[600];

    *out = NULL;
    if (!b)
        return FBP_ERR_NOMEM;
    b->references = 1;
    const struct host_making m = {b, what, &st, message, sizeof message};
    const fbp_status called = gl_queue_call(share->queue, run_make_host, &m, sizeof m);
    if (called != FBP_OK || st != FBP_OK) {
        drop(share->queue, b);
        return called != FBP_OK ? called : gpu_host->fail(st, "%s", message);
    }
    *out = b->base;
    atomic_fetch_add(&gl_plant.n_host, 1);
    gl_buffers_add(b);
    return FBP_OK;
}

/* The memory may have been allocated by another device. */
void gl_host_release(fbp_device *device, void *memory)
{
    (void)device;
    release_host(gl_buffers_take(memory));
}

bool gl_reaches(fbp_device *device, const void *host, size_t bytes)
{
    return gl_part_at(gl_of(device)->share, host, bytes).buffer != NULL;
}

struct making {
    struct gl_buffer *buffer;
    const char *what;
    struct gl_texture texture; /* layers 0: a plain buffer */
};

static fbp_status run_make(void *device, void *command)
{
    const struct making *m = command;
    const struct gl_device *dev = device;

    if (m->texture.layers > 0)
        return gl_texture_make(m->buffer, dev->job, &m->texture);
    FBP_TRY(gl_buffer_make(m->buffer, false, m->what));
    glFinish(); /* makes it visible to the contexts that copy */
    return FBP_OK;
}

static fbp_status make(struct gl_device *dev, size_t bytes, struct making m, void **out)
{
    struct gl_buffer *b = m.buffer = new_buffer(bytes, dev);
    fbp_status st = FBP_OK;

    if (!b)
        return FBP_ERR_NOMEM;
    b->base = gl_addresses(b->bytes);
    if (!b->base)
        st = gpu_host->fail(FBP_ERR_NOMEM, "gl: no addresses for %zu bytes", b->bytes);
    if (st == FBP_OK)
        st = gl_queue_call(dev->queue, run_make, &m, sizeof m);
    if (st != FBP_OK) {
        drop(dev->queue, b);
        return st;
    }
    *out = b->base;
    gl_buffers_add(b);
    return FBP_OK;
}

/* Limits of single buffers; plans check them, too. */
static fbp_status check_size(const struct gl_device *dev, const struct fbp_buffer *buffer)
{
    char why[300];

    return gl_holds(dev->index, dev->job, buffer, why, sizeof why)
               ? FBP_OK
               : gpu_host->fail(FBP_ERR_UNSUPPORTED, "gl: %s", why);
}

fbp_status gl_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out)
{
    static const char *const what[] = {"a batch of views", "a batch of filtered views",
                                       "a slab of the volume"};
    struct gl_device *dev = gl_of(device);
    const size_t n_rows = buffer->n_rows > 0 ? buffer->n_rows : 1;
    struct making m = {.what = what[buffer->purpose]};
    size_t bytes = buffer->bytes;

    *out = NULL;
    if (buffer->purpose == FBP_FOR_FILTERED) {
        bytes = gl_filtered_bytes(dev->job, buffer->n_views, n_rows);
        if (dev->kernel->gpu.channels)
            m.texture = gl_texture_of(dev->job, gl_groups_of(dev->job, buffer->n_views), n_rows);
    }
    FBP_TRY(check_size(dev, buffer));
    return make(dev, bytes, m, out);
}

void gl_release(fbp_device *device, enum fbp_purpose purpose, void *memory)
{
    struct gl_buffer *b = gl_buffers_take(memory);

    (void)purpose;
    if (b)
        drop(gl_of(device)->queue, b);
}

fbp_status gl_read(const struct gl_part *from, void *host)
{
    glBindBuffer(GL_COPY_READ_BUFFER, from->buffer->name);
    glGetBufferSubData(GL_COPY_READ_BUFFER, (GLintptr)from->at, (GLsizeiptr)from->bytes, host);
    return gl_check("a copy to the host");
}

fbp_status gl_write(const struct gl_part *to, const void *host)
{
    glBindBuffer(GL_COPY_WRITE_BUFFER, to->buffer->name);
    glBufferSubData(GL_COPY_WRITE_BUFFER, (GLintptr)to->at, (GLsizeiptr)to->bytes, host);
    return gl_check("a copy from the host");
}

fbp_status gl_copy(const struct gl_part *from, const struct gl_part *to)
{
    atomic_fetch_add(&gl_plant.n_through, !from->buffer || !to->buffer);
    if (!from->buffer)
        return gl_write(to, from->host);
    if (!to->buffer)
        return gl_read(from, to->host);
    glBindBuffer(GL_COPY_READ_BUFFER, from->buffer->name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, to->buffer->name);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, (GLintptr)from->at,
                        (GLintptr)to->at, (GLsizeiptr)from->bytes);
    return gl_check("a copy between host and device");
}

/* A copy of n pieces, contiguous on the device. */
struct copy {
    struct gl_part from, to; /* `bytes`: of one piece */
    size_t n, stride;        /* stride: bytes from piece to piece of `from` */
};

static fbp_status run_pieces(struct copy *c)
{
    for (size_t i = 0; i < c->n; i++) {
        FBP_TRY(gl_copy(&c->from, &c->to));
        c->from.at += c->stride;
        c->from.host = (char *)c->from.host + c->stride;
        c->to.at += c->to.bytes;
    }
    return FBP_OK;
}

/* Unbinding matters: a buffer that another context deletes exists as long as it is bound here. */
static fbp_status run_copy(void *device, void *command)
{
    const fbp_status st = run_pieces(command);

    (void)device;
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    return st;
}

/* host: one of c->from and c->to; its reference is dropped after the copy. */
static fbp_status submit_copy(struct gl_device *dev, enum gl_order order, const struct copy *c,
                              const struct gl_part *host)
{
    struct gl_buffer *held = (struct gl_buffer *)(uintptr_t)host->buffer;
    const fbp_status st =
        gl_queue_submit_holding(dev->queue, order, run_copy, c, sizeof *c, release_host, held);

    if (st != FBP_OK)
        release_host(held);
    return st;
}

fbp_status gl_upload(fbp_device *device, void *dst, const void *src, size_t n_samples)
{
    return gl_upload_pieces(device, dst, src, 1, n_samples, n_samples);
}

fbp_status gl_upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                            size_t n_samples, size_t stride)
{
    struct gl_device *dev = gl_of(device);
    const size_t size = fbp_raw_size(dev->job), bytes = n_samples * size;
    struct copy c = {gl_part_retain(dev->share, src, ((n - 1) * stride + n_samples) * size),
                     gl_part_at(dev, dst, n * bytes), n, stride * size};

    c.from.bytes = c.to.bytes = bytes;
    return submit_copy(dev, GL_ORDER_IN, &c, &c.from);
}

fbp_status gl_copy_out(struct gl_device *dev, const struct gl_part *from, void *host)
{
    const struct copy c = {*from, gl_part_retain(dev->share, host, from->bytes), 1, 0};

    return submit_copy(dev, GL_ORDER_OUT, &c, &c.to);
}

fbp_status gl_download(fbp_device *device, const float *rows, size_t n, float *host)
{
    struct gl_device *dev = gl_of(device);
    const struct gl_part from = gl_part_at(dev, rows, n * sizeof *rows);

    return gl_copy_out(dev, &from, host);
}
