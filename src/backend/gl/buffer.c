#include "backend/gl/buffer.h"

#include "backend/gl/error.h"
#include "backend/gpu/host.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* All buffers that have an address.  There are few: those of a run, and those that the program has
 * allocated. */
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
            b->references += hold;
        }
    pthread_mutex_unlock(&all.lock);
    return out;
}

struct gl_part gl_part_at(const void *owner, const void *address, size_t bytes)
{
    return find(owner, address, bytes, false);
}

struct gl_part gl_part_retain(const void *owner, const void *address, size_t bytes)
{
    return find(owner, address, bytes, true);
}

bool gl_buffer_release(struct gl_buffer *b)
{
    pthread_mutex_lock(&all.lock);
    const bool last = --b->references == 0;
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
    else /* immutable, because some drivers move buffers of glBufferData() to host memory after a
            read */
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
        glDeleteBuffers(1, &b->name); /* also unmaps it */
    if (b->texture)
        glDeleteTextures(1, &b->texture);
    if (!b->mapped)
        gl_addresses_drop(b->base, b->bytes);
    b->name = b->texture = 0;
    b->base = NULL;
}

struct gl_texture gl_texture_of(const struct fbp_job *job, size_t n_groups, size_t n_rows)
{
    const struct gpu_kernel *k = gpu_kernel_of(job);
    struct gl_texture t = {.width = gpu_row_texels(k, job),
                           .height = 1,
                           .layers = n_groups,
                           .texels = gpu_texels_a_column(k, job)};

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

fbp_status gl_texture_make(struct gl_buffer *b, const struct fbp_job *job,
                           const struct gl_texture *t)
{
    b->shape = *t;
    glGenTextures(1, &b->texture);
    glBindTexture(GL_TEXTURE_2D_ARRAY, b->texture);
    glTexStorage3D(GL_TEXTURE_2D_ARRAY, 1, gl_format_of(gpu_kernel_of(job)), (GLsizei)t->width,
                   (GLsizei)t->height, (GLsizei)t->layers);
    glBindTexture(GL_TEXTURE_2D_ARRAY, 0);
    return gl_check("a texture of filtered views");
}

fbp_status gl_sampler_make(unsigned *sampler)
{
    static const GLfloat zeros[4] = {0, 0, 0, 0};

    glGenSamplers(1, sampler);
    glSamplerParameteri(*sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glSamplerParameteri(*sampler, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glSamplerParameteri(*sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glSamplerParameteri(*sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    glSamplerParameterfv(*sampler, GL_TEXTURE_BORDER_COLOR, zeros);
    return gl_check("a sampler");
}
