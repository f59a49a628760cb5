/* Entry of libfbp_bench_gl.so besides that of the OpenGL backend: the table of functions that
 * common/modules.c loads. */
#include "backend/gl/egl.h"
#include "backend/gl/gl.h"
#include "backend/gl/queue.h"
#include "backend/module.h"
#include "bench/gl/s3_draw.h"

#include <epoxy/gl.h>

/* Runs in the queue: takes a timestamp; the second call also stores the difference in seconds. */
static fbp_status run_time(void *device, void *command)
{
    static GLuint clock[2];
    double *const *seconds = command;
    GLuint64 at[2] = {0, 0};

    (void)device;
    if (!*seconds)
        glGenQueries(2, clock);
    glQueryCounter(clock[*seconds != NULL], GL_TIMESTAMP);
    if (!*seconds)
        return gl_check("a timestamp");
    for (int i = 0; i < 2; i++)
        glGetQueryObjectui64v(clock[i], GL_QUERY_RESULT, &at[i]);
    glDeleteQueries(2, clock);
    **seconds = 1e-9 * (double)(at[1] - at[0]);
    return gl_check("a timestamp");
}

static fbp_status time_stage(fbp_device *device, enum fbp_stage stage, double *seconds)
{
    return gl_queue_call_in(gl_of(device)->queue, (enum gl_order)stage, run_time, &seconds,
                            sizeof(double *));
}

FBP_API bench_device_fn fbp_bench_gl;

const struct bench_device *fbp_bench_gl(void)
{
    static const struct bench_device functions = {
        .time = time_stage, .s3 = &gl_s3, .plant = &gl_fault_injection};

    return &functions;
}
