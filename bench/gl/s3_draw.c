/* OpenGL calls of the job of Ino et al. (2009): layered textures, targets, programs. Called by
 * s3.c, s3_views.c, s3_sum.c, s3_volume.c and s3_measure.c.
 * Used by: bench/gl/. */
#include "bench/gl/s3_draw.h"

#include "backend/module.h"
#include "base/system.h"

#include <stdlib.h>

static GLuint bind_array(unsigned unit, GLuint texture)
{
    glActiveTexture(GL_TEXTURE0 + unit);
    glBindTexture(GL_TEXTURE_2D_ARRAY, texture);
    return texture;
}

static GLenum format_of(size_t channels)
{
    return channels == GL_S3_FOUR ? GL_RGBA : GL_RED;
}

/* Beyond the edges there are zeros. */
static GLuint make_array(const struct gl_s3_stack *s, size_t layers)
{
    static const GLenum formats[2][2] = {{GL_R32F, GL_RGBA32F}, {GL_R16F, GL_RGBA16F}};
    static const float none[4] = {0};
    GLuint texture = 0;

    glGenTextures(1, &texture);
    bind_array(0, texture);
    glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, (GLint)formats[s->half][s->channels == GL_S3_FOUR],
                 (GLsizei)s->size[0], (GLsizei)s->size[1], (GLsizei)layers, 0,
                 format_of(s->channels), GL_FLOAT, NULL);
    glTexParameterfv(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BORDER_COLOR, none);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAX_LEVEL, 0);
    return texture;
}

fbp_status gl_s3_stack_make(struct gl_s3_stack *out, const struct gl_renderer *limits, bool half,
                            size_t channels, const size_t size[2], size_t n, const char *what)
{
    const size_t side = (size_t)limits->texture_size;

    if (size[0] > side || size[1] > side)
        return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                              "ino2009: %s of %zu x %zu exceed the renderer's textures of %zu "
                              "texels per side: use a smaller job",
                              what, size[0], size[1], side);
    /* a group of four targets lies in one texture */
    const size_t most = (size_t)limits->layers / GL_S3_FOUR * GL_S3_FOUR, left = n % most;
    *out = (struct gl_s3_stack){.n_textures = gl_s3_pieces(n, most),
                                .layers = most,
                                .n = n,
                                .half = half,
                                .channels = channels,
                                .size = {size[0], size[1]}};
    out->textures = calloc(out->n_textures, sizeof *out->textures);
    if (!out->textures)
        return gpu_host->fail(
            FBP_ERR_NOMEM,
            "ino2009: out of memory for a list of %zu textures: close other programs",
            out->n_textures);
    for (size_t i = 0; i < out->n_textures; i++)
        out->textures[i] = make_array(out, i + 1 < out->n_textures || left == 0 ? most : left);
    gl_s3_stack_filter(out, false);
    return gl_check(what);
}

void gl_s3_stack_clear(struct gl_s3_stack *s)
{
    if (s->textures)
        glDeleteTextures((GLsizei)s->n_textures, s->textures);
    free(s->textures);
    *s = (struct gl_s3_stack){0};
}

int gl_s3_stack_bind(const struct gl_s3_stack *s, size_t layer, unsigned unit)
{
    bind_array(unit, s->textures[layer / s->layers]);
    return (int)(layer % s->layers);
}

void gl_s3_stack_fill(const struct gl_s3_stack *s, size_t first, size_t n, const float *data)
{
    const size_t texels = s->size[0] * s->size[1] * s->channels;

    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    for (size_t i = first, part; i < first + n; i += part) {
        const size_t end = (i / s->layers + 1) * s->layers;
        part = (end < first + n ? end : first + n) - i;
        const int layer = gl_s3_stack_bind(s, i, 0);
        glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, layer, (GLsizei)s->size[0],
                        (GLsizei)s->size[1], (GLsizei)part, format_of(s->channels), GL_FLOAT,
                        data + (i - first) * texels);
    }
}

void gl_s3_stack_target(const struct gl_s3_stack *s, size_t first, size_t n, GLuint frame)
{
    static const GLenum targets[GL_S3_FOUR] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1,
                                               GL_COLOR_ATTACHMENT2, GL_COLOR_ATTACHMENT3};

    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    /* other attachments are removed, because their textures may be read from now on */
    for (size_t i = 0; i < GL_S3_FOUR; i++)
        glFramebufferTextureLayer(GL_FRAMEBUFFER, targets[i],
                                  i < n ? s->textures[first / s->layers] : 0, 0,
                                  i < n ? (GLint)(first % s->layers + i) : 0);
    glDrawBuffers((GLsizei)n, targets);
}

void gl_s3_stack_filter(const struct gl_s3_stack *s, bool linear)
{
    for (size_t i = 0; i < s->n_textures; i++) {
        bind_array(0, s->textures[i]);
        glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MAG_FILTER,
                        linear ? GL_LINEAR : GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D_ARRAY, GL_TEXTURE_MIN_FILTER,
                        linear ? GL_LINEAR : GL_NEAREST);
    }
}

static fbp_status compile(GLuint program, GLenum kind, const char *text, const char *what)
{
    const GLuint shader = glCreateShader(kind);
    char log[400] = "";
    GLint done = 0;

    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (done)
        glAttachShader(program, shader);
    else
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
    glDeleteShader(shader);
    return done ? FBP_OK
                : gpu_host->fail(FBP_ERR_DEVICE,
                                 "ino2009: the OpenGL driver does not compile the shader of %s: %s",
                                 what, log);
}

fbp_status gl_s3_program(GLuint *out, const char *vertex, const char *fragment, const char *what)
{
    char log[400] = "";
    GLint done = 0;

    *out = glCreateProgram();
    FBP_TRY(compile(*out, GL_VERTEX_SHADER, vertex, what));
    FBP_TRY(compile(*out, GL_FRAGMENT_SHADER, fragment, what));
    glLinkProgram(*out);
    glGetProgramiv(*out, GL_LINK_STATUS, &done);
    if (!done) {
        glGetProgramInfoLog(*out, sizeof log, NULL, log);
        return gpu_host->fail(FBP_ERR_DEVICE,
                              "ino2009: the OpenGL driver does not link the shader of %s: %s", what,
                              log);
    }
    glUseProgram(*out);
    return FBP_OK;
}

void gl_s3_set(GLuint program, const char *name, int v)
{
    glUniform1i(glGetUniformLocation(program, name), v);
}

GLuint gl_s3_table(unsigned unit, size_t columns, size_t rows, const float *data)
{
    GLuint texture = 0;

    glActiveTexture(GL_TEXTURE0 + unit);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, (GLsizei)columns, (GLsizei)rows, 0, GL_RED, GL_FLOAT,
                 data);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    return texture;
}

void gl_s3_draw(void)
{
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

double gl_s3_lap(struct gl_s3_run *r)
{
    if (r->way->synchronised)
        glFinish();
    const double now = fbp_seconds(), seconds = now - r->lap;
    r->lap = now;
    return seconds;
}
