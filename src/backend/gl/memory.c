/* Memory of the OpenGL device (gl_alloc()) and of the host (gl_host_alloc()), and copies between
 * the two (gl_upload(), gl_download()). The contexts of all devices of a renderer share their
 * objects with one context, which is open while any device of the renderer is open. A thread with
 * this context creates and deletes host buffers. Devices of all plans on the renderer can
 * therefore copy host memory that one plan allocated, like pinned memory in CUDA.
 * Used by: backend/gl/. */
#include "backend/gl/gl.h"

#include "backend/rows.h"

#include <epoxy/gl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* List of all buffers that the pipeline refers to by an address.  A linear search is fast enough: a
 * run has few buffers, and programs that use the library allocate few host buffers. */
static struct {
    pthread_mutex_t lock;
    struct gl_buffer *first;
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void list_buffer(struct gl_buffer *b)
{
    pthread_mutex_lock(&buffers.lock);
    b->next = buffers.first;
    buffers.first = b;
    pthread_mutex_unlock(&buffers.lock);
}

/* Remove a buffer from the list of buffers and return it: the buffer that begins at address `base`
 * or, if base is NULL, any buffer of `owner`.  Returns NULL if the list has no such buffer. */
static struct gl_buffer *unlist_buffer(const void *owner, const void *base)
{
    struct gl_buffer **at = &buffers.first;

    pthread_mutex_lock(&buffers.lock);
    while (*at && !(base ? (*at)->base == base : (*at)->owner == owner))
        at = &(*at)->next;
    struct gl_buffer *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&buffers.lock);
    return found;
}

static struct gl_part find_part(const void *owner, const void *address, size_t bytes, bool retain)
{
    const char *at = address;
    struct gl_part out = {.bytes = bytes, .host = (void *)(uintptr_t)address};

    pthread_mutex_lock(&buffers.lock);
    for (struct gl_buffer *b = buffers.first; b && !out.buffer; b = b->next)
        if (b->owner == owner && at >= b->base && bytes <= b->bytes &&
            (size_t)(at - b->base) <= b->bytes - bytes) {
            out.buffer = b;
            out.at = (size_t)(at - b->base);
            b->references += retain;
        }
    pthread_mutex_unlock(&buffers.lock);
    return out;
}

struct gl_part gl_part_at(const void *owner, const void *address, size_t bytes)
{
    return find_part(owner, address, bytes, false);
}

fbp_status gl_buffer_make(struct gl_buffer *b, bool mapped, const char *what)
{
    const GLbitfield flags =
        GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
    const GLsizeiptr bytes = (GLsizeiptr)b->bytes;

    b->mapped = mapped;
    glGenBuffers(1, &b->name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, b->name);
    /* Immutable: some drivers move storage of glBufferData() to the host after a read. */
    glBufferStorage(GL_COPY_WRITE_BUFFER, bytes, NULL,
                    mapped ? flags | GL_CLIENT_STORAGE_BIT : GL_DYNAMIC_STORAGE_BIT);
    if (mapped)
        b->base = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, bytes, flags);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    const fbp_status st = gl_check(what);
    if (st == FBP_OK && mapped && !b->base)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot map %zu bytes for %s; lower --memory",
                              b->bytes, what);
    return st;
}

void gl_buffer_drop(struct gl_buffer *b)
{
    if (b->name)
        glDeleteBuffers(1, &b->name); /* also unmaps it */
    if (b->texture)
        glDeleteTextures(1, &b->texture);
    if (!b->mapped && b->base)
        (void)munmap(b->base, b->bytes);
    b->name = b->texture = 0;
    b->base = NULL;
}

struct gl_texture gl_texture_of(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    struct gl_texture t = {.width = gpu_row_texels(k, job),
                           .height = 1,
                           .layers = n_groups,
                           .texels = gpu_texels_per_column(k, job)};

    while (t.height < n_rows)
        t.height *= 2;
    return t;
}

