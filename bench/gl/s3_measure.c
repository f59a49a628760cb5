/* Measures the limits of the fragment stage (fetches of texels, blending) and the precision of
 * the texture units. Called by fbp bench ino2009 through s3.c.
 * Used by: s3.c. */
#include "bench/gl/s3_draw.h"

#include "backend/module.h"
#include "base/system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Positions between two texels per axis; texels per side of source and target; numbers of runs and
 * of blended draws. */
enum { PLACES = 1024, SIDE = 512, RUNS = 3, BLENDS = 16 };

/* Groups of four fetches per fragment: FEW in the first run, then as many as take LONG_ENOUGH
 * seconds. */
enum { FEW = 2, MOST = 1024 };
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

/* Compile a program that fetches like a pass: n times four fetches at neighbouring rows of a
 * layered texture, of a different channel each if `four`. Its uniform `spacing`: distance of
 * fragments in texels. */
static fbp_status fetch_program(bool four, GLuint *out)
{
    static const char text[] =
        "#version 330 core\n"
        "uniform sampler2DArray image;\n"
        "uniform int n;\n"
        "uniform float spacing;\n"
        "layout(location = 0) out vec4 sum;\n"
        "void main()\n{\n"
        "    vec3 p = vec3(gl_FragCoord.xy * (0.9 * spacing / 512.0) + 0.01, 0.0);\n"
        "    vec3 row = vec3(0.0, 1.0 / 512.0, 0.0);\n"
        "    vec4 s = vec4(0.0);\n"
        "    for (int i = 0; i < n; i++) {\n"
        "        vec3 q = p + float(i & 63) * vec3(0.0003, 0.0004, 0.0);\n"
        "        s += vec4(texture(image, q).x, texture(image, q + row).%c,\n"
        "                  texture(image, q + 2.0 * row).%c, texture(image, q + 3.0 * row).%c);\n"
        "    }\n"
        "    sum = s;\n"
        "}\n";
    char filled[sizeof text];

    snprintf(filled, sizeof filled, text, four ? 'y' : 'x', four ? 'z' : 'x', four ? 'w' : 'x');
    return gl_s3_program(out, gl_s3_cover_text(), filled, "a measurement");
}

/* Fetches a second of what is bound. */
static double fetches_at(GLuint program, float spacing)
{
    double seconds;
    int n = FEW;

    glUniform1f(glGetUniformLocation(program, "spacing"), spacing);
    gl_s3_set(program, "n", n);
    seconds = seconds_of(1);
    if (seconds < LONG_ENOUGH) {
        n = (int)fmin(MOST, 1 + n * LONG_ENOUGH / seconds);
        gl_s3_set(program, "n", n);
        seconds = seconds_of(1);
    }
    return 4.0 * SIDE * SIDE * n / seconds;
}

/* Fetch rate: the better one of fragments that share texels with their neighbours and of fragments
 * that do not. */
static fbp_status fetch_rate(const struct gl_renderer *limits, bool four, bool half, double *out)
{
    static const size_t size[2] = {SIDE, SIDE};
    struct gl_s3_stack from = {0};
    GLuint program;
    fbp_status st = fetch_program(four, &program);

    if (st == FBP_OK)
        st = gl_s3_stack_make(&from, limits, half, four ? GL_S3_FOUR : 1, size, 1, "a measurement");
    if (st == FBP_OK) {
        const struct picture to = make_picture(GL_RGBA32F, SIDE);
        gl_s3_stack_filter(&from, true);
        (void)gl_s3_stack_bind(&from, 0, 0);
        *out = fmax(fetches_at(program, 0.5f), fetches_at(program, 1));
        drop_picture(&to);
    }
    gl_s3_stack_clear(&from);
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

/* Largest error, and number of different values, of n interpolated values that should be i / n. */
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
    const size_t n = (size_t)PLACES * PLACES;
    float *values = malloc(n * sizeof *values);
    GLuint program = 0;

    if (!values)
        return gpu_host->fail(FBP_ERR_NOMEM,
                              "ino2009: out of memory for %zu bytes: close other programs",
                              n * sizeof *values);
    fbp_status st = gl_s3_program(&program, gl_s3_cover_text(), text, "a measurement");
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

static fbp_status measure(const struct gl_renderer *limits, struct fbp_s3_limits *out)
{
    FBP_TRY(fetch_rate(limits, false, false, &out->r32f));
    FBP_TRY(fetch_rate(limits, true, false, &out->rgba32f));
    FBP_TRY(fetch_rate(limits, false, true, &out->r16f));
    FBP_TRY(fetch_rate(limits, true, true, &out->rgba16f));
    FBP_TRY(blend_rate(&out->blend));
    return fractions(out);
}

fbp_status gl_s3_measure(const struct gl_renderer *limits, struct fbp_s3_limits *out)
{
    GLuint vertices = 0;

    *out = (struct fbp_s3_limits){0};
    glGenVertexArrays(1, &vertices);
    glBindVertexArray(vertices);
    const fbp_status st = measure(limits, out);
    glDeleteVertexArrays(1, &vertices);
    return st;
}
