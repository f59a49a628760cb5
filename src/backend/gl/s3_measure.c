/* What the fragment stage does at best: fetches of texels, blending; and the texture units'
 * fractions. */
#include "backend/gl/s3_draw.h"

#include "backend/gpu/host.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Places between two texels; texels a side of what is fetched from and drawn to; runs. */
enum { PLACES = 1024, SIDE = 512, RUNS = 3, BLENDS = 16 };

/* Fetches of a fragment: few at first, as many as a run of this many seconds takes. */
enum { FEW = 8, MOST = 1024 };
static const double LONG_ENOUGH = 0.02;

struct picture {
    GLuint texture, frame;
};

static GLuint make_texture(GLenum format, GLsizei w, GLsizei h, const float *data)
{
    GLuint texture = 0;

    glGenTextures(1, &texture);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, w, h, 0, GL_RGBA, GL_FLOAT, data);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_BORDER);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_BORDER);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    return texture;
}

static struct picture make_picture(GLenum format, GLsizei side)
{
    struct picture p = {.texture = make_texture(format, side, side, NULL)};

    glGenFramebuffers(1, &p.frame);
    glBindFramebuffer(GL_FRAMEBUFFER, p.frame);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, p.texture, 0);
    glViewport(0, 0, side, side);
    return p;
}

static void drop_picture(const struct picture *p)
{
    glDeleteFramebuffers(1, &p->frame);
    glDeleteTextures(1, &p->texture);
}

/* Seconds of n draws, the least of several. */
static double seconds_of(int n)
{
    double least = INFINITY;

    for (int i = 0; i <= RUNS; i++) {
        const double begin = fbp_seconds();
        for (int k = 0; k < n; k++)
            gl_s3_draw();
        glFinish();
        if (i > 0) /* the first is not counted */
            least = fmin(least, fbp_seconds() - begin);
    }
    return least;
}

static fbp_status fetch_rate(GLenum format, double *out)
{
    static const char text[] =
        "#version 330 core\n"
        "uniform sampler2D image;\n"
        "uniform int n;\n"
        "layout(location = 0) out vec4 sum;\n"
        "void main()\n{\n"
        "    vec2 p = gl_FragCoord.xy * (0.5 / 512.0) + 0.0003;\n"
        "    float s = 0.0;\n"
        "    for (int i = 0; i < n; i++)\n"
        "        s += texture(image, p + float(i) * vec2(0.0003, 0.0004)).x;\n" /* as in passes */
        "    sum = vec4(s);\n"
        "}\n";
    GLuint program;
    const fbp_status st = gl_s3_program(&program, gl_s3_cover_text(), text, "a measurement");

    if (st == FBP_OK) {
        const struct picture to = make_picture(GL_RGBA32F, SIDE);
        const GLuint from = make_texture(format, SIDE, SIDE, NULL);
        int n = FEW;
        gl_s3_set(program, "n", n);
        double seconds = seconds_of(1);
        if (seconds < LONG_ENOUGH) {
            n = (int)fmin(MOST, 1 + n * LONG_ENOUGH / seconds);
            gl_s3_set(program, "n", n);
            seconds = seconds_of(1);
        }
        *out = (double)SIDE * SIDE * n / seconds;
        glDeleteTextures(1, &from);
        drop_picture(&to);
    }
    glDeleteProgram(program);
    return st == FBP_OK ? gl_check("a measurement") : st;
}

static fbp_status blend_rate(double *out)
{
    static const char text[] = "#version 330 core\n"
                               "layout(location = 0) out vec4 sum;\n"
                               "void main()\n{\n"
                               "    sum = vec4(1.0);\n"
                               "}\n";
    GLuint program;
    const fbp_status st = gl_s3_program(&program, gl_s3_cover_text(), text, "a measurement");

    if (st == FBP_OK) {
        const struct picture to = make_picture(GL_RGBA32F, 2 * SIDE);
        glEnable(GL_BLEND);
        glBlendEquation(GL_FUNC_ADD);
        glBlendFunc(GL_ONE, GL_ONE);
        *out = 2.0 * GL_S3_FOUR * sizeof(float) * 4 * SIDE * SIDE * BLENDS / seconds_of(BLENDS);
        glDisable(GL_BLEND);
        drop_picture(&to);
    }
    glDeleteProgram(program);
    return st == FBP_OK ? gl_check("a measurement") : st;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Of the values at places i / n between 0 and 1. */
static void judge(float *values, size_t n, struct fbp_s3_limits *out)
{
    out->fraction_error = 0;
    for (size_t i = 0; i < n; i++)
        out->fraction_error =
            fmax(out->fraction_error, fabs((double)values[i] - (double)i / (double)n));
    qsort(values, n, sizeof *values, by_value);
    out->values = 1;
    for (size_t i = 1; i < n; i++)
        out->values += values[i] != values[i - 1];
}

static fbp_status fractions(struct fbp_s3_limits *out)
{
    static const char text[] =
        "#version 330 core\n"
        "uniform sampler2D image;\n"
        "layout(location = 0) out float value;\n"
        "void main()\n{\n"
        "    float i = floor(gl_FragCoord.x) + 1024.0 * floor(gl_FragCoord.y);\n"
        "    value = texture(image, vec2(0.25 + i / 2097152.0, 0.5)).x;\n"
        "}\n";
    static const float two[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    const size_t n = PLACES * PLACES;
    float *values = malloc(n * sizeof *values);
    GLuint program = 0;
    fbp_status st =
        values ? gl_s3_program(&program, gl_s3_cover_text(), text, "a measurement")
               : gpu_host->fail(FBP_ERR_NOMEM, "S3: cannot allocate %zu bytes", n * sizeof *values);

    if (st == FBP_OK) {
        const struct picture to = make_picture(GL_R32F, PLACES);
        const GLuint from = make_texture(GL_R32F, 2, 1, two);
        gl_s3_draw();
        glReadPixels(0, 0, PLACES, PLACES, GL_RED, GL_FLOAT, values);
        st = gl_check("a measurement");
        judge(values, n, out);
        glDeleteTextures(1, &from);
        drop_picture(&to);
    }
    glDeleteProgram(program);
    free(values);
    return st;
}

static fbp_status measure(struct fbp_s3_limits *out)
{
    FBP_TRY(fetch_rate(GL_R32F, &out->r32f));
    FBP_TRY(fetch_rate(GL_RGBA32F, &out->rgba32f));
    FBP_TRY(fetch_rate(GL_R16F, &out->r16f));
    FBP_TRY(fetch_rate(GL_RGBA16F, &out->rgba16f));
    FBP_TRY(blend_rate(&out->blend));
    return fractions(out);
}

fbp_status gl_s3_measure(struct fbp_s3_limits *out)
{
    GLuint vertices = 0;

    *out = (struct fbp_s3_limits){0};
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    const fbp_status st = measure(out);
    glDeleteVertexArrays(1, &vertices);
    return st;
}