unsigned gl_format_of(const struct gpu_kernel *k)
{
    static const GLenum formats[2][3] = {{GL_R32F, GL_RG32F, GL_RGBA32F},
                                         {GL_R16F, GL_RG16F, GL_RGBA16F}};

    return formats[k->bits == 16][k->channels / 2];
}

size_t gl_filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    const size_t n = gl_groups_of(job, n_views);
    const struct gl_texture t = gl_texture_of(job, n, n_rows);
    const size_t texel = (size_t)k->channels * (size_t)k->bits / 8;

    return k->channels ? t.width * t.height * t.layers * texel : k->views_bytes(job, n, n_rows);
}

size_t gl_views_before(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);

    return k->channels ? 0 : k->views_bytes(job, n_views, n_rows);
}

/* Shared context per renderer; NULL: none. A lost one is removed; its last device closes it. */
static struct {
    pthread_mutex_t lock; /* guards `users` of the contexts, too */
    struct gl_share *of[GL_MOST_RENDERERS];
} shares = {.lock = PTHREAD_MUTEX_INITIALIZER};

static fbp_status begin(void *share)
{
    struct gl_share *s = share;

    FBP_TRY(gl_egl_open(&s->egl, s->index, NULL));
    gl_check_shared();
    return FBP_OK;
}

static void end(void *share)
{
    gl_egl_close(&((struct gl_share *)share)->egl);
}

static fbp_status run_check_reset(void *share, void *command)
{
    bool *const *lost = command;

    (void)share;
    **lost = gl_was_reset();
    return FBP_OK;
}

fbp_status gl_share_enter(struct gl_share **out, int index)
{
    static const struct gl_queue_life life = {.begin = begin, .end = end};
    bool lost = false, *to = &lost;
    fbp_status st = FBP_OK;

    pthread_mutex_lock(&shares.lock);
    struct gl_share **at = &shares.of[index];
    /* A reset of the renderer loses all contexts that share objects: create a new one. */
    if (*at && (gl_queue_call((*at)->queue, run_check_reset, &to, sizeof to) != FBP_OK || lost))
        *at = NULL;
    if (!*at) {
        struct gl_share *s = calloc(1, sizeof *s);
        if (s)
            s->index = index;
        st = s ? gl_queue_open(&s->queue, &life, s) : gl_fail_nomem(sizeof *s);
        if (st == FBP_OK)
            *at = s;
        else
            free(s);
    }
    *out = *at;
    if (*at)
        (*at)->users++;
    pthread_mutex_unlock(&shares.lock);
    return st;
}

void gl_share_leave(struct gl_share **share)
{
    struct gl_share *s = *share;

    if (!s)
        return;
    pthread_mutex_lock(&shares.lock);
    if (--s->users == 0) {
        if (shares.of[s->index] == s)
            shares.of[s->index] = NULL;
        gl_queue_close(&s->queue);

        for (struct gl_buffer *b; (b = unlist_buffer(s, NULL));)
            free(b);
        free(s);
    }
    pthread_mutex_unlock(&shares.lock);
    *share = NULL;
}

static fbp_status run_drop(void *unused, void *command)
{
    struct gl_buffer *const *b = command;

    (void)unused;
    gl_buffer_drop(*b);
    free(*b);
    return FBP_OK;
}

/* Submit a command that deletes a buffer after all commands that were submitted before. */
static void drop(struct gl_queue *queue, struct gl_buffer *b)
{
    (void)!gl_queue_submit_with(queue, GL_ORDER_CALL, run_drop, &b, sizeof(struct gl_buffer *),
                                &(struct gl_submission){.last = true});
}

/* Drop a reference to a host buffer (NULL: none); the last drop submits its deletion. */
static void release_host(void *buffer)
{
    struct gl_buffer *b = buffer;

    if (!b)
        return;
    pthread_mutex_lock(&buffers.lock);
    const bool last = --b->references == 0;
    pthread_mutex_unlock(&buffers.lock);
    if (last)
        drop(((const struct gl_share *)b->owner)->queue, b);
}

