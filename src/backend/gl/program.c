/* Compute programs (shaders) of the OpenGL backend: assembles their sources, compiles them
 * (gl_programs_need()) and runs them (gl_run()). Compiled programs are not stored for later runs,
 * because the drivers store them.
 * Used by: backend/gl/. */
#include "backend/gl/program.h"

#include "backend/gl/egl.h"
#include "backend/module.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 16, TEXT_PARTS = 2 * GL_PROGRAM_TEXTS + 2, LOG_BYTES = 400 };

/* The source of a program: n strings `parts` with their lengths, as glShaderSource() takes them. */
struct text {
    size_t n, n_own;
    const char *parts[TEXT_PARTS];
    int lengths[TEXT_PARTS];
    char *own[TEXT_PARTS]; /* the n_own strings that were read from files, and must be freed */
    char shape[GL_SHAPE_TEXT];
};

static void put(struct text *t, const char *piece)
{
    t->parts[t->n] = piece;
    t->lengths[t->n++] = (int)strlen(piece);
}

/* Contents of the file FOLDER/NAME.glsl, at most 64 KiB; NULL: unreadable or empty. */
static char *read_text(const char *folder, const char *name)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s.glsl", folder, name);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "r") : NULL;
    char *text = file ? calloc(1, MOST_BYTES + 1) : NULL;

    if (text && fread(text, 1, MOST_BYTES, file) == 0) {
        free(text);
        text = NULL;
    }
    if (file)
        (void)fclose(file);
    return text;
}

/* Assemble the source of a program for one of its shapes. If the environment variable
 * FBP_GL_SHADERS names a folder, its file NAME.glsl replaces the text NAME. */
static fbp_status assemble(struct text *t, const struct gl_program *program, int shape)
{
    const char *folder = gpu_host->environment(FBP_ENV_GL_SHADERS);

    put(t, "#version 430 core\n");
    if (program->shapes) {
        gl_shape_text(&program->shapes[shape], t->shape);
        put(t, t->shape);
    }
    for (int i = 0; i < GL_PROGRAM_TEXTS && program->texts[i]; i++) {
        const char *name = program->texts[i];
        if (name[0] == '#') {
            put(t, name);
            continue;
        }
        char *own = folder && folder[0] ? read_text(folder, name) : NULL;
        const struct gl_text_built *built = gl_texts_built;
        while (built->name && strcmp(built->name, name) != 0)
            built++;
        if (!own && !built->name)
            return gpu_host->fail(
                FBP_ERR_DEVICE,
                "gl: this build has no shader source %s; check FBP_GL_SHADERS, or reinstall fbp",
                name);
        if (own)
            t->own[t->n_own++] = own;
        put(t, "#line 1\n"); /* the compiler's messages count lines from the start of each text */
        put(t, own ? own : built->text);
    }
    return FBP_OK;
}

/* Set the message for a shader that cannot be compiled or linked, with the driver's log. */
static fbp_status refused(const char *name, const char *log)
{
    char line[LOG_BYTES];
    size_t n = 0;

    for (; *log && n + 1 < sizeof line; log++)
        if (*log != '\r' && *log != '\0')
            line[n++] = (char)(*log == '\n' ? ' ' : *log);
    line[n] = '\0';
    return gpu_host->fail(FBP_ERR_DEVICE,
                          "gl: the driver of %s cannot compile the shader %s: %s; update the "
                          "driver, or use --device cpu",
                          gl_check_name(), name, line);
}

fbp_status gl_programs_need(struct gl_programs *p, enum gl_program_id id, int shape)
{
    const struct gl_program *program = &gl_program_list[id];
    unsigned *out = &p->names[id][shape];
    char log[LOG_BYTES] = "no reason given";
    struct text text = {.n = 0};
    GLuint shader = 0;
    GLint ok = 0;
    fbp_status st;

    if (*out)
        return FBP_OK;
    FBP_TRY_GOTO(assemble(&text, program, shape));
    shader = glCreateShader(GL_COMPUTE_SHADER);
    glShaderSource(shader, (GLsizei)text.n, text.parts, text.lengths);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (!ok) {
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        FBP_TRY_GOTO(refused(program->name, log));
    }
    *out = glCreateProgram();
    glAttachShader(*out, shader);
    glLinkProgram(*out);
    glGetProgramiv(*out, GL_LINK_STATUS, &ok);
    glDetachShader(*out, shader);
    if (!ok) {
        glGetProgramInfoLog(*out, sizeof log, NULL, log);
        glDeleteProgram(*out);
        *out = 0;
        FBP_TRY_GOTO(refused(program->name, log));
    }
    st = gl_check(program->name);
fail:
    if (shader)
        glDeleteShader(shader);
    for (size_t i = 0; i < text.n_own; i++)
        free(text.own[i]);
    return st;
}

