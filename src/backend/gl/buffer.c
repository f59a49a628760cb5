#include "backend/gl/buffer.h"

#include "backend/gl/error.h"
#include "backend/gpu/host.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Few: some of a run, and what the program has asked for. */
static struct {
    pthread_mutex_t lock;
    struct gl_buffer *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void gl_buffers_add(struct gl_buffer *one)
{
    pthread_mutex_lock(&all.lock);
    one->next = all.first;
    all.first = one;
    pthread_mutex_unlock(&all.lock);
}

struct gl_buffer *gl_buffers_take(const void *base)
{
    struct gl_buffer **at = &all.first;

    pthread_mutex_lock(&all.lock);
    while (*at && (*at)->base != base)
        at = &(*at)->next;
    struct gl_buffer *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&all.lock);
    return found;
}

void gl_buffers_forget(const void *owner)
{
    struct gl_buffer *gone = NULL;

    pthread_mutex_lock(&all.lock);
    for (struct gl_buffer **at = &all.first; *at;) {
        struct gl_buffer *b = *at;
        if (b->owner == owner) {
            *at = b->next;
            b->next = gone;
            gone = b;
        } else {
            at = &b->next;
        }
    }
    pthread_mutex_unlock(&all.lock);
    for (struct gl_buffer *next; gone; gone = next) {
        next = gone->next;
        free(gone);
    }
}

static struct gl_part find(const void *owner, const void *address, size_t bytes, bool hold)
{
    const char *at = address;
    struct gl_part out = {.bytes = bytes, .host = (void *)(uintptr_t)address};

    pthread_mutex_lock(&all.lock);
    for (struct gl_buffer *b = all.first; b && !out.buffer; b = b->next)
        if (b->owner == owner && at >= b->base && bytes <= b->bytes &&
            (size_t)(at - b->base) <= b->bytes - bytes) {
            out.buffer = b;
            out.at = (size_t)(at - b->base);
            b->holders += hold;
        }
    pthread_mutex_unlock(&all.lock);
    return out;
}

struct gl_part gl_part_at(const void *owner, const void *address, size_t bytes)
{
    return find(owner, address, bytes, false);
}

struct gl_part gl_part_held(const void *owner, const void *address, size_t bytes)
{
    return find(owner, address, bytes, true);
}

bool gl_buffer_less(struct gl_buffer *b)
{
    pthread_mutex_lock(&all.lock);
    const bool last = --b->holders == 0;
    pthread_mutex_unlock(&all.lock);
    return last;
}

void *gl_addresses(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return base == MAP_FAILED ? NULL : base;
}

void gl_addresses_drop(void *base, size_t bytes)
{
    if (base)
        (void)munmap(base, bytes);
}

static void map(struct gl_buffer *b)
{
    const GLbitfield flags =
        GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;

    glBufferStorage(GL_COPY_WRITE_BUFFER, (GLsizeiptr)b->bytes, NULL,
                    flags | GL_CLIENT_STORAGE_BIT);
    b->base = glMapBufferRange(GL_COPY_WRITE_BUFFER, 0, (GLsizeiptr)b->bytes, flags);
}

fbp_status gl_buffer_make(struct gl_buffer *b, bool mapped, const char *what)
{
    b->mapped = mapped;
    glGenBuffers(1, &b->name);
    glBindBuffer(GL_COPY_WRITE_BUFFER, b->name);
    if (mapped)
        map(b);
    else /* immutable: some drivers move a glBufferData() buffer to host memory after a read */
        glBufferStorage(GL_COPY_WRITE_BUFFER, (GLsizeiptr)b->bytes, NULL, GL_DYNAMIC_STORAGE_BIT);
    glBindBuffer(GL_COPY_WRITE_BUFFER, 0);
    const fbp_status st = gl_check(what);
    if (st == FBP_OK && mapped && !b->base)
        return gpu_host->fail(FBP_ERR_NOMEM, "gl: cannot map %zu bytes for %s: lower --memory",
                              b->bytes, what);
    return st;
}

void gl_buffer_drop(struct gl_buffer *b)
{
    if (b->name)
        glDeleteBuffers(1, &b->name); /* which unmaps it */
    if (b->texture)
        glDeleteTextures(1, &b->texture);
    if (!b->mapped)
        gl_addresses_drop(b->base, b->bytes);
    b->name = b->texture = 0;
    b->base = NULL;
}