static struct gl_buffer *new_buffer(size_t bytes, const void *owner)
{
    struct gl_buffer *b = calloc(1, sizeof *b);

    if (!b) {
        (void)!gl_fail_nomem(sizeof *b);
        return NULL;
    }
    b->bytes = bytes ? bytes : 4;
    b->owner = owner;
    return b;
}

/* Command that creates a host buffer.  If it fails, its status and message are returned to the
 * caller only, so the queue of the shared context stays usable for others. */
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
    glFinish(); /* makes the buffer visible to other contexts */
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
    atomic_fetch_add(&gl_fault_injection.n_host, 1);
    list_buffer(b);
    return FBP_OK;
}

/* Frees host memory, even if another device allocated it (member `host_release` of the backend). */
void gl_host_release(fbp_device *device, void *memory)
{
    (void)device;
    release_host(unlist_buffer(NULL, memory));
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
    const struct gl_texture *t = &m->texture;

    if (t->layers == 0)
        return gl_buffer_make(m->buffer, false, m->what);
    m->buffer->shape = *t;
    glGenTextures(1, &m->buffer->texture);
    glBindTexture(GL_TEXTURE_2D_ARRAY, m->buffer->texture);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, gl_format_of(gpu_kernel_of(dev->job)), (GLsizei)t->width,
                   (GLsizei)t->height, (GLsizei)t->layers);
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    if (epoxy_has_gl_extension("GL_ARB_bindless_texture")) { /* is deleted with the texture */
        m->buffer->handle = glGetTextureSamplerHandleARB(m->buffer->texture, dev->sampler);
        glMakeTextureHandleResidentARB(m->buffer->handle);
    }
    return gl_check("a texture of filtered views");
}

fbp_status gl_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out)
{
    struct gl_device *dev = gl_of(device);
    const size_t n_rows = buffer->n_rows > 0 ? buffer->n_rows : 1;
    const bool filtered = buffer->purpose == FBP_FOR_FILTERED;
    struct making m = {.what = fbp_purpose_name(buffer->purpose)};
    fbp_status st = FBP_OK;
    char why[300];

    *out = NULL;
    if (!gl_holds(dev->index, dev->job, buffer, why, sizeof why)) /* plans check this, too */
        return gpu_host->fail(FBP_ERR_UNSUPPORTED, "gl: %s", why);
    if (filtered && dev->kernel->gpu.channels)
        m.texture = gl_texture_of(dev->job, gl_groups_of(dev->job, buffer->n_views), n_rows);
    struct gl_buffer *b = m.buffer = new_buffer(
        filtered ? gl_filtered_bytes(dev->job, buffer->n_views, n_rows) : buffer->bytes, dev);
    if (!b)
        return FBP_ERR_NOMEM;
    void *base =
        mmap(NULL, b->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED)
        b->base = base;
    else
        st = gpu_host->fail(FBP_ERR_NOMEM, "gl: no address space for %zu bytes; lower --memory",
                            b->bytes);
    if (st == FBP_OK)
        st = gl_queue_call(dev->queue, run_make, &m, sizeof m);
    if (st != FBP_OK) {
        drop(dev->queue, b);
        return st;
    }
    *out = b->base;
    list_buffer(b);
    return FBP_OK;
}

void gl_release(fbp_device *device, enum fbp_purpose purpose, void *memory)
{
    struct gl_buffer *b = unlist_buffer(NULL, memory);

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

/* Copy by the driver; either part may be memory outside any buffer. */
static fbp_status copy_by_driver(const struct gl_part *from, const struct gl_part *to)
{
    atomic_fetch_add(&gl_fault_injection.n_through, !from->buffer || !to->buffer);
    if (!from->buffer)
        return gl_write(to, from->host);
    if (!to->buffer)
        return gl_read(from, to->host);
    atomic_fetch_add(&gl_fault_injection.n_driver, 1);
    glBindBuffer(GL_COPY_READ_BUFFER, from->buffer->name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, to->buffer->name);
    glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, (GLintptr)from->at,
                        (GLintptr)to->at, (GLsizeiptr)from->bytes);
    return gl_check("a copy between host and device");
}

