#include "backend/gl/compiled.h"

#include "backend/gpu/host.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 40 };

/* What a file begins with. */
struct header {
    char magic[8];
    uint64_t key, check; /* of what follows */
    uint32_t format, bytes;
};

static const char MAGIC[8] = "fbp gl 1";

/* Fowler, Noll and Vo's, from a beginning on. */
static uint64_t hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < n; i++)
        h = (h ^ at[i]) * 1099511628211u;
    return h;
}

static const uint64_t START = 14695981039346656037u;

uint64_t gl_compiled_key(const struct gl_text *text)
{
    static const GLenum names[] = {GL_VENDOR, GL_RENDERER, GL_VERSION};
    uint64_t h = START;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = (const char *)glGetString(names[i]);
        h = name ? hash(h, name, strlen(name) + 1) : h;
    }
    for (size_t i = 0; i < text->n; i++)
        h = hash(h, text->parts[i], (size_t)text->lengths[i]);
    return h;
}

static void name_of(uint64_t key, char out[NAME])
{
    snprintf(out, NAME, "gl-%016llx", (unsigned long long)key);
}

/* Is this such a file, and whole? */
static bool is_whole(const void *data, size_t n, uint64_t key, struct header *h)
{
    if (!data || n < sizeof *h)
        return false;
    memcpy(h, data, sizeof *h);
    return memcmp(h->magic, MAGIC, sizeof MAGIC) == 0 && h->key == key &&
           n - sizeof *h == h->bytes &&
           hash(START, (const char *)data + sizeof *h, h->bytes) == h->check;
}

static bool has_formats(void)
{
    GLint n = 0;

    glGetIntegerv(GL_NUM_PROGRAM_BINARY_FORMATS, &n);
    return n > 0;
}

static void forget_errors(void)
{
    for (int i = 0; i < 8 && glGetError() != GL_NO_ERROR; i++)
        ;
}

unsigned gl_compiled_recall(uint64_t key)
{
    char name[NAME];
    struct header h;
    size_t n = 0;
    GLint ok = 0;

    name_of(key, name);
    void *data = has_formats() ? gpu_host->kept_read(name, &n) : NULL;
    GLuint program = is_whole(data, n, key, &h) ? glCreateProgram() : 0;
    if (program) {
        glProgramBinary(program, h.format, (const char *)data + sizeof h, (GLsizei)h.bytes);
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
    }
    if (program && !ok) { /* of another build of the driver */
        glDeleteProgram(program);
        program = 0;
    }
    forget_errors();
    free(data);
    return program;
}

void gl_compiled_keep(uint64_t key, unsigned program)
{
    struct header h = {.key = key};
    char name[NAME];
    GLint bytes = 0;
    GLenum format = 0;

    glGetProgramiv(program, GL_PROGRAM_BINARY_LENGTH, &bytes);
    char *data = has_formats() && bytes > 0 ? malloc(sizeof h + (size_t)bytes) : NULL;
    if (data) {
        glGetProgramBinary(program, bytes, NULL, &format, data + sizeof h);
        memcpy(h.magic, MAGIC, sizeof MAGIC);
        h.format = format;
        h.bytes = (uint32_t)bytes;
        h.check = hash(START, data + sizeof h, h.bytes);
        memcpy(data, &h, sizeof h);
        name_of(key, name);
        if (glGetError() == GL_NO_ERROR)
            gpu_host->kept_write(name, data, sizeof h + h.bytes);
    }
    forget_errors();
    free(data);
}
