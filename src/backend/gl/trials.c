/* Times of passes, by two time stamps each, for the choice of a kernel's shape. */
#include "backend/gl/gl.h"

#include "backend/gl/error.h"

#include <epoxy/gl.h>

#include <stdio.h>

/* Two queries a trial. */
static GLuint *queries(struct gl_device *dev, int trial)
{
    return &dev->trials[2 * (size_t)trial];
}

static bool describe(int index, char *out, size_t n)
{
    const struct gl_renderer *r = gl_renderer_at(index);
    const int length = snprintf(out, n, "%s, %s", r->name, r->version);

    return !r->software && length > 0 && (size_t)length < n;
}

static bool no_error(void)
{
    const GLenum error = glGetError();

    return error == GL_NO_ERROR;
}

static bool open_trials(void *user, int n)
{
    struct gl_device *dev = user;

    glGenQueries(2 * n, dev->trials);
    return no_error();
}

static bool begin(void *user, int trial)
{
    glQueryCounter(queries(user, trial)[0], GL_TIMESTAMP);
    return no_error();
}

static bool end(void *user, int trial)
{
    glQueryCounter(queries(user, trial)[1], GL_TIMESTAMP);
    return no_error();
}

static bool is_over(void *user, int trial)
{
    GLint there = 0;

    glGetQueryObjectiv(queries(user, trial)[1], GL_QUERY_RESULT_AVAILABLE, &there);
    return no_error() && there;
}

static bool wait(void *user, int trial)
{
    GLuint64 at = 0;

    glGetQueryObjectui64v(queries(user, trial)[1], GL_QUERY_RESULT, &at);
    return no_error();
}

static bool elapsed(void *user, int trial, float *ms)
{
    GLuint64 at[2] = {0, 0};

    for (int i = 0; i < 2; i++)
        glGetQueryObjectui64v(queries(user, trial)[i], GL_QUERY_RESULT, &at[i]);
    *ms = (float)(1e-6 * (double)(at[1] - at[0]));
    return no_error() && at[1] > at[0];
}

const struct gpu_timer gl_timer = {
    .file = {.name = "gl-shapes", .title = "fbp: fastest shapes of OpenGL's kernels\n"},
    .describe = describe,
    .open = open_trials,
    .begin = begin,
    .end = end,
    .is_over = is_over,
    .wait = wait,
    .elapsed = elapsed,
};

void gl_trials_close(struct gl_device *dev)
{
    if (dev->trials[0])
        glDeleteQueries(2 * GPU_TUNER_TRIALS, dev->trials);
}