/* Command that copies n pieces of equal size, which become contiguous in `to`. */
struct copy {
    struct gl_part from, to; /* source and destination of the first piece */
    size_t n, stride; /* n: number of pieces; stride: distance of the pieces in `from` [bytes] */
};

/* Hold a copy of all pieces, which a storage block holds, by a program that is as fast as the bus.
 * In the context that computes, NVIDIA's glCopyBufferSubData() moves 1 GB/s to the host. */
static fbp_status hold_copy(struct gl_device *dev, const struct copy *c)
{
    const size_t bytes = c->n * c->to.bytes, stride = c->n > 1 ? c->stride : c->from.bytes;
    const size_t from_bytes = (c->n - 1) * stride + c->from.bytes;
    const size_t all = c->from.at | c->to.at | c->to.bytes | stride, unit = all % 16 == 0 ? 16 : 4;
    struct gl_held h = {
        .call = {.program = unit == 16 ? GL_P_COPY : GL_P_COPY_WORDS, .groups = {0, 1, 1}},
        .parameters = {.end = (uint32_t)(bytes / unit),
                       .per_piece = (uint32_t)(c->to.bytes / unit),
                       .stride = (uint32_t)(stride / unit)},
        .unit = unit};
    size_t skip;

    FBP_TRY(gl_programs_need(&dev->programs, h.call.program, 0));
    FBP_TRY(gl_bind(&dev->programs, &h.call, 0, c->from.buffer, c->from.at, from_bytes, &skip));
    h.parameters.from = (uint32_t)(skip / unit);
    FBP_TRY(gl_bind(&dev->programs, &h.call, 1, c->to.buffer, c->to.at, bytes, &skip));
    h.parameters.to = (uint32_t)(skip / unit);
    dev->programs.held[dev->programs.n_held++] = h;
    return FBP_OK;
}

/* Launch all copies that are held. */
static fbp_status run_held(struct gl_device *dev)
{
    fbp_status st = FBP_OK;

    while (st == FBP_OK && dev->programs.n_held > 0)
        st = gl_run(&dev->programs, NULL);
    return st;
}

fbp_status gl_held(void *device, bool launch, unsigned *n)
{
    struct gl_programs *p = &((struct gl_device *)device)->programs;
    const fbp_status st = launch && p->n_held > 0 ? gl_run(p, NULL) : FBP_OK;

    *n = p->n_held;
    return st;
}

/* Copy by the program as many pieces at once, or words of a single piece, as a storage block holds;
 * copy pieces and rests that are not whole words by the driver, one at a time. */
static fbp_status run_copy(void *device, void *command)
{
    struct gl_device *dev = device;
    struct copy *c = command;
    const size_t block = (size_t)(dev->programs.block_bytes - dev->programs.alignment) / 16 * 16;
    fbp_status st = FBP_OK;
    bool part_of_copy = false;

    while (c->n > 0 && st == FBP_OK) {
        const size_t bytes = c->to.bytes, words = bytes < block ? bytes / 4 * 4 : block;
        const size_t all = c->from.at | c->to.at | (c->n > 1 ? bytes | c->stride : 0);
        const size_t fit = c->n == 1 ? 1 : words < bytes ? 0 : (block - bytes) / c->stride + 1;
        const bool runs = c->from.buffer && c->to.buffer && all % 4 == 0 && words > 0 && fit > 0;
        struct copy part = *c;
        part.n = !runs ? 1 : fit < c->n ? fit : c->n;
        if (runs && c->n == 1)
            part.from.bytes = part.to.bytes = words;
        if (!runs || part_of_copy) /* copies end in order, and one is held of each command */
            st = run_held(dev);
        if (st == FBP_OK)
            st = runs ? hold_copy(dev, &part) : copy_by_driver(&part.from, &part.to);
        part_of_copy = true;
        const size_t step = c->n > 1 ? part.n * c->stride : part.to.bytes;
        c->from.at += step;
        if (!c->from.buffer)
            c->from.host = (char *)c->from.host + step;
        c->to.at += part.n * part.to.bytes;
        if (part.to.bytes == c->to.bytes)
            c->n -= part.n;
        else /* the rest of a single piece */
            c->from.bytes = c->to.bytes -= part.to.bytes;
    }
    /* Unbind both: a buffer that another context deletes is not freed while bound here. */
    glBindBuffer(GL_COPY_READ_BUFFER, 0);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    return st;
}