/* Runs. */

enum { PARAMETER_SLOTS = 64 };

fbp_status gl_programs_open(struct gl_programs *p, uint64_t alignment, uint64_t block_bytes)
{
    *p = (struct gl_programs){.alignment = alignment, .block_bytes = block_bytes};
    glGenBuffers(1, &p->parameters);
    glBindBuffer(GL_UNIFORM_BUFFER, p->parameters);
    glBufferData(GL_UNIFORM_BUFFER, (GLsizeiptr)GL_PARAMETERS * PARAMETER_SLOTS, NULL,
                 GL_STREAM_DRAW);
    glBindBuffer(GL_UNIFORM_BUFFER, 0);
    return gl_check("parameters");
}

void gl_programs_close(struct gl_programs *p)
{
    for (int i = 0; i < GL_N_PROGRAMS; i++)
        for (int k = 0; k < GL_MOST_SHAPES; k++)
            if (p->names[i][k])
                glDeleteProgram(p->names[i][k]);
    if (p->parameters)
        glDeleteBuffers(1, &p->parameters);
    *p = (struct gl_programs){0};
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
                              "gl: a storage block of %zu bytes is needed by the shader %s, but "
                              "this renderer allows at most %llu; use --device cpu",
                              call->bound[i].bytes, gl_program_list[call->program].name,
                              (unsigned long long)p->block_bytes);
    if (call->bound[i].at + call->bound[i].bytes > buffer->bytes)
        call->bound[i].bytes = buffer->bytes - call->bound[i].at;
    return FBP_OK;
}

/* Write the parameters of a launch to the next slot, so that the driver rarely waits; returns the
 * offset of the slot. */
static GLintptr put_parameters(struct gl_programs *p, const void *parameters, size_t bytes)
{
    const GLintptr at = (GLintptr)(p->next++ % PARAMETER_SLOTS) * GL_PARAMETERS;

    glBindBuffer(GL_UNIFORM_BUFFER, p->parameters);
    glBufferSubData(GL_UNIFORM_BUFFER, at, (GLsizeiptr)bytes, parameters);
    return at;
}

/* Bind buffers and textures, and launch a program with the parameters at offset `at`. */
static void launch(const struct gl_programs *p, const struct gl_call *call, GLintptr at)
{
    glUseProgram(p->names[call->program][call->shape]);
    glBindBufferRange(GL_UNIFORM_BUFFER, 0, p->parameters, at, GL_PARAMETERS);
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
}

fbp_status gl_run(struct gl_programs *p, const struct gl_call *call)
{
    const unsigned most = call ? p->n_held : 1;
    size_t room = call ? call->carries : SIZE_MAX;
    GLintptr at[GL_MOST_HELD], own = 0;
    unsigned n = 0, done = 0;

    /* Write all parameters first: nothing but bindings may come between the launches. */
    if (call) {
        FBP_TRY(gl_programs_need(p, call->program, call->shape));
        own = put_parameters(p, call->parameters, call->parameter_bytes);
    }
    for (; n < most && room >= p->held[n].unit; n++) {
        struct gl_held *h = &p->held[n];
        struct gl_copy_parameters part = h->parameters;
        if (part.end - part.begin > room / h->unit)
            part.end = part.begin + (uint32_t)(room / h->unit);
        room -= (size_t)(part.end - part.begin) * h->unit;
        h->parameters.begin = part.end;
        done += part.end == h->parameters.end;
        at[n] = put_parameters(p, &part, sizeof part);
    }
    /* The copies come first: a copy after a kernel would wait until all its groups have begun. */
    for (unsigned i = 0; i < n; i++) {
        p->held[i].call.groups[0] = GL_COPY_GROUPS / n;
        launch(p, &p->held[i].call, at[i]);
    }
    if (call)
        launch(p, call, own);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    for (unsigned i = 0; n > 0 && i < 2; i++) /* a bound buffer is not freed if it is deleted */
        glBindBufferBase(GL_SHADER_STORAGE_BUFFER, i, 0);
    p->n_held -= done;
    memmove(p->held, p->held + done, p->n_held * sizeof *p->held);
    return gl_check(call ? gl_program_list[call->program].name : "a copy");
}
