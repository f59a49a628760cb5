#include "backend/gl/program.h"

#include "backend/gl/compiled.h"
#include "backend/gl/error.h"
#include "backend/gl/text.h"
#include "backend/gpu/host.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <string.h>

enum { MOST_TEXTS = 10, LOG_BYTES = 400 };

static const struct {
    const char *name, *texts[MOST_TEXTS];
} programs[GL_N_PROGRAMS] = {
#define GL_PROGRAM_TEXTS(ID, NAME, ...) [GL_P_##ID] = {(NAME), {__VA_ARGS__}},
    GL_PROGRAMS(GL_PROGRAM_TEXTS)
#undef GL_PROGRAM_TEXTS
};

fbp_status gl_programs_open(struct gl_programs *p, uint64_t alignment, uint64_t block_bytes)
{
    *p = (struct gl_programs){.alignment = alignment, .block_bytes = block_bytes};
    glGenBuffers(1, &p->parameters);
    glBindBuffer(GL_UNIFORM_BUFFER, p->parameters);
    glBufferData(GL_UNIFORM_BUFFER, (GLsizeiptr)GL_PARAMETERS * GL_PARAMETER_SLOTS, NULL,
                 GL_STREAM_DRAW);
    glBindBuffer(GL_UNIFORM_BUFFER, 0);
    return gl_check("parameters");
}

void gl_programs_close(struct gl_programs *p)
{
    for (int i = 0; i < GL_N_PROGRAMS; i++)
        if (p->names[i])
            glDeleteProgram(p->names[i]);
    if (p->parameters)
        glDeleteBuffers(1, &p->parameters);
    *p = (struct gl_programs){0};
}

/* A log's first lines as one. */
static fbp_status refused(const char *name, const char *log)
{
    char line[LOG_BYTES];
    size_t n = 0;

    for (; *log && n + 1 < sizeof line; log++)
        if (*log != '\r' && *log != '\0')
            line[n++] = (char)(*log == '\n' ? ' ' : *log);
    line[n] = '\0';
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "gl: the driver of %s does not compile the program %s: %s: update the "
                          "driver, or use --device cpu",
                          gl_check_name(), name, line);
}

static fbp_status compile(const char *name, const struct gl_text *text, GLuint *shader)
{
    char log[LOG_BYTES] = "it gives no reason";
    GLint ok = 0;

    *shader = glCreateShader(GL_COMPUTE_SHADER);
    glShaderSource(*shader, (GLsizei)text->n, text->parts, text->lengths);
    glCompileShader(*shader);
    glGetShaderiv(*shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return FBP_OK;
    glGetShaderInfoLog(*shader, sizeof log, NULL, log);
    return refused(name, log);
}

static fbp_status link_program(const char *name, GLuint shader, GLuint *program)
{
    char log[LOG_BYTES] = "it gives no reason";
    GLint ok = 0;

    *program = glCreateProgram();
    glProgramParameteri(*program, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_TRUE);
    glAttachShader(*program, shader);
    glLinkProgram(*program);
    glGetProgramiv(*program, GL_LINK_STATUS, &ok);
    glDetachShader(*program, shader);
    if (ok)
        return FBP_OK;
    glGetProgramInfoLog(*program, sizeof log, NULL, log);
    glDeleteProgram(*program);
    *program = 0;
    return refused(name, log);
}

static fbp_status build(struct gl_programs *p, enum gl_program_id id)
{
    const char *name = programs[id].name;
    struct gl_text text = {.n = 0};
    GLuint shader = 0;
    fbp_status st = gl_text_add(&text, NULL);

    for (int i = 0; st == FBP_OK && i < MOST_TEXTS && programs[id].texts[i]; i++)
        st = gl_text_add(&text, programs[id].texts[i]);
    const uint64_t key = gl_compiled_key(&text);
    if (st == FBP_OK)
        p->names[id] = gl_compiled_recall(key);
    const bool compiles = st == FBP_OK && !p->names[id];
    if (compiles)
        st = compile(name, &text, &shader);
    if (compiles && st == FBP_OK)
        st = link_program(name, shader, &p->names[id]);
    if (compiles && st == FBP_OK)
        gl_compiled_keep(key, p->names[id]);
    if (shader)
        glDeleteShader(shader);
    gl_text_drop(&text);
    return st == FBP_OK ? gl_check(name) : st;
}

fbp_status gl_programs_need(struct gl_programs *p, const enum gl_program_id *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!p->names[ids[i]])
            FBP_TRY(build(p, ids[i]));
    return FBP_OK;
}

fbp_status gl_bind(const struct gl_programs *p, struct gl_call *call, unsigned i,
                   const struct gl_buffer *buffer, size_t at, size_t bytes, size_t *skip)
{
    *skip = p->alignment ? at % p->alignment : 0;
    call->bound[i].buffer = buffer;
    call->bound[i].at = at - *skip;
    call->bound[i].bytes = (bytes + *skip + 3) / 4 * 4;
    if (call->bound[i].bytes > p->block_bytes)
        return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                              "gl: %zu bytes are needed at once by the program %s, and this "
                              "renderer's storage blocks hold %llu: use --device cpu",
                              call->bound[i].bytes, programs[call->program].name,
                              (unsigned long long)p->block_bytes);
    if (call->bound[i].at + call->bound[i].bytes > buffer->bytes)
        call->bound[i].bytes = buffer->bytes - call->bound[i].at;
    return FBP_OK;
}

/* Into the next slot: what is still being read lies in others, and the driver sees to the rest. */
static void put_parameters(struct gl_programs *p, const struct gl_call *call)
{
    const GLintptr at = (GLintptr)(p->next++ % GL_PARAMETER_SLOTS) * GL_PARAMETERS;

    glBindBuffer(GL_UNIFORM_BUFFER, p->parameters);
    glBufferSubData(GL_UNIFORM_BUFFER, at, (GLsizeiptr)call->parameter_bytes, call->parameters);
    glBindBufferRange(GL_UNIFORM_BUFFER, 0, p->parameters, at, GL_PARAMETERS);
}

fbp_status gl_run(struct gl_programs *p, const struct gl_call *call)
{
    FBP_TRY(gl_programs_need(p, &call->program, 1));
    glUseProgram(p->names[call->program]);
    put_parameters(p, call);
    for (unsigned i = 0; i < GL_MOST_BOUND; i++)
        if (call->bound[i].buffer)
            glBindBufferRange(GL_SHADER_STORAGE_BUFFER, i, call->bound[i].buffer->name,
                              (GLintptr)call->bound[i].at, (GLsizeiptr)call->bound[i].bytes);
    if (call->texture) {
        glActiveTexture(GL_TEXTURE0);
        glBindTexture(GL_TEXTURE_2D_ARRAY, call->texture);
        glBindSampler(0, call->sampler);
    }
    if (call->image)
        glBindImageTexture(0, call->image, 0, GL_TRUE, 0, GL_READ_WRITE, call->format);
    glDispatchCompute(call->groups[0], call->groups[1], call->groups[2]);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    return gl_check(programs[call->program].name);
}