fbp_status gl_copy(struct gl_device *dev, const struct gl_part *from, const struct gl_part *to)
{
    FBP_TRY(run_copy(dev, &(struct copy){*from, *to, 1, 0}));
    return run_held(dev);
}

struct access {
    size_t at, bytes;
    void *host;
    bool write;
};

/* Copies pass through a small host buffer: glGetBufferSubData() of a few bytes of the tables (170
 * MB) takes 12 ms with NVIDIA's driver. */
static fbp_status run_access(void *device, void *command)
{
    const struct access *a = command;
    struct gl_device *dev = device;
    const struct gl_part tables = {.buffer = &dev->memory, .at = a->at, .bytes = a->bytes};
    const struct gl_part window = {.buffer = &dev->window, .bytes = a->bytes};

    if (a->write)
        memcpy(dev->window.base, a->host, a->bytes);
    FBP_TRY(gl_copy(dev, a->write ? &window : &tables, a->write ? &tables : &window));
    gl_settle();
    if (gl_was_reset())
        return gl_check_lost();
    FBP_TRY(gl_check("results"));
    if (!a->write)
        memcpy(a->host, dev->window.base, a->bytes);
    return FBP_OK;
}

fbp_status gl_access_memory(struct gl_device *dev, size_t at, void *host, size_t bytes, bool write)
{
    return gl_queue_call(dev->queue, run_access, &(struct access){at, bytes, host, write},
                         sizeof(struct access));
}

/* Submit a copy.  host: the one of &c->from and &c->to that is host memory; the reference to its
 * buffer is dropped after the copy, or if the submission fails. */
static fbp_status submit_copy(struct gl_device *dev, enum gl_order order, const struct copy *c,
                              const struct gl_part *host)
{
    struct gl_buffer *held = (struct gl_buffer *)(uintptr_t)host->buffer;
    const fbp_status st = gl_queue_submit_with(
        dev->queue, order, run_copy, c, sizeof *c,
        &(struct gl_submission){.rides = true, .release = release_host, .held = held});

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
    struct copy c = {find_part(dev->share, src, ((n - 1) * stride + n_samples) * size, true),
                     gl_part_at(dev, dst, n * bytes), n, stride * size};

    c.from.bytes = c.to.bytes = bytes;
    if (n_samples == stride) { /* contiguous pieces are one */
        c.from.bytes = c.to.bytes = n * bytes;
        c.n = 1;
    }
    return submit_copy(dev, GL_ORDER_IN, &c, &c.from);
}

fbp_status gl_copy_out(struct gl_device *dev, const struct gl_part *from, void *host)
{
    const struct copy c = {*from, find_part(dev->share, host, from->bytes, true), 1, 0};

    return submit_copy(dev, GL_ORDER_OUT, &c, &c.to);
}

fbp_status gl_download(fbp_device *device, const float *rows, size_t n, float *host)
{
    struct gl_device *dev = gl_of(device);
    const struct gl_part from = gl_part_at(dev, rows, n * sizeof *rows);

    return gl_copy_out(dev, &from, host);
}
